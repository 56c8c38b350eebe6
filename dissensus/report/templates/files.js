/* Saves a figure as an SVG file that stands alone: in the colours of print, in millimetres, without links into the page. */

import { saveFile } from "./shared/dom.js";

const colours = JSON.parse(document.getElementById("page-data").textContent).print;
const parts = (name) => [1, 3, 5].map((at) => parseInt(colours[name].slice(at, at + 2), 16));
const mixed = (_, one, percent, other) => {
  const ends = [parts(one), parts(other)];
  const mix = ends[0].map((value, i) => Math.round(ends[1][i] + (percent / 100) * (value - ends[1][i])));
  return `#${mix.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
};

const alone = (drawn, { width, height }) => {
  const svg = drawn.cloneNode(true);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  for (const link of svg.querySelectorAll("a")) link.replaceWith(...link.childNodes);
  return new XMLSerializer()
    .serializeToString(svg)
    .replace(/color-mix\(in srgb, var\(--([\w-]+)\) (\d+)%, var\(--([\w-]+)\)\)/g, mixed)
    .replace(/var\(--([\w-]+)\)/g, (_, name) => colours[name]);
};

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-svg]");
  if (!button) return;
  saveFile(button.dataset.svg, alone(button.closest(".drawn").querySelector("svg"), button.dataset), "image/svg+xml");
});
