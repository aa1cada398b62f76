// What the Transformers share: attention of several heads, and the block. See layers/transformer/.
import { add, dense, dot, gelu, layerNorm, product, softmax, softplus, stretchedSigmoid } from "./vectors.js";

export class MultiHeadAttention {
  constructor({ config }, weights) {
    this.config = config;
    this.weights = weights;
    this.heads = config.heads;
    this.size = weights.get("query.kernel").shape[1] / this.heads;
    this.scale = config.trainable_scale ? weights.scalar("scale") : this.size ** -0.5;
    this.kernels = Array.from({ length: this.heads }, (_, head) => this.outputOf(head));
    const weighting = config.weighting?.class ?? "SoftmaxWeighting";
    if (!["SoftmaxWeighting", "TemperedWeighting", "GeometricWeighting"].includes(weighting)) {
      throw new Error(`the gallery has no ${weighting}`);
    }
    if (config.weighting?.config.normalize) throw new Error("the gallery has no normalised geometric attention");
    this.geometric = weighting === "GeometricWeighting";
    this.stretch = config.weighting?.config.stretch ?? 0;
    this.tempered = weighting === "TemperedWeighting";
  }

  /** Returns a memory without keys; `remember` adds one. */
  memory() {
    return { keys: Array.from({ length: this.heads }, () => []), values: this.kernels.map(() => []) };
  }

  remember(memory, x) {
    const key = dense(this.weights.at("key"), x);
    const value = dense(this.weights.at("value"), x);
    for (let head = 0; head < this.heads; head++) {
      memory.keys[head].push(this.part(key, head));
      memory.values[head].push(this.part(value, head));
    }
  }

  /**
   * Returns the context of one query, and the weights by head: a list of [key, weight].
   *
   * `bias(head)` gives the keys that the head may see as a list of [key, bias], or null: all keys, without bias.
   * `index` is the query's position, for what depends on it.
   */
  attend(x, memory, { bias = () => null, index = 0 } = {}) {
    const query = dense(this.weights.at("query"), x);
    const direction = this.config.bias?.class === "DirectionBias" ? this.directions(x) : null;
    let context = new Float64Array(this.weights.get("projection.kernel").shape[1]);
    const weights = [];
    for (let head = 0; head < this.heads; head++) {
      let q = this.part(query, head);
      if (this.config.query_bias) q = add(q, this.part(this.weights.get("content_bias").data, head));
      const keys = memory.keys[head];
      const open = bias(head) ?? keys.map((_, key) => [key, 0]);
      const scores = open.map(([key, b]) => {
        const side = direction ? direction(head, Math.sign(key - index)) : 0;
        return this.scale * dot(q, keys[key]) + b + side;
      });
      const row = this.geometric ? geometric(scores, index, this.stretch) : softmax(this.tempers(scores));
      const mean = new Float64Array(this.size);
      open.forEach(([key], k) => {
        const value = memory.values[head][key];
        if (row[k] > 0) for (let i = 0; i < mean.length; i++) mean[i] += row[k] * value[i];
      });
      context = add(context, product(this.kernels[head], context.length, mean));
      weights.push(open.map(([key], k) => [key, row[k]]));
    }
    return { context, weights };
  }

  /** Scores times beta ln n. */
  tempers(scores) {
    if (!this.tempered) return scores;
    const number = Math.max(scores.length, this.config.weighting.config.shortest);
    const temper = this.weights.scalar("weighting.beta") * Math.log(number);
    return scores.map((score) => temper * score);
  }

  /** The bias of keys left (-1) and right (1) of a query; see DirectionBias. */
  directions(x) {
    const w = this.weights.at("bias");
    const pairs = dense(w.at("direction"), x);
    const [scale, offset] = [w.scalar("scale"), w.scalar("offset")];
    return (head, side) => (side === 0 ? offset : scale * pairs[2 * head + (side > 0 ? 1 : 0)] + offset);
  }

  part(vector, head) {
    return vector.slice(head * this.size, (head + 1) * this.size);
  }

  /** The rows of the output map that belong to a head. */
  outputOf(head) {
    const { data, shape } = this.weights.get("projection.kernel");
    return data.subarray(head * this.size * shape[1], (head + 1) * this.size * shape[1]);
  }
}

/** P_j times the product of 1 - P_k over the keys closer to the query; of two at one distance the right is closer. */
function geometric(scores, index, stretch) {
  const weights = new Float64Array(scores.length);
  let missed = 0;
  for (let distance = 1; distance < scores.length; distance++) {
    for (const key of [index + distance, index - distance]) {
      if (key < 0 || key >= scores.length) continue;
      if (stretch) {
        const match = stretchedSigmoid(scores[key], stretch);
        weights[key] = match * Math.exp(-missed);
        missed -= Math.log1p(-Math.min(match, 1 - 1e-5));
        continue;
      }
      const miss = softplus(scores[key]); // -log(1 - P)
      weights[key] = Math.exp(scores[key] - miss - missed);
      missed += miss;
    }
  }
  return weights;
}

/** Attention and a feed-forward network, with their norms; `cross` stands between them where there is a source. */
export class Block {
  constructor({ config }, weights) {
    this.config = config;
    this.weights = weights;
    this.attention = new MultiHeadAttention(config.attention, weights.at("attention"));
  }

  /** Reads one position of a decoder, whose keys are in `memory` already up to the one before it. */
  step(state, memory, options) {
    const input = this.before(state, "attention_norm");
    this.attention.remember(memory, input);
    return this.attended(state, input, memory, options);
  }

  attended(state, input, memory, options) {
    const { context, weights } = this.attention.attend(input, memory, options);
    return { attended: this.after(add(state, context), "attention_norm"), weights };
  }

  feedForward(attended) {
    let update = network(this.weights.at("feed_forward"), this.before(attended, "update_norm"), this.config.activation);
    if (this.config.update === "tanh") return update.map(Math.tanh);
    if (this.config.update === "residual") update = add(attended, update);
    return this.after(update, "update_norm");
  }

  before(state, norm) {
    return this.config.norm === "before" ? layerNorm(this.weights.at(norm), state) : state;
  }

  after(state, norm) {
    return this.config.norm === "after" ? layerNorm(this.weights.at(norm), state) : state;
  }
}

/** Two linear maps with a ReLU or a GELU between them. */
export function network(weights, x, activation) {
  const hidden = dense(weights.at("inner"), x);
  for (let i = 0; i < hidden.length; i++) hidden[i] = activation === "gelu" ? gelu(hidden[i]) : Math.max(hidden[i], 0);
  return dense(weights.at("outer"), hidden);
}
