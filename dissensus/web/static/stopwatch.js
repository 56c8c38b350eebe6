/* Time spent looking, without pauses (a hidden tab, an open dialog, writing a comment). */

export class Stopwatch {
  #before = 0;
  #since = null;
  #holds = new Set();

  constructor() {
    document.addEventListener("visibilitychange", () => this.hold("hidden", document.hidden));
    this.hold("hidden", document.hidden);
  }

  start() {
    this.#before = 0;
    this.#since = this.#holds.size ? null : performance.now();
  }

  hold(reason, isHeld) {
    if (isHeld) this.#holds.add(reason);
    else this.#holds.delete(reason);
    if (this.#holds.size && this.#since !== null) {
      this.#before += performance.now() - this.#since;
      this.#since = null;
    } else if (!this.#holds.size && this.#since === null) this.#since = performance.now();
  }

  get seconds() {
    const running = this.#since === null ? 0 : performance.now() - this.#since;
    return Math.round(this.#before + running) / 1000;
  }
}
