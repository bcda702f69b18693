// The table's part of the address: how it is sorted, and which layer it shows.
import { BY_HEAD, isColumn } from "./table_scene.js";
import { whole } from "./url_numbers.js";

/** @typedef {import("./types.js").State} State */

/** The table of a capture that is opened anew.  @type {State["table"]} */
export const TABLE_AT_FIRST = { by: BY_HEAD, down: false, layer: null, paused: false, at: "0.0" };

/** @param {State} state @param {URLSearchParams} fields */
export function writeTable({ table, batch }, fields) {
  fields.set("v", "table");
  if (batch) fields.set("b", String(batch));
  if (table.by !== BY_HEAD) fields.set("by", table.by);
  if (table.down !== (table.by !== BY_HEAD)) fields.set("way", table.down ? "down" : "up");
  if (table.layer !== null) fields.set("of", String(table.layer));
}

/**
 * @param {URLSearchParams} fields
 * @param {import("./types.js").CaptureInfo} capture
 * @param {number} batch
 * @returns {Partial<State>}
 */
export function readTable(fields, capture, batch) {
  const asked = fields.get("by") ?? "";
  const by = isColumn(asked) ? asked : BY_HEAD;
  const way = fields.get("way");
  const down = way === "down" || (way !== "up" && by !== BY_HEAD);
  const layer = whole(fields.get("of"), capture.layers.length);
  return { view: "table", batch, table: { ...TABLE_AT_FIRST, by, down, layer } };
}
