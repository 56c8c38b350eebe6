/* Building blocks for kinds. */

import { make } from "../dom.js";
import { zoomable } from "../stage.js";

/* What to look at if the study has no pictures of the items. */
const bareStage = (items, captions) => {
  const frames = items.map((item, i) =>
    make("figure", { class: "frame bare" }, captions[i] && make("figcaption", {}, captions[i]),
      make("p", {}, "There is no picture of this item. Open it yourself:", make("br"), make("code", {}, item))));
  return { element: make("div", { class: "stage", "data-role": "stage", "data-pictures": frames.length }, frames), zoom: null };
};

/* Pictures that can be zoomed together. `captions`: one per picture, or none; a caption may be an element. */
export const stage = (pictures, items, alts, captions = []) => {
  if (!pictures.length) return bareStage(items ?? [], captions);
  const frames = pictures.map((image, i) => {
    image.alt = alts[i];
    image.style.transform = "";
    return make("figure", { class: "frame" }, image, captions[i] && make("figcaption", {}, captions[i]));
  });
  return zoomable(frames);
};

/* What somebody saw before they answered, small, over the whole picture. */
export const seenInCorner = (frame, image, alt) => {
  image.alt = alt;
  frame.append(make("div", { class: "seen" }, image));
};

/* On a narrow screen two pictures are stacked: the style sheet shows the word that applies. */
export const side = (wide, narrow) => [make("span", { class: "when-wide" }, wide), make("span", { class: "when-stacked" }, narrow)];

/* One button per answer, each with its key. rows: [{ value, label, keys: [shown first, …], tone }]; label: text or nodes. */
export const answerButtons = (rows, context) => {
  const buttons = rows.map(({ value, label, keys, tone }) =>
    make(
      "button",
      {
        type: "button",
        "data-answer": String(value),
        "data-tone": tone,
        "aria-pressed": context.chosen === undefined ? null : String(String(context.chosen) === String(value)), // also if it is a list
        "aria-keyshortcuts": keys.map((key) => SHORTCUT[key] ?? key).join(" "),
        onclick: () => context.answer(value),
      },
      make("span", {}, ...[label].flat()),
      keys[0] && make("kbd", { "aria-hidden": "true" }, keys[0]),
    ),
  );
  const element = make("div", { class: "answers", role: "group", "aria-label": "Answer", "data-many": rows.length }, buttons);
  const key = (event) => {
    const row = rows.find(({ keys }) => keys.some((name) => (SHORTCUT[name] ?? name).toLowerCase() === event.key.toLowerCase()));
    if (!row) return false;
    context.answer(row.value);
    return true;
  };
  return { element, key };
};

const SHORTCUT = { "←": "ArrowLeft", "→": "ArrowRight", "↓": "ArrowDown", "↑": "ArrowUp" };

/* The question as text. */
export const asked = (lead, title, ...below) =>
  make("div", { class: "asked" }, lead && make("p", { class: "does" }, ...[lead].flat()), make("h2", { class: "name" }, title), ...below);
