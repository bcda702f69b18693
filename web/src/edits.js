// Changes to q, k, v and their tokens. Each takes an Edit and gives a new one; nothing is changed
// in place.

/** @typedef {import("./types.js").Edit} Edit */
/** @typedef {import("./types.js").Side} Side */

/**
 * @template T
 * @param {readonly T[]} items
 * @param {number} index
 * @param {T} item
 */
const replaced = (items, index, item) => items.map((old, i) => (i === index ? item : old));

/**
 * @template T
 * @param {readonly T[]} items
 * @param {number} index
 */
const without = (items, index) => items.filter((_, i) => i !== index);

/**
 * @param {Edit} edit
 * @param {import("./types.js").Spot} spot
 * @param {number} number
 * @returns {Edit}
 */
export function setNumber(edit, { side, row, col }, number) {
  return { ...edit, [side]: replaced(edit[side], row, replaced(edit[side][row], col, number)) };
}

/**
 * @param {Edit} edit
 * @param {boolean} paired
 * @param {Side} side
 * @param {number} index
 * @param {string} name
 * @returns {Edit}
 */
export function rename(edit, paired, side, index, name) {
  const asQuery = paired || side === "query";
  const asKey = paired || side !== "query";
  return {
    ...edit,
    tokens: asQuery ? replaced(edit.tokens, index, name) : edit.tokens,
    key_tokens: asKey ? replaced(edit.key_tokens, index, name) : edit.key_tokens,
  };
}

/**
 * A name that no token has yet: the next number.
 * @param {readonly string[]} tokens
 */
function freshName(tokens) {
  let number = tokens.length + 1;
  while (tokens.includes(String(number))) number++;
  return String(number);
}

/**
 * Add a token of zeros at the end.
 * @param {Edit} edit
 * @param {boolean} paired
 * @param {Side} side
 * @returns {Edit}
 */
export function addToken(edit, paired, side) {
  const zeros = (/** @type {number[][]} */ rows) => [...rows, (rows[0] ?? []).map(() => 0)];
  let next = edit;
  if (paired || side === "query") {
    const tokens = [...edit.tokens, freshName(edit.tokens)];
    next = { ...next, tokens, query: zeros(edit.query), row_from: [...edit.row_from, -1] };
  }
  if (paired || side !== "query") {
    const key_tokens = [...edit.key_tokens, freshName(edit.key_tokens)];
    const key_from = [...edit.key_from, -1];
    next = { ...next, key_tokens, key: zeros(edit.key), value: zeros(edit.value), key_from };
  }
  return next;
}

/**
 * @param {Edit} edit
 * @param {boolean} paired
 * @param {Side} side
 * @param {number} index
 * @returns {Edit}
 */
export function removeToken(edit, paired, side, index) {
  let next = edit;
  if (paired || side === "query") {
    next = {
      ...next,
      tokens: without(edit.tokens, index),
      query: without(edit.query, index),
      row_from: without(edit.row_from, index),
    };
  }
  if (paired || side !== "query") {
    next = {
      ...next,
      key_tokens: without(edit.key_tokens, index),
      key: without(edit.key, index),
      value: without(edit.value, index),
      key_from: without(edit.key_from, index),
    };
  }
  return next;
}

/**
 * Queries and keys share their dimensions; values have their own.
 * @param {Edit} edit
 * @param {"head_dim" | "value_dim"} which
 * @param {1 | -1} change
 * @returns {Edit}
 */
export function changeDimension(edit, which, change) {
  const resize = (/** @type {number[][]} */ rows) =>
    rows.map((row) => (change === 1 ? [...row, 0] : row.slice(0, -1)));
  if (which === "value_dim") return { ...edit, value: resize(edit.value) };
  return { ...edit, query: resize(edit.query), key: resize(edit.key) };
}
