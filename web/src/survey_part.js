// The heads of a survey as a table: a number, and its distribution over the texts.
import { h } from "./dom.js";
import { headingOf } from "./heading.js";
import { counted, rounded } from "./numbers.js";
import { readable } from "./readable.js";
import {
  layerName,
  layerOf,
  MOST_ROWS,
  numberOf,
  orderOf,
  POINTS,
  textsWith,
  wordsOf,
} from "./survey_data.js";
import { count, large, spread } from "./survey_spread.js";
import { BY_HEAD } from "./table_scene.js";

/** @typedef {import("./survey_data.js").Survey} Survey */
/** @typedef {import("./survey_data.js").SurveyState} SurveyState */

/** @param {Survey} survey @param {SurveyState} state @returns {Node[]} */
export function surveyView(survey, state) {
  const some = survey.json.heads.length > 0;
  return [top(survey, some), notice(state), main(survey, state), ...(some ? [keysFooter()] : [])];
}

/** @param {Survey} survey @param {boolean} some */
function top({ json }, some) {
  return h(
    "header",
    { "data-key": "header" },
    h("h1", { class: "mark" }, "softlookup"),
    h(
      "span",
      { class: "title own", title: readable(json.title) },
      h("bdi", {}, readable(json.title)),
    ),
    h(
      "span",
      { class: "acts" },
      some && h("button", { type: "button", "data-act": "save", title: "for a spreadsheet" }, "save CSV"),
    ),
  );
}

/** @param {SurveyState} state */
const notice = (state) =>
  h("p", { class: "notice", role: "status", "data-key": "notice" }, state.notice);

/** @param {Survey} survey @param {SurveyState} state */
function main(survey, state) {
  const order = orderOf(survey, state);
  const rows = state.all ? order : order.slice(0, MOST_ROWS);
  const some = survey.json.heads.length > 0;
  return h(
    "main",
    { "data-key": "survey", class: "heads table-view survey" },
    h(
      "section",
      { class: "table-part", "aria-labelledby": "table-title" },
      h(
        "div",
        { class: "titled" },
        h("h2", { id: "table-title" }, titleOf(survey, state, order.length)),
        some && tools(survey, state),
      ),
      state_(survey),
      some ? table(survey, state, rows) : h("p", { "data-key": "none" }, whatToDo(survey)),
      rows.length < order.length &&
        h(
          "p",
          { "data-key": "more" },
          h(
            "button",
            { type: "button", class: "plain", "data-act": "all" },
            `show all ${counted(order.length, "head")}`,
          ),
        ),
      some &&
        h(
          "p",
          { class: "quiet table-note" },
          "Below each number: how many texts have how much, on the scale of its heading, and the " +
            "line from the smallest to the largest with a box between the quartiles.",
        ),
    ),
  );
}

/** @param {Survey} survey @param {SurveyState} state @param {number[]} rows */
function table(survey, state, rows) {
  return h(
    "div",
    { class: "table-scroll panel", "data-key": "rows" },
    h(
      "table",
      { class: "heads-table", "aria-labelledby": "table-title" },
      h("thead", {}, headRow(survey, state)),
      h("tbody", {}, rows.flatMap((at) => bodyRows(survey, state, at, stopOf(rows, state)))),
    ),
  );
}

/** Where there is no head.  @param {Survey} survey */
function whatToDo({ json: { lines, skipped, whole } }) {
  if (!whole) return "Nothing is measured yet. Run softlookup survey again into this folder: it goes on.";
  if (!skipped) return `The file has ${lines ? "no text" : "no line"}. Survey one that has a text in each line.`;
  return (
    "No line could be measured; the reasons are above. Survey the right file (--texts), or name the field " +
    "that has the text (--field)."
  );
}

/** The row that Tab reaches.  @param {number[]} rows @param {SurveyState} state */
const stopOf = (rows, { at }) => (rows.includes(at) ? at : (rows[0] ?? -1));

/** @param {Survey} survey @param {SurveyState} state @param {number} shown */
function titleOf({ json }, { of }, shown) {
  if (!json.heads.length) return "No heads yet";
  const heads = counted(shown, "head");
  const layer = json.heads.find((head) => layerOf(head) === of);
  const what = of && layer ? `${heads} of ${readable(layerName(layer))}` : `All ${heads}`;
  return `${what} over ${counted(json.texts, "text")}`;
}

/** What is not in the numbers.  @param {Survey} survey */
function state_({ json }) {
  const { skipped, lines, whole, skipped_lines: some } = json;
  const said = whole ? "" : "The survey is not whole yet: run it again, and it goes on. ";
  if (!skipped) return h("p", { class: "quiet", "data-key": "lines" }, said);
  const words = `${count(skipped)} of ${counted(lines, "line")} ${skipped === 1 ? "was" : "were"} skipped`;
  return h(
    "details",
    { class: "skipped quiet", "data-key": "lines", open: json.heads.length === 0 },
    h("summary", {}, `${said}${words}`),
    h(
      "ul",
      {},
      some.map(([line, why]) => h("li", {}, `line ${count(line)}: `, h("bdi", {}, readable(why)))),
      skipped > some.length && h("li", {}, `and ${count(skipped - some.length)} more`),
    ),
  );
}

