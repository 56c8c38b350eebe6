/* A clip is downloaded completely before it is played, so that network delays are not mistaken for stalls of the clip
 * itself. It is fetched in pieces, so that a broken connection costs only one of them. */

import { pause } from "./api.js";
import { make } from "./dom.js";

const PIECE = 1 << 22;
const PATIENCE = 60000;
const REFUSED = "This clip is no longer available.";

const pieceFrom = async (path, start) => {
  const headers = { Range: `bytes=${start}-${start + PIECE - 1}` };
  const response = await fetch(path, { credentials: "same-origin", headers, signal: AbortSignal.timeout(PATIENCE) });
  if (response.status >= 400 && response.status < 500 && response.status !== 429) throw new Error(REFUSED);
  if (!response.ok) return null;
  const size = response.status === 206 ? Number(response.headers.get("content-range").split("/")[1]) : 0;
  return { blob: await response.blob(), size, type: response.headers.get("content-type") };
};

/* Resolves when the first frame can be shown. */
export const openedClip = (blob) =>
  new Promise((ready, failed) => {
    const clip = make("video", { playsinline: true, disablepictureinpicture: true, disableremoteplayback: true, preload: "auto", tabindex: "-1" });
    clip.addEventListener("loadeddata", () => (clip.videoWidth ? ready(clip) : failed()), { once: true });
    clip.addEventListener("error", failed, { once: true });
    clip.src = URL.createObjectURL(blob);
  }).catch(() => { throw new Error("This clip cannot be played in this browser."); });

/* Waits while the server is down; throws an error to show if waiting does not help. */
export const fetchedClip = async (path, isWanted) => {
  const pieces = [];
  let [have, delay] = [0, 1000];
  while (isWanted()) {
    const piece = await pieceFrom(path, have).catch((error) => { if (error.message === REFUSED) throw error; return null; });
    if (piece) {
      pieces.push(piece.blob);
      have += piece.blob.size;
      if (have >= piece.size) return new Blob(pieces, { type: piece.type });
    } else {
      await pause(delay);
      delay = Math.min(2 * delay, 30000);
    }
  }
  throw new Error("no longer wanted");
};
