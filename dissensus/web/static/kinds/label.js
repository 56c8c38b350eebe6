/* What is it, among thousands of names? The name that is looked at is shown with its guide and examples, to compare before
 * choosing. Enter chooses it and sends, as one name is the usual case; Shift+Enter, or 'Add', chooses it and goes on. */

import { count, make } from "../dom.js";
import { Card } from "./card.js";
import { finder } from "./chooser.js";
import { Chosen } from "./chosen.js";
import { everyClass } from "./names.js";
import { asked, stage } from "./parts.js";

const HINT = "Type a name or browse the groups: each name you look at is shown here, so that you can compare it before you choose.";

const draw = (host, question, context) => {
  const { ask, items } = question.payload;
  const { element, zoom } = stage(context.pictures, items, ["Picture to label"]);
  const body = make("div", { class: "pick-body" }, make("p", { class: "quiet" }, "Loading the names …"));
  const foot = make("div", { class: "foot picking" }, asked("", ask), body);
  host.append(element, foot);
  const view = { says: ask, words: () => "sent", zoom, key: () => false };
  let isHere = true;
  view.leave = () => { isHere = false; };
  context.classes().then((classes) => {
    if (!isHere) return;
    const page = new Labelling(classes, question.payload, context);
    body.replaceChildren(...page.elements);
    element.after(page.card.element);
    foot.addEventListener("keydown", (event) => page.shortcut(event));
    Object.assign(view, {
      words: (value) => inWords(classes, value),
      key: (event) => page.key(event),
      isChanged: () => page.chosen.isChanged,
      after: (result) => { host.inert = false; foot.inert = true; page.tell(result); },
      leave: () => page.card.leave(),
    });
    page.finder.focus();
  });
  return view;
};

const inWords = (classes, value) => {
  if (value === null) return "cannot tell";
  const other = value.alternative === null ? "" : ` (${value.labels.length ? "main subject" : "nearest"}: ${classes.names[value.alternative]})`;
  return (value.labels.map((label) => classes.names[label]).join(", ") || "none of these") + other;
};

class Labelling {
  #classes;
  #context;
  #most;
  #isBeside = false; // the next name is the main subject
  #given = null;
  #head = make("div", { class: "label-mode", role: "status" });
  #foot = make("div", { class: "answers label-answers", role: "group", "aria-label": "Answer" });

