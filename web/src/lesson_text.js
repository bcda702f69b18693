// The words of the lesson: a list of its sections, the one that is open, and the recap.
import { h } from "./dom.js";
import { prose } from "./prose.js";

/** @typedef {import("./types.js").State} State */

/** @param {State} state */
export function contentsPart({ lesson, section }) {
  const items = lesson.sections.map(({ title }, i) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "link",
          "data-act": "section",
          "data-arg": i,
          "aria-current": i === section ? "true" : null,
        },
        prose(title),
      ),
    ),
  );
  return h(
    "nav",
    { class: "contents-part", "data-key": "contents", "aria-labelledby": "contents-title" },
    h("h2", { id: "contents-title" }, "The lesson in words"),
    h("ol", {}, items),
  );
}

/** @param {State} state */
export function articlePart({ lesson, section }) {
  const index = Math.min(section, lesson.sections.length - 1);
  const open = lesson.sections[index];
  if (!open) return null;
  const turn = (
    /** @type {string} */ arg,
    /** @type {string} */ text,
    /** @type {boolean} */ off,
  ) =>
    h(
      "button",
      { type: "button", class: "link", "data-act": "section", "data-arg": arg, disabled: off },
      text,
    );
  return h(
    "article",
    { class: "article-part", "data-key": "article", "aria-labelledby": "article-title" },
    h("h2", { id: "article-title", class: "headline", tabindex: -1 }, prose(open.title)),
    open.paragraphs.map((text) => h("p", {}, prose(text))),
    open.tables.map(figure),
    h(
      "div",
      { class: "turns" },
      turn("back", "previous", index === 0),
      h("span", { class: "quiet" }, `${index + 1} of ${lesson.sections.length}`),
      turn("next", "next", index === lesson.sections.length - 1),
    ),
  );
}

/** @param {State["lesson"]["sections"][number]["tables"][number]} table */
function figure(table) {
  const rows = table.rows.map((row) =>
    h(
      "tr",
      {},
      row.map((text, i) =>
        i === 0 ? h("th", { scope: "row" }, prose(text)) : h("td", {}, prose(text)),
      ),
    ),
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "figures" },
      h("caption", {}, prose(table.caption)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          table.columns.map((name) => h("th", { scope: "col" }, prose(name))),
        ),
      ),
      h("tbody", {}, rows),
    ),
  );
}

/** @param {State} state */
export function recapPart({ lesson }) {
  return h(
    "section",
    { class: "recap-part", "data-key": "recap", "aria-labelledby": "recap-title" },
    h("h2", { id: "recap-title" }, "In five points"),
    h(
      "ol",
      { class: "recap" },
      lesson.recap.map((text) => h("li", {}, prose(text))),
    ),
  );
}
