/* Progress of each duel: a triangle of small squares that stays readable with hundreds of duels, and a list. */

import { count, make, one } from "../dom.js";
import { number } from "./words.js";

const square = ({ first, second, items, judged }) => {
  const part = items ? judged / items : 1;
  const words = `${first} – ${second}: ${number(judged)} of ${number(items)}`;
  const cell = make("td", { title: words, class: part >= 1 ? "full" : null }, make("span", { class: "unseen" }, words));
  cell.style.setProperty("--part", part.toFixed(3));
  return cell;
};

const triangle = (models, byPair) => {
  const rows = models.slice(1).map((model, i) => {
    const cells = models.slice(0, i + 1).map((other) => {
      const duel = byPair.get(`${model}\n${other}`) ?? byPair.get(`${other}\n${model}`);
      return duel ? square(duel) : make("td", { class: "empty" });
    });
    return make("tr", {}, make("th", { scope: "row" }, make("span", { class: "cut" }, model), make("small", {}, i + 2)), cells);
  });
  const head = make("tr", {}, make("th", { class: "corner" }, make("span", { class: "cut" }, models[0]), make("small", {}, 1)), models.slice(0, -1).map((_, i) => make("th", { scope: "col" }, i + 1)));
  return make("table", { class: "triangle", "data-many": models.length > 16 ? "true" : "false" }, make("thead", {}, head), make("tbody", {}, rows));
};

const list = (duels) =>
  make("details", {}, make("summary", {}, "All duels, least complete first"),
    make("div", { class: "tall", tabindex: "0", role: "group", "aria-label": "Duels as a table" }, make("table", { class: "table" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Duel"), make("th", { scope: "col", class: "number" }, "Items judged"))),
      make("tbody", {}, duels.toSorted((a, b) => a.judged / (a.items || 1) - b.judged / (b.items || 1)).map(({ first, second, items, judged }) =>
        make("tr", {}, make("th", { scope: "row" }, `${first} – ${second}`), make("td", { class: "number" }, `${number(judged)} of ${number(items)}`)))))));

export const drawDuels = (duels) => {
  const host = one("[data-role=duels]");
  host.hidden = !duels.length;
  if (!duels.length) return;
  const isOpen = one("details", host)?.open;
  const models = [...new Set(duels.flatMap(({ first, second }) => [first, second]))];
  const byPair = new Map(duels.map((duel) => [`${duel.first}\n${duel.second}`, duel]));
  const done = duels.filter(({ items, judged }) => judged >= items).length;
  host.replaceChildren(
    make("h3", {}, "Duels"),
    make("p", { class: "quiet small" }, `${count(duels.length, "duel")}, ${duels.length === 1 ? (done ? "" : "not yet ") : `${done === duels.length ? "all" : done ? number(done) : "none"} of them `}with all items judged. The fuller the square, the more items are judged.`),
    make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Duels" }, triangle(models, byPair)),
    list(duels),
  );
  one("details", host).open = Boolean(isOpen);
};
