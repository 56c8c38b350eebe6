/* Names that match what was typed, best first: names containing the word, names starting with it, synonyms, parts of words.
 * Fast enough for every key press among tens of thousands of names: they are prepared once for all questions, in the order
 * of equally good matches, so that nothing has to be sorted; and a longer word is searched only among the last matches. */

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("_", " ").trim();

const GAP = /[\s\-()',]/;
const gaps = new Map();
const isGap = (letter) => letter === undefined || (gaps.get(letter) ?? gaps.set(letter, GAP.test(letter)).get(letter));
const WORST = 9;

/* How a word occurs in a text from `at` on: as a whole word, at the start of one, or (null) only inside of them. */
const standing = (wanted, text, at) => {
  let best = null;
  for (let here = at; here >= 0; here = text.indexOf(wanted, here + 1)) {
    if (!isGap(text[here - 1])) continue;
    if (isGap(text[here + wanted.length])) return "whole";
    best = "start";
  }
  return best;
};

/* Smaller is better; null: no match. isOne: it is a single word. */
const rank = (wanted, text, isName, isOne) => {
  const at = text.indexOf(wanted);
  if (at < 0) return null;
  if (text.length === wanted.length) return isName ? 0 : 1;
  const found = isOne ? standing(wanted, text, at) : null;
  if (found === "whole") return isName ? 2 : 4;
  if (at === 0) return isName ? 3 : 5;
  return (found === "start" ? 6 : 8) + (isName ? 0 : 1);
};

/* { place, also }: how well a row matches, and the synonym that did if the name itself did not; null: not at all. */
const matched = (wanted, { name, others }, isOne) => {
  const own = rank(wanted, name, true, isOne);
  let [best, also] = [null, ""];
  for (const [word, other] of others) {
    const place = rank(wanted, other, false, isOne);
    if (place !== null && (best === null || place < best)) [best, also] = [place, word];
  }
  if (own === null && best === null) return null;
  return { place: Math.min(own ?? Infinity, best ?? Infinity), also: own === null ? also : "" };
};

const byLength = (a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : Number(a.name > b.name));

export class Search {
  #rows;
  #last = { wanted: "", rows: [] };

  constructor(classes, options) {
    const rowOf = (value) => ({ value, name: plain(classes.names[value]), others: (classes.synonyms[value] ?? []).map((word) => [word, plain(word)]) });
    this.#rows = options.map(rowOf).sort(byLength);
  }

  /* [{ value, also }]: `also` is the synonym that matched if the name itself did not. */
  find(text, most) {
    const wanted = plain(text);
    if (!wanted) return { rows: [], total: 0 };
    const isLonger = this.#last.wanted && wanted.startsWith(this.#last.wanted);
    const isOne = !GAP.test(wanted);
    const places = Array.from({ length: WORST + 1 }, () => []);
    const rows = [];
    for (const row of isLonger ? this.#last.rows : this.#rows) {
      const found = matched(wanted, row, isOne);
      if (!found) continue;
      rows.push(row);
      if (places[found.place].length < most) places[found.place].push({ value: row.value, also: found.also });
    }
    this.#last = { wanted, rows };
    return { rows: places.flat().slice(0, most), total: rows.length };
  }
}

const known = new WeakMap();

/* The search among these options; the same one for the same list, as preparing it takes longer than searching. */
export const searchOf = (classes, options) => {
  if (!known.has(options)) known.set(options, new Search(classes, options));
  return known.get(options);
};
