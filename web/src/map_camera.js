// Where the map looks: a key and a query at its centre, and how many weights a pixel has.

/**
 * @typedef {object} Camera
 * @property {number} x  the key at the centre, fractions allowed
 * @property {number} y  the query
 * @property {number} z  log2 of the weights along a CSS pixel
 *
 * @typedef {{width: number, height: number}} Box  CSS pixels of the map
 * @typedef {{rows: number, keys: number}} Size  weights of the whole head
 * @typedef {import("./types.js").Pair} Pair
 * @typedef {[number, number]} Span  from, up to
 *
 * @typedef {object} Cell  a square of weights, aligned and cut at the edges
 * @property {number} level
 * @property {Span} rows
 * @property {Span} keys
 */

export const NEAREST = -6; // 64 pixels a weight
export const NATIVE = -4.5; // where a pair that one flies to can be read
const SLACK = 1e-9;

/** @param {number} x @param {number} low @param {number} high */
export const within = (x, low, high) => Math.max(low, Math.min(x, high));

/** The whole head in the box.  @param {Size} size @param {Box} box @returns {Camera} */
export function worldCamera({ rows, keys }, { width, height }) {
  const per = Math.max(keys / width, rows / height);
  return { x: keys / 2, y: rows / 2, z: Math.max(NEAREST, Math.log2(Math.max(per, 2 ** NEAREST))) };
}

/**
 * Any weight may stand at the centre; nothing is farther away than the whole head.
 * @param {Camera} camera
 * @param {Size} size
 * @param {Box} box
 * @returns {Camera}
 */
export function heldCamera({ x, y, z }, size, box) {
  return {
    x: within(x, 0, size.keys),
    y: within(y, 0, size.rows),
    z: within(z, NEAREST, worldCamera(size, box).z),
  };
}

/** What the box shows, in weights.  @param {Camera} camera @param {Box} box */
export function edgesOf({ x, y, z }, { width, height }) {
  const per = 2 ** z;
  const [left, top] = [x - (width * per) / 2, y - (height * per) / 2];
  return { per, left, top, right: left + width * per, bottom: top + height * per };
}

/**
 * Nearer (by < 0) or farther, with what lies under a point of the box staying there.
 * @param {Camera} camera
 * @param {number} by
 * @param {[number, number]} point  CSS pixels from the box's corner
 * @param {Size} size
 * @param {Box} box
 * @returns {Camera}
 */
export function zoomedAt(camera, by, [px, py], size, box) {
  const world = worldCamera(size, box);
  const z = Math.max(NEAREST, camera.z + by);
  if (z >= world.z) return world;
  const change = 2 ** camera.z - 2 ** z;
  const x = camera.x + (px - box.width / 2) * change;
  const y = camera.y + (py - box.height / 2) * change;
  return heldCamera({ x, y, z }, size, box);
}

/**
 * @param {Camera} camera
 * @param {number} dx  CSS pixels that the view moves to the right
 * @param {number} dy  and down
 * @param {Size} size
 * @param {Box} box
 */
export const panned = ({ x, y, z }, dx, dy, size, box) =>
  heldCamera({ x: x + dx * 2 ** z, y: y + dy * 2 ** z, z }, size, box);

/**
 * The finest level of which a cell fills a pixel of the screen: tiles are stretched, never shrunk,
 * so that no cell is dropped.
 * @param {number} z
 * @param {number} ratio  pixels of the screen in a CSS pixel
 * @param {number} top  the coarsest level
 */
export const levelAt = (z, ratio, top) => within(Math.ceil(z - Math.log2(ratio) - SLACK), 0, top);

/**
 * The weight under a point of the box, or null outside.
 * @param {Camera} camera
 * @param {Box} box
 * @param {Size} size
 * @param {[number, number]} point
 * @returns {Pair | null}
 */
export function pairUnder(camera, box, size, [px, py]) {
  const { left, top, per } = edgesOf(camera, box);
  const [query, key] = [Math.floor(top + py * per), Math.floor(left + px * per)];
  const inside = query >= 0 && key >= 0 && query < size.rows && key < size.keys;
  return inside ? [query, key] : null;
}

/** @param {Camera} camera @param {Size} size @returns {Pair} */
export const centreOf = ({ x, y }, size) => [
  within(Math.floor(y), 0, size.rows - 1),
  within(Math.floor(x), 0, size.keys - 1),
];

/** The cell around a pair.  @param {Pair} pair @param {number} level @param {Size} size
 * @returns {Cell} */
export function cellAround([query, key], level, { rows, keys }) {
  const p = 2 ** level;
  const span = (/** @type {number} */ at, /** @type {number} */ length) => {
    const start = Math.floor(at / p) * p;
    return /** @type {Span} */ ([start, Math.min(length, start + p)]);
  };
  return { level, rows: span(query, rows), keys: span(key, keys) };
}

/**
 * The whole weights in view; null where none is.
 * @param {Camera} camera
 * @param {Box} box
 * @param {Size} size
 * @returns {{rows: Span, keys: Span} | null}
 */
export function regionOf(camera, box, size) {
  const { left, top, right, bottom } = edgesOf(camera, box);
  const span = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ n) =>
    /** @type {Span} */ ([within(Math.floor(from), 0, n), within(Math.ceil(to), 0, n)]);
  const [rows, keys] = [span(top, bottom, size.rows), span(left, right, size.keys)];
  return rows[1] > rows[0] && keys[1] > keys[0] ? { rows, keys } : null;
}

/**
 * The tiles of a level in view, those at the centre first.
 * @param {Camera} camera
 * @param {Box} box
 * @param {Size} size
 * @param {number} level
 * @param {number} tile  cells along a tile
 * @returns {{level: number, i: number, j: number}[]}
 */
export function tilesIn(camera, box, size, level, tile) {
  const region = regionOf(camera, box, size);
  if (!region) return [];
  const side = tile * 2 ** level;
  const found = [];
  for (let i = Math.floor(region.rows[0] / side); i * side < region.rows[1]; i += 1)
    for (let j = Math.floor(region.keys[0] / side); j * side < region.keys[1]; j += 1)
      found.push({ level, i, j });
  const far = (/** @type {{i: number, j: number}} */ { i, j }) =>
    Math.hypot((i + 0.5) * side - camera.y, (j + 0.5) * side - camera.x);
  return found.sort((a, b) => far(a) - far(b));
}

/**
 * Between two cameras, 0 ... 1: what both show moves in a straight line over the screen.
 * @param {Camera} from
 * @param {Camera} to
 * @param {number} share
 * @returns {Camera}
 */
export function between(from, to, share) {
  const z = from.z + (to.z - from.z) * share;
  const [a, b, now] = [2 ** from.z, 2 ** to.z, 2 ** z];
  const left = Math.abs(a - b) < SLACK ? 1 - share : (now - b) / (a - b);
  return { x: to.x + (from.x - to.x) * left, y: to.y + (from.y - to.y) * left, z };
}
