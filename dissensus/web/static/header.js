/* The line at the top: progress, and what has not reached the server yet. */

import { count, make, one, saveFile } from "./dom.js";

const UNKEPT = "This browser cannot store anything: answers are sent right away, and any unsent ones are lost when you close the page.";
const AWAY = "the server cannot be reached";
const SLOW = 1500; // milliseconds: no need to mention answers that arrive faster than this

export class Header {
  #outbox;
  #counts = { answered: 0, left: 0 };
  #timer = 0;
  #isSlow = false;
  #practice = null;
  #isKept;
  #session = "";
  #stock = () => 0;
  #isAway = false;

  constructor(outbox, isKept) {
    this.#outbox = outbox;
    outbox.addEventListener("change", () => this.draw());
    this.#isKept = isKept;
  }

  /* The server's counts; answers still waiting here are added to them. */
  set counts({ answered, left }) {
    this.#counts = { answered, left };
    this.draw();
  }

  /* { total, done } while practising, or null. */
  set practice(training) {
    this.#practice = training;
    this.draw();
  }

  /* A function: how many questions can be answered without the server, the current one included. */
  set stock(stock) {
    this.#stock = stock;
  }

  /* True while the server cannot be asked for questions. */
  set isAway(isAway) {
    this.#isAway = isAway;
    this.draw();
  }

  /* Which session this is, as text, if there are several. */
  set session(words) {
    this.#session = words;
    this.draw();
  }

  /* Progress, including answers that are on their way. */
  get standing() {
    const underway = this.#outbox.waiting().filter(({ isFirst }) => isFirst).length;
    return { answered: this.#counts.answered + underway, left: Math.max(0, this.#counts.left - underway) };
  }

  draw() {
    const waiting = this.#outbox.waiting();
    document.body.dataset.waiting = waiting.length;
    document.body.dataset.stock = this.#stock();
    this.#drawProgress(this.standing);
    this.#drawWaiting(waiting.length);
    this.#drawRefused();
    const isKept = this.#isKept && !this.#outbox.unkept(); // storage may exist but be full
    one("[data-role=unkept]").textContent = isKept ? "" : UNKEPT;
  }

  #drawProgress({ answered, left }) {
    const session = this.#session && `${this.#session} · `;
    const words = `${answered.toLocaleString("en")} answered · ${left.toLocaleString("en")} left`;
    const [done, total] = this.#practice ? [this.#practice.done, this.#practice.total] : [answered, answered + left];
    const shown = this.#practice ? [`practice ${Math.min(done + 1, total)} of ${total}`] : [make("span", { class: "session" }, session), words];
    one("[data-role=count]").replaceChildren(...shown);
    const bar = one("[data-role=progress]");
    bar.setAttribute("aria-valuenow", done);
    bar.setAttribute("aria-valuemax", total);
    bar.setAttribute("aria-valuetext", this.#practice ? `practice, ${done} of ${total}` : `${session}${words}`);
    bar.firstElementChild.style.width = total ? `${(100 * done) / total}%` : "0";
  }

  #drawWaiting(many) {
    const strip = one("[data-role=waiting]");
    const isTrouble = Boolean(this.#outbox.trouble) || this.#isSlow;
    clearTimeout(this.#timer);
    if (!many) this.#isSlow = false;
    else if (!isTrouble) this.#timer = setTimeout(() => { this.#isSlow = true; this.draw(); }, SLOW);
    const next = (many && isTrouble) || this.#isAway ? this.#waitingWords(many) : "";
    if (strip.textContent !== next) strip.textContent = next; // screen readers would read an unchanged text again
  }

  /* What is not sent yet, and whether there is anything left to do until it is. */
  #waitingWords(many) {
    const why = this.#outbox.trouble || (this.#isAway ? AWAY : "");
    const unsent = many ? `${count(many, "answer")} not sent yet${why && ` (${why})`}: ${many === 1 ? "it is" : "they are"} kept in this browser.` : `${why[0].toUpperCase()}${why.slice(1)}.`;
    if (!why) return `${unsent} Carry on: nothing is lost.`;
    const ready = this.#stock();
    if (!ready) return `${unsent} No more questions until the connection is back.`;
    return `${unsent} Carry on: ${count(ready, "question is", "questions are")} ready. Do not reload the page before the connection is back.`;
  }

  #drawRefused() {
    const strip = one("[data-role=refused]");
    const refused = this.#outbox.refused();
    const mark = refused.map(({ id }) => id).join();
    if (strip.dataset.mark === mark) return;
    strip.dataset.mark = mark;
    if (!refused.length) return strip.replaceChildren();
    const reasons = [...new Set(refused.map(({ reason }) => reason))].join("; ");
    const button = (role, words, act) => make("button", { type: "button", class: "plain", "data-role": role, onclick: act }, words);
    strip.replaceChildren(
      make("span", {}, `${count(refused.length, "answer was", "answers were")} rejected by the server: ${reasons}. `),
      button("refused-retry", "Try again", () => this.#outbox.retryRefused()),
      button("refused-save", "Download", () => saveFile("refused-answers.json", JSON.stringify(refused, null, 1))),
      button("refused-dismiss", "Dismiss", () => this.#outbox.forgetRefused()),
    );
  }
}
