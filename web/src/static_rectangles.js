// Exact rectangles of weights, float64: single heads, means, words. viewer/rectangles.py says the
// same in NumPy.
import { readRow } from "./arithmetic.js";
import { refuse } from "./static_arguments.js";

/** @typedef {import("./static_data.js").Head} Head */
/** @typedef {import("./static_data.js").Words} Words */

/**
 * @typedef {object} Rectangle  both of rows x keys numbers, row by row
 * @property {number} rows
 * @property {number} keys
 * @property {Float64Array} weights
 * @property {Uint8Array} visible
 */

const MOST_WORK = 2 ** 28; // weights that are worked out for one answer
const PATIENCE = 30; // milliseconds until the page may draw and listen again

/** What lets the page draw and listen from time to time, in a long computation. */
export function pacer() {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < PATIENCE) return;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  };
}

/**
 * The weights of some rows and keys of one head, each as in its trace.
 * @param {Head} head
 * @param {number[]} rows
 * @param {number[]} keys
 * @returns {Promise<Rectangle>}
 */
export async function exact(head, rows, keys) {
  const work = rows.length * head.kv_len;
  if (work > MOST_WORK) {
    const [most, now] = [MOST_WORK, work].map((n) => n.toLocaleString("en"));
    refuse("rows", `must take at most ${most} weights to work out; got ${now}. Ask for fewer.`);
  }
  const part = blank(rows.length, keys.length);
  const pause = pacer();
  for (const [i, row] of rows.entries()) {
    const problem = head.row(row);
    const { weights } = readRow(problem, row);
    const sees = problem.visible[row];
    keys.forEach((key, j) => {
      part.weights[i * keys.length + j] = weights[key];
      part.visible[i * keys.length + j] = Number(sees[key]);
    });
    await pause();
  }
  return part;
}

/** @param {number} rows @param {number} keys @returns {Rectangle} */
function blank(rows, keys) {
  const cells = rows * keys;
  return { rows, keys, weights: new Float64Array(cells), visible: new Uint8Array(cells) };
}

/**
 * The mean of rectangles of one shape; a pair is visible where any of them sees it.
 * @param {Rectangle[]} parts
 * @returns {Rectangle}
 */
export function mean(parts) {
  const whole = blank(parts[0].rows, parts[0].keys);
  for (const { weights, visible } of parts) {
    weights.forEach((weight, i) => (whole.weights[i] += weight));
    visible.forEach((sees, i) => (whole.visible[i] |= sees));
  }
  whole.weights.forEach((sum, i) => (whole.weights[i] = sum / parts.length));
  return whole;
}

/**
 * A rectangle of words: summed over a key word's tokens, averaged over a query word's.
 * @param {Rectangle} part
 * @param {Words} queries
 * @param {Words} keys
 * @returns {Rectangle}
 */
export function byWords(part, queries, keys) {
  const whole = blank(queries.tokens.length, keys.tokens.length);
  queries.tokens.forEach((rows, q) => {
    keys.tokens.forEach((columns, k) => {
      const at = q * whole.keys + k;
      for (const i of rows) {
        for (const j of columns) {
          whole.weights[at] += part.weights[i * part.keys + j] / rows.length;
          whole.visible[at] |= part.visible[i * part.keys + j];
        }
      }
    });
  });
  return whole;
}

/** Weights and visibility as op `grid` sends them.  @param {Rectangle} part */
export function bytesOf({ weights, visible }) {
  const bytes = new Uint8Array(weights.byteLength + visible.byteLength);
  bytes.set(new Uint8Array(weights.buffer), 0);
  bytes.set(visible, weights.byteLength);
  return bytes;
}
