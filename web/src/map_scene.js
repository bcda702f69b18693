// All that the map view shows, derived from what a person chose and what the server told.
import { axesOf } from "./capture_info.js";
import {
  cellAround,
  heldCamera,
  levelAt,
  NEAREST,
  regionOf,
  within,
  worldCamera,
} from "./map_camera.js";
import { percentiles } from "./map_codes.js";
import { mapLayout } from "./map_layout.js";
import { ledgerScene } from "./heads_scene.js";
import { headArgs, traceArgs } from "./source.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Pair} Pair */
/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./map_camera.js").Camera} Camera */
/** @typedef {import("./map_camera.js").Cell} Cell */
/** @typedef {import("./map_camera.js").Size} Size */
/** @typedef {import("./map_reader.js").Reading} Reading */
/** @typedef {{query: number, key: number, weight: number}} Link */

/**
 * @typedef {object} Links  a list of the largest weights, or why there is none
 * @property {Link[] | null} links
 * @property {string} refused
 */

/**
 * @typedef {object} MapScene
 * @property {State} state
 * @property {Args} place  of the head, as the server is asked
 * @property {Size} size
 * @property {import("./types.js").AxisInfo} queries
 * @property {import("./types.js").AxisInfo} keys
 * @property {import("./map_layout.js").MapLayout} layout
 * @property {Camera} camera
 * @property {number} level  of the tiles that are drawn
 * @property {import("./map_builder.js").MapAnswer | null} info
 * @property {import("./map_builder.js").ProfileAnswer | null} profile
 * @property {string} refused  why there is no map at all
 * @property {import("./map_codes.js").CodeRange | null} range
 * @property {boolean} hasNaN  among the codes in view
 * @property {Pair | null} at  the pair that is spoken of: the locked one, else the one aimed at
 * @property {Cell | null} cell  around it
 * @property {Reading | null} reading
 * @property {Links} from  what the picked query reads
 * @property {Links} by  what reads the picked key
 * @property {import("./scene.js").Scene | null} ledger
 */

const REACH = 2 ** 28; // weights that the server works out for one list where the map is not whole
export const LISTED = 12;

/** @param {State} state @returns {Size} */
export const sizeOf = ({ info: { sizes } }) => ({ rows: sizes.q_len, keys: sizes.kv_len });

/** Tiles below this level come without the whole map.  @param {{base: number}} info */
const finest = ({ base }) => base - 1;

/**
 * @param {State} state
 * @param {Source} source
 * @param {import("./map_desk.js").Desk} desk
 * @returns {MapScene}
 */
export function mapScene(state, source, desk) {
  const { map } = state;
  const place = headArgs(state);
  const size = sizeOf(state);
  const layout = mapLayout(state);
  const info = desk.builder.map(place);
  const camera = cameraOf(state, info);
  const level = levelAt(camera.z, globalThis.devicePixelRatio || 1, info?.top ?? 0);
  const refused = desk.builder.refused(place);
  const at = refused ? null : (map.lock ?? map.aim);
  const cell = at && cellAround(at, map.lock ? 0 : level, size);
  const counts = desk.counts(place);
  const codes = info?.codes ?? null;
  return {
    state,
    place,
    size,
    ...axesOf(state.capture, state.stage, state.batch),
    layout,
    camera,
    level,
    info,
    profile: desk.builder.profile(place),
    refused,
    range: counts && codes ? percentiles(counts, codes, map.range) : null,
    hasNaN: counts !== null && codes !== null && counts[codes.nan] > 0,
    at,
    cell,
    reading: (cell && desk.reader.reading(place, cell)) ?? null,
    from: linksOf(state, source, state.picked ? { rows: state.row } : null),
    by: linksOf(state, source, state.key === null ? null : { keys: state.key }),
    ledger: state.picked ? ledgerScene(state, source) : null,
  };
}

/**
 * Where nothing was chosen the whole head is seen, or, where that is too much, its first part.
 * @param {State} state
 * @param {import("./map_builder.js").MapAnswer | null} info
 */
export function cameraOf(state, info) {
  const { x, y, z } = state.map;
  const size = sizeOf(state);
  const { box } = mapLayout(state);
  if (z !== null) return heldCamera({ x, y, z }, size, box);
  const world = worldCamera(size, box);
  if (!info?.refused || world.z <= finest(info)) return world;
  const near = within(finest(info), NEAREST, world.z);
  const per = 2 ** near;
  return heldCamera({ x: (box.width * per) / 2, y: (box.height * per) / 2, z: near }, size, box);
}

/** @param {State} state @param {{rows?: number, keys?: number}} of @returns {Args} */
function linkArgs(state, { rows, keys }) {
  const one = (/** @type {number | undefined} */ at) =>
    at === undefined ? {} : { span: `${at}:${at + 1}` };
  const row = one(rows).span;
  const key = one(keys).span;
  return {
    ...headArgs(state),
    ...(row ? { rows: row } : {}),
    ...(key ? { keys: key } : {}),
    count: String(LISTED),
  };
}

/**
 * @param {State} state
 * @param {Source} source
 * @param {{rows?: number, keys?: number} | null} of
 * @returns {Links}
 */
function linksOf(state, source, of) {
  const answer = of && source.answer("strongest", linkArgs(state, of));
  return { links: answer?.json?.links ?? null, refused: answer?.refused ?? "" };
}

/**
 * The pair that the read-out names: of a cell of several weights its strongest, once that is known.
 * @param {MapScene} scene
 * @returns {Pair | null}
 */
export function namedPair({ at, cell, reading }) {
  if (!cell || cell.level === 0) return at;
  const { query = -1, key = -1 } = reading?.cell ?? {};
  return query < 0 || key < 0 ? null : [query, key];
}

/** Can a list over all queries be asked for already?  @param {MapScene} scene */
export function isWithinReach({ info, size }) {
  if (!info) return false;
  return info.done >= info.of || size.rows * size.keys <= REACH;
}

/**
 * What the lists and the ledger need; tiles and single numbers come by the desk.
 * @param {MapScene} scene
 * @returns {[string, Args][]}
 */
export function mapNeeds(scene) {
  const { state } = scene;
  /** @type {[string, Args][]} */
  const needs = [];
  if (state.picked) {
    needs.push(["trace", traceArgs(state, state.row, state.info.limits.ledger_keys)]);
    needs.push(["strongest", linkArgs(state, { rows: state.row })]);
  }
  if (state.key !== null && isWithinReach(scene))
    needs.push(["strongest", linkArgs(state, { keys: state.key })]);
  return needs;
}

/** The weights in view.  @param {MapScene} scene */
export const shownRegion = ({ camera, layout, size }) => regionOf(camera, layout.box, size);

/**
 * Are tiles of the level in view to be had at all?
 * @param {{info: import("./map_builder.js").MapAnswer | null, level: number}} scene
 */
export const isDrawable = ({ info, level }) =>
  info !== null && (!info.refused || level <= finest(info));

/** The level of which one tile holds the whole head.  @param {Size} size @param {number} tile */
export const miniLevel = ({ rows, keys }, tile) =>
  Math.max(0, Math.ceil(Math.log2(Math.max(rows, keys) / tile)));
