import assert from "node:assert/strict";
import { test } from "node:test";

import { numbersIn, unframed } from "../src/frame.js";

const framed = (json, bytes) => {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const buffer = new ArrayBuffer(start + bytes.length);
  new DataView(buffer).setUint32(0, text.length, true);
  new Uint8Array(buffer).set(text, 4);
  new Uint8Array(buffer).set(bytes, start);
  return buffer;
};

test("a framed answer is its JSON and its bytes, whatever the JSON's length", () => {
  const numbers = new Float64Array([0.1, NaN, -Infinity]);
  const bytes = new Uint8Array([...new Uint8Array(numbers.buffer), 1, 0, 1]);
  for (let length = 0; length < 17; length += 1) {
    const json = { what: "ü".repeat(length) };
    const found = unframed(framed(json, bytes));
    assert.deepEqual(found.json, json);
    assert.deepEqual(numbersIn(found.bytes, Float64Array, 0, 3), numbers);
    assert.deepEqual([...numbersIn(found.bytes, Uint8Array, 24, 3)], [1, 0, 1]);
  }
});

test("numbers that lie unevenly are copied", () => {
  const bytes = new Uint8Array(13);
  bytes.set(new Uint8Array(new Float64Array([2.5]).buffer), 3);
  assert.deepEqual([...numbersIn(bytes.subarray(3), Float64Array, 0, 1)], [2.5]);
});

test("a frame that is cut is refused, never read past its end", () => {
  assert.throws(() => unframed(new ArrayBuffer(2)));
  assert.throws(() => unframed(new Uint8Array([255, 255, 255, 255, 0]).buffer));
  const short = unframed(framed({}, new Uint8Array(8)));
  assert.throws(() => numbersIn(short.bytes, Float64Array, 0, 2), RangeError);
});
