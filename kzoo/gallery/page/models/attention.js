// The attentions of a recurrent decoder. Each has `prepare(memory, summary)`, which returns an object whose
// `attend(query)` makes one step: {context, weights, ...}. See layers/attention/ for the equations.
import { add, argmax, dense, dot, sigmoid, sinusoid, softmax, softplus, softsign } from "./vectors.js";

const SMALLEST_SPREAD = 0.27; // in positions, as in gaussian_attention.py
const VISIT = { bound: 6, reserve: 2 }; // as in waypoint_attention.py

const LEAST_MOVED = 1e-9; // as in tape_attention.py

const STEPS = {
  sigmoid: (x) => sigmoid(5 * x),
  relu: (x) => Math.max(x, 0),
  linear: (x) => x,
};

/** Returns the attention of a config: {class, config}. */
export function makeAttention({ class: name, config }, weights) {
  const classes = {
    DirectionMix,
    ContentAttention,
    RelativeAttention,
    MonotonicAttention,
    WaypointAttention,
    TapeAttention,
  };
  if (!classes[name]) throw new Error(`the gallery has no ${name}`);
  return new classes[name](config, weights);
}

/** Gives another attention the memory forward, backward or interpolated. */
class DirectionMix {
  constructor(config, weights) {
    this.weights = weights;
    this.bounded = config.bounded ?? false;
    this.inner = makeAttention(config.attention, weights.at("attention"));
  }

  prepare(memory, summary) {
    const [raw] = dense(this.weights.at("direction"), summary);
    const forward = sigmoid(this.bounded ? 9 * softsign(raw) : 5 * raw);
    const last = memory.length - 1;
    const mixed = memory.map((row, i) => row.map((x, k) => forward * x + (1 - forward) * memory[last - i][k]));
    const prepared = this.inner.prepare(mixed, summary);
    // A weight on position i of the mixture lies on i of the source, and on the i-th from its end.
    const onSource = (row) => row.map((x, i) => forward * x + (1 - forward) * row[last - i]);
    return {
      attend(query) {
        const step = prepared.attend(query);
        const center =
          step.center === undefined ? undefined : forward * step.center + (1 - forward) * (1 - step.center);
        const marks = step.marks && onSource(step.marks);
        return { ...step, weights: onSource(step.weights), center, marks, direction: forward };
      },
    };
  }
}

/** What all share: the values, and the average of them by weight. */
class Attention {
  constructor(config, weights) {
    this.config = config;
    this.weights = weights;
  }

  values(memory) {
    const w = this.weights.at("values");
    return memory.map((row) => {
      const hidden = dense(w.at("hidden"), row).map((x) => (x < 0 ? 0.01 * x : x));
      return dense(w.at("output_map"), dense(w.at("value"), hidden));
    });
  }

  prepare(memory, summary) {
    const values = this.values(memory);
    const weigh = this.weigher(memory, summary);
    let time = 0;
    return {
      attend(query) {
        const found = weigh(query, time++);
        const context = new Float64Array(values[0].length);
        found.weights.forEach((weight, i) => {
          if (weight > 0) for (let k = 0; k < context.length; k++) context[k] += weight * values[i][k];
        });
        return { ...found, context };
      },
    };
  }
}

/** The scaled dot product of query and key. */
class ContentAttention extends Attention {
  weigher(memory) {
    const keys = memory.map((row) => dense(this.weights.at("key"), row));
    return (query) => {
      const q = dense(this.weights.at("query"), query);
      return { weights: softmax(keys.map((key) => dot(q, key) / Math.sqrt(key.length))) };
    };
  }
}

/** That, and how far a position is from the current step. */
class RelativeAttention extends Attention {
  weigher(memory) {
    const w = this.weights;
    const keys = memory.map((row) => dense(w.at("key"), row));
    const distances = new Map(); // of i - t, made when first asked for
    const distance = (d) => {
      if (!distances.has(d)) distances.set(d, dense(w.at("distance"), sinusoid(d, memory[0].length)));
      return distances.get(d);
    };
    return (query, time) => {
      const q = dense(w.at("query"), query);
      const content = add(q, w.get("content_bias").data);
      const place = add(q, w.get("distance_bias").data);
      const scores = keys.map((key, i) => dot(content, key) + dot(place, distance(i - time)));
      return { weights: softmax(scores.map((score) => score / Math.sqrt(q.length))) };
    };
  }
}

