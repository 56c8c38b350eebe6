/* Where questions come from: asks the server when few are left, checks again later if there are none, and keeps trying if
 * it is down. Events: offered (detail: the reply of /api/next), missed (detail: the failure). */

import { ask } from "./api.js";

const AHEAD = 5; // questions held here, including the current one
const MOST_AHEAD = 10; // the server gives no more at a time
const ENOUGH = 2; // to come, besides the current one
const IDLE_WAIT = 30000;
const HELD_UP_WAIT = 3000;

export class Supply extends EventTarget {
  #queue;
  #outbox;
  #timer = 0;
  #wait = 1000;
  #isUnderway = false;

  constructor(queue, outbox) {
    super();
    this.#queue = queue;
    this.#outbox = outbox;
  }

  stop() {
    clearTimeout(this.#timer);
  }

  async look(isForced = false) {
    this.stop();
    const hasEnough = this.#queue.current && this.#queue.length >= ENOUGH;
    if (this.#isUnderway || this.#outbox.isGone || (hasEnough && !isForced)) return;
    this.#isUnderway = true;
    try {
      // The server counts a question as open until its answer arrives, so the waiting ones come on top.
      const ahead = Math.min(MOST_AHEAD, AHEAD + this.#outbox.tickets().size);
      const reply = await ask("GET", `/api/next?ahead=${ahead}`);
      this.#offered(reply);
    } catch (failure) {
      if (failure.status === undefined) throw failure; // not the server's fault
      this.#again(this.#wait);
      this.#wait = Math.min(2 * this.#wait, IDLE_WAIT);
      this.dispatchEvent(new CustomEvent("missed", { detail: failure }));
    } finally {
      this.#isUnderway = false;
    }
  }

  #offered(reply) {
    this.#wait = 1000;
    this.#outbox.wakeIfWaiting(); // the server is back
    for (const ticket of this.#outbox.tickets()) this.#queue.drop(ticket);
    this.#queue.offer(reply.questions);
    if (!this.#queue.current && !this.#queue.length) this.#again(this.#outbox.waiting().length ? HELD_UP_WAIT : IDLE_WAIT);
    this.dispatchEvent(new CustomEvent("offered", { detail: reply }));
  }

  #again(milliseconds) {
    this.stop();
    this.#timer = setTimeout(() => this.look(), milliseconds * (0.75 + Math.random() / 2));
  }
}
