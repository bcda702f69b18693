// How many keys a query may see by the rules of its head: what a mask hides is not counted.

/** @typedef {Pick<import("./types.js").State["info"], "options" | "sizes">} Rules */

/** @param {unknown} given  one number for all texts, or one for each @param {number} batch */
function numberOf(given, batch) {
  const one = Array.isArray(given) ? given[batch] : given;
  return typeof one === "number" ? one : null;
}

/**
 * @param {Rules} rules
 * @param {number} batch
 * @param {number} query
 */
export function keysSeen({ options, sizes }, batch, query) {
  const { causal, window } = options;
  const upTo = numberOf(options.kv_lens, batch) ?? sizes.kv_len;
  const offset = numberOf(options.q_offset, batch);
  if (offset === null) return upTo;
  const at = query + offset;
  const right = causal ? 0 : (window?.[1] ?? null);
  const left = window?.[0] ?? null;
  const first = left === null ? 0 : Math.max(0, at - left);
  return Math.max(0, (right === null ? upTo : Math.min(upTo, at + right + 1)) - first);
}
