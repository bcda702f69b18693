// Built from web/src by esbuild (npm run build). Edit the modules there, not this file.

// src/edits.js
var replaced = (items, index, item) => items.map((old, i) => i === index ? item : old);
var without = (items, index) => items.filter((_, i) => i !== index);
function setNumber(edit2, { side, row, col }, number2) {
  return { ...edit2, [side]: replaced(edit2[side], row, replaced(edit2[side][row], col, number2)) };
}
function rename(edit2, paired, side, index, name) {
  const asQuery = paired || side === "query";
  const asKey = paired || side !== "query";
  return {
    ...edit2,
    tokens: asQuery ? replaced(edit2.tokens, index, name) : edit2.tokens,
    key_tokens: asKey ? replaced(edit2.key_tokens, index, name) : edit2.key_tokens
  };
}
function freshName(tokens) {
  let number2 = tokens.length + 1;
  while (tokens.includes(String(number2))) number2++;
  return String(number2);
}
function addToken(edit2, paired, side) {
  const zeros = (rows) => [...rows, (rows[0] ?? []).map(() => 0)];
  let next2 = edit2;
  if (paired || side === "query") {
    const tokens = [...edit2.tokens, freshName(edit2.tokens)];
    next2 = { ...next2, tokens, query: zeros(edit2.query), row_from: [...edit2.row_from, -1] };
  }
  if (paired || side !== "query") {
    const key_tokens = [...edit2.key_tokens, freshName(edit2.key_tokens)];
    const key_from = [...edit2.key_from, -1];
    next2 = { ...next2, key_tokens, key: zeros(edit2.key), value: zeros(edit2.value), key_from };
  }
  return next2;
}
function removeToken(edit2, paired, side, index) {
  let next2 = edit2;
  if (paired || side === "query") {
    next2 = {
      ...next2,
      tokens: without(edit2.tokens, index),
      query: without(edit2.query, index),
      row_from: without(edit2.row_from, index)
    };
  }
  if (paired || side !== "query") {
    next2 = {
      ...next2,
      key_tokens: without(edit2.key_tokens, index),
      key: without(edit2.key, index),
      value: without(edit2.value, index),
      key_from: without(edit2.key_from, index)
    };
  }
  return next2;
}
function changeDimension(edit2, which, change) {
  const resize = (rows) => rows.map((row) => change === 1 ? [...row, 0] : row.slice(0, -1));
  if (which === "value_dim") return { ...edit2, value: resize(edit2.value) };
  return { ...edit2, query: resize(edit2.query), key: resize(edit2.key) };
}

// src/keys.js
var ARROWS = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  Home: "home",
  End: "end"
};
var JUMPS = {
  left: [0, -1],
  right: [0, 1],
  up: [-1, 0],
  down: [1, 0],
  home: [0, -Infinity],
  end: [0, Infinity]
};
var jump = (way) => JUMPS[way];
var PLAIN = {
  Backspace: ["back", ""],
  a: ["all", ""],
  ",": ["query-by", "-1"],
  ".": ["query-by", "1"],
  e: ["spot", ""],
  "+": ["add", "query"],
  n: ["rename", ""],
  u: ["reset", ""],
  s: ["scale", ""],
  r: ["reading", "other"],
  m: ["layer", ""],
  x: ["exercise", ""],
  y: ["another", ""],
  "[": ["section", "back"],
  "]": ["section", "next"],
  c: ["copy", ""],
  l: ["link", ""],
  "?": ["help", ""],
  Escape: ["ledger", ""]
};
function actionOf(event, target) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  if (target?.closest("dialog")) return null;
  const { key } = event;
  if (target?.matches("input.edit")) {
    if (key === "Enter") return [
      "commit",
      /** @type {HTMLInputElement} */
      target.value
    ];
    return key === "Escape" ? ["cancel", ""] : null;
  }
  if (target?.matches("input, select, textarea")) return key === "Escape" ? ["ledger", ""] : null;
  const pressed2 = target?.matches("button") ?? false;
  if (key === " ") return event.shiftKey ? ["back", ""] : pressed2 ? null : ["next", ""];
  if (key in ARROWS) return [moved(target), ARROWS[key]];
  if (/^[1-9]$/.test(key)) return ["query", String(Number(key) - 1)];
  return PLAIN[key.length === 1 ? key.toLowerCase() : key] ?? null;
}
function moved(target) {
  if (target?.closest("table.tokens")) return "move-spot";
  return target?.closest("table.matrix") ? "move-cell" : "move";
}

// src/numbers.js
var minus = (text) => text.replaceAll("-", "−");
var NEGATIVE = /(?<![\p{L}\d)\]_-])-(?=\d|\.\d|∞|inf\b)|(?<=\de)-(?=\d)|(?<=[\d)] )-(?= [\d(])/gu;
var withMinus = (text) => text.replace(NEGATIVE, minus);
function unusual(x) {
  if (Number.isNaN(x)) return "NaN";
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  return null;
}
function rounded(x) {
  const word = unusual(x);
  if (word) return word;
  const size = Math.abs(x);
  if (size !== 0 && size < 5e-4) return minus(x.toExponential(1));
  if (size >= 1e9) return minus(x.toExponential(3).replace("+", ""));
  return minus(threeDecimals(x === 0 ? 0 : x));
}
function threeDecimals(x) {
  const units = x * 1e3;
  const tie = Math.abs(units % 1) === 0.5 && units / 1e3 === x && Number.isInteger(x * 16);
  return (tie ? 2 * Math.round(units / 2) / 1e3 : x).toFixed(3);
}
function short(x) {
  if (isBare(x)) return minus(String(x === 0 ? 0 : x));
  const text = rounded(x);
  return /^−?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
}
var evenly = (numbers) => numbers.every(isBare) ? short : rounded;
var isBare = (x) => Number.isInteger(x) && Math.abs(x) < 1e9;
function exact(x) {
  return unusual(x) ?? minus(String(x));
}
function vector(numbers, write = rounded, most = 4) {
  if (numbers.length <= most) return `[${numbers.map(write).join(", ")}]`;
  const first = numbers.slice(0, most - 1).map(write).join(", ");
  return `[${first}, … ${numbers.length - most + 1} more]`;
}
var bracketed = (x, write = short) => x < 0 ? `(${write(x)})` : write(x);
var breadth = (text) => [...text].reduce((total, letter) => total + breadthOf(letter), 0);
function breadthOf(letter) {
  if (/[\s.,·[\]()]/.test(letter)) return 0.5;
  return /[−+…]/.test(letter) ? 1.35 : 1;
}
function brief(numbers, first = 2) {
  if (numbers.length <= first + 1) return vector(numbers);
  return `[${numbers.slice(0, first).map(rounded).join(", ")}, …]`;
}
function parseNumber(text) {
  const plain2 = text.trim().replaceAll("−", "-");
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\s*\/\s*(\d+\.?\d*))?$/i.exec(plain2);
  const number2 = match ? Number(match[1]) / (match[2] === void 0 ? 1 : Number(match[2])) : NaN;
  if (Number.isFinite(number2)) return { number: number2 === 0 ? 0 : number2 };
  const got = plain2 === "" ? "nothing" : `“${plain2.length > 24 ? `${plain2.slice(0, 24)}…` : plain2}”`;
  if (match) return { sentence: `A number here must be finite; got ${got}. Type a smaller one.` };
  return { sentence: `Type one number, such as 2, −0.5 or 1/3; got ${got}.` };
}

// src/readable.js
var UNSEEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffc\\ufffe\\uffff\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu"
);
var NAMED = { "\n": "⏎", "	": "⇥" };
function readable(token) {
  if (token === "") return "⟨empty⟩";
  if (/^ +$/.test(token)) return token === " " ? "⟨space⟩" : `⟨${token.length} spaces⟩`;
  return token.replace(UNSEEN, (found) => NAMED[found] ?? `⟨${hex(found)}⟩`);
}
function hex(character) {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

// src/arithmetic.js
var sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
function dot(a, b) {
  let total = 0;
  for (let d = 0; d < a.length; d++) total += a[d] * b[d];
  return total;
}
function sumVectors(vectors, size) {
  return Array.from({ length: size }, (_, d) => sum(vectors.map((vector2) => vector2[d])));
}
function scoresOf(problem, row) {
  const { softcap } = problem;
  const products = problem.key.map((key) => dot(problem.query[row], key));
  const scaled = products.map((product) => problem.scale * product);
  const capped = softcap === null ? null : scaled.map((x) => softcap * Math.tanh(x / softcap));
  const bias = problem.bias ? problem.bias[row].slice() : null;
  const scores = (capped ?? scaled).map((x, j) => bias ? x + bias[j] : x);
  return { products, scaled, capped, bias, scores };
}
function softmax(scores, visible, sink) {
  const seen = scores.filter((_, j) => visible[j]);
  const row_max = Math.max(...seen, sink ?? -Infinity);
  const shift = row_max === -Infinity ? 0 : row_max;
  const exp = scores.map((x, j) => visible[j] ? Math.exp(x) : 0);
  const shifted_exp = scores.map((x, j) => visible[j] ? Math.exp(x - shift) : 0);
  const own2 = sink === null ? null : { exp: Math.exp(sink), shifted_exp: Math.exp(sink - shift) };
  const row_sum = sum(shifted_exp) + (own2 ? own2.shifted_exp : 0);
  const share = seen.length ? (own2?.shifted_exp ?? 0) / row_sum : 1;
  return {
    exp,
    exp_sum: sum(exp) + (own2 ? own2.exp : 0),
    row_max,
    shifted_exp,
    row_sum,
    weights: shifted_exp.map((part, j) => visible[j] ? part / row_sum : 0),
    sink: own2 && sink !== null ? { logit: sink, ...own2, weight: share } : null,
    lse: seen.length ? row_max + Math.log(row_sum) : row_max
  };
}
function largest(scores, visible, top) {
  const all = scores.map((_, j) => j);
  if (top >= all.length) return all;
  const numbers = all.filter((j) => visible[j] && !Number.isNaN(scores[j]));
  const others = all.filter((j) => visible[j] && Number.isNaN(scores[j]));
  numbers.sort((a, b) => scores[b] > scores[a] ? 1 : scores[b] < scores[a] ? -1 : a - b);
  return [...numbers, ...others].slice(0, top).sort((a, b) => a - b);
}
function traceRow(problem, row, top = problem.key.length) {
  const visible = problem.visible[row];
  const before2 = scoresOf(problem, row);
  const after = softmax(before2.scores, visible, problem.sink);
  const value = problem.value;
  const contributions = value && value.map((v, j) => v.map((x) => visible[j] ? after.weights[j] * x : 0));
  const size = value && value.length ? value[0].length : 0;
  const whole2 = {
    ...before2,
    ...after,
    visible,
    contributions,
    key: problem.key,
    value,
    key_tokens: problem.key_tokens
  };
  const keys = largest(before2.scores, visible, top);
  return {
    ...pick(whole2, keys),
    row,
    token: problem.tokens[row],
    position: problem.q_offset === null ? null : row + problem.q_offset,
    query: problem.query[row],
    keys,
    weights_sum: sum(after.weights),
    out: contributions && sumVectors(contributions, size),
    scale: problem.scale,
    softcap: problem.softcap,
    visible_count: visible.filter(Boolean).length,
    rest: restOf(whole2, keys, size)
  };
}
function pick(whole2, keys) {
  const at = (items) => keys.map((j) => items[j]);
  return {
    ...whole2,
    key: at(whole2.key),
    value: whole2.value && at(whole2.value),
    key_tokens: at(whole2.key_tokens),
    visible: at(whole2.visible),
    products: at(whole2.products),
    scaled: at(whole2.scaled),
    capped: whole2.capped && at(whole2.capped),
    bias: whole2.bias && at(whole2.bias),
    scores: at(whole2.scores),
    exp: at(whole2.exp),
    shifted_exp: at(whole2.shifted_exp),
    weights: at(whole2.weights),
    contributions: whole2.contributions && at(whole2.contributions)
  };
}
function restOf(whole2, keys, size) {
  const shown = new Set(keys);
  const others = whole2.scores.map((_, j) => j).filter((j) => !shown.has(j));
  if (!others.length) return null;
  const total = (numbers) => sum(others.map((j) => numbers[j]));
  const parts = whole2.contributions;
  return {
    count: others.length,
    visible: others.filter((j) => whole2.visible[j]).length,
    exp: total(whole2.exp),
    shifted_exp: total(whole2.shifted_exp),
    weight: total(whole2.weights),
    contribution: parts && sumVectors(
      others.map((j) => parts[j]),
      size
    )
  };
}

// src/problem.js
function inSight(options, offset, i, j) {
  const ahead = j - (i + offset);
  if (options.causal && ahead > 0) return false;
  if (!options.window) return true;
  const [left2, right] = options.window;
  return (left2 === null || -ahead <= left2) && (right === null || ahead <= right);
}
function unedited(info, arrays) {
  return {
    tokens: info.tokens,
    key_tokens: info.key_tokens,
    query: arrays.query,
    key: arrays.key,
    value: arrays.value,
    row_from: info.tokens.map((_, i) => i),
    key_from: info.key_tokens.map((_, j) => j)
  };
}
function problemOf(info, arrays, edit2, scaled) {
  const offset = arrays.q_offset ?? 0;
  const { options } = info;
  const hiddenBefore = (i, j) => i >= 0 && j >= 0 && !arrays.visible[i][j] && inSight(options, offset, i, j);
  const { row_from: rows, key_from: keys, tokens, key_tokens, query, key, value } = edit2;
  const bias = arrays.bias;
  return {
    tokens,
    key_tokens,
    query,
    key,
    value,
    visible: rows.map(
      (from, i) => keys.map((was, j) => inSight(options, offset, i, j) && !hiddenBefore(from, was))
    ),
    bias: bias && rows.map((from) => keys.map((was) => from >= 0 && was >= 0 ? bias[from][was] : 0)),
    sink: arrays.sink,
    scale: scaled ? scaleOf(arrays, edit2) : 1,
    softcap: arrays.softcap,
    q_offset: arrays.q_offset
  };
}
function scaleOf(arrays, edit2) {
  const before2 = arrays.query[0]?.length ?? 0;
  const now = edit2.query[0]?.length ?? 0;
  return before2 !== now && isDefaultScale(arrays.scale, before2) ? now ** -0.5 : arrays.scale;
}
function isDefaultScale(scale, head_dim) {
  return head_dim > 0 && Math.abs(scale * Math.sqrt(head_dim) - 1) < 1e-12;
}
function isPaired(tokens, key_tokens) {
  return tokens.length === key_tokens.length && tokens.every((token, i) => token === key_tokens[i]);
}

// src/source.js
var NUMERIC = /* @__PURE__ */ new Set(["trace", "arrays", "weights"]);
var TEXTS = /* @__PURE__ */ new Set(["token", "tokens", "key_tokens"]);
var UNUSUAL = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity };
function revive(value) {
  if (typeof value === "string") return value in UNUSUAL ? UNUSUAL[value] : value;
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, TEXTS.has(name) ? item : revive(item)])
  );
}
var address = (op, args) => `${op}?${new URLSearchParams(args)}`;
function createSource(host, top) {
  const known = /* @__PURE__ */ new Map();
  const asked = /* @__PURE__ */ new Map();
  const ask = async (op, args) => {
    const { json } = await host.call(op, args);
    return NUMERIC.has(op) ? revive(json) : json;
  };
  return {
    record: (batch, head, row) => known.get(address("trace", traceArgs(batch, head, row, top))),
    arrays: (batch, head) => known.get(address("arrays", headArgs(batch, head))),
    weights: (batch, head, rows, keys) => known.get(address("weights", weightArgs(batch, head, rows, keys))),
    ask,
    has: (op, args) => known.has(address(op, args)),
    need(op, args) {
      const name = address(op, args);
      if (known.has(name)) return Promise.resolve();
      const running = asked.get(name) ?? ask(op, args).then((answer) => void known.set(name, answer)).finally(() => asked.delete(name));
      asked.set(name, running);
      return running;
    }
  };
}
var headArgs = (batch, head) => ({ batch: String(batch), head: String(head) });
var traceArgs = (batch, head, row, top) => ({
  ...headArgs(batch, head),
  row: String(row),
  top: String(top)
});
var weightArgs = (batch, head, rows, keys) => ({
  ...headArgs(batch, head),
  rows: rows.join(","),
  keys: keys.join(",")
});

