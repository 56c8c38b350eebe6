/* A page of items: a small picture of each, and what every model predicts. */

import { all, make, role } from "../dom.js";
import { apart, percent, votes } from "./words.js";

const MOST_VOTES = 4;
const MOST_CLASSES = 5;

export const scoreText = (score) => (score === null ? "∞" : Math.abs(score) >= 1000 || Number.isInteger(score) ? score.toLocaleString("en", { maximumFractionDigits: 1 }) : score.toPrecision(4));

/* A rank on a line from worst to best. */
export const rankLine = (level) => {
  const dot = make("i", {});
  dot.style.left = `${100 * level}%`;
  return make("span", { class: "line", role: "img", "aria-label": `better than ${percent(level)} of the pool` }, dot);
};

/* The classes in a map with their colours. */
export const classesOf = (shares, { classes, colours }, most = Infinity) => {
  if (!shares.length) return [make("span", { class: "quiet" }, "nothing marked")];
  const chip = ({ label, share }) => {
    const swatch = make("i", { class: "swatch" });
    swatch.style.background = colours[label];
    return make("span", { class: "chip" }, swatch, `${classes[label]} ${percent(share)}`);
  };
  const rest = shares.length - most;
  return [...shares.slice(0, most).map(chip), ...(rest > 0 ? [make("span", { class: "quiet" }, `+${rest}`)] : [])];
};

const labelRows = (item, { models, classes }) => {
  const every = votes(item, models);
  const row = ({ label, voters }) => make(
    "li",
    {},
    make("b", {}, label === null ? "no prediction" : classes[label]),
    every.length > 1 || voters.length < models.length ? make("span", { class: "tally" }, `${voters.length} of ${models.length}`) : null,
    make("span", { class: "who" }, voters.map(([name, level]) => (level === null ? name : `${name}\u00a0${percent(level)}`)).join(" · ")),
  );
  const shown = every.slice(0, MOST_VOTES).map(row);
  const rest = every.length - MOST_VOTES;
  return make("ul", { class: "votes" }, shown, rest > 0 ? make("li", { class: "quiet" }, `and ${rest} more`) : null);
};

const scoreRows = (item, { models }) => make("ul", { class: "scores" }, item.predictions.map(({ score, level, problem }, place) =>
  make("li", {}, make("span", { class: "name", title: models[place] }, models[place]), problem ? make("span", { class: "quiet" }, problem) : rankLine(level), make("span", { class: "value" }, problem ? "" : scoreText(score)))));

const mapRows = (item, about) => make("ul", { class: "maps" }, item.predictions.map(({ shares, problem }, place) =>
  make("li", {}, make("span", { class: "name", title: about.models[place] }, about.models[place]), problem ? make("span", { class: "quiet" }, problem) : make("span", { class: "chips" }, classesOf(shares, about, MOST_CLASSES)))));

const ROWS = { labels: labelRows, scores: scoreRows, masks: mapRows };
const TINY = 64; // pixels: a picture this small is shown with hard edges

export const picture = (path, alt = "") => {
  const image = make("img", { src: path, alt, draggable: "false", decoding: "async" });
  image.onload = () => image.classList.toggle("pixels", Math.max(image.naturalWidth, image.naturalHeight) <= TINY);
  image.onerror = () => image.replaceWith(make("span", { class: "gone" }, "This picture cannot be shown."));
  return image;
};

export const mapPath = (item, model) => `/api/owner/predictions/${item.number}/map?${new URLSearchParams({ model })}`;

export class Cards {
  #about;
  #open;
  #items = [];
  #overlay = null; // the model whose maps are shown

  /* open(place): somebody wants to see an item large. */
  constructor(about, open) {
    this.#about = about;
    this.#open = open;
    if (about.task === "masks") this.#offerOverlays();
    role("cards").addEventListener("keydown", (event) => this.#move(event));
  }

  show(items) {
    this.#items = items;
    role("cards").replaceChildren(...items.map((item, place) => this.#card(item, place)));
  }

  focus(place) {
    all(".shot", role("cards"))[place]?.focus();
  }

  #card(item, place) {
    const about = this.#about;
    const inside = item.picture === "image" ? [picture(`/api/owner/predictions/${item.number}/thumbnail`), this.#map(item)] : [make("span", { class: "gone" }, item.picture === "clip" ? "▶ clip" : item.item)];
    return make(
      "li",
      { "data-number": item.number },
      make("button", { type: "button", class: "shot", "aria-label": `Open ${item.item}`, onclick: () => this.#open(place) }, inside),
      make("p", { class: "id", title: item.item }, item.item),
      about.models.length > 1 ? make("p", { class: "apart" }, apart(item.distance, about.task)) : null,
      ROWS[about.task](item, about),
    );
  }

  #map(item) {
    const place = this.#about.models.indexOf(this.#overlay);
    if (place < 0 || item.predictions[place].problem) return null;
    return make("img", { src: mapPath(item, this.#overlay), alt: "", class: "map", draggable: "false" });
  }

  #offerOverlays() {
    const host = role("overlays");
    host.hidden = false;
    const choice = (name, text) => make("label", {}, make("input", { type: "radio", name: "overlay", checked: name === null, onchange: () => this.#choose(name) }), make("span", {}, text));
    host.append(choice(null, "none"), ...this.#about.models.map((name) => choice(name, name)));
  }

  #choose(name) {
    this.#overlay = name;
    this.show(this.#items);
  }

  /* Arrow keys go from item to item, up and down by rows. */
  #move(event) {
    const shots = all(".shot", role("cards"));
    const at = shots.indexOf(event.target);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const perRow = shots.filter((shot) => shot.offsetTop === shots[0].offsetTop).length;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow }[event.key];
    if (step === undefined || !shots[at + step]) return;
    shots[at + step].focus();
    event.preventDefault();
  }
}
