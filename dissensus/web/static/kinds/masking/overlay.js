/* Labels in their colours: every screen pixel shows the label of the picture pixel at its centre. Regions have an
 * outline, so that their border is visible however pale they are; 'cannot tell' is hatched. */

export const VOID = 255;
const HATCH = 3; // pixels of the screen, as a power of two

const packedColour = (hex, opacity) => {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return ((Math.round(255 * opacity) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

/* { inside, rim, hatch }; colours: "#rrggbb" by label, and for 'cannot tell'; isOutline: outlines only. */
export const paletteOf = (colours, unknown, opacity, isOutline = false) => {
  const inside = new Uint32Array(256);
  const rim = new Uint32Array(256);
  [...colours.entries(), [VOID, unknown]].forEach(([label, colour]) => {
    if (!label) return; // the background is the picture itself
    inside[label] = packedColour(colour, isOutline ? 0 : opacity);
    rim[label] = packedColour(colour, isOutline ? 1 : Math.min(1, 0.25 + opacity));
  });
  return { inside, rim, hatch: packedColour("#202020", isOutline ? 0 : opacity) };
};

/* The pixels for a part of the screen. place: { scale, x, y } of the picture in screen pixels; part: a box of them. */
export const overlayOf = (labels, width, height, place, part, palette) => {
  const [wide, high] = [part.right - part.left, part.bottom - part.top];
  const pixels = new Uint32Array(wide * high);
  const columns = new Int32Array(wide + 2);
  for (let i = 0; i < wide + 2; i += 1) columns[i] = Math.floor((part.left + i - 0.5 - place.x) / place.scale);
  let [above, here, below] = [0, 1, 2].map(() => new Uint8Array(wide + 2));
  const look = (j, row) => {
    const y = Math.floor((part.top + j + 0.5 - place.y) / place.scale);
    if (y < 0 || y >= height) return row.fill(0);
    for (let i = 0; i < row.length; i += 1) row[i] = columns[i] < 0 || columns[i] >= width ? 0 : labels[y * width + columns[i]];
  };
  look(-1, above);
  look(0, here);
  for (let j = 0; j < high; j += 1) {
    look(j + 1, below);
    for (let i = 1, at = j * wide; i <= wide; i += 1, at += 1) {
      const label = here[i];
      if (!label) continue;
      const isRim = here[i - 1] !== label || here[i + 1] !== label || above[i] !== label || below[i] !== label;
      if (isRim) pixels[at] = palette.rim[label];
      else if (label === VOID && ((part.left + i + part.top + j) >> HATCH) & 1) pixels[at] = palette.hatch;
      else pixels[at] = palette.inside[label];
    }
    [above, here, below] = [here, below, above];
  }
  return new ImageData(new Uint8ClampedArray(pixels.buffer), wide, high);
};