// src/steps.js
var ORDER = [
  "score",
  "scaled",
  "capped",
  "biased",
  "visible",
  "shifted",
  "exp",
  "weight",
  "reads"
];
function columnsOf(record) {
  const columns = record.keys.map((key, index) => ({ kind: "key", index, key }));
  if (record.rest) columns.push({ kind: "rest" });
  if (record.sink) columns.push({ kind: "sink" });
  columns.push({ kind: "sum" });
  return columns;
}
function hidesKeys(record) {
  return record.visible.includes(false) || record.rest !== null && record.rest.visible < record.rest.count;
}
function stepsOf(record, reading) {
  const present = {
    capped: record.capped !== null,
    biased: record.bias !== null,
    visible: hidesKeys(record),
    shifted: reading === "shifted",
    reads: record.out !== null
  };
  return ORDER.filter((id) => present[id] ?? true);
}
function lastScore(record) {
  return record.bias ? "biased" : record.capped ? "capped" : "scaled";
}
function lostIn(record, reading) {
  const numbers = record.visible_count > 0 && Number.isFinite(record.row_max);
  if (reading === "shifted" || !numbers) return null;
  if (record.exp_sum === Infinity) return "overflow";
  return record.exp_sum === 0 ? "underflow" : null;
}
function scaleText(record, scaled) {
  const size = record.query.length;
  if (!scaled) return "scale off: × 1";
  if (isDefaultScale(record.scale, size)) return `÷ √${size} = ${short(Math.sqrt(size))}`;
  return `× ${short(record.scale)}`;
}
function stepName(id, record, options) {
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
function terms(record, index) {
  const key = record.key[index];
  if (key.length === 0 || key.length > 3) return void 0;
  return record.query.map((x, d) => `${bracketed(x)}·${bracketed(key[d])}`).join(" + ");
}
function keyCell(id, record, index, reading) {
  const late = ORDER.indexOf(id) >= ORDER.indexOf("visible");
  const bias = record.bias ?? [];
  if (late && !record.visible[index]) return { text: "hidden", hidden: true };
  const lost = lostIn(record, reading);
  switch (id) {
    case "score":
      return { text: evenly(record.products)(record.products[index]), note: terms(record, index) };
    case "scaled":
      return { text: rounded(record.scaled[index]) };
    case "capped":
      return { text: rounded(
        /** @type {number[]} */
        record.capped[index]
      ) };
    case "biased":
      return {
        text: rounded(record.scores[index]),
        note: `+ ${bracketed(bias[index], evenly(bias))}`
      };
    case "visible":
      return { text: "yes" };
    case "shifted":
      return { text: rounded(record.scores[index] - record.row_max) };
    case "exp":
      return expCell(reading === "shifted" ? record.shifted_exp[index] : record.exp[index], lost);
    case "weight":
      return lost ? { text: "—", lost: true } : weightCell(record.weights[index]);
    case "reads":
      return lost ? { text: "—", lost: true } : readsCell(record, record.contributions?.[index]);
  }
}
function expCell(exp, lost) {
  if (lost === "overflow" && exp === Infinity) return { text: "overflow", lost: true };
  if (lost === "underflow") return { text: "0", note: "underflow", lost: true };
  return { text: rounded(exp) };
}
function weightCell(weight) {
  return { text: rounded(weight), weight: Number.isFinite(weight) ? weight : 0 };
}
function readsCell(record, contribution) {
  return { text: contribution ? brief(contribution, record.keys.length > 6 ? 1 : 2) : "" };
}
function restCell(id, record, reading) {
  const rest = record.rest;
  if (!rest) return { text: "" };
  if (id === "visible") {
    return { text: rest.visible === rest.count ? "yes" : `${rest.visible} may` };
  }
  if (id === "exp") {
    return { label: "sum", text: rounded(reading === "shifted" ? rest.shifted_exp : rest.exp) };
  }
  if (id !== "weight" && id !== "reads") return { text: "" };
  if (lostIn(record, reading)) return { text: "—", lost: true };
  if (id === "reads") return readsCell(record, rest.contribution);
  return { label: "sum", ...weightCell(rest.weight) };
}
function sinkCell(id, record, reading) {
  const sink = record.sink;
  if (!sink) return { text: "" };
  const lost = lostIn(record, reading);
  if (id === lastScore(record)) return { text: rounded(sink.logit), note: "as given" };
  if (id === "shifted") return { text: rounded(sink.logit - record.row_max) };
  if (id === "exp") return expCell(reading === "shifted" ? sink.shifted_exp : sink.exp, lost);
  if (id === "weight") return lost ? { text: "—", lost: true } : { text: rounded(sink.weight) };
  return { text: id === "reads" ? "no value" : "" };
}
function sumCell(id, record, reading) {
  const lost = lostIn(record, reading);
  if (id === "shifted") return { label: "largest", text: rounded(record.row_max), strong: true };
  if (id === "exp") {
    if (lost) return { label: "sum", text: lost === "overflow" ? "overflow" : "0", lost: true };
    return {
      label: "sum",
      text: rounded(reading === "shifted" ? record.row_sum : record.exp_sum),
      strong: true
    };
  }
  if (lost && (id === "weight" || id === "reads")) return { text: "—", lost: true };
  if (id === "weight") {
    const note = record.sink ? `+ sink ${rounded(record.sink.weight)}` : void 0;
    return { label: "sum", text: rounded(record.weights_sum), note, strong: true };
  }
  if (id === "reads" && record.out) return { text: vector(record.out), strong: true };
  return { text: "" };
}
function ledgerRows(record, options) {
  const columns = columnsOf(record);
  const { reading } = options;
  return stepsOf(record, reading).map((id) => {
    const [name, how] = stepName(id, record, options);
    const cells = columns.map((column) => {
      if (column.kind === "key") return keyCell(id, record, column.index, reading);
      if (column.kind === "sink") return sinkCell(id, record, reading);
      if (column.kind === "sum") return sumCell(id, record, reading);
      return restCell(id, record, reading);
    });
    return { id, name, how, cells };
  });
}
function rowNote(record, reading) {
  if (record.visible_count === 0) {
    return "No visible keys: this token may look at none, so it reads nothing and its output is 0.";
  }
  const largest3 = rounded(record.row_max);
  switch (lostIn(record, reading)) {
    case "overflow":
      return `exp(${largest3}) is more than a float64 can hold (about 1.8 · 10³⁰⁸), so the textbook form stops here. The shifted form first subtracts the largest score; the weights are the same.`;
    case "underflow":
      return `exp(${largest3}) is less than a float64 can hold, so every exp and their sum are 0. The shifted form first subtracts the largest score; the weights are the same.`;
    default:
      return Number.isNaN(record.lse) ? `A score here is not a finite number (${exact(record.row_max)}), so the whole row is NaN.` : null;
  }
}

// src/scene.js
var WINDOW = 8;
var editKey = (state) => `${state.batch}/${state.head}`;
var opensWhole = (info) => info.source !== "lesson";
var isIn = (state, row) => opensWhole(state.info) || state.seen.includes(row);
var isSmall = ({ info }) => info.sizes.q_len <= info.limits.edit_tokens && info.sizes.kv_len <= info.limits.edit_tokens;
function sceneOf(state, source) {
  const { info, batch, head } = state;
  const arrays = info.editable ? source.arrays(batch, head) ?? null : null;
  const edit2 = state.edits[editKey(state)] ?? null;
  const local = (edit2 !== null || !state.scaled) && arrays !== null;
  const numbers = edit2 ?? (arrays && unedited(info, arrays));
  const problem = local && arrays && numbers ? problemOf(info, arrays, numbers, state.scaled) : null;
  const computed = /* @__PURE__ */ new Map();
  const recordOf = (row) => {
    if (!problem) return source.record(batch, head, row) ?? null;
    const known = computed.get(row) ?? traceRow(problem, row, info.limits.ledger_keys);
    computed.set(row, known);
    return known;
  };
  const tokens = edit2?.tokens ?? info.tokens;
  const keyTokens = edit2?.key_tokens ?? info.key_tokens;
  const record = recordOf(state.row);
  const scene = {
    state,
    tokens,
    keyTokens,
    local,
    recordOf,
    record,
    paired: isPaired(info.tokens, info.key_tokens),
    small: isSmall(state),
    numbers: numbers ?? (isSmall(state) ? fromRecords(tokens, keyTokens, recordOf) : null)
  };
  return { ...scene, ...gridOf(scene, source) };
}
function fromRecords(tokens, keyTokens, recordOf) {
  const records = tokens.map((_, row) => recordOf(row));
  const first = records[0];
  if (!first || records.includes(null)) return null;
  return {
    tokens,
    key_tokens: keyTokens,
    query: records.map((record) => record?.query ?? []),
    key: first.key,
    value: first.value ?? keyTokens.map(() => []),
    row_from: tokens.map((_, i) => i),
    key_from: keyTokens.map((_, j) => j)
  };
}
function windowRows({ row, info }) {
  const first = Math.max(0, Math.min(row - WINDOW / 2, info.sizes.q_len - WINDOW));
  return Array.from({ length: Math.min(WINDOW, info.sizes.q_len) }, (_, i) => first + i);
}
function gridOf({ state, tokens, keyTokens, small, record, recordOf }, source) {
  if (small) {
    const gridCell2 = (row, c) => {
      const at = isIn(state, row) ? recordOf(row) : null;
      return at && { weight: at.weights[c], visible: at.visible[c] };
    };
    const [gridRows2, gridKeys2] = [tokens.map((_, i) => i), keyTokens.map((_, j) => j)];
    return { gridRows: gridRows2, gridKeys: gridKeys2, gridCell: gridCell2, gridTop: 1 };
  }
  const gridRows = windowRows(state);
  const gridKeys = record?.keys ?? [];
  const found = record && source.weights(state.batch, state.head, gridRows, gridKeys);
  const gridCell = (row, c) => {
    const r = gridRows.indexOf(row);
    return found ? { weight: found.weights[r][c], visible: found.visible[r][c] } : null;
  };
  return { gridRows, gridKeys, gridCell, gridTop: largest2(found?.weights.flat() ?? []) };
}
function largest2(weights) {
  const top = Math.max(0, ...weights.filter((weight) => Number.isFinite(weight)));
  return top > 0 ? top : 1;
}
function needsOf({ state, small, tokens, record, gridRows, gridKeys }) {
  const { info, batch, head } = state;
  const top = info.limits.ledger_keys;
  const needs = [];
  if (info.editable) needs.push(["arrays", headArgs(batch, head)]);
  const edited = editKey(state) in state.edits;
  const rows = edited ? [] : small ? tokens.map((_, i) => i) : [state.row];
  for (const row of rows) needs.push(["trace", traceArgs(batch, head, row, top)]);
  if (!small && record && gridKeys.length)
    needs.push(["weights", weightArgs(batch, head, gridRows, gridKeys)]);
  return needs;
}
var sceneSteps = ({ record, state }) => record ? stepsOf(record, state.reading) : [];
function isUnfolded(id, step2) {
  return step2 !== "none" && ORDER.indexOf(id) <= ORDER.indexOf(step2);
}
function isFinished(scene) {
  const last = sceneSteps(scene).at(-1);
  return last !== void 0 && isUnfolded(last, scene.state.step);
}
var isWhole = ({ small, tokens, state }) => small && tokens.every((_, row) => isIn(state, row));
var hasLayer = ({ small, state, numbers }) => small && numbers !== null && numbers.key.length > 0 && (numbers.query[0]?.length ?? 0) <= state.info.limits.edit_dims && (numbers.value[0]?.length ?? 0) <= state.info.limits.edit_dims && state.info.sizes.value_dim !== null;
function pointOf(scene) {
  const { record, state } = scene;
  const steps = sceneSteps(scene);
  if (!record || !steps.length) return null;
  return held(state.hover ?? state.cursor, steps, columnsOf(record).length);
}
var cursorOf = (scene) => pointOf({ ...scene, state: { ...scene.state, hover: null } });
function held(cursor, steps, columns) {
  const near = steps.filter((id) => ORDER.indexOf(id) <= ORDER.indexOf(cursor.step)).at(-1);
  return { step: near ?? steps[0], column: Math.max(0, Math.min(cursor.column, columns - 1)) };
}

// src/tokens_layout.js
var ROOM = 22;
function tablesOf(numbers, paired) {
  const filled = (sides) => sides.filter((side) => (numbers[side][0]?.length ?? 0) > 0);
  const { tokens, key_tokens } = numbers;
  if (paired)
    return [
      {
        label: "Tokens with query, key and value",
        sides: filled(["query", "key", "value"]),
        tokens
      }
    ];
  return [
    { label: "Queries", sides: filled(["query"]), tokens },
    { label: "Keys and values", sides: filled(["key", "value"]), tokens: key_tokens }
  ];
}
function isStacked(numbers, sides) {
  if (sides.length < 2) return false;
  const wide = sides.map(
    (side) => Math.max(...numbers[side].map((row) => breadth(vector(row, short, 99))))
  );
  return wide.reduce((total, digits) => total + digits + 1, 0) > ROOM;
}
function linesOf(numbers, paired) {
  return tablesOf(numbers, paired).flatMap(({ sides, tokens }) => {
    const stacked = isStacked(numbers, sides);
    const spots = (side, row) => numbers[side][row].map((_, col) => ({ side, row, col }));
    return tokens.flatMap((_, row) => {
      const lines = sides.map((side) => spots(side, row));
      return stacked ? lines : [lines.flat()];
    });
  });
}
function spotBeside(numbers, paired, spot, way) {
  const lines = linesOf(numbers, paired).filter((line3) => line3.length);
  const same = (other) => other.side === spot.side && other.row === spot.row && other.col === spot.col;
  const y = lines.findIndex((line3) => line3.some(same));
  if (y < 0) return lines[0]?.[0] ?? spot;
  const x = lines[y].findIndex(same);
  const [dy, dx] = jump(way);
  const line2 = lines[Math.max(0, Math.min(y + dy, lines.length - 1))];
  return line2[Math.max(0, Math.min(x + dx, line2.length - 1))];
}

// src/actions.js
var FIRST = ORDER[0];
function pickQuery({ state, tokens }, row) {
  if (row < 0 || row >= tokens.length) return {};
  const known = isIn(state, row);
  const step2 = row === state.row ? state.step : known ? "reads" : "none";
  const cursor = step2 === "none" ? { ...state.cursor, step: FIRST } : state.cursor;
  return {
    row,
    step: step2,
    cursor,
    hover: null,
    editing: null,
    trouble: null,
    focus: "ledger",
    spot: { ...state.spot, side: "query", row }
  };
}
function unfoldTo(scene, step2) {
  const { state } = scene;
  const steps = sceneSteps(scene);
  const last = steps.at(-1);
  const done = last !== void 0 && step2 === last && !state.seen.includes(state.row);
  const cursor = step2 === "none" ? state.cursor : { ...state.cursor, step: step2 };
  return {
    step: step2,
    cursor,
    hover: null,
    focus: "ledger",
    ...done ? { seen: [...state.seen, state.row] } : {}
  };
}
function next(scene) {
  const { state, tokens } = scene;
  const step2 = sceneSteps(scene).find((id) => !isUnfolded(id, state.step));
  if (step2) return unfoldTo(scene, step2);
  const waiting = tokens.findIndex((_, row) => !isIn(state, row));
  if (scene.small && waiting >= 0) return pickQuery(scene, waiting);
  if (!state.layer && isWhole(scene) && hasLayer(scene)) return { layer: true, focus: "layer" };
  return {};
}
function back(scene) {
  const shown = sceneSteps(scene).filter((id) => isUnfolded(id, scene.state.step));
  return shown.length ? unfoldTo(scene, shown.at(-2) ?? "none") : {};
}
function move(scene, argument) {
  const { state, record } = scene;
  const steps = sceneSteps(scene);
  if (!record || !steps.length) return {};
  const columns = columnsOf(record).length;
  const at = held(state.cursor, steps, columns);
  const index = steps.indexOf(at.step);
  const [dy, dx] = jump(argument);
  const step2 = steps[Math.max(0, Math.min(index + dy, steps.length - 1))];
  return {
    cursor: held({ step: step2, column: at.column + dx }, steps, columns),
    hover: null,
    focus: "ledger"
  };
}
function cursorFrom(text) {
  const [step2, column] = text.split(":");
  return { step: (
    /** @type {import("./types.js").StepId} */
    step2
  ), column: Number(column) };
}
function spotFrom(text) {
  const [side, row, col] = text.split(":");
  return {
    side: (
      /** @type {import("./types.js").Side} */
      side
    ),
    row: Number(row),
    col: Number(col)
  };
}
function changed({ state }, edit2) {
  const row = Math.min(state.row, edit2.tokens.length - 1);
  const rows = state.spot.side === "query" ? edit2.tokens.length : edit2.key_tokens.length;
  const width = edit2[state.spot.side][0]?.length ?? 1;
  const spot = {
    ...state.spot,
    row: Math.min(state.spot.row, rows - 1),
    col: Math.min(state.spot.col, width - 1)
  };
  return {
    edits: { ...state.edits, [editKey(state)]: edit2 },
    editing: null,
    trouble: null,
    row,
    spot
  };
}
function edit({ state, numbers }, argument) {
  if (!numbers || !state.info.editable) return {};
  const spot = spotFrom(argument);
  const draft = String(numbers[spot.side][spot.row]?.[spot.col] ?? "");
  return {
    editing: { what: "number", spot, draft },
    spot,
    trouble: null,
    hover: null,
    focus: "input"
  };
}
function startRename({ state, numbers, paired }) {
  if (!numbers || !state.info.editable) return {};
  const { side, row } = state.spot;
  const draft = paired || side === "query" ? numbers.tokens[row] : numbers.key_tokens[row];
  return {
    editing: { what: "name", spot: state.spot, draft: draft ?? "" },
    trouble: null,
    focus: "input"
  };
}
function commit(scene, typed2) {
  const { state, numbers, paired } = scene;
  const { editing } = state;
  if (!editing || !numbers) return {};
  const { spot } = editing;
  if (editing.what === "name") {
    return {
      ...changed(scene, rename(numbers, paired, spot.side, spot.row, typed2.slice(0, 200))),
      focus: "spot"
    };
  }
  const parsed = parseNumber(typed2);
  if ("sentence" in parsed)
    return { trouble: parsed.sentence, editing: { ...editing, draft: typed2 } };
  if (Object.is(parsed.number, numbers[spot.side][spot.row][spot.col])) {
    return { editing: null, trouble: null, focus: "spot" };
  }
  return { ...changed(scene, setNumber(numbers, spot, parsed.number)), focus: "spot" };
}
function moveSpot({ state, numbers, paired }, way) {
  return numbers ? { spot: spotBeside(numbers, paired, state.spot, way), focus: "spot" } : {};
}
function add(scene, argument) {
  const { numbers, paired, state } = scene;
  if (!numbers || !state.info.editable) return {};
  const side = argument === "key" ? "key" : "query";
  const most = state.info.limits.edit_tokens;
  const length = side === "key" ? numbers.key_tokens.length : numbers.tokens.length;
  if (length >= most)
    return {
      trouble: `At most ${most} tokens can be worked out by hand here; there are ${length}.`
    };
  const edit2 = addToken(numbers, paired, side);
  const spot = { side: (
    /** @type {import("./types.js").Side} */
    side
  ), row: length, col: 0 };
  return { ...changed(scene, edit2), spot, focus: "spot" };
}
function remove(scene) {
  const { numbers, paired, state } = scene;
  if (!numbers || !state.info.editable) return {};
  const { side, row } = state.spot;
  const names2 = paired || side === "query" ? numbers.tokens : numbers.key_tokens;
  if (names2.length <= 1)
    return { trouble: `“${readable(names2[0])}” is the only one left: a lookup needs one.` };
  const edit2 = removeToken(numbers, paired, side, row);
  if (!paired && side !== "query") return { ...changed(scene, edit2), focus: "spot" };
  const seen = state.seen.filter((i) => i !== row).map((i) => i > row ? i - 1 : i);
  const current = state.row > row ? state.row - 1 : state.row;
  const changes = changed({ ...scene, state: { ...state, row: current } }, edit2);
  const step2 = isIn({ ...state, seen }, changes.row ?? 0) ? "reads" : "none";
  if (state.row !== row) return { ...changes, seen, focus: "spot" };
  const cursor = step2 === "none" ? { ...state.cursor, step: FIRST } : state.cursor;
  return { ...changes, seen, focus: "spot", step: step2, cursor };
}
function dimension(scene, argument) {
  const { numbers, state } = scene;
  if (!numbers || !state.info.editable) return {};
  const [which, sign2] = argument.split(":");
  const width = numbers[which === "value_dim" ? "value" : "query"][0]?.length ?? 0;
  const most = state.info.limits.edit_dims;
  if (sign2 === "+" && width >= most)
    return { trouble: `At most ${most} dimensions can be worked out by hand here.` };
  if (sign2 === "-" && width <= 1) return { trouble: "A vector needs one dimension at least." };
  const name = which === "value_dim" ? "value_dim" : "head_dim";
  return changed(scene, changeDimension(numbers, name, sign2 === "+" ? 1 : -1));
}
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
    spot: { side: "query", row: Math.min(state.row, length - 1, tokens.length - 1), col: 0 }
  };
}
function toggleScale({ state }) {
  if (!state.info.editable) return { notice: state.info.editable_reason ?? "" };
  return { scaled: !state.scaled };
}
function moveCell({ state, tokens, keyTokens }, argument) {
  const [i, j] = state.cell;
  const [di, dj] = jump(argument);
  const row = Math.max(0, Math.min(i + di, tokens.length - 1));
  return { cell: [row, Math.max(0, Math.min(j + dj, keyTokens.length - 1))], focus: "layer" };
}
function gridPick(scene, argument) {
  const [row, key] = argument.split(":").map(Number);
  const picked2 = pickQuery(scene, row);
  const column = scene.small ? key : Math.max(0, scene.gridKeys.indexOf(key));
  return { ...picked2, cursor: { step: "weight", column } };
}
var ACTIONS = {
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
  at: (_, cursor) => ({ cursor: cursorFrom(cursor), hover: null, focus: "ledger" }),
  cell: (_, cell2) => ({
    cell: (
      /** @type {[number, number]} */
      cell2.split(":").map(Number)
    ),
    focus: "layer"
  }),
  cancel: () => ({ editing: null, trouble: null, focus: "spot" }),
  spot: () => ({ focus: "spot" }),
  reading: ({ state }, to) => ({
    reading: to === "textbook" || to === "shifted" ? to : state.reading === "shifted" ? "textbook" : "shifted"
  }),
  layer: ({ state }) => ({ layer: !state.layer, focus: state.layer ? void 0 : "layer" }),
  section: ({ state }, to) => ({ section: sectionFrom(state, to), focus: "article" }),
  head: (_, head) => ({ head: Number(head), editing: null, trouble: null }),
  batch: (_, batch) => ({ batch: Number(batch), editing: null, trouble: null })
};
function sectionFrom(state, to) {
  const by = { next: 1, back: -1 }[to];
  const section = by === void 0 ? Number(to) : state.section + by;
  return Math.max(0, Math.min(section, state.lesson.sections.length - 1));
}

