/* One item, as large as the window: its picture with zoom, every model's prediction; for maps a picture for each model,
 * which move together. */

import { make, one } from "../dom.js";
import { Zoom } from "../zoom.js";
import { classesOf, mapPath, picture, rankLine, scoreText } from "./cards.js";
import { apart, percent } from "./words.js";

const role = (name) => one(`[data-role=${name}]`);

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
    role("larger").onclick = () => this.#zoom?.step(1);
    role("smaller").onclick = () => this.#zoom?.step(-1);
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
    const old = role("stage");
    const frames = this.#frames(item);
    const stage = make("div", { class: "stage", "data-role": "stage", "data-frames": frames.length }, frames.map(({ frame, name }) => make("figure", {}, frame, name && make("figcaption", {}, name))));
    old.replaceWith(stage);
    const zoomed = item.picture === "image" ? frames.map(({ frame }) => frame) : [];
    this.#zoom = zoomed.length ? new Zoom(stage, zoomed) : null;
    for (const name of ["larger", "smaller"]) role(name).disabled = !zoomed.length;
  }

  /* One frame, or for maps one for every model that has a map. */
  #frames(item) {
    const path = `/api/owner/predictions/${item.number}`;
    if (item.picture === null) return [{ frame: make("div", { class: "frame" }, make("span", { class: "gone" }, item.item)) }];
    if (item.picture === "clip") return [{ frame: make("div", { class: "frame" }, make("video", { src: `${path}/clip`, controls: true, loop: true, muted: true })) }];
    const photo = () => picture(`${path}/picture`, item.item);
    if (this.#about.task !== "masks") return [{ frame: make("div", { class: "frame" }, photo()) }];
    return this.#about.models.map((name, place) => {
      const { shares, problem } = item.predictions[place];
      const map = problem ? null : make("img", { src: mapPath(item, name), alt: "", class: "map", hidden: !this.#hasMaps, draggable: "false" });
      return { frame: make("div", { class: "frame" }, photo(), map), name: problem ? `${name}: ${problem}` : shares.length ? name : `${name}: nothing marked` };
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
    const act = {
      ArrowLeft: () => this.#acts.step(-1),
      ArrowRight: () => this.#acts.step(1),
      "+": () => this.#zoom?.step(1),
      "=": () => this.#zoom?.step(1),
      "-": () => this.#zoom?.step(-1),
      0: () => this.#zoom?.reset(),
      o: () => this.#about.task === "masks" && this.#toggle(),
    }[event.key];
    if (!act || event.target.tagName === "VIDEO") return;
    event.preventDefault();
    act();
  }
}
