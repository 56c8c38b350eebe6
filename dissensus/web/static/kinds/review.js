/* One class of a new test set beside the original one: wrong candidates are blacklisted, and pictures that show the same are
 * joined to sets by selecting them. */

import { count, make } from "../dom.js";
import { Tiles, draftOf, loadingWords, mount } from "./tiles.js";

const NOTHING = { blacklist: [], duplicates: [], note: "" };
const LONGEST = 2000;
const letter = (i) => (i < 26 ? String.fromCharCode(65 + i) : `${i + 1}`);
const ordered = (places) => [...places].sort((a, b) => a - b);

const button = (role, words, key, act, attributes = {}) =>
  make("button", { type: "button", "data-role": role, "aria-keyshortcuts": key, onclick: act, ...attributes }, make("span", {}, words), make("kbd", { "aria-hidden": "true" }, key));

class Reviewing {
  #context;
  #payload;
  #draft;
  #tiles;
  #unwatch;
  #blacklist;
  #sets; // lists of places that show the same
  #boxes = [];
  #note = make("textarea", { id: "review-note", rows: 2, maxlength: LONGEST, placeholder: "Anything the next person should know" });
  #status = make("p", { class: "review-status", role: "status", "data-role": "review-status" });
  #chips = make("div", { class: "chips", role: "group", "aria-label": "Sets that show the same" });
  #join = button("join", "Mark as duplicates", "D", () => this.#joined(), { class: "join" });
  #reviewed = button("reviewed", "Reviewed", "R", () => this.#give("reviewed"), { class: "go" });
  #problematic = button("problematic", "Problematic", "P", () => this.#give("problematic"), { class: "second" });
  #isGiven = false;
  #isChanged = false;
  takesLetters = true;

