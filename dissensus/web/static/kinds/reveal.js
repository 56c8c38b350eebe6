/* How little is enough? People uncover a picture step by step until they can name it. Only what they have uncovered is
 * fetched, and the next steps ahead of time, so that a press shows at once. Everything shown is recorded with its time. */

import { make } from "../dom.js";
import { readJson, remove, write } from "../keeping.js";
import { markRight, nameButtons } from "./names.js";
import { asked, seenInCorner } from "./parts.js";

const ARROWS = { left: ["←", "ArrowLeft"], right: ["→", "ArrowRight"], top: ["↑", "ArrowUp"], bottom: ["↓", "ArrowDown"] };
const WORDS = {
  left: "More on the left", right: "More on the right", top: "More at the top", bottom: "More at the bottom",
  resolution: "Sharper", colour: "More colours",
};
const MORE = { colour: "More colours", resolution: "Sharper" }; // if there is nothing else to add
const PATIENCE = 20000;
const LATE = "The picture did not arrive: try again.";
const WAY = "dissensus:way:";

const isEqual = (a, b) => a.every((step, i) => step === b[i]);

/* The picture in its states: fetched once each, shown in a frame that never changes its size. */
class Film {
  #ticket;
  #known = new Map(); // state → promise of a decoded image
  frame = make("figure", { class: "frame reveal-frame" });

  constructor(ticket, first, image) {
    this.#ticket = ticket;
    this.#known.set(first.join("-"), Promise.resolve(image));
    this.#place(image);
  }

  async show(state) {
    const image = await this.#fetched(state.join("-"));
    this.#place(image);
  }

  preload(states) {
    for (const state of states) this.#fetched(state.join("-")).catch(() => {});
  }

  /* Only after the answer. */
  async showWhole() {
    const seen = this.frame.querySelector("img");
    const image = await this.#fetched("whole");
    this.#place(image);
    image.alt = "The whole picture";
    seenInCorner(this.frame, seen, "What you had uncovered");
  }

  #place(image) {
    image.alt = "What is uncovered so far";
    image.classList.remove("pixels"); // few pixels are enlarged smoothly
    this.frame.replaceChildren(image);
  }

  #fetched(state) {
    if (!this.#known.has(state)) {
      const image = make("img", { draggable: "false" });
      image.src = `/reveal/${this.#ticket}/${state}`;
      const late = new Promise((_, fail) => { setTimeout(() => fail(new Error("late")), PATIENCE); });
      const ready = Promise.race([image.decode(), late]).then(() => image);
      ready.catch(() => this.#known.delete(state));
      this.#known.set(state, ready);
    }
    return this.#known.get(state);
  }
}

/* Where the person is, how they got there, and where one press can lead. */
class Way {
  #key;

