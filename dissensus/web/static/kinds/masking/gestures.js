/* Fingers, pens and mice on a board: which of them move the picture, and which go to the tool.
 *
 * One finger, a pen or the primary button draws. A second finger cancels drawing and moves the picture; while a pen is down,
 * fingers and the palm do nothing. */

export class Gestures {
  isHand = false;
  #board;
  #view;
  #moved;
  #pointers = new Map(); // pointers that are down → their last position
  #mode = ""; // draw, move, pinch, or spent (ignored until all pointers are up)
  #tool = null; // the tool that was active when drawing started
  #isSpace = false;
  #listeners = new AbortController();

  constructor(board, view, moved) {
    this.#board = board;
    this.#view = view;
    this.#moved = moved;
    const { surface, element } = board;
    const on = (target, kind, act, options = {}) => target.addEventListener(kind, act, { signal: this.#listeners.signal, ...options });
    on(element, "wheel", (event) => this.#wheel(event), { passive: false });
    on(surface, "pointerdown", (event) => this.#down(event));
    on(surface, "pointermove", (event) => this.#move(event));
    on(surface, "pointerup", (event) => this.#up(event));
    on(surface, "pointercancel", (event) => this.#up(event));
    on(surface, "pointerleave", () => { if (!this.#pointers.size) this.#board.tool?.hover?.(null); });
    for (const kind of ["mousedown", "auxclick", "dragstart"]) on(surface, kind, (event) => event.preventDefault());
    on(surface, "contextmenu", (event) => { if (event.pointerType !== "mouse") event.preventDefault(); }); // a long touch draws
    on(window, "keydown", (event) => this.#space(event, true));
    on(window, "keyup", (event) => this.#space(event, false));
    on(window, "blur", () => { this.#setSpace(false); });
  }

  leave() {
    this.#listeners.abort();
  }

  #space(event, isDown) {
    if (event.key !== " " || event.defaultPrevented || (isDown && event.target.closest?.("button, a, input, textarea, select, dialog"))) return;
    if (isDown) event.preventDefault(); // the page would scroll
    this.#setSpace(isDown);
  }

  #setSpace(isDown) {
    this.#isSpace = isDown;
    this.#board.element.classList.toggle("movable", isDown);
  }

  #wheel(event) {
    event.preventDefault();
    const box = this.#board.element.getBoundingClientRect();
    this.#view.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 30 : 1) * 0.002), event.clientX - box.left, event.clientY - box.top);
    this.#moved();
  }

  #down(event) {
    const pointers = [...this.#pointers.values()];
    const isPalm = event.pointerType === "touch" && pointers.some(({ pointerType }) => pointerType === "pen");
    if (event.button > 1 || isPalm) return;
    this.#board.surface.focus({ preventScroll: true });
    this.#board.surface.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, event);
    if (this.#pointers.size > 1) {
      if (this.#mode === "draw") this.#tool?.cancel?.();
      this.#mode = this.#pointers.size === 2 ? "pinch" : "spent";
    } else if (event.button === 1 || this.isHand || this.#isSpace) this.#mode = "move";
    else {
      this.#mode = "draw";
      this.#tool = this.#board.tool;
      this.#tool?.down?.(this.#at(event), event);
    }
    this.#enlarge(event);
    this.#board.element.classList.toggle("moving", this.#mode === "move");
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return this.#pointers.size ? undefined : this.#board.tool?.hover?.(this.#at(event), event);
    this.#pointers.set(event.pointerId, event);
    if (this.#mode === "draw") {
      const all = event.getCoalescedEvents?.() ?? [];
      this.#tool?.move?.((all.length ? all : [event]).map((one) => this.#at(one)), event);
      this.#enlarge(event);
    } else if (this.#mode === "pinch") this.#pinch(before, event);
    else if (this.#mode === "move") {
      this.#view.move(event.clientX - before.clientX, event.clientY - before.clientY);
      this.#moved();
    }
  }

  /* The midpoint of two fingers moves the picture, their distance zooms it. */
  #pinch(before, after) {
    const other = [...this.#pointers.values()].find(({ pointerId }) => pointerId !== after.pointerId);
    const apart = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY) || 1;
    const box = this.#board.element.getBoundingClientRect();
    this.#view.move((after.clientX - before.clientX) / 2, (after.clientY - before.clientY) / 2);
    this.#view.zoom(apart(after) / apart(before), (after.clientX + other.clientX) / 2 - box.left, (after.clientY + other.clientY) / 2 - box.top);
    this.#moved();
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    if (this.#mode === "draw" && event.type === "pointercancel") this.#tool?.cancel?.();
    else if (this.#mode === "draw") this.#tool?.up?.(this.#at(event), event);
    this.#mode = this.#pointers.size ? "spent" : "";
    this.#enlarge(event);
    this.#board.element.classList.remove("moving");
  }

  /* Only for a finger that draws: a mouse or a pen hides nothing. */
  #enlarge(event) {
    if (this.#mode === "draw" && event.pointerType === "touch") this.#board.loupe.show(event);
    else this.#board.loupe.hide();
  }

  #at({ clientX, clientY }) {
    return this.#board.toPicture(clientX, clientY);
  }
}
