/* What people wrote beside their answers, and what they called unsuitable, with the pictures. */

import { ask } from "../api.js";
import { count, make, one } from "../dom.js";
import { ago } from "./words.js";

const picture = (path, item) => {
  const image = make("img", { src: path, alt: `Picture of ${item}`, loading: "lazy", decoding: "async" });
  image.addEventListener("error", () => image.remove()); // a clip, or a file that is gone
  return make("a", { href: path, target: "_blank", rel: "noopener", "aria-label": `Open the picture of ${item}` }, image);
};

const remark = ({ pictures, item, about, answer, annotators, comment, time }, now) =>
  make("li", { class: "remark" },
    make("div", { class: "remark-pictures" }, pictures.map((path) => picture(path, item))),
    make("div", {},
      comment && make("p", { class: "remark-words" }, `“${comment}”`),
      make("p", {}, `${about} `, make("b", {}, answer)),
      make("p", { class: "sub" }, `${annotators.join(", ")} · ${ago(time, now)} · ${item}`)));

const draw = (role, remarks, total, none, now) => {
  const more = total > remarks.length ? make("p", { class: "sub" }, `The latest ${remarks.length} of ${count(total, "remark")}; all of them are in the downloads.`) : "";
  const list = remarks.length ? make("ul", { class: "remarks", tabindex: "0", "aria-label": role === "comments" ? "Comments" : "Called unsuitable" }, remarks.map((row) => remark(row, now))) : make("p", { class: "none" }, none);
  one(`[data-role=${role}]`).replaceChildren(list, more);
};

/* Asked for only when there are new answers; if that fails, the next refresh shows why. */
export const loadRemarks = async () => {
  const found = await ask("GET", "/api/owner/remarks").catch(() => null);
  if (!found) return;
  const now = new Date().toISOString();
  draw("comments", found.comments, found.commented, "Nobody has written a comment yet.", now);
  draw("unsuitable", found.unsuitable, found.discarded, "Nobody has called a picture unsuitable.", now);
};
