import assert from "node:assert/strict";
import { test } from "node:test";

import { keyAxis, labelStep, marksOf, rowAxis } from "../src/heat_axes.js";
import { codeOf, heatColors, hexOf, labOf, ramp, rangeOf } from "../src/heat_color.js";
import { SINK, cellAt, cellSize, gridHeight, gridWidth, weightAt } from "../src/heat_grid.js";
import { heatLegend, othersOf, rampGradient, rangeWords } from "../src/heat_legend.js";
import { paddedBlocks, thumbRange } from "../src/painter.js";
import { barShare, stripLegend, stripScale } from "../src/heat_strips.js";

/** What `h` needs of a document. */
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
  all(name) {
    const below = this.children.filter((child) => child instanceof Element);
    const here = this.attributes.class?.split(" ").includes(name) ? [this] : [];
    return [...here, ...below.flatMap((child) => child.all(name))];
  }
}
globalThis.document = { createElement: (tag) => new Element(tag) };

/** A grid from rows of weights; null is hidden. */
function gridOf(rows, changes = {}) {
  const flat = rows.flat();
  return {
    shape: [rows.length, rows[0].length],
    weights: Float64Array.from(flat, (weight) => weight ?? 0),
    visible: Uint8Array.from(flat, (weight) => (weight === null ? 0 : 1)),
    rowTokens: rows.map((_, i) => `q${i}`),
    keyTokens: rows[0].map((_, i) => `k${i}`),
    rowAt: 0,
    keyAt: 0,
    sink: null,
    ...changes,
  };
}

const labs = (codes) =>
  Array.from({ length: 256 }, (_, code) => labOf([...codes.subarray(4 * code, 4 * code + 3)]));
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
const labFrom = (hex) => labOf([1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));

for (const [theme, way] of [
  ["light", -1],
  ["dark", 1],
]) {
  test(`the ${theme} ramp is even, and its lightness only goes one way`, () => {
    const colors = labs(ramp(theme));
    const steps = colors.slice(1).map((lab, i) => distance(lab, colors[i]));
    const mean = steps.reduce((sum, x) => sum + x, 0) / steps.length;
    assert.ok(Math.max(...steps) < 1.9 * mean, `${Math.max(...steps) / mean}`); // bytes are coarse
    const tens = colors.filter((_, code) => code % 15 === 0);
    const far = tens.slice(1).map((lab, i) => distance(lab, tens[i]));
    assert.ok(Math.max(...far) < 1.12 * Math.min(...far), `${far}`);
    tens.slice(1).forEach((lab, i) => assert.ok(way * (lab[0] - tens[i][0]) > 0.02, `${i}`));
    assert.ok(Math.abs(colors[255][0] - colors[0][0]) > 0.7);
  });

  test(`hidden and NaN are no colours of the ${theme} ramp`, () => {
    const { ramp: codes, hidden, nan } = heatColors(theme);
    for (const plain of [hidden, nan]) {
      const nearest = Math.min(...labs(codes).map((lab) => distance(lab, labFrom(plain))));
      assert.ok(nearest > 0.06, `${plain}: ${nearest}`);
    }
    assert.ok(Math.hypot(...labFrom(hidden).slice(1)) < 0.015); // a grey
  });
}

test("every colour of the ramp is opaque, and is written as it is", () => {
  const codes = ramp("light");
  assert.equal(codes.length, 1024);
  for (let code = 0; code < 256; code += 1) assert.equal(codes[4 * code + 3], 255);
  assert.equal(hexOf(codes, 0), "#fdf6da");
  assert.equal(hexOf(codes, 255), "#250b3d");
  assert.equal(heatColors("dark", { focus: "red" }).focus, "red");
});

test("a weight's code", () => {
  const range = { low: 0, high: 0.5 };
  const codes = [0, 0.25, 0.5, 0.9, -1, NaN].map((weight) => codeOf(weight, range));
  assert.deepEqual(codes, [0, 128, 255, 255, 0, -1]);
});

test("the colour range leaves the first key out where it is asked to", () => {
  const grid = gridOf([
    [0.9, 0.1, 9],
    [0.7, 0.3, NaN],
    [0.8, null, 0.2],
  ]);
  grid.visible[2] = 0; // the hidden 9 does not count
  assert.deepEqual(rangeOf(grid), { low: 0, high: 0.9, over: false });
  assert.deepEqual(rangeOf(grid, { first: false }), { low: 0, high: 0.3, over: true });
  assert.equal(rangeOf({ ...grid, keyAt: 5 }, { first: false }).high, 0.9); // the first is elsewhere
});

test("the first key is the first that anyone sees", () => {
  const padded = gridOf([
    [null, 0.9, 0.1],
    [null, 0.6, 0.4],
  ]);
  assert.equal(rangeOf(padded, { first: false }).high, 0.4);
});

