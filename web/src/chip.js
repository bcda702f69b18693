// A token as it is shown everywhere: its text spelt out, its colour, and its position where the
// text alone would not tell it from another.
import { COLORS, colorClass } from "./color.js";
import { h } from "./dom.js";
import { breadth } from "./numbers.js";
import { readable } from "./readable.js";

const LONGEST = 18; // characters of a token that a chip shows

/** A token's text, spelt out and not too long.  @param {string} token */
export function shortName(token) {
  const characters = [...readable(token)];
  return characters.length > LONGEST
    ? `${characters.slice(0, LONGEST - 1).join("")}…`
    : characters.join("");
}

/**
 * @param {readonly string[]} tokens
 * @param {number} index
 */
function needsPosition(tokens, index) {
  const token = tokens[index];
  if (token === String(index)) return false;
  return tokens.indexOf(token) !== tokens.lastIndexOf(token);
}

/**
 * The token's name in a sentence.
 * @param {readonly string[]} tokens
 * @param {number} index
 */
export function tokenName(tokens, index) {
  const text = shortName(tokens[index]);
  return needsPosition(tokens, index) ? `${text} @${index}` : text;
}

/**
 * About how many digits wide a chip's words are.
 * @param {readonly string[]} tokens
 * @param {number} index
 */
export const chipBreadth = (tokens, index) => breadth(tokenName(tokens, index));

/**
 * @param {readonly string[]} tokens
 * @param {number} index
 * @param {import("./dom.js").Props} [props]
 */
export function chip(tokens, index, props = {}) {
  const kind = tokens.length > COLORS && index >= COLORS ? "later" : "";
  const parts = [h("bdi", {}, shortName(tokens[index]))];
  if (needsPosition(tokens, index)) parts.push(h("small", {}, `@${index}`));
  const tag = props["data-act"] ? "button" : "span";
  const type = tag === "button" ? "button" : null;
  return h(
    tag,
    { type, class: `chip ${colorClass(index)} ${kind}`, title: readable(tokens[index]), ...props },
    parts,
  );
}
