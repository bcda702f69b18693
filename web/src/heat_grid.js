// The weight grid on a canvas: one colour a cell, hidden cells hatched; lines for what is picked
// and hovered lie on a second canvas, so that moving the pointer repaints only them.
import { codeOf } from "./heat_color.js";
import { h } from "./dom.js";

/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {import("./heat_color.js").Range} Range */

/**
 * A window of one head's weights. Everywhere in heat_*.js and reads.js a `row` and a `key` are
 * positions of tokens (rowAt + the index in the window), so that a window needs no arithmetic; the
 * key of the sink's column is SINK.
 * @typedef {object} Grid
 * @property {[number, number]} shape
 * @property {Float64Array} weights
 * @property {Uint8Array} visible
 * @property {string[]} rowTokens  of this window
 * @property {string[]} keyTokens
 * @property {number} rowAt  the position of the first row
 * @property {number} keyAt
 * @property {number[] | null} sink  the mass that each row leaves to its sink
 * @property {boolean[] | null} [padded]  rows that are only padding: what they read does not count
 */

export const SINK = -1;

const HATCHED = 6; // pixels of a cell, at least, for stripes and crosses to be seen
const WRITTEN = 11; // and for a line of text
const LARGEST = 28;
const SINK_GAP = 6;
const SINK_WIDTH = 12;
export const EMPTY_WORDS = "no visible keys";

/**
 * Pixels of a cell, such that the keys fit into `width` and the rows make no more than a tall page.
 * @param {number} rows
 * @param {number} columns
 * @param {number} width
 */
export function cellSize(rows, columns, width) {
  const room = Math.floor(Math.min(width / columns, (1.5 * width) / rows));
  return Math.max(1, Math.min(LARGEST, room));
}

/** @param {number} cell */
export const sinkWidth = (cell) => Math.max(cell, SINK_WIDTH);

/** Where the sink's column begins.  @param {Grid} grid @param {number} cell */
export const sinkLeft = (grid, cell) => grid.shape[1] * cell + SINK_GAP;

/** With the sink's column.  @param {Grid} grid @param {number} cell */
export const gridWidth = (grid, cell) =>
  grid.sink ? sinkLeft(grid, cell) + sinkWidth(cell) : grid.shape[1] * cell;

/** @param {Grid} grid @param {number} cell */
export const gridHeight = (grid, cell) => grid.shape[0] * cell;

/**
 * The weight at two positions; null outside of the window.
 * @param {Grid} grid
 * @param {number} row
 * @param {number} key
 * @returns {{weight: number, visible: boolean} | null}
 */
export function weightAt({ shape, weights, visible, rowAt, keyAt, sink }, row, key) {
  const [rows, columns] = shape;
  const [r, c] = [row - rowAt, key - keyAt];
  if (r < 0 || r >= rows) return null;
  if (key === SINK) return sink ? { weight: sink[r], visible: true } : null;
  if (c < 0 || c >= columns) return null;
  return { weight: weights[r * columns + c], visible: visible[r * columns + c] !== 0 };
}

/**
 * The row and key under a point of the canvas (CSS pixels from its corner), or null.
 * @param {Grid} grid
 * @param {number} cell
 * @param {number} x
 * @param {number} y
 */
export function cellAt(grid, cell, x, y) {
  const [rows, columns] = grid.shape;
  const r = Math.floor(y / cell);
  const c = Math.floor(x / cell);
  if (r < 0 || r >= rows || c < 0) return null;
  if (c < columns) return { row: grid.rowAt + r, key: grid.keyAt + c };
  const inSink = grid.sink && x >= sinkLeft(grid, cell) && x < gridWidth(grid, cell);
  return inSink ? { row: grid.rowAt + r, key: SINK } : null;
}

/** Whether a row sees no key.  @param {Grid} grid @param {number} r its index in the window */
export const isEmpty = ({ shape: [, columns], visible }, r) =>
  !visible.subarray(r * columns, (r + 1) * columns).some(Boolean);

