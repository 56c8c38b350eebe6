/* Many pictures that can be ticked by mouse, touch and keyboard, enlarged, and paged where there is little room. Every tile
 * has its place from the start, whether its pictures have arrived or not, so that nothing moves. The style sheet decides
 * how many are on a page (--per-page; 0: all). */

import { draw, make } from "../dom.js";
import { readJson, remove, write } from "../keeping.js";
import { Closer } from "./closer.js";

const DRAFT = "dissensus:tiles:";
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/* What somebody has ticked so far, by ticket: it survives a reload. */
export const draftOf = (ticket) => ({
  read: () => readJson(DRAFT + ticket, null),
  keep: (value) => write(DRAFT + ticket, JSON.stringify(value)),
  drop: () => remove(DRAFT + ticket),
});

const magnifier = () =>
  draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" },
    draw("circle", { cx: 10.5, cy: 10.5, r: 6 }), draw("path", { d: "M15 15l5.5 5.5M10.5 8v5M8 10.5h5" }));

export class Tiles {
  #tiles; // { element, tick, boxes, images }
  #label;
  #changed;
  #per = 0;
  #at = 0;
  #arrived = 0;
  #closer;
  #watcher;
  #only = null; // places that are shown at all, if not all are
  ticked;
  element = make("div", { class: "tiles", role: "group", "aria-label": "Pictures", onkeydown: (event) => this.#keyed(event) });
  pager = make("div", { class: "pager", role: "group", "aria-label": "Pages" });

  /* pictures: for each tile the promises of its pictures; label(i): its name; ticked: places; changed(): something was ticked, paged
   * or has arrived; below(i): what stands below a tile's pictures; tickWords(isTicked): for the enlarged view. */
  constructor({ pictures, label, ticked = [], at = 0, changed, below = () => null, tickWords }) {
    this.#label = label;
    this.#changed = changed;
    this.ticked = new Set(ticked);
    this.#tiles = pictures.map((own, i) => this.#made(own, i, below(i)));
    this.element.append(...this.#tiles.map(({ element }) => element));
    this.#closer = new Closer({
      many: pictures.length, label,
      pictures: (i) => this.#tiles[i].images.filter(Boolean),
      isTicked: (i) => this.ticked.has(i),
      tickWords: (i) => tickWords(this.ticked.has(i)),
      tick: (i) => this.toggle(i),
      left: (i) => this.go(i),
    });
    this.#at = Math.min(at, pictures.length - 1);
    this.#watcher = new ResizeObserver(() => this.#page());
    this.#watcher.observe(this.element);
    this.element.append(this.#closer.element);
    for (const i of this.#tiles.keys()) this.#show(i);
  }

  get many() {
    return this.#tiles.length;
  }

  get at() {
    return this.#at;
  }

  /* Tiles whose pictures are all there. */
  get arrived() {
    return this.#arrived;
  }

  get pages() {
    return this.#per ? Math.ceil(this.many / this.#per) : 1;
  }

  get page() {
    return this.#per ? Math.floor(this.#at / this.#per) : 0;
  }

  /* Which tiles are on this page. */
  get where() {
    const first = this.page * this.#per + 1;
    const last = Math.min(this.many, first + this.#per - 1);
    return `${first === last ? first : `${first}–${last}`} of ${this.many}`;
  }

  tile(i) {
    return this.#tiles[i].element;
  }

  /* A tile's name, with what has been said about it. */
  describe(i, words) {
    this.#tiles[i].tick.setAttribute("aria-label", [this.#label(i), ...words].join(", "));
  }

  leave() {
    this.#watcher.disconnect();
    this.#closer.element.remove();
  }

  toggle(i) {
    if (!this.ticked.delete(i)) this.ticked.add(i);
    this.#at = i;
    this.#show(i);
    this.#changed();
  }

  untickAll() {
    const before = [...this.ticked];
    this.ticked.clear();
    before.forEach((i) => this.#show(i));
  }

  /* Moves to a tile, and to its page. */
  go(i, isFocused = true) {
    if (i < 0 || i >= this.many) return;
    this.#tiles[this.#at].tick.tabIndex = -1;
    this.#at = i;
    this.#page();
    if (isFocused) {
      this.#tiles[i].tick.focus({ preventScroll: true });
      this.#tiles[i].element.scrollIntoView({ block: "nearest" });
    }
  }

  turn(by) {
    const first = (this.page + by) * this.#per;
    if (first < 0 || first >= this.many) return false;
    this.go(first, false);
    this.element.closest("main")?.scrollTo(0, 0);
    this.#changed();
    return true;
  }

  enlarge(i = this.#at) {
    if (this.#tiles[i].images.filter(Boolean).length) this.#closer.open(i);
  }

  /* For keys that came while nothing of this was focused. */
  key(event) {
    return this.#moved(event) || (event.key === " " && !event.target.closest("button") && (this.toggle(this.#at), true));
  }

  /* Zoom keys enlarge the picture. */
  get zoom() {
    return { step: (direction) => direction > 0 && this.enlarge(), reset: () => {} };
  }

  /* What was right: marks the tiles that were not, and where there are pages shows only those. */
  judge(right) {
    const wanted = new Set(right);
    const wrong = [...this.#tiles.keys()].filter((i) => wanted.has(i) !== this.ticked.has(i));
    for (const i of wrong) {
      this.#tiles[i].element.dataset.wrong = wanted.has(i) ? "missed" : "extra";
      this.#tiles[i].element.append(make("p", { class: "verdict" }, wanted.has(i) ? "should be checked" : "should not be checked"));
    }
    if (this.#per) this.#only = new Set(wrong);
    this.#page();
    if (wrong.length) this.#tiles[wrong[0]].element.scrollIntoView({ block: "center" });
  }

  #made(promises, i, below) {
    const boxes = promises.map(() => make("span", { class: "box" }));
    const tick = make("button", { type: "button", class: "tick", role: "checkbox", tabindex: "-1", "aria-label": this.#label(i), onclick: () => this.toggle(i) },
      boxes, make("span", { class: "mark", "aria-hidden": "true" }));
    const look = make("button", { type: "button", class: "look", tabindex: "-1", "aria-label": `Enlarge: ${this.#label(i)}`, title: "Enlarge", onclick: () => this.enlarge(i) }, magnifier());
    const tile = { element: make("div", { class: "tile", "data-place": i }, tick, look, below), tick, boxes, images: promises.map(() => null) };
    let open = promises.length;
    promises.forEach((promise, part) => promise.then((image) => {
      image.alt = "";
      tile.images[part] = image;
      boxes[part].replaceChildren(image);
      open -= 1;
      if (open) return;
      this.#arrived += 1;
      this.#changed();
    }, () => { boxes[part].dataset.gone = "true"; }));
    return tile;
  }

  #show(i) {
    const { tick, element } = this.#tiles[i];
    const isTicked = this.ticked.has(i);
    tick.setAttribute("aria-checked", String(isTicked));
    element.dataset.ticked = isTicked;
  }

  /* Shows the page of the current tile; called again when the screen is turned. */
  #page() {
    const before = this.#per;
    const per = Number(getComputedStyle(this.element).getPropertyValue("--per-page")) || 0;
    this.#per = this.#only ? 0 : per;
    const [from, to] = this.#per ? [this.page * this.#per, (this.page + 1) * this.#per] : [0, this.many];
    this.#tiles.forEach(({ element, tick }, i) => {
      element.hidden = i < from || i >= to || Boolean(this.#only && !this.#only.has(i));
      tick.tabIndex = i === this.#at ? 0 : -1;
    });
    this.element.dataset.paged = this.#per > 0;
    if (before !== this.#per) this.#changed();
  }

  get #columns() {
    const visible = this.#tiles.filter(({ element }) => element.checkVisibility());
    const top = visible[0]?.element.offsetTop;
    return Math.max(1, visible.filter(({ element }) => element.offsetTop === top).length);
  }

  #moved({ key }) {
    if (key === "Home" || key === "End") this.go(key === "Home" ? 0 : this.many - 1);
    else if (key === "PageUp" || key === "PageDown") return this.#per > 0 && this.turn(key === "PageUp" ? -1 : 1) && (this.go(this.#at), true);
    else if (STEPS[key]) this.go(this.#at + STEPS[key]);
    else if (key === "ArrowUp" || key === "ArrowDown") this.#vertical(key === "ArrowUp" ? -1 : 1);
    else return false;
    this.#changed();
    return true;
  }

  /* To the tile above or below: rows differ in length where a heading stands between them. */
  #vertical(direction) {
    if (this.#per) return this.go(this.#at + direction * this.#columns);
    const here = this.#tiles[this.#at].element;
    const row = (element) => element.offsetTop;
    const beyond = this.#tiles.map(({ element }, i) => ({ element, i })).filter(({ element }) => direction * (row(element) - row(here)) > 0);
    if (!beyond.length) return undefined;
    const nearest = direction * Math.min(...beyond.map(({ element }) => direction * row(element)));
    const line = beyond.filter(({ element }) => row(element) === nearest);
    const aside = ({ element }) => Math.abs(element.offsetLeft - here.offsetLeft);
    return this.go(line.reduce((best, one) => (aside(one) < aside(best) ? one : best)).i);
  }

  /* Keys may be held down to move on, but not to tick. */
  #keyed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog, input, textarea")) return;
    const isHeld = event.repeat && (event.key === "Enter" || event.key === " ");
    if (!isHeld && !this.#moved(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/* Puts a head above the tiles, and what comes below them; begins at the current tile. Returns what stops watching the head. */
export const mount = (host, { isTouch }, head, tiles, ...below) => {
  host.append(head, tiles.element, ...below);
  const watcher = new ResizeObserver(() => host.style.setProperty("--above", `${head.offsetHeight}px`)); // what lies under the head cannot be seen
  watcher.observe(head);
  host.closest("main")?.scrollTo(0, 0);
  tiles.go(tiles.at, false);
  if (!isTouch) tiles.tile(tiles.at).firstElementChild.focus({ preventScroll: true });
  return () => watcher.disconnect();
};

/* Back, where one is, and on: empty where everything is on one page. `last`: what is there instead of Next on the last page. */
export const drawPager = (tiles, last) => {
  const turn = (by, words, name) =>
    make("button", { type: "button", class: "turn", "data-role": name, disabled: by < 0 && tiles.page === 0, onclick: () => tiles.turn(by) }, words);
  const isPaged = tiles.pages > 1;
  const isLast = tiles.page === tiles.pages - 1;
  const focused = document.activeElement?.dataset?.role;
  tiles.pager.replaceChildren(...(isPaged ? [
    turn(-1, "‹ Back", "page-back"),
    make("span", { class: "where", role: "status" }, tiles.where),
    isLast ? null : turn(1, "Next ›", "page-next"),
  ].filter(Boolean) : []));
  last.hidden = isPaged && !isLast;
  if (["page-back", "page-next"].includes(focused)) (tiles.pager.querySelector(`[data-role=${focused}]:enabled`) ?? last).focus({ preventScroll: true });
};

/* How many pictures there are to come, or nothing. */
export const loadingWords = (tiles) => (tiles.arrived < tiles.many ? `Loading ${tiles.arrived} of ${tiles.many}` : "");

/* The question, with one name in it set off. */
export const emphasised = (text, name) => {
  const at = name ? text.lastIndexOf(name) : -1;
  return at < 0 ? [text] : [text.slice(0, at), make("em", {}, name), text.slice(at + name.length)];
};
