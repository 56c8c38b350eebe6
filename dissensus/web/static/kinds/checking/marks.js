/* Numbered pins that people place on a board: where something is wrong, and what.
 *
 * marks = new Marks(board, words, changed)
 *                    words: the name of each kind of error; changed() is called after every change
 *   all              [{ x, y, kind }], in pixels of the picture, in the order they were placed
 *   selected         the index in `all` of the pin that keys and buttons act on; -1 if there is none
 *   list             <ol>: the pins, to look at, select and remove
 *   add(at, kind), move(at), mark(kind), remove(), select(place)
 *   at(x, y)         the pin under a position on the page; -1 if there is none */

import { draw, make } from "../../dom.js";

const HEAD = { rise: 19, radius: 15 }; // of a pin, in pixels of the page; slightly larger than drawn
const TIP = 9;
export const MOST = 200;

export class Marks {
  all = [];
  selected = -1;
  #board;
  #words;
  #changed;
  #group = draw("g", { class: "pins" });

  constructor(board, words, changed) {
    this.#board = board;
    this.#words = words;
    this.#changed = changed;
    this.list = make("ol", { class: "marks", "data-role": "marks", "aria-label": "Marks" });
    board.layer.append(this.#group);
    board.addEventListener("view", () => this.#drawPins());
  }

  get current() {
    return this.all[this.selected] ?? null;
  }

  show(marks) {
    this.all = marks.map((mark) => ({ ...mark }));
    this.#draw();
  }

  add(at, kind) {
    if (this.all.length >= MOST) return false;
    this.all.push({ ...this.#pixel(at), kind });
    this.selected = this.all.length - 1;
    this.#draw();
    this.list.lastElementChild.scrollIntoView({ block: "nearest" });
    return true;
  }

  move(at) {
    Object.assign(this.current, this.#pixel(at));
    this.#drawPins();
    this.#changed();
  }

  mark(kind) {
    if (this.current) this.current.kind = kind;
    this.#draw();
  }

  remove(place = this.selected) {
    if (!this.all[place]) return;
    this.all.splice(place, 1);
    this.selected = Math.min(this.selected - (place < this.selected), this.all.length - 1);
    this.#draw();
  }

  select(place) {
    this.selected = place;
    this.#draw();
    this.list.children[place]?.scrollIntoView({ block: "nearest" });
  }

  at(clientX, clientY) {
    const box = this.#board.element.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    return this.all.findLastIndex((mark) => {
      const tip = this.#tip(mark);
      return Math.hypot(x - tip.x, y - tip.y + HEAD.rise) <= HEAD.radius || Math.hypot(x - tip.x, y - tip.y) <= TIP;
    });
  }

  /* The pin points to the centre of its pixel. */
  #tip({ x, y }) {
    return this.#board.toStage(x + 0.5, y + 0.5);
  }

  #pixel(at) {
    const [x, y] = [[at.x, this.#board.width], [at.y, this.#board.height]].map(([place, size]) => Math.max(0, Math.min(size - 1, Math.floor(place))));
    return { x, y };
  }

  #draw() {
    this.list.replaceChildren(...this.all.map((mark, i) => this.#line(mark, i)));
    this.#drawPins();
    this.#changed();
  }

  #line({ x, y, kind }, i) {
    const look = () => { this.select(i); this.#board.reveal(x, y); };
    return make("li", { "aria-current": i === this.selected ? "true" : null, "data-kind": kind },
      make("button", { type: "button", class: "plain", onclick: look }, make("b", {}, String(i + 1)), make("span", {}, this.#words[kind])),
      make("button", { type: "button", class: "plain away", "aria-label": `Remove mark ${i + 1}`, onclick: () => this.remove(i) }, "×"));
  }

  #drawPins() {
    const order = [...this.all.keys()].sort((i, j) => (i === this.selected) - (j === this.selected)); // the selected one on top
    this.#group.replaceChildren(...order.map((i) => {
      const tip = this.#tip(this.all[i]);
      return draw("g", { class: i === this.selected ? "pin selected" : "pin", transform: `translate(${tip.x} ${tip.y})`, "data-mark": i + 1, "data-kind": this.all[i].kind },
        draw("path", { d: "M0 0C-3-7-11-11-11-19A11 11 0 1 1 11-19C11-11 3-7 0 0Z" }),
        draw("text", { y: -15, "text-anchor": "middle" }, String(i + 1)));
    }));
  }
}
