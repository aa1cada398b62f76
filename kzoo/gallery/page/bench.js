// An exhibit: a preset, an input, and what the model does with it step by step.
import { breath, h, labelled } from "./dom.js";
import { factsOf, mechanismOf } from "./facts.js";
import { copyLink, writeState } from "./link.js";
import { InputError, limitOf, toIds } from "./models/texts.js";
import { sample, solve } from "./models/tasks.js";
import { Player } from "./player.js";
import { verdict } from "./verdict.js";

const SLICE = 12; // milliseconds of computing before the browser may draw

export class Bench {
  constructor(page, store, view) {
    Object.assign(this, { page, store, view, frames: [], run: 0 });
    this.names = Object.keys(page.presets);
    this.player = new Player((cursor) => this.draw(cursor));
    this.select = h(
      "select",
      { change: () => this.choose(this.select.value) },
      this.names.map((name) => h("option", {}, name)),
    );
    this.input = h("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      input: () => this.typed(),
    });
    this.task = h("p", { class: "task" });
    this.buttons = h("div", { class: "examples", role: "group", "aria-label": "Examples" });
    this.error = h("p", { class: "error", role: "alert" });
    this.answer = h("div", { class: "answer", role: "status" });
    this.said = h("p", { class: "said", "aria-live": "polite" });
    this.stage = h("div", { class: "stage" });
    this.facts = h("section", { class: "facts", "aria-label": "About this model" });
    const form = h(
      "form",
      { class: "ask", submit: (event) => (event.preventDefault(), this.start()) },
      labelled("Model", this.select),
      labelled("Your input", this.input),
      h("button", { class: "run" }, "Run"),
    );
    this.element = h(
      "article",
      {},
      h("h1", {}, page.title),
      h("p", { class: "intro" }, page.intro),
      form,
      this.task,
      this.buttons,
      this.error,
      this.answer,
      this.player.element,
      this.said,
      this.stage,
      h("p", {}, h("button", { type: "button", click: copyLink }, "Copy a link to this")),
      this.facts,
    );
  }

  /** Shows what an address says: `preset`, `input`, and the step `at` which it stands still. */
  restore({ preset, input, at }) {
    const name = this.names.includes(preset) ? preset : this.names[0];
    if (name === this.about?.name && input === this.input.value) return;
    this.choose(name, input, at === undefined ? undefined : Number(at) - 1);
  }

  choose(name, input, at) {
    this.select.value = name;
    this.about = this.store.about(name);
    const { examples, task, form } = this.about;
    const firsts = examples.filter((example, i) => i === 0 || example.length !== examples[i - 1].length);
    const listed = firsts.map(({ length, source }) =>
      h("button", { type: "button", click: () => this.take(source) }, sizeOf(task, length)),
    );
    const random = () =>
      this.take(sample(examples[Math.floor(Math.random() * Math.min(examples.length, 12))].length, this.about));
    this.buttons.replaceChildren(
      h("span", { class: "hint" }, `Type ${form}, or try:`),
      ...listed,
      h("button", { type: "button", click: random }, "another"),
    );
    this.facts.replaceChildren(...factsOf(this.about));
    const mechanism = mechanismOf(this.about);
    this.task.replaceChildren(
      h("b", {}, "Task. "),
      `${task.about} `,
      h("b", {}, `${mechanism.name}. `),
      mechanism.about,
    );
    this.input.value =
      input ?? firsts[Math.min(task.name.match(/arithmetic|listops|ctl/) ? 2 : 0, firsts.length - 1)].source;
    return this.start(at);
  }

  take(source) {
    this.input.value = source;
    this.start();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.start(), 600);
  }

  /** Runs the model on what was typed, drawing as it goes; `at` is a step to stand still at. */
  async start(at) {
    clearTimeout(this.waiting);
    const run = ++this.run;
    const { about } = this;
    const text = this.input.value.trim();
    this.error.textContent = "";
    let ids, right;
    try {
      ids = toIds(text, about);
      right = solve(text, about);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.refuse(error.message);
      return;
    }
    writeState({ page: this.page.id, preset: about.name, input: text, at: at === undefined ? undefined : at + 1 });
    this.right = right;
    this.answer.textContent = "The model is being loaded…";
    let preset;
    try {
      preset = await this.store.preset(about.name);
    } catch (error) {
      if (run === this.run) this.refuse(`This does not work right now: ${error.message}. Press Run to try again.`);
      return;
    }
    if (run !== this.run) return;
    this.frames = [];
    this.drawing = this.view.make(about, text, right, ids);
    this.stage.replaceChildren(this.drawing.element);
    this.player.reset(preset.steps(ids) ?? Math.min(limitOf(ids, about), right.length));
    this.player.complete = false;
    await this.decode(preset, text, run, at);
  }

  async decode(preset, text, run, at) {
    const still = at !== undefined || matchMedia("(prefers-reduced-motion: reduce)").matches;
    let since = performance.now();
    for (const found of preset.decode(text)) {
      this.frames.push({ ...found, ...this.view.keep(found, this.about) });
      this.player.grew(this.frames.length);
      if (this.frames.length === 1) {
        this.player.show(0);
        if (!still) this.player.play();
      }
      if (performance.now() - since > SLICE) {
        this.answer.replaceChildren(h("span", {}, `Working: ${this.frames.length.toLocaleString("en")} steps…`));
        await breath();
        if (run !== this.run) return;
        since = performance.now();
      }
    }
    this.player.complete = true;
    this.answer.replaceChildren(...verdict(this.about, this.frames[this.frames.length - 1].text, this.right));
    if (still) this.player.go(at ?? this.frames.length - 1);
  }

  refuse(sentence) {
    this.player.pause();
    this.error.textContent = sentence;
    this.answer.textContent = "";
  }

  draw(cursor) {
    // While it plays, a screen reader would only ever begin a sentence.
    this.said.setAttribute("aria-live", this.player.playing ? "off" : "polite");
    this.said.textContent = this.drawing.draw(this.frames, cursor);
    if (!this.player.playing && this.player.complete) {
      writeState({ page: this.page.id, preset: this.about.name, input: this.input.value.trim(), at: cursor + 1 });
    }
  }

  redraw() {
    this.drawing?.resize?.();
    if (this.frames.length) this.drawing.draw(this.frames, this.player.cursor);
    this.facts.replaceChildren(...factsOf(this.about));
  }

  close() {
    this.run++;
    this.player.pause();
  }
}

/** "6 digits" or "depth 3". */
function sizeOf(task, length) {
  const words = { lookup: "tokens", reverse_lookup: "tokens", dedupe: "digits" };
  const unit = words[task.name] ?? task.unit.replace(" of an operand", "");
  if (["arithmetic", "listops"].includes(task.name)) return `depth ${length}`;
  return `${length.toLocaleString("en")} ${length === 1 ? unit.replace(/s$/, "") : unit}`;
}
