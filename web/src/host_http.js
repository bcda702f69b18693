// The local page's way to the numbers: fetch from its own origin. The token arrives once in the
// fragment, is kept for this tab, and travels only in a header.

import { unframed } from "./frame.js";
import { HostError } from "./host_error.js";

const KEEP = "softlookup-token";
const PLACE = "softlookup-place"; // where a tab without a key was to lead

/** Take the token out of the address, so that it is in no history and no copied link. */
function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("t");
  if (token === null) return;
  sessionStorage.setItem(KEEP, token);
  fragment.delete("t");
  const place = sessionStorage.getItem(PLACE) ?? "";
  sessionStorage.removeItem(PLACE);
  const rest = fragment.toString() || place;
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
}

/** @returns {import("./types.js").Host} */
export function httpHost() {
  takeToken();
  addEventListener("hashchange", takeToken); // the viewer was started again, its new link opened here
  return { call };
}

/**
 * @param {string} op
 * @param {Record<string, string>} [args]
 */
async function call(op, args = {}) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(KEEP) ?? ""}` };
  const query = new URLSearchParams(args).toString();
  let response;
  try {
    response = await fetch(`/api/${op}${query ? `?${query}` : ""}`, {
      headers,
      credentials: "omit",
      cache: "no-store",
    });
  } catch {
    throw new HostError(
      "The viewer does not answer. Start it again in the terminal and open the link that it prints; " +
        "nothing typed here is lost while this page stays open.",
      "gone",
    );
  }
  if (response.status === 401) {
    if (location.hash.length > 1) sessionStorage.setItem(PLACE, location.hash.slice(1));
    throw new HostError(
      "This page needs its key: open the link that the terminal printed.",
      "token",
    );
  }
  if (response.ok && response.headers.get("content-type") === "application/octet-stream") {
    return unframed(await response.arrayBuffer());
  }
  const json = await response.json().catch(() => null);
  if (!response.ok || json === null) {
    throw new HostError(
      json?.error ?? `The viewer answered ${response.status} to “${op}”.`,
      "refused",
      json?.argument,
    );
  }
  return { json, bytes: null };
}