// src/dom.js
function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "vars") {
      for (const [key, text] of Object.entries(
        /** @type {Record<string, string>} */
        value ?? {}
      )) {
        element.style.setProperty(key, text);
      }
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== void 0)
      element.setAttribute(name, String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== void 0 && child !== false) element.append(child);
  }
  return element;
}
function patch(parent, wanted) {
  wanted.forEach((node, i) => {
    const old = parent.childNodes[i];
    if (!old) parent.appendChild(node);
    else if (!alike(old, node)) parent.replaceChild(node, old);
    else if (old instanceof Element && node instanceof Element) patchElement(old, node);
    else if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild?.remove();
}
function alike(a, b) {
  if (a.nodeName !== b.nodeName) return false;
  if (!(a instanceof Element && b instanceof Element)) return true;
  return a.getAttribute("data-key") === b.getAttribute("data-key");
}
function patchElement(old, node) {
  const typed2 = old.getAttribute("value") !== node.getAttribute("value");
  for (const { name } of [...old.attributes]) {
    if (name !== "style" && name !== "open" && !node.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...node.attributes]) {
    if (name !== "style" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old instanceof HTMLElement && node instanceof HTMLElement) patchVars(old.style, node.style);
  patch(old, [...node.childNodes]);
  if (old instanceof HTMLInputElement) {
    if (typed2) old.value = node.getAttribute("value") ?? "";
    old.checked = node.hasAttribute("checked");
  }
  if (old instanceof HTMLOptionElement) old.selected = node.hasAttribute("selected");
}
function patchVars(old, wanted) {
  for (const name of [...old]) if (wanted.getPropertyValue(name) === "") old.removeProperty(name);
  for (const name of [...wanted]) {
    const value = wanted.getPropertyValue(name);
    if (old.getPropertyValue(name) !== value) old.setProperty(name, value);
  }
}

// src/copy_text.js
function ledgerText(scene) {
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
  const given = (name, vectors) => [
    name,
    ...vectors.map((numbers) => vector(numbers, short, 3)),
    ...heads.slice(record.keys.length).map(() => "")
  ];
  const steps = rows.map((row) => [
    row.name,
    ...row.cells.map(({ label, text }) => label ? `${label} ${text}` : text)
  ]);
  if (rows.at(-1)?.id === "reads") steps.splice(-1, 0, given("value", record.value ?? []));
  const lines = [["", ...heads], given("key", record.key), ...steps];
  const note = rowNote(record, state.reading);
  const ends = isUnfolded("weight", state.step) ? lastLines(scene) : [];
  const title = `token ${readable(record.token)} asks with query ${vector(record.query, short)}`;
  return plain([title, "", ...aligned(lines), ...note ? ["", note] : [], ...ends].join("\n"));
}
function lastLines({ record, state }) {
  if (!record) return [];
  const seen = record.keys.map((_, i) => i).filter((i) => record.visible[i]);
  const parts = seen.map((i) => rounded(record.weights[i]));
  if (record.rest) parts.push(rounded(record.rest.weight));
  const lines = ["", `check: ${parts.join(" + ") || "0"} = ${rounded(record.weights_sum)}`];
  if (record.out && isUnfolded("reads", state.step)) {
    lines.push(`output: ${vector(record.out, exact, record.out.length)}`);
  }
  return lines;
}
function aligned(lines) {
  const width = (text) => [...text].length;
  const widths2 = lines[0].map((_, c) => Math.max(...lines.map((line2) => width(line2[c] ?? ""))));
  return lines.map(
    (line2) => line2.map((text, c) => text + " ".repeat(widths2[c] - width(text) + 2)).join("").trimEnd()
  );
}
var plain = (text) => text.replaceAll("−", "-");

// src/host_error.js
var HostError = class extends Error {
  /**
   * @param {string} message
   * @param {"token" | "gone" | "refused"} kind
   * @param {string} [argument]  what the message begins with, where a program reads it
   */
  constructor(message, kind, argument = "") {
    super(message);
    this.kind = kind;
    this.argument = argument;
  }
  /** The message without the argument's name, for a field that is before the reader. */
  get sentence() {
    const name = `${this.argument}: `;
    const text = this.message.startsWith(name) ? this.message.slice(name.length) : this.message;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
};

// src/turns.js
var KEEP = "softlookup-progress";
function loadProgress() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEEP) ?? "{}");
    const solved = Array.isArray(kept.solved) ? kept.solved.filter((s) => typeof s === "string") : [];
    const seeds = {};
    for (const [skill, seed] of Object.entries(kept.seeds ?? {})) {
      if (Number.isSafeInteger(seed) && Number(seed) > 0) seeds[skill] = Number(seed);
    }
    return { solved, seeds };
  } catch {
    return { solved: [], seeds: {} };
  }
}
function keepProgress(solved, skill, seed) {
  try {
    const { seeds } = loadProgress();
    localStorage.setItem(KEEP, JSON.stringify({ solved, seeds: { ...seeds, [skill]: seed } }));
  } catch {
  }
}
function newTurn(skill, seed) {
  return {
    skill,
    seed: seed ?? loadProgress().seeds[skill] ?? 1,
    exercise: null,
    typed: [],
    verdict: null,
    revealed: false,
    trouble: null
  };
}
function judged({ solved, turn }, verdict) {
  const { skill, seed, revealed } = turn;
  const ticks = verdict.correct && !revealed && !solved.includes(skill);
  const now = ticks ? [...solved, skill] : solved;
  const shows = !verdict.correct && verdict.steps.length > 0;
  if (verdict.correct || shows) keepProgress(now, skill, seed + 1);
  return { solved: now, turn: { ...turn, verdict, revealed: revealed || shows, trouble: null } };
}
function answerOf({ exercise, typed: typed2 }) {
  if (!exercise) return { trouble: "The exercise has not arrived yet." };
  if (exercise.kind === "choice") {
    return typed2[0] ? { answer: JSON.stringify(typed2[0]) } : { trouble: "Choose one of the explanations." };
  }
  const texts = exercise.fields.map((_, i) => (typed2[i] ?? "").trim());
  const empty = texts.findIndex((text) => text === "");
  if (empty >= 0) return { trouble: `Type a number for “${exercise.fields[empty].label}” too.` };
  return { answer: JSON.stringify(texts) };
}

// src/url.js
var MOST = 4e3;
var LONGEST_NAME = 200;
function toHash(state) {
  const fields2 = new URLSearchParams();
  fields2.set("q", String(state.row));
  if (state.batch) fields2.set("b", String(state.batch));
  if (state.head) fields2.set("h", String(state.head));
  fields2.set("step", state.step);
  if (!state.scaled) fields2.set("scale", "off");
  if (state.reading !== "textbook") fields2.set("read", state.reading);
  if (state.seen.length) fields2.set("in", [...state.seen].sort((a, b) => a - b).join("."));
  fields2.set("at", `${state.cursor.step}.${state.cursor.column}`);
  if (state.section) fields2.set("s", String(state.section));
  if (state.layer) fields2.set("all", "1");
  const edit2 = state.edits[editKey(state)];
  const numbers = edit2 ? JSON.stringify(edit2) : "";
  if (numbers && numbers.length <= MOST) fields2.set("n", numbers);
  return fields2.toString();
}
function fitsHash(state) {
  const edit2 = state.edits[editKey(state)];
  return !edit2 || JSON.stringify(edit2).length <= MOST;
}
function whole(text, below) {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) < below ? Number(text) : null;
}
var stepId = (text) => ORDER.find((id) => id === text) ?? null;
function fromHash(hash, info) {
  const fields2 = new URLSearchParams(hash.replace(/^#/, ""));
  const batches = info.batch_shape.reduce((product, n) => product * n, 1);
  const batch = whole(fields2.get("b"), batches) ?? 0;
  const head = whole(fields2.get("h"), info.sizes.heads) ?? 0;
  const edit2 = info.editable ? editFrom(fields2.get("n"), info) : null;
  const rows = edit2 ? edit2.tokens.length : info.sizes.q_len;
  const found = fields2.has("q") || fields2.has("n") ? { batch, head } : {};
  const row = whole(fields2.get("q"), rows);
  if (row !== null) found.row = row;
  const step2 = fields2.get("step") === "none" ? "none" : stepId(fields2.get("step"));
  if (step2) found.step = step2;
  if (fields2.get("scale") === "off" && info.editable) found.scaled = false;
  if (fields2.get("read") === "shifted") found.reading = "shifted";
  if (fields2.has("in")) found.seen = rowsFrom(fields2.get("in") ?? "", rows);
  const [id, column] = (fields2.get("at") ?? "").split(".");
  const at = stepId(id);
  if (at) found.cursor = { step: at, column: whole(column ?? null, 1e3) ?? 0 };
  const section = whole(fields2.get("s"), 100);
  if (section !== null) found.section = section;
  if (fields2.get("all") === "1") found.layer = true;
  if (edit2) found.edits = { [`${batch}/${head}`]: edit2 };
  return found;
}
function rowsFrom(text, rows) {
  const found = text.split(".").map((part) => whole(part, rows));
  return [...new Set(found.filter((row) => row !== null))];
}
var isList = (value, most) => Array.isArray(value) && value.length >= 1 && value.length <= most;
function isMatrix(value, rows, most) {
  if (!isList(value, rows) || value.length !== rows) return false;
  const width = Array.isArray(value[0]) ? value[0].length : 0;
  return value.every(
    (row) => isList(row, most) && row.length === width && row.every((x) => typeof x === "number" && Number.isFinite(x))
  );
}
function isOrigin(value, length, below) {
  return isList(value, length) && value.length === length && value.every((x) => typeof x === "number" && Number.isInteger(x) && x >= -1 && x < below);
}
var isNames = (value, most) => isList(value, most) && value.every((name) => typeof name === "string" && name.length <= LONGEST_NAME);
function editFrom(text, info) {
  if (!text || text.length > 2 * MOST) return null;
  let raw;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  if (raw === null || typeof raw !== "object") return null;
  const { edit_tokens: most, edit_dims: dims } = info.limits;
  const { tokens, key_tokens, query, key, value, row_from, key_from } = raw;
  if (!isNames(tokens, most) || !isNames(key_tokens, most)) return null;
  const [rows, keys] = [tokens.length, key_tokens.length];
  const fits = isMatrix(query, rows, dims) && isMatrix(key, keys, dims) && isMatrix(value, keys, dims) && query[0].length === key[0].length && isOrigin(row_from, rows, info.sizes.q_len) && isOrigin(key_from, keys, info.sizes.kv_len);
  return fits ? { tokens, key_tokens, query, key, value, row_from, key_from } : null;
}

// src/errands.js
function errands(page) {
  const { state, update, dialogs } = page;
  const open = (turn) => {
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
    link: () => void copy(
      page,
      fitsHash(state()) ? "The link is copied. It holds the place and the changed numbers, not the key to this viewer." : "The link is copied. It holds the place; the changed numbers are too many for a link.",
      location.href
    )
  };
}
async function fetchTurn({ state, update, wait, source }) {
  const { skill, seed, exercise } = state().turn;
  if (exercise) return;
  await wait(
    source.ask("exercise", { skill, seed: String(seed) }).then((answer) => {
      const { turn } = state();
      if (turn.skill === skill && turn.seed === seed)
        update({ turn: { ...turn, exercise: answer } });
    })
  );
}
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
          focus: "turn"
        });
      }
    )
  );
}
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

