// One listener for each kind of event: what was meant stands in data-act and data-arg.
import { markEdges } from "./edges.js";
import { actionOf, isForNotebook, jump, ROVING } from "./keys.js";
import { clickedCell, pointed, unpointed } from "./listen_heads.js";
import { listenToMap } from "./map_listen.js";

/** @typedef {import("./types.js").State} State */

/**
 * @typedef {object} Hands
 * @property {(name: string, argument: string) => void} act
 * @property {(changes: import("./actions.js").Changes) => void} update
 * @property {() => State} state
 * @property {(changes: Partial<State>) => void} glance  redraws only what follows the pointer
 * @property {() => import("./heads_scene.js").HeadsScene | null} heads
 * @property {() => import("./map_scene.js").MapScene | null} map
 * @property {import("./map_live.js").MapLife} life
 * @property {(event: KeyboardEvent) => void} [pass]  a key that is for the notebook around the page
 */

/** @param {Event} event */
const elementOf = (event) => (event.target instanceof Element ? event.target : null);

/**
 * @param {HTMLElement} root
 * @param {ShadowRoot} shadow
 * @param {Hands} hands
 * @returns {() => void} what stops listening
 */
export function listen(root, shadow, hands) {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** @type {[string, (event: any) => void][]} */
  const inside = [
    ["click", (event) => clicked(event, hands)],
    ["input", (event) => typed(event, hands)],
    ["change", (event) => picked(event, hands)],
    ["submit", (event) => submitted(event, hands)],
    ["focusout", (event) => left(event, hands)],
    ["pointerover", (event) => hovered(event, hands)],
    ["pointermove", (event) => pointed(event, hands)],
  ];
  for (const [kind, listener] of inside) shadow.addEventListener(kind, listener, { signal });
  listenToMap(root, hands, signal);
  root.addEventListener("pointerleave", () => gone(hands), { signal });
  shadow.addEventListener("scroll", () => markEdges(shadow), { signal, capture: true });
  root.ownerDocument.defaultView?.addEventListener("resize", () => markEdges(shadow), { signal });
  root.ownerDocument.addEventListener("keydown", (event) => pressed(event, root, shadow, hands), {
    signal,
  });
  return () => stopping.abort();
}

/** @param {Event} event @param {Hands} hands */
function clicked(event, hands) {
  const { act } = hands;
  const meant = elementOf(event)?.closest("[data-act]");
  if (!meant) clickedCell(/** @type {PointerEvent} */ (event), hands);
  if (!meant || meant.hasAttribute("disabled")) return;
  if (/** @type {MouseEvent} */ (event).shiftKey && meant.matches(".thumb")) {
    act("compare", meant.getAttribute("data-arg") ?? "");
    return;
  }
  act(meant.getAttribute("data-act") ?? "", meant.getAttribute("data-arg") ?? "");
}

/**
 * Keep what is typed at once, so that no answer from the server can sweep it away.
 * @param {Event} event
 * @param {Hands} hands
 */
function typed(event, { act, state, update }) {
  const field = elementOf(event);
  if (!(field instanceof HTMLInputElement)) return;
  const end = field.getAttribute("data-range");
  if (end !== null) act("map-range", `${end}:${field.value}`);
  const side = field.getAttribute("data-going");
  if (side !== null) act("map-typed", `${side}:${field.value}`);
  const { turn } = state();
  const index = field.getAttribute("data-field");
  if (index !== null) {
    const answers = [...turn.typed];
    answers[Number(index)] = field.value;
    update({ turn: { ...turn, typed: answers, trouble: null } });
  }
  const choice = field.getAttribute("data-choice");
  if (choice !== null) update({ turn: { ...turn, typed: [choice], verdict: null, trouble: null } });
}

/**
 * A number field of query, head or batch: held within its limits.
 * @param {Event} event
 * @param {Hands} hands
 */
function picked(event, { act, update }) {
  const field = elementOf(event);
  if (field instanceof HTMLSelectElement) act(field.getAttribute("data-choose") ?? "", field.value);
  const name = field?.getAttribute("data-change");
  if (!(field instanceof HTMLInputElement) || !name) return;
  const value = field.valueAsNumber;
  const most = Number(field.max);
  if (Number.isInteger(value) && value >= 0 && value <= most) {
    act(name, String(value));
    field.focus();
    return;
  }
  update({ notice: `${name}: a whole number 0 … ${most}; got “${field.value}”.` });
  field.value = field.getAttribute("value") ?? "";
}

/** @param {Event} event @param {Hands} hands */
function submitted(event, { act }) {
  const form = elementOf(event)?.getAttribute("data-form");
  if (!form) return; // the forms that close dialogs
  event.preventDefault();
  act(form, "");
}

/**
 * Leaving an open number takes it, once the focus has arrived elsewhere.
 * @param {FocusEvent} event
 * @param {Hands} hands
 */
function left(event, { act, state }) {
  const field = elementOf(event);
  if (!(field instanceof HTMLInputElement) || !field.matches(".edit")) return;
  const { editing } = state();
  const next = event.relatedTarget;
  const value = field.value;
  setTimeout(() => {
    if (!editing || state().editing !== editing) return;
    act("commit", value);
    if (next instanceof HTMLElement && next.isConnected) next.focus();
  });
}

/** @param {Hands} hands */
function gone(hands) {
  hovered(null, hands);
  unpointed(hands);
}

/** @param {PointerEvent | null} event @param {Hands} hands */
function hovered(event, { state, update }) {
  if (event && event.pointerType !== "mouse") return;
  const cell = event && elementOf(event)?.closest("table.ledger td[data-arg]");
  const [step, column] = cell ? (cell.getAttribute("data-arg") ?? "").split(":") : [];
  const before = state().hover;
  if (!cell) {
    if (before) update({ hover: null });
  } else if (before?.step !== step || before?.column !== Number(column)) {
    update({
      hover: { step: /** @type {import("./types.js").StepId} */ (step), column: Number(column) },
    });
  }
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} root
 * @param {ShadowRoot} shadow
 * @param {Hands} hands
 */
function pressed(event, root, shadow, { act, state, pass }) {
  const path = event.composedPath();
  const outside = !path.includes(root) && event.target !== root.ownerDocument.body;
  if (event.defaultPrevented || outside || shadow.querySelector("dialog[open]")) return;
  const target = path.includes(root) && path[0] instanceof Element ? path[0] : null;
  if (pass && isForNotebook(event)) {
    event.preventDefault();
    pass(event);
    return;
  }
  const action = actionOf(event, target, state().view);
  if (!action) return;
  event.preventDefault();
  if (action[0] === "rove") rove(target, action[1]);
  else act(...action);
}

/**
 * From one button of a group to another; what is shown stays as it is.
 * @param {Element | null} target
 * @param {string} way
 */
function rove(target, way) {
  const buttons = [...(target?.closest(ROVING)?.querySelectorAll("button") ?? [])];
  const by = jump(way).find((step) => step !== 0) ?? 0;
  const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (target)) + by;
  buttons[Math.max(0, Math.min(at, buttons.length - 1))]?.focus();
}
