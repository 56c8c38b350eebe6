/* Names that match what was typed, best first: names containing the word, names starting with it, synonyms, parts of words. */

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("_", " ").trim();

/* Smaller is better; null: no match. */
const rank = (wanted, word, isName) => {
  const at = word.indexOf(wanted);
  if (at < 0) return null;
  if (word === wanted) return isName ? 0 : 1;
  const words = word.split(/[\s\-()',]+/);
  if (words.includes(wanted)) return isName ? 2 : 4;
  if (at === 0) return isName ? 3 : 5;
  return (words.some((part) => part.startsWith(wanted)) ? 6 : 8) + (isName ? 0 : 1);
};

export class Search {
  #rows;

  constructor(classes, options) {
    this.#rows = options.map((value) => ({
      value,
      name: plain(classes.names[value]),
      others: (classes.synonyms[value] ?? []).map((word) => [word, plain(word)]),
    }));
  }

  /* [{ value, also }]: `also` is the synonym that matched if the name itself did not. */
  find(text, most) {
    const wanted = plain(text);
    const found = this.#rows.flatMap((row) => {
      const own = rank(wanted, row.name, true);
      const fits = row.others.map(([word, other]) => [rank(wanted, other, false), word]).filter(([place]) => place !== null);
      const [best, also] = fits.sort((a, b) => a[0] - b[0])[0] ?? [null, ""];
      if (own === null && best === null) return [];
      const place = Math.min(own ?? Infinity, best ?? Infinity);
      return [{ value: row.value, also: own === null ? also : "", place, name: row.name }];
    });
    found.sort((a, b) => a.place - b.place || a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
    return { rows: found.slice(0, most), total: found.length };
  }
}
