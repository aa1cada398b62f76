// The right answers, and random inputs of a length; the tasks themselves are in tasks/. What a task cannot read is
// refused with a sentence.
import { parse } from "./trees.js";
import { InputError, wordsOf } from "./texts.js";

const repeats = (digit) => 2 * Math.ceil(Math.max(0, Number(digit) - 3) / 3) + 1;
const DIGIT = "0123456789";

const SOLVERS = {
  copy: (words) => words,
  reverse_copy: (words) => [...words].reverse(),
  recopy: (words) => words.flatMap((digit) => Array(repeats(digit)).fill(digit)),
  dedupe: (words) => words.filter((digit, i) => digit !== words[i - 1]),
  posretrieve: (words) => words.flatMap((digit) => [digit, ":", words[Number(digit)] ?? "n/a", ";"]),
  lookup: (words, about) => applied(words.slice(0, -1), words, about),
  reverse_lookup: (words, about) => applied(words.slice(0, -1).reverse(), words, about),
  reverse_string: (words) => [...words].reverse(),
  duplicate_string: (words) => [...words, ...words],
  odds_first: (words) => [0, 1].flatMap((first) => words.filter((_, i) => i % 2 === first)),
  sorter: (words) => [...words].sort((a, b) => a - b),
  addition: (words, about) => {
    const [first, second, ...more] = words.join("").split(about.text.number.operator);
    if (!first || !second || more.length) refuse(about);
    return [...String(BigInt(first) + BigInt(second))];
  },
  arithmetic: (words, about) => [String(parse(words, about).value)],
  listops: (words, about) => [String(parse(words, about).value)],
  modular_arithmetic: (words, about) => [String(parse(words, about).value)],
  binary_multiplication: (words, about) => {
    const parts = words.join("").split("*");
    if (parts.length > 2 || !parts.every(Boolean)) refuse(about);
    const numbers = parts.map((part) => BigInt(`0b${[...part].reverse().join("")}`));
    return [...numbers.reduce((a, b) => a * b).toString(2)].reverse();
  },
  solve_equation: (words, about) => [solution(words, about)],
  ctl_forward: (words, about) => [parse(words, about).value],
};

/** Returns the right answer to a text, as the task writes it. */
export function solve(text, about) {
  const words = wordsOf(text, about);
  return SOLVERS[about.task.name](words, about).join(about.text.characters ? "" : " ");
}

/** Returns the number that x is in an equation: an expression with one x, = and a number. */
function solution(words, about) {
  const left = words.slice(0, -2);
  const [sign, right] = words.slice(-2);
  if (sign !== "=" || left.filter((word) => word === "x").length !== 1) refuse(about);
  const valueWith = (number) => parse(left.map((word) => (word === "x" ? number : word)), about).value;
  return [..."01234"].find((number) => String(valueWith(number)) === right) ?? refuse(about);
}

/** Returns the code that each table of a lookup gives, the first code included. */
function applied([code, ...tables], words, about) {
  const known = about.task.tables;
  const right =
    words[words.length - 1] === "." && /^[01]{3}$/.test(code ?? "") && tables.length && tables.every((t) => known[t]);
  if (!right) refuse(about);
  const results = [code];
  for (const table of tables) {
    const next = known[table][parseInt(results[results.length - 1], 2)];
    results.push(next.toString(2).padStart(3, "0"));
  }
  return results;
}

function refuse(about) {
  throw new InputError(`An input is ${about.form}, for example ${about.examples[0].source}`);
}

const pick = (list) => list[Math.floor(Math.random() * list.length)];
const digits = (n) => Array.from({ length: n }, () => pick(DIGIT));
/** A number of n digits, the first of which is no zero. */
const number = (n) => [pick(DIGIT.slice(1)), ...digits(n - 1)].join("");

/** A binary number of n bits, not all of which are 0. */
function bits(n) {
  const found = Array.from({ length: n }, () => pick("01"));
  return found.includes("1") ? found.join("") : bits(n);
}

/** Returns a random input of a length, counted as the task counts it; of trees, one of those in gallery.json. */
export function sample(length, about) {
  const task = about.task.name;
  if (task === "sorter") return Array.from({ length }, () => 1 + Math.floor(Math.random() * 100)).join(" ");
  if (["reverse_string", "duplicate_string", "odds_first"].includes(task))
    return Array.from({ length }, () => pick("01")).join("");
  if (task === "binary_multiplication") {
    const first = 1 + Math.floor(Math.random() * (length - 2));
    return `${bits(first)}*${bits(length - 1 - first)}`;
  }
  if (task === "addition") return `${number(length)}+${number(length)}`;
  if (about.task.tables) {
    // The last two tables never were composed in training.
    const tables = Object.keys(about.task.tables).slice(0, -2);
    const code = pick(about.tokens.filter((token) => /^[01]{3}$/.test(token)));
    if (task === "ctl_forward") return [code, ...Array.from({ length }, () => pick(tables))].join(" ");
    const program = [code, ...Array.from({ length: length - 2 }, () => pick(tables))];
    return [...(task === "lookup" ? program : program.reverse()), "."].join(" ");
  }
  if (task === "dedupe") {
    return digits(length)
      .flatMap((digit) => Array(1 + 2 * Math.floor(Math.random() * 3)).fill(digit))
      .join(" ");
  }
  if (["copy", "reverse_copy", "recopy", "posretrieve"].includes(task)) return digits(length).join(" ");
  return pick(about.examples.filter((example) => example.length === length)).source;
}
