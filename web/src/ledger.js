// The ledger: columns are keys, rows are steps; the right margin holds what a step adds up to.
import { chip, tokenName } from "./chip.js";
import { colorClass } from "./color.js";
import { h } from "./dom.js";
import { headName } from "./heads_words.js";
import { breadth, counted } from "./numbers.js";
import { readable } from "./readable.js";
import { readout } from "./readout.js";
import {
  cursorOf,
  hasLayer,
  isFinished,
  isIn,
  isUnfolded,
  isWhole,
  pointOf,
  sceneSteps,
} from "./scene.js";
import { columnsOf, ledgerRows, rowNote, stepName } from "./steps.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./types.js").Column} Column */
/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").LedgerRow} LedgerRow */

/**
 * @param {Scene} scene
 * @param {Set<string>} lights
 * @param {{whole?: boolean}} [how]  `whole`: every step is there, to be looked at only
 */
export function ledgerPart(scene, lights, { whole = false } = {}) {
  const { state, tokens, record } = scene;
  const { layers } = state.capture;
  const isOne = layers.length === 1 && layers[0].heads.length === 1;
  const where = whole || !isOne ? `, in ${headName(state.capture, state)}` : "";
  const title = h(
    "h2",
    { id: "ledger-title", tabindex: whole ? -1 : null },
    `What token ${tokenName(tokens, state.row)} reads, step by step${where}`,
  );
  const note = record && isUnfolded("exp", state.step) ? rowNote(record, state.reading) : null;
  return h(
    "section",
    { class: "ledger-part", "data-key": "ledger", "aria-labelledby": "ledger-title" },
    h("div", { class: "titled" }, title, switches(scene, whole)),
    record &&
      h(
        "p",
        { class: "quiet sideways", "aria-hidden": "true" },
        "More keys than fit: the table scrolls sideways.",
      ),
    record
      ? table(scene, lights)
      : h("p", { class: "quiet panel waiting" }, "Asking for this row …"),
    readoutLine(scene),
    note && h("p", { class: "note" }, note),
    !whole && stepsLine(scene),
  );
}

const READINGS = {
  textbook: "softmax as it is written: exp of each score, divided by their sum",
  shifted:
    "softmax as programs compute it: the row's largest score is subtracted first, so that exp " +
    "never overflows; the weights are the same",
};

/** Scale and the two readings of softmax.  @param {Scene} scene @param {boolean} whole */
function switches({ state }, whole) {
  const { editable, editable_reason: reason } = state.info;
  const reading = (/** @type {"textbook" | "shifted"} */ name) =>
    h(
      "button",
      {
        type: "button",
        "data-act": "reading",
        "data-arg": name,
        "aria-pressed": String(state.reading === name),
        title: READINGS[name],
      },
      name,
    );
  return h(
    "div",
    { class: "switches" },
    !whole &&
      h(
        "button",
        {
          type: "button",
          class: "switch",
          role: "switch",
          "data-act": "scale",
          "aria-checked": String(state.scaled),
          "aria-disabled": editable ? null : "true",
          title: editable ? null : reason,
        },
        `scale ${state.scaled ? "on" : "off"}`,
      ),
    h(
      "span",
      { class: "choice", role: "group", "aria-label": "reading of softmax" },
      reading("textbook"),
      reading("shifted"),
    ),
  );
}

/**
 * @param {Scene} scene
 * @param {LedgerRow[]} lines
 * @param {Column[]} columns
 * @param {Set<string>} lights
 */
function tableRows(scene, lines, columns, lights) {
  const [point, cursor] = [pointOf(scene), cursorOf(scene)];
  return lines.map((row) =>
    tableRow(row, columns, {
      unfolded: isUnfolded(row.id, scene.state.step),
      lights,
      at: point?.step === row.id ? point.column : -1,
      stop: cursor?.step === row.id ? cursor.column : -1,
    }),
  );
}

/** @param {Scene} scene @param {Set<string>} lights */
function table(scene, lights) {
  const { record, state } = scene;
  if (!record) return null;
  const columns = columnsOf(record);
  const many = columns.length > MANY;
  const lines = ledgerRows(record, { reading: state.reading, scaled: state.scaled });
  return h(
    "div",
    { class: "scroll panel", vars: widths(lines, columns, headBreadth(scene, columns), many) },
    h(
      "table",
      {
        class: `ledger${many ? " many" : ""}`,
        role: "grid",
        "aria-labelledby": "ledger-title",
      },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", { class: "step" }),
          columns.map((column) => headCell(scene, column)),
        ),
      ),
      h("tbody", {}, tableRows(scene, lines, columns, lights)),
    ),
  );
}

