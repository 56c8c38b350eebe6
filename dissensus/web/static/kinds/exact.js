/* Pictures or clips pixel for pixel: each of their pixels is one pixel of the screen, whatever the browser's zoom or the
 * display's density. What does not fit is scrolled, all of them together; they are resampled only on request. */

import { make } from "../dom.js";

const sizeOf = (medium) => [medium.naturalWidth ?? medium.videoWidth, medium.naturalHeight ?? medium.videoHeight];

/* Calls `changed` when a page pixel covers more or fewer screen pixels: another zoom, another display. */
const watchDensity = (changed) => {
  let query = null;
  const heard = () => { changed(); follow(); };
  const follow = () => {
    query?.removeEventListener("change", heard);
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener("change", heard);
  };
  follow();
  return () => query.removeEventListener("change", heard);
};

export class ExactStage {
  #media;
  #rolls;
  #panes;
  #note = make("span", {});
  #toggle = make("button", { type: "button", class: "plain", "data-role": "fit", "aria-keyshortcuts": "F", onclick: () => this.fit() });
  #leader = null; // the one being moved: the others follow it
  #isFitted = false;
  #observer = new ResizeObserver(() => this.#lay());
  #stopWatching = watchDensity(() => this.#lay());

  constructor(media, captions) {
    this.#media = media;
    this.#rolls = media.map((medium) => this.#roll(medium));
    this.#panes = this.#rolls.map((roll, i) => make("figure", { class: "pane" }, captions[i] && make("figcaption", {}, captions[i]), roll));
    this.bed = make("div", { class: "panes", "data-pictures": media.length }, this.#panes);
    this.element = make("div", { class: "exact", "data-role": "stage" }, this.bed, make("p", { class: "exact-note" }, this.#note, this.#toggle));
    this.#observer.observe(this.bed);
  }

  /* Shows only one of them, if they are shown in turn. */
  show(place) {
    this.#panes.forEach((pane, i) => { pane.hidden = i !== place; });
    this.#lay();
  }

  fit() {
    if (this.#toggle.hidden) return;
    this.#isFitted = !this.#isFitted;
    this.#lay();
  }

  leave() {
    this.#observer.disconnect();
    this.#stopWatching();
  }

  #roll(medium) {
    const roll = make("div", { class: "roll scroll" }, medium);
    for (const kind of ["pointerenter", "pointerdown", "wheel", "touchstart", "focusin"]) {
      roll.addEventListener(kind, () => { this.#leader = roll; }, { passive: true });
    }
    roll.addEventListener("scroll", () => {
      if (roll !== this.#leader) return;
      for (const other of this.#rolls) if (other !== roll) other.scrollTo(roll.scrollLeft, roll.scrollTop);
    });
    roll.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus on the slider, for its keys
    roll.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && !event.button) roll.setPointerCapture(event.pointerId); });
    roll.addEventListener("pointermove", (event) => { if (roll.hasPointerCapture(event.pointerId)) roll.scrollBy(-event.movementX, -event.movementY); });
    return roll;
  }

  #lay() {
    const shown = this.#rolls.map((_, i) => i).filter((i) => !this.#panes[i].hidden && this.#rolls[i].clientWidth);
    if (!shown.length) return;
    const scale = this.#isFitted ? Math.min(1, ...shown.map((i) => this.#room(i))) : 1; // the same for all, because they are compared
    for (const i of shown) this.#place(this.#media[i], scale);
    const isLarge = shown.some((i) => this.#room(i) < 1);
    for (const roll of this.#rolls) {
      roll.classList.toggle("large", isLarge && !this.#isFitted);
      if (isLarge && !this.#isFitted) Object.assign(roll, { tabIndex: 0, role: "group", ariaLabel: "Larger than the screen: use the arrow keys to move it" });
      else roll.removeAttribute("tabindex");
    }
    this.#say(isLarge, scale);
  }

  /* The scale at which a medium fits; 1 if it already does. */
  #room(i) {
    const [width, height] = sizeOf(this.#media[i]);
    const box = this.#rolls[i].getBoundingClientRect();
    return Math.min(1, (box.width * devicePixelRatio) / width, (box.height * devicePixelRatio) / height);
  }

  /* One screen pixel per pixel, and aligned to them: in between, the picture would be smoothed. */
  #place(medium, scale) {
    const [width, height] = sizeOf(medium);
    Object.assign(medium.style, { width: `${(width * scale) / devicePixelRatio}px`, height: `${(height * scale) / devicePixelRatio}px`, left: "0", top: "0" });
    const box = medium.getBoundingClientRect();
    const off = (at) => (Math.round(at * devicePixelRatio) - at * devicePixelRatio) / devicePixelRatio;
    Object.assign(medium.style, { left: `${off(box.left)}px`, top: `${off(box.top)}px` });
  }

  #say(isLarge, scale) {
    this.#toggle.hidden = !isLarge;
    this.#toggle.replaceChildren(this.#isFitted ? "Exact pixels " : "Fit to screen ", make("kbd", {}, "F"));
    this.element.dataset.scale = scale.toFixed(3);
    const words = this.#isFitted ? `Scaled down to ${Math.round(100 * scale)}%: pixels are no longer exact.` : "Drag to see the rest.";
    this.#note.textContent = isLarge ? words : "";
  }
}
