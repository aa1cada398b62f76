// RecurrentClassifier with a network of second order and a stack. See kzoo/models/recurrent_classifier.py and
// layers/recurrent/pushdown_reader.py.
import { add, argmax, dense, dot, product, rmsNorm, softmax } from "./vectors.js";

export const PUSH = 0;
export const POP = 1;

export class RecurrentClassifier {
  constructor(config, weights) {
    const { reader } = config;
    if (reader.class !== "PushdownReader" || reader.config.go_backwards)
      throw new Error(`the gallery has no such ${reader.class}`);
    this.weights = weights;
    this.w = weights.at("reader");
    this.cells = reader.config.cells;
    this.keep = reader.config.keep;
    this.centroids = reader.config.centroids ? centroidsOf(this.w.get("table")) : null;
  }

  /** Reads the ids of a source; each `step()` reads one more, and answers as if the source ended there. */
  start(ids) {
    return new Run(this, ids);
  }

  /** The state after a norm, drawn to the centroids. */
  drawn(state) {
    const found = rmsNorm(state);
    if (!this.centroids) return found;
    const { data, vectors } = this.centroids;
    const scale = this.w.scalar("sharpness") / Math.sqrt(found.length);
    const shares = softmax(vectors.map((vector) => scale * dot(vector, found)));
    const mean = product(data, found.length, shares, null);
    return found.map((x, i) => this.keep * x + (1 - this.keep) * mean[i]);
  }
}

class Run {
  constructor(model, ids) {
    this.model = model;
    this.ids = ids;
    this.steps = ids.length;
    this.at = 0;
    this.initial = rmsNorm(model.w.get("initial").data);
    this.state = this.initial;
    this.stack = []; // {state, call}, the top first; what is deeper is zeros
  }

  /** Returns the logits after one more token, what it did to the stack, and the steps that called and wait, the last first. */
  step() {
    const { weights, w, cells } = this.model;
    const call = this.at++;
    const token = weights.row("embedding.embeddings", this.ids[call]);
    const action = argmax(dense(w.at("actions"), token));
    const before = this.state;
    const top = this.stack[0]?.state ?? new Float64Array(before.length);
    const start = action === PUSH ? this.initial : before;
    const scale = action === POP ? dense(w.at("returned"), top) : dense(w.at("token"), token);
    const factors = dense(w.at("before"), start).map((x, i) => x * scale[i]);
    this.state = this.model.drawn(add(dense(w.at("product"), factors), dense(w.at("alone"), token)));
    if (action === PUSH) this.stack = [{ state: before, call }, ...this.stack].slice(0, cells);
    if (action === POP) this.stack = this.stack.slice(1);
    const calls = this.stack.map((waiting) => waiting.call);
    return { logits: dense(weights.at("classes"), this.state), trace: { action, calls } };
  }
}

/** The rows of a table after their norms, one by one and row by row. */
function centroidsOf({ data, shape }) {
  const [number, size] = shape;
  const whole = new Float64Array(number * size);
  const vectors = Array.from({ length: number }, (_, i) => whole.subarray(i * size, (i + 1) * size));
  vectors.forEach((vector, i) => vector.set(rmsNorm(data.subarray(i * size, (i + 1) * size))));
  return { data: whole, vectors };
}
