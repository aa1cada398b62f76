// Two models of one task on the same input, at a length that a slider sets.
import { breath, h, labelled, percent } from "./dom.js";
import { curve } from "./curve.js";
import { mechanismOf, reach } from "./facts.js";
import { copyLink, writeState } from "./link.js";
import { InputError, toIds } from "./models/texts.js";
import { sample, solve } from "./models/tasks.js";
import { verdict } from "./verdict.js";

const MORE = 20; // inputs that one press of a button tries
const SLICE = 12;

export class Duel {
  constructor(page, store) {
    Object.assign(this, { page, store, run: 0, tries: [] });
    const names = page.duels.map(({ presets }, k) => h("option", { value: k }, presets.join(" against ")));
    this.select = h("select", { change: () => this.choose(Number(this.select.value)) }, names);
    this.range = h("input", { type: "range", step: 1, input: () => this.slid() });
    this.shown = h("output", { class: "count" });
    this.input = h("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      change: () => this.fight(),
    });
    this.error = h("p", { class: "error", role: "alert" });
    this.lanes = h("div", { class: "duel" });
    this.curve = h("div", {});
    this.breaks = h("ul", { class: "breaks" });
    this.progress = h("p", { class: "hint", role: "status" });
    const button = (text, act) => h("button", { type: "button", click: act }, text);
    this.element = h(
      "article",
      {},
      h("h1", {}, page.title),
      h("p", { class: "intro" }, page.intro),
      h(
        "div",
        { class: "ask two" },
        labelled("Who against whom", this.select),
        labelled("Length", this.range),
        this.shown,
      ),
      labelled("The input, which both get", this.input),
      h(
        "div",
        { class: "examples" },
        button("Another input", () => this.slid()),
        button(`Try ${MORE} of this length`, () => this.more()),
        button("Copy a link to this", copyLink),
      ),
      this.error,
      this.lanes,
      this.progress,
      h("h2", {}, "How often the whole output is right, by length"),
      this.curve,
      this.breaks,
    );
  }

  restore({ duel, length, input }) {
    const number = Number(duel) || 0;
    const known = this.page.duels[number] ? number : 0;
    if (String(known) === this.select.value && input !== undefined && input === this.input.value) return;
    this.choose(known, Number(length) || null, input);
  }

  choose(number, length, input) {
    this.select.value = number;
    const { presets, lengths } = this.page.duels[number];
    this.presets = presets.map((name) => this.store.about(name));
    this.tries = presets.map(() => new Map());
    [this.range.min, this.range.max] = lengths;
    const trained = this.presets.map((about) => about.trained).find(Boolean);
    this.range.value = length ?? trained[1];
    this.breaks.replaceChildren(...this.presets.map(breakOf));
    if (input === undefined) return this.slid();
    this.input.value = input;
    return this.fight();
  }

  get length() {
    return this.range.valueAsNumber;
  }

  slid() {
    this.input.value = sample(this.length, this.presets[0]);
    return this.fight();
  }

  /** Lets both models answer the input. */
  async fight() {
    const run = ++this.run;
    const trained = this.presets.map((about) => about.trained).find(Boolean);
    const beyond = this.length > trained[1] ? ", beyond training" : this.length >= trained[0] ? ", as in training" : "";
    this.shown.textContent = `${this.length}${beyond}`;
    this.range.setAttribute("aria-valuetext", `length ${this.length}${beyond}`);
    const text = this.input.value.trim();
    this.error.textContent = this.progress.textContent = "";
    let right;
    try {
      for (const about of this.presets) toIds(text, about);
      right = solve(text, this.presets[0]);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.error.textContent = error.message;
      return;
    }
    writeState({ page: this.page.id, duel: this.select.value, length: this.length, input: text });
    this.drawCurve();
    const answers = this.presets.map((about) =>
      h("div", { class: "answer", role: "status" }, `${about.name} is working…`),
    );
    const corner = (about, k) => {
      const { name, about: told } = mechanismOf(about);
      return h(
        "section",
        { class: `corner k${k}` },
        h("h2", {}, about.name),
        h("p", { class: "hint" }, `${name}: ${told}`),
        answers[k],
      );
    };
    this.lanes.replaceChildren(...this.presets.map(corner));
    for (const [k, about] of this.presets.entries()) {
      try {
        const found = await this.answer(about, text, run);
        if (run !== this.run) return;
        answers[k].replaceChildren(...verdict(about, found, right));
      } catch (error) {
        if (run === this.run) answers[k].textContent = `This does not work right now: ${error.message}.`;
      }
    }
  }

  /** Returns a model's answer; the browser draws in between, and another run stops it. */
  async answer(about, text, run) {
    const preset = await this.store.preset(about.name);
    let last = "";
    let since = performance.now();
    for (const found of preset.decode(text)) {
      last = found.text;
      if (performance.now() - since < SLICE) continue;
      await breath();
      if (run !== this.run) return last;
      since = performance.now();
    }
    return last;
  }

  /** Tries further inputs of the length, and adds them to the curve. */
  async more() {
    const run = ++this.run;
    const { length, presets } = this;
    for (let done = 0; done < MORE; done++) {
      const text = sample(length, presets[0]);
      const right = solve(text, presets[0]);
      for (const [k, about] of presets.entries()) {
        const found = await this.answer(about, text, run);
        if (run !== this.run) return;
        const [good, all] = this.tries[k].get(length) ?? [0, 0];
        this.tries[k].set(length, [good + (found === right ? 1 : 0), all + 1]);
      }
      const said = presets.map((about, k) => `${about.name} ${this.tries[k].get(length)[0]}`).join(", ");
      this.progress.textContent = `Right at length ${length}, of ${this.tries[0].get(length)[1]} tried here: ${said}.`;
    }
    this.drawCurve();
  }

  drawCurve() {
    this.curve.replaceChildren(curve(this.presets, { at: this.length, tries: this.tries }));
  }

  redraw() {
    this.drawCurve();
  }

  close() {
    this.run++;
  }
}

/** Says where a model's measured accuracy falls. */
function breakOf(about) {
  const { last, broken } = reach(about);
  const held = last ? `right in 95 % or more up to length ${last.length.toLocaleString("en")}` : "never right in 95 %";
  const then = broken
    ? `; ${percent(broken.value)} at ${broken.length.toLocaleString("en")}`
    : ", the longest that was measured";
  const extra = about.supervision.length ? ` Training had more than pairs: ${about.supervision.join(", ")}.` : "";
  return h("li", {}, h("b", {}, about.name), `: ${held}${then}.${extra}`);
}
