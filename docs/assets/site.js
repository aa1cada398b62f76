// Sets the equations, and shows results as a table that can be sorted, with curves by length. No library but KaTeX.
"use strict";

const COLORS = ["#2a9d8f", "#e76f51", "#577590", "#b5838d", "#8f7a00", "#7b2cbf", "#0077b6", "#bc4749"];
// A column: its key, its title, what it is sorted by, and what is written where that is something else; numbers stand right.
const RUN = { key: "name", title: "run", value: line => line.name || "not run",
  html: line => line.preset ? link("cards", line.name) : `<span class="unrun">${escaped(line.name || "not run")}</span>` };
const MECHANISM = { key: "mechanism", title: "mechanism", value: line => line.mechanism,
  html: line => line.known ? link("mechanisms", line.mechanism) : escaped(line.mechanism) };
const TASK = { key: "task", title: "task", value: line => line.task, html: line => link("tasks", line.task) };
const SEEDS = { key: "seeds", title: "seeds", value: line => line.seeds, number: true };
const COLUMNS = [
  RUN, MECHANISM, TASK,
  { key: "supervision", title: "supervision", value: line => line.name ? (line.supervision || ["not stated"]).join(", ") || "none" : "" },
  SEEDS,
  { key: "reach", title: "reach", value: line => line.reach ?? -1, html: line => line.reach ?? "", number: true },
  { key: "longest", title: "longest", value: line => last(line)[0] ?? -1,
    html: line => last(line)[0] ?? (line.points.length ? "test split" : ""), number: true },
  { key: "ours", title: "ours there", value: line => last(line)[1] ?? -1, html: line => percent(last(line)[1]), number: true },
  { key: "paper", title: "the paper's there", value: line => last(line)[2] ?? -1, html: line => percent(last(line)[2]), number: true },
];
const BOARD = [
  { key: "rank", title: "rank", value: line => -line.rank, html: line => line.rank, number: true },
  RUN,
  { key: "score", title: "score", value: line => line.score,
    html: line => percent(line.score) + (line.sd === null ? "" : ` ± ${(100 * line.sd).toFixed(1)}`), number: true },
  { key: "worst", title: "worst seed", value: line => line.worst, html: line => percent(line.worst), number: true },
  { key: "reach", title: "reach", value: line => line.reach, html: line => `${line.reach.toFixed(1)} ×`, number: true },
  MECHANISM, TASK,
  { key: "tags", title: "tags", value: line => line.supervision.join(", ") || "none" },
  SEEDS,
  { key: "parameters", title: "parameters", value: line => line.parameters ?? -1,
    html: line => line.parameters?.toLocaleString("en") ?? "", number: true },
];
const root = new URL("../", document.currentScript.src);

function last(line) {
  const measured = line.points.filter(point => line.name ? point[1] !== null : true);
  return measured[measured.length - 1] || [null, null, null];
}

