import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readable } from "../src/readable.js";

const cases = JSON.parse(
  readFileSync(new URL("../../tests/browser/readable_cases.json", import.meta.url), "utf8"),
);

test("tokens are spelt out as tokens.py spells them", () => {
  assert.ok(cases.length > 20);
  for (const [token, shown] of cases) assert.equal(readable(token), shown);
});

test("what is readable stays as it is", () => {
  for (const [, shown] of cases) assert.equal(readable(shown), shown);
});
