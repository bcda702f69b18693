// One state and one drawing of it: every change goes through `update`, every wait through `wait`.
import { settled } from "./capture_info.js";
import { patch } from "./dom.js";
import { markEdges } from "./edges.js";
import { titleOf } from "./header.js";
import { glanced } from "./head_part.js";
import { headNeeds, headsScene } from "./heads_scene.js";
import { HostError } from "./host_error.js";
import { headsView, pageView } from "./page_view.js";
import { createPainter } from "./painter.js";
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
  head: ["#head-title"],
  cells: [".heat-cells"],
  steps: ["table.ledger [tabindex='0']", "#ledger-title"],
  thumb: [".thumb[tabindex='0']"],
  piece: [".piece[tabindex='0']"],
});

/**
 * @typedef {object} LivePage
 * @property {() => State} state
 * @property {() => import("./scene.js").Scene} scene
 * @property {() => import("./heads_scene.js").HeadsScene | null} heads  null in the view of steps
 * @property {(changes: Changes) => void} update
 * @property {(changes: Partial<State>) => void} glance  redraws only what follows the pointer
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
  const paint = createPainter();
  const heads = () => (state.view === "heads" ? headsScene(state, source) : null);
  const scene = () => heads()?.ledger ?? sceneOf(state, source);

  /** @param {Promise<unknown>} promise */
  const wait = async (promise) => {
    waiting++;
    root.dataset.state = "loading";
    const asked = promise.then(() => null, sentenceOf);
    update({ offline: await asked.finally(() => waiting--) });
  };

  /** @param {Changes} changes */
  const update = ({ focus, ...changes }) => {
    state = settled(state, changes);
    const drawn = heads();
    patch(page, drawn ? headsView(drawn) : pageView(sceneOf(state, source)));
    if (drawn) paint(shadow, drawn);
    markEdges(shadow);
    root.dataset.state = waiting ? "loading" : "ready";
    if (!state.going) announce(root, state);
    const needs = drawn ? headNeeds(drawn, source) : needsOf(sceneOf(state, source));
    for (const [op, args] of state.offline ? [] : needs) {
      if (!source.has(op, args) && !source.asking(op, args)) void wait(source.need(op, args));
    }
    if (focus) focusOn(shadow, focus);
  };

  /** @param {Partial<State>} changes */
  const glance = (changes) => {
    state = { ...state, ...changes };
    const drawn = heads();
    if (drawn) follow(shadow, drawn, paint);
  };

  return { state: () => state, scene, heads, update, glance, wait };
}

/**
 * Where the page stands, in the address and in the window's title.
 * @param {HTMLElement} root
 * @param {State} state
 */
function announce(root, state) {
  writeHash(state);
  if (root.hasAttribute("data-softlookup")) document.title = `${titleOf(state.info)} - softlookup`;
}

/**
 * Draw only what follows the pointer.
 * @param {ShadowRoot} shadow
 * @param {import("./heads_scene.js").HeadsScene} drawn
 * @param {ReturnType<typeof createPainter>} paint
 */
function follow(shadow, drawn, paint) {
  for (const [name, node] of glanced(drawn)) {
    const there = shadow.querySelector(`[data-glance="${name}"]`);
    if (there) patch(there, [...node.childNodes]);
  }
  paint(shadow, drawn, "lines");
}

/**
 * What a reader is told of an answer that did not come; a fault of our own is thrown.
 * @param {unknown} error
 */
export function sentenceOf(error) {
  if (error instanceof HostError) return error.message;
  throw error;
}

/** What comes into sight without the focus, or above what gets it. */
const SIGHT = /** @type {Record<string, string>} */ ({
  top: ".page",
  pair: ".head-part",
  cells: ".head-part",
  steps: ".row-steps",
});

/** @param {ShadowRoot} shadow @param {string} name */
function focusOn(shadow, name) {
  const shown = SIGHT[name] && shadow.querySelector(SIGHT[name]);
  if (shown) bringUp(shown);
  const selectors = FOCUS[name] ?? [];
  const found = selectors.map((selector) => shadow.querySelector(selector));
  const element = found.find((candidate) => candidate !== null);
  if (!(element instanceof HTMLElement)) return;
  element.focus({ preventScroll: element.matches(".headline") || shown !== undefined });
  if (element.matches(".headline")) bringUp(element);
  if (element.matches("table.ledger td:not(.margin)"))
    element.scrollIntoView({ block: "nearest", inline: "nearest" }); // not behind a sticky column
  if (element instanceof HTMLInputElement && element.matches(".edit")) element.select();
}

/**
 * Bring a heading or a part to the top, unless the reader already has it before him.
 * @param {Element} part
 */
function bringUp(part) {
  const { top } = part.getBoundingClientRect();
  if (top >= 0 && top < innerHeight / 3) return;
  const quick = !part.matches(".headline") || matchMedia("(prefers-reduced-motion)").matches;
  part.scrollIntoView({ block: "start", behavior: quick ? "auto" : "smooth" });
}
