import assert from "node:assert/strict";
import { test } from "node:test";

import { traceRow } from "../src/arithmetic.js";
import { lightsOf } from "../src/lights.js";
import { readout } from "../src/readout.js";
import { ledgerRows, rowNote, stepsOf } from "../src/steps.js";

const vectors = [
  [1, 0],
  [0, 1],
  [1, 1],
];
const base = {
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
};
const plain = traceRow(base, 0);
const full = traceRow(
  { ...base, softcap: 5, sink: 0.5, bias: [[0.25, 0, 0]], visible: [[true, true, false]] },
  0,
);
const options = { reading: "textbook", scaled: true };
const texts = (record, id, how = options) =>
  ledgerRows(record, how)
    .find((row) => row.id === id)
    .cells.map(({ text }) => text);

test("steps that change nothing are left out", () => {
  assert.deepEqual(stepsOf(plain, "textbook"), ["score", "scaled", "exp", "weight", "reads"]);
  assert.deepEqual(stepsOf(full, "shifted"), [
    "score",
    "scaled",
    "capped",
    "biased",
    "visible",
    "shifted",
    "exp",
    "weight",
    "reads",
  ]);
});

test("the ledger of the worked example", () => {
  assert.deepEqual(texts(plain, "score"), ["1", "0", "1", ""]);
  assert.deepEqual(texts(plain, "exp"), ["2.028", "1.000", "2.028", "5.056"]);
  assert.deepEqual(texts(plain, "exp", { ...options, reading: "shifted" }), [
    "1.000",
    "0.493",
    "1.000",
    "2.493",
  ]);
  assert.deepEqual(texts(plain, "weight"), ["0.401", "0.198", "0.401", "1.000"]);
  assert.equal(texts(plain, "reads").at(-1), "[0.802, 0.599]");
});

test("small weights of one row are written alike", () => {
  const row = { ...plain, weights: [0.0009, 4.1e-4, 0.99869], exp: [963.979, 439.1, 1069657.2] };
  const record = { ...row, exp_sum: 1071060.279 };
  assert.deepEqual(texts(record, "weight"), ["0.00090", "0.00041", "0.99869", "1.00000"]);
  const at = { step: "weight", column: 0 };
  assert.equal(readout(record, at, options).formula, "963.979 ÷ 1071060.279 = 0.00090");
  const sum = readout(record, { step: "weight", column: 3 }, options).formula;
  assert.equal(sum, "0.00090 + 0.00041 + 0.99869 = 1.00000");
});

test("hidden keys say so from the softmax on; the sink has no value", () => {
  assert.equal(texts(full, "score")[2], "1");
  for (const id of ["visible", "exp", "weight", "reads"])
    assert.equal(texts(full, id)[2], "hidden");
  assert.equal(texts(full, "reads")[3], "no value");
});

test("a row that overflows says so in the textbook form and has its weights in the shifted one", () => {
  const large = traceRow({ ...base, scale: 1000 }, 0);
  assert.deepEqual(texts(large, "exp"), ["overflow", "1.000", "overflow", "overflow"]);
  assert.deepEqual(texts(large, "weight"), ["—", "—", "—", "—"]);
  assert.match(rowNote(large, "textbook"), /more than a float64 can hold/);
  assert.deepEqual(texts(large, "weight", { ...options, reading: "shifted" }), [
    "0.500",
    "0.000",
    "0.500",
    "1.000",
  ]);
  assert.equal(rowNote(large, "shifted"), null);
  const small = traceRow({ ...base, bias: [Array(3).fill(-1000)] }, 0);
  assert.match(rowNote(small, "textbook"), /less than a float64 can hold/);
});

test("every cell has its arithmetic and every light is a cell", () => {
  for (const record of [plain, full]) {
    for (const reading of ["textbook", "shifted"]) {
      const rows = ledgerRows(record, { reading, scaled: true });
      for (const { id, cells } of rows) {
        cells.forEach((_, column) => {
          const { formula, exactly } = readout(
            record,
            { step: id, column },
            { reading, scaled: true },
          );
          assert.ok(`${formula}${exactly}`.length > 0);
          for (const mark of lightsOf(record, { step: id, column }, reading)) {
            const [step, c] = mark.split(":");
            if (c !== undefined && !["query", "key", "value"].includes(step)) {
              assert.ok(
                rows.some((row) => row.id === step && row.cells[Number(c)]),
                `${id}:${column} lights ${mark}`,
              );
            }
          }
        });
      }
    }
  }
});

test("weights that sum to 1 but for the rounding of float64 say so", () => {
  const said = (/** @type {object} */ more, column = 3) =>
    readout({ ...plain, ...more }, { step: "weight", column }, options).exactly;
  assert.equal(said({ weights_sum: 1 }), "exactly 1");
  assert.equal(
    said({ weights_sum: 1 - 2 ** -53 }),
    "in float64 0.9999999999999999; without rounding exactly 1",
  );
  assert.equal(said({ weights_sum: NaN }), "exactly NaN");
  assert.equal(said({ weights_sum: 0 }), "exactly 0", "a row that sees no key");
  const sink = { logit: -40, exp: 1e-17, shifted_exp: 1e-17, weight: 1e-17 };
  assert.equal(said({ weights_sum: 1 - 2 ** -53, sink }, 4), "exactly 0.9999999999999999");
});

test("the arithmetic under the cursor", () => {
  const line = (step, column, how = options) => readout(plain, { step, column }, how);
  assert.equal(line("score", 0).formula, "1·1 + 0·0 = 1");
  assert.equal(line("scaled", 0).formula, "1 ÷ 1.414 = 0.707");
  assert.equal(line("exp", 0).formula, "exp(0.707) = 2.028");
  assert.match(line("exp", 0).exactly, /^= e\^0\.707107, exactly 2\.02811498164747/);
  assert.equal(line("exp", 3).formula, "2.028 + 1.000 + 2.028 = 5.056");
  assert.equal(line("weight", 1).formula, "1.000 ÷ 5.056 = 0.198");
  assert.equal(
    line("shifted", 1, { ...options, reading: "shifted" }).formula,
    "0.000 − 0.707 = −0.707",
  );
  assert.equal(
    line("reads", 3).formula,
    "0.401·[1, 0] + 0.198·[0, 1] + 0.401·[1, 1] = [0.802, 0.599]",
  );
});
