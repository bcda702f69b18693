import assert from "node:assert/strict";
import { test } from "node:test";

import { traceRow } from "../src/arithmetic.js";
import { hostOf } from "../src/host_static.js";
import { openData } from "../src/static_data.js";

const base64 = (numbers) => Buffer.from(numbers.buffer ?? numbers).toString("base64");
const stored = (dtype, shape, numbers) => ({ dtype, shape, data: base64(numbers) });
const f64 = (shape, numbers) => stored("float64", shape, Float64Array.from(numbers));

const TOKENS = ["un", "##able", "to"];
const QUERY = [1, 0, 0, 1, 1, 1];

/** A file of one layer, two query heads on one kv head; whatever a test changes. */
function file({ layer = {}, arrays = [], padding = [], words = null, heads = 2 } = {}) {
  const key = f64([1, 1, 3, 2], QUERY);
  const query = f64([1, heads, 3, 2], [...QUERY, ...QUERY.map((x) => 2 * x)].slice(0, heads * 6));
  const sizes = { batch: 1, heads, kv_heads: 1, q_len: 3, kv_len: 3, head_dim: 2, value_dim: 2 };
  return {
    info: {
      capture: "given",
      axes: [{ tokens: TOKENS, words: [0, 0, 1], padding }],
      layers: [
        { label: "layer 5", heads: [3, 7], queries: [0], keys: [0], sizes, editable_reason: null },
      ],
      limits: { ledger_keys: 12, grid_cells: 9, thumbnail: 2 },
    },
    lesson: { recap: [] },
    words: [words],
    layers: [
      { query: 0, key: 1, value: 1, visible: null, bias: null, sinks: null, scale: 0.5,
        softcap: null, q_offset: [0], ...layer },
    ],
    arrays: [query, key, ...arrays],
  };
}

const host = (changes) => hostOf(JSON.stringify(file(changes)));
const ask = async (changes, op, args) => (await host(changes).call(op, args)).json;
const CAUSAL = { layer: { visible: 2 }, arrays: [stored("bits", [1, 1, 3, 3], [0b10011011, 0x80])] };

test("every dtype is widened to the number it holds", () => {
  const halves = Uint16Array.from([0x3c00, 0xc500, 0x0001, 0x8400, 0x7c00, 0x7e00]);
  const bf = Uint16Array.from([0x3f80, 0xc0a0, 0x0001, 0xff80, 0x7fc0, 0x4049]);
  const f32 = Float32Array.from([0.1, -2, 3, 4, 5, 6]);
  const queryOf = (array) => {
    const data = file({ heads: 1 });
    data.arrays[0] = array;
    return openData(data).head({ layer: 0, batch: 0, head: 0 }).whole.query.flat();
  };
  const shape = [1, 1, 3, 2];
  assert.deepEqual(queryOf(stored("float16", shape, halves)), [
    1, -5, 2 ** -24, -(2 ** -14), Infinity, NaN,
  ]);
  assert.deepEqual(queryOf(stored("bfloat16", shape, bf)), [
    1, -5, 2 ** -133, -Infinity, NaN, 3.140625,
  ]);
  assert.deepEqual(queryOf(stored("float32", shape, f32))[0], Math.fround(0.1));
});

test("a trace is the page's own arithmetic on the file's arrays", async () => {
  const record = await ask(CAUSAL, "trace", { row: "1", head: "1" });
  const key = [[1, 0], [0, 1], [1, 1]];
  const problem = {
    tokens: TOKENS, key_tokens: TOKENS, query: [[2, 0], [0, 2], [2, 2]], key, value: key,
    visible: [[true, false, false], [true, true, false], [true, true, true]], bias: null,
    sink: null, scale: 0.5, softcap: null, q_offset: 0,
  };
  assert.deepEqual(record, traceRow(problem, 1));
  assert.deepEqual(record.visible, [true, true, false]);
  const arrays = await ask(CAUSAL, "arrays", {});
  assert.deepEqual(arrays.visible, problem.visible);
});

test("a mask and a bias of fewer axes count for all", async () => {
  const keys = { layer: { visible: 2 }, arrays: [stored("bits", [1, 1, 1, 3], [0b01100000])] };
  assert.deepEqual((await ask(keys, "trace", { row: "2" })).visible, [false, true, true]);
  const rows = { layer: { bias: 2 }, arrays: [f64([1, 2, 3, 1], [1, 2, 3, 4, 5, 6])] };
  assert.deepEqual((await ask(rows, "trace", { row: "2", head: "1" })).bias, [6, 6, 6]);
});

