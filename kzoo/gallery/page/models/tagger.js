// SequenceTagger with a Neural GPU. See kzoo/models/sequence_tagger.py and layers/recurrent/neural_gpu_reader.py.
import { dense } from "./vectors.js";

const clip = (x) => Math.min(Math.max(x, -1), 1);
const gate = (x) => Math.min(Math.max((1 + x) / 2, 0), 1);

export class SequenceTagger {
  constructor(config, weights) {
    if (config.reader.class !== "NeuralGPUReader") throw new Error(`the gallery has no ${config.reader.class}`);
    this.weights = weights;
    this.w = weights.at("reader");
    this.units = config.reader.config.units;
  }

  /** Reads the ids of a source; each `step()` changes the states of all tokens, as often as there are tokens. */
  start(ids) {
    return new Run(this, ids);
  }
}

class Run {
  constructor(model, ids) {
    this.model = model;
    this.steps = ids.length;
    const { weights, w } = model;
    this.states = ids.map((id) => dense(w.at("inputs"), weights.row("embedding.embeddings", id)).map(clip));
  }

  /** Returns the logits at every column after one more step, and the states there. */
  step() {
    const { weights, w, units } = this.model;
    const gates = neighbourhoods(this.states, units).map((x) => dense(w.at("gates"), x).map(gate));
    const reset = this.states.map((state, i) => state.map((x, k) => gates[i][units + k] * x));
    const candidates = neighbourhoods(reset, units).map((x) => dense(w.at("candidate"), x).map(clip));
    const third = Math.floor(units / 3);
    const none = new Float64Array(units);
    this.states = this.states.map((state, i) => {
      const [left, right] = [this.states[i - 1] ?? none, this.states[i + 1] ?? none];
      return state.map((x, k) => {
        const moved = k < third ? left[k] : k < 2 * third ? right[k] : x;
        return gates[i][k] * moved + (1 - gates[i][k]) * candidates[i][k];
      });
    });
    const columns = this.states.map((state) => dense(weights.at("classes"), state));
    return { columns, trace: { states: this.states } };
  }
}

/** Returns of each state the one before, itself and the one after in a row, zeros beyond the ends. */
function neighbourhoods(states, units) {
  return states.map((state, i) => {
    const three = new Float64Array(3 * units);
    if (i > 0) three.set(states[i - 1]);
    three.set(state, units);
    if (i + 1 < states.length) three.set(states[i + 1], 2 * units);
    return three;
  });
}
