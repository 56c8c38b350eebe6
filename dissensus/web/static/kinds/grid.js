/* Which of these pictures show it? Many at once; any number may be right, also none. */

import { make } from "../dom.js";
import { stage } from "./parts.js";
import { Ticking } from "./ticking.js";
import { emphasised } from "./tiles.js";

const draw = (host, question, context) => {
  const { ask, name, definition, rule, many } = question.payload;
  const [shown, pictures] = [context.pictures.slice(0, -many), context.pictures.slice(-many)];
  return new Ticking(host, question, context, {
    pictures: pictures.map((one) => [one]),
    noun: "picture",
    shape: "grid",
    head: [
      make("div", { class: "tiles-words" },
        make("h2", { class: "name" }, emphasised(ask, name)),
        definition && make("p", { class: "definition" }, make("b", {}, name), ": ", definition),
        rule && make("p", { class: "rule" }, rule)),
      examples(shown, name),
    ],
  });
};

/* Pictures that show what is meant. */
const examples = (pictures, name) => {
  if (!pictures.length) return null;
  const boxes = pictures.map((promise, i) => {
    const box = make("button", { type: "button", class: "example", "aria-label": `Example ${i + 1} of ${name}: enlarge`, disabled: true });
    promise.then((image) => {
      image.alt = "";
      box.replaceChildren(image);
      box.disabled = false;
      box.onclick = () => enlarged(image, `Example of ${name}`);
    }, () => { box.hidden = true; });
    return box;
  });
  return make("div", { class: "examples", role: "group", "aria-label": "Examples" }, make("span", { class: "caption", "aria-hidden": "true" }, boxes.length === 1 ? "Example" : "Examples"), make("div", {}, boxes));
};

const enlarged = (image, words) => {
  const close = make("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close ", make("kbd", {}, "Esc"));
  const dialog = make("dialog", { class: "closer", "aria-label": words, onclose: () => dialog.remove() },
    make("div", { class: "closer-head" }, make("h2", { class: "closer-title" }, words), close),
    make("div", { class: "closer-room" }, stage([image.cloneNode()], [], [words]).element));
  image.closest("[data-role=host]").append(dialog);
  dialog.showModal();
};

export default {
  title: "Which of these pictures show it?",
  brief: "Check every picture that shows what is asked for: any number may be right, also none.",
  about:
    "Many pictures at once: check every one that shows what is asked for, by clicking or tapping it. Any number may be right, also none. " +
    "The magnifier shows a picture large.",
  isGradual: true,
  keys: [
    { keys: ["←", "→", "↑", "↓"], name: "Move", typed: "from picture to picture" },
    { keys: ["Space"], name: "Check", typed: "checks the picture, or unchecks it" },
    { keys: ["Enter"], name: "Done", typed: "sends your answer and goes on" },
  ],
  draw,
};
