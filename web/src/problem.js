// From the arrays that the server gave and the numbers that a person changed, the problem to
// compute.

/** @typedef {import("./types.js").Arrays} Arrays */
/** @typedef {import("./types.js").Edit} Edit */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./types.js").Problem} Problem */

/**
 * May the query in row i look at key j, by causal and window alone?
 * @param {Info["options"]} options
 * @param {number} offset
 * @param {number} i
 * @param {number} j
 */
function inSight(options, offset, i, j) {
  const ahead = j - (i + offset);
  if (options.causal && ahead > 0) return false;
  if (!options.window) return true;
  const [left, right] = options.window;
  return (left === null || -ahead <= left) && (right === null || ahead <= right);
}

/**
 * The numbers as they came, in the form that a person edits.
 * @param {Info} info
 * @param {Arrays} arrays
 * @returns {Edit}
 */
export function unedited(info, arrays) {
  return {
    tokens: info.tokens,
    key_tokens: info.key_tokens,
    query: arrays.query,
    key: arrays.key,
    value: arrays.value,
    row_from: info.tokens.map((_, i) => i),
    key_from: info.key_tokens.map((_, j) => j),
  };
}

/**
 * What hides a pair beside causal and window (a mask, lengths, a bias of -inf) follows its tokens;
 * causal and window are asked anew, since positions may have moved.
 * @param {Info} info
 * @param {Arrays} arrays
 * @param {Edit} edit
 * @param {boolean} scaled
 * @returns {Problem}
 */
export function problemOf(info, arrays, edit, scaled) {
  const offset = arrays.q_offset ?? 0;
  const { options } = info;
  const hiddenBefore = (/** @type {number} */ i, /** @type {number} */ j) =>
    i >= 0 && j >= 0 && !arrays.visible[i][j] && inSight(options, offset, i, j);
  const { row_from: rows, key_from: keys, tokens, key_tokens, query, key, value } = edit;
  const bias = arrays.bias;
  return {
    tokens,
    key_tokens,
    query,
    key,
    value,
    visible: rows.map((from, i) =>
      keys.map((was, j) => inSight(options, offset, i, j) && !hiddenBefore(from, was)),
    ),
    bias:
      bias && rows.map((from) => keys.map((was) => (from >= 0 && was >= 0 ? bias[from][was] : 0))),
    sink: arrays.sink,
    scale: scaled ? scaleOf(arrays, edit) : 1,
    softcap: arrays.softcap,
    q_offset: arrays.q_offset,
  };
}

/**
 * The default scale follows the number of dimensions; one that was chosen stays.
 * @param {Arrays} arrays
 * @param {Edit} edit
 */
function scaleOf(arrays, edit) {
  const before = arrays.query[0]?.length ?? 0;
  const now = edit.query[0]?.length ?? 0;
  return before !== now && isDefaultScale(arrays.scale, before) ? now ** -0.5 : arrays.scale;
}

/**
 * @param {number} scale
 * @param {number} head_dim
 */
export function isDefaultScale(scale, head_dim) {
  return head_dim > 0 && Math.abs(scale * Math.sqrt(head_dim) - 1) < 1e-12;
}

/**
 * Are queries and keys the same tokens, so that one table shows both?
 * @param {readonly string[]} tokens
 * @param {readonly string[]} key_tokens
 */
export function isPaired(tokens, key_tokens) {
  return tokens.length === key_tokens.length && tokens.every((token, i) => token === key_tokens[i]);
}