test("rows that are only padding set no colours", () => {
  const rows = [
    [0.2, 0.4],
    [0.9, 0.1],
  ];
  const padded = [false, true];
  assert.deepEqual(rangeOf(gridOf(rows, { padded })), { low: 0, high: 0.4, over: false });
  assert.equal(rangeOf(gridOf(rows, { padded, sink: [0.1, 0.8] })).over, false);
  const small = Float32Array.from(rows.flat());
  const thumb = (/** @type {any} */ how) => thumbRange(small, 2, how).high;
  assert.equal(thumb({ first: true, padded }), small[1]);
  assert.equal(thumb({ first: true, padded: null }), small[2]);
  assert.equal(thumb({ first: false, padded: [true, true] }), 1);
});

test("a row of blocks is padding where all of its tokens are", () => {
  const queries = { tokens: Array(9).fill("a"), padding: [[4, 9]], words: null };
  assert.deepEqual(paddedBlocks(queries, 5, 2), [false, false, true, true, true]);
  assert.deepEqual(paddedBlocks(queries, 3, 4), [false, true, true]);
  assert.equal(paddedBlocks({ ...queries, padding: [] }, 3, 4), null);
});

test("a range always has two ends", () => {
  assert.equal(rangeOf(gridOf([[null, null]])).high, 1);
  assert.equal(rangeOf(gridOf([[NaN, NaN]])).high, 1);
  assert.equal(rangeOf(gridOf([[0.5, null]]), { first: false }).high, 0.5);
  const sinks = gridOf([[0.1, 0.2]], { sink: [0.7] });
  assert.deepEqual(rangeOf(sinks), { low: 0, high: 0.2, over: true });
});

test("cells are as large as there is room for", () => {
  const sizes = [12, 40, 200, 512, 2000].map((n) => cellSize(n, n, 700));
  assert.deepEqual(sizes, [28, 17, 3, 1, 1]);
  assert.equal(cellSize(1, 1, 700), 28);
  assert.equal(cellSize(500, 5, 700), 2); // rows make no more than one and a half widths
});

test("a point of the canvas is a row and a key", () => {
  const grid = gridOf(
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    { rowAt: 10, keyAt: 20 },
  );
  assert.deepEqual(cellAt(grid, 7, 0, 0), { row: 10, key: 20 });
  assert.deepEqual(cellAt(grid, 7, 20.9, 13.9), { row: 11, key: 22 });
  for (const [x, y] of [
    [21, 0],
    [0, 14],
    [-0.1, 0],
    [0, -0.1],
  ])
    assert.equal(cellAt(grid, 7, x, y), null);
  assert.deepEqual(weightAt(grid, 11, 21), { weight: 5, visible: true });
  for (const [row, key] of [
    [9, 20],
    [12, 20],
    [10, 19],
    [10, 23],
    [10, SINK],
  ])
    assert.equal(weightAt(grid, row, key), null);
});

test("the sink is a column of its own", () => {
  const grid = gridOf([[0.2, 0.3]], { sink: [0.5] });
  assert.deepEqual([gridWidth(grid, 20), gridHeight(grid, 20)], [40 + 6 + 20, 20]);
  assert.equal(gridWidth(grid, 2), 4 + 6 + 12); // never too thin to be pointed at
  assert.equal(cellAt(grid, 20, 43, 5), null);
  assert.deepEqual(cellAt(grid, 20, 46, 5), { row: 0, key: SINK });
  assert.equal(cellAt(grid, 20, 66, 5), null);
  assert.deepEqual(weightAt(grid, 0, SINK), { weight: 0.5, visible: true });
});

test("labels stand at every token, or at every n-th", () => {
  assert.deepEqual([28, 11, 10, 7, 6, 5, 3, 2, 1].map(labelStep), [1, 1, 2, 2, 5, 5, 5, 10, 20]);
  const tokens = Array.from({ length: 100 }, (_, i) => `t${i}`);
  const positions = marksOf(tokens, 93, 3).map(({ position }) => position);
  assert.deepEqual(positions.slice(0, 3), [95, 100, 105]); // round positions, whatever the window
  const more = marksOf(tokens, 0, 3, [12, 77]).map(({ position }) => position);
  assert.deepEqual(more.slice(0, 5), [0, 5, 12, 20, 25]); // 10 and 15 make room for 12
  assert.ok(more.includes(77) && !more.includes(75));
  assert.deepEqual(marksOf(tokens, 0, 3, [12, 12]), marksOf(tokens, 0, 3, [12]));
  assert.deepEqual(marksOf(tokens, 50, 3, [12, null, undefined, 150]).length, 20);
});

