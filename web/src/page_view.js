import { h } from "./dom.js";
import { turnPart } from "./exercises.js";
import { gridPart } from "./grid.js";
import { header, notices } from "./header.js";
import { headsMain } from "./heads_page.js";
import { footer, headsFooter, mapFooter, tableFooter } from "./help.js";
import { layerPart } from "./layer.js";
import { ledgerPart } from "./ledger.js";
import { articlePart, contentsPart, recapPart } from "./lesson_text.js";
import { lightsOf } from "./lights.js";
import { fileMain, mapMain } from "./map_page.js";
import { hasLayer, isUnfolded, pointOf } from "./scene.js";
import { tableMain } from "./table_part.js";
import { tokensTable } from "./tokens_table.js";

/**
 * The page of a model's heads.
 * @param {import("./heads_scene.js").HeadsScene} scene
 * @returns {Node[]}
 */
export function headsView(scene) {
  const { state } = scene;
  return [header(state), ...notices(state), headsMain(scene), headsFooter()];
}

/**
 * The page of one head's map.
 * @param {import("./map_scene.js").MapScene} scene
 * @param {import("./map_desk.js").Desk} desk
 * @returns {Node[]}
 */
export function mapView(scene, desk) {
  const { state } = scene;
  return [header(state), ...notices(state), mapMain(scene, desk), mapFooter()];
}

/**
 * The page of all heads, as a table.
 * @param {import("./table_scene.js").TableScene} scene
 * @returns {Node[]}
 */
export function tableView(scene) {
  const { state } = scene;
  return [header(state), ...notices(state), tableMain(scene), tableFooter()];
}

/** An exported file carries no map.  @param {import("./types.js").State} state @returns {Node[]} */
export const noMapView = (state) => [header(state), ...notices(state), fileMain()];

/**
 * The whole page of steps, drawn anew from the scene; `patch` keeps what is already there.
 * @param {import("./scene.js").Scene} scene
 * @returns {Node[]}
 */
export function pageView(scene) {
  const { state } = scene;
  if (!scene.tokens.length) {
    return [
      header(state),
      h("p", { class: "alone" }, "This lookup has no queries: there is nothing to look up."),
    ];
  }
  const lights = litBy(scene);
  const lesson = state.info.source === "lesson";
  return [
    header(state),
    ...notices(state),
    h(
      "main",
      { "data-key": "main", class: lesson ? "" : "wide" },
      h("div", { class: "left" }, tokensTable(scene, lights), lesson && contentsPart(state)),
      h(
        "div",
        { class: "center" },
        ledgerPart(scene, lights),
        state.layer && hasLayer(scene) ? layerPart(scene) : null,
        lesson && articlePart(state),
      ),
      h(
        "div",
        { class: "right" },
        gridPart(scene, lights),
        lesson && [turnPart(state), recapPart(state)],
      ),
    ),
    footer(scene.tokens.length, lesson),
  ];
}

/**
 * Nothing lights up for a step that is not worked out yet.
 * @param {import("./scene.js").Scene} scene
 */
function litBy(scene) {
  const { record, state } = scene;
  const point = pointOf(scene);
  if (!record || !point || !isUnfolded(point.step, state.step)) return new Set();
  return lightsOf(record, point, state.reading);
}
