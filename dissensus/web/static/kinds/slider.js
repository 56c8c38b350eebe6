/* Which of two is better, and how certain is that? Pictures are shown side by side, clips one after the other, all of them
 * pixel for pixel. The server decides at random which one is left or first; the answer is positive for the right one. */

import { make } from "../dom.js";
import { Clips } from "./clips.js";
import { ExactStage } from "./exact.js";
import { asked, side, stage } from "./parts.js";
import { Scale, bandOf, signed } from "./scale.js";

/* Names of the two: on the screen, where the style sheet picks one, and in texts that fit any screen. */
const PICTURES = { left: side("Left", "Upper"), right: side("Right", "Lower"), text: { left: "the left or upper one", right: "the right or lower one" } };
const CLIPS = { left: ["First"], right: ["Second"], text: { left: "the first one", right: "the second one" } };

const named = (names, band) => names[band].map((part) => (part.cloneNode ? part.cloneNode(true) : part));
const bandName = (names, band) => (band === "same" ? ["Uncertain"] : [...named(names, band), " is better"]);
const valueName = (names, value) => (value === 0 ? ["No difference"] : bandName(names, bandOf(value)));

const valueText = (names, value) => {
  const words = { unfit: "cannot be judged", same: "uncertain", left: `${names.text.left} is better`, right: `${names.text.right} is better` };
  if (typeof value === "string") return words[value];
  return value === null ? "not moved yet" : `${value === 0 ? "no difference" : words[bandOf(value)]} (${signed(value)})`;
};

class Sliding {
  constructor(question, context) {
    const { pictures, chosen } = context;
    const areClips = pictures.some((medium) => medium.matches("video"));
    this.context = context;
    this.ask = question.payload.ask || "Which one is better?";
    this.names = areClips ? CLIPS : PICTURES;
    this.before = typeof chosen === "number" ? chosen : null;
    this.scale = new Scale(["left", "same", "right"].map((band) => bandName(this.names, band)), this.before, (value) => valueText(this.names, value), () => this.draw());
    this.makeAnswers();
    const captions = ["left", "right"].map((band) => make("span", {}, ...named(this.names, band)));
    this.exact = pictures.length ? new ExactStage(pictures, captions) : null;
    this.stage = this.exact ?? stage([], question.payload.items, [], captions);
    this.clips = areClips ? new Clips(pictures, this.exact, chosen !== undefined, () => this.draw()) : null;
    ["left", "right"].forEach((band, i) => pictures[i]?.setAttribute(areClips ? "aria-label" : "alt", this.names.text[band]));
    this.scale.listen((event) => this.key(event));
    this.clips?.draw();
    this.draw();
  }

  makeAnswers() {
    const { answer, chosen } = this.context;
    const plain = (attributes, words, key) => make("button", { type: "button", ...attributes }, make("span", {}, words), make("kbd", { "aria-hidden": "true" }, key));
    this.reading = make("p", { class: "reading", "data-role": "reading" });
    this.confirm = make("button", { type: "button", class: "go", "data-role": "confirm", "aria-keyshortcuts": "Enter", onclick: () => this.give() });
    this.same = plain({ "data-role": "same", "aria-keyshortcuts": "S", onclick: () => { this.scale.to(0); this.scale.focus(); } }, "No difference", "S");
    this.unfit = plain({ "data-answer": "unfit", "aria-keyshortcuts": "U", "aria-pressed": chosen === undefined ? null : String(chosen === "unfit"), onclick: () => answer("unfit") }, "Cannot be judged", "U");
  }

  get isOpen() {
    return !this.clips || this.clips.player.isSeen;
  }

  draw() {
    const { value } = this.scale;
    this.scale.isOpen = this.isOpen;
    this.same.disabled = !this.isOpen;
    this.confirm.disabled = value === null || !this.isOpen;
    const wait = this.isOpen ? "Move the slider" : "Watch both clips first";
    this.reading.replaceChildren(...(value === null ? [wait] : [...valueName(this.names, value), " ", make("b", {}, signed(value))]));
    const said = value === null ? ["Confirm"] : [make("span", {}, "Confirm: ", make("span", { class: "said" }, ...valueName(this.names, value)), ` (${signed(value)})`)];
    this.confirm.replaceChildren(...said, make("kbd", { "aria-hidden": "true" }, "Enter"));
    this.confirm.setAttribute("aria-label", value === null ? wait : `Confirm: ${valueText(this.names, value)}`);
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

const draw = (host, question, context) => {
  const sliding = new Sliding(question, context);
  const { names, scale, stage: shown, clips, reading, same, confirm, unfit, ask } = sliding;
  const answers = make("div", { class: "answers sliding", role: "group", "aria-label": "Answer" }, same, confirm, unfit);
  host.append(shown.element, make("div", { class: "foot" }, clips?.element, make("div", { class: "heading" }, asked("", ask), reading), scale.element, answers));
  if (!context.isTouch && context.chosen === undefined) scale.focus();
  return {
    says: ask,
    words: (value) => valueText(names, value),
    told: (value) => valueText(names, value),
    isChanged: () => scale.value !== sliding.before,
    key: (event) => sliding.key(event),
    leave: () => { sliding.exact?.leave(); clips?.player.leave(); },
  };
};

export default {
  title: "Which one is better, and how sure are you?",
  about:
    "Two pictures side by side, or two clips one after the other, pixel for pixel. Move the slider towards the better one: the further you move it, the more certain you are. " +
    "Near the middle means uncertain; exactly in the middle means no difference.",
  hasZoom: false,
  keys: [
    { keys: ["←", "→"], name: "Move", meaning: "by 5 towards the left or the right one, with Shift by 1; Home and End go all the way" },
    { keys: ["S", "0"], name: "No difference", meaning: "moves the slider exactly to the middle" },
    { keys: ["Enter"], name: "Confirm", meaning: "sends the answer shown on the button; Space does the same" },
    { keys: ["U"], name: "Cannot be judged", meaning: "they are broken or unsuitable" },
    { keys: ["F"], name: "Fit", meaning: "if they are larger than the screen: scales them down so that you see all of them" },
    { keys: ["P", "1", "2"], name: "Play", meaning: "clips only: replays both, the first or the second one" },
  ],
  draw,
};
