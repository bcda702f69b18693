// The address bar, where there is one: in a frame without an address of its own nothing is kept.
import { toHash } from "./url.js";

/**
 * What the browser's Back leads back to: another capture, another view, another head.
 * @param {import("./types.js").State} state
 */
function placeOf({ capture, view, open, stage, head }) {
  const one = view === "heads" ? open : view !== "table";
  const at = one ? `${stage}.${head}` : "all";
  return `${capture.capture} ${view} ${at}`;
}

/**
 * A new place is a new entry of the history, which holds its name; all else changes the entry.
 * @param {import("./types.js").State} state
 */
function write(state) {
  try {
    const address = `${location.pathname}${location.search}#${toHash(state)}`;
    const place = placeOf(state);
    const before = history.state?.place;
    const there = `${location.pathname}${location.search}${location.hash}` === address;
    if (there && before === place) return;
    if (there || before === undefined || before === place)
      history.replaceState({ place }, "", address);
    else history.pushState({ place }, "", address);
  } catch {
    // about:srcdoc has no history
  }
}

/**
 * Follow an address that is typed or pasted while the page is open.
 * @param {(hash: string) => void} moved
 * @returns {() => void} what stops following
 */
function follow(moved) {
  const changed = () => moved(location.hash);
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

/** The address of a page that has the window to itself.  @type {import("./types.js").Address} */
export const addressBar = { read: () => location.hash, write, follow };
