/* Answers that the server has not confirmed yet. Each answer has its own key, so that two tabs never overwrite each other;
 * keys sort in order. An answer is removed only when the server returns its id; a refused one is set aside with the reason.
 *
 * Both tabs may send the same answer: the server stores each id once, and every tab sends all waiting answers in order.
 *
 * Events: change (waiting or refused answers), sent (detail: the server's reply), gone (the link is no longer valid). */

import { ask } from "./api.js";
import { inMemory, keysUnder, read, readJson, remove, write } from "./keeping.js";

const MOST_AT_ONCE = 50;
const SHORTEST_WAIT = 1000;
const LONGEST_WAIT = 30000;

/* crypto.randomUUID does not exist on plain http, as used in local networks. */
const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export class Outbox extends EventTarget {
  #prefix;
  #last = 0;
  #wait = SHORTEST_WAIT;
  #timer = 0;
  #isBusy = false;
  #atOnce = MOST_AT_ONCE;
  trouble = ""; // why the last attempt failed, in words
  isGone = false;

  constructor(prefix) {
    super();
    this.#prefix = prefix;
    addEventListener("online", () => this.wake());
    addEventListener("storage", (event) => { if (event.key?.startsWith(prefix)) this.#changed(); });
    // Try once more: the cause, such as another person's cookie, may be gone.
    this.retryRefused();
  }

  /* `isFirst`: the question was not answered before, so this counts as progress. */
  put(ticket, answer, seconds, comment, isFirst) {
    this.#last = Math.max(Date.now(), this.#last + 1); // keeps the order even if the clock is set back
    const id = newId();
    const entry = { id, ticket, answer, seconds, comment, isFirst, time: new Date().toISOString() };
    write(this.#key("answer", this.#last, id), JSON.stringify(entry));
    this.#changed();
    this.flush();
    return id;
  }

  waiting() {
    return this.#entries("answer").map(([, entry]) => entry);
  }

  refused() {
    return this.#entries("refused").map(([, entry]) => entry);
  }

  tickets() {
    return new Set(this.waiting().map((entry) => entry.ticket));
  }

  /* How many answers would be lost with the page, because this browser cannot store them. */
  unkept() {
    return inMemory(`${this.#prefix}:answer:`);
  }

  wake() {
    this.#wait = SHORTEST_WAIT;
    this.flush();
  }

  wakeIfWaiting() {
    if (this.trouble) this.wake();
  }

  retryRefused() {
    for (const key of keysUnder(`${this.#prefix}:refused:`)) {
      const { reason, ...entry } = readJson(key, {});
      write(this.#keyOn("answer", key), JSON.stringify(entry));
      remove(key);
    }
    this.wake();
  }

  forgetRefused() {
    for (const key of keysUnder(`${this.#prefix}:refused:`)) remove(key);
    this.#changed();
  }

  async flush() {
    clearTimeout(this.#timer);
    if (this.#isBusy || this.isGone) return;
    this.#isBusy = true;
    try {
      for (let rows = this.#entries("answer"); rows.length && !this.isGone; rows = this.#entries("answer")) {
        if (!(await this.#send(rows.slice(0, this.#atOnce)))) break;
      }
    } finally {
      this.#isBusy = false;
    }
    if (!this.isGone && this.#entries("answer").length) {
      this.#timer = setTimeout(() => this.flush(), this.#wait * (0.75 + Math.random() / 2));
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    }
  }

  /* True if at least one of them was stored or refused. */
  async #send(rows) {
    const answers = rows.map(([, { id, ticket, answer, seconds, comment }]) => ({ id, ticket, answer, seconds, comment }));
    try {
      return this.#settle(rows, await ask("POST", "/api/answers", { answers }));
    } catch (failure) {
      return this.#failed(rows, failure);
    }
  }

  #settle(rows, reply) {
    const stored = new Set(reply.stored);
    const refused = new Map(reply.refused.map(({ id, reason }) => [id, reason]));
    let settled = 0;
    for (const [key, entry] of rows) {
      if (!stored.has(entry.id) && !refused.has(entry.id)) continue;
      if (refused.has(entry.id)) this.#setAside(key, entry, refused.get(entry.id));
      remove(key);
      settled += 1;
    }
    this.trouble = "";
    this.#wait = SHORTEST_WAIT;
    if (!this.#entries("answer").length) this.#atOnce = MOST_AT_ONCE;
    this.dispatchEvent(new CustomEvent("sent", { detail: reply }));
    this.#changed();
    return settled > 0;
  }

  #failed(rows, failure) {
    if (failure.status === 401) {
      this.isGone = true;
      this.dispatchEvent(new Event("gone"));
      return false;
    }
    this.trouble = failure.message;
    if (![400, 413, 422].includes(failure.status)) {
      this.#changed();
      return false;
    }
    // An answer that the server cannot read must not block the others: send them one by one, and set that one aside.
    if (rows.length > 1) this.#atOnce = 1;
    else {
      this.#setAside(rows[0][0], rows[0][1], failure.message);
      remove(rows[0][0]);
      this.#changed();
    }
    return true;
  }

  #setAside(key, entry, reason) {
    write(this.#keyOn("refused", key), JSON.stringify({ ...entry, reason }));
  }

  #key(shelf, order, id) {
    return `${this.#prefix}:${shelf}:${String(order).padStart(15, "0")}-${id}`;
  }

  /* The same answer's key on another shelf; uses the end of the key, since a person may be called 'answer'. */
  #keyOn(shelf, key) {
    return `${this.#prefix}:${shelf}:${key.slice(key.lastIndexOf(":") + 1)}`;
  }

  #entries(shelf) {
    const rows = keysUnder(`${this.#prefix}:${shelf}:`).map((key) => [key, readJson(key, null)]);
    return rows.filter(([, entry]) => entry?.id);
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/* The unsent answers under a prefix as the text of a file; works even if nobody is signed in any more. */
export const unsentText = (prefix) => {
  const keys = ["answer", "refused"].flatMap((shelf) => keysUnder(`${prefix}:${shelf}:`));
  return keys.length ? `[\n${keys.map(read).join(",\n")}\n]\n` : "";
};
