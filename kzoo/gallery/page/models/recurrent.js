// RecurrentSeq2Seq: a bidirectional GRU encoder, and a GRU decoder that attends. See kzoo/models/recurrent_seq2seq.py.
import { makeAttention } from "./attention.js";
import { add, concat, dense, product, sigmoid } from "./vectors.js";

export class RecurrentSeq2Seq {
  constructor(config, weights) {
    this.weights = weights;
    this.attention = makeAttention(config.attention, weights.at("decoder.attention"));
  }

  /** Reads the ids of a source; returns a run whose `step(token)` gives the next token's logits and what it did. */
  start(ids) {
    const w = this.weights;
    const tokens = ids.map((id) => w.row("embedding.embeddings", id));
    const sequence = [w.get("boundary.start").data, ...tokens, w.get("boundary.end").data];
    const forward = read(w.at("encoder.forward_gru.cell"), sequence);
    const backward = read(w.at("encoder.backward_gru.cell"), [...sequence].reverse());
    const last = sequence.length - 1;
    const memory = forward.map((state, i) => concat(state, backward[last - i]));
    const summary = concat(forward[last], backward[last]);
    return new Run(this, this.attention.prepare(memory, summary), summary);
  }
}

class Run {
  constructor(model, attention, summary) {
    this.model = model;
    this.attention = attention;
    this.hidden = summary;
  }

  step(token) {
    const w = this.model.weights;
    const { context, ...trace } = this.attention.attend(this.hidden);
    const input = concat(w.row("embedding.embeddings", token), context);
    this.hidden = gru(w.at("decoder.cell"), input, this.hidden);
    const projected = dense(w.at("projection"), this.hidden);
    const { data, shape } = w.get("embedding.embeddings");
    const logits = Float64Array.from(w.get("vocabulary_bias").data);
    for (let v = 0; v < shape[0]; v++) {
      for (let i = 0; i < shape[1]; i++) logits[v] += data[v * shape[1] + i] * projected[i];
    }
    return { logits, trace };
  }
}

/** Returns the states of a GRU after each vector of a sequence. */
function read(cell, sequence) {
  let hidden = new Float64Array(cell.get("recurrent_kernel").shape[0]);
  return sequence.map((x) => (hidden = gru(cell, x, hidden)));
}

/** One step of a GRU with two biases a gate; the gates are update, reset and candidate. */
function gru(cell, x, hidden) {
  const size = hidden.length;
  const bias = cell.get("bias").data;
  const fromInput = product(cell.get("kernel").data, 3 * size, x, bias.subarray(0, 3 * size));
  const fromState = product(cell.get("recurrent_kernel").data, 3 * size, hidden, bias.subarray(3 * size));
  const gates = add(fromInput, fromState);
  return hidden.map((old, i) => {
    const update = sigmoid(gates[i]);
    const reset = sigmoid(gates[size + i]);
    const candidate = Math.tanh(fromInput[2 * size + i] + reset * fromState[2 * size + i]);
    return update * old + (1 - update) * candidate;
  });
}
