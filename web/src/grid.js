// The weight grid: one row a query, filled as queries are worked out.
import { chip, tokenName } from "./chip.js";
import { rampClass } from "./color.js";
import { h } from "./dom.js";
import { count, rounded } from "./numbers.js";
import { hasLayer, isWhole } from "./scene.js";

/** @typedef {import("./scene.js").Scene} Scene */

const WRITTEN = 6; // more columns than this, and a cell is colour with its number in the title

/** @param {Scene} scene @param {Set<string>} lights */
export function gridPart(scene, lights) {
  const { small, tokens } = scene;
  return h(
    "section",
    { class: "grid-part", "data-key": "grid", "aria-labelledby": "grid-title" },
    h("h2", { id: "grid-title" }, "The weight grid: one row a query"),
    pickers(scene),
    table(scene, lights),
    h("div", { class: "legend", "aria-hidden": "true" }, "0", h("span", { class: "ramp" }), "1"),
    !small &&
      h(
        "p",
        { class: "quiet" },
        `${count(scene.gridRows.length)} of ${count(tokens.length)} queries, against the keys of the ledger.`,
      ),
    isWhole(scene) &&
      h(
        "p",
        { class: "quiet whole" },
        "All rows are in: this grid is the whole layer, every query against every key.",
      ),
    isWhole(scene) &&
      hasLayer(scene) &&
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "data-act": "layer",
          "aria-pressed": String(scene.state.layer),
        },
        scene.state.layer ? "Hide all queries at once" : "All queries at once",
      ),
  );
}

/**
 * Which query, head and batch entry, where there are several to choose from.
 * @param {Scene} scene
 */
function pickers({ state, small, tokens }) {
  const { batch_shape, sizes } = state.info;
  const batches = batch_shape.reduce((product, n) => product * n, 1);
  const fields = [
    !small && field("query", state.row, tokens.length, `query (0 … ${count(tokens.length - 1)})`),
    sizes.heads > 1 && field("head", state.head, sizes.heads, `head (0 … ${sizes.heads - 1})`),
    batches > 1 && field("batch", state.batch, batches, `batch entry (0 … ${batches - 1})`),
  ].filter(Boolean);
  return fields.length ? h("div", { class: "pickers" }, fields) : null;
}

/** @param {string} name @param {number} value @param {number} size @param {string} label */
function field(name, value, size, label) {
  return h(
    "label",
    {},
    h("span", {}, label),
    h("input", { type: "number", min: 0, max: size - 1, step: 1, value, "data-change": name }),
  );
}

/** @param {Scene} scene @param {Set<string>} lights */
function table(scene, lights) {
  const { tokens, keyTokens, gridRows, gridKeys, state } = scene;
  const written = gridKeys.length <= WRITTEN;
  const rows = gridRows.map((row) =>
    h(
      "tr",
      { class: row === state.row ? "picked" : "" },
      h("th", { scope: "row" }, chip(tokens, row)),
      gridKeys.map((key, c) =>
        cell(scene, row, c, row === state.row && lights.has(`weight@${key}`), written),
      ),
    ),
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: `grid${written ? "" : " dense"}`, "aria-labelledby": "grid-title" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          gridKeys.map((key) => h("th", { scope: "col" }, chip(keyTokens, key))),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}

/**
 * @param {Scene} scene
 * @param {number} row
 * @param {number} c
 * @param {boolean} lit
 * @param {boolean} written
 */
function cell(scene, row, c, lit, written) {
  const found = scene.gridCell(row, c);
  const key = scene.gridKeys[c];
  const names = `query ${tokenName(scene.tokens, row)}, key ${tokenName(scene.keyTokens, key)}`;
  const props = { "data-act": "grid", "data-arg": `${row}:${key}` };
  const light = lit ? " lit" : "";
  if (!found)
    return h("td", { ...props, class: "void", title: `${names}: not worked out yet` }, "?");
  if (!found.visible)
    return h(
      "td",
      { ...props, class: "hatched", title: `${names}: hidden` },
      mark("hidden", false),
    );
  const weight = found.weight;
  return h(
    "td",
    {
      ...props,
      class: `${rampClass(weight)}${light}`,
      title: `${names}: ${rounded(weight)}`,
      vars: { "--w": String(Number.isFinite(weight) ? weight : 0) },
    },
    mark(rounded(weight), written),
  );
}

/** @param {string} text @param {boolean} written */
const mark = (text, written) => h("span", { class: written ? "" : "unseen" }, text);
