// The keys, in one list: the dialog shows them and the footer the first few.
import { h } from "./dom.js";

/** @type {readonly [string[], string][]} */
const KEYS = [
  [["Space"], "next step, then the next query"],
  [["Backspace"], "one step back (also Shift + Space)"],
  [["A"], "show all steps of this query"],
  [["1", "…", "9"], "let this token ask"],
  [[",", "."], "the query before, the query after"],
  [["←", "→", "↑", "↓"], "move the cursor in the ledger (Home, End: first and last column)"],
  [["E"], "go to the numbers of the tokens; arrows move, Enter changes a number, Escape leaves it"],
  [["+", "N"], "add a token, rename the marked one"],
  [["U"], "reset to the numbers as they came"],
  [["S"], "scale on or off"],
  [["R"], "textbook or shifted reading of softmax"],
  [["M"], "all queries at once; arrows move through the scores"],
  [["X"], "go to the exercise; Enter checks the answer, Escape leaves it"],
  [["Y"], "another exercise of this skill"],
  [["[", "]"], "the section of the lesson before, after"],
  [["C"], "copy the ledger as text"],
  [["L"], "copy a link to this place"],
  [["?"], "this list"],
];

/** @type {readonly [string[], string][]} */
const HEAD_KEYS = [
  [["←", "→", "↑", "↓"], "among thumbnails, in the grid, in the text, in the ledger"],
  [["Enter"], "open a thumbnail; pick the query and key under the cursor of the grid"],
  [["Shift + Enter"], "compare a thumbnail with the opened head"],
  [[",", "."], "the query before, the query after"],
  [["W"], "words instead of tokens"],
  [["F"], "colours with or without the first key"],
  [["R"], "textbook or shifted reading of softmax"],
  [["Escape"], "back to the thumbnails"],
  [["V"], "heads or steps"],
  [["C"], "copy the ledger as text"],
  [["L"], "copy a link to this place"],
];

/** @param {readonly string[]} keys */
const keysOf = (keys) =>
  keys.flatMap((key, i) => (key === "…" ? [" … "] : [i ? " " : "", h("kbd", {}, key)]));

/** @returns {HTMLDialogElement} */
export function helpDialog() {
  const rows = (/** @type {readonly [string[], string][]} */ list) =>
    list.map(([keys, text]) =>
      h("tr", {}, h("th", { scope: "row" }, keysOf(keys)), h("td", {}, text)),
    );
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"),
    h("table", {}, h("tbody", {}, rows(KEYS))),
    h("h2", {}, "In the view of heads"),
    h("table", {}, h("tbody", {}, rows(HEAD_KEYS))),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
  );
  return /** @type {HTMLDialogElement} */ (dialog);
}

/** Where the clipboard refuses, the text to take by hand.  @returns {HTMLDialogElement} */
export function copyDialog() {
  const dialog = h(
    "dialog",
    { class: "copy", "aria-labelledby": "copy-title" },
    h("h2", { id: "copy-title" }, "Copy this text"),
    h("textarea", { readonly: true, "aria-labelledby": "copy-title" }),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
  );
  return /** @type {HTMLDialogElement} */ (dialog);
}

/** The first few keys of the heads view. */
export function headsFooter() {
  const pairs = /** @type {[string[], string][]} */ ([
    [["←", "→", "↑", "↓"], "move"],
    [["Enter"], "open, pick"],
    [[",", "."], "query"],
    [["W"], "words"],
    [["F"], "colours"],
    [["Escape"], "thumbnails"],
    [["?"], "all keys"],
  ]);
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`)),
  );
}

/** @param {number} queries */
export function footer(queries) {
  const pairs = /** @type {[string[], string][]} */ ([
    [["Space"], "next step"],
    [["Backspace"], "back"],
    [["←", "→"], "key"],
    [["↑", "↓"], "step"],
    [queries > 1 ? ["1", "…", String(Math.min(9, queries))] : ["1"], "query"],
    [["E"], "change numbers"],
    [["X"], "exercise"],
    [["?"], "all keys"],
  ]);
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`)),
  );
}
