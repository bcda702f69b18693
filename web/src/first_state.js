import { firstView, infoOf } from "./capture_info.js";
import { firstMap } from "./map_url.js";
import { opensWhole } from "./scene.js";
import { loadProgress, newTurn } from "./turns.js";
import { fromHash } from "./url.js";
import { TABLE_AT_FIRST } from "./url_table.js";

/** @typedef {import("./types.js").CaptureInfo} CaptureInfo */
/** @typedef {import("./types.js").State} State */

/**
 * What the page starts from: the address, and what this browser remembers.
 * @param {CaptureInfo} capture
 * @param {import("./types.js").Lesson} lesson
 * @param {string} hash
 * @returns {State}
 */
export function firstState(capture, lesson, hash) {
  const skills = lesson.checklist.map(({ skill }) => skill);
  const solved = loadProgress().solved.filter((skill) => skills.includes(skill));
  const open = skills.find((skill) => !solved.includes(skill)) ?? skills[0];
  return {
    lesson,
    shelved: {},
    reading: "textbook",
    section: 0,
    turn: newTurn(open),
    solved,
    notice: "",
    offline: null,
    inFile: false,
    inCell: false,
    waits: "",
    room: 1280,
    tall: 900,
    going: false,
    theme: "light",
    wide: false,
    ...placeIn(capture, fromHash(hash, capture)),
  };
}

/**
 * Where a reader stands in a capture that is opened anew.
 * @param {CaptureInfo} capture
 * @param {Partial<State>} found  what an address says
 */
function placeIn(capture, found) {
  const info = infoOf(capture, found.stage ?? 0, found.batch ?? 0);
  const whole = opensWhole(info);
  return {
    capture,
    info,
    view: firstView(capture),
    stage: 0,
    batch: 0,
    head: 0,
    row: 0,
    step: /** @type {import("./types.js").Progress} */ (whole ? "reads" : "none"),
    scaled: true,
    cursor: /** @type {import("./types.js").Cursor} */ ({
      step: whole ? "weight" : "score",
      column: 0,
    }),
    hover: null,
    seen: [],
    edits: {},
    editing: null,
    spot: /** @type {import("./types.js").Spot} */ ({ side: "query", row: found.row ?? 0, col: 0 }),
    trouble: null,
    layer: false,
    cell: /** @type {import("./types.js").Pair} */ ([0, 0]),
    ...HEADS_AT_FIRST,
    map: firstMap(),
    table: TABLE_AT_FIRST,
    ...found,
  };
}

/** The heads view of a capture that is opened anew. */
const HEADS_AT_FIRST = {
  open: false,
  picked: false,
  key: null,
  compare: null,
  average: /** @type {import("./types.js").Average} */ ("none"),
  words: false,
  first: true,
  corner: /** @type {import("./types.js").Pair} */ ([0, 0]),
  thumb: { stage: 0, head: 0 },
  follow: false,
  mark: null,
  point: null,
  over: null,
};

/**
 * What changes when another capture is opened: the place in the one that is left is kept, and found
 * again on coming back.
 * @param {State} state
 * @param {CaptureInfo} capture
 * @param {string} hash
 * @returns {Partial<State>}
 */
export function movedTo(state, capture, hash) {
  const fresh = placeIn(capture, {});
  const names = /** @type {(keyof State)[]} */ (Object.keys(fresh));
  const left = Object.fromEntries(names.map((name) => [name, state[name]]));
  return {
    ...fresh,
    ...state.shelved[capture.capture],
    hover: null,
    point: null,
    over: null,
    ...fromHash(hash, capture),
    shelved: { ...state.shelved, [state.capture.capture]: left },
  };
}
