import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../src/host_error.js";

test("what a reader is told is a sentence that says what it is about", () => {
  for (const [message, argument, sentence] of [
    ["rows: must take at most 8 weights. Ask for fewer.", "rows", "Rows must take at most 8 weights. Ask for fewer."],
    ["words: are summed over the grid.", "words", "Words are summed over the grid."],
    ["answer: output 2 must be a number. Type one.", "answer", "Output 2 must be a number. Type one."],
    ["answer: must be one of a, b; got 'c'.", "answer", "Answer must be one of a, b; got 'c'."],
    ["The viewer does not answer.", "", "The viewer does not answer."],
  ])
    assert.equal(new HostError(message, "refused", argument).sentence, sentence);
});
