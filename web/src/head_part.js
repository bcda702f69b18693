// The opened head: its grid with tokens on both axes, strips, what is under the cursor, lists.
import { h } from "./dom.js";
import { glance } from "./glance.js";
import { keyAxis, marksOf, rowAxis } from "./heat_axes.js";
import { heatColors } from "./heat_color.js";
import { gridWidth, SINK } from "./heat_grid.js";
import { heatLegend } from "./heat_legend.js";
import { stripLegend } from "./heat_strips.js";
import { compareTools, headTools, partTools, saveTools } from "./head_tools.js";
import { partOf, rangeIn } from "./heads_grid.js";
import { layoutOf } from "./heads_layout.js";
import { stripScales, stripsOf } from "./heads_strips.js";
import { MEANINGS } from "./help.js";
import { isolated, pairWords, quoted, rowWords, viewName } from "./heads_words.js";
import { readsList } from "./reads.js";
import { thumbLine } from "./thumbs.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./heads_grid.js").HeadView} HeadView */
/** @typedef {import("./heads_layout.js").Layout} Layout */
/** @typedef {"first" | "second"} Which */

const BELOW = 96; // pixels of the strip and the legends below a grid
const LETTER = 6.6; // pixels of a label's letter, about
const LEAST_ABOVE = 34; // pixels above a grid: its corner says which axis is which

/** @param {HeadsScene} scene @param {Layout} layout */
export function headPart(scene, layout) {
  const { first, second, state } = scene;
  if (!first) return null;
  const name = viewName(first, state.capture);
  const cell = cellOf(scene, first, layout);
  const aside = first.grid !== null && layout.aside(gridWidth(first.grid, cell));
  return h(
    "section",
    { class: "head-part", "data-key": "head", "aria-labelledby": "head-title" },
    h(
      "div",
      { class: "titled" },
      h("h2", { id: "head-title", class: "headline", tabindex: -1 }, upper(name)),
      compareTools(scene),
      h("button", { type: "button", class: "link", "data-act": "close-head" }, "all heads, larger"),
    ),
    headTools(scene),
    partTools(scene),
    pairRow(scene),
    h(
      "div",
      { class: aside ? "head-body aside" : "head-body" },
      h(
        "div",
        { class: second ? "figures-pair" : "figures-one" },
        figure(scene, first, "first", layout, second ? upper(name) : ""),
        second && figure(scene, second, "second", layout, upper(viewName(second, state.capture))),
      ),
      layout.name !== "beside" && readsPart(scene),
    ),
    first.rule && h("p", { class: "quiet" }, `Words: ${first.rule}.`),
    saveTools(state, second ? `save ${name}` : "save"),
  );
}

/**
 * What is under the cursor, always as high, so that nothing below it moves; and the way to the
 * steps of the picked row.
 * @param {HeadsScene} scene
 */
function pairRow(scene) {
  const steps = h(
    "button",
    { type: "button", class: "plain", "data-act": "row-steps" },
    "steps of this row, below ",
    h("span", { "aria-hidden": "true" }, "↓"),
  );
  return h(
    "div",
    { class: "pair-row" },
    h("output", { class: "readout pair", id: "pair", "aria-live": "polite" }, pairLine(scene)),
    scene.ledger && steps,
  );
}

/** What the picked query reads from, and who reads the picked key.  @param {HeadsScene} scene */
export function readsPart(scene) {
  return scene.first && h("div", { class: "said", "data-key": "said" }, lists(scene));
}

/** @param {string} text */
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The words of the read-out.  @param {HeadsScene} scene */
export function pairLine(scene) {
  return glance(pairWords(scene));
}

/**
 * What follows the pointer, by the name in data-glance: the only parts that are drawn anew when it
 * moves.
 * @param {HeadsScene} scene
 * @returns {[string, HTMLElement][]}
 */
export function glanced(scene) {
  const layout = layoutOf(scene.state);
  const views = /** @type {[Which, HeadView | null][]} */ ([
    ["first", scene.first],
    ["second", scene.second],
  ]);
  return [
    ["thumb", h("p", {}, isolated(thumbLine(scene)))],
    ["pair", pairLine(scene)],
    ...views.flatMap(([which, view]) => {
      const [rows, keys] = view ? axes(scene, view, which, layout) : [];
      return /** @type {[string, HTMLElement][]} */ (
        rows && keys
          ? [
              [`rows ${which}`, rows],
              [`keys ${which}`, keys],
            ]
          : []
      );
    }),
  ];
}

/**
 * @param {HeadsScene} scene
 * @param {HeadView} view
 * @param {Which} which
 * @param {Layout} layout
 * @param {string} title
 */
function figure(scene, view, which, layout, title) {
  const { grid } = view;
  const above = grid ? aboveOf(grid, cellOf(scene, view, layout), layout) : 0;
  const names = { "--names": `${layout.names}px`, "--above": `${above}px` };
  return h(
    "div",
    { class: "head-figure", "data-key": `figure ${which}` },
    title && h("h3", {}, title),
    ...(grid
      ? [
          h("div", { class: "scroll" }, heat(scene, view, which, layout, names)),
          ...legends(scene, view),
        ]
      : [waiting(scene, view, layout)]),
  );
}

/**
 * Pixels above the grid: as many as the longest label of its keys needs.
 * @param {import("./heat_grid.js").Grid} grid
 * @param {number} cell
 * @param {Layout} layout
 */
function aboveOf({ keyTokens, keyAt, sink }, cell, layout) {
  const sizes = marksOf(keyTokens, keyAt, cell).map(
    ({ text, numbered, position }) =>
      letters(text) + (numbered ? 2 + 0.95 * String(position).length : 0),
  );
  const longest = Math.max(sink ? 4 : 0, ...sizes);
  return Math.max(LEAST_ABOVE, Math.min(layout.names, Math.ceil(LETTER * longest) + 14));
}