/** Whether the words fit into an empty row.  @param {Grid} grid @param {number} cell */
export const emptyFits = ({ shape: [, columns] }, cell) => cell >= WRITTEN && columns * cell >= 100;

/**
 * A canvas of so many CSS pixels, wiped; everything is then drawn in device pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {number} ratio
 */
export function sized(canvas, width, height, ratio) {
  const wide = Math.max(1, Math.round(width * ratio));
  const high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("canvas: must have a 2d context; got none.");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, wide, high);
  return pen;
}

const screenRatio = () => globalThis.devicePixelRatio || 1;

/** A canvas with one pixel a cell; what has no code is left transparent.
 * @param {number} rows
 * @param {number} columns
 * @param {Colors} colors
 * @param {(i: number) => number} codeAt  -1 for none
 */
function pixels(rows, columns, colors, codeAt) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { width: columns, height: rows }));
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("canvas: must have a 2d context; got none.");
  const image = pen.createImageData(columns, rows);
  const words = new Uint32Array(image.data.buffer);
  const { buffer, byteOffset } = colors.ramp;
  const codes = new Uint32Array(buffer, byteOffset, 256);
  for (let i = 0; i < words.length; i += 1) {
    const code = codeAt(i);
    if (code >= 0) words[i] = codes[code];
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Grey, with stripes where there is room for them.
 * @param {CanvasRenderingContext2D} pen
 * @param {Colors} colors
 * @param {boolean} striped
 * @param {number} ratio
 */
export function hiddenFill(pen, colors, striped, ratio) {
  if (!striped) return colors.hidden;
  const size = Math.round(6 * ratio);
  const tile = /** @type {HTMLCanvasElement} */ (h("canvas", { width: size, height: size }));
  const brush = tile.getContext("2d");
  if (!brush) return colors.hidden;
  brush.fillStyle = colors.hidden;
  brush.fillRect(0, 0, size, size);
  brush.strokeStyle = colors.hatch;
  brush.lineWidth = 1.25 * ratio;
  for (const shift of [-size, 0, size]) {
    brush.moveTo(shift - size, 2 * size);
    brush.lineTo(shift + 2 * size, -size);
  }
  brush.stroke();
  return pen.createPattern(tile, "repeat") ?? colors.hidden;
}

/**
 * Paint the weights.
 * @param {HTMLCanvasElement} canvas
 * @param {Grid} grid
 * @param {{cell: number, range: Range, colors: Colors, ratio?: number}} options
 */
export function paintGrid(canvas, grid, { cell, range, colors, ratio = screenRatio() }) {
  const [rows, columns] = grid.shape;
  const pen = sized(canvas, gridWidth(grid, cell), gridHeight(grid, cell), ratio);
  const wide = Math.round(columns * cell * ratio);
  const high = Math.round(rows * cell * ratio);
  pen.fillStyle = hiddenFill(pen, colors, cell >= HATCHED, ratio);
  pen.fillRect(0, 0, wide, high);
  const { weights, visible, sink } = grid;
  const codeAt = (/** @type {number} */ i) => (visible[i] ? codeOf(weights[i], range) : -1);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixels(rows, columns, colors, codeAt), 0, 0, wide, high);
  if (sink) {
    const shares = pixels(rows, 1, colors, (r) => codeOf(sink[r], range));
    const left = Math.round(sinkLeft(grid, cell) * ratio);
    pen.drawImage(shares, left, 0, Math.round(sinkWidth(cell) * ratio), high);
  }
  for (let r = 0; r < rows; r += 1) {
    if (isEmpty(grid, r)) paintEmpty(pen, grid, r, cell, colors, ratio);
    else if (hasNaN(grid, r)) paintNaNs(pen, grid, r, cell, colors, ratio);
  }
  fade(pen, grid.padded, cell * ratio, colors);
}

export const FADED = 0.7; // of the paper's colour over a row that is only padding

/**
 * Rows that are only padding, paled.
 * @param {CanvasRenderingContext2D} pen
 * @param {boolean[] | null | undefined} padded
 * @param {number} high  pixels of a row
 * @param {Colors} colors
 */
