import assert from "node:assert/strict";
import { test } from "node:test";

import { layoutOf } from "../src/heads_layout.js";

const layer = (heads) => ({ label: "layer 0", sizes: { heads } });

/** A page of so many pixels before a capture of so many layers and heads. */
const layout = (room, tall, layers, heads, more = {}) =>
  layoutOf({
    ...{ room, tall, open: false, compare: null },
    info: { sizes: { q_len: 10, kv_len: 10 } },
    capture: { layers: Array.from({ length: layers }, () => layer(heads)) },
    ...more,
  });

const GAP = 4;
const wide = ({ label, column }, heads) => label + heads * (column + GAP);

test("in the cell of a notebook all layers stand in sight, and their columns fill the width", () => {
  const cell = layout(1090, 668, 6, 12);
  assert.ok(230 + 6 * (cell.thumb + GAP) + 52 <= 668, `a thumbnail of ${cell.thumb}`);
  assert.ok(cell.thumb >= 56);
  assert.ok(wide(cell, 12) <= 1090 - 56);
  assert.ok(wide(cell, 12) > 1090 - 56 - 12);
});

test("a head that opens below moves no column, and leaves no side of the page empty", () => {
  const opened = layout(1090, 668, 6, 12, { open: true });
  assert.equal(opened.name, "below");
  assert.equal(opened.column, layout(1090, 668, 6, 12).column);
  assert.ok(opened.thumb <= 56);
});

test("where not all layers can stand in sight, the width alone says how large they are", () => {
  assert.equal(layout(1090, 668, 12, 12).thumb, 77);
  assert.equal(layout(1280, 900, 6, 12).thumb, 92);
  assert.equal(layout(1280, 900, 2, 2).thumb, 112);
});

test("no column is ever wider than the page, nor narrower than its thumbnail", () => {
  for (const room of [320, 400, 700, 1090, 1180, 1280, 1920])
    for (const heads of [1, 8, 12])
      for (const open of [false, true]) {
        const { thumb, column, label, name } = layout(room, 800, 6, heads, { open });
        const page = name === "beside" ? 516 : Math.min(1360, room) - (room < 860 ? 32 : 56);
        assert.ok(column >= thumb);
        if (thumb > 23) assert.ok(label + heads * (column + GAP) <= page, `${room} ${heads}`);
      }
});
