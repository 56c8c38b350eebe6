/* The first screen: progress, expected end, and whether the study is running. */

import { count, make, role } from "../dom.js";
import { clock, day, number, sentence } from "./words.js";

export const drawOverview = ({ title, kinds, paused, expected, expected_end: end, words, rate, alpha, outlook, annotators, has_predictions: hasPredictions }) => {
  const given = kinds.reduce((sum, kind) => sum + kind.answers, 0);
  const needed = kinds.reduce((sum, kind) => sum + kind.needed, 0);
  document.title = `${title}: dashboard`;
  role("title").textContent = title;
  role("predictions").hidden = !hasPredictions;
  const isBegun = given || annotators.some(({ answers }) => answers); // answers to what is no longer asked, such as unsuitable pictures
  role("headline").textContent = isBegun ? `${number(given)} of ${number(needed)} answers` : `No answers yet: ${number(needed)} to go`;
  role("outlook").textContent = outlook;
  role("outlook").hidden = !outlook;
  role("expected").textContent = sentence(outlook && expected.startsWith("about") ? `open questions: ${expected}` : expected);
  role("pace").textContent = [end && `expected end ${day(end)}, ${clock(end)}`, rate !== null && `${count(Math.round(rate), "answer")} per hour over the last 24 hours`].filter(Boolean).join(" · ");
  role("state").textContent = paused ? "Paused: no questions are handed out" : "Running";
  role("state").dataset.paused = paused;
  role("pause").textContent = paused ? "Resume" : "Pause";
  role("pause").dataset.paused = paused;
  const bar = role("progress");
  bar.setAttribute("aria-valuenow", given);
  bar.setAttribute("aria-valuemax", needed);
  bar.firstElementChild.style.width = needed ? `${Math.min(100, (100 * given) / needed)}%` : "0";
  const further = words.filter((text) => text !== alpha?.words && !text.startsWith("no item has two answers")); // that is said with the annotators
  role("words").replaceChildren(...further.map((text) => make("li", {}, sentence(text))));
};

export const drawKinds = (kinds) => {
  const host = role("kinds");
  if (!kinds.length) return host.replaceChildren(make("p", { class: "none" }, "There are no questions yet: select items with dissensus select, or add your own questions with dissensus ask."));
  const row = ({ kind, noun, questions, done, answers, needed }) => {
    const fill = make("i", {});
    fill.style.width = needed ? `${Math.min(100, (100 * answers) / needed)}%` : "0";
    return make(
      "li",
      { "data-kind": kind },
      make("b", {}, sentence(noun).slice(0, -1)),
      make("span", { class: "track" }, fill),
      make("span", { class: "sub" }, `${number(answers)} of ${number(needed)} answers · ${number(done)} of ${number(questions)} questions done`),
    );
  };
  host.replaceChildren(make("ul", { class: "kinds" }, kinds.map(row)));
};

export const drawAlpha = (alpha) => {
  const host = role("alpha");
  if (!alpha) {
    return host.replaceChildren(make("p", { class: "none" }, "Agreement is shown once two annotators have answered some of the same questions."));
  }
  const scale = make("div", { class: "scale", "aria-hidden": "true" }, make("i", {}), make("b", {}));
  const place = (value) => `${100 * Math.max(0, Math.min(1, value))}%`;
  scale.firstElementChild.style.left = place(alpha.low);
  scale.firstElementChild.style.right = `calc(100% - ${place(alpha.high)})`;
  scale.lastElementChild.style.left = place(alpha.value);
  host.replaceChildren(
    make("p", { class: "figure" }, make("b", {}, alpha.value.toFixed(2)), make("span", {}, `Krippendorff’s alpha, interval ${alpha.low.toFixed(2)} to ${alpha.high.toFixed(2)}`)),
    scale,
    make("p", { class: "quiet" }, sentence(alpha.words.replace(/ \(alpha [^)]*\)\.?$/, ""))), // the numbers stand above
  );
};
