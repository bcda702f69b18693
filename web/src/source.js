// What the server has told us, kept: records, arrays and weights, each asked for once.

/** @typedef {import("./types.js").Host} Host */
/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */
/** @typedef {import("./types.js").Arrays} Arrays */
/** @typedef {{weights: number[][], visible: boolean[][]}} Weights */

const NUMERIC = new Set(["trace", "arrays", "weights"]);
const TEXTS = new Set(["token", "tokens", "key_tokens"]);
/** @type {Record<string, number>} */
const UNUSUAL = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };

/**
 * JSON has no NaN and no infinities: they come as texts, and become numbers again everywhere but
 * in tokens.
 * @param {any} value
 * @returns {any}
 */
export function revive(value) {
  if (typeof value === "string") return value in UNUSUAL ? UNUSUAL[value] : value;
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, TEXTS.has(name) ? item : revive(item)]),
  );
}

/**
 * @typedef {object} Source
 * @property {(batch: number, head: number, row: number) => LedgerRecord | undefined} record
 * @property {(batch: number, head: number) => Arrays | undefined} arrays
 * @property {(batch: number, head: number, rows: number[], keys: number[]) => Weights | undefined} weights
 * @property {(op: string, args: Record<string, string>) => boolean} has
 * @property {(op: string, args: Record<string, string>) => Promise<void>} need
 * @property {(op: string, args: Record<string, string>) => Promise<any>} ask  not kept
 */

/** @param {string} op @param {Record<string, string>} args */
const address = (op, args) => `${op}?${new URLSearchParams(args)}`;

/** @param {Host} host @param {number} top @returns {Source} */
export function createSource(host, top) {
  /** @type {Map<string, any>} */
  const known = new Map();
  /** @type {Map<string, Promise<void>>} */
  const asked = new Map();
  const ask = async (/** @type {string} */ op, /** @type {Record<string, string>} */ args) => {
    const { json } = await host.call(op, args);
    return NUMERIC.has(op) ? revive(json) : json;
  };
  return {
    record: (batch, head, row) => known.get(address("trace", traceArgs(batch, head, row, top))),
    arrays: (batch, head) => known.get(address("arrays", headArgs(batch, head))),
    weights: (batch, head, rows, keys) =>
      known.get(address("weights", weightArgs(batch, head, rows, keys))),
    ask,
    has: (op, args) => known.has(address(op, args)),
    need(op, args) {
      const name = address(op, args);
      if (known.has(name)) return Promise.resolve();
      const running =
        asked.get(name) ??
        ask(op, args)
          .then((answer) => void known.set(name, answer))
          .finally(() => asked.delete(name));
      asked.set(name, running);
      return running;
    },
  };
}

/** @param {number} batch @param {number} head */
export const headArgs = (batch, head) => ({ batch: String(batch), head: String(head) });

/** @param {number} batch @param {number} head @param {number} row @param {number} top */
export const traceArgs = (batch, head, row, top) => ({
  ...headArgs(batch, head),
  row: String(row),
  top: String(top),
});

/** @param {number} batch @param {number} head @param {number[]} rows @param {number[]} keys */
export const weightArgs = (batch, head, rows, keys) => ({
  ...headArgs(batch, head),
  rows: rows.join(","),
  keys: keys.join(","),
});