/** How many letters wide: those of other scripts may be twice as wide.  @param {string} text */
const letters = (text) =>
  [...text].reduce((sum, one) => sum + ((one.codePointAt(0) ?? 0) < 0x590 ? 1 : 1.8), 0);

/**
 * As tall as the grid that is on its way, so that the page stays where it is.
 * @param {HeadsScene} scene
 * @param {HeadView} view
 * @param {Layout} layout
 */
function waiting({ state }, view, layout) {
  const { rows, keys } = partOf(state);
  const [high, wide] = [rows[1] - rows[0], keys[1] - keys[0]];
  const height = high * layout.cell(high, wide, state.info.options.sinks) + layout.names + BELOW;
  return h(
    "p",
    { class: "quiet panel waiting", vars: view.refused ? {} : { "min-height": `${height}px` } },
    view.refused || "Asking for these weights …",
  );
}

/** @param {HeadsScene} scene @param {HeadView} view @param {Layout} layout */
export function cellOf({ second, state }, { grid }, layout) {
  if (!grid) return 1;
  const shown = [grid, second?.grid ?? null];
  const sinks = state.info.options.sinks || shown.some((one) => (one?.sink ?? null) !== null);
  return layout.cell(grid.shape[0], grid.shape[1], sinks);
}

/** @param {HeadsScene} scene @param {HeadView} view @param {Which} which @param {Layout} layout */
export function axes(scene, view, which, layout) {
  const { grid } = view;
  if (!grid) return [];
  const cell = cellOf(scene, view, layout);
  const [row, key] = scene.picked ?? [null, null];
  const [hoverRow, hoverKey] = scene.at ?? [null, null];
  const marks = (/** @type {import("./types.js").AxisInfo} */ { padding, prompt }) =>
    scene.words ? {} : { padding, prompt };
  const rows = rowAxis(grid, {
    cell,
    picked: row,
    hover: hoverRow,
    ...marks(scene.queries),
  });
  const keys = keyAxis(grid, {
    cell,
    picked: key === SINK ? null : key,
    hover: hoverKey,
    ...marks(scene.keys),
  });
  rows.setAttribute("data-glance", `rows ${which}`);
  keys.setAttribute("data-glance", `keys ${which}`);
  return [rows, keys];
}

/**
 * @param {HeadsScene} scene
 * @param {HeadView} view
 * @param {Which} which
 * @param {Layout} layout
 * @param {Record<string, string>} vars
 */
function heat(scene, view, which, layout, vars) {
  const { grid } = view;
  if (!grid) return null;
  const [rows, keys] = axes(scene, view, which, layout);
  const [height, width] = grid.shape;
  const things = scene.words ? "words" : "tokens";
  const paint = (/** @type {string} */ what) =>
    h("canvas", { "data-paint": what, "data-arg": which });
  return h(
    "div",
    { class: "heat", vars },
    h(
      "div",
      { class: "heat-corner quiet", "aria-hidden": "true" },
      h("span", {}, "key →"),
      h("span", {}, "query ↓"),
    ),
    keys,
    h("div", { class: "strip-name quiet" }, "entropy"),
    rows,
    h(
      "div",
      {
        class: "heat-cells",
        tabindex: 0,
        role: "application",
        "aria-label":
          `Weights of ${viewName(view, scene.state.capture)}: ${height} × ${width} ${things}. ` +
          "Arrow keys move, Enter picks the query and key.",
        "aria-describedby": "pair",
        "data-which": which,
      },
      paint("grid"),
      paint("lines"),
    ),
    paint("entropy"),
    h("div", { class: "strip-name quiet below" }, "received"),
    paint("received"),
  );
}

/** @param {HeadsScene} scene @param {HeadView} view */
function legends(scene, view) {
  const { grid } = view;
  if (!grid) return [];
  const { of } = stripsOf(scene, view);
  const { entropy, received } = stripScales(scene);
  return [
    heatLegend(grid, rangeIn(scene), heatColors(scene.state.theme)),
    h(
      "div",
      { class: "strip-legends" },
      stripLegend(`entropy of a row, nats${of}`, entropy),
      stripLegend(`received by a key${of}`, received),
    ),
  ];
}

/** @param {HeadsScene} scene */
function lists(scene) {
  const { first, picked, lines, state, words } = scene;
  if (!first?.grid) return null;
  const { grid } = first;
  if (!picked || !lines.from) {
    const say =
      "Pick a query: click a row or a token, and see what it reads, and every step of it.";
    return h("p", { class: "quiet" }, state.picked ? "Asking for this row …" : say);
  }
  const asks = quoted(words ? grid.rowTokens : scene.queries.tokens, picked[0]);
  const where = scene.second ? `, in ${viewName(first, state.capture)}` : "";
  const rows = words ? grid.rowTokens : scene.queries.tokens;
  const keys = words ? grid.keyTokens : scene.keys.tokens;
  const by =
    lines.by &&
    readsList(`${quoted(keys, picked[1])} is read by${where}`, lines.by, rows, { act: "head-row" });
  return [
    h("p", { class: "row-words", title: MEANINGS }, isolated(rowWords(scene))),
    h(
      "div",
      { class: "lists" },
      readsList(`${asks} reads from${where}`, lines.from, keys, { act: "head-key" }),
      by || h("p", { class: "quiet" }, "Pick a key, too, and see which queries read it."),
    ),
    lines.note && h("p", { class: "quiet" }, lines.note),
  ];
}
