// All queries at once: Q times K transposed as one matrix product, then the weights, then the
// outputs.
import { chip, tokenName } from "./chip.js";
import { rampClass } from "./color.js";
import { h } from "./dom.js";
import { bracketed, evenly, exact, rounded, short } from "./numbers.js";
import { scaleText } from "./steps.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */
/** @typedef {{rows: Node[] | null, columns: Node[] | null, numbers: number[][], name: string}} Matrix */

/** @param {Scene} scene */
export function layerPart(scene) {
  const records = scene.tokens.map((_, row) => scene.recordOf(row));
  const { numbers } = scene;
  const all = records.flatMap((record) => (record ? [record] : []));
  if (!numbers || all.length < records.length) return null;
  return h(
    "section",
    { class: "layer-part", "data-key": "layer", "aria-labelledby": "layer-title" },
    h("h2", { id: "layer-title" }, "All queries at once: the layer"),
    h(
      "div",
      { class: "panel layer" },
      productStep(scene, all),
      weightsStep(scene, all),
      outStep(scene, all),
    ),
  );
}

/** @param {Scene} scene @param {"q" | "k"} which */
function names({ tokens, keyTokens }, which) {
  const list = which === "q" ? tokens : keyTokens;
  return list.map((_, index) => chip(list, index));
}

/** @param {Scene} scene @param {LedgerRecord[]} all */
function productStep(scene, all) {
  const { numbers, tokens, keyTokens } = scene;
  if (!numbers) return null;
  const [i, j] = cellOf(scene);
  const turned = (numbers.key[0] ?? []).map((_, d) => numbers.key.map((key) => key[d]));
  const query = numbers.query[i];
  const key = numbers.key[j];
  const terms = query.map((x, d) => `${bracketed(x)}·${bracketed(key[d])}`).join(" + ");
  const product = all[i].products[j];
  const ask = `query ${tokenName(tokens, i)} · key ${tokenName(keyTokens, j)}`;
  const write = evenly(all.flatMap((record) => record.products));
  return step(
    "1",
    "Q · Kᵀ = scores",
    "Kᵀ is K turned on its side: the keys stand as columns, so that every query, a row of Q, " +
      "meets every key. Row times column is one score; one matrix product makes them all.",
    h(
      "div",
      { class: "product" },
      matrix("Q", numbers.query, { rows: names(scene, "q"), litRow: i, write: short }),
      sign("·"),
      matrix("Kᵀ", turned, { columns: names(scene, "k"), litColumn: j, write: short }),
      sign("="),
      matrix(
        "scores",
        all.map((record) => record.products),
        { rows: names(scene, "q"), columns: names(scene, "k"), write, at: [i, j] },
      ),
    ),
    productLine(`${ask} = ${terms} = ${write(product)}`, product),
  );
}

/** @param {string} formula @param {number} product */
function productLine(formula, product) {
  return h(
    "p",
    { class: "readout", role: "status" },
    h("span", { class: "formula" }, formula),
    " ",
    h("span", { class: "exactly" }, `exactly ${exact(product)}`),
  );
}

/** The marked cell, held inside the matrix.  @param {Scene} scene @returns {[number, number]} */
function cellOf({ state, tokens, keyTokens }) {
  return [
    Math.min(state.cell[0], tokens.length - 1),
    Math.min(state.cell[1], keyTokens.length - 1),
  ];
}

/** @param {Scene} scene @param {LedgerRecord[]} all */
function weightsStep(scene, all) {
  const first = all[0];
  const extras = [
    first.softcap !== null && "softcap",
    first.bias && "bias",
    all.some((record) => record.visible.includes(false)) && "hidden keys",
    first.sink && "sink",
  ].filter(Boolean);
  const more = extras.length ? `, with ${extras.join(", ")}` : "";
  return step(
    "2",
    "softmax of each row = weights",
    `Scores ${scaleText(first, scene.state.scaled)}${more}; then exp and ÷ sum, row by row. ` +
      "Each row is one whole.",
    h(
      "div",
      { class: "product" },
      matrix(
        "weights",
        all.map((record) => record.weights),
        {
          rows: names(scene, "q"),
          columns: names(scene, "k"),
          shade: true,
          hidden: all.map((record) => record.visible.map((seen) => !seen)),
        },
      ),
    ),
  );
}

/** @param {Scene} scene @param {LedgerRecord[]} all */
function outStep(scene, all) {
  const { numbers } = scene;
  if (!numbers) return null;
  return step(
    "3",
    "weights · V = outputs",
    "Each row of weights blends the rows of V. That is the layer: as many outputs as queries, " +
      "none waiting for another.",
    h(
      "div",
      { class: "product" },
      sign("weights ·"),
      matrix("V", numbers.value, { rows: names(scene, "k"), write: short }),
      sign("="),
      matrix(
        "outputs",
        all.map((record) => record.out ?? []),
        { rows: names(scene, "q"), strong: true },
      ),
    ),
  );
}

/**
 * @param {string} number
 * @param {string} title
 * @param {string} text
 * @param {...(Node | null)} body
 */
function step(number, title, text, ...body) {
  return h(
    "div",
    { class: "layer-step" },
    h("h3", {}, h("span", { class: "ordinal" }, number), title),
    h("p", { class: "quiet" }, text),
    body,
  );
}

/** @param {string} text */
const sign = (text) => h("span", { class: "sign" }, text);

/**
 * @typedef {object} MatrixStyle
 * @property {Node[]} [rows]
 * @property {Node[]} [columns]
 * @property {number} [litRow]
 * @property {number} [litColumn]
 * @property {[number, number]} [at]  the marked cell, where its cells can be marked
 * @property {(x: number) => string} [write]
 * @property {boolean} [shade]
 * @property {boolean} [strong]
 * @property {boolean[][]} [hidden]
 */

/** @param {number} x @param {number} i @param {number} j @param {MatrixStyle} how */
function matrixCell(x, i, j, how) {
  const at = how.at?.[0] === i && how.at[1] === j;
  const lit = how.litRow === i || how.litColumn === j;
  const hidden = how.hidden?.[i][j] === true;
  const shade = how.shade && !hidden && Number.isFinite(x);
  const names = [at && "at", lit && "lit", hidden && "hatched", shade && rampClass(x)];
  const marked = how.at
    ? { "data-act": "cell", "data-arg": `${i}:${j}`, tabindex: at ? 0 : -1 }
    : {};
  const text = (how.write ?? rounded)(x);
  return h(
    "td",
    { class: names.filter(Boolean).join(" "), ...marked, vars: shade ? { "--w": String(x) } : {} },
    hidden ? h("span", { class: "unseen" }, "hidden") : how.strong ? h("b", {}, text) : text,
  );
}

/**
 * @param {string} name
 * @param {readonly (readonly number[])[]} numbers
 * @param {MatrixStyle} how
 */
function matrix(name, numbers, how) {
  const { rows, columns } = how;
  const body = numbers.map((row, i) =>
    h(
      "tr",
      {},
      rows ? h("th", { scope: "row" }, rows[i]) : null,
      row.map((x, j) => matrixCell(x, i, j, how)),
    ),
  );
  const heads = columns?.map((node) => h("th", { scope: "col" }, node)) ?? [];
  const head = columns ? h("thead", {}, h("tr", {}, rows ? h("td", {}) : null, heads)) : null;
  const props = { class: "matrix", role: how.at ? "grid" : null, "aria-label": name };
  return h(
    "div",
    { class: "matrix-box" },
    h("table", props, head, h("tbody", {}, body)),
    h("span", { class: "matrix-name", "aria-hidden": "true" }, name),
  );
}
