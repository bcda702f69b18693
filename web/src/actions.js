// What a person can do: each action takes the scene and gives the changes of state. Nothing here
// waits.
import { addToken, changeDimension, removeToken, rename, setNumber } from "./edits.js";
import { jump } from "./keys.js";
import { parseNumber } from "./numbers.js";
import { readable } from "./readable.js";
import { editKey, hasLayer, held, isIn, isUnfolded, isWhole, sceneSteps } from "./scene.js";
import { columnsOf, ORDER } from "./steps.js";
import { spotBeside } from "./tokens_layout.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {Partial<State> & {focus?: string}} Changes  `focus` names what gets the focus afterwards */
/** @typedef {(scene: Scene, argument: string) => Changes} Action */

const FIRST = ORDER[0];
/** @type {readonly import("./types.js").ViewName[]} */
const VIEWS = ["steps", "heads", "map", "table"];

/** @param {Scene} scene @param {number} row @returns {Changes} */
function pickQuery({ state, tokens }, row) {
  if (row < 0 || row >= tokens.length) return {};
  const known = isIn(state, row);
  const step = row === state.row ? state.step : known ? "reads" : "none";
  const cursor = step === "none" ? { ...state.cursor, step: FIRST } : state.cursor;
  return {
    row,
    step,
    cursor,
    hover: null,
    editing: null,
    trouble: null,
    focus: "ledger",
    spot: { ...state.spot, side: "query", row },
  };
}

/** @param {Scene} scene @param {import("./types.js").Progress} step @returns {Changes} */
function unfoldTo(scene, step) {
  const { state } = scene;
  const steps = sceneSteps(scene);
  const last = steps.at(-1);
  const done = last !== undefined && step === last && !state.seen.includes(state.row);
  const cursor = step === "none" ? state.cursor : { ...state.cursor, step };
  return {
    step,
    cursor,
    hover: null,
    focus: "ledger",
    ...(done ? { seen: [...state.seen, state.row] } : {}),
  };
}

/** @type {Action} */
function next(scene) {
  const { state, tokens } = scene;
  const step = sceneSteps(scene).find((id) => !isUnfolded(id, state.step));
  if (step) return unfoldTo(scene, step);
  const waiting = tokens.findIndex((_, row) => !isIn(state, row));
  if (scene.small && waiting >= 0) return pickQuery(scene, waiting);
  if (!state.layer && isWhole(scene) && hasLayer(scene)) return { layer: true, focus: "layer" };
  return {};
}

/** @type {Action} */
function back(scene) {
  const shown = sceneSteps(scene).filter((id) => isUnfolded(id, scene.state.step));
  return shown.length ? unfoldTo(scene, shown.at(-2) ?? "none") : {};
}

/** @type {Action} */
function move(scene, argument) {
  const { state, record } = scene;
  const steps = sceneSteps(scene);
  if (!record || !steps.length) return {};
  const columns = columnsOf(record).length;
  const at = held(state.cursor, steps, columns);
  const index = steps.indexOf(at.step);
  const [dy, dx] = jump(argument);
  const step = steps[Math.max(0, Math.min(index + dy, steps.length - 1))];
  return {
    cursor: held({ step, column: at.column + dx }, steps, columns),
    follow: false,
    hover: null,
    focus: "ledger",
  };
}

/** @param {string} text @returns {import("./types.js").Cursor} */
function cursorFrom(text) {
  const [step, column] = text.split(":");
  return { step: /** @type {import("./types.js").StepId} */ (step), column: Number(column) };
}

/** @param {string} text @returns {import("./types.js").Spot} */
function spotFrom(text) {
  const [side, row, col] = text.split(":");
  return {
    side: /** @type {import("./types.js").Side} */ (side),
    row: Number(row),
    col: Number(col),
  };
}

/** @param {Scene} scene @param {import("./types.js").Edit} edit @returns {Changes} */
function changed({ state }, edit) {
  const row = Math.min(state.row, edit.tokens.length - 1);
  const rows = state.spot.side === "query" ? edit.tokens.length : edit.key_tokens.length;
  const width = edit[state.spot.side][0]?.length ?? 1;
  const spot = {
    ...state.spot,
    row: Math.min(state.spot.row, rows - 1),
    col: Math.min(state.spot.col, width - 1),
  };
  return {
    edits: { ...state.edits, [editKey(state)]: edit },
    editing: null,
    trouble: null,
    row,
    spot,
  };
}

