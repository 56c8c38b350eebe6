/* Pictures of upcoming questions, fetched before they are needed, and kept for going back: what is here can be shown while
 * the server is down. How many are kept is a matter of bytes. The nearest are decoded; the others are kept as they came. */

import { pause } from "./api.js";
import { fetchedClip, openedClip } from "./clips.js";
import { make } from "./dom.js";

const PATIENCE = 60000;

export const NEAR = 5; // questions whose pictures are kept whatever they weigh, the current one included
const BUDGET = 64 << 20; // bytes of all others together
const TINY = 64; // pixels: a picture this small is shown with hard edges

export const isClip = (path) => path.startsWith("/video/");

/* Tells the pictures of two questions apart without knowing what they are of: their size, and bytes spread over the file. */
const PRINTED = 4096;
const printOf = async (blob) => {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const step = Math.max(1, Math.floor(bytes.length / PRINTED));
  let sum = 0;
  for (let i = 0; i < bytes.length; i += step) sum = (Math.imul(sum, 31) + bytes[i]) | 0;
  return `${bytes.length} ${sum}`;
};

const opened = async (blob) => {
  const image = make("img", { draggable: "false" });
  image.src = URL.createObjectURL(blob);
  await image.decode().catch(() => { throw new Error("This picture cannot be shown in this browser."); });
  image.dataset.print = await printOf(blob);
  image.classList.toggle("pixels", Math.max(image.naturalWidth, image.naturalHeight) <= TINY);
  return image;
};

/* Waits while the server is down; throws an error to show if waiting does not help. */
const fetched = async (path, isWanted) => {
  for (let delay = 1000; isWanted(); delay = Math.min(2 * delay, 30000)) {
    const response = await fetch(path, { credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
    if (response?.ok) {
      const blob = await response.blob().catch(() => null);
      if (blob) return blob;
    } else if (response && response.status >= 400 && response.status < 500 && response.status !== 429) {
      throw new Error("This picture is no longer available.");
    }
    await pause(delay);
  }
  throw new Error("no longer wanted");
};

/* Events: stocked (the pictures of one more question have arrived, or never will). */
export class Pictures extends EventTarget {
  #held = new Map(); // ticket → {blobs, media: promises or null, images: null until opened, bytes: null until arrived}
  #wanted = [];
  #isFetching = false;

  /* The pictures, or null while they are loading. */
  now(question) {
    return this.#opened(question).images;
  }

  ready(question) {
    return Promise.all(this.#opened(question).media);
  }

  /* A promise for each picture, for questions that are drawn before all of them have arrived. */
  each(question) {
    return this.#opened(question).media;
  }

  /* True if a question can be shown without the server. */
  has(question) {
    return (this.#held.get(question.ticket)?.bytes ?? null) !== null;
  }

  /* How many questions fit, going by those that have arrived; null before any has. */
  get room() {
    const known = [...this.#held.values()].map(({ bytes }) => bytes).filter((bytes) => bytes !== null);
    const total = known.reduce((sum, bytes) => sum + bytes, 0);
    return known.length ? Math.floor(BUDGET / Math.max(1, total / known.length)) : null;
  }

  /* Fetches these, in order, as long as there is room, and drops all others. */
  keepOnly(questions) {
    this.#wanted = questions;
    let bytes = 0;
    const kept = new Set(questions.filter(({ ticket }, i) => (bytes += this.#held.get(ticket)?.bytes ?? 0) <= BUDGET || i < NEAR).map(({ ticket }) => ticket));
    for (const [ticket, entry] of this.#held) if (!kept.has(ticket)) this.#drop(ticket, entry);
    for (const question of questions.slice(0, NEAR)) this.#opened(question);
    this.#fetchNext();
  }

  forget(question) {
    const entry = this.#held.get(question.ticket);
    if (entry) this.#drop(question.ticket, entry);
  }

  /* One question after another, so that answers and the nearest pictures do not wait for these. */
  async #fetchNext() {
    if (this.#isFetching) return;
    this.#isFetching = true;
    for (let next = this.#missing(); next; next = this.#missing()) await Promise.allSettled(this.#entry(next).blobs);
    this.#isFetching = false;
  }

  #missing() {
    let bytes = 0;
    for (const question of this.#wanted) {
      const entry = this.#held.get(question.ticket);
      if (!entry) return question;
      bytes += entry.bytes ?? 0;
      if (bytes > BUDGET) return null;
    }
    return null;
  }

  #entry(question) {
    const { ticket, images } = question;
    if (!this.#held.has(ticket)) {
      const entry = { media: null, images: null, bytes: null };
      this.#held.set(ticket, entry);
      const isWanted = () => this.#held.get(ticket) === entry;
      entry.blobs = images.map((path) => (isClip(path) ? fetchedClip : fetched)(path, isWanted));
      const arrived = (blobs) => { entry.bytes = blobs.reduce((sum, { size }) => sum + size, 0); };
      Promise.all(entry.blobs).then(arrived, () => {}).then(() => { if (isWanted()) this.dispatchEvent(new Event("stocked")); });
    }
    return this.#held.get(ticket);
  }

  #opened(question) {
    const entry = this.#entry(question);
    if (!entry.media) {
      entry.media = entry.blobs.map(async (blob, i) => (isClip(question.images[i]) ? openedClip : opened)(await blob));
      Promise.all(entry.media).then((done) => { entry.images = done; }, () => {});
    }
    return entry;
  }

  #drop(ticket, entry) {
    this.#held.delete(ticket);
    for (const one of entry.media ?? []) one.then((image) => URL.revokeObjectURL(image.src), () => {});
  }
}
