// The vectors behind one column of the ledger: query and key with their products, value and what
// is read of it, dimension by dimension.
import { chip, tokenName } from "./chip.js";
import { h } from "./dom.js";
import { rounded } from "./numbers.js";
import { pointOf } from "./scene.js";
import { columnsOf } from "./steps.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */

const FIRST = 8; // dimensions that are shown at first

/**
 * @param {Scene} scene
 * @param {boolean} wide
 */
export function vectorsPart(scene, wide) {
  const { record, tokens, keyTokens } = scene;
  if (!record || !record.keys.length) return null;
  const column = columnsOf(record)[pointOf(scene)?.column ?? 0];
  const i = column?.kind === "key" ? column.index : 0;
  const names = `${tokenName(tokens, record.row)} and ${tokenName(keyTokens, record.keys[i])}`;
  const width = Math.max(record.query.length, record.value?.[i].length ?? 0);
  const more = h(
    "button",
    { type: "button", class: "link", "data-act": "wide", "aria-pressed": String(wide) },
    wide ? `the first ${FIRST} dimensions` : `all ${width} dimensions`,
  );
  const title = h("h2", { id: "vectors-title" }, `The vectors of ${names}`);
  const table = h(
    "table",
    { class: "vectors", "aria-labelledby": "vectors-title" },
    head(width, wide),
    body(asked(scene, record, i), width, wide),
    record.value && body(given(scene, record, i), width, wide),
  );
  return h(
    "section",
    { class: "vectors-part", "data-key": "vectors", "aria-labelledby": "vectors-title" },
    h("div", { class: "titled" }, title, width > FIRST && more),
    h("div", { class: "scroll panel" }, table),
  );
}

/** How the score came about.  @param {Scene} scene @param {LedgerRecord} record @param {number} i */
function asked({ tokens, keyTokens }, record, i) {
  const products = record.query.map((x, d) => x * record.key[i][d]);
  return [
    line("query", chip(tokens, record.row), record.query),
    line("key", chip(keyTokens, record.keys[i]), record.key[i]),
    line("query × key", null, products, `adds up to the score ${rounded(record.products[i])}`),
  ];
}

/** What is read.  @param {Scene} scene @param {LedgerRecord} record @param {number} i */
function given({ tokens, keyTokens }, record, i) {
  const read = record.contributions?.[i] ?? [];
  return [
    line("value", chip(keyTokens, record.keys[i]), record.value?.[i] ?? []),
    line(`× ${rounded(record.weights[i])}`, null, read, "what is read of it"),
    line("output", chip(tokens, record.row), record.out ?? [], "all that is read"),
  ];
}

/**
 * @param {string} name
 * @param {Node | null} token
 * @param {readonly number[]} numbers
 * @param {string} [note]
 */
const line = (name, token, numbers, note = "") => ({ name, token, numbers, note });

/** @param {number} width @param {boolean} wide */
function head(width, wide) {
  const shown = wide ? width : Math.min(FIRST, width);
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col", class: "step" }, "dimension"),
      Array.from({ length: shown }, (_, d) => h("th", { scope: "col" }, String(d))),
      shown < width && h("th", { class: "more" }, "…"),
    ),
  );
}

/**
 * @param {{name: string, token: Node | null, numbers: readonly number[], note: string}[]} lines
 * @param {number} width
 * @param {boolean} wide
 */
function body(lines, width, wide) {
  const shown = wide ? width : Math.min(FIRST, width);
  const rows = lines.map(({ name, token, numbers, note }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "step" }, h("b", {}, name), " ", token, h("span", {}, note)),
      Array.from({ length: shown }, (_, d) =>
        h("td", {}, d < numbers.length ? rounded(numbers[d]) : ""),
      ),
      shown < width && h("td", { class: "more" }, shown < numbers.length ? "…" : ""),
    ),
  );
  return h("tbody", {}, rows);
}
