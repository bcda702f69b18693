// The ledger of one query: which steps and columns there are, and what stands in each cell.
import { alike, bracketed, brief, briefPart, evenly, exact, rounded, short, vector } from "./numbers.js";
import { isDefaultScale } from "./problem.js";

/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */
/** @typedef {import("./types.js").StepId} StepId */
/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Column} Column */
/** @typedef {import("./types.js").Reading} Reading */
/** @typedef {{reading: Reading, scaled: boolean}} Options */

/** @type {readonly StepId[]} */
export const ORDER = [
  "score",
  "scaled",
  "capped",
  "biased",
  "visible",
  "shifted",
  "exp",
  "weight",
  "reads",
];

/** @param {LedgerRecord} record @returns {Column[]} */
export function columnsOf(record) {
  /** @type {Column[]} */
  const columns = record.keys.map((key, index) => ({ kind: "key", index, key }));
  if (record.rest) columns.push({ kind: "rest" });
  if (record.sink) columns.push({ kind: "sink" });
  columns.push({ kind: "sum" });
  return columns;
}

/** @param {LedgerRecord} record */
function hidesKeys(record) {
  return (
    record.visible.includes(false) ||
    (record.rest !== null && record.rest.visible < record.rest.count)
  );
}

/**
 * The steps that this row has, in order: those that change nothing are left out.
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @returns {StepId[]}
 */
export function stepsOf(record, reading) {
  /** @type {Partial<Record<StepId, boolean>>} */
  const present = {
    capped: record.capped !== null,
    biased: record.bias !== null,
    visible: hidesKeys(record),
    shifted: reading === "shifted",
    reads: record.out !== null,
  };
  return ORDER.filter((id) => present[id] ?? true);
}

/**
 * The last step before softmax, whose numbers are exponentiated.
 * @param {LedgerRecord} record
 * @returns {StepId}
 */
export function lastScore(record) {
  return record.bias ? "biased" : record.capped ? "capped" : "scaled";
}

/**
 * Why the textbook form gives no weights here, where it does not: float64 has run out.
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @returns {"overflow" | "underflow" | null}
 */
export function lostIn(record, reading) {
  const numbers = record.visible_count > 0 && Number.isFinite(record.row_max);
  if (reading === "shifted" || !numbers) return null;
  if (record.exp_sum === Infinity) return "overflow";
  return record.exp_sum === 0 ? "underflow" : null;
}

/** @param {LedgerRecord} record @param {boolean} scaled @returns {string} */
export function scaleText(record, scaled) {
  const size = record.query.length;
  if (!scaled) return "scale off: × 1";
  if (isDefaultScale(record.scale, size)) return `÷ √${size} = ${short(Math.sqrt(size))}`;
  return `× ${short(record.scale)}`;
}

/**
 * The name of a step and, in a few words, how it is done.
 * @param {StepId} id
 * @param {LedgerRecord} record
 * @param {Options} options
 * @returns {[string, string]}
 */
export function stepName(id, record, options) {
  const cap = record.softcap === null ? "" : short(record.softcap);
  switch (id) {
    case "score":
      return ["score", "query · key"];
    case "scaled":
      return ["scaled", scaleText(record, options.scaled)];
    case "capped":
      return ["capped", `${cap} · tanh(x ÷ ${cap})`];
    case "biased":
      return ["biased", "+ bias"];
    case "visible":
      return ["may look", "hidden drop out"];
    case "shifted":
      return ["shifted", "− the largest"];
    case "exp":
      return options.reading === "shifted" ? ["shifted exp", "at most 1"] : ["exp", "all positive"];
    case "weight":
      return ["weight", "÷ sum"];
    case "reads":
      return ["reads", "weight × value"];
  }
}

/** @param {LedgerRecord} record @param {number} index */
function terms(record, index) {
  const key = record.key[index];
  if (key.length === 0 || key.length > 3) return undefined;
  return record.query.map((x, d) => `${bracketed(x)}·${bracketed(key[d])}`).join(" + ");
}

/** How many numbers of a vector are shown: where there are many columns they are narrow.
 * @param {LedgerRecord} record */
const inVector = (record) => (record.keys.length > 6 ? 1 : 2);

