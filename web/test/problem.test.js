import assert from "node:assert/strict";
import { test } from "node:test";

import { addToken, changeDimension, removeToken, rename, setNumber } from "../src/edits.js";
import { isPaired, problemOf, unedited } from "../src/problem.js";

const info = {
  tokens: ["a", "b", "c"],
  key_tokens: ["a", "b", "c"],
  options: { causal: true, window: [1, null] },
};
const arrays = {
  query: [
    [1, 0],
    [0, 1],
    [1, 1],
  ],
  key: [
    [1, 0],
    [0, 1],
    [1, 1],
  ],
  value: [[1], [2], [3]],
  visible: [
    [true, false, false],
    [false, true, false],
    [false, true, true],
  ], // 1 -> 0 by a mask, 2 -> 0 by the window
  bias: [
    [0, 0, 0],
    [0, 1, 0],
    [0, 2, 3],
  ],
  sink: null,
  scale: 2 ** -0.5,
  softcap: null,
  q_offset: 0,
};
const first = unedited(info, arrays);

test("without an edit the problem is what came", () => {
  const problem = problemOf(info, arrays, first, true);
  assert.deepEqual(problem.visible, arrays.visible);
  assert.equal(problem.scale, arrays.scale);
});

test("a mask follows its tokens, a window their positions", () => {
  const edit = removeToken(first, true, "query", 1);
  const problem = problemOf(info, arrays, edit, true);
  assert.deepEqual(problem.visible, [
    [true, false],
    [true, true],
  ]); // c now stands beside a, inside the window
  assert.deepEqual(problem.bias, [
    [0, 0],
    [0, 3],
  ]);
  const more = problemOf(info, arrays, addToken(edit, true, "query"), true);
  assert.deepEqual(more.visible[2], [false, true, true]);
  assert.deepEqual(more.bias[2], [0, 0, 0]);
});

test("the default scale follows the dimensions, a chosen one stays", () => {
  const wider = changeDimension(changeDimension(first, "head_dim", 1), "head_dim", 1);
  assert.equal(problemOf(info, arrays, wider, true).scale, 0.5);
  assert.equal(problemOf(info, { ...arrays, scale: 3 }, wider, true).scale, 3);
  assert.equal(problemOf(info, arrays, wider, false).scale, 1);
  assert.deepEqual([wider.query[0], wider.value[0]], [[1, 0, 0, 0], [1]]);
});

test("edits leave the numbers they came from alone", () => {
  const frozen = JSON.stringify(first);
  const named = rename(first, true, "query", 0, "x");
  assert.deepEqual([named.tokens[0], named.key_tokens[0]], ["x", "x"]);
  assert.deepEqual(rename(first, false, "key", 0, "x").tokens, first.tokens);
  assert.equal(setNumber(first, { side: "key", row: 1, col: 1 }, 9).key[1][1], 9);
  assert.deepEqual(addToken(first, false, "key").key_tokens, ["a", "b", "c", "4"]);
  assert.equal(JSON.stringify(first), frozen);
});

test("one table where queries and keys are the same tokens", () => {
  assert.ok(isPaired(["a"], ["a"]));
  assert.ok(!isPaired(["a"], ["b"]));
  assert.ok(!isPaired(["a"], ["a", "b"]));
});
