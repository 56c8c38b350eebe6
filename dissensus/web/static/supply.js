/* Where questions come from: asks the server when few are left, checks again later if there are none, and keeps trying if
 * it is down. Events: offered (detail: the reply of /api/next), missed (detail: the failure). */

import { ask } from "./api.js";
import { NEAR } from "./pictures.js";

const AT_FIRST = 10; // questions, before it is known what their pictures weigh
const MOST_KEPT = 60; // the current one included: enough for an hour without a network
const MOST_AHEAD = 100; // the server gives no more at a time
const LARGEST_REPLY = 1 << 20; // characters: a mask to be checked may take hundreds of thousands
const ENOUGH = 2; // to come, besides the current one
const SPENT = 3; // questions after which the server is asked what is open now
const IDLE_WAIT = 30000;
const HELD_UP_WAIT = 3000;

export class Supply extends EventTarget {
  #queue;
  #outbox;
  #timer = 0;
  #wait = 1000;
  #isUnderway = false;
  #pictures;
  #asked = 0; // how many questions the server was last asked for
  #offeredThen = 0; // how many were to come after its reply
  #perQuestion = 1; // characters of a question in that reply

  constructor(queue, outbox, pictures) {
    super();
    this.#queue = queue;
    this.#outbox = outbox;
    this.#pictures = pictures;
    pictures.addEventListener("stocked", () => { if (this.#asked && this.#isCramped) this.look(); });
  }

  /* How many questions to hold: as many as there is room for. Those whose answers are revealed need the server anyway. */
  get #kept() {
    const { room } = this.#pictures;
    if (this.#queue.near.some(({ told }) => told)) return NEAR;
    const most = Math.min(room ?? AT_FIRST, Math.floor(LARGEST_REPLY / this.#perQuestion), MOST_KEPT);
    return Math.max(NEAR, most);
  }

  /* There is room for more than the server was asked for, and it gave all of that. */
  get #isCramped() {
    return this.#kept >= this.#asked + SPENT && this.#offeredThen + 1 >= this.#asked;
  }

  get #hasEnough() {
    const { current, length } = this.#queue;
    return current && length >= ENOUGH && length > this.#offeredThen - SPENT && !this.#isCramped;
  }

  stop() {
    clearTimeout(this.#timer);
  }

  async look(isForced = false) {
    this.stop();
    if (this.#isUnderway || this.#outbox.isGone || (this.#hasEnough && !isForced)) return;
    this.#isUnderway = true;
    try {
      const kept = this.#kept;
      // The server counts a question as open until its answer arrives, so the waiting ones come on top.
      const reply = await ask("GET", `/api/next?ahead=${Math.min(MOST_AHEAD, kept + this.#outbox.tickets().size)}`);
      this.#asked = kept;
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
    this.#offeredThen = this.#queue.length;
    this.#perQuestion = Math.max(1, JSON.stringify(reply.questions).length / Math.max(1, reply.questions.length));
    if (!this.#queue.current && !this.#queue.length) this.#again(this.#outbox.waiting().length ? HELD_UP_WAIT : IDLE_WAIT);
    this.dispatchEvent(new CustomEvent("offered", { detail: reply }));
  }

  #again(milliseconds) {
    this.stop();
    this.#timer = setTimeout(() => this.look(), milliseconds * (0.75 + Math.random() / 2));
  }
}
