import assert from "node:assert/strict";
import { test } from "node:test";

import { infoOf } from "../src/capture_info.js";
import { createSource } from "../src/source.js";
import { TABLE_ACTIONS } from "../src/table_actions.js";
import { tableCsv } from "../src/table_csv.js";
import { distanceWord, timeWords } from "../src/table_part.js";
import { isColumn, tableScene, tableSteps } from "../src/table_scene.js";
import { fromHash, toHash } from "../src/url.js";
import { TABLE_AT_FIRST } from "../src/url_table.js";

const sizes = { batch: 1, heads: 2, q_len: 3, kv_len: 3, head_dim: 2, value_dim: 2 };
const layerOf = (number, label, heads = [0, 1], sinks = false) => ({
  label, number, heads, name: `model.${number}`, part: "", batch_shape: [],
  options: { sinks }, sizes: { ...sizes, heads: heads.length }, queries: [0], keys: [0],
});
const capture = {
  capture: "given", title: "a capture", about: {}, shelf: [{ id: "given" }],
  modes: ["steps", "heads", "map", "table"],
  axes: [{ tokens: ["a", "b", "c"], words: null, padding: [] }],
  layers: [layerOf(0, "layer 0"), layerOf(3, "=layer, 3", [5, 7])],
  limits: { edit_tokens: 12, edit_dims: 8, ledger_keys: 12, grid_cells: 2 ** 20 },
};
const state = {
  capture, info: infoOf(capture, 0, 0), stage: 0, batch: 0, head: 0, view: "table", open: false,
  row: 0, picked: false, key: null, edits: {}, table: TABLE_AT_FIRST,
};
const summaryOf = (number, entropy, more = {}) => ({
  number, entropy, first_share: 0.5, previous_share: null, distance: 1.5, sink: null,
  groups: [{ name: "first token", share: 0.5 }, { name: "special", share: 0 },
    { name: "punctuation", share: 0.25 }, { name: "spaces", share: 0 }, { name: "words", share: 0.25 }],
  rows: 1, columns: 1, per: 3, ...more,
});

const later = (answer) => new Promise((done) => setTimeout(() => done(answer), 12));

/** A host that answers each head in as many steps as it is told. */
function hostOf(numbers, steps = 1) {
  const asked = [];
  const host = {
    asked,
    call(op, args) {
      const name = `${args.layer}.${args.head}`;
      asked.push(name);
      const done = asked.filter((one) => one === name).length;
      const common = { done, of: steps, seconds_left: 0.5 * (steps - done), by: "x" };
      if (done < steps) return later({ json: { ...common, summary: null }, bytes: null });
      const summary = summaryOf(capture.layers[args.layer].heads[args.head], numbers[name]);
      return later({
        json: { ...common, summary },
        bytes: new Uint8Array(Float32Array.of(0.75).buffer),
      });
    },
  };
  return host;
}

/** Ask until nothing is needed, as the page does; what it looks like after each answer. */
async function worked(host, at = state, most = 100) {
  const source = createSource(host, 12);
  const scenes = [tableScene(at, source)];
  for (let i = 0; i < most; i += 1) {
    const [next, ...others] = tableSteps(at, source);
    assert.equal(others.length, 0, "one at a time");
    if (!next) break;
    await source.need(...next);
    scenes.push(tableScene(at, source));
  }
  return { source, scenes, last: scenes.at(-1) };
}

const NUMBERS = { "0.0": 2, "0.1": 1, "1.0": "NaN", "1.1": 2 };
const order = ({ rows }) => rows.map(({ at }) => `${at.stage}.${at.head}`);
const by = (table, at = state) => ({ ...at, table: { ...at.table, ...table } });

