/* Examples of the class that is asked about: a few small ones under its name, all of them beside the picture on request. */

import { make } from "../dom.js";
import { Card } from "./card.js";

const FEW = 4;

/* Adds the examples to `text` once they are known, and returns the card that shows all of them; closed at first. */
export const besideExamples = (label, { name, gloss, synonyms = [] }, text, context) => {
  const classes = { names: { [label]: name }, glosses: { [label]: gloss }, synonyms: { [label]: synonyms } };
  const card = new Card(classes, context, { hint: "", closed: () => more.focus() });
  const toggle = () => (card.element.dataset.open === "true" ? card.close() : card.open(label));
  const more = make("button", { type: "button", class: "plain", "data-role": "all-examples", "aria-label": `Examples of ${name}`, onclick: toggle });
  context.guide(label).then(({ guide, examples }) => {
    if (!examples && !guide) return;
    const few = Array.from({ length: Math.min(FEW, examples) }, (_, i) => thumbnail(label, i));
    more.append(...few, make("span", {}, examples ? "Examples" : "How to tell"));
    text.append(more);
  }, () => {});
  return card;
};

const thumbnail = (label, place) => {
  const image = make("img", { src: `/example/${label}/${place}`, alt: "", decoding: "async", draggable: "false" });
  image.addEventListener("error", () => image.remove()); // a file that is gone
  return image;
};
