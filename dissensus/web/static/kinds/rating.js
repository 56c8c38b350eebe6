/* How good is it? One picture or clip on its own, pixel for pixel, on a continuous scale with the five words of absolute
 * category rating. */

import { SCALED_KEYS, drawScaled } from "./scaled.js";

const LARGEST = 100;
const CATEGORIES = ["bad", "poor", "fair", "good", "excellent"];
const WIDTH = LARGEST / CATEGORIES.length;

const title = (word) => word[0].toUpperCase() + word.slice(1);
const categoryOf = (value) => CATEGORIES[Math.min(Math.floor(value / WIDTH), CATEGORIES.length - 1)];

const text = (value) => {
  if (typeof value === "string") return value === "unfit" ? "cannot be judged" : value;
  return value === null ? "not moved yet" : `${categoryOf(value)} (${value})`;
};

const RANGE = {
  low: 0,
  high: LARGEST,
  start: LARGEST / 2,
  label: "How good is it",
  bands: CATEGORIES.map((word) => [word, 1, title(word)]),
  bandOf: categoryOf,
  ticks: [0, ...CATEGORIES.map((_, i) => WIDTH * (i + 1))],
  tick: String,
  jumps: Object.fromEntries(CATEGORIES.map((_, i) => [i + 1, WIDTH * (i + 0.5)])),
};

const draw = (host, question, context) =>
  drawScaled(host, question, context, {
    ask: question.payload.ask || "How good is it?",
    range: RANGE,
    captions: [],
    alts: ["what to rate"],
    name: (value) => [title(categoryOf(value))],
    text,
    number: String,
    watch: "Watch the clip first",
  });

export default {
  title: "How good is it?",
  brief: "Move the slider to how good it looks to you, from bad to excellent.",
  about:
    "One at a time, pixel for pixel. Move the slider to how good it is, from bad to excellent. The words are there to help: any place between them is fine too. " +
    "Use the whole scale, and rate each one on its own.",
  aboutClips: "You can move the slider once you have seen a clip to the end.",
  hasZoom: false,
  keys: [
    { keys: ["←", "→"], name: "Move", typed: "by 5 towards worse or better, with Shift by 1; Home and End go all the way" },
    { keys: ["1–5"], name: "Jump", typed: "to the middle of bad, poor, fair, good or excellent" },
    ...SCALED_KEYS,
    { keys: ["P"], name: "Play", isClip: true, meaning: "plays the clip again" },
  ],
  draw,
};
