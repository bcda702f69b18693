import { h } from "./dom.js";
import { readable } from "./readable.js";

/** @typedef {import("./types.js").State} State */

/**
 * What is open, in its own words.
 * @param {import("./types.js").Info} info
 */
export function titleOf({ source, title }) {
  if (source === "lesson") return "Lesson";
  return title === "" ? "a lookup" : readable(title);
}

/** @param {State} state */
export function header({ info }) {
  const act = (
    /** @type {string} */ name,
    /** @type {string} */ text,
    /** @type {string} */ label,
  ) => h("button", { type: "button", "data-act": name, "aria-label": label, title: label }, text);
  return h(
    "header",
    { "data-key": "header" },
    h("h1", { class: "mark" }, "softlookup"),
    h("span", { class: info.source === "lesson" ? "title" : "title own" }, h("bdi", {}, titleOf(info))),
    h(
      "span",
      { class: "acts" },
      act("copy", "copy", "copy the ledger as text"),
      act("link", "link", "copy a link to this place"),
      act("help", "?", "all keys"),
    ),
  );
}

/** What was just done, and what stands in the way.  @param {State} state */
export function notices({ notice, offline }) {
  return [
    h("p", { class: "notice", role: "status", "data-key": "notice" }, notice),
    offline
      ? h(
          "div",
          { class: "offline", role: "alert", "data-key": "offline" },
          h("p", {}, offline),
          h("button", { type: "button", class: "plain", "data-act": "retry" }, "Try again"),
        )
      : h("div", { "data-key": "online" }),
  ];
}
