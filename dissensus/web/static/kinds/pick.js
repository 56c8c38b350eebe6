/* Which class is it? A few options become buttons; many can be searched and browsed. */

import { make } from "../dom.js";
import { chooser } from "./chooser.js";
import { answerButtons, asked, stage } from "./parts.js";

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
  context.classes().then((classes) => {
    if (!isHere) return;
    const options = question.payload.options ?? classes.names.map((_, number) => number);
    view.words = (value) => (value === null ? "cannot tell" : classes.names[value]);
    const part = options.length <= FEW ? few(classes, options, context) : chooser(classes, options, context);
    view.key = part.key;
    body.replaceChildren(...part.elements);
    part.focus?.();
  });
  return view;
};

const few = (classes, options, context) => {
  const named = options.map((value, i) => ({ value, label: labelled(classes, value), keys: [String(i + 1)] }));
  const list = answerButtons(named, context);
  const cannot = answerButtons([{ value: null, label: "Cannot tell", keys: ["U"] }], context);
  list.element.classList.add("listed");
  return { elements: [list.element, cannot.element], key: (event) => list.key(event) || cannot.key(event) };
};

const labelled = (classes, value) => [
  make("b", {}, classes.names[value]),
  classes.glosses[value] && make("small", {}, classes.glosses[value]),
];

export default {
  title: "What is it?",
  about: "Pick the one name that fits the picture best: type part of it, or browse the groups.",
  keys: [
    { keys: ["1", "…", "9"], name: "Pick", meaning: "if there are only a few options" },
    { keys: ["/"], name: "Search", typed: "type, then ↑ ↓ and Enter; Esc leaves the field so that single keys work" },
    { keys: ["U"], name: "Cannot tell", meaning: "you cannot say which one it is" },
  ],
  draw,
};