const MANY = 6; // more columns than this, and vectors are short and stay on one line
const MARGIN = 14; // digits of a sum that are kept on one line
const PRODUCT = 6; // digits of a product that stay on one line
const HEAD = 8; // digits of a token's text that its column always shows

/** @param {Scene} scene @param {Column[]} columns */
function headBreadth({ keyTokens }, columns) {
  const sizes = columns.map((column) =>
    column.kind === "key" ? breadth(readable(keyTokens[column.key])) + 1 : 0,
  );
  return Math.min(HEAD, Math.max(...sizes));
}

/**
 * What stays on one line of a narrow column: words, and of a long product each factor.
 * @param {string} text
 */
function piecesOf(text) {
  const words = text.split(/(?<= )/);
  return words.flatMap((word) => (breadth(word) > PRODUCT ? word.split(/(?<=·)/) : [word]));
}

/** @param {string} text */
const widestWord = (text) => Math.max(0, ...piecesOf(text).map((piece) => breadth(piece.trim())));

/**
 * How wide the columns are at least, from all their numbers, unfolded or not: so that unfolding
 * moves nothing. The sums get one line where there is room.
 * @param {LedgerRow[]} lines
 * @param {Column[]} columns
 * @param {number} heads
 * @param {boolean} many
 */
function widths(lines, columns, heads, many) {
  const word = (/** @type {Cell} */ { text, note, strong }) =>
    Math.max(widestWord(text) * (strong ? 1.16 : 1), 0.8 * widestWord(note ?? ""));
  const key = many ? (/** @type {Cell} */ { text }) => breadth(text) : word;
  const whole = (/** @type {Cell} */ { label, text }) =>
    1.16 * breadth(label ? `${label} ${text}` : text);
  const widest = (/** @type {number[]} */ sizes) => Math.max(4, ...sizes);
  const keys = lines.flatMap(({ cells }) => cells.slice(0, -1).map(key));
  const sums = lines.map(({ cells }) => cells[columns.length - 1]);
  const narrow = widest(sums.map(word));
  const wide = Math.max(narrow, Math.min(MARGIN, widest(sums.map(whole))));
  return {
    "--cell": `${widest([heads, ...keys]).toFixed(1)}ch`,
    "--sums": `${wide.toFixed(1)}ch`,
    "--sums-narrow": `${narrow.toFixed(1)}ch`,
    "--keys": String(columns.length - 1),
  };
}

/** @param {Scene} scene @param {Column} column */
function headCell({ keyTokens, record }, column) {
  if (column.kind === "key") return h("th", { scope: "col" }, chip(keyTokens, column.key));
  if (column.kind === "sum")
    return h("th", { scope: "col", class: "margin" }, h("span", { class: "unseen" }, "adds up to"));
  const others = record?.keys.length ? "the other" : "all";
  const text = column.kind === "sink" ? "sink" : `${others} ${counted(record?.rest?.count ?? 0, "key")}`;
  return h("th", { scope: "col", class: column.kind }, text);
}

/**
 * @param {LedgerRow} row
 * @param {Column[]} columns
 * @param {{unfolded: boolean, lights: Set<string>, at: number, stop: number}} how  `stop`: the cell that Tab reaches
 */
function tableRow(row, columns, { unfolded, lights, at, stop }) {
  const cells = row.cells.map((cell, c) => {
    const column = columns[c];
    const tint =
      unfolded && row.id === "weight" && column.kind === "key" && !cell.hidden && !cell.lost;
    const names = [
      column.kind === "sum" ? "margin" : column.kind,
      c === at && "at",
      unfolded && lights.has(`${row.id}:${c}`) && "lit",
      unfolded && cell.hidden && "hatched",
      cell.lost && "lost",
      tint && `tint ${colorClass(column.key)}`,
    ];
    return h(
      "td",
      {
        class: names.filter(Boolean).join(" "),
        "data-act": "at",
        "data-arg": `${row.id}:${c}`,
        tabindex: c === stop ? 0 : -1,
        vars: tint ? { "--w": String(cell.weight ?? 0) } : {},
      },
      unfolded
        ? cellText(cell, tint)
        : h("span", { class: "later-step", "aria-label": "not yet" }, cell.text ? "·" : ""),
    );
  });
  return h(
    "tr",
    { class: unfolded ? "unfolded" : "", "data-key": row.id },
    h("th", { scope: "row", class: "step" }, h("b", {}, row.name), h("span", {}, row.how)),
    cells,
  );
}

