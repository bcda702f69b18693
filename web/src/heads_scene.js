// All that the heads view shows, derived from what a person chose and what the server told.
import { axesOf } from "./capture_info.js";
import { everywhereArgs, isAlike, overviewParts } from "./heads_needs.js";
import { byWords, headView, isWindowed, lineOf, placeOfToken } from "./heads_grid.js";
import { numbersIn } from "./frame.js";
import { readBy, readsFrom } from "./reads.js";
import { sceneOf } from "./scene.js";
import { traceArgs } from "./source.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").HeadAt} HeadAt */
/** @typedef {import("./types.js").Pair} Pair */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./heads_grid.js").HeadView} HeadView */

/**
 * @typedef {object} HeadFacts
 * @property {number} number
 * @property {number | null} entropy
 * @property {number | null} first_share
 * @property {number | null} previous_share
 * @property {number | null} sink
 *
 * @typedef {object} Overview  the thumbnails of one layer, but of heads that are still on their way
 * @property {number} rows
 * @property {number} columns
 * @property {number} per
 * @property {HeadFacts[]} heads
 * @property {Float32Array[]} pictures
 * @property {string} backend
 *
 * @typedef {object} Lines  what a row reads and what a key is read by
 * @property {import("./reads.js").Entry[] | null} from
 * @property {import("./reads.js").Entry[] | null} by
 * @property {string} note  why the second is not whole
 */

/**
 * @typedef {object} HeadsScene
 * @property {State} state
 * @property {import("./types.js").AxisInfo} queries
 * @property {import("./types.js").AxisInfo} keys
 * @property {boolean} windowed
 * @property {boolean} words
 * @property {boolean} hasWords
 * @property {(stage: number) => Overview | null} overview
 * @property {(stage: number) => string} overviewRefused
 * @property {(at: HeadAt) => {key: number, weight: number, entropy: number} | null} everywhere
 * @property {HeadView | null} first
 * @property {HeadView | null} second
 * @property {Pair | null} picked  the picked row and key, as places of the grid; key -1: none
 * @property {Pair | null} at  the cell that the read-out speaks of, as places of the grid
 * @property {Lines} lines
 * @property {import("./scene.js").Scene | null} ledger
 */

/** @param {State} state @param {Source} source @returns {HeadsScene} */
export function headsScene(state, source) {
  const { capture, stage, batch, head } = state;
  const { queries, keys } = axesOf(capture, stage, batch);
  const first = state.open ? headView(state, source, { stage, head }, state.average) : null;
  const beside = first && comparable(state) ? state.compare : null;
  const second = beside && headView(state, source, beside, "none");
  const everywhere = state.picked ? source.answer("everywhere", everywhereArgs(state)) : undefined;
  return {
    state,
    queries,
    keys,
    windowed: isWindowed(state),
    words: byWords(state),
    hasWords: queries.words !== null && keys.words !== null && !isWindowed(state),
    overview: (layer) => overviewOf(state, source, layer),
    overviewRefused: (layer) => overviewRefused(state, source, layer),
    everywhere: (at) =>
      everywhere?.json?.layers.find((/** @type {any} */ one) => one.layer === at.stage)?.heads[
        at.head
      ] ?? null,
    first,
    second,
    ...pairsOf(state, first),
    lines: linesOf(state, source, first),
    ledger: hasLedger(state) ? ledgerScene(state, source) : null,
  };
}

/** A mean has no steps of its own.  @param {State} state */
export const hasLedger = ({ open, picked, average }) => open && picked && average === "none";

/** As the numbers came, with every step.  @param {State} state @param {Source} source */
export function ledgerScene(state, source) {
  const scene = sceneOf({ ...state, step: "reads", edits: {}, scaled: true }, source);
  const column = state.follow ? (scene.record?.keys.indexOf(state.key ?? -1) ?? -1) : -1;
  if (column < 0) return scene;
  return { ...scene, state: { ...scene.state, cursor: { ...state.cursor, column } } };
}

/** @param {State} state */
const comparable = (state) =>
  state.compare !== null && isAlike(state, state.stage, state.compare.stage);

