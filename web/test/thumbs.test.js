import assert from "node:assert/strict";
import { test } from "node:test";
import { exportCommand } from "../src/saving.js";
import { briefly } from "../src/thumbs.js";

test("a weight below a thumbnail has two decimals, or its first digit", () => {
  const shown = [1, 0.849, 0.01, 0.0096, 0.004, 0.00096, 0.00023, 3e-7, 0, NaN].map(briefly);
  assert.deepEqual(shown, [
    "1.00",
    "0.84",
    "0.01",
    "0.01",
    "0.004",
    "0.001",
    "2e−4",
    "3e−7",
    "0.00",
    "NaN",
  ]);
});

test("the export command names what is there, or there is none", () => {
  const capture = /** @type {any} */ ({ capture: "given", source: "lookup", about: {} });
  assert.equal(exportCommand(capture), 'sl.export_html(look, "page.html")');
  assert.equal(exportCommand({ ...capture, about: { made: "one forward pass" } }), null);
  assert.equal(
    exportCommand({ ...capture, source: "file" }),
    "softlookup export FILE -o page.html",
  );
  assert.equal(
    exportCommand({ ...capture, source: "file", capture: "sentence" }),
    "softlookup export sentence -o page.html",
  );
});
