/* Which colour means what: the names of the classes shown. */

import { make } from "../dom.js";
import { VOID } from "./masking/overlay.js";

export class Legend {
  #classes;
  element = make("ul", { class: "legend", "data-role": "legend", "aria-label": "What is marked" });

  /* classes: a promise of GET /api/classes. */
  constructor(classes) {
    this.#classes = classes;
  }

  async show(labels, colours, unknown) {
    const { names } = await this.#classes;
    const line = (label) => {
      const swatch = make("i", {});
      swatch.style.background = label === VOID ? unknown : colours[label];
      return make("li", {}, swatch, label === VOID ? "cannot tell" : names[label]);
    };
    this.element.replaceChildren(...(labels.length ? labels.map(line) : [make("li", { class: "quiet" }, "nothing is marked")]));
  }
}
