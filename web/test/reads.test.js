import assert from "node:assert/strict";
import { test } from "node:test";

import { SINK } from "../src/heat_grid.js";
import { readBy, readsFrom, readsList, restWords } from "../src/reads.js";

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, vars: {}, children: [] });
    this.style = { setProperty: (name, value) => (this.vars[name] = value) };
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  append(child) {
    this.children.push(child);
  }
  get text() {
    return this.children.map((child) => (typeof child === "string" ? child : child.text)).join("");
  }
  all(tag) {
    const below = this.children.filter((child) => child instanceof Element);
    return [...(this.tag === tag ? [this] : []), ...below.flatMap((child) => child.all(tag))];
  }
}
globalThis.document = { createElement: (tag) => new Element(tag) };

/** Rows of weights at position 10, keys at 20; null is hidden. */
function gridOf(rows, sink = null) {
  const flat = rows.flat();
  return {
    shape: [rows.length, rows[0].length],
    weights: Float64Array.from(flat, (weight) => weight ?? 0.99),
    visible: Uint8Array.from(flat, (weight) => (weight === null ? 0 : 1)),
    rowTokens: rows.map((_, i) => `q${i}`),
    keyTokens: rows[0].map((_, i) => `k${i}`),
    rowAt: 10,
    keyAt: 20,
    sink,
  };
}
const pairs = (entries) => entries.map(({ index, weight }) => [index, weight]);
const shares = (entries) => entries.map(({ share }) => share);

test("a row's keys, the largest first, ties to the earlier, hidden left out", () => {
  const entries = readsFrom(gridOf([[0.25, null, 0.5, 0.25]]), 10);
  assert.deepEqual(pairs(entries), [
    [22, 0.5],
    [20, 0.25],
    [23, 0.25],
  ]);
  assert.deepEqual(shares(entries), [0.5, 0.75, 1]);
});

test("the sink is an entry of its own, where it takes a share", () => {
  const grid = gridOf(
    [
      [0.25, 0.5],
      [0.5, 0.5],
      [null, null],
    ],
    [0.25, 0, 1],
  );
  assert.deepEqual(pairs(readsFrom(grid, 10)), [
    [21, 0.5],
    [20, 0.25],
    [SINK, 0.25],
  ]);
  assert.deepEqual(shares(readsFrom(grid, 10)), [0.5, 0.75, 1]);
  assert.equal(readsFrom(grid, 11).length, 2);
  assert.deepEqual(pairs(readsFrom(grid, 12)), [[SINK, 1]]);
  assert.deepEqual(pairs(readBy(grid, 20)), [
    [11, 0.5],
    [10, 0.25],
  ]);
});

test("a column's rows, with shares of what the key receives", () => {
  const grid = gridOf([
    [0.9, 0.1],
    [0.7, 0.3],
    [null, 1],
    [0.9, 0.1],
  ]);
  const entries = readBy(grid, 20);
  assert.deepEqual(pairs(entries), [
    [10, 0.9],
    [13, 0.9],
    [11, 0.7],
  ]);
  shares(entries).forEach((x, i) => assert.ok(Math.abs(x - [0.36, 0.72, 1][i]) < 1e-12));
});

test("NaN comes last, and has no share", () => {
  const entries = readBy(gridOf([[NaN], [0.1], [NaN], [0.3]]), 20);
  assert.deepEqual(pairs(entries), [
    [13, 0.3],
    [11, 0.1],
    [10, NaN],
    [12, NaN],
  ]);
  assert.deepEqual(shares(entries).slice(2), [NaN, NaN]);
  assert.equal(shares(entries)[1], 1);
  assert.equal(restWords(entries, 1), "and 3 more, together NaN");
});

test("nothing to read, nothing outside", () => {
  assert.deepEqual(readsFrom(gridOf([[null, null]]), 10), []);
  for (const position of [9, 11, -1]) assert.deepEqual(readsFrom(gridOf([[1]]), position), []);
  for (const position of [19, 21, -1]) assert.deepEqual(readBy(gridOf([[1]]), position), []);
  assert.deepEqual(shares(readBy(gridOf([[0], [0]]), 20)), [0, 0]);
});

test("what a list leaves out is summed", () => {
  const entries = readsFrom(gridOf([Array(500).fill(1 / 500)]), 10);
  assert.equal(restWords(entries, 20), "and 480 more, together 0.960");
  assert.equal(restWords(entries, 500), "");
  assert.ok(shares(entries).every((x, i, all) => x <= 1 && (i === 0 || x >= all[i - 1])));
});

test("the list on the page", () => {
  const tokens = [...Array(20).fill("…"), "the", "<img>", "the"];
  const entries = readsFrom(gridOf([[0.5, 0.25, 0.125]], [0.125]), 10);
  const list = readsList("reads from", entries, tokens, { act: "head-key", most: 3 });
  assert.deepEqual(
    list.all("tr").map((line) => line.text),
    ["tokenweightso far", "the@200.5000.500", "<img>0.2500.750", "the@220.1250.875"],
  );
  assert.equal(list.children.at(-1).text, "and 1 more, together 0.125");
  const [button] = list.all("button");
  assert.deepEqual(
    [button.attributes["data-act"], button.attributes["data-arg"]],
    ["head-key", "20"],
  );
  assert.equal(list.all("td")[0].vars["--w"], "0.5");
  const whole = readsList("reads from", entries, tokens);
  assert.equal(whole.all("button").length, 0);
  assert.match(whole.all("tr").at(-1).text, /^sink0\.1251\.000$/);
});

test("an empty list says so", () => {
  assert.match(readsList("reads from", [], []).text, /no visible keys/);
  assert.match(readsList("read by", [], [], { none: "no query sees it" }).text, /no query sees it/);
});

test("padding is no reader", () => {
  const grid = { ...gridOf([[0.5], [0.9], [0.25]]), padded: [false, true, false] };
  assert.deepEqual(pairs(readBy(grid, 20)), [
    [10, 0.5],
    [12, 0.25],
  ]);
  assert.deepEqual(pairs(readsFrom(grid, 11)), [[20, 0.9]]); // its own row is as it is
});
