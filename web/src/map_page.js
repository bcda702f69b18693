// The map view: one head as one picture, from the whole to a single weight, and what is asked of it.
import { h } from "./dom.js";
import { glance } from "./glance.js";
import { rowSteps } from "./heads_page.js";
import { headName, isolated } from "./heads_words.js";
import { stripLegend } from "./heat_strips.js";
import { positionWords, scaleOf } from "./map_axes.js";
import { listsPart, marksPart, tourPart } from "./map_lists.js";
import { miniBox } from "./map_painter.js";
import { goingPart, headPickers, mapLegend, mapTools, rangePart } from "./map_tools.js";
import { progressWords, readWords, scaleWords } from "./map_words.js";
import { profilePart, waitingLine } from "./profile_part.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./map_desk.js").Desk} Desk */

/** @param {MapScene} scene @param {Desk} desk */
export function mapMain(scene, desk) {
  const { state, layout, ledger } = scene;
  return h(
    "main",
    { "data-key": "map", class: `map ${layout.beside ? "map-beside" : "map-below"}` },
    mapPart(scene, desk),
    h(
      "div",
      { class: "map-side", "data-key": "side" },
      miniPart(scene),
      tourPart(scene),
      marksPart(scene),
      listsPart(scene),
      profilePart(scene),
    ),
    ledger && rowSteps(ledger, state),
  );
}

/** Where a map is asked of a file. */
export const fileMain = () =>
  h(
    "main",
    { "data-key": "no map", class: "map" },
    h(
      "p",
      { class: "alone" },
      "Maps and the table of all heads are worked out by the program, not by a file: run " +
        "softlookup show on the capture.",
    ),
  );

/** @param {MapScene} scene @param {Desk} desk */
function mapPart(scene, desk) {
  const { state, size, refused } = scene;
  const name = headName(state.capture, state);
  return h(
    "section",
    { class: "map-part", "data-key": "map", "aria-labelledby": "map-title" },
    h(
      "div",
      { class: "titled" },
      h(
        "h2",
        { id: "map-title", class: "headline", tabindex: -1 },
        `${name.charAt(0).toUpperCase()}${name.slice(1)}: ` +
          `${positionWords(size.rows)} × ${positionWords(size.keys)} weights`,
      ),
      headPickers(scene),
    ),
    mapTools(scene),
    goingPart(scene),
    readRow(scene),
    refused
      ? h("p", { class: "quiet panel waiting", "data-key": "refused" }, refused)
      : [figure(scene), under(scene, desk)],
  );
}

/** The read-out, always as high, and what can be done with it.  @param {MapScene} scene */
function readRow(scene) {
  const { lock } = scene.state.map;
  const act = (
    /** @type {string} */ name,
    /** @type {string} */ text,
    /** @type {string} */ label,
  ) => h("button", { type: "button", class: "link", "data-act": name, title: label }, text);
  return h(
    "div",
    { class: "pair-row" },
    h("div", { class: `readout pair${lock ? " locked" : ""}`, id: "map-pair" }, readLine(scene)),
    h(
      "span",
      { class: "read-acts" },
      act(
        "map-lock",
        lock ? "let go" : "hold",
        lock ? "let the read-out go (L)" : "hold the read-out (L)",
      ),
      act("map-pick", "pick", "pick this query and key: lists and steps (Enter)"),
      act("copy", "copy", "copy the held pair as a line of a table (C)"),
    ),
  );
}

/** @param {MapScene} scene */
export function readLine(scene) {
  return glance(readWords(scene));
}

/** @param {string} what @param {import("./dom.js").Props} [props] */
const picture = (what, props = {}) => h("canvas", { "data-map": what, ...props });

