/* Two clips that are played one after the other, and as often as somebody likes. */

const PAUSE = 700; // milliseconds of nothing between two clips, so that one is not taken for the other's cut

export class Player {
  #clips;
  #changed;
  #coming = [];
  #timer = 0;
  #hidden = () => { if (document.hidden) this.stop(); };
  seen; // which were played to the end once
  playing = null; // the place of the one that runs
  shown = null; // the place of the one that ran last
  trouble = "";

  /* `changed` hears of everything that is to be drawn anew. */
  constructor(clips, wereSeen, changed) {
    this.#clips = clips;
    this.#changed = changed;
    this.seen = clips.map(() => wereSeen);
    clips.forEach((clip, i) => { clip.onended = () => this.#ended(i); clip.ontimeupdate = changed; });
    document.addEventListener("visibilitychange", this.#hidden); // what plays behind another window is not seen
  }

  get isSeen() {
    return this.seen.every(Boolean);
  }

  /* One of them runs, or will in a moment. */
  get isUnderway() {
    return this.playing !== null || this.#coming.length > 0;
  }

  /* How much of the clip that runs is over. */
  get share() {
    const clip = this.#clips[this.playing];
    return clip?.duration ? clip.currentTime / clip.duration : 0;
  }

  play(...places) {
    this.stop();
    this.trouble = "";
    this.#coming = places;
    this.#next();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#coming = [];
    this.playing = null;
    for (const clip of this.#clips) clip.pause();
    this.#changed();
  }

  leave() {
    document.removeEventListener("visibilitychange", this.#hidden);
    for (const clip of this.#clips) clip.onended = clip.ontimeupdate = null;
    clearTimeout(this.#timer);
    for (const clip of this.#clips) clip.pause();
  }

  async #next() {
    const place = this.#coming.shift();
    this.playing = this.shown = place;
    const clip = this.#clips[place];
    clip.currentTime = 0;
    this.#changed();
    try {
      await clip.play();
    } catch {
      if (this.playing !== place || !clip.paused) return; // stopped, or another was asked for
      this.stop();
      this.trouble = "This browser did not start the clip. Try again.";
      this.#changed();
    }
  }

  #ended(place) {
    if (this.playing !== place) return;
    this.seen[place] = true;
    this.playing = null;
    if (this.#coming.length) this.#timer = setTimeout(() => this.#next(), PAUSE);
    this.#changed();
  }
}
