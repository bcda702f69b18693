// Draws the map: what is outside stays the page's own ground, what is not computed yet is striped,
// and every tile is stretched over its weights, a coarser one until the finer is there.
import { edgesOf, tilesIn } from "./map_camera.js";
import { h } from "./dom.js";
import { FADED } from "./heat_grid.js";

/** @typedef {import("./map_camera.js").Camera} Camera */
/** @typedef {import("./map_camera.js").Box} Box */
/** @typedef {import("./map_camera.js").Size} Size */
/** @typedef {import("./map_atlas.js").TileAt} TileAt */
/** @typedef {import("./map_atlas.js").Tile} Tile */
/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {[number, number, number, number]} Rect  left, top, right, bottom */

/**
 * @typedef {object} Sheet  from weights to pixels of the screen
 * @property {(key: number) => number} x
 * @property {(query: number) => number} y
 * @property {number} cell  pixels of one weight
 */

/** @param {Camera} camera @param {Box} box @param {number} ratio @returns {Sheet} */
export function sheetOf(camera, box, ratio) {
  const { left, top, per } = edgesOf(camera, box);
  const cell = ratio / per;
  return {
    x: (key) => Math.round((key - left) * cell),
    y: (query) => Math.round((query - top) * cell),
    cell,
  };
}

/**
 * @param {CanvasRenderingContext2D} pen  of a canvas that is wiped
 * @param {object} scene
 * @param {Sheet} scene.sheet
 * @param {Camera} scene.camera
 * @param {Box} scene.box
 * @param {Size} scene.size
 * @param {number | null} scene.level  null: no tile of it is to be had
 * @param {number} scene.top
 * @param {number} scene.tile  cells along a tile
 * @param {(at: TileAt) => Tile | undefined} scene.tileAt
 * @param {(tile: Tile) => HTMLCanvasElement} scene.sprite
 * @param {string | CanvasPattern} scene.unknown  the fill of what is not there
 */
export function drawMap(pen, { sheet, camera, box, size, level, top, tile, ...look }) {
  const { tileAt, sprite, unknown } = look;
  const world = /** @type {Rect} */ ([
    sheet.x(0),
    sheet.y(0),
    sheet.x(size.keys),
    sheet.y(size.rows),
  ]);
  const [left, above, right, below] = world;
  pen.save();
  pen.beginPath();
  pen.rect(left, above, Math.max(1, right - left), Math.max(1, below - above));
  pen.clip();
  pen.fillStyle = unknown;
  pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
  pen.imageSmoothingEnabled = false;
  const places = level === null ? [] : tilesIn(camera, box, size, level, tile);
  const tiles = places.map((at) => ({ at, fine: tileAt(at) }));
  const missing = tiles.filter(({ fine }) => !fine?.whole);
  for (let up = top; up > (level ?? top); up -= 1)
    for (const { at } of missing) drawPiece(pen, sheet, at, up, tile, tileAt, sprite);
  for (const { at, fine } of tiles) if (fine) drawTile(pen, sheet, at, fine, sprite(fine), tile);
  pen.restore();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Sheet} sheet
 * @param {TileAt} at
 * @param {Tile} tile
 * @param {HTMLCanvasElement} picture
 * @param {number} side
 */
