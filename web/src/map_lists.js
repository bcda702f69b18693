// Lists beside the map: what the picked query reads, what reads the picked key, kept places.
import { kindOf, noteOf } from "./capture_info.js";
import { shortName } from "./chip.js";
import { colorClass } from "./color.js";
import { h } from "./dom.js";
import { isolated } from "./heads_words.js";
import { positionWords } from "./map_axes.js";
import { isWithinReach } from "./map_scene.js";
import { partWords, placed } from "./map_words.js";
import { alike } from "./numbers.js";
import { readable } from "./readable.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./map_scene.js").Link} Link */
/** @typedef {import("./map_scene.js").Links} Links */

/** @param {MapScene} scene */
export function listsPart(scene) {
  const { state, queries, keys } = scene;
  if (!state.picked && state.key === null) {
    return h(
      "p",
      { class: "quiet", "data-key": "no lists" },
      "Pick a query (its label at the left, or Enter on a pair) to see what it reads, and every " +
        "step of it; pick a key (its label above) to see what reads it.",
    );
  }
  return h(
    "div",
    { class: "map-lists", "data-key": "lists" },
    state.picked &&
      linksList(scene, "from", `Query ${placed(queries, state.row)} reads`, scene.from),
    state.key !== null &&
      linksList(scene, "by", `Key ${placed(keys, state.key)} is read by`, scene.by),
  );
}

/**
 * @param {MapScene} scene
 * @param {"from" | "by"} which
 * @param {string} title
 * @param {Links} list
 */
function linksList(scene, which, title, { links, refused }) {
  const id = `map-${which}`;
  return h(
    "section",
    { class: "reads-part", "data-key": id, "aria-labelledby": id },
    h("h2", { id }, isolated(title)),
    links?.length
      ? table(scene, which, id, links)
      : h("p", { class: "quiet" }, links ? nothing(which) : refused || waiting(scene, which)),
  );
}

/** @param {"from" | "by"} which */
const nothing = (which) => (which === "from" ? "no visible keys: it reads nothing" : "no query");

/** @param {MapScene} scene @param {"from" | "by"} which */
function waiting(scene, which) {
  if (which === "from" || isWithinReach(scene)) return "Asking for this list …";
  return scene.info?.refused
    ? "This list needs the whole map, which is too large here."
    : "This list is there once the map is whole.";
}

/** @param {MapScene} scene @param {"from" | "by"} which @param {string} id @param {Link[]} links */
function table(scene, which, id, links) {
  const axis = which === "from" ? scene.keys : scene.queries;
  const name = which === "from" ? "key" : "query";
  const write = alike(links.map(({ weight }) => weight));
  const line = (/** @type {Link} */ link, /** @type {number} */ i) => {
    const at = which === "from" ? link.key : link.query;
    const bar = Number.isFinite(link.weight) ? Math.max(0, Math.min(1, link.weight)) : 0;
    return h(
      "tr",
      { "data-key": String(at) },
      h("th", { scope: "row" }, token(axis, at, i === 0, `${link.query}:${link.key}`)),
      h("td", { class: "so-far" }, positionWords(at)),
      h(
        "td",
        { class: "weight", vars: { "--w": String(bar) }, title: String(link.weight) },
        write(link.weight),
      ),
    );
  };
  return h(
    "table",
    { class: "reads", "aria-labelledby": id },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["token", name, "weight"].map((word) => h("th", { scope: "col" }, word)),
      ),
    ),
    h("tbody", {}, links.map(line)),
  );
}

/**
 * @param {import("./types.js").AxisInfo} axis
 * @param {number} at
 * @param {boolean} first  Tab reaches the first line; arrows lead to the others
 * @param {string} pair
 */
