import assert from "node:assert/strict";
import { test } from "node:test";

import { firstView, infoOf, settled } from "../src/capture_info.js";
import { actionOf } from "../src/keys.js";
import { MAP_ACTIONS, MAP_MOVES } from "../src/map_actions.js";
import { firstMap } from "../src/map_url.js";
import { partWords, progressWords, readWords } from "../src/map_words.js";
import { exactAs } from "../src/numbers.js";
import { fromHash, toHash } from "../src/url.js";

const tokens = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
const layerOf = (length) => ({
  batch_shape: [],
  editable: false,
  heads: [0, 1],
  label: "layer",
  queries: [0],
  keys: [0],
  sizes: { batch: 2, heads: 2, q_len: length, kv_len: length, head_dim: 2, value_dim: 2 },
});
const capture = {
  capture: "given",
  modes: ["steps", "heads", "map"],
  shelf: [{ id: "given" }],
  axes: [{ tokens: tokens(2000), words: null, padding: [] }],
  layers: [layerOf(2000), layerOf(500)],
  limits: { edit_tokens: 12, edit_dims: 8, ledger_keys: 12 },
};
const map = {
  ...firstMap(),
  x: 17.25,
  y: 1999,
  z: -4.5,
  pool: "share",
  range: [2, 99.9],
  lock: [1999, 17],
  marks: [
    { query: 3, key: 2, z: -4.5, lock: true },
    { query: 1000, key: 999, z: 1.3, lock: false },
  ],
};
const state = {
  capture,
  info: infoOf(capture, 0, 1),
  view: "map",
  stage: 0,
  batch: 1,
  head: 1,
  picked: true,
  row: 1999,
  key: 17,
  edits: {},
  map,
};

test("a long text opens as a map where maps are to be had", () => {
  assert.equal(firstView(capture), "map");
  assert.equal(firstView({ ...capture, modes: ["steps", "heads"] }), "heads");
  assert.equal(firstView({ ...capture, layers: [layerOf(1024)] }), "heads");
});

test("a map comes back from its address", () => {
  const found = fromHash(toHash(state), capture);
  assert.deepEqual(found.map, map);
  for (const name of ["view", "stage", "batch", "head", "picked", "row", "key"])
    assert.deepEqual(found[name], state[name], name);
  const plain = { ...state, map: firstMap(), picked: false, key: null };
  assert.equal(toHash(plain), "v=map&b=1&L=0&h=1");
  assert.deepEqual(fromHash(toHash(plain), capture).map, firstMap());
});

test("an address carries sixteen bookmarks, the page more", () => {
  const marks = Array.from({ length: 40 }, (_, i) => ({ query: i, key: 0, z: 0, lock: false }));
  const hash = toHash({ ...state, map: { ...map, marks } });
  assert.deepEqual(fromHash(hash, capture).map.marks, marks.slice(0, 16));
  assert.ok(hash.length < 600);
});

test("a hostile address is held within what there is", () => {
  for (const [hash, wanted] of [
    ["v=map&x=1e9&y=1&z=1", { z: null }],
    ["v=map&x=NaN&y=1&z=1", { z: null }],
    ["v=map&x=99999999&y=-5&z=-999999", { x: 2000, y: 0, z: -6 }],
    ["v=map&x=1&y=1", { z: null }],
    ["v=map&pool=__proto__&range=90~10&lock=5.2000", { pool: "max", range: [0, 100], lock: null }],
    ["v=map&lock=1.2.3", { lock: null }],
    ["v=map&range=-5~300", { range: [0, 100] }],
    ["v=map&range=%00~1", { range: [0, 100] }],
    [
      "v=map&marks=1~2~3_x~1~2_5~6~-45~1~9_2000~0~0~0",
      { marks: [{ query: 1, key: 2, z: 0.3, lock: false }] },
    ],
    ["v=map&marks=<img src=x onerror=alert(1)>", { marks: [] }],
  ]) {
    const found = fromHash(hash, capture);
    assert.equal(found.view, "map");
    for (const name of Object.keys(wanted)) assert.deepEqual(found.map[name], wanted[name], hash);
  }
});

