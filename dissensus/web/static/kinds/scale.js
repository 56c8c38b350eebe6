/* A scale from −100 to 100 with three bands. It has no value until somebody sets one, so that nobody answers with its
 * middle by accident. */

import { make } from "../dom.js";

const LARGEST = 100;
const DECIDED = 20;
const STEP = 5;
const LEAP = 20;
const THUMB = 40; // pixels, as in slider.css

export const bandOf = (value) => (Math.abs(value) < DECIDED ? "same" : value < 0 ? "left" : "right");
export const signed = (value) => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");

const clamp = (value) => Math.max(-LARGEST, Math.min(LARGEST, Math.round(value)));
const tick = (value) => make("span", { "data-at": String(value) }, signed(value));

export class Scale {
  #input;
  #zones;
  #words;
  #changed;
  #grabbed = 0; // how far from its centre the thumb was grabbed
  value;

  /* bands: the label of each; words(value): text for screen readers, where null means no value yet. */
  constructor(bands, value, words, changed) {
    this.#words = words;
    this.#changed = changed;
    this.value = value;
    this.#input = make("input", { type: "range", class: "range", min: -LARGEST, max: LARGEST, step: 1, "aria-label": "Which one is better" });
    this.#zones = make("div", { class: "zones" }, ...["left", "same", "right"].map((band) => make("i", { "data-band": band })), make("b", { class: "neutral" }));
    const labels = make("div", { class: "bands" }, ...["left", "same", "right"].map((band, i) => make("span", { "data-band": band }, bands[i])));
    const ticks = make("div", { class: "ticks" }, ...[-LARGEST, -DECIDED, 0, DECIDED, LARGEST].map(tick));
    this.element = make("div", { class: "scale", "data-role": "scale" }, make("div", { class: "track" }, this.#zones, this.#input), ticks, labels);
    this.#input.addEventListener("input", () => this.to(Number(this.#input.value)));
    for (const kind of ["pointerdown", "pointermove"]) this.element.addEventListener(kind, (event) => this.#pointed(event));
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
    this.#draw();
  }

  set isOpen(isOpen) {
    if (this.#input.disabled === !isOpen) return;
    this.#input.disabled = !isOpen;
    this.#draw();
  }

  /* Handles keys on the scale itself, before the page sees them and also while they are held down. */
  listen(pressed) {
    this.#input.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !pressed(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  focus() {
    this.#input.focus({ preventScroll: true });
  }

  to(value) {
    if (this.#input.disabled) return;
    this.value = clamp(value);
    this.#draw();
    this.#changed();
  }

  /* True if the key moved it. */
  key({ key, shiftKey, target }) {
    const step = shiftKey ? 1 : STEP;
    const own = target === this.#input ? { ArrowUp: step, ArrowDown: -step } : {};
    const by = { ArrowLeft: -step, ArrowRight: step, PageUp: LEAP, PageDown: -LEAP, ...own }[key];
    const to = { Home: -LARGEST, End: LARGEST, 0: 0, s: 0, S: 0 }[key];
    if (by === undefined && to === undefined) return false;
    this.to(to ?? (this.value ?? 0) + by);
    if (target !== this.#input) this.focus(); // so that a key held down keeps moving it
    return true;
  }

  #pointed(event) {
    if (this.#input.disabled || event.button > 0) return;
    const box = this.#zones.getBoundingClientRect();
    if (event.type === "pointerdown") {
      const away = event.clientX - (box.left + (box.width * (this.value + LARGEST)) / (2 * LARGEST));
      const isOnThumb = this.value !== null && event.target.closest(".track") && Math.abs(away) <= THUMB / 2;
      this.#grabbed = isOnThumb ? away : 0;
      this.element.setPointerCapture(event.pointerId);
      this.focus();
      if (isOnThumb) return; // grabbed, not moved yet
    } else if (!this.element.hasPointerCapture(event.pointerId)) return;
    this.to(((event.clientX - this.#grabbed - box.left) / box.width) * 2 * LARGEST - LARGEST);
  }

  #draw() {
    this.#input.value = this.value ?? 0;
    this.#input.setAttribute("aria-valuetext", this.#words(this.value));
    Object.assign(this.element.dataset, { value: this.value ?? "", band: this.value === null ? "" : bandOf(this.value), open: !this.#input.disabled });
  }
}