/** @param {Cell} cell @param {boolean} bar */
function cellText(cell, bar) {
  return [
    cell.label ? h("span", { class: "label" }, `${cell.label} `) : null,
    cell.strong ? h("b", {}, cell.text) : h("span", {}, cell.text),
    cell.note ? h("small", {}, breakable(cell.note)) : null,
    bar && h("span", { class: "bar", "aria-hidden": "true" }),
  ];
}

/** @param {string} note */
const breakable = (note) => piecesOf(note).flatMap((piece, i) => (i ? [h("wbr"), piece] : [piece]));

/** @param {Scene} scene */
function readoutLine(scene) {
  const { record, state } = scene;
  const point = pointOf(scene);
  let formula = "";
  let exactly = "";
  let hint = null;
  if (record && point && isUnfolded(point.step, state.step)) {
    ({ formula, exactly } = readout(record, point, {
      reading: state.reading,
      scaled: state.scaled,
    }));
  } else if (record && point) {
    const [name] = stepName(point.step, record, state);
    exactly = `${name}: not worked out yet. Guess it`;
    hint = keyHint(", then press Space");
  }
  return h(
    "output",
    { class: "readout", "aria-live": "polite" },
    h("span", { class: "formula" }, formula),
    formula && exactly ? " " : "",
    h("span", { class: "exactly" }, exactly, hint, hint && "."),
  );
}

/** Words about keys, not shown where there is no keyboard.  @param {string} text */
const keyHint = (text) => h("span", { class: "key-hint" }, text);

/** Where the reader stands, and the way on.  @param {Scene} scene */
function stepsLine(scene) {
  const { state } = scene;
  const steps = sceneSteps(scene);
  const done = steps.filter((id) => isUnfolded(id, state.step)).length;
  const onward = nextLabel(scene, done);
  return h(
    "div",
    { class: "steps" },
    h(
      "button",
      { type: "button", class: "plain", "data-act": "back", disabled: done === 0 },
      "Back",
    ),
    h(
      "button",
      { type: "button", class: "main", "data-act": "next", disabled: onward === null },
      onward ?? "Every step is shown",
    ),
    done < steps.length &&
      h("button", { type: "button", class: "link", "data-act": "all" }, "show all"),
    h(
      "span",
      { class: "quiet where" },
      whyOf(scene, done),
      done === 0 && keyHint(": press Space"),
      done === 0 && ".",
    ),
  );
}

/** @param {Scene} scene @param {number} done */
function nextLabel(scene, done) {
  const { record, state, tokens } = scene;
  const id = sceneSteps(scene)[done];
  if (record && id) return `Next: ${stepName(id, record, state)[0]}`;
  const waiting = tokens.findIndex((_, row) => !isIn(state, row));
  if (scene.small && waiting >= 0) return `Next query: ${tokenName(tokens, waiting)}`;
  return !state.layer && isWhole(scene) && hasLayer(scene) ? "All queries at once" : null;
}

/** @type {Record<import("./types.js").Progress, string>} */
const WHY = {
  none: "One step at a time",
  score: "A large score: query and key point the same way. 0: they have nothing in common.",
  scaled: "Long vectors make large scores; dividing keeps them in the same range.",
  capped: "The softcap bends large scores back below its limit.",
  biased: "A bias is added to each score.",
  visible: "Hidden keys take no part from here on.",
  shifted: "Subtracting the largest score changes no weight and keeps exp at most 1.",
  exp: "exp makes every number positive, and large scores much larger.",
  weight: "Dividing by the sum makes shares of one whole.",
  reads: "Each key gives its value, as much as its weight says; added up, that is the output.",
};

/** @param {Scene} scene @param {number} done */
function whyOf(scene, done) {
  const steps = sceneSteps(scene);
  if (isFinished(scene)) return WHY.reads;
  return done ? WHY[steps[done - 1]] : WHY.none;
}
