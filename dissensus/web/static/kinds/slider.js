/* Which of two is better, and how certain is that? Pictures are shown side by side, clips one after the other, all of them
 * pixel for pixel. The server decides at random which one is left or first; the answer is positive for the right one. */

import { make } from "../dom.js";
import { side } from "./parts.js";
import { SCALED_KEYS, drawScaled } from "./scaled.js";

const LARGEST = 100;
const DECIDED = 20;

/* Names of the two: on the screen, where the style sheet picks one, and in texts that fit any screen. */
const PICTURES = { left: side("Left", "Upper"), right: side("Right", "Lower"), text: { left: "the left or upper one", right: "the right or lower one" } };
const CLIPS = { left: ["First"], right: ["Second"], text: { left: "the first one", right: "the second one" } };

const bandOf = (value) => (Math.abs(value) < DECIDED ? "same" : value < 0 ? "left" : "right");
const signed = (value) => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");
const named = (names, band) => names[band].map((part) => (part.cloneNode ? part.cloneNode(true) : part));
const bandName = (names, band) => (band === "same" ? ["Uncertain"] : [...named(names, band), " is better"]);
const valueName = (names, value) => (value === 0 ? ["No difference"] : bandName(names, bandOf(value)));

const valueText = (names, value) => {
  const words = { unfit: "cannot be judged", same: "uncertain", left: `${names.text.left} is better`, right: `${names.text.right} is better` };
  if (typeof value === "string") return words[value];
  return value === null ? "not moved yet" : `${value === 0 ? "no difference" : words[bandOf(value)]} (${signed(value)})`;
};

const rangeOf = (names) => ({
  low: -LARGEST,
  high: LARGEST,
  start: 0,
  mark: true,
  label: "Which one is better",
  bands: [["left", 4], ["same", 2], ["right", 4]].map(([band, width]) => [band, width, bandName(names, band)]),
  bandOf,
  ticks: [-LARGEST, -DECIDED, 0, DECIDED, LARGEST],
  tick: signed,
  jumps: { 0: 0, s: 0 },
});

const draw = (host, question, context) => {
  const names = context.pictures.some((medium) => medium.matches("video")) ? CLIPS : PICTURES;
  return drawScaled(host, question, context, {
    ask: question.payload.ask || "Which one is better?",
    range: rangeOf(names),
    captions: ["left", "right"].map((band) => make("span", {}, ...named(names, band))),
    alts: ["left", "right"].map((band) => names.text[band]),
    name: (value) => valueName(names, value),
    text: (value) => valueText(names, value),
    number: signed,
    watch: "Watch both clips first",
    middle: { words: "No difference", key: "S", value: 0 },
  });
};

export default {
  title: "Which one is better, and how sure are you?",
  brief: "Move the slider towards the better one: the further you move it, the more certain you are.",
  about:
    "You compare two at a time, pixel for pixel. Move the slider towards the better one: the further you move it, the more certain you are. " +
    "Near the middle means uncertain; exactly in the middle means no difference.",
  aboutClips: "Clips play one after the other, and you can move the slider once you have seen both to the end.",
  hasZoom: false,
  keys: [
    { keys: ["←", "→"], name: "Move", typed: "by 5 towards the left or the right one, with Shift by 1; Home and End go all the way" },
    { keys: ["S", "0"], name: "No difference", meaning: "moves the slider exactly to the middle" },
    ...SCALED_KEYS,
    { keys: ["P", "1", "2"], name: "Play", isClip: true, meaning: "replays both clips, the first or the second one" },
  ],
  draw,
};
