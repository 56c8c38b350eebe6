/* The classes to draw with: one chip each, with colour and key. Long lists can be searched; recently used classes come
 * first. */

import { make } from "../../dom.js";
import { Search } from "../search.js";
import { VOID } from "./overlay.js";

const MANY = 20;
const LETTERS = "ADIJKLMNQRSTWXY"; // keys not used by the tools or the page itself
const UNKNOWN_KEY = "V";

export const keyOf = (label) => (label === VOID ? UNKNOWN_KEY : label < 10 ? String(label) : (LETTERS[label - 10] ?? ""));

/* How far to scroll until something is visible. */
const hiddenPart = (start, end, first, last) => (start < first ? start - first : Math.max(0, end - last));

export class Chips {
  #buttons = new Map();
  #list = make("div", { class: "chips scroll", role: "group", "aria-label": "Class", "data-role": "classes" });
  #more = { before: this.#arrow("before", -1), after: this.#arrow("after", 1) };
  #field = null;
  #chosen = null;
  #choose;

  /* choose(label): called when somebody picks a class. */
  constructor(classes, colours, unknown, recent, choose) {
    this.#choose = choose;
    const labels = classes.names.map((_, label) => label);
    const lately = labels.length > MANY ? recent.filter((label) => label < labels.length) : [];
    const order = [...lately, ...labels.filter((label) => !lately.includes(label))];
    for (const label of order) this.#add(label, classes.names[label], colours[label]);
    this.#add(VOID, "Cannot tell", unknown);
    if (labels.length > MANY) this.#makeSearch(classes, order);
    new ResizeObserver(() => { this.#reveal(); this.#hint(); }).observe(this.#list);
    this.#list.addEventListener("scroll", () => this.#hint(), { passive: true });
    const place = make("div", { class: "chip-place" }, this.#list, Object.values(this.#more));
    this.element = make("div", { class: "classes" }, this.#field && make("div", { class: "search-row" }, this.#field, make("kbd", { "aria-hidden": "true" }, "/")), place);
  }

  mark(label) {
    for (const [other, button] of this.#buttons) button.setAttribute("aria-pressed", String(other === label));
    this.#chosen = label;
    this.#reveal();
  }

  /* True if the key picked a class or moved the focus to the search field. */
  key(name) {
    if (name === "/" && this.#field) this.#field.focus();
    else {
      const label = [...this.#buttons.keys()].find((one) => keyOf(one) && keyOf(one) === name.toUpperCase());
      if (label === undefined) return false;
      this.#choose(label);
    }
    return true;
  }

  #reveal() {
    const chip = this.#buttons.get(this.#chosen);
    if (!chip?.isConnected) return;
    const [box, list] = [chip, this.#list].map((element) => element.getBoundingClientRect());
    // only the list: scrollIntoView would move the page, too
    this.#list.scrollBy(hiddenPart(box.left, box.right, list.left, list.right), hiddenPart(box.top, box.bottom, list.top, list.bottom));
  }

  #arrow(where, direction) {
    const act = () => this.#list.scrollBy({ left: direction * 0.8 * this.#list.clientWidth, top: direction * 0.8 * this.#list.clientHeight });
    return make("button", { type: "button", class: "chip-more", "data-more": where, onclick: act, onmousedown: (event) => event.preventDefault(), hidden: true });
  }

  /* Says how many classes are out of sight on either side, where the list also fades out. */
  #hint() {
    const list = this.#list.getBoundingClientRect();
    const boxes = [...this.#buttons.values()].filter((chip) => !chip.hidden).map((chip) => chip.getBoundingClientRect());
    const isAcross = this.#list.scrollWidth > this.#list.clientWidth + 1;
    const away = {
      before: boxes.filter(({ left, top, width, height }) => left + width / 2 < list.left || top + height / 2 < list.top).length,
      after: boxes.filter(({ left, top, width, height }) => left + width / 2 > list.right || top + height / 2 > list.bottom).length,
    };
    this.#list.dataset.way = isAcross ? "across" : "down";
    for (const [where, many] of Object.entries(away)) {
      this.#more[where].hidden = !many;
      this.#more[where].textContent = `${many} more ${{ before: isAcross ? "‹" : "↑", after: isAcross ? "›" : "↓" }[where]}`;
      this.#more[where].setAttribute("aria-label", `${many} more classes ${where === "before" ? "before" : "after"} these`);
      this.#list.toggleAttribute(`data-fades-${where}`, Boolean(many));
    }
  }

  #add(label, name, colour) {
    const swatch = make("i", { class: label === VOID ? "swatch unknown" : label ? "swatch" : "swatch none" });
    if (label && label !== VOID) swatch.style.background = colour;
    const key = keyOf(label);
    const chip = make("button",
      { type: "button", class: "class-chip", "data-label": label, "aria-keyshortcuts": key || null, onclick: () => this.#choose(label), onmousedown: (event) => event.preventDefault() },
      swatch, make("span", {}, name), key && make("kbd", { "aria-hidden": "true" }, key));
    this.#buttons.set(label, chip);
    this.#list.append(chip);
  }

  #makeSearch(classes, order) {
    const search = new Search(classes, order);
    this.#field = make("input", { type: "search", class: "search", autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "done", "aria-label": "Search classes", placeholder: "Search classes" });
    const show = () => {
      const text = this.#field.value.trim();
      const found = text ? search.find(text, order.length).rows.map(({ value }) => value) : [...order, VOID];
      for (const [label, chip] of this.#buttons) chip.hidden = !found.includes(label);
      this.#list.append(...found.map((label) => this.#buttons.get(label)));
      this.#hint();
      return found;
    };
    this.#field.addEventListener("input", show);
    this.#field.addEventListener("keydown", (event) => {
      if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      const [first] = show();
      const wasSearched = this.#field.value.trim();
      this.#field.value = "";
      show();
      this.#field.blur();
      if (event.key === "Enter" && wasSearched && first !== undefined) this.#choose(first);
    });
  }
}
