/* Frames with pictures that are zoomed together, with the buttons and keys for it. */

import { make } from "./dom.js";
import { Zoom } from "./zoom.js";

const zoomButton = (sign, label, act) =>
  make("button", { type: "button", class: "zoom-button", "aria-label": label, title: label, onclick: act }, sign);

/* Zooms if the key is + − or 0; true if it is. */
export const zoomByKey = (key, zoom) => {
  if (key === "+" || key === "=") zoom.step(1);
  else if (key === "-" || key === "_") zoom.step(-1);
  else if (key === "0") zoom.reset();
  else return false;
  return true;
};

/* The frames on a stage; `--zoom` of its style and `data-zoom` say how large the pictures are. */
export const zoomable = (frames) => {
  const size = make("span", { class: "zoom-size", "aria-live": "polite" });
  const reset = zoomButton("1×", "Whole picture", () => zoom.reset());
  const controls = make(
    "div",
    { class: "zoom", role: "group", "aria-label": "Zoom" },
    size,
    reset,
    zoomButton("−", "Zoom out", () => zoom.step(-1)),
    zoomButton("+", "Zoom in", () => zoom.step(1)),
  );
  const element = make("div", { class: "stage", "data-role": "stage", "data-pictures": frames.length }, frames, controls);
  const zoom = new Zoom(element, frames, (scale) => {
    reset.hidden = scale === 1;
    size.textContent = scale === 1 ? "" : `${scale.toFixed(1)}×`;
    element.dataset.zoom = scale.toFixed(2);
    element.style.setProperty("--zoom", scale);
  });
  reset.hidden = true;
  return { element, zoom };
};
