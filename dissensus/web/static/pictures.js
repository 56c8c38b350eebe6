/* Pictures of upcoming questions, fetched and decoded before they are needed, and kept for going back: what was shown
 * once can be shown again while the server is down. */

import { pause } from "./api.js";
import { fetchedClip } from "./clips.js";
import { make } from "./dom.js";

const PATIENCE = 60000;

const MOST_CLIPS = 4; // questions whose clips are kept: clips are a hundred times as large as pictures
const MANY = 12;
const MOST_ALBUMS = 2; // questions with more than this many pictures that are kept: the current one and the next

const TINY = 64; // pixels: a picture this small is shown with hard edges

const decoded = async (blob) => {
  const image = make("img", { draggable: "false" });
  image.src = URL.createObjectURL(blob);
  await image.decode();
  image.classList.toggle("pixels", Math.max(image.naturalWidth, image.naturalHeight) <= TINY);
  return image;
};

const isClip = (path) => path.startsWith("/video/");

/* Waits while the server is down; throws an error to show if waiting does not help. */
const fetched = async (path, isWanted) => {
  for (let delay = 1000; isWanted(); delay = Math.min(2 * delay, 30000)) {
    const response = await fetch(path, { credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
    if (response?.ok) {
      const blob = await response.blob().catch(() => null);
      if (blob) return decoded(blob).catch(() => { throw new Error("This picture cannot be shown in this browser."); });
    } else if (response && response.status >= 400 && response.status < 500 && response.status !== 429) {
      throw new Error("This picture is no longer available.");
    }
    await pause(delay);
  }
  throw new Error("no longer wanted");
};

export class Pictures {
  #held = new Map(); // ticket → {each: promises, ready: promise of all, images: null until loaded}

  /* The pictures, or null while they are loading. */
  now(question) {
    return this.#entry(question).images;
  }

  ready(question) {
    return this.#entry(question).ready;
  }

  /* A promise for each picture, for questions that are drawn before all of them have arrived. */
  each(question) {
    return this.#entry(question).each;
  }

  /* Fetches these in order, and drops all others. */
  keepOnly(questions) {
    const withClips = questions.filter(({ images }) => images.some(isClip));
    const albums = questions.filter(({ images }) => images.length > MANY);
    const tooMuch = new Set([...withClips.slice(MOST_CLIPS), ...albums.slice(MOST_ALBUMS)]);
    const worthIt = questions.filter((question) => !tooMuch.has(question));
    const wanted = new Set(worthIt.map(({ ticket }) => ticket));
    for (const [ticket, entry] of this.#held) if (!wanted.has(ticket)) this.#drop(ticket, entry);
    for (const question of worthIt) this.#entry(question);
  }

  forget(question) {
    const entry = this.#held.get(question.ticket);
    if (entry) this.#drop(question.ticket, entry);
  }

  #entry(question) {
    const { ticket, images } = question;
    if (!this.#held.has(ticket)) {
      const entry = { images: null };
      this.#held.set(ticket, entry);
      const isWanted = () => this.#held.get(ticket) === entry;
      entry.each = images.map((path) => (isClip(path) ? fetchedClip : fetched)(path, isWanted));
      entry.ready = Promise.all(entry.each);
      entry.ready.then((done) => { entry.images = done; }, () => {});
    }
    return this.#held.get(ticket);
  }

  #drop(ticket, entry) {
    this.#held.delete(ticket);
    for (const one of entry.each) one.then((image) => URL.revokeObjectURL(image.src), () => {});
  }
}
