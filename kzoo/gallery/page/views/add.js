// Addition as on paper: the digits in their places, carries above them, and where each head looks.
import { color, h, narrow, percent } from "../dom.js";
import { crossed } from "../models/seq2seq.js";
import { Strip } from "../strip.js";
import { symbolsOf } from "../verdict.js";

const AROUND = 9; // places shown on either side of the current one, where there are many
const COLORS = ["accent", "second", "third", "fourth"];

export const addView = {
  /** Keeps what heads look at most, of every layer: a dense model at 1,000 digits has millions of weights. */
  keep({ trace, token }) {
    const most = (row) =>
      row
        .filter(([, weight]) => weight > 0.08)
        .sort((a, b) => b[1] - a[1])
        .slice(0, 4);
    return { layers: trace.layers.map(({ cross }) => cross.map(most)), token, trace: null, logits: null };
  },

  make(about, text, right, ids) {
    const width = (ids.length - 3) / 2;
    const digits = ids.map((id) => about.tokens[id]);
    const operands = [digits.slice(1, width + 1), digits.slice(width + 2, 2 * width + 2)];
    const sum = addition(operands, width);
    const expected = symbolsOf(about, right.padStart(width, "0")).reverse();
    const lines = about.config.config.cross_bias?.config.lines ?? null;
    const { heads, layers } = about.config.config;
    const grid = h("div", { class: "scroll sum", tabindex: "0", role: "region", "aria-label": "The sum in columns" });
    const shape = {
      size: ids.length,
      tall: expected.length + 1,
      lines,
      ends: [width + 1, ids.length - 1],
      layer: layers - 1,
    };
    const maps = Array.from({ length: heads }, (_, head) => new HeadMap(head, shape));
    const words = Array.from({ length: heads }, () => h("p", { class: "words" }));
    const figures = maps.map((map, head) =>
      h("section", { class: "map" }, h("h3", {}, dotOf(head), `Head ${head + 1}`), map.element, words[head]),
    );
    const hint = lines
      ? "Each picture is a head of the last layer: a row for each digit written, a column for each symbol read. The thin lines are its calibrated biases, all that it may look at; dots are where it did."
      : "Each picture is a head of the last layer: a row for each digit written, a column for each symbol read. This model has no biases: nothing tells it where to look but the positions it saw in training.";
    const element = h(
      "div",
      {},
      h("h2", {}, "The sum"),
      grid,
      h("h2", {}, "Where the heads look"),
      h("p", { class: "hint" }, hint),
      h("div", { class: "maps" }, figures),
    );

    function draw(frames, cursor) {
      const frame = frames[cursor];
      const last = frame.layers[layers - 1];
      grid.replaceChildren(columns(frames, cursor, { operands, sum, expected, width, about, last }));
      maps.forEach((map, head) => {
        map.draw(frames, cursor);
        words[head].textContent = lookedAt(last[head], width, digits);
        map.canvas.setAttribute("aria-label", `Head ${head + 1}: ${words[head].textContent}`);
      });
      return sentence(frame, cursor, { operands, sum, width, about, expected });
    }
    return { element, draw, resize: () => maps.forEach((map) => map.strip.forget()) };
  },
};

const dotOf = (head) => h("i", { class: `head h${head}`, "aria-hidden": "true" }, String(head + 1));

/** Returns the carry into each place, counted from the right. */
function addition(operands, width) {
  const carries = [0];
  for (let place = 0; place < width; place++) {
    const total = Number(operands[0][width - 1 - place]) + Number(operands[1][width - 1 - place]) + carries[place];
    carries.push(total > 9 ? 1 : 0);
  }
  return carries;
}

/** Returns [operand, place] of a key, or null for the symbols around them. */
function placeOf(key, width) {
  if (key >= 1 && key <= width) return [0, width - key];
  if (key >= width + 2 && key <= 2 * width + 1) return [1, 2 * width + 1 - key];
  return null;
}

function lookedAt(row, width, digits) {
  const parts = row.map(([key, weight]) => {
    const found = placeOf(key, width);
    const name = found
      ? `place ${found[1] + 1} of number ${found[0] + 1} (${digits[key]})`
      : ({ 0: "the start", [width + 1]: "the plus" }[key] ?? "the end");
    return `${name} ${percent(weight)}`;
  });
  return parts.length ? `Now: ${parts.join("; ")}.` : "Now: spread over many symbols.";
}

