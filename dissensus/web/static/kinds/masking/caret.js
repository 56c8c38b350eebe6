/* A cursor on the board that the arrow keys move; the space bar presses the tool there, like a pointer. */

import { draw } from "../../dom.js";

const STEP = 10; // pixels of the page, approximately
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Caret {
  #board;
  #place = null; // a pixel of the picture, or a corner between pixels
  #pressed = null; // the tool that the space bar holds down
  #group = draw("g", { class: "caret" }, draw("path", { d: "M-12 0H-3M3 0H12M0-12V-3M0 3V12" }), draw("path", { d: "M-12 0H-3M3 0H12M0-12V-3M0 3V12" }));

  constructor(board) {
    this.#board = board;
    board.layer.append(this.#group);
    board.addEventListener("view", () => this.#draw());
    board.surface.addEventListener("pointerdown", () => this.hide());
    this.#draw();
  }

  hide() {
    this.release();
    this.#place = null;
    this.#draw();
  }

  /* True if the caret used the key. */
  key(event) {
    const way = WAYS[event.key];
    if (way) this.#move(way, event.shiftKey);
    else if (event.key === " " && this.#place) this.#press(event.repeat);
    else return false;
    return true;
  }

  release() {
    const tool = this.#pressed;
    this.#pressed = null;
    tool?.up?.(this.#at);
  }

  get #isOnCorners() {
    return Boolean(this.#board.tool?.isOnCorners);
  }

  get #at() {
    const half = this.#isOnCorners ? 0 : 0.5;
    return { x: this.#place[0] + half, y: this.#place[1] + half };
  }

  #move([dx, dy], isFine) {
    const { width, height, scale, tool } = this.#board;
    const step = isFine ? 1 : Math.max(1, Math.round(STEP / scale));
    const last = [width, height].map((size) => (this.#isOnCorners ? size : size - 1));
    const [x, y] = this.#place ?? [width >> 1, height >> 1];
    this.#place = this.#place ? [Math.max(0, Math.min(last[0], x + dx * step)), Math.max(0, Math.min(last[1], y + dy * step))] : [x, y];
    this.#board.reveal(...this.#place);
    this.#draw();
    if (this.#pressed) this.#pressed.move?.([this.#at]);
    else tool?.hover?.(this.#at);
  }

  #press(isRepeated) {
    if (isRepeated || this.#pressed) return;
    this.#pressed = this.#board.tool;
    this.#pressed?.down?.(this.#at);
  }

  #draw() {
    this.#group.style.display = this.#place ? "" : "none";
    if (!this.#place) return;
    const at = this.#board.toStage(this.#at.x, this.#at.y);
    this.#group.setAttribute("transform", `translate(${at.x} ${at.y})`);
    this.#board.surface.dataset.caret = this.#place.join();
  }
}
