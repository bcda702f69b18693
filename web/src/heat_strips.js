// One number a row or a key as bars along the grid: entropy beside the rows, what each key receives
// below the keys.
import { h } from "./dom.js";
import { sized } from "./heat_grid.js";
import { alike, power } from "./numbers.js";

/** @typedef {import("./heat_color.js").Colors} Colors */
/**
 * @typedef {object} Scale
 * @property {number} low  the numbers at a bar's two ends
 * @property {number} high
 * @property {boolean} log
 * @property {boolean} under  some numbers lie below `low`: they have no bar
 */

export const THICKNESS = 44; // CSS pixels of a strip, across
const DECADES = 4; // of a log scale, at most

/**
 * The scale of a strip's bars: from 0, or on a log scale from a power of ten below the smallest
 * number, four decades at most.
 * @param {ArrayLike<number>} numbers
 * @param {{log?: boolean, high?: number | null}} [options]
 * @returns {Scale}
 */
export function stripScale(numbers, { log = false, high = null } = {}) {
  const finite = Array.from(numbers).filter((x) => Number.isFinite(x) && x > 0);
  const most = high ?? finite.reduce((top, x) => Math.max(top, x), 0);
  const top = most > 0 ? most : 1;
  if (!log) return { low: 0, high: top, log, under: false };
  const least = finite.reduce((bottom, x) => Math.min(bottom, x), top);
  const floor = 10 ** (Math.ceil(Math.log10(top)) - DECADES);
  const low = Math.max(floor, 10 ** Math.floor(Math.log10(least * 0.999999)));
  return { low, high: top, log, under: Array.from(numbers).some((x) => x < low) };
}

/**
 * How much of the strip a number's bar fills, 0 ... 1; NaN has none.
 * @param {number} x
 * @param {Scale} scale
 */
export function barShare(x, { low, high, log }) {
  if (Number.isNaN(x)) return NaN;
  const share = log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
  return Math.max(0, Math.min(1, share));
}

/**
 * Paint the bars. `vertical`: one a row, from the grid's edge to the right; else one a key, hanging
 * down from the grid.
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} numbers
 * @param {{vertical: boolean, cell: number, colors: Colors, scale: Scale,
 *   picked?: number | null, thickness?: number, ratio?: number}} options  `picked` is an index
 */
export function paintStrip(canvas, numbers, options) {
  const { vertical, cell, colors, scale, picked = null, thickness = THICKNESS } = options;
  const { ratio = globalThis.devicePixelRatio || 1 } = options;
  const length = numbers.length * cell;
  const pen = sized(canvas, vertical ? thickness : length, vertical ? length : thickness, ratio);
  const gap = cell >= 6 ? 1 : 0;
  const fill = (
    /** @type {number} */ i,
    /** @type {number} */ share,
    /** @type {string} */ ink,
  ) => {
    const start = Math.round(i * cell * ratio);
    const size = Math.max(1, Math.round((i + 1) * cell * ratio) - start - Math.round(gap * ratio));
    const long = Math.max(share > 0 ? ratio : 0, Math.round(share * thickness * ratio));
    pen.fillStyle = ink;
    if (vertical) pen.fillRect(0, start, long, size);
    else pen.fillRect(start, 0, size, long);
  };
  for (let i = 0; i < numbers.length; i += 1) {
    const share = barShare(numbers[i], scale);
    if (Number.isNaN(share)) fill(i, 0.5, colors.nan);
    else fill(i, share, i === picked ? colors.focus : colors.bar);
  }
}

/**
 * What the bars of a strip mean, with the numbers at their ends.
 * @param {string} name such as “entropy (nats)”
 * @param {Scale} scale
 */
export function stripLegend(name, { low, high, log, under }) {
  const least = log ? `${power(low)}${under ? " or less" : ""}` : "0";
  return h(
    "p",
    { class: "strip-legend quiet" },
    h("span", {}, name),
    `: ${least} … ${alike([high])(high)}${log ? ", log scale" : ""}`,
  );
}
