// All heads at a glance, as rows: which there are, what is known of each, in which order they
// stand.
import { numbersIn } from "./frame.js";
import { headArgs } from "./source.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").HeadAt} HeadAt */
/** @typedef {import("./types.js").CaptureInfo} CaptureInfo */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Args} Args */

/**
 * @typedef {object} Summary  what op `head` tells of a head that is worked out
 * @property {number} number
 * @property {number | null} entropy
 * @property {number | null} first_share
 * @property {number | null} previous_share
 * @property {number | null} distance
 * @property {number | null} sink
 * @property {{name: string, share: number | null}[]} groups
 * @property {number} rows  of the thumbnail
 * @property {number} columns
 * @property {number} per
 *
 * @typedef {object} HeadAnswer  op `head`
 * @property {number} done
 * @property {number} of
 * @property {number | null} seconds_left
 * @property {string} by
 * @property {Summary | null} summary
 *
 * @typedef {object} HeadRow
 * @property {HeadAt} at
 * @property {string} label  of its layer
 * @property {number} number  of the head
 * @property {HeadAnswer | null} json
 * @property {number} took  seconds, so far
 * @property {Summary | null} summary
 * @property {Float32Array | null} picture
 * @property {number} part  how far it is, 0 ... 1
 * @property {string} refused  why there is nothing to tell
 *
 * @typedef {object} Column
 * @property {string} id
 * @property {string} word
 * @property {string} unit
 * @property {string} means
 * @property {(row: HeadRow) => number | null | undefined} number
 *
 * @typedef {object} Progress
 * @property {number} done  heads
 * @property {number} of
 * @property {number} part  0 ... 1, with the head that is under way
 * @property {number | null} seconds  left, as far as one can tell
 *
 * @typedef {object} TableScene
 * @property {State} state
 * @property {HeadRow[]} rows  of the chosen layer, in their order
 * @property {Column[]} columns
 * @property {string[]} kinds  of keys that there are
 * @property {Progress} progress
 * @property {string} by  what computed the numbers
 */

/** The order of the capture.  @type {string} */
export const BY_HEAD = "head";
const GROUP = "reads "; // before the name of a kind, in a column's id
const CHOOSING = "as a mean over the queries that see two keys or more";

/** @param {(summary: Summary) => number | null | undefined} of */
const told = (of) => (/** @type {HeadRow} */ { summary }) => (summary ? of(summary) : undefined);

/** @type {readonly Column[]} */
const COLUMNS = [
  {
    id: "entropy",
    word: "mean entropy",
    unit: "nats",
    means: "0 where one key gets all weight; a mean over the queries that see a key",
    number: told((summary) => summary.entropy),
  },
  {
    id: "first",
    word: "first-token share",
    unit: "",
    means: `the weight that the first token gets, ${CHOOSING}`,
    number: told((summary) => summary.first_share),
  },
  {
    id: "previous",
    word: "token-before share",
    unit: "",
    means:
      "the weight of the token just before the query, as a mean over the queries that see it and " +
      "another key",
    number: told((summary) => summary.previous_share),
  },
  {
    id: "distance",
    word: "mean distance",
    unit: "tokens",
    means:
      "how far from the query the keys stand that it reads, by weight; a mean over the queries " +
      "that see a key",
    number: told((summary) => summary.distance),
  },
  {
    id: "sink",
    word: "sink",
    unit: "",
    means: "the share that a learned sink takes: no key reads it",
    number: told((summary) => summary.sink),
  },
];

/** @param {string} kind @returns {Column} */
const kindColumn = (kind) => ({
  id: `${GROUP}${kind}`,
  word: kind,
  unit: "",
  means: `the weight of all ${kind} keys together, ${CHOOSING}`,
  number: told(({ groups }) => groups.find(({ name }) => name === kind)?.share),
});

/** Can a table be sorted by this?  @param {string} id */
export const isColumn = (id) =>
  id === BY_HEAD || COLUMNS.some((column) => column.id === id) || KIND_IDS.includes(id);

const KIND_IDS = ["special", "punctuation", "spaces", "words"].map((kind) => `${GROUP}${kind}`);

/** Every head of the capture.  @param {CaptureInfo} capture @returns {HeadAt[]} */
export const headsOf = ({ layers }) =>
  layers.flatMap(({ heads }, stage) => heads.map((_, head) => ({ stage, head })));

/** Is there more than one head to compare?  @param {CaptureInfo} capture */
export const hasTable = ({ layers }) =>
  layers.reduce((sum, { heads }) => sum + heads.length, 0) > 1;

/** @param {State} state @param {HeadAt} at @returns {Args} */
const stepArgs = (state, at) => ({ ...headArgs({ ...state, ...at }), work: "1" });

