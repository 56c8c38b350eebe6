/* The annotator's page: enter, read, practise, answer, wait. Every answer is in the outbox before the next question appears. */

import { ask, askPatiently } from "./api.js";
import { Asking } from "./asking.js";
import { Breaks } from "./breaks.js";
import { all, role } from "./dom.js";
import { Header } from "./header.js";
import { fillHelp, fillInstructions } from "./instructions.js";
import { canKeep, read, write } from "./keeping.js";
import { listenForKeys } from "./keys.js";
import { KINDS } from "./kinds/index.js";
import { Outbox } from "./outbox.js";
import { Pictures, isClip } from "./pictures.js";
import { Queue } from "./queue.js";
import { screen, showDialog, showIdle, showLinkGone, showNoLink, showOldPage, showScreen, showTrained, showWaiting } from "./screens.js";
import { Score } from "./score.js";
import { enter, watchLinks } from "./session.js";
import { Supply } from "./supply.js";
import { toolsFor } from "./tools.js";

const OLD = 600000; // milliseconds: a question shown for this long may have gone to somebody else
const LAST = "dissensus:last"; // whose answers this browser held last, in case the link is no longer valid

const queue = new Queue();
const pictures = new Pictures();
let me, prefix, outbox, supply, header, asking, breaks, tools, score;
let lesson = null; // { ticket, isTold }: an answer whose feedback is awaited or shown
let wasTraining = false;
let isResting = false;
let isAway = false; // the server could not be reached when it was last asked
let revived = 0;
let shown = 0; // when the question appeared

/* The person is reading: whatever arrives meanwhile must not replace the screen. */
const isReading = () => Boolean(lesson) || isResting || ["instructions", "trained", "refusal"].includes(screen());

const refuse = () => {
  supply?.stop();
  if (me) showLinkGone(prefix);
  else showNoLink(read(LAST));
};

const rest = async () => {
  isResting = true;
  asking.clear();
  await breaks.take(header.standing);
  isResting = false;
  header.session = breaks.words;
};

/* How many questions can be answered without the server: none while it has to say first whether an answer is right. */
const stock = () => (lesson && !lesson.isTold ? 0 : queue.ahead.filter((question) => pictures.has(question) && !question.told).length);

/* Moves on to the next question; if there is none, the supply reports why. */
const advance = async () => {
  lesson = null;
  if (breaks.isDue(header.standing)) await rest();
  const entry = queue.current ?? queue.advance(isAway ? (question) => pictures.has(question) : undefined);
  if (entry && wasTraining && !entry.question.training) showTrained(entry.question.told);
  else if (entry) present(entry);
  else asking.clear();
  if (!entry?.question.training) header.practice = null;
  drawUndo();
  header.draw(); // one question less is ready
  supply.look(!entry);
};

const drawUndo = () => {
  for (const button of all("[data-role=undo]")) button.disabled = !queue.last;
  role("last").textContent = queue.last ? `last: ${queue.last.chosenWords}` : "";
};

const present = (entry) => {
  if (!KINDS[entry.question.kind]) return showOldPage();
  showScreen("question");
  header.practice = entry.question.training ? { ...me.training } : null;
  shown = Date.now();
  asking.show(entry);
  pictures.keepOnly(queue.near);
};

const heard = (value, words, seconds, comment) => {
  const { question, chosen } = queue.current;
  for (const one of KINDS[question.kind].picked?.(value, question.payload) ?? []) tools.recent.add(one);
  outbox.put(question.ticket, value, seconds, comment, chosen === undefined && !question.training);
  queue.answered(value, words);
  wasTraining = question.training;
  if (!question.told) return advance();
  if (question.training) me.training.done += 1;
  lesson = { ticket: question.ticket, isTold: false };
  asking.feedback(null);
};

const undo = () => {
  if (lesson || isResting || !queue.back()) return;
  present(queue.current);
  drawUndo();
};

const keep = () => {
  queue.kept();
  advance();
};

const setAway = (now) => {
  if (isAway !== now) header.isAway = isAway = now;
};

const offered = ({ detail: reply }) => {
  setAway(false);
  if (!outbox.waiting().length) header.counts = reply;
  pictures.keepOnly(queue.near);
  if (Date.now() - shown > OLD && !asking.isChanged) queue.withdraw(reply.questions); // a late answer counts, too
  if (queue.current || isReading()) return;
  if (queue.length) advance();
  else if (reply.paused) showScreen("paused");
  else if (!outbox.waiting().length) showIdle(reply.left, reply.answered, score.words);
  else if (outbox.trouble) showWaiting(outbox.trouble); // there are no more questions until these answers have arrived
};

const missed = ({ detail: failure }) => {
  if (failure.status === 401) return refuse();
  setAway(true);
  if (!queue.current && !isReading()) showWaiting(failure.message);
};

