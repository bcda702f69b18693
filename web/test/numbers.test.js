import assert from "node:assert/strict";
import { test } from "node:test";

import { readdirSync, readFileSync } from "node:fs";
import {
  alike,
  briefly,
  counted,
  evenly,
  exact,
  fine,
  parseNumber,
  rounded,
  short,
  vector,
  withMinus,
} from "../src/numbers.js";

test("three decimals, and a power of ten where they say nothing", () => {
  const cases = [
    [0.70710678, "0.707"],
    [0, "0.000"],
    [-0, "0.000"],
    [-1.5, "−1.500"],
    [3.2e-5, "3.2e−5"],
    [0.0005, "0.001"],
    [-1e-9, "−1.0e−9"],
    [1e9, "1.000e9"],
    [1.9e304, "1.900e304"],
    [NaN, "NaN"],
    [Infinity, "∞"],
    [-Infinity, "−∞"],
  ];
  for (const [x, text] of cases) assert.equal(rounded(x), text);
});

test("in little room a number is rounded, never cut", () => {
  const cases = [
    [1, "1.00"],
    [0.687, "0.69"],
    [0.598, "0.60"],
    [0.995001, "1.00"],
    [0.125, "0.12"], // a tie
    [0.375, "0.38"],
    [0.01, "0.01"],
    [0.0096, "0.01"],
    [0.0094, "0.009"],
    [0.004, "0.004"],
    [0.00096, "0.001"],
    [0.0007, "7e−4"],
    [0.00046, "5e−4"],
    [3e-7, "3e−7"],
    [0, "0.00"],
    [NaN, "NaN"],
  ];
  for (const [x, text] of cases) assert.equal(briefly(x), text);
  for (let x = 0.01; x < 1; x += 0.00077)
    assert.ok(Math.abs(Number(briefly(x)) - x) <= 0.005 + 1e-12, String(x));
});

test("no other module writes digits of its own, or cuts a written number", () => {
  const folder = new URL("../src/", import.meta.url);
  const own = /\.to(?:Fixed|Precision|Exponential)\(/;
  const cut =
    /\b(?:alike|briefly|evenly|exact|exactAs|fine|rounded|short|small)\([^()]*\)\s*\.(?:slice|substr|substring|replace)\(/;
  const isStyle = /"--[a-z-]+":/; // a number of the style sheet
  for (const name of readdirSync(folder)) {
    if (name === "numbers.js") continue;
    readFileSync(new URL(name, folder), "utf8").split("\n").forEach((line, i) => {
      const wrong = (own.test(line) && !isStyle.test(line)) || cut.test(line);
      assert.ok(!wrong, `${name}:${i + 1}: ${line}`);
    });
  }
});

test("given numbers stay as they were typed where that is short", () => {
  const cases = [
    [1, "1"],
    [-0, "0"],
    [-0.5, "−0.5"],
    [0.125, "0.125"],
    [0.1234, "0.123"],
    [1 / 3, "0.333"],
  ];
  for (const [x, text] of cases) assert.equal(short(x), text);
});

test("exact numbers read back as the same float64", () => {
  for (const x of [0.1, 1 / 3, Math.PI * 1e200, -2.5e-300, 5e-324]) {
    assert.equal(Number(exact(x).replaceAll("−", "-")), x);
  }
});

test("long vectors say how much they leave out", () => {
  assert.equal(vector([1, 0], short), "[1, 0]");
  assert.equal(vector(Array(64).fill(1), short), "[1, 1, 1, … 61 more]");
  assert.equal(vector(Array(2000).fill(1), short), "[1, 1, 1, … 1997 more]");
});

test("the numbers of one row have the same number of decimals", () => {
  const row = (...numbers) => numbers.map(evenly(numbers));
  assert.deepEqual(row(1, 0, -2), ["1", "0", "−2"]);
  assert.deepEqual(row(1, 0.5), ["1.000", "0.500"]);
  assert.deepEqual(row(9, NaN), ["9.000", "NaN"]);
});

test("texts from the server get the page's minus sign, and keep their hyphens", () => {
  const minus = (text) => withMinus(text);
  assert.equal(minus("[[3, -3], [-2, 1]]"), "[[3, −3], [−2, 1]]");
  assert.equal(minus("3·(-2) + -1 = -7; -0.5"), "3·(−2) + −1 = −7; −0.5");
  assert.equal(minus("1.2e-05"), "1.2e−05");
  assert.equal(minus("dot-product, float-64, 2-D, pages 3-4"), "dot-product, float-64, 2-D, pages 3-4");
  assert.equal(minus("exp(-inf) = 0"), "exp(−inf) = 0");
  assert.equal(minus("3 - 2"), "3 − 2");
});

test("numbers are read as people write them", () => {
  const cases = [
    ["2", 2],
    [" -0.5 ", -0.5],
    ["−3", -3],
    ["1e3", 1000],
    [".5", 0.5],
    ["5.", 5],
    ["1/3", 1 / 3],
    ["+4", 4],
    ["-0", 0],
  ];
  for (const [text, number] of cases) assert.deepEqual(parseNumber(text), { number });
});

test("one thing is not several", () => {
  assert.equal(counted(1, "head"), "1 head");
  assert.equal(counted(0, "head"), "0 heads");
  assert.equal(counted(1200, "more row"), "1,200 more rows");
});

test("what is no number is answered by one sentence that names it", () => {
  for (const text of [
    "",
    "  ",
    "abc",
    "1,5",
    "1 2",
    "0x10",
    "Infinity",
    "NaN",
    "1/0",
    "1e999",
    "--1",
    "1/-2",
    "<b>",
  ]) {
    const answer = parseNumber(text);
    assert.ok("sentence" in answer, text);
    assert.ok(answer.sentence.endsWith("."), answer.sentence);
    assert.ok(answer.sentence.includes(text.trim() || "nothing"), answer.sentence);
  }
});

test("below 0.01 two digits are told, and a list has one form", () => {
  assert.deepEqual([0.00055, 0.0123, 0, -0.002].map(fine), ["5.5e−4", "0.012", "0.000", "−2.0e−3"]);
  const list = [0.80775, 0.00055, NaN, 25604.257];
  assert.deepEqual(list.map(alike(list)), ["0.80775", "0.00055", "NaN", "25604.25700"]);
  assert.deepEqual([2, 3.14159].map(alike([2, 3.14159])), ["2.000", "3.142"]);
  assert.deepEqual([0.5, 0.0123].map(alike([0.5, 0.0123])), ["0.500", "0.012"]);
  const tiny = [0.5, 3e-9, 0];
  assert.deepEqual(tiny.map(alike(tiny)), ["0.500", "3.0e−9", "0.000"]);
  assert.deepEqual([0, 0].map(alike([0, 0])), ["0.000", "0.000"]);
  assert.equal(alike([0.0099999])(0.0099999), "0.010");
});