const percent = value => value === null || value === undefined ? "" : `${Math.round(1000 * value) / 10} %`;
const escaped = text => String(text).replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`);
const link = (kind, text) => `<a href="${new URL(`${kind}/${text}/`, root)}">${escaped(text)}</a>`;
const keyOf = line => `${line.task}/${line.mechanism}/${line.name || ""}`;

function setEquations() {
  renderMathInElement(document.body, {
    delimiters: [{ left: "\\(", right: "\\)", display: false }, { left: "\\[", right: "\\]", display: true }],
  });
}

function curves(lines, trained, unit) {
  const lengths = [...new Set(lines.flatMap(line => line.points.map(point => point[0]).filter(Boolean)))].sort((a, b) => a - b);
  if (!lengths.length) return "<p>Nothing here was measured by length.</p>";
  const [W, H, L, R, T, B] = [720, 300, 52, 12, 12, 46];
  const low = Math.log(Math.min(lengths[0], trained ? trained[0] : lengths[0])), high = Math.log(Math.max(lengths[lengths.length - 1], low + 1));
  const x = length => L + (W - L - R) * (Math.log(length) - low) / (high - low || 1);
  const y = value => T + (H - T - B) * (1 - value);
  let svg = `<svg viewBox="0 0 ${W} ${H}" role="img" aria-label="Accuracy by length of ${escaped(lines.map(line => line.name || line.mechanism).join(", "))}">`;
  if (trained) svg += `<rect x="${x(trained[0])}" y="${T}" width="${Math.max(2, x(trained[1]) - x(trained[0]))}" height="${H - T - B}" fill="currentColor" fill-opacity=".08"><title>trained lengths</title></rect>`;
  for (const share of [0, .25, .5, .75, 1]) {
    svg += `<line x1="${L}" x2="${W - R}" y1="${y(share)}" y2="${y(share)}" stroke="currentColor" stroke-opacity=".15"/>`
      + `<text x="${L - 6}" y="${y(share) + 4}" text-anchor="end" font-size="11" fill="currentColor">${100 * share} %</text>`;
  }
  let free = -1e9;
  for (const length of lengths) {
    if (x(length) - free < 30) continue;
    free = x(length);
    svg += `<text x="${free}" y="${H - B + 16}" text-anchor="middle" font-size="11" fill="currentColor">${length}</text>`;
  }
  svg += `<text x="${(L + W) / 2}" y="${H - 8}" text-anchor="middle" font-size="11" fill="currentColor">length (${escaped(unit)}), logarithmic; shaded: trained</text>`;
  // Curves that lie upon each other are all seen: the first ones are wider.
  const stroke = i => 2 + 6 * (lines.length - 1 - i) / lines.length;
  lines.forEach((line, i) => {
    const color = COLORS[i % COLORS.length], own = line.points.filter(point => point[0]);
    const ours = own.filter(point => point[1] !== null);
    const band = ours.filter(point => line.bands[point[0]]);
    if (band.length > 1) {
      const up = band.map(point => `${x(point[0])},${y(line.bands[point[0]][1])}`);
      const down = band.map(point => `${x(point[0])},${y(line.bands[point[0]][0])}`).reverse();
      svg += `<polygon points="${[...up, ...down].join(" ")}" fill="${color}" fill-opacity=".15"/>`;
    }
    svg += `<polyline points="${ours.map(point => `${x(point[0])},${y(point[1])}`).join(" ")}" fill="none" stroke="${color}" stroke-width="${stroke(i)}" stroke-linejoin="round"/>`;
    for (const [length, value, paper] of own) {
      const told = `${line.name || line.mechanism}, length ${length}`;
      if (value !== null) svg += `<circle cx="${x(length)}" cy="${y(value)}" r="${1.5 + stroke(i) / 2}" fill="${color}"><title>${escaped(told)}: ${percent(value)}</title></circle>`;
      if (paper !== null) svg += `<circle cx="${x(length)}" cy="${y(paper)}" r="6" fill="none" stroke="${color}" stroke-width="1.5"><title>${escaped(told)}, the paper: ${percent(paper)}</title></circle>`;
    }
  });
  const names = lines.map((line, i) => `<li><span class="key" style="background:${COLORS[i % COLORS.length]}"></span>${escaped(line.name || line.mechanism)}</li>`);
  return `${svg}</svg><ul class="legend">${names.join("")}</ul>`;
}

/** Some of the lines, from the first to the last in even steps. */
function spread(lines, most) {
  if (lines.length <= most) return lines;
  return Array.from({ length: most }, (_, i) => lines[Math.round(i * (lines.length - 1) / (most - 1))]);
}

function cellOf({ value, html, number }, line) {
  return `<td${number ? ' class="number"' : ""}>${html ? html(line) : escaped(value(line))}</td>`;
}

class Results {
  constructor(element, data) {
    this.data = data;
    this.task = element.dataset.task || "";
    this.whole = !this.task;
    const board = element.dataset.from === "leaderboard";
    this.columns = (board ? BOARD : COLUMNS).filter(column => this.whole || column !== TASK);
    this.usual = board ? "score" : "reach";
    const state = new URLSearchParams(this.whole ? location.hash.slice(1) : "");
    this.query = state.get("q") || "";
    this.first = element.dataset.first ?? "";
    this.chosenTask = this.task || (state.get("task") ?? this.first);
    this.sort = state.get("sort") || this.usual;
    this.down = state.get("order") !== "up";
    const runs = (element.dataset.runs || "").split(" ").filter(Boolean);
    this.chosen = new Set(this.whole ? state.getAll("run") : data.lines.filter(line => runs.includes(line.name)).map(keyOf));
    const names = [...new Set(data.lines.map(line => line.task))].sort();
    element.innerHTML = `<div class="chart"></div><div class="controls">
      <label>Filter <input type="search" aria-label="Filter" placeholder="onestep, gold …"></label>
      ${this.whole ? `<label>Task <select aria-label="Task"><option value="">all</option>${names.map(name => `<option>${escaped(name)}</option>`).join("")}</select></label>` : ""}
      <span class="count" role="status"></span></div><div class="scroll" tabindex="0" role="region" aria-label="results"><table><thead></thead><tbody></tbody></table></div>`;
    this.parts = Object.fromEntries(["chart", "count"].map(name => [name, element.querySelector(`.${name}`)]));
    this.parts.head = element.querySelector("thead");
    this.parts.body = element.querySelector("tbody");
    const input = element.querySelector("input"), select = element.querySelector("select");
    input.value = this.query;
    input.addEventListener("input", () => { this.query = input.value; this.draw(); });
    if (select) {
      select.value = this.chosenTask;
      select.addEventListener("change", () => { this.chosenTask = select.value; this.chosen.clear(); this.draw(); });
    }
    this.parts.head.addEventListener("click", event => {
      const key = event.target.closest("button")?.dataset.key;
      if (!key) return;
      this.down = key === this.sort ? !this.down : true;
      this.sort = key;
      this.draw();
      this.parts.head.querySelector(`[data-key="${key}"]`).focus();
    });
    this.parts.body.addEventListener("change", event => {
      const key = event.target.value;
      if (event.target.checked) this.chosen.add(key); else this.chosen.delete(key);
      this.draw();
      this.parts.body.querySelector(`[value="${CSS.escape(key)}"]`)?.focus();
    });
    this.draw();
  }

  shown() {
    const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
    const { value } = this.columns.find(({ key }) => key === this.sort) ?? this.columns.find(({ key }) => key === this.usual);
    const found = this.data.lines.filter(line => (!this.chosenTask || line.task === this.chosenTask)
      && words.every(word => `${keyOf(line)} ${(line.supervision || []).join(" ")}`.toLowerCase().includes(word)));
    const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
    return found.sort((a, b) => (this.down ? -1 : 1) * order(value(a), value(b)) || order(keyOf(a), keyOf(b)));
  }

  draw() {
    const lines = this.shown();
    const chosen = lines.filter(line => this.chosen.has(keyOf(line)));
    const ran = this.chosenTask ? lines.filter(line => line.name) : [];
    const drawn = chosen.length ? chosen.slice(0, COLORS.length) : spread(ran, COLORS.length);
    const [task] = new Set(drawn.map(line => line.task));
    this.parts.chart.innerHTML = drawn.length
      ? curves(drawn, this.data.trained[task], new Set(drawn.map(line => this.data.units[line.task])).size === 1 ? this.data.units[task] : "of each task")
      : "<p>Choose a task, or rows, to see accuracy by length.</p>";
    this.parts.count.textContent = `${lines.length} rows${drawn.length ? `, ${drawn.length} drawn` : ""}`;
    this.parts.head.innerHTML = `<tr><th scope="col">draw</th>${this.columns.map(({ key, title }) =>
      `<th scope="col" aria-sort="${key === this.sort ? (this.down ? "descending" : "ascending") : "none"}"><button data-key="${key}">${title}</button></th>`).join("")}</tr>`;
    this.parts.body.innerHTML = lines.map(line => {
      const at = drawn.indexOf(line), key = escaped(keyOf(line));
      const mark = at < 0 ? "" : `<span class="key" style="background:${COLORS[at]}"></span>`;
      return `<tr${line.name ? "" : ' class="unrun"'}><td><label>${mark}<input type="checkbox" aria-label="draw ${key}" value="${key}"${this.chosen.has(keyOf(line)) ? " checked" : ""}></label></td>${this.columns.map(column => cellOf(column, line)).join("")}</tr>`;
    }).join("");
    if (this.whole) this.remember();
  }

  remember() {
    const state = new URLSearchParams();
    if (this.query) state.set("q", this.query);
    if (this.chosenTask !== this.first) state.set("task", this.chosenTask);
    if (this.sort !== this.usual) state.set("sort", this.sort);
    if (!this.down) state.set("order", "up");
    for (const key of this.chosen) state.append("run", key);
    if (String(state) !== location.hash.slice(1)) history.replaceState(null, "", String(state) ? `#${state}` : location.pathname);
  }
}

document.addEventListener("DOMContentLoaded", async () => {
  setEquations();
  const fetched = {};
  for (const place of document.querySelectorAll(".kzoo-results")) {
    const name = place.dataset.from ?? "results";
    fetched[name] ??= fetch(new URL(`assets/${name}.json`, root)).then(answer => answer.json());
    new Results(place, await fetched[name]);
  }
});
