/* The kinds of questions that this page can put, by the server's names. To add one (grid, reveal, frame pairs,
 * …): write a module beside this file, add its line to KINDS, write its browser test.
 *
 * A kind is an object:
 *   title, about    heading and one sentence of the instructions
 *   hasZoom         false where the keys for zooming have no use (optional)
 *   keys            [{ keys: ["Y"], name: "Yes", meaning: "the named thing is in the picture" }, …] for the instructions
 *   draw(host, question, context) → view
 *                   fills the empty element `host`; the page below it (undo, comment, feedback) is not the kind's business
 *
 * question: as the server sent it: { ticket, kind, training, payload, images }
 * context:  pictures       the question's images as decoded <img> elements, in order (<video> for a clip, which only the
 *                          slider shows); none when the items are no pictures: then payload.items says what to look at,
 *                          and stage() shows that
 *           answer(value)  gives the answer, in the words of POST /api/answers; may be called early or twice: the page
 *                          takes the first one after the picture was there to be seen
 *           chosen         the answer given before, when somebody went back; otherwise undefined
 *           classes()      a promise of GET /api/classes
 *           recent         { read() → values, add(value) }: values picked lately by this person
 *           isTouch        there is no keyboard worth mentioning
 *
 * view:     says           the question in one sentence, read to those who do not see it
 *           words(value)   an answer in few words, for 'last: …'
 *           told(value)    the known answer of a practice question, where the server's words have no sides (optional)
 *           isChanged()    true once an answer is in the making: then Enter is the view's, and keeps nothing (optional)
 *           zoom           what stage() returned: the keys + − 0 go there (optional)
 *           key(event)     true when the view took this key; not called while somebody types (optional)
 *           leave()        called before the next question is drawn (optional)
 *
 * parts.js has what most kinds need: stage() for zoomable pictures, answerButtons() for one key per answer. */

import check from "./check.js";
import choice from "./choice.js";
import contains from "./contains.js";
import mask from "./mask.js";
import pick from "./pick.js";
import slider from "./slider.js";

export const KINDS = { contains, choice, pick, slider, mask, check };

/* Keys that work for every kind. */
export const COMMON_KEYS = [
  { keys: ["Z"], name: "Undo", meaning: "back to the question before, and further back" },
  { keys: ["C"], name: "Comment", meaning: "a remark that goes with your answer" },
  { keys: ["+", "−", "0"], name: "Zoom", isZoom: true, meaning: "also with the wheel, two fingers or a double tap; drag to move" },
  { keys: ["?"], name: "Help", meaning: "these instructions again" },
];
