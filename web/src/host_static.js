// The exported file's way to the numbers: the page's own float64 arithmetic on the arrays that the
// file carries. It answers what the session of the local page answers, op by op.
import { traceRow } from "./arithmetic.js";
import { HostError } from "./host_error.js";
import { refuse, whole, wholes, word } from "./static_arguments.js";
import { openData } from "./static_data.js";
import { everywhere, facts, grid } from "./static_heads.js";
import { overview } from "./static_overview.js";
import { exact } from "./static_rectangles.js";

/** @typedef {import("./static_arguments.js").Args} Args */
/** @typedef {import("./static_data.js").Opened} Opened */
/** @typedef {{json: any, bytes: Uint8Array | null}} Answer */

const BLOCK = "softlookup-data"; // the id of the file's block of JSON
const MOST_KEYS = 256; // columns of one record
const MOST_CELLS = 64; // rows, and keys, of one rectangle of weights in JSON
const HEAD = ["capture", "layer", "batch", "head"];

/** @typedef {(file: Opened, args: Args) => Answer | Promise<Answer>} Answering */

/** @type {Record<string, {names: string[], answer: Answering}>} */
const OPERATIONS = {
  info: { names: ["capture"], answer: ({ data }) => only(data.info) },
  arrays: { names: HEAD, answer: arrays },
  trace: { names: [...HEAD, "row", "top"], answer: trace },
  weights: { names: [...HEAD, "rows", "keys"], answer: weights },
  overview: { names: ["capture", "layer", "batch", "heads"], answer: overview },
  grid: { names: [...HEAD, "like", "rows", "keys", "words"], answer: grid },
  facts: { names: [...HEAD, "like"], answer: facts },
  everywhere: { names: ["capture", "layer", "batch", "query"], answer: everywhere },
  ...byProgram({
    map: ["work"],
    tile: ["level", "i", "j"],
    at: ["query", "key"],
    block: ["rows", "keys"],
    strongest: ["rows", "keys", "count"],
    profile: ["work"],
    strip: ["axis", "span", "buckets"],
    head: ["work"],
    survey: [],
  }),
  lesson: { names: [], answer: ({ data }) => only(data.lesson) },
  exercise: { names: ["skill", "seed"], answer: () => noQuestions("exercise") },
  check: { names: ["skill", "seed", "answer"], answer: () => noQuestions("check") },
};
const OPS = Object.keys(OPERATIONS);

/** The host of a page that carries its data; null where it carries none. */
export function staticHost() {
  const block = document.getElementById(BLOCK);
  return block && hostOf(block.textContent ?? "");
}

/**
 * @param {string} text  the file's block of JSON
 * @returns {import("./types.js").Host}
 */
export function hostOf(text) {
  /** @type {Opened | null} */
  let file = null;
  return {
    inFile: true,
    inCell: globalThis.location?.protocol === "about:", // a frame has no address to copy
    async call(op, args = {}) {
      file ??= openText(text);
      if (!Object.hasOwn(OPERATIONS, op))
        refuse("op", `must be one of ${OPS.join(", ")}; got '${op.slice(0, 40)}'.`);
      const { names, answer } = OPERATIONS[op];
      const stranger = Object.keys(args).find((name) => !names.includes(name));
      if (stranger !== undefined)
        refuse(op, `has no argument '${stranger.slice(0, 40)}'. It has ${listed(names)}.`);
      word(args, "capture", [file.data.info.capture]);
      return answer(file, args);
    },
  };
}

/** @param {string[]} names */
const listed = (names) => (names.length ? names.join(", ") : "none");

/** @param {string} text */
function openText(text) {
  try {
    return openData(JSON.parse(text));
  } catch {
    throw new HostError("The numbers in this file are damaged. Export it again.", "refused");
  }
}

/**
 * What a file does not work out.
 * @param {Record<string, string[]>} ops  what they take beside the head
 * @returns {Record<string, {names: string[], answer: Answering}>}
 */
function byProgram(ops) {
  return Object.fromEntries(
    Object.entries(ops).map(([op, names]) => [
      op,
      { names: [...HEAD, ...names], answer: () => noMaps(op) },
    ]),
  );
}

/** @param {string} op @returns {never} */
function noMaps(op) {
  return refuse(
    op,
    "maps, and the table of all heads, are worked out by the program, not by a file. " +
      "Run softlookup show.",
  );
}

/** @param {string} op @returns {never} */
function noQuestions(op) {
  return refuse(
    op,
    "exercises are asked and checked by the program, not by a file. Run softlookup show.",
  );
}

/** @param {any} json @returns {Answer} */
const only = (json) => ({ json, bytes: null });

/** @param {Opened} file @param {Args} args */
function placeOf({ data }, args) {
  const layer = whole(args, "layer", data.info.layers.length);
  const { sizes } = data.info.layers[layer];
  const batch = whole(args, "batch", sizes.batch);
  return { layer, batch, head: whole(args, "head", sizes.heads) };
}

/** One head, to compute with on the page.  @param {Opened} file @param {Args} args */
function arrays(file, args) {
  const place = placeOf(file, args);
  const reason = file.data.info.layers[place.layer].editable_reason;
  if (reason) refuse("arrays", `go to the page only where they can be edited. ${reason}`);
  const head = file.head(place);
  const rows = Array.from({ length: head.q_len }, (_, i) => head.row(i));
  const { query, key, value, sink, scale, softcap, q_offset } = head.whole;
  const visible = rows.map((problem, i) => problem.visible[i]);
  const has = file.data.layers[place.layer].bias !== null;
  const bias = has ? rows.map((problem, i) => (problem.bias ?? [])[i]) : null;
  return only({ query, key, value, visible, bias, sink, scale, softcap, q_offset });
}

/** Every step of one row.  @param {Opened} file @param {Args} args */
function trace(file, args) {
  const place = placeOf(file, args);
  const head = file.head(place);
  const row = whole(args, "row", head.q_len, null);
  const standard = file.data.info.limits.ledger_keys;
  const top = whole(args, "top", MOST_KEYS + 1, standard, 1);
  return only(traceRow(head.row(row), row, top));
}

/** A few weights, as lists.  @param {Opened} file @param {Args} args */
async function weights(file, args) {
  const place = placeOf(file, args);
  const head = file.head(place);
  const rows = wholes(args, "rows", head.q_len, MOST_CELLS);
  const keys = wholes(args, "keys", head.kv_len, MOST_CELLS);
  const part = await exact(file, [place], rows, keys);
  const lines = rows.map((_, i) => [i * keys.length, (i + 1) * keys.length]);
  return only({
    weights: lines.map(([start, stop]) => Array.from(part.weights.slice(start, stop))),
    visible: lines.map(([start, stop]) => Array.from(part.visible.slice(start, stop), Boolean)),
  });
}
