/* A board with everything needed to draw on it: tools, classes, undo steps, and their keys. Knows nothing about questions. */

import { one } from "../../dom.js";
import { Brush, Fill } from "./brushes.js";
import { Caret } from "./caret.js";
import { Drawing } from "./drawing.js";
import { VOID } from "./overlay.js";
import { Panel, TOOLS } from "./panel.js";
import { Polygon } from "./polygon.js";

const GROWTH = 1.25;
const TYPED = "input:not([type=range]), textarea, select";
const habits = { tool: "polygon", size: null, opacity: 0.5, label: 1 }; // this person's settings, kept for the next question
const drawnWith = { tool: "polygon", label: 1 }; // every picture starts with these: nobody starts by filling or erasing

const HINTS = {
  polygon: "Click each corner. Press Enter or click the first corner to close the polygon.",
  brush: "Paint with the selected class.",
  eraser: "Erase: what was there becomes background.",
  fill: "Click a region of one colour to assign it to the selected class.",
  hand: "Drag to move the picture. With other tools, hold the space bar or the middle button and drag.",
};
const TOUCH_HINTS = {
  ...HINTS,
  polygon: "Tap each corner, then the first one again.",
  fill: "Tap a region to assign it to the selected class.",
  hand: "Drag to move the picture. With other tools, use two fingers.",
};

export class Easel extends EventTarget {
  chips = null;
  #board;
  #tools;
  #hidden = null; // opacity before the colours were hidden
  #listeners = new AbortController();

  /* before: the mask to start with, or null. Events: change (of the drawing, the polygon or the settings). */
  constructor(board, before) {
    super();
    this.#board = board;
    Object.assign(habits, drawnWith);
    const longest = Math.max(board.width, board.height);
    this.largest = Math.max(16, Math.min(400, Math.round(longest / 3)));
    this.drawing = new Drawing(board, before);
    this.drawing.label = habits.label;
    this.drawing.size = Math.min(habits.size ?? Math.max(1, Math.round(longest / 40)), this.largest);
    this.polygon = new Polygon(board, this.drawing, () => this.draw());
    const erase = new Brush("eraser", board, this.drawing, 0);
    this.#tools = { polygon: this.polygon, brush: new Brush("brush", board, this.drawing), eraser: erase, fill: new Fill(board, this.drawing), hand: null };
    this.caret = new Caret(board);
    this.panel = new Panel({
      tool: (name) => this.take(name), size: (size) => this.resize(size), opacity: (share) => this.tint(share),
      undo: () => this.undo(), redo: () => this.drawing.redo(), clear: () => this.clear(),
    }, this.largest);
    this.drawing.addEventListener("change", () => this.draw());
    const on = (kind, act) => addEventListener(kind, act, { capture: true, signal: this.#listeners.signal });
    on("keydown", (event) => this.#first(event));
    on("keyup", (event) => { if (event.key === " ") this.caret.release(); });
    board.opacity = habits.opacity;
    this.take(habits.tool);
  }

  hint(isTouch) {
    return (isTouch ? TOUCH_HINTS : HINTS)[habits.tool];
  }

  get label() {
    return this.drawing.label;
  }

  draw() {
    const { size, canUndo, canRedo, isEmpty } = this.drawing;
    const { isOpen } = this.polygon;
    this.panel.draw({ tool: habits.tool, size, opacity: this.#board.opacity, canUndo: canUndo || isOpen, canRedo: canRedo && !isOpen, isEmpty: isEmpty && !isOpen });
    this.dispatchEvent(new Event("change"));
  }

  take(name) {
    habits.tool = name;
    if (["polygon", "brush"].includes(name)) drawnWith.tool = name;
    this.#board.tool?.hover?.(null);
    this.#board.tool = this.#tools[name];
    this.#board.isHand = name === "hand";
    this.draw();
  }

  resize(size) {
    habits.size = this.drawing.size = Math.max(1, Math.min(this.largest, size));
    this.#tools.brush.draw();
    this.#tools.eraser.draw();
    this.draw();
  }

  tint(opacity) {
    this.#hidden = null;
    habits.opacity = this.#board.opacity = opacity;
    this.draw();
  }

  choose(label) {
    habits.label = this.drawing.label = label;
    if (label && label !== VOID) drawnWith.label = label;
    this.chips?.mark(label);
    this.polygon.draw();
    if (["eraser", "hand"].includes(habits.tool)) this.take("brush");
    else this.draw();
  }

  undo() {
    if (this.polygon.isOpen) this.polygon.removeLast();
    else this.drawing.undo();
  }

  clear() {
    this.polygon.drop();
    this.drawing.clear();
  }

  leave() {
    this.#listeners.abort();
  }

  /* Keys that the page would use itself, and keys that may be held down. */
  #first(event) {
    const { target, ctrlKey, metaKey, altKey } = event;
    const isAway = !this.#board.element.checkVisibility() || this.#board.element.closest("[inert]") || one("dialog[open]");
    if (isAway || altKey || target.matches?.(TYPED)) return;
    const isTaken = ctrlKey || metaKey ? this.#step(event) : this.#held(event);
    if (!isTaken) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #step({ key, shiftKey }) {
    const letter = key.toLowerCase();
    if (letter === "z" && !shiftKey) this.undo();
    else if (letter === "y" || letter === "z") this.drawing.redo();
    else return false;
    return true;
  }

  #held(event) {
    const { key, target, repeat, shiftKey } = event;
    if (key.toLowerCase() === "z") this.#step(event); // on this page, Z is for strokes
    else if (key === "[") this.resize(Math.min(this.drawing.size - 1, Math.round(this.drawing.size / GROWTH)));
    else if (key === "]") this.resize(Math.max(this.drawing.size + 1, Math.round(this.drawing.size * GROWTH)));
    else if (key === "Backspace" && !shiftKey) this.polygon.removeLast(); // even without corners: Backspace must not leave the picture
    else if (key === "0" && !repeat) return Boolean(this.chips?.key(key));
    else return !target.closest?.("button, a, input, [role=group]") && this.caret.key(event);
    return true;
  }

  /* True if the key was used for drawing. */
  key({ key }) {
    const tool = TOOLS.find((one) => one.key === key.toUpperCase());
    if (tool) this.take(tool.name);
    else if (key === "Escape" && this.polygon.isOpen) this.polygon.drop();
    else if (key.toLowerCase() === "f") this.#board.zoom.reset();
    else if (key.toLowerCase() === "o") this.#toggle();
    else return Boolean(this.chips?.key(key));
    return true;
  }

  /* Hides or shows the colours. */
  #toggle() {
    const before = this.#hidden;
    this.#hidden = before === null ? this.#board.opacity : null;
    this.#board.opacity = before ?? 0;
    this.draw();
  }
}
