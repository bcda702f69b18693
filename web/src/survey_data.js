// What op `survey` tells, and which of it stands in the table: heads, measures, an order.
import { numbersIn } from "./frame.js";
import { field } from "./picture_table.js";
import { BY_HEAD } from "./table_scene.js";

/**
 * @typedef {object} SurveyJson  op `survey`
 * @property {string} title
 * @property {string} model
 * @property {number} texts
 * @property {number} lines
 * @property {boolean} whole
 * @property {number} skipped
 * @property {[number, string][]} skipped_lines
 * @property {{part: string, layer: number, head: number}[]} heads
 * @property {[string, number][]} keys  the token most often read, and by how many texts
 * @property {string[]} measures
 * @property {string[]} points
 * @property {number[]} tops  what each measure's histogram ends at
 * @property {number} bins
 * @property {[number, number][]} distances
 * @property {number} labels
 *
 * @typedef {object} Survey
 * @property {SurveyJson} json
 * @property {(measure: number, head: number) => Float32Array} points
 * @property {(measure: number, head: number) => Float32Array} histogram
 * @property {(head: number) => Float32Array} distance
 * @property {(head: number) => Float32Array} labels
 *
 * @typedef {object} SurveyState
 * @property {string} by  a measure, or "head"
 * @property {string} point  which number of a measure
 * @property {boolean} down
 * @property {string} of  which layers: "" all, else "part/layer"
 * @property {number} at  the head that Tab reaches
 * @property {number | null} open  the head whose distributions are shown large
 * @property {boolean} all  more rows than fit at once
 * @property {string} notice
 */

export const MOST_ROWS = 400; // at once
export const POINTS = /** @type {const} */ ({
  median: "median",
  mean: "mean",
  quarter: "lower quartile",
  three_quarters: "upper quartile",
  most: "largest",
  least: "smallest",
});

/** @typedef {{word: string, unit: string, means: string}} Wording */

/** @type {Record<string, Wording>} */
const WORDS = {
  entropy: {
    word: "entropy",
    unit: "nats",
    means: "0 where one key gets all weight; of each text the mean over its queries",
  },
  first: {
    word: "first-token share",
    unit: "",
    means: "the weight that a text's first token gets, as a mean over its queries",
  },
  previous: {
    word: "previous-token score",
    unit: "",
    means: "the weight of the token just before the query, over the queries that see it",
  },
  induction: {
    word: "induction score",
    unit: "",
    means:
      "the weight of the tokens after earlier occurrences of the query's own token, over the " +
      "queries that have any",
  },
  duplicate: {
    word: "duplicate-token score",
    unit: "",
    means: "the weight of earlier occurrences of the query's own token, over the same queries",
  },
};

/** @param {string} measure @returns {Wording} */
export const wordsOf = (measure) => WORDS[measure] ?? { word: measure, unit: "", means: measure };

/** @param {SurveyJson} json @param {Uint8Array} bytes @returns {Survey} */
export function surveyOf(json, bytes) {
  const { heads, measures, points, bins, distances, labels } = json;
  const sizes = [
    measures.length * heads.length * points.length,
    measures.length * heads.length * bins,
    heads.length * distances.length,
    heads.length * labels,
  ];
  const all = numbersIn(bytes, Float32Array, 0, sizes.reduce((sum, size) => sum + size, 0));
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
  const row = (/** @type {number} */ part, /** @type {number} */ at, /** @type {number} */ size) =>
    all.subarray(starts[part] + at * size, starts[part] + (at + 1) * size);
  return {
    json,
    points: (measure, head) => row(0, measure * heads.length + head, points.length),
    histogram: (measure, head) => row(1, measure * heads.length + head, bins),
    distance: (head) => row(2, head, distances.length),
    labels: (head) => row(3, head, labels),
  };
}

/** @param {Survey} survey @param {number} measure @param {number} head @param {string} point */
export const numberOf = ({ json, points }, measure, head, point) =>
  points(measure, head)[json.points.indexOf(point)];

