/* A polygon drawn corner by corner, on pixel corners. Corners can be dragged until it is closed. */

import { draw } from "../../dom.js";
import { fillPolygon } from "./fill.js";

const REACH = { mouse: 9, pen: 12, touch: 22 }; // pixels of the page within which a corner is grabbed
const STILL = 4; // pixels: smaller movements are ignored
const TWICE = 400; // milliseconds: a second click on the last corner closes the polygon, a later one there is a corner

export class Polygon {
  isOnCorners = true;
  corners = [];
  #board;
  #drawing;
  #changed;
  #held = null; // { place, isNew, before, start, hasMoved }: the corner that is being dragged
  #pointer = null;
  #time = -Infinity; // of the last click
  #group = draw("g", { class: "polygon" });

  constructor(board, drawing, changed) {
    Object.assign(this, { name: "polygon" });
    this.#board = board;
    this.#drawing = drawing;
    this.#changed = changed;
    board.layer.append(this.#group);
    board.addEventListener("view", () => this.draw());
  }

  get isOpen() {
    return this.corners.length > 0;
  }

  down(at, event) {
    const near = this.#near(at, event);
    this.#held = { place: near < 0 ? this.corners.length : near, isNew: near < 0, before: this.corners[near], start: at, hasMoved: false };
    if (near < 0) this.#set([...this.corners, this.#corner(at)]);
  }

  move(places, event) {
    const at = places.at(-1);
    if (!this.#held) return;
    const { place, start } = this.#held;
    const way = Math.hypot(at.x - start.x, at.y - start.y) * this.#board.scale;
    if (!this.#held.hasMoved && way < (event ? STILL : Number.MIN_VALUE)) return;
    this.#held.hasMoved = true;
    this.#set(this.corners.map((corner, i) => (i === place ? this.#corner(at) : corner)));
  }

  /* Corners may be closer together than a finger is wide, so a click next to an existing corner adds a new one. */
  up(at, event) {
    const { place, isNew, hasMoved, start } = this.#held ?? { isNew: true };
    this.#held = null;
    const isSecond = !event || event.timeStamp - this.#time < TWICE;
    this.#time = event?.timeStamp ?? -Infinity;
    if (isNew || hasMoved) return;
    const closes = (place === 0 && this.corners.length > 2) || (place === this.corners.length - 1 && isSecond);
    if (closes) this.close();
    else this.#set([...this.corners, this.#corner(start)]);
  }

  cancel() {
    const { place, isNew, before } = this.#held ?? {};
    this.#held = null;
    if (isNew) this.#set(this.corners.slice(0, -1));
    else if (before) this.#set(this.corners.map((corner, i) => (i === place ? before : corner)));
  }

  hover(at) {
    this.#pointer = at;
    this.draw();
  }

  /* True if there was something to close. */
  close() {
    if (this.corners.length < 3) return false;
    this.#drawing.paint(fillPolygon, this.corners, this.#drawing.label);
    this.#drawing.settle();
    this.#set([]);
    return true;
  }

  removeLast() {
    this.#set(this.corners.slice(0, -1));
  }

  drop() {
    this.#set([]);
  }

  restore(corners) {
    this.#set(corners);
  }

  #set(corners) {
    this.corners = corners;
    this.draw();
    this.#changed();
  }

  #corner({ x, y }) {
    const held = (value, limit) => Math.max(0, Math.min(limit, Math.floor(value + 0.5)));
    return [held(x, this.#board.width), held(y, this.#board.height)];
  }

  /* The corner under a pointer, or −1; the keyboard caret has to be exactly on it. */
  #near(at, event) {
    const reach = event ? (REACH[event.pointerType] ?? REACH.mouse) : 0;
    const ways = this.corners.map(([x, y]) => Math.hypot(x - at.x, y - at.y) * this.#board.scale);
    const nearest = ways.indexOf(Math.min(...ways));
    return nearest >= 0 && ways[nearest] <= reach ? nearest : -1;
  }

  /* Redraws the polygon at its current position on the board. */
  draw() {
    if (!this.corners.length) return this.#group.replaceChildren();
    const places = this.corners.map(([x, y]) => this.#board.toStage(x, y));
    const ahead = this.#pointer && !this.#held ? [this.#board.toStage(this.#pointer.x, this.#pointer.y)] : [];
    const line = (points, name) => draw("polyline", { class: name, points: points.map(({ x, y }) => `${x},${y}`).join(" ") });
    const edges = [...places, ...ahead];
    const dots = places.map(({ x, y }, i) =>
      draw("circle", { cx: x, cy: y, r: i && i < places.length - 1 ? 4 : 6, class: i === 0 ? "first" : "", "data-corner": this.corners[i].join() }));
    this.#group.style.color = this.#board.colourOf(this.#drawing.label);
    this.#group.replaceChildren(line([...edges, edges[0]], "lasso-area"), line(edges, "lasso-edge"), line(edges, "lasso"), ...dots);
  }
}
