// Coloured tiles, one pixel a cell: made when a tile is first drawn, and anew when colours change.
import { h } from "./dom.js";
import { keep } from "./map_atlas.js";
import { pixelsOf } from "./map_codes.js";

/** @typedef {import("./map_atlas.js").Tile} Tile */
/** @typedef {import("./map_atlas.js").Pool} Pool */

/**
 * @typedef {object} Sprite
 * @property {HTMLCanvasElement} canvas
 * @property {Uint32Array} pixels  that it was coloured with
 * @property {Pool} pool
 */

const MOST = 160; // coloured tiles that are kept

export function createSprites() {
  /** @type {Map<Tile, Sprite>} */
  const sprites = new Map();
  let name = "";
  let pixels = new Uint32Array(256);
  return {
    /**
     * The pixel of each code; the same array as long as nothing has changed.
     * @param {string} theme
     * @param {import("./heat_color.js").Colors} colors
     * @param {import("./map_codes.js").Codes} codes
     * @param {import("./map_codes.js").CodeRange} range
     */
    pixels(theme, colors, codes, range) {
      const wanted = `${theme} ${range.join(" ")}`;
      if (wanted !== name) [name, pixels] = [wanted, pixelsOf(colors, codes, range)];
      return pixels;
    },
    /** @param {Tile} tile @param {Pool} pool */
    sprite(tile, pool) {
      const old = sprites.get(tile);
      const fresh = old && old.pixels === pixels && old.pool === pool;
      const sprite = fresh ? old : colored(tile, pool, pixels, old?.canvas ?? null);
      keep(sprites, tile, sprite, MOST);
      return sprite.canvas;
    },
  };
}

/**
 * @param {Tile} tile
 * @param {Pool} pool
 * @param {Uint32Array} pixels
 * @param {HTMLCanvasElement | null} before
 * @returns {Sprite}
 */
function colored(tile, pool, pixels, before) {
  const { rows, columns } = tile;
  const made = before ?? h("canvas", { width: columns, height: rows });
  const canvas = /** @type {HTMLCanvasElement} */ (made);
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("canvas: must have a 2d context; got none.");
  const image = pen.createImageData(columns, rows);
  const words = new Uint32Array(image.data.buffer);
  const codes = tile.codes[pool];
  for (let i = 0; i < words.length; i += 1) words[i] = pixels[codes[i]];
  pen.putImageData(image, 0, 0);
  return { canvas, pixels, pool };
}