  constructor(host, question, context) {
    this.#context = context;
    this.#payload = question.payload;
    this.#draft = draftOf(question.ticket);
    const { name, definition, revision, many, details } = question.payload;
    const kept = context.chosen ?? this.#draft.read() ?? NOTHING;
    this.#blacklist = new Set(kept.blacklist);
    this.#sets = kept.duplicates;
    this.#note.value = kept.note;
    this.#isChanged = kept !== NOTHING && kept !== context.chosen;
    this.says = `Review of ${name}, revision ${revision}`;
    this.shown = Promise.any(context.pictures);
    this.#tiles = new Tiles({
      pictures: context.pictures.map((one) => [one]),
      label: (i) => this.#label(i),
      ticked: kept.ticked,
      at: kept.at,
      changed: () => this.#update(false),
      below: (i) => this.#below(i, details[i]),
      tickWords: (isTicked) => (isTicked ? "Selected" : "Select"),
    });
    this.#tiles.element.classList.add("review");
    this.#headings(many);
    const head = make("div", { class: "tiles-head" },
      make("div", { class: "tiles-words" },
        make("h2", { class: "name" }, make("em", {}, name), " ", make("span", { class: "revision" }, `revision ${revision}`)),
        definition && make("p", { class: "definition" }, definition)),
      make("div", { class: "tiles-bar" }, make("div", { class: "joining" }, this.#join, this.#chips, this.#status), make("div", { class: "verdicts" }, this.#problematic, this.#reviewed)));
    this.#note.addEventListener("input", () => this.#update(true));
    this.#note.addEventListener("keydown", (event) => { if (event.key === "Escape") this.#note.blur(); });
    const note = make("div", { class: "review-note" }, make("label", { for: "review-note" }, "Note ", make("kbd", { "aria-hidden": "true" }, "C")), this.#note);
    this.#unwatch = mount(host, context, head, this.#tiles, note);
    this.#update(false);
  }

  words({ state, blacklist, duplicates }) {
    const found = [state, blacklist.length && `${blacklist.length} blacklisted`, duplicates.length && count(duplicates.length, "duplicate set")];
    return found.filter(Boolean).join(", ");
  }

  isChanged() {
    return this.#isChanged;
  }

  key(event) {
    const key = event.key.toLowerCase();
    if (key === "r") this.#give("reviewed");
    else if (key === "p") this.#give("problematic");
    else if (key === "d") this.#joined();
    else if (key === "b") this.#blacklisted(this.#tiles.at);
    else if (key === "c") this.#note.focus();
    else if (key === "+" || key === "=") this.#tiles.enlarge();
    else return this.#tiles.key(event);
    return true;
  }

  leave() {
    this.#tiles.leave();
    this.#unwatch();
    if (this.#isGiven || this.#context.chosen !== undefined) this.#draft.drop();
  }

  #label(i) {
    const { many } = this.#payload;
    const all = this.#context.pictures.length;
    return i < many ? `Candidate ${i + 1} of ${many}` : `Original ${i - many + 1} of ${all - many}`;
  }

  #headings(many) {
    const all = this.#context.pictures.length;
    this.#tiles.tile(0).before(make("h3", {}, count(many, "candidate"), make("small", {}, "Blacklist what is wrong; select pictures that show the same.")));
    if (all > many) this.#tiles.tile(many).before(make("h3", {}, count(all - many, "original"), make("small", {}, "For comparison.")));
  }

  #below(i, detail) {
    const isCandidate = i < this.#payload.many;
    if (isCandidate) this.#boxes[i] = make("input", { type: "checkbox", tabindex: "-1", onchange: () => { this.#blacklisted(i); this.#tiles.go(i); } });
    return make("div", { class: "about-tile" },
      make("span", { class: "set", "aria-hidden": "true" }),
      detail && make("p", { class: "detail" }, detail),
      isCandidate && make("label", { class: "blacklist" }, this.#boxes[i], make("span", {}, "Blacklist")));
  }

  #blacklisted(i) {
    if (i >= this.#payload.many) return;
    if (!this.#blacklist.delete(i)) this.#blacklist.add(i);
    this.#update(true);
  }

  /* Sets that share a picture are one. */
  #joined() {
    const selected = this.#tiles.ticked;
    if (this.#join.disabled) return;
    const touched = this.#sets.filter((set) => set.some((place) => selected.has(place)));
    const whole = ordered(new Set([...selected, ...touched.flat()]));
    this.#sets = [...this.#sets.filter((set) => !touched.includes(set)), whole].sort((a, b) => a[0] - b[0]);
    this.#tiles.untickAll();
    this.#update(true);
  }

  #dissolved(set) {
    this.#sets = this.#sets.filter((one) => one !== set);
    this.#update(true);
    this.#tiles.go(this.#tiles.at);
  }

  #give(state) {
    if (this.#reviewed.disabled) return;
    if (this.#tiles.ticked.size > 1) {
      this.#status.textContent = "Mark the selected pictures as duplicates first, or unselect them.";
      return;
    }
    this.#isGiven = true;
    this.#context.answer({ blacklist: ordered(this.#blacklist), duplicates: this.#sets, state, note: this.#note.value.trim() });
  }

  #update(isChanged) {
    if (!this.#tiles) return; // still being made
    const tiles = this.#tiles;
    const { many } = this.#payload;
    this.#isChanged ||= isChanged;
    const setOf = new Map(this.#sets.flatMap((set, i) => set.map((place) => [place, letter(i)])));
    for (let i = 0; i < tiles.many; i += 1) this.#mark(i, setOf.get(i), this.#blacklist.has(i));
    const selected = [...tiles.ticked];
    this.#join.disabled = selected.length < 2 || selected.every((place) => place >= many);
    this.#chips.replaceChildren(...this.#sets.map((set, i) => this.#chip(set, letter(i))));
    this.#join.firstElementChild.textContent = selected.length > 1 ? `Mark ${selected.length} as duplicates` : "Mark as duplicates";
    this.#status.textContent = loadingWords(tiles);
    this.#reviewed.disabled = this.#problematic.disabled = tiles.arrived < tiles.many;
    const now = { blacklist: ordered(this.#blacklist), duplicates: this.#sets, note: this.#note.value, ticked: ordered(selected), at: tiles.at };
    if (this.#isChanged || selected.length) this.#draft.keep(now);
  }

  #mark(i, set, isOut) {
    const tile = this.#tiles.tile(i);
    tile.dataset.out = isOut;
    tile.querySelector(".set").textContent = set ?? "";
    if (this.#boxes[i]) {
      this.#boxes[i].checked = isOut;
      this.#boxes[i].setAttribute("aria-label", `Blacklist candidate ${i + 1}`);
    }
    this.#tiles.describe(i, [set && `in set ${set}`, isOut && "blacklisted"].filter(Boolean));
  }

  #chip(set, name) {
    const words = `Dissolve set ${name} of ${count(set.length, "picture")}`;
    return make("button", { type: "button", class: "chip", "aria-label": words, title: words, onclick: () => this.#dissolved(set) }, make("b", {}, name), ` ${count(set.length, "picture")} `, make("span", { "aria-hidden": "true" }, "×"));
  }
}

export default {
  title: "Is this class in order?",
  brief: "Blacklist candidates that are wrong, mark pictures that show the same, and say whether the class is in order.",
  about:
    "One class of a new test set: the candidates above, pictures of the original set below. Blacklist candidates that are wrong: they will be replaced. " +
    "Select pictures that show the same, then press 'Mark as duplicates'. Finish with 'Reviewed', or with 'Problematic' if somebody has to look at the class again.",
  isGradual: true,
  keys: [
    { keys: ["←", "→", "↑", "↓"], name: "Move", typed: "from picture to picture" },
    { keys: ["B"], name: "Blacklist", meaning: "the candidate is wrong, and will be replaced" },
    { keys: ["Space"], name: "Select", typed: "selects a picture that shows the same as others" },
    { keys: ["D"], name: "Mark as duplicates", meaning: "joins the selected pictures to a set of near-duplicates" },
    { keys: ["R"], name: "Reviewed", meaning: "finishes the class" },
    { keys: ["P"], name: "Problematic", meaning: "finishes it for now: somebody has to look at it again" },
    { keys: ["C"], name: "Note", typed: "a remark about the class; Esc leaves the field" },
  ],
  draw: (host, question, context) => new Reviewing(host, question, context),
};
