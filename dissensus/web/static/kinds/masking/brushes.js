/* Tools that paint where the pointer is pressed: brush, eraser and region fill. */

import { draw } from "../../dom.js";
import { fillRegion, fillStroke } from "./fill.js";

const pixelOf = ({ x, y }) => [Math.floor(x), Math.floor(y)];

/* A round brush; label: what it paints, by default the selected class. */
export class Brush {
  #board;
  #drawing;
  #label;
  #last = null;
  #pointer = null;
  #ring = draw("circle", { class: "ring" });
  #edge = draw("circle", { class: "ring-edge" });

  constructor(name, board, drawing, label = null) {
    Object.assign(this, { name });
    this.#board = board;
    this.#drawing = drawing;
    this.#label = label;
    board.layer.append(this.#edge, this.#ring);
    board.addEventListener("view", () => this.draw());
    this.draw();
  }

  get reach() {
    return this.#drawing.size;
  }

  down(at) {
    this.#last = pixelOf(at);
    this.#stroke(this.#last);
    this.hover(at);
  }

  move(places) {
    for (const at of places) {
      const next = pixelOf(at);
      this.#stroke(next);
      this.#last = next;
    }
    this.hover(places.at(-1));
  }

  up(_, event) {
    this.#drawing.settle();
    if (event?.pointerType === "touch") this.hover(null); // a lifted finger has no position
  }

  cancel() {
    this.#drawing.revert();
    this.hover(null);
  }

  hover(at) {
    this.#pointer = at;
    this.draw();
  }

  draw() {
    const isSeen = this.#pointer && this.#board.tool === this;
    for (const circle of [this.#ring, this.#edge]) circle.style.display = isSeen ? "" : "none";
    if (!isSeen) return;
    const [x, y] = pixelOf(this.#pointer);
    const at = this.#board.toStage(x + 0.5, y + 0.5);
    const r = Math.max(1.5, (this.#drawing.size / 2) * this.#board.scale);
    for (const circle of [this.#ring, this.#edge]) for (const [name, value] of Object.entries({ cx: at.x, cy: at.y, r })) circle.setAttribute(name, value);
  }

  #stroke(to) {
    this.#drawing.paint(fillStroke, this.#last, to, this.#drawing.size, this.#label ?? this.#drawing.label);
  }
}

/* Assigns the region under the pointer to the selected class. */
export class Fill {
  #board;
  #drawing;

  constructor(board, drawing) {
    Object.assign(this, { name: "fill" });
    this.#board = board;
    this.#drawing = drawing;
  }

  /* Only when the finger is lifted: it might have been the first of two. */
  up(at) {
    const [x, y] = pixelOf(at);
    if (x < 0 || y < 0 || x >= this.#board.width || y >= this.#board.height) return;
    this.#drawing.paint(fillRegion, x, y, this.#drawing.label);
    this.#drawing.settle();
  }
}