  /* Somebody who reloads the page has seen what they had uncovered: they go on from there. */
  constructor(ticket, axes, most) {
    this.#key = `${WAY}${ticket}`;
    this.most = most;
    this.steps = readJson(this.#key, [[0, axes.map(() => 0)]]);
    this.state = this.steps.at(-1)[1];
    this.began = performance.now() - 1000 * this.steps.at(-1)[0];
  }

  go(state) {
    this.state = state;
    this.steps.push([Math.round(performance.now() - this.began) / 1000, state]);
    write(this.#key, JSON.stringify(this.steps));
  }

  forget() {
    remove(this.#key);
  }

  along(axis) {
    return this.state.map((step, i) => (i === axis ? step + 1 : step));
  }

  everywhere(by = 1) {
    return this.state.map((step) => Math.max(0, Math.min(this.most, step + by)));
  }

  get share() {
    return this.state.reduce((sum, step) => sum + step, 0) / (this.most * this.state.length);
  }
}

const draw = (host, question, context) => {
  const { ask, axes, mode, steps: most, names } = question.payload;
  const way = new Way(question.ticket, axes, most);
  const film = new Film(question.ticket, axes.map(() => 0), context.pictures[0]);
  const bar = make("i");
  const status = make("p", { class: "reveal-status", role: "status" });
  let isBusy = false;
  let wanted = null;

  const answer = (name) => {
    if (isBusy) return; // what they have seen is not clear yet
    context.answer({ name, steps: way.steps });
  };
  const settle = () => {
    bar.style.width = `${100 * way.share}%`;
    meter.setAttribute("aria-valuenow", Math.round(100 * way.share));
    controls.update();
    film.preload(controls.next());
  };
  /* A step counts once its picture is on the screen. Of a slider's positions only the last one matters. */
  const go = async (state) => {
    if (isEqual(state, wanted ?? way.state) || (isBusy && mode !== "guided")) return;
    wanted = state;
    if (isBusy) return;
    isBusy = true;
    status.textContent = "";
    try {
      while (!isEqual(wanted, way.state)) {
        const target = wanted;
        await film.show(target);
        way.go(target);
        if (mode !== "guided") break;
      }
    } catch {
      status.textContent = LATE;
    }
    wanted = null;
    isBusy = false;
    settle();
  };

  const controls = (mode === "guided" ? guided : free)(way, axes, go, names);
  const meter = make("div", { class: "meter", role: "progressbar", "aria-label": "Uncovered", "aria-valuemin": 0, "aria-valuemax": 100 }, bar);
  const list = nameButtons(names, { ...context, answer }, "I give up");
  const stage = make("div", { class: "stage reveal-stage", "data-role": "stage", "data-pictures": 1 }, film.frame, meter);
  const foot = make("div", { class: "foot revealing" },
    make("div", { class: "uncover" }, controls.element, status),
    make("div", { class: "naming" }, asked("", ask, make("p", { class: "gloss" }, hint(names, context))), ...list.elements));
  host.append(stage, foot);
  if (way.steps.length > 1) film.show(way.state).catch(() => { status.textContent = LATE; });
  settle();
  return {
    says: `${ask} Uncover as little as you can.`,
    words: ({ name }) => (name === null ? "gave up" : names[name]),
    takesLetters: true,
    key: (event) => {
      const isUsed = controls.key(event);
      if (isUsed && foot.contains(document.activeElement) && !document.activeElement.matches("input")) document.activeElement.blur();
      return isUsed || Boolean(list.key(event));
    },
    after: (result) => {
      way.forget();
      markRight(foot, result.answer);
      if (result.has_whole) film.showWhole().catch(() => {});
    },
  };
};

const hint = (names, { isTouch }) => (isTouch ? "Name it as soon as you can." : ["Click its name, or type the first letters, then ", make("kbd", {}, "Enter"), "."]);

const button = (label, key, attributes, act) =>
  make("button", {
    type: "button", ...attributes,
    onclick: (event) => { if (event.detail) event.currentTarget.blur(); act(); }, // so that the next key is not a press of this button
  }, make("span", {}, label), key && make("kbd", { "aria-hidden": "true" }, key));

/* Keys for what has no arrow; digits that are typed to name a picture must not uncover it. */
const otherKeys = (names) => (names.some((name) => /^\d/.test(name)) ? [",", "."] : ["1", "2"]);

/* A button for each direction and one for all of them; what was added stays. */
const free = (way, axes, go, names) => {
  const others = axes.filter((axis) => !ARROWS[axis]);
  const keyOf = (axis) => ARROWS[axis]?.[0] ?? otherKeys(names)[others.indexOf(axis)];
  const single = axes.length === 1;
  const all = button(single ? MORE[axes[0]] ?? "More" : others.length ? "A bit of everything" : "All around", "Space",
    { class: "all", "data-step": "all", "aria-keyshortcuts": "Space +" }, () => go(way.everywhere()));
  const every = single ? [] : axes.map((axis, i) =>
    button(ARROWS[axis] ? ARROWS[axis][0] : WORDS[axis] ?? `More ${axis}`, ARROWS[axis] ? "" : keyOf(axis), {
      class: ARROWS[axis] ? `arrow to-${axis}` : "other", "data-step": axis, "aria-keyshortcuts": ARROWS[axis]?.[1] ?? keyOf(axis),
      "aria-label": WORDS[axis] ?? `More ${axis}`, title: WORDS[axis] ?? `More ${axis}`,
    }, () => go(way.along(i))));
  const hasArrows = axes.some((axis) => ARROWS[axis]);
  const arrows = every.filter((_, i) => ARROWS[axes[i]]);
  const element = make("div", { class: "adding", role: "group", "aria-label": "Uncover more" },
    make("div", { class: hasArrows ? "pad" : "pad plainly" }, arrows, all),
    others.length > 0 && !single && make("div", { class: "others" }, every.filter((one) => !arrows.includes(one))));
  const isDone = (i) => way.state[i] >= way.most;
  const press = (one) => { if (!one.disabled) one.click(); };
  return {
    element,
    update: () => {
      every.forEach((one, i) => { one.disabled = isDone(i); });
      all.disabled = axes.every((_, i) => isDone(i));
    },
    next: () => [way.everywhere(), ...axes.flatMap((_, i) => (isDone(i) || single ? [] : [way.along(i)]))],
    key: ({ key }) => {
      const at = axes.findIndex((axis) => ARROWS[axis]?.[1] === key || (!ARROWS[axis] && !single && keyOf(axis) === key));
      if (at >= 0) press(every[at]);
      else if ([" ", "+", "="].includes(key) || (single && ["ArrowRight", "ArrowUp"].includes(key))) press(all);
      else return false;
      return true;
    },
  };
};

/* One control that adds along all axes at once, and takes away again. */
const guided = (way, axes, go) => {
  const to = (step) => go(axes.map(() => Math.max(0, Math.min(way.most, step))));
  const slider = make("input", { type: "range", class: "reveal-range", min: 0, max: way.most, step: 1, value: 0, "aria-label": "How much is uncovered", oninput: () => to(Number(slider.value)) });
  const less = button("Less", "−", { class: "less", "data-step": "less", "aria-keyshortcuts": "- ArrowLeft" }, () => to(way.state[0] - 1));
  const more = button("More", "Space", { class: "all", "data-step": "all", "aria-keyshortcuts": "Space + ArrowRight" }, () => to(way.state[0] + 1));
  return {
    element: make("div", { class: "guide", role: "group", "aria-label": "Uncover more or less" }, less, slider, more),
    update: () => {
      slider.value = way.state[0];
      less.disabled = way.state[0] <= 0;
      more.disabled = way.state[0] >= way.most;
    },
    next: () => [way.everywhere(1), way.everywhere(-1), way.everywhere(2)],
    key: (event) => {
      const { key } = event;
      if ([" ", "+", "=", "ArrowRight", "ArrowUp"].includes(key)) to(way.state[0] + 1);
      else if (["-", "_", "ArrowLeft", "ArrowDown"].includes(key)) to(way.state[0] - 1);
      else return false;
      return true;
    },
  };
};

export default {
  title: "How little is enough?",
  brief: "Uncover a hidden picture bit by bit, and name it as soon as you can: the less you need, the better.",
  about:
    "A picture is hidden. Uncover it bit by bit, and say what it shows as soon as you can tell: the less you need, the better. Some pictures were " +
    "uncovered by a machine, and you only name them. After every round you see the whole picture, and whether you beat the machines. No picture comes twice.",
  isGame: true,
  hasZoom: false,
  isFinal: true,
  keys: [
    { keys: ["Space"], name: "More", meaning: "uncovers a bit more" },
    { keys: ["←", "→", "↑", "↓"], name: "Sides", meaning: "uncover more on one side; if there is a slider, move it" },
    { keys: ["A", "…", "Z"], name: "Name", typed: "type the first letters of a name, then Enter" },
    { keys: ["Esc"], name: "I give up", meaning: "shows the picture; the round counts as not recognised", typed: " (confirm with Enter)" },
  ],
  draw,
};
