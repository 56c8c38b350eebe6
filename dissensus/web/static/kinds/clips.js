/* One clip, or two in one place: a cover before they are played, a progress bar, and buttons to replay them. */

import { make } from "../dom.js";
import { Player } from "./player.js";

const key = (name) => make("kbd", { "aria-hidden": "true" }, name);

export class Clips {
  #exact;
  #changed;
  #words = make("p", {});
  #start = make("button", { type: "button", class: "go", "data-role": "play", onclick: () => this.play() });
  #cover = make("div", { class: "cover" }, this.#words, this.#start);
  #bar = make("i", {});
  #all;
  #rows;

  /* exact: the stage that shows them; changed: called after every change, such as when all have been seen. */
  constructor(clips, exact, wereSeen, changed) {
    this.#all = clips.map((_, i) => i);
    const alone = [this.#again("Again", "P", 0)];
    this.#rows = clips.length === 1 ? alone : [this.#again("First again", "1", 0), this.#again("Second again", "2", 1), this.#again("Both", "P", 0, 1)];
    this.#start.append(clips.length === 1 ? "Play the clip " : "Play both clips ", key("Space"));
    this.element = make("div", { class: "replay", role: "group", "aria-label": "Play again" }, this.#rows);
    this.#exact = exact;
    this.#changed = changed;
    this.player = new Player(clips, wereSeen, () => this.draw());
    exact.bed.append(this.#cover, make("div", { class: "played", "aria-hidden": "true" }, this.#bar));
    exact.show(0);
  }

  /* True if the key played something. */
  key(name) {
    const places = { p: this.#all, ...(this.#all.length > 1 && { 1: [0], 2: [1] }) }[name];
    if (!places || (!this.player.isSeen && name !== "p")) return false;
    this.player.play(...places);
    return true;
  }

  /* For the keys that mean 'next step', which is to play as long as the clips have not been seen. */
  step() {
    if (this.player.isSeen) return false;
    if (!this.player.isUnderway) this.play();
    return true;
  }

  play() {
    this.player.play(...this.#all);
  }

  draw() {
    const { playing, shown, isSeen, isUnderway, trouble } = this.player;
    if (shown !== null) this.#exact.show(shown);
    this.#cover.hidden = playing !== null || (isSeen && shown !== null && !isUnderway);
    this.#start.hidden = this.#words.hidden = isUnderway;
    this.#words.textContent = trouble || this.#hint(shown === null);
    this.#rows.forEach((row, i) => {
      row.setAttribute("aria-pressed", String(playing === i));
      row.disabled = !isSeen;
    });
    this.#bar.style.width = `${100 * this.player.share}%`;
    this.#changed();
  }

  #hint(isNew) {
    if (this.#all.length === 1) return isNew ? "This is one clip." : "Watch it to the end.";
    return isNew ? "Two clips, one after the other." : "Watch both to the end.";
  }

  #again(label, name, ...places) {
    return make("button", { type: "button", class: "chip", "data-role": `play-${name}`, onclick: () => this.player.play(...places) }, `${label} `, key(name));
  }
}