/**
 * Open an input for a number or a name.
 * @param {Scene} scene
 * @param {string} argument
 * @returns {Changes}
 */
function edit({ state, numbers }, argument) {
  if (!numbers || !state.info.editable) return {};
  const spot = spotFrom(argument);
  const draft = String(numbers[spot.side][spot.row]?.[spot.col] ?? "");
  return {
    editing: { what: "number", spot, draft },
    spot,
    trouble: null,
    hover: null,
    focus: "input",
  };
}

/** @type {Action} */
function startRename({ state, numbers, paired }) {
  if (!numbers || !state.info.editable) return {};
  const { side, row } = state.spot;
  const draft = paired || side === "query" ? numbers.tokens[row] : numbers.key_tokens[row];
  return {
    editing: { what: "name", spot: state.spot, draft: draft ?? "" },
    trouble: null,
    focus: "input",
  };
}

/** Take what was typed; where it is wrong it stays, with one sentence.  @type {Action} */
function commit(scene, typed) {
  const { state, numbers, paired } = scene;
  const { editing } = state;
  if (!editing || !numbers) return {};
  const { spot } = editing;
  if (editing.what === "name") {
    return {
      ...changed(scene, rename(numbers, paired, spot.side, spot.row, typed.slice(0, 200))),
      focus: "spot",
    };
  }
  const parsed = parseNumber(typed);
  if ("sentence" in parsed)
    return { trouble: parsed.sentence, editing: { ...editing, draft: typed } };
  if (Object.is(parsed.number, numbers[spot.side][spot.row][spot.col])) {
    return { editing: null, trouble: null, focus: "spot" };
  }
  return { ...changed(scene, setNumber(numbers, spot, parsed.number)), focus: "spot" };
}

/** @type {Action} */
function moveSpot({ state, numbers, paired }, way) {
  return numbers ? { spot: spotBeside(numbers, paired, state.spot, way), focus: "spot" } : {};
}

/** @type {Action} */
function add(scene, argument) {
  const { numbers, paired, state } = scene;
  if (!numbers || !state.info.editable) return {};
  const side = argument === "key" ? "key" : "query";
  const most = state.info.limits.edit_tokens;
  const length = side === "key" ? numbers.key_tokens.length : numbers.tokens.length;
  if (length >= most)
    return {
      trouble: `At most ${most} tokens can be worked out by hand here; there are ${length}.`,
    };
  const edit = addToken(numbers, paired, side);
  const spot = { side: /** @type {import("./types.js").Side} */ (side), row: length, col: 0 };
  return { ...changed(scene, edit), spot, focus: "spot" };
}

/** @type {Action} */
function remove(scene) {
  const { numbers, paired, state } = scene;
  if (!numbers || !state.info.editable) return {};
  const { side, row } = state.spot;
  const names = paired || side === "query" ? numbers.tokens : numbers.key_tokens;
  if (names.length <= 1)
    return { trouble: `“${readable(names[0])}” is the only one left: a lookup needs one.` };
  const edit = removeToken(numbers, paired, side, row);
  if (!paired && side !== "query") return { ...changed(scene, edit), focus: "spot" };
  const seen = state.seen.filter((i) => i !== row).map((i) => (i > row ? i - 1 : i));
  const current = state.row > row ? state.row - 1 : state.row;
  const changes = changed({ ...scene, state: { ...state, row: current } }, edit);
  const step = isIn({ ...state, seen }, changes.row ?? 0) ? "reads" : "none";
  if (state.row !== row) return { ...changes, seen, focus: "spot" };
  const cursor = step === "none" ? { ...state.cursor, step: FIRST } : state.cursor;
  return { ...changes, seen, focus: "spot", step, cursor };
}

