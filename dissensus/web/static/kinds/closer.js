/* One picture of many, or one pair, as large as the screen: zoomed, compared and ticked without leaving it. */

import { make } from "../dom.js";
import { stage } from "./parts.js";

const step = (sign, label, by, go) =>
  make("button", { type: "button", class: "closer-step", "aria-label": label, title: label, onclick: () => go(by) }, sign);

/* album: { many, label(i), pictures(i) → [img], tickWords(i), isTicked(i), tick(i), left(i): called when it is closed } */
export class Closer {
  #album;
  #at = 0;
  #zoom = null;
  #title = make("h2", { class: "closer-title" });
  #room = make("div", { class: "closer-room" });
  #tick = make("button", { type: "button", class: "closer-tick", "aria-pressed": "false", onclick: () => this.#ticked() });
  element = make("dialog", { class: "closer", "aria-label": "Enlarged", onkeydown: (event) => this.#key(event), onclose: () => this.#album.left(this.#at) });

  constructor(album) {
    this.#album = album;
    const close = make("button", { type: "button", class: "plain", "data-role": "closer-close", onclick: () => this.element.close() }, "Close ", make("kbd", {}, "Esc"));
    const go = (by) => this.#go(by);
    this.element.append(
      make("div", { class: "closer-head" }, this.#title, close),
      this.#room,
      make("div", { class: "closer-foot" }, step("‹", "Previous", -1, go), this.#tick, step("›", "Next", 1, go)),
    );
  }

  open(place) {
    this.#at = place;
    this.#draw();
    if (!this.element.open) this.element.showModal();
    this.#tick.focus({ preventScroll: true });
  }

  #draw() {
    const { label, pictures, many } = this.#album;
    this.#title.textContent = label(this.#at);
    const copies = pictures(this.#at).map((image) => image.cloneNode());
    const { element, zoom } = stage(copies, [], copies.map(() => label(this.#at)));
    this.#zoom = zoom;
    this.#room.replaceChildren(element);
    for (const [i, edge] of [[0, 0], [2, many - 1]]) this.element.lastElementChild.children[i].disabled = this.#at === edge;
    this.#show();
  }

  #show() {
    const isTicked = this.#album.isTicked(this.#at);
    this.#tick.setAttribute("aria-pressed", String(isTicked));
    this.#tick.replaceChildren(make("span", {}, this.#album.tickWords(this.#at)), make("kbd", { "aria-hidden": "true" }, "Space"));
  }

  #ticked() {
    this.#album.tick(this.#at);
    this.#show();
  }

  #go(by) {
    const next = this.#at + by;
    if (next < 0 || next >= this.#album.many || !this.#album.pictures(next).length) return;
    this.open(next);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const isOnButton = Boolean(event.target.closest("button"));
    if (key === "ArrowLeft" || key === "ArrowUp") this.#go(-1);
    else if (key === "ArrowRight" || key === "ArrowDown") this.#go(1);
    else if (key === "+" || key === "=") this.#zoom?.step(1);
    else if (key === "-" || key === "_" || key === "0") this.#out(key);
    else if (key === " " && !isOnButton && !event.repeat) this.#ticked();
    else if ((key === " " || key === "Enter") && event.repeat) { /* held down */ }
    else return;
    event.preventDefault();
  }

  /* Out of the whole picture leads back to all of them. */
  #out(key) {
    if (Number(this.#room.firstElementChild.dataset.zoom ?? 1) === 1) this.element.close();
    else if (key === "0") this.#zoom.reset();
    else this.#zoom.step(-1);
  }
}
