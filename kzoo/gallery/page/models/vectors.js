// The arithmetic of the models on vectors. Weights are float32 as in the file; sums are float64, as JavaScript has them.

/** Returns x W + b for a Dense layer's weights: `kernel` [inputs, outputs] and, where it has one, `bias`. */
export function dense(layer, x) {
  const { data, shape } = layer.get("kernel");
  return product(data, shape[1], x, layer.has("bias") ? layer.get("bias").data : null);
}

/**
 * Returns x W + b. Zeros of x cost nothing: one-hot vectors and what a ReLU closed are many. Four rows of W are added at
 * a time, which is twice as fast as one.
 */
export function product(kernel, size, x, bias) {
  const y = new Float64Array(size);
  if (bias) y.set(bias);
  const rows = [];
  for (let i = 0; i < x.length; i++) if (x[i] !== 0) rows.push(i);
  let k = 0;
  for (; k + 3 < rows.length; k += 4) {
    const [a, b, c, d] = [x[rows[k]], x[rows[k + 1]], x[rows[k + 2]], x[rows[k + 3]]];
    const [p, q, r, t] = [rows[k] * size, rows[k + 1] * size, rows[k + 2] * size, rows[k + 3] * size];
    for (let j = 0; j < size; j++)
      y[j] += a * kernel[p + j] + b * kernel[q + j] + c * kernel[r + j] + d * kernel[t + j];
  }
  for (; k < rows.length; k++) {
    const [a, p] = [x[rows[k]], rows[k] * size];
    for (let j = 0; j < size; j++) y[j] += a * kernel[p + j];
  }
  return y;
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** The sum of two vectors. Loops here and below: `Float64Array.from` with a function is ten times slower. */
export function add(a, b) {
  const sum = new Float64Array(a.length);
  for (let i = 0; i < sum.length; i++) sum[i] = a[i] + b[i];
  return sum;
}

export const concat = (a, b) => {
  const both = new Float64Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
};
export const sigmoid = (x) => 1 / (1 + Math.exp(-x));
/** The sigmoid, stretched to the range from -stretch to 1 + stretch and cut to that from 0 to 1. */
export const stretchedSigmoid = (x, stretch) =>
  Math.min(Math.max((1 + 2 * stretch) * sigmoid(x) - stretch, 0), 1);
export const softsign = (x) => x / (1 + Math.abs(x));
/** log(1 + e^x), without overflow. */
export const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

export function softmax(scores) {
  let most = -Infinity;
  for (const score of scores) if (score > most) most = score;
  const weights = new Float64Array(scores.length);
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i] = Math.exp(scores[i] - most);
  for (let i = 0; i < weights.length; i++) weights[i] /= sum;
  return weights;
}

export function argmax(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/** A vector divided by the root of its mean square. */
export function rmsNorm(x) {
  const scale = 1 / Math.sqrt(dot(x, x) / x.length + 1e-6);
  const y = new Float64Array(x.length);
  for (let i = 0; i < y.length; i++) y[i] = scale * x[i];
  return y;
}

/** A layer norm with weights `gamma` and `beta`. */
export function layerNorm(layer, x) {
  const gamma = layer.get("gamma").data;
  const beta = layer.get("beta").data;
  const size = x.length;
  let mean = 0;
  for (let i = 0; i < size; i++) mean += x[i] / size;
  let variance = 0;
  for (let i = 0; i < size; i++) variance += (x[i] - mean) ** 2 / size;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  const y = new Float64Array(size);
  for (let i = 0; i < size; i++) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
  return y;
}

/** x Phi(x). The error function is that of Numerical Recipes, right to 1.2e-7 of its value. */
export function gelu(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + z / 2);
  const terms = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196];
  const sum = [...terms, 1.00002368, -1.26551223].reduce((total, term) => total * t + term, 0);
  const tail = (t * Math.exp(-z * z + sum)) / 2; // Phi(-|x|)
  return x * (x > 0 ? 1 - tail : tail);
}

/** The sinusoids of a position: sin(p w_0), cos(p w_0), sin(p w_1), ..., w_j = 10000^(-2j / size). */
export function sinusoid(position, size) {
  return Float64Array.from({ length: size }, (_, i) => {
    const angle = position * 10000 ** (-(i - (i % 2)) / size);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}