/** @param {State} state @param {Source} source @param {number} stage @returns {Overview | null} */
function overviewOf(state, source, stage) {
  /** @type {import("./source.js").Answer[]} */
  const parts = [];
  for (const args of overviewParts(state, stage)) {
    const answer = source.answer("overview", args);
    if (!answer?.bytes) break; // they are asked for in their order
    parts.push(answer);
  }
  const last = parts.at(-1);
  if (!last) return null;
  return source.made(last, "pictures", () => ({
    ...last.json,
    heads: parts.flatMap(({ json }) => json.heads),
    pictures: parts.flatMap(picturesOf),
  }));
}

/** @param {import("./source.js").Answer} answer */
function picturesOf({ json: { rows, columns, heads }, bytes }) {
  const cells = rows * columns;
  return heads.map((/** @type {unknown} */ _, /** @type {number} */ i) =>
    numbersIn(/** @type {Uint8Array} */ (bytes), Float32Array, 4 * i * cells, cells),
  );
}

/**
 * The sentence that came instead.
 * @param {State} state
 * @param {Source} source
 * @param {number} stage
 */
function overviewRefused(state, source, stage) {
  const answers = overviewParts(state, stage).map((args) => source.answer("overview", args));
  return answers.find((answer) => answer?.refused)?.refused ?? "";
}

/** @param {State} state @param {HeadView | null} view */
function pairsOf({ picked, row, key, mark, point }, view) {
  if (!view?.grid) return { picked: null, at: null };
  const { rowWords, keyWords } = view;
  const placed = (/** @type {Pair} */ [r, k]) => {
    const [a, b] = [placeOfToken(rowWords, r), placeOfToken(keyWords, k)];
    return a === null || b === null ? null : /** @type {Pair} */ ([a, b]);
  };
  const shown = point ?? mark;
  return {
    picked: picked ? placed([row, key ?? -1]) : null,
    at: shown && placed(shown),
  };
}

/** @param {State} state @param {Source} source @param {HeadView | null} view @returns {Lines} */
function linesOf(state, source, view) {
  if (!view?.grid || !state.picked) return { from: null, by: null, note: "" };
  const { grid } = view;
  const row = placeOfToken(view.rowWords, state.row) ?? 0;
  const key = placeOfToken(view.keyWords, state.key);
  const line = isWindowed(state) ? lineOf(state, source, view, { row: state.row }) : null;
  const across = line ? line.grid : grid;
  const from = across && source.made(across, `from ${row}`, () => readsFrom(across, row));
  if (key === null) return { from, by: null, note: "" };
  const column = isWindowed(state) ? lineOf(state, source, view, { key }) : null;
  const down = column ? (column.grid ?? (column.refused ? grid : null)) : grid;
  const by = down && source.made(down, `by ${key}`, () => readBy(down, key));
  return { from, by, note: column?.refused ? "Among the rows shown." : "" };
}

/**
 * What is missing, most urgent first: the open head before the thumbnails, and of these one layer,
 * or a part of one, at a time, so that whatever is clicked waits for one answer at most.
 * @param {HeadsScene} scene
 * @param {Source} source
 * @returns {[string, Args][]}
 */
export function headNeeds({ state, first, second }, source) {
  /** @type {[string, Args][]} */
  const needs = [...(first?.needs ?? []), ...(second?.needs ?? [])];
  if (state.picked) needs.push(["everywhere", everywhereArgs(state)]);
  if (hasLedger(state))
    needs.push(["trace", traceArgs(state, state.row, state.info.limits.ledger_keys)]);
  if (first && state.picked && isWindowed(state)) {
    needs.push(["grid", lineOf(state, source, first, { row: state.row }).args]);
    if (state.key !== null)
      needs.push(["grid", lineOf(state, source, first, { key: state.key }).args]);
  }
  const parts = state.capture.layers.flatMap((_, stage) =>
    overviewRefused(state, source, stage) ? [] : overviewParts(state, stage),
  );
  const next = parts.find((args) => !source.has("overview", args));
  if (next) needs.push(["overview", next]);
  return needs;
}
