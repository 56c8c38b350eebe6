/* What is where in the picture? People draw it on an empty board, or correct an earlier mask. */

import { make } from "../dom.js";
import { Board } from "./board.js";
import { Chips } from "./masking/chips.js";
import { dropDraft, keepDraft, readDraft } from "./masking/drafts.js";
import { Easel } from "./masking/easel.js";
import { VOID } from "./masking/overlay.js";
import { Pins } from "./masking/pins.js";
import { decoded, pixelsOf } from "./masking/runs.js";
import { answerButtons, asked, stage } from "./parts.js";

const MOST_NAMED = 4;
const SOON = 400; // milliseconds after a stroke until it is saved in case of a reload
const MARKS = { missing: "something is not marked", extra: "marked, but not there", class: "wrong class", border: "the border is off" };

const percent = (share) => (share >= 0.01 ? `${Math.round(100 * share)} %` : "under 1 %");

/* The classes by their share of the picture. */
const wordsOf = (answer, names) => {
  if (typeof answer === "string") return answer === "unfit" ? "cannot be judged" : answer;
  const nameOf = (label) => (label === VOID ? "cannot tell" : (names[label] ?? `class ${label}`));
  const pixels = [...pixelsOf(answer.runs)].filter(([label]) => label).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  if (!pixels.length) return `only ${nameOf(0)}`;
  const named = pixels.slice(0, MOST_NAMED).map(([label, many]) => `${nameOf(label)} ${percent(many / (answer.height * answer.width))}`);
  return [...named, ...(pixels.length > MOST_NAMED ? [`${pixels.length - MOST_NAMED} more`] : [])].join(", ");
};

class Masking {
  names = [];
  isHere = true;
  #question;
  #context;
  #isGiven = false;
  #isSure = false; // an empty mask has to be confirmed
  #timer = 0;
  #hint = make("p", { class: "hint", "data-role": "hint", role: "status" });
  #kept = () => this.#keep();

