/* What people read before they start, and under Help. The start fits on one screen: one sentence, the owner's words and one
 * example. Everything else, such as the keys, is under Help. */

import { count, make, one } from "./dom.js";
import { drawnExample } from "./kinds/worked.js";
import { COMMON_KEYS, KINDS } from "./kinds/index.js";

const known = (kinds) => Object.keys(KINDS).filter((kind) => kinds.includes(kind));
const gameAmong = (kinds) => known(kinds).find((kind) => KINDS[kind].isGame);
const paragraphs = (texts) => texts.map((text) => make("p", { class: "owners" }, text));
const minutes = (number) => count(number, "minute");

/* The kind that comes first; the titles of the others, which explain themselves under Help. */
const introduction = (kinds) => {
  const [first, ...others] = [gameAmong(kinds) ?? known(kinds)[0], ...known(kinds)].filter((kind, i, all) => kind && all.indexOf(kind) === i);
  if (!first) return { brief: "", example: null, also: "" };
  const titles = gameAmong(kinds) ? [] : others.map((kind) => `‘${KINDS[kind].title}’`);
  return { brief: KINDS[first].brief, example: drawnExample(first), also: titles.length ? `You may also be asked: ${titles.join(", ")} Help explains it.` : "" };
};

export const fillInstructions = ({ instructions, kinds, training, name, sessions, break_minutes: work, rest_minutes: rest }) => {
  const { brief, example, also } = introduction(kinds);
  one("[data-role=instructions]").replaceChildren(make("p", { class: "brief" }, brief), ...paragraphs(instructions), ...(example ? [example] : []), also && make("p", { class: "about" }, also));
  const game = gameAmong(kinds);
  one("[data-role=instructions-title]").textContent = KINDS[game ?? known(kinds)[0]]?.title ?? "Tell us what you see";
  const open = training.total - training.done;
  const start = open > 0 ? `Start with ${count(open, "practice question")}` : game ? "Play" : "Start";
  one("[data-role=start]").replaceChildren(make("span", {}, start), make("kbd", { "aria-hidden": "true" }, "Enter"));
  const between = rest ? `, with a break of ${minutes(rest)} after each` : "";
  one("[data-role=sessions]").textContent = sessions > 1 ? `There are ${sessions} sessions of at most ${minutes(work)}${between}.` : "";
  one("[data-role=who]").textContent = `You are answering as ${name}.`;
};

const keyList = (rows) =>
  make("dl", { class: "keys" }, rows.map(({ keys, name, meaning = "", typed = "" }) =>
    make("div", { class: meaning ? "" : "typed" },
      make("dt", {}, make("span", { class: "caps" }, keys.map((key) => make("kbd", {}, key))), name),
      make("dd", {}, meaning, make("span", { class: "typed" }, typed))),
  ));

const inFull = (kind, hasClips) => {
  const { about, aboutClips, keys } = KINDS[kind];
  return [make("p", { class: "about" }, hasClips && aboutClips ? `${about} ${aboutClips}` : about), keyList(keys.filter(({ isClip }) => !isClip || hasClips))];
};

const everywhere = (kinds) =>
  COMMON_KEYS.filter(({ isZoom, isUndo }) => (isZoom ? kinds.some((kind) => KINDS[kind].hasZoom !== false) : !isUndo || !kinds.some((kind) => KINDS[kind].isFinal || KINDS[kind].ownsZ)));

/* `hasClips`: the person has been given clips, so that Help speaks of them. */
export const fillHelp = ({ instructions, kinds }, hasClips) => {
  const game = gameAmong(kinds);
  const explained = known(kinds).flatMap((kind) => [make("h3", {}, KINDS[kind].title), ...inFull(kind, hasClips)]);
  const all = game ? inFull(game, hasClips) : [...explained, make("h3", {}, "At any time"), keyList(everywhere(known(kinds)))];
  one("[data-role=help-words]").replaceChildren(...paragraphs(instructions), ...all);
};
