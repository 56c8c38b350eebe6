/* Two pictures of one stage that alternate in place, or stand side by side. The view and the rate are remembered.
 *
 * The lower picture is always painted and the upper one is shown or hidden over it, so that no moment is blank. */

import { make } from "../dom.js";
import { readJson, write } from "../keeping.js";

const KEPT = "dissensus:frames";
const RATES = [1, 1.5, 2, 3, 5]; // pictures per second: light and dark change places at most 2.5 times, where three are thought safe
const USUAL = 2;
const FIRST = 250; // milliseconds until the other picture is seen for the first time, whatever the rate

const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

let isStopped = null; // as the person last chose; null until then

const chip = (name, keys, shortcut, act) =>
  make("button", { type: "button", class: "chip", "data-role": name, "aria-keyshortcuts": shortcut, onclick: act },
    make("span", {}), make("kbd", { "aria-hidden": "true" }, keys));

export class Flicker {
  #stage;
  #pictures;
  #kept = { view: isCalm() ? "side" : "place", rate: USUAL, ...readJson(KEPT, {}) };
  #timer = null;
  #isReady = false;
  #now = 0;
  #seen = new Set([0]);
  #begin;
  shown = new Promise((resolve) => { this.#begin = resolve; }); // both pictures have been seen, or are for the person to switch
  #run = chip("run", "F", "f", () => this.toggle());
  #rate = chip("rate", "< >", ", .", () => this.#setRate((RATES.indexOf(this.#kept.rate) + 1) % RATES.length));
  #other = chip("other", "← →", "ArrowLeft ArrowRight", () => this.#show(1 - this.#now));
  #view = chip("view", "V", "v", () => this.#setView(this.isInPlace ? "side" : "place"));
  element = make("div", { class: "flicker", role: "group", "aria-label": "How to compare" }, this.#run, this.#rate, this.#other, this.#view);

  constructor(stage, pictures) {
    this.#stage = stage;
    this.#pictures = pictures;
    if (!RATES.includes(this.#kept.rate)) this.#kept.rate = USUAL;
    stage.append(this.element);
    this.#draw();
    Promise.all(pictures.map((image) => image.decode())).catch(() => {}).then(() => { this.#isReady = true; this.#draw(); });
  }

  get isInPlace() {
    return this.#kept.view !== "side";
  }

  get isRunning() {
    return this.isInPlace && !(isStopped ?? isCalm());
  }

  /* False as long as one of the two has not been on the screen. */
  get areBothSeen() {
    return !this.isInPlace || this.#seen.size === 2;
  }

  toggle() {
    if (!this.isInPlace) return;
    isStopped = this.isRunning;
    this.#draw();
  }

  /* Shows what has not been seen yet. */
  showOther() {
    this.#show(1 - this.#now);
  }

  key({ key }) {
    const name = key.toLowerCase();
    if (name === "v") this.#view.click();
    else if (!this.isInPlace) return false;
    else if (name === "f") this.toggle();
    else if (key === "ArrowLeft" || key === "ArrowRight") this.#stopAt(key === "ArrowLeft" ? 0 : 1);
    else if (key === "," || key === "<") this.#setRate(Math.max(0, RATES.indexOf(this.#kept.rate) - 1));
    else if (key === "." || key === ">") this.#setRate(Math.min(RATES.length - 1, RATES.indexOf(this.#kept.rate) + 1));
    else return false;
    return true;
  }

  leave() {
    clearTimeout(this.#timer);
  }

  #tick() {
    const delay = this.areBothSeen ? 1000 / this.#kept.rate : FIRST;
    this.#timer = setTimeout(() => { this.#show(1 - this.#now); this.#tick(); }, delay);
  }

  #stopAt(place) {
    isStopped = true;
    this.#draw();
    this.#show(place);
  }

  #setRate(place) {
    this.#kept.rate = RATES[place];
    this.#keep();
  }

  #setView(view) {
    this.#kept.view = view;
    this.#keep();
  }

  #keep() {
    write(KEPT, JSON.stringify(this.#kept));
    this.#draw();
  }

  #show(place) {
    this.#now = place;
    this.#seen.add(place);
    this.#stage.dataset.now = place;
    if (this.areBothSeen) this.#begin();
    // Hidden behind the other one, a picture is not for screen readers either.
    this.#pictures.forEach((image, i) => { image.parentElement.ariaHidden = String(this.isInPlace && i !== place); });
  }

  #draw() {
    const { rate } = this.#kept;
    clearTimeout(this.#timer);
    const isRunning = this.isRunning && this.#isReady;
    Object.assign(this.#stage.dataset, { view: this.isInPlace ? "place" : "side", running: isRunning, rate });
    if (!this.isInPlace) this.#seen = new Set([0, 1]);
    this.#show(this.#now);
    if (isRunning) this.#tick();
    if (!this.isRunning) this.#begin();
    this.#run.hidden = !this.isInPlace;
    this.#rate.hidden = !this.isRunning;
    this.#other.hidden = !this.isInPlace || this.isRunning;
    const words = (button, text, label = text) => { button.firstChild.textContent = text; button.ariaLabel = label; };
    words(this.#run, this.isRunning ? "Stop" : "Flicker", this.isRunning ? "Stop the flicker" : "Let the frames flicker");
    words(this.#rate, `${rate} / s`, `${rate} frames per second; press to change`);
    words(this.#other, "Switch", "Switch to the other frame");
    words(this.#view, this.isInPlace ? "Side by side" : "Overlay");
  }
}
