// A network as a cellular automaton: the states of all tokens, a row a step, and what each would answer.
import { color, h, narrow } from "../dom.js";
import { argmax, softmax } from "../models/vectors.js";

const [LEAST, MOST] = [3, 16]; // pixels of a cell
const COLORS = ["accent", "second", "third", "fourth"];
const SHOWN = 60; // letters of an answer in the sentence

export const cellsView = {
  keep({ columns, trace }) {
    const labels = columns.map(argmax);
    const shares = columns.map((logits, i) => softmax(logits)[labels[i]]);
    return { labels, shares, means: trace.states.map(meansOf), columns: null, trace: null };
  },

  make(about, text, right, ids) {
    const cell = Math.min(MOST, Math.max(LEAST, Math.floor((narrow() ? innerWidth - 40 : 440) / ids.length)));
    const names = ids.map((id) => (id === about.end_id ? "" : about.tokens[id]));
    const answers = [...about.tokens.keys()].filter((id) => id < about.start_id || id === about.end_id);
    const hue = (id) => (id === about.end_id ? "soft" : COLORS[id % COLORS.length]);
    const states = new Picture("States", names, cell, ({ means }, i) => [...means[i], 255]);
    let colors = colorsOf(answers, hue);
    const said = new Picture("Answers", names, cell, ({ labels, shares }, i) => [
      ...(colors[labels[i]] ?? [0, 0, 0]),
      255 * shares[i],
    ]);
    const legend = answers.map((id) =>
      h("li", {}, h("i", { class: "swatch", style: `background: var(--${hue(id)})` }), about.tokens[id]),
    );
    const element = h(
      "div",
      { class: "lanes" },
      h(
        "div",
        {},
        h("h2", {}, "The state of each token, a row a step"),
        h(
          "p",
          { class: "hint" },
          "Red is the mean of the numbers that move one token to the right at each step, where a gate keeps them; green of those that move to the left; blue of those that stay. So what a token tells others runs along a diagonal.",
        ),
        states.element,
      ),
      h(
        "div",
        {},
        h("h2", {}, "What each token would answer"),
        h("ul", { class: "legend" }, legend),
        h("p", { class: "hint" }, "The last row is the answer, from the first token on up to the end symbol."),
        said.element,
      ),
    );

    function draw(frames, cursor) {
      for (const picture of [states, said]) picture.draw(frames, cursor);
      const answer = frames[cursor].text;
      const shown = answer.length > SHOWN ? `${answer.slice(0, SHOWN)}…` : answer;
      const times = cursor ? `${cursor + 1} times` : "once";
      return `Step ${cursor + 1} of ${ids.length}: all tokens have changed ${times}. If this were the last step, the answer would be ${shown ? `“${shown}”` : "empty"}.`;
    }

    /** Draws anew in the colours of the scheme in force. */
    function resize() {
      colors = colorsOf(answers, hue);
      said.forget();
    }
    return { element, draw, resize };
  },
};

/** The means of the three thirds of a state, as shades from 0 to 255: a mean of 0 is in the middle. */
function meansOf(state) {
  const third = Math.floor(state.length / 3);
  const ends = [0, third, 2 * third, state.length];
  return [0, 1, 2].map((k) => {
    const part = state.subarray(ends[k], ends[k + 1]);
    const mean = part.reduce((sum, x) => sum + x, 0) / part.length;
    return Math.min(Math.max(128 + 512 * mean, 0), 255);
  });
}

/** Red, green and blue by id. */
function colorsOf(ids, hue) {
  const context = h("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const found = {};
  for (const id of ids) {
    context.fillStyle = color(hue(id));
    context.fillRect(0, 0, 1, 1);
    found[id] = [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }
  return found;
}

/** A row a step, a column a token; `colorOf(frame, column)` is four numbers from 0 to 255. */
class Picture {
  constructor(name, tokens, cell, colorOf) {
    Object.assign(this, { cell, colorOf });
    const n = tokens.length;
    const size = `width: ${n * cell}px; height: ${n * cell}px`;
    this.canvas = h("canvas", { class: "cells", width: n, height: n, style: size, role: "img" });
    this.canvas.setAttribute("aria-label", `${name} of the tokens by step`);
    this.context = this.canvas.getContext("2d");
    this.now = h("i", { class: "now-line", style: `width: ${n * cell}px` });
    const style = `grid-template-columns: repeat(${n}, ${cell}px); font-size: ${Math.min(cell + 2, 14)}px`;
    const letters = cell < 8 ? null : tokens.map((token) => h("span", {}, token));
    const head = letters && h("div", { class: "tokens", style, "aria-hidden": "true" }, letters);
    const layers = h("div", { class: "layers" }, this.canvas, this.now);
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": name };
    this.element = h("div", region, head, layers);
    this.image = new ImageData(n, n);
    this.rows = 0;
  }

  forget() {
    this.rows = 0;
  }

  draw(frames, cursor) {
    const { width, data } = this.image;
    if (this.frames !== frames) [this.frames, this.rows] = [frames, 0];
    for (; this.rows < frames.length; this.rows++) {
      for (let i = 0; i < width; i++)
        data.set(this.colorOf(frames[this.rows], i).map(Math.round), 4 * (this.rows * width + i));
    }
    this.context.clearRect(0, 0, width, width);
    this.context.putImageData(this.image, 0, 0, 0, 0, width, cursor + 1);
    this.now.style.top = `${(cursor + 1) * this.cell}px`;
  }
}
