/* Shows the bare image instead of the marked one while the space bar or a button is held. */

import { make, one } from "../dom.js";

export class Bare {
  #stage;
  #listeners = new AbortController();

  constructor(stage, image) {
    this.#stage = stage;
    for (const frame of stage.querySelectorAll(".frame")) {
      const copy = image.cloneNode();
      copy.alt = "";
      copy.classList.add("bare-photo");
      frame.querySelector("img").after(copy);
    }
    this.button = make("button", { type: "button", class: "chip", "data-role": "photo", "aria-keyshortcuts": "Space", "aria-pressed": "false" },
      make("span", {}, "Hold to see the photo"), make("kbd", { "aria-hidden": "true" }, "Space"));
    const on = (target, kind, act, options = {}) => target.addEventListener(kind, act, { signal: this.#listeners.signal, ...options });
    on(this.button, "pointerdown", () => this.#show(true));
    for (const kind of ["pointerup", "pointercancel"]) on(window, kind, () => this.#show(false));
    on(this.button, "contextmenu", (event) => event.preventDefault()); // a long touch is intended here
    // Before all others: a button that was pressed has the focus, and Space would press it again.
    on(window, "keydown", (event) => this.#key(event, true), { capture: true });
    on(window, "keyup", (event) => this.#key(event, false), { capture: true });
    on(window, "blur", () => this.#show(false));
    this.#show(false);
  }

  leave() {
    this.#listeners.abort();
  }

  #key(event, isDown) {
    if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
    if (one("dialog[open]") || event.target.matches?.("input, textarea")) return;
    event.preventDefault();
    event.stopPropagation();
    this.#show(isDown);
  }

  #show(isBare) {
    this.#stage.dataset.bare = isBare;
    this.button.setAttribute("aria-pressed", String(isBare));
  }
}
