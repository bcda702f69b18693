// Words of the lesson, with d_k written as it is spoken of: a letter and its index; and with the
// page's minus sign.
import { h } from "./dom.js";
import { withMinus } from "./numbers.js";

/**
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function prose(text) {
  return withMinus(text).split(/(?<=d)_([kv])\b/).map((part, i) => (i % 2 ? h("sub", {}, part) : part));
}
