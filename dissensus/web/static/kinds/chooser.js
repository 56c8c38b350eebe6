/* Finding one class out of many: a search field, recent picks, and the tree of all classes. */

import { count, make } from "../dom.js";
import { answerButtons } from "./parts.js";
import { searchOf } from "./search.js";
import { tree } from "./tree.js";

const MOST_SHOWN = 60;
const FIELD = {
  type: "search", class: "search", role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "done",
  "aria-controls": "results", "aria-expanded": "false", "aria-autocomplete": "list", "aria-label": "Search names", placeholder: "Search names",
};

const option = (classes, { value, also }, i) =>
  make(
    "li",
    { role: "option", id: `option-${i}`, "data-answer": value, "aria-selected": "false" },
    make("b", {}, classes.names[value]),
    also && make("span", { class: "also" }, `also called: ${also}`),
    classes.glosses[value] && make("small", {}, classes.glosses[value]),
  );

const recentButtons = (classes, options, hands, recent) => {
  const allowed = new Set(options);
  const values = recent.read().filter((value) => allowed.has(value));
  if (!values.length) return null;
  const button = (value) => make("button", {
    type: "button", class: "chip", "data-answer": value,
    onclick: (event) => hands.choose(value, event), onpointerenter: () => hands.look(value), onfocus: () => hands.look(value),
  }, classes.names[value]);
  return make("div", { class: "recent", role: "group", "aria-label": "Recently picked" }, make("p", { class: "small-head" }, "Recently picked"), values.map(button));
};

/* The list under the field, with one row marked; the focus stays in the field. */
class Results {
  #frame = 0;

  constructor(field, classes, search, hands) {
    Object.assign(this, { field, classes, search, hands, marked: -1, rows: [] });
    const placeOf = (event) => [...this.list.children].indexOf(event.target.closest("li"));
    this.list = make("ul", {
      class: "results", role: "listbox", id: "results", "aria-label": "Matching names", hidden: true,
      onclick: (event) => { const i = placeOf(event); if (i >= 0) { this.mark(i); hands.choose(this.rows[i].value, event); } },
      onpointermove: (event) => { const i = placeOf(event); if (i >= 0 && hands.follows && event.pointerType === "mouse" && i !== this.marked) this.mark(i, false); },
    });
    this.note = make("p", { class: "quiet small", role: "status" });
  }

  show(text) {
    const { rows, total } = text.trim() ? this.search.find(text, MOST_SHOWN) : { rows: [], total: 0 };
    this.rows = rows;
    this.list.replaceChildren(...rows.map((row, i) => option(this.classes, row, i)));
    this.list.hidden = !rows.length;
    const words = total > rows.length ? `${count(total, "match", "matches")}: type more to narrow it down` : count(total, "match", "matches");
    this.note.textContent = text.trim() ? (total ? words : "No match. Try another word, or browse the groups.") : "";
    this.field.setAttribute("aria-expanded", String(rows.length > 0));
    this.marked = -1;
    this.mark(rows.length ? 0 : -1);
    return rows.length > 0;
  }

  mark(i, isMoved = true) {
    this.list.children[this.marked]?.setAttribute("aria-selected", "false");
    this.list.children[i]?.setAttribute("aria-selected", "true");
    this.marked = i;
    if (i < 0) this.field.removeAttribute("aria-activedescendant");
    else this.field.setAttribute("aria-activedescendant", `option-${i}`);
    this.hands.look(this.rows[i]?.value ?? null);
    cancelAnimationFrame(this.#frame);
    // Scrolling needs the layout of everything that a key press changes: once per frame, when all of it has changed.
    if (isMoved && i >= 0) this.#frame = requestAnimationFrame(() => this.list.children[this.marked]?.scrollIntoView({ block: "nearest" }));
  }

  /* True if the key moved or picked something. */
  key(event) {
    if (!this.rows.length) return false;
    if (event.key === "ArrowDown") this.mark((this.marked + 1) % this.rows.length);
    else if (event.key === "ArrowUp") this.mark((this.marked + this.rows.length - 1) % this.rows.length);
    else if (event.key === "Enter") this.hands.choose(this.rows[this.marked].value, event);
    else return false;
    return true;
  }
}

/* hands: choose(value, event)   a class was picked, by a key, a click or a tap
 *        look(value)            a class is being looked at, without being picked; null: none (optional)
 *        empty(event)           a key was pressed in the empty field; returns whether it was used (optional)
 *        follows                true if the mouse, too, looks at the name under it (optional)
 * { elements, field, clear(), focus() } */
export const finder = (classes, options, { recent, isTouch, chosen }, { choose, look = () => {}, empty = () => false, follows = false }) => {
  const hands = { choose, look, follows };
  const field = make("input", FIELD);
  const results = new Results(field, classes, searchOf(classes, options), hands);
  const browse = make("div", { class: "browse" }, recentButtons(classes, options, hands, recent), tree(classes, options, hands));
  const show = () => { browse.hidden = results.show(field.value); };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    else if (event.isComposing || event.ctrlKey || event.metaKey || event.repeat && event.key === "Enter") return;
    else if (!(field.value === "" && empty(event)) && !results.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  const scroll = make("div", { class: "pick-scroll", tabindex: "0" }, results.note, results.list, browse);
  const row = make("div", { class: "search-row" }, field, make("kbd", { "aria-hidden": "true" }, "/"));
  const clear = () => { field.value = ""; show(); };
  // On a phone, a focused field opens the keyboard, which would hide the picture; after going back, Enter keeps the answer.
  const focus = () => { if (!isTouch && chosen === undefined) field.focus({ preventScroll: true }); };
  return { elements: [row, scroll], field, clear, focus };
};

/* One class, which is the answer, or 'Cannot tell'. */
export const chooser = (classes, options, context) => {
  const part = { look: () => {} }; // called with the class that somebody looks at, or null
  const { elements, field, focus } = finder(classes, options, context, { choose: (value) => context.answer(value), look: (value) => part.look(value), follows: true });
  const cannot = answerButtons([{ value: null, label: "Cannot tell", keys: ["U"] }], context);
  const key = (event) => {
    if (event.key === "/") field.focus();
    else return cannot.key(event);
    return true;
  };
  return Object.assign(part, { elements: [...elements, cannot.element], key, focus });
};
