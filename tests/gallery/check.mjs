// node check.mjs GALLERY GOLDEN.json: compares the gallery's models with what Python answers, and prints by preset the
// number of cases, the sources answered otherwise, those whose right answer is another, and the largest difference of a
// logit, relative to logits beyond 1: float32 has seven digits.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [gallery, golden] = process.argv.slice(2);
const { Preset } = await import(pathToFileURL(`${gallery}/models/preset.js`));
const { solve } = await import(pathToFileURL(`${gallery}/models/tasks.js`));
const { presets } = JSON.parse(readFileSync(`${gallery}/gallery.json`));
const found = {};
for (const [name, { cases, logits }] of Object.entries(JSON.parse(readFileSync(golden)))) {
  const about = presets[name];
  const bytes = readFileSync(`${gallery}/weights/${name}.safetensors`);
  const preset = new Preset(about, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const wrong = cases.filter(({ source, answer }) => preset.answer(source) !== answer);
  const unsolved = cases.filter(({ source, target }) => solve(source, about) !== target);
  let difference = 0;
  for (const { source, rows } of logits) {
    const steps = [...preset.decode(source)];
    const last = steps[steps.length - 1];
    const own = last.columns ?? (about.text.labels ? [last.logits] : steps.map((step) => step.logits));
    if (own.length !== rows.length) throw new Error(`${name}: ${own.length} rows of logits, not ${rows.length}`);
    rows.forEach((row, i) =>
      row.forEach((value, k) => {
        difference = Math.max(difference, Math.abs(own[i][k] - value) / Math.max(1, Math.abs(value)));
      }),
    );
  }
  const sources = (list) => list.map(({ source }) => source);
  found[name] = { cases: cases.length, wrong: sources(wrong), unsolved: sources(unsolved), difference };
}
console.log(JSON.stringify(found));
