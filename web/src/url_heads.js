// The heads view's part of the address.
import { whole } from "./url_numbers.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").CaptureInfo} CaptureInfo */

/** @type {readonly import("./types.js").Average[]} */
const AVERAGES = ["none", "heads", "layers", "both"];

/** @param {State} state @param {URLSearchParams} fields */
export function writeHeads(state, fields) {
  fields.set("v", "heads");
  if (state.batch) fields.set("b", String(state.batch));
  if (state.open) {
    fields.set("L", String(state.stage));
    fields.set("h", String(state.head));
    if (state.average !== "none") fields.set("m", state.average);
    if (state.words) fields.set("w", "1");
    if (!state.first) fields.set("first", "0");
    if (state.compare) fields.set("cmp", `${state.compare.stage}.${state.compare.head}`);
    if (state.corner.some((start) => start > 0)) fields.set("win", state.corner.join("."));
  }
  if (state.picked) fields.set("q", String(state.row));
  if (state.key !== null) fields.set("k", String(state.key));
}

/**
 * @param {URLSearchParams} fields
 * @param {CaptureInfo} capture
 * @param {{stage: number, batch: number, head: number}} place
 * @returns {Partial<State>}
 */
export function readHeads(fields, capture, place) {
  const { heads, q_len, kv_len } = capture.layers[place.stage].sizes;
  const stage = whole(fields.get("L"), capture.layers.length);
  const open = stage !== null || whole(fields.get("h"), heads) !== null;
  const row = whole(fields.get("q"), q_len);
  const key = whole(fields.get("k"), kv_len);
  const [top, left] = pair(fields.get("win"), q_len, kv_len) ?? [0, 0];
  return {
    ...place,
    ...(row === null ? {} : { row }),
    view: "heads",
    open,
    picked: row !== null,
    key,
    follow: key !== null,
    average: AVERAGES.find((name) => name === fields.get("m")) ?? "none",
    words: fields.get("w") === "1",
    first: fields.get("first") !== "0",
    compare: headAt(fields.get("cmp"), capture),
    corner: [top, left],
    thumb: { stage: place.stage, head: place.head },
    mark: null,
    point: null,
  };
}

/** @param {string | null} text @param {number} rows @param {number} keys */
function pair(text, rows, keys) {
  const parts = (text ?? "").split(".");
  const [a, b] = [whole(parts[0], rows), whole(parts[1] ?? null, keys)];
  return parts.length === 2 && a !== null && b !== null ? [a, b] : null;
}

/** @param {string | null} text @param {CaptureInfo} capture */
function headAt(text, { layers }) {
  const parts = (text ?? "").split(".");
  const stage = whole(parts[0], layers.length);
  if (stage === null || parts.length !== 2) return null;
  const head = whole(parts[1], layers[stage].sizes.heads);
  return head === null ? null : { stage, head };
}
