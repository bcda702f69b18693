// A picture of one grid for a page of paper: where every text and line stands. picture_svg.js
// writes it, picture_png.js paints it.
import { heatColors } from "./heat_color.js";
import { marksOf, labelStep } from "./heat_axes.js";
import { gridHeight, gridWidth, sinkLeft, sinkWidth } from "./heat_grid.js";
import { othersOf, rangeWords } from "./heat_legend.js";
import { readable } from "./readable.js";

/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {import("./heat_color.js").Range} Range */
/** @typedef {import("./heat_color.js").Theme} Theme */
/** @typedef {import("./heat_grid.js").Grid} Grid */

/**
 * @typedef {object} PictureOptions
 * @property {string} title
 * @property {string} what  such as “layer 3, head 7”
 * @property {Range} range
 * @property {Theme} [theme]
 * @property {Uint8ClampedArray} [ramp]
 */

/**
 * @typedef {object} PictureText
 * @property {number} x
 * @property {number} y  the middle of the line
 * @property {string} text
 * @property {number} size
 * @property {"start" | "end" | "middle"} anchor
 * @property {boolean} upright  read upwards
 * @property {string} color
 * @property {boolean} [bold]
 */

/**
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {number} cell
 * @property {number} left  of the grid
 * @property {number} top
 * @property {Colors} colors
 * @property {PictureText[]} texts
 * @property {[x0: number, y0: number, x1: number, y1: number][]} ticks
 * @property {{x: number, y: number, width: number, height: number}} ramp
 * @property {{x: number, y: number, size: number, kind: "hidden" | "nan"}[]} swatches
 */

const LONG_SIDE = 860; // of the grid, about
const CELL = 22; // the largest
const LABEL = 11; // font sizes
const SMALL = 12;
const TITLE = 15;
const MARGIN = 20;
const TICK = 4;
const RAMP = 150;
const NARROWEST = 420;

/**
 * @param {Grid} grid
 * @param {PictureOptions} options
 * @returns {Picture}
 */
export function pictureOf(grid, { title, what, range, theme = "light", ramp }) {
  const colors = heatColors(theme, ramp ? { ramp } : {});
  const cell = Math.max(1, Math.min(CELL, Math.floor(LONG_SIDE / Math.max(...grid.shape))));
  const rows = marksOf(grid.rowTokens, grid.rowAt, cell);
  const keys = marksOf(grid.keyTokens, grid.keyAt, cell);
  const room = (/** @type {typeof rows} */ marks, /** @type {string} */ least) =>
    Math.max(textWidth(least, SMALL), ...marks.map((mark) => textWidth(words(mark), LABEL)));
  const head = MARGIN + TITLE + 6 + SMALL + 16;
  const left = Math.ceil(MARGIN + room(rows, "query") + 10);
  const top = Math.ceil(head + SMALL + room(keys, "") + 10);
  const [wide, high] = [gridWidth(grid, cell), gridHeight(grid, cell)];
  const width = Math.max(NARROWEST, left + wide + MARGIN);
  const place = { cell, left, top, colors, width };
  const texts = [
    ...headings(place, title, what, top + Math.min(-10, cell / 2 - 14)),
    ...axisTexts(grid, place, rows, keys),
  ];
  const legend = legendOf(grid, range, place, top + high + 22);
  return {
    ...place,
    height: top + high + 22 + 14 + MARGIN,
    texts: [...texts, ...legend.texts],
    ticks: labelStep(cell) > 1 ? ticksOf(place, rows, keys) : [],
    ramp: legend.ramp,
    swatches: legend.swatches,
  };
}

/** @typedef {{cell: number, left: number, top: number, colors: Colors, width: number}} Place */
/** @typedef {import("./heat_axes.js").Mark} Mark */

/**
 * @param {Place} place
 * @param {string} title
 * @param {string} what
 * @param {number} beside  the word above the queries' labels
 * @returns {PictureText[]}
 */
function headings({ left, width, colors }, title, what, beside) {
  const room = width - 2 * MARGIN;
  const plain = /** @type {const} */ ({ anchor: "start", upright: false });
  const y = MARGIN + TITLE / 2;
  const below = y + TITLE / 2 + 6 + SMALL / 2;
  const x = MARGIN;
  return [
    {
      x,
      y,
      text: fitted(title, TITLE, room),
      size: TITLE,
      color: colors.ink,
      bold: true,
      ...plain,
    },
    { x, y: below, text: fitted(what, SMALL, room), size: SMALL, color: colors.soft, ...plain },
    {
      x: left - 10,
      y: beside,
      text: "query",
      size: SMALL,
      color: colors.soft,
      ...plain,
      anchor: "end",
    },
    { x: left, y: below + 24, text: "key", size: SMALL, color: colors.soft, ...plain },
  ];
}

