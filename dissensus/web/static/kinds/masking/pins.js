/* Numbered pins on a board, and a list of them: where somebody found an error, and what kind.
 *
 * pins = new Pins(board)
 *   show(marks)   [{ x, y, words }]: positions in pixels of the picture
 *   list          <ol>; clicking a line brings its pin into view */

import { draw, make } from "../../dom.js";

export class Pins {
  #board;
  #marks = [];
  #group = draw("g", { class: "pins" });

  constructor(board) {
    this.#board = board;
    this.list = make("ol", { class: "marks", "data-role": "marks" });
    board.layer.append(this.#group);
    board.addEventListener("view", () => this.#draw());
  }

  show(marks) {
    this.#marks = marks;
    const line = ({ x, y, words }, i) =>
      make("li", {}, make("button", { type: "button", class: "plain", onclick: () => this.#board.reveal(x, y) }, make("b", {}, String(i + 1)), make("span", {}, words)));
    this.list.replaceChildren(...marks.map(line));
    this.#draw();
  }

  #draw() {
    this.#group.replaceChildren(...this.#marks.map(({ x, y, words }, i) => {
      const at = this.#board.toStage(x, y);
      return draw("g", { class: "pin", transform: `translate(${at.x} ${at.y})`, "data-mark": i + 1, "data-words": words },
        draw("path", { d: "M0 0C-3-7-11-11-11-19A11 11 0 1 1 11-19C11-11 3-7 0 0Z" }),
        draw("text", { y: -15, "text-anchor": "middle" }, String(i + 1)));
    }));
  }
}
