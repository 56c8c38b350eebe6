/* When to suggest a break: after so many minutes of work. Sitting idle is not work, and a long idle time is a break. */

import { count, one } from "./dom.js";
import { readJson, write } from "./keeping.js";
import { showDialog } from "./screens.js";

const STILL_WORK = 60000; // a longer silence counts as a minute: somebody looks closely, or has gone
const A_BREAK = 300000;

export class Breaks {
  #key;
  #limit;

  constructor(key, minutes) {
    this.#key = key;
    this.#limit = minutes > 0 ? minutes * 60000 : Infinity;
    for (const kind of ["keydown", "pointerdown", "wheel"]) addEventListener(kind, () => this.#touch(), { capture: true, passive: true });
  }

  /* Kept between reloads, and shared by two tabs: it is one person who gets tired. */
  get #state() {
    return readJson(this.#key, { worked: 0, last: Date.now() });
  }

  #touch() {
    const { worked, last } = this.#state;
    const gap = Math.max(0, Date.now() - last);
    write(this.#key, JSON.stringify({ worked: gap > A_BREAK ? 0 : worked + Math.min(gap, STILL_WORK), last: Date.now() }));
  }

  isDue() {
    return this.#state.worked >= this.#limit;
  }

  /* Until the person goes on; then the count begins anew. */
  async suggest() {
    const minutes = count(Math.max(1, Math.round(this.#limit / 60000)), "minute");
    one("[data-role=break-words]").textContent =
      `You have been at it for ${minutes}. Look out of a window, stretch: tired eyes make mistakes. All your answers are safe.`;
    await showDialog("break-dialog");
    write(this.#key, JSON.stringify({ worked: 0, last: Date.now() }));
  }
}
