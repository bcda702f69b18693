import assert from "node:assert/strict";
import { test } from "node:test";
import { exportCommand } from "../src/saving.js";

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
