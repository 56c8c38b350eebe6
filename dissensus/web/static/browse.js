/* What the models predict, for the owner: the address holds the filters, the server applies them, this draws a page of items. */

import { ask } from "./api.js";
import { Cards } from "./browse/cards.js";
import { Filters, stateIn, addressOf } from "./browse/filters.js";
import { Large } from "./browse/large.js";
import { headline, summary } from "./browse/words.js";
import { role } from "./dom.js";
import { enter, watchLinks } from "./session.js";

const AT_ONCE = 24;
const AGAIN = 700; // milliseconds until a search that takes long is asked about again

let about = null;
let state = null; // {model, other, class, least, most, low, high, sort, start, open}
let found = null;
let asked = 0; // number of the latest request: replies to earlier ones are ignored
let filters;
let cards;
let large;

const gate = (title, words) => {
  role("browser").hidden = true;
  role("gate").hidden = false;
  role("gate-title").hidden = !title;
  role("gate-title").textContent = title;
  role("gate-words").textContent = words;
  document.body.dataset.state = "gate";
};

const shut = () => gate("This page needs the owner’s link", "Open the link that dissensus browse printed, or the dashboard’s: both end with # followed by letters and digits. Annotators’ links do not open this page.");

const query = () => {
  const { open: _, ...rest } = state;
  return addressOf({ ...rest, count: AT_ONCE });
};

const draw = () => {
  role("headline").textContent = headline(found, about);
  role("summary").textContent = summary(found, about, state);
  filters.show(state, found);
  if (!found.total) role("filters").open = true; // the way out of an empty list
  cards.show(found.items);
  const last = Math.min(found.start + found.items.length, found.reachable);
  role("pages").hidden = found.reachable <= AT_ONCE;
  role("before").disabled = found.start === 0;
  role("after").disabled = last >= found.reachable;
  const rest = found.total > found.reachable ? `; filter to reach the other ${(found.total - found.reachable).toLocaleString("en")}` : "";
  role("place").textContent = `${(found.start + 1).toLocaleString("en")}–${last.toLocaleString("en")} of ${found.reachable.toLocaleString("en")}${rest}`;
  document.body.dataset.state = "shown";
  const item = state.open === null ? undefined : found.items[state.open - found.start];
  if (item) large.show(item, state.open, found);
  else large.hide();
};

const load = async () => {
  const mine = ++asked;
  role("error").textContent = "";
  document.body.dataset.state = "searching";
  try {
    const reply = await ask("GET", `/api/owner/predictions/items?${query()}`);
    if (mine !== asked) return;
    if (reply.progress !== null) {
      role("summary").textContent = `${reply.progress || "Searching"} …`;
      setTimeout(() => { if (mine === asked) load(); }, AGAIN);
      return;
    }
    found = reply;
    draw();
  } catch (failure) {
    if (mine !== asked) return;
    if (failure.status === 401 || failure.status === 403) return shut();
    if (failure.status === undefined) throw failure;
    role("error").textContent = `${failure.message}.`;
    document.body.dataset.state = "failed";
  }
};

/* Goes to other filters, another page or another item; `isStep` leaves a way back. */
const go = (changes, isStep = true) => {
  state = { ...state, ...changes };
  const address = `${location.pathname}?${addressOf(state)}`.replace(/\?$/, "");
  history[isStep ? "pushState" : "replaceState"](null, "", address);
  load();
};

const openItem = (place) => {
  if (place < 0 || place >= found.reachable) return;
  const start = Math.floor(place / AT_ONCE) * AT_ONCE;
  const isFirst = state.open === null;
  if (start === found.start) {
    state = { ...state, open: place };
    history[isFirst ? "pushState" : "replaceState"](null, "", `${location.pathname}?${addressOf(state)}`);
    large.show(found.items[place - start], place, found);
  } else go({ start, open: place }, isFirst);
};

const closeItem = () => {
  const place = state.open;
  if (place === null) return;
  state = { ...state, open: null };
  history.replaceState(null, "", `${location.pathname}?${addressOf(state)}`.replace(/\?$/, ""));
  cards.focus(place - found.start);
};

const turn = (direction) => {
  go({ start: found.start + direction * AT_ONCE, open: null });
  scrollTo({ top: 0 });
};

const restore = () => {
  state = stateIn(location.search, AT_ONCE);
  load();
};

const begin = async () => {
  watchLinks();
  try {
    await enter("owner", (failure) => gate("", `Waiting for the server: ${failure.message}.`));
    about = await ask("GET", "/api/owner/predictions/about");
  } catch (failure) {
    return failure.status === 400 ? gate("There is nothing to see yet", `${failure.message}.`) : failure.status ? shut() : gate("", `${failure.message}.`);
  }
  document.title = `${about.title}: predictions`;
  role("title").textContent = about.title;
  role("dashboard").hidden = !about.has_dashboard;
  role("gate").hidden = true;
  role("browser").hidden = false;
  role("filters").open = matchMedia("(min-width: 48rem)").matches;
  filters = new Filters(about, (changes) => go({ ...changes, start: 0, open: null }));
  cards = new Cards(about, (number) => openItem(found.start + number));
  large = new Large(about, { step: (direction) => openItem(state.open + direction), close: closeItem });
  role("before").onclick = () => turn(-1);
  role("after").onclick = () => turn(1);
  addEventListener("popstate", restore);
  restore();
};

begin();
