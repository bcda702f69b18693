// What the map view keeps at hand beside the state: tiles, exact numbers, profiles, the building of
// the map. It watches what is shown, asks for what that needs, and says when there is more to draw.
import { Atlas } from "./map_atlas.js";
import { Builder } from "./map_builder.js";
import { cellAround, edgesOf, tilesIn, within } from "./map_camera.js";
import { tally } from "./map_codes.js";
import { Profiles } from "./map_profiles.js";
import { Reader } from "./map_reader.js";
import { isDrawable, miniLevel, shownRegion } from "./map_scene.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./map_atlas.js").TileAt} TileAt */

const REST = 60; // milliseconds without a movement before tiles are asked for
const AGAIN = 500; // and between two looks at how far the building has come
const SOON = 150; // while little is built
const LITTLE = 0.2;
const COARSER = 5; // levels above the drawn one that show first what is built
const MOST_BUCKETS = 2048; // of a profile

export class Desk {
  /** @type {MapScene | null} */
  #shown = null;
  #view = ""; // what was asked for last
  #built = ""; // how far the map was then
  #rest = 0; // timers; 0: none is running
  #again = 0;
  /** @type {{place: string, name: string, counts: Float64Array} | null} */
  #counted = null;

  /** @param {import("./map_atlas.js").Hands} hands */
  constructor(hands) {
    const changed = () => {
      this.#recount();
      hands.changed();
    };
    const each = { ...hands, changed };
    this.changed = changed;
    this.atlas = new Atlas(each);
    this.reader = new Reader(each);
    this.profiles = new Profiles(each);
    this.builder = new Builder(each, () => document.visibilityState !== "hidden");
  }

  get busy() {
    const parts = [this.atlas, this.reader, this.profiles];
    const gaps = this.#shown !== null && hasGaps(this.#shown, this.atlas);
    return this.#rest !== 0 || gaps || parts.some((part) => part.busy);
  }

  /** How often each code stands in view.  @param {Args} place */
  counts(place) {
    return this.#counted?.place === placeName(place) ? this.#counted.counts : null;
  }

