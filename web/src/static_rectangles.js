// Exact rectangles of weights, float64: single heads, means, words. viewer/rectangles.py says the
// same in NumPy.
import { readRow } from "./arithmetic.js";
import { refuse } from "./static_arguments.js";

/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {import("./static_data.js").Place} Place */
/** @typedef {import("./static_data.js").Words} Words */

/**
 * @typedef {object} Rectangle  both of rows x keys numbers, row by row
 * @property {number} rows
 * @property {number} keys
 * @property {Float64Array} weights
 * @property {Uint8Array} visible  1 where any head sees the pair
 * @property {Float64Array | null} sink  the share of each row's sink; null where no head has one
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
 * The mean of some rows and keys of heads of one size; of one head each row is as in its trace.
 * @param {Opened} file
 * @param {Place[]} places
 * @param {number[]} rows
 * @param {number[]} keys
 * @returns {Promise<Rectangle>}
 */
export async function exact(file, places, rows, keys) {
  const { layers } = file.data.info;
  checkWork(rows.length, layers[places[0].layer].sizes.kv_len, places.length);
  const sinks = places.some((place) => file.data.layers[place.layer].sinks !== null);
  const part = blank(rows.length, keys.length, sinks); // one sum: many heads need the room of one
  const pause = pacer();
  for (const place of places) {
    const head = file.head(place);
    for (const [i, row] of rows.entries()) {
      const problem = head.row(row);
      const { weights, sink } = readRow(problem, row);
      const sees = problem.visible[row];
      keys.forEach((key, j) => {
        part.weights[i * keys.length + j] += weights[key];
        part.visible[i * keys.length + j] |= Number(sees[key]);
      });
      if (part.sink && sink) part.sink[i] += sink.weight; // without one nothing is missing
      await pause();
    }
  }
  const mean = (/** @type {Float64Array} */ sums) => sums.map((sum) => sum / places.length);
  return { ...part, weights: mean(part.weights), sink: part.sink && mean(part.sink) };
}

/** Whole rows are worked out, of every head.
 * @param {number} rows
 * @param {number} keys
 * @param {number} heads
 */
function checkWork(rows, keys, heads) {
  const work = rows * keys * heads;
  if (work <= MOST_WORK) return;
  const [most, r, k, n, all] = [MOST_WORK, rows, keys, heads, work].map((x) =>
    x.toLocaleString("en"),
  );
  const several = heads > 1 ? ` in ${n} heads` : "";
  refuse(
    "rows",
    `must take at most ${most} weights to work out; ${r} rows of ${k} keys${several} take ` +
      `${all}. Ask for fewer rows.`,
  );
}

/** @param {number} rows @param {number} keys @param {boolean} sinks @returns {Rectangle} */
function blank(rows, keys, sinks) {
  const cells = rows * keys;
  return {
    rows,
    keys,
    weights: new Float64Array(cells),
    visible: new Uint8Array(cells),
    sink: sinks ? new Float64Array(rows) : null,
  };
}

/**
 * A rectangle of words: summed over a key word's tokens, averaged over a query word's.
 * @param {Rectangle} part
 * @param {Words} queries
 * @param {Words} keys
 * @returns {Rectangle}
 */
export function byWords(part, queries, keys) {
  const whole = blank(queries.tokens.length, keys.tokens.length, part.sink !== null);
  queries.tokens.forEach((rows, q) => {
    if (whole.sink && part.sink)
      for (const i of rows) whole.sink[q] += part.sink[i] / rows.length;
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
