/* Plays clips one after the other, as often as somebody likes. */

const PAUSE = 700; // milliseconds between two clips, so that the change does not look like a cut

export class Player {
  #clips;
  #changed;
  #coming = [];
  #timer = 0;
  #hidden = () => { if (document.hidden) this.stop(); };
  seen; // which have been played to the end
  playing = null; // index of the clip that is playing
  shown = null; // index of the clip that was played last
  trouble = "";

  /* `changed` is called whenever something has to be redrawn. */
  constructor(clips, wereSeen, changed) {
    this.#clips = clips;
    this.#changed = changed;
    this.seen = clips.map(() => wereSeen);
    clips.forEach((clip, i) => { clip.onended = () => this.#ended(i); clip.ontimeupdate = changed; });
    document.addEventListener("visibilitychange", this.#hidden); // nobody sees what plays in a hidden tab
  }

  get isSeen() {
    return this.seen.every(Boolean);
  }

  /* A clip is playing, or will be in a moment. */
  get isUnderway() {
    return this.playing !== null || this.#coming.length > 0;
  }

  /* How much of the current clip has been played, 0 to 1. */
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
      if (this.playing !== place || !clip.paused) return; // stopped, or another clip was requested
      this.stop();
      this.trouble = "The browser could not start the clip. Try again.";
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
