// The Neural Data Router over the tree of an expression: which parts are computed, and when.
import { h, percent, s } from "../dom.js";
import { operations, parse } from "../models/trees.js";
import { wordsOf } from "../models/texts.js";
import { argmax, softmax } from "../models/vectors.js";

const [CELL, LEVEL, ROW, LEFT, TOP] = [34, 46, 13, 46, 76]; // TOP is where the rows of gates begin

export const treeView = {
  /** Of every column what the model would answer there; the gates; and the links by head that carry much. */
  keep({ trace, logits }) {
    const columns = trace.columns.map((row) => {
      const label = argmax(row);
      return { label, share: softmax(row)[label] };
    });
    const links = trace.weights.map((heads) => {
      const most = new Map();
      for (const row of heads)
        for (const [key, weight] of row) if (weight > 0.25) most.set(key, Math.max(weight, most.get(key) ?? 0));
      return [...most];
    });
    return { columns, gates: trace.gates, links, answer: argmax(logits), trace: null, logits: null };
  },

  make(about, text) {
    const words = wordsOf(text, about);
    const root = parse(words, about);
    const inner = operations(root);
    const width = LEFT + (words.length + 2) * CELL + 12;
    const high = LEVEL * depthOf(root) + 34;
    const labels = about.text.labels;
    const shift = about.text.prefix.length;
    const xOf = (column) => LEFT + (column + shift + 0.5) * CELL;
    const drawing = s("svg", { width, height: high, role: "img", "aria-label": "Tree of the expression" });
    const nodes = new Map();
    drawTree(root, drawing, nodes, xOf, high);
    const steps = about.config.config.depth.config.inference_steps ?? about.config.config.depth.config.steps;
    const gates = new Gates(words, shift, width, steps);
    const answer = h("p", { class: "now-answer" });
    // Only a model that was trained on values within can be asked for them; of others the answer is known, and the gates.
    const asked = about.supervision.includes("intermediate results");
    const note = asked
      ? "Each part shows what the model now says at that part's token. A thick green edge and ✓: it is right; dashed: not yet."
      : "This model was only ever asked for the final value, at the top: ✓ when it is right. A part is the bluer the more of " +
        "its token is being replaced: the work moves up from part to part.";
    const element = h(
      "div",
      {},
      answer,
      h("p", { class: "hint" }, note),
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Tree, tokens and gates" },
        drawing,
        gates.element,
      ),
      h(
        "p",
        { class: "hint" },
        "Below the tree: each column is a token, each row a step. The fuller its colour, the more of the token is replaced at that step; pale ones keep what they have. Arcs lead from tokens that are being replaced to the dots where they look.",
      ),
    );

    function draw(frames, cursor) {
      const frame = frames[cursor];
      const said = (node) => labels[asked && node !== root ? frame.columns[node.column + shift].label : frame.answer];
      const settled = (node) => said(node) === String(node.value);
      inner.forEach((node) => {
        const { group, box, value } = nodes.get(node);
        if (!asked && frame.gates)
          box.style.fill = `color-mix(in srgb, var(--accent) ${Math.round(60 * frame.gates[node.column + shift])}%, var(--paper))`;
        if (!asked && node !== root) return;
        const right = settled(node);
        group.setAttribute("class", `node ${right ? "settled" : "pending"}`);
        value.textContent = `${node.label} = ${said(node)}${right ? " ✓" : "?"}`;
      });
      gates.draw(frames, cursor);
      answer.textContent = `Answer after ${cursor + 1} of ${steps} steps: ${said(root)} ${settled(root) ? "✓" : `✗ (right: ${root.value})`}`;
      const known = asked
        ? `${inner.filter(settled).length} of ${inner.length} parts have their right value.`
        : `the answer would be ${said(root)}.`;
      if (!frame.gates) return `Step ${cursor + 1}: ${known}`;
      const most = argmax(frame.gates);
      const names = [
        ...(shift ? ["the start"] : []),
        ...words.map((word, i) => `“${word}”, token ${i + 1}`),
        "the end",
      ];
      return `Step ${cursor + 1}: ${known} Most is replaced of ${names[most]} (${percent(frame.gates[most])}).`;
    }
    return { element, draw };
  },
};

