// The arithmetic of one cell, in one line: rounded numbers first, then the exact one.
import { bracketed, evenly, exact, rounded, short, sixth, vector } from "./numbers.js";
import { columnsOf, lastScore, lostIn, writerOf } from "./steps.js";

/** @typedef {import("./types.js").LedgerRecord} LedgerRecord */
/** @typedef {import("./types.js").Reading} Reading */
/** @typedef {import("./types.js").StepId} StepId */
/** @typedef {{formula: string, exactly: string}} Line */

const MOST = 6; // terms of a sum that are written out
const ROUNDING = 1e-9; // as far from 1 weights may sum to by that alone

/** @param {readonly string[]} terms */
function added(terms) {
  if (terms.length <= MOST) return terms.join(" + ") || "0";
  const left = terms.length - MOST + 1;
  return `${terms.slice(0, MOST - 1).join(" + ")} + … ${left} more`;
}

/** @param {readonly number[]} numbers */
const exactVector = (numbers) => vector(numbers, exact, 6);

/** @param {LedgerRecord} record @param {StepId} id @param {number} i */
function scoreBefore(record, id, i) {
  if (id === "biased" && record.capped) return record.capped[i];
  return id === "scaled" ? record.products[i] : record.scaled[i];
}

/**
 * @param {LedgerRecord} record
 * @param {StepId} id
 * @param {number} i
 * @param {{reading: Reading, scaled: boolean}} options
 * @returns {Line}
 */
function keyLine(record, id, i, { reading, scaled }) {
  const late =
    id === "exp" || id === "weight" || id === "reads" || id === "shifted" || id === "visible";
  if (late && !record.visible[i]) {
    return {
      formula: "hidden",
      exactly: "this key takes no part: its weight is 0, whatever it holds",
    };
  }
  if (id === "score") {
    const terms = record.query.map((x, d) => `${bracketed(x)}·${bracketed(record.key[i][d])}`);
    const product = record.products[i];
    return line(`${added(terms)} = ${evenly(record.products)(product)}`, exact(product));
  }
  if (id === "visible")
    return { formula: "visible", exactly: "this key takes part in the softmax" };
  if (id === "scaled" || id === "capped" || id === "biased")
    return scoreLine(record, id, i, scaled);
  return softLine(record, id, i, reading);
}

/** @param {string} formula @param {string} number @returns {Line} */
const line = (formula, number) => ({ formula, exactly: `exactly ${number}` });

/**
 * @param {LedgerRecord} record
 * @param {StepId} id
 * @param {number} i
 * @param {boolean} scaled
 * @returns {Line}
 */
function scoreLine(record, id, i, scaled) {
  const before = scoreBefore(record, id, i);
  if (id === "scaled") {
    const root = Math.sqrt(record.query.length);
    const divides = scaled && Math.abs(record.scale * root - 1) < 1e-12 && root !== 1;
    const how = divides ? `÷ ${short(root)}` : `× ${short(record.scale)}`;
    const write = evenly(record.products);
    return line(`${write(before)} ${how} = ${rounded(record.scaled[i])}`, exact(record.scaled[i]));
  }
  if (id === "capped") {
    const cap = short(record.softcap ?? 0);
    const capped = record.capped?.[i] ?? 0;
    return line(`${cap} · tanh(${rounded(before)} ÷ ${cap}) = ${rounded(capped)}`, exact(capped));
  }
  const bias = bracketed(record.bias?.[i] ?? 0);
  return line(
    `${rounded(before)} + ${bias} = ${rounded(record.scores[i])}`,
    exact(record.scores[i]),
  );
}

/**
 * @param {LedgerRecord} record
 * @param {StepId} id
 * @param {number} i
 * @param {Reading} reading
 * @returns {Line}
 */
function softLine(record, id, i, reading) {
  const score = record.scores[i];
  const shifted = reading === "shifted";
  const exp = shifted ? record.shifted_exp[i] : record.exp[i];
  if (id === "shifted") {
    const x = score - record.row_max;
    return line(`${rounded(score)} − ${minusOf(record.row_max)} = ${rounded(x)}`, exact(x));
  }
  const written = writerOf("exp", record, reading);
  if (id === "exp") {
    const x = shifted ? score - record.row_max : score;
    if (exp === Infinity && Number.isFinite(x)) {
      return {
        formula: `exp(${rounded(x)}) = overflow`,
        exactly: "more than the largest float64, 1.8 · 10³⁰⁸",
      };
    }
    return {
      formula: `exp(${rounded(x)}) = ${written(exp)}`,
      exactly: `= e^${sixth(x)}, exactly ${exact(exp)}`,
    };
  }
  if (lostIn(record, reading)) return LOST;
  const weight = record.weights[i];
  const share = writerOf("weight", record, reading);
  if (id === "weight") {
    const sum = shifted ? record.row_sum : record.exp_sum;
    return line(`${written(exp)} ÷ ${written(sum)} = ${share(weight)}`, exact(weight));
  }
  const part = record.contributions?.[i] ?? [];
  const value = vector(record.value?.[i] ?? [], short);
  const read = vector(part, writerOf("reads", record, reading));
  return line(`${share(weight)} × ${value} = ${read}`, exactVector(part));
}

const LOST = {
  formula: "no number",
  exactly: "the textbook form ran out of float64; the shifted form has this number",
};

