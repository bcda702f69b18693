// Keeps the picked key's column of the ledger in sight: a wide ledger scrolls sideways to it once.

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
