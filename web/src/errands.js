// Actions that wait for something: the server, the clipboard, a dialog.
import { ledgerText } from "./copy_text.js";
import { hasLedger } from "./heads_scene.js";
import { openHelp } from "./help.js";
import { HostError } from "./host_error.js";
import { mapErrands, pairText } from "./map_errands.js";
import { movedTo } from "./first_state.js";
import { profileErrands } from "./profile_errands.js";
import { answerOf, judged, newTurn } from "./turns.js";
import { saveGrid, saveTable, exportCommand } from "./saving.js";
import { tableText } from "./table_csv.js";
import { captureIn, fitsHash, fromHash } from "./url.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Turn} Turn */

/**
 * @typedef {import("./live_page.js").LivePage & {
 *   source: import("./source.js").Source,
 *   dialogs: {help: HTMLDialogElement, copy: HTMLDialogElement},
 * }} Page
 */

const PASTE =
  "Paste it into a tab where this page is already open, or open the terminal’s link first.";

/** @param {Page} page @returns {Record<string, (argument: string) => void>} */
export function errands(page) {
  const { state, update, dialogs } = page;
  const open = (/** @type {Turn} */ turn) => {
    update({ turn, focus: "turn" });
    void fetchTurn(page).then(() => update({ focus: "turn" }));
  };
  return {
    turn: () => void fetchTurn(page),
    skill: (skill) => open(skill === state().turn.skill ? state().turn : newTurn(skill)),
    another: () => open(newTurn(state().turn.skill, state().turn.seed + 1)),
    exercise: () => update(exercised(state())),
    "row-steps": () => update(stepsFrom(state())),
    "to-grid": () => update({ focus: "cells" }),
    ledger: () => update({ editing: null, trouble: null, focus: "ledger" }),
    answer: () => void checkTurn(page),
    retry: () => {
      update({ offline: null });
      if (!state().turn.exercise) void fetchTurn(page);
    },
    capture: (id) => void openCapture(page, id, ""),
    follow: (hash) => follow(page, hash),
    save: (kind) => void save(page, kind),
    "save-page": () => savePage(page),
    "save-table": () => {
      const table = page.table();
      if (table) update({ notice: `Saved as ${saveTable(table)}.` });
    },
    ...mapErrands(page),
    ...profileErrands(page),
    help: () => openHelp(dialogs.help, state().view),
    copy: () => copyShown(page),
    link: () => copyLink(page),
  };
}

/** @param {Page} page */
function copyLink(page) {
  const now = page.state();
  if (now.inCell) {
    page.update({ notice: "A cell has no address to copy: sl.show(…, port=0) opens a page that has." });
    return;
  }
  const holds = fitsHash(now)
    ? " and the changed numbers"
    : "; the changed numbers are too many for a link";
  const done = `The link is copied. It holds the place${holds}. ${now.inFile ? "" : PASTE}`;
  void copy(page, done.trim(), location.href);
}

/**
 * Open another capture of the shelf.
 * @param {Page} page
 * @param {string} id
 * @param {string} hash  an address that says where in it
 */
async function openCapture({ state, update, wait, source }, id, hash) {
  await wait(source.need("info", { capture: id }));
  const answer = source.answer("info", { capture: id });
  if (!answer) return;
  const known = state().capture.capture === id;
  const moved = known ? fromHash(hash, answer.json) : movedTo(state(), answer.json, hash);
  update({ ...moved, focus: known ? undefined : "top" });
}

/** Go where an address leads that is typed or pasted.  @param {Page} page @param {string} hash */
function follow(page, hash) {
  const { capture } = page.state();
  const named = captureIn(hash) ?? (hash.length > 1 ? capture.shelf[0]?.id : capture.capture);
  const there = capture.shelf.some(({ id }) => id === named);
  if (!there || named === undefined || named === capture.capture)
    page.update(fromHash(hash, capture));
  else {
    page.update({ going: true });
    void openCapture(page, named, hash).finally(() => page.update({ going: false }));
  }
}

/** @param {State} state @returns {import("./actions.js").Changes} */
const exercised = ({ info }) =>
  info.source === "lesson"
    ? { focus: "turn" }
    : { notice: "The exercises stand beside the lesson: open Lesson, at the top." };

/** @param {State} state @returns {import("./actions.js").Changes} */
function stepsFrom(state) {
  if (state.view === "map")
    return state.picked ? { focus: "steps" } : { notice: "There are no steps yet: pick a query." };
  if (hasLedger(state)) return { focus: "steps" };
  const notice =
    state.open && state.picked
      ? "A mean of several heads has no steps of its own: choose “this head”."
      : "There are no steps yet: open a head and pick a query.";
  return { notice };
}

/** @param {Page} page */
function savePage(page) {
  const command = exportCommand(page.state().capture);
  if (command)
    void copy(page, `This command writes one HTML file, and is copied: ${command}`, command);
}

/** @param {Page} page @param {string} kind */
async function save({ heads, update }, kind) {
  const scene = heads();
  if (!scene?.first?.grid) return;
  const name = await saveGrid(scene, kind);
  update({ notice: `Saved as ${name}.` });
}

/** @param {Page} page */
async function fetchTurn({ state, update, wait, source }) {
  const { skill, seed, exercise } = state().turn;
  if (exercise) return;
  await wait(
    source.ask("exercise", { skill, seed: String(seed) }).then(
      (answer) => {
        const { turn } = state();
        if (turn.skill === skill && turn.seed === seed)
          update({ turn: { ...turn, exercise: answer } });
      },
      (error) => {
        if (!(error instanceof HostError) || error.kind !== "refused") throw error;
        update({ turn: { ...state().turn, trouble: error.sentence } }); // a file asks nothing
      },
    ),
  );
}

/** Have the answer checked; what was typed stays as it is.  @param {Page} page */
async function checkTurn({ state, update, wait, source }) {
  const { turn } = state();
  const given = answerOf(turn);
  if ("trouble" in given) {
    update({ turn: { ...turn, trouble: given.trouble, verdict: null } });
    return;
  }
  const { skill, seed } = turn;
  await wait(
    source.ask("check", { skill, seed: String(seed), answer: given.answer }).then(
      (verdict) => {
        const now = state();
        if (now.turn.skill !== skill || now.turn.seed !== seed) return;
        update({ ...judged(now, verdict), focus: "verdict" });
      },
      (error) => {
        if (!(error instanceof HostError) || error.kind !== "refused") throw error;
        update({
          turn: { ...state().turn, verdict: null, trouble: error.sentence },
          focus: "turn",
        });
      },
    ),
  );
}

/** The held pair, the table or the ledger, whichever is shown.  @param {Page} page */
function copyShown(page) {
  const { update } = page;
  const map = page.map();
  const table = page.table();
  if (map) {
    const pair = pairText(map);
    if (pair) void copy(page, pair.done, pair.text);
    else update({ notice: "There is nothing to copy yet: hold a pair (L)." });
  } else if (table) void copy(page, "The table is copied, as it stands.", tableText(table));
  else {
    const text = ledgerText(page.scene());
    if (text) void copy(page, "The ledger is copied as text.", text);
    else update({ notice: "There is no ledger yet: open a head and pick a query." });
  }
}

/** @param {Page} page @param {string} done @param {string} text */
async function copy({ update, dialogs }, done, text) {
  try {
    await navigator.clipboard.writeText(text);
    update({ notice: done });
  } catch {
    const area = dialogs.copy.querySelector("textarea");
    if (!area) return;
    area.value = text;
    dialogs.copy.showModal();
    area.select();
  }
}
