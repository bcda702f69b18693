// How large things are in the map view, from the width and the height of the window.

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./map_camera.js").Box} Box */

/**
 * @typedef {object} MapLayout
 * @property {boolean} beside  the minimap and the lists stand beside the map
 * @property {Box} box  of the map itself
 * @property {number} names  pixels of the queries' names, left of it
 * @property {number} above  pixels of the keys' names, above it
 * @property {number} strip  pixels of the profiles, across
 * @property {number} mini  pixels of the minimap's longer side
 */

const WIDEST = 1360;
const BESIDE = 1080; // the page, at least, where the lists stand beside the map
const SIDE = 286; // and the pixels of the lists then
const GAP = 24;
const NARROW = 600;
const AROUND = 462; // pixels of the page above the map's cells and below
const [LEAST, MOST] = [260, 900]; // pixels that the map is high
const FRAME = 10; // gaps and the line around it

/** @param {Pick<State, "room" | "tall">} state @returns {MapLayout} */
export function mapLayout({ room, tall }) {
  const narrow = room < NARROW;
  const beside = room >= BESIDE;
  const page = Math.min(WIDEST, room) - (room < 860 ? 32 : 56);
  const names = narrow ? 62 : 96;
  const strip = narrow ? 30 : 44;
  const width = Math.max(160, page - (beside ? SIDE + GAP : 0) - names - strip - FRAME);
  const most = narrow ? width : Math.min(MOST, Math.round(1.1 * width));
  const height = Math.min(most, Math.max(LEAST, tall - AROUND));
  const above = 82;
  return { beside, box: { width, height }, names, above, strip, mini: beside ? 200 : 150 };
}