  constructor(question, context) {
    this.#question = question;
    this.#context = context;
    const { colours, unknown, marks = [] } = question.payload;
    this.board = new Board(context.pictures[0], { colours, unknown, alt: "Picture to draw on: arrow keys move a cross, the space bar draws" });
    this.easel = new Easel(this.board, this.#before());
    this.#restore();
    if (marks.length) {
      this.pins = new Pins(this.board);
      this.pins.show(marks.map(({ x, y, kind }) => ({ x: x + 0.5, y: y + 0.5, words: MARKS[kind] ?? String(kind) })));
    }
    this.#makeAnswers();
    this.easel.addEventListener("change", () => this.#changed());
    for (const kind of ["pagehide", "visibilitychange"]) addEventListener(kind, this.#kept);
    this.#draw();
  }

  /* The previous answer, or the mask to correct; null if there is none of this size. */
  #before() {
    const { chosen } = this.#context;
    const mask = chosen?.runs ? chosen : this.#question.payload.mask;
    const isOfThis = mask?.width === this.board.width && mask.height === this.board.height;
    return isOfThis ? decoded(mask.runs, mask.width * mask.height) : null;
  }

  #restore() {
    const draft = readDraft(this.#question.ticket, this.board);
    if (!draft) return;
    this.easel.drawing.replace(draft.labels);
    if (draft.corners.length) this.easel.polygon.restore(draft.corners);
  }

  #makeAnswers() {
    const { answer, chosen } = this.#context;
    this.done = make("button", { type: "button", class: "go", "data-role": "done", "aria-keyshortcuts": "Enter", onclick: () => this.give(), onmousedown: (event) => event.preventDefault() });
    this.unfit = make("button",
      { type: "button", "data-answer": "unfit", "aria-keyshortcuts": "U", "aria-pressed": chosen === undefined ? null : String(chosen === "unfit"), onclick: () => this.say("unfit") },
      make("span", {}, "Cannot be judged"), make("kbd", { "aria-hidden": "true" }, "U"));
    this.hint = this.#hint;
    this.answer = answer;
  }

  /* Shows the classes once their names are loaded. */
  name(classes, place) {
    if (!this.isHere) return;
    const { colours, unknown } = this.#question.payload;
    this.names = classes.names;
    const chips = new Chips(classes, colours, unknown, this.#context.recent.read(), (label) => this.choose(label));
    this.easel.chips = chips;
    place.replaceChildren(chips.element);
    const last = classes.names.length - 1;
    if (this.easel.label !== VOID && this.easel.label > last) this.easel.choose(last); // left over from another study
    chips.mark(this.easel.label);
    this.#draw();
  }

  choose(label) {
    this.easel.choose(label);
    if (label && label !== VOID) this.#context.recent.add(label);
  }

  /* There is a mask to start with, and it is empty: it looks as if there were none. */
  get #isBlank() {
    return Boolean(this.#question.payload.mask) && this.easel.drawing.isEmpty && !this.isChanged;
  }

  get isChanged() {
    return this.easel.drawing.canUndo || this.easel.polygon.isOpen;
  }

  /* Closes an open polygon, asks for confirmation if nothing is drawn, and gives the answer. */
  give() {
    const { drawing, polygon } = this.easel;
    if (polygon.isOpen) return polygon.close() ? undefined : this.#say(`A polygon needs at least three corners: add one, or ${this.#context.isTouch ? "undo it" : "press Esc to discard it"}.`);
    if (drawing.isEmpty && !this.#isSure) {
      this.#isSure = true;
      this.#draw();
      return this.#say(`Nothing is drawn. Is there only ${this.names[0] ?? "background"} in this picture?`);
    }
    const { answer } = drawing;
    if (answer.runs.length > 2 * this.#question.payload.most_runs) return this.#say("The mask has too much detail to be stored: paint over small specks with a larger brush.");
    return this.say(answer);
  }

  say(answer) {
    this.#isGiven = true;
    this.answer(answer);
  }

  /* True if the key was used. */
  key(event) {
    const { key, target, repeat } = event;
    if (key === "Enter") {
      if (target.closest("button, a")) return false; // it presses that button
      this.give();
    } else if (repeat) return false;
    else if (key.toLowerCase() === "u") this.say("unfit");
    else return this.easel.key(event);
    return true;
  }

  words(answer) {
    return wordsOf(answer, this.names);
  }

  leave() {
    this.isHere = false;
    clearTimeout(this.#timer);
    for (const kind of ["pagehide", "visibilitychange"]) removeEventListener(kind, this.#kept);
    if (this.#isGiven) dropDraft(this.#question.ticket);
    else this.#keep();
    this.easel.leave();
    this.board.leave();
  }

  #changed() {
    this.#isGiven = false;
    this.#isSure = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#kept, SOON);
    if (document.activeElement?.matches("[data-role=keep]") && this.isChanged) this.board.surface.focus({ preventScroll: true }); // Enter now gives the new answer
    this.#draw();
  }

  #keep() {
    if (this.#isGiven) return;
    if (this.isChanged) keepDraft(this.#question.ticket, this.board, this.easel.polygon.corners);
    else dropDraft(this.#question.ticket);
  }

  #draw() {
    const { polygon, drawing } = this.easel;
    const words = polygon.isOpen ? "Close polygon" : !drawing.isEmpty ? "Done" : this.#isSure ? `Confirm: only ${this.names[0] ?? "background"}` : "Nothing to draw";
    this.done.replaceChildren(make("span", {}, words), make("kbd", { "aria-hidden": "true" }, "Enter"));
    this.#say(this.#isBlank ? "Nothing was marked in this picture so far." : this.easel.hint(this.#context.isTouch));
  }

  #say(words) {
    if (this.#hint.textContent !== words) this.#hint.textContent = words; // screen readers would read an unchanged text again
  }
}

/* If there is no picture to draw on. */
const drawNothing = (host, ask, items, context) => {
  const buttons = answerButtons([{ value: "unfit", label: "Cannot be judged", keys: ["U"] }], context);
  host.append(stage([], items, []).element, make("div", { class: "foot" }, asked("", ask), buttons.element));
  return { says: ask, words: (value) => wordsOf(value, []), key: buttons.key };
};

const draw = (host, question, context) => {
  const { ask = "Draw what is in the picture", items } = question.payload;
  if (!context.pictures[0]?.matches("img")) return drawNothing(host, ask, items, context);
  const masking = new Masking(question, context);
  const { board, easel, pins, hint, done, unfit } = masking;
  const classes = make("div", { class: "class-place" }, make("p", { class: "quiet small" }, "Loading the classes …"));
  const answers = make("div", { class: "answers masked", role: "group", "aria-label": "Answer" }, done, unfit);
  const head = make("div", { class: "mask-head" }, asked("", ask), hint);
  const bar = make("div", { class: "mask-bar" }, easel.panel.tools, easel.panel.steps);
  host.append(board.element, make("div", { class: "foot masking" }, head, pins?.list, bar, easel.panel.measures, classes, answers));
  context.classes().then((known) => masking.name(known, classes));
  if (!context.isTouch && context.chosen === undefined) board.surface.focus({ preventScroll: true });
  return {
    says: ask,
    words: (value) => masking.words(value),
    told: (value) => ({ drawn: "something to draw", unfit: "cannot be judged" })[value],
    isChanged: () => masking.isChanged,
    zoom: board.zoom,
    key: (event) => masking.key(event),
    leave: () => masking.leave(),
  };
};

export default {
  title: "What is where?",
  brief: "Draw every object of the listed classes as precisely as you can; everything else is background.",
  about: "Draw every object of the listed classes as precisely as you can; everything else is background. Use 'cannot tell' for anything that nobody could identify.",
  hasZoom: false,
  ownsZ: true,
  keys: [
    { keys: ["P", "B"], name: "Draw", meaning: "polygon, corner by corner, or brush", typed: "; [ and ] change the brush size" },
    { keys: ["E", "G"], name: "Erase, fill", meaning: "erase, or assign a region of one colour to the selected class" },
    { keys: ["1", "…", "0"], name: "Class", meaning: "as shown on the chips", typed: "; 0 is background, V is 'cannot tell', / searches a long list" },
    { keys: ["Enter"], name: "Close, finish", meaning: "closes the polygon; if none is open, sends your answer", typed: ". Backspace removes the last corner, Esc all corners" },
    { keys: ["Z"], name: "Undo stroke", meaning: "takes back the last stroke or corner", typed: "; Shift+Z brings it back. Ctrl+Z and Ctrl+Shift+Z do the same" },
    { keys: ["Shift", "Backspace"], name: "Previous question", typed: "goes back to it; this drawing is kept" },
    { keys: ["+", "−", "F"], name: "Zoom", meaning: "also with the wheel or two fingers", typed: "; F shows the whole picture. To move it, hold the space bar or the middle button and drag, or press H" },
    { keys: ["O"], name: "Colours", meaning: "hide or show" },
    { keys: ["←", "→"], name: "Keyboard", typed: "the arrow keys (also ↑ ↓) move a cross, with Shift by one pixel; the space bar draws there, and keeps drawing while you hold it and move" },
    { keys: ["U"], name: "Cannot be judged", meaning: "the picture is broken, or nobody could tell what is in it" },
  ],
  draw,
};
