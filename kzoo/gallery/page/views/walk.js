// Attention walking over a source: the tokens, how much of it lies on each, and what was written.
import { color, h, percent } from "../dom.js";
import { Strip } from "../strip.js";
import { symbolsOf } from "../verdict.js";

const MOST_TILES = 120; // of a longer source, those around the attention

export const walkView = {
  keep: ({ trace, token }) => ({ ...trace, token, trace: null, logits: null }),

  make(about, text, right, ids) {
    const start = about.start_id;
    const names = ["⊢", ...ids.map((id) => (id < start ? about.tokens[id] : "⊣")), "⊣"];
    const expected = symbolsOf(about, right);
    const tiles = names
      .slice(0, MOST_TILES)
      .map((name) => h("span", { class: "tile" }, h("span", {}, name), h("i", { class: "mark" })));
    let first = 0; // the token of the first tile
    const scrollTo = (best) => {
      if (names.length <= MOST_TILES || (best >= first + 10 && best < first + MOST_TILES - 10)) return;
      first = Math.min(Math.max(best - 40, 0), names.length - MOST_TILES);
      tiles.forEach((tile, i) => (tile.firstChild.textContent = names[first + i]));
    };
    const source = h("div", { class: "tiles source", "aria-hidden": "true" }, tiles);
    const written = h("div", { class: "tiles written", "aria-hidden": "true" });
    const meters = h("div", { class: "meters" });
    const cursorBox = h("i", { class: "cursor" });
    const map = h("canvas", {
      role: "img",
      "aria-label": "Attention: a row for each token written, a column for each token of the source",
    });
    const scroller = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Map of the attention" },
      h("div", { class: "layers" }, map, cursorBox),
    );
    const strip = new Strip(map);
    const note = h(
      "p",
      { class: "hint" },
      "Each row is one token written, each column one token read: a diagonal is a walk from left to right.",
    );
    const element = h(
      "div",
      {},
      h("h2", {}, "Source"),
      source,
      h("h2", {}, "Written so far"),
      written,
      meters,
      h("h2", {}, "All steps"),
      note,
      scroller,
    );

    function draw(frames, cursor) {
      const frame = frames[cursor];
      scrollTo(frame.weights.indexOf(Math.max(...frame.weights)));
      tiles.forEach((tile, i) => {
        tile.style.setProperty("--w", frame.weights[first + i].toFixed(3));
        tile.classList.toggle("strong", frame.weights[first + i] > 0.5);
        if (frame.marks) tile.style.setProperty("--mark", frame.marks[first + i].toFixed(3));
      });
      source.classList.toggle("marked", Boolean(frame.marks));
      const tokens = frames
        .slice(0, cursor + 1)
        .filter(({ token }) => token < start)
        .map(({ token }) => about.tokens[token]);
      written.replaceChildren(
        ...tokens.slice(-MOST_TILES).map((name, i) => {
          const wrong = name !== expected[i + Math.max(0, tokens.length - MOST_TILES)];
          return h(
            "span",
            { class: `tile ${wrong ? "wrong" : ""} ${i === tokens.length - 1 ? "new" : ""}` },
            wrong ? `${name} ✗` : name,
          );
        }),
      );
      meters.replaceChildren(...metersOf(frames, cursor, names.length));
      drawMap({ strip, cursorBox }, frames, cursor, { names, tokens: about.tokens, expected: expected.length });
      return sentence(frames, cursor, names, about);
    }
    return { element, draw, resize: () => strip.forget() };
  },
};

