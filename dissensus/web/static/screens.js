/* Which panel is shown, and its texts. */

import { all, count, one, saveFile } from "./dom.js";
import { keysUnder } from "./keeping.js";
import { unsentText } from "./outbox.js";

export const screen = () => document.body.dataset.screen;

export const showScreen = (name) => {
  if (screen() === name) return;
  document.body.dataset.screen = name;
  for (const panel of all("[data-panel]")) panel.hidden = panel.dataset.panel !== name;
  const heading = one(`[data-panel="${name}"] :is(h1, h2)`);
  if (name !== "question" && heading) one("[data-role=live]").textContent = heading.textContent;
};

/* `answered`: how many answers this person has given; `score`: a game's, in words, empty if nothing has been played. */
export const showIdle = (left, answered, score) => {
  const isNew = !answered && !score;
  one("[data-role=idle-score]").textContent = score;
  const thanks = score ? "That was your last picture. Thank you for playing!" : "Nothing to do right now. Thank you!";
  one("[data-role=idle-title]").textContent = left || isNew ? "No questions for you right now" : thanks;
  one("[data-role=idle-words]").textContent = left
    ? "Others are working on the open questions. New ones will appear here automatically."
    : isNew
    ? "Every question has its answers already. New ones will appear here automatically if the study grows."
    : "You have answered everything there is for you. New questions may appear as others answer, or when the study grows.";
  showScreen("idle");
};

/* `isTold`: the answers to what follows will be revealed, too. */
export const showTrained = (isTold) => {
  if (isTold) one("[data-role=trained-words]").textContent = "From now on your answers count.";
  showScreen("trained");
};

export const showWaiting = (why) => {
  one("[data-role=waiting-words]").textContent =
    `${why[0].toUpperCase()}${why.slice(1)}. This page will try again automatically; your answers are kept in this browser until then.`;
  showScreen("waiting");
};

/* The page is of no use without a valid link, but unsent answers can still be saved. */
const showRefusal = (title, words, prefix) => {
  one("[data-role=refusal-title]").textContent = title;
  one("[data-role=refusal-words]").textContent = words;
  const many = prefix ? keysUnder(`${prefix}:answer:`).length + keysUnder(`${prefix}:refused:`).length : 0;
  one("[data-role=unsent]").hidden = !many;
  one("[data-role=unsent-words]").textContent =
    `Not sent yet: ${count(many, "answer")}. Unsent answers stay in this browser and are sent when you open a valid link of your own here; you can also save them as a file.`;
  one("[data-role=unsent-save]").onclick = () => saveFile("unsent-answers.json", unsentText(prefix));
  one("[data-role=help]").hidden = true;
  showScreen("refusal");
};

export const showNoLink = (prefix) =>
  showRefusal("This page needs your personal link", "Open the link you were sent: it ends with # followed by letters and digits. If you opened it and still see this page, the link is no longer valid: ask for a new one.", prefix);

export const showLinkGone = (prefix) => showRefusal("Your link is no longer valid", "Ask the owner of the study for a new link.", prefix);

export const showOldPage = () => showRefusal("This page is out of date", "Reload it to get the current version.", "");

/* A dialog that any of its [data-close] buttons closes; resolves once it is closed, no matter how. */
export const showDialog = (role) => {
  const dialog = one(`[data-role=${role}]`);
  for (const button of all("[data-close]", dialog)) button.onclick = () => dialog.close();
  dialog.showModal();
  return new Promise((closed) => { dialog.addEventListener("close", closed, { once: true }); });
};
