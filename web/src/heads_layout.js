// How large things are in the heads view, from the width of the page.
import { cellSize } from "./heat_grid.js";
import { THICKNESS } from "./heat_strips.js";

/** @typedef {import("./types.js").State} State */

/**
 * @typedef {object} Layout
 * @property {"alone" | "beside" | "below"} name  where an opened head stands to the thumbnails
 * @property {number} thumb  pixels of a thumbnail
 * @property {number} column  and of its column
 * @property {number} label  pixels of a layer's name
 * @property {number} names  pixels of a token's text beside the grid
 * @property {(rows: number, keys: number, sink: boolean) => number} cell
 * @property {(width: number) => boolean} aside  do the lists fit beside a grid of that width
 */

const WIDEST = 1360;
const BESIDE = 1180; // the page, at least, where a head stands beside the thumbnails
const OVERVIEW = 516; // and the thumbnails then
const NARROW = 600;
const GAP = 24;
const LONG = 240; // keys: more, and the grid needs the whole width
const [LEAST, MOST, MOST_BELOW] = [23, 112, 56]; // pixels of a thumbnail
const BETWEEN = 4; // pixels
const COLUMN = 84; // pixels of a column where the page has them: a caption is read there
const AROUND = 290; // pixels of the page above the thumbnails, and of the line below them
const LEAST_LABEL = 24; // its number
const SINK_ROOM = 34;
const LISTS = 320; // pixels of one list beside a grid

/** @param {State} state @returns {Layout} */
export function layoutOf(state) {
  const { room, tall, open, compare, info, capture } = state;
  const narrow = room < NARROW;
  const page = Math.min(WIDEST, room) - (room < 860 ? 32 : 56);
  const long = info.sizes.kv_len > LONG || info.sizes.q_len > LONG;
  const beside = open && room >= BESIDE && !compare && !long;
  const name = !open ? "alone" : beside ? "beside" : "below";
  const heads = Math.max(1, ...capture.layers.map(({ sizes }) => sizes.heads));
  const overview = beside ? OVERVIEW : page;
  const longest = Math.max(...capture.layers.map((layer) => layer.label.length));
  const wanted = Math.min(132, Math.max(62, 7 * longest + 12));
  const left = overview - heads * (LEAST + BETWEEN); // a label is cut off before a thumbnail is
  const label = narrow ? LEAST_LABEL : Math.max(LEAST_LABEL, Math.min(wanted, left));
  const widest = Math.floor((overview - label) / heads) - BETWEEN;
  const most = name === "below" ? MOST_BELOW : Math.min(MOST, highest(capture.layers.length, tall));
  const thumb = Math.max(LEAST, Math.min(most, widest));
  const names = narrow ? 74 : 96;
  const both = compare && room >= 860 ? (page - GAP) / 2 : page;
  const figure = beside ? page - OVERVIEW - GAP : both;
  const width = figure - names - THICKNESS - 8;
  return {
    name,
    thumb,
    column: Math.max(thumb, Math.min(widest, COLUMN)),
    label,
    names,
    aside: (width) =>
      name === "below" && !compare && width + names + THICKNESS + LISTS + GAP <= page,
    cell: (rows, keys, sink) =>
      cellSize(
        rows,
        keys,
        Math.max(LEAST_GRID, Math.min(width, sideOf(Math.max(rows, keys), tall))) -
          (sink ? SINK_ROOM : 0),
      ),
  };
}

/**
 * Pixels of a thumbnail such that all layers stand in the window; no limit where they cannot.
 * @param {number} layers
 * @param {number} tall
 */
function highest(layers, tall) {
  const high = Math.floor((tall - AROUND) / layers) - BETWEEN;
  return high < MOST_BELOW ? Infinity : high;
}

const LEAST_GRID = 180; // pixels of a grid: a narrower page scrolls it
const [SIDE, LARGEST_SIDE] = [560, 760]; // it fits on a screen; larger where every token then has a label
const LABEL = 11;

const ABOVE = 450; // pixels of the page above a grid's cells, and of the strip below

/**
 * Pixels that a side of so many tokens is given at most: what the window has left, unless labels
 * need more.
 * @param {number} tokens
 * @param {number} tall
 */
function sideOf(tokens, tall) {
  const labelled = Math.min(LARGEST_SIDE, Math.max(LABEL * tokens, SIDE / 2));
  return Math.max(labelled, Math.min(SIDE, tall - ABOVE));
}
