/* Answers per hour as a bar chart fitted to the available width, and as a table. */

import { draw, make, one } from "../dom.js";
import { clock, day, number } from "./words.js";

const HEIGHT = 150;
const BELOW = 38; // space for hours and days
const ABOVE = 16;
const TIGHTEST = 46; // pixels between two labels
const HALF_CLOCK = 18; // pixels: half the width of a label, which must not stick out
const HALF_DAY = 40;

/* A round number at or above the highest bar, whose half is a whole number. */
const ceiling = (most) => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 2, 4, 6, 10].map((times) => times * unit).find((value) => value >= Math.max(most, 4)) ?? 10 * unit;
};

const chart = (hours, width) => {
  const top = ceiling(Math.max(...hours.map(({ answers }) => answers)));
  const left = 8 * String(number(top)).length + 8;
  const step = (width - left) / hours.length;
  const y = (value) => ABOVE + (HEIGHT - ABOVE) * (1 - value / top);
  const every = [3, 6, 12, 24].find((gap) => gap * step >= TIGHTEST) ?? 24;
  const lines = [0, top / 2, top].flatMap((value) => [
    draw("line", { x1: left, x2: width, y1: y(value), y2: y(value), class: value ? "grid" : "axis" }),
    draw("text", { x: left - 6, y: y(value) + 4, class: "tick end" }, number(value)),
  ]);
  const bars = hours.flatMap(({ start, answers }, i) => {
    const x = left + i * step;
    const at = new Date(start);
    const bar = draw("rect", { x: x + step * 0.1, width: step * 0.8, y: y(answers), height: HEIGHT - y(answers), rx: Math.min(2, step / 5) });
    bar.append(draw("title", {}, `${day(start)}, ${clock(start)}: ${number(answers)}`));
    const under = (half) => Math.min(Math.max(x + step / 2, half), width - half);
    const label = at.getHours() % every ? null : draw("text", { x: under(HALF_CLOCK), y: HEIGHT + 16, class: "tick middle" }, clock(start));
    const isDay = at.getHours() === 0;
    return [bar, label, isDay && draw("text", { x: under(HALF_DAY), y: HEIGHT + 33, class: "tick middle strong" }, day(start))];
  });
  return draw("svg", { width, height: HEIGHT + BELOW, viewBox: `0 0 ${width} ${HEIGHT + BELOW}`, "aria-hidden": "true" }, lines, bars);
};

const table = (hours) =>
  make("details", {}, make("summary", {}, "The same as a table"),
    make("div", { class: "tall", tabindex: "0", role: "group", "aria-label": "Answers per hour as a table" }, make("table", { class: "table" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Hour"), make("th", { scope: "col", class: "number" }, "Answers"))),
      make("tbody", {}, hours.toReversed().map(({ start, answers }) =>
        make("tr", {}, make("th", { scope: "row" }, `${day(start)}, ${clock(start)}`), make("td", { class: "number" }, number(answers))))))));

let known = [];
let watcher = null;

export const drawHours = (hours) => {
  const host = one("[data-role=hours]");
  known = hours;
  if (!hours.some(({ answers }) => answers)) return host.replaceChildren(make("p", { class: "none" }, "No answers in the last two days."));
  const isOpen = one("details", host)?.open; // a refresh must not close what somebody is reading
  const total = hours.reduce((sum, { answers }) => sum + answers, 0);
  const figure = make("div", { class: "chart", role: "img", "aria-label": `${number(total)} answers in the last ${hours.length} hours` });
  host.replaceChildren(figure, table(hours));
  one("details", host).open = Boolean(isOpen);
  figure.replaceChildren(chart(hours, Math.max(240, figure.clientWidth)));
  watcher ??= new ResizeObserver(() => {
    const here = one(".chart", host);
    // compare with the width it was drawn for: a chart that is too wide is shrunk, labels included
    if (here && Math.abs(here.clientWidth - here.firstElementChild.viewBox.baseVal.width) > 2) here.replaceChildren(chart(known, Math.max(240, here.clientWidth)));
  });
  watcher.observe(host);
};