const sent = ({ detail: reply }) => {
  if (isAway) supply.look(true);
  header.counts = reply;
  if (!queue.current) supply.look(true);
  if (!lesson || lesson.isTold) return;
  const result = reply.feedback?.[lesson.ticket];
  if (result) {
    lesson.isTold = true;
    if (result.share != null) score.add(result);
    asking.feedback(result, result.share == null ? "" : score.words);
  } else if (!outbox.tickets().has(lesson.ticket)) advance();
};

/* After hours in the background: is the link still valid, is it the same person, has the study moved on? */
const revive = async () => {
  if (document.hidden || Date.now() - revived < 5000) return;
  revived = Date.now();
  outbox.wake();
  try {
    const now = await ask("GET", "/api/me");
    if (now.name !== me.name || now.study !== me.study) return location.reload();
    if (!outbox.waiting().length) header.counts = now;
    supply.look(true);
  } catch (failure) {
    if (failure.status === 401) refuse();
  }
};

const help = async () => {
  fillHelp(me, queue.near.some(({ images }) => images.some(isClip)));
  asking.stopwatch.hold("help", true);
  await showDialog("help-dialog");
  asking.stopwatch.hold("help", false);
};

/* Enter starts, moves on after feedback, and keeps the answer to a question that somebody went back to. */
const goOn = () => {
  if (screen() === "instructions") begun();
  else if (screen() === "trained") trained();
  else if (lesson?.isTold) advance();
  else if (screen() === "question" && queue.current?.chosen !== undefined && !asking.isChanged) keep();
  else return false;
  return true;
};

const otherTab = ({ key, newValue }) => {
  if (key === LAST && newValue && newValue !== prefix) location.reload(); // somebody else signed in there, and these questions are not theirs
  if (newValue && key?.startsWith(`${prefix}:answer:`) && queue.drop(JSON.parse(newValue).ticket)) advance();
};

/* If the server is down, the question stays skipped here and comes back after a reload. */
const leaveToOthers = (ticket) => ask("POST", "/api/skip", { ticket }).catch(() => {});

const begun = () => {
  write(`${prefix}:read`, "1");
  showScreen("entering");
  advance();
};

const trained = () => {
  wasTraining = false;
  advance();
};

const wire = () => {
  role("start").onclick = begun;
  role("go").onclick = trained;
  role("help").onclick = help;
  role("leave").onclick = () => ask("POST", "/api/leave", {}).catch(() => {}).then(() => location.reload());
  role("keep").onclick = keep;
  role("skip").onclick = () => { leaveToOthers(queue.skip()); advance(); };
  role("feedback-next").onclick = () => advance();
  for (const button of all("[data-role=undo]")) button.onclick = undo;
  listenForKeys({ undo, help, enter: goOn, question: (event) => screen() === "question" && !lesson && asking.key(event) });
  pictures.addEventListener("stocked", () => header.draw());
  outbox.addEventListener("sent", sent);
  outbox.addEventListener("gone", refuse);
  supply.addEventListener("offered", offered);
  supply.addEventListener("missed", missed);
  addEventListener("offline", () => supply.look(true)); // the header says so at once, and how much is left to do
  document.addEventListener("visibilitychange", revive);
  for (const [kind, act] of Object.entries({ focus: revive, online: revive, storage: otherTab })) addEventListener(kind, act);
  addEventListener("beforeunload", (event) => { if (outbox.unkept()) event.preventDefault(); });
};

const settle = () => {
  prefix = `dissensus:${me.study}:${encodeURIComponent(me.name)}`;
  write(LAST, prefix);
  outbox = new Outbox(prefix);
  // Before sending any of them: the server may still list their questions in a reply that crosses with the answers.
  for (const ticket of outbox.tickets()) queue.drop(ticket);
  supply = new Supply(queue, outbox, pictures);
  header = new Header(outbox, canKeep());
  header.stock = stock;
  header.counts = me;
  breaks = new Breaks(`${prefix}:work`, me);
  header.session = breaks.words;
  tools = toolsFor(prefix, me.guided);
  score = new Score(prefix);
  asking = new Asking(pictures, tools, heard);
  document.title = role("title").textContent = me.title;
  role("help").hidden = false;
  fillInstructions(me);
  wire();
};

const begin = async () => {
  const away = (failure) => { role("entering").textContent = `Waiting for the server: ${failure.message}.`; };
  watchLinks();
  try {
    await enter("annotator", away);
    me = await askPatiently("GET", "/api/me", undefined, away);
  } catch (failure) {
    return failure.status === 403 ? location.replace("/owner") : refuse();
  }
  settle();
  if (me.kinds.some((kind) => KINDS[kind]?.picked)) tools.classes();
  if (read(`${prefix}:read`)) return advance();
  showScreen("instructions");
  supply.look(); // the first pictures load while the person is reading
};

begin();