/** The map with its axes; profiles on the far sides.  @param {MapScene} scene */
function figure(scene) {
  const { box, names, above, strip } = scene.layout;
  const unseen = { "aria-hidden": "true" };
  const vars = {
    ...{ "--names": `${names}px`, "--strip": `${strip}px`, "--above": `${above}px` },
    ...{ "--width": `${box.width}px`, "--height": `${box.height}px` },
  };
  return h(
    "div",
    { class: "map-figure", "data-key": "figure", vars },
    h(
      "div",
      { class: "heat-corner quiet", ...unseen },
      h("span", {}, "key →"),
      h("span", {}, "query ↓"),
    ),
    picture("keys", { class: "map-labels", "data-axis": "keys", ...unseen }),
    h("div", { class: "strip-name quiet" }, "entropy"),
    picture("rows", { class: "map-labels", "data-axis": "rows", ...unseen }),
    cells(scene),
    picture("entropy", unseen),
    h("div", { class: "strip-name quiet below" }, "received"),
    picture("received", unseen),
  );
}

/** @param {MapScene} scene */
const cells = ({ state }) =>
  h(
    "div",
    {
      class: "map-cells",
      tabindex: 0,
      role: "application",
      "aria-label":
        `Map of ${headName(state.capture, state)}. Arrow keys move, plus and minus zoom, 0 ` +
        "shows the whole; L holds the pair at the centre, Enter picks it, G goes to a query " +
        "and key.",
      "aria-describedby": "map-pair",
    },
    picture("cells"),
    picture("lines"),
  );

/** @param {MapScene} scene @param {Desk} desk */
function under(scene, desk) {
  const { info, state } = scene;
  const building = info !== null && info.done < info.of && !info.refused;
  const { paused } = state.map;
  return h(
    "div",
    { class: "map-under", "data-key": "under" },
    h(
      "div",
      { class: "map-progress" },
      progressLine(scene),
      building &&
        h(
          "button",
          { type: "button", class: "plain", "data-act": "map-pause", "data-key": "pause" },
          paused ? "Continue" : "Pause",
        ),
    ),
    mapLegend(scene),
    rangePart(scene),
    stripLegends(scene, desk),
  );
}

/** @param {MapScene} scene */
export function progressLine(scene) {
  return h(
    "p",
    { class: "quiet", "data-glance": "progress" },
    h("span", { class: "map-scale" }, scaleWords(scene)),
    " · ",
    h("span", { class: "map-built" }, isolated(progressWords(scene))),
  );
}

/** @param {MapScene} scene @param {Desk} desk */
export function stripLegends({ place }, desk) {
  const entropy = desk.profiles.strip(place, "queries");
  const received = desk.profiles.strip(place, "keys");
  const isKnown = (/** @type {import("./map_profiles.js").Strip | null} */ strip) =>
    strip !== null && !strip.mean.every(Number.isNaN);
  return h(
    "div",
    { class: "strip-legends", "data-glance": "strips" },
    entropy && isKnown(entropy) && stripLegend("entropy of a query, nats", scaleOf(entropy, false)),
    received && isKnown(received) && stripLegend("received by a key", scaleOf(received, true)),
  );
}

/** @param {MapScene} scene */
function miniPart(scene) {
  const { width, height } = miniBox(scene);
  return h(
    "div",
    { class: "map-mini-part", "data-key": "mini" },
    h(
      "div",
      {
        class: "map-mini",
        title: "the whole head: click or drag to move the view",
        "aria-hidden": "true",
        vars: { "--width": `${width}px`, "--height": `${height}px` },
      },
      h("canvas", { "data-map": "mini" }),
    ),
  );
}

/**
 * What follows the pointer and the building, by the name in data-glance.
 * @param {MapScene} scene
 * @param {Desk} desk
 * @returns {[string, HTMLElement][]}
 */
export const mapGlanced = (scene, desk) => [
  ["pair", readLine(scene)],
  ["progress", progressLine(scene)],
  ["extremes", waitingLine(scene)],
  ["legend", mapLegend(scene)],
  ["range", rangePart(scene)],
  ["strips", stripLegends(scene, desk)],
];
