/* A picture with a label map over it, at the picture's own pixels: zoomed by wheel, pinch, keys and buttons; moved with two
 * fingers, the middle button, the space bar held down, or the hand tool. All other gestures go to a tool that the caller sets.
 *
 * board = new Board(image, { colours, unknown, alt })
 *                        image: a decoded <img>; colours: "#rrggbb" by class; unknown: the colour of 'cannot tell' (optional)
 *   element              goes on the page, which gives it its size
 *   surface              has the focus while somebody draws
 *   width, height        of the picture, in its own pixels
 *   labels               Uint8Array, row by row, all background at first: write into it, then call changed(box)
 *   show(labels)         replaces the map
 *   changed(box)         redraws { left, top, right, bottom }, in pixels of the picture; everything by default
 *   opacity              of the labels, 0 to 1
 *   isOutline            draws only the outlines of regions
 *   isHand               one finger or the primary button moves the picture
 *   zoom                 { step(±1), reset() }, as a view's `zoom`
 *   colourOf(label)      "#rrggbb"
 *   scale                how many page pixels one picture pixel covers now
 *   toPicture(x, y)      converts a position on the page (clientX, clientY) to pixels of the picture, with fractions
 *   toStage(x, y)        converts a position in the picture to pixels of `element`
 *   middle               the position in the picture at the centre of the visible part
 *   move(dx, dy)         moves the picture by pixels of the page
 *   reveal(x, y)         moves the picture until that position is visible
 *   layer                an <svg> over everything, in pixels of `element`; clicks pass through it
 *   tool                 { down(at, event), move(places, event), up(at, event), cancel(), hover(at, event) }, all optional; `at`
 *                        as from toPicture(); reach: its width in pixels of the picture (optional); cancel: a second finger touched down, so the first was not drawing
 *   loupe                { show(event), hide() }: enlarges what is under a finger that draws
 *   leave()              call this when the view is left
 * Events: view (zoomed, moved or resized: redraw the layer). */

import { draw, make } from "../dom.js";
import { joined } from "./masking/box.js";
import { Gestures } from "./masking/gestures.js";
import { Loupe } from "./masking/loupe.js";
import { overlayOf, paletteOf } from "./masking/overlay.js";
import { View } from "./masking/view.js";

const UNKNOWN = "#e0e0c0";
const CRISP = 1.5; // from this scale on, pixels are shown as squares

const button = (sign, label, act) =>
  make("button", { type: "button", class: "zoom-button", "aria-label": label, title: label, onclick: act, onmousedown: (event) => event.preventDefault() }, sign);

export class Board extends EventTarget {
  tool = null;
  #view;
  #image;
  #colours;
  #opacity = 0.5;
  #isOutline = false;
  #palette;
  #canvas = make("canvas", { class: "labels", "data-role": "labels" });
  #pen = this.#canvas.getContext("2d");
  #size = make("span", { class: "zoom-size" });
  #whole = button("1×", "Whole picture", () => this.zoom.reset());
  #dirty = null; // box of the picture to redraw, or "all"
  #frame = 0;
  #gestures;
  #observer = new ResizeObserver(() => this.#resize());

