/* A class to compare with the picture: its names, its guide and examples. A dozen examples at first, more on request; one
 * that is pressed is enlarged. */

import { make } from "../dom.js";

const AT_FIRST = 12;
const PAUSE = 150; // milliseconds: names that are only passed on the way are not looked up

const called = (classes, value) => {
  const others = (classes.synonyms[value] ?? []).filter((word) => word !== classes.names[value]);
  return others.length ? make("p", { class: "card-also" }, `also called: ${others.join(", ")}`) : null;
};

const example = (name, value, place) => {
  const press = () => button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  const image = make("img", { src: `/example/${value}/${place}`, alt: "", loading: "lazy", decoding: "async", draggable: "false" });
  const button = make("button", { type: "button", class: "class-example", "aria-pressed": "false", "aria-label": `Example ${place + 1} of ${name}`, onclick: press }, image);
  image.addEventListener("error", () => button.remove()); // a file that is gone
  return button;
};

/* The examples of a class, and a button for more of them. */
const gallery = (name, value, many, atFirst) => {
  const grid = make("div", { class: "class-examples", role: "group", "aria-label": `Examples of ${name}` });
  const more = make("button", { type: "button", class: "plain", "data-role": "more-examples", onclick: () => add(AT_FIRST) });
  let shown = 0;
  const add = (count) => {
    const until = Math.min(many, shown + count);
    for (; shown < until; shown += 1) grid.append(example(name, value, shown));
    more.hidden = shown >= many;
    more.textContent = `Show more (${many - shown} left)`;
  };
  add(atFirst);
  return [grid, more];
};

/* One class: what is known at once, and what the server has to say about it. */
const described = (classes, value, context, { lead = "", atFirst = AT_FIRST } = {}) => {
  const name = classes.names[value];
  const rest = make("div", { class: "card-rest" });
  const fill = ({ guide, examples }) => {
    const text = guide ? make("p", { class: "guide" }, guide) : null;
    const pictures = examples ? gallery(name, value, examples, atFirst) : [make("p", { class: "quiet small" }, "No examples of this class.")];
    rest.replaceChildren(...[text, ...pictures].filter(Boolean));
  };
  const failed = () => rest.replaceChildren(make("p", { class: "quiet small" }, "The examples cannot be loaded right now."));
  if (context.isGuided) context.guide(value).then(fill, failed);
  return make("section", { class: "described", "data-class": value },
    lead && make("p", { class: "small-head" }, lead),
    make("h2", {}, name), called(classes, value), classes.glosses[value] && make("p", { class: "card-gloss" }, classes.glosses[value]), rest);
};

export class Card {
  #context;
  #classes;
  #body = make("div", { class: "card-body" });
  #actions = make("div", { class: "card-actions" });
  #hint;
  #timer = 0;
  value = null;

  /* hint: what is said while there is no class to show; actions: (value) → buttons under it; closed(): called when
   * somebody goes back to the list, which this covers on a phone. */
  constructor(classes, context, { hint, actions = () => [], closed = () => {} }) {
    this.#classes = classes;
    this.#context = context;
    this.#hint = hint;
    this.actions = actions;
    const back = make("button", { type: "button", class: "plain card-back", "data-role": "card-back", onclick: () => { this.close(); closed(); } }, "‹ Back");
    this.element = make("aside", { class: "card", "aria-label": "About this name", "data-open": "false" }, back, this.#body, this.#actions);
    this.#draw(null);
  }

  /* Shows a class once somebody has looked at it for a moment; null: none. */
  look(value) {
    clearTimeout(this.#timer);
    if (value === this.value) return;
    this.#timer = setTimeout(() => this.#draw(value), PAUSE);
  }

  /* Shows a class at once, also where it covers the list. */
  open(value) {
    clearTimeout(this.#timer);
    if (value !== this.value) this.#draw(value);
    this.element.dataset.open = "true";
  }

  close() {
    this.element.dataset.open = "false";
  }

  /* Which class was right, and how it differs from the one that was chosen. */
  compare(right, chosen) {
    clearTimeout(this.#timer);
    const isWrong = chosen !== null && chosen !== right;
    const atFirst = isWrong ? 6 : AT_FIRST;
    const parts = [described(this.#classes, right, this.#context, { lead: "This is", atFirst })];
    if (isWrong) parts.push(described(this.#classes, chosen, this.#context, { lead: "You chose", atFirst }));
    this.#body.replaceChildren(...parts);
    this.#actions.replaceChildren();
    this.element.dataset.open = "true";
    this.element.classList.add("told");
  }

  /* The buttons, after something else was chosen. */
  redraw() {
    this.#actions.replaceChildren(...(this.value === null ? [] : this.actions(this.value)));
  }

  leave() {
    clearTimeout(this.#timer);
  }

  #draw(value) {
    this.value = value;
    const isKnown = value !== null;
    this.#body.replaceChildren(isKnown ? described(this.#classes, value, this.#context) : make("p", { class: "quiet small" }, this.#hint));
    this.#body.scrollTop = 0;
    this.redraw();
  }
}
