/* Boxes of pixels: { left, top, right, bottom }, right and bottom exclusive; null if empty. */

export const joined = (one, other) => {
  if (!one || !other) return one ?? other;
  return {
    left: Math.min(one.left, other.left), top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right), bottom: Math.max(one.bottom, other.bottom),
  };
};

export const within = (box, width, height) => {
  const cut = { left: Math.max(0, box.left), top: Math.max(0, box.top), right: Math.min(width, box.right), bottom: Math.min(height, box.bottom) };
  return cut.left < cut.right && cut.top < cut.bottom ? cut : null;
};
