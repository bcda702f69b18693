import assert from "node:assert/strict";
import { test } from "node:test";

import { fromHash, toHash } from "../src/url.js";

const info = {
  batch_shape: [2, 3],
  editable: true,
  tokens: ["a", "b", "c"],
  key_tokens: ["a", "b", "c"],
  sizes: { batch: 6, heads: 4, q_len: 3, kv_len: 3, head_dim: 2, value_dim: 2 },
  limits: { edit_tokens: 12, edit_dims: 8, ledger_keys: 12 },
};
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
    info,
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
    edits: { "5/3": edit },
  };
  assert.deepEqual(fromHash(`#${toHash(state)}`, info), {
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
    edits: { "5/3": edit },
  });
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
    const { batch = 0, head = 0, seen, cursor, ...rest } = fromHash(hash, info);
    assert.deepEqual([batch, head, rest], [0, 0, {}], hash);
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
    assert.equal(fromHash(`#${hash}`, info).edits, undefined, JSON.stringify(part));
  }
});
