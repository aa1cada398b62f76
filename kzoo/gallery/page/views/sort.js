// A decoder that sorts: each head as a lane, its weights standing on the numbers that it looks at.
import { h, narrow, percent, s } from "../dom.js";
import { symbolsOf } from "../verdict.js";

const [HEIGHT, BASE, BAR] = [84, 62, 14]; // the bar, "|", stands left of all numbers
const LEGEND =
  "In each lane the small ticks are the numbers of the input, from 1 at the left to 100 at the right, and “|” is the bar " +
  "between input and output. The triangle is the token that the model just read; tall bars are what the head looks at: ";

export const sortView = {
  keep({ trace, token }) {
    const layers = trace.layers.map((heads) => heads.map((row) => row.filter(([, weight]) => weight > 0.002)));
    return { layers, token, trace: null, logits: null };
  },

  make(about, text, right, ids) {
    const size = ids.length - 1; // numbers of the source; behind them stands the bar
    const numbers = ids.slice(0, size).map((id) => Number(about.tokens[id]));
    const present = [...new Set(numbers)].sort((a, b) => a - b);
    const expected = symbolsOf(about, right);
    const source = h("div", { class: "tiles", "aria-hidden": "true" });
    const written = h("div", { class: "tiles written", "aria-hidden": "true" });
    const { heads } = about.config.config.block.config.attention.config;
    const lanes = Array.from({ length: about.config.config.layers }, (_, layer) =>
      Array.from({ length: heads }, (_, head) => new Lane(layer, head, present, builtFor(about, layer, head))),
    );
    const element = h(
      "div",
      {},
      h("h2", {}, "Numbers to sort"),
      source,
      h("h2", {}, "Written so far"),
      written,
      h(
        "p",
        { class: "hint" },
        LEGEND,
        h("b", { class: "blue" }, "input"),
        " and ",
        h("b", { class: "orange" }, "its own output"),
        ".",
      ),
      h(
        "div",
        { class: "lanes" },
        lanes.flat().map((lane) => lane.element),
      ),
    );

    let summed = null; // the run whose habits are told
    function draw(frames, cursor) {
      const tokens = frames.slice(0, cursor + 1).map(({ token }) => about.tokens[token]);
      const readAt = (step) => (step ? Number(about.tokens[frames[step - 1].token]) : null);
      const read = readAt(cursor);
      const valueOf = (key) =>
        key < size ? numbers[key] : key === size ? null : Number(about.tokens[frames[key - size - 1].token]);
      lanes.forEach((heads, layer) =>
        heads.forEach((lane, head) => lane.draw(frames[cursor].layers[layer][head], { read, valueOf, size, present })),
      );
      if (frames.length > 1 && frames[frames.length - 1].done && summed !== frames) {
        summed = frames;
        lanes.forEach((own, layer) =>
          own.forEach(
            (lane, head) => (lane.habit.textContent = habit(frames, layer, head, { valueOf, size, present, readAt })),
          ),
        );
      }
      const left = new Map();
      for (const token of tokens) left.set(token, (left.get(token) ?? 0) + 1);
      source.replaceChildren(
        ...numbers.map((number) => {
          const out = left.get(String(number)) > 0;
          if (out) left.set(String(number), left.get(String(number)) - 1);
          return h("span", { class: `tile ${out ? "done" : ""}` }, String(number));
        }),
      );
      written.replaceChildren(
        ...tokens.map((token, i) => {
          const wrong = token !== expected[i];
          return h(
            "span",
            { class: `tile ${wrong ? "wrong" : ""} ${i === cursor ? "new" : ""}` },
            wrong ? `${token} ✗` : token,
          );
        }),
      );
      return `Step ${cursor + 1} reads ${read === null ? "the bar, “|”," : `“${read}”`} and writes “${tokens[cursor]}”.`;
    }
    return { element, draw };
  },
};

/** What a head of the constructed sorter is there for; a trained one is only observed. */
function builtFor(about, layer, head) {
  return about.heads?.[layer]?.[head] ?? null;
}