const depthOf = (node) => (node.children.length ? 1 + Math.max(...node.children.map(depthOf)) : 0);

/** Draws edges, then nodes: operations over their tokens, leaves at the bottom. */
function drawTree(node, drawing, nodes, xOf, high) {
  const [cx, cy] = [
    xOf(
      node.children.length === 1 && node.column === node.to ? node.to : (node.from + node.to) / 2,
    ),
    high - 16 - LEVEL * depthOf(node),
  ];
  const below = node.children.map((child) => drawTree(child, drawing, nodes, xOf, high));
  for (const [x2, y2] of below) drawing.prepend(s("line", { x1: cx, y1: cy, x2, y2, class: "edge" }));
  const value = s("text", { x: cx, y: cy + 5, "text-anchor": "middle" }, node.label);
  const half = node.children.length
    ? 6 + 4 * (String(node.label).length + String(node.value).length + 5)
    : 4 + 6 * String(node.label).length;
  const box = s("rect", { x: cx - half, y: cy - 14, width: 2 * half, height: 28, rx: 10 });
  const group = s("g", { class: node.children.length ? "node" : "leaf" }, box, value);
  drawing.append(group);
  nodes.set(node, { group, box, value });
  return [cx, cy];
}

/** The tokens, arcs from where they look, and a row of gates for each step, which is made once. */
class Gates {
  constructor(words, shift, width, steps) {
    this.names = [...(shift ? ["⊢"] : []), ...words, "⊣"];
    this.rows = [];
    this.arcs = s("g");
    this.table = s("g");
    this.now = s("rect", { x: LEFT, width: this.names.length * CELL, height: ROW, class: "row" });
    const tokens = this.names.map((name, i) => s("text", { x: middle(i), y: 14, "text-anchor": "middle" }, name));
    const height = TOP + steps * ROW + 4;
    this.element = s(
      "svg",
      { width, height, role: "img", "aria-label": "Gates by step and token" },
      tokens,
      this.arcs,
      this.table,
      this.now,
    );
  }

  draw(frames, cursor) {
    const { gates, links } = frames[cursor];
    this.arcs.replaceChildren(
      ...links.flatMap((row, from) =>
        gates && gates[from] < Math.max(0.1, Math.max(...gates) / 3) ? [] : arcsOf(row, from),
      ),
    );
    if (!gates) return;
    if (this.frames !== frames) {
      this.frames = frames;
      this.rows = [];
    }
    while (this.rows.length <= cursor) this.rows.push(rowOf(frames[this.rows.length].gates, this.rows.length));
    const shown = this.table.children.length;
    if (cursor + 1 > shown && this.rows[0].parentNode) this.table.append(...this.rows.slice(shown, cursor + 1));
    else this.table.replaceChildren(...this.rows.slice(0, cursor + 1));
    this.now.setAttribute("y", TOP + cursor * ROW);
  }
}

const middle = (index) => LEFT + (index + 0.5) * CELL;

function rowOf(gates, step) {
  const y = TOP + step * ROW;
  const cells = gates.map((gate, i) =>
    s("rect", {
      x: LEFT + i * CELL + 1,
      y: y + 1,
      width: CELL - 2,
      height: ROW - 2,
      class: "gate",
      "fill-opacity": (0.06 + 0.94 * gate).toFixed(3),
    }),
  );
  const number =
    step % 5 === 4 || step === 0
      ? s("text", { x: LEFT - 6, y: y + 11, "text-anchor": "end", class: "note" }, step + 1)
      : null;
  return s("g", {}, cells, number);
}

function arcsOf(row, from) {
  return row.flatMap(([key, weight]) => {
    const [x1, x2] = [middle(from), middle(key)];
    const sag = 44 + Math.min(66, 8 * Math.abs(from - key));
    return [
      s("path", {
        d: `M${x1} 20 Q${(x1 + x2) / 2} ${sag} ${x2} 20`,
        class: "arc",
        "stroke-opacity": weight,
        "stroke-width": 1 + 1.5 * weight,
      }),
      s("circle", { cx: x2, cy: 20, r: 3, class: "arc-end", "fill-opacity": weight }),
    ];
  });
}
