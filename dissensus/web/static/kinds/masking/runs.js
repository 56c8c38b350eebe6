/* Label maps as run lengths, row by row: runs continue across rows, and neighbouring runs have different labels. */

/* [label, length, label, length, …]: the format of answers. */
export const encoded = (labels) => {
  const runs = [];
  for (let start = 0, i = 1; i <= labels.length; i += 1) {
    if (i < labels.length && labels[i] === labels[start]) continue;
    runs.push(labels[start], i - start);
    start = i;
  }
  return runs;
};

/* The map of `size` pixels; null if the runs do not have that size. */
export const decoded = (runs, size) => {
  const labels = new Uint8Array(size);
  let filled = 0;
  for (let i = 0; i + 1 < runs.length; i += 2) {
    if (!(runs[i + 1] > 0) || filled + runs[i + 1] > size) return null;
    labels.fill(runs[i], filled, filled + runs[i + 1]);
    filled += runs[i + 1];
  }
  return filled === size ? labels : null;
};

/* Number of pixels of every label in an answer: label → count. */
export const pixelsOf = (runs) => {
  const pixels = new Map();
  for (let i = 0; i + 1 < runs.length; i += 2) pixels.set(runs[i], (pixels.get(runs[i]) ?? 0) + runs[i + 1]);
  return pixels;
};

/* The same in a third of the bytes: for each run its label and its length, seven bits per byte, low bits first. */
export const packed = (labels) => {
  const bytes = [];
  for (let start = 0, i = 1; i <= labels.length; i += 1) {
    if (i < labels.length && labels[i] === labels[start]) continue;
    let length = i - start;
    bytes.push(labels[start]);
    for (; length > 127; length >>>= 7) bytes.push((length & 127) | 128);
    bytes.push(length);
    start = i;
  }
  return Uint8Array.from(bytes);
};

/* The map of `size` pixels; null if the bytes are damaged. */
export const unpacked = (bytes, size) => {
  const labels = new Uint8Array(size);
  let filled = 0;
  for (let at = 0; at < bytes.length; ) {
    const label = bytes[at++];
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      length += (bytes[at] & 127) * 2 ** shift;
      if (!(bytes[at++] & 128)) break;
    }
    if (!length || filled + length > size) return null;
    labels.fill(label, filled, filled + length);
    filled += length;
  }
  return filled === size ? labels : null;
};
