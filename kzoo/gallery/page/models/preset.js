// A preset in the browser: its model, and greedy decoding step by step.
import { TransformerClassifier } from "./classifier.js";
import { TransformerDecoder } from "./decoder.js";
import { RecurrentClassifier } from "./reader.js";
import { RecurrentSeq2Seq } from "./recurrent.js";
import { TransformerSeq2Seq } from "./seq2seq.js";
import { SequenceTagger } from "./tagger.js";
import { limitOf, toIds, toText } from "./texts.js";
import { argmax } from "./vectors.js";
import { readWeights } from "./weights.js";

const MODELS = {
  RecurrentClassifier,
  RecurrentSeq2Seq,
  SequenceTagger,
  TransformerClassifier,
  TransformerDecoder,
  TransformerSeq2Seq,
};

export class Preset {
  /** `about` is what gallery.json says of the preset, `buffer` the bytes of its safetensors file. */
  constructor(about, buffer) {
    this.about = about;
    const operatorId = about.tokens.indexOf(about.text.number?.operator);
    this.model = new MODELS[about.config.class]({ ...about.config.config, operatorId }, readWeights(buffer));
    this.labels = about.text.labels;
    this.answersEachStep = Boolean(this.labels) || about.config.class === "SequenceTagger";
  }

  /**
   * Decodes a text step by step: an iterator of {step, logits, trace, token, text, done}. `token` is what a step wrote,
   * `text` at the last step all that was written; of a classifier, `text` is the label that it would answer with, of a
   * tagger, which has `columns` in place of `logits`, all that it would.
   */
  *decode(text) {
    const ids = toIds(text, this.about);
    const run = this.model.start(ids);
    if (this.answersEachStep) {
      for (let step = 0; step < run.steps; step++) {
        const found = run.step();
        yield { step, ...found, text: this.read(found), done: step === run.steps - 1 };
      }
      return;
    }
    const limit = limitOf(ids, this.about);
    const written = [];
    let token = this.about.start_id;
    for (let step = 0; step < limit; step++) {
      const found = run.step(token);
      token = argmax(found.logits);
      written.push(token);
      const done = token === this.about.end_id || step === limit - 1;
      yield { step, ...found, token, text: done ? toText(written, this.about) : null, done };
      if (done) return;
    }
  }

  /** Returns the text of a whole answer. */
  read({ logits, columns }) {
    return this.labels ? this.labels[argmax(logits)] : toText(columns.map(argmax), this.about);
  }

  /** Returns how many steps a source takes, where that is known before; else null. */
  steps(ids) {
    return this.answersEachStep ? (this.model.steps ?? ids.length) : null;
  }

  /** Returns the whole answer to a text. */
  answer(text) {
    let last;
    for (const found of this.decode(text)) last = found.text;
    return last;
  }
}
