// The table of all heads as a file for a spreadsheet, and for the clipboard.
import { field } from "./picture_table.js";

/** @typedef {import("./table_scene.js").TableScene} TableScene */

/**
 * The rows as they stand, numbers with every digit; what there is none of, and what is not worked
 * out yet, is empty.
 * @param {TableScene} scene
 * @returns {string[][]}
 */
function linesOf({ rows, columns, state }) {
  const names = columns.map(({ word, unit }) => (unit ? `${word} (${unit})` : word));
  const lines = rows.map((row) => [
    row.label,
    String(row.number),
    state.capture.layers[row.at.stage].name,
    ...columns.map((column) => String(column.number(row) ?? "")),
  ]);
  return [["layer", "head", "module", ...names], ...lines];
}

const TEXTS = [0, 2]; // columns of the layer's own words

/** RFC 4180.  @param {TableScene} scene */
export const tableCsv = (scene) =>
  linesOf(scene)
    .map((line) => line.map((text, i) => (TEXTS.includes(i) ? field(text) : text)).join(","))
    .map((line) => `${line}\r\n`)
    .join("");

/** One line a row, with tabs.  @param {TableScene} scene */
export const tableText = (scene) =>
  linesOf(scene)
    .map((line) => line.map((text) => text.replaceAll(/\s/g, " ")).join("\t"))
    .map((line) => `${line}\n`)
    .join("");
