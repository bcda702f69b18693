// All that the page shows, derived from what a person chose and what the server told: no state of
// its own.
import { traceRow } from "./arithmetic.js";
import { isPaired, problemOf, unedited } from "./problem.js";
import { headArgs, traceArgs, weightArgs } from "./source.js";
import { columnsOf, ORDER, stepsOf } from "./steps.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */
/** @typedef {import("./types.js").Edit} Edit */
/** @typedef {import("./source.js").Source} Source */

const WINDOW = 8; // rows of the grid where not every query fits

/**
 * @typedef {object} Scene
 * @property {State} state
 * @property {string[]} tokens
 * @property {string[]} keyTokens
 * @property {boolean} paired  one table for queries and keys
 * @property {boolean} small  every row is at hand
 * @property {boolean} local  the page computed these numbers, since something was changed
 * @property {Edit | null} numbers  q, k, v of every token, where they are at hand
 * @property {(row: number) => LedgerRecord | null} recordOf
 * @property {LedgerRecord | null} record  the picked query's row
 * @property {number[]} gridRows
 * @property {number[]} gridKeys
 * @property {(row: number, column: number) => {weight: number, visible: boolean} | null} gridCell
 * @property {number} gridTop  the weight at the dark end of the ramp
 */

/** @param {Pick<State, "stage" | "batch" | "head">} place */
export const editKey = ({ stage, batch, head }) => `${stage}/${batch}/${head}`;

/**
 * Every row is in the grid from the start where the numbers are not the lesson's.
 * @param {State["info"]} info
 */
export const opensWhole = (info) => info.source !== "lesson";

/** Has this row entered the grid?  @param {State} state @param {number} row */
export const isIn = (state, row) => opensWhole(state.info) || state.seen.includes(row);

/** @param {State} state */
const isSmall = ({ info }) =>
  info.sizes.q_len <= info.limits.edit_tokens && info.sizes.kv_len <= info.limits.edit_tokens;

/** @param {State} state @param {Source} source @returns {Scene} */
export function sceneOf(state, source) {
  const { info } = state;
  const arrays = info.editable ? (source.arrays(state) ?? null) : null;
  const edit = state.edits[editKey(state)] ?? null;
  const local = (edit !== null || !state.scaled) && arrays !== null;
  const numbers = edit ?? (arrays && unedited(info, arrays));
  const problem =
    local && arrays && numbers ? problemOf(info, arrays, numbers, state.scaled) : null;
  /** @type {Map<number, LedgerRecord>} */
  const computed = new Map();
  const recordOf = (/** @type {number} */ row) => {
    if (!problem) return source.record(state, row) ?? null;
    const known = computed.get(row) ?? traceRow(problem, row, info.limits.ledger_keys);
    computed.set(row, known);
    return known;
  };
  const tokens = edit?.tokens ?? info.tokens;
  const keyTokens = edit?.key_tokens ?? info.key_tokens;
  const record = recordOf(state.row);
  const scene = {
    state,
    tokens,
    keyTokens,
    local,
    recordOf,
    record,
    paired: isPaired(info.tokens, info.key_tokens),
    small: isSmall(state),
    numbers: numbers ?? (isSmall(state) ? fromRecords(tokens, keyTokens, recordOf) : null),
  };
  return { ...scene, ...gridOf(scene, source) };
}

/**
 * @param {string[]} tokens
 * @param {string[]} keyTokens
 * @param {(row: number) => LedgerRecord | null} recordOf
 * @returns {Edit | null}
 */
function fromRecords(tokens, keyTokens, recordOf) {
  const records = tokens.map((_, row) => recordOf(row));
  const first = records[0];
  if (!first || records.includes(null)) return null;
  return {
    tokens,
    key_tokens: keyTokens,
    query: records.map((record) => record?.query ?? []),
    key: first.key,
    value: first.value ?? keyTokens.map(() => []),
    row_from: tokens.map((_, i) => i),
    key_from: keyTokens.map((_, j) => j),
  };
}

/** @param {State} state */
function windowRows({ row, info }) {
  const first = Math.max(0, Math.min(row - WINDOW / 2, info.sizes.q_len - WINDOW));
  return Array.from({ length: Math.min(WINDOW, info.sizes.q_len) }, (_, i) => first + i);
}

/**
 * @param {Pick<Scene, "state" | "tokens" | "keyTokens" | "small" | "record" | "recordOf">} scene
 * @param {Source} source
 * @returns {Pick<Scene, "gridRows" | "gridKeys" | "gridCell" | "gridTop">}
 */
