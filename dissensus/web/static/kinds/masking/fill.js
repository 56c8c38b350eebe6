/* Which pixels a gesture changes. Each function writes `label` into `labels` (a Uint8Array, row by row) and returns the box
 * that it touched, or null. Everything is computed in integers, so that the same gesture gives the same pixels anywhere. */

import { joined, within } from "./box.js";

/* A polygon whose corners [[x, y], …] are pixel corners: (0, 0) is the picture's upper left one. A pixel belongs to the
 * polygon if its centre does, by the even–odd rule; a centre on an edge belongs to the region right of that edge. */
export const fillPolygon = (labels, width, height, corners, label) => {
  const ys = corners.map(([, y]) => y);
  const top = Math.max(0, Math.min(...ys));
  const bottom = Math.min(height, Math.max(...ys));
  let box = null;
  for (let y = top; y < bottom; y += 1) {
    const crossings = crossingsOf(corners, y);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const left = Math.max(0, crossings[i]);
      const right = Math.min(width, crossings[i + 1]);
      if (left >= right) continue;
      labels.fill(label, y * width + left, y * width + right);
      box = joined(box, { left, top: y, right, bottom: y + 1 });
    }
  }
  return box;
};

/* For pixel row y: the first pixels whose centres are on or right of each edge, in order. */
const crossingsOf = (corners, y) => {
  const found = [];
  corners.forEach(([x1, y1], i) => {
    const [x2, y2] = corners[(i + 1) % corners.length];
    if (Math.min(y1, y2) > y || Math.max(y1, y2) <= y) return;
    const rise = y2 - y1;
    // The edge is at x1 + (y + ½ − y1)·(x2 − x1)/rise, and the centre of pixel p at p + ½. The quotient of integers
    // this small is never rounded across an integer.
    found.push(Math.ceil((2 * x1 * rise + (2 * y + 1 - 2 * y1) * (x2 - x1) - rise) / (2 * rise)));
  });
  return found.sort((a, b) => a - b);
};

/* A stroke of a round brush from pixel [x, y] to pixel [x, y]: all pixels whose centres are at most size/2 away from the line
 * between the two centres, that is, all that the disc covers on its way. */
export const fillStroke = (labels, width, height, [ax, ay], [bx, by], size, label) => {
  const reach = Math.floor(size / 2);
  const around = { left: Math.min(ax, bx) - reach, top: Math.min(ay, by) - reach, right: Math.max(ax, bx) + reach + 1, bottom: Math.max(ay, by) + reach + 1 };
  const box = within(around, width, height);
  if (!box) return null;
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  for (let y = box.top; y < box.bottom; y += 1) {
    for (let x = box.left; x < box.right; x += 1) {
      const [px, py] = [x - ax, y - ay];
      const along = px * dx + py * dy;
      const across = px * dy - py * dx;
      const isNear =
        along <= 0 ? 4 * (px * px + py * py) <= size * size
        : along >= length ? 4 * ((x - bx) ** 2 + (y - by) ** 2) <= size * size
        : 4 * across * across <= size * size * length;
      if (isNear) labels[y * width + x] = label;
    }
  }
  return box;
};

/* All pixels connected to pixel (x, y) by edges that have its label. */
export const fillRegion = (labels, width, height, x, y, label) => {
  const old = labels[y * width + x];
  if (old === label) return null;
  let box = null;
  const waiting = [x, y];
  while (waiting.length) {
    const row = waiting.pop();
    const seed = waiting.pop();
    const line = row * width;
    if (labels[line + seed] !== old) continue;
    let left = seed;
    let right = seed + 1;
    while (left > 0 && labels[line + left - 1] === old) left -= 1;
    while (right < width && labels[line + right] === old) right += 1;
    labels.fill(label, line + left, line + right);
    box = joined(box, { left, top: row, right, bottom: row + 1 });
    for (const next of [row - 1, row + 1]) if (next >= 0 && next < height) addSeeds(labels, next * width, left, right, old, next, waiting);
  }
  return box;
};

/* One pixel of every run of `old` in a part of a row. */
const addSeeds = (labels, line, left, right, old, row, waiting) => {
  for (let x = left; x < right; x += 1) {
    if (labels[line + x] === old && (x === left || labels[line + x - 1] !== old)) waiting.push(x, row);
  }
};
