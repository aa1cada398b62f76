// TransformerDecoder: a causal Transformer over "source, delimiter, target". See kzoo/models/transformer_decoder.py.
import { add, dense, layerNorm } from "./vectors.js";
import { Block } from "./transformer.js";

export class TransformerDecoder {
  constructor(config, weights) {
    if (config.encoding) throw new Error("the gallery has no encoding of positions for a decoder");
    this.weights = weights;
    this.segments = config.segments;
    this.delimiter = config.vocabulary_size - 3;
    this.blocks = Array.from({ length: config.layers }, (_, k) => new Block(config.block, weights.at(`blocks.${k}`)));
    this.norm = config.block.config.norm === "before" ? weights.at("final_norm") : null;
  }

  /** Reads all ids of a source but the last, the delimiter, which is the first token of `step`. */
  start(ids) {
    const run = new Run(this);
    for (const id of ids.slice(0, -1)) run.read(id);
    return run;
  }
}

class Run {
  constructor(model) {
    this.model = model;
    this.memories = model.blocks.map((block) => block.attention.memory());
    this.behind = false;
  }

  read(token) {
    const { weights, blocks, segments, delimiter } = this.model;
    this.behind ||= token === delimiter;
    let state = Float64Array.from(weights.row("embedding.embeddings", token));
    if (segments && this.behind) state = add(state, weights.get("behind").data);
    const layers = blocks.map((block, k) => {
      const found = block.step(state, this.memories[k]);
      state = block.feedForward(found.attended);
      return found.weights;
    });
    return { state, layers };
  }

  step(token) {
    const { state, layers } = this.read(token);
    const { norm, weights } = this.model;
    const logits = dense(weights.at("classes"), norm ? layerNorm(norm, state) : state);
    return { logits, trace: { layers } };
  }
}
