// The answer beside the right one: which symbols are wrong is said in words and signs, not by colour alone.
import { h } from "./dom.js";

const MOST = 240; // symbols that are shown of an answer

/** Returns the symbols of an output. */
export const symbolsOf = (about, text) => (about.text.characters ? [...text] : text.split(" ").filter(Boolean));

/** Returns the index of the first wrong symbol, -1 where there is none; a missing or further one is wrong too. */
export function firstWrong(found, right) {
  const length = Math.max(found.length, right.length);
  for (let i = 0; i < length; i++) if (found[i] !== right[i]) return i;
  return -1;
}

/** Returns the elements that show an output, and whether it is right. */
export function verdict(about, text, right) {
  const found = symbolsOf(about, text);
  const expected = symbolsOf(about, right);
  const written = about.text.reversed_target ? [[...found].reverse(), [...expected].reverse()] : [found, expected];
  const wrong = firstWrong(...written);
  if (wrong < 0) return [h("p", {}, h("b", { class: "good" }, "✓ Right: "), marked(found, expected, about))];
  const single = expected.length === 1;
  const where = single
    ? ""
    : ` The first mistake is at symbol ${(wrong + 1).toLocaleString("en")} of ${expected.length.toLocaleString("en")}.`;
  return [
    h("p", {}, h("b", { class: "bad" }, "✗ Wrong: "), marked(found, expected, about)),
    h("p", {}, h("b", {}, "Right would be: "), marked(expected, expected, about), where),
  ];
}

/** Returns an output with its wrong symbols marked; of a long one the start, or the surroundings of a mistake. */
export function marked(found, right, about) {
  const shift = about.text.reversed_target ? right.length - found.length : 0; // sums are compared from their last digit
  const isWrong = (i) => found[i] !== right[i + shift];
  let from = 0;
  if (found.length > MOST) {
    const first = found.findIndex((_, i) => isWrong(i));
    from = Math.max(0, Math.min(first - MOST / 2, found.length - MOST));
  }
  const shown = found.slice(from, from + MOST);
  const between = about.text.characters ? "" : " ";
  const parts = [from > 0 ? "… " : ""];
  shown.forEach((symbol, i) => {
    if (isWrong(from + i)) parts.push(h("mark", {}, symbol), between);
    else parts.push(symbol + between);
  });
  if (from + MOST < found.length) parts.push(` … (${found.length.toLocaleString("en")} symbols)`);
  if (!found.length) parts.push("nothing");
  return h("span", { class: "output" }, parts);
}
