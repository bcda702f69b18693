// The tokens with their query, key and value; every number is edited in place.
import { chip, tokenName } from "./chip.js";
import { h } from "./dom.js";
import { brief, exact, short, vector } from "./numbers.js";
import { prose } from "./prose.js";
import { editKey } from "./scene.js";
import { isStacked, tablesOf } from "./tokens_layout.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./types.js").Side} Side */
/** @typedef {import("./types.js").Spot} Spot */

/** @param {Spot} spot */
const spotText = ({ side, row, col }) => `${side}:${row}:${col}`;

/** @param {Scene} scene @param {Set<string>} lights */
export function tokensTable(scene, lights) {
  const { state, numbers } = scene;
  const edited = editKey(state) in state.edits || !state.scaled;
  return h(
    "section",
    { class: "tokens-part", "data-key": "tokens", "aria-labelledby": "tokens-title" },
    h("h2", { id: "tokens-title" }, state.info.editable ? "Tokens (click to edit)" : "Tokens"),
    numbers ? editableTables(scene, lights) : recordTables(scene, lights),
    state.info.editable
      ? tools(scene, edited)
      : h("p", { class: "quiet" }, state.info.editable_reason ?? ""),
    state.trouble && h("p", { class: "trouble", role: "alert" }, state.trouble),
    h("p", { class: "quiet say" }, sayOf(scene)),
  );
}

/** @param {Scene} scene */
function sayOf({ state, tokens, local }) {
  const name = tokenName(tokens, state.row);
  const asks =
    `Token ${name} asks. Its query is compared with every key; the better a key matches, ` +
    "the more of that token’s value it reads.";
  const { dtype } = state.info;
  const from = dtype === "float64" ? "" : ` from the ${dtype} inputs`;
  return local
    ? `${asks} These numbers are changed, and worked out on this page in float64.`
    : `${asks} Every number is worked out in float64${from}.`;
}

/** @param {Scene} scene @param {Set<string>} lights */
function editableTables(scene, lights) {
  const { state, numbers, paired } = scene;
  if (!numbers) return [];
  return tablesOf(numbers, paired).map(({ label, sides, tokens }, t) => {
    const asks = t === 0;
    const lines = tokens.map((_, row) => ({
      picked: asks && row === state.row,
      name: nameCell(scene, sides[0] ?? "query", row, tokens, asks),
      cells: sides.map((side) => ({
        side,
        lit: lights.has(`${side}:${row}`),
        parts: vectorCell(scene, side, row, tokens),
      })),
    }));
    return tableOf(label, sides, lines, isStacked(numbers, sides));
  });
}

/** @typedef {{side: Side, lit: boolean, parts: (Node | string)[]}} VectorCell */
/** @typedef {{picked: boolean, name: Node, cells: VectorCell[]}} TokenLine */

/**
 * @param {string} label
 * @param {Side[]} sides
 * @param {TokenLine[]} lines
 * @param {boolean} stacked
 */
function tableOf(label, sides, lines, stacked) {
  const head = h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("td", {}),
      sides.map((side) => h("th", { scope: "col" }, side)),
    ),
  );
  return h(
    "div",
    { class: "scroll panel", "data-key": stacked ? "stacked" : "beside" },
    h(
      "table",
      { class: `tokens${stacked ? " stacked" : ""}`, role: "grid", "aria-label": label },
      stacked ? null : head,
      lines.map((line) => (stacked ? stackedBody(line) : besideBody(line))),
    ),
  );
}

/** @param {VectorCell} cell */
const cellOf = ({ lit, parts }) => h("td", { class: lit ? "lit" : "" }, parts);

/** @param {TokenLine} line */
function besideBody({ picked, name, cells }) {
  return h(
    "tbody",
    {},
    h("tr", { class: picked ? "picked" : "" }, h("th", { scope: "row" }, name), cells.map(cellOf)),
  );
}

/** @param {TokenLine} line */
function stackedBody({ picked, name, cells }) {
  return h(
    "tbody",
    {},
    cells.map((cell, i) =>
      h(
        "tr",
        { class: picked ? "picked" : "" },
        i === 0 ? h("th", { scope: "rowgroup", rowspan: cells.length }, name) : null,
        h("th", { scope: "row", class: "side" }, cell.side),
        cellOf(cell),
      ),
    ),
  );
}

/**
 * @param {Scene} scene
 * @param {Side} side
 * @param {number} row
 * @param {string[]} tokens
 * @param {boolean} asks
 */
