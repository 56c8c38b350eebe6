/* The controls next to the board: tools, brush size, overlay opacity, undo and redo. */

import { draw, make } from "../../dom.js";

const ICONS = {
  polygon: "M5 17 3 7l10-4 8 7-4 10zM5 17m-1.6 0a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0M13 3m-1.6 0a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0M21 10m-1.6 0a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0",
  brush: "M20 3 10 13M7 14c-3 0-2 4-5 5 2 2 8 2 8-2 0-2-1.500-3-3-3z",
  eraser: "M9 20h11M4.500 14.500 13 6l6 6-8 8H8z M8.500 10.500l6 6",
  fill: "M11 3 4 10l7 7 7-7-7-7zM4 10h14M20 14c1.500 2.500 2 3.500 2 4.500a2 2 0 0 1-4 0c0-1 .5-2 2-4.500z",
  hand: "M8 13V6a1.500 1.500 0 0 1 3 0v5V4.500a1.500 1.500 0 0 1 3 0V11V6a1.500 1.500 0 0 1 3 0v8c0 4-2 7-6 7-3 0-4.500-1.500-6-4l-2-3.500c-.8-1.500 1-2.500 2-1.500z",
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "M15 14l5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  clear: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
};

export const TOOLS = [
  { name: "polygon", words: "Polygon", key: "P" },
  { name: "brush", words: "Brush", key: "B" },
  { name: "eraser", words: "Eraser", key: "E" },
  { name: "fill", words: "Fill", key: "G" },
  { name: "hand", words: "Move", key: "H" },
];

const icon = (name) => draw("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, draw("path", { d: ICONS[name] }));
const keepFocus = (event) => event.preventDefault(); // keys stay with the board

const slider = (role, words, attributes, act) => {
  const value = make("output", { "aria-hidden": "true" });
  const input = make("input", { type: "range", class: "fine-range", "data-role": role, "aria-label": words, ...attributes, oninput: () => act(Number(input.value)) });
  return { element: make("label", { class: "measure" }, make("span", {}, words, " ", value), input), input, value };
};

export class Panel {
  #tools;
  #size;
  #opacity;
  #steps;

  /* act: { tool(name), size(pixels), opacity(share), undo(), redo(), clear() }; largest: maximum brush size. */
  constructor(act, largest) {
    this.#tools = TOOLS.map(({ name, words, key }) =>
      make("button", { type: "button", class: "tool", "data-tool": name, "aria-label": words, title: `${words} (${key})`, "aria-keyshortcuts": key, onclick: () => act.tool(name), onmousedown: keepFocus },
        icon(name), make("span", { "aria-hidden": "true" }, words), make("kbd", { "aria-hidden": "true" }, key)));
    this.#size = slider("size", "Brush size", { min: 1, max: largest }, act.size);
    this.#opacity = slider("opacity", "Opacity", { min: 0, max: 100, step: 5 }, (value) => act.opacity(value / 100));
    const step = (name, words, meaning, shortcut, run) =>
      make("button", { type: "button", class: "tool step", "data-role": `${name}-stroke`, title: shortcut ? `${meaning} (${shortcut})` : meaning, "aria-label": meaning, "aria-keyshortcuts": shortcut || null, onclick: run, onmousedown: keepFocus },
        icon(name), make("span", { "aria-hidden": "true" }, words), shortcut && make("kbd", { "aria-hidden": "true" }, shortcut));
    this.#steps = {
      undo: step("undo", "Undo", "Undo stroke", "Z", act.undo),
      redo: step("redo", "Redo", "Redo stroke", "Shift+Z", act.redo),
      clear: step("clear", "Clear", "Clear the drawing", "", act.clear),
    };
    this.tools = make("div", { class: "tools", role: "group", "aria-label": "Tools" }, this.#tools);
    this.steps = make("div", { class: "steps", role: "group", "aria-label": "Strokes" }, Object.values(this.#steps));
    this.measures = make("div", { class: "measures" }, this.#size.element, this.#opacity.element);
  }

  draw({ tool, size, opacity, canUndo, canRedo, isEmpty }) {
    for (const button of this.#tools) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
    this.#size.input.value = size;
    this.#size.value.textContent = `${size} px`;
    this.#size.input.setAttribute("aria-valuetext", `${size} pixels wide`);
    this.#size.input.disabled = !["brush", "eraser"].includes(tool);
    this.#opacity.input.value = Math.round(100 * opacity);
    this.#opacity.value.textContent = `${Math.round(100 * opacity)} %`;
    this.#opacity.input.setAttribute("aria-valuetext", `${Math.round(100 * opacity)} percent`);
    this.#steps.undo.disabled = !canUndo;
    this.#steps.redo.disabled = !canRedo;
    this.#steps.clear.disabled = isEmpty;
  }
}
