/* A game's score since the person sat down: for fun, and kept in this browser only. */

import { readJson, write } from "./keeping.js";

const SESSION = 4 * 3600 * 1000; // milliseconds without a round after which a new session begins

export class Score {
  #key;

  constructor(prefix) {
    this.#key = `${prefix}:score`;
  }

  /* The feedback on a round: { right, share, best, uncovered }; only what the person uncovered counts for the average. */
  add({ right, share, best, uncovered }) {
    const score = this.#now();
    const streak = right ? score.streak + 1 : 0;
    write(this.#key, JSON.stringify({
      time: Date.now(),
      rounds: score.rounds + 1,
      right: score.right + Number(right),
      streak,
      longest: Math.max(score.longest, streak),
      beaten: score.beaten + Number(right && best != null && share < best),
      shares: right && uncovered ? [...score.shares, share] : score.shares,
    }));
  }

  get words() {
    const { rounds, right, streak, longest, beaten, shares } = this.#now();
    const inARow = streak > 1 ? `${streak} in a row${streak === longest && streak > 2 ? ", your best so far" : ""}` : "";
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const average = shares.length > 1 ? `on average you needed ${percent(mean)}` : "";
    const machines = beaten ? `machines beaten ${beaten === 1 ? "once" : `${beaten} times`}` : "";
    return rounds > 1 ? [inARow, `${right} of ${rounds} right`, average, machines].filter(Boolean).join(" · ") : "";
  }

  #now() {
    const kept = readJson(this.#key, null);
    const isFresh = kept && Date.now() - kept.time < SESSION;
    return isFresh ? kept : { rounds: 0, right: 0, streak: 0, longest: 0, beaten: 0, shares: [] };
  }
}

const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}\u00a0%`;