// src/first_state.js
function firstState(info, lesson, hash) {
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
    ...found
  };
}

// src/header.js
function titleOf({ source, title }) {
  if (source === "lesson") return "Lesson";
  return title === "" ? "a lookup" : readable(title);
}
function header({ info }) {
  const act = (name, text, label) => h("button", { type: "button", "data-act": name, "aria-label": label, title: label }, text);
  return h(
    "header",
    { "data-key": "header" },
    h("h1", { class: "mark" }, "softlookup"),
    h("span", { class: info.source === "lesson" ? "title" : "title own" }, h("bdi", {}, titleOf(info))),
    h(
      "span",
      { class: "acts" },
      act("copy", "copy", "copy the ledger as text"),
      act("link", "link", "copy a link to this place"),
      act("help", "?", "all keys")
    )
  );
}
function notices({ notice, offline }) {
  return [
    h("p", { class: "notice", role: "status", "data-key": "notice" }, notice),
    offline ? h(
      "div",
      { class: "offline", role: "alert", "data-key": "offline" },
      h("p", {}, offline),
      h("button", { type: "button", class: "plain", "data-act": "retry" }, "Try again")
    ) : h("div", { "data-key": "online" })
  ];
}

// src/help.js
var KEYS = [
  [["Space"], "next step, then the next query"],
  [["Backspace"], "one step back (also Shift + Space)"],
  [["A"], "show all steps of this query"],
  [["1", "…", "9"], "let this token ask"],
  [[",", "."], "the query before, the query after"],
  [["←", "→", "↑", "↓"], "move the cursor in the ledger (Home, End: first and last column)"],
  [["E"], "go to the numbers of the tokens; arrows move, Enter changes a number, Escape leaves it"],
  [["+", "N"], "add a token, rename the marked one"],
  [["U"], "reset to the numbers as they came"],
  [["S"], "scale on or off"],
  [["R"], "textbook or shifted reading of softmax"],
  [["M"], "all queries at once; arrows move through the scores"],
  [["X"], "go to the exercise; Enter checks the answer, Escape leaves it"],
  [["Y"], "another exercise of this skill"],
  [["[", "]"], "the section of the lesson before, after"],
  [["C"], "copy the ledger as text"],
  [["L"], "copy a link to this place"],
  [["?"], "this list"]
];
var keysOf = (keys) => keys.flatMap((key, i) => key === "…" ? [" … "] : [i ? " " : "", h("kbd", {}, key)]);
function helpDialog() {
  const rows = KEYS.map(
    ([keys, text]) => h("tr", {}, h("th", { scope: "row" }, keysOf(keys)), h("td", {}, text))
  );
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"),
    h("table", {}, h("tbody", {}, rows)),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close"))
  );
  return (
    /** @type {HTMLDialogElement} */
    dialog
  );
}
function copyDialog() {
  const dialog = h(
    "dialog",
    { class: "copy", "aria-labelledby": "copy-title" },
    h("h2", { id: "copy-title" }, "Copy this text"),
    h("textarea", { readonly: true, "aria-labelledby": "copy-title" }),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close"))
  );
  return (
    /** @type {HTMLDialogElement} */
    dialog
  );
}
function footer(queries) {
  const pairs = (
    /** @type {[string[], string][]} */
    [
      [["Space"], "next step"],
      [["Backspace"], "back"],
      [["←", "→"], "key"],
      [["↑", "↓"], "step"],
      [queries > 1 ? ["1", "…", String(Math.min(9, queries))] : ["1"], "query"],
      [["E"], "change numbers"],
      [["X"], "exercise"],
      [["?"], "all keys"]
    ]
  );
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`))
  );
}

// src/host_http.js
var KEEP2 = "softlookup-token";
function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("t");
  if (token === null) return;
  sessionStorage.setItem(KEEP2, token);
  fragment.delete("t");
  const rest = fragment.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
}
function httpHost() {
  takeToken();
  addEventListener("hashchange", takeToken);
  return { call };
}
async function call(op, args = {}) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(KEEP2) ?? ""}` };
  const query = new URLSearchParams(args).toString();
  let response;
  try {
    response = await fetch(`/api/${op}${query ? `?${query}` : ""}`, {
      headers,
      credentials: "omit",
      cache: "no-store"
    });
  } catch {
    throw new HostError(
      "The viewer does not answer. Start it again in the terminal and open the link that it prints; nothing typed here is lost while this page stays open.",
      "gone"
    );
  }
  if (response.status === 401) {
    throw new HostError(
      "This page needs its key: open the link that the terminal printed.",
      "token"
    );
  }
  const json = await response.json().catch(() => null);
  if (!response.ok || json === null) {
    throw new HostError(
      json?.error ?? `The viewer answered ${response.status} to “${op}”.`,
      "refused",
      json?.argument
    );
  }
  return { json, bytes: null };
}

// src/edges.js
var SLACK = 2;
function markEdges(shadow) {
  for (const box of shadow.querySelectorAll(".scroll")) {
    const left2 = box.scrollLeft > SLACK;
    const right = box.scrollLeft + box.clientWidth < box.scrollWidth - SLACK;
    const more = [left2 && "left", right && "right"].filter(Boolean).join(" ");
    if (more) box.setAttribute("data-more", more);
    else box.removeAttribute("data-more");
  }
}

// src/listen.js
var elementOf = (event) => event.target instanceof Element ? event.target : null;
function listen(root, shadow, hands) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const inside = [
    ["click", (event) => clicked(event, hands)],
    ["input", (event) => typed(event, hands)],
    ["change", (event) => picked(event, hands)],
    ["submit", (event) => submitted(event, hands)],
    ["focusout", (event) => left(event, hands)],
    ["pointerover", (event) => hovered(event, hands)]
  ];
  for (const [kind, listener] of inside) shadow.addEventListener(kind, listener, { signal });
  root.addEventListener("pointerleave", () => hovered(null, hands), { signal });
  shadow.addEventListener("scroll", () => markEdges(shadow), { signal, capture: true });
  root.ownerDocument.defaultView?.addEventListener("resize", () => markEdges(shadow), { signal });
  root.ownerDocument.addEventListener("keydown", (event) => pressed(event, root, shadow, hands), {
    signal
  });
  return () => stopping.abort();
}
function clicked(event, { act }) {
  const meant = elementOf(event)?.closest("[data-act]");
  if (!meant || meant.hasAttribute("disabled")) return;
  act(meant.getAttribute("data-act") ?? "", meant.getAttribute("data-arg") ?? "");
}
function typed(event, { state, update }) {
  const field2 = elementOf(event);
  if (!(field2 instanceof HTMLInputElement)) return;
  const { turn } = state();
  const index = field2.getAttribute("data-field");
  if (index !== null) {
    const answers = [...turn.typed];
    answers[Number(index)] = field2.value;
    update({ turn: { ...turn, typed: answers, trouble: null } });
  }
  const choice = field2.getAttribute("data-choice");
  if (choice !== null) update({ turn: { ...turn, typed: [choice], verdict: null, trouble: null } });
}
function picked(event, { act, state, update }) {
  const field2 = elementOf(event);
  const name = field2?.getAttribute("data-change");
  if (!(field2 instanceof HTMLInputElement) || !name) return;
  const value = field2.valueAsNumber;
  const most = Number(field2.max);
  if (Number.isInteger(value) && value >= 0 && value <= most) {
    act(name, String(value));
    field2.focus();
    return;
  }
  update({ notice: `${name}: a whole number 0 … ${most}; got “${field2.value}”.` });
  field2.value = String(state()[name === "query" ? "row" : name === "head" ? "head" : "batch"]);
}
function submitted(event, { act }) {
  const form = elementOf(event)?.getAttribute("data-form");
  if (!form) return;
  event.preventDefault();
  act(form, "");
}
function left(event, { act, state }) {
  const field2 = elementOf(event);
  if (!(field2 instanceof HTMLInputElement) || !field2.matches(".edit")) return;
  const { editing } = state();
  const next2 = event.relatedTarget;
  const value = field2.value;
  setTimeout(() => {
    if (!editing || state().editing !== editing) return;
    act("commit", value);
    if (next2 instanceof HTMLElement && next2.isConnected) next2.focus();
  });
}
function hovered(event, { state, update }) {
  if (event && event.pointerType !== "mouse") return;
  const cell2 = event && elementOf(event)?.closest("table.ledger td[data-arg]");
  const [step2, column] = cell2 ? (cell2.getAttribute("data-arg") ?? "").split(":") : [];
  const before2 = state().hover;
  if (!cell2) {
    if (before2) update({ hover: null });
  } else if (before2?.step !== step2 || before2?.column !== Number(column)) {
    update({
      hover: { step: (
        /** @type {import("./types.js").StepId} */
        step2
      ), column: Number(column) }
    });
  }
}
function pressed(event, root, shadow, { act }) {
  const path = event.composedPath();
  const outside = !path.includes(root) && event.target !== root.ownerDocument.body;
  if (event.defaultPrevented || outside || shadow.querySelector("dialog[open]")) return;
  const target = path.includes(root) && path[0] instanceof Element ? path[0] : null;
  const action = actionOf(event, target);
  if (!action) return;
  event.preventDefault();
  act(...action);
}

// src/prose.js
function prose(text) {
  return withMinus(text).split(/(?<=d)_([kv])\b/).map((part, i) => i % 2 ? h("sub", {}, part) : part);
}

// src/exercises.js
function turnPart(state) {
  const { turn } = state;
  return h(
    "section",
    { class: "turn-part", "data-key": "turn", "aria-labelledby": "turn-title" },
    h("h2", { id: "turn-title" }, "Your turn"),
    checklist(state),
    h(
      "div",
      { class: "panel turn", "data-key": `${turn.skill}${turn.seed}` },
      turn.exercise ? question(turn, turn.exercise, state) : h("p", { class: "quiet" }, turn.trouble ?? "…")
    )
  );
}
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
              "aria-label": `${text} (${done ? "solved" : "not solved yet"})`
            },
            h("span", { class: "box", "aria-hidden": "true" }, done ? "✓" : ""),
            h("span", {}, prose(text))
          )
        );
      })
    ),
    all && h("p", { class: "quiet" }, "All four are solved: you can do attention by hand.")
  );
}
function question(turn, exercise, state) {
  const verdict = turn.verdict;
  return h(
    "form",
    { "data-form": "answer", autocomplete: "off" },
    h("p", { class: "question" }, prose(exercise.question)),
    exercise.given.length > 0 && h(
      "dl",
      { class: "given" },
      exercise.given.map(
        ({ label, value }) => h("div", {}, h("dt", {}, prose(label)), h("dd", {}, prose(value)))
      )
    ),
    exercise.kind === "choice" ? choices(turn, exercise) : fields(turn, exercise),
    turn.trouble && h("p", { class: "trouble", role: "alert" }, turn.trouble),
    h(
      "div",
      { class: "answer" },
      h("button", { type: "submit", class: "main" }, "Check"),
      h("button", { type: "button", class: "link", "data-act": "another" }, "another one")
    ),
    h("div", { role: "status", class: "verdict-box" }, verdict && verdictPart(verdict, state)),
    h(
      "details",
      { class: "quiet", "data-key": "hint" },
      h("summary", {}, "hint"),
      prose(exercise.hint)
    ),
    h(
      "p",
      { class: "quiet" },
      `Exercise ${exercise.number} of ${exercise.of} · skill: ${exercise.skill}`
    )
  );
}
function fields(turn, exercise) {
  return h(
    "div",
    { class: "fields" },
    exercise.fields.map(
      ({ label }, i) => h(
        "label",
        {},
        h("span", {}, prose(label)),
        h("input", {
          "data-field": i,
          value: turn.typed[i] ?? "",
          inputmode: "decimal",
          autocomplete: "off",
          spellcheck: "false",
          "aria-invalid": turn.verdict && turn.verdict.fields[i] === false ? "true" : null
        })
      )
    )
  );
}
function choices(turn, exercise) {
  return h(
    "div",
    { class: "choices", role: "radiogroup", "aria-label": "explanations" },
    (exercise.choices ?? []).map(
      ({ id, text }) => h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "choice",
          value: id,
          "data-choice": id,
          checked: turn.typed[0] === id
        }),
        h("span", {}, prose(text))
      )
    )
  );
}
function verdictPart(verdict, state) {
  const { lesson, solved, turn } = state;
  if (verdict.correct && turn.revealed && !solved.includes(turn.skill)) return againPart();
  const open = lesson.checklist.find(({ skill }) => !solved.includes(skill));
  return h(
    "div",
    { class: verdict.correct ? "verdict right" : "verdict wrong" },
    h("p", {}, h("b", {}, prose(verdict.verdict)), " ", prose(verdict.explanation)),
    verdict.steps.length > 0 && h(
      "ol",
      { class: "right-step" },
      verdict.steps.map((line2) => h("li", {}, prose(line2)))
    ),
    verdict.correct && open && h(
      "button",
      {
        type: "button",
        class: "plain",
        "data-act": "skill",
        "data-arg": open.skill
      },
      "Next exercise"
    )
  );
}
function againPart() {
  return h(
    "div",
    { class: "verdict right" },
    h("p", {}, h("b", {}, "Right."), " Now with fresh numbers: then the box is ticked."),
    h("button", { type: "button", class: "plain", "data-act": "another" }, "Fresh numbers")
  );
}

// src/color.js
var COLORS = 8;
var rampClass = (weight) => `filled${weight > 0.58 ? " deep" : weight > 0.52 ? " middle" : ""}`;
var colorClass = (index) => `c${index % COLORS}`;

