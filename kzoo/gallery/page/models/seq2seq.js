// TransformerSeq2Seq without encoder layers, for arithmetic. See kzoo/models/transformer_seq2seq.py.
import { add, dense, layerNorm, sinusoid } from "./vectors.js";
import { Block, MultiHeadAttention } from "./transformer.js";

export class TransformerSeq2Seq {
  constructor(config, weights) {
    if (config.encoder_layers || config.position || config.norm !== "after") {
      throw new Error("the gallery has no such TransformerSeq2Seq");
    }
    this.weights = weights;
    this.sinusoidal = config.encoding?.class === "SinusoidalEncoding";
    this.lines = { self: linesOf(config.self_bias), cross: linesOf(config.cross_bias) };
    this.operator = config.operatorId; // of a source that is not interleaved: it ends the first operand
    const attention = { config: { heads: config.heads } };
    const block = { config: { attention, norm: config.norm, update: "residual", activation: "relu" } };
    this.layers = Array.from({ length: config.layers }, (_, k) => {
      const w = weights.at(`decoder.${k}`);
      const cross = new MultiHeadAttention(attention, w.at("cross"));
      return { block: new Block(block, w.at("block")), cross, norm: w.at("cross_norm") };
    });
  }

  embed(token, position) {
    const state = Float64Array.from(this.weights.row("embedding.embeddings", token));
    return this.sinusoidal ? add(state, sinusoid(position, state.length)) : state;
  }

  start(ids) {
    const last = ids.length - 1;
    const memory = ids.map((id, i) => this.embed(id, last - i)); // positions count back from the end symbol
    return new Run(this, memory, [ids.indexOf(this.operator), last]);
  }
}

class Run {
  constructor(model, memory, ends) {
    this.model = model;
    this.ends = ends;
    this.sources = model.layers.map(({ cross }) => {
      const found = cross.memory();
      for (const row of memory) cross.remember(found, row);
      return found;
    });
    this.written = model.layers.map(({ block }) => block.attention.memory());
    this.size = memory.length;
    this.index = 0;
  }

  step(token) {
    const { lines, layers, weights } = this.model;
    const index = this.index++;
    const open = {
      self: (head) => crossed(lines.self, head, index, this.ends, index + 1),
      cross: (head) => crossed(lines.cross, head, index, this.ends, this.size),
    };
    let state = this.model.embed(token, index);
    const trace = layers.map(({ block, cross, norm }, k) => {
      const own = block.step(state, this.written[k], { bias: open.self });
      const source = cross.attend(own.attended, this.sources[k], { bias: open.cross });
      state = block.feedForward(layerNorm(norm, add(own.attended, source.context)));
      return { self: own.weights, cross: source.weights };
    });
    return { logits: dense(weights.at("classes"), state), trace: { layers: trace } };
  }
}

/** Returns the lines of a calibrated bias by head, or null where there is no bias. */
function linesOf(bias) {
  if (!bias) return null;
  if (bias.class !== "CalibratedBias") throw new Error(`the gallery has no ${bias.class}`);
  return bias.config.lines;
}

/**
 * Returns the keys below `length` that lines of a head cross for a query, as [key, bias]; null where none does: then
 * the query sees every key. A line (slope, part, offset, value) is at key base + offset + slope * query.
 */
export function crossed(lines, head, query, ends, length) {
  const found = new Map();
  for (const [slope, part, offset, value] of lines?.[head] ?? []) {
    const key = (part === null ? 0 : ends[part]) + offset + slope * query;
    if (key >= 0 && key < length) found.set(key, Math.max(value, found.get(key) ?? -Infinity));
  }
  return found.size ? [...found].sort((a, b) => a[0] - b[0]) : null;
}
