// What a preset's files say of it: what it is, what training had, and its accuracy by length.
import { curve } from "./curve.js";
import { h } from "./dom.js";

export function factsOf(about) {
  const { name, task, model, trained, supervision, limits, parameters, bytes } = about;
  const learned = trained
    ? `trained on lengths ${trained[0]} to ${trained[1]} (${task.unit})`
    : "constructed: its weights were set, not trained";
  const size = `${parameters.toLocaleString("en")} parameters, ${(bytes / 1e6).toFixed(1)} MB`;
  const extra = supervision.length ? supervision.join(", ") : "none";
  const told = trained ? ` Supervision beyond pairs of source and target: ${extra}.` : "";
  return [
    h("h2", {}, name),
    h("p", {}, `This model was ${learned}; ${size}.${told}`),
    ...(limits.length ? [h("p", { class: "hint" }, limits.join(" "))] : []),
    h("h3", {}, "How often the whole output is right, by length"),
    curve([about]),
    h(
      "details",
      {},
      h("summary", {}, "The parts it is made of"),
      h(
        "dl",
        {},
        model.flatMap((part) => [h("dt", {}, part.name), h("dd", {}, part.about)]),
      ),
    ),
    h(
      "p",
      {},
      "The same in Python: ",
      h("code", {}, `kzoo.from_preset("${name}").generate("${short(about.examples[0].source)}")`),
    ),
  ];
}

const short = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** Returns the longest measured length up to which every accuracy is at least 95 %, and the first below it. */
export function reach({ rows }) {
  const low = rows.findIndex((row) => row.value < 0.95);
  return { last: low < 0 ? rows[rows.length - 1] : rows[low - 1], broken: low < 0 ? null : rows[low] };
}

/** Returns what makes the difference: the mechanism in words; where none are written, its part, not what all models have. */
export function mechanismOf(about) {
  if (about.mechanism.about) return about.mechanism;
  const common =
    /^(RecurrentSeq2Seq|TransformerClassifier|TransformerDecoder|TransformerSeq2Seq|MultiHeadAttention|DirectionMix|TransformerBlock|SharedDepth)$/;
  return about.model.find(({ name }) => !common.test(name)) ?? about.model[0];
}
