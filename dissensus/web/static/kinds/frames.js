/* Two frames of a video: is the label right for both, and are they similar? Most pairs take one key. In the joint review,
 * the page also says how people voted before. */

import { make } from "../dom.js";
import { Flicker } from "./flicker.js";
import { answerButtons, asked, stage } from "./parts.js";

const USUAL = { value: "yes", label: "Right and similar", keys: ["Y"], tone: "blue", meaning: "the label fits both frames, and they look alike" };
const OTHERS = [
  { value: "wrong", label: "Wrong label", keys: ["W"], tone: "orange", meaning: "at least one frame shows nothing that the label names" },
  { value: "unsure", label: "Hard to tell", keys: ["U"], meaning: "you cannot decide whether they are similar" },
];
const REASONS = [
  { value: "motion", label: "Motion", keys: ["1"], meaning: "something moved, turned or changed its size considerably" },
  { value: "background", label: "Background", keys: ["2"], meaning: "what is behind it is clearly different" },
  { value: "blur", label: "Blur", keys: ["3"], meaning: "one frame is much less sharp than the other" },
  { value: "other", label: "Other", keys: ["4"], meaning: "a telling feature, such as a face, is visible in only one of them; or another reason" },
];

const words = ({ label, similar }) => {
  if (label === "wrong") return "wrong label";
  if (label === "unsure" && similar === "unsure") return "unsure";
  const alike = { yes: "similar", unsure: "unsure if similar" }[similar] ?? `not similar: ${similar}`;
  return label === "unsure" ? `unsure of the label, ${alike}` : alike;
};

/* How people voted, without names. */
const voteList = (votes) => {
  const total = votes.reduce((sum, { count }) => sum + count, 0);
  const rows = votes.map((vote, i) =>
    make("li", {}, make("b", {}, i ? `${vote.count}` : `${vote.count} of ${total}`), ` ${words(vote)}`));
  return make("div", { class: "votes", "data-role": "votes" }, make("p", {}, "First votes"), make("ul", {}, rows));
};

const labelText = (labels, isReview) => {
  const thing = labels.length > 1 ? "any of these" : "this";
  const lead = isReview ? `Joint review: do both frames show ${thing}, and are they similar?` : `Do both frames show ${thing}, and are they similar?`;
  const names = labels.map(({ name }) => name);
  const title = names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names[0];
  const glosses = labels.filter(({ gloss }) => gloss).map(({ name, gloss }) =>
    make("p", { class: "gloss" }, labels.length > 1 && make("b", {}, `${name}: `), gloss));
  return { lead, title, glosses };
};

const draw = (host, question, context) => {
  const { labels, review, votes, items } = question.payload;
  const captions = ["A", "B"].map((letter) => make("span", {}, letter));
  const { element, zoom } = stage(context.pictures, items, ["Frame A", "Frame B"], captions);
  const flicker = context.pictures.length ? new Flicker(element, context.pictures) : null;
  let isLabelUnsure = context.chosen?.label === "unsure";
  let given = null;
  const hint = make("p", { class: "hint", role: "status" });
  const give = (value) => {
    if (flicker && !flicker.areBothSeen) { // nobody can compare what they have not seen
      flicker.showOther();
      hint.textContent = "This is the other frame. Now answer.";
      return;
    }
    given = value;
    context.answer(value === "wrong" ? { label: "wrong", similar: null } : { label: isLabelUnsure ? "unsure" : "right", similar: value });
  };
  const own = { ...context, answer: give, chosen: context.chosen && (context.chosen.similar ?? "wrong") };
  const [usual, others, reasons] = [[USUAL], OTHERS, REASONS].map((rows) => answerButtons(rows, own));
  reasons.element.ariaLabel = "Not similar, because of";
  const unsure = make("button", { type: "button", class: "chip", "data-role": "label-unsure", "aria-keyshortcuts": "l", onclick: () => turn() },
    make("span", {}, "Unsure about the label"), make("kbd", { "aria-hidden": "true" }, "L"));
  const show = () => {
    unsure.setAttribute("aria-pressed", String(isLabelUnsure));
    usual.element.querySelector("span").textContent = isLabelUnsure ? "Similar" : USUAL.label;
    host.dataset.labelUnsure = isLabelUnsure;
  };
  const turn = () => { isLabelUnsure = !isLabelUnsure; show(); };
  const { lead, title, glosses } = labelText(labels, review);
  const text = asked(lead, title, ...glosses);
  const rows = make("div", { class: "judging" }, usual.element, others.element,
    make("div", { class: "dissimilar" }, make("p", {}, "Not similar:"), reasons.element));
  host.append(element, make("div", { class: "foot frames-foot" }, make("div", { class: "heading" }, text, unsure), votes?.length && voteList(votes), hint, rows));
  show();
  return {
    says: [lead, title, votes?.length && `First votes: ${votes.map((vote) => `${vote.count} ${words(vote)}`).join(", ")}.`].filter(Boolean).join(" "),
    words,
    zoom,
    shown: flicker?.shown,
    after: () => host.querySelector(`.answers [data-answer="${CSS.escape(given)}"]`)?.setAttribute("aria-pressed", "true"),
    key: (event) => {
      if (event.key.toLowerCase() === "l") turn();
      else return Boolean(flicker?.key(event)) || [usual, others, reasons].some((one) => one.key(event));
      return true;
    },
    leave: () => { flicker?.leave(); delete host.dataset.labelUnsure; },
  };
};

export default {
  title: "Two frames of a video",
  brief: "Say whether the label fits both frames of a video, and whether they look alike.",
  about:
    "The two frames take turns in the same place, or stand side by side; they zoom together. Decide whether the label fits both, " +
    "and whether they look alike. They do not if something moves a lot, if the background changes, if one of them is much blurrier, " +
    "or if a telling feature, such as the face of an animal, can be seen in only one of them. Small differences do not matter. " +
    "If several labels are named, one that both frames show is enough.",
  keys: [
    ...[USUAL, ...REASONS, ...OTHERS].map(({ keys, label, meaning, value }) => ({ keys, name: label, meaning: REASONS.some((row) => row.value === value) ? `not similar: ${meaning}` : meaning })),
    { keys: ["L"], name: "Unsure about the label", meaning: "then say whether they are similar" },
    { keys: ["F"], name: "Flicker", meaning: "stops and starts it; tap the rate to change it", typed: "; < and > make it slower and faster" },
    { keys: ["←", "→"], name: "Switch", meaning: "stops, and shows one frame or the other" },
    { keys: ["V"], name: "Side by side", meaning: "or laid over each other again; the page remembers it" },
  ],
  draw,
};
