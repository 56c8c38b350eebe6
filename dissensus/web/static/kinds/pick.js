/* Which class is it? A few options become buttons; many can be searched and browsed. If several may be right, the first
 * press answers, as it is usually the only one; 'Several' turns the buttons into marks. */

import { make } from "../dom.js";
import { Card } from "./card.js";
import { chooser } from "./chooser.js";
import { asClasses, everyClass, markRight, nameButtons } from "./names.js";
import { answerButtons, asked, seenInCorner, stage } from "./parts.js";

const FEW = 9; // one digit each

const draw = (host, question, context) => {
  const ask = question.payload.ask || "What is in the picture?";
  const { element, zoom } = stage(context.pictures, question.payload.items, ["Picture to name"]);
  const foot = make("div", { class: "foot picking" }, asked("", ask));
  const view = { says: ask, words: (value) => (value === null ? "cannot tell" : `class ${value}`), zoom, key: () => false };
  const body = make("div", { class: "pick-body" }, make("p", { class: "quiet" }, "Loading the names …"));
  foot.append(body);
  host.append(element, foot);
  let isHere = true;
  view.leave = () => { isHere = false; };
  if (question.payload.names) {
    for (const image of context.pictures) image.classList.remove("pixels"); // few pixels are enlarged smoothly
    return named(view, body, question, context);
  }
  context.classes().then((classes) => {
    if (!isHere) return;
    const options = question.payload.options ?? everyClass(classes);
    view.words = (value) => inWords(classes, value);
    const part = partFor(question.payload.several, options)(classes, options, context, question.payload.every === true);
    view.key = part.key;
    view.isChanged = part.isChanged;
    body.replaceChildren(...part.elements);
    if (part.list && context.isGuided) addCard(classes, options, part.list, element, view, context);
    else if (part.look && context.isGuided) followWithCard(classes, part, element, view, context);
    part.focus?.();
  });
  return view;
};

/* A few names to choose from: each has a small button that shows its guide and examples beside the picture. */
const addCard = (classes, options, list, stage, view, context) => {
  const card = new Card(classes, context, { hint: "" });
  const toggle = (value) => (card.value === value && card.element.dataset.open === "true" ? card.close() : card.open(value));
  for (const [i, answer] of [...list.children].entries()) {
    const label = `Examples of ${classes.names[options[i]]}`;
    const about = make("button", { type: "button", class: "about", "data-about": options[i], "aria-label": label, title: label, onclick: () => toggle(options[i]) }, "Examples");
    const row = make("div", { class: "option-row" });
    answer.replaceWith(row);
    row.append(answer, about);
  }
  stage.after(card.element);
  view.leave = () => card.leave();
};

/* Many names to choose from: the one that somebody looks at is shown beside the picture, if there is room for both. */
const followWithCard = (classes, part, stage, view, context) => {
  const card = new Card(classes, context, { hint: "" });
  const isWide = matchMedia("(min-width: 56.01rem) and (min-height: 30.01rem)");
  part.look = (value) => (value !== null && isWide.matches ? card.open(value) : card.close());
  stage.after(card.element);
  view.leave = () => card.leave();
};

/* Names that come with the question: the answer is the number of one, or null. */
const named = (view, body, question, context) => {
  const { names } = question.payload;
  const options = names.map((_, i) => i);
  const part = names.length <= FEW ? few(asClasses(names), options, context) : nameButtons(names, context, "Cannot tell");
  body.replaceChildren(...part.elements);
  part.focus?.();
  const after = (result) => {
    markRight(body, result.answer);
    if (result.has_whole) showWhole(question.ticket, context.pictures[0]);
  };
  const words = (value) => (value === null ? "cannot tell" : names[value]);
  return Object.assign(view, { words, key: part.key, after, takesLetters: names.length > FEW, zoom: names.length > FEW ? null : view.zoom });
};

/* The picture that this one was made from, once the answer is known. */
const showWhole = (ticket, image) => {
  const whole = make("img", { alt: "The whole picture", draggable: "false" });
  whole.src = `/reveal/${ticket}/whole`;
  whole.decode().then(() => {
    const frame = image.parentElement;
    image.replaceWith(whole);
    seenInCorner(frame, image, "What you saw");
  }, () => {});
};

const partFor = (isSeveral, options) => {
  if (isSeveral) return several;
  return options.length <= FEW ? few : chooser;
};

