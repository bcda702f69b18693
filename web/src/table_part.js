// All heads at a glance: a table to sort, one row a head, that fills while heads are worked out.
import { axesOf, kindOf } from "./capture_info.js";
import { h } from "./dom.js";
import { headingOf } from "./heading.js";
import { counted, rounded } from "./numbers.js";
import { readable } from "./readable.js";
import { BY_HEAD } from "./table_scene.js";

/** @typedef {import("./table_scene.js").TableScene} TableScene */
/** @typedef {import("./table_scene.js").HeadRow} HeadRow */
/** @typedef {import("./table_scene.js").Column} Column */

export const PICTURE = 48; // pixels of a thumbnail
const [SHORTLY, MINUTE, HOUR] = [2, 90, 5400]; // seconds

/** @param {import("./types.js").HeadAt} at */
export const rowArg = ({ stage, head }) => `${stage}.${head}`;

/** @param {TableScene} scene */
export function tableMain(scene) {
  return h(
    "main",
    { "data-key": "table", class: "heads table-view" },
    h(
      "section",
      { class: "table-part", "aria-labelledby": "table-title" },
      h("div", { class: "titled" }, h("h2", { id: "table-title" }, titleOf(scene)), tools(scene)),
      progressLine(scene),
      h(
        "div",
        { class: "table-scroll panel", "data-key": "rows" },
        h(
          "table",
          { class: "heads-table", "aria-labelledby": "table-title" },
          h("thead", {}, headRow(scene)),
          h("tbody", {}, bodyRows(scene)),
        ),
      ),
      h("p", { class: "quiet table-note" }, writtenNote(scene), noteOf(scene)),
    ),
  );
}

/** @param {TableScene} scene */
function titleOf({ rows, state }) {
  const layer = state.table.layer === null ? null : state.capture.layers[state.table.layer];
  const heads = `${rows.length.toLocaleString("en")} head${rows.length === 1 ? "" : "s"}`;
  return layer ? `${heads} of ${readable(layer.label)}` : `All ${heads} at a glance`;
}

/** @param {TableScene} scene */
function noteOf({ by }) {
  const pictures = "Each picture shows its largest weights: queries down, keys across.";
  return `Open a head by its name. ${pictures}${by ? ` Computed by ${by}.` : ""}`;
}

/** Which of the queries a model wrote, where it wrote any.  @param {TableScene} scene */
function writtenNote({ rows, state: { capture, batch } }) {
  const all = rows.map(({ at }) => axesOf(capture, at.stage, batch).queries);
  const some = all.filter(({ tokens, prompt }) => kindOf({ padding: [], prompt }, tokens.length - 1));
  if (!some.length) return "";
  const [{ tokens, prompt }] = some;
  const [first, last] = [Number(prompt), tokens.length - 1].map((at) => at.toLocaleString("en"));
  const which = some.length < all.length ? "In some layers queries" : "Queries";
  const means = "each mean is over them and the prompt's.";
  return `${which} ${first} … ${last} were written by the model; ${means} `;
}

/** @param {TableScene} scene */
function tools({ state, progress }) {
  return h(
    "div",
    { class: "switches table-tools" },
    textField(state),
    layerChoice(state),
    h(
      "button",
      {
        type: "button",
        class: "link",
        "data-act": "save-table",
        disabled: progress.done === 0,
        title: "the rows as they stand, for a spreadsheet",
      },
      "save CSV",
    ),
  );
}

/** Which text of a batch.  @param {import("./types.js").State} state */
function textField({ batch, info: { sizes } }) {
  if (sizes.batch < 2) return null;
  const most = sizes.batch - 1;
  const field = { type: "number", min: 0, max: most, step: 1, value: batch };
  return h(
    "label",
    { class: "compare" },
    "text ",
    h("input", { ...field, "data-change": "batch" }),
    ` of 0 … ${most}`,
  );
}

/** @param {import("./types.js").State} state */
function layerChoice({ capture: { layers }, table }) {
  if (layers.length < 2) return null;
  const option = (/** @type {number | null} */ stage, /** @type {string} */ word) =>
    h("option", { value: stage ?? "", selected: table.layer === stage }, word);
  return h(
    "label",
    { class: "compare" },
    "layer ",
    h(
      "select",
      { "data-choose": "table-layer" },
      option(null, "all"),
      layers.map((layer, stage) => option(stage, readable(layer.label))),
    ),
  );
}

/** How far it is, and a way to hold on.  @param {TableScene} scene */
function progressLine({ progress, state }) {
  const { done, of, part, seconds } = progress;
  if (done >= of) {
    const words = of === 1 ? "The head is worked out." : `All ${of} heads are worked out.`;
    return h("p", { class: "table-progress quiet", "data-key": "all" }, words);
  }
  const { paused } = state.table;
  const left = seconds === null || paused ? "" : `, ${timeWords(seconds)}`;
  const words = `${done} of ${counted(of, "head")}${paused ? ", held" : left}`;
  return h(
    "p",
    { class: "table-progress", "data-key": "some" },
    h("progress", { max: 1, value: part, "aria-label": "heads that are worked out" }),
    h("span", { class: "quiet" }, words),
    h(
      "button",
      { type: "button", class: "link", "data-act": "pause-table", "aria-pressed": String(paused) },
      paused ? "go on" : "hold",
    ),
  );
}

