// Actions that wait for something: the server, the clipboard, a dialog.
import { ledgerText } from "./copy_text.js";
import { HostError } from "./host_error.js";
import { answerOf, judged, newTurn } from "./turns.js";
import { fitsHash } from "./url.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Turn} Turn */

/**
 * @typedef {import("./live_page.js").LivePage & {
 *   source: import("./source.js").Source,
 *   dialogs: {help: HTMLDialogElement, copy: HTMLDialogElement},
 * }} Page
 */

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
    exercise: () => update({ focus: "turn" }),
    ledger: () => update({ editing: null, trouble: null, focus: "ledger" }),
    answer: () => void checkTurn(page),
    retry: () => {
      update({ offline: null });
      if (!state().turn.exercise) void fetchTurn(page);
    },
    help: () => dialogs.help.showModal(),
    copy: () => void copy(page, "The ledger is copied as text.", ledgerText(page.scene())),
    link: () =>
      void copy(
        page,
        fitsHash(state())
          ? "The link is copied. It holds the place and the changed numbers, not the key to this viewer."
          : "The link is copied. It holds the place; the changed numbers are too many for a link.",
        location.href,
      ),
  };
}

/** @param {Page} page */
async function fetchTurn({ state, update, wait, source }) {
  const { skill, seed, exercise } = state().turn;
  if (exercise) return;
  await wait(
    source.ask("exercise", { skill, seed: String(seed) }).then((answer) => {
      const { turn } = state();
      if (turn.skill === skill && turn.seed === seed)
        update({ turn: { ...turn, exercise: answer } });
    }),
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
