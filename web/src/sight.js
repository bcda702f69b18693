// What stays before the reader: the picked key's column of a wide ledger, and a line of a list that was
// clicked, where other lists are put above it.

/** @typedef {import("./types.js").State} State */

/** The pair whose column has to be in sight; "" where none was picked.  @param {State} state */
function pairOf({ view, capture, stage, batch, head, picked, row, key, follow }) {
  if (!(picked && follow && key !== null)) return "";
  return [view, capture.capture, stage, batch, head, row, key].join(" ");
}

/**
 * Scrolls the ledger, never the page; whatever a person scrolls afterwards stays.
 * @returns {(shadow: ShadowRoot, state: State) => void}
 */
export function createSight() {
  let shown = "";
  return (shadow, state) => {
    const pair = pairOf(state);
    if (pair === shown) return;
    const cell = pair && shadow.querySelector(".row-steps table.ledger td[tabindex='0']");
    if (pair && !cell) return; // the row is still on its way
    shown = pair;
    if (cell) bringAcross(cell);
  };
}

/** Move a cell between the columns that stay.  @param {Element} cell */
function bringAcross(cell) {
  const box = cell.closest(".scroll");
  const [first, last] = [cell.parentElement?.firstElementChild, cell.parentElement?.lastElementChild];
  if (!box || !first || !last) return;
  const { left, right } = cell.getBoundingClientRect();
  const from = first.getBoundingClientRect().right;
  const upTo = Math.min(last.getBoundingClientRect().left, box.getBoundingClientRect().right);
  if (left < from) box.scrollLeft -= from - left;
  else if (right > upTo) box.scrollLeft += right - upTo;
}

/**
 * A line of the extremes that has the focus stays where it is on the screen.
 * @param {ShadowRoot} shadow
 * @returns {() => void} moves the page, after it was drawn anew
 */
export function heldLine(shadow) {
  const held = shadow.activeElement;
  const at = held?.matches(".extremes button") ? held.getBoundingClientRect().top : null;
  return () => {
    if (held === null || at === null || !held.isConnected) return;
    const moved = held.getBoundingClientRect().top - at;
    if (moved !== 0) scrollBy({ top: moved, behavior: "instant" });
  };
}
