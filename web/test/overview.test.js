import assert from "node:assert/strict";
import { test } from "node:test";

import { overviewParts } from "../src/heads_needs.js";
import { headNeeds, headsScene } from "../src/heads_scene.js";
import { createSource } from "../src/source.js";

/** A page that stands before the thumbnails of one layer. */
function stateOf(heads, length) {
  const sizes = { batch: 1, heads, kv_heads: 1, q_len: length, kv_len: length };
  const layer = { label: "layer 0", heads: [...Array(heads).keys()], queries: [0], keys: [0], sizes };
  const axes = [{ tokens: ["a"], words: null, padding: [] }];
  return {
    capture: { capture: "given", layers: [layer], axes },
    info: { sizes, limits: { grid_cells: 2 ** 20, ledger_keys: 12 } },
    stage: 0, batch: 0, head: 0, row: 0, open: false, picked: false, compare: null,
    average: "none", words: false,
  };
}

const spans = (heads, length) => overviewParts(stateOf(heads, length), 0).map((args) => args.heads);

test("heads of a long text are asked for in parts", () => {
  assert.deepEqual(spans(12, 100), [undefined]);
  assert.deepEqual(spans(4, 8192), ["0:1", "1:2", "2:3", "3:4"]);
  assert.deepEqual(spans(5, 4096), ["0:2", "2:4", "4:5"]);
});

test("parts are put together as they come, one after the other", async () => {
  const asked = [];
  const host = {
    async call(op, args) {
      asked.push(args.heads);
      const [from, upTo] = args.heads.split(":").map(Number);
      const heads = Array.from({ length: upTo - from }, (_, i) => ({ number: from + i }));
      const bytes = new Uint8Array(Float32Array.from(heads, ({ number }) => number / 8).buffer);
      return { json: { rows: 1, columns: 1, per: 9, heads, backend: "b" }, bytes };
    },
  };
  const source = createSource(host, 12);
  const state = stateOf(5, 4096);
  const shown = () => headsScene(state, source).overview(0);
  assert.equal(shown(), null);
  for (const known of [2, 4, 5]) {
    const needs = headNeeds(headsScene(state, source), source);
    assert.equal(needs.length, 1);
    await source.need(...needs[0]);
    const numbers = [0, 1, 2, 3, 4].slice(0, known);
    assert.deepEqual(shown().heads.map(({ number }) => number), numbers);
    assert.deepEqual(shown().pictures.map(([weight]) => 8 * weight), numbers);
    assert.equal(shown(), shown());
  }
  assert.deepEqual(headNeeds(headsScene(state, source), source), []);
  assert.deepEqual(asked, ["0:2", "2:4", "4:5"]);
});

test("after a refusal the other parts of the layer are not asked for", async () => {
  const { HostError } = await import("../src/host_error.js");
  const host = {
    call: async () => {
      throw new HostError("overview: must be smaller.", "refused", "overview");
    },
  };
  const source = createSource(host, 12);
  const state = stateOf(5, 4096);
  await source.need(...headNeeds(headsScene(state, source), source)[0]);
  assert.deepEqual(headNeeds(headsScene(state, source), source), []);
  assert.equal(headsScene(state, source).overviewRefused(0), "Overview must be smaller.");
});
