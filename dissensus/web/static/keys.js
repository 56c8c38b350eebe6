/* Single-key shortcuts of the annotator's page; ignored while typing, in dialogs, and for keys held down. */

import { one } from "./dom.js";

/* undo(), help(); enter() and question(event) return whether they used the key. */
export const listenForKeys = ({ undo, help, enter, question }) =>
  addEventListener("keydown", (event) => {
    if (event.repeat && event.target.closest("[data-answer]")) event.preventDefault(); // holding Enter would keep answering
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (one("dialog[open]") || event.target.matches("input:not([type=range]), textarea")) return;
    const key = event.key.toLowerCase();
    const isFree = !event.target.closest("button, a, [role=treeitem]"); // Enter already has a meaning there
    if (key === "z" || key === "backspace") undo();
    else if (key === "?") help();
    else if (!(key === "enter" && isFree && enter()) && !question(event)) return;
    event.preventDefault();
  });
