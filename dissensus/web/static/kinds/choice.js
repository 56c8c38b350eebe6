/* Which of two pictures? The server decides at random which one is on the left; the answer names the side. Two predictions
 * for one image come with a third picture, the image itself, which is shown while a key or button is held. */

import { make } from "../dom.js";
import { Bare } from "./bare.js";
import { Legend } from "./legend.js";
import { answerButtons, asked, side, stage } from "./parts.js";

const rowsFor = (hasSame, isOver) => [
  { value: "left", label: side("Left", "Upper"), keys: ["←"], tone: "blue" },
  ...(hasSame ? [{ value: "same", label: "No difference", keys: ["↓", "S"] }] : []),
  ...(isOver ? [{ value: "unfit", label: "Cannot be judged", keys: ["U"] }] : []),
  { value: "right", label: side("Right", "Lower"), keys: ["→"], tone: "orange" },
];

const words = (value) =>
  ({ left: "the left or upper one", right: "the right or lower one", same: "no difference", unfit: "cannot be judged" })[value];

const draw = (host, question, context) => {
  const { same, over, items, labels, colours, empty = [], ask = "Which picture do you choose?" } = question.payload;
  const [left, right, image] = context.pictures;
  const note = (where, words) => (empty.includes(where) ? words : ""); // it would look like the bare photograph
  const captions = [["left", side("Left", "Upper")], ["right", side("Right", "Lower")]].map(([where, words]) => make("span", {}, ...words, note(where, " · nothing marked")));
  const alts = [`First picture, left or upper${note("left", ": nothing marked")}`, `Second picture, right or lower${note("right", ": nothing marked")}`];
  const { element, zoom } = stage(left ? [left, right] : [], items, alts, captions);
  const bare = over && image ? new Bare(element, image) : null;
  const buttons = answerButtons(rowsFor(same, over), context);
  buttons.element.classList.toggle("over", Boolean(over));
  const legend = over && labels ? new Legend(context.classes()) : null;
  legend?.show(labels, colours);
  host.append(element, make("div", { class: "foot" }, make("div", { class: "heading" }, asked("", ask), bare?.button), legend?.element, buttons.element));
  return {
    says: ask,
    words,
    told: words,
    zoom,
    key: buttons.key,
    leave: () => bare?.leave(),
  };
};

export default {
  title: "Which of the two?",
  brief: "Choose the better of two pictures; if regions are marked in them, the one that is marked better.",
  about:
    "Two pictures, side by side or one above the other; they zoom together. If both show the same photograph with regions marked, " +
    "decide which one is marked better. You can look at the photograph alone at any time.",
  keys: [
    { keys: ["←"], name: "Left", meaning: "the left one; on a narrow screen, the upper one" },
    { keys: ["→"], name: "Right", meaning: "the right one; on a narrow screen, the lower one" },
    { keys: ["↓", "S"], name: "No difference", meaning: "if offered: you prefer neither" },
    { keys: ["Space"], name: "Photo", meaning: "hold to see the photograph without the marked regions" },
    { keys: ["U"], name: "Cannot be judged", meaning: "if offered: the picture is broken or unsuitable" },
  ],
  draw,
};
