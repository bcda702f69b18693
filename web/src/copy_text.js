// The ledger as plain text, in columns, for a mail or a notebook. Only what is unfolded.
import { readable } from "./readable.js";
import { exact, short, vector } from "./numbers.js";
import { isUnfolded } from "./scene.js";
import { columnsOf, ledgerRows, rowNote, writerOf } from "./steps.js";

/** @typedef {import("./scene.js").Scene} Scene */

/** @param {Scene} scene */
export function ledgerText(scene) {
  const { record, state, keyTokens } = scene;
  if (!record) return "";
  const columns = columnsOf(record);
  const heads = columns.map((column) => {
    if (column.kind === "key") return readable(keyTokens[column.key]);
    if (column.kind === "rest") return `${record.rest?.count ?? 0} more`;
    return column.kind === "sink" ? "sink" : "";
  });
  const options = { reading: state.reading, scaled: state.scaled };
  const rows = ledgerRows(record, options).filter((row) => isUnfolded(row.id, state.step));
  const given = (/** @type {string} */ name, /** @type {number[][]} */ vectors) => [
    name,
    ...vectors.map((numbers) => vector(numbers, short, 3)),
    ...heads.slice(record.keys.length).map(() => ""),
  ];
  const steps = rows.map((row) => [
    row.name,
    ...row.cells.map(({ label, text }) => (label ? `${label} ${text}` : text)),
  ]);
  if (rows.at(-1)?.id === "reads") steps.splice(-1, 0, given("value", record.value ?? []));
  const lines = [["", ...heads], given("key", record.key), ...steps];
  const note = rowNote(record, state.reading);
  const ends = isUnfolded("weight", state.step) ? lastLines(scene) : [];
  const title = `token ${readable(record.token)} asks with query ${vector(record.query, short)}`;
  return plain([title, "", ...aligned(lines), ...(note ? ["", note] : []), ...ends].join("\n"));
}

/** @param {Scene} scene */
function lastLines({ record, state }) {
  if (!record) return [];
  const seen = record.keys.map((_, i) => i).filter((i) => record.visible[i]);
  const write = writerOf("weight", record, state.reading);
  const parts = seen.map((i) => write(record.weights[i]));
  if (record.rest) parts.push(write(record.rest.weight));
  const lines = ["", `check: ${parts.join(" + ") || "0"} = ${write(record.weights_sum)}`];
  if (record.out && isUnfolded("reads", state.step)) {
    lines.push(`output: ${vector(record.out, exact, record.out.length)}`);
  }
  return lines;
}

/** @param {string[][]} lines */
function aligned(lines) {
  const width = (/** @type {string} */ text) => [...text].length;
  const widths = lines[0].map((_, c) => Math.max(...lines.map((line) => width(line[c] ?? ""))));
  return lines.map((line) =>
    line
      .map((text, c) => text + " ".repeat(widths[c] - width(text) + 2))
      .join("")
      .trimEnd(),
  );
}

/** A minus that a calculator understands.  @param {string} text */
const plain = (text) => text.replaceAll("−", "-");