function drawTile(pen, sheet, { level, i, j }, { rows, columns }, picture, side) {
  const p = 2 ** level;
  const [x0, y0] = [sheet.x(j * side * p), sheet.y(i * side * p)];
  const [x1, y1] = [sheet.x((j * side + columns) * p), sheet.y((i * side + rows) * p)];
  pen.drawImage(picture, x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
}

/**
 * The part of a coarser tile that lies under a finer one.
 * @param {CanvasRenderingContext2D} pen
 * @param {Sheet} sheet
 * @param {TileAt} at
 * @param {number} up  the coarser level
 * @param {number} side
 * @param {(at: TileAt) => Tile | undefined} tileAt
 * @param {(tile: Tile) => HTMLCanvasElement} sprite
 */
function drawPiece(pen, sheet, at, up, side, tileAt, sprite) {
  const by = 2 ** (up - at.level);
  const [i, j] = [Math.floor(at.i / by), Math.floor(at.j / by)];
  const tile = tileAt({ level: up, i, j });
  if (!tile) return;
  const part = side / by; // cells of the coarser tile
  const [row, column] = [Math.floor((at.i % by) * part), Math.floor((at.j % by) * part)];
  const high = Math.min(Math.ceil(Math.max(1, part)), tile.rows - row);
  const wide = Math.min(Math.ceil(Math.max(1, part)), tile.columns - column);
  if (high <= 0 || wide <= 0) return;
  const p = 2 ** up;
  const [x0, y0] = [sheet.x((j * side + column) * p), sheet.y((i * side + row) * p)];
  const x1 = sheet.x((j * side + column + wide) * p);
  const y1 = sheet.y((i * side + row + high) * p);
  pen.drawImage(
    sprite(tile),
    column,
    row,
    wide,
    high,
    x0,
    y0,
    Math.max(1, x1 - x0),
    Math.max(1, y1 - y0),
  );
}

/**
 * Rows of padding, paled.
 * @param {CanvasRenderingContext2D} pen
 * @param {Pick<Sheet, "x" | "y">} sheet
 * @param {[number, number][]} padding  spans of queries
 * @param {Size} size
 * @param {Colors} colors
 */
export function palePadding(pen, { x, y }, padding, size, colors) {
  pen.fillStyle = colors.paper;
  pen.globalAlpha = FADED;
  for (const [from, upTo] of padding)
    pen.fillRect(x(0), y(from), x(size.keys) - x(0), y(upTo) - y(from));
  pen.globalAlpha = 1;
}

/**
 * Stripes for what is not computed yet: no colour of the ramp, and not the grey of hidden cells.
 * @param {Colors} colors
 * @param {number} ratio
 */
export function unknownFill(colors, ratio) {
  const size = Math.round(8 * ratio);
  const tile = /** @type {HTMLCanvasElement} */ (h("canvas", { width: size, height: size }));
  const brush = tile.getContext("2d");
  if (!brush) return colors.paper;
  brush.fillStyle = colors.paper;
  brush.fillRect(0, 0, size, size);
  brush.strokeStyle = colors.hatch;
  brush.lineWidth = 1.5 * ratio;
  for (const shift of [-size, 0, size]) {
    brush.moveTo(shift - size, -size);
    brush.lineTo(shift + 2 * size, 2 * size);
  }
  brush.stroke();
  return brush.createPattern(tile, "repeat") ?? colors.paper;
}

/**
 * The lines above the map: the cell that is spoken of, the locked pair, the picked query and key.
 * @param {CanvasRenderingContext2D} pen
 * @param {Sheet} sheet
 * @param {object} marks
 * @param {import("./map_camera.js").Cell | null} marks.cell
 * @param {boolean} marks.locked
 * @param {number | null} marks.row
 * @param {number | null} marks.key
 * @param {Colors} colors
 * @param {number} ratio
 */
export function drawLines(pen, sheet, { cell, locked, row, key }, colors, ratio) {
  const { width, height } = pen.canvas;
  if (row !== null)
    band(pen, [0, sheet.y(row), width, sheet.y(row + 1)], colors.focus, colors, ratio);
  if (key !== null)
    band(pen, [sheet.x(key), 0, sheet.x(key + 1), height], colors.focus, colors, ratio);
  if (row !== null && key !== null)
    wipe(pen, around(sheet, { rows: [row, row + 1], keys: [key, key + 1] }, ratio));
  if (!cell) return;
  const color = locked ? colors.focus : colors.ink;
  const rect = around(sheet, cell, ratio);
  wipe(pen, rect);
  frame(pen, rect, colors.paper, 4 * ratio);
  frame(pen, rect, color, (locked ? 2 : 1.5) * ratio);
}

/**
 * What frames a cell: of a few pixels, from further out.
 * @param {Sheet} sheet
 * @param {{rows: readonly number[], keys: readonly number[]}} cell
 * @param {number} ratio
 * @returns {Rect}
 */
function around(sheet, { rows, keys }, ratio) {
  const out = (/** @type {number} */ a, /** @type {number} */ b) => {
    const more = Math.max(1, Math.ceil((9 * ratio - (b - a)) / 2));
    return [a - more, b + more];
  };
  const [left, right] = out(sheet.x(keys[0]), sheet.x(keys[1]));
  const [top, bottom] = out(sheet.y(rows[0]), sheet.y(rows[1]));
  return [left, top, right, bottom];
}

/** No line covers what is inside.  @param {CanvasRenderingContext2D} pen @param {Rect} rect */
const wipe = (pen, [x0, y0, x1, y1]) => pen.clearRect(x0, y0, x1 - x0, y1 - y0);

/** @param {CanvasRenderingContext2D} pen @param {Rect} rect @param {string} color
 * @param {number} width */
function frame(pen, [x0, y0, x1, y1], color, width) {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
}

/**
 * Two lines along a row or a column, or one where it is thin.
 * @param {CanvasRenderingContext2D} pen
 * @param {Rect} rect
 * @param {string} color
 * @param {Colors} colors
 * @param {number} ratio
 */
function band(pen, [x0, y0, x1, y1], color, colors, ratio) {
  const across = x0 === 0; // a row
  const thick = across ? y1 - y0 : x1 - x0;
  const lines = thick >= 6 * ratio ? [0, thick] : [Math.round(thick / 2)];
  for (const [ink, width] of /** @type {[string, number][]} */ ([
    [colors.paper, 3],
    [color, 1],
  ]))
    for (const line of lines) {
      const half = (width * ratio) / 2;
      pen.fillStyle = ink;
      if (across) pen.fillRect(x0, y0 + line - half, x1 - x0, 2 * half);
      else pen.fillRect(x0 + line - half, y0, 2 * half, y1 - y0);
    }
}
