// The heads view: the text and the thumbnails, the opened head beside or below them, the ledger of
// the picked row.
import { h } from "./dom.js";
import { headPart, readsPart } from "./head_part.js";
import { layoutOf } from "./heads_layout.js";
import { ledgerPart } from "./ledger.js";
import { lightsOf } from "./lights.js";
import { readable } from "./readable.js";
import { pointOf } from "./scene.js";
import { overviewPart, textPart } from "./thumbs.js";
import { vectorsPart } from "./vectors_part.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */

const LONGEST = 1000; // characters of what is said about a capture

/** @param {HeadsScene} scene */
export function headsMain(scene) {
  const { state } = scene;
  const layout = layoutOf(state);
  return h(
    "main",
    { "data-key": "heads", class: `heads heads-${layout.name}` },
    h("div", { class: "about-text" }, aboutPart(scene), textPart(scene)),
    overviewPart(scene, layout),
    headPart(scene, layout),
    layout.name === "beside" && readsPart(scene),
    ledgerOf(scene),
  );
}

/** Where the numbers come from.  @param {HeadsScene} scene */
function aboutPart({ state, overview }) {
  const { about, layers } = state.capture;
  const said = (/** @type {string} */ name) => (about[name] ?? "").slice(0, LONGEST);
  const others = Object.keys(about).filter((name) => name !== "model" && name !== "origin");
  const parts = [said("model"), said("origin")].filter(Boolean);
  if (!parts.length && !others.length) return null;
  const { dtype, sizes } = layers[state.stage];
  const { kv_heads, group } = sizes;
  const shared = group > 1 ? `, ${group} query heads share one of ${kv_heads} key heads` : "";
  return h(
    "div",
    { class: "about", "data-key": "about" },
    h("p", {}, parts.map((text, i) => [i ? " · " : "", h("bdi", {}, readable(text))]).flat()),
    h(
      "details",
      {},
      h("summary", { class: "quiet" }, "about these numbers"),
      h(
        "dl",
        {},
        others.flatMap((name) => [
          h("dt", {}, h("bdi", {}, readable(name))),
          h("dd", {}, h("bdi", {}, readable(said(name)))),
        ]),
        h("dt", {}, "arrays"),
        h("dd", {}, `${dtype}, ${sizes.head_dim} dimensions a head${shared}`),
        ...backendLines(overview(state.stage)?.backend),
        h("dt", {}, "a weight"),
        h("dd", {}, "tells what was read, not why"),
      ),
    ),
  );
}

/** @param {string | undefined} backend */
const backendLines = (backend) =>
  backend ? [h("dt", {}, "thumbnails, strips"), h("dd", {}, backend)] : [];

/** @param {HeadsScene} scene */
function ledgerOf({ ledger, state }) {
  if (!state.open || !state.picked) return null;
  if (!ledger) {
    return h(
      "p",
      { class: "quiet ledger-part", "data-key": "no ledger" },
      "A mean of several heads has no steps of its own: choose “this head” for the ledger of a row.",
    );
  }
  return rowSteps(ledger, state);
}

/**
 * Every step of the picked row, and its vectors.
 * @param {import("./scene.js").Scene} ledger
 * @param {import("./types.js").State} state
 */
export function rowSteps(ledger, state) {
  const point = pointOf(ledger);
  const lights = ledger.record && point && lightsOf(ledger.record, point, state.reading);
  return h(
    "div",
    { class: "row-steps", "data-key": "row steps" },
    ledgerPart(ledger, lights ?? new Set(), { whole: true }),
    vectorsPart(ledger, state.wide),
  );
}
