// What the colours of a grid mean, with numbers.
import { h } from "./dom.js";
import { hexOf } from "./heat_color.js";
import { rounded } from "./numbers.js";

/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {import("./heat_color.js").Range} Range */
/** @typedef {import("./heat_grid.js").Grid} Grid */

const STOPS = 17;

/** The ramp as a CSS gradient.  @param {Colors} colors */
export function rampGradient({ ramp }) {
  const stops = Array.from({ length: STOPS }, (_, i) =>
    hexOf(ramp, Math.round((255 * i) / (STOPS - 1))),
  );
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}

/**
 * The words at the ramp's two ends.
 * @param {Range} range
 * @returns {[string, string]}
 */
export const rangeWords = ({ low, high, over }) => [
  low === 0 ? "0" : rounded(low),
  over ? `${rounded(high)} or more` : rounded(high),
];

/**
 * Which other colours a grid has.
 * @param {Grid} grid
 */
export function othersOf({ weights, visible, sink }) {
  const isNaNSeen = (/** @type {number} */ weight, /** @type {number} */ i) =>
    visible[i] !== 0 && Number.isNaN(weight);
  return {
    hidden: visible.includes(0),
    nan: weights.some(isNaNSeen) || (sink ?? []).some(Number.isNaN),
  };
}

/**
 * @param {Grid} grid
 * @param {Range} range
 * @param {Colors} colors
 */
export function heatLegend(grid, range, colors) {
  const [low, high] = rangeWords(range);
  const others = othersOf(grid);
  return h(
    "div",
    { class: "heat-legend", role: "group", "aria-label": "legend" },
    h(
      "span",
      { class: "heat-scale" },
      h("span", {}, "weight"),
      h("span", {}, low),
      h("span", { class: "heat-ramp", vars: { "--ramp": rampGradient(colors) } }),
      h("span", {}, high),
    ),
    others.hidden && swatch("hidden", colors),
    others.nan && swatch("NaN", colors),
  );
}

/** @param {"hidden" | "NaN"} word @param {Colors} colors */
function swatch(word, colors) {
  const fill = word === "NaN" ? colors.nan : colors.hidden;
  return h(
    "span",
    { class: "heat-swatch" },
    h("i", { class: word, vars: { "--fill": fill, "--hatch": colors.hatch } }),
    word,
  );
}