// src/chip.js
var LONGEST = 18;
function shortened(token) {
  const characters = [...readable(token)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : characters.join("");
}
function needsPosition(tokens, index) {
  const token = tokens[index];
  if (token === String(index)) return false;
  return tokens.indexOf(token) !== tokens.lastIndexOf(token);
}
function tokenName(tokens, index) {
  const text = shortened(tokens[index]);
  return needsPosition(tokens, index) ? `${text} @${index}` : text;
}
var chipBreadth = (tokens, index) => breadth(tokenName(tokens, index));
function chip(tokens, index, props = {}) {
  const kind = tokens.length > COLORS && index >= COLORS ? "later" : "";
  const parts = [h("bdi", {}, shortened(tokens[index]))];
  if (needsPosition(tokens, index)) parts.push(h("small", {}, `@${index}`));
  const tag = props["data-act"] ? "button" : "span";
  const type = tag === "button" ? "button" : null;
  return h(
    tag,
    { type, class: `chip ${colorClass(index)} ${kind}`, title: readable(tokens[index]), ...props },
    parts
  );
}

// src/grid.js
var WIDTH = 262;
var NUMBER = 41;
var LONGEST2 = 5;
function gridPart(scene, lights) {
  const { small, tokens } = scene;
  return h(
    "section",
    { class: "grid-part", "data-key": "grid", "aria-labelledby": "grid-title" },
    h("h2", { id: "grid-title" }, "The weight grid: one row a query"),
    pickers(scene),
    table(scene, lights),
    legend(scene),
    !small && h(
      "p",
      { class: "quiet" },
      `${scene.gridRows.length} of ${tokens.length} queries, against the keys of the ledger.`
    ),
    isWhole(scene) && h(
      "p",
      { class: "quiet whole" },
      "All rows are in: this grid is the whole layer, every query against every key."
    ),
    isWhole(scene) && hasLayer(scene) && h(
      "button",
      {
        type: "button",
        class: "plain",
        "data-act": "layer",
        "aria-pressed": String(scene.state.layer)
      },
      scene.state.layer ? "Hide all queries at once" : "All queries at once"
    )
  );
}
function legend({ small, gridTop }) {
  const end = small ? "1" : rounded(gridTop);
  return h(
    "div",
    { class: "legend", "aria-hidden": "true" },
    "0",
    h("span", { class: "ramp" }),
    h("span", { title: small ? null : "the largest weight shown" }, end)
  );
}
function pickers({ state, small, tokens }) {
  const { batch_shape, sizes } = state.info;
  const batches = batch_shape.reduce((product, n) => product * n, 1);
  const fields2 = [
    !small && field("query", state.row, tokens.length, `query (0 … ${tokens.length - 1})`),
    sizes.heads > 1 && field("head", state.head, sizes.heads, `head (0 … ${sizes.heads - 1})`),
    batches > 1 && field("batch", state.batch, batches, `batch entry (0 … ${batches - 1})`)
  ].filter(Boolean);
  return fields2.length ? h("div", { class: "pickers" }, fields2) : null;
}
function field(name, value, size, label) {
  return h(
    "label",
    {},
    h("span", {}, label),
    h("input", { type: "number", min: 0, max: size - 1, step: 1, value, "data-change": name })
  );
}
var chipPixels = (digits) => Math.ceil(digits * 7.8) + 14;
var labelPixels = (digits) => Math.max(38, Math.min(92, chipPixels(digits) + 6));
function measures({ tokens, keyTokens, gridRows, gridKeys }) {
  const widest = (list, shown) => Math.max(0, ...shown.map((i) => chipBreadth(list, i)));
  const names2 = labelPixels(widest(tokens, gridRows));
  const room = (WIDTH - names2 - 3) / Math.max(1, gridKeys.length) - 3;
  return {
    names: names2,
    written: room >= NUMBER,
    upright: chipPixels(widest(keyTokens, gridKeys)) > room
  };
}
function table(scene, lights) {
  const { tokens, keyTokens, gridRows, gridKeys, state } = scene;
  const { names: names2, written, upright } = measures(scene);
  const rows = gridRows.map(
    (row) => h(
      "tr",
      { class: row === state.row ? "picked" : "" },
      h("th", { scope: "row" }, chip(tokens, row)),
      gridKeys.map(
        (key, c) => cell(scene, row, c, row === state.row && lights.has(`weight@${key}`), written)
      )
    )
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {
        class: `grid${written ? "" : " dense"}${upright ? " upright" : ""}`,
        "aria-labelledby": "grid-title",
        vars: { "--names": `${names2}px` }
      },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          gridKeys.map((key) => h("th", { scope: "col" }, chip(keyTokens, key)))
        )
      ),
      h("tbody", {}, rows)
    )
  );
}
function cell(scene, row, c, lit, written) {
  const found = scene.gridCell(row, c);
  const key = scene.gridKeys[c];
  const names2 = `query ${tokenName(scene.tokens, row)}, key ${tokenName(scene.keyTokens, key)}`;
  const props = { "data-act": "grid", "data-arg": `${row}:${key}` };
  const light = lit ? " lit" : "";
  if (!found)
    return h("td", { ...props, class: "void", title: `${names2}: not worked out yet` }, "?");
  if (!found.visible)
    return h(
      "td",
      { ...props, class: "hatched", title: `${names2}: hidden` },
      mark("hidden", false)
    );
  const weight = found.weight;
  const share = weight / scene.gridTop;
  return h(
    "td",
    {
      ...props,
      class: `${rampClass(share)}${light}`,
      title: `${names2}: ${rounded(weight)}`,
      vars: { "--w": String(Number.isFinite(share) ? share : 0) }
    },
    weightMark(rounded(weight), written)
  );
}
function weightMark(text, written) {
  if (!written || breadth(text) <= LONGEST2) return mark(text, written);
  return [h("span", { "aria-hidden": "true" }, "≈0"), mark(text, false)];
}
var mark = (text, written) => h("span", { class: written ? "" : "unseen" }, text);

// src/layer.js
function layerPart(scene) {
  const records = scene.tokens.map((_, row) => scene.recordOf(row));
  const { numbers } = scene;
  const all = records.flatMap((record) => record ? [record] : []);
  if (!numbers || all.length < records.length) return null;
  return h(
    "section",
    { class: "layer-part", "data-key": "layer", "aria-labelledby": "layer-title" },
    h("h2", { id: "layer-title" }, "All queries at once: the layer"),
    h(
      "div",
      { class: "panel layer" },
      productStep(scene, all),
      weightsStep(scene, all),
      outStep(scene, all)
    )
  );
}
function names({ tokens, keyTokens }, which) {
  const list = which === "q" ? tokens : keyTokens;
  return list.map((_, index) => chip(list, index));
}
function productStep(scene, all) {
  const { numbers, tokens, keyTokens } = scene;
  if (!numbers) return null;
  const [i, j] = cellOf(scene);
  const turned = (numbers.key[0] ?? []).map((_, d) => numbers.key.map((key2) => key2[d]));
  const query = numbers.query[i];
  const key = numbers.key[j];
  const terms2 = query.map((x, d) => `${bracketed(x)}·${bracketed(key[d])}`).join(" + ");
  const product = all[i].products[j];
  const ask = `query ${tokenName(tokens, i)} · key ${tokenName(keyTokens, j)}`;
  const write = evenly(all.flatMap((record) => record.products));
  return step(
    "1",
    "Q · Kᵀ = scores",
    "Kᵀ is K turned on its side: the keys stand as columns, so that every query, a row of Q, meets every key. Row times column is one score; one matrix product makes them all.",
    h(
      "div",
      { class: "product" },
      matrix("Q", numbers.query, { rows: names(scene, "q"), litRow: i, write: short }),
      sign("·"),
      matrix("Kᵀ", turned, { columns: names(scene, "k"), litColumn: j, write: short }),
      sign("="),
      matrix(
        "scores",
        all.map((record) => record.products),
        { rows: names(scene, "q"), columns: names(scene, "k"), write, at: [i, j] }
      )
    ),
    productLine(`${ask} = ${terms2} = ${write(product)}`, product)
  );
}
function productLine(formula, product) {
  return h(
    "p",
    { class: "readout", role: "status" },
    h("span", { class: "formula" }, formula),
    " ",
    h("span", { class: "exactly" }, `exactly ${exact(product)}`)
  );
}
function cellOf({ state, tokens, keyTokens }) {
  return [
    Math.min(state.cell[0], tokens.length - 1),
    Math.min(state.cell[1], keyTokens.length - 1)
  ];
}
function weightsStep(scene, all) {
  const first = all[0];
  const extras = [
    first.softcap !== null && "softcap",
    first.bias && "bias",
    all.some((record) => record.visible.includes(false)) && "hidden keys",
    first.sink && "sink"
  ].filter(Boolean);
  const more = extras.length ? `, with ${extras.join(", ")}` : "";
  return step(
    "2",
    "softmax of each row = weights",
    `Scores ${scaleText(first, scene.state.scaled)}${more}; then exp and ÷ sum, row by row. Each row is one whole.`,
    h(
      "div",
      { class: "product" },
      matrix(
        "weights",
        all.map((record) => record.weights),
        {
          rows: names(scene, "q"),
          columns: names(scene, "k"),
          shade: true,
          hidden: all.map((record) => record.visible.map((seen) => !seen))
        }
      )
    )
  );
}
function outStep(scene, all) {
  const { numbers } = scene;
  if (!numbers) return null;
  return step(
    "3",
    "weights · V = outputs",
    "Each row of weights blends the rows of V. That is the layer: as many outputs as queries, none waiting for another.",
    h(
      "div",
      { class: "product" },
      sign("weights ·"),
      matrix("V", numbers.value, { rows: names(scene, "k"), write: short }),
      sign("="),
      matrix(
        "outputs",
        all.map((record) => record.out ?? []),
        { rows: names(scene, "q"), strong: true }
      )
    )
  );
}
function step(number2, title, text, ...body) {
  return h(
    "div",
    { class: "layer-step" },
    h("h3", {}, h("span", { class: "ordinal" }, number2), title),
    h("p", { class: "quiet" }, text),
    body
  );
}
var sign = (text) => h("span", { class: "sign" }, text);
function matrixCell(x, i, j, how) {
  const at = how.at?.[0] === i && how.at[1] === j;
  const lit = how.litRow === i || how.litColumn === j;
  const hidden = how.hidden?.[i][j] === true;
  const shade = how.shade && !hidden && Number.isFinite(x);
  const names2 = [at && "at", lit && "lit", hidden && "hatched", shade && rampClass(x)];
  const marked = how.at ? { "data-act": "cell", "data-arg": `${i}:${j}`, tabindex: at ? 0 : -1 } : {};
  const text = (how.write ?? rounded)(x);
  return h(
    "td",
    { class: names2.filter(Boolean).join(" "), ...marked, vars: shade ? { "--w": String(x) } : {} },
    hidden ? h("span", { class: "unseen" }, "hidden") : how.strong ? h("b", {}, text) : text
  );
}
function matrix(name, numbers, how) {
  const { rows, columns } = how;
  const body = numbers.map(
    (row, i) => h(
      "tr",
      {},
      rows ? h("th", { scope: "row" }, rows[i]) : null,
      row.map((x, j) => matrixCell(x, i, j, how))
    )
  );
  const heads = columns?.map((node) => h("th", { scope: "col" }, node)) ?? [];
  const head = columns ? h("thead", {}, h("tr", {}, rows ? h("td", {}) : null, heads)) : null;
  const props = { class: "matrix", role: how.at ? "grid" : null, "aria-label": name };
  return h(
    "div",
    { class: "matrix-box" },
    h("table", props, head, h("tbody", {}, body)),
    h("span", { class: "matrix-name", "aria-hidden": "true" }, name)
  );
}

// src/readout.js
var MOST2 = 6;
function added(terms2) {
  if (terms2.length <= MOST2) return terms2.join(" + ") || "0";
  const left2 = terms2.length - MOST2 + 1;
  return `${terms2.slice(0, MOST2 - 1).join(" + ")} + … ${left2} more`;
}
var exactVector = (numbers) => vector(numbers, exact, 6);
var sixth = (x) => Number.isFinite(x) && Math.abs(x) < 1e6 ? exact(Number(x.toFixed(6))) : exact(x);
function scoreBefore(record, id, i) {
  if (id === "biased" && record.capped) return record.capped[i];
  return id === "scaled" ? record.products[i] : record.scaled[i];
}
function keyLine(record, id, i, { reading, scaled }) {
  const late = id === "exp" || id === "weight" || id === "reads" || id === "shifted" || id === "visible";
  if (late && !record.visible[i]) {
    return {
      formula: "hidden",
      exactly: "this key takes no part: its weight is 0, whatever it holds"
    };
  }
  if (id === "score") {
    const terms2 = record.query.map((x, d) => `${bracketed(x)}·${bracketed(record.key[i][d])}`);
    const product = record.products[i];
    return line(`${added(terms2)} = ${evenly(record.products)(product)}`, exact(product));
  }
  if (id === "visible")
    return { formula: "visible", exactly: "this key takes part in the softmax" };
  if (id === "scaled" || id === "capped" || id === "biased")
    return scoreLine(record, id, i, scaled);
  return softLine(record, id, i, reading);
}
var line = (formula, number2) => ({ formula, exactly: `exactly ${number2}` });
function scoreLine(record, id, i, scaled) {
  const before2 = scoreBefore(record, id, i);
  if (id === "scaled") {
    const root = Math.sqrt(record.query.length);
    const divides = scaled && Math.abs(record.scale * root - 1) < 1e-12 && root !== 1;
    const how = divides ? `÷ ${short(root)}` : `× ${short(record.scale)}`;
    const write = evenly(record.products);
    return line(`${write(before2)} ${how} = ${rounded(record.scaled[i])}`, exact(record.scaled[i]));
  }
  if (id === "capped") {
    const cap = short(record.softcap ?? 0);
    const capped = record.capped?.[i] ?? 0;
    return line(`${cap} · tanh(${rounded(before2)} ÷ ${cap}) = ${rounded(capped)}`, exact(capped));
  }
  const bias = bracketed(record.bias?.[i] ?? 0);
  return line(
    `${rounded(before2)} + ${bias} = ${rounded(record.scores[i])}`,
    exact(record.scores[i])
  );
}
function softLine(record, id, i, reading) {
  const score = record.scores[i];
  const shifted = reading === "shifted";
  const exp = shifted ? record.shifted_exp[i] : record.exp[i];
  if (id === "shifted") {
    const x = score - record.row_max;
    return line(`${rounded(score)} − ${minusOf(record.row_max)} = ${rounded(x)}`, exact(x));
  }
  if (id === "exp") {
    const x = shifted ? score - record.row_max : score;
    if (exp === Infinity && Number.isFinite(x)) {
      return {
        formula: `exp(${rounded(x)}) = overflow`,
        exactly: "more than the largest float64, 1.8 · 10³⁰⁸"
      };
    }
    return {
      formula: `exp(${rounded(x)}) = ${rounded(exp)}`,
      exactly: `= e^${sixth(x)}, exactly ${exact(exp)}`
    };
  }
  if (lostIn(record, reading)) return LOST;
  const weight = record.weights[i];
  if (id === "weight") {
    const sum2 = shifted ? record.row_sum : record.exp_sum;
    return line(`${rounded(exp)} ÷ ${rounded(sum2)} = ${rounded(weight)}`, exact(weight));
  }
  const part = record.contributions?.[i] ?? [];
  const value = vector(record.value?.[i] ?? [], short);
  return line(`${rounded(weight)} × ${value} = ${vector(part)}`, exactVector(part));
}
var LOST = {
  formula: "no number",
  exactly: "the textbook form ran out of float64; the shifted form has this number"
};
var minusOf = (x) => x < 0 ? `(${rounded(x)})` : rounded(x);
function sumLine(record, id, reading) {
  const shifted = reading === "shifted";
  const seen = record.keys.map((_, i) => i).filter((i) => record.visible[i]);
  const rest = record.rest;
  const extra = (x) => rest ? [`${rounded(x)} (the others)`] : [];
  if (id === "shifted") {
    const of = record.sink ? "all visible scores and the sink" : "all visible scores";
    return line(`largest of ${of} = ${rounded(record.row_max)}`, exact(record.row_max));
  }
  if (id === "exp") {
    const exp = shifted ? record.shifted_exp : record.exp;
    const sum2 = shifted ? record.row_sum : record.exp_sum;
    const sink = record.sink ? [`${rounded(shifted ? record.sink.shifted_exp : record.sink.exp)} (sink)`] : [];
    const parts2 = [
      ...seen.map((i) => rounded(exp[i])),
      ...extra(shifted ? rest?.shifted_exp ?? 0 : rest?.exp ?? 0)
    ];
    return line(`${added([...parts2, ...sink])} = ${rounded(sum2)}`, exact(sum2));
  }
  if (lostIn(record, reading) && (id === "weight" || id === "reads")) return LOST;
  if (id === "weight") {
    const parts2 = [...seen.map((i) => rounded(record.weights[i])), ...extra(rest?.weight ?? 0)];
    return line(`${added(parts2)} = ${rounded(record.weights_sum)}`, exact(record.weights_sum));
  }
  if (id !== "reads" || !record.out) return { formula: "", exactly: "this step adds nothing up" };
  const parts = seen.map(
    (i) => `${rounded(record.weights[i])}·${vector(record.value?.[i] ?? [], short, 3)}`
  );
  const others = rest?.contribution ? [`${vector(rest.contribution)} (the others)`] : [];
  return line(`${added([...parts, ...others])} = ${vector(record.out)}`, exactVector(record.out));
}
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
      exactVector(rest.contribution ?? [])
    );
  }
  const sum2 = id === "weight" ? rest.weight : shifted ? rest.shifted_exp : rest.exp;
  return line(`${many}, summed = ${rounded(sum2)}`, exact(sum2));
}
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
  if (id === "exp") {
    const x = shifted ? sink.logit - record.row_max : sink.logit;
    return line(`exp(${rounded(x)}) = ${rounded(exp)}`, exact(exp));
  }
  if (id === "weight") {
    if (lostIn(record, reading)) return LOST;
    const sum2 = shifted ? record.row_sum : record.exp_sum;
    return line(`${rounded(exp)} ÷ ${rounded(sum2)} = ${rounded(sink.weight)}`, exact(sink.weight));
  }
  if (id === lastScore(record))
    return line(`the sink's logit = ${rounded(sink.logit)}`, exact(sink.logit));
  return { formula: "", exactly: "the sink joins where the scores are finished" };
}
function readout(record, cursor, options) {
  const column = columnsOf(record)[cursor.column];
  const id = cursor.step;
  if (column.kind === "key") return keyLine(record, id, column.index, options);
  if (column.kind === "rest") return restLine(record, id, options.reading);
  if (column.kind === "sink") return sinkLine(record, id, options.reading);
  return sumLine(record, id, options.reading);
}