/** @param {Survey} survey @param {SurveyState} state */
function tools({ json }, state) {
  const layers = [...new Map(json.heads.map((head) => [layerOf(head), layerName(head)]))];
  return h(
    "div",
    { class: "switches table-tools" },
    choice("number", "point", Object.entries(POINTS), state.point),
    layers.length > 1 &&
      choice("layer", "of", [["", "all"], ...layers.map(([id, name]) => [id, readable(name)])], state.of),
  );
}

/**
 * @param {string} word
 * @param {string} name
 * @param {string[][]} options
 * @param {string} chosen
 */
function choice(word, name, options, chosen) {
  return h(
    "label",
    { class: "compare" },
    `${word} `,
    h(
      "select",
      { "data-choose": name },
      options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
    ),
  );
}

/** @param {Survey} survey @param {SurveyState} state */
function headRow(survey, state) {
  const order = { id: BY_HEAD, word: "head", unit: "", means: "the order of the model", texts: "", end: 0 };
  const columns = survey.json.measures.map((id, m) => ({
    id, ...wordsOf(id), texts: whichTexts(survey, m), end: survey.json.tops[m],
  }));
  return h(
    "tr",
    {},
    [order, ...columns].map((column) => heading(column, state)),
    h(
      "th",
      { scope: "col", class: "key-cell", "data-key": "key" },
      h("span", {}, "key read most, in how many texts"),
      scale(0),
    ),
  );
}

/** In how many texts a measure has a number, where it is not in all.  @param {Survey} survey @param {number} m */
function whichTexts(survey, m) {
  const [least, most] = textsWith(survey, m);
  const all = survey.json.texts;
  if (least === all) return "";
  return `${least === most ? "" : `${count(least)} … `}${count(most)} of ${counted(all, "text")}`;
}

/** What the histograms below a heading reach from and to.  @param {number} end */
const scale = (end) =>
  h("span", { class: "scale" }, end > 0 && [h("span", {}, "0"), h("span", {}, rounded(end))]);

/**
 * @param {{id: string, word: string, unit: string, means: string, texts: string, end: number}} column
 * @param {SurveyState} state
 */
function heading(column, state) {
  const beside = column.texts && h("small", { class: "which" }, column.texts);
  return headingOf(column, state, column.word, { beside, below: scale(column.end) });
}

/** @param {Survey} survey @param {SurveyState} state @param {number} at @param {number} stop */
function bodyRows(survey, state, at, stop) {
  const { heads, measures, keys, texts } = survey.json;
  const open = state.open === at;
  const [word, times] = keys[at];
  const row = h(
    "tr",
    { "data-key": `head ${at}` },
    h(
      "th",
      { scope: "row", class: "name" },
      h(
        "button",
        {
          type: "button",
          class: "row-open",
          "data-act": "open",
          "data-arg": at,
          tabindex: at === stop ? 0 : -1,
          "aria-expanded": String(open),
        },
        h(
          "span",
          { class: "words" },
          h("bdi", {}, readable(layerName(heads[at]))),
          h("b", {}, `head ${heads[at].head}`),
        ),
      ),
    ),
    measures.map((_, m) => cell(survey, state.point, m, at)),
    h(
      "td",
      { class: "key-cell" },
      times > 0 && [
        h("bdi", { class: "token" }, readable(word)),
        h("small", { class: "quiet" }, ` ${share(times / texts)}`),
      ],
    ),
  );
  row.setAttribute("data-as", `${state.point} ${at === stop} ${open}`); // the numbers never change
  return open ? [row, large(survey, at)] : [row];
}

const PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const share = (/** @type {number} */ part) => PERCENT.format(part);

/** @param {Survey} survey @param {string} point @param {number} m @param {number} at */
function cell(survey, point, m, at) {
  const number = numberOf(survey, m, at, point);
  if (Number.isNaN(number))
    return h("td", { class: "quiet", title: "no text has any" }, "–");
  return h(
    "td",
    { class: "spread-cell", title: sentence(survey, m, at) },
    h("span", { class: "number" }, rounded(number)),
    spread(survey, m, at),
  );
}

/** All points in words.  @param {Survey} survey @param {number} m @param {number} at */
function sentence(survey, m, at) {
  const of = (/** @type {string} */ point) => rounded(numberOf(survey, m, at, point));
  const texts = counted(numberOf(survey, m, at, "count"), "text");
  return (
    `${wordsOf(survey.json.measures[m]).word} in ${texts}: median ${of("median")}, quartiles ` +
    `${of("quarter")} and ${of("three_quarters")}, from ${of("least")} to ${of("most")}, mean ${of("mean")}`
  );
}

function keysFooter() {
  const one = (/** @type {string[]} */ keys, /** @type {string} */ words) =>
    h("span", {}, keys.flatMap((key) => [h("kbd", {}, key), " "]), words);
  return h(
    "footer",
    { "data-key": "footer" },
    one(["↑", "↓"], "among the heads (Home, End); ↓ on a heading: into them"),
    one(["Enter"], "its distributions, large; on a heading: sort"),
    one(["Escape"], "close"),
  );
}
