// What an exported file answers about a model's heads: a grid, facts, one token everywhere.
// viewer/heads.py says the same with the package's kernels.
import { readRow } from "./arithmetic.js";
import { refuse, span, whole, word } from "./static_arguments.js";
import { chosen, layersLike } from "./static_chosen.js";
import { BACKEND } from "./static_overview.js";
import { byWords, bytesOf, exact, pacer } from "./static_rectangles.js";
import {
  axisAt,
  average,
  entropyOf,
  firstReal,
  indices,
  readHead,
  realTokens,
} from "./static_rows.js";

/** @typedef {import("./static_arguments.js").Args} Args */
/** @typedef {import("./static_data.js").FileData} FileData */
/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {import("./static_data.js").Place} Place */
/** @typedef {import("./static_rows.js").RowFacts} RowFacts */
/** @typedef {{json: any, bytes: Uint8Array | null}} Answer */

const RULE = "summed over the key word's tokens, averaged over the query word's tokens";
const MOST_FACTS = 2 ** 30; // weights of all heads whose facts are worked out for one answer

/** @param {number} n */
const written = (n) => n.toLocaleString("en");

/**
 * A rectangle of exact weights: of one head, a mean over heads or layers, of words.
 * @param {Opened} file
 * @param {Args} args
 * @returns {Promise<Answer>}
 */
export async function grid(file, args) {
  const { places, what } = chosen(file, args);
  const words = word(args, "words", ["0", "1"]) === "1";
  if (words && (args.rows !== undefined || args.keys !== undefined))
    refuse("words", "are summed over the whole grid. Leave out rows and keys.");
  const { q_len, kv_len } = file.data.info.layers[places[0].layer].sizes;
  const rows = span(args, "rows", q_len);
  const keys = span(args, "keys", kv_len);
  checkCells(rows[1] - rows[0], keys[1] - keys[0], file.data.info.limits.grid_cells);
  const spelt = words ? wordsOf(file.data, places[0]) : null;
  const tokens = await exact(file, places, spread(rows), spread(keys));
  const part = spelt ? byWords(tokens, spelt.queries, spelt.keys) : tokens;
  const json = {
    what,
    rows,
    keys,
    shape: [part.rows, part.keys],
    sink: part.sink && Array.from(part.sink),
    rule: spelt && RULE,
    row_labels: spelt && spelt.queries.texts,
    key_labels: spelt && spelt.keys.texts,
    row_words: spelt && spelt.queries.tokens,
    key_words: spelt && spelt.keys.tokens,
  };
  return { json, bytes: bytesOf(part) };
}

/** @param {number} rows @param {number} keys @param {number} most */
function checkCells(rows, keys, most) {
  if (rows * keys > most)
    refuse(
      "grid",
      `must have at most ${written(most)} cells; ${written(rows)} x ${written(keys)} are ` +
        `${written(rows * keys)}. Give rows and keys, e.g. rows=0:512.`,
    );
}

/** @param {[number, number]} span */
const spread = ([start, stop]) => indices(stop - start).map((i) => start + i);

/** @param {FileData} data @param {Place} place */
function wordsOf(data, place) {
  const queries = data.words[axisAt(data, place, "queries")];
  const keys = data.words[axisAt(data, place, "keys")];
  if (queries && keys) return { queries, keys };
  return refuse(
    "words",
    "must be known to be summed; this capture does not say which tokens make a word. " +
      "Look at tokens.",
  );
}

/**
 * The facts of a head, row by row and key by key; for a mean the mean of each number.
 * @param {Opened} file
 * @param {Args} args
 * @returns {Promise<Answer>}
 */
export async function facts(file, args) {
  const { places, what } = chosen(file, args);
  const { q_len, kv_len } = file.data.info.layers[places[0].layer].sizes;
  if (places.length * q_len * kv_len > MOST_FACTS)
    refuse(
      "facts",
      `must take at most ${written(MOST_FACTS)} weights to work out; ${written(places.length)} x ` +
        `${written(q_len)} x ${written(kv_len)} are more. Lookup.inspect has no limit.`,
    );
  /** @type {Record<string, number[] | null>[]} */
  const found = [];
  for (const place of places) found.push(await headFacts(file, place));
  const told = Object.fromEntries(
    Object.keys(found[0]).map((name) => [name, meanOf(found.map((one) => one[name]))]),
  );
  return { json: { ...told, what, backend: BACKEND }, bytes: null };
}

/**
 * The mean over heads; nothing is missing where a head has no sink.
 * @param {(number[] | null)[]} arrays
 */
function meanOf(arrays) {
  const length = arrays.find((array) => array !== null)?.length;
  if (length === undefined) return null;
  return indices(length).map((i) => average(arrays.map((array) => (array ? array[i] : 0))));
}

/** @param {Opened} file @param {Place} place @returns {Promise<Record<string, number[] | null>>} */
async function headFacts(file, place) {
  const head = file.head(place);
  const received = indices(head.kv_len).map(() => 0);
  const real = realTokens(file.data, axisAt(file.data, place, "queries"));
  const rows = await readHead(file, place, (row, weights) => {
    if (real[row]) weights.forEach((weight, key) => (received[key] += weight));
  });
  const start = firstReal(file.data, place);
  const each = (/** @type {(row: RowFacts) => number} */ fact) => rows.map(fact);
  return {
    entropy: each(({ entropy }) => entropy),
    received,
    sink: head.whole.sink !== null ? each(({ sink }) => sink) : null,
    max_score: each(({ max_score }) => max_score),
    first_share: start < head.kv_len ? each(({ sum }) => sum(start)) : null,
    visible: each(({ visible }) => visible),
  };
}

/**
 * What one query reads most in every head of every layer over the same tokens.
 * @param {Opened} file
 * @param {Args} args
 * @returns {Promise<Answer>}
 */
export async function everywhere(file, args) {
  const { layers } = file.data.info;
  const like = whole(args, "layer", layers.length);
  const batch = whole(args, "batch", layers[like].sizes.batch);
  const query = whole(args, "query", layers[like].sizes.q_len, null);
  const told = [];
  const pause = pacer();
  for (const layer of layersLike(file.data, like, batch)) {
    const heads = [];
    for (const head of layers[layer].heads.keys()) {
      heads.push(strongest(file, { layer, batch, head }, query));
      await pause();
    }
    told.push({ layer, heads });
  }
  return { json: { query, layers: told }, bytes: null };
}

/** @param {Opened} file @param {Place} place @param {number} query */
function strongest(file, place, query) {
  const problem = file.head(place).row(query);
  const { weights } = readRow(problem, query);
  const sees = problem.visible[query];
  if (!sees.some(Boolean)) return { key: -1, weight: 0, entropy: 0 };
  if (weights.some(Number.isNaN)) return { key: -1, weight: NaN, entropy: NaN };
  const best = weights.reduce((most, w, key) => (sees[key] ? Math.max(most, w) : most), -1);
  const key = weights.findIndex((w, at) => sees[at] && w === best);
  return { key, weight: best, entropy: entropyOf(weights) };
}
