// What the server has told us, kept: each question is asked once.
import { HostError } from "./host_error.js";

/** @typedef {import("./types.js").Host} Host */
/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */
/** @typedef {import("./types.js").Arrays} Arrays */
/** @typedef {import("./types.js").State} State */
/** @typedef {{weights: number[][], visible: boolean[][]}} Weights */
/** @typedef {Record<string, string>} Args */
/** @typedef {Pick<State, "capture" | "stage" | "batch" | "head">} Place */

/**
 * @typedef {object} Answer
 * @property {any} json
 * @property {Uint8Array | null} bytes
 * @property {string} [refused]  the sentence that came instead
 * @property {number} [took]  seconds until it came, of all its steps together
 */

const NUMERIC = new Set([
  ...["trace", "arrays", "weights", "overview", "facts", "everywhere", "strongest", "head"],
]);
const TEXTS = new Set(["token", "tokens", "key_tokens", "what", "backend"]);
const SHOWN = new Set(["overview", "grid", "facts", "everywhere", "strongest", "head"]); // refusals stand where answers would
const STEPPED = new Set(["head"]); // each answer tells how far it is: asked again until it is whole
const MOST = 2 ** 27; // bytes of grids that are kept
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
 * @property {(place: Place, row: number) => LedgerRecord | undefined} record
 * @property {(place: Place) => Arrays | undefined} arrays
 * @property {(place: Place, rows: number[], keys: number[]) => Weights | undefined} weights
 * @property {(op: string, args: Args) => Answer | undefined} answer
 * @property {(op: string, args: Args) => boolean} has  the whole answer
 * @property {(op: string, args: Args) => boolean} asking  the answer is on its way
 * @property {(op: string, args: Args) => Promise<void>} need
 * @property {(op: string, args: Args) => Promise<any>} ask  not kept
 * @property {(op: string, args: Args) => Promise<Answer>} call  not kept, and as it came
 * @property {<T>(from: object, name: string, make: () => T) => T} made  what is worked out of an answer, once
 */

/** @param {string} op @param {Args} args */
const address = (op, args) => `${op}?${new URLSearchParams(args)}`;

/** @param {Host} host @param {number} top @returns {Source} */
export function createSource(host, top) {
  /** @type {Map<string, Answer>} */
  const known = new Map();
  /** @type {Map<string, Promise<void>>} */
  const asked = new Map();
  const answered = async (/** @type {string} */ op, /** @type {Args} */ args) => {
    const { json, bytes } = await host.call(op, args);
    return { json: NUMERIC.has(op) ? revive(json) : json, bytes };
  };
  const json = (/** @type {string} */ op, /** @type {Args} */ args) =>
    known.get(address(op, args))?.json;
  return {
    record: (place, row) => json("trace", traceArgs(place, row, top)),
    arrays: (place) => json("arrays", headArgs(place)),
    weights: (place, rows, keys) => json("weights", weightArgs(place, rows, keys)),
    answer: (op, args) => known.get(address(op, args)),
    ask: async (op, args) => (await answered(op, args)).json,
    call: (op, args) => host.call(op, args),
    has: (op, args) => isWhole(op, known.get(address(op, args))),
    made: maker(),
    asking: (op, args) => asked.has(address(op, args)),
    need(op, args) {
      const name = address(op, args);
      const before = known.get(name);
      if (isWhole(op, before)) return Promise.resolve();
      const begun = performance.now();
      const took = () => (before?.took ?? 0) + (performance.now() - begun) / 1000;
      const running =
        asked.get(name) ??
        answered(op, args)
          .catch((error) => refusal(op, error))
          .then((answer) => keep(known, name, { ...answer, took: took() }))
          .finally(() => asked.delete(name));
      asked.set(name, running);
      return running;
    },
  };
}

/** @param {string} op @param {Answer | undefined} answer */
const isWhole = (op, answer) =>
  answer !== undefined && !(STEPPED.has(op) && answer.json && answer.json.done < answer.json.of);

/** @returns {Source["made"]} */
function maker() {
  /** @type {WeakMap<object, Map<string, any>>} */
  const worked = new WeakMap();
  return (from, name, make) => {
    const there = worked.get(from) ?? new Map();
    worked.set(from, there);
    if (!there.has(name)) there.set(name, make());
    return there.get(name);
  };
}

/** @param {string} op @param {unknown} error @returns {Answer} */
function refusal(op, error) {
  if (SHOWN.has(op) && error instanceof HostError && error.kind === "refused")
    return { json: null, bytes: null, refused: error.sentence };
  throw error;
}

/**
 * Grids are large: the oldest ones are forgotten.
 * @param {Map<string, Answer>} known
 * @param {string} name
 * @param {Answer} answer
 */
function keep(known, name, answer) {
  known.set(name, answer);
  const sizes = [...known].map(([, { bytes }]) => bytes?.byteLength ?? 0);
  let total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= MOST) return;
  for (const [old, { bytes }] of [...known]) {
    if (total <= MOST / 2 || old === name) break;
    if (!bytes || !old.startsWith("grid?")) continue;
    known.delete(old);
    total -= bytes.byteLength;
  }
}

/** @param {Place} place @returns {Args} */
export const headArgs = ({ capture, stage, batch, head }) => ({
  capture: capture.capture,
  layer: String(stage),
  batch: String(batch),
  head: String(head),
});

/** @param {Place} place @param {number} row @param {number} top @returns {Args} */
export const traceArgs = (place, row, top) => ({
  ...headArgs(place),
  row: String(row),
  top: String(top),
});

/** @param {Place} place @param {number[]} rows @param {number[]} keys @returns {Args} */
export const weightArgs = (place, rows, keys) => ({
  ...headArgs(place),
  rows: rows.join(","),
  keys: keys.join(","),
});
