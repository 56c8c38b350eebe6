/* What the filters and numbers of each task are called. */

import { count } from "../dom.js";

const number = (value) => value.toLocaleString("en");
export const percent = (share) => `${share > 0 && share < 0.005 ? "<1" : share < 1 && share > 0.995 ? ">99" : Math.round(100 * share)}%`;

export const LEVELS = { confidence: "Confidence", rank: "Rank in the pool", share: "Share of the picture" };

export const SORTS = {
  confidence: { disagreement: "most disagreement", agreement: "least disagreement", high: "most confident", low: "least confident", random: "random order" },
  rank: { disagreement: "ranks farthest apart", agreement: "ranks closest together", high: "best first", low: "worst first", random: "random order" },
  share: { disagreement: "least agreement", agreement: "most agreement", high: "largest share", low: "smallest share", random: "random order" },
};

const MEASURES = { miou: "mIoU", "miou-all": "mIoU of all classes", fwiou: "FWIoU", mpa: "MPA" };

const ANY = ["0 1", "any"];

/* value: least and most disagreement. */
export const APART = {
  labels: [ANY, ["0.001 1", "models disagree"], ["0.5 1", "at least half of the pairs disagree"], ["1 1", "no two models agree"], ["0 0", "all models agree"]],
  scores: [ANY, ["0.1 1", "at least 10 points apart"], ["0.25 1", "at least 25 points apart"], ["0.5 1", "at least 50 points apart"], ["0 0.05", "within 5 points"]],
  masks: [ANY, ["0.1 1", "agreement below 90%"], ["0.25 1", "agreement below 75%"], ["0.5 1", "agreement below 50%"], ["0 0.1", "agreement above 90%"]],
};

/* How much the models differ on one item. */
export const apart = (distance, task) =>
  task === "scores" ? `${Math.round(100 * distance)} points apart` : task === "masks" ? `agreement ${percent(1 - distance)}` : distance === 0 ? "all agree" : `${percent(distance)} of pairs disagree`;

export const headline = ({ total }, { size }) => (total === size ? count(size, "item") : `${number(total)} of ${count(size, "item")}`);

export const summary = ({ total, differing }, { models, task, level, measure }, state) => {
  if (!total) return "No item matches these filters.";
  const one = state.model ?? state.other;
  const between = models.length < 2 ? "" : state.model && state.other ? ` between ${state.model} and ${state.other}` : one ? ` between ${one} and the others` : "";
  const by = measure ? `, measured as ${MEASURES[measure] ?? measure}` : "";
  const many = task === "labels" && models.length > 1 ? `, which disagree on ${differing === total ? "all" : number(differing)} of these` : "";
  const order = SORTS[level][state.sort];
  const first = /( first|order)$/.test(order) ? "" : " first";
  const sorted = ["disagreement", "agreement"].includes(state.sort) ? `${order}${between}${first}${by}` : `${order}${first}`;
  return `${count(models.length, "model")}${many}. Sorted by: ${sorted}.`;
};

/* The predictions of an item, those of the same class together: [{label, voters: [[name, level]]}], the most votes first. */
export const votes = ({ predictions }, models) => {
  const by = new Map();
  predictions.forEach(({ label, level, problem }, place) => {
    const key = problem ? null : label;
    by.set(key, [...(by.get(key) ?? []), [models[place], level]]);
  });
  return [...by].map(([label, voters]) => ({ label, voters })).sort((a, b) => (a.label === null) - (b.label === null) || b.voters.length - a.voters.length);
};
