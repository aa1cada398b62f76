// The arrays of a safetensors file, by name.

/** Returns a Weights over the bytes of a safetensors file: 8 bytes of size, a JSON header, the numbers. */
export function readWeights(buffer) {
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const arrays = new Map();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    if (entry.dtype !== "F32") throw new Error(`${name} is ${entry.dtype}, and only F32 is read`);
    const [from, to] = entry.data_offsets;
    // A copy, since a Float32Array has to begin at a multiple of four bytes.
    const data = new Float32Array(buffer.slice(8 + size + from, 8 + size + to));
    arrays.set(name, { data, shape: entry.shape });
  }
  return new Weights(arrays, "");
}

/** Arrays under a prefix: `weights.at("decoder").get("cell.kernel")` is "decoder.cell.kernel". */
export class Weights {
  constructor(arrays, prefix) {
    this.arrays = arrays;
    this.prefix = prefix;
    this.parts = new Map(); // what `at` and `get` returned: they are asked at every step
  }

  at(name) {
    let found = this.parts.get(name);
    if (!found) this.parts.set(name, (found = new Weights(this.arrays, `${this.prefix}${name}.`)));
    return found;
  }

  has(name) {
    return this.parts.has(name) || this.arrays.has(this.prefix + name);
  }

  /** Returns {data, shape}; a matrix of shape [inputs, outputs] is row by row. */
  get(name) {
    let found = this.parts.get(name);
    if (!found) {
      found = this.arrays.get(this.prefix + name);
      if (!found) throw new Error(`there is no array ${this.prefix}${name}`);
      this.parts.set(name, found);
    }
    return found;
  }

  /** Returns a row of a matrix. */
  row(name, index) {
    const { data, shape } = this.get(name);
    return data.subarray(index * shape[1], (index + 1) * shape[1]);
  }

  scalar(name) {
    return this.get(name).data[0];
  }
}