/** @param {number} x */
const minusOf = (x) => (x < 0 ? `(${rounded(x)})` : rounded(x));

/**
 * @param {LedgerRecord} record
 * @param {StepId} id
 * @param {Reading} reading
 * @returns {Line}
 */
function sumLine(record, id, reading) {
  const shifted = reading === "shifted";
  const seen = record.keys.map((_, i) => i).filter((i) => record.visible[i]);
  const rest = record.rest;
  const write = writerOf(id, record, reading);
  const share = writerOf("weight", record, reading);
  const extra = (/** @type {number} */ x) => (rest ? [`${write(x)} (the others)`] : []);
  if (id === "shifted") {
    const of = record.sink ? "all visible scores and the sink" : "all visible scores";
    return line(`largest of ${of} = ${rounded(record.row_max)}`, exact(record.row_max));
  }
  if (id === "exp") {
    const exp = shifted ? record.shifted_exp : record.exp;
    const sum = shifted ? record.row_sum : record.exp_sum;
    const sink = record.sink
      ? [`${write(shifted ? record.sink.shifted_exp : record.sink.exp)} (sink)`]
      : [];
    const parts = [
      ...seen.map((i) => write(exp[i])),
      ...extra(shifted ? (rest?.shifted_exp ?? 0) : (rest?.exp ?? 0)),
    ];
    return line(`${added([...parts, ...sink])} = ${write(sum)}`, exact(sum));
  }
  if (lostIn(record, reading) && (id === "weight" || id === "reads")) return LOST;
  if (id === "weight") {
    const parts = [...seen.map((i) => write(record.weights[i])), ...extra(rest?.weight ?? 0)];
    const sum = record.weights_sum;
    const text = `${added(parts)} = ${write(sum)}`;
    if (record.sink || sum === 1 || !(Math.abs(sum - 1) < ROUNDING)) return line(text, exact(sum));
    return { formula: text, exactly: `in float64 ${exact(sum)}; without rounding exactly 1` };
  }
  if (id !== "reads" || !record.out) return { formula: "", exactly: "this step adds nothing up" };
  const parts = seen.map(
    (i) => `${share(record.weights[i])}·${vector(record.value?.[i] ?? [], short, 3)}`,
  );
  const others = rest?.contribution ? [`${vector(rest.contribution, write)} (the others)`] : [];
  return line(`${added([...parts, ...others])} = ${vector(record.out)}`, exactVector(record.out));
}

/**
 * @param {LedgerRecord} record
 * @param {StepId} id
 * @param {Reading} reading
 * @returns {Line}
 */
function restLine(record, id, reading) {
  const rest = record.rest;
  const shifted = reading === "shifted";
  if (!rest || ["score", "scaled", "capped", "biased", "shifted"].includes(id)) {
    return { formula: "", exactly: "the other keys have a score each; only their sums are shown" };
  }
  const many = `${rest.visible} visible of ${rest.count} other keys`;
  if (id === "visible") return { formula: many, exactly: "" };
  if (id === "reads") {
    return line(
      `their weights × their values = ${vector(rest.contribution ?? [])}`,
      exactVector(rest.contribution ?? []),
    );
  }
  const sum = id === "weight" ? rest.weight : shifted ? rest.shifted_exp : rest.exp;
  return line(`${many}, summed = ${writerOf(id, record, reading)(sum)}`, exact(sum));
}

/**
 * @param {LedgerRecord} record
 * @param {StepId} id
 * @param {Reading} reading
 * @returns {Line}
 */
function sinkLine(record, id, reading) {
  const sink = record.sink;
  const shifted = reading === "shifted";
  if (!sink || id === "reads")
    return { formula: "no value", exactly: "the sink takes weight and gives nothing back" };
  if (id === "shifted") {
    const x = sink.logit - record.row_max;
    return line(`${rounded(sink.logit)} − ${minusOf(record.row_max)} = ${rounded(x)}`, exact(x));
  }
  const exp = shifted ? sink.shifted_exp : sink.exp;
  const written = writerOf("exp", record, reading);
  if (id === "exp") {
    const x = shifted ? sink.logit - record.row_max : sink.logit;
    return line(`exp(${rounded(x)}) = ${written(exp)}`, exact(exp));
  }
  if (id === "weight") {
    if (lostIn(record, reading)) return LOST;
    const sum = shifted ? record.row_sum : record.exp_sum;
    const share = writerOf(id, record, reading)(sink.weight);
    return line(`${written(exp)} ÷ ${written(sum)} = ${share}`, exact(sink.weight));
  }
  if (id === lastScore(record))
    return line(`the sink's logit = ${rounded(sink.logit)}`, exact(sink.logit));
  return { formula: "", exactly: "the sink joins where the scores are finished" };
}

/**
 * @param {LedgerRecord} record
 * @param {import("./types.js").Cursor} cursor
 * @param {{reading: Reading, scaled: boolean}} options
 * @returns {Line}
 */
export function readout(record, cursor, options) {
  const column = columnsOf(record)[cursor.column];
  const id = cursor.step;
  if (column.kind === "key") return keyLine(record, id, column.index, options);
  if (column.kind === "rest") return restLine(record, id, options.reading);
  if (column.kind === "sink") return sinkLine(record, id, options.reading);
  return sumLine(record, id, options.reading);
}
