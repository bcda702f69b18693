// The address bar, where there is one: in a frame without an address of its own nothing is kept.
import { toHash } from "./url.js";

/** @param {import("./types.js").State} state */
export function writeHash(state) {
  try {
    const address = `${location.pathname}${location.search}#${toHash(state)}`;
    if (`${location.pathname}${location.search}${location.hash}` !== address)
      history.replaceState(null, "", address);
  } catch {
    // about:srcdoc has no history
  }
}

export const readHash = () => location.hash;

/**
 * Follow an address that is typed or pasted while the page is open.
 * @param {(hash: string) => void} moved
 * @returns {() => void} what stops following
 */
export function followHash(moved) {
  const follow = () => moved(location.hash);
  addEventListener("hashchange", follow);
  return () => removeEventListener("hashchange", follow);
}