// src/ledger.js
function ledgerPart(scene, lights) {
  const { state, tokens, record } = scene;
  const title = h(
    "h2",
    { id: "ledger-title" },
    `What token ${tokenName(tokens, state.row)} reads, step by step`
  );
  const note = record && isUnfolded("exp", state.step) ? rowNote(record, state.reading) : null;
  return h(
    "section",
    { class: "ledger-part", "data-key": "ledger", "aria-labelledby": "ledger-title" },
    h("div", { class: "titled" }, title, switches(scene)),
    record ? table2(scene, lights) : h("p", { class: "quiet panel waiting" }, "Asking for this row …"),
    record && h(
      "p",
      { class: "quiet sideways", "aria-hidden": "true" },
      "More keys than fit: the table scrolls sideways."
    ),
    readoutLine(scene),
    note && h("p", { class: "note" }, note),
    stepsLine(scene)
  );
}
function switches({ state }) {
  const { editable, editable_reason: reason } = state.info;
  const reading = (name) => h(
    "button",
    {
      type: "button",
      "data-act": "reading",
      "data-arg": name,
      "aria-pressed": String(state.reading === name)
    },
    name
  );
  return h(
    "div",
    { class: "switches" },
    h(
      "button",
      {
        type: "button",
        class: "switch",
        role: "switch",
        "data-act": "scale",
        "aria-checked": String(state.scaled),
        "aria-disabled": editable ? null : "true",
        title: editable ? null : reason
      },
      `scale ${state.scaled ? "on" : "off"}`
    ),
    h(
      "span",
      { class: "choice", role: "group", "aria-label": "reading of softmax" },
      reading("textbook"),
      reading("shifted")
    )
  );
}
function tableRows(scene, lines, columns, lights) {
  const [point, cursor] = [pointOf(scene), cursorOf(scene)];
  return lines.map(
    (row) => tableRow(row, columns, {
      unfolded: isUnfolded(row.id, scene.state.step),
      lights,
      at: point?.step === row.id ? point.column : -1,
      stop: cursor?.step === row.id ? cursor.column : -1
    })
  );
}
function table2(scene, lights) {
  const { record, state } = scene;
  if (!record) return null;
  const columns = columnsOf(record);
  const many = columns.length > MANY;
  const lines = ledgerRows(record, { reading: state.reading, scaled: state.scaled });
  return h(
    "div",
    { class: "scroll panel", vars: widths(lines, columns, headBreadth(scene, columns), many) },
    h(
      "table",
      {
        class: `ledger${many ? " many" : ""}`,
        role: "grid",
        "aria-labelledby": "ledger-title"
      },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", { class: "step" }),
          columns.map((column) => headCell(scene, column))
        )
      ),
      h("tbody", {}, tableRows(scene, lines, columns, lights))
    )
  );
}
var MANY = 6;
var MARGIN = 14;
var PRODUCT = 6;
var HEAD = 8;
function headBreadth({ keyTokens }, columns) {
  const sizes = columns.map(
    (column) => column.kind === "key" ? breadth(readable(keyTokens[column.key])) + 1 : 0
  );
  return Math.min(HEAD, Math.max(...sizes));
}
function piecesOf(text) {
  const words = text.split(/(?<= )/);
  return words.flatMap((word) => breadth(word) > PRODUCT ? word.split(/(?<=·)/) : [word]);
}
var widestWord = (text) => Math.max(0, ...piecesOf(text).map((piece) => breadth(piece.trim())));
function widths(lines, columns, heads, many) {
  const word = ({ text, note, strong }) => Math.max(widestWord(text) * (strong ? 1.16 : 1), 0.8 * widestWord(note ?? ""));
  const key = many ? ({ text }) => breadth(text) : word;
  const whole2 = ({ label, text }) => 1.16 * breadth(label ? `${label} ${text}` : text);
  const widest = (sizes) => Math.max(4, ...sizes);
  const keys = lines.flatMap(({ cells }) => cells.slice(0, -1).map(key));
  const sums = lines.map(({ cells }) => cells[columns.length - 1]);
  const narrow = widest(sums.map(word));
  const wide = Math.max(narrow, Math.min(MARGIN, widest(sums.map(whole2))));
  return {
    "--cell": `${widest([heads, ...keys]).toFixed(1)}ch`,
    "--sums": `${wide.toFixed(1)}ch`,
    "--sums-narrow": `${narrow.toFixed(1)}ch`,
    "--keys": String(columns.length - 1)
  };
}
function headCell({ keyTokens, record }, column) {
  if (column.kind === "key") return h("th", { scope: "col" }, chip(keyTokens, column.key));
  if (column.kind === "sum")
    return h("th", { scope: "col", class: "margin" }, h("span", { class: "unseen" }, "adds up to"));
  const others = record?.keys.length ? "the other" : "all";
  const text = column.kind === "sink" ? "sink" : `${others} ${record?.rest?.count ?? 0} keys`;
  return h("th", { scope: "col", class: column.kind }, text);
}
function tableRow(row, columns, { unfolded, lights, at, stop }) {
  const cells = row.cells.map((cell2, c) => {
    const column = columns[c];
    const tint = unfolded && row.id === "weight" && column.kind === "key" && !cell2.hidden && !cell2.lost;
    const names2 = [
      column.kind === "sum" ? "margin" : column.kind,
      c === at && "at",
      unfolded && lights.has(`${row.id}:${c}`) && "lit",
      unfolded && cell2.hidden && "hatched",
      cell2.lost && "lost",
      tint && `tint ${colorClass(column.key)}`
    ];
    return h(
      "td",
      {
        class: names2.filter(Boolean).join(" "),
        "data-act": "at",
        "data-arg": `${row.id}:${c}`,
        tabindex: c === stop ? 0 : -1,
        vars: tint ? { "--w": String(cell2.weight ?? 0) } : {}
      },
      unfolded ? cellText(cell2, tint) : h("span", { class: "later-step", "aria-label": "not yet" }, cell2.text ? "·" : "")
    );
  });
  return h(
    "tr",
    { class: unfolded ? "unfolded" : "", "data-key": row.id },
    h("th", { scope: "row", class: "step" }, h("b", {}, row.name), h("span", {}, row.how)),
    cells
  );
}
function cellText(cell2, bar) {
  return [
    cell2.label ? h("span", { class: "label" }, `${cell2.label} `) : null,
    cell2.strong ? h("b", {}, cell2.text) : h("span", {}, cell2.text),
    cell2.note ? h("small", {}, breakable(cell2.note)) : null,
    bar && h("span", { class: "bar", "aria-hidden": "true" })
  ];
}
var breakable = (note) => piecesOf(note).flatMap((piece, i) => i ? [h("wbr"), piece] : [piece]);
function readoutLine(scene) {
  const { record, state } = scene;
  const point = pointOf(scene);
  let formula = "";
  let exactly = "";
  let hint = null;
  if (record && point && isUnfolded(point.step, state.step)) {
    ({ formula, exactly } = readout(record, point, {
      reading: state.reading,
      scaled: state.scaled
    }));
  } else if (record && point) {
    const [name] = stepName(point.step, record, state);
    exactly = `${name}: not worked out yet. Guess it`;
    hint = keyHint(", then press Space");
  }
  return h(
    "output",
    { class: "readout", "aria-live": "polite" },
    h("span", { class: "formula" }, formula),
    formula && exactly ? " " : "",
    h("span", { class: "exactly" }, exactly, hint, hint && ".")
  );
}
var keyHint = (text) => h("span", { class: "key-hint" }, text);
function stepsLine(scene) {
  const { state } = scene;
  const steps = sceneSteps(scene);
  const done = steps.filter((id) => isUnfolded(id, state.step)).length;
  const onward = nextLabel(scene, done);
  return h(
    "div",
    { class: "steps" },
    h(
      "button",
      { type: "button", class: "plain", "data-act": "back", disabled: done === 0 },
      "Back"
    ),
    h(
      "button",
      { type: "button", class: "main", "data-act": "next", disabled: onward === null },
      onward ?? "Every step is shown"
    ),
    done < steps.length && h("button", { type: "button", class: "link", "data-act": "all" }, "show all"),
    h(
      "span",
      { class: "quiet where" },
      whyOf(scene, done),
      done === 0 && keyHint(": press Space"),
      done === 0 && "."
    )
  );
}
function nextLabel(scene, done) {
  const { record, state, tokens } = scene;
  const id = sceneSteps(scene)[done];
  if (record && id) return `Next: ${stepName(id, record, state)[0]}`;
  const waiting = tokens.findIndex((_, row) => !isIn(state, row));
  if (scene.small && waiting >= 0) return `Next query: ${tokenName(tokens, waiting)}`;
  return !state.layer && isWhole(scene) && hasLayer(scene) ? "All queries at once" : null;
}
var WHY = {
  none: "One step at a time",
  score: "A large score: query and key point the same way. 0: they have nothing in common.",
  scaled: "Long vectors make large scores; dividing keeps them in the same range.",
  capped: "The softcap bends large scores back below its limit.",
  biased: "A bias is added to each score.",
  visible: "Hidden keys take no part from here on.",
  shifted: "Subtracting the largest score changes no weight and keeps exp at most 1.",
  exp: "exp makes every number positive, and large scores much larger.",
  weight: "Dividing by the sum makes shares of one whole.",
  reads: "Each key gives its value, as much as its weight says; added up, that is the output."
};
function whyOf(scene, done) {
  const steps = sceneSteps(scene);
  if (isFinished(scene)) return WHY.reads;
  return done ? WHY[steps[done - 1]] : WHY.none;
}

// src/lesson_text.js
function contentsPart({ lesson, section }) {
  const items = lesson.sections.map(
    ({ title }, i) => h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "link",
          "data-act": "section",
          "data-arg": i,
          "aria-current": i === section ? "true" : null
        },
        prose(title)
      )
    )
  );
  return h(
    "nav",
    { class: "contents-part", "data-key": "contents", "aria-labelledby": "contents-title" },
    h("h2", { id: "contents-title" }, "The lesson in words"),
    h("ol", {}, items)
  );
}
function articlePart({ lesson, section }) {
  const index = Math.min(section, lesson.sections.length - 1);
  const open = lesson.sections[index];
  if (!open) return null;
  const turn = (arg, text, off) => h(
    "button",
    { type: "button", class: "link", "data-act": "section", "data-arg": arg, disabled: off },
    text
  );
  return h(
    "article",
    { class: "article-part", "data-key": "article", "aria-labelledby": "article-title" },
    h("h2", { id: "article-title", class: "headline", tabindex: -1 }, prose(open.title)),
    open.paragraphs.map((text) => h("p", {}, prose(text))),
    open.tables.map(figure),
    h(
      "div",
      { class: "turns" },
      turn("back", "previous", index === 0),
      h("span", { class: "quiet" }, `${index + 1} of ${lesson.sections.length}`),
      turn("next", "next", index === lesson.sections.length - 1)
    )
  );
}
function figure(table3) {
  const rows = table3.rows.map(
    (row) => h(
      "tr",
      {},
      row.map(
        (text, i) => i === 0 ? h("th", { scope: "row" }, prose(text)) : h("td", {}, prose(text))
      )
    )
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "figures" },
      h("caption", {}, prose(table3.caption)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          table3.columns.map((name) => h("th", { scope: "col" }, prose(name)))
        )
      ),
      h("tbody", {}, rows)
    )
  );
}
function recapPart({ lesson }) {
  return h(
    "section",
    { class: "recap-part", "data-key": "recap", "aria-labelledby": "recap-title" },
    h("h2", { id: "recap-title" }, "In five points"),
    h(
      "ol",
      { class: "recap" },
      lesson.recap.map((text) => h("li", {}, prose(text)))
    )
  );
}

// src/lights.js
function lightsOf(record, cursor, reading) {
  const columns = columnsOf(record);
  const column = columns[cursor.column];
  const margin = columns.length - 1;
  const id = cursor.step;
  if (column.kind === "sum") return new Set(marginTerms(record, columns, id, reading));
  const own2 = before(record, id, reading).map((step2) => `${step2}:${cursor.column}`);
  const marks = new Set(own2);
  if (id === "shifted") marks.add(`${lastScore(record)}:${peak(record, columns)}`);
  if (id === "weight") marks.add(`exp:${margin}`);
  if (column.kind !== "key") return marks;
  if (id === "score") marks.add(`query:${record.row}`).add(`key:${column.key}`);
  if (id === "reads") marks.add(`value:${column.key}`).add(`weight@${column.key}`);
  if (id === "weight") marks.add(`weight@${column.key}`);
  return marks;
}
function marginTerms(record, columns, id, reading) {
  const summed = { exp: "exp", weight: "weight", reads: "reads", shifted: lastScore(record) };
  const step2 = summed[id];
  if (!step2 || !stepsOf(record, reading).includes(id)) return [];
  return columns.flatMap((column, c) => {
    if (column.kind === "sum" || column.kind === "key" && !record.visible[column.index])
      return [];
    return [`${step2}:${c}`];
  });
}
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
function peak(record, columns) {
  if (record.sink && record.sink.logit === record.row_max)
    return columns.findIndex((c) => c.kind === "sink");
  return record.scores.findIndex((x, i) => record.visible[i] && x === record.row_max);
}

