// Which key does what in the map view.
import { ARROWS, ROVING } from "./keys.js";

/** @type {Record<string, [string, string]>} */
const MAP = {
  "+": ["map-zoom", "-1"],
  "=": ["map-zoom", "-1"],
  "-": ["map-zoom", "1"],
  _: ["map-zoom", "1"],
  0: ["map-zoom", "0"],
  l: ["map-lock", ""],
  m: ["map-pool", ""],
  g: ["map-going", ""],
  s: ["map-strongest", ""],
  b: ["map-mark", ""],
  ",": ["map-ask-by", "-1"],
  ".": ["map-ask-by", "1"],
  r: ["reading", "other"],
  c: ["copy", ""],
  k: ["link", ""],
  v: ["view", "heads"],
  t: ["row-steps", ""],
  "?": ["help", ""],
  Escape: ["map-leave", ""],
};

/**
 * @param {KeyboardEvent} event
 * @param {Element | null} target
 * @returns {[string, string] | null}
 */
export function mapAction({ key, shiftKey }, target) {
  if (key in ARROWS) {
    if (target?.closest(ROVING)) return ["rove", ARROWS[key]];
    if (target?.closest("table.ledger")) return ["move", ARROWS[key]];
    const moves = !target || target.closest(".map-cells, #map-title");
    return moves ? [shiftKey ? "map-step" : "map-pan", ARROWS[key]] : null;
  }
  if (key === "Enter" || key === " ")
    return !target || target.matches(".map-cells, #map-title") ? ["map-pick", ""] : null;
  return MAP[key.length === 1 ? key.toLowerCase() : key] ?? null;
}
