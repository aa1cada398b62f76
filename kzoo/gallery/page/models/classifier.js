// TransformerClassifier: one block run many times, with or without a copy gate: the Neural Data Router. See
// kzoo/models/transformer_classifier.py and layers/transformer/copy_gate.py.
import { add, dense, sinusoid, stretchedSigmoid } from "./vectors.js";
import { Block, network } from "./transformer.js";

export class TransformerClassifier {
  constructor(config, weights) {
    const { block, depth } = config;
    // These two differ while training only.
    if (!["SharedDepth", "NoisyDepth"].includes(depth.class)) throw new Error(`the gallery has no ${depth.class}`);
    const w = weights.at("encoder.block");
    this.weights = weights;
    this.gate = block.class === "CopyGate" ? w.at("gate") : null;
    this.stretch = block.config.stretch ?? 0;
    this.block = this.gate ? new Block(block.config.block, w.at("block")) : new Block(block, w);
    this.sinusoidal = config.encoding?.class === "SinusoidalEncoding";
    this.steps = depth.config.inference_steps ?? depth.config.steps;
    this.readout = config.readout;
  }

  /** Reads the ids of a source; `step()` runs the block once more over all of them. */
  start(ids) {
    const states = ids.map((id, i) => {
      const state = Float64Array.from(this.weights.row("embedding.embeddings", id));
      return this.sinusoidal ? add(state, sinusoid(i, state.length)) : state;
    });
    return new Run(this, states);
  }
}

class Run {
  constructor(model, states) {
    this.model = model;
    this.steps = model.steps;
    this.states = states;
  }

  /** Returns the logits at the column of the answer, and by column: labels' logits, mean gates, weights by head. */
  step() {
    const { block, gate, stretch, weights, readout } = this.model;
    const memory = block.attention.memory();
    const inputs = this.states.map((state) => block.before(state, "attention_norm"));
    for (const input of inputs) block.attention.remember(memory, input);
    const looked = [];
    const gates = [];
    this.states = this.states.map((state, index) => {
      const found = block.attended(state, inputs[index], memory, { index });
      const update = block.feedForward(found.attended);
      looked.push(found.weights);
      if (!gate) return update;
      const open = network(gate, found.attended, "relu").map((x) => stretchedSigmoid(x, stretch));
      gates.push(open.reduce((sum, x) => sum + x, 0) / open.length);
      return update.map((x, k) => open[k] * x + (1 - open[k]) * state[k]);
    });
    const columns = this.states.map((state) => dense(weights.at("classes"), state));
    const logits = readout === "first" ? columns[0] : columns[columns.length - 1];
    return { logits, trace: { columns, gates: gate ? gates : null, weights: looked } };
  }
}
