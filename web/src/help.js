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
  [["G"], "to the grid of the opened head"],
  [["S"], "to the steps of the picked row, below"],
  [["Escape"], "back to the thumbnails"],
  [["V"], "heads or steps"],
  [["M"], "the map of the opened head"],
  [["C"], "copy the ledger as text"],
  [["L"], "copy a link to this place"],
];

/** @type {readonly [string[], string][]} */
const MAP_KEYS = [
  [["←", "→", "↑", "↓"], "move; with Shift by one token"],
  [["+", "−", "0"], "nearer, farther, the whole head (also the wheel; a double click: nearer)"],
  [["L"], "hold the read-out, or let it go (also a click)"],
  [["Enter"], "pick the query and key of the read-out: lists and steps"],
  [["G"], "go to a query and a key: positions, or tokens"],
  [["S"], "fly to the strongest link in view, and hold it; again: to the next"],
  [["M"], "strongest weight or share"],
  [["B"], "keep this place as a bookmark"],
  [[",", "."], "the query before, the query after"],
  [["T"], "to the steps of the picked row, below"],
  [["Escape"], "close, let go, pick none"],
  [["V"], "the view of heads"],
  [["C"], "copy the held pair as a line of a table"],
  [["K"], "copy a link to this place"],
];

/** @type {readonly [string[], string][]} */
const TABLE_KEYS = [
  [["↑", "↓"], "among the rows (Home, End: first and last)"],
  [["Enter"], "open the head of the row; on a heading: sort by it, again: the other way round"],
  [["P"], "hold, or go on working out heads"],
  [["V"], "the view of heads"],
  [["C"], "copy the table as text"],
  [["L"], "copy a link to this place"],
];

/** @type {readonly [string, string][]} */
const WORDS = [
  [
    "entropy",
    "of a row: 0 where one key gets all weight; log of the number of keys where all get " +
      "the same. In nats",
  ],
  [
    "first-token share",
    "the weight that the first token gets, as a mean over the queries that see two keys " +
      "or more",
  ],
  [
    "token-before share",
    "the weight that a query gives to the token just before it, as a mean over the queries that " +
      "see it and another key: the previous-token score",
  ],
  [
    "mean distance",
    "how many tokens away the keys stand that a query reads, each by its weight; a mean over the " +
      "queries that see a key",
  ],
  [
    "special, punctuation, spaces, words",
    "the weight of all keys of that kind together, as a mean over the queries that see two keys or " +
      "more; special: what a tokenizer puts around a text, and padding. The first token counts apart",
  ],
  ["received", "what a key gets from all queries together"],
  [
    "strongest, share",
    "what a cell of a map shows: its largest single weight; or what its queries read there, summed " +
      "over its keys and averaged over its queries, so that a row of shares adds up to 1",
  ],
  [
    "sink",
    "a share that a learned sink takes: no key reads it. Only models that learned sinks " +
      "have it",
  ],
  ["so far", "in a list: the share of all that is read, by this line and those above it"],
  [
    "textbook, shifted",
    "softmax as it is written; and as programs compute it, with the row's largest score " +
      "subtracted first. The weights are the same",
  ],
  [
    "colours of tokens",
    "only names: they tell one token from another, here and in the ledger, and measure " +
      "nothing",
  ],
];

/** What the words beside the numbers mean, where they stand. */
export const MEANINGS = WORDS.slice(0, 3)
  .map(([word, text]) => `${word}: ${text}.`)
  .join("\n");

/** @param {readonly string[]} keys */
const keysOf = (keys) =>
  keys.flatMap((key, i) => (key === "…" ? [" … "] : [i ? " " : "", h("kbd", {}, key)]));

/** @returns {HTMLDialogElement} */
export function helpDialog() {
  const rows = (/** @type {readonly [string[], string][]} */ list) =>
    list.map(([keys, text]) =>
      h("tr", {}, h("th", { scope: "row" }, keysOf(keys)), h("td", {}, text)),
    );
  const meanings = WORDS.map(([word, text]) =>
    h("tr", {}, h("th", { scope: "row" }, word), h("td", {}, text)),
  );
  const part = (
    /** @type {import("./types.js").ViewName} */ view,
    /** @type {string} */ title,
    /** @type {readonly [string[], string][]} */ list,
  ) =>
    h(
      "section",
      { "data-view": view },
      h("h2", {}, title),
      h("table", {}, h("tbody", {}, rows(list))),
    );
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title", tabindex: -1 }, "Keys"),
    h(
      "div",
      { class: "views" },
      part("steps", "In the view of steps", KEYS),
      part("heads", "In the view of heads", HEAD_KEYS),
      part("map", "In the view of the map", MAP_KEYS),
      part("table", "In the table of all heads", TABLE_KEYS),
    ),
    h("h2", {}, "Words"),
    h("table", {}, h("tbody", {}, meanings)),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
  );
  return /** @type {HTMLDialogElement} */ (dialog);
}

/** The keys of the view that is open come first.
 * @param {HTMLDialogElement} dialog @param {import("./types.js").ViewName} view */
export function openHelp(dialog, view) {
  const parts = dialog.querySelector(".views");
  const all = [...(parts?.children ?? [])];
  const order = ["steps", "heads", "map", "table"];
  const place = (/** @type {Element} */ part) => {
    const name = part.getAttribute("data-view") ?? "";
    return name === view ? -1 : order.indexOf(name);
  };
  parts?.append(...all.sort((a, b) => place(a) - place(b)));
  dialog.showModal();
  dialog.querySelector("h2")?.focus();
  dialog.scrollTop = 0;
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
    [["G"], "grid"],
    [["S"], "steps of the row"],
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

/** The first few keys of the map view. */
export function mapFooter() {
  const pairs = /** @type {[string[], string][]} */ ([
    [["←", "→", "↑", "↓"], "move"],
    [["+", "−", "0"], "near, far, whole"],
    [["L"], "hold"],
    [["Enter"], "pick"],
    [["G"], "go to"],
    [["S"], "strongest in view"],
    [["M"], "strongest or share"],
    [["B"], "bookmark"],
    [["?"], "all keys"],
  ]);
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`)),
  );
}

/** The first few keys of the table. */
export function tableFooter() {
  const pairs = /** @type {[string[], string][]} */ ([
    [["↑", "↓"], "row"],
    [["Enter"], "open; sort, on a heading"],
    [["P"], "hold, go on"],
    [["V"], "heads"],
    [["?"], "all keys"],
  ]);
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`)),
  );
}

/** @param {number} queries @param {boolean} lesson  the exercise stands beside it */
export function footer(queries, lesson) {
  const pairs = /** @type {[string[], string][]} */ ([
    [["Space"], "next step"],
    [["Backspace"], "back"],
    [["←", "→"], "key"],
    [["↑", "↓"], "step"],
    [queries > 1 ? ["1", "…", String(Math.min(9, queries))] : ["1"], "query"],
    [["E"], "change numbers"],
    ...(lesson ? [[["X"], "exercise"]] : []),
    [["?"], "all keys"],
  ]);
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`)),
  );
}
