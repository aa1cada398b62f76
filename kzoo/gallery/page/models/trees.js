// Expressions as trees, with the value of every part, and the column at which a model is to know it.
import { InputError } from "./texts.js";

/**
 * Returns the tree of an expression's tokens. A node has `label`, the tokens `from` and `to`, `value`, `children`, and
 * `column`: the token at which training asks for its value, or none; see `intermediate` in tasks/.
 */
export function parse(words, about) {
  const reader = READERS[about.task.name];
  const state = { words, at: 0, tables: about.task.tables };
  const tree = reader(state);
  if (!tree || state.at !== words.length) {
    throw new InputError(`An input is ${about.form}, for example ${about.examples[0].source}`);
  }
  return tree;
}

const READERS = {
  arithmetic,
  listops,
  modular_arithmetic: modular,
  solve_equation: modular, // of one side, with a number for x
  ctl_forward: composition,
};

/** All nodes that are operations, the inner ones first. */
export function operations(tree) {
  return tree.children.length ? [...tree.children.flatMap(operations), tree] : [];
}

function leaf(state) {
  const from = state.at;
  const word = state.words[state.at++];
  return /^\d$/.test(word ?? "") ? { label: word, from, to: from, value: Number(word), children: [] } : null;
}

/** A digit, or ( a operator b ), modulo 10; the value is asked for at the closing bracket. */
function arithmetic(state) {
  if (state.words[state.at] !== "(") return leaf(state);
  const from = state.at++;
  const first = arithmetic(state);
  const operator = state.words[state.at++];
  const second = first && arithmetic(state);
  if (!second || !"+*".includes(operator ?? "?") || state.words[state.at++] !== ")") return null;
  const [a, b] = [first.value, second.value];
  const to = state.at - 1;
  return {
    label: operator,
    from,
    to,
    column: to,
    value: (operator === "+" ? a + b : a * b) % 10,
    children: [first, second],
  };
}

const MODULAR = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b };

/** A number with or without a minus, ( a ), or ( a operator b ), modulo 5; what is in brackets may be long and deep. */
function modular(state) {
  const from = state.at;
  const word = state.words[state.at++];
  if (word === "-") {
    const number = leaf(state);
    return number && { ...number, label: `-${number.label}`, from, value: (5 - number.value) % 5 };
  }
  if (word !== "(") {
    state.at--;
    return leaf(state);
  }
  const first = modular(state);
  if (first && state.words[state.at] === ")") return { ...first, from, to: state.at++ };
  const operator = state.words[state.at++];
  const second = first && MODULAR[operator] && modular(state);
  if (!second || state.words[state.at++] !== ")") return null;
  const value = (MODULAR[operator](first.value, second.value) + 25) % 5;
  return { label: operator, from, to: state.at - 1, value, children: [first, second] };
}

const LISTS = {
  "[MAX": (values) => Math.max(...values),
  "[MIN": (values) => Math.min(...values),
  "[SM": (values) => values.reduce((sum, value) => sum + value) % 10,
  "[MED": (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    return Math.floor((sorted[(values.length - 1) >> 1] + sorted[values.length >> 1]) / 2);
  },
};

/** A digit, or [OP a b ... ]; the value is asked for at the opening token. */
function listops(state) {
  const operation = LISTS[state.words[state.at]];
  if (!operation) return leaf(state);
  const from = state.at++;
  const children = [];
  while (state.at < state.words.length && state.words[state.at] !== "]") {
    const child = listops(state);
    if (!child) return null;
    children.push(child);
  }
  if (state.words[state.at++] !== "]" || !children.length) return null;
  const value = operation(children.map((child) => child.value));
  return { label: state.words[from].slice(1), from, to: state.at - 1, column: from, value, children };
}

/** A code and the functions that are applied to it, one after another; no value within is asked for in training. */
function composition(state) {
  const code = state.words[state.at];
  if (!/^[01]{3}$/.test(code ?? "")) return null;
  let tree = { label: code, from: 0, to: state.at++, value: code, children: [] };
  while (state.at < state.words.length) {
    const table = state.tables[state.words[state.at]];
    if (!table) return null;
    const value = table[parseInt(tree.value, 2)].toString(2).padStart(3, "0");
    tree = { label: state.words[state.at], from: 0, to: state.at, column: state.at, value, children: [tree] };
    state.at++;
  }
  return tree.children.length ? tree : null;
}
