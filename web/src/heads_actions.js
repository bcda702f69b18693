// What a person can do in the heads view: each action takes the scene and gives the changes of
// state.
import { partOf, tokenOfPlace, WINDOW } from "./heads_grid.js";
import { SINK } from "./heat_grid.js";
import { jump } from "./keys.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./actions.js").Changes} Changes */
/** @typedef {import("./types.js").Average} Average */
/** @typedef {import("./types.js").HeadAt} HeadAt */
/** @typedef {(scene: HeadsScene, argument: string) => Changes} Action */

/** @param {string} text @returns {HeadAt} */
function headFrom(text) {
  const [stage, head] = text.split(".").map(Number);
  return { stage, head };
}

/** @type {Action} */
function open({ state }, argument) {
  const at = headFrom(argument);
  const same = state.compare && state.compare.stage === at.stage && state.compare.head === at.head;
  return {
    ...at,
    open: true,
    thumb: at,
    average: "none",
    ...(same ? { compare: null } : {}),
    focus: "head",
  };
}

/** Rows and keys of the shown part, so that a position is in it.
 * @param {import("./types.js").State} state
 * @param {number} row
 * @param {number | null} key
 * @returns {import("./types.js").Pair}
 */
function cornerWith(state, row, key) {
  const { rows, keys } = partOf(state);
  const near = (/** @type {number} */ at, /** @type {[number, number]} */ [from, upTo]) =>
    at >= from && at < upTo ? from : Math.max(0, at - WINDOW / 2);
  return [near(row, rows), key === null ? keys[0] : near(key, keys)];
}

/** @param {HeadsScene} scene @param {number} row @returns {Changes} */
function ask({ state }, row) {
  if (!(row >= 0 && row < state.info.sizes.q_len)) return {};
  const mark = state.mark && /** @type {import("./types.js").Pair} */ ([row, state.mark[1]]);
  return { row, picked: true, hover: null, mark, corner: cornerWith(state, row, null) };
}

/** @param {HeadsScene} scene @param {number} row @param {number} key @returns {Changes} */
function pick(scene, row, key) {
  const { state } = scene;
  const chosen = key === SINK ? state.key : key;
  return {
    ...ask(scene, row),
    key: chosen,
    mark: [row, key === SINK ? 0 : key],
    corner: cornerWith(state, row, chosen),
    follow: true,
  };
}

/** The cursor of the grid by an arrow key.  @type {Action} */
function move({ state, first }, way) {
  if (!first?.grid) return {};
  const { shape, rowAt, keyAt } = first.grid;
  const [dy, dx] = jump(way);
  const { rowWords, keyWords } = first;
  const from = state.mark ?? [state.picked ? state.row : 0, state.key ?? 0];
  const place = (/** @type {number[][] | null} */ words, /** @type {number} */ token) =>
    words ? words.findIndex((some) => some.includes(token)) : token;
  const within = (/** @type {number} */ at, /** @type {number} */ start, /** @type {number} */ n) =>
    Math.max(start, Math.min(at, start + n - 1));
  const step = state.mark ? [dy, dx] : [0, 0];
  const row = within(place(rowWords, from[0]) + step[0], rowAt, shape[0]);
  const key = within(place(keyWords, from[1]) + step[1], keyAt, shape[1]);
  return { mark: [tokenOfPlace(rowWords, row), tokenOfPlace(keyWords, key)], point: null };
}

/** Among the thumbnails.  @type {Action} */
function moveThumb({ state }, way) {
  const { layers } = state.capture;
  const [dy, dx] = jump(way);
  const stage = Math.max(0, Math.min(state.thumb.stage + dy, layers.length - 1));
  const last = layers[stage].heads.length - 1;
  const head = Math.max(0, Math.min(state.thumb.head + dx, last));
  return { thumb: { stage, head }, over: { stage, head }, focus: "thumb" };
}

/** Among the tokens of the text: the next one asks.  @type {Action} */
function moveText(scene, way) {
  const { state, queries } = scene;
  const [dy, dx] = jump(way);
  const last = queries.tokens.length - 1;
  const from = state.picked ? state.row : dx + dy > 0 ? -1 : 0;
  const row = Math.max(0, Math.min(from + dx + dy, last));
  return { ...ask(scene, row), focus: "piece" };
}

/** @type {Action} */
function partBy({ state }, argument) {
  const [side, by] = argument.split(":");
  const { rows, keys } = partOf(state);
  const { q_len, kv_len } = state.info.sizes;
  const moved = (/** @type {number} */ from, /** @type {number} */ length) =>
    Math.max(0, Math.min(from + (Number(by) * WINDOW) / 2, length - WINDOW));
  const corner =
    side === "row" ? [moved(rows[0], q_len), keys[0]] : [rows[0], moved(keys[0], kv_len)];
  return { corner: /** @type {import("./types.js").Pair} */ (corner), mark: null, point: null };
}

/** @type {Record<string, Action>} */
export const HEAD_ACTIONS = {
  open,
  mark: move,
  "thumb-move": moveThumb,
  "text-move": moveText,
  "part-by": partBy,
  "part-row": ({ state }, row) => ({ corner: [Number(row), state.corner[1]], mark: null }),
  "part-key": ({ state }, key) => ({ corner: [state.corner[0], Number(key)], mark: null }),
  ask: (scene, row) => ask(scene, Number(row)),
  "ask-by": (scene, by) => ask(scene, (scene.state.picked ? scene.state.row : -1) + Number(by)),
  unpick: () => ({ picked: false, key: null, mark: null, focus: "piece" }),
  "head-row": (scene, place) =>
    ask(scene, tokenOfPlace(scene.first?.rowWords ?? null, Number(place))),
  "head-key": (scene, place) => {
    const key = tokenOfPlace(scene.first?.keyWords ?? null, Number(place));
    const { row, picked } = scene.state;
    return picked ? pick(scene, row, key) : { key, mark: [row, key] };
  },
  pick: (scene, pair) => {
    const [row, key] = pair.split(":").map(Number);
    return pick(scene, row, key);
  },
  "pick-mark": (scene) => {
    const { mark } = scene.state;
    return mark ? pick(scene, ...mark) : {};
  },
  average: (_, to) => ({ average: /** @type {Average} */ (to) }),
  words: (scene, on) => ({
    words: (on || String(Number(!scene.state.words))) === "1",
    point: null,
  }),
  first: ({ state }, on) => ({ first: (on || String(Number(!state.first))) === "1" }),
  compare: (_, head) =>
    head ? { compare: headFrom(head), focus: "pair" } : { compare: null },
  wide: ({ state }) => ({ wide: !state.wide }),
  "close-head": ({ state }) => ({
    open: false,
    compare: null,
    thumb: { stage: state.stage, head: state.head },
    focus: "thumb",
  }),
  leave: ({ state }) =>
    state.open
      ? { thumb: { stage: state.stage, head: state.head }, focus: "thumb" }
      : { focus: "thumb" },
};
