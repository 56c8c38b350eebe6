/* One item, as large as the window: its picture, and every model's prediction. For maps there is a picture for each model,
 * and all of them are zoomed together. */

import { make, role } from "../dom.js";
import { zoomable, zoomByKey } from "../stage.js";
import { classesOf, mapPath, picture, rankLine, scoreText } from "./cards.js";
import { apart, percent } from "./words.js";

const frame = (...content) => make("figure", { class: "frame" }, content);
const cell = (...content) => make("td", {}, content);

const ROWS = {
  labels: {
    heads: ["Model", "Prediction, and second to fifth", "Confidence"],
    cells: ({ label, level, further }, { classes }) => [cell(make("b", {}, classes[label]), further.length ? make("small", { class: "further" }, further.map((one) => classes[one]).join(", ")) : null), cell(level === null ? "–" : percent(level))],
  },
  scores: {
    heads: ["Model", "Score", "Better than", ""],
    cells: ({ score, level }) => [cell(make("b", {}, scoreText(score))), cell(percent(level)), cell(rankLine(level))],
  },
  masks: {
    heads: ["Model", "Marked", "Share", ""],
    cells: ({ shares, level }, about) => [cell(make("span", { class: "chips" }, classesOf(shares, about))), cell(percent(level)), cell()],
  },
};

export class Large {
  #about;
  #acts;
  #dialog = role("large");
  #zoom = null;
  #hasMaps = true;

  /* acts: step(direction) and close(). */
  constructor(about, acts) {
    this.#about = about;
    this.#acts = acts;
    role("previous").onclick = () => acts.step(-1);
    role("next").onclick = () => acts.step(1);
    role("close").onclick = () => this.#dialog.close();
    role("toggle").hidden = about.task !== "masks";
    role("toggle").onclick = () => this.#toggle();
    this.#dialog.addEventListener("close", () => acts.close());
    this.#dialog.addEventListener("keydown", (event) => this.#key(event));
  }

  show(item, place, { reachable }) {
    role("large-title").textContent = item.item;
    const differing = this.#about.models.length > 1 ? ` · ${apart(item.distance, this.#about.task)}` : "";
    role("large-place").textContent = `${(place + 1).toLocaleString("en")} of ${reachable.toLocaleString("en")}${differing}`;
    role("previous").disabled = place === 0;
    role("next").disabled = place + 1 >= reachable;
    role("facts").replaceChildren(this.#table(item));
    this.#picture(item);
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  hide() {
    if (this.#dialog.open) this.#dialog.close();
  }

  #picture(item) {
    const frames = this.#frames(item);
    const isZoomable = item.picture === "image";
    const { element, zoom } = isZoomable ? zoomable(frames) : { element: make("div", { class: "stage", "data-role": "stage", "data-pictures": 1 }, frames), zoom: null };
    role("stage").replaceWith(element);
    this.#zoom = zoom;
  }

  /* One frame, or for maps one for every model. */
  #frames(item) {
    const path = `/api/owner/predictions/${item.number}`;
    if (item.picture === null) return [frame(make("span", { class: "gone" }, item.item))];
    if (item.picture === "clip") return [frame(make("video", { src: `${path}/clip`, controls: true, loop: true, muted: true }))];
    const photo = () => picture(`${path}/picture`, item.item);
    if (this.#about.task !== "masks") return [frame(photo())];
    return this.#about.models.map((name, place) => {
      const { shares, problem } = item.predictions[place];
      const map = problem ? null : make("img", { src: mapPath(item, name), alt: "", class: "map", hidden: !this.#hasMaps, draggable: "false" });
      const words = problem ? `${name}: ${problem}` : shares.length ? name : `${name}: nothing marked`;
      return frame(photo(), map, make("figcaption", {}, words));
    });
  }

  #table({ predictions }) {
    const { heads, cells } = ROWS[this.#about.task];
    const row = (prediction, place) => make("tr", {}, make("th", { scope: "row" }, this.#about.models[place], this.#about.better[place] === "lower" ? make("small", { class: "quiet" }, " lower is better") : null), prediction.problem ? make("td", { colspan: heads.length - 1, class: "quiet" }, prediction.problem) : cells(prediction, this.#about));
    return make("table", {}, make("thead", {}, make("tr", {}, heads.map((head) => (head ? make("th", { scope: "col" }, head) : make("td", {}))))), make("tbody", {}, predictions.map(row)));
  }

  #toggle() {
    this.#hasMaps = !this.#hasMaps;
    role("toggle").setAttribute("aria-pressed", this.#hasMaps);
    for (const map of role("stage").querySelectorAll(".map")) map.hidden = !this.#hasMaps;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      arrowleft: () => this.#acts.step(-1),
      arrowright: () => this.#acts.step(1),
      o: () => this.#about.task === "masks" && this.#toggle(),
    };
    const act = event.target.tagName === "VIDEO" ? undefined : acts[event.key.toLowerCase()];
    if (!act && !(this.#zoom && zoomByKey(event.key, this.#zoom))) return;
    event.preventDefault();
    act?.();
  }
}
