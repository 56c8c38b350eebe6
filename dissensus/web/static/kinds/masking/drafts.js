/* Unfinished drawings by ticket, packed: kept in this tab across reloads, or in the page's memory if storage is full. */

import { packed, unpacked } from "./runs.js";

const PREFIX = "dissensus:draft:";
const PART = 1 << 13;
const memory = new Map();

const storage = () => {
  try { return window.sessionStorage; } catch { return null; } // private modes throw on access
};

const asText = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART));
  return btoa(text);
};

const asBytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export const keepDraft = (ticket, { width, height, labels }, corners) => {
  const text = JSON.stringify({ width, height, corners, runs: asText(packed(labels)) });
  memory.set(ticket, text);
  try {
    storage().setItem(PREFIX + ticket, text);
    memory.delete(ticket);
  } catch { /* it stays in memory */ }
};

export const dropDraft = (ticket) => {
  memory.delete(ticket);
  try { storage()?.removeItem(PREFIX + ticket); } catch { /* then it was never there */ }
};

/* { labels, corners }, or null if there is none of this picture's size. */
export const readDraft = (ticket, { width, height }) => {
  try {
    const kept = JSON.parse(memory.get(ticket) ?? storage()?.getItem(PREFIX + ticket) ?? "null");
    const labels = kept?.width === width && kept.height === height ? unpacked(asBytes(kept.runs), width * height) : null;
    return labels && { labels, corners: kept.corners };
  } catch {
    return null;
  }
};
