// What the heads view says in words: names of heads, the pair under the cursor.
import { tokenName } from "./chip.js";
import { h } from "./dom.js";
import { SINK, weightAt } from "./heat_grid.js";
import { exact, rounded } from "./numbers.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./heads_grid.js").HeadView} HeadView */
/** @typedef {import("./types.js").HeadAt} HeadAt */
/** @typedef {import("./types.js").CaptureInfo} CaptureInfo */

/** @param {CaptureInfo} capture @param {HeadAt} at */
export function headName({ layers }, { stage, head }) {
  const layer = layers[stage];
  return `${layer.label}, head ${layer.heads[head] ?? head}`;
}

/** @param {HeadView} view @param {CaptureInfo} capture */
export const viewName = (view, capture) => view.what || headName(capture, view.at);

/**
 * A token's text between quotes, isolated, so that its script reorders nothing around it. No
 * shown text holds these marks itself: `readable` spells them out.
 * @param {readonly string[]} tokens
 * @param {number} index
 */
export const quoted = (tokens, index) => `\u2068“${tokenName(tokens, index)}”\u2069`;

/**
 * Words with isolated parts, as nodes.
 * @param {string} words
 * @returns {(Node | string)[]}
 */
export const isolated = (words) =>
  words
    .split(/\u2068([^\u2069]*)\u2069/)
    .map((part, i) => (i % 2 ? h("bdi", {}, part) : part))
    .filter((part) => part !== "");

/**
 * A few numbers of one head, for its name and for the line below the thumbnails.
 * @param {HeadsScene} scene
 * @param {HeadAt} at
 */
export function headWords(scene, at) {
  const name = headName(scene.state.capture, at);
  const facts = scene.overview(at.stage)?.heads[at.head];
  if (!facts) return name;
  const parts = [
    facts.entropy === null ? null : `mean entropy ${rounded(facts.entropy)} nats`,
    facts.first_share === null ? null : `first-token share ${rounded(facts.first_share)}`,
    facts.previous_share === null ? null : `token-before share ${rounded(facts.previous_share)}`,
    facts.sink === null ? null : `sink ${rounded(facts.sink)}`,
    mostWords(scene, at),
  ];
  return [name, parts.filter(Boolean).join(", ")].filter(Boolean).join(": ");
}

/** @param {HeadsScene} scene @param {HeadAt} at */
function mostWords(scene, at) {
  const { state, keys, queries } = scene;
  const most = scene.everywhere(at);
  if (!most) return null;
  const asks = quoted(queries.tokens, state.row);
  if (Number.isNaN(most.weight)) return `${asks} reads NaN`;
  if (most.key < 0) return `${asks} sees no key`;
  return `${asks} reads ${quoted(keys.tokens, most.key)} most, ${rounded(most.weight)}`;
}

/**
 * The cell under the pointer or the cursor.
 * @param {HeadsScene} scene
 * @returns {{formula: string, exactly: string}}
 */
export function pairWords(scene) {
  const { first, second, at } = scene;
  if (!first?.grid) return { formula: "", exactly: first?.refused ?? "" };
  if (!at) {
    return {
      formula: "",
      exactly: "Point at a cell for its weight; click it to pick its query and key.",
    };
  }
  const [row, key] = at;
  const here = weightAt(first.grid, row, key);
  if (!here) return { formula: "", exactly: "" };
  const names = namesOf(first, row, key);
  if (!here.visible) {
    if (isEmptyRow(first, row)) {
      const asks = quoted(first.grid.rowTokens, row - first.grid.rowAt);
      return {
        formula: `${asks} has no visible keys`,
        exactly: "it reads nothing: every weight is 0",
      };
    }
    return { formula: `${names}: hidden`, exactly: "the weight is 0, whatever the key holds" };
  }
  const score = scoreWords(scene, first, row, key);
  const formula = `${names}: weight ${rounded(here.weight)}${score}`;
  const there = second?.grid ? weightAt(second.grid, row, key) : null;
  if (!there || !second) return { formula, exactly: `exactly ${exact(here.weight)}` };
  const other = viewName(second, scene.state.capture);
  if (!there.visible) return { formula, exactly: `${other}: hidden` };
  const less = here.weight - there.weight;
  return {
    formula,
    exactly: `${other}: ${rounded(there.weight)}; difference ${less > 0 ? "+" : ""}${rounded(less)}`,
  };
}

/** @param {HeadView} view @param {number} row @param {number} key */
function namesOf({ grid }, row, key) {
  if (!grid) return "";
  const asks = quoted(grid.rowTokens, row - grid.rowAt);
  return key === SINK
    ? `${asks} leaves to the sink`
    : `${asks} reads ${quoted(grid.keyTokens, key - grid.keyAt)}`;
}

/** @param {HeadView} view @param {number} row */
export function isEmptyRow({ grid }, row) {
  if (!grid) return false;
  const columns = grid.shape[1];
  const r = row - grid.rowAt;
  return !grid.visible.subarray(r * columns, (r + 1) * columns).some(Boolean);
}

/**
 * The score behind a weight: the ledger's, where it lists this key; else from the row's largest
 * score, since weights of one row are to each other as the exp of their scores.
 * @param {HeadsScene} scene
 * @param {HeadView} view
 * @param {number} row
 * @param {number} key
 */
function scoreWords({ state, ledger, words, windowed }, view, row, key) {
  if (words || view.average !== "none" || key === SINK || !view.grid) return "";
  const record = ledger?.record;
  const listed = record && row === state.row ? record.keys.indexOf(key) : -1;
  const word = scoreName(state.info.options);
  if (record && listed >= 0) return ` (${word} ${rounded(record.scores[listed])})`;
  const top = view.facts?.max_score[row];
  if (windowed || top === undefined || !Number.isFinite(top)) return "";
  const { grid } = view;
  const columns = grid.shape[1];
  const weights = grid.weights.subarray((row - grid.rowAt) * columns).subarray(0, columns);
  const most = weights.reduce((a, b) => Math.max(a, b), 0);
  const weight = weights[key - grid.keyAt];
  return weight > 0 ? ` (${word} ${rounded(top + Math.log(weight / most))})` : "";
}

/** As the ledger calls the step before exp.  @param {import("./types.js").Info["options"]} options */
const scoreName = ({ bias, softcap }) =>
  `${bias ? "biased" : softcap === null ? "scaled" : "capped"} score`;

/** What stands above the lists of the picked query.  @param {HeadsScene} scene */
export function rowWords(scene) {
  const { first, state, picked, words } = scene;
  if (!first?.facts || !picked || words) return "";
  const { entropy, visible, first_share: share, sink } = first.facts;
  const { row } = state;
  const name = quoted(scene.queries.tokens, row);
  if (visible[row] === 0) return `${name} has no visible keys: it reads nothing.`;
  const parts = [
    `sees ${count(visible[row])} ${visible[row] === 1 ? "key" : "keys"}`,
    `entropy ${rounded(entropy[row])} of at most ${rounded(Math.log(visible[row]))} nats`,
    share && `first-token share ${rounded(share[row])}`,
    sink && `sink ${rounded(sink[row])}`,
  ];
  return `${name}: ${parts.filter(Boolean).join(", ")}.`;
}

/** A mean of counts may be no whole number.  @param {number} x */
const count = (x) => (Number.isInteger(x) ? String(x) : rounded(x));