/**
 * How the numbers of a row are written: of what is before the softmax all keys have one.
 * @param {StepId} id
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @returns {(x: number) => string}
 */
export function writerOf(id, record, reading) {
  const { rest, sink, scores, visible } = record;
  const seen = (/** @type {readonly number[]} */ row) => row.filter((_, i) => visible[i]);
  const others = (/** @type {"exp" | "shifted_exp" | "weight"} */ name) =>
    [rest, sink].flatMap((part) => (part ? [part[name]] : []));
  const logits = sink ? [sink.logit] : [];
  const exp = reading === "shifted" ? "shifted_exp" : "exp";
  const first = inVector(record);
  switch (id) {
    case "score":
      return evenly(record.products);
    case "scaled":
      return alike([...record.scaled, ...(lastScore(record) === id ? logits : [])]);
    case "capped":
      return alike([...(record.capped ?? []), ...(lastScore(record) === id ? logits : [])]);
    case "biased":
      return alike([...scores, ...logits]);
    case "shifted":
      return alike([...seen(scores), ...logits].map((x) => x - record.row_max));
    case "exp":
      return alike([...seen(record[exp]), ...others(exp)]);
    case "weight":
      return alike([...seen(record.weights), ...others("weight")]);
    case "reads": {
      const parts = [...(record.contributions ?? []).filter((_, i) => visible[i])];
      if (rest?.contribution) parts.push(rest.contribution);
      const sizes = parts.flatMap((part) => briefPart(part, first)).map(Math.abs);
      return alike([Math.max(0, ...sizes.filter(Number.isFinite))]); // they are added up
    }
    default:
      return rounded;
  }
}

/**
 * What stands below a key.
 * @param {StepId} id
 * @param {LedgerRecord} record
 * @param {number} index
 * @param {Reading} reading
 * @param {(x: number) => string} write
 * @returns {Cell}
 */
function keyCell(id, record, index, reading, write) {
  const late = ORDER.indexOf(id) >= ORDER.indexOf("visible");
  const bias = record.bias ?? [];
  if (late && !record.visible[index]) return { text: "hidden", hidden: true };
  const lost = lostIn(record, reading);
  switch (id) {
    case "score":
      return { text: write(record.products[index]), note: terms(record, index) };
    case "scaled":
      return { text: write(record.scaled[index]) };
    case "capped":
      return { text: write(/** @type {number[]} */ (record.capped)[index]) };
    case "biased":
      return {
        text: write(record.scores[index]),
        note: `+ ${bracketed(bias[index], evenly(bias))}`,
      };
    case "visible":
      return { text: "yes" };
    case "shifted":
      return { text: write(record.scores[index] - record.row_max) };
    case "exp": {
      const exp = reading === "shifted" ? record.shifted_exp[index] : record.exp[index];
      return expCell(exp, lost, write);
    }
    case "weight":
      return lost ? { text: "—", lost: true } : weightCell(record.weights[index], write);
    case "reads": {
      const part = record.contributions?.[index];
      return lost ? { text: "—", lost: true } : readsCell(record, part, write);
    }
  }
}

/**
 * @param {number} exp
 * @param {"overflow" | "underflow" | null} lost
 * @param {(x: number) => string} write
 * @returns {Cell}
 */
function expCell(exp, lost, write) {
  if (lost === "overflow" && exp === Infinity) return { text: "overflow", lost: true };
  if (lost === "underflow") return { text: "0", note: "underflow", lost: true };
  return { text: write(exp) };
}

/** @param {number} weight @param {(x: number) => string} write @returns {Cell} */
function weightCell(weight, write) {
  return { text: write(weight), weight: Number.isFinite(weight) ? weight : 0 };
}

/**
 * @param {LedgerRecord} record
 * @param {readonly number[] | null | undefined} contribution
 * @param {(x: number) => string} write
 * @returns {Cell}
 */
function readsCell(record, contribution, write) {
  return { text: contribution ? brief(contribution, inVector(record), write) : "" };
}

/**
 * What stands in the column of all keys that are not listed.
 * @param {StepId} id
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @param {(x: number) => string} write
 * @returns {Cell}
 */