function gridOf({ state, tokens, keyTokens, small, record, recordOf }, source) {
  if (small) {
    const gridCell = (/** @type {number} */ row, /** @type {number} */ c) => {
      const at = isIn(state, row) ? recordOf(row) : null;
      return at && { weight: at.weights[c], visible: at.visible[c] };
    };
    const [gridRows, gridKeys] = [tokens.map((_, i) => i), keyTokens.map((_, j) => j)];
    return { gridRows, gridKeys, gridCell, gridTop: 1 };
  }
  const gridRows = windowRows(state);
  const gridKeys = record?.keys ?? [];
  const found = record && source.weights(state, gridRows, gridKeys);
  const gridCell = (/** @type {number} */ row, /** @type {number} */ c) => {
    const r = gridRows.indexOf(row);
    return found ? { weight: found.weights[r][c], visible: found.visible[r][c] } : null;
  };
  return { gridRows, gridKeys, gridCell, gridTop: largest(found?.weights.flat() ?? []) };
}

/**
 * Where a few keys of many are shown their weights are small: the ramp ends at the largest.
 * @param {number[]} weights
 */
function largest(weights) {
  const top = Math.max(0, ...weights.filter((weight) => Number.isFinite(weight)));
  return top > 0 ? top : 1;
}

/**
 * What has to be asked for before this scene can be drawn.
 * @param {Scene} scene
 * @returns {[string, Record<string, string>][]}
 */
export function needsOf({ state, small, tokens, record, gridRows, gridKeys }) {
  const { info } = state;
  const top = info.limits.ledger_keys;
  /** @type {[string, Record<string, string>][]} */
  const needs = [];
  if (info.editable) needs.push(["arrays", headArgs(state)]);
  const edited = editKey(state) in state.edits;
  const rows = edited ? [] : small ? tokens.map((_, i) => i) : [state.row];
  for (const row of rows) needs.push(["trace", traceArgs(state, row, top)]);
  if (!small && record && gridKeys.length)
    needs.push(["weights", weightArgs(state, gridRows, gridKeys)]);
  return needs;
}

/**
 * @param {Scene} scene
 * @returns {import("./types.js").StepId[]}
 */
export const sceneSteps = ({ record, state }) => (record ? stepsOf(record, state.reading) : []);

/** @param {import("./types.js").StepId} id @param {import("./types.js").Progress} step */
export function isUnfolded(id, step) {
  return step !== "none" && ORDER.indexOf(id) <= ORDER.indexOf(step);
}

/** @param {Scene} scene */
export function isFinished(scene) {
  const last = sceneSteps(scene).at(-1);
  return last !== undefined && isUnfolded(last, scene.state.step);
}

/** Have all rows entered the grid?  @param {Scene} scene */
export const isWhole = ({ small, tokens, state }) =>
  small && tokens.every((_, row) => isIn(state, row));

/** Can all queries be shown at once, as matrices?  @param {Scene} scene */
export const hasLayer = ({ small, state, numbers }) =>
  small &&
  numbers !== null &&
  numbers.key.length > 0 &&
  (numbers.query[0]?.length ?? 0) <= state.info.limits.edit_dims &&
  (numbers.value[0]?.length ?? 0) <= state.info.limits.edit_dims &&
  state.info.sizes.value_dim !== null;

/**
 * The cell that the readout speaks of: under the pointer, else under the cursor; held inside the
 * ledger.
 * @param {Scene} scene
 * @returns {import("./types.js").Cursor | null}
 */
export function pointOf(scene) {
  const { record, state } = scene;
  const steps = sceneSteps(scene);
  if (!record || !steps.length) return null;
  return held(state.hover ?? state.cursor, steps, columnsOf(record).length);
}

/**
 * The cell that the keys move from.
 * @param {Scene} scene
 * @returns {import("./types.js").Cursor | null}
 */
export const cursorOf = (scene) => pointOf({ ...scene, state: { ...scene.state, hover: null } });

/**
 * @param {import("./types.js").Cursor} cursor
 * @param {import("./types.js").StepId[]} steps
 * @param {number} columns
 */
export function held(cursor, steps, columns) {
  const near = steps.filter((id) => ORDER.indexOf(id) <= ORDER.indexOf(cursor.step)).at(-1);
  return { step: near ?? steps[0], column: Math.max(0, Math.min(cursor.column, columns - 1)) };
}
