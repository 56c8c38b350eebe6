/* A question that is answered on a scale: pictures pixel for pixel, or clips one after the other, the scale, and buttons
 * to confirm what it says. slider.js and rating.js say what the scale means. */

import { make } from "../dom.js";
import { Clips } from "./clips.js";
import { ExactStage } from "./exact.js";
import { asked, stage } from "./parts.js";
import { Scale } from "./scale.js";

const plain = (attributes, words, key) => make("button", { type: "button", ...attributes }, make("span", {}, words), make("kbd", { "aria-hidden": "true" }, key));

class Scaled {
  /* meaning: { ask, range (see scale.js), captions, alts, name(value) → nodes, text(value), number(value) → text,
   *            watch: what to do before clips have been seen, middle: { words, key, value } of a button (optional) } */
  constructor(question, context, meaning) {
    const { pictures, chosen } = context;
    this.context = context;
    this.meaning = meaning;
    this.before = typeof chosen === "number" ? chosen : null;
    this.scale = new Scale(meaning.range, this.before, meaning.text, () => this.draw());
    this.makeAnswers();
    this.exact = pictures.length ? new ExactStage(pictures, meaning.captions) : null;
    this.stage = this.exact ?? stage([], question.payload.items, [], meaning.captions);
    const areClips = pictures.some((medium) => medium.matches("video"));
    this.clips = areClips ? new Clips(pictures, this.exact, chosen !== undefined, () => this.draw()) : null;
    pictures.forEach((medium, i) => medium.setAttribute(areClips ? "aria-label" : "alt", meaning.alts[i]));
    this.scale.listen((event) => this.key(event));
    this.clips?.draw();
    this.draw();
  }

  makeAnswers() {
    const { answer, chosen } = this.context;
    const { middle } = this.meaning;
    this.reading = make("p", { class: "reading", "data-role": "reading" });
    this.confirm = make("button", { type: "button", class: "go", "data-role": "confirm", "aria-keyshortcuts": "Enter", onclick: () => this.give() });
    this.middle = middle && plain({ "data-role": "same", "aria-keyshortcuts": middle.key, onclick: () => { this.scale.to(middle.value); this.scale.focus(); } }, middle.words, middle.key);
    this.unfit = plain({ "data-answer": "unfit", "aria-keyshortcuts": "U", "aria-pressed": chosen === undefined ? null : String(chosen === "unfit"), onclick: () => answer("unfit") }, "Cannot be judged", "U");
    this.answers = make("div", { class: "answers sliding", role: "group", "aria-label": "Answer", "data-many": middle ? 3 : 2 }, this.middle, this.confirm, this.unfit);
  }

  get isOpen() {
    return !this.clips || this.clips.player.isSeen;
  }

  draw() {
    const { value } = this.scale;
    const { name, number, text, watch } = this.meaning;
    this.scale.isOpen = this.isOpen;
    if (this.middle) this.middle.disabled = !this.isOpen;
    this.confirm.disabled = value === null || !this.isOpen;
    const wait = this.isOpen ? "Move the slider" : watch;
    this.reading.replaceChildren(...(value === null ? [wait] : [...name(value), " ", make("b", {}, number(value))]));
    const said = value === null ? ["Confirm"] : [make("span", {}, "Confirm: ", make("span", { class: "said" }, ...name(value)), ` (${number(value)})`)];
    this.confirm.replaceChildren(...said, make("kbd", { "aria-hidden": "true" }, "Enter"));
    this.confirm.setAttribute("aria-label", value === null ? wait : `Confirm: ${text(value)}`);
  }

  give() {
    if (!this.confirm.disabled) this.context.answer(this.scale.value);
  }

  /* True if the key was used. */
  key(event) {
    const { key, target, repeat } = event;
    if (key === "Enter" || key === " ") return this.next(event);
    if (target.closest(".roll") && /^(Arrow|Page|Home|End)/.test(key)) return false; // they scroll the pictures there
    if (this.scale.key(event)) return true;
    if (repeat) return false;
    if (["u", "x"].includes(key.toLowerCase())) this.context.answer("unfit");
    else if (key.toLowerCase() === "f" && this.exact) this.exact.fit();
    else return Boolean(this.clips?.key(key.toLowerCase()));
    return true;
  }

  next({ target, repeat }) {
    if (target.closest("button, a")) return false; // it presses that button
    if (!repeat && !this.clips?.step()) this.give();
    return true;
  }
}

/* Draws such a question; returns its view. */
export const drawScaled = (host, question, context, meaning) => {
  const scaled = new Scaled(question, context, meaning);
  const { answers, clips, exact, reading, scale, stage: shown } = scaled;
  host.append(shown.element, make("div", { class: "foot" }, clips?.element, make("div", { class: "heading" }, asked("", meaning.ask), reading), scale.element, answers));
  if (!context.isTouch && context.chosen === undefined) scale.focus();
  return {
    says: meaning.ask,
    words: meaning.text,
    told: meaning.text,
    isChanged: () => scale.value !== scaled.before,
    key: (event) => scaled.key(event),
    leave: () => { exact?.leave(); clips?.player.leave(); },
  };
};

/* Keys of all such questions, for the instructions. */
export const SCALED_KEYS = [
  { keys: ["Enter"], name: "Confirm", meaning: "sends the answer shown on the button", typed: "; Space does the same" },
  { keys: ["U"], name: "Cannot be judged", meaning: "broken or unsuitable" },
  { keys: ["F"], name: "Fit", meaning: "if it is larger than the screen: scales it down so that you see all of it" },
];
