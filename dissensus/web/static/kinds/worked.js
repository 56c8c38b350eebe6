/* One worked example per kind, for the instructions: drawn here, so that it loads with the page, shows nothing of the study
 * and is the same for everybody. An example is { pictures() → nodes, asked, answer, why }. */

import { draw, make } from "../dom.js";

const MARK = "#1f5fd0";
const BIRD = "M38 46c2-13 14-20 27-18 4-7 13-8 17-2l8 3-7 4c-1 13-12 21-26 20-6 0-11-1-14-4L26 57z";

/* A bird on a branch. over: what is drawn on top; bird: false leaves the branch empty; by: moves the bird aside;
 * part: what is seen of it. */
const scene = ({ over = [], bird = true, by = 0, look = "", part = "0 0 120 80" } = {}) =>
  draw("svg", { class: `worked-picture ${look}`, viewBox: part, "aria-hidden": "true" },
    draw("rect", { width: 120, height: 80, fill: "#bcd9ec" }),
    draw("path", { d: "M0 62q30-18 62-8t58-8v34H0z", fill: "#8fb27c" }),
    draw("path", { d: "M0 60q50-8 120-2", fill: "none", stroke: "#6b4a30", "stroke-width": 5 }),
    bird && draw("g", { transform: `translate(${by} 0)` },
      draw("path", { d: BIRD, fill: "#b8512b" }),
      draw("path", { d: "M46 44c8-8 18-8 24-2-6 8-16 10-24 2z", fill: "#7c3218" }),
      draw("circle", { cx: 77, cy: 28, r: 2, fill: "#111" })),
    ...over);

const marked = (d) => draw("path", { d, fill: MARK, "fill-opacity": 0.5, stroke: MARK, "stroke-width": 1.5 });
const pin = (x, y) => draw("g", {}, draw("circle", { cx: x, cy: y, r: 8, fill: "#fff", stroke: "#111", "stroke-width": 2 }),
  draw("path", { d: `M${x} ${y - 4}v8M${x - 4} ${y}h8`, stroke: "#111", "stroke-width": 2 }));
const tick = () => draw("path", { d: "M88 18l8 8 16-18", fill: "none", stroke: MARK, "stroke-width": 7, "stroke-linecap": "round", "stroke-linejoin": "round" });
const cross = () => draw("path", { d: "M10 8l100 64M110 8 10 72", stroke: "#b3261e", "stroke-width": 5 });

/* A scale with its thumb at a share of its length. */
const scale = (share) =>
  draw("svg", { class: "worked-scale", viewBox: "0 0 240 24", "aria-hidden": "true" },
    draw("rect", { x: 6, y: 9, width: 228, height: 6, rx: 3, fill: "currentColor", opacity: 0.35 }),
    draw("circle", { cx: 6 + 228 * share, cy: 12, r: 10, fill: MARK }));

const BLURRED = { look: "blurred" };

const EXAMPLES = {
  contains: { pictures: () => [scene()], asked: "Does this show a bird?", answer: "Yes", why: "One is enough, however small." },
  choice: { pictures: () => [scene(), scene(BLURRED)], asked: "Which one is better?", answer: "Left", why: "The right one is blurred." },
  pick: { pictures: () => [scene()], asked: "What is it?", answer: "bird", why: "Type ‘bi’, and choose it from the list." },
  label: { pictures: () => [scene()], asked: "What is it?", answer: "robin", why: "Its examples look like this bird, those of ‘wren’ do not." },
  slider: { pictures: () => [scene(), scene(BLURRED), scale(0.14)], asked: "Which one is better?", answer: "Left, −72", why: "The right one is clearly blurred." },
  rating: { pictures: () => [scene(BLURRED), scale(0.3)], asked: "How good is it?", answer: "Poor, 30", why: "It is blurred, but you can still tell what it is." },
  mask: { pictures: () => [scene({ over: [marked(BIRD)] })], asked: "What is where?", answer: "bird", why: "Its outline is followed closely. The rest stays background." },
  check: {
    pictures: () => [scene({ over: [marked("M45 43c2-11 11-16 20-15 4-7 13-8 17-2-1 18-9 26-25 27-6 0-10-1-13-4z"), pin(31, 54)] })],
    asked: "Is the mask right?", answer: "Missing", why: "The tail is not marked: that is one spot to click.",
  },
  reveal: {
    pictures: () => [scene({ over: [draw("path", { d: "M0 0h120v80H0zM60 14v36h40V14z", fill: "#808080", "fill-rule": "evenodd" })] })],
    asked: "What is it?", answer: "bird", why: "An eye and a beak are enough.",
  },
  grid: {
    pictures: () => [scene({ over: [tick()] }), scene({ bird: false }), scene({ by: -18, over: [tick()] })],
    asked: "Which of these show a bird?", answer: "The first and the third", why: "",
  },
  pairs: { pictures: () => [scene({ over: [tick()] }), scene({ part: "22 14 78 52" })], asked: "Same picture?", answer: "Yes", why: "The second is a part of the first." },
  review: { pictures: () => [scene(), scene({ bird: false, over: [cross()] })], asked: "Candidates for ‘bird’", answer: "Blacklist the second", why: "There is no bird in it." },
  frames: { pictures: () => [scene(), scene({ by: 6 })], asked: "Both a bird, and alike?", answer: "Right, and similar", why: "It has moved only a little." },
};

export const drawnExample = (kind) => {
  const { pictures, asked, answer, why } = EXAMPLES[kind];
  return make("figure", { class: "worked", "data-role": "example" },
    make("div", { class: "worked-pictures" }, pictures()),
    make("figcaption", {}, make("span", { class: "worked-head" }, "Example"), make("span", {}, asked, " ", make("b", {}, answer)), why && make("span", { class: "quiet" }, why)));
};
