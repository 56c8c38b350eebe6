/* The kinds of questions that this page can ask, under the server's names. To add one:
 * write a module next to this file, add a line to KINDS, and write a browser test.
 *
 * A kind is an object:
 *   title           heading of its instructions
 *   brief           what to do, in one sentence: with the example in worked.js, all that people read before they start
 *   about           the same in full, for Help; aboutClips: what to add if there are clips (optional)
 *   isGame          true if its instructions are all that a player needs, whatever other kinds come up (optional)
 *   isFinal         true if nobody can go back to it: its answers are revealed (optional)
 *   isGradual       true if it is drawn before its pictures have arrived: context.pictures are promises of <img> (optional)
 *   ownsZ           true if Z undoes something within the question: Shift+Backspace goes back then (optional)
 *   hasZoom         false if the zoom keys have no use (optional)
 *   keys            [{ keys: ["Y"], name: "Yes", meaning: "it is in the picture" }, …] for the instructions;
 *                   typed: what follows the meaning, or replaces it, where there is a keyboard; isClip: only for clips
 *   picked(value, payload) → classes
 *                   the classes that an answer names, which are offered again as recently picked (optional)
 *   draw(host, question, context) → view
 *                   fills the empty element `host`; the page handles what is below it (undo, comment, feedback)
 *
 * question: as the server sent it: { ticket, kind, training, told, payload, images }
 * context:  pictures       the question's images as decoded <img> elements, in order (<video> for a clip, which only
 *                          slider and rating show); empty if the items are not pictures: then payload.items says what to look
 *                          at, and stage() shows that
 *           answer(value)  gives the answer in the format of POST /api/answers; may be called early or twice: the page
 *                          takes the first one after the picture became visible
 *           chosen         the previous answer, if somebody went back; otherwise undefined
 *           classes()      a promise of GET /api/classes
 *           recent         { read() → values, add(value) }: values recently picked by this person
 *           isGuided       true if the study has guides or examples of classes
 *           guide(value)   a promise of GET /api/classes/VALUE: { guide, examples }
 *           isTouch        this is a touch device, probably without a keyboard
 *
 * view:     says           the question in one sentence, for screen readers
 *           words(value)   an answer in a few words, for 'last: …'
 *           told(value)    the known answer of a practice question in words, if the server's do not fit, as with sides (optional)
 *           shown          a promise of the moment from which people have seen enough to answer, if that is not at once (optional)
 *           isChanged()    true once the answer has been changed: then Enter goes to the view (optional)
 *           after(result)  called with the feedback on the answer, if there is any: the server's message (optional)
 *           takesLetters   true if letters are the view's own, also those of the page, such as C (optional)
 *           zoom           what stage() returned; gets the keys + − 0 (optional)
 *           key(event)     returns whether the view used this key; not called while typing (optional)
 *           leave()        called before the next question is drawn (optional)
 *
 * parts.js has what most kinds need: stage() for zoomable pictures, answerButtons() for answers with keys. */

import check from "./check.js";
import choice from "./choice.js";
import contains from "./contains.js";
import frames from "./frames.js";
import grid from "./grid.js";
import label from "./label.js";
import mask from "./mask.js";
import pairs from "./pairs.js";
import pick from "./pick.js";
import rating from "./rating.js";
import reveal from "./reveal.js";
import review from "./review.js";
import slider from "./slider.js";

export const KINDS = { contains, choice, pick, label, slider, rating, mask, check, reveal, grid, pairs, review, frames };

/* Keys that work for every kind. */
export const COMMON_KEYS = [
  { keys: ["Z"], name: "Previous", isUndo: true, meaning: "goes back to the previous question; press again to go back further" },
  { keys: ["C"], name: "Comment", meaning: "a remark sent with your answer" },
  { keys: ["+", "−", "0"], name: "Zoom", isZoom: true, meaning: "also with the mouse wheel, two fingers or a double tap; drag to move the picture" },
  { keys: ["?"], name: "Help", meaning: "these instructions again" },
];