function fade(pen, padded, high, colors) {
  pen.fillStyle = colors.paper;
  pen.globalAlpha = FADED;
  padded?.forEach((isPadded, r) => {
    const top = Math.round(r * high);
    if (isPadded) pen.fillRect(0, top, pen.canvas.width, Math.round((r + 1) * high) - top);
  });
  pen.globalAlpha = 1;
}

/** @param {Grid} grid @param {number} r */
function hasNaN({ shape: [, columns], weights, visible, sink }, r) {
  if (sink && Number.isNaN(sink[r])) return true;
  for (let i = r * columns; i < (r + 1) * columns; i += 1)
    if (visible[i] && Number.isNaN(weights[i])) return true;
  return false;
}

/**
 * A row that reads nothing: plain, with its words where they fit, else a line through it.
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} grid
 * @param {number} r
 * @param {number} cell
 * @param {Colors} colors
 * @param {number} ratio
 */
function paintEmpty(pen, grid, r, cell, colors, ratio) {
  const top = Math.round(r * cell * ratio);
  const high = Math.max(1, Math.round((r + 1) * cell * ratio) - top);
  const wide = Math.round(grid.shape[1] * cell * ratio);
  pen.fillStyle = colors.hidden;
  pen.fillRect(0, top, wide, high);
  pen.fillStyle = colors.soft;
  if (!emptyFits(grid, cell)) {
    const line = Math.min(Math.max(1, Math.floor(ratio)), Math.floor(high / 3));
    pen.fillRect(0, top + Math.floor((high - line) / 2), wide, line);
    return;
  }
  pen.font = `${11 * ratio}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  pen.fillText(EMPTY_WORDS, 6 * ratio, top + high / 2 + ratio / 2);
}

/**
 * Cells whose weight is not a number: their own colour, crossed where there is room.
 * @param {CanvasRenderingContext2D} pen
 * @param {Grid} grid
 * @param {number} r
 * @param {number} cell
 * @param {Colors} colors
 * @param {number} ratio
 */
function paintNaNs(pen, grid, r, cell, colors, ratio) {
  const columns = grid.shape[1];
  const top = Math.round(r * cell * ratio);
  const high = Math.round((r + 1) * cell * ratio) - top;
  const crosses = (/** @type {number} */ from, /** @type {number} */ to) => {
    const [left, right] = [Math.round(from * ratio), Math.round(to * ratio)];
    pen.fillStyle = colors.nan;
    pen.fillRect(left, top, right - left, high);
    if (cell < HATCHED) return;
    pen.strokeStyle = colors.paper;
    pen.lineWidth = ratio;
    pen.beginPath();
    pen.moveTo(left + ratio, top + ratio);
    pen.lineTo(right - ratio, top + high - ratio);
    pen.moveTo(right - ratio, top + ratio);
    pen.lineTo(left + ratio, top + high - ratio);
    pen.stroke();
  };
  for (let c = 0; c < columns; c += 1) {
    const i = r * columns + c;
    if (grid.visible[i] && Number.isNaN(grid.weights[i])) crosses(c * cell, (c + 1) * cell);
  }
  if (grid.sink && Number.isNaN(grid.sink[r])) crosses(sinkLeft(grid, cell), gridWidth(grid, cell));
}

/**
 * Paint the lines above the grid: a strong frame round the picked row and key, a thin one round
 * those under the pointer.
 * @param {HTMLCanvasElement} canvas
 * @param {Grid} grid
 * @param {{cell: number, row?: number | null, key?: number | null, hoverRow?: number | null,
 *   hoverKey?: number | null, colors: Colors, ratio?: number}} options
 */
export function paintOverlay(canvas, grid, options) {
  const { cell, row, key, hoverRow, hoverKey, colors, ratio = screenRatio() } = options;
  const pen = sized(canvas, gridWidth(grid, cell), gridHeight(grid, cell), ratio);
  const thin = /** @type {const} */ ([colors.ink, 1]);
  const thick = /** @type {const} */ ([colors.focus, 2]);
  const frames = [
    { frame: rowFrame(grid, cell, hoverRow), line: thin },
    { frame: keyFrame(grid, cell, hoverKey), line: thin },
    { frame: rowFrame(grid, cell, row), line: thick },
    { frame: keyFrame(grid, cell, key), line: thick },
  ];
  for (const halo of [true, false])
    for (const { frame, line } of frames) {
      const [color, width] = line;
      if (frame && halo) strokeFrame(pen, frame, colors.paper, width + 2, ratio);
      else if (frame) strokeFrame(pen, frame, color, width, ratio);
    }
}

/** @typedef {[left: number, top: number, width: number, height: number]} Frame */

/**
 * @param {Grid} grid
 * @param {number} cell
 * @param {number | null | undefined} row
 * @returns {Frame | null}
 */
function rowFrame(grid, cell, row) {
  const r = row === null || row === undefined ? -1 : row - grid.rowAt;
  if (r < 0 || r >= grid.shape[0]) return null;
  return [0, r * cell, gridWidth(grid, cell), cell];
}

/**
 * @param {Grid} grid
 * @param {number} cell
 * @param {number | null | undefined} key
 * @returns {Frame | null}
 */
function keyFrame(grid, cell, key) {
  if (key === null || key === undefined) return null;
  if (key === SINK)
    return grid.sink && [sinkLeft(grid, cell), 0, sinkWidth(cell), gridHeight(grid, cell)];
  const c = key - grid.keyAt;
  if (c < 0 || c >= grid.shape[1]) return null;
  return [c * cell, 0, cell, gridHeight(grid, cell)];
}

/**
 * Just outside of small cells, on the edge of large ones; never beyond the canvas.
 * @param {CanvasRenderingContext2D} pen
 * @param {Frame} frame
 * @param {string} color
 * @param {number} width
 * @param {number} ratio
 */
function strokeFrame(pen, [left, top, wide, high], color, width, ratio) {
  const out = Math.min(wide, high) < 11 ? 1 : 0;
  const x0 = Math.max(1, Math.round((left - out) * ratio));
  const y0 = Math.max(1, Math.round((top - out) * ratio));
  const x1 = Math.min(pen.canvas.width - 1, Math.round((left + wide + out) * ratio));
  const y1 = Math.min(pen.canvas.height - 1, Math.round((top + high + out) * ratio));
  pen.strokeStyle = color;
  pen.lineWidth = width * ratio;
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

/**
 * One head, small: the largest weight of every block (-1: all hidden), and a mark at one row.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} values
 * @param {number} rows
 * @param {number} columns
 * @param {{markRow?: number | null, padded?: boolean[] | null, colors: Colors, range: Range,
 *   cell?: number, ratio?: number}} options  `markRow` is a row of blocks, `padded` says which of
 *   these are only padding; `cell` are the CSS pixels of a block
 */
export function paintThumbnail(canvas, values, rows, columns, options) {
  const { markRow = null, padded = null, colors, range, ratio = screenRatio() } = options;
  const { cell = Math.max(1, Math.floor(96 / Math.max(rows, columns))) } = options;
  const pen = sized(canvas, columns * cell, rows * cell, ratio);
  const { width, height } = canvas;
  pen.fillStyle = colors.hidden;
  pen.fillRect(0, 0, width, height);
  pen.imageSmoothingEnabled = false;
  const codeAt = (/** @type {number} */ i) => (values[i] < 0 ? -1 : codeOf(values[i], range));
  pen.drawImage(pixels(rows, columns, colors, codeAt), 0, 0, width, height);
  pen.fillStyle = colors.nan;
  values.forEach((value, i) => {
    if (!Number.isNaN(value)) return;
    const size = cell * ratio;
    pen.fillRect((i % columns) * size, Math.floor(i / columns) * size, size, size);
  });
  fade(pen, padded, cell * ratio, colors);
  if (markRow === null || markRow < 0 || markRow >= rows) return;
  const frame = /** @type {Frame} */ ([0, markRow * cell, columns * cell, cell]);
  strokeFrame(pen, frame, colors.paper, 3, ratio);
  strokeFrame(pen, frame, colors.focus, 1.5, ratio);
}
