// The lookup of one query, step by step, in float64: the record that op `trace` answers, computed
// here once a person has changed a number. tests/browser holds the two together within 1e-12.

/** @typedef {import("./types.js").Problem} Problem */
/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */

/** @param {readonly number[]} numbers */
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
function dot(a, b) {
  let total = 0;
  for (let d = 0; d < a.length; d++) total += a[d] * b[d];
  return total;
}

/**
 * @param {readonly number[][]} vectors
 * @param {number} size
 */
function sumVectors(vectors, size) {
  return Array.from({ length: size }, (_, d) => sum(vectors.map((vector) => vector[d])));
}

/**
 * The scores of one query against every key: before softmax.
 * @param {Problem} problem
 * @param {number} row
 */
function scoresOf(problem, row) {
  const { softcap } = problem;
  const products = problem.key.map((key) => dot(problem.query[row], key));
  const scaled = products.map((product) => problem.scale * product);
  const capped = softcap === null ? null : scaled.map((x) => softcap * Math.tanh(x / softcap));
  const bias = problem.bias ? problem.bias[row].slice() : null;
  const scores = (capped ?? scaled).map((x, j) => (bias ? x + bias[j] : x));
  return { products, scaled, capped, bias, scores };
}

/**
 * Softmax over the visible keys and the sink, in both readings.
 * @param {readonly number[]} scores
 * @param {readonly boolean[]} visible
 * @param {number | null} sink
 */
function softmax(scores, visible, sink) {
  const seen = scores.filter((_, j) => visible[j]);
  const row_max = seen.reduce((most, x) => Math.max(most, x), sink ?? -Infinity);
  const shift = row_max === -Infinity ? 0 : row_max; // -Infinity - -Infinity is NaN
  const exp = scores.map((x, j) => (visible[j] ? Math.exp(x) : 0));
  const shifted_exp = scores.map((x, j) => (visible[j] ? Math.exp(x - shift) : 0));
  const own = sink === null ? null : { exp: Math.exp(sink), shifted_exp: Math.exp(sink - shift) };
  const row_sum = sum(shifted_exp) + (own ? own.shifted_exp : 0);
  const share = seen.length ? (own?.shifted_exp ?? 0) / row_sum : 1; // what nobody reads is the sink's
  return {
    exp,
    exp_sum: sum(exp) + (own ? own.exp : 0),
    row_max,
    shifted_exp,
    row_sum,
    weights: shifted_exp.map((part, j) => (visible[j] ? part / row_sum : 0)),
    sink: own && sink !== null ? { logit: sink, ...own, weight: share } : null,
    lse: seen.length ? row_max + Math.log(row_sum) : row_max,
  };
}

/**
 * What one query reads of every key: its scores, and softmax of them.
 * @param {Problem} problem
 * @param {number} row
 */
export function readRow(problem, row) {
  const before = scoresOf(problem, row);
  return { ...before, ...softmax(before.scores, problem.visible[row], problem.sink) };
}

/**
 * The positions of the `top` largest visible scores, ascending: ties go to the lower index, NaN
 * comes last.
 * @param {readonly number[]} scores
 * @param {readonly boolean[]} visible
 * @param {number} top
 */
function largest(scores, visible, top) {
  const all = scores.map((_, j) => j);
  if (top >= all.length) return all;
  const numbers = all.filter((j) => visible[j] && !Number.isNaN(scores[j]));
  const others = all.filter((j) => visible[j] && Number.isNaN(scores[j]));
  numbers.sort((a, b) => (scores[b] > scores[a] ? 1 : scores[b] < scores[a] ? -1 : a - b));
  return [...numbers, ...others].slice(0, top).sort((a, b) => a - b);
}

/**
 * Every step of one row, as op `trace` answers it.
 * @param {Problem} problem
 * @param {number} row
 * @param {number} [top] how many keys are listed; the others are summed in `rest`
 * @returns {LedgerRecord}
 */
export function traceRow(problem, row, top = problem.key.length) {
  const visible = problem.visible[row];
  const read = readRow(problem, row);
  const value = problem.value;
  const contributions =
    value && value.map((v, j) => v.map((x) => (visible[j] ? read.weights[j] * x : 0)));
  const size = value && value.length ? value[0].length : (problem.value_dim ?? 0);
  const whole = {
    ...read,
    visible,
    contributions,
    key: problem.key,
    value,
    key_tokens: problem.key_tokens,
  };
  const keys = largest(read.scores, visible, top);
  return {
    ...pick(whole, keys),
    row,
    token: problem.tokens[row],
    position: problem.q_offset === null ? null : row + problem.q_offset,
    query: problem.query[row],
    keys,
    weights_sum: sum(read.weights),
    out: contributions && sumVectors(contributions, size),
    scale: problem.scale,
    softcap: problem.softcap,
    visible_count: visible.filter(Boolean).length,
    rest: restOf(whole, keys, size),
  };
}

/**
 * @typedef {Omit<LedgerRecord, "row" | "token" | "position" | "query" | "keys" | "weights_sum" | "out" |
 *   "scale" | "softcap" | "visible_count" | "rest">} Whole
 */

/**
 * @param {Whole} whole
 * @param {readonly number[]} keys
 * @returns {Whole}
 */
function pick(whole, keys) {
  /** @template T @param {readonly T[]} items */
  const at = (items) => keys.map((j) => items[j]);
  return {
    ...whole,
    key: at(whole.key),
    value: whole.value && at(whole.value),
    key_tokens: at(whole.key_tokens),
    visible: at(whole.visible),
    products: at(whole.products),
    scaled: at(whole.scaled),
    capped: whole.capped && at(whole.capped),
    bias: whole.bias && at(whole.bias),
    scores: at(whole.scores),
    exp: at(whole.exp),
    shifted_exp: at(whole.shifted_exp),
    weights: at(whole.weights),
    contributions: whole.contributions && at(whole.contributions),
  };
}

/**
 * @param {Whole} whole
 * @param {readonly number[]} keys
 * @param {number} size
 * @returns {import("./types.js").Rest | null}
 */
function restOf(whole, keys, size) {
  const shown = new Set(keys);
  const others = whole.scores.map((_, j) => j).filter((j) => !shown.has(j));
  if (!others.length) return null;
  /** @param {readonly number[]} numbers */
  const total = (numbers) => sum(others.map((j) => numbers[j]));
  const parts = whole.contributions;
  return {
    count: others.length,
    visible: others.filter((j) => whole.visible[j]).length,
    exp: total(whole.exp),
    shifted_exp: total(whole.shifted_exp),
    weight: total(whole.weights),
    contribution:
      parts &&
      sumVectors(
        others.map((j) => parts[j]),
        size,
      ),
  };
}
