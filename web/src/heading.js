// The heading of a column, which sorts a table of heads.
import { h } from "./dom.js";
import { BY_HEAD } from "./table_scene.js";

/**
 * @typedef {object} Heading
 * @property {string} id
 * @property {string} unit
 * @property {string} means
 */

/**
 * @param {Heading} column
 * @param {{by: string, down: boolean}} sorted
 * @param {Node | string} word
 * @param {{beside?: Node | false | "", below?: Node}} more
 */
export function headingOf({ id, unit, means }, { by, down }, word, { beside, below } = {}) {
  const way = by !== id ? "" : down ? " ▼" : " ▲";
  return h(
    "th",
    {
      scope: "col",
      "data-key": id,
      class: id === BY_HEAD ? "name" : "",
      "aria-sort": by === id ? (down ? "descending" : "ascending") : null,
    },
    h(
      "button",
      { type: "button", "data-act": "sort", "data-arg": id, title: means },
      h(
        "span",
        {},
        word,
        " ",
        h(
          "span",
          { class: "whole" },
          unit && h("small", {}, unit),
          h("i", { class: "way", "aria-hidden": "true" }, way),
        ),
        beside,
      ),
    ),
    below,
  );
}
