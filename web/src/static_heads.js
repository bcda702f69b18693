// What an exported file answers about a model's heads: the overview, a grid, facts, one token
// everywhere. viewer/heads.py says the same with the package's kernels.
import { readRow } from "./arithmetic.js";
import { refuse, span, whole, word } from "./static_arguments.js";
import { byWords, bytesOf, exact, mean, pacer } from "./static_rectangles.js";

/** @typedef {import("./static_arguments.js").Args} Args */
/** @typedef {import("./static_data.js").FileData} FileData */
/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {import("./static_data.js").Place} Place */
/** @typedef {{json: any, bytes: Uint8Array | null}} Answer */

const BACKEND = "this page, float64";
const RULE = "summed over the key word's tokens, averaged over the query word's tokens";
const MOST_CELLS = 2 ** 27; // of a head that is drawn as a thumbnail

/** @param {number} length */
const indices = (length) => Array.from({ length }, (_, i) => i);

/** @param {readonly number[]} numbers */
const average = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

/**
 * Which axes a layer looks along: layers that share them can be compared token by token.
 * @param {FileData} data
 * @param {number} layer
 */
const axesOf = ({ info: { layers } }, layer) =>
  JSON.stringify([layers[layer].queries, layers[layer].keys]);

/**
 * The layers that look from the same tokens at the same tokens.
 * @param {FileData} data
 * @param {number} like
 */
const layersLike = (data, like) =>
  indices(data.layers.length).filter((layer) => axesOf(data, layer) === axesOf(data, like));

/**
 * Every head of a layer as a thumbnail, with a few numbers.
 * @param {Opened} file
 * @param {Args} args
 * @returns {Promise<Answer>}
 */
export async function overview(file, args) {
  const { info } = file.data;
  const layer = whole(args, "layer", info.layers.length);
  const { sizes, heads: numbers, label } = info.layers[layer];
  const batch = whole(args, "batch", sizes.batch);
  const { q_len, kv_len } = sizes;
  if (q_len * kv_len > MOST_CELLS)
    refuse("overview", `must have fewer weights a head; ${label} has ${q_len} x ${kv_len}.`);
  const per = Math.max(1, Math.ceil(Math.max(q_len, kv_len) / info.limits.thumbnail));
  const [rows, columns] = [Math.ceil(q_len / per), Math.ceil(kv_len / per)];
  const pictures = new Float32Array(numbers.length * rows * columns).fill(-1);
  const start = firstReal(file.data, { layer, batch, head: 0 });
  const heads = [];
  for (const [head, number] of numbers.entries()) {
    const picture = pictures.subarray(head * rows * columns, (head + 1) * rows * columns);
    const read = await readHead(file, { layer, batch, head }, (row, weights, sees) => {
      const line = Math.floor(row / per) * columns;
      weights.forEach((weight, key) => {
        const at = line + Math.floor(key / per);
        if (sees[key]) picture[at] = Math.max(picture[at], weight); // NaN stays
      });
    });
    const sinks = file.data.layers[layer].sinks !== null;
    heads.push({ number, ...shares(read, start, q_len === kv_len, sinks) });
  }
  const json = { layer, rows, columns, per, heads, backend: BACKEND };
  return { json, bytes: new Uint8Array(pictures.buffer) };
}

/**
 * @typedef {object} RowFacts  what one row comes to
 * @property {number} entropy
 * @property {number} sink
 * @property {number} max_score
 * @property {number} visible
 * @property {(key: number) => number} share  the weight of a key
 * @property {(key: number) => number} sum  its part of the whole, which is NaN in a row of NaN
 */

/**
 * Read a head row by row, and tell `seen` of each.
 * @param {Opened} file
 * @param {Place} place
 * @param {(row: number, weights: number[], sees: boolean[]) => void} seen
 * @returns {Promise<RowFacts[]>}
 */
async function readHead(file, place, seen) {
  const head = file.head(place);
  const pause = pacer();
  const facts = [];
  for (const row of indices(head.q_len)) {
    const problem = head.row(row);
    const read = readRow(problem, row);
    const sees = problem.visible[row];
    seen(row, read.weights, sees);
    facts.push(factsOf(read, sees));
    await pause();
  }
  return facts;
}

/**
 * @param {ReturnType<typeof readRow>} read
 * @param {boolean[]} sees
 * @returns {RowFacts}
 */
function factsOf({ scores, weights, shifted_exp, row_sum, sink }, sees) {
  const visible = sees.filter(Boolean).length;
  const spoilt = visible > 0 && Number.isNaN(row_sum); // a visible NaN or +inf
  const peak = scores.reduce((most, x, j) => (sees[j] ? Math.max(most, x) : most), -Infinity);
  return {
    visible,
    entropy: entropyOf(weights),
    max_score: spoilt ? NaN : peak,
    sink: sink ? sink.weight : 0,
    share: (key) => weights[key] ?? 0,
    sum: (key) => (visible > 0 ? shifted_exp[key] / row_sum : 0),
  };
}

/** In nats, what is 0 left out; NaN where a weight is.  @param {readonly number[]} weights */
function entropyOf(weights) {
  const terms = weights.filter((w) => w !== 0).map((w) => w * Math.log(w));
  return terms.reduce((total, term) => total - term, 0);
}

/**
 * The few numbers under a thumbnail: means over rows.
 * @param {RowFacts[]} facts
 * @param {number} start  the first key that is no padding
 * @param {boolean} square
 * @param {boolean} sinks
 */
