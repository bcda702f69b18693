// What can be done with the map: which head, near and far, which numbers, where to go, the colours.
import { h } from "./dom.js";
import { heatColors } from "./heat_color.js";
import { rampGradient } from "./heat_legend.js";
import { positionWords } from "./map_axes.js";
import { rampWords } from "./map_words.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */

/**
 * @param {string} act
 * @param {string} arg
 * @param {string} text
 * @param {string} label
 * @param {boolean | null} [on]
 */
const button = (act, arg, text, label, on = null) =>
  h(
    "button",
    {
      type: "button",
      "data-act": act,
      "data-arg": arg,
      title: label,
      "aria-label": label,
      "aria-pressed": on === null ? null : String(on),
    },
    text,
  );

const SHARE = "what a cell's queries read there: summed over its keys, averaged over its queries";

/** @param {string} name @param {HTMLElement[]} buttons */
const choice = (name, buttons) =>
  h("span", { class: "choice", role: "group", "aria-label": name }, buttons);

/** @param {string} act @param {string} text @param {string} label */
function plain(act, text, label) {
  const one = button(act, "", text, label);
  one.classList.add("link");
  return one;
}

/** @param {MapScene} scene */
export function mapTools({ state: { map } }) {
  const isMax = map.pool === "max";
  return h(
    "div",
    { class: "map-tools head-tools" },
    choice("what a cell shows", [
      button("map-pool", "max", "strongest", "the strongest weight of a cell (M)", isMax),
      button("map-pool", "share", "share", `${SHARE} (M)`, !isMax),
    ]),
    choice("near and far", [
      button("map-zoom", "-1", "+", "nearer (+)"),
      button("map-zoom", "1", "−", "farther (−)"),
      button("map-zoom", "0", "whole", "the whole head (0)"),
    ]),
    plain("map-going", "go to …", "go to a query and a key (G)"),
    plain("map-strongest", "strongest in view", "fly to the strongest link in view (S)"),
    plain("map-mark", "bookmark", "keep this place (B)"),
  );
}

/** Where to: positions, or texts of tokens.  @param {MapScene} scene */
export function goingPart({ state, size }) {
  const { going } = state.map;
  if (!going) return null;
  const field = (/** @type {"query" | "key"} */ name, /** @type {number} */ count) =>
    h(
      "label",
      {},
      `${name} `,
      h("input", {
        type: "text",
        "data-going": name,
        value: going[name],
        placeholder: `0 … ${positionWords(count - 1)}, or a token`,
        autocomplete: "off",
        spellcheck: "false",
        "aria-invalid": going.wrong === name ? "true" : null,
        "aria-describedby": going.trouble ? "going-trouble" : null,
      }),
    );
  return h(
    "form",
    { class: "map-going", "data-form": "map-go", "data-key": "going", novalidate: true },
    field("query", size.rows),
    field("key", size.keys),
    h("button", { class: "plain" }, "Go"),
    h(
      "button",
      { type: "button", class: "link", "data-act": "map-going", "data-arg": "close" },
      "close",
    ),
    going.trouble &&
      h("p", { class: "trouble", id: "going-trouble", role: "alert" }, going.trouble),
  );
}

/** Layer, head and text, where there are several.  @param {MapScene} scene */
export function headPickers({ state }) {
  const { capture, stage, head, batch, info } = state;
  const { layers } = capture;
  const select = (
    /** @type {string} */ act,
    /** @type {string} */ name,
    /** @type {string[]} */ texts,
    /** @type {number} */ chosen,
  ) =>
    texts.length > 1 &&
    h(
      "label",
      { class: "compare" },
      `${name} `,
      h(
        "select",
        { "data-choose": act },
        texts.map((text, i) => h("option", { value: i, selected: i === chosen }, text)),
      ),
    );
  const { heads, batch: texts } = info.sizes;
  return h(
    "span",
    { class: "map-pickers" },
    select(
      "stage",
      "layer",
      layers.map(({ label }) => label),
      stage,
    ),
    select("head", "head", layers[stage].heads.slice(0, heads).map(String), head),
    select(
      "batch",
      "text",
      Array.from({ length: texts }, (_, i) => String(i)),
      batch,
    ),
  );
}

/** What the colours mean, with numbers, and the two ends of the ramp to be moved.
 * @param {MapScene} scene */
export function mapLegend(scene) {
  const { state } = scene;
  const words = rampWords(scene);
  const colors = heatColors(state.theme);
  const ramp = h("span", { class: "heat-ramp", vars: { "--ramp": rampGradient(colors) } });
  return h(
    "div",
    {
      class: "heat-legend map-legend",
      role: "group",
      "aria-label": "legend",
      "data-glance": "legend",
    },
    h(
      "span",
      { class: "heat-scale" },
      h("span", {}, state.map.pool === "max" ? "strongest weight" : "share"),
      ramp,
    ),
    h("span", { class: "ramp-ends" }, words ? `${words[0]} … ${words[1]}, log scale` : "log scale"),
    swatch("hidden", "hidden", colors),
    swatch("unknown", "not computed yet", colors),
    scene.hasNaN && swatch("NaN", "NaN", colors),
  );
}

/** @param {string} kind @param {string} words @param {import("./heat_color.js").Colors} colors */
function swatch(kind, words, colors) {
  const fill = { hidden: colors.hidden, NaN: colors.nan }[kind] ?? colors.paper;
  return h(
    "span",
    { class: "heat-swatch" },
    h("i", { class: `map-${kind}`, vars: { "--fill": fill, "--hatch": colors.hatch } }),
    words,
  );
}

const STEP = 0.1; // percent

/** One end of the colours.  @param {"low" | "high"} which @param {number} value */
const handle = (which, value) =>
  h("input", {
    ...{ type: "range", min: 0, max: 100, step: STEP, value, "data-range": which },
    "aria-label": `${which === "low" ? "least" : "most"}: so many percent of the cells lie below`,
    "aria-valuetext": `${value} %`,
  });

/** Two handles on one line: between which percentiles of the cells in view the colours lie.
 * @param {MapScene} scene */
export function rangePart({ state }) {
  const [low, high] = state.map.range;
  const all = { type: "button", class: "link", "data-act": "map-range", "data-arg": "all" };
  return h(
    "div",
    {
      class: "map-range",
      role: "group",
      "aria-label": "range of the colours",
      "data-glance": "range",
    },
    h("span", {}, "colours from"),
    h("output", {}, `${low} %`),
    h(
      "span",
      { class: "two-ended", vars: { "--low": `${low}%`, "--high": `${high}%` } },
      handle("low", low),
      handle("high", high),
    ),
    h("output", {}, `${high} %`),
    h("span", {}, "of the cells in view"),
    (low > 0 || high < 100) && h("button", all, "all"),
  );
}