/**
 * @param {Grid} grid
 * @param {Place} place
 * @param {Mark[]} rows
 * @param {Mark[]} keys
 * @returns {PictureText[]}
 */
function axisTexts(grid, { cell, left, top, colors }, rows, keys) {
  const style = { size: LABEL, color: colors.ink };
  const middle = (/** @type {number} */ index) => (index + 0.5) * cell;
  /** @type {PictureText[]} */
  const texts = [
    ...rows.map((mark) => {
      const at = { x: left - TICK - 3, y: top + middle(mark.index) };
      return {
        ...at,
        text: words(mark),
        anchor: /** @type {const} */ ("end"),
        upright: false,
        ...style,
      };
    }),
    ...keys.map((mark) => {
      const at = { x: left + middle(mark.index), y: top - TICK - 3 };
      return {
        ...at,
        text: words(mark),
        anchor: /** @type {const} */ ("start"),
        upright: true,
        ...style,
      };
    }),
  ];
  if (grid.sink) {
    const x = left + sinkLeft(grid, cell) + sinkWidth(cell) / 2;
    texts.push({ x, y: top - TICK - 3, text: "sink", anchor: "start", upright: true, ...style });
  }
  return texts;
}

/**
 * @param {Place} place
 * @param {Mark[]} rows
 * @param {Mark[]} keys
 * @returns {Picture["ticks"]}
 */
function ticksOf({ cell, left, top }, rows, keys) {
  const at = (/** @type {Mark} */ { index }) => (index + 0.5) * cell;
  return [
    ...rows.map(
      (mark) =>
        /** @type {Picture["ticks"][number]} */ ([
          left - TICK,
          top + at(mark),
          left,
          top + at(mark),
        ]),
    ),
    ...keys.map(
      (mark) =>
        /** @type {Picture["ticks"][number]} */ ([
          left + at(mark),
          top - TICK,
          left + at(mark),
          top,
        ]),
    ),
  ];
}

/**
 * The ramp between its two numbers, and what the other colours mean.
 * @param {Grid} grid
 * @param {Range} range
 * @param {Place} place
 * @param {number} y
 */
function legendOf(grid, range, { left, width, colors }, y) {
  const [low, high] = rangeWords(range);
  const middle = y + 7;
  const style = { y: middle, size: SMALL, color: colors.soft, upright: false };
  const start = /** @type {const} */ ("start");
  const others = othersOf(grid);
  /** @type {Picture["swatches"]} */
  const swatches = [];
  /** @type {PictureText[]} */
  const texts = [];
  let x = Math.min(left, width - NARROWEST + MARGIN);
  const write = (/** @type {string} */ text) => {
    texts.push({ ...style, x, text, anchor: start });
    x += textWidth(text, SMALL) + 6;
  };
  write("weight");
  write(low);
  const ramp = { x, y: middle - 5, width: RAMP, height: 10 };
  x += RAMP + 6;
  write(high);
  for (const kind of /** @type {const} */ (["hidden", "nan"])) {
    if (!others[kind]) continue;
    x += 8;
    swatches.push({ x, y: middle - 6, size: 12, kind });
    x += 18;
    write(kind === "nan" ? "NaN" : kind);
  }
  return { ramp, swatches, texts };
}

/** @param {Mark} mark */
const words = ({ text, numbered, position }) =>
  `${isolated(text)}${numbered ? ` @${position}` : ""}`;

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/**
 * A text that may run from right to left, held together: what stands beside it keeps its place.
 * @param {string} text
 */
const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

const WIDE = /[\u1100-\u11ff\u2e80-\uffdc\u{1f000}-\u{3ffff}]/u;
const UNSPACED = /[\u2068\u2069\p{Mn}]/u;

/**
 * About how wide a text is, in pixels: rather too much.
 * @param {string} text
 * @param {number} size
 */
export function textWidth(text, size) {
  const share = (/** @type {string} */ letter) => {
    if (UNSPACED.test(letter)) return 0;
    if (WIDE.test(letter)) return 1.05;
    return /[A-Z@MWmw%]/.test(letter) ? 0.85 : /[ijl.,:;'|()!]/.test(letter) ? 0.36 : 0.6;
  };
  return size * [...text].reduce((total, letter) => total + share(letter), 0);
}

/**
 * A line of the picture: readable, and cut to its room.
 * @param {string} text
 * @param {number} size
 * @param {number} room
 */
function fitted(text, size, room) {
  const letters = [...readable(text)];
  let end = letters.length;
  const line = () => (end < letters.length ? [...letters.slice(0, end), "…"] : letters).join("");
  while (end > 0 && textWidth(line(), size) > room) end -= 1;
  return isolated(line());
}