function nameCell({ state }, side, row, tokens, asks) {
  const { editing } = state;
  const sameTable = editing && (editing.spot.side === "query") === (side === "query");
  if (editing?.what === "name" && editing.spot.row === row && (sameTable || asks)) {
    return h("input", {
      class: "edit name",
      value: editing.draft,
      "aria-label": "new name",
      maxlength: 200,
    });
  }
  if (!asks) return chip(tokens, row);
  return chip(tokens, row, {
    "data-act": "query",
    "data-arg": row,
    "aria-pressed": String(row === state.row),
    "aria-label": `token ${tokenName(tokens, row)}: let it ask`,
  });
}

/**
 * @param {Scene} scene
 * @param {Side} side
 * @param {number} row
 * @param {string[]} tokens
 * @returns {(Node | string)[]}
 */
function vectorCell(scene, side, row, tokens) {
  const { state, numbers } = scene;
  const vectorOf = numbers?.[side][row] ?? [];
  if (!state.info.editable) return [vector(vectorOf, short, 3)];
  const parts = vectorOf.flatMap((x, col) => [
    col ? ", " : "",
    number(scene, { side, row, col }, x, tokens),
  ]);
  return ["[", ...parts, "]"];
}

/** @param {Scene} scene @param {Spot} spot @param {number} x @param {string[]} tokens */
function number({ state }, spot, x, tokens) {
  const name = `${spot.side} of token ${tokenName(tokens, spot.row)}, number ${spot.col + 1}`;
  const here = spotText(state.spot) === spotText(spot);
  if (state.editing?.what === "number" && spotText(state.editing.spot) === spotText(spot)) {
    return h("input", {
      class: "edit",
      value: state.editing.draft,
      "aria-label": name,
      inputmode: "decimal",
      autocomplete: "off",
      "aria-invalid": state.trouble ? "true" : null,
    });
  }
  return h(
    "button",
    {
      type: "button",
      class: "number",
      "data-act": "edit",
      "data-arg": spotText(spot),
      "data-spot": true,
      tabindex: here ? 0 : -1,
      "aria-label": `${name}: ${exact(x)}`,
      title: exact(x),
    },
    short(x),
  );
}

/** @param {Scene} scene @param {boolean} edited */
function tools({ state, paired, numbers, tokens, keyTokens }, edited) {
  if (!numbers) return null;
  const { side, row } = state.spot;
  const names = paired || side === "query" ? tokens : keyTokens;
  const name = row < names.length ? tokenName(names, row) : "";
  const adds = paired
    ? [button("add", "query", "add a token")]
    : [button("add", "query", "add a query"), button("add", "key", "add a key")];
  return h(
    "div",
    { class: "tools" },
    h(
      "div",
      {},
      adds,
      button("rename", "", `rename ${name}`),
      button("remove", "", `remove ${name}`),
    ),
    h(
      "div",
      {},
      stepper("head_dim", "d_k", "query and key", numbers.query[0]?.length ?? 0),
      stepper("value_dim", "d_v", "value", numbers.value[0]?.length ?? 0),
    ),
    edited && h("div", {}, button("reset", "", "reset: back to the numbers as they came")),
  );
}

/** @param {string} act @param {string} arg @param {string} text */
function button(act, arg, text) {
  return h(
    "button",
    { type: "button", class: "link", "data-act": act, "data-arg": arg, "data-key": act + arg },
    text,
  );
}

/** @param {string} which @param {string} letter @param {string} name @param {number} width */
function stepper(which, letter, name, width) {
  const one = (/** @type {string} */ sign, /** @type {string} */ label) =>
    h(
      "button",
      {
        type: "button",
        class: "step-by",
        "data-act": "dimension",
        "data-arg": `${which}:${sign}`,
        "aria-label": label,
      },
      sign === "-" ? "−" : "+",
    );
  return h(
    "span",
    { class: "stepper", role: "group", "aria-label": `${name}: dimensions` },
    prose(letter),
    " ",
    one("-", `one dimension less for ${name}`),
    ` ${width} `,
    one("+", `one dimension more for ${name}`),
  );
}

/**
 * The picked query and the ledger's keys, where there are too many to list.
 * @param {Scene} scene
 * @param {Set<string>} lights
 */
function recordTables({ record, tokens, keyTokens }, lights) {
  if (!record) return [];
  const cell = (
    /** @type {Side} */ side,
    /** @type {number} */ index,
    /** @type {number[]} */ numbers,
  ) => ({ side, lit: lights.has(`${side}:${index}`), parts: [brief(numbers, 1)] });
  const asks = {
    picked: true,
    name: chip(tokens, record.row),
    cells: [cell("query", record.row, record.query)],
  };
  const keys = record.keys.map((key, i) => ({
    picked: false,
    name: chip(keyTokens, key),
    cells: [
      cell("key", key, record.key[i]),
      ...(record.value ? [cell("value", key, record.value[i])] : []),
    ],
  }));
  return [
    tableOf("The query that asks", ["query"], [asks], true),
    tableOf("Keys with the largest scores", ["key", "value"], keys, true),
  ];
}
