// Beside the map: the keys that receive most, the queries that spread their weight least and most.
import { kindOf, noteOf } from "./capture_info.js";
import { shortName } from "./chip.js";
import { colorClass } from "./color.js";
import { h } from "./dom.js";
import { positionWords } from "./map_axes.js";
import { alike } from "./numbers.js";
import { readable } from "./readable.js";
import { timeWords } from "./table_part.js";

/** @typedef {import("./map_builder.js").ProfileAnswer} ProfileAnswer */
/** @typedef {import("./types.js").AxisInfo} AxisInfo */
/** @typedef {Pick<import("./map_scene.js").MapScene, "profile" | "queries" | "keys" | "info">} Scene */
/** @typedef {{at: number, number: number, share: number}} Line  `share`: what the list is ordered by */

/**
 * @typedef {object} List
 * @property {string} id
 * @property {string} title
 * @property {string} axis  what its lines are
 * @property {string} unit
 * @property {string} means
 * @property {string} act  what picking a line does
 * @property {(profile: ProfileAnswer) => Line[] | null} lines
 */

const entropies = (
  /** @type {{query: number, entropy: number, spread: number}[] | null} */ list,
) =>
  list && list.map(({ query, entropy, spread }) => ({ at: query, number: entropy, share: spread }));

const OF_THE_MOST = "ordered by their share of the most that the visible keys allow";

/** @type {readonly List[]} */
const LISTS = [
  {
    id: "received",
    title: "Keys that receive most",
    axis: "key",
    unit: "a query",
    means: "a mean over the queries that see the key",
    act: "map-see-key",
    lines: ({ top_received: list }) =>
      list && list.map(({ key, each }) => ({ at: key, number: each, share: each })),
  },
  {
    id: "lowest",
    title: "Queries of lowest entropy",
    axis: "query",
    unit: "nats",
    means: `near 0 one key gets all weight; ${OF_THE_MOST}`,
    act: "map-see-query",
    lines: ({ lowest_entropy: list }) => entropies(list),
  },
  {
    id: "highest",
    title: "Queries of highest entropy",
    axis: "query",
    unit: "nats",
    means: `the weight is spread over many keys; ${OF_THE_MOST}`,
    act: "map-see-query",
    lines: ({ highest_entropy: list }) => entropies(list),
  },
];

/**
 * The extremes along the map's axes, as lists to pick from; how far they are until they are there.
 * @param {Scene} scene
 */
export function profilePart(scene) {
  const { profile } = scene;
  const whole = profile?.top_received;
  return h(
    "section",
    { class: "extremes", "data-key": "extremes", "aria-labelledby": "extremes-title" },
    h("h2", { id: "extremes-title" }, "Extremes along the axes"),
    whole
      ? LISTS.map((list, i) => extremes(scene, list, profile, i === 0))
      : waitingLine(scene),
    whole && h("p", { class: "quiet" }, `by ${profile.by}`),
  );
}

/** Until the lists are there.  @param {Scene} scene */
export const waitingLine = (scene) =>
  h("p", { class: "quiet", "data-glance": "extremes" }, waitingWords(scene));

/** @param {Scene} scene */
function waitingWords({ info, profile }) {
  if (info?.refused) return "These lists need the whole map, which is too large here.";
  if (!profile) return "These lists come once the map is whole.";
  const part = profile.of ? Math.floor((100 * profile.done) / profile.of) : 0;
  const left = profile.seconds_left === null ? "" : `, ${timeWords(profile.seconds_left)}`;
  return `Working out what every key receives: ${part} %${left}`;
}

/** @param {Scene} scene @param {List} list @param {ProfileAnswer} profile @param {boolean} open */
function extremes({ queries, keys }, list, profile, open) {
  const lines = list.lines(profile) ?? [];
  const info = list.axis === "key" ? keys : queries;
  const most = Math.max(...lines.map(({ share }) => share));
  return h(
    "details",
    { "data-key": list.id, open },
    h("summary", {}, list.title),
    h("p", { class: "quiet means" }, list.means),
    lines.length ? table(list, lines, info, most) : h("p", { class: "quiet" }, "there are none"),
  );
}

/**
 * @param {List} list
 * @param {Line[]} lines
 * @param {AxisInfo} info
 * @param {number} most  what a bar as long as its cell stands for
 */
function table({ axis, unit, title, act }, lines, info, most) {
  const heads = ["token", axis, unit].map((word) => h("th", { scope: "col" }, word));
  const write = alike(lines.map(({ number }) => number));
  return h(
    "table",
    { class: "reads", "aria-label": title },
    h("thead", {}, h("tr", {}, heads)),
    h(
      "tbody",
      {},
      lines.map(({ at, number, share }, i) =>
        h(
          "tr",
          { "data-key": String(at) },
          h("th", { scope: "row" }, pick(act, axis, info, at, i === 0)),
          h("td", { class: "so-far" }, positionWords(at)),
          h(
            "td",
            {
              class: "weight",
              vars: { "--w": most > 0 ? (share / most).toFixed(4) : "0" },
              title: String(number),
            },
            write(number),
          ),
        ),
      ),
    ),
  );
}

/**
 * @param {string} act
 * @param {string} axis
 * @param {AxisInfo} info
 * @param {number} at
 * @param {boolean} first  Tab reaches the first line; arrows lead to the others
 */
function pick(act, axis, info, at, first) {
  const { tokens } = info;
  const note = noteOf(info, at);
  return h(
    "button",
    {
      type: "button",
      class: `chip ${colorClass(at)} later ${kindOf(info, at)}`,
      "data-act": act,
      "data-arg": at,
      tabindex: first ? 0 : -1,
      title: `${readable(tokens[at])}${note}`,
      "aria-label": `pick ${axis} ${at}, ${shortName(tokens[at])}${note}`,
    },
    h("bdi", {}, shortName(tokens[at])),
  );
}
