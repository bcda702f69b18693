// A token as it is shown everywhere: its text spelt out, its colour, and its position where texts
// or colours alone would not tell it from another.
import { COLORS, colorClass } from "./color.js";
import { h } from "./dom.js";
import { count } from "./numbers.js";
import { readable } from "./readable.js";

const LONGEST = 18; // characters of a token that a chip shows

/** @param {string} token */
function shortened(token) {
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
  return (
    tokens.length > COLORS ||
    tokens.indexOf(tokens[index]) !== index ||
    tokens.lastIndexOf(tokens[index]) !== index
  );
}

/**
 * The token's name in a sentence.
 * @param {readonly string[]} tokens
 * @param {number} index
 */
export function tokenName(tokens, index) {
  const text = shortened(tokens[index]);
  return needsPosition(tokens, index) ? `${text} (@${count(index)})` : text;
}

/**
 * @param {readonly string[]} tokens
 * @param {number} index
 * @param {import("./dom.js").Props} [props]
 */
export function chip(tokens, index, props = {}) {
  const kind = tokens.length > COLORS && index >= COLORS ? "later" : "";
  const parts = [h("bdi", {}, shortened(tokens[index]))];
  if (needsPosition(tokens, index)) parts.push(h("small", {}, String(index)));
  const tag = props["data-act"] ? "button" : "span";
  const type = tag === "button" ? "button" : null;
  return h(
    tag,
    { type, class: `chip ${colorClass(index)} ${kind}`, title: readable(tokens[index]), ...props },
    parts,
  );
}
