/* The questions of this tab: the current one, those to come, and those answered here, to which people can go back. */

import { NEAR } from "./pictures.js";

const LONGEST_WAY_BACK = 20; // their pictures stay in memory

export class Queue {
  current = null; // {question, chosen, chosenWords}: chosen is undefined if it was not answered before
  #coming = [];
  #answered = [];
  #done = new Set(); // tickets answered here or in another tab, sent or not
  #skipped = new Set();

  get length() {
    return this.#coming.length;
  }

  get last() {
    return this.#answered.at(-1) ?? null;
  }

  /* All questions whose pictures are worth keeping, nearest first: going back a few must work however much is to come. */
  get near() {
    const ahead = [...(this.current ? [this.current] : []), ...this.#coming];
    const back = this.#answered.toReversed();
    return [...ahead.slice(0, NEAR), ...back.slice(0, NEAR), ...ahead.slice(NEAR), ...back.slice(NEAR)].map(({ question }) => question);
  }

  /* The questions to come, the current one included. */
  get ahead() {
    return [...(this.current ? [this.current] : []), ...this.#coming].map(({ question }) => question);
  }

  /* The questions that are open according to the server, in its order; others were withdrawn or answered elsewhere. */
  offer(questions) {
    const again = this.#coming.filter(({ chosen }) => chosen !== undefined);
    const fresh = questions.filter(({ ticket }) => !this.#done.has(ticket) && !this.#skipped.has(ticket));
    const open = fresh.filter(({ ticket }) => ticket !== this.current?.question.ticket);
    this.#coming = [...again, ...open.map((question) => ({ question, chosen: undefined }))];
  }

  /* isReady(question): questions for which it is true come first, if there are any: the others cannot be shown now. */
  advance(isReady = () => true) {
    const first = this.#coming.findIndex(({ question, chosen }) => chosen !== undefined || isReady(question));
    this.current = this.#coming.splice(Math.max(0, first), 1)[0] ?? null;
    return this.current;
  }

  /* Nobody can go back to questions whose answers have been revealed, in practice or in a game. */
  answered(chosen, chosenWords) {
    const { question } = this.current;
    this.#done.add(question.ticket);
    if (!question.told) this.#answered.push({ question, chosen, chosenWords });
    this.#answered.splice(0, this.#answered.length - LONGEST_WAY_BACK);
    this.current = null;
  }

  /* Keeps the previous answer. */
  kept() {
    const { chosen, chosenWords } = this.current;
    this.answered(chosen, chosenWords);
  }

  back() {
    if (!this.#answered.length) return false;
    if (this.current) this.#coming.unshift(this.current);
    this.current = this.#answered.pop();
    return true;
  }

  /* Answered in another tab, or waiting in the outbox since before a reload. */
  drop(ticket) {
    this.#done.add(ticket);
    this.#coming = this.#coming.filter(({ question, chosen }) => question.ticket !== ticket || chosen !== undefined);
    if (this.current?.question.ticket !== ticket || this.current.chosen !== undefined) return false;
    this.current = null;
    return true;
  }

  /* Drops the current question if it is no longer open. */
  withdraw(open) {
    if (this.current?.chosen !== undefined || open.some(({ ticket }) => ticket === this.current?.question.ticket)) return;
    this.current = null;
  }

  skip() {
    const { ticket } = this.current.question;
    this.#skipped.add(ticket);
    this.current = null;
    return ticket;
  }
}