test("a grid holds the weights of the traces, a mean their mean", async () => {
  const rows = async (head) => {
    const records = ["0", "1", "2"].map((row) => ask(CAUSAL, "trace", { row, head }));
    return (await Promise.all(records)).flatMap(({ weights }) => weights);
  };
  const { json, bytes } = await host(CAUSAL).call("grid", { head: "1" });
  assert.deepEqual(json, {
    what: "layer 5, head 7", rows: [0, 3], keys: [0, 3], shape: [3, 3], sink: null, rule: null,
    row_labels: null, key_labels: null, row_words: null, key_words: null,
  });
  const weights = (answer) => [...new Float64Array(answer.slice(0, 72).buffer)];
  assert.deepEqual(weights(bytes), await rows("1"));
  assert.deepEqual([...bytes.slice(72)], [1, 0, 0, 1, 1, 0, 1, 1, 1]);
  const mean = await host(CAUSAL).call("grid", { head: "mean" });
  assert.equal(mean.json.what, "mean over 2 heads of layer 5");
  const [one, two] = [await rows("0"), await rows("1")];
  assert.deepEqual(weights(mean.bytes), one.map((w, i) => (w + two[i]) / 2));
});

test("a word's keys are summed, its queries averaged", async () => {
  const words = { texts: ["unable", "to"], tokens: [[0, 1], [2]] };
  const { json, bytes } = await host({ words }).call("grid", { words: "1" });
  const plain = (await host({ words }).call("grid")).bytes;
  const w = new Float64Array(plain.slice(0, 72).buffer);
  assert.deepEqual(json.key_labels, ["unable", "to"]);
  assert.deepEqual(json.shape, [2, 2]);
  const found = new Float64Array(bytes.slice(0, 32).buffer);
  const expected = [(w[0] + w[1] + w[3] + w[4]) / 2, (w[2] + w[5]) / 2, w[6] + w[7], w[8]];
  found.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) < 1e-15));
  await assert.rejects(host({}).call("grid", { words: "1" }), /does not say which tokens/);
});

test("an overview has the largest weight of each block, hidden ones at -1", async () => {
  const { json, bytes } = await host(CAUSAL).call("overview");
  assert.deepEqual([json.per, json.rows, json.columns], [2, 2, 2]);
  const pixels = new Float32Array(bytes.slice(0, 16).buffer);
  const last = (await ask(CAUSAL, "trace", { row: "2" })).weights;
  assert.deepEqual([...pixels].map((x) => x.toFixed(5)), [
    "1.00000", "-1.00000", Math.max(last[0], last[1]).toFixed(5), last[2].toFixed(5),
  ]);
  assert.deepEqual(json.heads.map(({ number, sink }) => [number, sink]), [[3, null], [7, null]]);
});

test("the first real key is the first that is no padding", async () => {
  const facts = await ask({ padding: [[0, 1]] }, "facts", {});
  const traces = await Promise.all(["0", "1", "2"].map((row) => ask({}, "trace", { row })));
  assert.deepEqual(facts.first_share, traces.map(({ weights }) => weights[1]));
});

test("a row that sees nothing reads nothing anywhere", async () => {
  const none = { layer: { visible: 2, sinks: [0.5, 1] }, arrays: [stored("bits", [1, 1, 1, 1], [0])] };
  const { layers } = await ask(none, "everywhere", { query: "1" });
  assert.deepEqual(layers[0].heads[0], { key: -1, weight: 0, entropy: 0 });
  const facts = await ask(none, "facts", {});
  assert.deepEqual([facts.sink, facts.max_score], [[1, 1, 1], [-Infinity, -Infinity, -Infinity]]);
});

test("numbers that JSON lacks come back as numbers", async () => {
  const record = await ask({ layer: { sinks: ["-Infinity", "NaN"] } }, "trace", { row: "0" });
  assert.equal(record.sink.logit, -Infinity);
});

test("what a file cannot answer is a sentence that names its argument", async () => {
  const asked = [
    ["none", {}, "op", /must be one of info, arrays/],
    ["constructor", {}, "op", /must be one of info, arrays/],
    ["trace", {}, "row", /must be given, a whole number 0 \.\.\. 2/],
    ["trace", { row: "3" }, "row", /must be a whole number 0 \.\.\. 2; got '3'/],
    ["trace", { row: "1e0" }, "row", /got '1e0'/],
    ["trace", { row: "0", nothing: "1" }, "trace", /has no argument 'nothing'/],
    ["trace", { row: "0", capture: "other" }, "capture", /must be one of given; got 'other'/],
    ["grid", { rows: "1:1" }, "rows", /must be start:stop within 0:3/],
    ["grid", { rows: "0:2", words: "1" }, "words", /over the whole grid/],
    ["grid", { words: "2" }, "words", /must be one of 0, 1/],
    ["weights", { rows: "" }, "rows", /with commas between/],
    ["weights", { rows: "0,".repeat(70), keys: "0" }, "rows", /at most 64 numbers/],
    ["exercise", { skill: "scores", seed: "1" }, "exercise", /Run softlookup show/],
    ["check", {}, "check", /not by a file/],
  ];
  for (const [op, args, argument, words] of asked) {
    await assert.rejects(host({}).call(op, args), (error) => {
      assert.match(error.message, words);
      assert.deepEqual([error.kind, error.argument], ["refused", argument]);
      return true;
    });
  }
});

