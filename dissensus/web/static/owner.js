/* The owner's dashboard: fetches a summary every few seconds and redraws the parts that changed. */

import { ask } from "./api.js";
import { role } from "./dom.js";
import { confirm } from "./owner/confirm.js";
import { drawDuels } from "./owner/duels.js";
import { drawHours } from "./owner/hours.js";
import { wireInvitation } from "./owner/invite.js";
import { drawAlpha, drawKinds, drawOverview } from "./owner/overview.js";
import { drawPeople } from "./owner/people.js";
import { loadRemarks } from "./owner/remarks.js";
import { clock } from "./owner/words.js";
import { enter, watchLinks } from "./session.js";

const EVERY = 5000;
const drawn = new Map(); // piece → its data when last drawn: unchanged pieces keep focus, selection and scroll position
let timer = 0;

const draw = (piece, data, act) => {
  const text = JSON.stringify(data);
  if (drawn.get(piece) === text) return;
  drawn.set(piece, text);
  act();
};

const show = (summary) => {
  const { kinds, duels, hours, alpha, annotators, now, ...rest } = summary;
  const minute = now.slice(0, 16); // 'just now' has to become '2 minutes ago' even if nothing else changes
  role("dashboard").hidden = false; // first, because charts need to know their width
  role("gate").hidden = true;
  document.body.dataset.state = "shown";
  draw("overview", [rest, kinds], () => drawOverview(summary));
  draw("kinds", kinds, () => drawKinds(kinds));
  draw("hours", hours, () => drawHours(hours));
  draw("duels", duels, () => drawDuels(duels));
  draw("alpha", alpha, () => drawAlpha(alpha));
  draw("remarks", [annotators.map(({ answers }) => answers), rest.left, minute], loadRemarks);
  draw("people", [annotators, minute], () => drawPeople(annotators, now, acts));
  role("stale").textContent = "";
  role("seen").textContent = `As of ${clock(now)}. Refreshes every ${EVERY / 1000} seconds while this tab is visible.`;
};

const gate = (title, words) => {
  role("dashboard").hidden = true;
  role("gate").hidden = false;
  role("gate-title").textContent = title || "Dashboard";
  role("gate-words").textContent = words;
  document.body.dataset.state = "gate";
};

const shut = () => gate("This page needs the owner’s link", "Open the link that was printed when the service started: it ends with # followed by letters and digits. Annotators’ links do not open this page.");

const refresh = async () => {
  clearTimeout(timer);
  if (document.hidden) return;
  try {
    show(await ask("GET", "/api/owner/summary"));
  } catch (failure) {
    if (failure.status === 401 || failure.status === 403) return shut();
    if (failure.status === undefined) throw failure;
    if (role("dashboard").hidden) gate("", `Waiting for the server: ${failure.message}.`);
    else role("stale").textContent = `These numbers are out of date: ${failure.message}. Trying again.`;
  }
  timer = setTimeout(refresh, EVERY);
};

const change = async (path, body) => {
  await ask("POST", path, body);
  refresh();
};

const personPath = ({ name }, verb) => `/api/owner/annotators/${encodeURIComponent(name)}/${verb}`;

const acts = {
  exclude: (person) => confirm({
    title: `Exclude ${person.name}?`,
    words: "Their answers stay in the database but no longer count. You can undo this at any time.",
    yes: "Exclude",
    reason: person.suggestion ?? "",
    act: (reason) => change(personPath(person, "exclusion"), { is_excluded: true, reason }),
  }),
  include: (person) => confirm({
    title: `Include ${person.name} again?`,
    words: "All their answers count again, including earlier ones.",
    yes: "Include again",
    reason: "reviewed",
    act: (reason) => change(personPath(person, "exclusion"), { is_excluded: false, reason }),
  }),
  revoke: (person) => confirm({
    title: `Revoke ${person.name}’s link?`,
    words: "Nobody can use it to answer any more. Answers given so far stay and count. The link stays invalid; you can create a new one for the same name below.",
    yes: "Revoke link",
    act: () => change(personPath(person, "revoke"), {}),
  }),
};

const pause = async () => {
  const button = role("pause");
  button.disabled = true;
  await change("/api/owner/pause", { paused: button.dataset.paused !== "true" }).catch((failure) => {
    role("stale").textContent = `That failed: ${failure.message}.`;
  });
  button.disabled = false;
};

const begin = async () => {
  watchLinks();
  role("pause").onclick = pause;
  wireInvitation(refresh);
  document.addEventListener("visibilitychange", refresh);
  addEventListener("online", refresh);
  try {
    await enter("owner", (failure) => gate("", `Waiting for the server: ${failure.message}.`));
  } catch {
    return shut();
  }
  refresh();
};

begin();