/** @param {number} seconds */
export function timeWords(seconds) {
  if (seconds < SHORTLY) return "a moment left";
  if (seconds < MINUTE) return `about ${Math.ceil(seconds)} s left`;
  if (seconds < HOUR) return `about ${Math.ceil(seconds / 60)} min left`;
  return `about ${Math.ceil(seconds / 3600)} h left`;
}

/** @param {TableScene} scene */
function headRow({ columns, state, kinds }) {
  const head = { id: BY_HEAD, word: "head", unit: "", means: "the order of the model" };
  return h(
    "tr",
    {},
    [head, ...columns].map((column) => heading(column, state.table)),
    kinds.length > 0 &&
      h("th", { scope: "col", class: "kinds-cell", "data-key": "kinds" }, "of what is read"),
  );
}

/**
 * @param {Pick<Column, "id" | "word" | "unit" | "means">} column
 * @param {import("./types.js").TableState} table
 */
function heading(column, table) {
  const { id, word } = column;
  const named = h("span", { class: id.startsWith("reads ") ? "whole" : "" }, swatch(id), word);
  return headingOf(column, table, named);
}

/** The colour of a kind, at its column.  @param {string} id */
function swatch(id) {
  const kind = id === "first" ? "first token" : id.startsWith("reads ") ? id.slice(6) : "";
  return kind && h("i", { class: `kind ${kindClass(kind)}` });
}

/** @param {string} kind */
const kindClass = (kind) => `kind-${kind.replace(" ", "-")}`;

/** @param {TableScene} scene */
function bodyRows(scene) {
  const { rows, columns, state } = scene;
  const shown = rows.some(({ at }) => rowArg(at) === state.table.at);
  const stop = shown ? state.table.at : rows.length ? rowArg(rows[0].at) : "";
  const tops = new Map(columns.map((column) => [column.id, topOf(rows, column)]));
  const alike = `${columns.map(({ id }) => id)} ${[...tops.values()]} ${scene.kinds}`;
  return rows.map((row) => {
    const stops = rowArg(row.at) === stop;
    const drawn = bodyRow(scene, row, tops, stops);
    const own = `${row.part} ${row.summary !== null} ${stops} ${row.refused}`;
    drawn.setAttribute("data-as", `${own} ${alike}`); // the rest is the head's, and stays
    return drawn;
  });
}

/** What a bar as long as its cell stands for.  @param {HeadRow[]} rows @param {Column} column */
function topOf(rows, column) {
  if (column.id !== "entropy" && column.id !== "distance") return 1;
  return Math.max(...rows.map((row) => column.number(row) || 0)) || 1;
}

/**
 * @param {TableScene} scene
 * @param {HeadRow} row
 * @param {Map<string, number>} tops
 * @param {boolean} stops  Tab reaches this row
 */
function bodyRow({ columns, kinds }, row, tops, stops) {
  const arg = rowArg(row.at);
  const name = `${readable(row.label)}, head ${row.number}`;
  return h(
    "tr",
    { "data-key": arg, class: row.summary ? "" : "waiting" },
    h(
      "th",
      { scope: "row", class: "name" },
      h(
        "button",
        {
          type: "button",
          class: "row-open",
          "data-act": "open-row",
          "data-arg": arg,
          tabindex: stops ? 0 : -1,
          "aria-label": `open ${name}`,
        },
        h("span", { class: "picture" }, h("canvas", { "data-row": arg })),
        h(
          "span",
          { class: "words" },
          h("bdi", {}, readable(row.label)),
          h("b", {}, `head ${row.number}`),
        ),
      ),
    ),
    row.refused
      ? h("td", { class: "refused quiet", colspan: columns.length + 1 }, row.refused)
      : columns.map((column, i) => numberCell(row, column, tops.get(column.id) ?? 1, i === 0)),
    !row.refused && kinds.length > 0 && h("td", { class: "kinds-cell" }, kindsBar(row)),
  );
}

/** @param {HeadRow} row @param {Column} column @param {number} top @param {boolean} first */
function numberCell(row, column, top, first) {
  const number = column.number(row);
  if (number === undefined) {
    const words = first && row.part > 0 ? `${Math.floor(100 * row.part)} %` : "";
    return h("td", { class: "quiet" }, words);
  }
  if (number === null) return h("td", { class: "quiet", title: "there is none" }, "–");
  const share = Number.isFinite(number) ? Math.max(0, Math.min(1, number / top)) : 0;
  return h(
    "td",
    { class: "weight", vars: { "--w": share.toFixed(4) }, title: String(number) },
    column.id === "distance" ? distanceWord(number) : rounded(number),
  );
}

const TENTHS = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Tokens, to a tenth.  @param {number} distance */
export const distanceWord = (distance) =>
  Number.isFinite(distance) ? TENTHS.format(distance) : rounded(distance);

/** What a head reads of each kind of key, as one bar.  @param {HeadRow} row */
function kindsBar({ summary }) {
  const groups = (summary?.groups ?? []).filter(({ share }) => share !== null && share > 0);
  if (!groups.length) return null;
  const words = groups.map(({ name, share }) => `${name} ${rounded(share ?? 0)}`).join(", ");
  return h(
    "span",
    { class: "kinds", role: "img", "aria-label": words, title: words },
    groups.map(({ name, share }) =>
      h("i", { class: kindClass(name), vars: { "--w": (share ?? 0).toFixed(4) } }),
    ),
  );
}
