// Getting an exercise and having an answer checked; which skills are solved is kept in this
// browser.

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Turn} Turn */

const KEEP = "softlookup-progress";

/** @returns {{solved: string[], seeds: Record<string, number>}} */
export function loadProgress() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEEP) ?? "{}");
    const solved = Array.isArray(kept.solved)
      ? kept.solved.filter((/** @type {unknown} */ s) => typeof s === "string")
      : [];
    /** @type {Record<string, number>} */
    const seeds = {};
    for (const [skill, seed] of Object.entries(kept.seeds ?? {})) {
      if (Number.isSafeInteger(seed) && Number(seed) > 0) seeds[skill] = Number(seed);
    }
    return { solved, seeds };
  } catch {
    return { solved: [], seeds: {} };
  }
}

/** @param {string[]} solved @param {string} skill @param {number} seed */
function keepProgress(solved, skill, seed) {
  try {
    const { seeds } = loadProgress();
    localStorage.setItem(KEEP, JSON.stringify({ solved, seeds: { ...seeds, [skill]: seed } }));
  } catch {
    // storage may be full or off: the boxes stay ticked until the page is closed
  }
}

/** @param {string} skill @param {number} [seed] @returns {Turn} */
export function newTurn(skill, seed) {
  return {
    skill,
    seed: seed ?? loadProgress().seeds[skill] ?? 1,
    exercise: null,
    typed: [],
    verdict: null,
    revealed: false,
    trouble: null,
  };
}

/**
 * What an answer's verdict changes. A right answer ticks the box, unless these numbers were
 * answered for the reader before: whatever he has seen the solution of, he meets with fresh
 * numbers next time, as this browser remembers.
 * @param {State} state
 * @param {import("./types.js").Verdict} verdict
 * @returns {{solved: string[], turn: Turn}}
 */
export function judged({ solved, turn }, verdict) {
  const { skill, seed, revealed } = turn;
  const ticks = verdict.correct && !revealed && !solved.includes(skill);
  const now = ticks ? [...solved, skill] : solved;
  const shows = !verdict.correct && verdict.steps.length > 0;
  if (verdict.correct || shows) keepProgress(now, skill, seed + 1);
  return { solved: now, turn: { ...turn, verdict, revealed: revealed || shows, trouble: null } };
}

/**
 * The answer as op `check` takes it, or the sentence that says what is missing.
 * @param {Turn} turn
 * @returns {{answer: string} | {trouble: string}}
 */
export function answerOf({ exercise, typed }) {
  if (!exercise) return { trouble: "The exercise has not arrived yet." };
  if (exercise.kind === "choice") {
    return typed[0]
      ? { answer: JSON.stringify(typed[0]) }
      : { trouble: "Choose one of the explanations." };
  }
  const texts = exercise.fields.map((_, i) => (typed[i] ?? "").trim());
  const empty = texts.findIndex((text, i) => text === "" && exercise.fields[i].needed);
  if (empty >= 0) return { trouble: `Type a number for “${exercise.fields[empty].label}” too.` };
  return { answer: JSON.stringify(texts) };
}
