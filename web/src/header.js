import { h } from "./dom.js";
import { readable } from "./readable.js";

/** @typedef {import("./types.js").State} State */

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
    h("span", { class: "modes" }, h("b", { "aria-current": "page" }, "Lesson")),
    info.source !== "lesson" &&
      info.title !== "" &&
      h("span", { class: "title" }, h("bdi", {}, readable(info.title))),
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
