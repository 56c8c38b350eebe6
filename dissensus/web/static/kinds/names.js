/* Names to choose from that come with the question: buttons in a grid, found by typing the first letters; many names can
 * be searched. */

import { make } from "../dom.js";
import { chooser } from "./chooser.js";

const MOST_BUTTONS = 20;
const LONG = 9; // letters that fit a button on a phone
const SHORT = 3; // letters that fit five buttons in a row
const TYPING = 1000; // milliseconds: letters typed within this time belong together

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const every = new WeakMap();

/* The numbers of all classes: always the same list, for which search and tree are prepared once. */
export const everyClass = (classes) => {
  if (!every.has(classes)) every.set(classes, classes.names.map((_, number) => number));
  return every.get(classes);
};

/* Names as the chooser wants its classes. */
export const asClasses = (names) => ({ names, synonyms: [], glosses: [], tree: null });

/* { elements, key }: answer(index into names, or null) is called with the choice. `cannot`: what null is called. */
export const nameButtons = (names, context, cannot) =>
  names.length > MOST_BUTTONS ? searched(names, context) : grid(names, context, cannot);

const searched = (names, context) => {
  const options = names.map((_, i) => i);
  return chooser(asClasses(names), options, { ...context, recent: { read: () => [] } });
};

const grid = (names, context, cannot) => {
  const order = names.map((name, i) => [name, i]).sort(([a], [b]) => a.localeCompare(b));
  const button = ([name, i]) => make("button", { type: "button", "data-answer": String(i), class: name.length > LONG ? "long" : null, onclick: () => context.answer(i) }, name);
  const buttons = order.map(button);
  const group = make("div", { class: names.every((name) => name.length <= SHORT) ? "answers names short" : "answers names", role: "group", "aria-label": "Names", "data-many": names.length }, buttons);
  const none = make("button", { type: "button", "data-answer": "null", "aria-keyshortcuts": "Escape", onclick: () => context.answer(null) },
    make("span", {}, cannot), make("kbd", { "aria-hidden": "true" }, "Esc"));
  const typed = typing(order, buttons);
  const key = (event) => {
    if (event.key === "Escape") none.focus(); // like a letter: Enter confirms
    else return typed(event);
    return true;
  };
  return { elements: [group, make("div", { class: "answers cannot", "data-many": 1 }, none)], key };
};

/* Shows which name was right, once that is known. */
export const markRight = (host, name) => host.querySelector(`.names [data-answer="${CSS.escape(name)}"]`)?.setAttribute("data-right", "true");

/* Letters move the focus to the first name that begins with them; the same letter again, to the next one. */
const typing = (order, buttons) => {
  let letters = "";
  let last = 0;
  return ({ key, timeStamp }) => {
    if (key.length !== 1 || !/[\p{L}\p{N}]/u.test(key)) return false;
    const isSame = letters !== "" && [...letters].every((letter) => letter === plain(key));
    letters = timeStamp - last < TYPING ? letters + plain(key) : plain(key);
    last = timeStamp;
    const found = order.flatMap(([name], i) => (plain(name).startsWith(letters) ? [i] : []));
    const alike = order.flatMap(([name], i) => (plain(name).startsWith(plain(key)) ? [i] : []));
    const now = buttons.indexOf(document.activeElement);
    const next = found[0] ?? (isSame || alike.length ? alike.find((i) => i > now) ?? alike[0] : undefined);
    if (found.length === 0) letters = plain(key);
    buttons[next]?.focus();
    return next !== undefined;
  };
};
