/* The filters: the form, and the same in the address, so that a view can be shared or reloaded. */

import { make, role } from "../dom.js";
import { APART, LEVELS, SORTS } from "./words.js";

const DEFAULTS = { model: null, other: null, class: null, least: 0, most: 1, low: 0, high: 1, sort: "disagreement", start: 0, open: null };
const NUMBERS = ["least", "most", "low", "high"];
const PAUSE = 400; // milliseconds after the last key until a number counts

const whole = (text) => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : null);
const part = (text, usual) => (text !== null && Number(text) >= 0 && Number(text) <= 1 ? Number(text) : usual);

/* The state that an address stands for; what it does not say, or says wrongly, is as usual. */
export const stateIn = (search, atOnce) => {
  const given = new URLSearchParams(search);
  const state = { ...DEFAULTS };
  for (const name of ["model", "other", "class"]) state[name] = given.get(name) || null;
  for (const name of NUMBERS) state[name] = part(given.get(name), DEFAULTS[name]);
  if (given.get("sort") in SORTS.confidence) state.sort = given.get("sort");
  state.open = whole(given.get("open"));
  state.start = state.open ?? whole(given.get("start")) ?? 0;
  state.start -= state.start % atOnce;
  return state;
};

/* The other way round: only what is not as usual. */
export const addressOf = (state) =>
  new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== null && value !== DEFAULTS[name])).toString();

const options = (select, pairs, chosen) => {
  const made = pairs.map(([value, text]) => make("option", { value }, text));
  if (!pairs.some(([value]) => value === chosen)) made.push(make("option", { value: chosen }, chosen));
  select.replaceChildren(...made);
  select.value = chosen;
};

export class Filters {
  #about;
  #form = role("form");
  #timer = 0;

  /* changed(values): somebody chose other values. */
  constructor(about, changed) {
    this.#about = about;
    role("class-field").hidden = !about.classes.length;
    role("level-name").textContent = LEVELS[about.level];
    this.#form.onsubmit = (event) => event.preventDefault();
    this.#form.addEventListener("change", (event) => { if (event.target.tagName === "SELECT") changed(this.#values()); });
    this.#form.addEventListener("input", (event) => {
      if (event.target.tagName !== "INPUT") return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => { if (this.#form.checkValidity()) changed(this.#values()); }, PAUSE);
    });
    role("reset").onclick = () => changed({ ...DEFAULTS });
    const isAlone = about.models.length < 2;
    for (const name of ["other", "apart"]) this.#form.elements[name].disabled = isAlone;
  }

  #values() {
    const field = (name) => this.#form.elements[name].value;
    const share = (name, usual) => (field(name) === "" ? usual : Number(field(name)) / 100);
    const [least, most] = field("apart").split(" ").map(Number);
    return { model: field("model") || null, other: field("other") || null, class: field("class") || null, least, most, low: share("low", 0), high: share("high", 1), sort: field("sort") };
  }

  show(state, { labels }) {
    const { models, classes, task, level } = this.#about;
    const fields = this.#form.elements;
    const named = (usual, skipped) => [["", usual], ...models.filter((name) => name !== skipped).map((name) => [name, name])];
    options(fields.model, named("any model", state.other), state.model ?? "");
    options(fields.other, named("all others", state.model), state.other ?? "");
    const counted = labels.map(([label, count]) => [classes[label], `${classes[label]} (${count.toLocaleString("en")})`]);
    options(fields.class, [["", "any class"], ...counted], state.class ?? "");
    options(fields.apart, APART[task], `${state.least} ${state.most}`);
    options(fields.sort, Object.entries(SORTS[level]), state.sort);
    for (const [name, usual] of [["low", 0], ["high", 1]]) {
      if (document.activeElement !== fields[name]) fields[name].value = state[name] === usual ? "" : Math.round(1e4 * state[name]) / 100;
      fields[name].placeholder = 100 * usual;
    }
    const many = ["model", "other", "class"].filter((name) => state[name] !== null).length + (state.least !== 0 || state.most !== 1) + (state.low !== 0 || state.high !== 1);
    role("filters-title").textContent = many ? `Filters (${many})` : "Filters";
    role("reset").disabled = !many && state.sort === DEFAULTS.sort;
  }
}
