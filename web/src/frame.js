// Answers with bytes: the JSON's length in 4 bytes, the JSON, zeros up to a multiple of 8, then the
// bytes themselves.

const STEP = 8;

/**
 * @param {ArrayBuffer} buffer
 * @returns {{json: any, bytes: Uint8Array}}
 */
export function unframed(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = Math.ceil((4 + length) / STEP) * STEP;
  return { json, bytes: new Uint8Array(buffer, start) };
}

/** @typedef {Float64Array | Float32Array | Uint8Array} Numbers */

/**
 * `count` numbers from the place `start`; numbers that lie unevenly are copied.
 * @template {Numbers} T
 * @param {Uint8Array} bytes
 * @param {{new (buffer: ArrayBuffer, start: number, count: number): T, BYTES_PER_ELEMENT: number}} Kind
 * @param {number} start
 * @param {number} count
 * @returns {T}
 */
export function numbersIn(bytes, Kind, start, count) {
  const size = Kind.BYTES_PER_ELEMENT;
  const even = (bytes.byteOffset + start) % size === 0;
  const from = even ? bytes : bytes.slice();
  return new Kind(/** @type {ArrayBuffer} */ (from.buffer), from.byteOffset + start, count);
}
