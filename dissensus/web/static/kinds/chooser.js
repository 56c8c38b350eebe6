/* Choosing one class out of many: a search field, recent picks, and the tree of all classes. */

import { count, make } from "../dom.js";
import { answerButtons } from "./parts.js";
import { Search } from "./search.js";
import { tree } from "./tree.js";

const MOST_SHOWN = 60;

const option = (classes, { value, also }, i, context) =>
  make(
    "li",
    { role: "option", id: `option-${i}`, "data-answer": value, "aria-selected": "false", onclick: () => context.answer(value) },
    make("b", {}, classes.names[value]),
    also && make("span", { class: "also" }, `also called: ${also}`),
    classes.glosses[value] && make("small", {}, classes.glosses[value]),
  );

const recentButtons = (classes, options, context) => {
  const allowed = new Set(options);
  const values = context.recent.read().filter((value) => allowed.has(value));
  if (!values.length) return null;
  const buttons = values.map((value) =>
    make("button", { type: "button", class: "chip", "data-answer": value, onclick: () => context.answer(value) }, classes.names[value]),
  );
  return make("div", { class: "recent", role: "group", "aria-label": "Recently picked" }, make("p", { class: "small-head" }, "Recently picked"), buttons);
};

/* The list under the field, with one row marked; the focus stays in the field. */
class Results {
  constructor(field, classes, search, context) {
    Object.assign(this, { field, classes, search, context, marked: -1, rows: [] });
    this.list = make("ul", { class: "results", role: "listbox", id: "results", "aria-label": "Matching names", hidden: true });
    this.note = make("p", { class: "quiet small", role: "status" });
  }

  show(text) {
    const { rows, total } = text.trim() ? this.search.find(text, MOST_SHOWN) : { rows: [], total: 0 };
    this.rows = rows;
    this.list.replaceChildren(...rows.map((row, i) => option(this.classes, row, i, this.context)));
    this.list.hidden = !rows.length;
    const words = total > rows.length ? `${count(total, "match", "matches")}: type more to narrow it down` : count(total, "match", "matches");
    this.note.textContent = text.trim() ? (total ? words : "No match. Try another word, or browse the groups.") : "";
    this.field.setAttribute("aria-expanded", String(rows.length > 0));
    this.mark(rows.length ? 0 : -1);
    return rows.length > 0;
  }

  mark(i) {
    this.marked = i;
    [...this.list.children].forEach((row, j) => row.setAttribute("aria-selected", String(i === j)));
    if (i < 0) this.field.removeAttribute("aria-activedescendant");
    else this.field.setAttribute("aria-activedescendant", `option-${i}`);
    this.list.children[i]?.scrollIntoView({ block: "nearest" });
  }

  /* True if the key moved or picked something. */
  key(name) {
    if (!this.rows.length) return false;
    if (name === "ArrowDown") this.mark((this.marked + 1) % this.rows.length);
    else if (name === "ArrowUp") this.mark((this.marked + this.rows.length - 1) % this.rows.length);
    else if (name === "Enter") this.context.answer(this.rows[this.marked].value);
    else return false;
    return true;
  }
}

export const chooser = (classes, options, context) => {
  const field = make("input", {
    type: "search", class: "search", role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "done",
    "aria-controls": "results", "aria-expanded": "false", "aria-autocomplete": "list", "aria-label": "Search names", placeholder: "Search names",
  });
  const results = new Results(field, classes, new Search(classes, options), context);
  const browse = make("div", { class: "browse" }, recentButtons(classes, options, context), tree(classes, options, context));
  const cannot = answerButtons([{ value: null, label: "Cannot tell", keys: ["U"] }], context);
  field.addEventListener("input", () => { browse.hidden = results.show(field.value); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    else if (event.isComposing || event.repeat && event.key === "Enter" || !results.key(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  const key = (event) => {
    if (event.key === "/") field.focus();
    else return cannot.key(event);
    return true;
  };
  const scroll = make("div", { class: "pick-scroll" }, results.note, results.list, browse);
  const row = make("div", { class: "search-row" }, field, make("kbd", { "aria-hidden": "true" }, "/"));
  // On a phone, a focused field opens the keyboard, which would hide the picture; after going back, Enter keeps the answer.
  const focus = () => { if (!context.isTouch && context.chosen === undefined) field.focus({ preventScroll: true }); };
  return { elements: [row, scroll, cannot.element], key, focus };
};
