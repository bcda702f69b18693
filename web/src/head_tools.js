// What can be done with an opened head: means, words, a second head, saving, the part of a long
// text.
import { h } from "./dom.js";
import { isAlike } from "./heads_needs.js";
import { partOf, WINDOW } from "./heads_grid.js";
import { exportCommand } from "./saving.js";
import { headArg } from "./thumbs.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./types.js").Average} Average */

/** @type {readonly [Average, string][]} */
const AVERAGES = [
  ["none", "this head"],
  ["heads", "mean over heads"],
  ["layers", "over layers"],
  ["both", "over both"],
];

/** @param {string} act @param {string} arg @param {string} text @param {boolean} on */
const pressed = (act, arg, text, on) =>
  h(
    "button",
    {
      type: "button",
      "data-act": act,
      "data-arg": arg,
      "aria-pressed": String(on),
      tabindex: on ? 0 : -1,
    },
    text,
  );

/** @param {string} name @param {(Node | null | false)[]} buttons */
const choice = (name, buttons) =>
  h("span", { class: "choice", role: "group", "aria-label": name }, buttons);

/** @param {HeadsScene} scene */
export function headTools(scene) {
  const { state, words, hasWords } = scene;
  const possible = AVERAGES.filter(([name]) => isPossible(state, name));
  return h(
    "div",
    { class: "head-tools" },
    possible.length > 1 &&
      choice(
        "one head or a mean",
        possible.map(([name, text]) => pressed("average", name, text, state.average === name)),
      ),
    hasWords &&
      choice("tokens or words", [
        pressed("words", "0", "tokens", !words),
        pressed("words", "1", "words", words),
      ]),
  );
}

/**
 * Is there more than one head in that mean?
 * @param {HeadsScene["state"]} state
 * @param {Average} name
 */
function isPossible(state, name) {
  const { capture, stage, head } = state;
  const { heads } = capture.layers[stage];
  const alike = capture.layers.filter((_, other) => isAlike(state, other, stage));
  if (name === "heads") return heads.length > 1;
  if (name === "layers") return alike.filter((one) => one.heads.includes(heads[head])).length > 1;
  if (name === "both") return alike.length > 1 && alike.flatMap((one) => one.heads).length > 1;
  return true;
}

/** @param {HeadsScene} scene */
export function compareTools({ state, second }) {
  const { capture, stage, head } = state;
  const others = capture.layers.flatMap((layer, other) =>
    isAlike(state, other, stage)
      ? layer.heads.map((number, i) => ({
          at: { stage: other, head: i },
          text: `${layer.label}, head ${number}`,
        }))
      : [],
  );
  if (others.length < 2) return null;
  const options = others
    .filter(({ at }) => at.stage !== stage || at.head !== head || state.average !== "none")
    .map(({ at, text }) =>
      h(
        "option",
        { value: headArg(at), selected: second !== null && headArg(at) === headArg(second.at) },
        text,
      ),
    );
  const none = h("option", { value: "", selected: second === null }, "nothing");
  return h(
    "label",
    { class: "compare" },
    "compare with ",
    h("select", { "data-choose": "compare" }, none, options),
  );
}

/**
 * Files of the shown grid, and the command that writes the capture where there is one.
 * @param {HeadsScene["state"]} state
 * @param {string} what  “save”, and which head where there are two
 */
export function saveTools({ capture, inFile }, what) {
  const save = (/** @type {string} */ kind) =>
    h(
      "button",
      {
        type: "button",
        class: "link",
        "data-act": "save",
        "data-arg": kind.toLowerCase(),
        "aria-label": `${what} as ${kind}`,
      },
      kind,
    );
  return h(
    "span",
    { class: "save", role: "group", "aria-label": what },
    h("span", { class: "quiet" }, `${what} as `),
    save("PNG"),
    save("SVG"),
    save("CSV"),
    save("JSON"),
    !inFile &&
      exportCommand(capture) &&
      h(
        "button",
        {
          type: "button",
          class: "link",
          "data-act": "save-page",
          title: "a command for your terminal: it writes this capture as one HTML file",
        },
        "copy the export command",
      ),
  );
}

/** Which rows and keys of a long text are shown.  @param {HeadsScene} scene */
export function partTools({ state, windowed }) {
  if (!windowed) return null;
  const { rows, keys } = partOf(state);
  const { q_len, kv_len } = state.info.sizes;
  const side = (
    /** @type {"row" | "key"} */ name,
    /** @type {string} */ label,
    /** @type {[number, number]} */ [from, upTo],
    /** @type {number} */ length,
  ) =>
    length > upTo - from &&
    h(
      "span",
      { class: "part-side" },
      step(`${name}:-1`, "‹", `${label} before`, from === 0),
      h(
        "label",
        {},
        `${label} `,
        h("input", {
          type: "number",
          min: 0,
          max: Math.max(0, length - WINDOW),
          step: 1,
          value: from,
          "data-change": `part-${name}`,
        }),
        ` … ${upTo - 1} of ${length.toLocaleString("en")}`,
      ),
      step(`${name}:1`, "›", `${label} after`, upTo === length),
    );
  return h(
    "div",
    { class: "part-tools", role: "group", "aria-label": "the part that is shown" },
    side("row", "queries", rows, q_len),
    side("key", "keys", keys, kv_len),
  );
}

/** @param {string} arg @param {string} sign @param {string} label @param {boolean} off */
const step = (arg, sign, label, off) =>
  h(
    "button",
    {
      type: "button",
      class: "step-by",
      "data-act": "part-by",
      "data-arg": arg,
      "aria-label": label,
      disabled: off,
    },
    sign,
  );
