import { h } from "./dom.js";
import { readable } from "./readable.js";
import { hasTable } from "./table_scene.js";

/** @typedef {import("./types.js").State} State */

/**
 * What is open, in its own words.
 * @param {{source: string, title: string}} info
 */
export function titleOf({ source, title }) {
  if (source === "lesson") return "Lesson";
  return title === "" ? "a lookup" : readable(title);
}

/** @type {Partial<Record<State["view"], string>>} */
const COPIED = {
  map: "copy the held pair as a line of a table",
  table: "copy the table as text",
};

/** @param {State} state */
export function header({ info, capture, view, inFile, inCell }) {
  const act = (
    /** @type {string} */ name,
    /** @type {string} */ text,
    /** @type {string} */ label,
  ) => h("button", { type: "button", "data-act": name, "aria-label": label, title: label }, text);
  return h(
    "header",
    { "data-key": "header" },
    h("h1", { class: "mark" }, "softlookup"),
    shelf(capture),
    h(
      "span",
      { class: "acts" },
      (info.source !== "lesson" || view !== "steps") &&
        views(view, !inFile, hasTable(capture) && !inFile),
      act("copy", "copy", COPIED[view] ?? "copy the ledger as text"),
      !inCell && act("link", "link", "copy a link to this place"),
      act("help", "?", "all keys"),
    ),
  );
}

/**
 * What can be opened, and what is open: each by one name, at one place, opened or not.
 * @param {import("./types.js").CaptureInfo} capture
 */
function shelf({ shelf: items, capture, source, title }) {
  const name = titleOf(items.find(({ id }) => id === capture) ?? { source, title });
  const open = h(
    "span",
    {
      class: source === "lesson" ? "title" : "title own",
      "data-key": capture,
      "aria-current": "true",
      title: titleOf({ source, title }),
    },
    h("bdi", {}, name),
  );
  if (items.length < 2) return open;
  const buttons = items.map((item) =>
    item.id === capture
      ? open
      : h(
          "button",
          {
            type: "button",
            class: "shelved",
            "data-key": item.id,
            "data-act": "capture",
            "data-arg": item.id,
            title: titleOf(item),
          },
          h("bdi", {}, titleOf(item)),
        ),
  );
  return h("nav", { class: "shelf", "aria-label": "what can be opened" }, buttons);
}

/**
 * @param {State["view"]} view
 * @param {boolean} map  somebody works out maps
 * @param {boolean} table  and there are several heads to compare
 */
function views(view, map, table) {
  const one = (/** @type {State["view"]} */ name, /** @type {string} */ label) =>
    h(
      "button",
      {
        type: "button",
        "data-act": "view",
        "data-arg": name,
        "aria-pressed": String(name === view),
        title: label,
      },
      name,
    );
  return h(
    "span",
    { class: "choice", role: "group", "aria-label": "view" },
    map && one("map", "one head as one picture, from the whole to a single weight"),
    table && one("table", "all heads, as numbers to sort"),
    one("heads", "all heads, as pictures"),
    one("steps", "one head, step by step"),
  );
}

/**
 * What was just done, and what stands in the way: once, where the line of a cell says it already.
 * @param {State} state
 */
export function notices({ notice, offline, waits }) {
  const isSaid = offline !== null && waits.startsWith(offline);
  return [
    h("p", { class: "waits", role: "status", "data-key": "waits" }, waits),
    h("p", { class: "notice", role: "status", "data-key": "notice" }, notice),
    offline && !isSaid
      ? h(
          "div",
          { class: "offline", role: "alert", "data-key": "offline" },
          h("p", {}, offline),
          h("button", { type: "button", class: "plain", "data-act": "retry" }, "Try again"),
        )
      : h("div", { "data-key": "online" }),
  ];
}
