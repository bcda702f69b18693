// What one query reads from, and who reads one key: sorted lists of weights.
import { chip, tokenName } from "./chip.js";
import { h } from "./dom.js";
import { EMPTY_WORDS, SINK } from "./heat_grid.js";
import { rounded } from "./numbers.js";

/** @typedef {import("./heat_grid.js").Grid} Grid */

/**
 * @typedef {object} Entry
 * @property {number} index  the token's position; SINK (-1) for the sink
 * @property {number} weight
 * @property {number} share  of all that is read here, this entry and those before it: 0 ... 1
 */

const MOST = 12; // lines of a list
const SO_FAR = "the share of all that is read here, by this line and those above it";

/**
 * The visible keys of a row, the largest weight first; with the sink, where it takes a share. Read
 * from a window, the list and its shares are those of the window.
 * @param {Grid} grid
 * @param {number} row a position
 * @returns {Entry[]}
 */
export function readsFrom({ shape: [rows, columns], weights, visible, rowAt, keyAt, sink }, row) {
  const r = row - rowAt;
  if (r < 0 || r >= rows) return [];
  const entries = [];
  for (let c = 0; c < columns; c += 1) {
    const i = r * columns + c;
    if (visible[i]) entries.push({ index: keyAt + c, weight: weights[i] });
  }
  if (sink && sink[r] !== 0) entries.push({ index: SINK, weight: sink[r] });
  return shared(entries);
}

/**
 * The rows that see a key, the largest weight first; padding reads nothing.
 * @param {Grid} grid
 * @param {number} key a position
 * @returns {Entry[]}
 */
export function readBy(grid, key) {
  const { weights, visible, rowAt, keyAt, padded } = grid;
  const [rows, columns] = grid.shape;
  const c = key - keyAt;
  if (c < 0 || c >= columns) return [];
  const entries = [];
  for (let r = 0; r < rows; r += 1) {
    const i = r * columns + c;
    if (visible[i] && !padded?.[r]) entries.push({ index: rowAt + r, weight: weights[i] });
  }
  return shared(entries);
}

/**
 * Sorted (ties to the earlier token, the sink after all, NaN last), with the running share.
 * @param {{index: number, weight: number}[]} entries
 * @returns {Entry[]}
 */
function shared(entries) {
  const place = (/** @type {number} */ index) => (index === SINK ? Infinity : index);
  const sorted = [...entries].sort((a, b) => {
    const [noA, noB] = [Number.isNaN(a.weight), Number.isNaN(b.weight)];
    if (noA !== noB) return noA ? 1 : -1;
    if (!noA && a.weight !== b.weight) return b.weight - a.weight;
    return place(a.index) < place(b.index) ? -1 : 1;
  });
  const total = sorted.reduce((sum, { weight }) => sum + (Number.isNaN(weight) ? 0 : weight), 0);
  let sum = 0;
  return sorted.map(({ index, weight }) => {
    sum += weight;
    if (Number.isNaN(sum)) return { index, weight, share: NaN };
    if (total === 0) return { index, weight, share: 0 };
    return { index, weight, share: sum / total };
  });
}

/**
 * The entries that a list leaves out, in words; "" if there are none.
 * @param {readonly Entry[]} entries
 * @param {number} most
 */
export function restWords(entries, most) {
  const rest = entries.slice(most);
  if (!rest.length) return "";
  const together = rest.reduce((sum, { weight }) => sum + weight, 0);
  return `and ${rest.length} more, together ${rounded(together)}`;
}

/**
 * @param {string} title
 * @param {readonly Entry[]} entries
 * @param {readonly string[]} tokens  all tokens of the axis: entries name their positions
 * @param {{most?: number, act?: string | null, name?: string, none?: string}} [options]  `act`
 *   makes the tokens buttons; `name` tells two lists of one page apart; `none`: what an empty list
 *   says
 */
export function readsList(title, entries, tokens, options = {}) {
  const { most = MOST, act = null, name = act ?? "list", none = EMPTY_WORDS } = options;
  const id = `reads-${name}`;
  const rest = restWords(entries, most);
  return h(
    "section",
    { class: "reads-part", "data-key": id, "aria-labelledby": id },
    h("h2", { id }, title),
    entries.length
      ? table(id, entries.slice(0, most), tokens, act)
      : h("p", { class: "quiet" }, none),
    rest && h("p", { class: "reads-rest" }, rest),
  );
}

/**
 * @param {string} id
 * @param {readonly Entry[]} entries
 * @param {readonly string[]} tokens
 * @param {string | null} act
 */
function table(id, entries, tokens, act) {
  const head = ["token", "weight", "so far"].map((word) =>
    h("th", { scope: "col", title: word === "so far" ? SO_FAR : null }, word),
  );
  return h(
    "table",
    { class: "reads", "aria-labelledby": id },
    h("thead", {}, h("tr", {}, head)),
    h(
      "tbody",
      {},
      entries.map((entry, i) => line(entry, tokens, act, i)),
    ),
  );
}

/**
 * @param {Entry} entry
 * @param {readonly string[]} tokens
 * @param {string | null} act
 * @param {number} at  Tab reaches the first line; arrows lead to the others
 */
function line({ index, weight, share }, tokens, act, at) {
  const bar = Number.isFinite(weight) ? Math.max(0, Math.min(1, weight)) : 0;
  return h(
    "tr",
    { "data-key": String(index) },
    h("th", { scope: "row" }, nameOf(index, tokens, act, at)),
    h(
      "td",
      { class: "weight", vars: { "--w": String(bar) }, title: String(weight) },
      rounded(weight),
    ),
    h("td", { class: "so-far" }, rounded(share)),
  );
}

/**
 * @param {number} index
 * @param {readonly string[]} tokens
 * @param {string | null} act
 * @param {number} at
 */
function nameOf(index, tokens, act, at) {
  if (index === SINK) return h("span", { class: "sink" }, "sink");
  if (!act) return chip(tokens, index);
  return chip(tokens, index, {
    "data-act": act,
    "data-arg": index,
    tabindex: at === 0 ? 0 : -1,
    "aria-label": `pick ${tokenName(tokens, index)}`,
  });
}
