/* Is this mask correct? It is shown over the picture; a click marks where it is wrong, a key or button says what is wrong. */

import { make } from "../dom.js";
import { Board } from "./board.js";
import { MOST, Marks } from "./checking/marks.js";
import { Legend } from "./legend.js";
import { decoded, pixelsOf } from "./masking/runs.js";
import { asked } from "./parts.js";

const ASK = "Is the mask correct?";
const SHORT = 6; // pixels of the page: moving further is dragging
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const KINDS = { missing: "Missing", extra: "Extra", class: "Wrong class", border: "Bad border" };
const WORDS = { missing: "something is not marked", extra: "marked, but not there", class: "wrong class", border: "the border is off" };

const words = (marks) => (marks.length ? `${marks.length} ${marks.length === 1 ? "error" : "errors"}` : "nothing wrong");
const told = (marks) => (marks.length ? "something is wrong" : "nothing is wrong");
const isSame = (marks, others) => JSON.stringify(marks) === JSON.stringify(others);
const key = (name) => make("kbd", { "aria-hidden": "true" }, name);

/* The labels scaled to the picture's size: every pixel takes the label at its centre. */
const fitted = ({ height, width, runs }, board) => {
  const labels = decoded(runs, height * width);
  if (!labels || (height === board.height && width === board.width)) return labels;
  const there = (place, size, of) => Math.floor(((2 * place + 1) * of) / (2 * size));
  return Uint8Array.from({ length: board.width * board.height }, (_, at) =>
    labels[there(Math.floor(at / board.width), board.height, height) * width + there(at % board.width, board.width, width)]);
};

class Checking {
  note = make("p", { class: "quiet small", role: "status" });

  constructor(question, context) {
    const { payload } = question;
    this.context = context;
    this.before = context.chosen ?? null;
    this.kind = "missing";
    this.board = new Board(context.pictures[0], { colours: payload.colours, unknown: payload.unknown, alt: "The picture with the mask over it" });
    this.makeAnswers();
    this.makeTools();
    this.marks = new Marks(this.board, WORDS, () => this.draw());
    this.board.tool = this.tool();
    this.board.surface.addEventListener("keydown", (event) => this.step(event));
    if (payload.mask) this.board.show(fitted(payload.mask, this.board) ?? this.board.labels);
    this.fillLegend(payload);
    this.marks.show(this.before ?? []);
  }

  makeAnswers() {
    this.none = make("button", { type: "button", "data-answer": "none", "aria-keyshortcuts": "N", onclick: () => this.give(false) }, make("span", {}, "Nothing wrong"), key("N"));
    this.send = make("button", { type: "button", class: "go", "data-role": "confirm", "aria-keyshortcuts": "Enter", onclick: () => this.give(true) });
    this.answers = make("div", { class: "answers checked", role: "group", "aria-label": "Answer" }, this.none, this.send);
  }

  makeTools() {
    this.chips = Object.entries(KINDS).map(([kind, name], i) =>
      make("button", { type: "button", class: "chip", "data-error": kind, "aria-keyshortcuts": String(i + 1), onclick: () => this.choose(kind) }, make("span", {}, name), key(String(i + 1))));
    this.errors = make("div", { class: "errors", role: "group", "aria-label": "What is wrong here" }, this.chips);
    this.looks = ["Filled", "Outline", "Off"].map((name) =>
      make("button", { type: "button", class: "chip", "data-look": name.toLowerCase(), onclick: () => this.look(name.toLowerCase()) }, name));
    this.legend = new Legend(this.context.classes());
    this.shade = make("input", { type: "range", min: "10", max: "90", value: "50", "aria-label": "Mask opacity", oninput: () => { this.look("filled"); } });
    this.view = make("div", { class: "looks", role: "group", "aria-label": "Mask" }, make("span", { class: "small-head" }, "Mask ", key("M")), this.looks, this.shade);
    this.look("filled");
  }

  get shown() {
    return this.board.element.dataset.look;
  }

  /* filled, outline, or off: the bare picture. */
  look(name) {
    this.board.element.dataset.look = name;
    this.board.isOutline = name === "outline";
    this.board.opacity = Number(this.shade.value) / 100;
    for (const chip of this.looks) chip.setAttribute("aria-pressed", String(chip.dataset.look === name));
  }

  fillLegend({ mask, colours, unknown }) {
    const pixels = [...pixelsOf(mask?.runs ?? [])].filter(([label]) => label).sort((one, other) => other[1] - one[1]);
    this.legend.show(pixels.map(([label]) => label), colours, unknown);
  }

