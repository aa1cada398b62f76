// gallery.json, and the presets that were loaded.
import { Preset } from "./models/preset.js";

export class Store {
  static async load() {
    const answer = await fetch("gallery.json");
    if (!answer.ok) throw new Error(`gallery.json: ${answer.status}`);
    return new Store(await answer.json());
  }

  constructor(data) {
    this.data = data;
    this.loaded = new Map();
  }

  about(name) {
    return this.data.presets[name];
  }

  /** Returns a preset with its weights; they are fetched once. */
  preset(name) {
    if (!this.loaded.has(name)) {
      const found = this.fetch(name);
      found.catch(() => this.loaded.delete(name)); // the next attempt is a new one
      this.loaded.set(name, found);
    }
    return this.loaded.get(name);
  }

  async fetch(name) {
    const answer = await fetch(`weights/${name}.safetensors`);
    if (!answer.ok) throw new Error(`the weights of ${name} cannot be loaded (${answer.status})`);
    return new Preset(this.about(name), await answer.arrayBuffer());
  }
}
