// One opened head, or a mean: its grid decoded, its facts, the colours' range.
import { axesOf, isPadding } from "./capture_info.js";
import { numbersIn } from "./frame.js";
import { rangeOf } from "./heat_color.js";
import { SINK } from "./heat_grid.js";
import { headOrMean, span } from "./heads_needs.js";
import { revive } from "./source.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").HeadAt} HeadAt */
/** @typedef {import("./types.js").Average} Average */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./source.js").Answer} Answer */
/** @typedef {import("./heat_grid.js").Grid} Grid */
/** @typedef {import("./heat_color.js").Range} Range */

/**
 * @typedef {object} Facts
 * @property {number[]} entropy
 * @property {number[]} received
 * @property {number[] | null} sink
 * @property {number[]} max_score
 * @property {number[]} visible
 * @property {number[] | null} first_share
 */

/**
 * @typedef {object} HeadView
 * @property {HeadAt} at
 * @property {Average} average
 * @property {Grid | null} grid  null while it is on its way
 * @property {string} what  what the numbers are, in the server's words
 * @property {string | null} rule  how words are summed
 * @property {string} refused
 * @property {Facts | null} facts  of all rows and keys, by token
 * @property {number[][] | null} rowWords  the tokens of each row, where rows are words
 * @property {number[][] | null} keyWords
 * @property {Range} range
 * @property {[string, Args][]} needs
 */

const MOST_FACTS = 2 ** 27; // weights of a head: more, and its facts keep everybody waiting
export const WHOLE = 1024; // tokens a side that are shown at once
export const WINDOW = 512; // tokens a side of a part

/** @param {State} state */
export const isWindowed = ({ info }) =>
  info.sizes.q_len > WHOLE ||
  info.sizes.kv_len > WHOLE ||
  info.sizes.q_len * info.sizes.kv_len > info.limits.grid_cells;

/**
 * The rows and keys that are shown, from and to.
 * @param {State} state
 * @returns {{rows: [number, number], keys: [number, number]}}
 */
export function partOf(state) {
  const { q_len, kv_len } = state.info.sizes;
  if (!isWindowed(state)) return { rows: [0, q_len], keys: [0, kv_len] };
  const part = (/** @type {number} */ start, /** @type {number} */ length) => {
    const from = Math.max(0, Math.min(start, length - WINDOW));
    return /** @type {[number, number]} */ ([from, Math.min(length, from + WINDOW)]);
  };
  return { rows: part(state.corner[0], q_len), keys: part(state.corner[1], kv_len) };
}

/** @param {State} state */
const hasFacts = ({ info }) => info.sizes.q_len * info.sizes.kv_len <= MOST_FACTS;

/** Words are summed over the whole grid only.  @param {State} state */
export const byWords = (state) => state.words && !isWindowed(state);

/**
 * @param {State} state
 * @param {Source} source
 * @param {HeadAt} at
 * @param {Average} average
 * @returns {HeadView}
 */
export function headView(state, source, at, average) {
  const place = headOrMean(state, at, average);
  const { rows, keys } = partOf(state);
  /** @type {Args} */
  const part = isWindowed(state) ? { rows: span(...rows), keys: span(...keys) } : {};
  const words = byWords(state);
  /** @type {Args} */
  const asked = { ...place, ...part, ...(words ? { words: "1" } : {}) };
  const answer = source.answer("grid", asked);
  const told = source.answer("facts", place);
  const facts = told && !told.refused ? /** @type {Facts} */ (told.json) : null;
  const grid = answer?.bytes ? decoded(state, source, answer) : null;
  return {
    at,
    average,
    grid,
    what: answer?.json?.what ?? "",
    rule: answer?.json?.rule ?? null,
    refused: answer?.refused ?? "",
    facts,
    rowWords: answer?.json?.row_words ?? null,
    keyWords: answer?.json?.key_words ?? null,
    range: grid
      ? source.made(grid, `range ${state.first}`, () => rangeOf(grid, { first: state.first }))
      : { low: 0, high: 1 },
    needs: hasFacts(state)
      ? [
          ["grid", asked],
          ["facts", place],
        ]
      : [["grid", asked]],
  };
}

/**
 * @param {State} state
 * @param {Source} source
 * @param {Answer} answer
 * @returns {Grid}
 */
function decoded({ info, capture, stage, batch }, source, answer) {
  const { json, bytes } = answer;
  const [rows, columns] = json.shape;
  return source.made(answer, "grid", () => {
    const count = rows * columns;
    const part = (/** @type {string[]} */ tokens, /** @type {[number, number]} */ [a, b]) =>
      b - a === tokens.length ? tokens : tokens.slice(a, b);
    return {
      shape: /** @type {[number, number]} */ ([rows, columns]),
      weights: numbersIn(/** @type {Uint8Array} */ (bytes), Float64Array, 0, count),
      visible: numbersIn(/** @type {Uint8Array} */ (bytes), Uint8Array, 8 * count, count),
      rowTokens: json.row_labels ?? part(info.tokens, json.rows),
      keyTokens: json.key_labels ?? part(info.key_tokens, json.keys),
      rowAt: json.row_labels ? 0 : json.rows[0],
      keyAt: json.key_labels ? 0 : json.keys[0],
      sink: revive(json.sink),
      padded: paddedRows(axesOf(capture, stage, batch).queries.padding, json),
    };
  });
}

/**
 * Which rows are only padding; null where none is.
 * @param {[number, number][]} padding
 * @param {{shape: [number, number], rows: [number, number], row_words: number[][] | null}} json
 */
function paddedRows(padding, { shape, rows, row_words: words }) {
  if (!padding.length) return null;
  const filler = (/** @type {number} */ token) => isPadding(padding, token);
  return Array.from({ length: shape[0] }, (_, r) => (words?.[r] ?? [rows[0] + r]).every(filler));
}

/**
 * One whole row, or one whole column, where the grid is a part only.
 * @param {State} state
 * @param {Source} source
 * @param {HeadView} view
 * @param {{row: number} | {key: number}} line
 */
export function lineOf(state, source, view, line) {
  /** @type {Args} */
  const part =
    "row" in line ? { rows: span(line.row, line.row + 1) } : { keys: span(line.key, line.key + 1) };
  const args = { ...headOrMean(state, view.at, view.average), ...part };
  const answer = source.answer("grid", args);
  const grid = answer?.bytes ? decoded(state, source, answer) : null;
  return { args, grid, refused: answer?.refused ?? "" };
}

/**
 * The row of the grid in which a token stands: a word's row where rows are words.
 * @param {number[][] | null} words
 * @param {number | null} token
 */
export function placeOfToken(words, token) {
  if (token === null || token === SINK || !words) return token;
  const found = words.findIndex((some) => some.includes(token));
  return found < 0 ? null : found;
}

/** The first token of a row or column.  @param {number[][] | null} words @param {number} place */
export const tokenOfPlace = (words, place) =>
  place === SINK || !words ? place : (words[place]?.[0] ?? 0);

/**
 * Two heads beside each other have one range of colours.
 * @param {{first: HeadView | null, second: HeadView | null}} views
 * @returns {Range}
 */
export function rangeIn({ first, second }) {
  const one = first?.range ?? { low: 0, high: 1 };
  const other = second?.grid ? second.range : one;
  const high = Math.max(one.high, other.high);
  return { low: 0, high, over: [one, other].some((range) => range.over || false) };
}