// src/tokens_table.js
var spotText = ({ side, row, col }) => `${side}:${row}:${col}`;
function tokensTable(scene, lights) {
  const { state, numbers } = scene;
  const edited = editKey(state) in state.edits || !state.scaled;
  return h(
    "section",
    { class: "tokens-part", "data-key": "tokens", "aria-labelledby": "tokens-title" },
    h("h2", { id: "tokens-title" }, state.info.editable ? "Tokens (click to edit)" : "Tokens"),
    numbers ? editableTables(scene, lights) : recordTables(scene, lights),
    state.info.editable ? tools(scene, edited) : h("p", { class: "quiet" }, state.info.editable_reason ?? ""),
    state.trouble && h("p", { class: "trouble", role: "alert" }, state.trouble),
    h("p", { class: "quiet say" }, sayOf(scene))
  );
}
function sayOf({ state, tokens, local }) {
  const name = tokenName(tokens, state.row);
  const asks = `Token ${name} asks. Its query is compared with every key; the better a key matches, the more of that token’s value it reads.`;
  const { dtype } = state.info;
  const from = dtype === "float64" ? "" : ` from the ${dtype} inputs`;
  return local ? `${asks} These numbers are changed, and worked out on this page in float64.` : `${asks} Every number is worked out in float64${from}.`;
}
function editableTables(scene, lights) {
  const { state, numbers, paired } = scene;
  if (!numbers) return [];
  return tablesOf(numbers, paired).map(({ label, sides, tokens }, t) => {
    const asks = t === 0;
    const lines = tokens.map((_, row) => ({
      picked: asks && row === state.row,
      name: nameCell(scene, sides[0] ?? "query", row, tokens, asks),
      cells: sides.map((side) => ({
        side,
        lit: lights.has(`${side}:${row}`),
        parts: vectorCell(scene, side, row, tokens)
      }))
    }));
    return tableOf(label, sides, lines, isStacked(numbers, sides));
  });
}
function tableOf(label, sides, lines, stacked) {
  const head = h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("td", {}),
      sides.map((side) => h("th", { scope: "col" }, side))
    )
  );
  return h(
    "div",
    { class: "scroll panel", "data-key": stacked ? "stacked" : "beside" },
    h(
      "table",
      { class: `tokens${stacked ? " stacked" : ""}`, role: "grid", "aria-label": label },
      stacked ? null : head,
      lines.map((line2) => stacked ? stackedBody(line2) : besideBody(line2))
    )
  );
}
var cellOf2 = ({ lit, parts }) => h("td", { class: lit ? "lit" : "" }, parts);
function besideBody({ picked: picked2, name, cells }) {
  return h(
    "tbody",
    {},
    h("tr", { class: picked2 ? "picked" : "" }, h("th", { scope: "row" }, name), cells.map(cellOf2))
  );
}
function stackedBody({ picked: picked2, name, cells }) {
  return h(
    "tbody",
    {},
    cells.map(
      (cell2, i) => h(
        "tr",
        { class: picked2 ? "picked" : "" },
        i === 0 ? h("th", { scope: "rowgroup", rowspan: cells.length }, name) : null,
        h("th", { scope: "row", class: "side" }, cell2.side),
        cellOf2(cell2)
      )
    )
  );
}
function nameCell({ state }, side, row, tokens, asks) {
  const { editing } = state;
  const sameTable = editing && editing.spot.side === "query" === (side === "query");
  if (editing?.what === "name" && editing.spot.row === row && (sameTable || asks)) {
    return h("input", {
      class: "edit name",
      value: editing.draft,
      "aria-label": "new name",
      maxlength: 200
    });
  }
  if (!asks) return chip(tokens, row);
  return chip(tokens, row, {
    "data-act": "query",
    "data-arg": row,
    "aria-pressed": String(row === state.row),
    "aria-label": `token ${tokenName(tokens, row)}: let it ask`
  });
}
function vectorCell(scene, side, row, tokens) {
  const { state, numbers } = scene;
  const vectorOf = numbers?.[side][row] ?? [];
  if (!state.info.editable) return [vector(vectorOf, short, 3)];
  const parts = vectorOf.flatMap((x, col) => [
    col ? ", " : "",
    number(scene, { side, row, col }, x, tokens)
  ]);
  return ["[", ...parts, "]"];
}
function number({ state }, spot, x, tokens) {
  const name = `${spot.side} of token ${tokenName(tokens, spot.row)}, number ${spot.col + 1}`;
  const here = spotText(state.spot) === spotText(spot);
  if (state.editing?.what === "number" && spotText(state.editing.spot) === spotText(spot)) {
    return h("input", {
      class: "edit",
      value: state.editing.draft,
      "aria-label": name,
      inputmode: "decimal",
      autocomplete: "off",
      "aria-invalid": state.trouble ? "true" : null
    });
  }
  return h(
    "button",
    {
      type: "button",
      class: "number",
      "data-act": "edit",
      "data-arg": spotText(spot),
      "data-spot": true,
      tabindex: here ? 0 : -1,
      "aria-label": `${name}: ${exact(x)}`,
      title: exact(x)
    },
    short(x)
  );
}
function tools({ state, paired, numbers, tokens, keyTokens }, edited) {
  if (!numbers) return null;
  const { side, row } = state.spot;
  const names2 = paired || side === "query" ? tokens : keyTokens;
  const name = row < names2.length ? tokenName(names2, row) : "";
  const adds = paired ? [button("add", "query", "add a token")] : [button("add", "query", "add a query"), button("add", "key", "add a key")];
  return h(
    "div",
    { class: "tools" },
    h(
      "div",
      {},
      adds,
      button("rename", "", `rename ${name}`),
      button("remove", "", `remove ${name}`)
    ),
    h(
      "div",
      {},
      stepper("head_dim", "d_k", "query and key", numbers.query[0]?.length ?? 0),
      stepper("value_dim", "d_v", "value", numbers.value[0]?.length ?? 0)
    ),
    edited && h("div", {}, button("reset", "", "reset: back to the numbers as they came"))
  );
}
function button(act, arg, text) {
  return h(
    "button",
    { type: "button", class: "link", "data-act": act, "data-arg": arg, "data-key": act + arg },
    text
  );
}
function stepper(which, letter, name, width) {
  const one = (sign2, label) => h(
    "button",
    {
      type: "button",
      class: "step-by",
      "data-act": "dimension",
      "data-arg": `${which}:${sign2}`,
      "aria-label": label
    },
    sign2 === "-" ? "−" : "+"
  );
  return h(
    "span",
    { class: "stepper", role: "group", "aria-label": `${name}: dimensions` },
    prose(letter),
    " ",
    one("-", `one dimension less for ${name}`),
    ` ${width} `,
    one("+", `one dimension more for ${name}`)
  );
}
function recordTables({ record, tokens, keyTokens }, lights) {
  if (!record) return [];
  const cell2 = (side, index, numbers) => ({ side, lit: lights.has(`${side}:${index}`), parts: [brief(numbers, 1)] });
  const asks = {
    picked: true,
    name: chip(tokens, record.row),
    cells: [cell2("query", record.row, record.query)]
  };
  const keys = record.keys.map((key, i) => ({
    picked: false,
    name: chip(keyTokens, key),
    cells: [
      cell2("key", key, record.key[i]),
      ...record.value ? [cell2("value", key, record.value[i])] : []
    ]
  }));
  return [
    tableOf("The query that asks", ["query"], [asks], true),
    tableOf("Keys with the largest scores", ["key", "value"], keys, true)
  ];
}

// src/page_view.js
function pageView(scene) {
  const { state } = scene;
  if (!scene.tokens.length) {
    return [
      header(state),
      h("p", { class: "alone" }, "This lookup has no queries: there is nothing to look up.")
    ];
  }
  const lights = litBy(scene);
  return [
    header(state),
    ...notices(state),
    h(
      "main",
      { "data-key": "main", class: state.info.source === "lesson" ? "" : "wide" },
      h("div", { class: "left" }, tokensTable(scene, lights), contentsPart(state)),
      h(
        "div",
        { class: "center" },
        ledgerPart(scene, lights),
        state.layer && hasLayer(scene) ? layerPart(scene) : null,
        articlePart(state)
      ),
      h("div", { class: "right" }, gridPart(scene, lights), turnPart(state), recapPart(state))
    ),
    footer(scene.tokens.length)
  ];
}
function litBy(scene) {
  const { record, state } = scene;
  const point = pointOf(scene);
  if (!record || !point || !isUnfolded(point.step, state.step)) return /* @__PURE__ */ new Set();
  return lightsOf(record, point, state.reading);
}

// src/place.js
function writeHash(state) {
  try {
    const address2 = `${location.pathname}${location.search}#${toHash(state)}`;
    if (`${location.pathname}${location.search}${location.hash}` !== address2)
      history.replaceState(null, "", address2);
  } catch {
  }
}
var readHash = () => location.hash;
function followHash(moved2) {
  const follow = () => moved2(location.hash);
  addEventListener("hashchange", follow);
  return () => removeEventListener("hashchange", follow);
}

