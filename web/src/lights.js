// Which numbers went into the cell under the cursor: they light up wherever they stand.
import { columnsOf, lastScore, stepsOf } from "./steps.js";

/** @typedef {import("./types.js").StepId} StepId */

/**
 * Marks: "query:I", "key:J", "value:J" in the tokens table; "STEP:COLUMN" in the ledger;
 * "weight@J" in the grid.
 * @param {import("./types.js").LedgerRecord} record
 * @param {import("./types.js").Cursor} cursor
 * @param {import("./types.js").Reading} reading
 * @returns {Set<string>}
 */
export function lightsOf(record, cursor, reading) {
  const columns = columnsOf(record);
  const column = columns[cursor.column];
  const margin = columns.length - 1;
  const id = cursor.step;
  if (column.kind === "sum") return new Set(marginTerms(record, columns, id, reading));
  const own = before(record, id, reading).map((step) => `${step}:${cursor.column}`);
  const marks = new Set(own);
  if (id === "shifted") marks.add(`${lastScore(record)}:${peak(record, columns)}`);
  if (id === "weight") marks.add(`exp:${margin}`);
  if (column.kind !== "key") return marks;
  if (id === "score") marks.add(`query:${record.row}`).add(`key:${column.key}`);
  if (id === "reads") marks.add(`value:${column.key}`).add(`weight@${column.key}`);
  if (id === "weight") marks.add(`weight@${column.key}`);
  return marks;
}

/**
 * @param {import("./types.js").LedgerRecord} record
 * @param {import("./types.js").Column[]} columns
 * @param {StepId} id
 * @param {import("./types.js").Reading} reading
 */
function marginTerms(record, columns, id, reading) {
  /** @type {Partial<Record<StepId, StepId>>} */
  const summed = { exp: "exp", weight: "weight", reads: "reads", shifted: lastScore(record) };
  const step = summed[id];
  if (!step || !stepsOf(record, reading).includes(id)) return [];
  return columns.flatMap((column, c) => {
    if (column.kind === "sum" || (column.kind === "key" && !record.visible[column.index]))
      return [];
    return [`${step}:${c}`];
  });
}

/**
 * @param {import("./types.js").LedgerRecord} record
 * @param {StepId} id
 * @param {import("./types.js").Reading} reading
 * @returns {StepId[]}
 */
function before(record, id, reading) {
  switch (id) {
    case "score":
      return [];
    case "scaled":
      return ["score"];
    case "capped":
      return ["scaled"];
    case "biased":
      return [record.capped ? "capped" : "scaled"];
    case "exp":
      return [reading === "shifted" ? "shifted" : lastScore(record)];
    case "weight":
      return ["exp"];
    case "reads":
      return ["weight"];
    default:
      return [lastScore(record)];
  }
}

/**
 * The column of the largest score.
 * @param {import("./types.js").LedgerRecord} record
 * @param {import("./types.js").Column[]} columns
 */
function peak(record, columns) {
  if (record.sink && record.sink.logit === record.row_max)
    return columns.findIndex((c) => c.kind === "sink");
  return record.scores.findIndex((x, i) => record.visible[i] && x === record.row_max);
}