/** @type {Action} */
function dimension(scene, argument) {
  const { numbers, state } = scene;
  if (!numbers || !state.info.editable) return {};
  const [which, sign] = argument.split(":");
  const width = numbers[which === "value_dim" ? "value" : "query"][0]?.length ?? 0;
  const most = state.info.limits.edit_dims;
  if (sign === "+" && width >= most)
    return { trouble: `At most ${most} dimensions can be worked out by hand here.` };
  if (sign === "-" && width <= 1) return { trouble: "A vector needs one dimension at least." };
  const name = which === "value_dim" ? "value_dim" : "head_dim";
  return changed(scene, changeDimension(numbers, name, sign === "+" ? 1 : -1));
}

/** @type {Action} */
function reset(scene) {
  const { state, tokens } = scene;
  const upcoming = sceneSteps(scene).find((id) => !isUnfolded(id, state.step));
  const edits = { ...state.edits };
  delete edits[editKey(state)];
  const length = state.info.tokens.length;
  return {
    edits,
    editing: null,
    trouble: null,
    scaled: true,
    hover: null,
    cursor: upcoming ? { ...state.cursor, step: upcoming } : state.cursor,
    notice: "Back to the numbers as they came.",
    row: Math.min(state.row, length - 1),
    seen: state.seen.filter((row) => row < length),
    spot: { side: "query", row: Math.min(state.row, length - 1, tokens.length - 1), col: 0 },
  };
}

/** @type {Action} */
function toggleScale({ state }) {
  if (!state.info.editable) return { notice: state.info.editable_reason ?? "" };
  return { scaled: !state.scaled };
}

/** @type {Action} */
function moveCell({ state, tokens, keyTokens }, argument) {
  const [i, j] = state.cell;
  const [di, dj] = jump(argument);
  const row = Math.max(0, Math.min(i + di, tokens.length - 1));
  return { cell: [row, Math.max(0, Math.min(j + dj, keyTokens.length - 1))], focus: "layer" };
}

/** A query and a key of the grid.  @type {Action} */
function gridPick(scene, argument) {
  const [row, key] = argument.split(":").map(Number);
  const picked = pickQuery(scene, row);
  const column = scene.small ? key : Math.max(0, scene.gridKeys.indexOf(key));
  return { ...picked, cursor: { step: "weight", column } };
}

/** @type {Record<string, Action>} */
export const ACTIONS = {
  next,
  back,
  move,
  edit,
  commit,
  reset,
  add,
  remove,
  dimension,
  rename: startRename,
  "move-spot": moveSpot,
  "move-cell": moveCell,
  grid: gridPick,
  scale: toggleScale,
  all: (scene) => unfoldTo(scene, sceneSteps(scene).at(-1) ?? "none"),
  query: (scene, row) => pickQuery(scene, Number(row)),
  "query-by": (scene, by) => pickQuery(scene, scene.state.row + Number(by)),
  at: (_, cursor) => ({ cursor: cursorFrom(cursor), follow: false, hover: null, focus: "ledger" }),
  cell: (_, cell) => ({
    cell: /** @type {[number, number]} */ (cell.split(":").map(Number)),
    focus: "layer",
  }),
  cancel: () => ({ editing: null, trouble: null, focus: "spot" }),
  spot: () => ({ focus: "spot" }),
  reading: ({ state }, to) => ({
    reading:
      to === "textbook" || to === "shifted"
        ? to
        : state.reading === "shifted"
          ? "textbook"
          : "shifted",
  }),
  layer: ({ state }) => ({ layer: !state.layer, focus: state.layer ? undefined : "layer" }),
  section: ({ state }, to) => ({ section: sectionFrom(state, to), focus: "article" }),
  view: (_, to) => ({
    view: VIEWS.find((name) => name === to) ?? "steps",
    hover: null,
    point: null,
    focus: "top",
  }),
  stage: (_, stage) => ({ stage: Number(stage), editing: null, trouble: null }),
  head: (_, head) => ({ head: Number(head), editing: null, trouble: null }),
  batch: (_, batch) => ({ batch: Number(batch), editing: null, trouble: null }),
};

/** @param {State} state @param {string} to */
function sectionFrom(state, to) {
  const by = { next: 1, back: -1 }[to];
  const section = by === undefined ? Number(to) : state.section + by;
  return Math.max(0, Math.min(section, state.lesson.sections.length - 1));
}
