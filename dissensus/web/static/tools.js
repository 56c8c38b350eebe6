/* What every kind of question gets in its context, besides the question's own pictures. */

import { ask, askPatiently } from "./api.js";
import { readJson, write } from "./keeping.js";

const MOST_RECENT = 6;

export const toolsFor = (prefix, isGuided) => {
  const key = `${prefix}:recent`;
  const recent = {
    read: () => readJson(key, []),
    add: (value) => write(key, JSON.stringify([value, ...recent.read().filter((other) => other !== value)].slice(0, MOST_RECENT))),
  };
  let known = null;
  const classes = () => (known ??= askPatiently("GET", "/api/classes", undefined, () => {}, "default"));
  const guides = new Map();
  const guide = (value) => {
    if (!guides.has(value)) {
      const asked = ask("GET", `/api/classes/${value}`);
      guides.set(value, asked);
      asked.catch(() => guides.delete(value)); // asked again the next time
    }
    return guides.get(value);
  };
  return { classes, recent, isGuided, guide, isTouch: matchMedia("(hover: none) and (pointer: coarse)").matches };
};