const inWords = (classes, value) => {
  if (Array.isArray(value)) return value.map((one) => classes.names[one]).join(", ") || "none of these";
  return { null: "cannot tell", unfit: "unsuitable" }[value] ?? classes.names[value];
};

/* Answers are lists of classes: the options that were marked. `isEvery`: they are marked from the start. */
const several = (classes, options, context, isEvery) => {
  const isSeveral = Array.isArray(context.chosen) && context.chosen.length > (isEvery ? 0 : 1);
  const marked = new Set(isSeveral ? context.chosen : []);
  let isMarking = isEvery || marked.size > 0;
  let isChanged = false;
  const finish = () => marked.size > 0 && context.answer([...marked].sort((a, b) => a - b));
  const mark = (value) => {
    if (!isMarking) return context.answer([value]);
    if (!marked.delete(value)) marked.add(value);
    isChanged = true;
    return show();
  };
  const begin = () => {
    isMarking = true;
    show();
  };
  const named = keyed(classes, options);
  const list = answerButtons(named, { ...context, answer: mark });
  const rest = answerButtons(OTHERWISE, context);
  const more = make("button", { type: "button", "data-role": "several", onclick: () => (isMarking ? finish() : begin()) });
  const show = () => {
    if (isMarking) for (const [i, button] of [...list.element.querySelectorAll("[data-answer]")].entries()) button.setAttribute("aria-pressed", String(marked.has(options[i])));
    const [says, key] = isMarking ? [`Done (${marked.size})`, "Enter"] : ["Several …", "S"];
    more.replaceChildren(make("span", {}, says), make("kbd", { "aria-hidden": "true" }, key));
    more.setAttribute("aria-keyshortcuts", key);
    more.disabled = isMarking && marked.size === 0;
  };
  show();
  list.element.classList.add("listed");
  rest.element.prepend(more);
  const key = (event) => {
    if (event.key.toLowerCase() === "s" && !isMarking) begin();
    else if (event.key === "Enter" && isMarking) finish();
    else return list.key(event) || rest.key(event);
    return true;
  };
  return { elements: [list.element, rest.element], list: list.element, key, isChanged: () => isChanged };
};

const OTHERWISE = [
  { value: [], label: "None of these", keys: ["N"] },
  { value: null, label: "Cannot tell", keys: ["U"] },
  { value: "unfit", label: "Unsuitable", keys: ["X"] },
];

const few = (classes, options, context) => {
  const named = keyed(classes, options);
  const list = answerButtons(named, context);
  const cannot = answerButtons([{ value: null, label: "Cannot tell", keys: ["U"] }], context);
  list.element.classList.add("listed");
  return { elements: [list.element, cannot.element], list: list.element, key: (event) => list.key(event) || cannot.key(event) };
};

const LETTERS = "ABDEFGHIJKLMOPQRTVWY"; // after nine digits; the others are keys of the page

/* Options with their keys: 1, 2, 3 … 9, A, B, D … in order, or the digit itself if every option is one. */
const keyed = (classes, options) => {
  const areDigits = options.every((value) => /^\d$/.test(classes.names[value]));
  const key = (value, i) => (areDigits ? classes.names[value] : i < FEW ? String(i + 1) : LETTERS[i - FEW] ?? "");
  return options.map((value, i) => ({ value, label: labelled(classes, value), keys: [key(value, i)].filter(Boolean) }));
};

const labelled = (classes, value) => [
  make("b", {}, classes.names[value]),
  classes.glosses[value] && make("small", {}, classes.glosses[value]),
];

export default {
  title: "What is it?",
  brief: "Pick the name that fits the picture best: type part of it, or browse the list.",
  about:
    "Pick the one name that fits the picture best: type part of it, or browse the groups. If you are asked which of a few names " +
    "the picture shows, more than one may be right, or none.",
  keys: [
    { keys: ["1", "…", "9"], name: "Pick", meaning: "if there are only a few options; letters if there are more than nine" },
    { keys: ["/"], name: "Search", typed: "type, then ↑ ↓ and Enter; Esc leaves the field so that single keys work" },
    { keys: ["S"], name: "Several", meaning: "if offered: mark all names that fit, then press Enter or Done" },
    { keys: ["N"], name: "None of these", meaning: "if offered: no name fits" },
    { keys: ["U"], name: "Cannot tell", meaning: "you cannot say which one it is" },
    { keys: ["X"], name: "Unsuitable", meaning: "if offered: not a natural photograph, or not suitable to show" },
  ],
  picked: (value, payload) => (payload.names || typeof value !== "number" ? [] : [value]),
  draw,
};