function shares(facts, start, square, sinks) {
  const seeing = facts.filter(({ visible }) => visible > 0);
  const several = indices(facts.length).filter((row) => facts[row].visible > 1);
  const over = (/** @type {number[]} */ numbers) => (numbers.length ? average(numbers) : null);
  return {
    entropy: over(seeing.map(({ entropy }) => entropy)),
    sink: sinks ? over(seeing.map(({ sink }) => sink)) : null,
    first_share: over(several.map((row) => facts[row].share(start))),
    previous_share: square ? over(several.map((row) => previous(facts[row], row))) : null,
  };
}

/** What a row reads of the key before its own.  @param {RowFacts} facts @param {number} row */
const previous = ({ share }, row) => (row ? share(row - 1) : 0);

/**
 * The position of the first key that is no padding.
 * @param {FileData} data
 * @param {Place} place
 */
function firstReal({ info }, { layer, batch }) {
  const { keys } = info.layers[layer];
  const { padding } = info.axes[keys[keys.length > 1 ? batch : 0]];
  return [...padding]
    .sort(([a], [b]) => a - b)
    .reduce((start, [begin, stop]) => (begin <= start ? Math.max(start, stop) : start), 0);
}

// A grid

/**
 * The heads that a grid or its facts speak of, and how they are called.
 * @param {Opened} file
 * @param {Args} args
 * @returns {{places: Place[], what: string}}
 */
function chosen({ data }, args) {
  const { layers } = data.info;
  const overLayers = args.layer === "mean";
  const overHeads = args.head === "mean";
  const like = whole(args, overLayers ? "like" : "layer", layers.length);
  const batch = whole(args, "batch", layers[like].sizes.batch);
  const some = overLayers ? layersLike(data, like) : [like];
  const fewest = Math.min(...some.map((layer) => layers[layer].heads.length));
  const only = overHeads ? 0 : whole(args, "head", fewest);
  const places = some.flatMap((layer) =>
    (overHeads ? [...layers[layer].heads.keys()] : [only]).map((head) => ({ layer, batch, head })),
  );
  if (!places.length) refuse("head", "must be there to be looked at; this layer has no heads.");
  const { label, heads } = layers[like];
  return { places, what: nameOf(overLayers, overHeads, label, heads, only, some.length) };
}

/**
 * @param {boolean} overLayers
 * @param {boolean} overHeads
 * @param {string} label
 * @param {number[]} heads
 * @param {number} only
 * @param {number} layers
 */
function nameOf(overLayers, overHeads, label, heads, only, layers) {
  const number = `head ${heads[only]}`;
  const several = `${heads.length} heads`;
  if (overLayers && overHeads) return `mean over ${several} and ${layers} layers`;
  if (overLayers) return `mean of ${number} over ${layers} layers`;
  return overHeads ? `mean over ${several} of ${label}` : `${label}, ${number}`;
}

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
  const { layers, limits } = file.data.info;
  const { q_len, kv_len } = layers[places[0].layer].sizes;
  const rows = span(args, "rows", q_len);
  const keys = span(args, "keys", kv_len);
  const cells = (rows[1] - rows[0]) * (keys[1] - keys[0]);
  if (cells > limits.grid_cells)
    refuse(
      "grid",
      `must have at most ${limits.grid_cells} cells; these are ${cells}. Give rows and keys.`,
    );
  const parts = [];
  for (const place of places)
    parts.push(await exact(file.head(place), spread(rows), spread(keys)));
  const spelt = words ? wordsOf(file.data, places[0]) : null;
  const part = spelt ? byWords(mean(parts), spelt.queries, spelt.keys) : mean(parts);
  const json = {
    what,
    rows,
    keys,
    shape: [part.rows, part.keys],
    rule: spelt && RULE,
    row_labels: spelt && spelt.queries.texts,
    key_labels: spelt && spelt.keys.texts,
    row_words: spelt && spelt.queries.tokens,
    key_words: spelt && spelt.keys.tokens,
  };
  return { json, bytes: bytesOf(part) };
}

/** @param {[number, number]} span */
const spread = ([start, stop]) => indices(stop - start).map((i) => start + i);

/** @param {FileData} data @param {Place} place */
function wordsOf({ info, words }, { layer, batch }) {
  const { queries, keys } = info.layers[layer];
  const [row, column] = [queries, keys].map((axes) => words[axes[axes.length > 1 ? batch : 0]]);
  if (row && column) return { queries: row, keys: column };
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
  /** @type {Record<string, number[] | null>[]} */
  const found = [];
  for (const place of places) found.push(await headFacts(file, place));
  const told = Object.fromEntries(
    Object.entries(found[0]).map(([name, first]) => [
      name,
      first && first.map((_, i) => average(found.map((one) => (one[name] ?? [])[i]))),
    ]),
  );
  return { json: { ...told, what, backend: BACKEND }, bytes: null };
}

/** @param {Opened} file @param {Place} place @returns {Promise<Record<string, number[] | null>>} */
async function headFacts(file, place) {
  const head = file.head(place);
  const received = indices(head.kv_len).map(() => 0);
  const rows = await readHead(file, place, (_, weights) =>
    weights.forEach((weight, key) => (received[key] += weight)),
  );
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
  for (const layer of layersLike(file.data, like)) {
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