test("heads are asked for one after the other, each until it is whole", async () => {
  const host = hostOf(NUMBERS, 3);
  const { scenes, last } = await worked(host);
  assert.deepEqual(host.asked, ["0.0", "0.1", "1.0", "1.1"].flatMap((name) => [name, name, name]));
  assert.deepEqual(scenes.map(({ progress }) => progress.done), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]);
  assert.equal(scenes[1].rows[0].part, 1 / 3);
  assert.equal(scenes[1].rows[0].summary, null);
  assert.equal(scenes[1].progress.part, 1 / 12);
  const { took } = scenes[1].rows[0];
  assert.ok(took >= 0.01, String(took));
  assert.equal(scenes[1].progress.seconds, (took + 1) * 3 + 1); // this head's rest, and three more
  assert.ok(last.rows[0].took > took);
  assert.equal(scenes[0].progress.seconds, null);
  assert.equal(last.progress.seconds, 0);
  assert.equal(last.rows[3].number, 7);
  assert.deepEqual([...last.rows[3].picture], [0.75]);
  assert.equal(last.by, "x");
});

test("nothing is asked for while it is held, and the layer in view goes first", async () => {
  const held = await worked(hostOf(NUMBERS), by({ paused: true }));
  assert.equal(held.scenes.length, 1);
  const host = hostOf(NUMBERS);
  const { last } = await worked(host, by({ layer: 1 }));
  assert.deepEqual(host.asked, ["1.0", "1.1", "0.0", "0.1"]);
  assert.deepEqual(order(last), ["1.0", "1.1"]);
  assert.equal(last.progress.of, 4);
});

test("rows stand by number, what is none stands last, ties as in the capture", async () => {
  const { source, last } = await worked(hostOf(NUMBERS));
  assert.deepEqual(order(last), ["0.0", "0.1", "1.0", "1.1"]);
  const sorted = (table) => order(tableScene(by(table), source));
  assert.deepEqual(sorted({ by: "entropy", down: true }), ["0.0", "1.1", "0.1", "1.0"]);
  assert.deepEqual(sorted({ by: "entropy", down: false }), ["0.1", "0.0", "1.1", "1.0"]);
  assert.deepEqual(sorted({ by: "previous", down: true }), ["0.0", "0.1", "1.0", "1.1"]);
  assert.deepEqual(sorted({ by: "head", down: true }), ["1.1", "1.0", "0.1", "0.0"]);
  assert.deepEqual(sorted({ by: "reads punctuation", down: false }), ["0.0", "0.1", "1.0", "1.1"]);
});

test("a row moves to its place when it comes, the others keep their order", async () => {
  const { scenes } = await worked(hostOf(NUMBERS), by({ by: "entropy", down: false }));
  assert.deepEqual(scenes.map(order), [
    ["0.0", "0.1", "1.0", "1.1"],
    ["0.0", "0.1", "1.0", "1.1"],
    ["0.1", "0.0", "1.0", "1.1"],
    ["0.1", "0.0", "1.0", "1.1"],
    ["0.1", "0.0", "1.1", "1.0"],
  ]);
});

test("columns are those that some head has", async () => {
  const { last, scenes, source } = await worked(hostOf(NUMBERS));
  const ids = ({ columns }) => columns.map(({ id }) => id);
  const plain = ["entropy", "first", "previous", "distance"];
  assert.deepEqual(ids(scenes[0]), plain);
  assert.deepEqual(ids(last), [...plain, "reads punctuation", "reads words"]);
  assert.deepEqual(last.kinds, ["first token", "punctuation", "words"]);
  const sunk = { ...capture, layers: [layerOf(0, "layer 0", [0, 1], true)] };
  assert.ok(ids(tableScene({ ...state, capture: sunk }, source)).includes("sink"));
  for (const id of [...ids(last), "sink", "head"]) assert.ok(isColumn(id), id);
  for (const id of ["", "reads", "reads first token", "toString", "__proto__"]) assert.ok(!isColumn(id), id);
});

test("sorting turns round, and the first time goes from the largest", () => {
  const scene = { state, rows: [] };
  const after = (table, id) => TABLE_ACTIONS.sort({ ...scene, state: by(table) }, id).table;
  assert.deepEqual(after({}, "entropy"), { ...TABLE_AT_FIRST, by: "entropy", down: true });
  assert.deepEqual(after({ by: "entropy", down: true }, "entropy").down, false);
  assert.deepEqual(after({ by: "entropy", down: true }, "head"), { ...TABLE_AT_FIRST });
  assert.deepEqual(after({}, "head").down, true);
  assert.deepEqual(TABLE_ACTIONS.sort(scene, "toString"), {});
});

