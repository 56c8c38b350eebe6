/* The labels chosen so far, best first, as chips that can be removed or made first; and the alternative beside them. */

import { make } from "../dom.js";

const small = (label, sign, act) => make("button", { type: "button", class: "chip-act", "aria-label": label, title: label, onclick: act }, sign);

export class Chosen {
  labels = [];
  alternative = null;
  isNone = false;
  isChanged = false;
  #names;
  #changed;

  /* answer: the earlier one, if somebody went back; changed(): called after every change. */
  constructor(names, answer, changed) {
    this.#names = names;
    this.#changed = changed;
    this.element = make("div", { class: "chosen-labels", role: "group", "aria-label": "Chosen names" });
    if (answer) Object.assign(this, { labels: [...answer.labels], alternative: answer.alternative, isNone: !answer.labels.length });
  }

  get value() {
    return { labels: this.isNone ? [] : this.labels, alternative: this.alternative };
  }

  add(value) {
    this.#change({ labels: [...this.labels.filter((other) => other !== value), value] });
  }

  remove(value) {
    const labels = this.labels.filter((other) => other !== value);
    this.#change({ labels, alternative: labels.length ? this.alternative : null });
  }

  makeFirst(value) {
    const alternative = this.alternative === value ? null : this.alternative; // it is the main subject now
    this.#change({ labels: [value, ...this.labels.filter((other) => other !== value)], alternative });
  }

  setAlternative(value) {
    this.#change({ alternative: value });
  }

  /* No class fits, or one does after all: the labels are kept meanwhile. */
  setNone(isNone) {
    this.#change({ isNone, alternative: null });
  }

  #change(to) {
    Object.assign(this, to, { isChanged: true });
    this.#changed();
  }

  /* isBeside: the person is naming the main subject; beside(): begins that. */
  draw({ isBeside, beside }) {
    const chips = this.isNone ? [] : this.labels.map((value, i) => this.#chip(value, i));
    const other = this.alternative === null ? null : this.#other();
    const canAsk = !this.isNone && this.labels.length > 0 && this.alternative === null && !isBeside;
    const ask = canAsk ? make("button", { type: "button", class: "plain beside", "data-role": "beside", onclick: beside }, "Main subject is something else") : null;
    this.element.replaceChildren(...[chips.length ? make("ol", { class: "chips" }, chips) : null, other, ask].filter(Boolean));
    this.element.hidden = !this.element.children.length;
  }

  #chip(value, i) {
    const name = this.#names[value];
    return make("li", { class: "label-chip", "data-label": value }, make("span", { class: "chip-place", "aria-hidden": "true" }, String(i + 1)), make("b", {}, name),
      i > 0 && small(`Make ${name} first`, "↑", () => this.makeFirst(value)), small(`Remove ${name}`, "×", () => this.remove(value)));
  }

  #other() {
    const name = this.#names[this.alternative];
    return make("p", { class: "label-chip other", "data-alternative": this.alternative }, make("span", {}, this.isNone ? "nearest:" : "main subject:"), make("b", {}, name),
      small(`Remove ${name}`, "×", () => this.setAlternative(null)));
  }
}
