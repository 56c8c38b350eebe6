/* The pictures of a page, enlarged: those of a card stand side by side and are zoomed together, and arrow keys lead from
 * card to card. Pictures are read from the page itself, where each is stored once. */

import { all, make } from "./shared/dom.js";
import { zoomable, zoomByKey } from "./shared/stage.js";

const CARDS = ".card, [data-zoom]";
const PICTURES = ".pic, .view, .shot[role=img], img";
const SWIPE = 60; // pixels

const picturesOf = (card) => all(PICTURES, card).filter((picture) => addressOf(picture));

const addressOf = (element) =>
  element.matches("img") ? element.src : getComputedStyle(element).backgroundImage.match(/url\("(data:[^"]+)"\)/)?.[1];

const imageOf = (element, kind) =>
  make("img", { class: kind, src: addressOf(element), alt: "", draggable: "false" });

/* A picture with everything that lies on it, in a box of its shape. */
const layerOf = (picture) => {
  const photo = imageOf(picture, picture.matches(".pixels, .hard") ? "photo hard" : "photo");
  const over = picture.querySelector(".over");
  const names = all(".region", picture).map((name) => name.cloneNode(true));
  const layer = make("div", { class: over ? "layer marked" : "layer" }, photo, over && imageOf(over, "over hard"), names);
  photo.decode().then(() => layer.style.setProperty("--ratio", photo.naturalWidth / photo.naturalHeight), () => {});
  return layer;
};

const frameOf = (picture, _, pictures) => {
  const label = picture.getAttribute("aria-label") ?? picture.alt;
  const parts = picture.closest("figure")?.querySelector("figcaption")?.childNodes ?? [];
  const caption = [...parts].map((part) => part.textContent.trim()).filter(Boolean).join("  ") || (pictures.length > 1 && label);
  const frame = make("figure", { class: "frame", role: "img", "aria-label": label }, layerOf(picture));
  if (caption) frame.append(make("figcaption", { "aria-hidden": "true" }, caption));
  return frame;
};

/* What a card says besides its pictures. */
const wordsOf = (card) => {
  if (card.matches("tr, td, .film")) return null; // pictures in a table, each with a label
  const words = card.cloneNode(true);
  for (const other of all(".pic, .view, .panels, .shots, .shot, img, .enlarge, figure, [id]", words)) other.remove();
  return words.textContent.trim() ? make("div", { class: `${card.className} viewer-words` }, ...words.childNodes) : null;
};

class Viewer {
  #cards = [];
  #at = 0;
  #zoom = null;
  #title = make("h2", { class: "viewer-title", id: "viewer-title", "aria-live": "polite" });
  #room = make("div", { class: "viewer-room" });
  #overlay = this.#button("Overlay", "O", () => this.#toggle(), { "aria-pressed": "true" });
  #back = this.#button("‹", "", () => this.#go(-1), { "aria-label": "Previous", title: "Previous (←)" });
  #next = this.#button("›", "", () => this.#go(1), { "aria-label": "Next", title: "Next (→)" });
  element = make("dialog", { class: "viewer", "aria-labelledby": "viewer-title" });

  constructor() {
    const close = this.#button("Close", "Esc", () => this.element.close());
    this.element.append(
      make("div", { class: "viewer-head" }, this.#title, make("div", { class: "viewer-tools" }, this.#overlay, this.#back, this.#next, close)),
      this.#room,
    );
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("close", () => this.#leave());
    document.body.append(this.element);
  }

  open(card) {
    const part = card.closest(".section, .opening") ?? document.body;
    this.#cards = all(CARDS, part).filter((one) => one.checkVisibility() && !one.matches("a") && picturesOf(one).length);
    this.#at = this.#cards.indexOf(card);
    this.#draw();
    this.element.showModal();
  }

  #button(words, key, act, attributes = {}) {
    return make("button", { type: "button", ...attributes, onclick: act }, words, key && make("kbd", { "aria-hidden": "true" }, key));
  }

  #draw() {
    const card = this.#cards[this.#at];
    const frames = picturesOf(card).map(frameOf);
    const { element, zoom } = zoomable(frames);
    this.#zoom = zoom;
    this.#listen(element);
    const name = card.dataset.zoom || frames[0].getAttribute("aria-label");
    this.#title.textContent = `${name} · ${this.#at + 1} of ${this.#cards.length}`;
    const words = wordsOf(card);
    this.#room.replaceChildren(element, ...(words ? [words] : []));
    this.#overlay.hidden = !element.querySelector(".over");
    this.#back.disabled = this.#at === 0;
    this.#next.disabled = this.#at === this.#cards.length - 1;
  }

  #go(by) {
    if (!this.#cards[this.#at + by]) return;
    this.#at += by;
    this.#draw();
  }

  #toggle() {
    const isOn = this.element.classList.toggle("bare") === false;
    this.#overlay.setAttribute("aria-pressed", isOn);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      arrowleft: () => this.#go(-1), arrowright: () => this.#go(1), o: () => this.#overlay.hidden || this.#toggle(),
    };
    const act = acts[event.key.toLowerCase()];
    if (!act && !zoomByKey(event.key, this.#zoom)) return;
    act?.();
    event.preventDefault();
  }

  /* A finger that sweeps over a whole picture leads on; over an enlarged one it moves the picture. */
  #listen(stage) {
    let start = null;
    stage.addEventListener("pointerdown", (event) => { start = event.pointerType === "touch" && event.isPrimary ? event : null; });
    stage.addEventListener("pointerup", (event) => {
      const across = start ? event.clientX - start.clientX : 0;
      const isSwipe = Math.abs(across) > SWIPE && Math.abs(event.clientY - start.clientY) < SWIPE;
      if (isSwipe && Number(stage.dataset.zoom ?? 1) === 1) this.#go(across < 0 ? 1 : -1);
      start = null;
    });
  }

  /* Whoever went on to another card finds it on the page. */
  #leave() {
    const card = this.#cards[this.#at];
    card.scrollIntoView({ block: "nearest" });
    card.querySelector(".enlarge")?.focus({ preventScroll: true });
  }
}

const cards = all(CARDS).filter((card) => !card.matches("a") && card.querySelector(PICTURES));
if (cards.length) {
  const viewer = new Viewer();
  for (const card of cards) {
    const picture = all(PICTURES, card).find((one) => !one.matches(".blank"));
    if (!picture) continue;
    const label = picture.getAttribute("aria-label") ?? picture.alt;
    picture.after(make("button", { type: "button", class: "enlarge", "aria-label": `Enlarge: ${label}`, title: "Enlarge", onclick: () => viewer.open(card) }, "⤢"));
    picture.parentElement.classList.add("enlargeable");
  }
  document.addEventListener("click", ({ target }) => {
    const picture = target.closest(PICTURES);
    const card = picture?.closest(CARDS);
    if (card && !target.closest("a, dialog") && picturesOf(card).length) viewer.open(card);
  });
}
