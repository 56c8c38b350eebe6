/* Which of two pictures? Which one stands left is the server's throw; the answer names the side. */

import { make } from "../dom.js";
import { answerButtons, asked, side, stage } from "./parts.js";

const rowsFor = (hasSame) => [
  { value: "left", label: side("Left", "Upper"), keys: ["←"], tone: "blue" },
  ...(hasSame ? [{ value: "same", label: "No difference", keys: ["↓", "S"] }] : []),
  { value: "right", label: side("Right", "Lower"), keys: ["→"], tone: "orange" },
];

const words = (value) => ({ left: "the left or upper one", right: "the right or lower one", same: "no difference" })[value];

const draw = (host, question, context) => {
  const ask = question.payload.ask || "Which picture do you choose?";
  const captions = [side("Left", "Upper"), side("Right", "Lower")].map((words) => make("span", {}, ...words));
  const alts = ["First picture, left or upper", "Second picture, right or lower"];
  const { element, zoom } = stage(context.pictures, question.payload.items, alts, captions);
  const buttons = answerButtons(rowsFor(question.payload.same), context);
  host.append(element, make("div", { class: "foot" }, asked("", ask), buttons.element));
  return {
    says: ask,
    words,
    told: words,
    zoom,
    key: buttons.key,
  };
};

export default {
  title: "Which of the two?",
  about: "Two pictures, side by side or one above the other. Zooming moves both.",
  keys: [
    { keys: ["←"], name: "Left", meaning: "the left one; on a narrow screen, the upper one" },
    { keys: ["→"], name: "Right", meaning: "the right one; on a narrow screen, the lower one" },
    { keys: ["↓", "S"], name: "No difference", meaning: "where it is offered: neither one more than the other" },
  ],
  draw,
};
