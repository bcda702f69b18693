// The thumbnails of an exported file, a few heads of a layer at once. viewer/thumbnails.py says the
// same with the package's kernels.
import { refuse, span, whole } from "./static_arguments.js";
import { average, axisAt, firstReal, indices, readHead, realTokens } from "./static_rows.js";

/** @typedef {import("./static_arguments.js").Args} Args */
/** @typedef {import("./static_data.js").FileData} FileData */
/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {import("./static_data.js").Place} Place */
/** @typedef {import("./static_rows.js").RowFacts} RowFacts */

export const BACKEND = "this page, float64";
const MOST_CELLS = 2 ** 27; // of all heads that are drawn for one answer

/**
 * Heads of a layer as thumbnails, with a few numbers.
 * @param {Opened} file
 * @param {Args} args
 * @returns {Promise<{json: any, bytes: Uint8Array | null}>}
 */
export async function overview(file, args) {
  const { info } = file.data;
  const layer = whole(args, "layer", info.layers.length);
  const { sizes, heads: numbers } = info.layers[layer];
  const batch = whole(args, "batch", sizes.batch);
  const [from, upTo] = span(args, "heads", sizes.heads);
  checkWork(info.layers[layer], upTo - from);
  const per = Math.max(1, Math.ceil(Math.max(sizes.q_len, sizes.kv_len) / info.limits.thumbnail));
  const [rows, columns] = [sizes.q_len, sizes.kv_len].map((length) => Math.ceil(length / per));
  const pictures = new Float32Array((upTo - from) * rows * columns).fill(-1);
  const heads = [];
  for (let head = from; head < upTo; head++) {
    const start = (head - from) * rows * columns;
    const picture = pictures.subarray(start, start + rows * columns);
    const place = { layer, batch, head };
    const read = await readHead(file, place, poolInto(picture, columns, per));
    heads.push({ number: numbers[head], ...meansOf(file, place, read) });
  }
  const json = { layer, rows, columns, per, heads, backend: BACKEND };
  return { json, bytes: new Uint8Array(pictures.buffer) };
}

/** @param {import("./types.js").LayerInfo} layer @param {number} heads */
function checkWork({ sizes: { q_len, kv_len }, label }, heads) {
  const written = (/** @type {number} */ n) => n.toLocaleString("en");
  const each = `${written(q_len)} x ${written(kv_len)}`;
  const most = written(MOST_CELLS);
  if (q_len * kv_len > MOST_CELLS)
    refuse(
      "overview",
      `must have at most ${most} weights a head; ${label} has ${each}. Open one head, a window ` +
        "at a time.",
    );
  const work = heads * q_len * kv_len;
  if (work > MOST_CELLS)
    refuse(
      "overview",
      `must take at most ${most} weights to work out; ${written(heads)} heads of ${label}, ` +
        `${each} each, take ${written(work)}. Ask for fewer at once, e.g. heads=0:1.`,
    );
}

/**
 * What writes the largest weight of each block.
 * @param {Float32Array} picture
 * @param {number} columns
 * @param {number} per
 * @returns {(row: number, weights: number[], sees: boolean[]) => void}
 */
const poolInto = (picture, columns, per) => (row, weights, sees) => {
  const line = Math.floor(row / per) * columns;
  weights.forEach((weight, key) => {
    const at = line + Math.floor(key / per);
    if (sees[key]) picture[at] = Math.max(picture[at], weight); // NaN stays
  });
};

/**
 * The few numbers under a thumbnail, means over rows: padding reads nothing, one visible key leaves
 * no choice, and a row that sees no token before it tells nothing of that.
 * @param {Opened} file
 * @param {Place} place
 * @param {RowFacts[]} facts
 */
function meansOf({ data, head }, place, facts) {
  const [queries, keys] = [axisAt(data, place, "queries"), axisAt(data, place, "keys")];
  const real = realTokens(data, queries);
  const rows = indices(facts.length).filter((row) => real[row]);
  const seeing = rows.filter((row) => facts[row].visible > 0);
  const several = rows.filter((row) => facts[row].visible > 1);
  const start = firstReal(data, place);
  const before = (head(place).whole.q_offset ?? 0) - 1;
  const paired = several.filter((row) => facts[row].sees(row + before));
  const mean = (/** @type {number[]} */ some, /** @type {(row: number) => number} */ number) =>
    some.length ? average(some.map(number)) : null;
  const sinks = data.layers[place.layer].sinks !== null;
  return {
    entropy: mean(seeing, (row) => facts[row].entropy),
    sink: sinks ? mean(seeing, (row) => facts[row].sink) : null,
    first_share: mean(several, (row) => facts[row].share(start)),
    previous_share:
      queries === keys ? mean(paired, (row) => facts[row].share(row + before)) : null,
  };
}
