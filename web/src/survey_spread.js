// How a number is spread over the texts of a survey: small in a cell, and all of one head large.
import { h } from "./dom.js";
import { percent, rounded } from "./numbers.js";
import { numberOf, POINTS, wordsOf } from "./survey_data.js";

/** @typedef {import("./survey_data.js").Survey} Survey */

export const count = (/** @type {number} */ n) => n.toLocaleString("en");

/** The histogram, and the line with its box.  @param {Survey} survey @param {number} m @param {number} at */
export function spread(survey, m, at) {
  const end = survey.json.tops[m] || 1;
  const place = (/** @type {string} */ point) =>
    percent(Math.max(0, Math.min(1, numberOf(survey, m, at, point) / end)));
  const vars = {
    "--least": place("least"), "--quarter": place("quarter"), "--median": place("median"),
    "--three": place("three_quarters"), "--most": place("most"),
  };
  return h(
    "span",
    { class: "spread", "aria-hidden": "true", vars },
    h("i", { class: "histogram", vars: { "--shape": shapeOf(survey.histogram(m, at)) } }),
    h("i", { class: "whisker" }),
    h("i", { class: "quartiles" }),
    h("i", { class: "middle" }),
  );
}

/**
 * A histogram as the polygon of its outline; what is there at all is seen.
 * @param {Float32Array} counts
 */
export function shapeOf(counts) {
  const most = Math.max(...counts, 1);
  const corners = ["0% 100%"];
  counts.forEach((texts, i) => {
    const tall = percent(texts === 0 ? 1 : Math.min(0.94, 1 - texts / most));
    corners.push(...[i, i + 1].map((step) => `${percent(step / counts.length)} ${tall}`));
  });
  return `polygon(${[...corners, "100% 100%"].join(", ")})`;
}

/** One head's distributions, large.  @param {Survey} survey @param {number} at */
export function large(survey, at) {
  const { measures, labels } = survey.json;
  return h(
    "tr",
    { class: "large", "data-key": `large ${at}` },
    h(
      "td",
      { colspan: measures.length + 2 },
      h(
        "div",
        { class: "figures-row" },
        measures.map((_, m) => figure(survey, m, at)),
        bars("share of weight by distance", survey.distance(at), distanceNames(survey)),
        labels > 0 &&
          bars(
            "share of weight by label",
            survey.labels(at),
            [...survey.labels(at)].map((_, i) => `label ${i}`),
          ),
      ),
    ),
  );
}

/** @param {Survey} survey @param {number} m @param {number} at */
function figure(survey, m, at) {
  const { measures, tops } = survey.json;
  const { word, unit } = wordsOf(measures[m]);
  const none = Number.isNaN(numberOf(survey, m, at, "median"));
  const points = ["least", "quarter", "median", "three_quarters", "most", "mean"];
  return h(
    "figure",
    { class: "spread-large" },
    h("figcaption", {}, word, unit && ` (${unit})`),
    none ? h("p", { class: "quiet" }, "no text has any") : spread(survey, m, at),
    !none && h("p", { class: "ends quiet" }, h("span", {}, "0"), h("span", {}, rounded(tops[m]))),
    !none &&
      h(
        "dl",
        {},
        h("dt", {}, "texts"),
        h("dd", {}, count(numberOf(survey, m, at, "count"))),
        points.flatMap((point) => [
          h("dt", {}, POINTS[/** @type {keyof typeof POINTS} */ (point)]),
          h("dd", {}, rounded(numberOf(survey, m, at, point))),
        ]),
      ),
  );
}

/** @param {Survey} survey */
const distanceNames = ({ json }) =>
  json.distances.map(([low, high]) => (low === high ? `${low}` : `${low} … ${high}`));

/** @param {string} caption @param {Float32Array} shares @param {string[]} names */
function bars(caption, shares, names) {
  const told = [...shares].map((x, i) => ({ name: names[i], x })).filter(({ x }) => x === x);
  if (!told.length) return null;
  return h(
    "figure",
    { class: "bars" },
    h("figcaption", {}, caption),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        told.map(({ name, x }) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, name),
            h("td", { class: "weight", vars: { "--w": Math.min(1, x).toFixed(4) } }, rounded(x)),
          ),
        ),
      ),
    ),
  );
}
