// Accuracy against length, as a drawing and as a table.
import { h, narrow, percent, s } from "./dom.js";

const [HEIGHT, LEFT, BOTTOM, TOP] = [230, 56, 40, 12];
const DASHES = ["", "7 4"];

/**
 * Returns the curves of some presets, two at most. `at` is a length to mark, `tries` by preset a map from a length to
 * [right, all], what was tried on the page.
 */
export function curve(presets, { at, tries = [] } = {}) {
  const width = narrow() ? 360 : 640;
  const rows = presets.flatMap((about) => about.rows);
  const trained = presets.map((about) => about.trained).find(Boolean);
  const lengths = [...new Set([...rows.map((row) => row.length), ...(trained ?? []), ...(at ? [at] : [])])];
  const [low, high] = [Math.min(...lengths), Math.max(...lengths)];
  const span = Math.log(high / low) || 1;
  const x = (length) => LEFT + (Math.log(Math.max(length, low) / low) / span) * (width - LEFT - 24);
  const y = (value) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  if (trained) {
    const from = x(Math.max(trained[0], low));
    const extent = Math.max(x(Math.min(trained[1], high)) - from, 2);
    parts.push(s("rect", { x: from, y: TOP, width: extent, height: y(0) - TOP, class: "band" }));
    const label = s("text", { x: from + extent / 2, y: y(0.06), "text-anchor": "middle", class: "note" }, "trained");
    if (extent > 50) parts.push(label);
  }
  for (const value of [0, 0.5, 1]) {
    parts.push(s("line", { x1: LEFT, x2: width - 10, y1: y(value), y2: y(value), class: "grid" }));
    parts.push(s("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, `${100 * value} %`));
  }
  for (const length of ticks(lengths, x)) {
    parts.push(s("text", { x: x(length), y: HEIGHT - 22, "text-anchor": "middle" }, length.toLocaleString("en")));
  }
  const unit = presets[0].task.unit;
  parts.push(s("text", { x: (LEFT + width) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, `length (${unit})`));
  if (at) parts.push(s("line", { x1: x(at), x2: x(at), y1: TOP, y2: y(0), class: "at" }));
  presets.forEach((about, k) => {
    const points = about.rows.map((row) => [x(row.length), y(row.value)]);
    const upper = about.rows.map((row) => `${x(row.length)},${y(row.high)}`);
    const lower = about.rows.map((row) => `${x(row.length)},${y(row.low)}`).reverse();
    parts.push(s("polygon", { points: [...upper, ...lower].join(" "), class: `interval c${k}` }));
    parts.push(
      s("polyline", {
        points: points.map((point) => point.join(",")).join(" "),
        class: `line c${k}`,
        "stroke-dasharray": DASHES[k],
      }),
    );
    parts.push(...points.map(([cx, cy]) => s("circle", { cx, cy, r: 3.5, class: `dot c${k}` })));
    for (const [length, [right, all]] of tries[k] ?? []) {
      const point = `translate(${x(length)} ${y(right / all)}) rotate(45)`;
      parts.push(s("rect", { x: -5, y: -5, width: 10, height: 10, transform: point, class: `tried c${k}` }));
    }
  });
  const label = `Accuracy by length of ${presets.map((about) => about.name).join(" and ")}; the table below has the numbers`;
  const drawing = s(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label, class: "curve" },
    parts,
  );
  return h("figure", {}, presets.length > 1 ? legend(presets, tries) : null, drawing, table(presets));
}

function legend(presets, tries) {
  const entries = presets.map((about, k) =>
    h(
      "li",
      {},
      s(
        "svg",
        { viewBox: "0 0 34 10", class: "key", "aria-hidden": "true" },
        s("line", { x1: 0, x2: 34, y1: 5, y2: 5, class: `line c${k}`, "stroke-dasharray": DASHES[k] }),
      ),
      about.name,
    ),
  );
  const tried = tries.some((own) => own.size) ? [h("li", {}, "◆ tried here")] : [];
  return h("ul", { class: "legend" }, entries, tried);
}

/** Lengths to write at the axis: those that leave room for each other. */
function ticks(lengths, x) {
  const found = [];
  for (const length of [...lengths].sort((a, b) => a - b)) {
    if (!found.length || x(length) - x(found[found.length - 1]) > 34) found.push(length);
  }
  return found;
}

function table(presets) {
  const lengths = [...new Set(presets.flatMap((about) => about.rows.map((row) => row.length)))].sort((a, b) => a - b);
  const cell = (about, length) => {
    const row = about.rows.find((found) => found.length === length);
    return row ? `${percent(row.value)} of ${row.n.toLocaleString("en")}` : "–";
  };
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "length"),
    presets.map((about) => h("th", { scope: "col" }, about.name)),
  );
  const lines = lengths.map((n) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, n.toLocaleString("en")),
      presets.map((about) => h("td", {}, cell(about, n))),
    ),
  );
  return h(
    "details",
    {},
    h("summary", {}, "The numbers as a table"),
    h("table", {}, h("thead", {}, head), h("tbody", {}, lines)),
  );
}
