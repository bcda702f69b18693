// The overview: one thumbnail a head, layers as rows; and the text, whose tokens can be asked.
import { kindOf, noteOf } from "./capture_info.js";
import { shortName, tokenName } from "./chip.js";
import { h } from "./dom.js";
import { MEANINGS } from "./help.js";
import { isTooLong } from "./heads_needs.js";
import { headWords, isolated } from "./heads_words.js";
import { briefly, counted } from "./numbers.js";
import { readable } from "./readable.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./heads_layout.js").Layout} Layout */
/** @typedef {import("./types.js").HeadAt} HeadAt */

const TEXT = 90; // tokens of a text that are shown at once

/** @param {HeadAt} at */
export const headArg = ({ stage, head }) => `${stage}.${head}`;

/** @param {HeadAt} a @param {HeadAt | null} b */
const same = (a, b) => b !== null && a.stage === b.stage && a.head === b.head;

/** @param {HeadsScene} scene @param {Layout} layout */
export function overviewPart(scene, layout) {
  const { state } = scene;
  const { layers } = state.capture;
  const heads = Math.max(...layers.map((layer) => layer.sizes.heads));
  const refusals = new Set(layers.map((_, stage) => scene.overviewRefused(stage)).filter(Boolean));
  const title = `${counted(layers.length, "layer")} × ${counted(heads, "head")}: who reads whom`;
  return h(
    "section",
    { class: "overview-part", "data-key": "overview", "aria-labelledby": "overview-title" },
    h("div", { class: "titled" }, h("h2", { id: "overview-title" }, title), overviewTools(scene)),
    h("div", { class: "scroll" }, thumbsTable(scene, layout)),
    [...refusals].map((sentence) => h("p", { class: "quiet" }, sentence)),
    layers.some((_, stage) => isTooLong(state, stage)) && tooLong(),
    h(
      "p",
      { class: "thumb-line quiet", "data-glance": "thumb", title: MEANINGS },
      isolated(thumbLine(scene)),
    ),
  );
}

/** What there is instead of thumbnails. */
function tooLong() {
  const view = (/** @type {string} */ name, /** @type {string} */ text) =>
    h("button", { type: "button", class: "link", "data-act": "view", "data-arg": name }, text);
  return h(
    "p",
    { class: "too-long" },
    "Too long for thumbnails: see ",
    view("map", "the map of one head"),
    ", or ",
    view("table", "the table of all"),
    ".",
  );
}

/** @param {HeadsScene} scene */
function overviewTools({ state }) {
  const range = (
    /** @type {string} */ arg,
    /** @type {string} */ text,
    /** @type {boolean} */ on,
  ) =>
    h(
      "button",
      {
        type: "button",
        "data-act": "first",
        "data-arg": arg,
        "aria-pressed": String(on),
        tabindex: on ? 0 : -1,
      },
      text,
    );
  return h(
    "div",
    { class: "switches" },
    h("span", { class: "quiet" }, "colours"),
    h(
      "span",
      { class: "choice", role: "group", "aria-label": "range of the colours" },
      range("1", "all keys", state.first),
      range("0", "without the first", !state.first),
    ),
  );
}

/** What the line below the thumbnails says.  @param {HeadsScene} scene */
export function thumbLine(scene) {
  const { state } = scene;
  const open = state.open ? { stage: state.stage, head: state.head } : null;
  const at = state.over ?? open;
  if (at) return headWords(scene, at);
  const most = state.theme === "dark" ? "bright" : "dark";
  return state.picked
    ? "The marked row is the picked query’s; below each head stands what it reads most there."
    : `Each small grid is one head: queries down, keys across, ${most} where a query reads most. Open one.`;
}

/** @param {HeadsScene} scene @param {Layout} layout */
function thumbsTable(scene, layout) {
  const { layers } = scene.state.capture;
  const numbers = layers[0].heads;
  const alike = layers.every(({ heads }) => heads.join() === numbers.join());
  const head = h(
    "tr",
    {},
    h("td", {}),
    numbers.map((number) =>
      h("th", { scope: "col" }, h("span", { class: "unseen" }, "head "), String(number)),
    ),
  );
  return h(
    "table",
    {
      class: "thumbs",
      "aria-labelledby": "overview-title",
      vars: {
        "--thumb": `${layout.thumb}px`,
        "--column": `${layout.column}px`,
        "--label": `${layout.label}px`,
      },
    },
    alike && h("thead", {}, head),
    h(
      "tbody",
      {},
      layers.map((_, stage) => layerRow(scene, stage, !alike)),
    ),
  );
}

