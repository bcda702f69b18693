import assert from "node:assert/strict";
import { test } from "node:test";

import {
  firstSurvey,
  numberOf,
  orderOf,
  surveyAt,
  surveyCsv,
  surveyHash,
  surveyOf,
  textsWith,
} from "../src/survey_data.js";
import { SURVEY_ACTIONS } from "../src/survey_page.js";
import { shapeOf } from "../src/survey_spread.js";

const json = {
  title: "tiny over 2 texts", model: "tiny", texts: 2, lines: 3, whole: true, skipped: 1,
  skipped_lines: [[2, "bad"]], measures: ["entropy", "first"], points: ["count", "median"],
  tops: [2, 1], bins: 3, distances: [[0, 0]], labels: 0,
  heads: [
    { part: "", layer: 0, head: 0 }, { part: "", layer: 0, head: 5 },
    { part: "", layer: 1, head: 0 }, { part: "x", layer: 1, head: 1 },
  ],
  keys: [["=a", 2], ["b", 1], ["", 0], ["c,d", 2]],
};
const points = [2, 0.5, 2, NaN, 2, 1.5, 2, 0.5, 2, 0.1, 2, 0.2, 2, 0.3, 0, NaN];
const histograms = Array.from({ length: 2 * 4 * 3 }, (_, i) => i);
const bytes = new Uint8Array(Float32Array.from([...points, ...histograms, 1, 2, 3, 4]).buffer);
const survey = surveyOf(json, bytes);
const state = { ...firstSurvey(survey) };

test("numbers are found where they lie", () => {
  assert.equal(numberOf(survey, 0, 2, "median"), 1.5);
  assert.equal(numberOf(survey, 1, 3, "count"), 0);
  assert.deepEqual([...survey.histogram(1, 2)], [18, 19, 20]);
  assert.deepEqual([...survey.distance(3)], [4]);
  assert.equal(survey.labels(0).length, 0);
});

test("what there is none of stands last, ties in the order of the model", () => {
  assert.deepEqual(orderOf(survey, state), [0, 1, 2, 3]);
  assert.deepEqual(orderOf(survey, { ...state, down: true }), [3, 2, 1, 0]);
  const byEntropy = { ...state, by: "entropy", down: true };
  assert.deepEqual(orderOf(survey, byEntropy), [2, 0, 3, 1]);
  assert.deepEqual(orderOf(survey, { ...byEntropy, down: false }), [0, 3, 2, 1]);
  assert.deepEqual(orderOf(survey, { ...byEntropy, of: "/0" }), [0, 1]);
  assert.deepEqual(orderOf(survey, { ...byEntropy, of: "x/1" }), [3]);
});

test("the address keeps the place, and one that leads nowhere is left", () => {
  const place = { ...state, by: "first", down: false, point: "mean", of: "/1", open: 2, at: 2 };
  assert.equal(surveyHash(place), "by=first&way=up&point=mean&of=%2F1&open=2");
  assert.deepEqual(surveyAt(`#${surveyHash(place)}`, survey), place);
  assert.equal(surveyHash(state), "");
  assert.deepEqual(surveyAt("#by=nothing&way=x&point=constructor&of=9&open=4", survey), state);
  assert.deepEqual(surveyAt("#open=-1&by=head", survey), state);
  assert.equal(surveyAt("#by=entropy", survey).at, 2, "Tab reaches the first row");
});

test("in how many texts a measure has a number, over all heads", () => {
  assert.deepEqual(textsWith(survey, 0), [2, 2]);
  assert.deepEqual(textsWith(survey, 1), [0, 2]);
});

test("an address that opens a head beyond the first rows shows all", () => {
  const many = Array.from({ length: 401 }, (_, head) => ({ part: "", layer: 0, head }));
  const long = { ...survey, json: { ...json, heads: many } };
  assert.equal(surveyAt("#open=400", long).all, true);
  assert.equal(surveyAt("#open=399", long).all, false);
});

test("what a person does changes the place", () => {
  const did = (name, argument, at = state) => ({
    ...at, ...SURVEY_ACTIONS[name](survey, at, argument),
  });
  const sorted = did("sort", "entropy");
  assert.deepEqual([sorted.by, sorted.down], ["entropy", true]);
  assert.equal(did("sort", "entropy", sorted).down, false);
  assert.equal(did("sort", "head", sorted).down, false);
  assert.equal(did("open", "3").open, 3);
  assert.equal(did("open", "3", did("open", "3")).open, null);
  assert.equal(did("close", "", did("open", "3")).open, null);
  assert.equal(did("enter", "", { ...sorted, at: 3 }).at, 2, "the first row, from a heading");
  assert.equal(did("move", "down").at, 1);
  assert.equal(did("move", "end").at, 3);
  assert.equal(did("move", "down", did("move", "end")).at, 3);
  assert.equal(did("move", "down", { ...sorted, at: 2 }).at, 0);
  assert.equal(did("move", "up", { ...sorted, at: 99 }).at, 2, "a row that is not shown");
});

test("the file for a spreadsheet has every number, and runs nothing", () => {
  const lines = surveyCsv(survey, { ...state, by: "first", down: true }).split("\r\n");
  assert.equal(
    lines[0],
    "part,layer,head,entropy count,entropy median,first count,first median,key read most,texts",
  );
  assert.equal(lines[1], `,1,0,2,1.5,2,${Math.fround(0.3)},,0`);
  assert.ok(lines[3].startsWith(`,0,0,2,0.5,2,${Math.fround(0.1)},`));
  assert.ok(!lines[3].includes(",=a,"));
  assert.equal(lines[4], 'x,1,1,2,0.5,0,,"c,d",2');
});

test("a histogram's outline shows the least of what is there", () => {
  assert.equal(
    shapeOf(Float32Array.of(0, 4, 2, 0.01)),
    "polygon(0% 100%, 0.00% 100.00%, 25.00% 100.00%, 25.00% 0.00%, 50.00% 0.00%, 50.00% 50.00%, " +
      "75.00% 50.00%, 75.00% 94.00%, 100.00% 94.00%, 100% 100%)",
  );
  assert.ok(shapeOf(new Float32Array(3)).includes("33.33% 100.00%"));
});
