// A network as a cellular automaton: the states of all tokens, a row a step, and what each would answer.
import { color, h, narrow } from "../dom.js";
import { argmax, softmax } from "../models/vectors.js";
import { Strip } from "../strip.js";

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
    const huesOf = () => Object.fromEntries(answers.map((id) => [id, color(hue(id))]));
    let hues = huesOf();
    const states = new Picture("States", names, cell, (context, { means }, i) => {
      context.fillStyle = `rgb(${means[i].join(" ")})`;
    });
    const said = new Picture("Answers", names, cell, (context, { labels, shares }, i) => {
      context.fillStyle = hues[labels[i]] ?? "black";
      context.globalAlpha = shares[i];
    });
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
      hues = huesOf();
      said.strip.forget();
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

/** A row a step, a column a token; `paint(context, frame, column)` says in which colour. */
class Picture {
  constructor(name, tokens, cell, paint) {
    this.cell = cell;
    this.size = tokens.length * cell;
    const canvas = h("canvas", { class: "cells", role: "img", "aria-label": `${name} of the tokens by step` });
    this.now = h("i", { class: "now-line", style: `width: ${this.size}px` });
    const style = `grid-template-columns: repeat(${tokens.length}, ${cell}px); font-size: ${Math.min(cell + 2, 14)}px`;
    const letters = cell < 8 ? null : tokens.map((token) => h("span", {}, token));
    const head = letters && h("div", { class: "tokens", style, "aria-hidden": "true" }, letters);
    const layers = h("div", { class: "layers" }, canvas, this.now);
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": name };
    this.element = h("div", region, head, layers);
    this.strip = new Strip(canvas, (context, frames, step) => {
      tokens.forEach((_, i) => {
        paint(context, frames[step], i);
        context.fillRect(i * cell, step * cell, cell, cell);
      });
    });
  }

  draw(frames, cursor) {
    this.strip.draw(frames, cursor, [this.size, this.size], () => {});
    this.now.style.top = `${(cursor + 1) * this.cell}px`;
  }
}
