// The page of a survey: one table, its own small state, drawn anew at every change.
import { patch } from "./dom.js";
import { ARROWS, jump } from "./keys.js";
import { download, fileName } from "./picture_table.js";
import {
  firstSurvey,
  MOST_ROWS,
  orderOf,
  surveyAt,
  surveyCsv,
  surveyHash,
  surveyOf,
} from "./survey_data.js";
import { surveyView } from "./survey_part.js";
import { BY_HEAD } from "./table_scene.js";

/** @typedef {import("./survey_data.js").Survey} Survey */
/** @typedef {import("./survey_data.js").SurveyState} SurveyState */

/** @type {Record<string, (survey: Survey, state: SurveyState, argument: string) => Partial<SurveyState>>} */
export const SURVEY_ACTIONS = {
  sort: (_, { by, down }, id) => ({ by: id, down: by === id ? !down : id !== BY_HEAD, all: false }),
  point: (_, __, point) => ({ point }),
  of: (_, __, of) => ({ of, all: false }),
  all: () => ({ all: true }),
  open: (_, { open }, at) => ({ at: Number(at), open: open === Number(at) ? null : Number(at) }),
  close: () => ({ open: null }),
  enter: (survey, state) => ({ at: orderOf(survey, state)[0] ?? -1 }),
  move: (survey, state, way) => {
    const order = orderOf(survey, state);
    const rows = state.all ? order : order.slice(0, MOST_ROWS);
    const [dy, dx] = jump(way);
    const step = dy || (Number.isFinite(dx) ? 0 : dx); // Home and End
    const at = Math.max(0, rows.indexOf(state.at));
    return { at: rows[Math.max(0, Math.min(at + step, rows.length - 1))] ?? -1 };
  },
  save: (survey, state) => {
    const name = fileName([survey.json.title, "heads"], "csv");
    download(name, new Blob([surveyCsv(survey, state)], { type: "text/csv" }));
    return { notice: `Saved as ${name}.` };
  },
};

/**
 * @param {HTMLElement} root
 * @param {ShadowRoot} shadow
 * @param {HTMLElement} page
 * @param {import("./types.js").Host} host
 * @returns {Promise<() => void>} what takes it away again
 */
export async function mountSurvey(root, shadow, page, host) {
  const { json, bytes } = await host.call("survey");
  const survey = surveyOf(json, bytes ?? new Uint8Array());
  let state = firstSurvey(survey);
  const draw = () => {
    const held = focusedRow(shadow);
    patch(page, surveyView(survey, state));
    if (held !== null) focusRow(shadow, held);
    document.title = `${json.title} - softlookup`;
    root.dataset.state = "ready";
  };
  /** @param {string} name @param {string} argument */
  const act = (name, argument) => {
    const action = SURVEY_ACTIONS[name];
    if (!action) return;
    state = { ...state, notice: "", ...action(survey, state, argument) };
    const hash = surveyHash(state);
    history.replaceState(null, "", `${location.pathname}${location.search}${hash && `#${hash}`}`);
    draw();
    if (name === "open") reveal(shadow, state.open);
  };
  const follow = () => {
    state = surveyAt(location.hash, survey);
    draw();
    reveal(shadow, state.open);
  };
  const stopping = listen(root, shadow, act, () => focusRow(shadow, String(state.at)));
  addEventListener("hashchange", follow, { signal: stopping.signal });
  follow();
  return () => {
    stopping.abort();
    shadow.replaceChildren();
    delete root.dataset.state;
  };
}

/**
 * @param {HTMLElement} root
 * @param {ShadowRoot} shadow
 * @param {(name: string, argument: string) => void} act
 * @param {() => void} moved  what follows a key that led to a row
 * @returns {AbortController} what ends it
 */
function listen(root, shadow, act, moved) {
  const stopping = new AbortController();
  const { signal } = stopping;
  shadow.addEventListener("click", (event) => clicked(event, act), { signal });
  shadow.addEventListener("change", (event) => chosen(event, act), { signal });
  const keyed = (/** @type {KeyboardEvent} */ event) => pressed(event, act) && moved();
  root.ownerDocument.addEventListener("keydown", keyed, { signal });
  return stopping;
}

/** @param {Event} event @param {(name: string, argument: string) => void} act */
function clicked(event, act) {
  const meant = event.target instanceof Element ? event.target.closest("[data-act]") : null;
  if (meant) act(meant.getAttribute("data-act") ?? "", meant.getAttribute("data-arg") ?? "");
}

/** @param {Event} event @param {(name: string, argument: string) => void} act */
function chosen(event, act) {
  const field = event.target;
  if (field instanceof HTMLSelectElement) act(field.getAttribute("data-choose") ?? "", field.value);
}

/**
 * @param {KeyboardEvent} event
 * @param {(name: string, argument: string) => void} act
 * @returns {boolean} whether it led to a row
 */
function pressed(event, act) {
  const target = event.composedPath()[0];
  const free = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
  if (!free || target instanceof HTMLSelectElement) return false;
  const way = ARROWS[event.key];
  const inRows = target instanceof Element && target.matches(".row-open");
  const aside = way === "left" || way === "right";
  if (way && !aside && (inRows || target === document.body)) {
    event.preventDefault();
    act("move", way);
    return true;
  }
  if (way === "down" && target instanceof Element && target.matches("thead button")) {
    event.preventDefault();
    act("enter", "");
    return true;
  }
  if (event.key === "Escape") act("close", "");
  return false;
}

/** @param {ShadowRoot} shadow */
function focusedRow(shadow) {
  const held = shadow.activeElement;
  return held?.matches(".row-open") ? held.getAttribute("data-arg") : null;
}

/**
 * Scrolls to a row with what it opened; to the row, where there is no room for both.
 * @param {ShadowRoot} shadow
 * @param {number | null} at
 */
function reveal(shadow, at) {
  const row = at === null ? null : shadow.querySelector(`.row-open[data-arg="${at}"]`)?.closest("tr");
  row?.nextElementSibling?.scrollIntoView({ block: "nearest", inline: "nearest" });
  row?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** @param {ShadowRoot} shadow @param {string} at */
function focusRow(shadow, at) {
  const row = shadow.querySelector(`.row-open[data-arg="${at}"]`);
  if (row instanceof HTMLElement && shadow.activeElement !== row) row.focus();
}
