import { newTurn, loadProgress } from "./turns.js";
import { fromHash } from "./url.js";
import { opensWhole } from "./scene.js";

/**
 * What the page starts from: the address, and what this browser remembers.
 * @param {import("./types.js").Info} info
 * @param {import("./types.js").Lesson} lesson
 * @param {string} hash
 * @returns {import("./types.js").State}
 */
export function firstState(info, lesson, hash) {
  const skills = lesson.checklist.map(({ skill }) => skill);
  const solved = loadProgress().solved.filter((skill) => skills.includes(skill));
  const open = skills.find((skill) => !solved.includes(skill)) ?? skills[0];
  const found = fromHash(hash, info);
  return {
    info,
    lesson,
    batch: 0,
    head: 0,
    row: 0,
    step: opensWhole(info) ? "reads" : "none",
    scaled: true,
    reading: "textbook",
    cursor: { step: opensWhole(info) ? "weight" : "score", column: 0 },
    hover: null,
    seen: [],
    edits: {},
    editing: null,
    spot: { side: "query", row: found.row ?? 0, col: 0 },
    trouble: null,
    layer: false,
    cell: [0, 0],
    section: 0,
    turn: newTurn(open),
    solved,
    notice: "",
    offline: null,
    ...found,
  };
}
