// What is under the cursor, in one line: the formula, and its number to the last digit.
import { h } from "./dom.js";
import { isolated } from "./heads_words.js";

/** @param {{formula: string, exactly: string}} words */
export const glance = ({ formula, exactly }) =>
  h(
    "span",
    { "data-glance": "pair" },
    h("span", { class: "formula" }, isolated(formula)),
    formula && exactly ? " " : "",
    h("span", { class: "exactly" }, isolated(exactly)),
  );
