import assert from "node:assert/strict";
import { test } from "node:test";

import { traceRow } from "../src/arithmetic.js";

/** The worked example, with whatever a test changes. */
function problem(changes = {}) {
  const vectors = [
    [1, 0],
    [0, 1],
    [1, 1],
  ];
  return {
    tokens: ["1", "2", "3"],
    key_tokens: ["1", "2", "3"],
    query: vectors,
    key: vectors,
    value: vectors,
    visible: vectors.map(() => [true, true, true]),
    bias: null,
    sink: null,
    scale: 2 ** -0.5,
    softcap: null,
    q_offset: 0,
    ...changes,
  };
}

const near = (actual, expected) =>
  actual.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) < 5e-4, `${x}`));

test("the worked example", () => {
  const record = traceRow(problem(), 0);
  assert.deepEqual(record.products, [1, 0, 1]);
  near(record.scaled, [0.707, 0, 0.707]);
  near(record.exp, [2.028, 1, 2.028]);
  near([record.exp_sum, record.weights_sum], [5.056, 1]);
  near(record.weights, [0.401, 0.198, 0.401]);
  near(record.out, [0.802, 0.599]);
  near(traceRow(problem(), 1).out, [0.599, 0.802]);
});

test("a row without visible keys reads nothing", () => {
  const none = [false, false, false];
  const record = traceRow(problem({ visible: [none, none, none] }), 0);
  assert.deepEqual([record.weights, record.out, record.lse], [[0, 0, 0], [0, 0], -Infinity]);
  const sink = traceRow(problem({ visible: [none, none, none], sink: 2 }), 0);
  assert.deepEqual([sink.weights, sink.out, sink.lse, sink.sink.weight], [[0, 0, 0], [0, 0], 2, 1]);
});

test("hidden keys contribute nothing, whatever they hold", () => {
  const broken = [
    [1, 0],
    [NaN, Infinity],
    [1, 1],
  ];
  const record = traceRow(
    problem({ key: broken, value: broken, visible: [[true, false, true]] }),
    0,
  );
  near(record.out, [1, 0.5]);
  assert.deepEqual(record.contributions[1], [0, 0]);
});

test("NaN and +inf make their row NaN, -inf everywhere too", () => {
  for (const x of [NaN, Infinity]) {
    const record = traceRow(problem({ bias: [[x, 0, 0]], sink: 1 }), 0);
    assert.ok(
      [...record.weights, ...record.out, record.lse, record.sink.weight].every(Number.isNaN),
    );
  }
  const low = traceRow(problem({ bias: [Array(3).fill(-Infinity)] }), 0);
  assert.ok(low.weights.every(Number.isNaN));
  assert.equal(low.lse, -Infinity);
});

test("the shifted form holds where the textbook form overflows", () => {
  const record = traceRow(problem({ scale: 2000 }), 0);
  assert.equal(record.exp_sum, Infinity);
  assert.deepEqual(record.weights, [0.5, 0, 0.5]);
});

test("the keys that are not listed are summed", () => {
  const record = traceRow(problem({ bias: [[0, 5, 0]] }), 0, 2);
  assert.deepEqual(record.keys, [0, 1]); // of two equal ones the first
  assert.equal(record.rest.count, 1);
  const shown = record.weights[0] + record.weights[1];
  assert.ok(Math.abs(shown + record.rest.weight - 1) < 1e-15);
});

test("vectors without numbers have products of 0", () => {
  const record = traceRow(problem({ query: [[], [], []], key: [[], [], []], scale: 1 }), 0);
  assert.deepEqual(record.products, [0, 0, 0]);
});