function token(axis, at, first, pair) {
  const { tokens } = axis;
  const note = noteOf(axis, at);
  return h(
    "button",
    {
      type: "button",
      class: `chip ${colorClass(at)} later ${kindOf(axis, at)}`,
      "data-act": "map-link",
      "data-arg": pair,
      tabindex: first ? 0 : -1,
      title: `${readable(tokens[at])}${note}`,
      "aria-label": `go to ${shortName(tokens[at])} at ${at}${note}`,
    },
    h("bdi", {}, shortName(tokens[at])),
  );
}

/** The strongest links of a view that was asked about.  @param {MapScene} scene */
export function tourPart(scene) {
  const { tour } = scene.state.map;
  if (!tour) return null;
  const heads = ["query → key", "weight"].map((word) => h("th", { scope: "col" }, word));
  const write = alike(tour.links.map(({ weight }) => weight));
  return h(
    "section",
    { class: "reads-part map-tour", "data-key": "tour", "aria-labelledby": "tour-title" },
    h(
      "div",
      { class: "titled" },
      h("h2", { id: "tour-title" }, "Strongest links of that view"),
      h("button", { type: "button", class: "link", "data-act": "map-tour-close" }, "close"),
    ),
    h(
      "table",
      { class: "reads", "aria-labelledby": "tour-title" },
      h("thead", {}, h("tr", {}, heads)),
      h(
        "tbody",
        {},
        tour.links.map((link, i) => tourLine(scene, i, write(link.weight))),
      ),
    ),
    h("p", { class: "quiet" }, tourNote(tour)),
  );
}

/** @param {NonNullable<import("./types.js").MapState["tour"]>} tour */
function tourNote(tour) {
  const part = partWords(tour);
  const next = tour.links.length > 1 ? "S leads to the next one." : "";
  return part ? `Only ${part}: ask again when the map is whole. ${next}` : next;
}

/**
 * The positions, and below them the tokens.
 * @param {MapScene} scene
 * @param {number} i
 * @param {string} number
 */
function tourLine({ state, queries, keys }, i, number) {
  const { tour } = state.map;
  if (!tour) return null;
  const { query, key, weight } = tour.links[i];
  const here = i === tour.at; // the map is there
  const from = noteOf(queries, query);
  const upTo = noteOf(keys, key);
  const go = h(
    "button",
    {
      type: "button",
      class: "link",
      "data-act": "map-tour",
      "data-arg": i,
      "aria-current": here ? "true" : null,
      tabindex: here ? 0 : -1,
    },
    h("span", {}, `${positionWords(query)} → ${positionWords(key)} `),
    h(
      "small",
      {},
      h("bdi", {}, shortName(queries.tokens[query])),
      `${from} → `,
      h("bdi", {}, shortName(keys.tokens[key])),
      upTo,
    ),
  );
  return h(
    "tr",
    { "data-key": `${query}:${key}` },
    h("th", { scope: "row" }, go),
    h("td", { title: String(weight) }, number),
  );
}

/** Places that were kept.  @param {MapScene} scene */
export function marksPart({ state, queries, keys, size }) {
  const { marks } = state.map;
  if (!marks.length) return null;
  const line = (/** @type {import("./types.js").Bookmark} */ mark, /** @type {number} */ i) => {
    if (mark.query >= size.rows || mark.key >= size.keys) return null;
    const words = `${placed(queries, mark.query)} → ${placed(keys, mark.key)}`;
    return h(
      "li",
      { "data-key": `${mark.query}:${mark.key}:${mark.z}:${mark.lock}` },
      h(
        "button",
        { type: "button", class: "link", "data-act": "map-mark-go", "data-arg": i },
        isolated(words),
      ),
      h(
        "button",
        {
          type: "button",
          class: "step-by",
          "data-act": "map-unmark",
          "data-arg": i,
          "aria-label": `remove the bookmark of query ${mark.query}, key ${mark.key}`,
        },
        "×",
      ),
    );
  };
  return h(
    "section",
    { class: "map-marks", "data-key": "marks", "aria-labelledby": "marks-title" },
    h("h2", { id: "marks-title" }, "Bookmarks: query → key"),
    h("ol", {}, marks.map(line)),
  );
}