  constructor(image, { colours, unknown = UNKNOWN, alt = "" }) {
    super();
    this.#image = image;
    [this.width, this.height] = [image.naturalWidth, image.naturalHeight];
    this.labels = new Uint8Array(this.width * this.height);
    this.#colours = [colours, unknown];
    this.#palette = paletteOf(colours, unknown, this.#opacity);
    this.#view = new View(this.width, this.height);
    this.layer = draw("svg", { class: "layer", "aria-hidden": "true" });
    this.surface = make("div", { class: "surface", tabindex: "0", role: "application", "aria-label": alt }, image, this.#canvas, this.layer);
    const controls = make("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
      this.#size, this.#whole, button("−", "Zoom out", () => this.zoom.step(-1)), button("+", "Zoom in", () => this.zoom.step(1)));
    this.loupe = new Loupe(this, image, this.#canvas);
    this.element = make("div", { class: "board", "data-role": "stage" }, this.surface, controls, this.loupe.element);
    image.alt = "";
    image.classList.remove("pixels");
    this.#gestures = new Gestures(this, this.#view, () => this.#moved());
    this.zoom = { step: (direction) => { this.#view.zoom(1.5 ** direction); this.#moved(); }, reset: () => { this.#view.fit(); this.#moved(); } };
    this.#observer.observe(this.element);
  }

  show(labels) {
    this.labels = labels;
    this.changed();
  }

  get opacity() {
    return this.#opacity;
  }

  set opacity(opacity) {
    this.#opacity = opacity;
    this.#palette = paletteOf(...this.#colours, opacity, this.#isOutline);
    this.changed();
  }

  get isOutline() {
    return this.#isOutline;
  }

  set isOutline(isOutline) {
    this.#isOutline = isOutline;
    this.opacity = this.#opacity;
  }

  get isHand() {
    return this.#gestures.isHand;
  }

  set isHand(isHand) {
    this.#gestures.isHand = isHand;
    this.element.dataset.hand = isHand;
  }

  colourOf(label) {
    const [colours, unknown] = this.#colours;
    return colours[label] ?? unknown;
  }

  get scale() {
    return this.#view.scale;
  }

  toPicture(clientX, clientY) {
    const box = this.element.getBoundingClientRect();
    return this.#view.toPicture(clientX - box.left, clientY - box.top);
  }

  toStage(x, y) {
    return this.#view.toStage(x, y);
  }

  get middle() {
    return this.#view.toPicture(this.element.clientWidth / 2, this.element.clientHeight / 2);
  }

  move(dx, dy) {
    this.#view.move(dx, dy);
    this.#moved();
  }

  reveal(x, y) {
    this.#view.reveal(x, y);
    this.#moved();
  }

  changed(box = "all") {
    this.#dirty = box === "all" || this.#dirty === "all" ? "all" : joined(this.#dirty, box);
    this.#frame ||= requestAnimationFrame(() => { this.#frame = 0; this.#paint(); });
  }

  leave() {
    this.#observer.disconnect();
    this.#gestures.leave();
    cancelAnimationFrame(this.#frame);
    this.#image.removeAttribute("style");
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    this.#view.resize(width, height);
    const [wide, high] = [width, height].map((side) => Math.round(side * devicePixelRatio));
    Object.assign(this.#canvas, { width: wide, height: high });
    Object.assign(this.#canvas.style, { width: `${wide / devicePixelRatio}px`, height: `${high / devicePixelRatio}px` });
    this.#moved();
    this.#paint(); // in the same frame: an empty canvas would flicker
  }

  #moved() {
    const { scale, x, y, isFitted, fitting } = this.#view;
    Object.assign(this.#image.style, { transform: `translate(${x}px, ${y}px) scale(${scale})`, width: `${this.width}px`, height: `${this.height}px` });
    this.#image.style.imageRendering = scale * devicePixelRatio >= CRISP ? "pixelated" : "auto";
    Object.assign(this.element.dataset, { scale, x, y });
    this.#whole.hidden = isFitted;
    this.#size.textContent = isFitted ? "" : `${(scale / fitting).toFixed(1)}×`;
    this.changed();
    this.dispatchEvent(new Event("view"));
  }

  /* Paints only what changed: the box on the screen plus a margin, where outlines may have changed. */
  #paint() {
    const part = this.#part();
    this.#dirty = null;
    if (part.left >= part.right || part.top >= part.bottom) return;
    const density = this.#canvas.width / parseFloat(this.#canvas.style.width);
    const place = { scale: this.#view.scale * density, x: this.#view.x * density, y: this.#view.y * density };
    this.#pen.putImageData(overlayOf(this.labels, this.width, this.height, place, part, this.#palette), part.left, part.top);
  }

  #part() {
    const { width, height } = this.#canvas;
    if (!this.#dirty) return { left: 0, top: 0, right: 0, bottom: 0 };
    if (this.#dirty === "all") return { left: 0, top: 0, right: width, bottom: height };
    const { left, top, right, bottom } = this.#dirty;
    const density = width / parseFloat(this.#canvas.style.width);
    const [start, end] = [this.toStage(left, top), this.toStage(right, bottom)];
    return {
      left: Math.max(0, Math.floor(start.x * density) - 2), top: Math.max(0, Math.floor(start.y * density) - 2),
      right: Math.min(width, Math.ceil(end.x * density) + 2), bottom: Math.min(height, Math.ceil(end.y * density) + 2),
    };
  }
}