test("another head is looked at in the same place, as far as it has that", () => {
  const moved = settled(state, { stage: 1 });
  assert.deepEqual([moved.map.lock, moved.map.marks.length], [null, 1]);
  assert.deepEqual([moved.map.x, moved.map.z], [17.25, -4.5]);
  const alike = settled(state, { head: 0 });
  assert.deepEqual(alike.map.lock, [1999, 17]);
});

const scene = {
  state,
  size: { rows: 2000, keys: 2000 },
  camera: { x: 17.5, y: 1999.5, z: 0 },
  level: 0,
  layout: { box: { width: 300, height: 300 } },
  queries: { tokens: tokens(2000), words: null, padding: [[5, 6]] },
  keys: { tokens: tokens(2000), words: null, padding: [] },
};
const withMap = (changes) => ({ ...scene, state: { ...state, map: { ...map, ...changes } } });

test("Shift and an arrow move the held pair by one token, or else the view", () => {
  const step = MAP_MOVES["map-step"];
  assert.deepEqual(step(withMap({}), "up").lock, [1998, 17]);
  assert.deepEqual(step(withMap({}), "down").lock, [1999, 17]);
  assert.deepEqual(step(withMap({ lock: [0, 0] }), "left").lock, [0, 0]);
  const far = step(withMap({ lock: [1000, 17] }), "up");
  assert.deepEqual(far.lock, [999, 17]);
  assert.ok(Math.abs(far.y - 999.5) <= 150, "it is in view");
  const free = step(withMap({ lock: null }), "right");
  assert.deepEqual([free.x, free.y, free.aim], [18.5, 1999.5, [1999, 18]]);
});

test("plus and minus go to whole levels, 0 to the whole head", () => {
  const zoom = MAP_MOVES["map-zoom"];
  const near = { ...scene, camera: { ...scene.camera, z: 1.4 } };
  assert.equal(zoom(near, "-1").z, 1);
  assert.equal(zoom(near, "1").z, 2);
  assert.equal(zoom({ ...near, camera: { ...scene.camera, z: 1 } }, "-1").z, 0);
  assert.equal(zoom(near, "0").z, null);
  assert.deepEqual(MAP_MOVES["map-pan"](near, "up").y < 1999.5, true);
});

test("the two ends of the colours never cross", () => {
  const range = (argument) => MAP_MOVES["map-range"](scene, argument).range;
  assert.deepEqual(range("low:99.95"), [99.9, 99.9]);
  assert.deepEqual(range("high:1"), [2, 2]);
  assert.deepEqual(range("high:200"), [2, 100]);
  assert.deepEqual(range("all"), [0, 100]);
  assert.deepEqual(MAP_MOVES["map-range"](scene, "low:x"), {});
});

test("a place is kept once, and picks stay inside", () => {
  const kept = MAP_ACTIONS["map-mark"](scene, "");
  assert.deepEqual(kept.map.marks.at(-1), { query: 1999, key: 17, z: 0, lock: true });
  const again = MAP_ACTIONS["map-mark"]({ ...scene, state: { ...state, ...kept } }, "");
  assert.match(again.notice, /kept already/);
  assert.deepEqual(MAP_ACTIONS["map-unmark"](scene, "0").map.marks.length, 1);
  assert.deepEqual(MAP_ACTIONS["map-ask"](scene, "2000"), {});
  assert.deepEqual(MAP_ACTIONS["map-key"](scene, "-1"), {});
  assert.equal(MAP_ACTIONS["map-ask"](scene, "1").row, 1);
});

test("Escape undoes one thing after the other", () => {
  const leave = (changes, more = {}) =>
    MAP_ACTIONS["map-leave"]({
      ...scene,
      state: { ...state, map: { ...map, ...changes }, ...more },
    });
  assert.equal(leave({ going: { query: "", key: "", trouble: "", wrong: null } }).map.going, null);
  assert.equal(leave({}).map.lock, null);
  assert.deepEqual([leave({ lock: null }).picked, leave({ lock: null }).key], [false, null]);
  assert.deepEqual(leave({ lock: null }, { picked: false, key: null }), { focus: "map" });
});

