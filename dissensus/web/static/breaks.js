/* When a session ends: after a number of minutes of work, or once its share of the questions is answered. Idle time is not
 * work, and a long idle time counts as a break. If breaks have a minimum length, the page does not continue before that. */

import { count, one } from "./dom.js";
import { readJson, write } from "./keeping.js";
import { showDialog, showScreen } from "./screens.js";
import { STILL_WORK } from "./stopwatch.js";

const A_BREAK = 300000;
const MINUTE = 60000;

const clock = (milliseconds) => {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

export class Breaks {
  #key;
  #limit;
  #length;
  #sessions;

  /* Minutes of work before a break, minimum minutes of the break, and the number of sessions. */
  constructor(key, { break_minutes: minutes, rest_minutes: rest, sessions }) {
    this.#key = key;
    this.#limit = minutes > 0 ? minutes * MINUTE : Infinity;
    this.#length = rest * MINUTE;
    this.#sessions = sessions;
    for (const kind of ["keydown", "pointerdown", "wheel"]) addEventListener(kind, () => this.#touch(), { capture: true, passive: true });
  }

  /* Kept across reloads and shared between tabs: it is one person who gets tired. `until`: when the break is over; `ended`:
   * number of finished sessions; `goal`: number of answers at which this session ends. */
  get #state() {
    return readJson(this.#key, { worked: 0, last: Date.now() });
  }

  #keep(change) {
    write(this.#key, JSON.stringify({ ...this.#state, ...change }));
  }

  #touch() {
    const { worked, last, until = 0 } = this.#state;
    const gap = Math.max(0, Date.now() - last);
    const now = gap > A_BREAK || Date.now() < until ? 0 : worked + Math.min(gap, STILL_WORK);
    this.#keep({ worked: now, last: Date.now() });
  }

  /* Which session this is and how many there are; empty if there is only one. */
  get words() {
    const { ended = 0 } = this.#state;
    return this.#sessions > 1 ? `session ${Math.min(ended + 1, this.#sessions)} of ${this.#sessions}` : "";
  }

  /* A session's share is computed when the session starts: others answer too, and studies grow. */
  #goal({ answered, left }) {
    const { goal } = this.#state;
    if (goal !== undefined || !left) return goal ?? null;
    const size = Math.ceil((answered + left) / this.#sessions);
    const ended = Math.min(this.#sessions - 1, Math.floor(answered / size)); // this may be a new browser
    this.#keep({ ended, goal: ended < this.#sessions - 1 ? (ended + 1) * size : null });
    return this.#state.goal;
  }

  #begin(ended, { answered, left }) {
    const sessions = this.#sessions - ended; // this one included
    this.#keep({ ended, goal: sessions > 1 ? answered + Math.max(1, Math.ceil(left / sessions)) : null });
  }

  /* True if it is time for a break; `standing`: { answered, left }. There is no break after the last question. */
  isDue(standing) {
    const { worked, until = 0 } = this.#state;
    if (Date.now() < until) return true;
    const goal = this.#sessions > 1 ? this.#goal(standing) : null;
    return standing.left > 0 && (worked >= this.#limit || (goal !== null && standing.answered >= goal));
  }

  /* Waits until the person continues; then the count starts over. */
  async take(standing) {
    const words = this.#said();
    if (this.#state.until === undefined || Date.now() >= this.#state.until) {
      if (this.#sessions > 1) this.#begin(Math.min((this.#state.ended ?? 0) + 1, this.#sessions), standing);
      this.#keep({ worked: 0, until: this.#length ? Date.now() + this.#length : undefined });
    }
    await (this.#length ? this.#rest(words) : this.#suggest(words));
    this.#keep({ worked: 0, last: Date.now(), until: undefined });
  }

  #said() {
    const { worked, ended = 0, until } = this.#state;
    const over = until === undefined ? ended + 1 : ended; // the page may have been reloaded during the break
    if (over < this.#sessions) return `${over} of ${this.#sessions} sessions ${over === 1 ? "is" : "are"} done.`;
    return worked >= this.#limit ? `You have been at it for ${count(Math.max(1, Math.round(this.#limit / MINUTE)), "minute")}.` : "";
  }

  async #suggest(words) {
    one("[data-role=break-words]").textContent = `${words} Look out of the window and stretch: tired eyes make mistakes. All your answers are safe.`;
    await showDialog("break-dialog");
  }

  /* A screen rather than a dialog, because dialogs can be closed. */
  async #rest(words) {
    const [timer, button] = [one("[data-role=rest-timer]"), one("[data-role=rest-over]")];
    const minutes = count(Math.round(this.#length / 6000) / 10, "minute");
    one("[data-role=rest-words]").textContent = `${words} You can continue after ${minutes}. Look out of the window and stretch: tired eyes make mistakes.`;
    showScreen("rest");
    const draw = () => {
      const left = (this.#state.until ?? 0) - Date.now();
      timer.textContent = clock(left);
      button.disabled = left > 0;
      if (left > 0) return;
      clearInterval(ticking);
      one("[data-role=live]").textContent = "The break is over.";
      button.focus();
    };
    const ticking = setInterval(draw, 500);
    draw();
    await new Promise((gone) => { button.onclick = gone; });
    clearInterval(ticking);
  }
}
