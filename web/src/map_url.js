// The map view's part of the address: everything in it is checked, and what does not fit is left
// out.
import { whole } from "./url_numbers.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").MapState} MapState */
/** @typedef {import("./types.js").CaptureInfo} CaptureInfo */
/** @typedef {import("./types.js").Bookmark} Bookmark */

const MOST_MARKS = 16; // bookmarks that an address carries
const [NEAR, FAR] = [-6, 40]; // of z

/** @returns {MapState} */
export const firstMap = () => ({
  x: 0,
  y: 0,
  z: null,
  pool: "max",
  range: [0, 100],
  aim: null,
  lock: null,
  marks: [],
  going: null,
  paused: false,
  tour: null,
});

/** @param {number} x */
const short = (x) => String(Math.round(100 * x) / 100);

/** @param {State} state @param {URLSearchParams} fields */
export function writeMap(state, fields) {
  const { map } = state;
  fields.set("v", "map");
  if (state.batch) fields.set("b", String(state.batch));
  fields.set("L", String(state.stage));
  fields.set("h", String(state.head));
  if (map.z !== null) {
    fields.set("x", short(map.x));
    fields.set("y", short(map.y));
    fields.set("z", short(map.z));
  }
  if (map.pool !== "max") fields.set("pool", map.pool);
  if (map.range.join() !== "0,100") fields.set("range", map.range.map(short).join("~"));
  if (map.lock) fields.set("lock", map.lock.join("."));
  if (state.picked) fields.set("q", String(state.row));
  if (state.key !== null) fields.set("k", String(state.key));
  const marks = map.marks.slice(0, MOST_MARKS);
  if (marks.length) fields.set("marks", marks.map(markText).join("_"));
}

/** @param {Bookmark} mark */
const markText = ({ query, key, z, lock }) =>
  [query, key, Math.round(10 * z), Number(lock)].join("~");

/**
 * @param {URLSearchParams} fields
 * @param {CaptureInfo} capture
 * @param {{stage: number, batch: number, head: number}} place
 * @returns {Partial<State>}
 */
export function readMap(fields, capture, place) {
  const { q_len, kv_len } = capture.layers[place.stage].sizes;
  const row = whole(fields.get("q"), q_len);
  const key = whole(fields.get("k"), kv_len);
  const [x, y] = [decimal(fields.get("x"), 0, kv_len), decimal(fields.get("y"), 0, q_len)];
  const z = decimal(fields.get("z"), NEAR, FAR);
  const there = x !== null && y !== null && z !== null;
  return {
    ...place,
    ...(row === null ? {} : { row }),
    view: "map",
    picked: row !== null,
    key,
    follow: key !== null,
    map: {
      ...firstMap(),
      ...(there ? { x, y, z } : {}),
      pool: fields.get("pool") === "share" ? "share" : "max",
      range: rangeFrom(fields.get("range")),
      lock: pairFrom(fields.get("lock"), q_len, kv_len),
      marks: marksFrom(fields.get("marks"), q_len, kv_len),
    },
  };
}

/** @param {string | null} text @param {number} low @param {number} high */
function decimal(text, low, high) {
  if (text === null || !/^-?\d{1,9}(\.\d{1,6})?$/.test(text)) return null;
  return Math.max(low, Math.min(Number(text), high));
}

/** @param {string | null} text @returns {[number, number]} */
function rangeFrom(text) {
  const parts = (text ?? "").split("~").map((part) => decimal(part, 0, 100));
  const [low, high] = parts;
  const fits = parts.length === 2 && low !== null && high !== null && low <= high;
  return fits ? [low, high] : [0, 100];
}

/** @param {string | null} text @param {number} rows @param {number} keys
 * @returns {import("./types.js").Pair | null} */
function pairFrom(text, rows, keys) {
  const parts = (text ?? "").split(".");
  const [query, key] = [whole(parts[0] ?? null, rows), whole(parts[1] ?? null, keys)];
  return parts.length === 2 && query !== null && key !== null ? [query, key] : null;
}

/** @param {string | null} text @param {number} rows @param {number} keys @returns {Bookmark[]} */
function marksFrom(text, rows, keys) {
  const found = (text ?? "").split("_", MOST_MARKS).map((part) => {
    const [q, k, tenths, lock, more] = part.split("~");
    const [query, key] = [whole(q ?? null, rows), whole(k ?? null, keys)];
    const z = decimal(tenths ?? null, 10 * NEAR, 10 * FAR);
    if (query === null || key === null || z === null || more !== undefined) return null;
    return { query, key, z: z / 10, lock: lock === "1" };
  });
  return found.filter((mark) => mark !== null);
}
