/* Does the picture contain the named thing? */

import { make } from "../dom.js";
import { besideExamples } from "./examples.js";
import { answerButtons, asked, stage } from "./parts.js";

const ROWS = [
  { value: "yes", label: "Yes", keys: ["Y"], tone: "blue", meaning: "it is in the picture" },
  { value: "no", label: "No", keys: ["N"], tone: "orange", meaning: "it is not in the picture" },
  { value: "unsure", label: "Hard to tell", keys: ["U"], meaning: "you cannot decide, or you do not know the word" },
  { value: "unfit", label: "Unsuitable", keys: ["X"], meaning: "not a natural photograph, or not suitable to show" },
];

const draw = (host, question, context) => {
  const { label, article, name, gloss, synonyms = [] } = question.payload;
  const others = synonyms.filter((word) => word.toLowerCase() !== name.toLowerCase());
  const { element, zoom } = stage(context.pictures, question.payload.items, ["Picture to judge"]);
  const buttons = answerButtons(ROWS, context);
  const isNext = context.isSamePicture;
  const text = asked(
    [isNext && make("b", { class: "same-picture" }, "Same picture, another name"), " ", ["Does this show", article].filter(Boolean).join(" ")],
    `${name}?`,
    gloss && make("p", { class: "gloss" }, gloss),
    others.length > 0 && make("p", { class: "gloss synonyms" }, `also called: ${others.join(", ")}`),
  );
  if (isNext) text.querySelector(".name").classList.add("changed");
  const card = context.isGuided ? besideExamples(label, question.payload, text, context) : null;
  host.append(card ? make("div", { class: "beside" }, element, card.element) : element, make("div", { class: "foot" }, text, buttons.element));
  return {
    says: [isNext && "Same picture, another name.", ["Does this show", article, `${name}?`].filter(Boolean).join(" "), gloss].filter(Boolean).join(" "),
    words: (value) => `${name}, ${ROWS.find((row) => row.value === value).label.toLowerCase()}`,
    zoom,
    key: buttons.key,
    leave: () => card?.leave(),
  };
};

export default {
  title: "Is it in the picture?",
  brief: "Say whether what is named is anywhere in the picture: go by what you can see, not by what is likely.",
  about: "Go by what you can see, not by what is likely. A picture may contain several things.",
  keys: ROWS.map(({ keys, label, meaning }) => ({ keys, name: label, meaning })),
  draw,
};
