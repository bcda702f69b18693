// The address keeps the place and, where they are few, the changed numbers. A fragment can come
// from anywhere: every field is checked, and what does not fit is left out.
import { firstView, infoOf } from "./capture_info.js";
import { editKey } from "./scene.js";
import { ORDER } from "./steps.js";
import { readMap, writeMap } from "./map_url.js";
import { readHeads, writeHeads } from "./url_heads.js";
import { whole } from "./url_numbers.js";
import { readTable, writeTable } from "./url_table.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./types.js").Edit} Edit */

const MOST = 4000; // characters of changed numbers that an address carries
const LONGEST_NAME = 200;
/** @type {readonly import("./types.js").ViewName[]} */
const VIEWS = ["steps", "heads", "map", "table"];
const PLACES = ["q", "n", "L", "h"]; // fields that say where in the capture

/** @param {State} state */
export function toHash(state) {
  const fields = new URLSearchParams();
  const { capture } = state;
  if (capture.capture !== capture.shelf[0]?.id) fields.set("c", capture.capture);
  if (state.view === "heads") writeHeads(state, fields);
  else if (state.view === "map") writeMap(state, fields);
  else if (state.view === "table") writeTable(state, fields);
  else writeSteps(state, fields);
  return fields.toString();
}

/** @param {State} state @param {URLSearchParams} fields */
function writeSteps(state, fields) {
  if (firstView(state.capture) !== "steps") fields.set("v", "steps");
  fields.set("q", String(state.row));
  if (state.stage) fields.set("L", String(state.stage));
  if (state.batch) fields.set("b", String(state.batch));
  if (state.head) fields.set("h", String(state.head));
  fields.set("step", state.step);
  if (!state.scaled) fields.set("scale", "off");
  if (state.reading !== "textbook") fields.set("read", state.reading);
  if (state.seen.length) fields.set("in", [...state.seen].sort((a, b) => a - b).join("."));
  fields.set("at", `${state.cursor.step}.${state.cursor.column}`);
  if (state.section) fields.set("s", String(state.section));
  if (state.layer) fields.set("all", "1");
  const edit = state.edits[editKey(state)];
  const numbers = edit ? JSON.stringify(edit) : "";
  if (numbers && numbers.length <= MOST) fields.set("n", numbers);
}

/** Do the changed numbers fit into the address?  @param {State} state */
export function fitsHash(state) {
  const edit = state.edits[editKey(state)];
  return !edit || JSON.stringify(edit).length <= MOST;
}

/** @param {string | null} text @returns {import("./types.js").StepId | null} */
const stepId = (text) => ORDER.find((id) => id === text) ?? null;

/** The capture that an address names, if any.  @param {string} hash */
export const captureIn = (hash) => new URLSearchParams(hash.replace(/^#/, "")).get("c");

/**
 * @param {string} hash
 * @param {import("./types.js").CaptureInfo} capture  the one that the address names
 * @returns {Partial<State>}
 */
export function fromHash(hash, capture) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const stage = whole(fields.get("L"), capture.layers.length) ?? 0;
  const { batch, heads } = capture.layers[stage].sizes;
  const entry = whole(fields.get("b"), batch) ?? 0;
  const head = whole(fields.get("h"), heads) ?? 0;
  const place = { stage, batch: entry, head };
  const asked = VIEWS.find((name) => name === fields.get("v"));
  const says = asked !== undefined || PLACES.some((name) => fields.has(name));
  const view = asked ?? firstView(capture);
  if (view === "heads") return says ? readHeads(fields, capture, place) : {};
  if (view === "map") return says ? readMap(fields, capture, place) : {};
  if (view === "table") return readTable(fields, capture, entry);
  return {
    ...(says ? { view } : {}),
    ...fromSteps(fields, infoOf(capture, stage, entry), place),
  };
}

/**
 * @param {URLSearchParams} fields
 * @param {Info} info
 * @param {{stage: number, batch: number, head: number}} place
 * @returns {Partial<State>}
 */
function fromSteps(fields, info, place) {
  const edit = info.editable ? editFrom(fields.get("n"), info) : null;
  const rows = edit ? edit.tokens.length : info.sizes.q_len;
  /** @type {Partial<State>} */
  const found = PLACES.some((name) => fields.has(name)) ? place : {};
  const row = whole(fields.get("q"), rows);
  if (row !== null) found.row = row;
  const step = fields.get("step") === "none" ? "none" : stepId(fields.get("step"));
  if (step) found.step = step;
  if (fields.get("scale") === "off" && info.editable) found.scaled = false;
  if (fields.get("read") === "shifted") found.reading = "shifted";
  if (fields.has("in")) found.seen = rowsFrom(fields.get("in") ?? "", rows);
  const [id, column] = (fields.get("at") ?? "").split(".");
  const at = stepId(id);
  if (at) found.cursor = { step: at, column: whole(column ?? null, 1000) ?? 0 };
  const section = whole(fields.get("s"), 100);
  if (section !== null) found.section = section;
  if (fields.get("all") === "1") found.layer = true;
  if (edit) found.edits = { [editKey(place)]: edit };
  return found;
}

/** @param {string} text @param {number} rows */
function rowsFrom(text, rows) {
  const found = text.split(".").map((part) => whole(part, rows));
  return [...new Set(found.filter((row) => row !== null))];
}

/** @param {unknown} value @param {number} most @returns {value is unknown[]} */
const isList = (value, most) => Array.isArray(value) && value.length >= 1 && value.length <= most;

/**
 * @param {unknown} value
 * @param {number} rows
 * @param {number} most
 * @returns {value is number[][]}
 */
function isMatrix(value, rows, most) {
  if (!isList(value, rows) || value.length !== rows) return false;
  const width = Array.isArray(value[0]) ? value[0].length : 0;
  return value.every(
    (row) =>
      isList(row, most) &&
      row.length === width &&
      row.every((x) => typeof x === "number" && Number.isFinite(x)),
  );
}

/**
 * @param {unknown} value
 * @param {number} length
 * @param {number} below
 * @returns {value is number[]}
 */
function isOrigin(value, length, below) {
  return (
    isList(value, length) &&
    value.length === length &&
    value.every((x) => typeof x === "number" && Number.isInteger(x) && x >= -1 && x < below)
  );
}

/** @param {unknown} value @param {number} most @returns {value is string[]} */
const isNames = (value, most) =>
  isList(value, most) &&
  value.every((name) => typeof name === "string" && name.length <= LONGEST_NAME);

/**
 * @param {string | null} text
 * @param {Info} info
 * @returns {Edit | null}
 */
function editFrom(text, info) {
  if (!text || text.length > 2 * MOST) return null;
  /** @type {any} */
  let raw;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  if (raw === null || typeof raw !== "object") return null;
  const { edit_tokens: most, edit_dims: dims } = info.limits;
  const { tokens, key_tokens, query, key, value, row_from, key_from } = raw;
  if (!isNames(tokens, most) || !isNames(key_tokens, most)) return null;
  const [rows, keys] = [tokens.length, key_tokens.length];
  const fits =
    isMatrix(query, rows, dims) &&
    isMatrix(key, keys, dims) &&
    isMatrix(value, keys, dims) &&
    query[0].length === key[0].length &&
    isOrigin(row_from, rows, info.sizes.q_len) &&
    isOrigin(key_from, keys, info.sizes.kv_len);
  return fits ? { tokens, key_tokens, query, key, value, row_from, key_from } : null;
}