test("a grid too large for one answer is refused", async () => {
  const data = file();
  data.info.limits.grid_cells = 8;
  await assert.rejects(hostOf(JSON.stringify(data)).call("grid"), /at most 8 cells; 3 x 3 are 9/);
});

/** Layers that recorded other heads, a sink in one of them; the last token is padding. */
function unequal(lists = [[3, 7], [7, 9], [7]]) {
  const data = file({ padding: [[2, 3]] });
  const [layer] = data.info.layers;
  const [numbers] = data.layers;
  data.info.layers = lists.map((heads, number) => ({
    ...layer,
    label: `layer ${number}`,
    heads,
    sizes: { ...layer.sizes, heads: heads.length },
  }));
  const sinks = (heads, i) => (i === 1 ? heads.map(() => 0.5) : null);
  data.layers = lists.map((heads, i) => ({ ...numbers, sinks: sinks(heads, i) }));
  data.words = [{ texts: ["unable", "to"], tokens: [[0, 1], [2]] }];
  return hostOf(JSON.stringify(data));
}

test("a mean over layers goes by the numbers of heads, and says over how many", async () => {
  const what = async (args) => (await unequal().call("grid", { layer: "mean", ...args })).json.what;
  assert.equal(await what({ head: "1" }), "mean of head 7 over 3 layers");
  assert.equal(await what({ head: "0", like: "1" }), "mean of head 7 over 3 layers");
  assert.equal(await what({ head: "0" }), "mean of head 3 over 1 layer");
  assert.equal(await what({ head: "mean" }), "mean over 5 heads of 3 layers");
  const one = async (layer, head) => {
    const { bytes } = await unequal().call("grid", { layer, head });
    return [...new Float64Array(bytes.slice(0, 72).buffer)];
  };
  const parts = await Promise.all([one("0", "1"), one("1", "0"), one("2", "0")]);
  const { bytes } = await unequal().call("grid", { layer: "mean", head: "1" });
  new Float64Array(bytes.slice(0, 72).buffer).forEach((weight, i) =>
    assert.ok(Math.abs(weight - (parts[0][i] + parts[1][i] + parts[2][i]) / 3) < 1e-15),
  );
});

test("a layer without sinks misses nothing in a mean, whichever comes first", async () => {
  const alone = (await unequal().call("grid", { layer: "1", head: "0" })).json.sink;
  for (const args of [{ head: "1" }, { head: "0", like: "1" }]) {
    const asked = { layer: "mean", ...args };
    const { sink } = (await unequal().call("grid", asked)).json;
    assert.deepEqual(sink, alone.map((share) => share / 3));
    assert.deepEqual((await unequal().call("facts", asked)).json.sink, sink);
  }
  const { sink } = (await unequal().call("grid", { layer: "1", words: "1" })).json;
  assert.deepEqual(sink, [(alone[0] + alone[1]) / 2, alone[2]]);
  assert.equal((await unequal().call("facts", { layer: "mean", head: "0" })).json.sink, null);
});

test("padding reads nothing; heads are drawn in parts", async () => {
  const { bytes } = await unequal().call("grid", { layer: "2" });
  const w = new Float64Array(bytes.slice(0, 72).buffer);
  const { received } = (await unequal().call("facts", { layer: "2" })).json;
  assert.deepEqual(received, [w[0] + w[3], w[1] + w[4], w[2] + w[5]]);
  const { json } = await unequal().call("overview", { layer: "0", heads: "1:2" });
  assert.deepEqual(json.heads.map(({ number }) => number), [7]);
  const head = (await unequal().call("grid", { layer: "0", head: "1" })).bytes;
  assert.equal(json.heads[0].previous_share, new Float64Array(head.slice(0, 72).buffer)[3]);
});

test("what would take too long is refused before any of it is done", async () => {
  const data = file();
  Object.assign(data.info.layers[0].sizes, { q_len: 8192, kv_len: 8192, heads: 3 });
  Object.assign(data.info.layers[0], { heads: [0, 1, 2] });
  data.info.limits.grid_cells = 2 ** 20;
  const large = hostOf(JSON.stringify(data));
  await assert.rejects(large.call("overview"), /3 heads of layer 5, 8,192 x 8,192 each, take 201/);
  Object.assign(data.info.layers[0].sizes, { q_len: 32768, kv_len: 32768 });
  const vast = hostOf(JSON.stringify(data));
  await assert.rejects(vast.call("overview", { heads: "0:1" }), /134,217,728 weights a head/);
  await assert.rejects(vast.call("facts", { head: "mean" }), /3 x 32,768 x 32,768 are more/);
  await assert.rejects(
    vast.call("grid", { head: "mean", rows: "0:8192", keys: "0:2" }),
    /8,192 rows of 32,768 keys in 3 heads take 805,306,368/,
  );
});

test("damaged numbers are a sentence", async () => {
  for (const text of ["", "{", "null", '{"layers": 1']) {
    await assert.rejects(hostOf(text).call("info"), /damaged. Export it again/);
  }
});
