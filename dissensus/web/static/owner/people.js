/* Who answers, how fast, and how well, as far as that can be measured. Suggestions are only suggestions: the owner decides. */

import { make, one } from "../dom.js";
import { ago, number, outOf, seconds, share } from "./words.js";

const COLUMNS = ["Name", "Answers", "Median time", "Agrees with others", "Controls correct", "Same on repeat", "Skill", "Last seen", ""];

const tag = (words, tone) => make("span", { class: "tag", "data-tone": tone }, words);

const button = (act, name, words, listen) =>
  make("button", { type: "button", class: "plain", "data-act": act, "data-name": name, "aria-label": `${words.replace("…", "")}: ${name}`, onclick: listen }, words);

const cell = (label, value, sub) => make("td", { class: "number", "data-label": label }, make("span", {}, value, sub && make("small", {}, sub)));

const row = (person, now, acts) => {
  const { name, exclusion, suggestion, is_trusted: isTrusted, is_revoked: isRevoked, has_link: hasLink } = person;
  const tags = [isTrusted && tag("trusted"), exclusion && tag("excluded", "wrong"), isRevoked && tag("link revoked"), suggestion && tag("review", "note")];
  const line = make(
    "tr",
    { "data-person": name, "data-excluded": String(Boolean(exclusion)) },
    make("th", { scope: "row" }, make("span", { class: "who" }, name), tags),
    cell(COLUMNS[1], number(person.answers)),
    cell(COLUMNS[2], seconds(person.seconds)),
    cell(COLUMNS[3], share(person.agreement), person.compared ? `on ${number(person.compared)}` : ""),
    cell(COLUMNS[4], outOf(person.controls.right, person.controls.of)),
    cell(COLUMNS[5], outOf(person.repeats.same, person.repeats.of)),
    cell(COLUMNS[6], share(person.skill)),
    cell(COLUMNS[7], ago(person.last, now)),
    make("td", { class: "acts" },
      exclusion ? button("include", name, "Include again", () => acts.include(person)) : button("exclude", name, "Exclude…", () => acts.exclude(person)),
      hasLink && !isRevoked && button("revoke", name, "Revoke link…", () => acts.revoke(person))),
  );
  const words = exclusion ? `Excluded ${ago(exclusion.time, now)} by ${exclusion.by}: ${exclusion.reason}` : suggestion && `Suggestion: exclude. ${suggestion}`;
  if (!words) return [line];
  line.classList.add("has-note");
  return [line, make("tr", { class: "note-row", "data-tone": exclusion ? "wrong" : "note" }, make("td", { colspan: COLUMNS.length }, make("p", {}, words)))];
};

/* First those to review, then the most active, then those who no longer count. */
const place = (person) => (person.suggestion ? 0 : person.exclusion ? 2 : person.is_revoked ? 3 : 1);

export const drawPeople = (annotators, now, acts) => {
  const host = one("[data-role=people]");
  if (!annotators.length) return host.replaceChildren(make("p", { class: "none" }, "Nobody has been invited yet: create a link below and send it."));
  const order = annotators.toSorted((a, b) => place(a) - place(b) || b.answers - a.answers || a.name.localeCompare(b.name));
  const focused = document.activeElement?.dataset?.act && { ...document.activeElement.dataset };
  host.replaceChildren(
    annotators.some(({ answers }) => answers) ? "" : make("p", { class: "none" }, "Nobody has answered yet."),
    make("table", { class: "table people" },
      make("thead", {}, make("tr", {}, COLUMNS.map((label, i) => make("th", { scope: "col", class: i && label ? "number" : null }, label || make("span", { class: "unseen" }, "Actions"))))),
      make("tbody", {}, order.flatMap((person) => row(person, now, acts)))),
  );
  if (focused) one(`[data-act="${focused.act}"][data-name="${CSS.escape(focused.name)}"]`, host)?.focus({ preventScroll: true });
};
