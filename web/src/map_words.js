// What the map view says in words: the cell that is read out, how far the map is, what is in view.
import { noteOf } from "./capture_info.js";
import { shortName } from "./chip.js";
import { headName } from "./heads_words.js";
import { positionWords } from "./map_axes.js";
import { valueOf } from "./map_codes.js";
import { counted, exact, exactAs, fine, rounded, small } from "./numbers.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./map_reader.js").PairRead} PairRead */
/** @typedef {import("./map_reader.js").CellRead} CellRead */
/** @typedef {{formula: string, exactly: string}} Words */

/**
 * A token by its position and its text, isolated so that its script reorders nothing around it.
 * @param {import("./types.js").AxisInfo} axis
 * @param {number} at
 */
export const placed = (axis, at) =>
  `${positionWords(at)} \u2068“${shortName(axis.tokens[at])}”\u2069${noteOf(axis, at)}`;

/** @param {readonly [number, number]} span */
export const spanWords = ([from, upTo]) =>
  upTo - from === 1 ? positionWords(from) : `${positionWords(from)} … ${positionWords(upTo - 1)}`;

/** @param {MapScene} scene @param {number} query @param {number} key */
const pairName = ({ queries, keys }, query, key) =>
  `query ${placed(queries, query)} reads key ${placed(keys, key)}`;

/**
 * The pair that is locked, or the cell under the pointer.
 * @param {MapScene} scene
 * @returns {Words}
 */
export function readWords(scene) {
  const { at, cell, reading } = scene;
  if (!at || !cell) {
    return {
      formula: "",
      exactly: "Point at the map for the exact number there. L, or a click, holds on to it.",
    };
  }
  const where =
    cell.level === 0
      ? pairName(scene, ...at)
      : `queries ${spanWords(cell.rows)}, keys ${spanWords(cell.keys)}`;
  if (reading?.pair) return pairWords(where, reading.pair);
  if (reading?.cell) return cellWords(scene, where, reading.cell);
  return { formula: where, exactly: reading?.refused ?? "…" };
}

/** @param {string} where @param {PairRead} read @returns {Words} */
function pairWords(where, { weight, visible, score, lse, by }) {
  if (!visible)
    return { formula: `${where}: hidden`, exactly: "the weight is 0, whatever the key holds" };
  const made =
    score === null ? "" : ` = exp(${rounded(score)} − ${rounded(lse)})`.replace("− −", "+ ");
  return {
    formula: `${where}: weight ${fine(weight)}`,
    exactly: `${made} exactly ${exact(weight)} (${by})`.trim(),
  };
}

/**
 * The strongest pair of a cell, as a kernel worked it out: its float32 is not the weight exactly.
 * @param {MapScene} scene @param {string} where @param {CellRead} read @returns {Words}
 */
function cellWords(scene, where, { max, query, key, share, visible, by }) {
  if (!visible) return { formula: `${where}: hidden`, exactly: "no query here may see a key here" };
  const what = `the cell’s share ${fine(share)}`;
  if (query < 0 || key < 0)
    return { formula: `${where}: the strongest weight here is ${fine(max)}`, exactly: what };
  return {
    formula: `strongest here: ${pairName(scene, query, key)}: weight ${fine(max)}`,
    exactly: `${exactAs(max, by)} (${by.split(", ").at(-1)}); ${what}`,
  };
}

/** The locked pair as one line of a table.  @param {MapScene} scene */
export function pairTable(scene) {
  const { state, at, reading, queries, keys } = scene;
  if (!at || !reading?.pair) return "";
  const [query, key] = at;
  const { weight, score, visible } = reading.pair;
  const names = ["head", "query", "token", "key", "token", "visible", "score", "weight"];
  const clean = (/** @type {string} */ text) => shortName(text).replaceAll(/\s/g, " ");
  const line = [
    headName(state.capture, state),
    query,
    clean(queries.tokens[query]),
    key,
    clean(keys.tokens[key]),
    visible ? "yes" : "no",
    score ?? "",
    weight,
  ];
  return `${names.join("\t")}\n${line.join("\t")}\n`;
}

/**
 * How far the map is, in one sentence.
 * @param {MapScene} scene
 */
export function progressWords({ info, refused, profile }) {
  if (refused) return refused;
  if (!info) return "Asking for this map …";
  if (info.refused) return info.refused;
  const { done, of, seconds_left: left } = info;
  const parts = `${positionWords(done)} of ${counted(of, "band")}`;
  if (done < of) return `exact so far: ${parts}${leftWords(left)}`;
  const told = [
    of === 1 ? "exact: all in one band" : `exact: all ${counted(of, "band")}`,
    info.backend,
    profile &&
      profile.done < profile.of &&
      `profiles ${Math.floor((100 * profile.done) / profile.of)} %${leftWords(profile.seconds_left)}`,
    info.saved && "kept beside the capture",
    info.trouble,
  ];
  return told.filter(Boolean).join(" · ");
}

/** Of how much of the view links are the strongest; "" of all of it.  @param {{part: number}} tour */
export const partWords = ({ part }) =>
  part < 1 ? `of the ${Math.max(1, Math.floor(100 * part))} % of this view worked out so far` : "";

/** @param {number | null} seconds */
const leftWords = (seconds) =>
  seconds === null ? "" : `, about ${positionWords(Math.max(1, Math.ceil(seconds)))} s left`;

/** How many weights a cell of the picture holds.  @param {MapScene} scene */
export function scaleWords({ level, camera }) {
  if (level > 0)
    return `a cell is ${positionWords(2 ** level)} × ${positionWords(2 ** level)} weights`;
  const pixels = Math.max(1, Math.round(2 ** -camera.z));
  return `a cell is one weight, ${counted(pixels, "pixel")}`;
}

/**
 * The numbers at the two ends of the ramp.
 * @param {MapScene} scene
 * @returns {[string, string] | null}
 */
export function rampWords({ info, range, state }) {
  if (!info || !range) return null;
  const value = (/** @type {number} */ code) => valueOf(code, info.codes);
  const [low, high] = range;
  const [least, most] = state.map.range;
  return [
    `${small(value(low))}${least > 0 ? " or less" : ""}`,
    `${small(value(high))}${most < 100 ? " or more" : ""}`,
  ];
}
