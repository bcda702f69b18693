// One state and one drawing of it: every change goes through `update`, every wait through `wait`.
import { settled } from "./capture_info.js";
import { patch } from "./dom.js";
import { markEdges } from "./edges.js";
import { isElsewhere } from "./elsewhere.js";
import { titleOf } from "./header.js";
import { glanced } from "./head_part.js";
import { headNeeds, headsScene } from "./heads_scene.js";
import { HostError } from "./host_error.js";
import { MapLife } from "./map_live.js";
import { mapNeeds } from "./map_scene.js";
import { headsView, mapView, noMapView, pageView, tableView } from "./page_view.js";
import { createPainter } from "./painter.js";
import { needsOf, sceneOf } from "./scene.js";
import { createSight, heldLine } from "./sight.js";
import { createTablePainter, heldRow } from "./table_painter.js";
import { isTable, tableScene, tableSteps } from "./table_scene.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./actions.js").Changes} Changes */

const PACE = 150; // milliseconds between two drawings of a table that fills

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
  map: [".map-cells"],
  row: [".row-open[tabindex='0']"],
  going: ["input[data-going]"],
});

/**
 * @typedef {object} LivePage
 * @property {() => State} state
 * @property {() => import("./scene.js").Scene} scene
 * @property {() => import("./heads_scene.js").HeadsScene | null} heads  null in the view of steps
 * @property {() => import("./map_scene.js").MapScene | null} map  null in the other views
 * @property {() => import("./table_scene.js").TableScene | null} table  null in the other views
 * @property {MapLife} life  of the map
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
 * @param {import("./types.js").Address} address
 * @returns {LivePage}
 */
export function livePage(root, shadow, page, source, first, address) {
  let state = first;
  let waiting = 0;
  let pause = 0; // the timer until the table is drawn again; 0: none is running
  const paint = createPainter();
  const paintTable = createTablePainter();
  const bring = createSight();
  const life = new MapLife({
    ...{ root, shadow, source, state: () => state, update: () => update({}) },
    set: (next) => (state = next),
    failed: (error) => update({ offline: sentenceOf(error) }),
  });
  const scenes = scenesOf(() => state, source, life);
  const { heads, table } = scenes;

  /** @param {Promise<unknown>} promise */
  const wait = async (promise) => {
    waiting++;
    root.dataset.state = "loading";
    const asked = promise.then(() => null, sentenceOf);
    const offline = await asked.finally(() => waiting--);
    const steps = offline || state.offline ? [] : tableSteps(state, source);
    if (!steps.length) {
      update({ offline });
      return;
    }
    ask(steps); // a table of many heads is not drawn for each of them
    pause ||= Number(setTimeout(() => update({}), PACE));
  };

  /** @param {[string, import("./source.js").Args][]} needs */
  const ask = (needs) => {
    for (const [op, args] of needs)
      if (!source.has(op, args) && !source.asking(op, args)) void wait(source.need(op, args));
  };

  /** @param {Changes} changes */
  const update = ({ focus, ...changes }) => {
    state = settled(state, changes);
    clearTimeout(pause);
    pause = 0;
    const { nodes, needs } = scenes.view();
    const found = heldRow(shadow);
    const stay = heldLine(shadow);
    patch(page, nodes);
    found();
    stay();
    const drawn = heads();
    if (drawn) paint(shadow, drawn);
    const tabled = table();
    if (tabled) paintTable(shadow, tabled);
    life.draw();
    bring(shadow, state);
    markEdges(shadow);
    root.dataset.state = waiting ? "loading" : "ready";
    if (!state.going) announce(root, state, address);
    ask(state.offline ? [] : needs);
    if (focus && !isElsewhere()) focusOn(shadow, focus);
  };

  /** @param {Partial<State>} changes */
  const glance = (changes) => {
    state = { ...state, ...changes };
    const drawn = heads();
    if (drawn) follow(shadow, drawn, paint);
    else if (state.view === "map") life.soon();
  };

  return { ...scenes, life, state: () => state, update, glance, wait };
}

/**
 * What each view shows; null in the others.
 * @param {() => State} state
 * @param {import("./source.js").Source} source
 * @param {MapLife} life
 */
function scenesOf(state, source, life) {
  const heads = () => (state().view === "heads" ? headsScene(state(), source) : null);
  const table = () => (isTable(state()) ? tableScene(state(), source) : null);
  const map = () => life.scene();
  const scene = () => heads()?.ledger ?? map()?.ledger ?? sceneOf(state(), source);

  /** The open view, and what it needs.
   * @returns {{nodes: Node[], needs: [string, import("./source.js").Args][]}} */
  const view = () => {
    const drawn = heads();
    if (drawn) return { nodes: headsView(drawn), needs: headNeeds(drawn, source) };
    const mapped = map();
    if (mapped) return { nodes: mapView(mapped, life.desk), needs: mapNeeds(mapped) };
    const tabled = table();
    if (tabled) return { nodes: tableView(tabled), needs: tableSteps(state(), source) };
    if (state().view === "map" || state().view === "table")
      return { nodes: noMapView(state()), needs: [] };
    const stepped = sceneOf(state(), source);
    return { nodes: pageView(stepped), needs: needsOf(stepped) };
  };
  return { heads, table, map, scene, view };
}

/**
 * Where the page stands, in the address and in the window's title.
 * @param {HTMLElement} root
 * @param {State} state
 * @param {import("./types.js").Address} address
 */
function announce(root, state, address) {
  address.write(state);
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
  if (error instanceof HostError) return error.sentence;
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