  /** What is shown now.  @param {MapScene | null} scene */
  see(scene) {
    this.#shown = scene;
    this.builder.see(scene?.place ?? null, scene?.state.map.paused ?? true);
    if (!scene?.info) {
      this.#view = "";
      this.reader.want({}, []);
      return;
    }
    this.reader.want(scene.place, readCells(scene));
    const view = viewName(scene);
    if (view !== this.#view) {
      clearTimeout(this.#rest);
      this.#rest = later(() => this.#ask(), this.#view ? REST : 0);
      this.#view = view;
    }
    const gaps = hasGaps(scene, this.atlas);
    if (this.#again || this.#rest || this.atlas.busy) return;
    if (gaps || this.#built !== builtName(scene))
      this.#again = later(() => this.#lookAgain(), gaps ? REST : pauseOf(scene.info));
  }

  #ask() {
    this.#rest = 0;
    if (!this.#shown) return;
    this.#built = builtName(this.#shown);
    this.atlas.want(this.#shown.place, wantedTiles(this.#shown));
    wantProfiles(this.profiles, this.#shown);
    this.changed();
  }

  #lookAgain() {
    this.#again = 0;
    this.atlas.older();
    this.profiles.older();
    this.#ask();
  }

  #recount() {
    if (!this.#shown?.info || this.#rest || this.atlas.busy) return;
    const name = `${this.#view} ${this.atlas.version}`;
    if (this.#counted?.name === name) return;
    const counts = countsIn(this.#shown, this.atlas);
    if (counts) this.#counted = { place: placeName(this.#shown.place), name, counts };
  }
}

/** @param {() => void} work @param {number} pause  milliseconds */
const later = (work, pause) => Number(setTimeout(work, pause));

/** @param {{done: number, of: number}} built */
const pauseOf = ({ done, of }) => (done < LITTLE * of ? SOON : AGAIN);

/** @param {Args} place */
const placeName = (place) => Object.values(place).join("/");

/** All that tiles and profiles in view depend on.  @param {MapScene} scene */
function viewName({ place, camera, layout, level, state }) {
  const { width, height } = layout.box;
  return [
    placeName(place),
    camera.x,
    camera.y,
    camera.z,
    width,
    height,
    level,
    state.map.pool,
  ].join(" ");
}

/** How far the map and its profile are.  @param {MapScene} scene */
const builtName = ({ info, profile }) => `${info?.done} ${profile?.done}`;

/** Tiles in view, coarser ones first while the map is not whole.  @param {MapScene} scene
 * @returns {TileAt[]} */
function wantedTiles({ info, level, camera, layout, size }) {
  if (!info) return [];
  const mini = miniLevel(size, info.tile);
  const wanted = info.refused && mini >= info.base ? [] : [{ level: mini, i: 0, j: 0 }];
  if (!isDrawable({ info, level })) return wanted;
  const tiles = (/** @type {number} */ at) => tilesIn(camera, layout.box, size, at, info.tile);
  if (info.done < info.of && !info.refused && level >= info.base)
    for (let up = Math.min(info.top, level + COARSER); up > level; up -= 2)
      wanted.push(...tiles(up));
  wanted.push(...tiles(level));
  return wanted;
}

/** Did a tile come with rows that were not worked out in time?
 * @param {MapScene} scene @param {Atlas} atlas */
function hasGaps({ info, level, place, camera, layout, size }, atlas) {
  if (!info || level >= info.base) return false;
  return tilesIn(camera, layout.box, size, level, info.tile).some(
    (at) => atlas.tile(place, at)?.whole === false,
  );
}

/** The cells whose numbers are read out.  @param {MapScene} scene */
function readCells({ cell, state, size }) {
  const { lock } = state.map;
  if (lock) return [cellAround(lock, 0, size)];
  return cell ? [cell] : [];
}

/** @param {Profiles} profiles @param {MapScene} scene */
function wantProfiles(profiles, scene) {
  const { place, layout, camera } = scene;
  const region = shownRegion(scene);
  if (!region) return;
  const per = 2 ** camera.z;
  const ask = (
    /** @type {import("./map_profiles.js").AxisName} */ axis,
    /** @type {[number, number]} */ [from, upTo],
    /** @type {number} */ pixels,
  ) => {
    const buckets = Math.min(upTo - from, pixels, Math.ceil((upTo - from) / per), MOST_BUCKETS);
    profiles.want(place, axis, [from, upTo], Math.max(1, buckets));
  };
  ask("queries", region.rows, layout.box.height);
  ask("keys", region.keys, layout.box.width);
}

/**
 * How often each code stands among the cells in view; null before any is there.
 * @param {MapScene} scene
 * @param {Atlas} atlas
 */
function countsIn({ info, level, place, camera, layout, size, state }, atlas) {
  if (!info) return null;
  const counts = new Float64Array(256);
  const { left, top, right, bottom } = edgesOf(camera, layout.box);
  let any = false;
  for (const at of tilesIn(camera, layout.box, size, level, info.tile)) {
    const tile = atlas.tile(place, at);
    if (!tile) continue;
    any = true;
    const part = (
      /** @type {number} */ from,
      /** @type {number} */ upTo,
      /** @type {number} */ start,
      /** @type {number} */ length,
    ) => {
      const cell = (/** @type {number} */ weight) => weight / 2 ** level - start * info.tile;
      const first = within(Math.floor(cell(from)), 0, length);
      return /** @type {[number, number]} */ ([
        first,
        within(Math.ceil(cell(upTo)), first, length),
      ]);
    };
    const [rows, keys] = [
      part(top, bottom, at.i, tile.rows),
      part(left, right, at.j, tile.columns),
    ];
    tally(counts, tile.codes[state.map.pool], tile.columns, rows, keys);
  }
  return any ? counts : null;
}