/** @param {HeadsScene} scene @param {number} stage @param {boolean} numbered */
function layerRow(scene, stage, numbered) {
  const layer = scene.state.capture.layers[stage];
  const word = layer.label.slice(0, -String(layer.number).length);
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row", title: layer.name || null },
      h("span", {}, h("bdi", { class: "layer-word" }, word), h("b", {}, String(layer.number))),
    ),
    layer.heads.map((number, head) =>
      h("td", {}, thumb(scene, { stage, head }, numbered ? `head ${number}` : "")),
    ),
  );
}

/** @param {HeadsScene} scene @param {HeadAt} at @param {string} number */
function thumb(scene, at, number) {
  const { state } = scene;
  const open = state.open && same(at, { stage: state.stage, head: state.head });
  const second = scene.second !== null && same(at, state.compare);
  const kinds = ["thumb", open && "open", second && "second"].filter(Boolean).join(" ");
  return h(
    "button",
    {
      type: "button",
      class: kinds,
      "data-act": "open",
      "data-arg": headArg(at),
      "aria-label": `${headWords(scene, at)}${second ? "; compared" : ""}`,
      "aria-pressed": String(open),
      tabindex: same(at, state.thumb) ? 0 : -1,
    },
    h(
      "span",
      { class: "picture" },
      h("canvas", { "data-paint": "thumb", "data-arg": headArg(at) }),
    ),
    number && h("span", { class: "most" }, number),
    state.picked && caption(scene, at),
  );
}

/** What the picked token reads most in this head.  @param {HeadsScene} scene @param {HeadAt} at */
function caption(scene, at) {
  const most = scene.everywhere(at);
  const { tokens } = scene.keys;
  const text = !most ? "" : most.key < 0 ? "none" : shortName(tokens[most.key]);
  return h(
    "span",
    { class: "most" },
    h("bdi", {}, text),
    h("b", {}, most && most.key >= 0 ? briefly(most.weight) : ""),
  );
}

/**
 * A token of the text, as a button that makes it ask.
 * @param {HeadsScene} scene
 * @param {number} position
 * @param {number} stop  the one that Tab reaches
 */
function piece({ state, queries }, position, stop) {
  const { tokens } = queries;
  const on = state.picked && position === state.row;
  const note = noteOf(queries, position);
  return h(
    "button",
    {
      type: "button",
      class: ["piece", on && "picked", kindOf(queries, position)].filter(Boolean).join(" "),
      "data-act": "ask",
      "data-arg": position,
      "aria-pressed": String(on),
      "aria-label": `query ${tokenName(tokens, position)}${note}`,
      title: `${readable(tokens[position])}${note}`,
      tabindex: position === stop ? 0 : -1,
    },
    h("bdi", {}, shortName(tokens[position])),
  );
}

/** The text as its tokens, in their order whatever their script.  @param {HeadsScene} scene */
export function textPart(scene) {
  const { state, queries } = scene;
  const length = queries.tokens.length;
  const around = state.picked ? state.row : 0;
  const start = Math.max(0, Math.min(around - TEXT / 2, length - TEXT));
  const shown = Array.from({ length: Math.min(TEXT, length) }, (_, i) => start + i);
  const stop = state.picked ? state.row : start;
  const title = "The text, token by token: pick the one that asks";
  return h(
    "section",
    { class: "text-part", "data-key": "text", "aria-labelledby": "text-title" },
    h("div", { class: "titled" }, h("h2", { id: "text-title" }, title), places(scene)),
    h(
      "div",
      { class: "pieces", role: "group", "aria-labelledby": "text-title" },
      start > 0 && h("span", { class: "quiet" }, "…"),
      shown.flatMap((position) => [
        position === queries.prompt && h("span", { class: "quiet" }, "written:"),
        piece(scene, position, stop),
      ]),
      start + TEXT < length && h("span", { class: "quiet" }, "…"),
    ),
  );
}

/** Which query of many, which text of a batch, and no query at all.  @param {HeadsScene} scene */
function places({ state, queries }) {
  const { batch } = state.info.sizes;
  const n = queries.tokens.length;
  const field = (
    /** @type {string} */ name,
    /** @type {string} */ label,
    /** @type {number} */ value,
    /** @type {number} */ most,
  ) =>
    h(
      "label",
      {},
      `${label} `,
      h("input", { type: "number", min: 0, max: most, step: 1, value, "data-change": name }),
      ` of 0 … ${most.toLocaleString("en")}`,
    );
  return h(
    "div",
    { class: "switches fields-line" },
    batch > 1 && field("batch", "text", state.batch, batch - 1),
    n > TEXT && field("ask", "query", state.picked ? state.row : 0, n - 1),
    state.picked &&
      h("button", { type: "button", class: "link", "data-act": "unpick" }, "pick none"),
  );
}