  /* A short touch places a pin; pins and the picture can be dragged. */
  tool() {
    let start = null;
    return {
      down: (_, event) => {
        start = { x: event.clientX, y: event.clientY, last: event, pin: this.marks.at(event.clientX, event.clientY), isDrag: false };
        if (start.pin >= 0) this.marks.select(start.pin);
      },
      move: (places, event) => {
        start.isDrag ||= Math.hypot(event.clientX - start.x, event.clientY - start.y) > SHORT;
        if (start.isDrag && start.pin >= 0) this.marks.move(places.at(-1));
        else if (start.isDrag) this.board.move(event.clientX - start.last.clientX, event.clientY - start.last.clientY);
        if (start.isDrag) start.last = event;
      },
      up: (at) => {
        if (!start.isDrag && start.pin < 0 && this.isInside(at)) this.set(at);
      },
      hover: (_, event) => this.board.surface.classList.toggle("on-pin", Boolean(event) && this.marks.at(event.clientX, event.clientY) >= 0),
    };
  }

  isInside({ x, y }) {
    return x >= 0 && y >= 0 && x < this.board.width && y < this.board.height;
  }

  set(at) {
    if (!this.marks.add(at, this.kind)) this.note.textContent = `You have placed ${MOST} marks, the maximum: please send them.`;
  }

  /* Sets what is wrong at the selected pin and the next ones. */
  choose(kind) {
    this.kind = kind;
    this.marks.mark(kind);
  }

  draw() {
    const { all, current } = this.marks;
    this.kind = current?.kind ?? this.kind;
    for (const chip of this.chips) chip.setAttribute("aria-pressed", String(chip.dataset.error === this.kind));
    this.none.disabled = all.length > 0;
    this.send.disabled = !all.length;
    const many = all.length ? `Send ${all.length} ${all.length === 1 ? "mark" : "marks"}` : "Send marks";
    this.send.replaceChildren(make("span", {}, many), key("Enter"));
    this.note.textContent = all.length ? "" : `${this.context.isTouch ? "Tap" : "Click"} where something is wrong, then say what.`;
  }

  /* 'Nothing wrong' has its own button, so that nobody gives this answer by accident. */
  give(isWrong) {
    if (isWrong === this.marks.all.length > 0) this.context.answer(this.marks.all.map((mark) => ({ ...mark })));
  }

  /* Arrow keys move the selected pin by one pixel, with Shift by ten; they repeat while held down. */
  step(event) {
    const step = STEPS[event.key];
    const { current } = this.marks;
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!current) return this.board.move(...step.map((part) => -40 * part));
    const many = event.shiftKey ? 10 : 1;
    this.marks.move({ x: current.x + many * step[0], y: current.y + many * step[1] });
    this.board.reveal(current.x, current.y);
  }

  /* True if the key was used. */
  key({ key: name, target }) {
    const letter = name.toLowerCase();
    const looks = this.looks.map((chip) => chip.dataset.look);
    if (this.chips[Number(letter) - 1]) this.choose(Object.keys(KINDS)[Number(letter) - 1]);
    else if (letter === "n") this.give(false);
    else if (letter === "m") this.look(looks[(looks.indexOf(this.shown) + 1) % looks.length]);
    else if (letter === "p") this.set(this.board.middle);
    else if (letter === "x" || name === "Delete") this.marks.remove();
    else if (name === "Escape") this.marks.select(-1);
    else if (name === "Enter" && !target.closest("button, a")) this.give(true);
    else return false;
    return true;
  }
}

const draw = (host, question, context) => {
  const checking = new Checking(question, context);
  const { board, errors, marks, note, view, legend, answers } = checking;
  host.append(board.element, make("div", { class: "foot checking" }, asked("", ASK), errors, note, marks.list, make("div", { class: "check-view" }, view, legend.element), answers));
  if (!context.isTouch && context.chosen === undefined) board.surface.focus({ preventScroll: true });
  return {
    says: ASK,
    words,
    told,
    isChanged: () => !isSame(marks.all, checking.before ?? []),
    zoom: board.zoom,
    key: (event) => checking.key(event),
    leave: () => board.leave(),
  };
};

export default {
  title: "Is the mask correct?",
  brief: "Somebody else marked what is in the picture: click every spot where they got it wrong, and say what is wrong there.",
  about:
    "Somebody else marked what is in the picture. Check their work: is anything missing, marked although it is not there, or of the wrong class, or is a border " +
    "clearly off? Click the spot and choose what is wrong. If everything is fine, press 'Nothing wrong'.",
  keys: [
    { keys: ["1", "2", "3", "4"], name: "What is wrong", meaning: "missing, extra, wrong class, bad border: applies to the selected mark and to those you place next" },
    { keys: ["N"], name: "Nothing wrong", meaning: "everything is marked as it should be" },
    { keys: ["Enter"], name: "Send", meaning: "sends your marks" },
    { keys: ["M"], name: "Mask", meaning: "filled, outline, off" },
    { keys: ["P"], name: "Mark the middle", typed: "places a mark in the middle of the view, without a mouse; the arrow keys move it, faster with Shift" },
    { keys: ["X"], name: "Remove", meaning: "removes the selected mark; you can also drag marks" },
  ],
  draw,
};
