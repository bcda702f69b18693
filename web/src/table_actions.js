// What a person can do in the table of all heads: each action takes the scene and gives the changes
// of state.
import { isLong } from "./capture_info.js";
import { jump } from "./keys.js";
import { rowArg } from "./table_part.js";
import { BY_HEAD, isColumn } from "./table_scene.js";

/** @typedef {import("./table_scene.js").TableScene} TableScene */
/** @typedef {import("./actions.js").Changes} Changes */
/** @typedef {(scene: TableScene, argument: string) => Changes} Action */

/** The largest first; the same column again, the other way round.  @type {Action} */
function sort({ state: { table } }, by) {
  if (!isColumn(by)) return {};
  const down = table.by === by ? !table.down : by !== BY_HEAD;
  return { table: { ...table, by, down } };
}

/** From one row to another, or with no way back to it.  @type {Action} */
function move({ rows, state: { table } }, way) {
  const [dy, dx] = way ? jump(way) : [0, 0];
  const at = Math.max(0, rows.findIndex((row) => rowArg(row.at) === table.at));
  const step = dy || (Number.isFinite(dx) ? 0 : dx); // Home and End
  const row = rows[Math.max(0, Math.min(at + step, rows.length - 1))];
  return row ? { table: { ...table, at: rowArg(row.at) }, focus: "row" } : {};
}

/** A long head opens as a map, a short one among the others.  @type {Action} */
function open({ state }, argument) {
  const [stage, head] = argument.split(".").map(Number);
  const { capture, table } = state;
  const at = { stage, head };
  const view = isLong(capture, stage) ? "map" : "heads";
  return {
    ...at,
    view,
    open: true,
    thumb: at,
    average: "none",
    compare: null,
    table: { ...table, at: argument },
    hover: null,
    point: null,
    focus: "top",
  };
}

/** @type {Record<string, Action>} */
export const TABLE_ACTIONS = {
  sort,
  "open-row": open,
  "row-move": move,
  "pause-table": ({ state: { table } }) => ({ table: { ...table, paused: !table.paused } }),
  "table-layer": ({ state: { table } }, stage) => ({
    table: { ...table, layer: stage === "" ? null : Number(stage) },
  }),
};
