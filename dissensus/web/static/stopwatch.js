/* Time spent on a question, looking and searching included, without pauses: a hidden tab, an open dialog, writing a comment,
 * and idle time. Whoever neither types, points, scrolls nor plays a clip for longer than a minute is looking closely, or has
 * left: such a silence counts as one minute. */

export const STILL_WORK = 60000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "timeupdate"];

export class Stopwatch {
  #before = 0;
  #since = null;
  #last = 0; // when the person last did something
  #holds = new Set();

  constructor() {
    document.addEventListener("visibilitychange", () => this.hold("hidden", document.hidden));
    for (const kind of SIGNS) addEventListener(kind, () => this.#touch(), { capture: true, passive: true });
    this.hold("hidden", document.hidden);
  }

  start() {
    this.#before = 0;
    this.#last = performance.now();
    this.#since = this.#holds.size ? null : this.#last;
  }

  hold(reason, isHeld) {
    if (isHeld) this.#holds.add(reason);
    else this.#holds.delete(reason);
    if (this.#holds.size) {
      this.#before += this.#running;
      this.#since = null;
    } else if (this.#since === null) this.#since = this.#last = performance.now();
  }

  get seconds() {
    return Math.round(this.#before + this.#running) / 1000;
  }

  get #running() {
    return this.#since === null ? 0 : Math.min(performance.now(), this.#last + STILL_WORK) - this.#since;
  }

  #touch() {
    const now = performance.now();
    if (this.#since !== null && now - this.#last > STILL_WORK) {
      this.#before += this.#running;
      this.#since = now;
    }
    this.#last = now;
  }
}
