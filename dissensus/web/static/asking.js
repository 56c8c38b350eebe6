/* One question on the screen, from loading its pictures to its answer. */

import { one, role } from "./dom.js";
import { KINDS } from "./kinds/index.js";
import { zoomByKey } from "./stage.js";
import { Stopwatch } from "./stopwatch.js";

const TOO_SOON = 150; // milliseconds: the second half of a double press, or a held key, is not an answer to the next question

export class Asking {
  #pictures;
  #tools;
  #heard;
  #view = null;
  #isReady = false;
  #shown = null;
  #before = null; // the ticket and the looks of the question drawn last
  stopwatch = new Stopwatch();

  /* tools: what kinds get in their context; heard(value, words, seconds, comment): called with the answer. */
  constructor(pictures, tools, heard) {
    this.#pictures = pictures;
    this.#tools = tools;
    this.#heard = heard;
    role("comment-open").onclick = () => this.openComment();
    role("comment-done").onclick = () => this.#closeComment();
    role("reload-picture").onclick = () => { this.#pictures.forget(this.#shown.question); this.show(this.#shown); };
    const field = one("#comment");
    field.addEventListener("focus", () => this.stopwatch.hold("comment", true));
    field.addEventListener("blur", () => this.stopwatch.hold("comment", false));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape") field.value = "";
      this.#closeComment();
    });
  }

  async show(entry) {
    this.#shown = entry;
    const { question } = entry;
    if (KINDS[question.kind].isGradual) return this.#drawGradually(entry);
    let pictures = this.#pictures.now(question);
    if (!pictures) {
      this.#leave();
      this.#say("Loading the picture …");
      try {
        pictures = await this.#pictures.ready(question);
      } catch (error) {
        if (this.#shown === entry) this.#say(error.message, true);
        return;
      }
      if (this.#shown !== entry) return;
    }
    this.#draw(entry, pictures);
  }

  /* There is something to look at before all pictures are there; if one never comes, the question cannot be answered. */
  #drawGradually(entry) {
    this.#draw(entry, this.#pictures.each(entry.question));
    this.#pictures.ready(entry.question).catch((error) => {
      if (this.#shown !== entry) return;
      this.#isReady = false;
      this.#say(error.message, true);
    });
  }

  #say(words, isBroken = false) {
    role("loading").hidden = !words;
    role("loading-words").textContent = words;
    role("reload-picture").hidden = role("skip").hidden = !isBroken;
    role("question").dataset.ready = "false";
  }

  #leave() {
    this.#view?.leave?.();
    this.#view = null;
    this.#isReady = false;
    const host = role("host");
    host.replaceChildren();
    host.inert = false;
    role("feedback").hidden = true;
    role("below").hidden = false;
    role("before").hidden = true;
  }

  #draw(entry, pictures) {
    const { question, chosen, chosenWords } = entry;
    const focused = document.activeElement?.dataset?.answer; // people who use Tab and Enter keep their place
    this.#leave();
    this.#say("");
    one("#comment").value = "";
    this.#closeComment();
    const section = role("question");
    Object.assign(section.dataset, { kind: question.kind, ticket: question.ticket, training: question.training, told: question.told });
    role("practice").hidden = !question.training;
    role("before").hidden = chosen === undefined;
    one("span", role("before")).textContent = `You answered: ${chosenWords}.`;
    const context = { ...this.#tools, pictures, chosen, isSamePicture: this.#isSamePicture(question, pictures), answer: (value) => this.#answer(entry, value) };
    this.#view = KINDS[question.kind].draw(role("host"), question, context);
    role("live").textContent = this.#view.says;
    if (chosen !== undefined) role("keep").focus({ preventScroll: true }); // so that Enter keeps the answer, wherever the focus was
    else if (focused) one(`.answers [data-answer="${CSS.escape(focused)}"]`, role("host"))?.focus({ preventScroll: true });
    // Two frames later the picture has been painted: response time starts when it is visible.
    const begin = () => requestAnimationFrame(() => requestAnimationFrame(() => { if (this.#shown === entry) this.#begin(entry); }));
    if (this.#view.shown) this.#view.shown.then(begin, () => {});
    else begin();
  }

  /* True if only the words differ from the question before: people must not take it for the one they have just answered. */
  #isSamePicture({ kind, ticket }, pictures) {
    const prints = pictures.map((image) => image.dataset?.print);
    const looks = prints.length && prints.every(Boolean) ? `${kind} ${prints.join()}` : null;
    const before = this.#before;
    this.#before = { ticket, looks };
    return looks !== null && before?.looks === looks && before.ticket !== ticket;
  }

  #begin(entry) {
    this.stopwatch.start();
    setTimeout(() => {
      if (this.#shown !== entry || !role("loading").hidden) return;
      this.#isReady = true;
      role("question").dataset.ready = "true";
    }, TOO_SOON);
  }

  #answer(entry, value) {
    if (!this.#isReady || this.#shown !== entry) return;
    this.#isReady = false;
    role("question").dataset.ready = "false";
    one(`.answers [data-answer="${CSS.escape(value)}"]`, role("host"))?.setAttribute("aria-pressed", "true"); // visible while the server checks it
    this.#heard(value, this.#view.words(value), this.stopwatch.seconds, one("#comment").value.trim());
  }

  /* Removes the question from the screen. */
  clear() {
    this.#shown = null;
    this.#leave();
  }

  openComment() {
    role("comment").hidden = false;
    one("#comment").focus();
  }

  #closeComment() {
    const field = one("#comment");
    field.blur();
    role("comment").hidden = !field.value.trim();
  }

  /* True if the answer has been changed, so that Enter should submit it. */
  get isChanged() {
    return Boolean(this.#view?.isChanged?.());
  }

  /* Feedback on an answer, in practice or in a game; the picture stays, the answer buttons are disabled. */
  feedback(result, score = "") {
    role("host").inert = true;
    role("below").hidden = true;
    role("feedback").hidden = false;
    role("feedback").dataset.right = result ? String(result.right) : "";
    role("feedback-head").textContent = result ? (result.right ? "Right." : "Not quite.") : "Waiting for the server to check your answer …";
    const expected = result && (this.#view.told?.(result.answer) ?? result.expected);
    role("feedback-expected").textContent = result && !result.right && expected ? `${result.has_whole ? "It was" : "Expected"}: ${expected}` : "";
    role("feedback-note").textContent = result?.note ?? "";
    role("feedback-score").textContent = score;
    role("feedback-next").hidden = !result;
    if (result) this.#view.after?.(result);
    if (result) role("feedback-next").focus({ preventScroll: true });
  }

  /* True if the question used the key. */
  key(event) {
    if (!this.#view) return false;
    const { zoom, takesLetters } = this.#view;
    if (takesLetters) return Boolean(this.#view.key(event));
    if (zoom && zoomByKey(event.key, zoom)) return true;
    if (event.key.toLowerCase() === "c") this.openComment();
    else return Boolean(this.#view.key?.(event));
    return true;
  }
}
