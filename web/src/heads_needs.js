// What the heads view asks the server for, and how.

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").HeadAt} HeadAt */
/** @typedef {import("./types.js").Average} Average */
/** @typedef {import("./source.js").Args} Args */

/**
 * Which head, or which mean, of the open capture.
 * @param {State} state
 * @param {HeadAt} at
 * @param {Average} average
 * @returns {Args}
 */
export function headOrMean({ capture, batch }, { stage, head }, average) {
  const overLayers = average === "layers" || average === "both";
  const overHeads = average === "heads" || average === "both";
  return {
    capture: capture.capture,
    batch: String(batch),
    layer: overLayers ? "mean" : String(stage),
    head: overHeads ? "mean" : String(head),
    ...(overLayers ? { like: String(stage) } : {}),
  };
}

/** @param {number} start @param {number} stop */
export const span = (start, stop) => `${start}:${stop}`;

/** @param {State} state @param {number} stage @returns {Args} */
export const overviewArgs = ({ capture, batch }, stage) => ({
  capture: capture.capture,
  layer: String(stage),
  batch: String(batch),
});

const PART = 2 ** 25; // weights of an overview that are asked for at once: others wait for it

const MOST_DRAWN = 2 ** 27; // weights of a head: the server makes no thumbnail of more

/** Are a layer's texts too long for thumbnails?  @param {State} state @param {number} stage */
export function isTooLong({ capture, inFile }, stage) {
  const { q_len, kv_len } = capture.layers[stage].sizes;
  return !inFile && q_len * kv_len > MOST_DRAWN;
}

/**
 * The overview of a layer, in parts of a few heads; none where its texts are too long.
 * @param {State} state
 * @param {number} stage
 * @returns {Args[]}
 */
export function overviewParts(state, stage) {
  if (isTooLong(state, stage)) return [];
  const { heads, q_len, kv_len } = state.capture.layers[stage].sizes;
  const args = overviewArgs(state, stage);
  const each = Math.max(1, Math.floor(PART / Math.max(1, q_len * kv_len)));
  if (heads <= each) return [args];
  return Array.from({ length: Math.ceil(heads / each) }, (_, part) => ({
    ...args,
    heads: span(part * each, Math.min(heads, (part + 1) * each)),
  }));
}

/**
 * One token in every layer over the same tokens: asked of the first of these layers, so that
 * opening another head asks nothing new.
 * @param {State} state
 * @returns {Args}
 */
export function everywhereArgs(state) {
  const { capture, stage, row } = state;
  const first = capture.layers.findIndex((_, other) => isAlike(state, other, stage));
  return { ...overviewArgs(state, first), query: String(row) };
}

/**
 * Do two layers look from the same tokens at the same tokens?
 * @param {Pick<State, "capture">} state
 * @param {number} one
 * @param {number} other
 */
export function isAlike({ capture }, one, other) {
  const [a, b] = [capture.layers[one], capture.layers[other]];
  return a.queries.join() === b.queries.join() && a.keys.join() === b.keys.join();
}
