/* The mask that somebody draws: gestures change it; finished gestures can be undone.
 *
 * Events: change (a gesture was finished, undone or redone). */

import { joined } from "./box.js";
import { History } from "./history.js";
import { encoded } from "./runs.js";

export class Drawing extends EventTarget {
  label = 1;
  size = 1;
  #board;
  #history;
  #isEmpty = null; // null: unknown since the last change
  #box = null; // what the current gesture has touched

  /* before: the mask to start with, or null for an empty one. */
  constructor(board, before) {
    super();
    this.#board = board;
    if (before) board.show(before);
    this.#history = new History(board.labels, board.width);
  }

  get canUndo() {
    return this.#history.canUndo;
  }

  get canRedo() {
    return this.#history.canRedo;
  }

  /* True if everything is background. */
  get isEmpty() {
    return (this.#isEmpty ??= isBackground(this.#board.labels));
  }

  get answer() {
    return { height: this.#board.height, width: this.#board.width, runs: encoded(this.#board.labels) };
  }

  /* fill(labels, width, height, …, label): one of fill.js; what it touched is redrawn right away. */
  paint(fill, ...how) {
    const { labels, width, height } = this.#board;
    const box = fill(labels, width, height, ...how);
    this.#box = joined(this.#box, box);
    if (box) this.#board.changed(box);
  }

  settle() {
    const isNew = this.#history.keep(this.#box);
    this.#box = null;
    if (isNew) this.#tell();
  }

  revert() {
    this.#history.revert(this.#box);
    if (this.#box) this.#board.changed(this.#box);
    this.#box = null;
  }

  /* Replaces the whole mask, as one step. */
  replace(labels) {
    this.paint((mine, width, height) => {
      mine.set(labels);
      return { left: 0, top: 0, right: width, bottom: height };
    });
    this.settle();
  }

  clear() {
    this.replace(new Uint8Array(this.#board.labels.length));
  }

  undo() {
    this.#step(this.#history.undo());
  }

  redo() {
    this.#step(this.#history.redo());
  }

  #step(box) {
    if (!box) return;
    this.#board.changed(box);
    this.#tell();
  }

  #tell() {
    this.#isEmpty = null;
    this.dispatchEvent(new Event("change"));
  }
}

const isBackground = (labels) => {
  for (let i = 0; i < labels.length; i += 1) if (labels[i]) return false;
  return true;
};
