// The arrays of an exported file, as viewer/export.py stores them: base64 of little-endian numbers
// in their own dtype, masks one bit a cell. A head is widened to float64 when it is looked at.

import { revive } from "./source.js";

/** @typedef {import("./types.js").Problem} Problem */
/** @typedef {import("./types.js").LayerInfo} LayerInfo */
/** @typedef {"float16" | "bfloat16" | "float32" | "float64" | "bits"} Dtype */
/** @typedef {{dtype: Dtype, shape: number[], data: string}} Stored */
/** @typedef {{texts: string[], tokens: number[][]}} Words */

/**
 * @typedef {object} LayerData  numbers name entries of `arrays`
 * @property {number} query
 * @property {number} key
 * @property {number | null} value
 * @property {number | null} visible
 * @property {number | null} bias
 * @property {number[] | null} sinks
 * @property {number} scale
 * @property {number | null} softcap
 * @property {number[] | null} q_offset  one for each batch entry
 *
 * @typedef {object} FileData  what the file's block of JSON holds
 * @property {import("./types.js").CaptureInfo} info
 * @property {import("./types.js").Lesson} lesson
 * @property {(Words | null)[]} words  one for each axis of `info`
 * @property {LayerData[]} layers
 * @property {Stored[]} arrays
 *
 * @typedef {object} Place  one head of one batch entry of one layer, by positions
 * @property {number} layer
 * @property {number} batch
 * @property {number} head
 *
 * @typedef {object} Head  one head, ready to compute with
 * @property {number} q_len
 * @property {number} kv_len
 * @property {Omit<Problem, "visible" | "bias">} whole  what all its rows share
 * @property {(row: number) => Problem} row  a problem of which only that row may be asked
 *
 * @typedef {object} Opened
 * @property {FileData} data
 * @property {(place: Place) => Head} head
 */

/** @param {FileData} stored @returns {Opened} */
export function openData(stored) {
  const data = { ...stored, layers: revive(stored.layers) }; // the arrays' texts are no numbers
  /** @type {Uint8Array[]} */
  const bytes = [];
  /** @type {Read} */
  const read = (which, start, n) => {
    const { dtype, data: text } = data.arrays[which];
    bytes[which] ??= fromBase64(text);
    return READERS[dtype](bytes[which], start, n);
  };
  /** @type {{name: string, head: Head} | null} */
  let last = null;
  return {
    data,
    head(place) {
      const name = JSON.stringify([place.layer, place.batch, place.head]);
      if (last?.name !== name) last = { name, head: headOf(data, read, place) };
      return last.head;
    },
  };
}

/** @typedef {(which: number, start: number, count: number) => number[]} Read */

/**
 * @param {FileData} data
 * @param {Read} read
 * @param {Place} place
 * @returns {Head}
 */
function headOf(data, read, { layer, batch, head }) {
  const { info, layers, arrays } = data;
  const { sizes, queries, keys } = info.layers[layer];
  const { q_len, kv_len, value_dim } = sizes;
  const stored = layers[layer];
  const kvHead = Math.floor(head / (sizes.heads / sizes.kv_heads));
  const matrix = (/** @type {number} */ which, /** @type {number} */ at) => {
    const [, heads, length, size] = arrays[which].shape;
    const numbers = read(which, (batch * heads + at) * length * size, length * size);
    return Array.from({ length }, (_, i) => numbers.slice(i * size, (i + 1) * size));
  };
  const whole = {
    tokens: info.axes[queries[queries.length > 1 ? batch : 0]].tokens,
    key_tokens: info.axes[keys[keys.length > 1 ? batch : 0]].tokens,
    query: matrix(stored.query, head),
    key: matrix(stored.key, kvHead),
    value: stored.value === null ? null : matrix(stored.value, kvHead),
    sink: stored.sinks && stored.sinks[head],
    scale: stored.scale,
    softcap: stored.softcap,
    q_offset: stored.q_offset && stored.q_offset[batch],
    value_dim: value_dim ?? 0,
  };
  const overlay = (/** @type {number} */ which, /** @type {number} */ row) => {
    const some = (/** @type {number} */ start, /** @type {number} */ n) => read(which, start, n);
    return overlayRow(arrays[which].shape, some, [batch, head, row], kv_len);
  };
  return { q_len, kv_len, whole, row: rowsOf(whole, stored, kv_len, overlay) };
}

/**
 * What one row adds to what all of them share: which keys it sees, and its bias.
 * @param {Head["whole"]} whole
 * @param {LayerData} stored
 * @param {number} kv_len
 * @param {(which: number, row: number) => number[]} overlay
 * @returns {Head["row"]}
 */
function rowsOf(whole, { visible, bias }, kv_len, overlay) {
  const all = Array.from({ length: kv_len }, () => true);
  const sees = (/** @type {number} */ row) =>
    visible === null ? all : overlay(visible, row).map((bit) => bit === 1);
  return (row) => ({
    ...whole,
    visible: only(row, sees(row)),
    bias: bias === null ? null : only(row, overlay(bias, row)),
  });
}

/**
 * A list of rows of which one is filled: a long context has no room for all of them.
 * @template T
 * @param {number} row
 * @param {T} filled
 */
function only(row, filled) {
  /** @type {T[]} */
  const rows = [];
  rows[row] = filled;
  return rows;
}

/**
 * One row of a mask or a bias; an axis of size 1 counts for all.
 * @param {number[]} shape  batch, heads, rows, keys
 * @param {(start: number, count: number) => number[]} read
 * @param {[number, number, number]} at
 * @param {number} kv_len
 */
function overlayRow([batches, heads, rows, keys], read, [batch, head, row], kv_len) {
  const b = batches === 1 ? 0 : batch;
  const h = heads === 1 ? 0 : head;
  const r = rows === 1 ? 0 : row;
  const numbers = read(((b * heads + h) * rows + r) * keys, keys);
  return keys === kv_len ? numbers : Array.from({ length: kv_len }, () => numbers[0]);
}

// Numbers

/** @param {string} text */
function fromBase64(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** @type {Record<Dtype, (bytes: Uint8Array, start: number, count: number) => number[]>} */
const READERS = {
  // Every machine that runs a browser is little-endian, as the file is.
  float64: ({ buffer }, start, count) => Array.from(new Float64Array(buffer, start * 8, count)),
  float32: ({ buffer }, start, count) => Array.from(new Float32Array(buffer, start * 4, count)),
  float16: ({ buffer }, start, count) =>
    Array.from(new Uint16Array(buffer, start * 2, count), fromHalf),
  bfloat16: ({ buffer }, start, count) => {
    const upper = Uint32Array.from(new Uint16Array(buffer, start * 2, count), (bits) => bits << 16);
    return Array.from(new Float32Array(upper.buffer));
  },
  bits: (bytes, start, count) =>
    Array.from({ length: count }, (_, i) => {
      const at = start + i;
      return (bytes[Math.floor(at / 8)] >> (7 - (at % 8))) & 1;
    }),
};

/** The number whose bits are those of a float16.  @param {number} bits */
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