/** A Gaussian over positions that steps forward: OneStep and its kin. */
class MonotonicAttention extends Attention {
  steps(features) {
    const [raw] = dense(this.weights.at("pace"), features);
    if (this.config.step !== "gated") return STEPS[this.config.step](raw);
    const gate = sigmoid(this.weights.scalar("gate"));
    return gate * STEPS.relu(raw) + (1 - gate) * STEPS.sigmoid(raw);
  }

  weigher(memory) {
    const step = 1 / Math.max(memory.length - 1, 1);
    const positions = memory.map((_, i) => i * step);
    let position = 0;
    return (query) => {
      const features = dense(this.weights.at("location"), query);
      const spread = spreadOf(this.weights, features, memory.length);
      const center = position + this.steps(features) * step;
      const weights = gaussian(positions, center, spread);
      position = dot(weights, positions);
      return { weights, center, spread };
    };
  }
}

/** The same over coordinates that count waypoints, with visits to any of them. */
class WaypointAttention extends Attention {
  weigher(memory) {
    const w = this.weights;
    const step = 1 / Math.max(memory.length - 1, 1);
    const raw = memory.map((row) => 5 * dense(w.at("mark"), row)[0]);
    const marks = Float64Array.from(raw, sigmoid);
    const logs = raw.map((x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x))));
    let sum = -marks[0];
    const coordinates = Array.from(marks, (mark) => (sum += mark) * step);
    const indices = memory.map((_, i) => i * step);
    let position = 0;
    return (query) => {
      const features = dense(w.at("location"), query);
      const spread = spreadOf(w, features, memory.length);
      const around = (center) => gaussian(coordinates, center, spread, logs);
      let weights = around(position + STEPS.sigmoid(dense(w.at("pace"), features)[0]) * step);
      const reached = dot(weights, coordinates);
      let visit = 0;
      if (this.config.visits) {
        visit = sigmoid(VISIT.bound * softsign(dense(w.at("visit"), features)[0]) - VISIT.reserve);
        const visited = around(dense(w.at("place"), features)[0] * step);
        weights = weights.map((x, i) => (1 - visit) * x + visit * visited[i]);
      }
      position = (1 - visit) * reached + visit * position;
      return { weights, center: dot(weights, indices), spread, visit, marks };
    };
  }
}

/** Stays, steps by a few positions to either side, or jumps to an end. */
class TapeAttention extends Attention {
  weigher(memory) {
    const w = this.weights;
    const { reach, sharpness } = this.config;
    const last = memory.length - 1;
    const inside = (position) => Math.min(Math.max(position, 0), last);
    const step = 1 / Math.max(last, 1);
    const indices = memory.map((_, i) => i * step);
    let weights = Float64Array.from(memory, (_, i) => (i ? 0 : 1));
    return (query) => {
      const features = dense(w.at("location"), query);
      const moves = softmax(dense(w.at("moves"), features));
      const gamma = sharpness + softplus(dense(w.at("gamma"), features)[0]);
      const moved = new Float64Array(memory.length);
      for (let k = -reach; k <= reach; k++) {
        weights.forEach((weight, i) => (moved[inside(i + k)] += moves[reach + k] * weight));
      }
      for (let k = 0; k <= reach; k++) {
        moved[inside(k)] += moves[2 * reach + 1 + k];
        moved[inside(last - k)] += moves[3 * reach + 2 + k];
      }
      weights = softmax(Array.from(moved, (x) => gamma * Math.log(x + LEAST_MOVED)));
      const best = argmax(moves);
      return { weights, center: dot(weights, indices), move: [moveOf(best, reach), moves[best]] };
    };
  }
}

/** Says in words what the k-th move is. */
function moveOf(k, reach) {
  if (k > 3 * reach + 1) return "jump to the end";
  if (k > 2 * reach) return "jump to the start";
  if (k === reach) return "stay";
  const count = Math.abs(k - reach);
  return `${count === 1 ? "a step" : `${count} steps`} to the ${k > reach ? "right" : "left"}`;
}

function spreadOf(weights, features, length) {
  return (Math.max(dense(weights.at("spread"), features)[0], 0) + SMALLEST_SPREAD) / length;
}

/** Weights of a Gaussian over positions, each times e^log where logs are given. */
function gaussian(positions, center, spread, logs) {
  const inside = Math.min(Math.max(center, 0), 1);
  const beyond = (center - inside) / spread;
  return softmax(
    positions.map((position, i) => {
      const distance = (position - inside) / spread;
      return distance * beyond - 0.5 * distance * distance + (logs ? logs[i] : 0);
    }),
  );
}