test("a repeated token wears its position in the whole text", () => {
  const marks = marksOf(["the", "bank", "the", "41"], 40, 20);
  assert.deepEqual(
    marks.map(({ text, numbered, position }) => (numbered ? `${text} @${position}` : text)),
    ["the @40", "bank", "the @42", "41"],
  );
});

test("the axes are buttons with names", () => {
  const grid = gridOf([[0.5, 0.25, 0.125]], {
    rowTokens: ["<b>\u202e"],
    keyTokens: ["a", "x".repeat(40), "a"],
    rowAt: 3,
    keyAt: 7,
    sink: [0.125],
  });
  const [row] = rowAxis(grid, { cell: 20, picked: null }).all("heat-label");
  const { title, tabindex } = row.attributes;
  assert.equal(title, "<b>⟨202e⟩");
  assert.equal(row.text, "<b>⟨202e⟩");
  assert.equal(tabindex, "0");
  const axis = keyAxis(grid, { cell: 20, picked: 9, hover: 7, padding: [[7, 8]] });
  const labels = axis.all("heat-label");
  assert.deepEqual(
    labels.map((label) => label.text),
    ["a@7", `${"x".repeat(17)}…`, "a@9", "sink"],
  );
  assert.deepEqual(
    labels.map((label) => label.attributes.class),
    ["heat-label hover padding", "heat-label", "heat-label picked", "heat-label sink"],
  );
  assert.equal(labels[0].attributes["aria-label"], "key a @7 (padding)");
  const written = keyAxis(grid, { cell: 20, padding: [[7, 8]], prompt: 8 }).children;
  assert.deepEqual(
    written.slice(0, 2).map((label) => label.attributes.class),
    ["heat-label padding", "heat-label written"],
  );
  assert.equal(labels[1].attributes.title, "x".repeat(40));
  assert.deepEqual(
    labels.slice(0, 3).map(({ attributes: a }) => [a["data-act"], a["data-arg"], a.tabindex]),
    [
      ["head-key", "7", "-1"],
      ["head-key", "8", "-1"],
      ["head-key", "9", "0"],
    ],
  );
  assert.equal(labels[3].vars["--at"], "66px");
  assert.equal(labels[3].attributes["data-act"], undefined);
});

test("the scale of a strip", () => {
  assert.deepEqual(stripScale([0, 2, NaN, Infinity]), {
    low: 0,
    high: 2,
    log: false,
    under: false,
  });
  assert.deepEqual(stripScale([NaN]), { low: 0, high: 1, log: false, under: false });
  assert.deepEqual(stripScale([0.05, 2], { log: true }), {
    low: 0.01,
    high: 2,
    log: true,
    under: false,
  });
  const wide = stripScale([1e-9, 20], { log: true });
  assert.ok(Math.abs(wide.low - 0.01) < 1e-12 && wide.under); // four decades below 100
  assert.equal(stripScale([3], { high: 5 }).high, 5);
});

test("a bar's length", () => {
  const log = { low: 0.01, high: 1, log: true };
  const lengths = [0, 0.001, 0.01, 0.1, 1, 5, Infinity].map((x) => barShare(x, log));
  lengths.forEach((x, i) => assert.ok(Math.abs(x - [0, 0, 0, 0.5, 1, 1, 1][i]) < 1e-12));
  assert.equal(barShare(1, { low: 0, high: 4, log: false }), 0.25);
  assert.ok(Number.isNaN(barShare(NaN, log)));
});

test("legends have numbers", () => {
  const log = { low: 0.01, high: 17.25, log: true };
  assert.equal(
    stripLegend("received", { ...log, under: true }).text,
    "received: 0.01 or less … 17.250, log scale",
  );
  assert.equal(stripLegend("entropy", { low: 0, high: 2, log: false }).text, "entropy: 0 … 2.000");
  assert.deepEqual(rangeWords({ low: 0, high: 0.25, over: true }), ["0", "0.250 or more"]);
  const grid = gridOf([[NaN, null]]);
  assert.deepEqual(othersOf(grid), { hidden: true, nan: true });
  assert.deepEqual(othersOf(gridOf([[0, 1]])), { hidden: false, nan: false });
  const unseen = gridOf([[NaN, 1]], { visible: Uint8Array.from([0, 1]) });
  assert.deepEqual(othersOf(unseen), { hidden: true, nan: false });
  assert.deepEqual(othersOf(gridOf([[0, 1]], { sink: [NaN] })), { hidden: false, nan: true });
  const colors = heatColors("light");
  assert.equal(heatLegend(grid, { low: 0, high: 1 }, colors).text, "weight01.000hiddenNaN");
  assert.match(rampGradient(colors), /^linear-gradient\(90deg, #fdf6da, .*, #250b3d\)$/);
});