test("keys of the map: the field that is typed into keeps its own", () => {
  const press = (key, target = null, shiftKey = false) =>
    actionOf({ key, shiftKey }, target && { closest: () => null, ...target }, "map");
  assert.deepEqual(press("ArrowUp"), ["map-pan", "up"]);
  assert.deepEqual(press("ArrowUp", null, true), ["map-step", "up"]);
  assert.deepEqual(press("+"), ["map-zoom", "-1"]);
  assert.deepEqual(press("L"), ["map-lock", ""]);
  assert.deepEqual(press("0"), ["map-zoom", "0"]);
  const field = { matches: (selector) => selector.startsWith("input,") };
  assert.equal(press("l", field), null);
  assert.deepEqual(press("Escape", field), ["map-leave", ""]);
});

const info = { done: 412, of: 3125, seconds_left: 4.2, refused: null, saved: null, trouble: null };

test("of how much of a view the strongest links are told", () => {
  assert.equal(partWords({ part: 1 }), "");
  assert.equal(partWords({ part: 0.3699 }), "of the 36 % of this view worked out so far");
  assert.equal(partWords({ part: 0.0001 }), "of the 1 % of this view worked out so far");
});

test("how far the map is, in one sentence", () => {
  const say = (more, other = {}) =>
    progressWords({
      info: { ...info, backend: "cpu", ...more },
      refused: "",
      profile: null,
      ...other,
    });
  assert.equal(say({}), "exact so far: 412 of 3,125 bands, about 5 s left");
  assert.equal(say({ seconds_left: null }), "exact so far: 412 of 3,125 bands");
  assert.equal(
    say({ done: 3125, saved: "x" }),
    "exact: all 3,125 bands · cpu · kept beside the capture",
  );
  assert.equal(say({ refused: "too much" }), "too much");
  assert.equal(progressWords({ info: null, refused: "no", profile: null }), "no");
});

test("what is read out: a pair, a cell, what is hidden, what is refused", () => {
  const cell = { level: 2, rows: [4, 8], keys: [0, 4] };
  const say = (reading, more = {}) =>
    readWords({ ...scene, at: [5, 1], cell, reading, ...more }).formula.replaceAll(
      /[\u2068\u2069]/g,
      "",
    );
  const pair = { weight: 0.5, visible: true, score: 1, lse: 2, by: "float64" };
  const one = { ...cell, level: 0, rows: [5, 6], keys: [1, 2] };
  assert.equal(say({ pair }, { cell: one }), "query 5 “t5” (padding) reads key 1 “t1”: weight 0.500");
  assert.match(say({ pair: { ...pair, visible: false } }, { cell: one }), /: hidden$/);
  const prompted = { queries: { ...scene.queries, padding: [], prompt: 5 } };
  assert.match(say({ pair }, { cell: one, ...prompted }), /^query 5 “t5” \(written\) reads key 1 “/);
  const block = { max: 0.25, query: 6, key: 2, share: 0.1, visible: 9, by: "cpu" };
  assert.equal(say({ cell: block }), "strongest here: query 6 “t6” reads key 2 “t2”: weight 0.250");
  assert.equal(say({ cell: { ...block, visible: 0 } }), "queries 4 … 7, keys 0 … 3: hidden");
  assert.match(say({ cell: { ...block, max: NaN, query: -1, key: -1 } }), /NaN/);
  assert.equal(readWords({ ...scene, at: [5, 1], cell, reading: { refused: "no" } }).exactly, "no");
});

test("a float32 is written with the digits that it has", () => {
  const third = Math.fround(1 / 3);
  assert.equal(exactAs(third, "cpu, float32"), "0.33333334");
  assert.equal(exactAs(third, "cpu, float64"), "0.3333333432674408");
  assert.equal(exactAs(0.5, "cpu, float32"), "0.5");
  assert.equal(
    Math.fround(Number(exactAs(Math.fround(4.2078e-4), "float32"))),
    Math.fround(4.2078e-4),
  );
  assert.equal(exactAs(NaN, "float32"), "NaN");
});
