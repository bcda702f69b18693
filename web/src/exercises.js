// Your turn: the checklist of four skills and the exercise of the one that is open.
import { h } from "./dom.js";
import { prose } from "./prose.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Turn} Turn */
/** @typedef {import("./types.js").Exercise} Exercise */

/** @param {State} state */
export function turnPart(state) {
  const { turn } = state;
  return h(
    "section",
    { class: "turn-part", "data-key": "turn", "aria-labelledby": "turn-title" },
    h("h2", { id: "turn-title" }, "Your turn"),
    checklist(state),
    h(
      "div",
      { class: "panel turn", "data-key": `${turn.skill}${turn.seed}` },
      turn.exercise
        ? question(turn, turn.exercise, state)
        : h("p", { class: "quiet" }, turn.trouble ?? "…"),
    ),
  );
}

/** @param {State} state */
function checklist({ lesson, solved, turn }) {
  const all = solved.length === lesson.checklist.length;
  return h(
    "div",
    { class: "checklist" },
    h(
      "ul",
      {},
      lesson.checklist.map(({ skill, text }) => {
        const done = solved.includes(skill);
        return h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "skill",
              "data-act": "skill",
              "data-arg": skill,
              "data-done": String(done),
              "aria-current": skill === turn.skill ? "true" : null,
              "aria-label": `${text} (${done ? "solved" : "not solved yet"})`,
            },
            h("span", { class: "box", "aria-hidden": "true" }, done ? "✓" : ""),
            h("span", {}, prose(text)),
          ),
        );
      }),
    ),
    all && h("p", { class: "quiet" }, "All four are solved: you can do attention by hand."),
  );
}

/** @param {Turn} turn @param {Exercise} exercise @param {State} state */
function question(turn, exercise, state) {
  const verdict = turn.verdict;
  return h(
    "form",
    { "data-form": "answer", autocomplete: "off" },
    h("p", { class: "question" }, prose(exercise.question)),
    exercise.given.length > 0 &&
      h(
        "dl",
        { class: "given" },
        exercise.given.map(({ label, value }) =>
          h("div", {}, h("dt", {}, prose(label)), h("dd", {}, prose(value))),
        ),
      ),
    exercise.kind === "choice" ? choices(turn, exercise) : fields(turn, exercise),
    turn.trouble && h("p", { class: "trouble", role: "alert" }, turn.trouble),
    h(
      "div",
      { class: "answer" },
      h("button", { type: "submit", class: "main" }, "Check"),
      h("button", { type: "button", class: "link", "data-act": "another" }, "another one"),
    ),
    h("div", { role: "status", class: "verdict-box" }, verdict && verdictPart(verdict, state)),
    h(
      "details",
      { class: "quiet", "data-key": "hint" },
      h("summary", {}, "hint"),
      prose(exercise.hint),
    ),
    h(
      "p",
      { class: "quiet" },
      `Exercise ${exercise.number} of ${exercise.of} · skill: ${exercise.skill}`,
    ),
  );
}

/** @param {Turn} turn @param {Exercise} exercise */
function fields(turn, exercise) {
  return h(
    "div",
    { class: "fields" },
    exercise.fields.map(({ label }, i) =>
      h(
        "label",
        {},
        h("span", {}, prose(label)),
        h("input", {
          "data-field": i,
          value: turn.typed[i] ?? "",
          inputmode: "decimal",
          autocomplete: "off",
          spellcheck: "false",
          "aria-invalid": turn.verdict && turn.verdict.fields[i] === false ? "true" : null,
        }),
      ),
    ),
  );
}

/** @param {Turn} turn @param {Exercise} exercise */
function choices(turn, exercise) {
  return h(
    "div",
    { class: "choices", role: "radiogroup", "aria-label": "explanations" },
    (exercise.choices ?? []).map(({ id, text }) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "choice",
          value: id,
          "data-choice": id,
          checked: turn.typed[0] === id,
        }),
        h("span", {}, prose(text)),
      ),
    ),
  );
}

/** @param {import("./types.js").Verdict} verdict @param {State} state */
function verdictPart(verdict, state) {
  const { lesson, solved, turn } = state;
  if (verdict.correct && turn.revealed && !solved.includes(turn.skill)) return againPart();
  const open = lesson.checklist.find(({ skill }) => !solved.includes(skill));
  return h(
    "div",
    { class: verdict.correct ? "verdict right" : "verdict wrong" },
    h("p", {}, h("b", {}, prose(verdict.verdict)), " ", prose(verdict.explanation)),
    verdict.steps.length > 0 &&
      h(
        "ol",
        { class: "right-step" },
        verdict.steps.map((line) => h("li", {}, prose(line))),
      ),
    verdict.correct &&
      open &&
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "data-act": "skill",
          "data-arg": open.skill,
        },
        "Next exercise",
      ),
  );
}

/** Right, but the solution of these numbers was on the page before. */
function againPart() {
  return h(
    "div",
    { class: "verdict right" },
    h("p", {}, h("b", {}, "Right."), " Now with fresh numbers: then the box is ticked."),
    h("button", { type: "button", class: "plain", "data-act": "another" }, "Fresh numbers"),
  );
}
