/* Which part of a picture is visible, and how large: a picture pixel covers `scale` page pixels, and the picture's upper
 * left corner is at (x, y) of the stage. */

const LARGEST = 48;
const RIM = 12;

export class View {
  scale = 1;
  x = 0;
  y = 0;
  isFitted = true;
  #size;
  #room = [0, 0];

  constructor(width, height) {
    this.#size = [width, height];
  }

  get fitting() {
    return Math.max(1e-3, Math.min(...this.#size.map((size, i) => Math.max(1, this.#room[i] - 2 * RIM) / size)));
  }

  /* The stage was resized: what was at its centre stays there. */
  resize(width, height) {
    const middle = this.toPicture(this.#room[0] / 2, this.#room[1] / 2);
    this.#room = [width, height];
    if (this.isFitted) return this.fit();
    [this.x, this.y] = [width / 2 - middle.x * this.scale, height / 2 - middle.y * this.scale];
    this.#hold();
  }

  fit() {
    this.isFitted = true;
    this.scale = this.fitting;
    [this.x, this.y] = this.#size.map((size, i) => (this.#room[i] - size * this.scale) / 2);
  }

  /* Zooms around (x, y) of the stage, which stays in place. */
  zoom(factor, x = this.#room[0] / 2, y = this.#room[1] / 2) {
    const next = Math.max(this.fitting / 2, Math.min(Math.max(LARGEST, this.fitting), this.scale * factor));
    this.x = x - (x - this.x) * (next / this.scale);
    this.y = y - (y - this.y) * (next / this.scale);
    this.scale = next;
    this.isFitted = false;
    this.#hold();
  }

  move(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.isFitted = false;
    this.#hold();
  }

  /* Brings a position of the picture into view, away from the edge. */
  reveal(x, y) {
    const at = this.toStage(x, y);
    const rim = this.#room.map((room) => Math.min(48, room / 4));
    const off = [at.x, at.y].map((place, i) => Math.max(rim[i], Math.min(this.#room[i] - rim[i], place)) - place);
    if (off[0] || off[1]) this.move(...off);
  }

  toPicture(x, y) {
    return { x: (x - this.x) / this.scale, y: (y - this.y) / this.scale };
  }

  toStage(x, y) {
    return { x: this.x + x * this.scale, y: this.y + y * this.scale };
  }

  /* Part of the picture always stays at the centre. */
  #hold() {
    const [x, y] = this.#size.map((size, i) => {
      const middle = this.#room[i] / 2;
      return Math.max(middle - size * this.scale, Math.min(middle, i ? this.y : this.x));
    });
    Object.assign(this, { x, y });
  }
}
