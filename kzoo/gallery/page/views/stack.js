// A network with a stack: which tokens call and return, what waits, and the answer so far at every token.
import { h, percent, s } from "../dom.js";
import { POP, PUSH } from "../models/reader.js";
import { wordsOf } from "../models/texts.js";
import { argmax, softmax } from "../models/vectors.js";

const [CELL, ROW, TOP] = [34, 38, 44];
const MOST_WORDS = 12; // that are shown of what waits
const DOES = ["↓", "↑", "·"];

export const stackView = {
  keep({ trace, logits }) {
    const label = argmax(logits);
    return { ...trace, label, share: softmax(logits)[label], trace: null, logits: null };
  },

  make(about, text) {
    const words = wordsOf(text, about);
    const profile = new Profile(words, about.text.labels);
    const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": "Depth of the stack by token" };
    const scroller = h("div", region, profile.element);
    const waiting = h("div", { class: "tiles waiting" });
    const element = h(
      "div",
      {},
      h("h2", {}, "The stack, its top last, and what is read now"),
      waiting,
      h("h2", {}, "All tokens"),
      h(
        "p",
        { class: "hint" },
        "↓ calls: the state is put away, and reading begins anew, a row below. ↑ returns to the row above. Each box has what the answer would be if the text ended there, of what was read in its row; a line is what waits.",
      ),
      scroller,
    );

    function draw(frames, cursor) {
      const levels = levelsOf(words, frames, cursor);
      waiting.replaceChildren(
        ...levels.map((level, i) =>
          h("span", { class: `tile ${i === levels.length - 1 ? "new" : ""}` }, shortened(level, about)),
        ),
      );
      profile.draw(frames, cursor);
      const { action, calls, label, share } = frames[cursor];
      follow(scroller, cursor * CELL, TOP + calls.length * ROW);
      const call = frames[cursor - 1]?.calls[0];
      const what =
        action === PUSH
          ? "calls: what was read before waits on the stack"
          : action === POP
            ? `returns: what waited goes on with what was read since${call === undefined ? "" : ` token ${call + 1}`}`
            : "leaves the stack as it is";
      return `Step ${cursor + 1} reads “${words[cursor]}” and ${what}. If the text ended here, the answer would be ${about.text.labels[label]} (${percent(share)}).`;
    }
    return { element, draw };
  },
};

/** Scrolls so that a box can be seen. */
function follow(scroller, x, y) {
  const { clientWidth, clientHeight, scrollLeft, scrollTop } = scroller;
  if (x < scrollLeft || x + CELL > scrollLeft + clientWidth) scroller.scrollLeft = x - clientWidth / 2;
  if (y < scrollTop || y + ROW > scrollTop + clientHeight) scroller.scrollTop = y - clientHeight / 2;
}

/** Returns what is on the stack after a step, and last what is read now: of each its words, ▢ for what has returned. */
function levelsOf(words, frames, cursor) {
  const levels = [[]];
  for (let i = 0; i <= cursor; i++) {
    const { action } = frames[i];
    if (action === PUSH) levels.push([]);
    if (action === POP) {
      if (levels.length > 1) levels.pop();
      levels[levels.length - 1].push("▢");
    }
    levels[levels.length - 1].push(words[i]);
  }
  return levels;
}

function shortened(words, about) {
  const between = about.text.characters ? "" : " ";
  if (!words.length) return "∅";
  return words.length > MOST_WORDS ? `…${between}${words.slice(-MOST_WORDS).join(between)}` : words.join(between);
}

/** A column for each token, a row for each depth of the stack; what was drawn of earlier steps stays. */
class Profile {
  constructor(words, labels) {
    Object.assign(this, { words, labels });
    this.steps = [];
    this.lines = s("g");
    this.cells = s("g");
    this.open = s("g");
    const names = words.map((word, i) => s("text", { x: middle(i), y: 16, "text-anchor": "middle" }, word));
    this.marks = words.map((_, i) => s("text", { x: middle(i), y: 34, "text-anchor": "middle", class: "note" }));
    this.now = s("rect", { y: 1, width: CELL, height: 38, class: "row" });
    const label = { role: "img", "aria-label": "Depth of the stack by token" };
    const width = words.length * CELL + 4;
    this.element = s("svg", { width, height: 0, ...label }, names, this.marks, this.lines, this.open, this.cells, this.now);
  }

  draw(frames, cursor) {
    if (this.frames !== frames) {
      this.frames = frames;
      this.steps = [];
      this.lines.replaceChildren();
      this.cells.replaceChildren();
    }
    while (this.steps.length < frames.length) this.grow(frames, this.steps.length);
    this.steps.forEach(({ cell, line }, i) => {
      for (const part of [cell, line]) part?.setAttribute("visibility", i <= cursor ? "visible" : "hidden");
      cell.setAttribute("class", i === cursor ? "node settled" : "node");
    });
    this.marks.forEach((mark, i) => (mark.textContent = i <= cursor ? DOES[frames[i].action] : ""));
    this.open.replaceChildren(...frames[cursor].calls.map((at) => line(at, frames[at].calls.length - 1, cursor)));
    this.now.setAttribute("x", cursor * CELL + 2);
  }

  /** Adds the box of a step, and where it returns, the line of what waited. */
  grow(frames, step) {
    const { action, calls, label } = frames[step];
    const depth = calls.length;
    const y = TOP + depth * ROW;
    const box = s("rect", { x: step * CELL + 4, y, width: CELL - 4, height: ROW - 12, rx: 6 });
    const said = s("text", { x: middle(step), y: y + 18, "text-anchor": "middle" }, this.labels[label]);
    const cell = s("g", { class: "node" }, box, said);
    const call = frames[step - 1]?.calls[0];
    const waited = action === POP && call !== undefined ? line(call, depth, step) : null;
    this.steps.push({ cell, line: waited });
    this.cells.append(cell);
    if (waited) this.lines.append(waited);
    const high = Math.max(Number(this.element.getAttribute("height")), y + ROW);
    this.element.setAttribute("height", high);
  }
}

const middle = (index) => (index + 0.5) * CELL + 2;

/** What waits in a row, from the token before a call to another token. */
function line(from, depth, to) {
  const y = TOP + depth * ROW + 13;
  return s("line", { x1: middle(from - 0.5), x2: middle(to), y1: y, y2: y, class: "wait" });
}
