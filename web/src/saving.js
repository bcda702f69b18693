// Hands the shown grid to the person at the page as a file.
import { rangeIn } from "./heads_grid.js";
import { viewName } from "./heads_words.js";
import { gridPng } from "./picture_png.js";
import { gridSvg } from "./picture_svg.js";
import { readable } from "./readable.js";
import { download, fileName, gridCsv, gridJson } from "./picture_table.js";
import { tableCsv } from "./table_csv.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */

/**
 * @param {HeadsScene} scene
 * @param {string} kind
 * @returns {Promise<string>} the file's name
 */
export async function saveGrid(scene, kind) {
  const { first, state, words } = scene;
  const grid = first?.grid;
  if (!grid) return "";
  const { title, about } = state.capture;
  const what = [viewName(first, state.capture), words && first.rule ? `words ${first.rule}` : ""]
    .filter(Boolean)
    .join("; ");
  const name = fileName([title, viewName(first, state.capture)], kind);
  const options = { title: readable(title), what, range: rangeIn(scene), theme: state.theme };
  const text = (/** @type {string} */ type, /** @type {string} */ content) =>
    new Blob([content], { type });
  const makers = /** @type {Record<string, () => Blob | Promise<Blob>>} */ ({
    png: () => gridPng(grid, options),
    svg: () => text("image/svg+xml", gridSvg(grid, options)),
    csv: () => text("text/csv", gridCsv(grid)),
    json: () => text("application/json", gridJson(grid, { what, title, about })),
  });
  download(name, await makers[kind]());
  return name;
}

/**
 * The table of all heads, as it stands.
 * @param {import("./table_scene.js").TableScene} scene
 * @returns {string} the file's name
 */
export function saveTable(scene) {
  const { capture, table } = scene.state;
  const part = table.layer === null ? "heads" : capture.layers[table.layer].label;
  const name = fileName([capture.title, part], "csv");
  download(name, new Blob([tableCsv(scene)], { type: "text/csv" }));
  return name;
}

/**
 * The command that writes what is open as one HTML file; null where a model was run for this page
 * alone: there is nothing yet that a command could name.
 * @param {import("./types.js").CaptureInfo} capture
 */
export function exportCommand({ capture, source, about }) {
  if (source === "lookup" && about.made) return null;
  if (source === "lookup") return 'sl.export_html(look, "page.html")';
  return `softlookup export ${capture === "given" ? "FILE" : capture} -o page.html`;
}
