/* Single keys of the annotator's page; not while somebody types, a dialog is open, or a key is held down. */

import { one } from "./dom.js";

/* undo(), help(); enter() and question(event) say whether they had a use for the key. */
export const listenForKeys = ({ undo, help, enter, question }) =>
  addEventListener("keydown", (event) => {
    if (event.repeat && event.target.closest("[data-answer]")) event.preventDefault(); // Enter held down would answer on and on
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (one("dialog[open]") || event.target.matches("input:not([type=range]), textarea")) return;
    const key = event.key.toLowerCase();
    const isFree = !event.target.closest("button, a, [role=treeitem]"); // there, Enter has a meaning already
    if (key === "z" || key === "backspace") undo();
    else if (key === "?") help();
    else if (!(key === "enter" && isFree && enter()) && !question(event)) return;
    event.preventDefault();
  });
