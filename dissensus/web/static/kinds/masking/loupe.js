/* What is under the finger, enlarged above it: a finger hides just what it draws on. */

import { make } from "../../dom.js";

const SIDE = 132; // page pixels
const LARGER = 2.5; // than on the board
const ABOVE = 48; // page pixels between the finger and the loupe's edge

const drawRing = (pen, radius, colour, width) => {
  pen.beginPath();
  pen.arc(SIDE / 2, SIDE / 2, radius, 0, 2 * Math.PI);
  Object.assign(pen, { strokeStyle: colour, lineWidth: width });
  pen.stroke();
};

export class Loupe {
  element = make("canvas", { class: "loupe", "data-role": "loupe", "aria-hidden": "true", hidden: true });
  #board;
  #image;
  #labels;
  #frame = 0;

  /* image: the picture; labels: the canvas over it, in pixels of the screen. */
  constructor(board, image, labels) {
    this.#board = board;
    this.#image = image;
    this.#labels = labels;
  }

  show({ clientX, clientY }) {
    const box = this.#board.element.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    const isRoom = y - ABOVE - SIDE >= 0;
    const beside = x < box.width / 2 ? x + ABOVE : x - ABOVE - SIDE; // near the upper edge there is no room above
    const left = Math.max(0, Math.min(box.width - SIDE, isRoom ? x - SIDE / 2 : beside));
    Object.assign(this.element.style, { left: `${left}px`, top: `${isRoom ? y - ABOVE - SIDE : 0}px` });
    this.element.hidden = false;
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#draw(x, y)); // after the board has painted the stroke
  }

  hide() {
    cancelAnimationFrame(this.#frame);
    this.element.hidden = true;
  }

  #draw(x, y) {
    const side = Math.round(SIDE * devicePixelRatio);
    Object.assign(this.element, { width: side, height: side });
    const pen = this.element.getContext("2d");
    pen.scale(side / SIDE, side / SIDE);
    const { scale } = this.#board;
    const labels = this.#labels;
    const box = this.#board.element.getBoundingClientRect();
    const [seen, part] = [SIDE / LARGER, SIDE / LARGER / scale]; // page pixels of the board, and pixels of the picture, that are shown
    const at = this.#board.toPicture(box.left + x, box.top + y);
    pen.imageSmoothingEnabled = scale * LARGER < 2;
    pen.drawImage(this.#image, at.x - part / 2, at.y - part / 2, part, part, 0, 0, SIDE, SIDE);
    const density = labels.width / parseFloat(labels.style.width);
    pen.drawImage(labels, (x - seen / 2) * density, (y - seen / 2) * density, seen * density, seen * density, 0, 0, SIDE, SIDE);
    const radius = Math.max(3, ((this.#board.tool?.reach ?? 0) / 2) * scale * LARGER);
    drawRing(pen, radius, "#111", 3);
    drawRing(pen, radius, "#fff", 1.25);
  }
}
