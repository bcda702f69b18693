// The rows of one head in an exported file, read one after the other, and what each comes to.
import { readRow } from "./arithmetic.js";
import { isPadding } from "./capture_info.js";
import { pacer } from "./static_rectangles.js";

/** @typedef {import("./static_data.js").FileData} FileData */
/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {import("./static_data.js").Place} Place */

/**
 * @typedef {object} RowFacts  what one row comes to
 * @property {number} entropy
 * @property {number} sink
 * @property {number} max_score
 * @property {number} visible
 * @property {(key: number) => boolean} sees
 * @property {(key: number) => number} share  the weight of a key
 * @property {(key: number) => number} sum  its part of the whole, which is NaN in a row of NaN
 */

/** @param {number} length */
export const indices = (length) => Array.from({ length }, (_, i) => i);

/** @param {readonly number[]} numbers */
export const average = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

/**
 * Read a head row by row, and tell `seen` of each.
 * @param {Opened} file
 * @param {Place} place
 * @param {(row: number, weights: number[], sees: boolean[]) => void} seen
 * @returns {Promise<RowFacts[]>}
 */
export async function readHead(file, place, seen) {
  const head = file.head(place);
  const pause = pacer();
  const facts = [];
  for (const row of indices(head.q_len)) {
    const problem = head.row(row);
    const read = readRow(problem, row);
    const sees = problem.visible[row];
    seen(row, read.weights, sees);
    facts.push(factsOf(read, sees));
    await pause();
  }
  return facts;
}

/**
 * @param {ReturnType<typeof readRow>} read
 * @param {boolean[]} sees
 * @returns {RowFacts}
 */
function factsOf({ scores, weights, shifted_exp, row_sum, sink }, sees) {
  const visible = sees.filter(Boolean).length;
  const spoilt = visible > 0 && Number.isNaN(row_sum); // a visible NaN or +inf
  const peak = scores.reduce((most, x, j) => (sees[j] ? Math.max(most, x) : most), -Infinity);
  return {
    visible,
    entropy: entropyOf(weights),
    max_score: spoilt ? NaN : peak,
    sink: sink ? sink.weight : 0,
    sees: (key) => sees[key] ?? false,
    share: (key) => weights[key] ?? 0,
    sum: (key) => (visible > 0 ? shifted_exp[key] / row_sum : 0),
  };
}

/** In nats, what is 0 left out; NaN where a weight is.  @param {readonly number[]} weights */
export function entropyOf(weights) {
  const terms = weights.filter((w) => w !== 0).map((w) => w * Math.log(w));
  return terms.reduce((total, term) => total - term, 0);
}

/**
 * Which axis of the file stands along the queries, or along the keys, of a place.
 * @param {FileData} data
 * @param {Omit<Place, "head">} place
 * @param {"queries" | "keys"} side
 */
export function axisAt({ info }, { layer, batch }, side) {
  const axes = info.layers[layer][side];
  return axes[axes.length > 1 ? batch : 0];
}

/**
 * Which of its tokens are no padding.
 * @param {FileData} data
 * @param {number} axis
 */
export function realTokens({ info }, axis) {
  const { tokens, padding } = info.axes[axis];
  return tokens.map((_, at) => !isPadding(padding, at));
}

/**
 * The position of the first key that is no padding; their number if there is none.
 * @param {FileData} data
 * @param {Omit<Place, "head">} place
 */
export function firstReal(data, place) {
  const real = realTokens(data, axisAt(data, place, "keys"));
  return real.includes(true) ? real.indexOf(true) : real.length;
}
