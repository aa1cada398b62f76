// How a text becomes ids and ids a text, by the rule that `kzoo export` writes; see kzoo/exporting/reader.py. What
// cannot be read is refused with a sentence.

export class InputError extends Error {}

/** The most tokens that the page takes of a source: more take too long to draw. */
export const MOST = 2_100;

/** Returns the tokens of a text, as the preset's task writes them. */
export function wordsOf(text, about) {
  const rule = about.text;
  const words = rule.characters ? [...text.replace(/\s+/g, "")] : text.split(/\s+/).filter(Boolean);
  if (!words.length)
    throw new InputError(`Nothing to read yet: type ${about.form}, for example ${about.examples[0].source}`);
  if (words.length > MOST) {
    const number = words.length.toLocaleString("en");
    throw new InputError(`That is ${number} tokens; this page takes up to ${MOST.toLocaleString("en")}.`);
  }
  const known = about.tokens.slice(0, about.start_id);
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    const shown = unknown.length > 20 ? `${unknown.slice(0, 20)}…` : unknown;
    throw new InputError(
      `“${shown}” is no token of this model. It reads ${listed(known)}${rule.characters ? "" : ", with spaces between"}.`,
    );
  }
  return words;
}

/** Returns the ids that the model reads. */
export function toIds(text, about) {
  const rule = about.text;
  let words = wordsOf(text, about);
  if (rule.number) words = filledUp(words, about);
  return [...rule.prefix, ...words.map((word) => about.tokens.indexOf(word)), ...rule.suffix];
}

/** Zeros stand before each operand, so that both have as many digits. */
function filledUp(words, about) {
  const { operator, zeros, digits } = about.text.number;
  const parts = words.join("").split(operator);
  if (parts.length !== 2 || !parts.every(Boolean)) {
    throw new InputError(`An input is ${about.form}, for example ${about.examples[0].source}`);
  }
  const width = Math.max(digits, zeros + Math.max(...parts.map((part) => part.length)));
  return [...parts.map((part) => part.padStart(width, "0")).join(operator)];
}

/** Returns the text of the ids that a model wrote. */
export function toText(ids, about) {
  const rule = about.text;
  const end = ids.indexOf(about.end_id);
  const words = (end < 0 ? ids : ids.slice(0, end)).filter((id) => id < about.start_id).map((id) => about.tokens[id]);
  const text = (rule.reversed_target ? words.reverse() : words).join(rule.characters ? "" : " ");
  return rule.number && text ? text.replace(/^0+(?=.)/, "") : text;
}

/** Returns the most tokens that a model writes for an encoded source. */
export function limitOf(ids, about) {
  if (about.text.number) return (ids.length - 3) / 2 + 1;
  const tokens = ids.length - (ids[ids.length - 1] === about.start_id ? 1 : 0);
  if (!about.target_steps) return 10 * ids.length + 10;
  const [factor, number] = about.target_steps;
  return Math.max(1, Math.round(factor * tokens) + number);
}

/** "0 to 9", "1 to 100", or the tokens themselves. */
function listed(tokens) {
  const numbers = tokens.filter((token) => /^\d{1,2}$|^100$/.test(token));
  const others = tokens.filter((token) => !numbers.includes(token));
  const range = numbers.length > 3 ? [`${numbers[0]} to ${numbers[numbers.length - 1]}`] : numbers;
  const words = [...range, ...others.map((token) => `“${token}”`)];
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}` : words[0];
}
