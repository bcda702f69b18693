import assert from "node:assert/strict";
import { test } from "node:test";

import { infoOf } from "../src/capture_info.js";
import { captureIn, fromHash, toHash } from "../src/url.js";

const layer = {
  batch_shape: [2, 3],
  editable: true,
  heads: [0, 1, 2, 3],
  queries: [0],
  keys: [0],
  sizes: { batch: 6, heads: 4, q_len: 3, kv_len: 3, head_dim: 2, value_dim: 2 },
};
const capture = {
  capture: "given",
  shelf: [{ id: "given" }, { id: "lesson" }],
  axes: [{ tokens: ["a", "b", "c"], words: null, padding: [] }],
  layers: [layer],
  limits: { edit_tokens: 12, edit_dims: 8, ledger_keys: 12, grid_cells: 2 ** 20 },
};
const tall = { ...capture, capture: "tall", layers: [layer, { ...layer, heads: [0, 1] }] };
tall.layers[1].sizes = { ...layer.sizes, heads: 2, q_len: 2 };
const info = infoOf(capture, 0, 0);
const edit = {
  tokens: ["a", "</script>\u2028", "\ud800"],
  key_tokens: ["a", "b", "c"],
  query: [
    [1, 2],
    [3, 4],
    [5, 6.25],
  ],
  key: [
    [1, 2],
    [3, 4],
    [5, 1 / 3],
  ],
  value: [[1], [2], [3]],
  row_from: [0, 1, -1],
  key_from: [0, 1, 2],
};

test("a state comes back from its address", () => {
  const state = {
    capture,
    info,
    view: "steps",
    stage: 0,
    batch: 5,
    head: 3,
    row: 2,
    step: "weight",
    scaled: false,
    reading: "shifted",
    seen: [2, 0],
    cursor: { step: "exp", column: 1 },
    section: 4,
    layer: true,
    edits: { "0/5/3": edit },
  };
  assert.deepEqual(fromHash(`#${toHash(state)}`, capture), {
    view: "steps",
    stage: 0,
    batch: 5,
    head: 3,
    row: 2,
    step: "weight",
    scaled: false,
    reading: "shifted",
    seen: [0, 2],
    cursor: { step: "exp", column: 1 },
    section: 4,
    layer: true,
    edits: { "0/5/3": edit },
  });
});

const heads = {
  view: "heads",
  open: true,
  stage: 1,
  batch: 4,
  head: 1,
  picked: true,
  row: 1,
  key: 2,
  average: "layers",
  words: true,
  first: false,
  compare: { stage: 0, head: 3 },
  corner: [1, 0],
};

test("a view of heads comes back from its address", () => {
  const hash = toHash({ ...heads, capture: tall });
  assert.equal(captureIn(`#${hash}`), "tall");
  const found = fromHash(`#${hash}`, tall);
  for (const [name, value] of Object.entries(heads)) assert.deepEqual(found[name], value, name);
});

test("an address of heads that does not fit opens what there is", () => {
  const hostile = [
    "L=2&h=4&q=3&k=3&cmp=2.0&win=9.9",
    "L=-1&h=1e0&q=__proto__&k=constructor&cmp=0.4&win=1",
    "L=&h=&q=&k=&cmp=.&win=.&m=x&w=2&first=1",
    "L=NaN&h=<b>&cmp=0&win=0.0.0&m=__proto__",
    "L=0.5&cmp=1.2&h=99999999999&m=constructor",
  ];
  for (const hash of hostile) {
    const found = fromHash(`#v=heads&${hash}`, tall);
    assert.deepEqual([found.stage, found.head, found.batch], [0, 0, 0], hash);
    assert.equal(found.open, /^L=0/.test(hash) && !/^L=0\./.test(hash), hash);
    assert.deepEqual([found.picked, found.row, found.key], [false, undefined, null], hash);
    assert.deepEqual([found.compare, found.corner], [null, [0, 0]], hash);
    assert.deepEqual([found.average, found.words, found.first], ["none", false, true], hash);
  }
  assert.equal(fromHash("#v=heads", tall).open, false);
  assert.deepEqual(fromHash("#v=<b>", tall), {});
  assert.deepEqual(fromHash("#", tall), {});
});

test("what does not fit is left out", () => {
  const hostile = [
    "",
    "#",
    "#q=99",
    "#q=-1",
    "#q=1e1",
    "#q=NaN",
    "#h=4&b=6",
    "#step=__proto__",
    "#step=constructor",
    "#at=exp",
    "#at=nothing.1",
    "#in=7.8",
    "#s=-1",
    "#s=1e9",
    "#n=%7B%7D",
    "#n=null",
    "#n=[",
    "#n=1",
    "#scale=1",
    "#read=x",
    "#%00%ff=%E0%A4%A",
    "#<img src=x onerror=alert(1)>",
    `#n=${"[".repeat(9000)}`,
    "#__proto__=1&constructor=2",
  ];
  for (const hash of hostile) {
    const found = fromHash(hash, capture);
    const { view = "steps", stage = 0, batch = 0, head = 0, seen, cursor, ...rest } = found;
    assert.deepEqual([view, stage, batch, head, rest], ["steps", 0, 0, 0, {}], hash);
    assert.deepEqual(seen ?? [], [], hash);
    if (cursor) assert.equal(cursor.column, 0);
  }
});

test("changed numbers that do not fit together are left out", () => {
  const wrong = [
    {
      query: [
        [1, 2],
        [3, 4],
      ],
    },
    { query: [[1], [2], [3]] },
    {
      query: [
        [1, 2],
        [3, 4],
        [5, null],
      ],
    },
    { value: [] },
    { value: [[1], [2], [3, 4]] },
    { tokens: ["a"] },
    { tokens: [1, 2, 3] },
    { row_from: [0, 1, 3] },
    { key_from: [0, 1, 1.5] },
    { tokens: Array(13).fill("a") },
    { key: "x" },
    { tokens: ["a".repeat(201), "b", "c"] },
    {
      query: [
        [1, 2],
        [3, 4],
        [5, "Infinity"],
      ],
    },
  ];
  for (const part of wrong) {
    const hash = new URLSearchParams({ n: JSON.stringify({ ...edit, ...part }) });
    assert.equal(fromHash(`#${hash}`, capture).edits, undefined, JSON.stringify(part));
  }
});
