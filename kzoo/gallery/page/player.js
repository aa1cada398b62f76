// Steps forward and back through the frames of a run, by hand or at a speed.
import { h, labelled } from "./dom.js";

const FASTEST = 30;

export class Player {
  /** `draw(cursor)` is called whenever another frame is to be shown. */
  constructor(draw) {
    this.draw = draw;
    this.count = 0;
    this.cursor = 0;
    this.playing = false;
    const button = (label, text, act) =>
      h("button", { type: "button", "aria-label": label, title: label, click: act }, text);
    this.toggle = button("Play", "Play", () => (this.playing ? this.pause() : this.play()));
    this.range = h("input", {
      type: "range",
      min: 1,
      max: 1,
      value: 1,
      input: () => this.go(this.range.valueAsNumber - 1),
    });
    this.speed = h("input", {
      type: "range",
      min: 1,
      max: FASTEST,
      value: 5,
      class: "speed",
      input: () => this.sayRate(),
    });
    this.shown = h("output", { class: "count" });
    this.element = h(
      "div",
      { class: "player", role: "group", "aria-label": "Steps of the model" },
      button("First step", "|◀", () => this.go(0)),
      button("One step back", "◀", () => this.go(this.cursor - 1)),
      this.toggle,
      button("One step on", "▶", () => this.go(this.cursor + 1)),
      button("Last step", "▶|", () => this.go(this.count - 1)),
      labelled("Step", this.range),
      this.shown,
      labelled("Speed", this.speed),
    );
  }

  /** Begins a new run, of which no frame is there yet; `expected` is how many there will be, as far as known. */
  reset(expected) {
    this.pause();
    this.count = this.cursor = 0;
    this.speed.value = Math.min(FASTEST, Math.max(4, Math.round(expected / 6)));
    this.sayRate();
  }

  /** One more frame is there. */
  grew(count) {
    this.count = count;
    this.range.max = count;
    this.say();
  }

  go(cursor) {
    this.pause();
    this.show(cursor);
  }

  show(cursor) {
    if (!this.count) return;
    this.cursor = Math.min(Math.max(cursor, 0), this.count - 1);
    this.say();
    this.draw(this.cursor);
  }

  say() {
    this.range.value = this.cursor + 1;
    this.range.setAttribute("aria-valuetext", `step ${this.cursor + 1} of ${this.count}`);
    this.shown.textContent = `${Math.min(this.cursor + 1, this.count)} of ${this.count}`;
  }

  sayRate() {
    const said = `${this.speed.value} steps a second`;
    this.speed.setAttribute("aria-valuetext", said);
    this.speed.title = said;
  }

  play() {
    if (this.cursor >= this.count - 1) this.show(0);
    this.playing = true;
    this.label();
    let before = performance.now();
    let due = 0;
    const tick = (now) => {
      if (!this.playing) return;
      due = Math.min(due + ((now - before) / 1000) * this.speed.valueAsNumber, 10);
      before = now;
      const steps = Math.min(Math.floor(due), this.count - 1 - this.cursor);
      if (steps > 0) {
        due -= steps;
        this.show(this.cursor + steps);
      }
      if (this.cursor >= this.count - 1 && this.complete) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    const was = this.playing;
    this.playing = false;
    this.label();
    if (was && this.count) this.draw(this.cursor);
  }

  label() {
    const label = this.playing ? "Pause" : "Play";
    this.toggle.textContent = label;
    this.toggle.setAttribute("aria-label", label);
    this.toggle.title = label;
  }
}