// src/live_page.js
var FOCUS = (
  /** @type {Record<string, string[]>} */
  {
    ledger: ["table.ledger [tabindex='0']"],
    spot: ["table.tokens [data-spot][tabindex='0']"],
    input: ["input.edit"],
    layer: ["table.matrix [tabindex='0']"],
    article: ["#article-title"],
    turn: ["form input:checked", "form input", "form button"],
    verdict: [".verdict .plain", "form input[aria-invalid]", "form input:checked", "form input"]
  }
);
function livePage(root, shadow, page, source, first) {
  let state = first;
  let waiting = 0;
  const scene = () => sceneOf(state, source);
  const wait = async (promise) => {
    waiting++;
    root.dataset.state = "loading";
    try {
      await promise;
      if (state.offline) state = { ...state, offline: null };
    } catch (error) {
      state = { ...state, offline: sentenceOf(error) };
    } finally {
      waiting--;
    }
    update({});
  };
  const update = ({ focus, ...changes }) => {
    state = { ...state, ...changes };
    patch(page, pageView(scene()));
    markEdges(shadow);
    root.dataset.state = waiting ? "loading" : "ready";
    writeHash(state);
    const missing = state.offline ? [] : needsOf(scene()).filter(([op, args]) => !source.has(op, args));
    if (missing.length) void wait(Promise.all(missing.map(([op, args]) => source.need(op, args))));
    if (focus) focusOn(shadow, FOCUS[focus]);
  };
  return { state: () => state, scene, update, wait };
}
function sentenceOf(error) {
  if (error instanceof HostError) return error.message;
  throw error;
}
function focusOn(shadow, selectors) {
  const found = selectors.map((selector) => shadow.querySelector(selector));
  const element = found.find((candidate) => candidate !== null);
  if (!(element instanceof HTMLElement)) return;
  element.focus({ preventScroll: element.matches(".headline") });
  if (element.matches(".headline")) scrollTo(element);
  if (element.matches("table.ledger td:not(.margin)"))
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (element instanceof HTMLInputElement && element.matches(".edit")) element.select();
}
function scrollTo(heading) {
  const { top } = heading.getBoundingClientRect();
  if (top >= 0 && top < innerHeight / 3) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  heading.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

// src/style_figures.js
var FIGURES_CSS = `
.c0 { --c: #0072b2; --chip: #0072b2; --on: #fff; } .c1 { --c: #d55e00; --chip: #bd5300; --on: #fff; }
.c2 { --c: #009e73; --chip: #007f5c; --on: #fff; } .c3 { --c: #cc79a7; --chip: #cc79a7; --on: #111; }
.c4 { --c: #e69f00; --chip: #e69f00; --on: #111; } .c5 { --c: #56b4e9; --chip: #56b4e9; --on: #111; }
.c6 { --c: #f0e442; --chip: #f0e442; --on: #111; }
.c7 { --c: light-dark(#000, #8d9097); --chip: light-dark(#1c1d20, #4b4e55); --on: #fff; }
.chip { display: inline-flex; align-items: baseline; gap: 4px; max-width: 100%; min-width: 24px; justify-content: center; border-radius: 6px; padding: 1px 8px; background: var(--chip); color: var(--on); font-weight: 600; font-size: 13px; line-height: 1.5; white-space: pre; border: 1px solid transparent; }
.chip small { flex: none; font-size: 11px; font-weight: 500; } .chip bdi { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; }
.chip.later { background: var(--panel); color: var(--ink); border-color: var(--c); }
button.chip:hover { filter: brightness(1.08); }

table.tokens { border-collapse: separate; border-spacing: 0; width: 100%; }
.tokens th, .tokens td { padding: 8px 5px; text-align: center; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--line); }
.tokens tbody:last-child tr:last-child > * { border-bottom: 0; }
.tokens.stacked th, .tokens.stacked td { padding: 3px 4px; text-align: left; border-bottom: 0; } .tokens.stacked tbody:not(:last-child) { border-bottom: 1px solid var(--line); }
.tokens.stacked { border-collapse: collapse; } .tokens.stacked tbody tr:first-child > * { padding-top: 7px; } .tokens.stacked tbody tr:last-child > * { padding-bottom: 7px; }
.tokens.stacked th.side { padding-left: 4px; } .tokens.stacked .chip { max-width: 112px; overflow: hidden; }
.tokens .side { color: var(--soft); font-size: 12.5px; }
.tokens thead th { color: var(--soft); font-size: 12.5px; padding: 6px; }
.tokens tbody th:first-child { padding-left: 9px; }
.tokens tr.picked > * { background: var(--wash); }
.tokens td { border-radius: 0; }
.number { border-radius: 4px; padding: 3px 3px; margin: 0 -2px; text-align: center; }
.number:hover { background: var(--faint); box-shadow: inset 0 -1px var(--edge); }
.tokens td.lit .number { font-weight: 650; }
.tokens .lit { box-shadow: inset 0 0 0 2px var(--focus); border-radius: 7px; }
input.edit { width: 50px; padding: 1px 5px; text-align: center; border-color: var(--focus); }
input.edit.name { width: 84px; text-align: left; }

.titled { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 16px; }
.titled h2 { overflow-wrap: anywhere; min-width: 0; }
.switches { display: flex; gap: 14px; font-size: 13px; align-items: center; }
.switches button { color: var(--soft); }
.switches .switch { border-bottom: 1px dotted var(--edge); }
.switches .switch[aria-checked=false] { color: var(--ink); font-weight: 600; }
.switches .switch[aria-disabled] { border-bottom: 0; cursor: default; }
.choice { display: flex; border: 1px solid var(--line); border-radius: 7px; background: var(--panel); }
.choice button { padding: 2px 10px; border-radius: 6px; }
.choice button[aria-pressed=true] { color: var(--ink); font-weight: 600; background: var(--faint); }

.ledger-part .scroll { --step: 130px; --margin: var(--sums); --pad: 7px; }
table.ledger { width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed; font-size: 15.5px; min-width: calc(var(--step) + var(--keys) * (var(--cell) + 2 * var(--pad)) + var(--margin) + 2 * var(--pad)); }
.ledger thead .step { width: var(--step); } .ledger thead .margin { width: calc(var(--margin) + 2 * var(--pad)); }
.ledger-part .scroll { scroll-padding: 0 calc(var(--margin) + 18px) 0 calc(var(--step) + 2px); }
.ledger th, .ledger td { padding: 10px var(--pad); text-align: center; font-weight: 400; border-bottom: 1px solid var(--line); height: 68px; }
.ledger thead th, .ledger thead td { height: 46px; padding: 8px var(--pad); }
.ledger tbody tr:last-child > * { border-bottom: 0; }
.ledger .step { position: sticky; left: 0; z-index: 1; background: var(--panel); text-align: left; padding-left: 16px; }
.ledger tr:first-child .step { border-top-left-radius: 10px; } .ledger tbody tr:first-child .step { border-radius: 0; } .ledger tbody tr:last-child .step { border-bottom-left-radius: 10px; }
.ledger .step b { display: block; font-weight: 600; } .ledger .step span { color: var(--soft); font-size: 12.5px; }
.ledger tbody tr:not(.unfolded) .step { color: var(--soft); } .ledger tbody tr:not(.unfolded) .step b { font-weight: 500; }
.ledger td { cursor: cell; }
.ledger td small { display: block; color: var(--soft); font-size: 12px; margin-top: 1px; }
.ledger .margin { position: sticky; right: 0; z-index: 1; background: var(--panel); border-left: 1px solid var(--line); }
.scroll[data-more~=right] .margin::before, .scroll[data-more~=left] .step::after { content: ""; position: absolute; top: 0; bottom: 0; width: 22px; pointer-events: none; }
.scroll[data-more~=right] .margin::before { right: 100%; background: linear-gradient(to left, var(--panel), transparent); }
.scroll[data-more~=left] .step::after { left: 100%; background: linear-gradient(to right, var(--panel), transparent); }
.sideways { display: none; font-size: 13px; } .scroll[data-more] + .sideways { display: block; }
.ledger td .label { color: var(--soft); } .ledger td b { font-weight: 650; }
.ledger .sink, .ledger .rest { border-left: 1px dashed var(--line); color: var(--soft); }
.ledger th.rest { white-space: normal; min-width: 104px; font-size: 13px; } .ledger th.sink { font-size: 13px; }
.ledger.many td:not(.margin) { white-space: nowrap; }
.ledger thead .chip { flex-direction: column; align-items: center; gap: 0; } .ledger thead .chip bdi { max-width: 100%; } .ledger thead .chip small { line-height: 1.1; }
.ledger .later-step { color: var(--edge); }
.ledger .lit { box-shadow: inset 0 0 0 1.5px color-mix(in srgb, var(--focus) 55%, transparent); border-radius: 7px; background: var(--wash); }
.ledger td.at { box-shadow: inset 0 0 0 2px var(--focus); border-radius: 7px; }
.ledger td:focus-visible { outline-offset: -2px; border-radius: 7px; }
.ledger:has(td.at:not(:focus)) td:focus-visible { outline: 1px dashed var(--soft); }
.ledger td.lost { color: var(--soft); font-style: italic; }
.ledger td.tint { background: color-mix(in srgb, var(--c) calc(4% + var(--w) * 30%), transparent); }
.bar { display: block; height: 5px; border-radius: 3px; background: var(--c); margin: 5px auto 0; width: max(2px, calc(var(--w) * 100%)); }
.ledger tr.unfolded td > * { animation: appear .2s ease-out; }
@keyframes appear { from { opacity: 0; } }
.hatched { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--line) 5px 6px) !important; color: var(--soft); }
.ledger td.hatched { font-size: 13px; }
.waiting { padding: 40px 16px; }
.readout { display: block; min-height: 50px; padding: 12px 16px; border-left: 3px solid var(--focus); background: var(--panel); border-radius: 0 8px 8px 0; font-size: 16px; overflow-wrap: anywhere; }
.exactly { color: var(--soft); font-size: 15px; }
.note { font-size: 14px; padding: 0 2px; max-width: 70ch; }
.steps { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: baseline; margin-top: 4px; }
.steps .where { flex: 1 1 240px; } .steps .link { font-size: 13px; }

table.grid { width: 100%; border-collapse: separate; border-spacing: 3px; table-layout: fixed; }
.grid th { font-weight: 400; padding: 0 0 2px; overflow: hidden; } .grid tbody th { padding: 0 4px 0 0; text-align: left; }
.grid thead td { width: var(--names); }
.grid td { height: 62px; text-align: center; border-radius: 6px; cursor: pointer; font-size: 13.5px; overflow: hidden; }
.grid thead td { height: auto; cursor: default; }
.grid .chip { padding: 1px 6px; overflow: hidden; }
.grid .void { border: 1px dashed var(--line); color: var(--soft); }
.grid tr.picked td { box-shadow: 0 0 0 1px var(--edge); }
.grid td.lit { box-shadow: 0 0 0 3px var(--focus); }
.filled { background: color-mix(in oklab, var(--deep) calc(var(--w) * 100%), var(--faint)); }
.filled { color: light-dark(#000, #fff); } .filled.middle { color: #000; } .filled.deep { color: light-dark(#fff, #000); }
.grid.dense { border-spacing: 1px; } .grid.dense td { height: 24px; border-radius: 3px; font-size: 12px; }
.grid.upright thead th { vertical-align: bottom; text-align: center; } .grid.dense .chip { font-size: 11px; } .grid.upright thead .chip { writing-mode: vertical-rl; padding: 5px 0; min-width: 0; width: 100%; max-width: 26px; max-height: 104px; line-height: 1.1; justify-content: flex-start; align-items: center; }
.grid.dense small { font-size: 10px; }
.legend { display: flex; align-items: center; gap: 9px; color: var(--soft); font-size: 12px; }
.ramp { flex: 1; height: 8px; border-radius: 4px; background: linear-gradient(90deg in oklab, var(--faint), var(--deep)); }
.grid-part .plain { align-self: start; }

.layer { padding: 18px; display: flex; flex-direction: column; gap: 24px; }
.layer-step { display: flex; flex-direction: column; gap: 9px; min-width: 0; }
.layer h3 { font-size: 15px; font-weight: 650; display: flex; gap: 9px; align-items: baseline; }
.ordinal { color: var(--soft); font-weight: 500; }
.layer .quiet { max-width: 68ch; }
.layer .readout { background: var(--paper); font-size: 15px; min-height: 0; padding: 8px 14px; }
.product { position: relative; display: flex; align-items: center; flex-wrap: wrap; gap: 10px 14px; overflow-x: auto; padding: 4px 2px 6px; }
.sign { font-size: 18px; color: var(--soft); white-space: nowrap; }
.matrix-box { display: flex; flex-direction: column; align-items: center; gap: 3px; flex: none; }
.matrix-name { color: var(--soft); font-size: 12.5px; font-style: italic; }
.matrix { border-collapse: separate; border-spacing: 2px; }
.matrix td { min-width: 36px; height: 30px; padding: 2px 7px; text-align: center; border-radius: 5px; white-space: nowrap; background: var(--paper); }
.matrix td.filled { background: color-mix(in oklab, var(--deep) calc(var(--w) * 100%), var(--faint)); }
.matrix thead td { background: none; min-width: 0; padding: 0; height: auto; }
.matrix th { font-weight: 400; padding: 0 4px 0 0; } .matrix thead th { padding: 0 0 2px; }
.matrix [data-act] { cursor: cell; }
.matrix td.lit { background: var(--wash); box-shadow: inset 0 0 0 1.5px color-mix(in srgb, var(--focus) 55%, transparent); }
.matrix td.at { box-shadow: inset 0 0 0 2px var(--focus); }

@media (max-width: 859px) {
  .tokens.stacked .chip { max-width: 148px; }
  .ledger .step { padding-left: 12px; font-size: 14px; box-shadow: 1px 0 var(--line); }
  .ledger th, .ledger td { padding-top: 9px; padding-bottom: 9px; } .number { padding: 8px 6px; margin: 0 -4px; }
  .grid td { height: 54px; } .say { max-width: none; }
}
@media (max-width: 599px) {
  .ledger-part .scroll { --step: 88px; --margin: var(--sums-narrow); --pad: 5px; }
  table.ledger { font-size: 14px; } .ledger .step { padding-left: 9px; } .ledger .step span { font-size: 12px; }
  .ledger td .label { display: block; font-size: 12px; }
}
@media (pointer: coarse) { .key-hint { display: none; } }
@media (forced-colors: active) {
  .chip { border-color: CanvasText; } .ledger td.at, .matrix td.at, .grid td.lit { outline: 2px solid Highlight; outline-offset: -2px; }
  .ledger .lit, .tokens .lit, .matrix td.lit { outline: 1px dashed Highlight; outline-offset: -2px; }
  .bar { background: CanvasText; } .filled, .ramp { forced-color-adjust: none; }
  .choice button[aria-pressed=true] { text-decoration: underline; }
}
`;

// src/style_page.js
var DOCUMENT_CSS = `
html { color-scheme: light dark; background: light-dark(#fbfaf7, #16171a); }
body { margin: 0; }
`;
var PAGE_CSS = `
:host {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf7, #16171a); --panel: light-dark(#ffffff, #1d1f23);
  --ink: light-dark(#1c1d20, #ececec); --soft: light-dark(#5f6167, #a3a5ab);
  --line: light-dark(#e4e1d9, #33363c); --edge: light-dark(#8a8880, #767a82);
  --focus: light-dark(#0b63ce, #7db4ff); --wash: light-dark(#eef4fc, #1f2a3a);
  --wrong: light-dark(#a3281c, #ff9d8f); --right: light-dark(#2b6a2b, #93d093);
  --faint: light-dark(#f4f1ea, #24262b); --deep: light-dark(#3a1160, #d9bdf7);
  display: block; min-height: 100vh; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums lining-nums;
}
*, *::before, *::after { box-sizing: border-box; }
h2, h3, p, ol, ul, dl, dd { margin: 0; padding: 0; }
h2 { font-size: 13px; font-weight: 600; color: var(--soft); letter-spacing: .01em; }
button, input { font: inherit; color: inherit; font-variant-numeric: inherit; }
button { cursor: pointer; background: none; border: 0; padding: 0; text-align: inherit; }
button[disabled] { cursor: default; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet { color: var(--soft); font-size: 14px; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
.scroll { position: relative; overflow-x: auto; overscroll-behavior-x: contain; }
.link { color: var(--soft); text-decoration: underline; text-decoration-color: var(--line); text-underline-offset: 3px; }
.link:hover:not([disabled]) { color: var(--ink); text-decoration-color: currentColor; }
.link[disabled] { text-decoration: none; opacity: .5; }
.main, .plain { border: 1px solid var(--edge); border-radius: 7px; padding: 5px 14px; background: var(--panel); }
.main { background: var(--ink); color: var(--paper); border-color: var(--ink); font-weight: 600; }
.main[disabled] { background: none; color: var(--soft); border-color: var(--line); font-weight: 400; }
.plain[disabled] { color: var(--soft); border-color: var(--line); opacity: .6; }
.plain:hover:not([disabled]) { border-color: var(--ink); }
kbd { font: inherit; font-size: 13px; border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; background: var(--panel); }

header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 6px 28px; padding: 18px max(28px, calc(50vw - 652px)) 0; border-bottom: 1px solid var(--line); }
sub { font-size: .75em; line-height: 0; }
header .mark { margin: 0; font-size: 18px; font-weight: 650; letter-spacing: -.01em; padding-bottom: 13px; }
header .title { flex: 0 1 auto; font-size: 17px; overflow-wrap: anywhere; min-width: 0; padding-bottom: 13px; }
header .acts { margin-left: auto; display: flex; gap: 18px; font-size: 13px; align-items: baseline; padding-bottom: 13px; }
header .acts button { color: var(--soft); min-width: 20px; }
header .acts button:hover { color: var(--ink); }
.notice:empty { display: none; }
.notice { position: fixed; z-index: 3; bottom: 18px; left: 50%; transform: translateX(-50%); width: max-content; max-width: calc(100vw - 32px); padding: 8px 18px; border: 1px solid var(--edge); border-radius: 9px; background: var(--panel); font-size: 14px; }
.offline { max-width: 1264px; margin: 14px auto 0; padding: 10px 16px; border: 1px solid var(--wrong); border-radius: 10px; display: flex; gap: 16px; align-items: center; flex-wrap: wrap; }
.offline p { flex: 1 1 300px; }
.alone { max-width: 34em; margin: 18vh auto 0; padding: 0 24px; font-size: 17px; }

main { display: grid; grid-template-columns: 240px minmax(0, 1fr) 262px; gap: 22px; padding: 26px 28px 12px; max-width: 1360px; margin: auto; align-items: start; }
.left, .center, .right { display: flex; flex-direction: column; gap: 30px; min-width: 0; }
main.wide { grid-template-columns: 268px minmax(0, 1fr) 262px; }
section, nav, article { min-width: 0; display: flex; flex-direction: column; gap: 10px; }
.say { margin-top: 4px; max-width: 17.5em; }
.trouble { color: var(--wrong); font-size: 14px; }
@media (pointer: coarse) { footer, header [data-act=help] { display: none !important; } }
footer { display: flex; flex-wrap: wrap; gap: 4px 18px; max-width: 1360px; margin: auto; padding: 12px 28px 28px; color: var(--soft); font-size: 13px; }

.tools { display: flex; flex-direction: column; gap: 7px; font-size: 13px; color: var(--soft); margin-top: 2px; }
.tools > div { display: flex; flex-wrap: wrap; gap: 5px 14px; align-items: center; }
.stepper { white-space: nowrap; }
.step-by { border: 1px solid var(--line); border-radius: 5px; min-width: 24px; height: 24px; line-height: 20px; text-align: center; background: var(--panel); }
.step-by:hover { border-color: var(--edge); color: var(--ink); }
.pickers { display: flex; flex-direction: column; gap: 6px; font-size: 13px; color: var(--soft); }
.pickers label { display: flex; justify-content: space-between; align-items: center; gap: 10px; }
.pickers input { width: 104px; }
input:not([type=radio]) { border: 1px solid var(--edge); border-radius: 6px; padding: 4px 9px; background: var(--panel); min-width: 0; }
input[aria-invalid=true] { border-color: var(--wrong); }

.contents-part ol { list-style: none; display: flex; flex-direction: column; gap: 3px; }
.contents-part .link { text-decoration: none; padding: 2px 0 2px 10px; border-left: 2px solid var(--line); width: 100%; }
.contents-part .link:hover { border-color: var(--edge); }
.contents-part [aria-current] { color: var(--ink); font-weight: 600; border-color: var(--ink); }
.article-part { border-top: 1px solid var(--line); padding-top: 26px; gap: 14px; }
.article-part > p { max-width: 66ch; line-height: 1.6; }
h2.headline:focus-visible { outline: none; }
h2.headline { scroll-margin-top: 20px; font-size: 19px; font-weight: 650; color: var(--ink); letter-spacing: -.01em; }
.turns { display: flex; gap: 18px; align-items: baseline; font-size: 14px; }
.figures { border-collapse: collapse; font-size: 14px; margin: 4px 0; }
.figures caption { text-align: left; color: var(--soft); font-size: 13px; padding-bottom: 6px; }
.figures th, .figures td { padding: 5px 14px 5px 0; text-align: right; font-weight: 400; border-bottom: 1px solid var(--line); vertical-align: bottom; }
.figures thead th { color: var(--soft); font-size: 13px; }
.figures th:first-child { text-align: left; }
.figures td:not(:first-child), .figures th:not(:first-child) { padding-left: 8px; }
.recap { padding-left: 20px; display: flex; flex-direction: column; gap: 7px; font-size: 14px; }
.recap li::marker { color: var(--soft); }

.checklist ul { list-style: none; display: flex; flex-direction: column; }
.skill { display: flex; gap: 10px; align-items: baseline; width: 100%; padding: 4px 8px; border-radius: 7px; font-size: 14px; }
.skill:hover { background: var(--faint); }
.skill[aria-current] { background: var(--faint); font-weight: 600; }
.box { flex: none; width: 17px; height: 17px; line-height: 15px; border: 1px solid var(--edge); border-radius: 4px; text-align: center; font-size: 13px; background: var(--panel); }
.skill[data-done=true] .box { background: var(--ink); border-color: var(--ink); color: var(--paper); }
.checklist .quiet { padding: 6px 8px 0; }
.turn { padding: 14px 16px; }
.turn form { display: flex; flex-direction: column; gap: 11px; }
.given { display: flex; flex-direction: column; gap: 4px; font-size: 14px; }
.given div { display: flex; flex-wrap: wrap; gap: 0 9px; align-items: baseline; }
.given dt { color: var(--soft); font-size: 13px; }
.given dd { overflow-wrap: anywhere; }
.fields { display: flex; flex-direction: column; gap: 6px; }
.fields label { display: flex; gap: 10px; justify-content: space-between; align-items: center; font-size: 14px; }
.fields input { width: 96px; flex: none; }
.choices { display: flex; flex-direction: column; gap: 9px; font-size: 14px; }
.choices label { display: flex; gap: 9px; align-items: baseline; }
.choices input { flex: none; accent-color: var(--ink); }
.answer { display: flex; gap: 16px; align-items: baseline; font-size: 14px; }
.verdict { border-left: 3px solid var(--line); padding: 2px 0 2px 12px; font-size: 14px; display: flex; flex-direction: column; gap: 8px; align-items: start; }
.verdict.right { border-color: var(--right); } .verdict.right b { color: var(--right); }
.verdict.wrong { border-color: var(--wrong); } .verdict.wrong b { color: var(--wrong); }
.right-step { list-style: none; display: flex; flex-direction: column; gap: 3px; overflow-wrap: anywhere; }
.turn .quiet { font-size: 13px; } summary { cursor: pointer; width: max-content; }

dialog { border: 1px solid var(--line); border-radius: 12px; background: var(--panel); color: var(--ink); max-width: min(560px, calc(100vw - 32px)); padding: 22px 26px; }
dialog::backdrop { background: rgb(0 0 0 / .35); }
dialog h2 { font-size: 17px; color: var(--ink); margin-bottom: 12px; }
dialog table { border-collapse: collapse; font-size: 14px; width: 100%; }
dialog th, dialog td { text-align: left; font-weight: 400; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
dialog th { white-space: nowrap; }
dialog textarea { width: min(500px, 76vw); height: 260px; font: 13px/1.5 ui-monospace, monospace; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 10px; }
dialog form { margin-top: 16px; }

@media (max-width: 1179px) {
  main, main.wide { grid-template-columns: minmax(0, 1fr) 262px; }
  .left { grid-column: 1 / -1; flex-direction: row; flex-wrap: wrap; gap: 30px 48px; }
  .say { max-width: 30em; }
}
@media (max-width: 859px) {
  header { padding: 14px 16px 0; } header .mark, header .title, header .acts { padding-bottom: 10px; }
  header .own { order: 1; flex-basis: 100%; }
  main { display: flex; flex-direction: column; align-items: stretch; gap: 28px; padding: 18px 16px 8px; }
  .left, .center, .right { display: contents; }
  .tokens-part { order: 1; } .ledger-part { order: 2; } .layer-part { order: 3; } .grid-part { order: 4; }
  .turn-part { order: 5; } .contents-part { order: 6; } .article-part { order: 7; } .recap-part { order: 8; }
  footer { padding-left: 16px; padding-right: 16px; } .offline { margin: 14px 16px 0; }
  .step-by { min-width: 32px; height: 32px; } .skill { padding: 7px 8px; }
}
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
}
@media (forced-colors: active) {
  .main, .step-by, .box { border: 1px solid ButtonText; }
  .skill[data-done=true] .box { forced-color-adjust: none; background: CanvasText; color: Canvas; }
}
`;

// src/main.js
var OWN = "data-softlookup";
function sheetOf(css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}
async function mount(root, host) {
  const shadow = root.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheetOf(PAGE_CSS), sheetOf(FIGURES_CSS)];
  const page = h("div", { class: "page" });
  shadow.append(page);
  root.dataset.state = "loading";
  try {
    const [{ json: info }, { json: lesson }] = await Promise.all([
      host.call("info"),
      host.call("lesson")
    ]);
    if (root.hasAttribute(OWN)) document.title = `${titleOf(info)} - softlookup`;
    return start(root, shadow, page, host, firstState(info, lesson, readHash()));
  } catch (error) {
    patch(page, [h("p", { class: "alone", role: "alert" }, sentenceOf(error))]);
    root.dataset.state = "refused";
    return () => {
    };
  }
}
function start(root, shadow, page, host, first) {
  const source = createSource(host, first.info.limits.ledger_keys);
  const dialogs = { help: helpDialog(), copy: copyDialog() };
  shadow.append(dialogs.help, dialogs.copy);
  const live = livePage(root, shadow, page, source, first);
  const errand = errands({ ...live, source, dialogs });
  const act = (name, argument) => {
    if (name in errand) errand[name](argument);
    else live.update({ notice: "", ...ACTIONS[name]?.(live.scene(), argument) });
  };
  const stop = listen(root, shadow, { act, update: live.update, state: live.state });
  const unfollow = followHash((hash) => {
    live.update(fromHash(hash, first.info));
    act("retry", "");
  });
  live.update({});
  errand.turn("");
  return () => {
    stop();
    unfollow();
    shadow.replaceChildren();
    delete root.dataset.state;
  };
}
var own = document.querySelector(`[${OWN}]`);
if (own instanceof HTMLElement) {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheetOf(DOCUMENT_CSS)];
  void mount(own, httpHost());
  addEventListener("hashchange", () => {
    if (own.dataset.state === "refused") location.reload();
  });
}
export {
  mount,
  problemOf,
  revive,
  traceRow,
  unedited
};
