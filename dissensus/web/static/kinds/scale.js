/* A scale with bands. It has no value until somebody sets one, so that nobody answers with its middle by accident. */

import { make } from "../dom.js";

const STEP = 5;
const LEAP = 20;
const THUMB = 40; // pixels, as in slider.css

export class Scale {
  #range;
  #input;
  #zones;
  #words;
  #changed;
  #grabbed = 0; // how far from its centre the thumb was grabbed
  value;

  /* range: { low, high, start (where keys begin), label, bands: [[name, width, label], …], bandOf(value), ticks: values,
   * tick(value) → text, jumps: { key: value }, mark (a line at the start) };
   * words(value): text for screen readers, where null means no value yet. */
  constructor(range, value, words, changed) {
    this.#range = range;
    this.#words = words;
    this.#changed = changed;
    this.value = value;
    this.#input = make("input", { type: "range", class: "range", min: range.low, max: range.high, step: 1, "aria-label": range.label });
    this.#zones = make("div", { class: "zones" }, ...range.bands.map(([name]) => make("i", { "data-band": name })), range.mark && make("b", { class: "neutral" }));
    const labels = make("div", { class: "bands" }, ...range.bands.map(([name, , label]) => make("span", { "data-band": name }, label)));
    const ticks = make("div", { class: "ticks" }, ...range.ticks.map((at) => this.#tick(at)));
    for (const row of [this.#zones, labels]) row.style.gridTemplateColumns = range.bands.map(([, width]) => `${width}fr`).join(" ");
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
    const { low, high } = this.#range;
    this.value = Math.max(low, Math.min(high, Math.round(value)));
    this.#draw();
    this.#changed();
  }

  /* True if the key moved it. */
  key({ key, shiftKey, target }) {
    const { low, high, start, jumps } = this.#range;
    const step = shiftKey ? 1 : STEP;
    const own = target === this.#input ? { ArrowUp: step, ArrowDown: -step } : {};
    const by = { ArrowLeft: -step, ArrowRight: step, PageUp: LEAP, PageDown: -LEAP, ...own }[key];
    const to = { Home: low, End: high, ...jumps }[key.length === 1 ? key.toLowerCase() : key];
    if (by === undefined && to === undefined) return false;
    this.to(to ?? (this.value ?? start) + by);
    if (target !== this.#input) this.focus(); // so that a key held down keeps moving it
    return true;
  }

  /* Where a value is on the track, 0 to 1. */
  #at(value) {
    const { low, high } = this.#range;
    return (value - low) / (high - low);
  }

  #tick(value) {
    const mark = make("span", {}, this.#range.tick(value));
    mark.style.insetInlineStart = `${100 * this.#at(value)}%`;
    return mark;
  }

  #pointed(event) {
    if (this.#input.disabled || event.button > 0) return;
    const box = this.#zones.getBoundingClientRect();
    if (event.type === "pointerdown") {
      const away = event.clientX - (box.left + box.width * this.#at(this.value));
      const isOnThumb = this.value !== null && event.target.closest(".track") && Math.abs(away) <= THUMB / 2;
      this.#grabbed = isOnThumb ? away : 0;
      this.element.setPointerCapture(event.pointerId);
      this.focus();
      if (isOnThumb) return; // grabbed, not moved yet
    } else if (!this.element.hasPointerCapture(event.pointerId)) return;
    const { low, high } = this.#range;
    this.to(low + ((event.clientX - this.#grabbed - box.left) / box.width) * (high - low));
  }

  #draw() {
    this.#input.value = this.value ?? this.#range.start;
    this.#input.setAttribute("aria-valuetext", this.#words(this.value));
    const band = this.value === null ? "" : this.#range.bandOf(this.value);
    Object.assign(this.element.dataset, { value: this.value ?? "", band, open: !this.#input.disabled });
    for (const part of this.element.querySelectorAll("[data-band]")) part.toggleAttribute("data-on", part.dataset.band === band);
  }
}
