// The pointer over thumbnails and grids: it moves often, so little is drawn anew.
import { cellOf } from "./head_part.js";
import { layoutOf } from "./heads_layout.js";
import { tokenOfPlace } from "./heads_grid.js";
import { cellAt } from "./heat_grid.js";

/** @typedef {import("./listen.js").Hands} Hands */
/** @typedef {import("./types.js").Pair} Pair */

/**
 * The query and key under a pointer, as token positions.
 * @param {PointerEvent} event
 * @param {Hands} hands
 * @returns {Pair | null}
 */
function pairAt(event, { heads }) {
  const box = event.target instanceof Element ? event.target.closest(".heat-cells") : null;
  const scene = box && heads();
  const view = box?.getAttribute("data-which") === "second" ? scene?.second : scene?.first;
  if (!box || !scene || !view?.grid) return null;
  const { left, top } = box.getBoundingClientRect();
  const cell = cellOf(scene, view, layoutOf(scene.state));
  const found = cellAt(view.grid, cell, event.clientX - left, event.clientY - top);
  return found && [tokenOfPlace(view.rowWords, found.row), tokenOfPlace(view.keyWords, found.key)];
}

/** @param {PointerEvent} event @param {Hands} hands */
export function pointed(event, hands) {
  const { state, glance } = hands;
  if (state().view !== "heads" || event.pointerType !== "mouse") return;
  const point = pairAt(event, hands);
  const over = thumbAt(event);
  const before = state();
  const moved = point?.[0] !== before.point?.[0] || point?.[1] !== before.point?.[1];
  if (moved || over?.stage !== before.over?.stage || over?.head !== before.over?.head)
    glance({ point, over });
}

/** @param {PointerEvent} event */
function thumbAt(event) {
  const thumb = event.target instanceof Element ? event.target.closest(".thumb") : null;
  if (!thumb) return null;
  const [stage, head] = (thumb.getAttribute("data-arg") ?? "").split(".").map(Number);
  return { stage, head };
}

/** @param {Hands} hands */
export function unpointed({ state, glance }) {
  if (state().point || state().over) glance({ point: null, over: null });
}

/**
 * The cell that the line names is picked: a click's own place is rounded to whole pixels, and cells
 * may be that small.
 * @param {PointerEvent} event
 * @param {Hands} hands
 */
export function clickedCell(event, hands) {
  const pair = pairAt(event, hands);
  const named = event.pointerType === "mouse" ? hands.state().point : null;
  if (pair) hands.act("pick", (named ?? pair).join(":"));
}
