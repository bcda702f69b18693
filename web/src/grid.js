// The weight grid: one row a query, filled as queries are worked out.
import { chip, chipBreadth, tokenName } from "./chip.js";
import { rampClass } from "./color.js";
import { h } from "./dom.js";
import { breadth, rounded } from "./numbers.js";
import { hasLayer, isWhole } from "./scene.js";

/** @typedef {import("./scene.js").Scene} Scene */

const WIDTH = 262; // pixels of the narrowest grid
const NUMBER = 41; // pixels of a written weight; less, and a cell is colour, its number in the title
const LONGEST = 5; // digits that fit into a cell

/** @param {Scene} scene @param {Set<string>} lights */
export function gridPart(scene, lights) {
  const { small, tokens } = scene;
  return h(
    "section",
    { class: "grid-part", "data-key": "grid", "aria-labelledby": "grid-title" },
    h("h2", { id: "grid-title" }, "The weight grid: one row a query"),
    pickers(scene),
    table(scene, lights),
    legend(scene),
    !small &&
      h(
        "p",
        { class: "quiet" },
        `${scene.gridRows.length} of ${tokens.length} queries, against the keys of the ledger.`,
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

/** The ramp from 0 to the weight at its dark end.  @param {Scene} scene */
function legend({ small, gridTop }) {
  const end = small ? "1" : rounded(gridTop);
  return h(
    "div",
    { class: "legend", "aria-hidden": "true" },
    "0",
    h("span", { class: "ramp" }),
    h("span", { title: small ? null : "the largest weight shown" }, end),
  );
}

/**
 * Which query, head and batch entry, where there are several to choose from.
 * @param {Scene} scene
 */
function pickers({ state, small, tokens }) {
  const { batch_shape, sizes } = state.info;
  const stages = state.capture.layers.length;
  const batches = batch_shape.reduce((product, n) => product * n, 1);
  const { heads } = state.capture.layers[state.stage];
  const numbered = stages > 1 || heads.some((number, i) => number !== i);
  const fields = [
    !small && field("query", state.row, tokens.length, `query (0 … ${tokens.length - 1})`),
    stages > 1 &&
      chooser(
        "stage",
        "layer",
        state.stage,
        state.capture.layers.map((l) => l.label),
      ),
    sizes.heads > 1 &&
      numbered &&
      chooser(
        "head",
        "head",
        state.head,
        heads.map((number) => `head ${number}`),
      ),
    sizes.heads > 1 &&
      !numbered &&
      field("head", state.head, sizes.heads, `head (0 … ${sizes.heads - 1})`),
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

/** @param {string} name @param {string} label @param {number} value @param {string[]} texts */
function chooser(name, label, value, texts) {
  const options = texts.map((text, i) => h("option", { value: i, selected: i === value }, text));
  return h(
    "label",
    {},
    h("span", {}, label),
    h("select", { "data-choose": name, "aria-label": label }, options),
  );
}

/** @param {number} digits */
const chipPixels = (digits) => Math.ceil(digits * 7.8) + 14;

/** The column of the queries: wide enough for short texts.  @param {number} digits */
const labelPixels = (digits) => Math.max(38, Math.min(92, chipPixels(digits) + 6));

/**
 * How wide the column of the queries is, in pixels; whether weights are written into their cells;
 * whether the keys' texts stand upright.
 * @param {Scene} scene
 */
function measures({ tokens, keyTokens, gridRows, gridKeys }) {
  const widest = (/** @type {string[]} */ list, /** @type {number[]} */ shown) =>
    Math.max(0, ...shown.map((i) => chipBreadth(list, i)));
  const names = labelPixels(widest(tokens, gridRows));
  const room = (WIDTH - names - 3) / Math.max(1, gridKeys.length) - 3;
  return {
    names,
    written: room >= NUMBER,
    upright: chipPixels(widest(keyTokens, gridKeys)) > room,
  };
}

/** @param {Scene} scene @param {Set<string>} lights */
function table(scene, lights) {
  const { tokens, keyTokens, gridRows, gridKeys, state } = scene;
  const { names, written, upright } = measures(scene);
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
      {
        class: `grid${written ? "" : " dense"}${upright ? " upright" : ""}`,
        "aria-labelledby": "grid-title",
        vars: { "--names": `${names}px` },
      },
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
  const share = weight / scene.gridTop;
  return h(
    "td",
    {
      ...props,
      class: `${rampClass(share)}${light}`,
      title: `${names}: ${rounded(weight)}`,
      vars: { "--w": String(Number.isFinite(share) ? share : 0) },
    },
    weightMark(rounded(weight), written),
  );
}

/**
 * A number too long for its cell is seen as “≈0”, and read out in full.
 * @param {string} text
 * @param {boolean} written
 */
function weightMark(text, written) {
  if (!written || breadth(text) <= LONGEST) return mark(text, written);
  return [h("span", { "aria-hidden": "true" }, "≈0"), mark(text, false)];
}

/** @param {string} text @param {boolean} written */
const mark = (text, written) => h("span", { class: written ? "" : "unseen" }, text);
