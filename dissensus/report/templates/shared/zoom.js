/* Zoom and pan for one picture, or for several that move together (an image, or a .layer of images and words): wheel,
 * pinch, double tap, drag, and steps for keys and buttons. Positions are fractions of the frame, so that linked frames of different sizes show the same part. */

const LARGEST = 8;
const TAP_TIME = 320;
const TAP_SPACE = 24;
const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));

export class Zoom {
  #frames;
  #changed;
  #scale = 1;
  #x = 0;
  #y = 0;
  #fingers = new Map(); // pointer → its last position
  #tap = null; // where and when the last short touch was
  #moved = 0;
  #frame; // where the first finger went down: captured pointers do not tell

  constructor(stage, frames, changed = () => {}) {
    this.#frames = frames;
    this.#frame = frames[0];
    this.#changed = changed;
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const kind of ["pointerup", "pointercancel"]) stage.addEventListener(kind, (event) => this.#up(event));
  }

  step(direction) {
    this.#to(this.#scale * 1.5 ** direction, 0, 0);
  }

  reset() {
    this.#to(1, 0, 0);
  }

  /* A position on the page as fractions of a frame, from its centre. */
  #place(clientX, clientY, frame = this.#frame) {
    const box = frame.getBoundingClientRect();
    return [clamp((clientX - box.left) / box.width - 0.5, 0.5), clamp((clientY - box.top) / box.height - 0.5, 0.5)];
  }

  /* Zooms around (x, y), which stays in place. */
  #to(scale, x, y) {
    const next = Math.max(1, Math.min(LARGEST, scale));
    this.#x = x - (x - this.#x) * (next / this.#scale);
    this.#y = y - (y - this.#y) * (next / this.#scale);
    this.#scale = next;
    this.#apply();
  }

  #apply() {
    const limit = (this.#scale - 1) / 2;
    this.#x = clamp(this.#x, limit);
    this.#y = clamp(this.#y, limit);
    for (const frame of this.#frames) {
      const moved = `translate(${this.#x * frame.clientWidth}px, ${this.#y * frame.clientHeight}px) scale(${this.#scale})`;
      for (const moving of frame.querySelectorAll("img:not(.layer img), .layer")) moving.style.transform = this.#scale === 1 ? "" : moved;
      frame.classList.toggle("zoomed", this.#scale > 1);
    }
    this.#changed(this.#scale);
  }

  #wheel(event) {
    event.preventDefault();
    const [x, y] = this.#place(event.clientX, event.clientY, event.target.closest(".frame") ?? this.#frame);
    const lines = event.deltaMode ? 30 : 1;
    this.#to(this.#scale * Math.exp(-event.deltaY * lines * 0.002), x, y);
  }

  #down(event) {
    if (event.button || event.target.closest("button")) return;
    if (!this.#fingers.size) {
      this.#moved = 0;
      this.#frame = event.target.closest(".frame") ?? this.#frames[0];
    }
    this.#fingers.set(event.pointerId, event);
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const before = this.#fingers.get(event.pointerId);
    if (!before) return;
    const box = this.#frame.getBoundingClientRect();
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    this.#moved += Math.abs(dx) + Math.abs(dy);
    const other = [...this.#fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    this.#fingers.set(event.pointerId, event);
    if (other) this.#pinch(before, event, other);
    this.#x += (other ? dx / 2 : dx) / box.width;
    this.#y += (other ? dy / 2 : dy) / box.height;
    this.#apply();
  }

  #pinch(before, after, other) {
    const apart = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY) || 1;
    const [x, y] = this.#place((after.clientX + other.clientX) / 2, (after.clientY + other.clientY) / 2);
    this.#to((this.#scale * apart(after)) / apart(before), x, y);
  }

  #up(event) {
    if (!this.#fingers.delete(event.pointerId) || event.type === "pointercancel") return;
    if (this.#fingers.size || this.#moved > TAP_SPACE) this.#tap = null;
    else if (this.#tap && event.timeStamp - this.#tap.timeStamp < TAP_TIME && this.#isNear(event)) this.#toggle(event);
    else this.#tap = event;
  }

  #isNear(event) {
    return Math.hypot(event.clientX - this.#tap.clientX, event.clientY - this.#tap.clientY) < TAP_SPACE;
  }

  /* Not every browser sends dblclick for touches, so two short touches are detected here. */
  #toggle(event) {
    this.#tap = null;
    const [x, y] = this.#place(event.clientX, event.clientY);
    this.#to(this.#scale > 1 ? 1 : 2.5, x, y);
  }
}