/** @param {State} state @param {Source} source @returns {TableScene} */
export function tableScene(state, source) {
  const { capture, table } = state;
  const all = headsOf(capture).map((at) => rowOf(state, source, at));
  const rows = all.filter(({ at }) => table.layer === null || at.stage === table.layer);
  const columns = columnsOf(capture, rows);
  return {
    state,
    rows: sorted(rows, columns, table),
    columns,
    kinds: kindsOf(rows),
    progress: progressOf(all),
    by: all.find(({ json }) => json?.by)?.json?.by ?? "",
  };
}

/** The heads of the chosen layer.  @param {State} state */
const shownHeads = ({ capture, table }) =>
  headsOf(capture).filter(({ stage }) => table.layer === null || stage === table.layer);

/** @param {State} state @param {Source} source @param {HeadAt} at @returns {HeadRow} */
function rowOf(state, source, at) {
  const layer = state.capture.layers[at.stage];
  const answer = source.answer("head", stepArgs(state, at));
  /** @type {HeadAnswer | null} */
  const json = answer?.json ?? null;
  const { refused = "", took = 0 } = answer ?? {};
  const summary = json?.summary ?? null;
  return {
    ...{ at, label: layer.label, number: layer.heads[at.head], json, summary, refused, took },
    picture:
      answer && summary ? source.made(answer, "picture", () => pictureIn(answer)) : null,
    part: refused || summary ? 1 : json?.of ? json.done / json.of : 0,
  };
}

/** @param {import("./source.js").Answer} answer */
function pictureIn({ json, bytes }) {
  const cells = json.summary.rows * json.summary.columns;
  return bytes && cells ? numbersIn(bytes, Float32Array, 0, cells) : null;
}

/** The kinds of keys that any head reads at all.  @param {HeadRow[]} rows @returns {string[]} */
function kindsOf(rows) {
  const there = new Set();
  for (const { summary } of rows)
    for (const { name, share } of summary?.groups ?? [])
      if (share !== 0 && share !== null) there.add(name);
  const order = rows.find(({ summary }) => summary)?.summary?.groups.map(({ name }) => name) ?? [];
  return order.filter((name) => there.has(name));
}

/** @param {CaptureInfo} capture @param {HeadRow[]} rows @returns {Column[]} */
function columnsOf({ layers }, rows) {
  const sinks = layers.some(({ options }) => options.sinks);
  const kinds = kindsOf(rows).map(kindColumn).filter(({ id }) => KIND_IDS.includes(id));
  return [...COLUMNS.filter(({ id }) => sinks || id !== "sink"), ...kinds];
}

/**
 * What is not a number stands last, ties in the order of the capture: so no row moves but to its
 * place.
 * @param {HeadRow[]} rows
 * @param {Column[]} columns
 * @param {State["table"]} table
 */
export function sorted(rows, columns, { by, down }) {
  const column = columns.find(({ id }) => id === by);
  if (!column) return by === BY_HEAD && down ? [...rows].reverse() : rows;
  const numberOf = (/** @type {HeadRow} */ row) => column.number(row) ?? NaN;
  return [...rows].sort((a, b) => {
    const [x, y] = [numberOf(a), numberOf(b)];
    const [noX, noY] = [Number.isNaN(x), Number.isNaN(y)];
    if (noX || noY) return Number(noX) - Number(noY);
    return down ? y - x : x - y;
  });
}

/** @param {HeadRow[]} rows  of all layers @returns {Progress} */
function progressOf(rows) {
  const whole = rows.filter(({ summary }) => summary);
  const done = rows.filter(({ part }) => part === 1).length;
  const under = rows.find(({ json, summary }) => json && !summary);
  const spent = whole.reduce((sum, { took }) => sum + took, 0);
  const rest = under?.json?.seconds_left ?? null;
  const first = under && rest !== null ? under.took + rest : null;
  const each = whole.length ? spent / whole.length : first;
  return {
    done,
    of: rows.length,
    part: rows.reduce((sum, { part }) => sum + part, 0) / Math.max(1, rows.length),
    seconds: each === null ? null : each * (rows.length - done - (under ? 1 : 0)) + (rest ?? 0),
  };
}

/** An exported file works out no table.  @param {State} state */
export const isTable = ({ view, inFile }) => view === "table" && !inFile;

/**
 * The next step of the next head, where there is one: those in view before the others, one at a
 * time.
 * @param {State} state
 * @param {Source} source
 * @returns {[string, Args][]}
 */
export function tableSteps(state, source) {
  if (!isTable(state) || state.table.paused) return [];
  for (const at of [...shownHeads(state), ...headsOf(state.capture)]) {
    const args = stepArgs(state, at);
    if (!source.has("head", args)) return [["head", args]];
  }
  return [];
}
