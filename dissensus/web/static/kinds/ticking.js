/* Questions that are answered by ticking pictures, or pairs of them: the answer is the list of their places. */

import { make } from "../dom.js";
import { Tiles, draftOf, drawPager, loadingWords, mount } from "./tiles.js";

export class Ticking {
  #context;
  #tiles;
  #draft;
  #head;
  #unwatch;
  #chosen = make("span", { class: "chosen", role: "status", "data-role": "chosen" });
  #words = make("span");
  #submit = make("button", { type: "button", class: "go", "data-role": "submit", "aria-keyshortcuts": "Enter", onclick: () => this.#give() },
    this.#words, make("kbd", { "aria-hidden": "true" }, "Enter"));
  #isGiven = false;
  #isChanged = false;
  #before = "";

  /* pictures: for each tile the promises of its pictures; noun: what a tile is; shape: its style; head: what is asked. */
  constructor(host, question, context, { pictures, noun, shape, head }) {
    this.#context = context;
    this.#draft = draftOf(question.ticket);
    const kept = context.chosen === undefined ? this.#draft.read() : { ticked: context.chosen, at: 0 };
    this.says = head[0].querySelector("h2").textContent;
    this.shown = Promise.any(pictures.flat());
    this.#isChanged = Boolean(kept) && context.chosen === undefined; // there is a draft
    const many = pictures.length;
    this.#tiles = new Tiles({
      pictures,
      label: (i) => `${noun[0].toUpperCase()}${noun.slice(1)} ${i + 1} of ${many}`,
      ticked: kept?.ticked ?? [],
      at: kept?.at ?? 0,
      changed: () => this.#update(),
      tickWords: (isTicked) => (isTicked ? "Checked" : `Check this ${noun}`),
    });
    this.#tiles.element.classList.add(shape);
    this.#before = this.#value();
    const more = make("button", { type: "button", class: "plain more", "data-role": "more", "aria-expanded": "false", onclick: () => this.#explain(more) }, head[1] ? "Rules and examples" : "Rules");
    head[0].append(more);
    this.#head = make("div", { class: "tiles-head" }, head, make("div", { class: "tiles-bar" }, this.#chosen, this.#tiles.pager, this.#submit));
    this.#unwatch = mount(host, context, this.#head, this.#tiles);
    this.#update();
  }

  get zoom() {
    return this.#tiles.zoom;
  }

  words(value) {
    return value.length ? `${value.length} checked` : "none of them";
  }

  told(value) {
    return value.length ? `${value.length} of ${this.#tiles.many} checked, as marked` : "none of them";
  }

  isChanged() {
    return this.#isChanged;
  }

  key(event) {
    const isOnButton = event.target.closest("button:not(.tick), summary");
    if (event.key === "Enter" && !isOnButton) this.#give();
    else return this.#tiles.key(event);
    return true;
  }

  after(result) {
    this.#tiles.judge(result.answer);
  }

  leave() {
    this.#tiles.leave();
    this.#unwatch();
    if (this.#isGiven || this.#context.chosen !== undefined) this.#draft.drop();
  }

  /* Where there is little room, the rules stand on the first page; on the others they can be opened. */
  #explain(more) {
    const isOpen = more.getAttribute("aria-expanded") === "true";
    more.setAttribute("aria-expanded", String(!isOpen));
    this.#head.dataset.explained = !isOpen;
  }

  #value() {
    return JSON.stringify(this.#list());
  }

  #list() {
    return [...this.#tiles.ticked].sort((a, b) => a - b);
  }

  #give() {
    if (this.#submit.disabled) return;
    if (this.#submit.hidden) return void this.#tiles.turn(1); // the answer is given on the last page, when all have been seen
    this.#isGiven = true;
    this.#context.answer(this.#list());
  }

  #update() {
    if (!this.#head) return; // still being made
    const tiles = this.#tiles;
    const many = tiles.ticked.size;
    this.#chosen.textContent = `${many} of ${tiles.many} checked`;
    this.#submit.disabled = tiles.arrived < tiles.many;
    this.#words.textContent = loadingWords(tiles) || (many ? `Done: ${many} checked` : "None of them");
    drawPager(tiles, this.#submit);
    this.#head.dataset.page = tiles.page;
    if (this.#value() !== this.#before) this.#isChanged = true;
    if (this.#isChanged || tiles.at) this.#draft.keep({ ticked: this.#list(), at: tiles.at });
  }
}