/** The table of the sum, places from the highest to the lowest that are shown. */
function columns(frames, cursor, { operands, sum, expected, width, about, last }) {
  const far = width > 2 * AROUND + 3;
  const high = far ? Math.min(width - 1, Math.max(cursor + AROUND, 2 * AROUND)) : width - 1;
  const low = far ? Math.max(0, Math.min(cursor - AROUND, width - 1 - 2 * AROUND)) : 0;
  const places = Array.from({ length: high - low + 1 }, (_, i) => high - i);
  const looking = (operand, place) =>
    last.flatMap((row, head) =>
      row
        .filter(([key, weight]) => weight > 0.2 && String(placeOf(key, width)) === `${operand},${place}`)
        .map(() => dotOf(head)),
    );
  const cells = (name, of, kind) =>
    h(
      "tr",
      { class: kind },
      h("th", { scope: "row" }, name),
      far && high < width - 1 ? h("td", {}, "…") : null,
      places.map((place) => h("td", { class: place === cursor ? "now" : "" }, of(place))),
      far && low > 0 ? h("td", {}, "…") : null,
    );
  const digit = (k) => (place) => [operands[k][width - 1 - place], h("div", { class: "dots" }, looking(k, place))];
  const result = (place) => {
    if (place > cursor || frames[place].token === about.end_id) return "";
    const token = about.tokens[frames[place].token];
    return token === expected[place] ? token : h("mark", { title: `should be ${expected[place]}` }, `${token}✗`);
  };
  return h(
    "table",
    {},
    h("caption", { class: "hint" }, `${width} places, zeros filled in; written from the right`),
    h(
      "tbody",
      {},
      cells("carry", (place) => (sum[place] ? "1" : ""), "carries"),
      cells("number 1", digit(0)),
      cells("+ number 2", digit(1)),
      cells("written", result, "result"),
    ),
  );
}

/** A picture of a head: its lines once, then a dot for each step, and a line at the current one. */
class HeadMap {
  constructor(head, { size, tall, lines, ends, layer }) {
    Object.assign(this, { head, size, tall, lines, ends, layer });
    this.canvas = h("canvas", { role: "img" });
    this.now = h("i", { class: "now-line" });
    this.element = h("div", { class: "layers" }, this.canvas, this.now);
    this.strip = new Strip(this.canvas, (context, frames, step) => this.dots(context, frames[step], step));
  }

  draw(frames, cursor) {
    this.extent = narrow() ? 150 : 210;
    this.cell = this.extent / this.size;
    this.row = this.extent / this.tall;
    this.strip.draw(frames, cursor, [this.extent, this.extent], (context) => this.background(context));
    this.now.style.cssText = `top: ${(cursor + 1) * this.row}px; width: ${this.extent}px`;
  }

  background(context) {
    const { extent, cell, row, ends } = this;
    context.fillStyle = color("panel");
    context.fillRect(0, 0, extent, extent);
    context.fillStyle = color("ink");
    for (const end of ends) context.fillRect(end * cell, 0, 0.5, extent);
    context.fillStyle = color("soft");
    context.globalAlpha = 0.35;
    for (let query = 0; this.lines && query < this.tall; query++) {
      for (const [key] of crossed(this.lines, this.head, query, ends, this.size) ?? []) {
        context.fillRect(key * cell, query * row, Math.max(cell, 1.2), Math.max(row, 1.2));
      }
    }
    this.ink = color(COLORS[this.head]);
  }

  dots(context, frame, step) {
    context.fillStyle = this.ink;
    for (const [key, weight] of frame.layers[this.layer][this.head]) {
      const dot = Math.max(2, Math.min(this.cell, this.row, 9) * Math.sqrt(weight));
      context.globalAlpha = Math.min(1, 0.15 + weight);
      context.fillRect((key + 0.5) * this.cell - dot / 2, (step + 0.5) * this.row - dot / 2, dot, dot);
    }
  }
}

function sentence(frame, cursor, { operands, sum, width, about, expected }) {
  if (frame.token === about.end_id) return `Step ${cursor + 1} writes the end symbol: the sum is done.`;
  const token = about.tokens[frame.token];
  if (cursor >= width) return `Step ${cursor + 1} writes “${token}”, beyond the first place.`;
  const [a, b] = operands.map((digits) => Number(digits[width - 1 - cursor]));
  const total = a + b + sum[cursor];
  const carried = sum[cursor] ? " + 1 carried" : "";
  const next = total > 9 ? ", and 1 is to be carried" : "";
  const right = token === expected[cursor];
  return `Place ${(cursor + 1).toLocaleString("en")} from the right: ${a} + ${b}${carried} = ${total}${next}. The model writes “${token}”${right ? "" : `, which is wrong: it should be “${expected[cursor]}”`}.`;
}
