// What a person can do in the map view: each action takes the scene and gives the changes of state.
// Nothing here waits.
import { centreOf, panned, zoomedAt } from "./map_camera.js";
import { jump } from "./keys.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./actions.js").Changes} Changes */
/** @typedef {import("./types.js").MapState} MapState */
/** @typedef {(scene: MapScene, argument: string) => Partial<MapState>} Move */
/** @typedef {(scene: MapScene, argument: string) => Changes} Action */

const STEP = 1 / 6; // of the view, that an arrow key moves
export const WHOLE = { x: 0, y: 0, z: null };
const MOST_MARKS = 60;

/** @param {MapScene} scene @param {Partial<MapState>} changes @returns {Changes} */
export const changed = ({ state }, changes) => ({ map: { ...state.map, ...changes } });

/** @type {Move} */
function pan({ camera, size, layout }, way) {
  const [dy, dx] = jump(way);
  const { box } = layout;
  const by = STEP * Math.min(box.width, box.height);
  const far = (/** @type {number} */ d, /** @type {number} */ length) =>
    Number.isFinite(d) ? d * by : Math.sign(d) * length;
  const moved = panned(camera, far(dx, box.width), far(dy, box.height), size, box);
  return { ...moved, aim: centreOf(moved, size) };
}

/** One token further: the held pair, or else the view.  @type {Move} */
function step({ camera, size, state, layout }, way) {
  const [dy, dx] = jump(way).map((d) => (Number.isFinite(d) ? d : 0));
  const { lock } = state.map;
  const from = lock ?? centreOf(camera, size);
  const to = /** @type {import("./types.js").Pair} */ ([
    Math.max(0, Math.min(from[0] + dy, size.rows - 1)),
    Math.max(0, Math.min(from[1] + dx, size.keys - 1)),
  ]);
  if (!lock) return { ...camera, y: to[0] + 0.5, x: to[1] + 0.5, aim: to };
  const { width, height } = layout.box;
  const y = inSight(to[0], camera.y, camera.z, height);
  return { ...camera, y, x: inSight(to[1], camera.x, camera.z, width), lock: to };
}

/**
 * The middle of the view along one side, moved no further than that a token is in sight.
 * @param {number} at
 * @param {number} middle
 * @param {number} z
 * @param {number} pixels
 */
function inSight(at, middle, z, pixels) {
  const reach = Math.max(0, (pixels * 2 ** z) / 2 - 1);
  return Math.max(at + 0.5 - reach, Math.min(middle, at + 0.5 + reach));
}

/** @type {Move} */
function zoom({ camera, size, layout, state }, by) {
  if (by === "0") return { ...WHOLE, aim: null };
  const { box } = layout;
  const whole = by === "1" ? Math.floor(camera.z + 1e-9) + 1 : Math.ceil(camera.z - 1e-9) - 1;
  const moved = zoomedAt(camera, whole - camera.z, [box.width / 2, box.height / 2], size, box);
  return { ...moved, aim: state.map.aim && centreOf(moved, size) };
}

/** One end of the colours, as “low:2.5”.  @type {Move} */
function range(scene, argument) {
  if (argument === "all") return { range: [0, 100] };
  const [which, value] = argument.split(":");
  const [low, high] = scene.state.map.range;
  const at = Math.round(10 * Math.max(0, Math.min(100, Number(value)))) / 10;
  if (Number.isNaN(at)) return {};
  return { range: which === "low" ? [Math.min(at, high), high] : [low, Math.max(at, low)] };
}

/** What follows a hand: drawn in the next frame, written into the address once it rests.
 * @type {Record<string, Move>} */
export const MAP_MOVES = {
  "map-pan": pan,
  "map-step": step,
  "map-zoom": zoom,
  "map-range": range,
};

/** @param {MapScene} scene @param {number} row @returns {Changes} */
function ask({ size }, row) {
  if (!(row >= 0 && row < size.rows)) return {};
  return { row, picked: true, hover: null, follow: false };
}

/** The query before or after; the held pair follows where it is the picked query's.
 * @type {Action} */
function askBy(scene, by) {
  const { picked, row, map } = scene.state;
  const next = (picked ? row : -1) + Number(by);
  const asked = ask(scene, next);
  const { lock } = map;
  if (asked.row === undefined || !picked || lock?.[0] !== row) return asked;
  const y = inSight(next, scene.camera.y, scene.camera.z, scene.layout.box.height);
  const camera = y === scene.camera.y ? {} : { ...scene.camera, y };
  return { ...asked, ...changed(scene, { ...camera, lock: [next, lock[1]] }) };
}

/** @param {MapScene} scene @param {number} query @param {number} key @returns {Changes} */
export const pickPair = (scene, query, key) =>
  query >= 0 && key >= 0 && query < scene.size.rows && key < scene.size.keys
    ? { ...ask(scene, query), key, follow: true }
    : {};

/** Keep this place, by the held pair where there is one.  @type {Action} */
function mark(scene) {
  const { state, camera, size } = scene;
  const { marks, lock } = state.map;
  if (marks.length >= MOST_MARKS)
    return { notice: `There are ${MOST_MARKS} bookmarks: remove one first.` };
  const [query, key] = lock ?? centreOf(camera, size);
  const z = Math.round(10 * camera.z) / 10;
  const same = marks.some((one) => one.query === query && one.key === key && one.z === z);
  if (same) return { notice: "This place is kept already." };
  return changed(scene, { marks: [...marks, { query, key, z, lock: lock !== null }] });
}

/** @type {Action} */
function going(scene, how) {
  const { map } = scene.state;
  if (how === "close") return { ...changed(scene, { going: null }), focus: "map" };
  const open = map.going ?? { query: "", key: "", trouble: "", wrong: null };
  return { ...changed(scene, { going: open }), focus: "going" };
}

/** What is typed into the form is kept at once, so that no answer can sweep it away.
 * @type {Action} */
function typed(scene, argument) {
  const { going } = scene.state.map;
  const [side, ...rest] = argument.split(":");
  if (!going || (side !== "query" && side !== "key")) return {};
  return changed(scene, { going: { ...going, [side]: rest.join(":"), trouble: "", wrong: null } });
}

/** Escape: whatever is open or held, one after the other.  @type {Action} */
function leave(scene) {
  const { map, picked, key } = scene.state;
  if (map.going) return going(scene, "close");
  if (map.lock) return { ...changed(scene, { lock: null }), focus: "map" };
  if (picked || key !== null) return { picked: false, key: null, focus: "map" };
  return { focus: "map" };
}

/** @type {Record<string, Action>} */
export const MAP_ACTIONS = {
  "map-pool": (scene, pool) =>
    changed(scene, {
      pool: pool === "max" || pool === "share" ? pool : other(scene.state.map.pool),
    }),
  "map-pause": (scene) => changed(scene, { paused: !scene.state.map.paused }),
  "map-mark": mark,
  "map-unmark": (scene, i) =>
    changed(scene, { marks: scene.state.map.marks.filter((_, at) => at !== Number(i)) }),
  "map-tour-close": (scene) => changed(scene, { tour: null }),
  "map-going": going,
  "map-typed": typed,
  "map-leave": leave,
  "map-ask": (scene, row) => ask(scene, Number(row)),
  "map-ask-by": askBy,
  "map-key": (scene, key) =>
    Number(key) >= 0 && Number(key) < scene.size.keys ? { key: Number(key), follow: true } : {},
};

/** @param {import("./map_atlas.js").Pool} pool */
const other = (pool) => (pool === "max" ? "share" : "max");
