// One state and one drawing of it: every change goes through `update`, every wait through `wait`.
import { patch } from "./dom.js";
import { markEdges } from "./edges.js";
import { HostError } from "./host_error.js";
import { pageView } from "./page_view.js";
import { writeHash } from "./place.js";
import { needsOf, sceneOf } from "./scene.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./actions.js").Changes} Changes */

/** Where the focus goes: the first of these that is there. */
const FOCUS = /** @type {Record<string, string[]>} */ ({
  ledger: ["table.ledger [tabindex='0']"],
  spot: ["table.tokens [data-spot][tabindex='0']"],
  input: ["input.edit"],
  layer: ["table.matrix [tabindex='0']"],
  article: ["#article-title"],
  turn: ["form input:checked", "form input", "form button"],
  verdict: [".verdict .plain", "form input[aria-invalid]", "form input:checked", "form input"],
});

/**
 * @typedef {object} LivePage
 * @property {() => State} state
 * @property {() => import("./scene.js").Scene} scene
 * @property {(changes: Changes) => void} update
 * @property {(promise: Promise<unknown>) => Promise<void>} wait
 */

/**
 * @param {HTMLElement} root
 * @param {ShadowRoot} shadow
 * @param {HTMLElement} page
 * @param {import("./source.js").Source} source
 * @param {State} first
 * @returns {LivePage}
 */
export function livePage(root, shadow, page, source, first) {
  let state = first;
  let waiting = 0;
  const scene = () => sceneOf(state, source);

  /** @param {Promise<unknown>} promise */
  const wait = async (promise) => {
    waiting++;
    root.dataset.state = "loading";
    try {
      await promise;
      if (state.offline) state = { ...state, offline: null };
    } catch (error) {
      state = { ...state, offline: sentenceOf(error) };
    } finally {
      waiting--;
    }
    update({});
  };

  /** @param {Changes} changes */
  const update = ({ focus, ...changes }) => {
    state = { ...state, ...changes };
    patch(page, pageView(scene()));
    markEdges(shadow);
    root.dataset.state = waiting ? "loading" : "ready";
    writeHash(state);
    const missing = state.offline
      ? []
      : needsOf(scene()).filter(([op, args]) => !source.has(op, args));
    if (missing.length) void wait(Promise.all(missing.map(([op, args]) => source.need(op, args))));
    if (focus) focusOn(shadow, FOCUS[focus]);
  };

  return { state: () => state, scene, update, wait };
}

/**
 * What a reader is told of an answer that did not come; a fault of our own is thrown.
 * @param {unknown} error
 */
export function sentenceOf(error) {
  if (error instanceof HostError) return error.message;
  throw error;
}

/** @param {ShadowRoot} shadow @param {string[]} selectors */
function focusOn(shadow, selectors) {
  const found = selectors.map((selector) => shadow.querySelector(selector));
  const element = found.find((candidate) => candidate !== null);
  if (!(element instanceof HTMLElement)) return;
  element.focus({ preventScroll: element.matches(".headline") });
  if (element.matches(".headline")) scrollTo(element);
  if (element.matches("table.ledger td:not(.margin)"))
    element.scrollIntoView({ block: "nearest", inline: "nearest" }); // not behind a sticky column
  if (element instanceof HTMLInputElement && element.matches(".edit")) element.select();
}

/**
 * Bring a heading to the top, unless the reader already has it before him.
 * @param {HTMLElement} heading
 */
function scrollTo(heading) {
  const { top } = heading.getBoundingClientRect();
  if (top >= 0 && top < innerHeight / 3) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  heading.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}
