/* Names that match what was typed, best first: names containing the word, names starting with it, synonyms, parts of words.
 * Fast enough for every key press among tens of thousands of names: they are joined to long texts once for all questions, in
 * the order of equally good matches, so that nothing has to be sorted, and each way to match is one search for a string in a
 * text, which ends when there are enough matches. */

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("_", " ").trim();

const GAP = /[\s\-()',]/;
const GAPS = new RegExp(GAP, "g");
const gaps = new Map();
const isGap = (letter) => letter === undefined || (gaps.get(letter) ?? gaps.set(letter, GAP.test(letter)).get(letter));
const END = "\u0001"; // between texts: nobody types it

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

/* How well a synonym matches: smaller is better. isOne: a single word was typed. */
const rank = (wanted, text, isOne) => {
  const at = text.indexOf(wanted);
  if (at < 0) return Infinity;
  if (text.length === wanted.length) return 0;
  const found = isOne ? standing(wanted, text, at) : null;
  if (found === "whole") return 1;
  if (at === 0) return 2;
  return found === "start" ? 3 : 4;
};

/* Texts of rows, joined; a row may have several. */
class Joined {
  #text;
  #ends = []; // of rows

  constructor(rows) {
    let at = 1;
    for (const texts of rows) {
      for (const text of texts) at += text.length + 1;
      this.#ends.push(at);
    }
    this.#text = END + rows.flat().map((text) => text + END).join("");
  }

  /* The numbers of the rows with this string, in order. */
  *rows(string) {
    let row = 0;
    for (let at = this.#text.indexOf(string); at >= 0; at = this.#text.indexOf(string, this.#ends[row] - 1)) {
      while (this.#ends[row] <= at + 1) row += 1; // a match may begin at the end of the text before
      yield row;
    }
  }
}

/* The synonym that matches best; empty if the name itself matches. */
const alsoCalled = (wanted, { name, others }, isOne) => {
  if (name.includes(wanted)) return "";
  let [best, also] = [Infinity, ""];
  for (const [word, other] of others) {
    const place = rank(wanted, other, isOne);
    if (place < best) [best, also] = [place, word];
  }
  return also;
};

const byLength = (a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : Number(a.name > b.name));

export class Search {
  #rows;
  #names;
  #others;
  #namesByWord;
  #othersByWord;

  constructor(classes, options) {
    const rowOf = (value) => ({ value, name: plain(classes.names[value]), others: (classes.synonyms[value] ?? []).map((word) => [word, plain(word)]) });
    this.#rows = options.map(rowOf).sort(byLength);
    const names = this.#rows.map(({ name }) => [name]);
    const others = this.#rows.map((row) => row.others.map(([, other]) => other));
    const byWord = (texts) => texts.map((row) => row.map((text) => ` ${text.replace(GAPS, " ")} `));
    this.#names = new Joined(names);
    this.#others = new Joined(others);
    this.#namesByWord = new Joined(byWord(names));
    this.#othersByWord = new Joined(byWord(others));
  }

  /* [{ value, also }]: `also` is the synonym that matched if the name itself did not. */
  find(text, most) {
    const wanted = plain(text);
    if (!wanted) return { rows: [], total: 0 };
    const isOne = !GAP.test(wanted);
    const found = new Set();
    for (const [texts, string] of this.#ways(wanted, isOne)) {
      for (const row of texts.rows(string)) {
        if (found.size >= most) break;
        found.add(row);
      }
    }
    const rows = [...found].map((row) => ({ value: this.#rows[row].value, also: alsoCalled(wanted, this.#rows[row], isOne) }));
    return { rows, total: found.size < most ? found.size : this.#total(wanted) };
  }

  /* The ways to match, best first: where to look, and for what. */
  #ways(wanted, isOne) {
    const ways = [[this.#names, END + wanted + END], [this.#others, END + wanted + END]];
    if (isOne) ways.push([this.#namesByWord, ` ${wanted} `]);
    ways.push([this.#names, END + wanted]);
    if (isOne) ways.push([this.#othersByWord, ` ${wanted} `]);
    ways.push([this.#others, END + wanted]);
    if (isOne) ways.push([this.#namesByWord, ` ${wanted}`], [this.#othersByWord, ` ${wanted}`]);
    return [...ways, [this.#names, wanted], [this.#others, wanted]];
  }

  #total(wanted) {
    const isFound = new Uint8Array(this.#rows.length);
    for (const texts of [this.#names, this.#others]) for (const row of texts.rows(wanted)) isFound[row] = 1;
    return isFound.reduce((sum, one) => sum + one, 0);
  }
}

const known = new WeakMap();

/* The search among these options; the same one for the same list, as preparing it takes longer than searching. */
export const searchOf = (classes, options) => {
  if (!known.has(options)) known.set(options, new Search(classes, options));
  return known.get(options);
};