class Lane {
  constructor(layer, head, present, purpose) {
    this.bars = s("g");
    this.at = s("path", { class: "reading" });
    this.words = h("p", { class: "words" });
    this.habit = h("p", { class: "hint" });
    this.title = `Layer ${layer + 1}, head ${head + 1}`;
    const width = narrow() ? 350 : 450;
    const x = (this.x = (value) => 34 + (value / 100) * (width - 46));
    const ticks = present.map((value) =>
      s("line", { x1: x(value), x2: x(value), y1: BASE, y2: BASE + 7, class: "tick" }),
    );
    const ends = [1, 25, 50, 75, 100].map((value) =>
      s("text", { x: x(value), y: HEIGHT - 1, "text-anchor": "middle", class: "note" }, value),
    );
    const bar = s("text", { x: BAR, y: BASE + 14, "text-anchor": "middle" }, "|");
    const axis = s("line", { x1: 4, x2: width - 4, y1: BASE, y2: BASE, class: "grid" });
    this.drawing = s(
      "svg",
      { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img" },
      axis,
      ticks,
      ends,
      bar,
      this.bars,
      this.at,
    );
    this.element = h(
      "section",
      { class: "lane" },
      h("h3", {}, this.title),
      purpose && h("p", { class: "hint" }, purpose),
      this.drawing,
      this.words,
      this.habit,
    );
  }

  draw(row, { read, valueOf, size, present }) {
    const sums = sumsOf(row, valueOf, size);
    const bars = [...sums].flatMap(([value, [given, own]]) => {
      const left = (value === null ? BAR : this.x(value)) - 3.5;
      const [low, high] = [given * (BASE - 4), own * (BASE - 4)];
      return [
        s("rect", { x: left, y: BASE - low, width: 7, height: low, class: "given" }),
        s("rect", { x: left, y: BASE - low - high, width: 7, height: high, class: "own" }),
      ];
    });
    this.bars.replaceChildren(...bars);
    const at = read === null ? BAR : this.x(read);
    this.at.setAttribute("d", `M${at} ${BASE + 1} l-6 10 h12 z`);
    this.words.textContent = `Looks at ${told(groupsOf(sums, read, present))}.`;
    this.drawing.setAttribute("aria-label", `${this.title}: ${this.words.textContent}`);
  }
}

/** Returns how much a head looks at what, as numbers in relation to the one that was read. */
function groupsOf(sums, read, present, named = true) {
  const name = (value, relation) => (named ? `${value}, ${relation}` : relation);
  const next = present.find((value) => value > (read ?? 0));
  const groups = new Map();
  for (const [value, [given, own]] of sums) {
    let group = "larger numbers";
    if (value === null) group = "the bar";
    else if (value === read) group = name(value, "the number itself");
    else if (read === null && value === present[0]) group = name(value, "the smallest");
    else if (read !== null && value === next) group = name(value, "the next larger");
    else if (read === null) group = "other numbers";
    else if (value < read) group = "smaller numbers";
    groups.set(group, (groups.get(group) ?? 0) + given + own);
  }
  return groups;
}

function told(groups) {
  const parts = [...groups].filter(([, share]) => share >= 0.05).sort((a, b) => b[1] - a[1]);
  return parts.map(([name, share]) => `${name} (${percent(share)})`).join("; ") || "nothing in particular";
}

/** Returns how much of a head's weight lies on each value: [in the input, in the output]. */
function sumsOf(row, valueOf, size) {
  const sums = new Map();
  for (const [key, weight] of row) {
    const value = valueOf(key);
    if (!sums.has(value)) sums.set(value, [0, 0]);
    sums.get(value)[key > size ? 1 : 0] += weight;
  }
  return sums;
}

/** Says what a head looked at in a whole run, once it is complete; the first step, at the bar, is another matter. */
function habit(frames, layer, head, { valueOf, size, present, readAt }) {
  const total = new Map();
  for (let step = 1; step < frames.length; step++) {
    const sums = sumsOf(frames[step].layers[layer][head], valueOf, size);
    for (const [name, share] of groupsOf(sums, readAt(step), present, false))
      total.set(name, (total.get(name) ?? 0) + share / (frames.length - 1));
  }
  return `Behind the bar, over all steps: ${told(total)}.`;
}