/** What the mechanism says of itself at a step. */
function metersOf(frames, cursor, length) {
  const frame = frames[cursor];
  const found = [];
  const meter = (name, value, text, about) =>
    found.push(
      h(
        "div",
        { class: "meter" },
        h("b", {}, name),
        h("meter", { min: 0, max: 1, value, "aria-label": name }),
        h("span", {}, text),
        h("small", {}, about),
      ),
    );
  if (frame.direction !== undefined) {
    const way = frame.direction > 0.9 ? "from the left" : frame.direction < 0.1 ? "from the right" : "mixed";
    meter(
      "Direction",
      frame.direction,
      `${frame.direction.toFixed(2)}: ${way}`,
      "1 reads the source as it is, 0 reversed",
    );
  }
  if (frame.center !== undefined) {
    const at = frame.center * (length - 1);
    const before = cursor ? frames[cursor - 1].center * (length - 1) : frame.direction < 0.1 ? length - 1 : 0;
    const moved = at - before;
    meter(
      "Centre",
      Math.min(Math.max(frame.center, 0), 1),
      `position ${at.toFixed(1)}, moved ${moved < 0 ? "−" : "+"}${Math.abs(moved).toFixed(1)}`,
      "where the middle of the attention is",
    );
  }
  if (frame.spread !== undefined) {
    meter(
      "Spread",
      Math.min((frame.spread * length) / 3, 1),
      `${(frame.spread * length).toFixed(2)} positions`,
      "how wide it looks",
    );
  }
  if (frame.move !== undefined) {
    const [name, share] = frame.move;
    meter("Move", share, `${name}, ${percent(share)}`, "how it has come to where it looks");
  }
  if (frame.center === undefined) {
    const top = Math.max(...frame.weights);
    meter("Most on one token", top, percent(top), "it matches contents, and keeps no position");
  }
  if (frame.visit !== undefined)
    meter("Visit", frame.visit, percent(frame.visit), "how much it looks elsewhere without moving");
  if (frame.marks)
    found.push(
      h(
        "p",
        { class: "hint" },
        "The dot under a token is its mark: how much of a waypoint it is. Steps go from waypoint to waypoint.",
      ),
    );
  return found;
}

/** How large the map's cells are, and what room there is at its edges for the tokens, where they can be read. */
function layoutOf(frames, names, expected) {
  const rows = Math.max(frames.length, expected + 1);
  const size = Math.max(2, Math.min(20, Math.floor(Math.min(760 / names.length, 1200 / rows))));
  return { size, rows, left: size < 14 ? 0 : 34, top: size < 14 ? 0 : 20 };
}

function drawMap({ strip, cursorBox }, frames, cursor, { names, tokens, expected }) {
  const { size, rows, left, top } = layoutOf(frames, names, expected);
  const [width, height] = [names.length * size, rows * size];
  strip.row = (context, all, step) => {
    context.fillStyle = color("accent");
    all[step].weights.forEach((weight, column) => {
      if (weight < 0.01) return;
      context.globalAlpha = weight;
      context.fillRect(left + column * size, top + step * size, size, size);
    });
    context.globalAlpha = 1;
    if (left) write(context, tokens[all[step].token] ?? "", left - 4, top + (step + 0.5) * size + 4, "right", left - 4);
  };
  strip.draw(frames, cursor, [left + width, top + height], (context) => {
    context.fillStyle = color("panel");
    context.fillRect(left, top, width, height);
    if (top) names.forEach((name, i) => write(context, name, left + (i + 0.5) * size, 14, "center", size + 6));
  });
  cursorBox.style.cssText = `left: ${left}px; top: ${top + cursor * size}px; width: ${width}px; height: ${size}px`;
}

function write(context, text, x, y, align, room) {
  context.fillStyle = color("soft");
  context.font = "11px ui-monospace, monospace";
  context.textAlign = align;
  context.fillText(text, x, y, room);
}

function sentence(frames, cursor, names, about) {
  const frame = frames[cursor];
  const best = frame.weights.indexOf(Math.max(...frame.weights));
  const wrote = frame.token === about.end_id ? "ends the answer" : `writes “${about.tokens[frame.token]}”`;
  const place = best === 0 ? "the start" : names[best] === "⊣" ? "the end" : `“${names[best]}”, token ${best}`;
  const how = frame.visit > 0.5 ? " This is a visit: the walk itself stays where it is." : "";
  return `Step ${cursor + 1} ${wrote}, with ${percent(frame.weights[best])} of its attention on ${place}.${how}`;
}