test("the rows are walked by keys, and stop at the ends", async () => {
  const { last } = await worked(hostOf(NUMBERS));
  const walk = (at, way) =>
    TABLE_ACTIONS["row-move"]({ ...last, state: by({ at }) }, way).table.at;
  assert.equal(walk("0.0", "down"), "0.1");
  assert.equal(walk("1.1", "down"), "1.1");
  assert.equal(walk("0.1", "up"), "0.0");
  assert.equal(walk("0.0", "up"), "0.0");
  assert.equal(walk("0.1", "end"), "1.1");
  assert.equal(walk("0.1", "home"), "0.0");
  assert.equal(walk("0.1", ""), "0.1", "Escape leads back to it");
  assert.equal(walk("9.9", "down"), "0.1");
  assert.deepEqual(TABLE_ACTIONS["row-move"]({ rows: [], state }, "down"), {});
});

test("a short head opens among the others, a long one as a map", () => {
  const opened = (q_len) => {
    const layers = [capture.layers[0], { ...capture.layers[1], sizes: { ...sizes, q_len } }];
    return TABLE_ACTIONS["open-row"]({ state: { ...state, capture: { ...capture, layers } } }, "1.1");
  };
  const { view, stage, head, open, table } = opened(3);
  assert.deepEqual({ view, stage, head, open, at: table.at }, { view: "heads", stage: 1, head: 1, open: true, at: "1.1" });
  assert.equal(opened(1024).view, "heads");
  assert.equal(opened(1025).view, "map");
});

test("a table as CSV: rows as they stand, every digit, no formula", async () => {
  const numbers = { ...NUMBERS, "0.1": 0.1 + 0.2 };
  const { last } = await worked(hostOf(numbers), by({ by: "entropy", down: false }));
  const lines = tableCsv(last).split("\r\n");
  assert.equal(
    lines[0],
    "layer,head,module,mean entropy (nats),first-token share,token-before share," +
      "mean distance (tokens),punctuation,words",
  );
  assert.equal(lines[1], "layer 0,1,model.0,0.30000000000000004,0.5,,1.5,0.25,0.25");
  assert.equal(lines[4], "\"'=layer, 3\",5,model.3,NaN,0.5,,1.5,0.25,0.25");
  assert.equal(lines.length, 6);
  const { scenes } = await worked(hostOf(NUMBERS), state, 1);
  assert.equal(tableCsv(scenes[0]).split("\r\n")[1], "layer 0,0,model.0,,,,");
});

test("the address keeps how the table stands", () => {
  const back = (table) => fromHash(`#${toHash(by(table))}`, capture);
  for (const table of [
    {}, { by: "entropy", down: true }, { by: "entropy", down: false }, { by: "head", down: true },
    { by: "reads words", down: true, layer: 1 }, { layer: 0 },
  ]) {
    const found = back(table);
    assert.deepEqual(found, { view: "table", batch: 0, table: { ...TABLE_AT_FIRST, ...table } });
  }
});

test("a hostile address leaves the table as it is at first", () => {
  for (const hash of [
    "v=table&by=toString&way=__proto__&of=99", "v=table&of=-1&by=", "v=table&by=reads&of=1e1",
    `v=table&by=${"x".repeat(9999)}`, "v=table&way=sideways&of=<script>",
  ])
    assert.deepEqual(fromHash(`#${hash}`, capture).table, TABLE_AT_FIRST, hash);
  assert.deepEqual(fromHash("#v=table&b=7", capture).batch, 0);
});

test("times and distances are told shortly", () => {
  assert.equal(timeWords(0.4), "a moment left");
  assert.equal(timeWords(41.2), "about 42 s left");
  assert.equal(timeWords(600), "about 10 min left");
  assert.equal(timeWords(7300), "about 3 h left");
  assert.equal(distanceWord(0), "0.0");
  assert.equal(distanceWord(24995.387), "24,995.4");
  assert.equal(distanceWord(NaN), "NaN");
});