/**
 * In how many texts a measure has a number: in the least and the most, over the heads.
 * @param {Survey} survey
 * @param {number} measure
 * @returns {[number, number]}
 */
export function textsWith(survey, measure) {
  let [least, most] = [survey.json.texts, 0];
  survey.json.heads.forEach((_, head) => {
    const texts = numberOf(survey, measure, head, "count");
    [least, most] = [Math.min(least, texts), Math.max(most, texts)];
  });
  return [least, most];
}

/** @param {{part: string, layer: number}} head */
export const layerOf = ({ part, layer }) => `${part}/${layer}`;

/** @param {{part: string, layer: number}} head */
export const layerName = ({ part, layer }) => `${part ? `${part} ` : ""}layer ${layer}`;

/**
 * The heads in their order; those without the number come last, ties in the order of the model.
 * @param {Survey} survey
 * @param {SurveyState} state
 * @returns {number[]}
 */
export function orderOf(survey, { by, point, down, of }) {
  const { heads, measures } = survey.json;
  const shown = heads.flatMap((head, at) => (of === "" || layerOf(head) === of ? [at] : []));
  const measure = measures.indexOf(by);
  if (measure < 0) return down ? shown.reverse() : shown;
  const numbers = new Map(shown.map((at) => [at, numberOf(survey, measure, at, point)]));
  return shown.sort((a, b) => {
    const [x, y] = [numbers.get(a) ?? NaN, numbers.get(b) ?? NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return (down ? y - x : x - y) || a - b;
  });
}

/** @param {Survey} survey @returns {SurveyState} */
export const firstSurvey = ({ json }) => ({
  by: BY_HEAD,
  point: "median",
  down: false,
  of: "",
  at: json.heads.length ? 0 : -1,
  open: null,
  all: false,
  notice: "",
});

/** The place in the words of an address.  @param {SurveyState} state */
export function surveyHash({ by, point, down, of, open }) {
  const fields = new URLSearchParams();
  if (by !== BY_HEAD) fields.set("by", by);
  if (down !== (by !== BY_HEAD)) fields.set("way", down ? "down" : "up");
  if (point !== "median") fields.set("point", point);
  if (of) fields.set("of", of);
  if (open !== null) fields.set("open", String(open));
  return fields.toString();
}

/** @param {string} hash @param {Survey} survey @returns {SurveyState} */
export function surveyAt(hash, survey) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const { heads, measures } = survey.json;
  const first = firstSurvey(survey);
  const by = measures.includes(fields.get("by") ?? "") ? String(fields.get("by")) : BY_HEAD;
  const way = fields.get("way");
  const point = fields.get("point") ?? "";
  const of = fields.get("of") ?? "";
  const open = /^\d{1,7}$/.test(fields.get("open") ?? "") ? Number(fields.get("open")) : -1;
  const state = {
    ...first,
    by,
    down: way === "down" || (way !== "up" && by !== BY_HEAD),
    point: Object.hasOwn(POINTS, point) ? point : "median",
    of: heads.some((head) => layerOf(head) === of) ? of : "",
    open: open >= 0 && open < heads.length ? open : null,
  };
  const order = orderOf(survey, state);
  const all = state.open !== null && order.indexOf(state.open) >= MOST_ROWS; // or it is not there
  return { ...state, all, at: state.open ?? order[0] ?? -1 };
}

/**
 * The rows as they stand, every number of them. RFC 4180.
 * @param {Survey} survey
 * @param {SurveyState} state
 */
export function surveyCsv(survey, state) {
  const { heads, measures, points, keys } = survey.json;
  const names = measures.flatMap((measure) => points.map((point) => `${measure} ${point}`));
  const lines = orderOf(survey, state).map((at) => {
    const { part, layer, head } = heads[at];
    const numbers = measures.flatMap((_, m) =>
      [...survey.points(m, at)].map((x) => (Number.isNaN(x) ? "" : String(x))),
    );
    return [field(part), layer, head, ...numbers, field(keys[at][0]), keys[at][1]];
  });
  const head = ["part", "layer", "head", ...names, "key read most", "texts"];
  return [head, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}
