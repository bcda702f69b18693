// Codes of cells, their colours and the numbers behind them: a code is a place on a log scale.

/** @typedef {import("./heat_color.js").Colors} Colors */

/**
 * @typedef {object} Codes  `first` ... `last` stand for log2 from `low` to `high`
 * @property {number} hidden
 * @property {number} unknown
 * @property {number} nan
 * @property {number} zero
 * @property {number} first
 * @property {number} last
 * @property {number} low
 * @property {number} high
 *
 * @typedef {[number, number]} CodeRange  the codes at the two ends of the ramp
 */

/** The number amid those that a code stands for.  @param {number} code @param {Codes} codes */
export const valueOf = (code, { first, last, low, high }) =>
  2 ** (low + ((code - first) / (last - first)) * (high - low));

/**
 * Count the codes of a part of a tile.
 * @param {Float64Array} counts  256 of them, added to
 * @param {Uint8Array} codes
 * @param {number} columns
 * @param {[number, number]} rows  of the part, from and up to
 * @param {[number, number]} keys
 */
export function tally(counts, codes, columns, [top, bottom], [left, right]) {
  for (let r = top; r < bottom; r += 1)
    for (let i = r * columns + left; i < r * columns + right; i += 1) counts[codes[i]] += 1;
}

/**
 * The codes below which so many percent of the cells lie, among those with a weight worth a colour.
 * @param {Float64Array} counts
 * @param {Codes} codes
 * @param {[number, number]} percents
 * @returns {CodeRange}
 */
export function percentiles(counts, { first, last }, percents) {
  const total = counts.subarray(first, last + 1).reduce((sum, count) => sum + count, 0);
  if (!total) return [first, last];
  const at = (/** @type {number} */ percent) => {
    let left = Math.max(1, Math.ceil((percent / 100) * total));
    let code = first;
    while (code < last && left > counts[code]) {
      left -= counts[code];
      code += 1;
    }
    return code;
  };
  const [low, high] = [at(percents[0]), at(percents[1])];
  return low < high ? [low, high] : widened(low, first, last);
}

/** Where all is alike, the one code stands at the upper end.
 * @param {number} code @param {number} first @param {number} last @returns {CodeRange} */
const widened = (code, first, last) =>
  code > first ? [code - 1, code] : [first, Math.min(last, first + 1)];

/**
 * The pixel of each code: what is not computed stays transparent, for the stripes below it to show.
 * @param {Colors} colors
 * @param {Codes} codes
 * @param {CodeRange} range
 */
export function pixelsOf(colors, codes, [low, high]) {
  const { buffer, byteOffset } = colors.ramp;
  const ramp = new Uint32Array(buffer, byteOffset, 256);
  const pixels = new Uint32Array(256).fill(ramp[0]);
  for (let code = codes.first; code <= codes.last; code += 1) {
    const share = Math.max(0, Math.min(1, (code - low) / (high - low)));
    pixels[code] = ramp[Math.round(255 * share)];
  }
  pixels[codes.zero] = ramp[0];
  pixels[codes.hidden] = pixelOf(colors.hidden);
  pixels[codes.nan] = pixelOf(colors.nan);
  pixels[codes.unknown] = 0;
  return pixels;
}

/** A colour as four bytes of a picture.  @param {string} text such as #1b1332 */
export function pixelOf(text) {
  const bytes = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  return new Uint32Array(Uint8Array.from([...bytes, 255]).buffer)[0];
}
