/* Which of these pairs show the same picture? */

import { make } from "../dom.js";
import { Ticking } from "./ticking.js";

const draw = (host, question, context) => {
  const { ask, rule, many } = question.payload;
  const pairs = Array.from({ length: many }, (_, i) => context.pictures.slice(2 * i, 2 * i + 2));
  return new Ticking(host, question, context, {
    pictures: pairs,
    noun: "pair",
    shape: "pairs",
    head: [make("div", { class: "tiles-words" }, make("h2", { class: "name" }, ask), rule && make("p", { class: "rule" }, rule))],
  });
};

export default {
  title: "Which pairs show the same picture?",
  brief: "Check every pair in which both are the same picture, even if one was cropped, stretched or recoloured.",
  about:
    "Pairs of pictures: check every pair in which both are the same picture, even if one was cropped, stretched or recoloured. " +
    "The magnifier shows both large; they zoom together.",
  isGradual: true,
  keys: [
    { keys: ["←", "→", "↑", "↓"], name: "Move", typed: "from pair to pair" },
    { keys: ["Space"], name: "Check", typed: "checks the pair, or unchecks it" },
    { keys: ["Enter"], name: "Done", typed: "sends your answer and goes on" },
  ],
  draw,
};
