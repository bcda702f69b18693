// Which key does what. A key that is typed into a field belongs to the field.
import { mapAction } from "./map_keys.js";

/** @type {Record<string, string>} */
export const ARROWS = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  Home: "home",
  End: "end",
};

/** @type {Record<string, [number, number]>} */
const JUMPS = {
  left: [0, -1],
  right: [0, 1],
  up: [-1, 0],
  down: [1, 0],
  home: [0, -Infinity],
  end: [0, Infinity],
};

/**
 * How far an arrow key leads in a table, in rows and columns; its edges are the caller's.
 * @param {string} way
 */
export const jump = (way) => JUMPS[way];

/** @type {Record<string, [string, string]>} */
const PLAIN = {
  Backspace: ["back", ""],
  a: ["all", ""],
  ",": ["query-by", "-1"],
  ".": ["query-by", "1"],
  e: ["spot", ""],
  "+": ["add", "query"],
  n: ["rename", ""],
  u: ["reset", ""],
  s: ["scale", ""],
  r: ["reading", "other"],
  m: ["layer", ""],
  x: ["exercise", ""],
  y: ["another", ""],
  "[": ["section", "back"],
  "]": ["section", "next"],
  c: ["copy", ""],
  l: ["link", ""],
  v: ["view", "heads"],
  "?": ["help", ""],
  Escape: ["ledger", ""],
};

/** @type {Record<string, [string, string]>} */
const HEADS = {
  ",": ["ask-by", "-1"],
  ".": ["ask-by", "1"],
  w: ["words", ""],
  f: ["first", ""],
  g: ["to-grid", ""],
  s: ["row-steps", ""],
  r: ["reading", "other"],
  c: ["copy", ""],
  l: ["link", ""],
  m: ["view", "map"],
  v: ["view", "steps"],
  "?": ["help", ""],
  Escape: ["leave", ""],
};

/**
 * What a notebook's reader presses wherever he is: save the notebook, run the cell.
 * @param {KeyboardEvent} event
 */
export const isForNotebook = ({ key, ctrlKey, metaKey, altKey }) =>
  (key.toLowerCase() === "s" && (ctrlKey || metaKey) && !altKey) ||
  (key === "Enter" && (ctrlKey || metaKey || altKey));

/** Groups of which Tab reaches one button and the arrow keys the others. */
export const ROVING = ".choice, .reads";

/** Where the arrow keys move what; elsewhere they scroll.  @type {[string, string][]} */
const REGIONS = [
  [".thumbs", "thumb-move"],
  [".pieces", "text-move"],
  ["table.ledger", "move"],
  [".head-part", "mark"],
];

/**
 * The action of a key press, with its argument; null where the key is not ours.
 * @param {KeyboardEvent} event
 * @param {Element | null} target
 * @param {import("./types.js").ViewName} view
 * @returns {[string, string] | null}
 */
export function actionOf(event, target, view) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  if (target?.closest("dialog")) return null;
  const { key } = event;
  if (target?.matches("input.edit")) {
    if (key === "Enter") return ["commit", /** @type {HTMLInputElement} */ (target).value];
    return key === "Escape" ? ["cancel", ""] : null;
  }
  if (target?.matches("input, select, textarea")) {
    if (key !== "Escape") return null;
    return view === "map" ? ["map-leave", ""] : ["ledger", ""];
  }
  if (view === "heads") return headsAction(event, target);
  if (view === "map") return mapAction(event, target);
  if (view === "table") return tableAction(event, target);
  const pressed = target?.matches("button") ?? false;
  if (key === " ") return event.shiftKey ? ["back", ""] : pressed ? null : ["next", ""];
  if (key in ARROWS) return [moved(target), ARROWS[key]];
  if (/^[1-9]$/.test(key)) return ["query", String(Number(key) - 1)];
  return PLAIN[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

/**
 * @param {KeyboardEvent} event
 * @param {Element | null} target
 * @returns {[string, string] | null}
 */
function headsAction({ key, shiftKey }, target) {
  if (key in ARROWS) {
    if (target?.closest(ROVING)) return ["rove", ARROWS[key]];
    const region = REGIONS.find(([selector]) => target?.closest(selector));
    return region ? [region[1], ARROWS[key]] : null;
  }
  if (key === "Enter" || key === " ") {
    if (target?.matches(".heat-cells, #head-title")) return ["pick-mark", ""];
    if (shiftKey && target?.matches(".thumb"))
      return ["compare", target.getAttribute("data-arg") ?? ""];
    return null;
  }
  return HEADS[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

/** @type {Record<string, [string, string]>} */
const TABLE = {
  p: ["pause-table", ""],
  c: ["copy", ""],
  l: ["link", ""],
  v: ["view", "heads"],
  "?": ["help", ""],
  Escape: ["row-move", ""],
};

/**
 * @param {KeyboardEvent} event
 * @param {Element | null} target
 * @returns {[string, string] | null}
 */
function tableAction({ key }, target) {
  if (key in ARROWS) {
    if (target?.closest(ROVING)) return ["rove", ARROWS[key]];
    const moves = !target || target.closest("table.heads-table tbody");
    return moves ? ["row-move", ARROWS[key]] : null;
  }
  return TABLE[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

/** @param {Element | null} target */
function moved(target) {
  if (target?.closest("table.tokens")) return "move-spot";
  return target?.closest("table.matrix") ? "move-cell" : "move";
}
