/* Undo history: for each step only the box that changed, before and after, as packed runs. */

import { packed, unpacked } from "./runs.js";

const MOST_STEPS = 300;
const MOST_BYTES = 1 << 25;

export class History {
  #labels;
  #width;
  #settled; // the mask after the last step, to compare with what the current gesture changes
  #steps = [];
  #place = 0; // steps before it are applied, later ones were undone
  #bytes = 0;

  constructor(labels, width) {
    this.#labels = labels;
    this.#width = width;
    this.#settled = labels.slice();
  }

  get canUndo() {
    return this.#place > 0;
  }

  get canRedo() {
    return this.#place < this.#steps.length;
  }

  /* Records what a gesture changed within a box; false if it changed nothing. */
  keep(box) {
    const trimmed = box && this.#changedBox(box);
    if (!trimmed) return false;
    const step = { box: trimmed, before: packed(this.#cut(this.#settled, trimmed)), after: packed(this.#cut(this.#labels, trimmed)) };
    this.#put(this.#settled, trimmed, this.#cut(this.#labels, trimmed));
    for (const undone of this.#steps.splice(this.#place)) this.#bytes -= sizeOf(undone);
    this.#steps.push(step);
    this.#bytes += sizeOf(step);
    while (this.#steps.length > MOST_STEPS || (this.#bytes > MOST_BYTES && this.#steps.length > 1)) this.#bytes -= sizeOf(this.#steps.shift());
    this.#place = this.#steps.length;
    return true;
  }

  /* Reverts what the current gesture changed within a box. */
  revert(box) {
    if (box) this.#put(this.#labels, box, this.#cut(this.#settled, box));
  }

  /* The box that changed, or null. */
  undo() {
    return this.canUndo ? this.#apply(this.#steps[(this.#place -= 1)], "before") : null;
  }

  redo() {
    return this.canRedo ? this.#apply(this.#steps[this.#place++], "after") : null;
  }

  #apply({ box, ...step }, side) {
    const patch = unpacked(step[side], (box.right - box.left) * (box.bottom - box.top));
    for (const map of [this.#labels, this.#settled]) this.#put(map, box, patch);
    return box;
  }

  #cut(map, { left, top, right, bottom }) {
    const patch = new Uint8Array((right - left) * (bottom - top));
    for (let y = top; y < bottom; y += 1) patch.set(map.subarray(y * this.#width + left, y * this.#width + right), (y - top) * (right - left));
    return patch;
  }

  #put(map, { left, top, right, bottom }, patch) {
    for (let y = top; y < bottom; y += 1) map.set(patch.subarray((y - top) * (right - left), (y - top + 1) * (right - left)), y * this.#width + left);
  }

  #changedBox({ left, top, right, bottom }) {
    const changed = { left: right, top: bottom, right: left, bottom: top };
    for (let y = top; y < bottom; y += 1) {
      for (let x = left, at = y * this.#width + left; x < right; x += 1, at += 1) {
        if (this.#labels[at] === this.#settled[at]) continue;
        if (x < changed.left) changed.left = x;
        if (x >= changed.right) changed.right = x + 1;
        if (y < changed.top) changed.top = y;
        changed.bottom = y + 1;
      }
    }
    return changed.left < changed.right ? changed : null;
  }
}

const sizeOf = ({ before, after }) => before.length + after.length;