  constructor(classes, { options, most }, context) {
    this.#classes = classes;
    this.#context = context;
    this.#most = most;
    this.card = new Card(classes, context, { hint: HINT, actions: (value) => this.#actions(value), closed: () => this.finder.focus() });
    this.finder = finder(classes, options ?? everyClass(classes), context, {
      choose: (value, event) => this.#choose(value, event),
      look: (value) => this.card.look(value),
      empty: (event) => this.#inEmptyField(event),
      follows: true,
    });
    this.chosen = new Chosen(classes.names, context.chosen, () => this.#show());
    this.elements = [this.chosen.element, this.#head, ...this.finder.elements, this.#foot];
    this.#show();
  }

  key(event) {
    const key = event.key.toLowerCase();
    if (key === "/") this.finder.field.focus();
    else if (key === "n") this.#none();
    else if (key === "u") this.#send(null);
    else if (key === "enter") return !event.target.closest("button, [role=treeitem]") && this.#finish();
    else if (key === "escape" && (this.chosen.isNone || this.#isBeside)) this.#back();
    else return false;
    return true;
  }

  /* Ctrl+Enter or ⌘+Enter sends what has been chosen, wherever the focus is. */
  shortcut(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || !this.#finish()) return;
    event.preventDefault();
    event.stopPropagation();
  }

  tell({ answer }) {
    const right = answer?.labels?.[0] ?? answer?.alternative ?? null;
    const mine = this.#given && (this.#given.labels[0] ?? this.#given.alternative);
    if (right !== null) this.card.compare(right, mine);
  }

  get #isFull() {
    return this.chosen.labels.length >= this.#most;
  }

  /* A tap shows a name before it is chosen: there is no mouse to point at it with. */
  #choose(value, event) {
    if (event.pointerType === "touch" || (this.#context.isTouch && event.type === "click")) this.#open(value);
    else this.#take(value, event.shiftKey);
  }

  #open(value) {
    this.finder.field.blur();
    this.card.open(value);
  }

  /* isMore: go on choosing instead of sending. */
  #take(value, isMore) {
    const { chosen } = this;
    const isOther = chosen.isNone || this.#isBeside;
    if (isOther && !(this.#isBeside && value === chosen.labels[0])) chosen.setAlternative(value);
    else if (!isOther && (!this.#isFull || chosen.labels.includes(value))) chosen.add(value);
    else return;
    this.card.close();
    if (!isMore) return void this.#send(chosen.value);
    this.#isBeside = false;
    this.#show();
    this.finder.clear();
    if (!this.#context.isTouch) this.finder.field.focus({ preventScroll: true });
  }

  #finish() {
    if (!this.chosen.isNone && !this.chosen.labels.length) return false;
    this.#send(this.chosen.value);
    return true;
  }

  #send(value) {
    this.#given = value;
    this.#context.answer(value);
  }

  #none() {
    this.#isBeside = false;
    this.chosen.setNone(true);
    this.finder.clear();
    if (!this.#context.isTouch) this.finder.field.focus({ preventScroll: true });
  }

  #back() {
    this.#isBeside = false;
    if (this.chosen.isNone) this.chosen.setNone(false);
    else this.#show();
  }

  #inEmptyField(event) {
    if (event.key === "Enter") return this.#finish();
    if (event.key !== "Backspace" || this.chosen.isNone || !this.chosen.labels.length) return false;
    this.chosen.remove(this.chosen.labels.at(-1));
    return true;
  }

  #actions(value) {
    const { chosen } = this;
    const button = (role, says, key, isMore, tone) => make("button", { type: "button", "data-role": role, "data-tone": tone, onclick: () => this.#take(value, isMore) },
      make("span", {}, says), make("kbd", { "aria-hidden": "true" }, key));
    if (chosen.isNone || this.#isBeside) return [button("choose", chosen.isNone ? "This is nearest" : "This is the main subject", "↵", false, "blue")];
    if (this.#isFull && !chosen.labels.includes(value)) return [make("p", { class: "quiet small" }, `At most ${count(this.#most, "name")}: remove one first.`)];
    return [button("choose", chosen.labels.length ? "Add and send" : "This is it", "↵", false, "blue"), button("add", "Add and continue", "⇧ ↵", true)];
  }

  #show() {
    const { chosen } = this;
    const isAtChips = chosen.element.contains(document.activeElement); // which are drawn anew
    chosen.draw({ isBeside: this.#isBeside, beside: () => { this.#isBeside = true; this.#show(); if (!this.#context.isTouch) this.finder.field.focus(); } });
    this.#drawMode();
    const isReady = chosen.isNone || chosen.labels.length > 0;
    const button = (role, answer, says, key, act, tone) =>
      make("button", { type: "button", "data-role": role, "data-answer": answer, "data-tone": tone, "aria-keyshortcuts": key === "↵" ? "Enter" : key, onclick: act }, make("span", {}, says), make("kbd", { "aria-hidden": "true" }, key));
    this.#foot.replaceChildren(...[
      isReady && button("send", null, chosen.isNone ? "Send" : `Send (${chosen.labels.length})`, "↵", () => this.#finish(), "blue"),
      !chosen.isNone && button("none", null, "None of these", "N", () => this.#none()),
      button("cannot", "null", "Cannot tell", "U", () => this.#send(null)),
    ].filter(Boolean));
    this.#foot.dataset.many = this.#foot.children.length;
    this.card.redraw();
    if (isAtChips && !this.#context.isTouch) this.finder.field.focus({ preventScroll: true });
  }

  /* What the next name will be, if it is not another label. */
  #drawMode() {
    const { isNone, alternative } = this.chosen;
    const words = isNone && alternative === null ? "No name fits. Which is the nearest, if any?" : this.#isBeside ? "What is the main subject?" : isNone ? "No name fits." : "";
    const undo = make("button", { type: "button", class: "plain", "data-role": "mode-back", onclick: () => this.#back() }, "Cancel");
    this.#head.replaceChildren(...(words ? [make("span", {}, words), undo] : []));
    this.#head.hidden = !words;
    this.finder.field.setAttribute("placeholder", isNone ? "Search for the nearest name" : this.#isBeside ? "Search for the main subject" : this.chosen.labels.length ? "Search for another name" : "Search names");
  }
}

export default {
  title: "Label the picture",
  brief: "Find the name that fits the picture best, and compare the picture with the examples of that name before you choose it.",
  about:
    "Find the name that fits the picture best: type part of it, or browse the groups. Compare the picture with the examples and the guide of a name " +
    "before you choose it. If more names fit, add them, the best one first, five at most. If no name fits, say so, and name the nearest one if there is any.",
  keys: [
    { keys: ["↑", "↓"], name: "Look", meaning: "find a name and look at its guide and examples", typed: "; the arrow keys move through the list" },
    { keys: ["Enter"], name: "Choose and send", meaning: "chooses this name and sends it", typed: "; in the empty field, sends what has been added" },
    { keys: ["Shift", "Enter"], name: "Add", meaning: "adds this name and goes on: the first one added counts as the best" },
    { keys: ["Ctrl", "Enter"], name: "Send", typed: "sends what has been added, also with ⌘; Backspace in the empty field removes the last one" },
    { keys: ["/"], name: "Search", typed: "Esc leaves the field so that single keys work" },
    { keys: ["N"], name: "None of these", meaning: "no name fits; then name the nearest one, or send" },
    { keys: ["U"], name: "Cannot tell", meaning: "you cannot say what it is" },
  ],
  picked: (value) => value?.labels.toReversed() ?? [],
  draw,
};