function restCell(id, record, reading, write) {
  const rest = record.rest;
  if (!rest) return { text: "" };
  if (id === "visible") {
    return { text: rest.visible === rest.count ? "yes" : `${rest.visible} may` };
  }
  if (id === "exp") {
    return { label: "sum", text: write(reading === "shifted" ? rest.shifted_exp : rest.exp) };
  }
  if (id !== "weight" && id !== "reads") return { text: "" };
  if (lostIn(record, reading)) return { text: "—", lost: true };
  if (id === "reads") return readsCell(record, rest.contribution, write);
  return { label: "sum", ...weightCell(rest.weight, write) };
}

/**
 * What stands below the sink: its logit joins where the scores are finished, and has no value to
 * read.
 * @param {StepId} id
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @param {(x: number) => string} write
 * @returns {Cell}
 */
function sinkCell(id, record, reading, write) {
  const sink = record.sink;
  if (!sink) return { text: "" };
  const lost = lostIn(record, reading);
  if (id === lastScore(record)) return { text: write(sink.logit), note: "as given" };
  if (id === "shifted") return { text: write(sink.logit - record.row_max) };
  if (id === "exp") return expCell(reading === "shifted" ? sink.shifted_exp : sink.exp, lost, write);
  if (id === "weight") return lost ? { text: "—", lost: true } : { text: write(sink.weight) };
  return { text: id === "reads" ? "no value" : "" };
}

/**
 * What the step adds up to: the right margin.
 * @param {StepId} id
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @param {(x: number) => string} write
 * @returns {Cell}
 */
function sumCell(id, record, reading, write) {
  const lost = lostIn(record, reading);
  if (id === "shifted") return { label: "largest", text: rounded(record.row_max), strong: true };
  if (id === "exp") {
    if (lost) return { label: "sum", text: lost === "overflow" ? "overflow" : "0", lost: true };
    return {
      label: "sum",
      text: write(reading === "shifted" ? record.row_sum : record.exp_sum),
      strong: true,
    };
  }
  if (lost && (id === "weight" || id === "reads")) return { text: "—", lost: true };
  if (id === "weight") {
    const note = record.sink ? `+ sink ${write(record.sink.weight)}` : undefined;
    return { label: "sum", text: write(record.weights_sum), note, strong: true };
  }
  if (id === "reads" && record.out) return { text: vector(record.out), strong: true };
  return { text: "" };
}

/**
 * @param {LedgerRecord} record
 * @param {Options} options
 * @returns {import("./types.js").LedgerRow[]}
 */
export function ledgerRows(record, options) {
  const columns = columnsOf(record);
  const { reading } = options;
  return stepsOf(record, reading).map((id) => {
    const [name, how] = stepName(id, record, options);
    const write = writerOf(id, record, reading);
    const cells = columns.map((column) => {
      if (column.kind === "key") return keyCell(id, record, column.index, reading, write);
      if (column.kind === "sink") return sinkCell(id, record, reading, write);
      if (column.kind === "sum") return sumCell(id, record, reading, write);
      return restCell(id, record, reading, write);
    });
    return { id, name, how, cells };
  });
}

/**
 * What a reader must know about this row beyond its numbers, in one or two sentences.
 * @param {LedgerRecord} record
 * @param {Reading} reading
 * @returns {string | null}
 */
export function rowNote(record, reading) {
  if (record.visible_count === 0) {
    return "No visible keys: this token may look at none, so it reads nothing and its output is 0.";
  }
  const largest = rounded(record.row_max);
  switch (lostIn(record, reading)) {
    case "overflow":
      return (
        `exp(${largest}) is more than a float64 can hold (about 1.8 · 10³⁰⁸), so the textbook form ` +
        "stops here. The shifted form first subtracts the largest score; the weights are the same."
      );
    case "underflow":
      return (
        `exp(${largest}) is less than a float64 can hold, so every exp and their sum are 0. ` +
        "The shifted form first subtracts the largest score; the weights are the same."
      );
    default:
      return Number.isNaN(record.lse)
        ? `A score here is not a finite number (${exact(record.row_max)}), so the whole row is NaN.`
        : null;
  }
}
