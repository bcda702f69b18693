// The tokens along both axes of a grid: all of them where they fit, else every n-th, and always
// the picked one and the one under the pointer.
import { kindOf, noteOf } from "./capture_info.js";
import { shortName } from "./chip.js";
import { h } from "./dom.js";
import { SINK, gridHeight, gridWidth, sinkLeft, sinkWidth } from "./heat_grid.js";
import { readable } from "./readable.js";

/** @typedef {import("./heat_grid.js").Grid} Grid */

/**
 * @typedef {object} AxisOptions
 * @property {number} cell
 * @property {number | null} [picked]  positions
 * @property {number | null} [hover]
 * @property {[number, number][]} [padding]  spans of positions: from, up to
 * @property {number | null} [prompt]  tokens from this position on were written by the model
 */

/**
 * @typedef {object} Mark  one label
 * @property {number} index  in the window
 * @property {number} position
 * @property {string} text  the token, shortened
 * @property {boolean} numbered  shown with its position: the text repeats, or labels are left out
 */

const LINE = 11; // pixels of a label
const SPACED = 13; // and between labels where some are left out

/**
 * Every how many tokens a label stands.
 * @param {number} cell
 */
export function labelStep(cell) {
  if (cell >= LINE) return 1;
  for (let ten = 1; ; ten *= 10)
    for (const step of [2 * ten, 5 * ten, 10 * ten]) if (step * cell >= SPACED) return step;
}

/**
 * The labels of an axis; `always` are positions that have one wherever they are: their neighbours
 * make room.
 * @param {readonly string[]} tokens
 * @param {number} at
 * @param {number} cell
 * @param {readonly (number | null | undefined)[]} [always]
 * @returns {Mark[]}
 */
export function marksOf(tokens, at, cell, always = []) {
  const step = labelStep(cell);
  const repeated = repeatedOf(tokens);
  const mark = (/** @type {number} */ index) => {
    const token = tokens[index];
    const position = at + index;
    const numbered = token !== String(position) && (step > 1 || repeated.has(token));
    return { index, position, text: shortName(token), numbered };
  };
  const forced = /** @type {number[]} */ (always)
    .map((position) => (Number.isInteger(position) ? position - at : -1))
    .filter((index) => index >= 0 && index < tokens.length);
  const isFree = (/** @type {number} */ index) =>
    forced.every((other) => Math.abs(other - index) * cell >= (step > 1 ? SPACED : 1));
  const regular = tokens
    .map((_, index) => index)
    .filter((index) => (at + index) % step === 0 && isFree(index));
  return [...new Set([...regular, ...forced])].sort((a, b) => a - b).map(mark);
}

/** The texts that occur twice or more.  @param {readonly string[]} tokens */
export function repeatedOf(tokens) {
  const seen = new Set();
  return new Set(tokens.filter((token) => seen.has(token) || !seen.add(token)));
}

/**
 * The queries, beside the grid.
 * @param {Grid} grid
 * @param {AxisOptions} options
 */
export function rowAxis(grid, options) {
  const labels = labelsOf(grid.rowTokens, grid.rowAt, "head-row", "query", options);
  return axis("rows", "queries", gridHeight(grid, options.cell), options.cell, labels);
}

/**
 * The keys, above the grid, read upwards; the sink after them.
 * @param {Grid} grid
 * @param {AxisOptions} options
 */
export function keyAxis(grid, options) {
  const { cell } = options;
  const labels = labelsOf(grid.keyTokens, grid.keyAt, "head-key", "key", options);
  if (grid.sink) labels.push(sinkLabel(grid, options));
  return axis("keys", "keys", gridWidth(grid, cell), cell, labels);
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {number} length
 * @param {number} cell
 * @param {HTMLElement[]} labels
 */
function axis(kind, name, length, cell, labels) {
  return h(
    "div",
    {
      class: `heat-axis ${kind}${labelStep(cell) > 1 ? " sparse" : ""}`,
      role: "group",
      "aria-label": name,
      vars: { "--length": `${length}px`, "--cell": `${cell}px` },
    },
    labels,
  );
}

/**
 * @param {readonly string[]} tokens
 * @param {number} at
 * @param {string} act
 * @param {string} side
 * @param {AxisOptions} options
 */
function labelsOf(tokens, at, act, side, { cell, picked, hover, padding = [], prompt = null }) {
  const marks = marksOf(tokens, at, cell, [picked, hover]);
  const isPicked = (/** @type {Mark} */ mark) => mark.position === picked;
  const stop = marks.findIndex(isPicked); // Tab stops at one label; the grid has the arrow keys
  return marks.map((mark, i) => {
    const { index, position, text, numbered } = mark;
    const kind = kindOf({ padding, prompt }, position);
    const kinds = [isPicked(mark) && "picked", position === hover && "hover", kind];
    const note = noteOf({ padding, prompt }, position);
    const name = `${text}${numbered ? ` @${position}` : ""}${note}`;
    return h(
      "button",
      {
        type: "button",
        class: ["heat-label", ...kinds.filter(Boolean)].join(" "),
        "data-act": act,
        "data-arg": position,
        "data-key": `${act}:${position}`,
        "aria-pressed": String(isPicked(mark)),
        "aria-label": `${side} ${name}`,
        title: `${readable(tokens[index])}${note}`,
        tabindex: i === Math.max(0, stop) ? 0 : -1,
        vars: { "--at": `${index * cell}px` },
      },
      h("bdi", {}, text),
      numbered && h("small", {}, `@${position}`),
    );
  });
}

/** @param {Grid} grid @param {AxisOptions} options */
function sinkLabel(grid, { cell, picked, hover }) {
  const kinds = [picked === SINK && "picked", hover === SINK && "hover"].filter(Boolean);
  return h(
    "span",
    {
      class: ["heat-label", "sink", ...kinds].join(" "),
      "data-key": "sink",
      title: "the share that the sink takes: no key reads it",
      vars: { "--at": `${sinkLeft(grid, cell)}px`, "--cell": `${sinkWidth(cell)}px` },
    },
    "sink",
  );
}
