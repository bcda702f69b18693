// Colours of the weights in a picture: 256 steps from no weight to the most, evenly spaced to the
// eye. Light pages go from pale to dark, dark pages from dark to pale, so that weight 0 recedes.

/** @typedef {import("./heat_grid.js").Grid} Grid */
/** @typedef {"light" | "dark"} Theme */

/**
 * @typedef {object} Colors  all a picture is painted with; the texts are CSS colours
 * @property {Uint8ClampedArray} ramp  256 colours, four bytes each
 * @property {string} hidden  a cell whose key the query may not see: a grey the ramp does not have
 * @property {string} hatch  the stripes on it
 * @property {string} nan  a weight that is not a number
 * @property {string} bar  of a strip
 * @property {string} ink
 * @property {string} soft  quieter ink
 * @property {string} paper
 * @property {string} focus  the lines of what is picked
 */

/**
 * @typedef {object} Range  the weights at the two ends of the ramp
 * @property {number} low
 * @property {number} high
 * @property {boolean} [over]  some weights lie above `high` and wear its colour
 */

const ANCHORS = ["#fdf6da", "#c9e08c", "#62bf8b", "#2b8f9b", "#2f619f", "#46287c", "#250b3d"];
const STEPS = 256;

/** @type {Record<Theme, string[]>} */
const ENDS = {
  light: ANCHORS,
  dark: ["#1b1332", "#44317f", "#30659f", "#2b949b", "#57bf88", "#bcdd74", "#fdf4b4"],
};

/** @type {Record<Theme, Omit<Colors, "ramp">>} */
const PLAIN = {
  light: {
    hidden: "#e2e3e7",
    hatch: "#c3c5cc",
    nan: "#d1293d",
    bar: "#6b6f78",
    ink: "#1c1d20",
    soft: "#5f6167",
    paper: "#ffffff",
    focus: "#e0218a",
  },
  dark: {
    hidden: "#3b3d42",
    hatch: "#54575e",
    nan: "#ff5c6c",
    bar: "#9a9da6",
    ink: "#ececec",
    soft: "#a3a5ab",
    paper: "#1d1f23",
    focus: "#ff7ac0",
  },
};

/**
 * The colours of a theme; `own` (what the page's custom properties say) goes first.
 * @param {Theme} theme
 * @param {Partial<Colors>} [own]
 * @returns {Colors}
 */
export const heatColors = (theme, own = {}) => ({ ...PLAIN[theme], ramp: ramp(theme), ...own });

/**
 * 256 RGBA colours from the least to the most, each as far from the next (in OKLab).
 * @param {Theme} theme
 */
export function ramp(theme) {
  const anchors = ENDS[theme].map((text) => labOf(rgbOf(text)));
  const far = anchors.map((_, i) => (i ? distance(anchors[i - 1], anchors[i]) : 0));
  const total = far.reduce((sum, length) => sum + length, 0);
  const codes = new Uint8ClampedArray(4 * STEPS);
  let piece = 1;
  let before = 0;
  for (let code = 0; code < STEPS; code += 1) {
    const along = (total * code) / (STEPS - 1);
    while (piece < anchors.length - 1 && along > before + far[piece]) {
      before += far[piece];
      piece += 1;
    }
    const part = Math.min(1, (along - before) / far[piece]);
    const lab = anchors[piece].map((x, i) => anchors[piece - 1][i] * (1 - part) + x * part);
    codes.set([...rgbFrom(lab), 255], 4 * code);
  }
  return codes;
}

/**
 * A colour of the ramp as a text.
 * @param {Uint8ClampedArray} codes
 * @param {number} code
 */
export function hexOf(codes, code) {
  const parts = [...codes.subarray(4 * code, 4 * code + 3)];
  return `#${parts.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * The ramp's place of a weight; -1 where there is none (NaN).
 * @param {number} weight
 * @param {Range} range
 */
export function codeOf(weight, { low, high }) {
  if (Number.isNaN(weight)) return -1;
  const share = (weight - low) / (high - low);
  return Math.round((STEPS - 1) * Math.max(0, Math.min(1, share)));
}

/**
 * From 0 to the largest visible weight of rows that are no padding; with `first` false, the first key that anyone sees does
 * not count (it often takes most of the weight, and leaves the rest without contrast).
 * @param {Grid} grid
 * @param {{first?: boolean}} [options]
 * @returns {Range}
 */
export function rangeOf(grid, { first = true } = {}) {
  const [, columns] = grid.shape;
  const skipped = first || grid.keyAt > 0 ? -1 : firstSeen(grid);
  let most = 0;
  let rest = 0;
  grid.weights.forEach((weight, i) => {
    if (!grid.visible[i] || !(weight > rest) || grid.padded?.[Math.floor(i / columns)]) return;
    most = Math.max(most, weight);
    if (i % columns !== skipped) rest = weight;
  });
  const high = rest || most || 1;
  const shares = (grid.sink ?? []).filter((share, r) => !Number.isNaN(share) && !grid.padded?.[r]);
  const beyond = Math.max(most, ...shares);
  return { low: 0, high, over: beyond > high };
}

/** The first column with a visible cell, -1 if there is none.  @param {Grid} grid */
function firstSeen({ shape: [rows, columns], visible }) {
  for (let key = 0; key < columns; key += 1)
    for (let row = 0; row < rows; row += 1) if (visible[row * columns + key]) return key;
  return -1;
}

/** @param {string} text such as #1b1332 */
const rgbOf = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

/** @param {number[]} a @param {number[]} b */
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

/** sRGB bytes to OKLab.  @param {number[]} rgb */
export function labOf(rgb) {
  const [r, g, b] = rgb.map((byte) => {
    const x = byte / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** OKLab to sRGB bytes.  @param {number[]} lab */
function rgbFrom([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((x) => {
    const light = Math.max(0, Math.min(1, x));
    const coded = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
    return Math.round(255 * coded);
  });
}
