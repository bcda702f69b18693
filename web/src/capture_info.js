// What a capture says about one of its lookups, and the place where a reader stands in it.

/** @typedef {import("./types.js").AxisInfo} AxisInfo */
/** @typedef {import("./types.js").CaptureInfo} CaptureInfo */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./types.js").State} State */

const SMALL = 12; // tokens: more, and several heads open as heads
const LONG = 1024; // tokens: more, and a head opens as a map

/**
 * @param {CaptureInfo} capture
 * @param {number} stage
 * @param {number} batch
 * @returns {{queries: AxisInfo, keys: AxisInfo}}
 */
export function axesOf(capture, stage, batch) {
  const { queries, keys } = capture.layers[stage];
  const of = (/** @type {number[]} */ list) => capture.axes[list[list.length > 1 ? batch : 0]];
  return { queries: of(queries), keys: of(keys) };
}

/** Does a token only fill up the batch?  @param {AxisInfo["padding"]} padding @param {number} at */
export const isPadding = (padding, at) => padding.some(([from, upTo]) => from <= at && at < upTo);

/**
 * What a token is beside its text, as a class and in words; "" for most.
 * @param {Pick<AxisInfo, "padding" | "prompt">} axis
 * @param {number} at
 */
export function kindOf({ padding, prompt = null }, at) {
  if (isPadding(padding, at)) return "padding";
  return prompt !== null && at >= prompt ? "written" : "";
}

/** What stands behind the name of a token.  @param {Pick<AxisInfo, "padding" | "prompt">} axis
 * @param {number} at */
export function noteOf(axis, at) {
  const kind = kindOf(axis, at);
  return kind && ` (${kind})`;
}

/**
 * @param {CaptureInfo} capture
 * @param {number} stage
 * @param {number} batch
 * @returns {Info}
 */
export function infoOf(capture, stage, batch) {
  const layer = capture.layers[stage];
  const { queries, keys } = axesOf(capture, stage, batch);
  return {
    version: capture.version,
    modes: capture.modes,
    title: capture.title,
    source: capture.source,
    limits: capture.limits,
    batch_shape: layer.batch_shape,
    dtype: layer.dtype,
    sizes: layer.sizes,
    options: layer.options,
    editable: layer.editable,
    editable_reason: layer.editable_reason,
    tokens: queries.tokens,
    key_tokens: keys.tokens,
  };
}

/**
 * Is a head of that layer looked at as a map?
 * @param {CaptureInfo} capture
 * @param {number} stage
 */
export function isLong({ layers, modes }, stage) {
  const { q_len, kv_len } = layers[stage].sizes;
  return Math.max(q_len, kv_len) > LONG && Boolean(modes?.includes("map"));
}

/**
 * Long texts are looked at as maps first; several layers, or several heads over many tokens, as
 * heads.
 * @param {CaptureInfo} capture
 * @returns {import("./types.js").ViewName}
 */
export function firstView(capture) {
  const { layers } = capture;
  const { heads, q_len, kv_len } = layers[0].sizes;
  if (isLong(capture, 0)) return "map";
  const many = heads > 1 && Math.max(q_len, kv_len) > SMALL;
  return layers.length > 1 || many ? "heads" : "steps";
}

/**
 * The state after `changes`: what is derived from the place is derived anew, and what the new place
 * does not have is left.
 * @param {State} before
 * @param {Partial<State>} changes
 * @returns {State}
 */
export function settled(before, changes) {
  const state = { ...before, ...changes };
  const { capture, stage, batch } = state;
  if (capture === before.capture && stage === before.stage && batch === before.batch) return state;
  const info = infoOf(capture, stage, batch);
  const { heads, q_len, kv_len } = info.sizes;
  const head = Math.min(state.head, Math.max(0, heads - 1));
  const rows = state.edits[`${stage}/${batch}/${head}`]?.tokens.length ?? q_len;
  const row = Math.min(state.row, Math.max(0, rows - 1));
  return {
    ...state,
    info,
    head,
    row,
    key: state.key !== null && state.key < kv_len ? state.key : null,
    mark: inside(state.mark, q_len, kv_len),
    point: null,
    map: heldMap(state.map, q_len, kv_len),
  };
}

/**
 * The same place in another head, where that has it.
 * @param {State["map"]} map
 * @param {number} rows
 * @param {number} keys
 * @returns {State["map"]}
 */
const heldMap = (map, rows, keys) => ({
  ...map,
  aim: null,
  tour: null,
  lock: inside(map.lock, rows, keys),
  marks: map.marks.filter(({ query, key }) => query < rows && key < keys),
});

/** @param {import("./types.js").Pair | null} pair @param {number} rows @param {number} keys */
const inside = (pair, rows, keys) => (pair && pair[0] < rows && pair[1] < keys ? pair : null);
