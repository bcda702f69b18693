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

// src/map_keys.js
var MAP = {
  "+": ["map-zoom", "-1"],
  "=": ["map-zoom", "-1"],
  "-": ["map-zoom", "1"],
  _: ["map-zoom", "1"],
  0: ["map-zoom", "0"],
  l: ["map-lock", ""],
  m: ["map-pool", ""],
  g: ["map-going", ""],
  s: ["map-strongest", ""],
  b: ["map-mark", ""],
  ",": ["map-ask-by", "-1"],
  ".": ["map-ask-by", "1"],
  r: ["reading", "other"],
  c: ["copy", ""],
  k: ["link", ""],
  v: ["view", "heads"],
  t: ["row-steps", ""],
  "?": ["help", ""],
  Escape: ["map-leave", ""]
};
function mapAction({ key, shiftKey }, target) {
  if (key in ARROWS) {
    if (target?.closest(ROVING)) return ["rove", ARROWS[key]];
    if (target?.closest("table.ledger")) return ["move", ARROWS[key]];
    const moves = !target || target.closest(".map-cells, #map-title");
    return moves ? [shiftKey ? "map-step" : "map-pan", ARROWS[key]] : null;
  }
  if (key === "Enter" || key === " ")
    return !target || target.matches(".map-cells, #map-title") ? ["map-pick", ""] : null;
  return MAP[key.length === 1 ? key.toLowerCase() : key] ?? null;
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
  v: ["view", "heads"],
  "?": ["help", ""],
  Escape: ["ledger", ""]
};
var HEADS = {
  ",": ["ask-by", "-1"],
  ".": ["ask-by", "1"],
  w: ["words", ""],
  f: ["first", ""],
  g: ["to-grid", ""],
  s: ["row-steps", ""],
  r: ["reading", "other"],
  c: ["copy", ""],
  l: ["link", ""],
  m: ["view", "map"],
  v: ["view", "steps"],
  "?": ["help", ""],
  Escape: ["leave", ""]
};
var isForNotebook = ({ key, ctrlKey, metaKey, altKey }) => key.toLowerCase() === "s" && (ctrlKey || metaKey) && !altKey || key === "Enter" && (ctrlKey || metaKey || altKey);
var ROVING = ".choice, .reads";
var REGIONS = [
  [".thumbs", "thumb-move"],
  [".pieces", "text-move"],
  ["table.ledger", "move"],
  [".head-part", "mark"]
];
function actionOf(event, target, view) {
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
  if (target?.matches("input, select, textarea")) {
    if (key !== "Escape") return null;
    return view === "map" ? ["map-leave", ""] : ["ledger", ""];
  }
  if (view === "heads") return headsAction(event, target);
  if (view === "map") return mapAction(event, target);
  if (view === "table") return tableAction(event, target);
  const pressed5 = target?.matches("button") ?? false;
  if (key === " ") return event.shiftKey ? ["back", ""] : pressed5 ? null : ["next", ""];
  if (key in ARROWS) return [moved(target), ARROWS[key]];
  if (/^[1-9]$/.test(key)) return ["query", String(Number(key) - 1)];
  return PLAIN[key.length === 1 ? key.toLowerCase() : key] ?? null;
}
function headsAction({ key, shiftKey }, target) {
  if (key in ARROWS) {
    if (target?.closest(ROVING)) return ["rove", ARROWS[key]];
    const region = REGIONS.find(([selector]) => target?.closest(selector));
    return region ? [region[1], ARROWS[key]] : null;
  }
  if (key === "Enter" || key === " ") {
    if (target?.matches(".heat-cells, #head-title")) return ["pick-mark", ""];
    if (shiftKey && target?.matches(".thumb"))
      return ["compare", target.getAttribute("data-arg") ?? ""];
    return null;
  }
  return HEADS[key.length === 1 ? key.toLowerCase() : key] ?? null;
}
var TABLE = {
  p: ["pause-table", ""],
  c: ["copy", ""],
  l: ["link", ""],
  v: ["view", "heads"],
  "?": ["help", ""],
  Escape: ["row-move", ""]
};
function tableAction({ key }, target) {
  if (key in ARROWS) {
    if (target?.closest(ROVING)) return ["rove", ARROWS[key]];
    const moves = !target || target.closest("table.heads-table tbody");
    return moves ? ["row-move", ARROWS[key]] : null;
  }
  return TABLE[key.length === 1 ? key.toLowerCase() : key] ?? null;
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
var rounded = (x) => written(x, 3);
function written(x, places2) {
  const word2 = unusual(x);
  if (word2) return word2;
  const size = Math.abs(x);
  if (size !== 0 && size < 0.5 * 10 ** -places2) return minus(x.toExponential(1));
  if (size >= 1e9) return minus(x.toExponential(3).replace("+", ""));
  return minus(decimals(x === 0 ? 0 : x, places2));
}
function briefly(x) {
  const word2 = unusual(x);
  if (word2) return word2;
  if (x !== 0 && Math.abs(x) < 95e-5) return minus(x.toExponential(0));
  return minus(decimals(x === 0 ? 0 : x, x !== 0 && Math.abs(x) < 95e-4 ? 3 : 2));
}
var fine = (x) => x !== 0 && Math.abs(x) < 0.01 ? minus(x.toExponential(1)) : rounded(x);
var LEAST_IN_ROW = 1e-5;
function alike(numbers) {
  const sizes = numbers.map(Math.abs).filter((x) => x >= LEAST_IN_ROW && Number.isFinite(x));
  const least = Math.min(1, ...sizes);
  const places2 = Math.max(3, 1 - Number(least.toExponential(1).split("e")[1]));
  return (x) => written(x, places2);
}
function decimals(x, places2) {
  const ten = 10 ** places2;
  const units = x * ten;
  const isTie = Math.abs(units % 1) === 0.5 && units / ten === x && Number.isInteger(x * 2 ** (places2 + 1));
  return (isTie ? 2 * Math.round(units / 2) / ten : x).toFixed(places2);
}
function short(x) {
  if (isBare(x)) return minus(String(x === 0 ? 0 : x));
  const text = rounded(x);
  return /^−?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
}
var evenly = (numbers) => numbers.every(isBare) ? short : alike(numbers);
var isBare = (x) => Number.isInteger(x) && Math.abs(x) < 1e9;
function exact(x) {
  return unusual(x) ?? minus(String(x));
}
function exactAs(x, by) {
  if (!by.endsWith("float32") || !Number.isFinite(x)) return exact(x);
  for (let digits = 1; digits < 9; digits += 1) {
    const short4 = Number(x.toPrecision(digits));
    if (Math.fround(short4) === x) return exact(short4);
  }
  return exact(Number(x.toPrecision(9)));
}
var sixth = (x) => Number.isFinite(x) && Math.abs(x) < 1e6 ? exact(Number(x.toFixed(6))) : exact(x);
function small(x) {
  if (x >= 0.995) return "1";
  if (x >= 1e-3) return String(Number(x.toPrecision(2)));
  return minus(x.toExponential(0));
}
var counted = (number2, what) => `${number2.toLocaleString("en")} ${what}${number2 === 1 ? "" : "s"}`;
var percent = (x) => `${(100 * x).toFixed(2)}%`;
var power = (x) => x >= 1e-3 ? String(Number(x.toPrecision(3))) : rounded(x);
function vector(numbers, write2 = rounded, most = 4) {
  if (numbers.length <= most) return `[${numbers.map(write2).join(", ")}]`;
  const first = numbers.slice(0, most - 1).map(write2).join(", ");
  return `[${first}, … ${numbers.length - most + 1} more]`;
}
var bracketed = (x, write2 = short) => x < 0 ? `(${write2(x)})` : write2(x);
var breadth = (text) => [...text].reduce((total, letter) => total + breadthOf(letter), 0);
function breadthOf(letter) {
  if (/[\s.,·[\]()]/.test(letter)) return 0.5;
  return /[−+…]/.test(letter) ? 1.35 : 1;
}
function brief(numbers, first = 2, write2 = rounded) {
  const some = briefPart(numbers, first);
  if (some.length === numbers.length) return vector(numbers, write2);
  return `[${some.map(write2).join(", ")}, …]`;
}
var briefPart = (numbers, first) => numbers.length <= first + 1 ? numbers : numbers.slice(0, first);
function parseNumber(text) {
  const plain3 = text.trim().replaceAll("−", "-");
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\s*\/\s*(\d+\.?\d*))?$/i.exec(plain3);
  const number2 = match ? Number(match[1]) / (match[2] === void 0 ? 1 : Number(match[2])) : NaN;
  if (Number.isFinite(number2)) return { number: number2 === 0 ? 0 : number2 };
  const got = plain3 === "" ? "nothing" : `“${plain3.length > 24 ? `${plain3.slice(0, 24)}…` : plain3}”`;
  if (match) return { sentence: `A number here must be finite; got ${got}. Type a smaller one.` };
  return { sentence: `Type one number, such as 2, −0.5 or 1/3; got ${got}.` };
}

// src/readable.js
var UNSEEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffc\\ufffe\\uffff\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu"
);
var NAMED = { "\n": "⏎", "	": "⇥" };
function readable(token2) {
  if (token2 === "") return "⟨empty⟩";
  if (/^ +$/.test(token2)) return token2 === " " ? "⟨space⟩" : `⟨${token2.length} spaces⟩`;
  return token2.replace(UNSEEN, (found) => NAMED[found] ?? `⟨${hex(found)}⟩`);
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
  const row_max = seen.reduce((most, x) => Math.max(most, x), sink ?? -Infinity);
  const shift = row_max === -Infinity ? 0 : row_max;
  const exp = scores.map((x, j) => visible[j] ? Math.exp(x) : 0);
  const shifted_exp = scores.map((x, j) => visible[j] ? Math.exp(x - shift) : 0);
  const own2 = sink === null ? null : { exp: Math.exp(sink), shifted_exp: Math.exp(sink - shift) };
  const row_sum = sum(shifted_exp) + (own2 ? own2.shifted_exp : 0);
  const share2 = seen.length ? (own2?.shifted_exp ?? 0) / row_sum : 1;
  return {
    exp,
    exp_sum: sum(exp) + (own2 ? own2.exp : 0),
    row_max,
    shifted_exp,
    row_sum,
    weights: shifted_exp.map((part, j) => visible[j] ? part / row_sum : 0),
    sink: own2 && sink !== null ? { logit: sink, ...own2, weight: share2 } : null,
    lse: seen.length ? row_max + Math.log(row_sum) : row_max
  };
}
function readRow(problem, row) {
  const before2 = scoresOf(problem, row);
  return { ...before2, ...softmax(before2.scores, problem.visible[row], problem.sink) };
}
function largest(scores, visible, top3) {
  const all = scores.map((_, j) => j);
  if (top3 >= all.length) return all;
  const numbers = all.filter((j) => visible[j] && !Number.isNaN(scores[j]));
  const others = all.filter((j) => visible[j] && Number.isNaN(scores[j]));
  numbers.sort((a, b) => scores[b] > scores[a] ? 1 : scores[b] < scores[a] ? -1 : a - b);
  return [...numbers, ...others].slice(0, top3).sort((a, b) => a - b);
}
function traceRow(problem, row, top3 = problem.key.length) {
  const visible = problem.visible[row];
  const read = readRow(problem, row);
  const value = problem.value;
  const contributions = value && value.map((v, j) => v.map((x) => visible[j] ? read.weights[j] * x : 0));
  const size = value && value.length ? value[0].length : problem.value_dim ?? 0;
  const whole3 = {
    ...read,
    visible,
    contributions,
    key: problem.key,
    value,
    key_tokens: problem.key_tokens
  };
  const keys = largest(read.scores, visible, top3);
  return {
    ...pick(whole3, keys),
    row,
    token: problem.tokens[row],
    position: problem.q_offset === null ? null : row + problem.q_offset,
    query: problem.query[row],
    keys,
    weights_sum: sum(read.weights),
    out: contributions && sumVectors(contributions, size),
    scale: problem.scale,
    softcap: problem.softcap,
    visible_count: visible.filter(Boolean).length,
    rest: restOf(whole3, keys, size)
  };
}
function pick(whole3, keys) {
  const at = (items) => keys.map((j) => items[j]);
  return {
    ...whole3,
    key: at(whole3.key),
    value: whole3.value && at(whole3.value),
    key_tokens: at(whole3.key_tokens),
    visible: at(whole3.visible),
    products: at(whole3.products),
    scaled: at(whole3.scaled),
    capped: whole3.capped && at(whole3.capped),
    bias: whole3.bias && at(whole3.bias),
    scores: at(whole3.scores),
    exp: at(whole3.exp),
    shifted_exp: at(whole3.shifted_exp),
    weights: at(whole3.weights),
    contributions: whole3.contributions && at(whole3.contributions)
  };
}
function restOf(whole3, keys, size) {
  const shown = new Set(keys);
  const others = whole3.scores.map((_, j) => j).filter((j) => !shown.has(j));
  if (!others.length) return null;
  const total = (numbers) => sum(others.map((j) => numbers[j]));
  const parts = whole3.contributions;
  return {
    count: others.length,
    visible: others.filter((j) => whole3.visible[j]).length,
    exp: total(whole3.exp),
    shifted_exp: total(whole3.shifted_exp),
    weight: total(whole3.weights),
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
  const [left3, right] = options.window;
  return (left3 === null || -ahead <= left3) && (right === null || ahead <= right);
}
function unedited(info, arrays2) {
  return {
    tokens: info.tokens,
    key_tokens: info.key_tokens,
    query: arrays2.query,
    key: arrays2.key,
    value: arrays2.value,
    row_from: info.tokens.map((_, i) => i),
    key_from: info.key_tokens.map((_, j) => j)
  };
}
function problemOf(info, arrays2, edit2, scaled) {
  const offset = arrays2.q_offset ?? 0;
  const { options } = info;
  const hiddenBefore = (i, j) => i >= 0 && j >= 0 && !arrays2.visible[i][j] && inSight(options, offset, i, j);
  const { row_from: rows, key_from: keys, tokens, key_tokens, query, key, value } = edit2;
  const bias = arrays2.bias;
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
    sink: arrays2.sink,
    scale: scaled ? scaleOf(arrays2, edit2) : 1,
    softcap: arrays2.softcap,
    q_offset: arrays2.q_offset
  };
}
function scaleOf(arrays2, edit2) {
  const before2 = arrays2.query[0]?.length ?? 0;
  const now = edit2.query[0]?.length ?? 0;
  return before2 !== now && isDefaultScale(arrays2.scale, before2) ? now ** -0.5 : arrays2.scale;
}
function isDefaultScale(scale2, head_dim) {
  return head_dim > 0 && Math.abs(scale2 * Math.sqrt(head_dim) - 1) < 1e-12;
}
function isPaired(tokens, key_tokens) {
  return tokens.length === key_tokens.length && tokens.every((token2, i) => token2 === key_tokens[i]);
}

// src/host_error.js
var VERB = /^(must|cannot|could|is|are|was|were|has|have|goes|go|needs|need|takes|take|lies|lie)\b/;
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
  /** The message as a sentence: what follows the argument's name is said of it, unless it says of
   * what it is. */
  get sentence() {
    const name = `${this.argument}: `;
    const said = this.message.startsWith(name) ? this.message.slice(name.length) : "";
    const text = VERB.test(said) ? `${this.argument} ${said}` : said || this.message;
    return text.charAt(0).toUpperCase() + text.slice(1);
  }
};

// src/source.js
var NUMERIC = /* @__PURE__ */ new Set([
  ...["trace", "arrays", "weights", "overview", "facts", "everywhere", "strongest", "head"]
]);
var TEXTS = /* @__PURE__ */ new Set(["token", "tokens", "key_tokens", "what", "backend"]);
var SHOWN = /* @__PURE__ */ new Set(["overview", "grid", "facts", "everywhere", "strongest", "head"]);
var STEPPED = /* @__PURE__ */ new Set(["head"]);
var MOST = 2 ** 27;
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
function createSource(host, top3) {
  const known = /* @__PURE__ */ new Map();
  const asked2 = /* @__PURE__ */ new Map();
  const answered = async (op, args) => {
    const { json: json2, bytes } = await host.call(op, args);
    return { json: NUMERIC.has(op) ? revive(json2) : json2, bytes };
  };
  const json = (op, args) => known.get(address(op, args))?.json;
  return {
    record: (place, row) => json("trace", traceArgs(place, row, top3)),
    arrays: (place) => json("arrays", headArgs(place)),
    weights: (place, rows, keys) => json("weights", weightArgs(place, rows, keys)),
    answer: (op, args) => known.get(address(op, args)),
    ask: async (op, args) => (await answered(op, args)).json,
    call: (op, args) => host.call(op, args),
    has: (op, args) => isWhole(op, known.get(address(op, args))),
    made: maker(),
    asking: (op, args) => asked2.has(address(op, args)),
    need(op, args) {
      const name = address(op, args);
      const before2 = known.get(name);
      if (isWhole(op, before2)) return Promise.resolve();
      const begun = performance.now();
      const took = () => (before2?.took ?? 0) + (performance.now() - begun) / 1e3;
      const running = asked2.get(name) ?? answered(op, args).catch((error) => refusal(op, error)).then((answer) => keep(known, name, { ...answer, took: took() })).finally(() => asked2.delete(name));
      asked2.set(name, running);
      return running;
    }
  };
}
var isWhole = (op, answer) => answer !== void 0 && !(STEPPED.has(op) && answer.json && answer.json.done < answer.json.of);
function maker() {
  const worked = /* @__PURE__ */ new WeakMap();
  return (from, name, make) => {
    const there = worked.get(from) ?? /* @__PURE__ */ new Map();
    worked.set(from, there);
    if (!there.has(name)) there.set(name, make());
    return there.get(name);
  };
}
function refusal(op, error) {
  if (SHOWN.has(op) && error instanceof HostError && error.kind === "refused")
    return { json: null, bytes: null, refused: error.sentence };
  throw error;
}
function keep(known, name, answer) {
  known.set(name, answer);
  const sizes = [...known].map(([, { bytes }]) => bytes?.byteLength ?? 0);
  let total = sizes.reduce((sum2, size) => sum2 + size, 0);
  if (total <= MOST) return;
  for (const [old, { bytes }] of [...known]) {
    if (total <= MOST / 2 || old === name) break;
    if (!bytes || !old.startsWith("grid?")) continue;
    known.delete(old);
    total -= bytes.byteLength;
  }
}
var headArgs = ({ capture, stage, batch, head: head2 }) => ({
  capture: capture.capture,
  layer: String(stage),
  batch: String(batch),
  head: String(head2)
});
var traceArgs = (place, row, top3) => ({
  ...headArgs(place),
  row: String(row),
  top: String(top3)
});
var weightArgs = (place, rows, keys) => ({
  ...headArgs(place),
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
var inVector = (record) => record.keys.length > 6 ? 1 : 2;
function writerOf(id, record, reading) {
  const { rest, sink, scores, visible } = record;
  const seen = (row) => row.filter((_, i) => visible[i]);
  const others = (name) => [rest, sink].flatMap((part) => part ? [part[name]] : []);
  const logits = sink ? [sink.logit] : [];
  const exp = reading === "shifted" ? "shifted_exp" : "exp";
  const first = inVector(record);
  switch (id) {
    case "score":
      return evenly(record.products);
    case "scaled":
      return alike([...record.scaled, ...lastScore(record) === id ? logits : []]);
    case "capped":
      return alike([...record.capped ?? [], ...lastScore(record) === id ? logits : []]);
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
      return alike([Math.max(0, ...sizes.filter(Number.isFinite))]);
    }
    default:
      return rounded;
  }
}
function keyCell(id, record, index, reading, write2) {
  const late = ORDER.indexOf(id) >= ORDER.indexOf("visible");
  const bias = record.bias ?? [];
  if (late && !record.visible[index]) return { text: "hidden", hidden: true };
  const lost = lostIn(record, reading);
  switch (id) {
    case "score":
      return { text: write2(record.products[index]), note: terms(record, index) };
    case "scaled":
      return { text: write2(record.scaled[index]) };
    case "capped":
      return { text: write2(
        /** @type {number[]} */
        record.capped[index]
      ) };
    case "biased":
      return {
        text: write2(record.scores[index]),
        note: `+ ${bracketed(bias[index], evenly(bias))}`
      };
    case "visible":
      return { text: "yes" };
    case "shifted":
      return { text: write2(record.scores[index] - record.row_max) };
    case "exp": {
      const exp = reading === "shifted" ? record.shifted_exp[index] : record.exp[index];
      return expCell(exp, lost, write2);
    }
    case "weight":
      return lost ? { text: "—", lost: true } : weightCell(record.weights[index], write2);
    case "reads": {
      const part = record.contributions?.[index];
      return lost ? { text: "—", lost: true } : readsCell(record, part, write2);
    }
  }
}
function expCell(exp, lost, write2) {
  if (lost === "overflow" && exp === Infinity) return { text: "overflow", lost: true };
  if (lost === "underflow") return { text: "0", note: "underflow", lost: true };
  return { text: write2(exp) };
}
function weightCell(weight, write2) {
  return { text: write2(weight), weight: Number.isFinite(weight) ? weight : 0 };
}
function readsCell(record, contribution, write2) {
  return { text: contribution ? brief(contribution, inVector(record), write2) : "" };
}
function restCell(id, record, reading, write2) {
  const rest = record.rest;
  if (!rest) return { text: "" };
  if (id === "visible") {
    return { text: rest.visible === rest.count ? "yes" : `${rest.visible} may` };
  }
  if (id === "exp") {
    return { label: "sum", text: write2(reading === "shifted" ? rest.shifted_exp : rest.exp) };
  }
  if (id !== "weight" && id !== "reads") return { text: "" };
  if (lostIn(record, reading)) return { text: "—", lost: true };
  if (id === "reads") return readsCell(record, rest.contribution, write2);
  return { label: "sum", ...weightCell(rest.weight, write2) };
}
function sinkCell(id, record, reading, write2) {
  const sink = record.sink;
  if (!sink) return { text: "" };
  const lost = lostIn(record, reading);
  if (id === lastScore(record)) return { text: write2(sink.logit), note: "as given" };
  if (id === "shifted") return { text: write2(sink.logit - record.row_max) };
  if (id === "exp") return expCell(reading === "shifted" ? sink.shifted_exp : sink.exp, lost, write2);
  if (id === "weight") return lost ? { text: "—", lost: true } : { text: write2(sink.weight) };
  return { text: id === "reads" ? "no value" : "" };
}
function sumCell(id, record, reading, write2) {
  const lost = lostIn(record, reading);
  if (id === "shifted") return { label: "largest", text: rounded(record.row_max), strong: true };
  if (id === "exp") {
    if (lost) return { label: "sum", text: lost === "overflow" ? "overflow" : "0", lost: true };
    return {
      label: "sum",
      text: write2(reading === "shifted" ? record.row_sum : record.exp_sum),
      strong: true
    };
  }
  if (lost && (id === "weight" || id === "reads")) return { text: "—", lost: true };
  if (id === "weight") {
    const note = record.sink ? `+ sink ${write2(record.sink.weight)}` : void 0;
    return { label: "sum", text: write2(record.weights_sum), note, strong: true };
  }
  if (id === "reads" && record.out) return { text: vector(record.out), strong: true };
  return { text: "" };
}
function ledgerRows(record, options) {
  const columns = columnsOf(record);
  const { reading } = options;
  return stepsOf(record, reading).map((id) => {
    const [name, how] = stepName(id, record, options);
    const write2 = writerOf(id, record, reading);
    const cells2 = columns.map((column) => {
      if (column.kind === "key") return keyCell(id, record, column.index, reading, write2);
      if (column.kind === "sink") return sinkCell(id, record, reading, write2);
      if (column.kind === "sum") return sumCell(id, record, reading, write2);
      return restCell(id, record, reading, write2);
    });
    return { id, name, how, cells: cells2 };
  });
}
function rowNote(record, reading) {
  if (record.visible_count === 0) {
    return "No visible keys: this token may look at none, so it reads nothing and its output is 0.";
  }
  const largest4 = rounded(record.row_max);
  switch (lostIn(record, reading)) {
    case "overflow":
      return `exp(${largest4}) is more than a float64 can hold (about 1.8 · 10³⁰⁸), so the textbook form stops here. The shifted form first subtracts the largest score; the weights are the same.`;
    case "underflow":
      return `exp(${largest4}) is less than a float64 can hold, so every exp and their sum are 0. The shifted form first subtracts the largest score; the weights are the same.`;
    default:
      return Number.isNaN(record.lse) ? `A score here is not a finite number (${exact(record.row_max)}), so the whole row is NaN.` : null;
  }
}

// src/scene.js
var WINDOW = 8;
var editKey = ({ stage, batch, head: head2 }) => `${stage}/${batch}/${head2}`;
var opensWhole = (info) => info.source !== "lesson";
var isIn = (state, row) => opensWhole(state.info) || state.seen.includes(row);
var isSmall = ({ info }) => info.sizes.q_len <= info.limits.edit_tokens && info.sizes.kv_len <= info.limits.edit_tokens;
function sceneOf(state, source) {
  const { info } = state;
  const arrays2 = info.editable ? source.arrays(state) ?? null : null;
  const edit2 = state.edits[editKey(state)] ?? null;
  const local = (edit2 !== null || !state.scaled) && arrays2 !== null;
  const numbers = edit2 ?? (arrays2 && unedited(info, arrays2));
  const problem = local && arrays2 && numbers ? problemOf(info, arrays2, numbers, state.scaled) : null;
  const computed = /* @__PURE__ */ new Map();
  const recordOf = (row) => {
    if (!problem) return source.record(state, row) ?? null;
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
function gridOf({ state, tokens, keyTokens, small: small2, record, recordOf }, source) {
  if (small2) {
    const gridCell2 = (row, c) => {
      const at = isIn(state, row) ? recordOf(row) : null;
      return at && { weight: at.weights[c], visible: at.visible[c] };
    };
    const [gridRows2, gridKeys2] = [tokens.map((_, i) => i), keyTokens.map((_, j) => j)];
    return { gridRows: gridRows2, gridKeys: gridKeys2, gridCell: gridCell2, gridTop: 1 };
  }
  const gridRows = windowRows(state);
  const gridKeys = record?.keys ?? [];
  const found = record && source.weights(state, gridRows, gridKeys);
  const gridCell = (row, c) => {
    const r = gridRows.indexOf(row);
    return found ? { weight: found.weights[r][c], visible: found.visible[r][c] } : null;
  };
  return { gridRows, gridKeys, gridCell, gridTop: largest2(found?.weights.flat() ?? []) };
}
function largest2(weights2) {
  const top3 = Math.max(0, ...weights2.filter((weight) => Number.isFinite(weight)));
  return top3 > 0 ? top3 : 1;
}
function needsOf({ state, small: small2, tokens, record, gridRows, gridKeys }) {
  const { info } = state;
  const top3 = info.limits.ledger_keys;
  const needs = [];
  if (info.editable) needs.push(["arrays", headArgs(state)]);
  const edited = editKey(state) in state.edits;
  const rows = edited ? [] : small2 ? tokens.map((_, i) => i) : [state.row];
  for (const row of rows) needs.push(["trace", traceArgs(state, row, top3)]);
  if (!small2 && record && gridKeys.length)
    needs.push(["weights", weightArgs(state, gridRows, gridKeys)]);
  return needs;
}
var sceneSteps = ({ record, state }) => record ? stepsOf(record, state.reading) : [];
function isUnfolded(id, step4) {
  return step4 !== "none" && ORDER.indexOf(id) <= ORDER.indexOf(step4);
}
function isFinished(scene) {
  const last = sceneSteps(scene).at(-1);
  return last !== void 0 && isUnfolded(last, scene.state.step);
}
var isWhole2 = ({ small: small2, tokens, state }) => small2 && tokens.every((_, row) => isIn(state, row));
var hasLayer = ({ small: small2, state, numbers }) => small2 && numbers !== null && numbers.key.length > 0 && (numbers.query[0]?.length ?? 0) <= state.info.limits.edit_dims && (numbers.value[0]?.length ?? 0) <= state.info.limits.edit_dims && state.info.sizes.value_dim !== null;
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
  const lines = linesOf(numbers, paired).filter((line5) => line5.length);
  const same2 = (other2) => other2.side === spot.side && other2.row === spot.row && other2.col === spot.col;
  const y = lines.findIndex((line5) => line5.some(same2));
  if (y < 0) return lines[0]?.[0] ?? spot;
  const x = lines[y].findIndex(same2);
  const [dy, dx] = jump(way);
  const line4 = lines[Math.max(0, Math.min(y + dy, lines.length - 1))];
  return line4[Math.max(0, Math.min(x + dx, line4.length - 1))];
}

// src/actions.js
var FIRST = ORDER[0];
var VIEWS = ["steps", "heads", "map", "table"];
function pickQuery({ state, tokens }, row) {
  if (row < 0 || row >= tokens.length) return {};
  const known = isIn(state, row);
  const step4 = row === state.row ? state.step : known ? "reads" : "none";
  const cursor = step4 === "none" ? { ...state.cursor, step: FIRST } : state.cursor;
  return {
    row,
    step: step4,
    cursor,
    hover: null,
    editing: null,
    trouble: null,
    focus: "ledger",
    spot: { ...state.spot, side: "query", row }
  };
}
function unfoldTo(scene, step4) {
  const { state } = scene;
  const steps = sceneSteps(scene);
  const last = steps.at(-1);
  const done = last !== void 0 && step4 === last && !state.seen.includes(state.row);
  const cursor = step4 === "none" ? state.cursor : { ...state.cursor, step: step4 };
  return {
    step: step4,
    cursor,
    hover: null,
    focus: "ledger",
    ...done ? { seen: [...state.seen, state.row] } : {}
  };
}
function next(scene) {
  const { state, tokens } = scene;
  const step4 = sceneSteps(scene).find((id) => !isUnfolded(id, state.step));
  if (step4) return unfoldTo(scene, step4);
  const waiting3 = tokens.findIndex((_, row) => !isIn(state, row));
  if (scene.small && waiting3 >= 0) return pickQuery(scene, waiting3);
  if (!state.layer && isWhole2(scene) && hasLayer(scene)) return { layer: true, focus: "layer" };
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
  const step4 = steps[Math.max(0, Math.min(index + dy, steps.length - 1))];
  return {
    cursor: held({ step: step4, column: at.column + dx }, steps, columns),
    follow: false,
    hover: null,
    focus: "ledger"
  };
}
function cursorFrom(text) {
  const [step4, column] = text.split(":");
  return { step: (
    /** @type {import("./types.js").StepId} */
    step4
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
function commit(scene, typed3) {
  const { state, numbers, paired } = scene;
  const { editing } = state;
  if (!editing || !numbers) return {};
  const { spot } = editing;
  if (editing.what === "name") {
    return {
      ...changed(scene, rename(numbers, paired, spot.side, spot.row, typed3.slice(0, 200))),
      focus: "spot"
    };
  }
  const parsed = parseNumber(typed3);
  if ("sentence" in parsed)
    return { trouble: parsed.sentence, editing: { ...editing, draft: typed3 } };
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
  const step4 = isIn({ ...state, seen }, changes.row ?? 0) ? "reads" : "none";
  if (state.row !== row) return { ...changes, seen, focus: "spot" };
  const cursor = step4 === "none" ? { ...state.cursor, step: FIRST } : state.cursor;
  return { ...changes, seen, focus: "spot", step: step4, cursor };
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
  at: (_, cursor) => ({ cursor: cursorFrom(cursor), follow: false, hover: null, focus: "ledger" }),
  cell: (_, cell3) => ({
    cell: (
      /** @type {[number, number]} */
      cell3.split(":").map(Number)
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
  view: (_, to) => ({
    view: VIEWS.find((name) => name === to) ?? "steps",
    hover: null,
    point: null,
    focus: "top"
  }),
  stage: (_, stage) => ({ stage: Number(stage), editing: null, trouble: null }),
  head: (_, head2) => ({ head: Number(head2), editing: null, trouble: null }),
  batch: (_, batch) => ({ batch: Number(batch), editing: null, trouble: null })
};
function sectionFrom(state, to) {
  const by = { next: 1, back: -1 }[to];
  const section = by === void 0 ? Number(to) : state.section + by;
  return Math.max(0, Math.min(section, state.lesson.sections.length - 1));
}

// src/capture_info.js
var SMALL = 12;
var LONG = 1024;
function axesOf(capture, stage, batch) {
  const { queries, keys } = capture.layers[stage];
  const of = (list) => capture.axes[list[list.length > 1 ? batch : 0]];
  return { queries: of(queries), keys: of(keys) };
}
var isPadding = (padding, at) => padding.some(([from, upTo]) => from <= at && at < upTo);
function kindOf({ padding, prompt = null }, at) {
  if (isPadding(padding, at)) return "padding";
  return prompt !== null && at >= prompt ? "written" : "";
}
function noteOf(axis2, at) {
  const kind = kindOf(axis2, at);
  return kind && ` (${kind})`;
}
function infoOf(capture, stage, batch) {
  const layer = capture.layers[stage];
  const { queries, keys } = axesOf(capture, stage, batch);
  return {
    version: capture.version,
    modes: capture.modes,
    title: capture.title,
    source: capture.source,
    limits: capture.limits,
    batch_shape: layer.batch_shape,
    dtype: layer.dtype,
    sizes: layer.sizes,
    options: layer.options,
    editable: layer.editable,
    editable_reason: layer.editable_reason,
    tokens: queries.tokens,
    key_tokens: keys.tokens
  };
}
function isLong({ layers, modes }, stage) {
  const { q_len, kv_len } = layers[stage].sizes;
  return Math.max(q_len, kv_len) > LONG && Boolean(modes?.includes("map"));
}
function firstView(capture) {
  const { layers } = capture;
  const { heads, q_len, kv_len } = layers[0].sizes;
  if (isLong(capture, 0)) return "map";
  const many = heads > 1 && Math.max(q_len, kv_len) > SMALL;
  return layers.length > 1 || many ? "heads" : "steps";
}
function settled(before2, changes) {
  const state = { ...before2, ...changes };
  const { capture, stage, batch } = state;
  if (capture === before2.capture && stage === before2.stage && batch === before2.batch) return state;
  const info = infoOf(capture, stage, batch);
  const { heads, q_len, kv_len } = info.sizes;
  const head2 = Math.min(state.head, Math.max(0, heads - 1));
  const rows = state.edits[`${stage}/${batch}/${head2}`]?.tokens.length ?? q_len;
  const row = Math.min(state.row, Math.max(0, rows - 1));
  return {
    ...state,
    info,
    head: head2,
    row,
    key: state.key !== null && state.key < kv_len ? state.key : null,
    mark: inside(state.mark, q_len, kv_len),
    point: null,
    map: heldMap(state.map, q_len, kv_len)
  };
}
var heldMap = (map, rows, keys) => ({
  ...map,
  aim: null,
  tour: null,
  lock: inside(map.lock, rows, keys),
  marks: map.marks.filter(({ query, key }) => query < rows && key < keys)
});
var inside = (pair2, rows, keys) => pair2 && pair2[0] < rows && pair2[1] < keys ? pair2 : null;

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
function patch(parent2, wanted) {
  let elsewhere = null;
  wanted.forEach((node, i) => {
    let old = parent2.childNodes[i];
    if (old && !alike2(old, node)) {
      elsewhere ??= keyedFrom(parent2, i);
      const moved3 = elsewhere.get(keyOf(node));
      if (moved3 && alike2(moved3, node)) {
        parent2.insertBefore(moved3, old);
        old = /** @type {ChildNode} */
        moved3;
      }
    }
    elsewhere?.delete(keyOf(node));
    if (!old) parent2.appendChild(node);
    else if (!alike2(old, node)) parent2.replaceChild(node, old);
    else if (old instanceof Element && node instanceof Element) patchElement(old, node);
    else if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
  });
  while (parent2.childNodes.length > wanted.length) parent2.lastChild?.remove();
}
var keyOf = (node) => node instanceof Element && node.getAttribute("data-key") || "";
function keyedFrom(parent2, from) {
  const found = [...parent2.childNodes].slice(from).filter((node) => keyOf(node) !== "");
  return new Map(found.map((node) => [
    keyOf(node),
    /** @type {Node} */
    node
  ]));
}
function alike2(a, b) {
  if (a.nodeName !== b.nodeName) return false;
  if (!(a instanceof Element && b instanceof Element)) return true;
  return a.getAttribute("data-key") === b.getAttribute("data-key");
}
var STYLED = /* @__PURE__ */ new Set(["style"]);
var PAINTED = /* @__PURE__ */ new Set(["style", "width", "height"]);
function patchElement(old, node) {
  const as = node.getAttribute("data-as");
  if (as !== null && as === old.getAttribute("data-as")) return;
  const own2 = old instanceof HTMLCanvasElement ? PAINTED : STYLED;
  const typed3 = old.getAttribute("value") !== node.getAttribute("value");
  for (const { name } of [...old.attributes]) {
    if (!own2.has(name) && name !== "open" && !node.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...node.attributes]) {
    if (!own2.has(name) && name !== "open" && old.getAttribute(name) !== value)
      old.setAttribute(name, value);
  }
  if (old instanceof HTMLElement && node instanceof HTMLElement && own2 !== PAINTED)
    patchVars(old.style, node.style);
  patch(old, [...node.childNodes]);
  if (old instanceof HTMLInputElement) {
    if (typed3) old.value = node.getAttribute("value") ?? "";
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
  const given2 = (name, vectors) => [
    name,
    ...vectors.map((numbers) => vector(numbers, short, 3)),
    ...heads.slice(record.keys.length).map(() => "")
  ];
  const steps = rows.map((row) => [
    row.name,
    ...row.cells.map(({ label, text }) => label ? `${label} ${text}` : text)
  ]);
  if (rows.at(-1)?.id === "reads") steps.splice(-1, 0, given2("value", record.value ?? []));
  const lines = [["", ...heads], given2("key", record.key), ...steps];
  const note = rowNote(record, state.reading);
  const ends = isUnfolded("weight", state.step) ? lastLines(scene) : [];
  const title = `token ${readable(record.token)} asks with query ${vector(record.query, short)}`;
  return plain([title, "", ...aligned(lines), ...note ? ["", note] : [], ...ends].join("\n"));
}
function lastLines({ record, state }) {
  if (!record) return [];
  const seen = record.keys.map((_, i) => i).filter((i) => record.visible[i]);
  const write2 = writerOf("weight", record, state.reading);
  const parts = seen.map((i) => write2(record.weights[i]));
  if (record.rest) parts.push(write2(record.rest.weight));
  const lines = ["", `check: ${parts.join(" + ") || "0"} = ${write2(record.weights_sum)}`];
  if (record.out && isUnfolded("reads", state.step)) {
    lines.push(`output: ${vector(record.out, exact, record.out.length)}`);
  }
  return lines;
}
function aligned(lines) {
  const width = (text) => [...text].length;
  const widths2 = lines[0].map((_, c) => Math.max(...lines.map((line4) => width(line4[c] ?? ""))));
  return lines.map(
    (line4) => line4.map((text, c) => text + " ".repeat(widths2[c] - width(text) + 2)).join("").trimEnd()
  );
}
var plain = (text) => text.replaceAll("−", "-");

// src/heads_needs.js
function headOrMean({ capture, batch }, { stage, head: head2 }, average2) {
  const overLayers = average2 === "layers" || average2 === "both";
  const overHeads = average2 === "heads" || average2 === "both";
  return {
    capture: capture.capture,
    batch: String(batch),
    layer: overLayers ? "mean" : String(stage),
    head: overHeads ? "mean" : String(head2),
    ...overLayers ? { like: String(stage) } : {}
  };
}
var span = (start2, stop) => `${start2}:${stop}`;
var overviewArgs = ({ capture, batch }, stage) => ({
  capture: capture.capture,
  layer: String(stage),
  batch: String(batch)
});
var PART = 2 ** 25;
var MOST_DRAWN = 2 ** 27;
function isTooLong({ capture, inFile }, stage) {
  const { q_len, kv_len } = capture.layers[stage].sizes;
  return !inFile && q_len * kv_len > MOST_DRAWN;
}
function overviewParts(state, stage) {
  if (isTooLong(state, stage)) return [];
  const { heads, q_len, kv_len } = state.capture.layers[stage].sizes;
  const args = overviewArgs(state, stage);
  const each = Math.max(1, Math.floor(PART / Math.max(1, q_len * kv_len)));
  if (heads <= each) return [args];
  return Array.from({ length: Math.ceil(heads / each) }, (_, part) => ({
    ...args,
    heads: span(part * each, Math.min(heads, (part + 1) * each))
  }));
}
function everywhereArgs(state) {
  const { capture, stage, row } = state;
  const first = capture.layers.findIndex((_, other2) => isAlike(state, other2, stage));
  return { ...overviewArgs(state, first), query: String(row) };
}
function isAlike({ capture }, one, other2) {
  const [a, b] = [capture.layers[one], capture.layers[other2]];
  return a.queries.join() === b.queries.join() && a.keys.join() === b.keys.join();
}

// src/frame.js
var STEP = 8;
function unframed(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start2 = Math.ceil((4 + length) / STEP) * STEP;
  return { json, bytes: new Uint8Array(buffer, start2) };
}
function numbersIn(bytes, Kind, start2, count3) {
  const size = Kind.BYTES_PER_ELEMENT;
  const even = (bytes.byteOffset + start2) % size === 0;
  const from = even ? bytes : bytes.slice();
  return new Kind(
    /** @type {ArrayBuffer} */
    from.buffer,
    from.byteOffset + start2,
    count3
  );
}

// src/heat_color.js
var ANCHORS = ["#fdf6da", "#c9e08c", "#62bf8b", "#2b8f9b", "#2f619f", "#46287c", "#250b3d"];
var STEPS = 256;
var ENDS = {
  light: ANCHORS,
  dark: ["#1b1332", "#44317f", "#30659f", "#2b949b", "#57bf88", "#bcdd74", "#fdf4b4"]
};
var PLAIN2 = {
  light: {
    hidden: "#e2e3e7",
    hatch: "#c3c5cc",
    nan: "#d1293d",
    bar: "#6b6f78",
    ink: "#1c1d20",
    soft: "#5f6167",
    paper: "#ffffff",
    focus: "#e0218a"
  },
  dark: {
    hidden: "#3b3d42",
    hatch: "#54575e",
    nan: "#ff5c6c",
    bar: "#9a9da6",
    ink: "#ececec",
    soft: "#a3a5ab",
    paper: "#1d1f23",
    focus: "#ff7ac0"
  }
};
var heatColors = (theme, own2 = {}) => ({ ...PLAIN2[theme], ramp: ramp(theme), ...own2 });
function ramp(theme) {
  const anchors = ENDS[theme].map((text) => labOf(rgbOf(text)));
  const far = anchors.map((_, i) => i ? distance(anchors[i - 1], anchors[i]) : 0);
  const total = far.reduce((sum2, length) => sum2 + length, 0);
  const codes = new Uint8ClampedArray(4 * STEPS);
  let piece2 = 1;
  let before2 = 0;
  for (let code = 0; code < STEPS; code += 1) {
    const along = total * code / (STEPS - 1);
    while (piece2 < anchors.length - 1 && along > before2 + far[piece2]) {
      before2 += far[piece2];
      piece2 += 1;
    }
    const part = Math.min(1, (along - before2) / far[piece2]);
    const lab = anchors[piece2].map((x, i) => anchors[piece2 - 1][i] * (1 - part) + x * part);
    codes.set([...rgbFrom(lab), 255], 4 * code);
  }
  return codes;
}
function hexOf(codes, code) {
  const parts = [...codes.subarray(4 * code, 4 * code + 3)];
  return `#${parts.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
function codeOf(weight, { low, high }) {
  if (Number.isNaN(weight)) return -1;
  const share2 = (weight - low) / (high - low);
  return Math.round((STEPS - 1) * Math.max(0, Math.min(1, share2)));
}
function rangeOf(grid2, { first = true } = {}) {
  const [, columns] = grid2.shape;
  const skipped = first || grid2.keyAt > 0 ? -1 : firstSeen(grid2);
  let most = 0;
  let rest = 0;
  grid2.weights.forEach((weight, i) => {
    if (!grid2.visible[i] || !(weight > rest) || grid2.padded?.[Math.floor(i / columns)]) return;
    most = Math.max(most, weight);
    if (i % columns !== skipped) rest = weight;
  });
  const high = rest || most || 1;
  const shares = (grid2.sink ?? []).filter((share2, r) => !Number.isNaN(share2) && !grid2.padded?.[r]);
  const beyond = Math.max(most, ...shares);
  return { low: 0, high, over: beyond > high };
}
function firstSeen({ shape: [rows, columns], visible }) {
  for (let key = 0; key < columns; key += 1)
    for (let row = 0; row < rows; row += 1) if (visible[row * columns + key]) return key;
  return -1;
}
var rgbOf = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
var distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
function labOf(rgb) {
  const [r, g, b] = rgb.map((byte) => {
    const x = byte / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  ];
}
function rgbFrom([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  ];
  return linear.map((x) => {
    const light = Math.max(0, Math.min(1, x));
    const coded = light <= 31308e-7 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
    return Math.round(255 * coded);
  });
}

// src/heat_grid.js
var SINK = -1;
var HATCHED = 6;
var WRITTEN = 11;
var LARGEST = 28;
var SINK_GAP = 6;
var SINK_WIDTH = 12;
var EMPTY_WORDS = "no visible keys";
function cellSize(rows, columns, width) {
  const room = Math.floor(Math.min(width / columns, 1.5 * width / rows));
  return Math.max(1, Math.min(LARGEST, room));
}
var sinkWidth = (cell3) => Math.max(cell3, SINK_WIDTH);
var sinkLeft = (grid2, cell3) => grid2.shape[1] * cell3 + SINK_GAP;
var gridWidth = (grid2, cell3) => grid2.sink ? sinkLeft(grid2, cell3) + sinkWidth(cell3) : grid2.shape[1] * cell3;
var gridHeight = (grid2, cell3) => grid2.shape[0] * cell3;
function weightAt({ shape, weights: weights2, visible, rowAt, keyAt, sink }, row, key) {
  const [rows, columns] = shape;
  const [r, c] = [row - rowAt, key - keyAt];
  if (r < 0 || r >= rows) return null;
  if (key === SINK) return sink ? { weight: sink[r], visible: true } : null;
  if (c < 0 || c >= columns) return null;
  return { weight: weights2[r * columns + c], visible: visible[r * columns + c] !== 0 };
}
function cellAt(grid2, cell3, x, y) {
  const [rows, columns] = grid2.shape;
  const r = Math.floor(y / cell3);
  const c = Math.floor(x / cell3);
  if (r < 0 || r >= rows || c < 0) return null;
  if (c < columns) return { row: grid2.rowAt + r, key: grid2.keyAt + c };
  const inSink = grid2.sink && x >= sinkLeft(grid2, cell3) && x < gridWidth(grid2, cell3);
  return inSink ? { row: grid2.rowAt + r, key: SINK } : null;
}
var isEmpty = ({ shape: [, columns], visible }, r) => !visible.subarray(r * columns, (r + 1) * columns).some(Boolean);
var emptyFits = ({ shape: [, columns] }, cell3) => cell3 >= WRITTEN && columns * cell3 >= 100;
function sized(canvas, width, height, ratio) {
  const wide = Math.max(1, Math.round(width * ratio));
  const high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("canvas: must have a 2d context; got none.");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, wide, high);
  return pen;
}
var screenRatio = () => globalThis.devicePixelRatio || 1;
function pixels(rows, columns, colors, codeAt) {
  const canvas = (
    /** @type {HTMLCanvasElement} */
    h("canvas", { width: columns, height: rows })
  );
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("canvas: must have a 2d context; got none.");
  const image = pen.createImageData(columns, rows);
  const words2 = new Uint32Array(image.data.buffer);
  const { buffer, byteOffset } = colors.ramp;
  const codes = new Uint32Array(buffer, byteOffset, 256);
  for (let i = 0; i < words2.length; i += 1) {
    const code = codeAt(i);
    if (code >= 0) words2[i] = codes[code];
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}
function hiddenFill(pen, colors, striped, ratio) {
  if (!striped) return colors.hidden;
  const size = Math.round(6 * ratio);
  const tile = (
    /** @type {HTMLCanvasElement} */
    h("canvas", { width: size, height: size })
  );
  const brush = tile.getContext("2d");
  if (!brush) return colors.hidden;
  brush.fillStyle = colors.hidden;
  brush.fillRect(0, 0, size, size);
  brush.strokeStyle = colors.hatch;
  brush.lineWidth = 1.25 * ratio;
  for (const shift of [-size, 0, size]) {
    brush.moveTo(shift - size, 2 * size);
    brush.lineTo(shift + 2 * size, -size);
  }
  brush.stroke();
  return pen.createPattern(tile, "repeat") ?? colors.hidden;
}
function paintGrid(canvas, grid2, { cell: cell3, range: range3, colors, ratio = screenRatio() }) {
  const [rows, columns] = grid2.shape;
  const pen = sized(canvas, gridWidth(grid2, cell3), gridHeight(grid2, cell3), ratio);
  const wide = Math.round(columns * cell3 * ratio);
  const high = Math.round(rows * cell3 * ratio);
  pen.fillStyle = hiddenFill(pen, colors, cell3 >= HATCHED, ratio);
  pen.fillRect(0, 0, wide, high);
  const { weights: weights2, visible, sink } = grid2;
  const codeAt = (i) => visible[i] ? codeOf(weights2[i], range3) : -1;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(pixels(rows, columns, colors, codeAt), 0, 0, wide, high);
  if (sink) {
    const shares = pixels(rows, 1, colors, (r) => codeOf(sink[r], range3));
    const left3 = Math.round(sinkLeft(grid2, cell3) * ratio);
    pen.drawImage(shares, left3, 0, Math.round(sinkWidth(cell3) * ratio), high);
  }
  for (let r = 0; r < rows; r += 1) {
    if (isEmpty(grid2, r)) paintEmpty(pen, grid2, r, cell3, colors, ratio);
    else if (hasNaN(grid2, r)) paintNaNs(pen, grid2, r, cell3, colors, ratio);
  }
  fade(pen, grid2.padded, cell3 * ratio, colors);
}
var FADED = 0.7;
function fade(pen, padded, high, colors) {
  pen.fillStyle = colors.paper;
  pen.globalAlpha = FADED;
  padded?.forEach((isPadded, r) => {
    const top3 = Math.round(r * high);
    if (isPadded) pen.fillRect(0, top3, pen.canvas.width, Math.round((r + 1) * high) - top3);
  });
  pen.globalAlpha = 1;
}
function hasNaN({ shape: [, columns], weights: weights2, visible, sink }, r) {
  if (sink && Number.isNaN(sink[r])) return true;
  for (let i = r * columns; i < (r + 1) * columns; i += 1)
    if (visible[i] && Number.isNaN(weights2[i])) return true;
  return false;
}
function paintEmpty(pen, grid2, r, cell3, colors, ratio) {
  const top3 = Math.round(r * cell3 * ratio);
  const high = Math.max(1, Math.round((r + 1) * cell3 * ratio) - top3);
  const wide = Math.round(grid2.shape[1] * cell3 * ratio);
  pen.fillStyle = colors.hidden;
  pen.fillRect(0, top3, wide, high);
  pen.fillStyle = colors.soft;
  if (!emptyFits(grid2, cell3)) {
    const line4 = Math.min(Math.max(1, Math.floor(ratio)), Math.floor(high / 3));
    pen.fillRect(0, top3 + Math.floor((high - line4) / 2), wide, line4);
    return;
  }
  pen.font = `${11 * ratio}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  pen.fillText(EMPTY_WORDS, 6 * ratio, top3 + high / 2 + ratio / 2);
}
function paintNaNs(pen, grid2, r, cell3, colors, ratio) {
  const columns = grid2.shape[1];
  const top3 = Math.round(r * cell3 * ratio);
  const high = Math.round((r + 1) * cell3 * ratio) - top3;
  const crosses = (from, to) => {
    const [left3, right] = [Math.round(from * ratio), Math.round(to * ratio)];
    pen.fillStyle = colors.nan;
    pen.fillRect(left3, top3, right - left3, high);
    if (cell3 < HATCHED) return;
    pen.strokeStyle = colors.paper;
    pen.lineWidth = ratio;
    pen.beginPath();
    pen.moveTo(left3 + ratio, top3 + ratio);
    pen.lineTo(right - ratio, top3 + high - ratio);
    pen.moveTo(right - ratio, top3 + ratio);
    pen.lineTo(left3 + ratio, top3 + high - ratio);
    pen.stroke();
  };
  for (let c = 0; c < columns; c += 1) {
    const i = r * columns + c;
    if (grid2.visible[i] && Number.isNaN(grid2.weights[i])) crosses(c * cell3, (c + 1) * cell3);
  }
  if (grid2.sink && Number.isNaN(grid2.sink[r])) crosses(sinkLeft(grid2, cell3), gridWidth(grid2, cell3));
}
function paintOverlay(canvas, grid2, options) {
  const { cell: cell3, row, key, hoverRow, hoverKey, colors, ratio = screenRatio() } = options;
  const pen = sized(canvas, gridWidth(grid2, cell3), gridHeight(grid2, cell3), ratio);
  const thin = (
    /** @type {const} */
    [colors.ink, 1]
  );
  const thick = (
    /** @type {const} */
    [colors.focus, 2]
  );
  const frames = [
    { frame: rowFrame(grid2, cell3, hoverRow), line: thin },
    { frame: keyFrame(grid2, cell3, hoverKey), line: thin },
    { frame: rowFrame(grid2, cell3, row), line: thick },
    { frame: keyFrame(grid2, cell3, key), line: thick }
  ];
  for (const halo of [true, false])
    for (const { frame: frame2, line: line4 } of frames) {
      const [color, width] = line4;
      if (frame2 && halo) strokeFrame(pen, frame2, colors.paper, width + 2, ratio);
      else if (frame2) strokeFrame(pen, frame2, color, width, ratio);
    }
}
function rowFrame(grid2, cell3, row) {
  const r = row === null || row === void 0 ? -1 : row - grid2.rowAt;
  if (r < 0 || r >= grid2.shape[0]) return null;
  return [0, r * cell3, gridWidth(grid2, cell3), cell3];
}
function keyFrame(grid2, cell3, key) {
  if (key === null || key === void 0) return null;
  if (key === SINK)
    return grid2.sink && [sinkLeft(grid2, cell3), 0, sinkWidth(cell3), gridHeight(grid2, cell3)];
  const c = key - grid2.keyAt;
  if (c < 0 || c >= grid2.shape[1]) return null;
  return [c * cell3, 0, cell3, gridHeight(grid2, cell3)];
}
function strokeFrame(pen, [left3, top3, wide, high], color, width, ratio) {
  const out = Math.min(wide, high) < 11 ? 1 : 0;
  const x0 = Math.max(1, Math.round((left3 - out) * ratio));
  const y0 = Math.max(1, Math.round((top3 - out) * ratio));
  const x1 = Math.min(pen.canvas.width - 1, Math.round((left3 + wide + out) * ratio));
  const y1 = Math.min(pen.canvas.height - 1, Math.round((top3 + high + out) * ratio));
  pen.strokeStyle = color;
  pen.lineWidth = width * ratio;
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
}
function paintThumbnail(canvas, values, rows, columns, options) {
  const { markRow = null, padded = null, colors, range: range3, ratio = screenRatio() } = options;
  const { cell: cell3 = Math.max(1, Math.floor(96 / Math.max(rows, columns))) } = options;
  const pen = sized(canvas, columns * cell3, rows * cell3, ratio);
  const { width, height } = canvas;
  pen.fillStyle = colors.hidden;
  pen.fillRect(0, 0, width, height);
  pen.imageSmoothingEnabled = false;
  const codeAt = (i) => values[i] < 0 ? -1 : codeOf(values[i], range3);
  pen.drawImage(pixels(rows, columns, colors, codeAt), 0, 0, width, height);
  pen.fillStyle = colors.nan;
  values.forEach((value, i) => {
    if (!Number.isNaN(value)) return;
    const size = cell3 * ratio;
    pen.fillRect(i % columns * size, Math.floor(i / columns) * size, size, size);
  });
  fade(pen, padded, cell3 * ratio, colors);
  if (markRow === null || markRow < 0 || markRow >= rows) return;
  const frame2 = (
    /** @type {Frame} */
    [0, markRow * cell3, columns * cell3, cell3]
  );
  strokeFrame(pen, frame2, colors.paper, 3, ratio);
  strokeFrame(pen, frame2, colors.focus, 1.5, ratio);
}

// src/heads_grid.js
var MOST_FACTS = 2 ** 27;
var WHOLE = 1024;
var WINDOW2 = 512;
var isWindowed = ({ info }) => info.sizes.q_len > WHOLE || info.sizes.kv_len > WHOLE || info.sizes.q_len * info.sizes.kv_len > info.limits.grid_cells;
function partOf(state) {
  const { q_len, kv_len } = state.info.sizes;
  if (!isWindowed(state)) return { rows: [0, q_len], keys: [0, kv_len] };
  const part = (start2, length) => {
    const from = Math.max(0, Math.min(start2, length - WINDOW2));
    return (
      /** @type {[number, number]} */
      [from, Math.min(length, from + WINDOW2)]
    );
  };
  return { rows: part(state.corner[0], q_len), keys: part(state.corner[1], kv_len) };
}
var hasFacts = ({ info }) => info.sizes.q_len * info.sizes.kv_len <= MOST_FACTS;
var byWords = (state) => state.words && !isWindowed(state);
function headView(state, source, at, average2) {
  const place = headOrMean(state, at, average2);
  const { rows, keys } = partOf(state);
  const part = isWindowed(state) ? { rows: span(...rows), keys: span(...keys) } : {};
  const words2 = byWords(state);
  const asked2 = { ...place, ...part, ...words2 ? { words: "1" } : {} };
  const answer = source.answer("grid", asked2);
  const told2 = source.answer("facts", place);
  const facts2 = told2 && !told2.refused ? (
    /** @type {Facts} */
    told2.json
  ) : null;
  const grid2 = answer?.bytes ? decoded(state, source, answer) : null;
  return {
    at,
    average: average2,
    grid: grid2,
    what: answer?.json?.what ?? "",
    rule: answer?.json?.rule ?? null,
    refused: answer?.refused ?? "",
    facts: facts2,
    rowWords: answer?.json?.row_words ?? null,
    keyWords: answer?.json?.key_words ?? null,
    range: grid2 ? source.made(grid2, `range ${state.first}`, () => rangeOf(grid2, { first: state.first })) : { low: 0, high: 1 },
    needs: hasFacts(state) ? [
      ["grid", asked2],
      ["facts", place]
    ] : [["grid", asked2]]
  };
}
function decoded({ info, capture, stage, batch }, source, answer) {
  const { json, bytes } = answer;
  const [rows, columns] = json.shape;
  return source.made(answer, "grid", () => {
    const count3 = rows * columns;
    const part = (tokens, [a, b]) => b - a === tokens.length ? tokens : tokens.slice(a, b);
    return {
      shape: (
        /** @type {[number, number]} */
        [rows, columns]
      ),
      weights: numbersIn(
        /** @type {Uint8Array} */
        bytes,
        Float64Array,
        0,
        count3
      ),
      visible: numbersIn(
        /** @type {Uint8Array} */
        bytes,
        Uint8Array,
        8 * count3,
        count3
      ),
      rowTokens: json.row_labels ?? part(info.tokens, json.rows),
      keyTokens: json.key_labels ?? part(info.key_tokens, json.keys),
      rowAt: json.row_labels ? 0 : json.rows[0],
      keyAt: json.key_labels ? 0 : json.keys[0],
      sink: revive(json.sink),
      padded: paddedRows(axesOf(capture, stage, batch).queries.padding, json)
    };
  });
}
function paddedRows(padding, { shape, rows, row_words: words2 }) {
  if (!padding.length) return null;
  const filler = (token2) => isPadding(padding, token2);
  return Array.from({ length: shape[0] }, (_, r) => (words2?.[r] ?? [rows[0] + r]).every(filler));
}
function lineOf(state, source, view, line4) {
  const part = "row" in line4 ? { rows: span(line4.row, line4.row + 1) } : { keys: span(line4.key, line4.key + 1) };
  const args = { ...headOrMean(state, view.at, view.average), ...part };
  const answer = source.answer("grid", args);
  const grid2 = answer?.bytes ? decoded(state, source, answer) : null;
  return { args, grid: grid2, refused: answer?.refused ?? "" };
}
function placeOfToken(words2, token2) {
  if (token2 === null || token2 === SINK || !words2) return token2;
  const found = words2.findIndex((some) => some.includes(token2));
  return found < 0 ? null : found;
}
var tokenOfPlace = (words2, place) => place === SINK || !words2 ? place : words2[place]?.[0] ?? 0;
function rangeIn({ first, second }) {
  const one = first?.range ?? { low: 0, high: 1 };
  const other2 = second?.grid ? second.range : one;
  const high = Math.max(one.high, other2.high);
  return { low: 0, high, over: [one, other2].some((range3) => range3.over || false) };
}

// src/color.js
var COLORS = 8;
var rampClass = (weight) => `filled${weight > 0.58 ? " deep" : weight > 0.52 ? " middle" : ""}`;
var colorClass = (index) => `c${index % COLORS}`;

// src/chip.js
var LONGEST = 18;
function shortName(token2) {
  const characters = [...readable(token2)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : characters.join("");
}
function needsPosition(tokens, index) {
  const token2 = tokens[index];
  if (token2 === String(index)) return false;
  return tokens.indexOf(token2) !== tokens.lastIndexOf(token2);
}
function tokenName(tokens, index) {
  const text = shortName(tokens[index]);
  return needsPosition(tokens, index) ? `${text} @${index}` : text;
}
var chipBreadth = (tokens, index) => breadth(tokenName(tokens, index));
function chip(tokens, index, props = {}) {
  const kind = tokens.length > COLORS && index >= COLORS ? "later" : "";
  const parts = [h("bdi", {}, shortName(tokens[index]))];
  if (needsPosition(tokens, index)) parts.push(h("small", {}, `@${index}`));
  const tag = props["data-act"] ? "button" : "span";
  const type = tag === "button" ? "button" : null;
  return h(
    tag,
    { type, class: `chip ${colorClass(index)} ${kind}`, title: readable(tokens[index]), ...props },
    parts
  );
}

// src/reads.js
var MOST2 = 12;
var SO_FAR = "the share of all that is read here, by this line and those above it";
function readsFrom({ shape: [rows, columns], weights: weights2, visible, rowAt, keyAt, sink }, row) {
  const r = row - rowAt;
  if (r < 0 || r >= rows) return [];
  const entries = [];
  for (let c = 0; c < columns; c += 1) {
    const i = r * columns + c;
    if (visible[i]) entries.push({ index: keyAt + c, weight: weights2[i] });
  }
  if (sink && sink[r] !== 0) entries.push({ index: SINK, weight: sink[r] });
  return shared(entries);
}
function readBy(grid2, key) {
  const { weights: weights2, visible, rowAt, keyAt, padded } = grid2;
  const [rows, columns] = grid2.shape;
  const c = key - keyAt;
  if (c < 0 || c >= columns) return [];
  const entries = [];
  for (let r = 0; r < rows; r += 1) {
    const i = r * columns + c;
    if (visible[i] && !padded?.[r]) entries.push({ index: rowAt + r, weight: weights2[i] });
  }
  return shared(entries);
}
function shared(entries) {
  const place = (index) => index === SINK ? Infinity : index;
  const sorted2 = [...entries].sort((a, b) => {
    const [noA, noB] = [Number.isNaN(a.weight), Number.isNaN(b.weight)];
    if (noA !== noB) return noA ? 1 : -1;
    if (!noA && a.weight !== b.weight) return b.weight - a.weight;
    return place(a.index) < place(b.index) ? -1 : 1;
  });
  const total = sorted2.reduce((sum3, { weight }) => sum3 + (Number.isNaN(weight) ? 0 : weight), 0);
  let sum2 = 0;
  return sorted2.map(({ index, weight }) => {
    sum2 += weight;
    if (Number.isNaN(sum2)) return { index, weight, share: NaN };
    if (total === 0) return { index, weight, share: 0 };
    return { index, weight, share: sum2 / total };
  });
}
function restWords(entries, most) {
  const rest = entries.slice(most);
  if (!rest.length) return "";
  const together = rest.reduce((sum2, { weight }) => sum2 + weight, 0);
  return `and ${rest.length} more, together ${rounded(together)}`;
}
function readsList(title, entries, tokens, options = {}) {
  const { most = MOST2, act = null, name = act ?? "list", none = EMPTY_WORDS } = options;
  const id = `reads-${name}`;
  const rest = restWords(entries, most);
  return h(
    "section",
    { class: "reads-part", "data-key": id, "aria-labelledby": id },
    h("h2", { id }, title),
    entries.length ? table(id, entries.slice(0, most), tokens, act) : h("p", { class: "quiet" }, none),
    rest && h("p", { class: "reads-rest" }, rest)
  );
}
function table(id, entries, tokens, act) {
  const head2 = ["token", "weight", "so far"].map(
    (word2) => h("th", { scope: "col", title: word2 === "so far" ? SO_FAR : null }, word2)
  );
  return h(
    "table",
    { class: "reads", "aria-labelledby": id },
    h("thead", {}, h("tr", {}, head2)),
    h(
      "tbody",
      {},
      entries.map((entry, i) => line(entry, tokens, act, i))
    )
  );
}
function line({ index, weight, share: share2 }, tokens, act, at) {
  const bar = Number.isFinite(weight) ? Math.max(0, Math.min(1, weight)) : 0;
  return h(
    "tr",
    { "data-key": String(index) },
    h("th", { scope: "row" }, nameOf(index, tokens, act, at)),
    h(
      "td",
      { class: "weight", vars: { "--w": String(bar) }, title: String(weight) },
      rounded(weight)
    ),
    h("td", { class: "so-far" }, rounded(share2))
  );
}
function nameOf(index, tokens, act, at) {
  if (index === SINK) return h("span", { class: "sink" }, "sink");
  if (!act) return chip(tokens, index);
  return chip(tokens, index, {
    "data-act": act,
    "data-arg": index,
    tabindex: at === 0 ? 0 : -1,
    "aria-label": `pick ${tokenName(tokens, index)}`
  });
}

// src/heads_scene.js
function headsScene(state, source) {
  const { capture, stage, batch, head: head2 } = state;
  const { queries, keys } = axesOf(capture, stage, batch);
  const first = state.open ? headView(state, source, { stage, head: head2 }, state.average) : null;
  const beside = first && comparable(state) ? state.compare : null;
  const second = beside && headView(state, source, beside, "none");
  const everywhere2 = state.picked ? source.answer("everywhere", everywhereArgs(state)) : void 0;
  return {
    state,
    queries,
    keys,
    windowed: isWindowed(state),
    words: byWords(state),
    hasWords: queries.words !== null && keys.words !== null && !isWindowed(state),
    overview: (layer) => overviewOf(state, source, layer),
    overviewRefused: (layer) => overviewRefused(state, source, layer),
    everywhere: (at) => everywhere2?.json?.layers.find((one) => one.layer === at.stage)?.heads[at.head] ?? null,
    first,
    second,
    ...pairsOf(state, first),
    lines: linesOf2(state, source, first),
    ledger: hasLedger(state) ? ledgerScene(state, source) : null
  };
}
var hasLedger = ({ open: open4, picked: picked2, average: average2 }) => open4 && picked2 && average2 === "none";
function ledgerScene(state, source) {
  const scene = sceneOf({ ...state, step: "reads", edits: {}, scaled: true }, source);
  const column = state.follow ? scene.record?.keys.indexOf(state.key ?? -1) ?? -1 : -1;
  if (column < 0) return scene;
  return { ...scene, state: { ...scene.state, cursor: { ...state.cursor, column } } };
}
var comparable = (state) => state.compare !== null && isAlike(state, state.stage, state.compare.stage);
function overviewOf(state, source, stage) {
  const parts = [];
  for (const args of overviewParts(state, stage)) {
    const answer = source.answer("overview", args);
    if (!answer?.bytes) break;
    parts.push(answer);
  }
  const last = parts.at(-1);
  if (!last) return null;
  return source.made(last, "pictures", () => ({
    ...last.json,
    heads: parts.flatMap(({ json }) => json.heads),
    pictures: parts.flatMap(picturesOf)
  }));
}
function picturesOf({ json: { rows, columns, heads }, bytes }) {
  const cells2 = rows * columns;
  return heads.map(
    (_, i) => numbersIn(
      /** @type {Uint8Array} */
      bytes,
      Float32Array,
      4 * i * cells2,
      cells2
    )
  );
}
function overviewRefused(state, source, stage) {
  const answers = overviewParts(state, stage).map((args) => source.answer("overview", args));
  return answers.find((answer) => answer?.refused)?.refused ?? "";
}
function pairsOf({ picked: picked2, row, key, mark: mark3, point }, view) {
  if (!view?.grid) return { picked: null, at: null };
  const { rowWords: rowWords2, keyWords } = view;
  const placed2 = ([r, k]) => {
    const [a, b] = [placeOfToken(rowWords2, r), placeOfToken(keyWords, k)];
    return a === null || b === null ? null : (
      /** @type {Pair} */
      [a, b]
    );
  };
  const shown = point ?? mark3;
  return {
    picked: picked2 ? placed2([row, key ?? -1]) : null,
    at: shown && placed2(shown)
  };
}
function linesOf2(state, source, view) {
  if (!view?.grid || !state.picked) return { from: null, by: null, note: "" };
  const { grid: grid2 } = view;
  const row = placeOfToken(view.rowWords, state.row) ?? 0;
  const key = placeOfToken(view.keyWords, state.key);
  const line4 = isWindowed(state) ? lineOf(state, source, view, { row: state.row }) : null;
  const across = line4 ? line4.grid : grid2;
  const from = across && source.made(across, `from ${row}`, () => readsFrom(across, row));
  if (key === null) return { from, by: null, note: "" };
  const column = isWindowed(state) ? lineOf(state, source, view, { key }) : null;
  const down = column ? column.grid ?? (column.refused ? grid2 : null) : grid2;
  const by = down && source.made(down, `by ${key}`, () => readBy(down, key));
  return { from, by, note: column?.refused ? "Among the rows shown." : "" };
}
function headNeeds({ state, first, second }, source) {
  const needs = [...first?.needs ?? [], ...second?.needs ?? []];
  if (state.picked) needs.push(["everywhere", everywhereArgs(state)]);
  if (hasLedger(state))
    needs.push(["trace", traceArgs(state, state.row, state.info.limits.ledger_keys)]);
  if (first && state.picked && isWindowed(state)) {
    needs.push(["grid", lineOf(state, source, first, { row: state.row }).args]);
    if (state.key !== null)
      needs.push(["grid", lineOf(state, source, first, { key: state.key }).args]);
  }
  const parts = state.capture.layers.flatMap(
    (_, stage) => overviewRefused(state, source, stage) ? [] : overviewParts(state, stage)
  );
  const next2 = parts.find((args) => !source.has("overview", args));
  if (next2) needs.push(["overview", next2]);
  return needs;
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
var HEAD_KEYS = [
  [["←", "→", "↑", "↓"], "among thumbnails, in the grid, in the text, in the ledger"],
  [["Enter"], "open a thumbnail; pick the query and key under the cursor of the grid"],
  [["Shift + Enter"], "compare a thumbnail with the opened head"],
  [[",", "."], "the query before, the query after"],
  [["W"], "words instead of tokens"],
  [["F"], "colours with or without the first key"],
  [["R"], "textbook or shifted reading of softmax"],
  [["G"], "to the grid of the opened head"],
  [["S"], "to the steps of the picked row, below"],
  [["Escape"], "back to the thumbnails"],
  [["V"], "heads or steps"],
  [["M"], "the map of the opened head"],
  [["C"], "copy the ledger as text"],
  [["L"], "copy a link to this place"]
];
var MAP_KEYS = [
  [["←", "→", "↑", "↓"], "move; with Shift by one token"],
  [["+", "−", "0"], "nearer, farther, the whole head (also the wheel; a double click: nearer)"],
  [["L"], "hold the read-out, or let it go (also a click)"],
  [["Enter"], "pick the query and key of the read-out: lists and steps"],
  [["G"], "go to a query and a key: positions, or tokens"],
  [["S"], "fly to the strongest link in view, and hold it; again: to the next"],
  [["M"], "strongest weight or share"],
  [["B"], "keep this place as a bookmark"],
  [[",", "."], "the query before, the query after"],
  [["T"], "to the steps of the picked row, below"],
  [["Escape"], "close, let go, pick none"],
  [["V"], "the view of heads"],
  [["C"], "copy the held pair as a line of a table"],
  [["K"], "copy a link to this place"]
];
var TABLE_KEYS = [
  [["↑", "↓"], "among the rows (Home, End: first and last)"],
  [["Enter"], "open the head of the row; on a heading: sort by it, again: the other way round"],
  [["P"], "hold, or go on working out heads"],
  [["V"], "the view of heads"],
  [["C"], "copy the table as text"],
  [["L"], "copy a link to this place"]
];
var WORDS = [
  [
    "entropy",
    "of a row: 0 where one key gets all weight; log of the number of keys where all get the same. In nats"
  ],
  [
    "first-token share",
    "the weight that the first token gets, as a mean over the queries that see two keys or more"
  ],
  [
    "token-before share",
    "the weight that a query gives to the token just before it, as a mean over the queries that see it and another key: the previous-token score"
  ],
  [
    "mean distance",
    "how many tokens away the keys stand that a query reads, each by its weight; a mean over the queries that see a key"
  ],
  [
    "special, punctuation, spaces, words",
    "the weight of all keys of that kind together, as a mean over the queries that see two keys or more; special: what a tokenizer puts around a text, and padding. The first token counts apart"
  ],
  ["received", "what a key gets from all queries together"],
  [
    "strongest, share",
    "what a cell of a map shows: its largest single weight; or what its queries read there, summed over its keys and averaged over its queries, so that a row of shares adds up to 1"
  ],
  [
    "sink",
    "a share that a learned sink takes: no key reads it. Only models that learned sinks have it"
  ],
  ["so far", "in a list: the share of all that is read, by this line and those above it"],
  [
    "textbook, shifted",
    "softmax as it is written; and as programs compute it, with the row's largest score subtracted first. The weights are the same"
  ],
  [
    "colours of tokens",
    "only names: they tell one token from another, here and in the ledger, and measure nothing"
  ]
];
var MEANINGS = WORDS.slice(0, 3).map(([word2, text]) => `${word2}: ${text}.`).join("\n");
var keysOf = (keys) => keys.flatMap((key, i) => key === "…" ? [" … "] : [i ? " " : "", h("kbd", {}, key)]);
function helpDialog() {
  const rows = (list) => list.map(
    ([keys, text]) => h("tr", {}, h("th", { scope: "row" }, keysOf(keys)), h("td", {}, text))
  );
  const meanings = WORDS.map(
    ([word2, text]) => h("tr", {}, h("th", { scope: "row" }, word2), h("td", {}, text))
  );
  const part = (view, title, list) => h(
    "section",
    { "data-view": view },
    h("h2", {}, title),
    h("table", {}, h("tbody", {}, rows(list)))
  );
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title", tabindex: -1 }, "Keys"),
    h(
      "div",
      { class: "views" },
      part("steps", "In the view of steps", KEYS),
      part("heads", "In the view of heads", HEAD_KEYS),
      part("map", "In the view of the map", MAP_KEYS),
      part("table", "In the table of all heads", TABLE_KEYS)
    ),
    h("h2", {}, "Words"),
    h("table", {}, h("tbody", {}, meanings)),
    h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close"))
  );
  return (
    /** @type {HTMLDialogElement} */
    dialog
  );
}
function openHelp(dialog, view) {
  const parts = dialog.querySelector(".views");
  const all = [...parts?.children ?? []];
  const order = ["steps", "heads", "map", "table"];
  const place = (part) => {
    const name = part.getAttribute("data-view") ?? "";
    return name === view ? -1 : order.indexOf(name);
  };
  parts?.append(...all.sort((a, b) => place(a) - place(b)));
  dialog.showModal();
  dialog.querySelector("h2")?.focus();
  dialog.scrollTop = 0;
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
function headsFooter() {
  const pairs = (
    /** @type {[string[], string][]} */
    [
      [["←", "→", "↑", "↓"], "move"],
      [["Enter"], "open, pick"],
      [[",", "."], "query"],
      [["G"], "grid"],
      [["S"], "steps of the row"],
      [["W"], "words"],
      [["F"], "colours"],
      [["Escape"], "thumbnails"],
      [["?"], "all keys"]
    ]
  );
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`))
  );
}
function mapFooter() {
  const pairs = (
    /** @type {[string[], string][]} */
    [
      [["←", "→", "↑", "↓"], "move"],
      [["+", "−", "0"], "near, far, whole"],
      [["L"], "hold"],
      [["Enter"], "pick"],
      [["G"], "go to"],
      [["S"], "strongest in view"],
      [["M"], "strongest or share"],
      [["B"], "bookmark"],
      [["?"], "all keys"]
    ]
  );
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`))
  );
}
function tableFooter() {
  const pairs = (
    /** @type {[string[], string][]} */
    [
      [["↑", "↓"], "row"],
      [["Enter"], "open; sort, on a heading"],
      [["P"], "hold, go on"],
      [["V"], "heads"],
      [["?"], "all keys"]
    ]
  );
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`))
  );
}
function footer(queries, lesson) {
  const pairs = (
    /** @type {[string[], string][]} */
    [
      [["Space"], "next step"],
      [["Backspace"], "back"],
      [["←", "→"], "key"],
      [["↑", "↓"], "step"],
      [queries > 1 ? ["1", "…", String(Math.min(9, queries))] : ["1"], "query"],
      [["E"], "change numbers"],
      ...lesson ? [[["X"], "exercise"]] : [],
      [["?"], "all keys"]
    ]
  );
  return h(
    "footer",
    {},
    pairs.map(([keys, text]) => h("span", {}, keysOf(keys), ` ${text}`))
  );
}

// src/map_camera.js
var NEAREST = -6;
var NATIVE = -4.5;
var SLACK = 1e-9;
var within = (x, low, high) => Math.max(low, Math.min(x, high));
function worldCamera({ rows, keys }, { width, height }) {
  const per = Math.max(keys / width, rows / height);
  return { x: keys / 2, y: rows / 2, z: Math.max(NEAREST, Math.log2(Math.max(per, 2 ** NEAREST))) };
}
function heldCamera({ x, y, z }, size, box) {
  return {
    x: within(x, 0, size.keys),
    y: within(y, 0, size.rows),
    z: within(z, NEAREST, worldCamera(size, box).z)
  };
}
function edgesOf({ x, y, z }, { width, height }) {
  const per = 2 ** z;
  const [left3, top3] = [x - width * per / 2, y - height * per / 2];
  return { per, left: left3, top: top3, right: left3 + width * per, bottom: top3 + height * per };
}
function zoomedAt(camera, by, [px, py], size, box) {
  const world = worldCamera(size, box);
  const z = Math.max(NEAREST, camera.z + by);
  if (z >= world.z) return world;
  const change = 2 ** camera.z - 2 ** z;
  const x = camera.x + (px - box.width / 2) * change;
  const y = camera.y + (py - box.height / 2) * change;
  return heldCamera({ x, y, z }, size, box);
}
var panned = ({ x, y, z }, dx, dy, size, box) => heldCamera({ x: x + dx * 2 ** z, y: y + dy * 2 ** z, z }, size, box);
var levelAt = (z, ratio, top3) => within(Math.ceil(z - Math.log2(ratio) - SLACK), 0, top3);
function pairUnder(camera, box, size, [px, py]) {
  const { left: left3, top: top3, per } = edgesOf(camera, box);
  const [query, key] = [Math.floor(top3 + py * per), Math.floor(left3 + px * per)];
  const inside3 = query >= 0 && key >= 0 && query < size.rows && key < size.keys;
  return inside3 ? [query, key] : null;
}
var centreOf = ({ x, y }, size) => [
  within(Math.floor(y), 0, size.rows - 1),
  within(Math.floor(x), 0, size.keys - 1)
];
function cellAround([query, key], level, { rows, keys }) {
  const p = 2 ** level;
  const span3 = (at, length) => {
    const start2 = Math.floor(at / p) * p;
    return (
      /** @type {Span} */
      [start2, Math.min(length, start2 + p)]
    );
  };
  return { level, rows: span3(query, rows), keys: span3(key, keys) };
}
function regionOf(camera, box, size) {
  const { left: left3, top: top3, right, bottom } = edgesOf(camera, box);
  const span3 = (from, to, n) => (
    /** @type {Span} */
    [within(Math.floor(from), 0, n), within(Math.ceil(to), 0, n)]
  );
  const [rows, keys] = [span3(top3, bottom, size.rows), span3(left3, right, size.keys)];
  return rows[1] > rows[0] && keys[1] > keys[0] ? { rows, keys } : null;
}
function tilesIn(camera, box, size, level, tile) {
  const region = regionOf(camera, box, size);
  if (!region) return [];
  const side = tile * 2 ** level;
  const found = [];
  for (let i = Math.floor(region.rows[0] / side); i * side < region.rows[1]; i += 1)
    for (let j = Math.floor(region.keys[0] / side); j * side < region.keys[1]; j += 1)
      found.push({ level, i, j });
  const far = ({ i, j }) => Math.hypot((i + 0.5) * side - camera.y, (j + 0.5) * side - camera.x);
  return found.sort((a, b) => far(a) - far(b));
}
function between(from, to, share2) {
  const z = from.z + (to.z - from.z) * share2;
  const [a, b, now] = [2 ** from.z, 2 ** to.z, 2 ** z];
  const left3 = Math.abs(a - b) < SLACK ? 1 - share2 : (now - b) / (a - b);
  return { x: to.x + (from.x - to.x) * left3, y: to.y + (from.y - to.y) * left3, z };
}

// src/map_actions.js
var STEP2 = 1 / 6;
var WHOLE2 = { x: 0, y: 0, z: null };
var MOST_MARKS = 60;
var changed2 = ({ state }, changes) => ({ map: { ...state.map, ...changes } });
function pan({ camera, size, layout }, way) {
  const [dy, dx] = jump(way);
  const { box } = layout;
  const by = STEP2 * Math.min(box.width, box.height);
  const far = (d, length) => Number.isFinite(d) ? d * by : Math.sign(d) * length;
  const moved3 = panned(camera, far(dx, box.width), far(dy, box.height), size, box);
  return { ...moved3, aim: centreOf(moved3, size) };
}
function step({ camera, size, state, layout }, way) {
  const [dy, dx] = jump(way).map((d) => Number.isFinite(d) ? d : 0);
  const { lock } = state.map;
  const from = lock ?? centreOf(camera, size);
  const to = (
    /** @type {import("./types.js").Pair} */
    [
      Math.max(0, Math.min(from[0] + dy, size.rows - 1)),
      Math.max(0, Math.min(from[1] + dx, size.keys - 1))
    ]
  );
  if (!lock) return { ...camera, y: to[0] + 0.5, x: to[1] + 0.5, aim: to };
  const { width, height } = layout.box;
  const y = inSight2(to[0], camera.y, camera.z, height);
  return { ...camera, y, x: inSight2(to[1], camera.x, camera.z, width), lock: to };
}
function inSight2(at, middle, z, pixels2) {
  const reach = Math.max(0, pixels2 * 2 ** z / 2 - 1);
  return Math.max(at + 0.5 - reach, Math.min(middle, at + 0.5 + reach));
}
function zoom({ camera, size, layout, state }, by) {
  if (by === "0") return { ...WHOLE2, aim: null };
  const { box } = layout;
  const whole3 = by === "1" ? Math.floor(camera.z + 1e-9) + 1 : Math.ceil(camera.z - 1e-9) - 1;
  const moved3 = zoomedAt(camera, whole3 - camera.z, [box.width / 2, box.height / 2], size, box);
  return { ...moved3, aim: state.map.aim && centreOf(moved3, size) };
}
function range(scene, argument) {
  if (argument === "all") return { range: [0, 100] };
  const [which, value] = argument.split(":");
  const [low, high] = scene.state.map.range;
  const at = Math.round(10 * Math.max(0, Math.min(100, Number(value)))) / 10;
  if (Number.isNaN(at)) return {};
  return { range: which === "low" ? [Math.min(at, high), high] : [low, Math.max(at, low)] };
}
var MAP_MOVES = {
  "map-pan": pan,
  "map-step": step,
  "map-zoom": zoom,
  "map-range": range
};
function ask({ size }, row) {
  if (!(row >= 0 && row < size.rows)) return {};
  return { row, picked: true, hover: null, follow: false };
}
function askBy(scene, by) {
  const { picked: picked2, row, map } = scene.state;
  const next2 = (picked2 ? row : -1) + Number(by);
  const asked2 = ask(scene, next2);
  const { lock } = map;
  if (asked2.row === void 0 || !picked2 || lock?.[0] !== row) return asked2;
  const y = inSight2(next2, scene.camera.y, scene.camera.z, scene.layout.box.height);
  const camera = y === scene.camera.y ? {} : { ...scene.camera, y };
  return { ...asked2, ...changed2(scene, { ...camera, lock: [next2, lock[1]] }) };
}
var pickPair = (scene, query, key) => query >= 0 && key >= 0 && query < scene.size.rows && key < scene.size.keys ? { ...ask(scene, query), key, follow: true } : {};
function mark(scene) {
  const { state, camera, size } = scene;
  const { marks, lock } = state.map;
  if (marks.length >= MOST_MARKS)
    return { notice: `There are ${MOST_MARKS} bookmarks: remove one first.` };
  const [query, key] = lock ?? centreOf(camera, size);
  const z = Math.round(10 * camera.z) / 10;
  const same2 = marks.some((one) => one.query === query && one.key === key && one.z === z);
  if (same2) return { notice: "This place is kept already." };
  return changed2(scene, { marks: [...marks, { query, key, z, lock: lock !== null }] });
}
function going(scene, how) {
  const { map } = scene.state;
  if (how === "close") return { ...changed2(scene, { going: null }), focus: "map" };
  const open4 = map.going ?? { query: "", key: "", trouble: "", wrong: null };
  return { ...changed2(scene, { going: open4 }), focus: "going" };
}
function typed(scene, argument) {
  const { going: going2 } = scene.state.map;
  const [side, ...rest] = argument.split(":");
  if (!going2 || side !== "query" && side !== "key") return {};
  return changed2(scene, { going: { ...going2, [side]: rest.join(":"), trouble: "", wrong: null } });
}
function leave(scene) {
  const { map, picked: picked2, key } = scene.state;
  if (map.going) return going(scene, "close");
  if (map.lock) return { ...changed2(scene, { lock: null }), focus: "map" };
  if (picked2 || key !== null) return { picked: false, key: null, focus: "map" };
  return { focus: "map" };
}
var MAP_ACTIONS = {
  "map-pool": (scene, pool) => changed2(scene, {
    pool: pool === "max" || pool === "share" ? pool : other(scene.state.map.pool)
  }),
  "map-pause": (scene) => changed2(scene, { paused: !scene.state.map.paused }),
  "map-mark": mark,
  "map-unmark": (scene, i) => changed2(scene, { marks: scene.state.map.marks.filter((_, at) => at !== Number(i)) }),
  "map-tour-close": (scene) => changed2(scene, { tour: null }),
  "map-going": going,
  "map-typed": typed,
  "map-leave": leave,
  "map-ask": (scene, row) => ask(scene, Number(row)),
  "map-ask-by": askBy,
  "map-key": (scene, key) => Number(key) >= 0 && Number(key) < scene.size.keys ? { key: Number(key), follow: true } : {}
};
var other = (pool) => pool === "max" ? "share" : "max";

// src/map_atlas.js
var MOST3 = 400;
var FLIGHTS = 4;
var nameOf2 = (place, { level, i, j }) => `${Object.values(place).join("/")}:${level}/${i}/${j}`;
var Atlas = class {
  /** @type {Map<string, Tile>} */
  #tiles = /* @__PURE__ */ new Map();
  /** @type {Set<string>} */
  #refused = /* @__PURE__ */ new Set();
  /** @type {Set<string>} */
  #flying = /* @__PURE__ */ new Set();
  /** @type {{name: string, args: Args}[]} */
  #queue = [];
  #age = 0;
  /** Another number once a tile has come. */
  version = 0;
  /** @param {Hands} hands @param {number} [most]  tiles that are kept */
  constructor(hands, most = MOST3) {
    this.hands = hands;
    this.most = most;
  }
  /** @param {Args} place @param {TileAt} at */
  tile(place, at) {
    const name = nameOf2(place, at);
    const tile = this.#tiles.get(name);
    if (tile) keep2(this.#tiles, name, tile, this.most);
    return tile;
  }
  /** What is in view, most urgent first: nothing else is asked for any more.
   * @param {Args} place @param {TileAt[]} wanted */
  want(place, wanted) {
    this.#queue = wanted.map((at) => ({ name: nameOf2(place, at), args: argsOf(place, at) })).filter(({ name }) => this.#isMissing(name));
    this.#launch();
  }
  /** The building has gone on: tiles with gaps are worth asking for again. */
  older() {
    this.#age += 1;
    this.#refused.clear();
  }
  get busy() {
    return this.#flying.size > 0 || this.#queue.length > 0;
  }
  /** @param {string} name */
  #isMissing(name) {
    if (this.#flying.has(name) || this.#refused.has(name)) return false;
    const tile = this.#tiles.get(name);
    return !tile || !tile.whole && tile.age < this.#age;
  }
  #launch() {
    while (this.#flying.size < FLIGHTS && this.#queue.length) {
      const next2 = this.#queue.shift();
      if (next2 && this.#isMissing(next2.name)) void this.#fetch(next2.name, next2.args);
    }
  }
  /** @param {string} name @param {Args} args */
  async #fetch(name, args) {
    const { call: call2, changed: changed3, failed } = this.hands;
    this.#flying.add(name);
    const age = this.#age;
    try {
      keep2(this.#tiles, name, tileFrom(await call2("tile", args), age), this.most);
      this.version += 1;
    } catch (error) {
      if (isRefusal(error)) this.#refused.add(name);
      else {
        this.#queue = [];
        failed(error);
      }
    } finally {
      this.#flying.delete(name);
      this.#launch();
      changed3();
    }
  }
};
var isRefusal = (error) => error instanceof HostError && error.kind === "refused";
var argsOf = (place, { level, i, j }) => ({
  ...place,
  level: String(level),
  i: String(i),
  j: String(j)
});
function tileFrom({ json, bytes }, age) {
  const { rows, columns, whole: whole3 } = json;
  const cells2 = rows * columns;
  const part = (at) => (bytes ?? new Uint8Array(2 * cells2)).subarray(at * cells2, (at + 1) * cells2);
  return { rows, columns, whole: whole3, age, codes: { max: part(0), share: part(1) } };
}
function keep2(kept, name, value, most) {
  kept.delete(name);
  kept.set(name, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
}

// src/heat_strips.js
var THICKNESS = 44;
var DECADES = 4;
function stripScale(numbers, { log = false, high = null } = {}) {
  const finite = Array.from(numbers).filter((x) => Number.isFinite(x) && x > 0);
  const most = high ?? finite.reduce((top4, x) => Math.max(top4, x), 0);
  const top3 = most > 0 ? most : 1;
  if (!log) return { low: 0, high: top3, log, under: false };
  const least = finite.reduce((bottom, x) => Math.min(bottom, x), top3);
  const floor = 10 ** (Math.ceil(Math.log10(top3)) - DECADES);
  const low = Math.max(floor, 10 ** Math.floor(Math.log10(least * 0.999999)));
  return { low, high: top3, log, under: Array.from(numbers).some((x) => x < low) };
}
function barShare(x, { low, high, log }) {
  if (Number.isNaN(x)) return NaN;
  const share2 = log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low);
  return Math.max(0, Math.min(1, share2));
}
function paintStrip(canvas, numbers, options) {
  const { vertical, cell: cell3, colors, scale: scale2, picked: picked2 = null, thickness = THICKNESS } = options;
  const { ratio = globalThis.devicePixelRatio || 1 } = options;
  const length = numbers.length * cell3;
  const pen = sized(canvas, vertical ? thickness : length, vertical ? length : thickness, ratio);
  const gap = cell3 >= 6 ? 1 : 0;
  const fill = (i, share2, ink) => {
    const start2 = Math.round(i * cell3 * ratio);
    const size = Math.max(1, Math.round((i + 1) * cell3 * ratio) - start2 - Math.round(gap * ratio));
    const long = Math.max(share2 > 0 ? ratio : 0, Math.round(share2 * thickness * ratio));
    pen.fillStyle = ink;
    if (vertical) pen.fillRect(0, start2, long, size);
    else pen.fillRect(start2, 0, size, long);
  };
  for (let i = 0; i < numbers.length; i += 1) {
    const share2 = barShare(numbers[i], scale2);
    if (Number.isNaN(share2)) fill(i, 0.5, colors.nan);
    else fill(i, share2, i === picked2 ? colors.focus : colors.bar);
  }
}
function stripLegend(name, { low, high, log, under: under3 }) {
  const least = log ? `${power(low)}${under3 ? " or less" : ""}` : "0";
  return h(
    "p",
    { class: "strip-legend quiet" },
    h("span", {}, name),
    `: ${least} … ${alike([high])(high)}${log ? ", log scale" : ""}`
  );
}

// src/map_axes.js
var WORDS2 = 12;
var SPACED = { rows: 26, keys: 62 };
var TEXT = 11;
var SMALL2 = 9.5;
var APART = 6;
var GAP = 5;
var EDGE = 16;
var PALE = 0.7;
var LEAST = 0.02;
function axisOf(camera, box, size, vertical) {
  const { left: left3, top: top3, per } = edgesOf(camera, box);
  return vertical ? { vertical, from: top3, per, length: box.height, count: size.rows } : { vertical, from: left3, per, length: box.width, count: size.keys };
}
var hasWords = ({ per }) => 1 / per >= WORDS2;
function labelsOn(axis2) {
  const { from, per, length, count: count3, vertical } = axis2;
  const step4 = hasWords(axis2) ? 1 : roundStep((vertical ? SPACED.rows : SPACED.keys) * per);
  const first = Math.max(0, Math.ceil((from - 0.5) / step4) * step4);
  const last = Math.min(count3 - 1, from + length * per);
  const found = [];
  for (let at = first; at <= last; at += step4) found.push(at);
  return found;
}
function roundStep(least) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((by) => by * ten).find((step4) => step4 >= least) ?? 10 * ten;
}
var middleOf = ({ from, per }, at) => (at + 0.5 - from) / per;
function tokenAt({ from, per, count: count3 }, pixels2) {
  const at = Math.floor(from + pixels2 * per);
  return at >= 0 && at < count3 ? at : null;
}
var positionWords = (at) => at.toLocaleString("en");
function drawLabels(pen, axis2, { info, across, picked: picked2, colors, ratio }) {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = `${TEXT}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  pen.direction = "ltr";
  const worded = hasWords(axis2);
  const marked = (
    /** @type {number[]} */
    picked2.filter((at) => at !== null)
  );
  const near = (at) => !worded && marked.some((one) => Math.abs(one - at) / axis2.per < clearance(axis2) && one !== at);
  for (const at of /* @__PURE__ */ new Set([...labelsOn(axis2), ...marked])) {
    const middle = middleOf(axis2, at);
    if (near(at) && !marked.includes(at)) continue;
    if (middle < 0 || middle > axis2.length) continue;
    const strong = marked.includes(at);
    pen.fillStyle = strong ? colors.ink : colors.soft;
    const filler = kindOf(info, at) === "padding";
    pen.globalAlpha = filler ? PALE : 1;
    pen.font = `${filler ? "italic " : ""}${strong ? 650 : 400} ${TEXT}px system-ui, sans-serif`;
    const text = shortName(info.tokens[at]);
    if (worded) writeToken(pen, axis2, middle, text, positionWords(at), across);
    else writePosition(pen, axis2, middle, positionWords(at), across);
  }
  pen.globalAlpha = 1;
  if (info.prompt) drawEdge(pen, axis2, info.prompt, across, colors);
  pen.setTransform(1, 0, 0, 1, 0, 0);
}
function drawEdge(pen, { vertical, from, per, length }, prompt, across, colors) {
  const edge = Math.round((prompt - from) / per);
  if (edge <= 0 || edge >= length) return;
  pen.fillStyle = colors.ink;
  if (vertical) pen.fillRect(across - EDGE, edge - 1, EDGE, 2);
  else pen.fillRect(edge - 1, across - EDGE, 2, EDGE);
}
var clearance = ({ vertical }) => vertical ? 14 : 44;
function writeToken(pen, { vertical }, middle, text, position, across) {
  pen.save();
  pen.translate(vertical ? across : middle, vertical ? middle : across);
  if (!vertical) pen.rotate(-Math.PI / 2);
  const { font } = pen;
  pen.font = font.replace(`${TEXT}px`, `${SMALL2}px`);
  const small2 = pen.font;
  const taken = pen.measureText(position).width + APART;
  pen.font = font;
  const shown = fitted(pen, text, across - GAP - 2 - taken);
  const wide = shown ? pen.measureText(shown).width + APART : 0;
  pen.textAlign = vertical ? "right" : "left";
  pen.fillText(shown, vertical ? -GAP : GAP, 0);
  pen.font = small2;
  pen.fillText(position, vertical ? -GAP - wide : GAP + wide, 0);
  pen.restore();
}
function fitted(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let letters2 = [...text];
  while (letters2.length && pen.measureText(`${letters2.join("")}…`).width > room)
    letters2 = letters2.slice(0, -1);
  return letters2.length ? `${letters2.join("")}…` : "";
}
function writePosition(pen, { vertical, length }, middle, text, across) {
  if (vertical) {
    pen.textAlign = "right";
    pen.fillText(text, across - GAP - 3, within(middle, TEXT / 2, length - TEXT / 2));
    pen.fillRect(across - 4, middle - 0.5, 4, 1);
    return;
  }
  const half = pen.measureText(text).width / 2;
  pen.textAlign = "center";
  pen.fillText(text, within(middle, half, length - half), across - GAP - 3 - TEXT / 2);
  pen.fillRect(middle - 0.5, across - 4, 1, 4);
}
function scaleOf2({ most, mean }, log) {
  if (!log) return stripScale(most);
  const seen = mean.filter((x) => x > 0 && Number.isFinite(x)).sort();
  if (!seen.length) return stripScale(most, { log });
  const least = seen[Math.floor(LEAST * seen.length)];
  const low = 10 ** Math.floor(Math.log10(least * 0.999999));
  const high = most.reduce((top3, x) => x > top3 ? x : top3, low);
  return { low, high: Math.max(high, 10 * low), log, under: mean.some((x) => x < low) };
}
function drawProfile(pen, axis2, strip, { log, across, colors, ratio }) {
  const scale2 = scaleOf2(strip, log);
  const each = (strip.stop - strip.start) / strip.buckets;
  const place = (bucket) => Math.round((strip.start + bucket * each - axis2.from) / axis2.per * ratio);
  const bar = (from, upTo, share2) => {
    const long = Math.max(share2 > 0 ? ratio : 0, Math.round(share2 * across * ratio));
    const size = Math.max(1, upTo - from - (upTo - from >= 6 * ratio ? ratio : 0));
    if (axis2.vertical) pen.fillRect(0, from, long, size);
    else pen.fillRect(from, 0, size, long);
  };
  for (let b = 0; b < strip.buckets; b += 1) {
    const [from, upTo] = [place(b), place(b + 1)];
    if (upTo < 0 || from > axis2.length * ratio || Number.isNaN(strip.most[b])) continue;
    pen.fillStyle = colors.hatch;
    bar(from, upTo, barShare(strip.most[b], scale2));
    pen.fillStyle = colors.bar;
    bar(from, upTo, barShare(strip.mean[b], scale2));
  }
}

// src/map_going.js
function tokenMeant(typed3, tokens, from) {
  const plain3 = typed3.trim();
  if (plain3 === "") return { at: from };
  const number2 = plain3.replace(/^@/, "").replaceAll(/[,\s_]/g, "");
  if (/^-?\d+$/.test(number2)) {
    const at2 = Number(number2);
    if (at2 >= 0 && at2 < tokens.length) return { at: at2 };
    return { trouble: `must be 0 … ${positionWords(tokens.length - 1)}; got “${short2(plain3)}”.` };
  }
  const at = nextAfter(tokens, from, ways(typed3));
  if (at !== null) return { at };
  return { trouble: `no token reads “${short2(plain3)}”. Type its text, or a position.` };
}
function ways(typed3) {
  const plain3 = typed3.trim();
  const low = plain3.toLowerCase();
  const bare = (token2) => readable(token2).replace(/^[\s▁Ġ]+|\s+$/gu, "");
  return [
    (token2) => token2 === typed3 || readable(token2) === plain3,
    (token2) => bare(token2) === plain3,
    (token2) => bare(token2).toLowerCase() === low,
    (token2) => readable(token2).toLowerCase().includes(low)
  ];
}
function nextAfter(tokens, from, tests) {
  for (const test of tests) {
    const after = tokens.findIndex((token2, i) => i > from && test(token2));
    const at = after >= 0 ? after : tokens.findIndex(test);
    if (at >= 0) return at;
  }
  return null;
}
var short2 = (text) => text.length > 24 ? `${text.slice(0, 24)}…` : text;

// src/map_sees.js
function numberOf(given2, batch) {
  const one = Array.isArray(given2) ? given2[batch] : given2;
  return typeof one === "number" ? one : null;
}
function keysSeen({ options, sizes }, batch, query) {
  const { causal, window } = options;
  const upTo = numberOf(options.kv_lens, batch) ?? sizes.kv_len;
  const offset = numberOf(options.q_offset, batch);
  if (offset === null) return upTo;
  const at = query + offset;
  const right = causal ? 0 : window?.[1] ?? null;
  const left3 = window?.[0] ?? null;
  const first = left3 === null ? 0 : Math.max(0, at - left3);
  return Math.max(0, (right === null ? upTo : Math.min(upTo, at + right + 1)) - first);
}

// src/map_codes.js
var valueOf = (code, { first, last, low, high }) => 2 ** (low + (code - first) / (last - first) * (high - low));
function tally(counts, codes, columns, [top3, bottom], [left3, right]) {
  for (let r = top3; r < bottom; r += 1)
    for (let i = r * columns + left3; i < r * columns + right; i += 1) counts[codes[i]] += 1;
}
function percentiles(counts, { first, last }, percents) {
  const total = counts.subarray(first, last + 1).reduce((sum2, count3) => sum2 + count3, 0);
  if (!total) return [first, last];
  const at = (percent2) => {
    let left3 = Math.max(1, Math.ceil(percent2 / 100 * total));
    let code = first;
    while (code < last && left3 > counts[code]) {
      left3 -= counts[code];
      code += 1;
    }
    return code;
  };
  const [low, high] = [at(percents[0]), at(percents[1])];
  return low < high ? [low, high] : widened(low, first, last);
}
var widened = (code, first, last) => code > first ? [code - 1, code] : [first, Math.min(last, first + 1)];
function pixelsOf(colors, codes, [low, high]) {
  const { buffer, byteOffset } = colors.ramp;
  const ramp2 = new Uint32Array(buffer, byteOffset, 256);
  const pixels2 = new Uint32Array(256).fill(ramp2[0]);
  for (let code = codes.first; code <= codes.last; code += 1) {
    const share2 = Math.max(0, Math.min(1, (code - low) / (high - low)));
    pixels2[code] = ramp2[Math.round(255 * share2)];
  }
  pixels2[codes.zero] = ramp2[0];
  pixels2[codes.hidden] = pixelOf(colors.hidden);
  pixels2[codes.nan] = pixelOf(colors.nan);
  pixels2[codes.unknown] = 0;
  return pixels2;
}
function pixelOf(text) {
  const bytes = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  return new Uint32Array(Uint8Array.from([...bytes, 255]).buffer)[0];
}

// src/map_layout.js
var WIDEST = 1360;
var BESIDE = 1080;
var SIDE = 286;
var GAP2 = 24;
var NARROW = 600;
var AROUND = 462;
var [LEAST2, MOST4] = [260, 900];
var FRAME = 10;
function mapLayout({ room, tall }) {
  const narrow = room < NARROW;
  const beside = room >= BESIDE;
  const page = Math.min(WIDEST, room) - (room < 860 ? 32 : 56);
  const names2 = narrow ? 62 : 96;
  const strip = narrow ? 30 : 44;
  const width = Math.max(160, page - (beside ? SIDE + GAP2 : 0) - names2 - strip - FRAME);
  const most = narrow ? width : Math.min(MOST4, Math.round(1.1 * width));
  const height = Math.min(most, Math.max(LEAST2, tall - AROUND));
  const above = 82;
  return { beside, box: { width, height }, names: names2, above, strip, mini: beside ? 200 : 150 };
}

// src/map_scene.js
var REACH = 2 ** 28;
var LISTED = 12;
var sizeOf = ({ info: { sizes } }) => ({ rows: sizes.q_len, keys: sizes.kv_len });
var finest = ({ base }) => base - 1;
function mapScene(state, source, desk) {
  const { map } = state;
  const place = headArgs(state);
  const size = sizeOf(state);
  const layout = mapLayout(state);
  const info = desk.builder.map(place);
  const camera = cameraOf(state, info);
  const level = levelAt(camera.z, globalThis.devicePixelRatio || 1, info?.top ?? 0);
  const refused = desk.builder.refused(place);
  const at = refused ? null : map.lock ?? map.aim;
  const cell3 = at && cellAround(at, map.lock ? 0 : level, size);
  const counts = desk.counts(place);
  const codes = info?.codes ?? null;
  return {
    state,
    place,
    size,
    ...axesOf(state.capture, state.stage, state.batch),
    layout,
    camera,
    level,
    info,
    profile: desk.builder.profile(place),
    refused,
    range: counts && codes ? percentiles(counts, codes, map.range) : null,
    hasNaN: counts !== null && codes !== null && counts[codes.nan] > 0,
    at,
    cell: cell3,
    reading: (cell3 && desk.reader.reading(place, cell3)) ?? null,
    from: linksOf(state, source, state.picked ? { rows: state.row } : null),
    by: linksOf(state, source, state.key === null ? null : { keys: state.key }),
    ledger: state.picked ? ledgerScene(state, source) : null
  };
}
function cameraOf(state, info) {
  const { x, y, z } = state.map;
  const size = sizeOf(state);
  const { box } = mapLayout(state);
  if (z !== null) return heldCamera({ x, y, z }, size, box);
  const world = worldCamera(size, box);
  if (!info?.refused || world.z <= finest(info)) return world;
  const near = within(finest(info), NEAREST, world.z);
  const per = 2 ** near;
  return heldCamera({ x: box.width * per / 2, y: box.height * per / 2, z: near }, size, box);
}
function linkArgs(state, { rows, keys }) {
  const one = (at) => at === void 0 ? {} : { span: `${at}:${at + 1}` };
  const row = one(rows).span;
  const key = one(keys).span;
  return {
    ...headArgs(state),
    ...row ? { rows: row } : {},
    ...key ? { keys: key } : {},
    count: String(LISTED)
  };
}
function linksOf(state, source, of) {
  const answer = of && source.answer("strongest", linkArgs(state, of));
  return { links: answer?.json?.links ?? null, refused: answer?.refused ?? "" };
}
function namedPair({ at, cell: cell3, reading }) {
  if (!cell3 || cell3.level === 0) return at;
  const { query = -1, key = -1 } = reading?.cell ?? {};
  return query < 0 || key < 0 ? null : [query, key];
}
function isWithinReach({ info, size }) {
  if (!info) return false;
  return info.done >= info.of || size.rows * size.keys <= REACH;
}
function mapNeeds(scene) {
  const { state } = scene;
  const needs = [];
  if (state.picked) {
    needs.push(["trace", traceArgs(state, state.row, state.info.limits.ledger_keys)]);
    needs.push(["strongest", linkArgs(state, { rows: state.row })]);
  }
  if (state.key !== null && isWithinReach(scene))
    needs.push(["strongest", linkArgs(state, { keys: state.key })]);
  return needs;
}
var shownRegion = ({ camera, layout, size }) => regionOf(camera, layout.box, size);
var isDrawable = ({ info, level }) => info !== null && (!info.refused || level <= finest(info));
var miniLevel = ({ rows, keys }, tile) => Math.max(0, Math.ceil(Math.log2(Math.max(rows, keys) / tile)));

// src/heads_words.js
function headName({ layers }, { stage, head: head2 }) {
  const layer = layers[stage];
  return `${layer.label}, head ${layer.heads[head2] ?? head2}`;
}
var viewName = (view, capture) => view.what || headName(capture, view.at);
var quoted = (tokens, index) => `⁨“${tokenName(tokens, index)}”⁩`;
var isolated = (words2) => words2.split(/\u2068([^\u2069]*)\u2069/).map((part, i) => i % 2 ? h("bdi", {}, part) : part).filter((part) => part !== "");
function headWords(scene, at) {
  const name = headName(scene.state.capture, at);
  const facts2 = scene.overview(at.stage)?.heads[at.head];
  if (!facts2) return name;
  const parts = [
    facts2.entropy === null ? null : `mean entropy ${rounded(facts2.entropy)} nats`,
    facts2.first_share === null ? null : `first-token share ${rounded(facts2.first_share)}`,
    facts2.previous_share === null ? null : `token-before share ${rounded(facts2.previous_share)}`,
    facts2.sink === null ? null : `sink ${rounded(facts2.sink)}`,
    mostWords(scene, at)
  ];
  return [name, parts.filter(Boolean).join(", ")].filter(Boolean).join(": ");
}
function mostWords(scene, at) {
  const { state, keys, queries } = scene;
  const most = scene.everywhere(at);
  if (!most) return null;
  const asks = quoted(queries.tokens, state.row);
  if (Number.isNaN(most.weight)) return `${asks} reads NaN`;
  if (most.key < 0) return `${asks} sees no key`;
  return `${asks} reads ${quoted(keys.tokens, most.key)} most, ${rounded(most.weight)}`;
}
function pairWords(scene) {
  const { first, second, at } = scene;
  if (!first?.grid) return { formula: "", exactly: first?.refused ?? "" };
  if (!at) {
    return {
      formula: "",
      exactly: "Point at a cell for its weight; click it to pick its query and key."
    };
  }
  const [row, key] = at;
  const here = weightAt(first.grid, row, key);
  if (!here) return { formula: "", exactly: "" };
  const names2 = namesOf(first, row, key);
  if (!here.visible) {
    if (isEmptyRow(first, row)) {
      const asks = quoted(first.grid.rowTokens, row - first.grid.rowAt);
      return {
        formula: `${asks} has no visible keys`,
        exactly: "it reads nothing: every weight is 0"
      };
    }
    return { formula: `${names2}: hidden`, exactly: "the weight is 0, whatever the key holds" };
  }
  const score = scoreWords(scene, first, row, key);
  const formula = `${names2}: weight ${rounded(here.weight)}${score}`;
  const there = second?.grid ? weightAt(second.grid, row, key) : null;
  if (!there || !second) return { formula, exactly: `exactly ${exact(here.weight)}` };
  const other2 = viewName(second, scene.state.capture);
  if (!there.visible) return { formula, exactly: `${other2}: hidden` };
  const less = here.weight - there.weight;
  return {
    formula,
    exactly: `${other2}: ${rounded(there.weight)}; difference ${less > 0 ? "+" : ""}${rounded(less)}`
  };
}
function namesOf({ grid: grid2 }, row, key) {
  if (!grid2) return "";
  const asks = quoted(grid2.rowTokens, row - grid2.rowAt);
  return key === SINK ? `${asks} leaves to the sink` : `${asks} reads ${quoted(grid2.keyTokens, key - grid2.keyAt)}`;
}
function isEmptyRow({ grid: grid2 }, row) {
  if (!grid2) return false;
  const columns = grid2.shape[1];
  const r = row - grid2.rowAt;
  return !grid2.visible.subarray(r * columns, (r + 1) * columns).some(Boolean);
}
function scoreWords({ state, ledger, words: words2, windowed }, view, row, key) {
  if (words2 || view.average !== "none" || key === SINK || !view.grid) return "";
  const record = ledger?.record;
  const listed2 = record && row === state.row ? record.keys.indexOf(key) : -1;
  const word2 = scoreName(state.info.options);
  if (record && listed2 >= 0) return ` (${word2} ${rounded(record.scores[listed2])})`;
  const top3 = view.facts?.max_score[row];
  if (windowed || top3 === void 0 || !Number.isFinite(top3)) return "";
  const { grid: grid2 } = view;
  const columns = grid2.shape[1];
  const weights2 = grid2.weights.subarray((row - grid2.rowAt) * columns).subarray(0, columns);
  const most = weights2.reduce((a, b) => Math.max(a, b), 0);
  const weight = weights2[key - grid2.keyAt];
  return weight > 0 ? ` (${word2} ${rounded(top3 + Math.log(weight / most))})` : "";
}
var scoreName = ({ bias, softcap }) => `${bias ? "biased" : softcap === null ? "scaled" : "capped"} score`;
function rowWords(scene) {
  const { first, state, picked: picked2, words: words2 } = scene;
  if (!first?.facts || !picked2 || words2) return "";
  const { entropy, visible, first_share: share2, sink } = first.facts;
  const { row } = state;
  const name = quoted(scene.queries.tokens, row);
  if (visible[row] === 0) return `${name} has no visible keys: it reads nothing.`;
  const parts = [
    `sees ${count(visible[row])} ${visible[row] === 1 ? "key" : "keys"}`,
    `entropy ${rounded(entropy[row])} of at most ${rounded(Math.log(visible[row]))} nats`,
    share2 && `first-token share ${rounded(share2[row])}`,
    sink && `sink ${rounded(sink[row])}`
  ];
  return `${name}: ${parts.filter(Boolean).join(", ")}.`;
}
var count = (x) => Number.isInteger(x) ? String(x) : rounded(x);

// src/map_words.js
var placed = (axis2, at) => `${positionWords(at)} ⁨“${shortName(axis2.tokens[at])}”⁩${noteOf(axis2, at)}`;
var spanWords = ([from, upTo]) => upTo - from === 1 ? positionWords(from) : `${positionWords(from)} … ${positionWords(upTo - 1)}`;
var pairName = ({ queries, keys }, query, key) => `query ${placed(queries, query)} reads key ${placed(keys, key)}`;
function readWords(scene) {
  const { at, cell: cell3, reading } = scene;
  if (!at || !cell3) {
    return {
      formula: "",
      exactly: "Point at the map for the exact number there. L, or a click, holds on to it."
    };
  }
  const where = cell3.level === 0 ? pairName(scene, ...at) : `queries ${spanWords(cell3.rows)}, keys ${spanWords(cell3.keys)}`;
  if (reading?.pair) return pairWords2(where, reading.pair);
  if (reading?.cell) return cellWords(scene, where, reading.cell);
  return { formula: where, exactly: reading?.refused ?? "…" };
}
function pairWords2(where, { weight, visible, score, lse, by }) {
  if (!visible)
    return { formula: `${where}: hidden`, exactly: "the weight is 0, whatever the key holds" };
  const made = score === null ? "" : ` = exp(${rounded(score)} − ${rounded(lse)})`.replace("− −", "+ ");
  return {
    formula: `${where}: weight ${fine(weight)}`,
    exactly: `${made} exactly ${exact(weight)} (${by})`.trim()
  };
}
function cellWords(scene, where, { max, query, key, share: share2, visible, by }) {
  if (!visible) return { formula: `${where}: hidden`, exactly: "no query here may see a key here" };
  const what = `the cell’s share ${fine(share2)}`;
  if (query < 0 || key < 0)
    return { formula: `${where}: the strongest weight here is ${fine(max)}`, exactly: what };
  return {
    formula: `strongest here: ${pairName(scene, query, key)}: weight ${fine(max)}`,
    exactly: `${exactAs(max, by)} (${by.split(", ").at(-1)}); ${what}`
  };
}
function pairTable(scene) {
  const { state, at, reading, queries, keys } = scene;
  if (!at || !reading?.pair) return "";
  const [query, key] = at;
  const { weight, score, visible } = reading.pair;
  const names2 = ["head", "query", "token", "key", "token", "visible", "score", "weight"];
  const clean = (text) => shortName(text).replaceAll(/\s/g, " ");
  const line4 = [
    headName(state.capture, state),
    query,
    clean(queries.tokens[query]),
    key,
    clean(keys.tokens[key]),
    visible ? "yes" : "no",
    score ?? "",
    weight
  ];
  return `${names2.join("	")}
${line4.join("	")}
`;
}
function progressWords({ info, refused, profile }) {
  if (refused) return refused;
  if (!info) return "Asking for this map …";
  if (info.refused) return info.refused;
  const { done, of, seconds_left: left3 } = info;
  const parts = `${positionWords(done)} of ${counted(of, "band")}`;
  if (done < of) return `exact so far: ${parts}${leftWords(left3)}`;
  const told2 = [
    of === 1 ? "exact: all in one band" : `exact: all ${counted(of, "band")}`,
    info.backend,
    profile && profile.done < profile.of && `profiles ${Math.floor(100 * profile.done / profile.of)} %${leftWords(profile.seconds_left)}`,
    info.saved && "kept beside the capture",
    info.trouble
  ];
  return told2.filter(Boolean).join(" · ");
}
var partWords = ({ part }) => part < 1 ? `of the ${Math.max(1, Math.floor(100 * part))} % of this view worked out so far` : "";
var leftWords = (seconds) => seconds === null ? "" : `, about ${positionWords(Math.max(1, Math.ceil(seconds)))} s left`;
function scaleWords({ level, camera }) {
  if (level > 0)
    return `a cell is ${positionWords(2 ** level)} × ${positionWords(2 ** level)} weights`;
  const pixels2 = Math.max(1, Math.round(2 ** -camera.z));
  return `a cell is one weight, ${counted(pixels2, "pixel")}`;
}
function rampWords({ info, range: range3, state }) {
  if (!info || !range3) return null;
  const value = (code) => valueOf(code, info.codes);
  const [low, high] = range3;
  const [least, most] = state.map.range;
  return [
    `${small(value(low))}${least > 0 ? " or less" : ""}`,
    `${small(value(high))}${most < 100 ? " or more" : ""}`
  ];
}

// src/map_errands.js
var FLIGHT = 260;
var IDLE = Promise.resolve(true);
var SPARE = 4;
function mapErrands(page) {
  const last = { asked: 0 };
  let search = IDLE;
  return {
    "map-lock": () => void page.wait(toggleLock(page, last)),
    "map-hold": (pair2) => void page.wait(hold(page, pairFrom(pair2), last)),
    "map-rehold": (pair2) => {
      last.asked += 1;
      const scene = page.map();
      if (scene) page.update(changed2(scene, { lock: pair2 ? pairFrom(pair2) : null }));
    },
    "map-pick": () => void page.wait(search.then((found) => found ? pick2(page) : void 0)),
    "map-strongest": () => {
      const asked2 = strongest(page);
      search = asked2.catch(() => false).finally(() => search = IDLE);
      void page.wait(asked2);
    },
    "map-go": () => go(page),
    "map-fly": (pair2) => flyTo(page, pair2),
    "map-link": (pair2) => {
      const scene = page.map();
      const [query, key] = pairFrom(pair2);
      if (!scene) return;
      page.update(pickPair(scene, query, key));
      flyTo(page, pair2);
    },
    "map-tour": (i) => {
      const { tour } = page.state().map;
      if (tour?.links[Number(i)]) visit(page, { ...tour, at: Number(i) });
    },
    "map-mark-go": (i) => {
      const mark3 = page.state().map.marks[Number(i)];
      if (!mark3) return;
      const at = (
        /** @type {Pair} */
        [mark3.query, mark3.key]
      );
      fly(page, { x: mark3.key + 0.5, y: mark3.query + 0.5, z: mark3.z }, mark3.lock ? at : null);
    }
  };
}
var pairFrom = (text) => (
  /** @type {Pair} */
  text.split(":").map(Number)
);
async function pairAt({ life }, scene, at) {
  if (scene.state.map.lock || scene.level === 0) return at;
  const reading = await life.desk.reader.ask(scene.place, cellAround(at, scene.level, scene.size));
  const { query = -1, key = -1 } = reading?.cell ?? {};
  return query < 0 || key < 0 ? at : [query, key];
}
async function hold(page, at, last) {
  const scene = page.map();
  if (!scene || scene.refused) return;
  const free = { ...scene, state: { ...scene.state, map: { ...scene.state.map, lock: null } } };
  const mine = last.asked += 1;
  const pair2 = await pairAt(page, free, at);
  const now = page.map();
  if (now && mine === last.asked) page.update(changed2(now, { lock: pair2 }));
}
async function toggleLock(page, last) {
  const scene = page.map();
  if (!scene) return;
  if (scene.state.map.lock) page.update(changed2(scene, { lock: null }));
  else await hold(page, scene.at ?? centreOf(scene.camera, scene.size), last);
}
async function pick2(page) {
  const scene = page.map();
  if (!scene || scene.refused) return;
  const at = scene.at ?? centreOf(scene.camera, scene.size);
  const [query, key] = await pairAt(page, scene, at);
  const now = page.map();
  if (now) page.update({ ...changed2(now, { lock: [query, key] }), ...pickPair(now, query, key) });
}
async function strongest(page) {
  const scene = page.map();
  if (!scene || scene.refused) return false;
  const { tour, lock } = scene.state.map;
  const held2 = tour?.links[tour.at];
  const here = tour && lock && held2?.query === lock[0] && held2.key === lock[1] ? tour : null;
  if (here && (here.part === 1 || !isBuilt(scene))) {
    visit(page, { ...here, at: (here.at + 1) % here.links.length });
    return true;
  }
  const found = await strongestLinks(page, scene, here?.region ?? shownRegion(scene));
  if (found?.links.length) visit(page, found);
  else if (found) page.update({ notice: noLink(scene, found) });
  return Boolean(found?.links.length);
}
function visit(page, tour) {
  const scene = page.map();
  if (!scene) return;
  const { query, key } = tour.links[tour.at];
  const part = partWords(tour);
  const notice2 = part && `The strongest link ${part}. Ask again when the map is whole.`;
  page.update({ ...changed2(scene, { tour }), notice: tour.at ? "" : notice2 });
  flyTo(page, `${query}:${key}`);
}
var isBuilt = ({ info }) => info !== null && info.done >= info.of;
function noLink({ info }, found) {
  if (found.part > 0) return `There is no visible link ${partWords(found) || "in view"}.`;
  const what = info?.refused ? ": zoom in" : " yet: zoom in, or let the map grow";
  return `Too much is in view to be looked through${what}.`;
}
async function strongestLinks({ source, update }, scene, region) {
  if (!region) return { links: [], at: 0, part: 1, region: { rows: [0, 0], keys: [0, 0] } };
  const [rows, keys] = [region.rows.join(":"), region.keys.join(":")];
  try {
    const args = { ...scene.place, rows, keys, count: String(LISTED + SPARE), so_far: "1" };
    const { links, known } = revive((await source.call("strongest", args)).json);
    const part = known / (region.rows[1] - region.rows[0]);
    return { links: chosen(scene, links), at: 0, part, region };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    update({ notice: error.sentence });
    return null;
  }
}
function chosen({ state }, links) {
  const some = links.filter(({ query }) => keysSeen(state.info, state.batch, query) > 1);
  return (some.length ? some : links).slice(0, LISTED);
}
function go(page) {
  const scene = page.map();
  const going2 = scene?.state.map.going;
  if (!scene || !going2 || scene.refused) return;
  const [query, key] = scene.state.map.lock ?? centreOf(scene.camera, scene.size);
  const row = tokenMeant(going2.query, scene.queries.tokens, query);
  const column = tokenMeant(going2.key, scene.keys.tokens, key);
  const wrong = "trouble" in row ? "query" : "trouble" in column ? "key" : null;
  const trouble = "trouble" in row ? row.trouble : "trouble" in column ? column.trouble : "";
  page.update(
    changed2(scene, { going: { ...going2, wrong, trouble: wrong ? `${wrong}: ${trouble}` : "" } })
  );
  if (!("at" in row && "at" in column)) return;
  page.update({ focus: "map" });
  flyTo(page, `${row.at}:${column.at}`);
}
function flyTo(page, argument) {
  const scene = page.map();
  if (!scene) return;
  const [query, key] = argument.split(":");
  const centre2 = centreOf(scene.camera, scene.size);
  const at = (
    /** @type {Pair} */
    [
      query === "" ? centre2[0] : Number(query),
      key === "" ? centre2[1] : Number(key)
    ]
  );
  const z = Math.min(scene.camera.z, NATIVE);
  fly(page, { x: at[1] + 0.5, y: at[0] + 0.5, z }, at);
}
function fly(page, target, lock) {
  const scene = page.map();
  if (!scene) return;
  const from = scene.camera;
  const to = heldCamera(target, scene.size, scene.layout.box);
  const arrive = () => page.life.look({ ...to, lock, aim: null });
  if (matchMedia("(prefers-reduced-motion)").matches || !isDrawable(scene)) {
    arrive();
    return;
  }
  const start2 = performance.now();
  const flight = page.life.flight();
  const step4 = () => {
    if (!page.life.isFlying(flight)) return;
    const share2 = Math.min(1, (performance.now() - start2) / FLIGHT);
    const eased = share2 * share2 * (3 - 2 * share2);
    if (share2 >= 1) arrive();
    else {
      page.life.look({ ...between(from, to, eased), aim: null }, flight);
      requestAnimationFrame(step4);
    }
  };
  page.life.look({ lock }, flight);
  step4();
}
function pairText(scene) {
  const text = pairTable(scene);
  if (text) return { done: "The pair is copied, as two lines of a table.", text };
  const { formula, exactly } = readWords(scene);
  return formula ? { done: "The read-out is copied.", text: `${formula} ${exactly}` } : null;
}

// src/url_numbers.js
function whole(text, below) {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) < below ? Number(text) : null;
}

// src/map_url.js
var MOST_MARKS2 = 16;
var [NEAR, FAR] = [-6, 40];
var firstMap = () => ({
  x: 0,
  y: 0,
  z: null,
  pool: "max",
  range: [0, 100],
  aim: null,
  lock: null,
  marks: [],
  going: null,
  paused: false,
  tour: null
});
var short3 = (x) => String(Math.round(100 * x) / 100);
function writeMap(state, fields2) {
  const { map } = state;
  fields2.set("v", "map");
  if (state.batch) fields2.set("b", String(state.batch));
  fields2.set("L", String(state.stage));
  fields2.set("h", String(state.head));
  if (map.z !== null) {
    fields2.set("x", short3(map.x));
    fields2.set("y", short3(map.y));
    fields2.set("z", short3(map.z));
  }
  if (map.pool !== "max") fields2.set("pool", map.pool);
  if (map.range.join() !== "0,100") fields2.set("range", map.range.map(short3).join("~"));
  if (map.lock) fields2.set("lock", map.lock.join("."));
  if (state.picked) fields2.set("q", String(state.row));
  if (state.key !== null) fields2.set("k", String(state.key));
  const marks = map.marks.slice(0, MOST_MARKS2);
  if (marks.length) fields2.set("marks", marks.map(markText).join("_"));
}
var markText = ({ query, key, z, lock }) => [query, key, Math.round(10 * z), Number(lock)].join("~");
function readMap(fields2, capture, place) {
  const { q_len, kv_len } = capture.layers[place.stage].sizes;
  const row = whole(fields2.get("q"), q_len);
  const key = whole(fields2.get("k"), kv_len);
  const [x, y] = [decimal(fields2.get("x"), 0, kv_len), decimal(fields2.get("y"), 0, q_len)];
  const z = decimal(fields2.get("z"), NEAR, FAR);
  const there = x !== null && y !== null && z !== null;
  return {
    ...place,
    ...row === null ? {} : { row },
    view: "map",
    picked: row !== null,
    key,
    follow: key !== null,
    map: {
      ...firstMap(),
      ...there ? { x, y, z } : {},
      pool: fields2.get("pool") === "share" ? "share" : "max",
      range: rangeFrom(fields2.get("range")),
      lock: pairFrom2(fields2.get("lock"), q_len, kv_len),
      marks: marksFrom(fields2.get("marks"), q_len, kv_len)
    }
  };
}
function decimal(text, low, high) {
  if (text === null || !/^-?\d{1,9}(\.\d{1,6})?$/.test(text)) return null;
  return Math.max(low, Math.min(Number(text), high));
}
function rangeFrom(text) {
  const parts = (text ?? "").split("~").map((part) => decimal(part, 0, 100));
  const [low, high] = parts;
  const fits = parts.length === 2 && low !== null && high !== null && low <= high;
  return fits ? [low, high] : [0, 100];
}
function pairFrom2(text, rows, keys) {
  const parts = (text ?? "").split(".");
  const [query, key] = [whole(parts[0] ?? null, rows), whole(parts[1] ?? null, keys)];
  return parts.length === 2 && query !== null && key !== null ? [query, key] : null;
}
function marksFrom(text, rows, keys) {
  const found = (text ?? "").split("_", MOST_MARKS2).map((part) => {
    const [q, k, tenths, lock, more] = part.split("~");
    const [query, key] = [whole(q ?? null, rows), whole(k ?? null, keys)];
    const z = decimal(tenths ?? null, 10 * NEAR, 10 * FAR);
    if (query === null || key === null || z === null || more !== void 0) return null;
    return { query, key, z: z / 10, lock: lock === "1" };
  });
  return found.filter((mark3) => mark3 !== null);
}

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
function answerOf({ exercise, typed: typed3 }) {
  if (!exercise) return { trouble: "The exercise has not arrived yet." };
  if (exercise.kind === "choice") {
    return typed3[0] ? { answer: JSON.stringify(typed3[0]) } : { trouble: "Choose one of the explanations." };
  }
  const texts = exercise.fields.map((_, i) => (typed3[i] ?? "").trim());
  const empty = texts.findIndex((text, i) => text === "" && exercise.fields[i].needed);
  if (empty >= 0) return { trouble: `Type a number for “${exercise.fields[empty].label}” too.` };
  return { answer: JSON.stringify(texts) };
}

// src/url_heads.js
var AVERAGES = ["none", "heads", "layers", "both"];
function writeHeads(state, fields2) {
  fields2.set("v", "heads");
  if (state.batch) fields2.set("b", String(state.batch));
  if (state.open) {
    fields2.set("L", String(state.stage));
    fields2.set("h", String(state.head));
    if (state.average !== "none") fields2.set("m", state.average);
    if (state.words) fields2.set("w", "1");
    if (!state.first) fields2.set("first", "0");
    if (state.compare) fields2.set("cmp", `${state.compare.stage}.${state.compare.head}`);
    if (state.corner.some((start2) => start2 > 0)) fields2.set("win", state.corner.join("."));
  }
  if (state.picked) fields2.set("q", String(state.row));
  if (state.key !== null) fields2.set("k", String(state.key));
}
function readHeads(fields2, capture, place) {
  const { heads, q_len, kv_len } = capture.layers[place.stage].sizes;
  const stage = whole(fields2.get("L"), capture.layers.length);
  const open4 = stage !== null || whole(fields2.get("h"), heads) !== null;
  const row = whole(fields2.get("q"), q_len);
  const key = whole(fields2.get("k"), kv_len);
  const [top3, left3] = pair(fields2.get("win"), q_len, kv_len) ?? [0, 0];
  return {
    ...place,
    ...row === null ? {} : { row },
    view: "heads",
    open: open4,
    picked: row !== null,
    key,
    follow: key !== null,
    average: AVERAGES.find((name) => name === fields2.get("m")) ?? "none",
    words: fields2.get("w") === "1",
    first: fields2.get("first") !== "0",
    compare: headAt(fields2.get("cmp"), capture),
    corner: [top3, left3],
    thumb: { stage: place.stage, head: place.head },
    mark: null,
    point: null
  };
}
function pair(text, rows, keys) {
  const parts = (text ?? "").split(".");
  const [a, b] = [whole(parts[0], rows), whole(parts[1] ?? null, keys)];
  return parts.length === 2 && a !== null && b !== null ? [a, b] : null;
}
function headAt(text, { layers }) {
  const parts = (text ?? "").split(".");
  const stage = whole(parts[0], layers.length);
  if (stage === null || parts.length !== 2) return null;
  const head2 = whole(parts[1], layers[stage].sizes.heads);
  return head2 === null ? null : { stage, head: head2 };
}

// src/table_scene.js
var BY_HEAD = "head";
var GROUP = "reads ";
var CHOOSING = "as a mean over the queries that see two keys or more";
var told = (of) => ({ summary }) => summary ? of(summary) : void 0;
var COLUMNS = [
  {
    id: "entropy",
    word: "mean entropy",
    unit: "nats",
    means: "0 where one key gets all weight; a mean over the queries that see a key",
    number: told((summary) => summary.entropy)
  },
  {
    id: "first",
    word: "first-token share",
    unit: "",
    means: `the weight that the first token gets, ${CHOOSING}`,
    number: told((summary) => summary.first_share)
  },
  {
    id: "previous",
    word: "token-before share",
    unit: "",
    means: "the weight of the token just before the query, as a mean over the queries that see it and another key",
    number: told((summary) => summary.previous_share)
  },
  {
    id: "distance",
    word: "mean distance",
    unit: "tokens",
    means: "how far from the query the keys stand that it reads, by weight; a mean over the queries that see a key",
    number: told((summary) => summary.distance)
  },
  {
    id: "sink",
    word: "sink",
    unit: "",
    means: "the share that a learned sink takes: no key reads it",
    number: told((summary) => summary.sink)
  }
];
var kindColumn = (kind) => ({
  id: `${GROUP}${kind}`,
  word: kind,
  unit: "",
  means: `the weight of all ${kind} keys together, ${CHOOSING}`,
  number: told(({ groups }) => groups.find(({ name }) => name === kind)?.share)
});
var isColumn = (id) => id === BY_HEAD || COLUMNS.some((column) => column.id === id) || KIND_IDS.includes(id);
var KIND_IDS = ["special", "punctuation", "spaces", "words"].map((kind) => `${GROUP}${kind}`);
var headsOf = ({ layers }) => layers.flatMap(({ heads }, stage) => heads.map((_, head2) => ({ stage, head: head2 })));
var hasTable = ({ layers }) => layers.reduce((sum2, { heads }) => sum2 + heads.length, 0) > 1;
var stepArgs = (state, at) => ({ ...headArgs({ ...state, ...at }), work: "1" });
function tableScene(state, source) {
  const { capture, table: table7 } = state;
  const all = headsOf(capture).map((at) => rowOf(state, source, at));
  const rows = all.filter(({ at }) => table7.layer === null || at.stage === table7.layer);
  const columns = columnsOf2(capture, rows);
  return {
    state,
    rows: sorted(rows, columns, table7),
    columns,
    kinds: kindsOf(rows),
    progress: progressOf(all),
    by: all.find(({ json }) => json?.by)?.json?.by ?? ""
  };
}
var shownHeads = ({ capture, table: table7 }) => headsOf(capture).filter(({ stage }) => table7.layer === null || stage === table7.layer);
function rowOf(state, source, at) {
  const layer = state.capture.layers[at.stage];
  const answer = source.answer("head", stepArgs(state, at));
  const json = answer?.json ?? null;
  const { refused = "", took = 0 } = answer ?? {};
  const summary = json?.summary ?? null;
  return {
    ...{ at, label: layer.label, number: layer.heads[at.head], json, summary, refused, took },
    picture: answer && summary ? source.made(answer, "picture", () => pictureIn(answer)) : null,
    part: refused || summary ? 1 : json?.of ? json.done / json.of : 0
  };
}
function pictureIn({ json, bytes }) {
  const cells2 = json.summary.rows * json.summary.columns;
  return bytes && cells2 ? numbersIn(bytes, Float32Array, 0, cells2) : null;
}
function kindsOf(rows) {
  const there = /* @__PURE__ */ new Set();
  for (const { summary } of rows)
    for (const { name, share: share2 } of summary?.groups ?? [])
      if (share2 !== 0 && share2 !== null) there.add(name);
  const order = rows.find(({ summary }) => summary)?.summary?.groups.map(({ name }) => name) ?? [];
  return order.filter((name) => there.has(name));
}
function columnsOf2({ layers }, rows) {
  const sinks = layers.some(({ options }) => options.sinks);
  const kinds = kindsOf(rows).map(kindColumn).filter(({ id }) => KIND_IDS.includes(id));
  return [...COLUMNS.filter(({ id }) => sinks || id !== "sink"), ...kinds];
}
function sorted(rows, columns, { by, down }) {
  const column = columns.find(({ id }) => id === by);
  if (!column) return by === BY_HEAD && down ? [...rows].reverse() : rows;
  const numberOf3 = (row) => column.number(row) ?? NaN;
  return [...rows].sort((a, b) => {
    const [x, y] = [numberOf3(a), numberOf3(b)];
    const [noX, noY] = [Number.isNaN(x), Number.isNaN(y)];
    if (noX || noY) return Number(noX) - Number(noY);
    return down ? y - x : x - y;
  });
}
function progressOf(rows) {
  const whole3 = rows.filter(({ summary }) => summary);
  const done = rows.filter(({ part }) => part === 1).length;
  const under3 = rows.find(({ json, summary }) => json && !summary);
  const spent = whole3.reduce((sum2, { took }) => sum2 + took, 0);
  const rest = under3?.json?.seconds_left ?? null;
  const first = under3 && rest !== null ? under3.took + rest : null;
  const each = whole3.length ? spent / whole3.length : first;
  return {
    done,
    of: rows.length,
    part: rows.reduce((sum2, { part }) => sum2 + part, 0) / Math.max(1, rows.length),
    seconds: each === null ? null : each * (rows.length - done - (under3 ? 1 : 0)) + (rest ?? 0)
  };
}
var isTable = ({ view, inFile }) => view === "table" && !inFile;
function tableSteps(state, source) {
  if (!isTable(state) || state.table.paused) return [];
  for (const at of [...shownHeads(state), ...headsOf(state.capture)]) {
    const args = stepArgs(state, at);
    if (!source.has("head", args)) return [["head", args]];
  }
  return [];
}

// src/url_table.js
var TABLE_AT_FIRST = { by: BY_HEAD, down: false, layer: null, paused: false, at: "0.0" };
function writeTable({ table: table7, batch }, fields2) {
  fields2.set("v", "table");
  if (batch) fields2.set("b", String(batch));
  if (table7.by !== BY_HEAD) fields2.set("by", table7.by);
  if (table7.down !== (table7.by !== BY_HEAD)) fields2.set("way", table7.down ? "down" : "up");
  if (table7.layer !== null) fields2.set("of", String(table7.layer));
}
function readTable(fields2, capture, batch) {
  const asked2 = fields2.get("by") ?? "";
  const by = isColumn(asked2) ? asked2 : BY_HEAD;
  const way = fields2.get("way");
  const down = way === "down" || way !== "up" && by !== BY_HEAD;
  const layer = whole(fields2.get("of"), capture.layers.length);
  return { view: "table", batch, table: { ...TABLE_AT_FIRST, by, down, layer } };
}

// src/url.js
var MOST5 = 4e3;
var LONGEST_NAME = 200;
var VIEWS2 = ["steps", "heads", "map", "table"];
var PLACES = ["q", "n", "L", "h"];
function toHash(state) {
  const fields2 = new URLSearchParams();
  const { capture } = state;
  if (capture.capture !== capture.shelf[0]?.id) fields2.set("c", capture.capture);
  if (state.view === "heads") writeHeads(state, fields2);
  else if (state.view === "map") writeMap(state, fields2);
  else if (state.view === "table") writeTable(state, fields2);
  else writeSteps(state, fields2);
  return fields2.toString();
}
function writeSteps(state, fields2) {
  if (firstView(state.capture) !== "steps") fields2.set("v", "steps");
  fields2.set("q", String(state.row));
  if (state.stage) fields2.set("L", String(state.stage));
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
  if (numbers && numbers.length <= MOST5) fields2.set("n", numbers);
}
function fitsHash(state) {
  const edit2 = state.edits[editKey(state)];
  return !edit2 || JSON.stringify(edit2).length <= MOST5;
}
var stepId = (text) => ORDER.find((id) => id === text) ?? null;
var captureIn = (hash) => new URLSearchParams(hash.replace(/^#/, "")).get("c");
function fromHash(hash, capture) {
  const fields2 = new URLSearchParams(hash.replace(/^#/, ""));
  const stage = whole(fields2.get("L"), capture.layers.length) ?? 0;
  const { batch, heads } = capture.layers[stage].sizes;
  const entry = whole(fields2.get("b"), batch) ?? 0;
  const head2 = whole(fields2.get("h"), heads) ?? 0;
  const place = { stage, batch: entry, head: head2 };
  const asked2 = VIEWS2.find((name) => name === fields2.get("v"));
  const says = asked2 !== void 0 || PLACES.some((name) => fields2.has(name));
  const view = asked2 ?? firstView(capture);
  if (view === "heads") return says ? readHeads(fields2, capture, place) : {};
  if (view === "map") return says ? readMap(fields2, capture, place) : {};
  if (view === "table") return readTable(fields2, capture, entry);
  return {
    ...says ? { view } : {},
    ...fromSteps(fields2, infoOf(capture, stage, entry), place)
  };
}
function fromSteps(fields2, info, place) {
  const edit2 = info.editable ? editFrom(fields2.get("n"), info) : null;
  const rows = edit2 ? edit2.tokens.length : info.sizes.q_len;
  const found = PLACES.some((name) => fields2.has(name)) ? place : {};
  const row = whole(fields2.get("q"), rows);
  if (row !== null) found.row = row;
  const step4 = fields2.get("step") === "none" ? "none" : stepId(fields2.get("step"));
  if (step4) found.step = step4;
  if (fields2.get("scale") === "off" && info.editable) found.scaled = false;
  if (fields2.get("read") === "shifted") found.reading = "shifted";
  if (fields2.has("in")) found.seen = rowsFrom(fields2.get("in") ?? "", rows);
  const [id, column] = (fields2.get("at") ?? "").split(".");
  const at = stepId(id);
  if (at) found.cursor = { step: at, column: whole(column ?? null, 1e3) ?? 0 };
  const section = whole(fields2.get("s"), 100);
  if (section !== null) found.section = section;
  if (fields2.get("all") === "1") found.layer = true;
  if (edit2) found.edits = { [editKey(place)]: edit2 };
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
  if (!text || text.length > 2 * MOST5) return null;
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

// src/first_state.js
function firstState(capture, lesson, hash) {
  const skills = lesson.checklist.map(({ skill }) => skill);
  const solved = loadProgress().solved.filter((skill) => skills.includes(skill));
  const open4 = skills.find((skill) => !solved.includes(skill)) ?? skills[0];
  return {
    lesson,
    shelved: {},
    reading: "textbook",
    section: 0,
    turn: newTurn(open4),
    solved,
    notice: "",
    offline: null,
    inFile: false,
    inCell: false,
    waits: "",
    room: 1280,
    tall: 900,
    going: false,
    theme: "light",
    wide: false,
    ...placeIn(capture, fromHash(hash, capture))
  };
}
function placeIn(capture, found) {
  const info = infoOf(capture, found.stage ?? 0, found.batch ?? 0);
  const whole3 = opensWhole(info);
  return {
    capture,
    info,
    view: firstView(capture),
    stage: 0,
    batch: 0,
    head: 0,
    row: 0,
    step: (
      /** @type {import("./types.js").Progress} */
      whole3 ? "reads" : "none"
    ),
    scaled: true,
    cursor: (
      /** @type {import("./types.js").Cursor} */
      {
        step: whole3 ? "weight" : "score",
        column: 0
      }
    ),
    hover: null,
    seen: [],
    edits: {},
    editing: null,
    spot: (
      /** @type {import("./types.js").Spot} */
      { side: "query", row: found.row ?? 0, col: 0 }
    ),
    trouble: null,
    layer: false,
    cell: (
      /** @type {import("./types.js").Pair} */
      [0, 0]
    ),
    ...HEADS_AT_FIRST,
    map: firstMap(),
    table: TABLE_AT_FIRST,
    ...found
  };
}
var HEADS_AT_FIRST = {
  open: false,
  picked: false,
  key: null,
  compare: null,
  average: (
    /** @type {import("./types.js").Average} */
    "none"
  ),
  words: false,
  first: true,
  corner: (
    /** @type {import("./types.js").Pair} */
    [0, 0]
  ),
  thumb: { stage: 0, head: 0 },
  follow: false,
  mark: null,
  point: null,
  over: null
};
function movedTo(state, capture, hash) {
  const fresh = placeIn(capture, {});
  const names2 = (
    /** @type {(keyof State)[]} */
    Object.keys(fresh)
  );
  const left3 = Object.fromEntries(names2.map((name) => [name, state[name]]));
  return {
    ...fresh,
    ...state.shelved[capture.capture],
    hover: null,
    point: null,
    over: null,
    ...fromHash(hash, capture),
    shelved: { ...state.shelved, [state.capture.capture]: left3 }
  };
}

// src/profile_errands.js
function profileErrands(page) {
  return {
    "map-see-query": (row) => see(page, "y", Number(row)),
    "map-see-key": (key) => see(page, "x", Number(key))
  };
}
function see(page, axis2, at) {
  const scene = page.map();
  if (!scene || !(at >= 0 && at < (axis2 === "x" ? scene.size.keys : scene.size.rows))) return;
  const { camera, size, layout } = scene;
  page.update(axis2 === "x" ? { key: at, follow: true } : { row: at, picked: true, follow: false });
  const { left: left3, top: top3, right, bottom } = edgesOf(camera, layout.box);
  const [from, upTo] = axis2 === "x" ? [left3, right] : [top3, bottom];
  if (at >= from && at < upTo) return;
  page.life.look(heldCamera({ ...camera, [axis2]: at + 0.5 }, size, layout.box));
}

// src/heat_axes.js
var LINE = 11;
var SPACED2 = 13;
function labelStep(cell3) {
  if (cell3 >= LINE) return 1;
  for (let ten = 1; ; ten *= 10)
    for (const step4 of [2 * ten, 5 * ten, 10 * ten]) if (step4 * cell3 >= SPACED2) return step4;
}
function marksOf(tokens, at, cell3, always = []) {
  const step4 = labelStep(cell3);
  const repeated = repeatedOf(tokens);
  const mark3 = (index) => {
    const token2 = tokens[index];
    const position = at + index;
    const numbered = token2 !== String(position) && (step4 > 1 || repeated.has(token2));
    return { index, position, text: shortName(token2), numbered };
  };
  const forced = (
    /** @type {number[]} */
    always.map((position) => Number.isInteger(position) ? position - at : -1).filter((index) => index >= 0 && index < tokens.length)
  );
  const isFree = (index) => forced.every((other2) => Math.abs(other2 - index) * cell3 >= (step4 > 1 ? SPACED2 : 1));
  const regular = tokens.map((_, index) => index).filter((index) => (at + index) % step4 === 0 && isFree(index));
  return [.../* @__PURE__ */ new Set([...regular, ...forced])].sort((a, b) => a - b).map(mark3);
}
function repeatedOf(tokens) {
  const seen = /* @__PURE__ */ new Set();
  return new Set(tokens.filter((token2) => seen.has(token2) || !seen.add(token2)));
}
function rowAxis(grid2, options) {
  const labels = labelsOf(grid2.rowTokens, grid2.rowAt, "head-row", "query", options);
  return axis("rows", "queries", gridHeight(grid2, options.cell), options.cell, labels);
}
function keyAxis(grid2, options) {
  const { cell: cell3 } = options;
  const labels = labelsOf(grid2.keyTokens, grid2.keyAt, "head-key", "key", options);
  if (grid2.sink) labels.push(sinkLabel(grid2, options));
  return axis("keys", "keys", gridWidth(grid2, cell3), cell3, labels);
}
function axis(kind, name, length, cell3, labels) {
  return h(
    "div",
    {
      class: `heat-axis ${kind}${labelStep(cell3) > 1 ? " sparse" : ""}`,
      role: "group",
      "aria-label": name,
      vars: { "--length": `${length}px`, "--cell": `${cell3}px` }
    },
    labels
  );
}
function labelsOf(tokens, at, act, side, { cell: cell3, picked: picked2, hover, padding = [], prompt = null }) {
  const marks = marksOf(tokens, at, cell3, [picked2, hover]);
  const isPicked = (mark3) => mark3.position === picked2;
  const stop = marks.findIndex(isPicked);
  return marks.map((mark3, i) => {
    const { index, position, text, numbered } = mark3;
    const kind = kindOf({ padding, prompt }, position);
    const kinds = [isPicked(mark3) && "picked", position === hover && "hover", kind];
    const note = noteOf({ padding, prompt }, position);
    const name = `${text}${numbered ? ` @${position}` : ""}${note}`;
    return h(
      "button",
      {
        type: "button",
        class: ["heat-label", ...kinds.filter(Boolean)].join(" "),
        "data-act": act,
        "data-arg": position,
        "data-key": `${act}:${position}`,
        "aria-pressed": String(isPicked(mark3)),
        "aria-label": `${side} ${name}`,
        title: `${readable(tokens[index])}${note}`,
        tabindex: i === Math.max(0, stop) ? 0 : -1,
        vars: { "--at": `${index * cell3}px` }
      },
      h("bdi", {}, text),
      numbered && h("small", {}, `@${position}`)
    );
  });
}
function sinkLabel(grid2, { cell: cell3, picked: picked2, hover }) {
  const kinds = [picked2 === SINK && "picked", hover === SINK && "hover"].filter(Boolean);
  return h(
    "span",
    {
      class: ["heat-label", "sink", ...kinds].join(" "),
      "data-key": "sink",
      title: "the share that the sink takes: no key reads it",
      vars: { "--at": `${sinkLeft(grid2, cell3)}px`, "--cell": `${sinkWidth(cell3)}px` }
    },
    "sink"
  );
}

// src/heat_legend.js
var STOPS = 17;
function rampGradient({ ramp: ramp2 }) {
  const stops = Array.from(
    { length: STOPS },
    (_, i) => hexOf(ramp2, Math.round(255 * i / (STOPS - 1)))
  );
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}
var rangeWords = ({ low, high, over }) => [
  low === 0 ? "0" : rounded(low),
  over ? `${rounded(high)} or more` : rounded(high)
];
function othersOf({ weights: weights2, visible, sink }) {
  const isNaNSeen = (weight, i) => visible[i] !== 0 && Number.isNaN(weight);
  return {
    hidden: visible.includes(0),
    nan: weights2.some(isNaNSeen) || (sink ?? []).some(Number.isNaN)
  };
}
function heatLegend(grid2, range3, colors) {
  const [low, high] = rangeWords(range3);
  const others = othersOf(grid2);
  return h(
    "div",
    { class: "heat-legend", role: "group", "aria-label": "legend" },
    h(
      "span",
      { class: "heat-scale" },
      h("span", {}, "weight"),
      h("span", {}, low),
      h("span", { class: "heat-ramp", vars: { "--ramp": rampGradient(colors) } }),
      h("span", {}, high)
    ),
    others.hidden && swatch("hidden", colors),
    others.nan && swatch("NaN", colors)
  );
}
function swatch(word2, colors) {
  const fill = word2 === "NaN" ? colors.nan : colors.hidden;
  return h(
    "span",
    { class: "heat-swatch" },
    h("i", { class: word2, vars: { "--fill": fill, "--hatch": colors.hatch } }),
    word2
  );
}

// src/picture_layout.js
var LONG_SIDE = 860;
var CELL = 22;
var LABEL = 11;
var SMALL3 = 12;
var TITLE = 15;
var MARGIN = 20;
var TICK = 4;
var RAMP = 150;
var NARROWEST = 420;
function pictureOf(grid2, { title, what, range: range3, theme = "light", ramp: ramp2 }) {
  const colors = heatColors(theme, ramp2 ? { ramp: ramp2 } : {});
  const cell3 = Math.max(1, Math.min(CELL, Math.floor(LONG_SIDE / Math.max(...grid2.shape))));
  const rows = marksOf(grid2.rowTokens, grid2.rowAt, cell3);
  const keys = marksOf(grid2.keyTokens, grid2.keyAt, cell3);
  const room = (marks, least) => Math.max(textWidth(least, SMALL3), ...marks.map((mark3) => textWidth(words(mark3), LABEL)));
  const head2 = MARGIN + TITLE + 6 + SMALL3 + 16;
  const left3 = Math.ceil(MARGIN + room(rows, "query") + 10);
  const top3 = Math.ceil(head2 + SMALL3 + room(keys, "") + 10);
  const [wide, high] = [gridWidth(grid2, cell3), gridHeight(grid2, cell3)];
  const width = Math.max(NARROWEST, left3 + wide + MARGIN);
  const place = { cell: cell3, left: left3, top: top3, colors, width };
  const texts = [
    ...headings(place, title, what, top3 + Math.min(-10, cell3 / 2 - 14)),
    ...axisTexts(grid2, place, rows, keys)
  ];
  const legend2 = legendOf(grid2, range3, place, top3 + high + 22);
  return {
    ...place,
    height: top3 + high + 22 + 14 + MARGIN,
    texts: [...texts, ...legend2.texts],
    ticks: labelStep(cell3) > 1 ? ticksOf(place, rows, keys) : [],
    ramp: legend2.ramp,
    swatches: legend2.swatches
  };
}
function headings({ left: left3, width, colors }, title, what, beside) {
  const room = width - 2 * MARGIN;
  const plain3 = (
    /** @type {const} */
    { anchor: "start", upright: false }
  );
  const y = MARGIN + TITLE / 2;
  const below = y + TITLE / 2 + 6 + SMALL3 / 2;
  const x = MARGIN;
  return [
    {
      x,
      y,
      text: fitted2(title, TITLE, room),
      size: TITLE,
      color: colors.ink,
      bold: true,
      ...plain3
    },
    { x, y: below, text: fitted2(what, SMALL3, room), size: SMALL3, color: colors.soft, ...plain3 },
    {
      x: left3 - 10,
      y: beside,
      text: "query",
      size: SMALL3,
      color: colors.soft,
      ...plain3,
      anchor: "end"
    },
    { x: left3, y: below + 24, text: "key", size: SMALL3, color: colors.soft, ...plain3 }
  ];
}
function axisTexts(grid2, { cell: cell3, left: left3, top: top3, colors }, rows, keys) {
  const style = { size: LABEL, color: colors.ink };
  const middle = (index) => (index + 0.5) * cell3;
  const texts = [
    ...rows.map((mark3) => {
      const at = { x: left3 - TICK - 3, y: top3 + middle(mark3.index) };
      return {
        ...at,
        text: words(mark3),
        anchor: (
          /** @type {const} */
          "end"
        ),
        upright: false,
        ...style
      };
    }),
    ...keys.map((mark3) => {
      const at = { x: left3 + middle(mark3.index), y: top3 - TICK - 3 };
      return {
        ...at,
        text: words(mark3),
        anchor: (
          /** @type {const} */
          "start"
        ),
        upright: true,
        ...style
      };
    })
  ];
  if (grid2.sink) {
    const x = left3 + sinkLeft(grid2, cell3) + sinkWidth(cell3) / 2;
    texts.push({ x, y: top3 - TICK - 3, text: "sink", anchor: "start", upright: true, ...style });
  }
  return texts;
}
function ticksOf({ cell: cell3, left: left3, top: top3 }, rows, keys) {
  const at = ({ index }) => (index + 0.5) * cell3;
  return [
    ...rows.map(
      (mark3) => (
        /** @type {Picture["ticks"][number]} */
        [
          left3 - TICK,
          top3 + at(mark3),
          left3,
          top3 + at(mark3)
        ]
      )
    ),
    ...keys.map(
      (mark3) => (
        /** @type {Picture["ticks"][number]} */
        [
          left3 + at(mark3),
          top3 - TICK,
          left3 + at(mark3),
          top3
        ]
      )
    )
  ];
}
function legendOf(grid2, range3, { left: left3, width, colors }, y) {
  const [low, high] = rangeWords(range3);
  const middle = y + 7;
  const style = { y: middle, size: SMALL3, color: colors.soft, upright: false };
  const start2 = (
    /** @type {const} */
    "start"
  );
  const others = othersOf(grid2);
  const swatches = [];
  const texts = [];
  let x = Math.min(left3, width - NARROWEST + MARGIN);
  const write2 = (text) => {
    texts.push({ ...style, x, text, anchor: start2 });
    x += textWidth(text, SMALL3) + 6;
  };
  write2("weight");
  write2(low);
  const ramp2 = { x, y: middle - 5, width: RAMP, height: 10 };
  x += RAMP + 6;
  write2(high);
  for (
    const kind of
    /** @type {const} */
    ["hidden", "nan"]
  ) {
    if (!others[kind]) continue;
    x += 8;
    swatches.push({ x, y: middle - 6, size: 12, kind });
    x += 18;
    write2(kind === "nan" ? "NaN" : kind);
  }
  return { ramp: ramp2, swatches, texts };
}
var words = ({ text, numbered, position }) => `${isolated2(text)}${numbered ? ` @${position}` : ""}`;
var RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
var isolated2 = (text) => RIGHT_TO_LEFT.test(text) ? `⁨${text}⁩` : text;
var WIDE = /[\u1100-\u11ff\u2e80-\uffdc\u{1f000}-\u{3ffff}]/u;
var UNSPACED = /[\u2068\u2069\p{Mn}]/u;
function textWidth(text, size) {
  const share2 = (letter) => {
    if (UNSPACED.test(letter)) return 0;
    if (WIDE.test(letter)) return 1.05;
    return /[A-Z@MWmw%]/.test(letter) ? 0.85 : /[ijl.,:;'|()!]/.test(letter) ? 0.36 : 0.6;
  };
  return size * [...text].reduce((total, letter) => total + share2(letter), 0);
}
function fitted2(text, size, room) {
  const letters2 = [...readable(text)];
  let end = letters2.length;
  const line4 = () => (end < letters2.length ? [...letters2.slice(0, end), "…"] : letters2).join("");
  while (end > 0 && textWidth(line4(), size) > room) end -= 1;
  return isolated2(line4());
}

// src/picture_png.js
var FONT = 'system-ui, "Segoe UI", "Noto Sans", sans-serif';
function gridPng(grid2, { ratio = 2, ...options }) {
  const picture2 = pictureOf(grid2, options);
  const { cell: cell3, colors, left: left3, top: top3 } = picture2;
  const canvas = newCanvas();
  const pen = sized(canvas, picture2.width, picture2.height, ratio);
  pen.fillStyle = colors.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const cells2 = newCanvas();
  paintGrid(cells2, grid2, { cell: cell3, range: options.range, colors, ratio });
  pen.drawImage(cells2, left3 * ratio, top3 * ratio);
  paintLegend(pen, picture2, ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  paintTicks(pen, picture2);
  pen.direction = "ltr";
  pen.textBaseline = "middle";
  for (const text of picture2.texts) paintText(pen, text);
  return new Promise((resolve, reject) => {
    const failed = "picture: must fit into the browser's memory; it did not. Save the SVG instead.";
    canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error(failed)), "image/png");
  });
}
var newCanvas = () => (
  /** @type {HTMLCanvasElement} */
  h("canvas")
);
function paintLegend(pen, { ramp: ramp2, swatches, colors }, ratio) {
  const wide = Math.round(ramp2.width * ratio);
  for (let x = 0; x < wide; x += 1) {
    pen.fillStyle = hexOf(colors.ramp, Math.round(255 * x / (wide - 1)));
    pen.fillRect(Math.round(ramp2.x * ratio) + x, ramp2.y * ratio, 1, ramp2.height * ratio);
  }
  for (const { x, y, size, kind } of swatches) {
    pen.fillStyle = kind === "nan" ? colors.nan : hiddenFill(pen, colors, true, ratio);
    pen.fillRect(x * ratio, y * ratio, size * ratio, size * ratio);
  }
}
function paintTicks(pen, { ticks, colors }) {
  pen.strokeStyle = colors.soft;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const [x0, y0, x1, y1] of ticks) {
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
  }
  pen.stroke();
}
function paintText(pen, { x, y, text, size, anchor, upright, color, bold }) {
  pen.save();
  pen.translate(x, y);
  if (upright) pen.rotate(-Math.PI / 2);
  pen.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
  pen.fillStyle = color;
  pen.textAlign = anchor === "middle" ? "center" : anchor;
  pen.fillText(text, 0, 0);
  pen.restore();
}

// src/picture_svg.js
var HIDDEN = -2;
var EMPTY = -3;
var RAMP_STOPS = 33;
var PATTERNED = 6;
var NAMESPACE = "http://www.w3.org/2000/svg";
function gridSvg(grid2, options) {
  const picture2 = pictureOf(grid2, options);
  const { width, height, left: left3, top: top3, colors } = picture2;
  const lines = [
    `<svg xmlns="${NAMESPACE}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, 'Segoe UI', 'Noto Sans', sans-serif">`,
    `<title>${escaped(readable(options.title))}</title>`,
    `<desc>${escaped(readable(options.what))}</desc>`,
    definitionsOf(picture2),
    `<rect width="${width}" height="${height}" fill="${colors.paper}"/>`,
    `<g transform="translate(${left3} ${top3})" shape-rendering="crispEdges">`,
    ...cellPaths(grid2, options.range, picture2),
    "</g>",
    ...sinkRects(grid2, options.range, picture2),
    `<path d="${picture2.ticks.map(tickOf).join("")}" stroke="${colors.soft}"/>`,
    ...legendRects(picture2),
    ...emptyTexts(grid2, picture2).map(textOf),
    ...picture2.texts.map(textOf),
    "</svg>"
  ];
  return `${lines.join("\n")}
`;
}
var tickOf = ([x0, y0, x1, y1]) => `M${x0} ${y0}L${x1} ${y1}`;
var escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
function textOf({ x, y, text, size, anchor, upright, color, bold }) {
  const turn = upright ? ` transform="rotate(-90 ${x} ${y})"` : "";
  const weight = bold ? ' font-weight="600"' : "";
  return `<text x="${x}" y="${y}" dy=".35em" font-size="${size}" text-anchor="${anchor}" fill="${color}" xml:space="preserve"${weight}${turn}>${escaped(text)}</text>`;
}
function definitionsOf({ colors, cell: cell3 }) {
  const stops = Array.from({ length: RAMP_STOPS }, (_, i) => {
    const share2 = i / (RAMP_STOPS - 1);
    return `<stop offset="${share2}" stop-color="${hexOf(colors.ramp, Math.round(255 * share2))}"/>`;
  });
  const [near, far] = [1, cell3 - 1];
  return [
    "<defs>",
    `<linearGradient id="ramp">${stops.join("")}</linearGradient>`,
    `<pattern id="hidden" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${colors.hidden}"/><path d="M-1 7L7-1M-1 1L1-1M5 7L7 5" stroke="${colors.hatch}" stroke-width="1.2"/></pattern>`,
    `<pattern id="nan" width="${cell3}" height="${cell3}" patternUnits="userSpaceOnUse"><rect width="${cell3}" height="${cell3}" fill="${colors.nan}"/><path d="M${near} ${near}L${far} ${far}M${far} ${near}L${near} ${far}" stroke="${colors.paper}"/></pattern>`,
    "</defs>"
  ].join("\n");
}
var PALE2 = "0.3";
function cellPaths(grid2, range3, { colors, cell: cell3 }) {
  const [rows, columns] = grid2.shape;
  const { weights: weights2, visible } = grid2;
  const pieces = /* @__PURE__ */ new Map();
  for (let r = 0; r < rows; r += 1) {
    const unseen = isEmpty(grid2, r) ? EMPTY : HIDDEN;
    const codeAt = (c) => visible[r * columns + c] ? codeOf(weights2[r * columns + c], range3) : unseen;
    for (let c = 0; c < columns; ) {
      const [from, code] = [c, codeAt(c)];
      while (c < columns && codeAt(c) === code) c += 1;
      const wide = (c - from) * cell3;
      const piece2 = `M${from * cell3} ${r * cell3}h${wide}v${cell3}h${-wide}z`;
      const others = pieces.get(code);
      if (others) others.push(piece2);
      else pieces.set(code, [piece2]);
    }
  }
  const paths = [...pieces].map(
    ([code, list]) => `<path fill="${fillOf(code, cell3, colors)}" d="${list.join("")}"/>`
  );
  return [...paths, ...fadedRects(grid2, cell3, colors)];
}
function fadedRects(grid2, cell3, colors) {
  const wide = grid2.shape[1] * cell3;
  return (grid2.padded ?? []).flatMap(
    (isPadded, r) => isPadded ? `<rect y="${r * cell3}" width="${wide}" height="${cell3}" fill="${colors.paper}" fill-opacity="${FADED}"/>` : []
  );
}
function fillOf(code, cell3, colors) {
  if (code >= 0) return hexOf(colors.ramp, code);
  if (code === EMPTY) return colors.hidden;
  if (code === HIDDEN) return cell3 >= PATTERNED ? "url(#hidden)" : colors.hidden;
  return cell3 >= PATTERNED ? "url(#nan)" : colors.nan;
}
function emptyTexts(grid2, { left: left3, top: top3, cell: cell3, colors }) {
  const rows = Array.from({ length: grid2.shape[0] }, (_, r) => r);
  if (!emptyFits(grid2, cell3)) return [];
  return rows.filter((r) => isEmpty(grid2, r)).map((r) => ({
    x: left3 + 6,
    y: top3 + (r + 0.5) * cell3,
    text: EMPTY_WORDS,
    size: 11,
    anchor: "start",
    upright: false,
    color: colors.soft
  }));
}
function sinkRects(grid2, range3, { left: left3, top: top3, cell: cell3, colors }) {
  const x = left3 + sinkLeft(grid2, cell3);
  return (grid2.sink ?? []).map((share2, r) => {
    const code = codeOf(share2, range3);
    const fill = code < 0 ? colors.nan : hexOf(colors.ramp, code);
    const pale = grid2.padded?.[r] ? `fill-opacity="${PALE2}" ` : "";
    return `<rect x="${x}" y="${top3 + r * cell3}" width="${sinkWidth(cell3)}" height="${cell3}" fill="${fill}" ${pale}shape-rendering="crispEdges"/>`;
  });
}
function legendRects({ ramp: ramp2, swatches, colors }) {
  const rect = ([x, y, width, height], fill) => `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`;
  const others = swatches.map(
    ({ x, y, size, kind }) => rect([x, y, size, size], kind === "hidden" ? "url(#hidden)" : colors.nan)
  );
  return [rect([ramp2.x, ramp2.y, ramp2.width, ramp2.height], "url(#ramp)"), ...others];
}

// src/picture_table.js
var FORMULA = /^[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
function field(text) {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
function gridCsv({ shape: [rows, columns], weights: weights2, visible, rowTokens, keyTokens, sink }) {
  const lines = [["", ...keyTokens.map(field), ...sink ? ["(sink)"] : []]];
  for (let r = 0; r < rows; r += 1) {
    const line4 = [field(rowTokens[r])];
    for (let i = r * columns; i < (r + 1) * columns; i += 1)
      line4.push(visible[i] ? String(weights2[i]) : "");
    if (sink) line4.push(String(sink[r]));
    lines.push(line4);
  }
  return lines.map((line4) => `${line4.join(",")}\r
`).join("");
}
function gridJson(grid2, { what, title, about = {} }) {
  const { shape, weights: weights2, visible, rowTokens, keyTokens, rowAt, keyAt, sink } = grid2;
  const [rows, columns] = shape;
  const number2 = (x) => Number.isFinite(x) ? x : String(x);
  const cell3 = (i) => visible[i] ? number2(weights2[i]) : null;
  const matrix2 = Array.from(
    { length: rows },
    (_, r) => Array.from({ length: columns }, (_2, c) => cell3(r * columns + c))
  );
  return `${JSON.stringify({
    title,
    what,
    about,
    tokens: rowTokens,
    key_tokens: keyTokens,
    rows: [rowAt, rowAt + rows],
    keys: [keyAt, keyAt + columns],
    weights: matrix2,
    ...sink ? { sink: sink.map(number2) } : {}
  })}
`;
}
function fileName(parts, ending) {
  const plain3 = (part) => part.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  const name = parts.map(plain3).filter(Boolean).join("-") || "grid";
  return `${name}.${ending}`;
}
function download(name, blob) {
  const href = URL.createObjectURL(blob);
  const anchor = h("a", { href, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(href), 1e4);
}

// src/table_csv.js
function linesOf3({ rows, columns, state }) {
  const names2 = columns.map(({ word: word2, unit }) => unit ? `${word2} (${unit})` : word2);
  const lines = rows.map((row) => [
    row.label,
    String(row.number),
    state.capture.layers[row.at.stage].name,
    ...columns.map((column) => String(column.number(row) ?? ""))
  ]);
  return [["layer", "head", "module", ...names2], ...lines];
}
var TEXTS2 = [0, 2];
var tableCsv = (scene) => linesOf3(scene).map((line4) => line4.map((text, i) => TEXTS2.includes(i) ? field(text) : text).join(",")).map((line4) => `${line4}\r
`).join("");
var tableText = (scene) => linesOf3(scene).map((line4) => line4.map((text) => text.replaceAll(/\s/g, " ")).join("	")).map((line4) => `${line4}
`).join("");

// src/saving.js
async function saveGrid(scene, kind) {
  const { first, state, words: words2 } = scene;
  const grid2 = first?.grid;
  if (!grid2) return "";
  const { title, about } = state.capture;
  const what = [viewName(first, state.capture), words2 && first.rule ? `words ${first.rule}` : ""].filter(Boolean).join("; ");
  const name = fileName([title, viewName(first, state.capture)], kind);
  const options = { title: readable(title), what, range: rangeIn(scene), theme: state.theme };
  const text = (type, content) => new Blob([content], { type });
  const makers = (
    /** @type {Record<string, () => Blob | Promise<Blob>>} */
    {
      png: () => gridPng(grid2, options),
      svg: () => text("image/svg+xml", gridSvg(grid2, options)),
      csv: () => text("text/csv", gridCsv(grid2)),
      json: () => text("application/json", gridJson(grid2, { what, title, about }))
    }
  );
  download(name, await makers[kind]());
  return name;
}
function saveTable(scene) {
  const { capture, table: table7 } = scene.state;
  const part = table7.layer === null ? "heads" : capture.layers[table7.layer].label;
  const name = fileName([capture.title, part], "csv");
  download(name, new Blob([tableCsv(scene)], { type: "text/csv" }));
  return name;
}
function exportCommand({ capture, source, about }) {
  if (source === "lookup" && about.made) return null;
  if (source === "lookup") return 'sl.export_html(look, "page.html")';
  return `softlookup export ${capture === "given" ? "FILE" : capture} -o page.html`;
}

// src/errands.js
var PASTE = "Paste it into a tab where this page is already open, or open the terminal’s link first.";
function errands(page) {
  const { state, update, dialogs } = page;
  const open4 = (turn) => {
    update({ turn, focus: "turn" });
    void fetchTurn(page).then(() => update({ focus: "turn" }));
  };
  return {
    turn: () => void fetchTurn(page),
    skill: (skill) => open4(skill === state().turn.skill ? state().turn : newTurn(skill)),
    another: () => open4(newTurn(state().turn.skill, state().turn.seed + 1)),
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
      const table7 = page.table();
      if (table7) update({ notice: `Saved as ${saveTable(table7)}.` });
    },
    ...mapErrands(page),
    ...profileErrands(page),
    help: () => openHelp(dialogs.help, state().view),
    copy: () => copyShown(page),
    link: () => copyLink(page)
  };
}
function copyLink(page) {
  const now = page.state();
  if (now.inCell) {
    page.update({ notice: "A cell has no address to copy: sl.show(…, port=0) opens a page that has." });
    return;
  }
  const holds = fitsHash(now) ? " and the changed numbers" : "; the changed numbers are too many for a link";
  const done = `The link is copied. It holds the place${holds}. ${now.inFile ? "" : PASTE}`;
  void copy(page, done.trim(), location.href);
}
async function openCapture({ state, update, wait, source }, id, hash) {
  await wait(source.need("info", { capture: id }));
  const answer = source.answer("info", { capture: id });
  if (!answer) return;
  const known = state().capture.capture === id;
  const moved3 = known ? fromHash(hash, answer.json) : movedTo(state(), answer.json, hash);
  update({ ...moved3, focus: known ? void 0 : "top" });
}
function follow(page, hash) {
  const { capture } = page.state();
  const named2 = captureIn(hash) ?? (hash.length > 1 ? capture.shelf[0]?.id : capture.capture);
  const there = capture.shelf.some(({ id }) => id === named2);
  if (!there || named2 === void 0 || named2 === capture.capture)
    page.update(fromHash(hash, capture));
  else {
    page.update({ going: true });
    void openCapture(page, named2, hash).finally(() => page.update({ going: false }));
  }
}
var exercised = ({ info }) => info.source === "lesson" ? { focus: "turn" } : { notice: "The exercises stand beside the lesson: open Lesson, at the top." };
function stepsFrom(state) {
  if (state.view === "map")
    return state.picked ? { focus: "steps" } : { notice: "There are no steps yet: pick a query." };
  if (hasLedger(state)) return { focus: "steps" };
  const notice2 = state.open && state.picked ? "A mean of several heads has no steps of its own: choose “this head”." : "There are no steps yet: open a head and pick a query.";
  return { notice: notice2 };
}
function savePage(page) {
  const command = exportCommand(page.state().capture);
  if (command)
    void copy(page, `This command writes one HTML file, and is copied: ${command}`, command);
}
async function save({ heads, update }, kind) {
  const scene = heads();
  if (!scene?.first?.grid) return;
  const name = await saveGrid(scene, kind);
  update({ notice: `Saved as ${name}.` });
}
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
        update({ turn: { ...state().turn, trouble: error.sentence } });
      }
    )
  );
}
async function checkTurn({ state, update, wait, source }) {
  const { turn } = state();
  const given2 = answerOf(turn);
  if ("trouble" in given2) {
    update({ turn: { ...turn, trouble: given2.trouble, verdict: null } });
    return;
  }
  const { skill, seed } = turn;
  await wait(
    source.ask("check", { skill, seed: String(seed), answer: given2.answer }).then(
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
function copyShown(page) {
  const { update } = page;
  const map = page.map();
  const table7 = page.table();
  if (map) {
    const pair2 = pairText(map);
    if (pair2) void copy(page, pair2.done, pair2.text);
    else update({ notice: "There is nothing to copy yet: hold a pair (L)." });
  } else if (table7) void copy(page, "The table is copied, as it stands.", tableText(table7));
  else {
    const text = ledgerText(page.scene());
    if (text) void copy(page, "The ledger is copied as text.", text);
    else update({ notice: "There is no ledger yet: open a head and pick a query." });
  }
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

// src/heads_actions.js
function headFrom(text) {
  const [stage, head2] = text.split(".").map(Number);
  return { stage, head: head2 };
}
function open({ state }, argument) {
  const at = headFrom(argument);
  const same2 = state.compare && state.compare.stage === at.stage && state.compare.head === at.head;
  return {
    ...at,
    open: true,
    thumb: at,
    average: "none",
    ...same2 ? { compare: null } : {},
    focus: "head"
  };
}
function cornerWith(state, row, key) {
  const { rows, keys } = partOf(state);
  const near = (at, [from, upTo]) => at >= from && at < upTo ? from : Math.max(0, at - WINDOW2 / 2);
  return [near(row, rows), key === null ? keys[0] : near(key, keys)];
}
function ask2({ state }, row) {
  if (!(row >= 0 && row < state.info.sizes.q_len)) return {};
  const mark3 = state.mark && /** @type {import("./types.js").Pair} */
  [row, state.mark[1]];
  return { row, picked: true, hover: null, mark: mark3, corner: cornerWith(state, row, null) };
}
function pick3(scene, row, key) {
  const { state } = scene;
  const chosen4 = key === SINK ? state.key : key;
  return {
    ...ask2(scene, row),
    key: chosen4,
    mark: [row, key === SINK ? 0 : key],
    corner: cornerWith(state, row, chosen4),
    follow: true
  };
}
function move2({ state, first }, way) {
  if (!first?.grid) return {};
  const { shape, rowAt, keyAt } = first.grid;
  const [dy, dx] = jump(way);
  const { rowWords: rowWords2, keyWords } = first;
  const from = state.mark ?? [state.picked ? state.row : 0, state.key ?? 0];
  const place = (words2, token2) => words2 ? words2.findIndex((some) => some.includes(token2)) : token2;
  const within2 = (at, start2, n) => Math.max(start2, Math.min(at, start2 + n - 1));
  const step4 = state.mark ? [dy, dx] : [0, 0];
  const row = within2(place(rowWords2, from[0]) + step4[0], rowAt, shape[0]);
  const key = within2(place(keyWords, from[1]) + step4[1], keyAt, shape[1]);
  return { mark: [tokenOfPlace(rowWords2, row), tokenOfPlace(keyWords, key)], point: null };
}
function moveThumb({ state }, way) {
  const { layers } = state.capture;
  const [dy, dx] = jump(way);
  const stage = Math.max(0, Math.min(state.thumb.stage + dy, layers.length - 1));
  const last = layers[stage].heads.length - 1;
  const head2 = Math.max(0, Math.min(state.thumb.head + dx, last));
  return { thumb: { stage, head: head2 }, over: { stage, head: head2 }, focus: "thumb" };
}
function moveText(scene, way) {
  const { state, queries } = scene;
  const [dy, dx] = jump(way);
  const last = queries.tokens.length - 1;
  const from = state.picked ? state.row : dx + dy > 0 ? -1 : 0;
  const row = Math.max(0, Math.min(from + dx + dy, last));
  return { ...ask2(scene, row), focus: "piece" };
}
function partBy({ state }, argument) {
  const [side, by] = argument.split(":");
  const { rows, keys } = partOf(state);
  const { q_len, kv_len } = state.info.sizes;
  const moved3 = (from, length) => Math.max(0, Math.min(from + Number(by) * WINDOW2 / 2, length - WINDOW2));
  const corner = side === "row" ? [moved3(rows[0], q_len), keys[0]] : [rows[0], moved3(keys[0], kv_len)];
  return { corner: (
    /** @type {import("./types.js").Pair} */
    corner
  ), mark: null, point: null };
}
var HEAD_ACTIONS = {
  open,
  mark: move2,
  "thumb-move": moveThumb,
  "text-move": moveText,
  "part-by": partBy,
  "part-row": ({ state }, row) => ({ corner: [Number(row), state.corner[1]], mark: null }),
  "part-key": ({ state }, key) => ({ corner: [state.corner[0], Number(key)], mark: null }),
  ask: (scene, row) => ask2(scene, Number(row)),
  "ask-by": (scene, by) => ask2(scene, (scene.state.picked ? scene.state.row : -1) + Number(by)),
  unpick: () => ({ picked: false, key: null, mark: null, focus: "piece" }),
  "head-row": (scene, place) => ask2(scene, tokenOfPlace(scene.first?.rowWords ?? null, Number(place))),
  "head-key": (scene, place) => {
    const key = tokenOfPlace(scene.first?.keyWords ?? null, Number(place));
    const { row, picked: picked2 } = scene.state;
    return picked2 ? pick3(scene, row, key) : { key, mark: [row, key] };
  },
  pick: (scene, pair2) => {
    const [row, key] = pair2.split(":").map(Number);
    return pick3(scene, row, key);
  },
  "pick-mark": (scene) => {
    const { mark: mark3 } = scene.state;
    return mark3 ? pick3(scene, ...mark3) : {};
  },
  average: (_, to) => ({ average: (
    /** @type {Average} */
    to
  ) }),
  words: (scene, on) => ({
    words: (on || String(Number(!scene.state.words))) === "1",
    point: null
  }),
  first: ({ state }, on) => ({ first: (on || String(Number(!state.first))) === "1" }),
  compare: (_, head2) => head2 ? { compare: headFrom(head2), focus: "pair" } : { compare: null },
  wide: ({ state }) => ({ wide: !state.wide }),
  "close-head": ({ state }) => ({
    open: false,
    compare: null,
    thumb: { stage: state.stage, head: state.head },
    focus: "thumb"
  }),
  leave: ({ state }) => state.open ? { thumb: { stage: state.stage, head: state.head }, focus: "thumb" } : { focus: "thumb" }
};

// src/heat_style.js
var HEAT_CSS = `
.heat-axis { position: relative; font-size: 11px; line-height: 1; color: var(--soft); }
.heat-axis.rows { height: var(--length); width: var(--names, 96px); }
.heat-axis.keys { width: var(--length); height: var(--above, 96px); }
.heat-label { position: absolute; display: flex; align-items: center; gap: 3px; white-space: pre; border-radius: 3px; font-size: 11px; line-height: 1; }
.heat-label bdi { overflow: hidden; text-overflow: ellipsis; min-inline-size: 0; padding-block: 1px; }
.heat-label small { flex: none; font-size: 9.5px; opacity: .85; }
.rows > .heat-label { top: calc(var(--at) + var(--cell) / 2 - 7px); right: 0; height: 14px; max-width: 100%; justify-content: flex-end; padding: 0 6px 0 2px; }
.keys > .heat-label { left: calc(var(--at) + var(--cell) / 2 - 7px); bottom: 0; width: 14px; max-height: 100%; writing-mode: vertical-rl; transform: rotate(180deg); padding: 6px 0 2px; }
.sparse.rows > .heat-label::after { content: ""; position: absolute; right: 0; top: 50%; width: 4px; border-top: 1px solid currentColor; }
.sparse.keys > .heat-label::after { content: ""; position: absolute; left: 50%; top: 0; height: 4px; border-left: 1px solid currentColor; }
button.heat-label:hover, .heat-label.hover { color: var(--ink); background: var(--faint); z-index: 1; }
.heat-label.picked { color: var(--ink); font-weight: 650; }
.heat-label.padding, .chip.padding { opacity: .7; font-style: italic; } .written bdi { text-decoration: underline dotted; text-underline-offset: 2px; } .keys > .written bdi { padding-block: 3px; text-underline-offset: 0; }
.heat-label.sink { font-style: italic; }
.heat-label:focus-visible { outline-offset: 0; z-index: 1; }

.heat-legend { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 16px; color: var(--soft); font-size: 12px; }
.heat-scale { display: inline-flex; align-items: center; gap: 8px; white-space: nowrap; }
.heat-ramp { width: 120px; flex: none; height: 9px; border-radius: 2px; background: var(--ramp); }
.heat-swatch { display: inline-flex; align-items: center; gap: 5px; }
.heat-swatch i { width: 14px; height: 12px; border-radius: 2px; background: var(--fill); }
.heat-swatch i.hidden { background: repeating-linear-gradient(135deg, var(--fill) 0 3px, var(--hatch) 3px 4px); }
.strip-legend { font-size: 12px; }

.reads { border-collapse: collapse; width: 100%; font-size: 13px; table-layout: fixed; }
.reads th, .reads td { height: 26px; font-weight: 400; padding: 2px 6px; text-align: right; white-space: nowrap; }
.reads thead th { color: var(--soft); font-size: 12px; padding-bottom: 4px; }
.reads th[scope=row], .reads thead th:first-child { text-align: left; padding-left: 0; width: 42%; overflow: hidden; }
.reads tbody tr:nth-child(odd) > * { background: color-mix(in srgb, var(--faint) 60%, transparent); }
.reads th .chip { max-width: 100%; overflow: hidden; font-size: 12px; padding: 0 6px; } .reads .sink { font-style: italic; padding-left: 6px; }
.reads .weight { position: relative; isolation: isolate; }
.reads .weight::before { content: ""; position: absolute; z-index: -1; left: 0; top: 4px; bottom: 4px; width: calc(100% * var(--w)); background: color-mix(in srgb, var(--focus) 24%, transparent); border-radius: 2px; }
.reads .so-far, .reads-rest { color: var(--soft); font-size: 12.5px; }

@media (pointer: coarse) { .reads th, .reads td { padding-top: 6px; padding-bottom: 6px; } }
@media (forced-colors: active) {
  .heat-ramp, .heat-swatch i { forced-color-adjust: none; } .heat-label.picked { outline: 1px solid Highlight; }
  .reads .weight::before { background: none; border: solid CanvasText; border-width: 0 0 2px; }
}
`;

// src/host_http.js
var KEEP2 = "softlookup-token";
var PLACE = "softlookup-place";
function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token2 = fragment.get("t");
  if (token2 === null) return;
  sessionStorage.setItem(KEEP2, token2);
  fragment.delete("t");
  const place = sessionStorage.getItem(PLACE) ?? "";
  sessionStorage.removeItem(PLACE);
  const rest = fragment.toString() || place;
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
    if (location.hash.length > 1) sessionStorage.setItem(PLACE, location.hash.slice(1));
    throw new HostError(
      "This page needs its key: open the link that the terminal printed.",
      "token"
    );
  }
  if (response.ok && response.headers.get("content-type") === "application/octet-stream") {
    return unframed(await response.arrayBuffer());
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

// src/static_arguments.js
function refuse(argument, words2) {
  throw new HostError(`${argument}: ${words2}`, "refused", argument);
}
var quoted2 = (text) => text === void 0 ? "nothing" : `'${text.slice(0, 40)}'`;
var range2 = (low, count3) => count3 > low ? `${low} ... ${count3 - 1}` : "(there is none to choose)";
function inside2(text, name, low, count3) {
  const number2 = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : -1;
  if (number2 >= low && number2 < count3) return number2;
  return refuse(name, `must be a whole number ${range2(low, count3)}; got ${quoted2(text)}.`);
}
function whole2(args, name, count3, standard = 0, low = 0) {
  const given2 = args[name] ?? (standard === null ? void 0 : String(standard));
  if (given2 === void 0)
    return refuse(name, `must be given, a whole number ${range2(low, count3)}.`);
  return inside2(given2, name, low, count3);
}
function wholes(args, name, count3, most) {
  const given2 = args[name];
  if (!given2) return refuse(name, "must be given, whole numbers with commas between, e.g. 0,1,2.");
  const parts = given2.split(",");
  if (parts.length > most)
    return refuse(name, `must hold at most ${most} numbers; got more. Ask in parts.`);
  return parts.map((part) => inside2(part, name, 0, count3));
}
function span2(args, name, count3) {
  const given2 = args[name];
  if (given2 === void 0) return [0, count3];
  const match = /^([0-9]{1,15}):([0-9]{1,15})$/.exec(given2);
  const [start2, stop] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  if (match && start2 < stop && stop <= count3) return [start2, stop];
  return refuse(
    name,
    `must be start:stop within 0:${count3}, at least one wide; got ${quoted2(given2)}.`
  );
}
function word(args, name, choices2) {
  const given2 = args[name] ?? choices2[0];
  if (choices2.includes(given2)) return given2;
  return refuse(name, `must be one of ${choices2.join(", ")}; got ${quoted2(given2)}.`);
}

// src/static_data.js
function openData(stored) {
  const data = { ...stored, layers: revive(stored.layers) };
  const bytes = [];
  const read = (which, start2, n) => {
    const { dtype, data: text } = data.arrays[which];
    bytes[which] ??= fromBase64(text);
    return READERS[dtype](bytes[which], start2, n);
  };
  let last = null;
  return {
    data,
    head(place) {
      const name = JSON.stringify([place.layer, place.batch, place.head]);
      if (last?.name !== name) last = { name, head: headOf(data, read, place) };
      return last.head;
    }
  };
}
function headOf(data, read, { layer, batch, head: head2 }) {
  const { info, layers, arrays: arrays2 } = data;
  const { sizes, queries, keys } = info.layers[layer];
  const { q_len, kv_len, value_dim } = sizes;
  const stored = layers[layer];
  const kvHead = Math.floor(head2 / (sizes.heads / sizes.kv_heads));
  const matrix2 = (which, at) => {
    const [, heads, length, size] = arrays2[which].shape;
    const numbers = read(which, (batch * heads + at) * length * size, length * size);
    return Array.from({ length }, (_, i) => numbers.slice(i * size, (i + 1) * size));
  };
  const whole3 = {
    tokens: info.axes[queries[queries.length > 1 ? batch : 0]].tokens,
    key_tokens: info.axes[keys[keys.length > 1 ? batch : 0]].tokens,
    query: matrix2(stored.query, head2),
    key: matrix2(stored.key, kvHead),
    value: stored.value === null ? null : matrix2(stored.value, kvHead),
    sink: stored.sinks && stored.sinks[head2],
    scale: stored.scale,
    softcap: stored.softcap,
    q_offset: stored.q_offset && stored.q_offset[batch],
    value_dim: value_dim ?? 0
  };
  const overlay = (which, row) => {
    const some = (start2, n) => read(which, start2, n);
    return overlayRow(arrays2[which].shape, some, [batch, head2, row], kv_len);
  };
  return { q_len, kv_len, whole: whole3, row: rowsOf(whole3, stored, kv_len, overlay) };
}
function rowsOf(whole3, { visible, bias }, kv_len, overlay) {
  const all = Array.from({ length: kv_len }, () => true);
  const sees = (row) => visible === null ? all : overlay(visible, row).map((bit) => bit === 1);
  return (row) => ({
    ...whole3,
    visible: only(row, sees(row)),
    bias: bias === null ? null : only(row, overlay(bias, row))
  });
}
function only(row, filled) {
  const rows = [];
  rows[row] = filled;
  return rows;
}
function overlayRow([batches, heads, rows, keys], read, [batch, head2, row], kv_len) {
  const b = batches === 1 ? 0 : batch;
  const h2 = heads === 1 ? 0 : head2;
  const r = rows === 1 ? 0 : row;
  const numbers = read(((b * heads + h2) * rows + r) * keys, keys);
  return keys === kv_len ? numbers : Array.from({ length: kv_len }, () => numbers[0]);
}
function fromBase64(text) {
  const letters2 = atob(text);
  const bytes = new Uint8Array(letters2.length);
  for (let i = 0; i < letters2.length; i++) bytes[i] = letters2.charCodeAt(i);
  return bytes;
}
var READERS = {
  // Every machine that runs a browser is little-endian, as the file is.
  float64: ({ buffer }, start2, count3) => Array.from(new Float64Array(buffer, start2 * 8, count3)),
  float32: ({ buffer }, start2, count3) => Array.from(new Float32Array(buffer, start2 * 4, count3)),
  float16: ({ buffer }, start2, count3) => Array.from(new Uint16Array(buffer, start2 * 2, count3), fromHalf),
  bfloat16: ({ buffer }, start2, count3) => {
    const upper2 = Uint32Array.from(new Uint16Array(buffer, start2 * 2, count3), (bits) => bits << 16);
    return Array.from(new Float32Array(upper2.buffer));
  },
  bits: (bytes, start2, count3) => Array.from({ length: count3 }, (_, i) => {
    const at = start2 + i;
    return bytes[Math.floor(at / 8)] >> 7 - at % 8 & 1;
  })
};
function fromHalf(bits) {
  const sign2 = bits & 32768 ? -1 : 1;
  const exponent = bits >> 10 & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign2 * Infinity;
  return sign2 * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}

// src/static_rectangles.js
var MOST_WORK = 2 ** 28;
var PATIENCE = 30;
function pacer() {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < PATIENCE) return;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  };
}
async function exact2(file, places2, rows, keys) {
  const { layers } = file.data.info;
  checkWork(rows.length, layers[places2[0].layer].sizes.kv_len, places2.length);
  const sinks = places2.some((place) => file.data.layers[place.layer].sinks !== null);
  const part = blank(rows.length, keys.length, sinks);
  const pause = pacer();
  for (const place of places2) {
    const head2 = file.head(place);
    for (const [i, row] of rows.entries()) {
      const problem = head2.row(row);
      const { weights: weights2, sink } = readRow(problem, row);
      const sees = problem.visible[row];
      keys.forEach((key, j) => {
        part.weights[i * keys.length + j] += weights2[key];
        part.visible[i * keys.length + j] |= Number(sees[key]);
      });
      if (part.sink && sink) part.sink[i] += sink.weight;
      await pause();
    }
  }
  const mean = (sums) => sums.map((sum2) => sum2 / places2.length);
  return { ...part, weights: mean(part.weights), sink: part.sink && mean(part.sink) };
}
function checkWork(rows, keys, heads) {
  const work = rows * keys * heads;
  if (work <= MOST_WORK) return;
  const [most, r, k, n, all] = [MOST_WORK, rows, keys, heads, work].map(
    (x) => x.toLocaleString("en")
  );
  const several = heads > 1 ? ` in ${n} heads` : "";
  refuse(
    "rows",
    `must take at most ${most} weights to work out; ${r} rows of ${k} keys${several} take ${all}. Ask for fewer rows.`
  );
}
function blank(rows, keys, sinks) {
  const cells2 = rows * keys;
  return {
    rows,
    keys,
    weights: new Float64Array(cells2),
    visible: new Uint8Array(cells2),
    sink: sinks ? new Float64Array(rows) : null
  };
}
function byWords2(part, queries, keys) {
  const whole3 = blank(queries.tokens.length, keys.tokens.length, part.sink !== null);
  queries.tokens.forEach((rows, q) => {
    if (whole3.sink && part.sink)
      for (const i of rows) whole3.sink[q] += part.sink[i] / rows.length;
    keys.tokens.forEach((columns, k) => {
      const at = q * whole3.keys + k;
      for (const i of rows) {
        for (const j of columns) {
          whole3.weights[at] += part.weights[i * part.keys + j] / rows.length;
          whole3.visible[at] |= part.visible[i * part.keys + j];
        }
      }
    });
  });
  return whole3;
}
function bytesOf({ weights: weights2, visible }) {
  const bytes = new Uint8Array(weights2.byteLength + visible.byteLength);
  bytes.set(new Uint8Array(weights2.buffer), 0);
  bytes.set(visible, weights2.byteLength);
  return bytes;
}

// src/static_rows.js
var indices = (length) => Array.from({ length }, (_, i) => i);
var average = (numbers) => numbers.reduce((sum2, x) => sum2 + x, 0) / numbers.length;
async function readHead(file, place, seen) {
  const head2 = file.head(place);
  const pause = pacer();
  const facts2 = [];
  for (const row of indices(head2.q_len)) {
    const problem = head2.row(row);
    const read = readRow(problem, row);
    const sees = problem.visible[row];
    seen(row, read.weights, sees);
    facts2.push(factsOf(read, sees));
    await pause();
  }
  return facts2;
}
function factsOf({ scores, weights: weights2, shifted_exp, row_sum, sink }, sees) {
  const visible = sees.filter(Boolean).length;
  const spoilt = visible > 0 && Number.isNaN(row_sum);
  const peak2 = scores.reduce((most, x, j) => sees[j] ? Math.max(most, x) : most, -Infinity);
  return {
    visible,
    entropy: entropyOf(weights2),
    max_score: spoilt ? NaN : peak2,
    sink: sink ? sink.weight : 0,
    sees: (key) => sees[key] ?? false,
    share: (key) => weights2[key] ?? 0,
    sum: (key) => visible > 0 ? shifted_exp[key] / row_sum : 0
  };
}
function entropyOf(weights2) {
  const terms2 = weights2.filter((w) => w !== 0).map((w) => w * Math.log(w));
  return terms2.reduce((total, term) => total - term, 0);
}
function axisAt({ info }, { layer, batch }, side) {
  const axes2 = info.layers[layer][side];
  return axes2[axes2.length > 1 ? batch : 0];
}
function realTokens({ info }, axis2) {
  const { tokens, padding } = info.axes[axis2];
  return tokens.map((_, at) => !isPadding(padding, at));
}
function firstReal(data, place) {
  const real = realTokens(data, axisAt(data, place, "keys"));
  return real.includes(true) ? real.indexOf(true) : real.length;
}

// src/static_chosen.js
var axesOf2 = ({ info: { layers } }, layer) => JSON.stringify([layers[layer].queries, layers[layer].keys]);
var layersLike = (data, like, batch) => indices(data.layers.length).filter(
  (layer) => axesOf2(data, layer) === axesOf2(data, like) && batch < data.info.layers[layer].sizes.batch
);
function chosen2({ data }, args) {
  const { layers } = data.info;
  const overLayers = args.layer === "mean";
  const overHeads = args.head === "mean";
  const like = whole2(args, overLayers ? "like" : "layer", layers.length);
  const batch = whole2(args, "batch", layers[like].sizes.batch);
  const { label, heads: own2 } = layers[like];
  const only3 = overHeads ? null : own2[whole2(args, "head", own2.length)];
  const some = overLayers ? layersLike(data, like, batch) : [like];
  const places2 = some.flatMap(
    (layer) => indices(layers[layer].heads.length).filter((head2) => only3 === null || layers[layer].heads[head2] === only3).map((head2) => ({ layer, batch, head: head2 }))
  );
  if (!places2.length) refuse("head", "must be there to be looked at; this layer has no heads.");
  return { places: places2, what: nameOf3(places2, label, only3, overLayers) };
}
function nameOf3(places2, label, only3, overLayers) {
  const heads = counted(places2.length, "head");
  const layers = counted(new Set(places2.map(({ layer }) => layer)).size, "layer");
  if (only3 === null) return `mean over ${heads} of ${overLayers ? layers : label}`;
  return overLayers ? `mean of head ${only3} over ${layers}` : `${label}, head ${only3}`;
}

// src/static_overview.js
var BACKEND = "this page, float64";
var MOST_CELLS = 2 ** 27;
async function overview(file, args) {
  const { info } = file.data;
  const layer = whole2(args, "layer", info.layers.length);
  const { sizes, heads: numbers } = info.layers[layer];
  const batch = whole2(args, "batch", sizes.batch);
  const [from, upTo] = span2(args, "heads", sizes.heads);
  checkWork2(info.layers[layer], upTo - from);
  const per = Math.max(1, Math.ceil(Math.max(sizes.q_len, sizes.kv_len) / info.limits.thumbnail));
  const [rows, columns] = [sizes.q_len, sizes.kv_len].map((length) => Math.ceil(length / per));
  const pictures = new Float32Array((upTo - from) * rows * columns).fill(-1);
  const heads = [];
  for (let head2 = from; head2 < upTo; head2++) {
    const start2 = (head2 - from) * rows * columns;
    const picture2 = pictures.subarray(start2, start2 + rows * columns);
    const place = { layer, batch, head: head2 };
    const read = await readHead(file, place, poolInto(picture2, columns, per));
    heads.push({ number: numbers[head2], ...meansOf(file, place, read) });
  }
  const json = { layer, rows, columns, per, heads, backend: BACKEND };
  return { json, bytes: new Uint8Array(pictures.buffer) };
}
function checkWork2({ sizes: { q_len, kv_len }, label }, heads) {
  const written3 = (n) => n.toLocaleString("en");
  const each = `${written3(q_len)} x ${written3(kv_len)}`;
  const most = written3(MOST_CELLS);
  if (q_len * kv_len > MOST_CELLS)
    refuse(
      "overview",
      `must have at most ${most} weights a head; ${label} has ${each}. Open one head, a window at a time.`
    );
  const work = heads * q_len * kv_len;
  if (work > MOST_CELLS)
    refuse(
      "overview",
      `must take at most ${most} weights to work out; ${written3(heads)} heads of ${label}, ${each} each, take ${written3(work)}. Ask for fewer at once, e.g. heads=0:1.`
    );
}
var poolInto = (picture2, columns, per) => (row, weights2, sees) => {
  const line4 = Math.floor(row / per) * columns;
  weights2.forEach((weight, key) => {
    const at = line4 + Math.floor(key / per);
    if (sees[key]) picture2[at] = Math.max(picture2[at], weight);
  });
};
function meansOf({ data, head: head2 }, place, facts2) {
  const [queries, keys] = [axisAt(data, place, "queries"), axisAt(data, place, "keys")];
  const real = realTokens(data, queries);
  const rows = indices(facts2.length).filter((row) => real[row]);
  const seeing = rows.filter((row) => facts2[row].visible > 0);
  const several = rows.filter((row) => facts2[row].visible > 1);
  const start2 = firstReal(data, place);
  const before2 = (head2(place).whole.q_offset ?? 0) - 1;
  const paired = several.filter((row) => facts2[row].sees(row + before2));
  const mean = (some, number2) => some.length ? average(some.map(number2)) : null;
  const sinks = data.layers[place.layer].sinks !== null;
  return {
    entropy: mean(seeing, (row) => facts2[row].entropy),
    sink: sinks ? mean(seeing, (row) => facts2[row].sink) : null,
    first_share: mean(several, (row) => facts2[row].share(start2)),
    previous_share: queries === keys ? mean(paired, (row) => facts2[row].share(row + before2)) : null
  };
}

// src/static_heads.js
var RULE = "summed over the key word's tokens, averaged over the query word's tokens";
var MOST_FACTS2 = 2 ** 30;
var written2 = (n) => n.toLocaleString("en");
async function grid(file, args) {
  const { places: places2, what } = chosen2(file, args);
  const words2 = word(args, "words", ["0", "1"]) === "1";
  if (words2 && (args.rows !== void 0 || args.keys !== void 0))
    refuse("words", "are summed over the whole grid. Leave out rows and keys.");
  const { q_len, kv_len } = file.data.info.layers[places2[0].layer].sizes;
  const rows = span2(args, "rows", q_len);
  const keys = span2(args, "keys", kv_len);
  checkCells(rows[1] - rows[0], keys[1] - keys[0], file.data.info.limits.grid_cells);
  const spelt = words2 ? wordsOf(file.data, places2[0]) : null;
  const tokens = await exact2(file, places2, spread(rows), spread(keys));
  const part = spelt ? byWords2(tokens, spelt.queries, spelt.keys) : tokens;
  const json = {
    what,
    rows,
    keys,
    shape: [part.rows, part.keys],
    sink: part.sink && Array.from(part.sink),
    rule: spelt && RULE,
    row_labels: spelt && spelt.queries.texts,
    key_labels: spelt && spelt.keys.texts,
    row_words: spelt && spelt.queries.tokens,
    key_words: spelt && spelt.keys.tokens
  };
  return { json, bytes: bytesOf(part) };
}
function checkCells(rows, keys, most) {
  if (rows * keys > most)
    refuse(
      "grid",
      `must have at most ${written2(most)} cells; ${written2(rows)} x ${written2(keys)} are ${written2(rows * keys)}. Give rows and keys, e.g. rows=0:512.`
    );
}
var spread = ([start2, stop]) => indices(stop - start2).map((i) => start2 + i);
function wordsOf(data, place) {
  const queries = data.words[axisAt(data, place, "queries")];
  const keys = data.words[axisAt(data, place, "keys")];
  if (queries && keys) return { queries, keys };
  return refuse(
    "words",
    "must be known to be summed; this capture does not say which tokens make a word. Look at tokens."
  );
}
async function facts(file, args) {
  const { places: places2, what } = chosen2(file, args);
  const { q_len, kv_len } = file.data.info.layers[places2[0].layer].sizes;
  if (places2.length * q_len * kv_len > MOST_FACTS2)
    refuse(
      "facts",
      `must take at most ${written2(MOST_FACTS2)} weights to work out; ${written2(places2.length)} x ${written2(q_len)} x ${written2(kv_len)} are more. Lookup.inspect has no limit.`
    );
  const found = [];
  for (const place of places2) found.push(await headFacts(file, place));
  const told2 = Object.fromEntries(
    Object.keys(found[0]).map((name) => [name, meanOf(found.map((one) => one[name]))])
  );
  return { json: { ...told2, what, backend: BACKEND }, bytes: null };
}
function meanOf(arrays2) {
  const length = arrays2.find((array) => array !== null)?.length;
  if (length === void 0) return null;
  return indices(length).map((i) => average(arrays2.map((array) => array ? array[i] : 0)));
}
async function headFacts(file, place) {
  const head2 = file.head(place);
  const received = indices(head2.kv_len).map(() => 0);
  const real = realTokens(file.data, axisAt(file.data, place, "queries"));
  const rows = await readHead(file, place, (row, weights2) => {
    if (real[row]) weights2.forEach((weight, key) => received[key] += weight);
  });
  const start2 = firstReal(file.data, place);
  const each = (fact) => rows.map(fact);
  return {
    entropy: each(({ entropy }) => entropy),
    received,
    sink: head2.whole.sink !== null ? each(({ sink }) => sink) : null,
    max_score: each(({ max_score }) => max_score),
    first_share: start2 < head2.kv_len ? each(({ sum: sum2 }) => sum2(start2)) : null,
    visible: each(({ visible }) => visible)
  };
}
async function everywhere(file, args) {
  const { layers } = file.data.info;
  const like = whole2(args, "layer", layers.length);
  const batch = whole2(args, "batch", layers[like].sizes.batch);
  const query = whole2(args, "query", layers[like].sizes.q_len, null);
  const told2 = [];
  const pause = pacer();
  for (const layer of layersLike(file.data, like, batch)) {
    const heads = [];
    for (const head2 of layers[layer].heads.keys()) {
      heads.push(strongest2(file, { layer, batch, head: head2 }, query));
      await pause();
    }
    told2.push({ layer, heads });
  }
  return { json: { query, layers: told2 }, bytes: null };
}
function strongest2(file, place, query) {
  const problem = file.head(place).row(query);
  const { weights: weights2 } = readRow(problem, query);
  const sees = problem.visible[query];
  if (!sees.some(Boolean)) return { key: -1, weight: 0, entropy: 0 };
  if (weights2.some(Number.isNaN)) return { key: -1, weight: NaN, entropy: NaN };
  const best = weights2.reduce((most, w, key2) => sees[key2] ? Math.max(most, w) : most, -1);
  const key = weights2.findIndex((w, at) => sees[at] && w === best);
  return { key, weight: best, entropy: entropyOf(weights2) };
}

// src/host_static.js
var BLOCK = "softlookup-data";
var MOST_KEYS = 256;
var MOST_CELLS2 = 64;
var HEAD = ["capture", "layer", "batch", "head"];
var OPERATIONS = {
  info: { names: ["capture"], answer: ({ data }) => only2(data.info) },
  arrays: { names: HEAD, answer: arrays },
  trace: { names: [...HEAD, "row", "top"], answer: trace },
  weights: { names: [...HEAD, "rows", "keys"], answer: weights },
  overview: { names: ["capture", "layer", "batch", "heads"], answer: overview },
  grid: { names: [...HEAD, "like", "rows", "keys", "words"], answer: grid },
  facts: { names: [...HEAD, "like"], answer: facts },
  everywhere: { names: ["capture", "layer", "batch", "query"], answer: everywhere },
  ...byProgram({
    map: ["work"],
    tile: ["level", "i", "j"],
    at: ["query", "key"],
    block: ["rows", "keys"],
    strongest: ["rows", "keys", "count"],
    profile: ["work"],
    strip: ["axis", "span", "buckets"],
    head: ["work"],
    survey: []
  }),
  lesson: { names: [], answer: ({ data }) => only2(data.lesson) },
  exercise: { names: ["skill", "seed"], answer: () => noQuestions("exercise") },
  check: { names: ["skill", "seed", "answer"], answer: () => noQuestions("check") }
};
var OPS = Object.keys(OPERATIONS);
function staticHost() {
  const block = document.getElementById(BLOCK);
  return block && hostOf(block.textContent ?? "");
}
function hostOf(text) {
  let file = null;
  return {
    inFile: true,
    inCell: globalThis.location?.protocol === "about:",
    // a frame has no address to copy
    async call(op, args = {}) {
      file ??= openText(text);
      if (!Object.hasOwn(OPERATIONS, op))
        refuse("op", `must be one of ${OPS.join(", ")}; got '${op.slice(0, 40)}'.`);
      const { names: names2, answer } = OPERATIONS[op];
      const stranger = Object.keys(args).find((name) => !names2.includes(name));
      if (stranger !== void 0)
        refuse(op, `has no argument '${stranger.slice(0, 40)}'. It has ${listed(names2)}.`);
      word(args, "capture", [file.data.info.capture]);
      return answer(file, args);
    }
  };
}
var listed = (names2) => names2.length ? names2.join(", ") : "none";
function openText(text) {
  try {
    return openData(JSON.parse(text));
  } catch {
    throw new HostError("The numbers in this file are damaged. Export it again.", "refused");
  }
}
function byProgram(ops) {
  return Object.fromEntries(
    Object.entries(ops).map(([op, names2]) => [
      op,
      { names: [...HEAD, ...names2], answer: () => noMaps(op) }
    ])
  );
}
function noMaps(op) {
  return refuse(
    op,
    "maps, and the table of all heads, are worked out by the program, not by a file. Run softlookup show."
  );
}
function noQuestions(op) {
  return refuse(
    op,
    "exercises are asked and checked by the program, not by a file. Run softlookup show."
  );
}
var only2 = (json) => ({ json, bytes: null });
function placeOf({ data }, args) {
  const layer = whole2(args, "layer", data.info.layers.length);
  const { sizes } = data.info.layers[layer];
  const batch = whole2(args, "batch", sizes.batch);
  return { layer, batch, head: whole2(args, "head", sizes.heads) };
}
function arrays(file, args) {
  const place = placeOf(file, args);
  const reason = file.data.info.layers[place.layer].editable_reason;
  if (reason) refuse("arrays", `go to the page only where they can be edited. ${reason}`);
  const head2 = file.head(place);
  const rows = Array.from({ length: head2.q_len }, (_, i) => head2.row(i));
  const { query, key, value, sink, scale: scale2, softcap, q_offset } = head2.whole;
  const visible = rows.map((problem, i) => problem.visible[i]);
  const has = file.data.layers[place.layer].bias !== null;
  const bias = has ? rows.map((problem, i) => (problem.bias ?? [])[i]) : null;
  return only2({ query, key, value, visible, bias, sink, scale: scale2, softcap, q_offset });
}
function trace(file, args) {
  const place = placeOf(file, args);
  const head2 = file.head(place);
  const row = whole2(args, "row", head2.q_len, null);
  const standard = file.data.info.limits.ledger_keys;
  const top3 = whole2(args, "top", MOST_KEYS + 1, standard, 1);
  return only2(traceRow(head2.row(row), row, top3));
}
async function weights(file, args) {
  const place = placeOf(file, args);
  const head2 = file.head(place);
  const rows = wholes(args, "rows", head2.q_len, MOST_CELLS2);
  const keys = wholes(args, "keys", head2.kv_len, MOST_CELLS2);
  const part = await exact2(file, [place], rows, keys);
  const lines = rows.map((_, i) => [i * keys.length, (i + 1) * keys.length]);
  return only2({
    weights: lines.map(([start2, stop]) => Array.from(part.weights.slice(start2, stop))),
    visible: lines.map(([start2, stop]) => Array.from(part.visible.slice(start2, stop), Boolean))
  });
}

// src/host_widget.js
var SOON = 700;
var PATIENCE2 = 1500;
var LONG2 = 3e4;
var LARGEST2 = 4e6;
var BUSY = "The kernel is busy: this goes on by itself when it is free.";
var BUSY_HERE = "The kernel is busy: until it is free this page works out what it can.";
var SILENT = "The kernel has been silent for long: this goes on by itself once it is free; if it was restarted, run this cell again, after the cells that it needs.";
var GONE = "The kernel no longer knows this view: run its cell again, after the cells that it needs.";
var GONE_HERE = `${GONE} Until then this page works out what it can.`;
function widgetHost() {
  return new Promise((found) => {
    const hear = (event) => {
      const [port] = event.ports;
      if (event.source !== parent || event.data?.softlookup !== "port" || !port) return;
      removeEventListener("message", hear);
      found(hostOn(port, event.data));
    };
    addEventListener("message", hear);
    parent.postMessage({ softlookup: "ready" }, "*");
  });
}
function hostOn(port, { place = "", theme = "light", live = true }) {
  const line4 = new Line(port, live);
  let themed = null;
  port.onmessage = ({ data }) => {
    if (data.theme) themed?.(theme = data.theme);
    else line4.hear(data);
  };
  let written3 = place;
  return {
    inCell: true,
    call: (op, args = {}) => line4.ask(op, args),
    said: (say) => line4.said(say),
    theme: {
      now: () => theme,
      follow: (changed3) => {
        themed = changed3;
        return () => themed = null;
      }
    },
    address: {
      read: () => written3 ? `#${written3}` : "",
      write: (state) => {
        const hash = toHash(state);
        if (hash !== written3) port.postMessage({ place: written3 = hash });
      },
      follow: () => () => {
      }
    },
    pass: (event) => port.postMessage({ key: keyOf2(event) })
  };
}
var keyOf2 = ({ key, code, keyCode, ctrlKey, metaKey, altKey, shiftKey }) => ({
  ...{ key, code, keyCode, ctrlKey, metaKey, altKey, shiftKey }
});
var Line = class {
  /** @type {Map<string, Waiting>} */
  #waiting = /* @__PURE__ */ new Map();
  /** @type {Map<string, import("./types.js").Host>} */
  #numbers = /* @__PURE__ */ new Map();
  // by capture: its numbers, in this page
  /** @type {Set<string>} */
  #fetched = /* @__PURE__ */ new Set();
  #count = 0;
  #timer = 0;
  // until the kernel is asked whether it hears; 0: nothing is waited for
  #silent = false;
  // it was asked and said nothing
  /** @type {(sentence: string) => void} */
  #say = () => {
  };
  #said = "";
  /** @param {MessagePort} port @param {boolean} live  somebody is at the other end */
  constructor(port, live) {
    this.port = port;
    this.live = live;
    this.name = Math.random().toString(36).slice(2);
  }
  /** @param {(sentence: string) => void} say  is told at once, and whenever it changes */
  said(say) {
    this.#say = say;
    say(this.#said);
  }
  /** @param {string} op @param {Args} args @returns {Promise<Answer>} */
  ask(op, args) {
    return new Promise((resolve, reject) => {
      const id = `${this.name}.${this.#count += 1}`;
      const waiting3 = { op, args, resolve, reject, here: false, early: false };
      this.#waiting.set(id, waiting3);
      if (this.#silent || !this.live) this.#answerHere(id, waiting3);
      if (!this.live) this.#giveUp();
      else if (!waiting3.here) {
        this.port.postMessage({ id, op, args });
        this.#watch();
      }
    });
  }
  /** @param {any} data */
  hear({ id, json, bytes, gone: gone2 }) {
    if (gone2) {
      this.#lost();
      return;
    }
    this.#silent = false;
    this.#tell("");
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (id === this.#here) this.#askAgain(json.working);
    const waiting3 = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting3) settle(waiting3, json, bytes);
    if (waiting3?.op === "info" && json?.ok !== false) this.#fetchNumbers(json);
    if (this.#waiting.size) this.#watch();
  }
  /** Is anybody there? Asked where an answer does not come; a kernel that computes says yes. */
  #watch() {
    this.#timer ||= Number(setTimeout(() => this.#isThere(PATIENCE2), SOON));
  }
  /** @param {number} patience */
  #isThere(patience) {
    this.#timer = 0;
    if (!this.#waiting.size && !this.#silent) return;
    for (const waiting3 of this.#waiting.values()) waiting3.early = true;
    this.port.postMessage({ id: this.#here, op: "here" });
    this.#timer = Number(setTimeout(() => this.#unheard(), patience));
  }
  get #here() {
    return `${this.name}.here`;
  }
  /**
   * The kernel hears, and works on these. Answers come in the order in which they are sent: what is
   * neither here nor worked on was lost on its way.
   * @param {string[]} working
   */
  #askAgain(working) {
    for (const [id, { op, args, here, early }] of this.#waiting)
      if (early && !here && !working.includes(id)) this.port.postMessage({ id, op, args });
  }
  #unheard() {
    this.#timer = 0;
    this.#tell(this.#silent ? SILENT : this.#canHelp() ? BUSY_HERE : BUSY);
    this.#silent = true;
    for (const [id, waiting3] of this.#waiting) this.#answerHere(id, waiting3);
    this.#timer = Number(setTimeout(() => this.#isThere(LONG2), LONG2));
  }
  #lost() {
    this.live = false;
    clearTimeout(this.#timer);
    for (const [id, waiting3] of this.#waiting) this.#answerHere(id, waiting3);
    this.#giveUp();
  }
  /** Nobody will answer what this page cannot work out. */
  #giveUp() {
    this.#tell(this.#canHelp() ? GONE_HERE : GONE);
    for (const [id, { here, reject }] of this.#waiting) {
      if (here) continue;
      this.#waiting.delete(id);
      reject(new HostError(GONE, "gone"));
    }
  }
  #canHelp() {
    return this.#numbers.size > 0;
  }
  /** @param {string} sentence */
  #tell(sentence2) {
    if (sentence2 === this.#said) return;
    this.#said = sentence2;
    this.#say(sentence2);
  }
  /** Small captures come into the page, for the time when nobody answers.  @param {any} info */
  #fetchNumbers({ capture }) {
    if (this.#fetched.has(capture)) return;
    this.#fetched.add(capture);
    this.ask("numbers", { capture, most: String(LARGEST2) }).then(
      ({ bytes }) => {
        if (bytes) this.#numbers.set(capture, hostOf(new TextDecoder().decode(bytes)));
      },
      () => {
      }
      // too large, or nobody there
    );
  }
  /** @param {string} id @param {Waiting} waiting */
  #answerHere(id, waiting3) {
    const { op, args, resolve } = waiting3;
    const numbers = this.#numbers.get(args.capture ?? "") ?? [...this.#numbers.values()][0];
    if (waiting3.here || !numbers || !HERE.has(op)) return;
    if (args.capture && !this.#numbers.has(args.capture)) return;
    waiting3.here = true;
    numbers.call(op, args).then(
      (answer) => {
        if (this.#waiting.delete(id)) resolve(answer);
      },
      (error) => {
        if (this.#waiting.delete(id)) waiting3.reject(error);
      }
    );
  }
};
var HERE = /* @__PURE__ */ new Set(["arrays", "trace", "weights", "overview", "grid", "facts", "everywhere"]);
function settle({ op, resolve, reject }, json, bytes) {
  if (json?.ok === false) reject(new HostError(json.error, "refused", json.argument));
  else if (json) resolve({ json, bytes: bytes ? new Uint8Array(bytes) : null });
  else reject(new HostError(`The kernel's answer to “${op}” was empty. Run this cell again.`, "gone"));
}

// src/edges.js
var SLACK2 = 2;
function markEdges(shadow) {
  for (const box of shadow.querySelectorAll(".scroll")) {
    const left3 = box.scrollLeft > SLACK2;
    const right = box.scrollLeft + box.clientWidth < box.scrollWidth - SLACK2;
    const more = [left3 && "left", right && "right"].filter(Boolean).join(" ");
    if (more) box.setAttribute("data-more", more);
    else box.removeAttribute("data-more");
  }
}

// src/glance.js
var glance = ({ formula, exactly }) => h(
  "span",
  { "data-glance": "pair" },
  h("span", { class: "formula" }, isolated(formula)),
  formula && exactly ? " " : "",
  h("span", { class: "exactly" }, isolated(exactly))
);

// src/thumbs.js
var TEXT2 = 90;
var headArg = ({ stage, head: head2 }) => `${stage}.${head2}`;
var same = (a, b) => b !== null && a.stage === b.stage && a.head === b.head;
function overviewPart(scene, layout) {
  const { state } = scene;
  const { layers } = state.capture;
  const heads = Math.max(...layers.map((layer) => layer.sizes.heads));
  const refusals = new Set(layers.map((_, stage) => scene.overviewRefused(stage)).filter(Boolean));
  const title = `${counted(layers.length, "layer")} × ${counted(heads, "head")}: who reads whom`;
  return h(
    "section",
    { class: "overview-part", "data-key": "overview", "aria-labelledby": "overview-title" },
    h("div", { class: "titled" }, h("h2", { id: "overview-title" }, title), overviewTools(scene)),
    h("div", { class: "scroll" }, thumbsTable(scene, layout)),
    [...refusals].map((sentence2) => h("p", { class: "quiet" }, sentence2)),
    layers.some((_, stage) => isTooLong(state, stage)) && tooLong(),
    h(
      "p",
      { class: "thumb-line quiet", "data-glance": "thumb", title: MEANINGS },
      isolated(thumbLine(scene))
    )
  );
}
function tooLong() {
  const view = (name, text) => h("button", { type: "button", class: "link", "data-act": "view", "data-arg": name }, text);
  return h(
    "p",
    { class: "too-long" },
    "Too long for thumbnails: see ",
    view("map", "the map of one head"),
    ", or ",
    view("table", "the table of all"),
    "."
  );
}
function overviewTools({ state }) {
  const range3 = (arg, text, on) => h(
    "button",
    {
      type: "button",
      "data-act": "first",
      "data-arg": arg,
      "aria-pressed": String(on),
      tabindex: on ? 0 : -1
    },
    text
  );
  return h(
    "div",
    { class: "switches" },
    h("span", { class: "quiet" }, "colours"),
    h(
      "span",
      { class: "choice", role: "group", "aria-label": "range of the colours" },
      range3("1", "all keys", state.first),
      range3("0", "without the first", !state.first)
    )
  );
}
function thumbLine(scene) {
  const { state } = scene;
  const open4 = state.open ? { stage: state.stage, head: state.head } : null;
  const at = state.over ?? open4;
  if (at) return headWords(scene, at);
  const most = state.theme === "dark" ? "bright" : "dark";
  return state.picked ? "The marked row is the picked query’s; below each head stands what it reads most there." : `Each small grid is one head: queries down, keys across, ${most} where a query reads most. Open one.`;
}
function thumbsTable(scene, layout) {
  const { layers } = scene.state.capture;
  const numbers = layers[0].heads;
  const alike3 = layers.every(({ heads }) => heads.join() === numbers.join());
  const head2 = h(
    "tr",
    {},
    h("td", {}),
    numbers.map(
      (number2) => h("th", { scope: "col" }, h("span", { class: "unseen" }, "head "), String(number2))
    )
  );
  return h(
    "table",
    {
      class: "thumbs",
      "aria-labelledby": "overview-title",
      vars: {
        "--thumb": `${layout.thumb}px`,
        "--column": `${layout.column}px`,
        "--label": `${layout.label}px`
      }
    },
    alike3 && h("thead", {}, head2),
    h(
      "tbody",
      {},
      layers.map((_, stage) => layerRow(scene, stage, !alike3))
    )
  );
}
function layerRow(scene, stage, numbered) {
  const layer = scene.state.capture.layers[stage];
  const word2 = layer.label.slice(0, -String(layer.number).length);
  return h(
    "tr",
    {},
    h(
      "th",
      { scope: "row", title: layer.name || null },
      h("span", {}, h("bdi", { class: "layer-word" }, word2), h("b", {}, String(layer.number)))
    ),
    layer.heads.map(
      (number2, head2) => h("td", {}, thumb(scene, { stage, head: head2 }, numbered ? `head ${number2}` : ""))
    )
  );
}
function thumb(scene, at, number2) {
  const { state } = scene;
  const open4 = state.open && same(at, { stage: state.stage, head: state.head });
  const second = scene.second !== null && same(at, state.compare);
  const kinds = ["thumb", open4 && "open", second && "second"].filter(Boolean).join(" ");
  return h(
    "button",
    {
      type: "button",
      class: kinds,
      "data-act": "open",
      "data-arg": headArg(at),
      "aria-label": `${headWords(scene, at)}${second ? "; compared" : ""}`,
      "aria-pressed": String(open4),
      tabindex: same(at, state.thumb) ? 0 : -1
    },
    h(
      "span",
      { class: "picture" },
      h("canvas", { "data-paint": "thumb", "data-arg": headArg(at) })
    ),
    number2 && h("span", { class: "most" }, number2),
    state.picked && caption(scene, at)
  );
}
function caption(scene, at) {
  const most = scene.everywhere(at);
  const { tokens } = scene.keys;
  const text = !most ? "" : most.key < 0 ? "none" : shortName(tokens[most.key]);
  return h(
    "span",
    { class: "most" },
    h("bdi", {}, text),
    h("b", {}, most && most.key >= 0 ? briefly(most.weight) : "")
  );
}
function piece({ state, queries }, position, stop) {
  const { tokens } = queries;
  const on = state.picked && position === state.row;
  const note = noteOf(queries, position);
  return h(
    "button",
    {
      type: "button",
      class: ["piece", on && "picked", kindOf(queries, position)].filter(Boolean).join(" "),
      "data-act": "ask",
      "data-arg": position,
      "aria-pressed": String(on),
      "aria-label": `query ${tokenName(tokens, position)}${note}`,
      title: `${readable(tokens[position])}${note}`,
      tabindex: position === stop ? 0 : -1
    },
    h("bdi", {}, shortName(tokens[position]))
  );
}
function textPart(scene) {
  const { state, queries } = scene;
  const length = queries.tokens.length;
  const around2 = state.picked ? state.row : 0;
  const start2 = Math.max(0, Math.min(around2 - TEXT2 / 2, length - TEXT2));
  const shown = Array.from({ length: Math.min(TEXT2, length) }, (_, i) => start2 + i);
  const stop = state.picked ? state.row : start2;
  const title = "The text, token by token: pick the one that asks";
  return h(
    "section",
    { class: "text-part", "data-key": "text", "aria-labelledby": "text-title" },
    h("div", { class: "titled" }, h("h2", { id: "text-title" }, title), places(scene)),
    h(
      "div",
      { class: "pieces", role: "group", "aria-labelledby": "text-title" },
      start2 > 0 && h("span", { class: "quiet" }, "…"),
      shown.flatMap((position) => [
        position === queries.prompt && h("span", { class: "quiet" }, "written:"),
        piece(scene, position, stop)
      ]),
      start2 + TEXT2 < length && h("span", { class: "quiet" }, "…")
    )
  );
}
function places({ state, queries }) {
  const { batch } = state.info.sizes;
  const n = queries.tokens.length;
  const field3 = (name, label, value, most) => h(
    "label",
    {},
    `${label} `,
    h("input", { type: "number", min: 0, max: most, step: 1, value, "data-change": name }),
    ` of 0 … ${most.toLocaleString("en")}`
  );
  return h(
    "div",
    { class: "switches fields-line" },
    batch > 1 && field3("batch", "text", state.batch, batch - 1),
    n > TEXT2 && field3("ask", "query", state.picked ? state.row : 0, n - 1),
    state.picked && h("button", { type: "button", class: "link", "data-act": "unpick" }, "pick none")
  );
}

// src/head_tools.js
var AVERAGES2 = [
  ["none", "this head"],
  ["heads", "mean over heads"],
  ["layers", "over layers"],
  ["both", "over both"]
];
var pressed = (act, arg, text, on) => h(
  "button",
  {
    type: "button",
    "data-act": act,
    "data-arg": arg,
    "aria-pressed": String(on),
    tabindex: on ? 0 : -1
  },
  text
);
var choice = (name, buttons) => h("span", { class: "choice", role: "group", "aria-label": name }, buttons);
function headTools(scene) {
  const { state, words: words2, hasWords: hasWords2 } = scene;
  const possible = AVERAGES2.filter(([name]) => isPossible(state, name));
  return h(
    "div",
    { class: "head-tools" },
    possible.length > 1 && choice(
      "one head or a mean",
      possible.map(([name, text]) => pressed("average", name, text, state.average === name))
    ),
    hasWords2 && choice("tokens or words", [
      pressed("words", "0", "tokens", !words2),
      pressed("words", "1", "words", words2)
    ])
  );
}
function isPossible(state, name) {
  const { capture, stage, head: head2 } = state;
  const { heads } = capture.layers[stage];
  const alike3 = capture.layers.filter((_, other2) => isAlike(state, other2, stage));
  if (name === "heads") return heads.length > 1;
  if (name === "layers") return alike3.filter((one) => one.heads.includes(heads[head2])).length > 1;
  if (name === "both") return alike3.length > 1 && alike3.flatMap((one) => one.heads).length > 1;
  return true;
}
function compareTools({ state, second }) {
  const { capture, stage, head: head2 } = state;
  const others = capture.layers.flatMap(
    (layer, other2) => isAlike(state, other2, stage) ? layer.heads.map((number2, i) => ({
      at: { stage: other2, head: i },
      text: `${layer.label}, head ${number2}`
    })) : []
  );
  if (others.length < 2) return null;
  const options = others.filter(({ at }) => at.stage !== stage || at.head !== head2 || state.average !== "none").map(
    ({ at, text }) => h(
      "option",
      { value: headArg(at), selected: second !== null && headArg(at) === headArg(second.at) },
      text
    )
  );
  const none = h("option", { value: "", selected: second === null }, "nothing");
  return h(
    "label",
    { class: "compare" },
    "compare with ",
    h("select", { "data-choose": "compare" }, none, options)
  );
}
function saveTools({ capture, inFile }, what) {
  const save2 = (kind) => h(
    "button",
    {
      type: "button",
      class: "link",
      "data-act": "save",
      "data-arg": kind.toLowerCase(),
      "aria-label": `${what} as ${kind}`
    },
    kind
  );
  return h(
    "span",
    { class: "save", role: "group", "aria-label": what },
    h("span", { class: "quiet" }, `${what} as `),
    save2("PNG"),
    save2("SVG"),
    save2("CSV"),
    save2("JSON"),
    !inFile && exportCommand(capture) && h(
      "button",
      {
        type: "button",
        class: "link",
        "data-act": "save-page",
        title: "a command for your terminal: it writes this capture as one HTML file"
      },
      "copy the export command"
    )
  );
}
function partTools({ state, windowed }) {
  if (!windowed) return null;
  const { rows, keys } = partOf(state);
  const { q_len, kv_len } = state.info.sizes;
  const side = (name, label, [from, upTo], length) => length > upTo - from && h(
    "span",
    { class: "part-side" },
    step2(`${name}:-1`, "‹", `${label} before`, from === 0),
    h(
      "label",
      {},
      `${label} `,
      h("input", {
        type: "number",
        min: 0,
        max: Math.max(0, length - WINDOW2),
        step: 1,
        value: from,
        "data-change": `part-${name}`
      }),
      ` … ${upTo - 1} of ${length.toLocaleString("en")}`
    ),
    step2(`${name}:1`, "›", `${label} after`, upTo === length)
  );
  return h(
    "div",
    { class: "part-tools", role: "group", "aria-label": "the part that is shown" },
    side("row", "queries", rows, q_len),
    side("key", "keys", keys, kv_len)
  );
}
var step2 = (arg, sign2, label, off) => h(
  "button",
  {
    type: "button",
    class: "step-by",
    "data-act": "part-by",
    "data-arg": arg,
    "aria-label": label,
    disabled: off
  },
  sign2
);

// src/heads_layout.js
var WIDEST2 = 1360;
var BESIDE2 = 1180;
var OVERVIEW = 516;
var NARROW2 = 600;
var GAP3 = 24;
var LONG3 = 240;
var [LEAST3, MOST6, MOST_BELOW] = [23, 112, 56];
var BETWEEN = 4;
var COLUMN = 84;
var AROUND2 = 290;
var LEAST_LABEL = 24;
var SINK_ROOM = 34;
var LISTS = 320;
function layoutOf(state) {
  const { room, tall, open: open4, compare, info, capture } = state;
  const narrow = room < NARROW2;
  const page = Math.min(WIDEST2, room) - (room < 860 ? 32 : 56);
  const long = info.sizes.kv_len > LONG3 || info.sizes.q_len > LONG3;
  const beside = open4 && room >= BESIDE2 && !compare && !long;
  const name = !open4 ? "alone" : beside ? "beside" : "below";
  const heads = Math.max(1, ...capture.layers.map(({ sizes }) => sizes.heads));
  const overview2 = beside ? OVERVIEW : page;
  const longest = Math.max(...capture.layers.map((layer) => layer.label.length));
  const wanted = Math.min(132, Math.max(62, 7 * longest + 12));
  const left3 = overview2 - heads * (LEAST3 + BETWEEN);
  const label = narrow ? LEAST_LABEL : Math.max(LEAST_LABEL, Math.min(wanted, left3));
  const widest = Math.floor((overview2 - label) / heads) - BETWEEN;
  const most = name === "below" ? MOST_BELOW : Math.min(MOST6, highest(capture.layers.length, tall));
  const thumb2 = Math.max(LEAST3, Math.min(most, widest));
  const names2 = narrow ? 74 : 96;
  const both = compare && room >= 860 ? (page - GAP3) / 2 : page;
  const figure5 = beside ? page - OVERVIEW - GAP3 : both;
  const width = figure5 - names2 - THICKNESS - 8;
  return {
    name,
    thumb: thumb2,
    column: Math.max(thumb2, Math.min(widest, COLUMN)),
    label,
    names: names2,
    aside: (width2) => name === "below" && !compare && width2 + names2 + THICKNESS + LISTS + GAP3 <= page,
    cell: (rows, keys, sink) => cellSize(
      rows,
      keys,
      Math.max(LEAST_GRID, Math.min(width, sideOf(Math.max(rows, keys), tall))) - (sink ? SINK_ROOM : 0)
    )
  };
}
function highest(layers, tall) {
  const high = Math.floor((tall - AROUND2) / layers) - BETWEEN;
  return high < MOST_BELOW ? Infinity : high;
}
var LEAST_GRID = 180;
var [SIDE2, LARGEST_SIDE] = [560, 760];
var LABEL2 = 11;
var ABOVE = 450;
function sideOf(tokens, tall) {
  const labelled = Math.min(LARGEST_SIDE, Math.max(LABEL2 * tokens, SIDE2 / 2));
  return Math.max(labelled, Math.min(SIDE2, tall - ABOVE));
}

// src/heads_strips.js
function stripsOf({ words: words2 }, { grid: grid2, facts: facts2 }) {
  if (!grid2) return { entropy: [], received: [], of: "" };
  if (words2 || !facts2) return { ...summed(grid2), of: words2 ? "" : ", in the shown part" };
  const [rows, keys] = grid2.shape;
  return {
    entropy: facts2.entropy.slice(grid2.rowAt, grid2.rowAt + rows),
    received: facts2.received.slice(grid2.keyAt, grid2.keyAt + keys),
    of: ""
  };
}
function stripScales(scene) {
  const strips = [scene.first, scene.second].flatMap(
    (view) => view?.grid ? [stripsOf(scene, view)] : []
  );
  const all = (name) => strips.flatMap((one) => Array.from(one[name]));
  return {
    entropy: stripScale(all("entropy")),
    received: stripScale(all("received"), { log: true })
  };
}
function summed({ shape: [rows, columns], weights: weights2, padded }) {
  const entropy = new Float64Array(rows);
  const received = new Float64Array(columns);
  for (let i = 0; i < weights2.length; i++) {
    const weight = weights2[i];
    const r = Math.floor(i / columns);
    if (!padded?.[r]) received[i % columns] += weight;
    if (weight !== 0) entropy[r] -= weight * Math.log(weight);
  }
  return { entropy, received };
}

// src/head_part.js
var BELOW = 96;
var LETTER = 6.6;
var LEAST_ABOVE = 34;
function headPart(scene, layout) {
  const { first, second, state } = scene;
  if (!first) return null;
  const name = viewName(first, state.capture);
  const cell3 = cellOf(scene, first, layout);
  const aside = first.grid !== null && layout.aside(gridWidth(first.grid, cell3));
  return h(
    "section",
    { class: "head-part", "data-key": "head", "aria-labelledby": "head-title" },
    h(
      "div",
      { class: "titled" },
      h("h2", { id: "head-title", class: "headline", tabindex: -1 }, upper(name)),
      compareTools(scene),
      h("button", { type: "button", class: "link", "data-act": "close-head" }, "all heads, larger")
    ),
    headTools(scene),
    partTools(scene),
    pairRow(scene),
    h(
      "div",
      { class: aside ? "head-body aside" : "head-body" },
      h(
        "div",
        { class: second ? "figures-pair" : "figures-one" },
        figure(scene, first, "first", layout, second ? upper(name) : ""),
        second && figure(scene, second, "second", layout, upper(viewName(second, state.capture)))
      ),
      layout.name !== "beside" && readsPart(scene)
    ),
    first.rule && h("p", { class: "quiet" }, `Words: ${first.rule}.`),
    saveTools(state, second ? `save ${name}` : "save")
  );
}
function pairRow(scene) {
  const steps = h(
    "button",
    { type: "button", class: "plain", "data-act": "row-steps" },
    "steps of this row, below ",
    h("span", { "aria-hidden": "true" }, "↓")
  );
  return h(
    "div",
    { class: "pair-row" },
    h("output", { class: "readout pair", id: "pair", "aria-live": "polite" }, pairLine(scene)),
    scene.ledger && steps
  );
}
function readsPart(scene) {
  return scene.first && h("div", { class: "said", "data-key": "said" }, lists(scene));
}
var upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
function pairLine(scene) {
  return glance(pairWords(scene));
}
function glanced(scene) {
  const layout = layoutOf(scene.state);
  const views2 = (
    /** @type {[Which, HeadView | null][]} */
    [
      ["first", scene.first],
      ["second", scene.second]
    ]
  );
  return [
    ["thumb", h("p", {}, isolated(thumbLine(scene)))],
    ["pair", pairLine(scene)],
    ...views2.flatMap(([which, view]) => {
      const [rows, keys] = view ? axes(scene, view, which, layout) : [];
      return (
        /** @type {[string, HTMLElement][]} */
        rows && keys ? [
          [`rows ${which}`, rows],
          [`keys ${which}`, keys]
        ] : []
      );
    })
  ];
}
function figure(scene, view, which, layout, title) {
  const { grid: grid2 } = view;
  const above = grid2 ? aboveOf(grid2, cellOf(scene, view, layout), layout) : 0;
  const names2 = { "--names": `${layout.names}px`, "--above": `${above}px` };
  return h(
    "div",
    { class: "head-figure", "data-key": `figure ${which}` },
    title && h("h3", {}, title),
    ...grid2 ? [
      h("div", { class: "scroll" }, heat(scene, view, which, layout, names2)),
      ...legends(scene, view)
    ] : [waiting(scene, view, layout)]
  );
}
function aboveOf({ keyTokens, keyAt, sink }, cell3, layout) {
  const sizes = marksOf(keyTokens, keyAt, cell3).map(
    ({ text, numbered, position }) => letters(text) + (numbered ? 2 + 0.95 * String(position).length : 0)
  );
  const longest = Math.max(sink ? 4 : 0, ...sizes);
  return Math.max(LEAST_ABOVE, Math.min(layout.names, Math.ceil(LETTER * longest) + 14));
}
var letters = (text) => [...text].reduce((sum2, one) => sum2 + ((one.codePointAt(0) ?? 0) < 1424 ? 1 : 1.8), 0);
function waiting({ state }, view, layout) {
  const { rows, keys } = partOf(state);
  const [high, wide] = [rows[1] - rows[0], keys[1] - keys[0]];
  const height = high * layout.cell(high, wide, state.info.options.sinks) + layout.names + BELOW;
  return h(
    "p",
    { class: "quiet panel waiting", vars: view.refused ? {} : { "min-height": `${height}px` } },
    view.refused || "Asking for these weights …"
  );
}
function cellOf({ second, state }, { grid: grid2 }, layout) {
  if (!grid2) return 1;
  const shown = [grid2, second?.grid ?? null];
  const sinks = state.info.options.sinks || shown.some((one) => (one?.sink ?? null) !== null);
  return layout.cell(grid2.shape[0], grid2.shape[1], sinks);
}
function axes(scene, view, which, layout) {
  const { grid: grid2 } = view;
  if (!grid2) return [];
  const cell3 = cellOf(scene, view, layout);
  const [row, key] = scene.picked ?? [null, null];
  const [hoverRow, hoverKey] = scene.at ?? [null, null];
  const marks = ({ padding, prompt }) => scene.words ? {} : { padding, prompt };
  const rows = rowAxis(grid2, {
    cell: cell3,
    picked: row,
    hover: hoverRow,
    ...marks(scene.queries)
  });
  const keys = keyAxis(grid2, {
    cell: cell3,
    picked: key === SINK ? null : key,
    hover: hoverKey,
    ...marks(scene.keys)
  });
  rows.setAttribute("data-glance", `rows ${which}`);
  keys.setAttribute("data-glance", `keys ${which}`);
  return [rows, keys];
}
function heat(scene, view, which, layout, vars) {
  const { grid: grid2 } = view;
  if (!grid2) return null;
  const [rows, keys] = axes(scene, view, which, layout);
  const [height, width] = grid2.shape;
  const things = scene.words ? "words" : "tokens";
  const paint = (what) => h("canvas", { "data-paint": what, "data-arg": which });
  return h(
    "div",
    { class: "heat", vars },
    h(
      "div",
      { class: "heat-corner quiet", "aria-hidden": "true" },
      h("span", {}, "key →"),
      h("span", {}, "query ↓")
    ),
    keys,
    h("div", { class: "strip-name quiet" }, "entropy"),
    rows,
    h(
      "div",
      {
        class: "heat-cells",
        tabindex: 0,
        role: "application",
        "aria-label": `Weights of ${viewName(view, scene.state.capture)}: ${height} × ${width} ${things}. Arrow keys move, Enter picks the query and key.`,
        "aria-describedby": "pair",
        "data-which": which
      },
      paint("grid"),
      paint("lines")
    ),
    paint("entropy"),
    h("div", { class: "strip-name quiet below" }, "received"),
    paint("received")
  );
}
function legends(scene, view) {
  const { grid: grid2 } = view;
  if (!grid2) return [];
  const { of } = stripsOf(scene, view);
  const { entropy, received } = stripScales(scene);
  return [
    heatLegend(grid2, rangeIn(scene), heatColors(scene.state.theme)),
    h(
      "div",
      { class: "strip-legends" },
      stripLegend(`entropy of a row, nats${of}`, entropy),
      stripLegend(`received by a key${of}`, received)
    )
  ];
}
function lists(scene) {
  const { first, picked: picked2, lines, state, words: words2 } = scene;
  if (!first?.grid) return null;
  const { grid: grid2 } = first;
  if (!picked2 || !lines.from) {
    const say = "Pick a query: click a row or a token, and see what it reads, and every step of it.";
    return h("p", { class: "quiet" }, state.picked ? "Asking for this row …" : say);
  }
  const asks = quoted(words2 ? grid2.rowTokens : scene.queries.tokens, picked2[0]);
  const where = scene.second ? `, in ${viewName(first, state.capture)}` : "";
  const rows = words2 ? grid2.rowTokens : scene.queries.tokens;
  const keys = words2 ? grid2.keyTokens : scene.keys.tokens;
  const by = lines.by && readsList(`${quoted(keys, picked2[1])} is read by${where}`, lines.by, rows, { act: "head-row" });
  return [
    h("p", { class: "row-words", title: MEANINGS }, isolated(rowWords(scene))),
    h(
      "div",
      { class: "lists" },
      readsList(`${asks} reads from${where}`, lines.from, keys, { act: "head-key" }),
      by || h("p", { class: "quiet" }, "Pick a key, too, and see which queries read it.")
    ),
    lines.note && h("p", { class: "quiet" }, lines.note)
  ];
}

// src/listen_heads.js
function pairAt2(event, { heads }) {
  const box = event.target instanceof Element ? event.target.closest(".heat-cells") : null;
  const scene = box && heads();
  const view = box?.getAttribute("data-which") === "second" ? scene?.second : scene?.first;
  if (!box || !scene || !view?.grid) return null;
  const { left: left3, top: top3 } = box.getBoundingClientRect();
  const cell3 = cellOf(scene, view, layoutOf(scene.state));
  const found = cellAt(view.grid, cell3, event.clientX - left3, event.clientY - top3);
  return found && [tokenOfPlace(view.rowWords, found.row), tokenOfPlace(view.keyWords, found.key)];
}
function pointed(event, hands) {
  const { state, glance: glance2 } = hands;
  if (state().view !== "heads" || event.pointerType !== "mouse") return;
  const point = pairAt2(event, hands);
  const over = thumbAt(event);
  const before2 = state();
  const moved3 = point?.[0] !== before2.point?.[0] || point?.[1] !== before2.point?.[1];
  if (moved3 || over?.stage !== before2.over?.stage || over?.head !== before2.over?.head)
    glance2({ point, over });
}
function thumbAt(event) {
  const thumb2 = event.target instanceof Element ? event.target.closest(".thumb") : null;
  if (!thumb2) return null;
  const [stage, head2] = (thumb2.getAttribute("data-arg") ?? "").split(".").map(Number);
  return { stage, head: head2 };
}
function unpointed({ state, glance: glance2 }) {
  if (state().point || state().over) glance2({ point: null, over: null });
}
function clickedCell(event, hands) {
  const pair2 = pairAt2(event, hands);
  const named2 = event.pointerType === "mouse" ? hands.state().point : null;
  if (pair2) hands.act("pick", (named2 ?? pair2).join(":"));
}

// src/map_draw.js
function sheetOf(camera, box, ratio) {
  const { left: left3, top: top3, per } = edgesOf(camera, box);
  const cell3 = ratio / per;
  return {
    x: (key) => Math.round((key - left3) * cell3),
    y: (query) => Math.round((query - top3) * cell3),
    cell: cell3
  };
}
function drawMap(pen, { sheet, camera, box, size, level, top: top3, tile, ...look }) {
  const { tileAt, sprite, unknown } = look;
  const world = (
    /** @type {Rect} */
    [
      sheet.x(0),
      sheet.y(0),
      sheet.x(size.keys),
      sheet.y(size.rows)
    ]
  );
  const [left3, above, right, below] = world;
  pen.save();
  pen.beginPath();
  pen.rect(left3, above, Math.max(1, right - left3), Math.max(1, below - above));
  pen.clip();
  pen.fillStyle = unknown;
  pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
  pen.imageSmoothingEnabled = false;
  const places2 = level === null ? [] : tilesIn(camera, box, size, level, tile);
  const tiles = places2.map((at) => ({ at, fine: tileAt(at) }));
  const missing = tiles.filter(({ fine: fine2 }) => !fine2?.whole);
  for (let up = top3; up > (level ?? top3); up -= 1)
    for (const { at } of missing) drawPiece(pen, sheet, at, up, tile, tileAt, sprite);
  for (const { at, fine: fine2 } of tiles) if (fine2) drawTile(pen, sheet, at, fine2, sprite(fine2), tile);
  pen.restore();
}
function drawTile(pen, sheet, { level, i, j }, { rows, columns }, picture2, side) {
  const p = 2 ** level;
  const [x0, y0] = [sheet.x(j * side * p), sheet.y(i * side * p)];
  const [x1, y1] = [sheet.x((j * side + columns) * p), sheet.y((i * side + rows) * p)];
  pen.drawImage(picture2, x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
}
function drawPiece(pen, sheet, at, up, side, tileAt, sprite) {
  const by = 2 ** (up - at.level);
  const [i, j] = [Math.floor(at.i / by), Math.floor(at.j / by)];
  const tile = tileAt({ level: up, i, j });
  if (!tile) return;
  const part = side / by;
  const [row, column] = [Math.floor(at.i % by * part), Math.floor(at.j % by * part)];
  const high = Math.min(Math.ceil(Math.max(1, part)), tile.rows - row);
  const wide = Math.min(Math.ceil(Math.max(1, part)), tile.columns - column);
  if (high <= 0 || wide <= 0) return;
  const p = 2 ** up;
  const [x0, y0] = [sheet.x((j * side + column) * p), sheet.y((i * side + row) * p)];
  const x1 = sheet.x((j * side + column + wide) * p);
  const y1 = sheet.y((i * side + row + high) * p);
  pen.drawImage(
    sprite(tile),
    column,
    row,
    wide,
    high,
    x0,
    y0,
    Math.max(1, x1 - x0),
    Math.max(1, y1 - y0)
  );
}
function palePadding(pen, { x, y }, padding, size, colors) {
  pen.fillStyle = colors.paper;
  pen.globalAlpha = FADED;
  for (const [from, upTo] of padding)
    pen.fillRect(x(0), y(from), x(size.keys) - x(0), y(upTo) - y(from));
  pen.globalAlpha = 1;
}
function unknownFill(colors, ratio) {
  const size = Math.round(8 * ratio);
  const tile = (
    /** @type {HTMLCanvasElement} */
    h("canvas", { width: size, height: size })
  );
  const brush = tile.getContext("2d");
  if (!brush) return colors.paper;
  brush.fillStyle = colors.paper;
  brush.fillRect(0, 0, size, size);
  brush.strokeStyle = colors.hatch;
  brush.lineWidth = 1.5 * ratio;
  for (const shift of [-size, 0, size]) {
    brush.moveTo(shift - size, -size);
    brush.lineTo(shift + 2 * size, 2 * size);
  }
  brush.stroke();
  return brush.createPattern(tile, "repeat") ?? colors.paper;
}
function drawLines(pen, sheet, { cell: cell3, locked, row, key }, colors, ratio) {
  const { width, height } = pen.canvas;
  if (row !== null)
    band(pen, [0, sheet.y(row), width, sheet.y(row + 1)], colors.focus, colors, ratio);
  if (key !== null)
    band(pen, [sheet.x(key), 0, sheet.x(key + 1), height], colors.focus, colors, ratio);
  if (row !== null && key !== null)
    wipe(pen, around(sheet, { rows: [row, row + 1], keys: [key, key + 1] }, ratio));
  if (!cell3) return;
  const color = locked ? colors.focus : colors.ink;
  const rect = around(sheet, cell3, ratio);
  wipe(pen, rect);
  frame(pen, rect, colors.paper, 4 * ratio);
  frame(pen, rect, color, (locked ? 2 : 1.5) * ratio);
}
function around(sheet, { rows, keys }, ratio) {
  const out = (a, b) => {
    const more = Math.max(1, Math.ceil((9 * ratio - (b - a)) / 2));
    return [a - more, b + more];
  };
  const [left3, right] = out(sheet.x(keys[0]), sheet.x(keys[1]));
  const [top3, bottom] = out(sheet.y(rows[0]), sheet.y(rows[1]));
  return [left3, top3, right, bottom];
}
var wipe = (pen, [x0, y0, x1, y1]) => pen.clearRect(x0, y0, x1 - x0, y1 - y0);
function frame(pen, [x0, y0, x1, y1], color, width) {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
}
function band(pen, [x0, y0, x1, y1], color, colors, ratio) {
  const across = x0 === 0;
  const thick = across ? y1 - y0 : x1 - x0;
  const lines = thick >= 6 * ratio ? [0, thick] : [Math.round(thick / 2)];
  for (
    const [ink, width] of
    /** @type {[string, number][]} */
    [
      [colors.paper, 3],
      [color, 1]
    ]
  )
    for (const line4 of lines) {
      const half = width * ratio / 2;
      pen.fillStyle = ink;
      if (across) pen.fillRect(x0, y0 + line4 - half, x1 - x0, 2 * half);
      else pen.fillRect(x0 + line4 - half, y0, 2 * half, y1 - y0);
    }
}

// src/map_sprites.js
var MOST7 = 160;
function createSprites() {
  const sprites = /* @__PURE__ */ new Map();
  let name = "";
  let pixels2 = new Uint32Array(256);
  return {
    /**
     * The pixel of each code; the same array as long as nothing has changed.
     * @param {string} theme
     * @param {import("./heat_color.js").Colors} colors
     * @param {import("./map_codes.js").Codes} codes
     * @param {import("./map_codes.js").CodeRange} range
     */
    pixels(theme, colors, codes, range3) {
      const wanted = `${theme} ${range3.join(" ")}`;
      if (wanted !== name) [name, pixels2] = [wanted, pixelsOf(colors, codes, range3)];
      return pixels2;
    },
    /** @param {Tile} tile @param {Pool} pool */
    sprite(tile, pool) {
      const old = sprites.get(tile);
      const fresh = old && old.pixels === pixels2 && old.pool === pool;
      const sprite = fresh ? old : colored(tile, pool, pixels2, old?.canvas ?? null);
      keep2(sprites, tile, sprite, MOST7);
      return sprite.canvas;
    }
  };
}
function colored(tile, pool, pixels2, before2) {
  const { rows, columns } = tile;
  const made = before2 ?? h("canvas", { width: columns, height: rows });
  const canvas = (
    /** @type {HTMLCanvasElement} */
    made
  );
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("canvas: must have a 2d context; got none.");
  const image = pen.createImageData(columns, rows);
  const words2 = new Uint32Array(image.data.buffer);
  const codes = tile.codes[pool];
  for (let i = 0; i < words2.length; i += 1) words2[i] = pixels2[codes[i]];
  pen.putImageData(image, 0, 0);
  return { canvas, pixels: pixels2, pool };
}

// src/map_painter.js
function createMapPainter(desk) {
  const painted = /* @__PURE__ */ new WeakMap();
  const themes = {};
  const sprites = createSprites();
  const minis = createSprites();
  const stripes = {};
  const isNew = (canvas, picture2) => {
    const before2 = painted.get(canvas);
    painted.set(canvas, picture2);
    return before2?.length !== picture2.length || before2.some((part, i) => !Object.is(part, picture2[i]));
  };
  return (shadow, scene) => {
    const { theme } = scene.state;
    const colors = themes[theme] ??= heatColors(theme);
    const ratio = globalThis.devicePixelRatio || 1;
    const unknown = stripes[`${theme} ${ratio}`] ??= unknownFill(colors, ratio);
    const studio = { scene, desk, colors, sprites, minis, unknown, ratio };
    for (const canvas of shadow.querySelectorAll("canvas[data-map]")) {
      if (!(canvas instanceof HTMLCanvasElement)) continue;
      const work = WORKS[canvas.getAttribute("data-map") ?? ""]?.(studio);
      if (!work) continue;
      const { width, height } = work.box;
      const picture2 = [scene.state.theme, ratio, width, height, ...work.picture];
      if (isNew(canvas, picture2)) work.paint(sized(canvas, width, height, ratio));
    }
  };
}
var WORKS = {
  cells: cellsWork,
  lines: linesWork,
  mini: miniWork,
  rows: (studio) => labelsWork(studio, true),
  keys: (studio) => labelsWork(studio, false),
  entropy: (studio) => profileWork(studio, true),
  received: (studio) => profileWork(studio, false)
};
var viewOf = ({ x, y, z }) => [x, y, z];
function colored2({ scene, sprites, colors }) {
  const { info, range: range3, state } = scene;
  if (!info) return null;
  const { first, last } = info.codes;
  return sprites.pixels(state.theme, colors, info.codes, range3 ?? [first, last]);
}
function cellsWork(studio) {
  const { scene, desk, sprites, unknown, colors, ratio } = studio;
  const { camera, layout, level, info, place, size, state } = scene;
  const { box } = layout;
  const pixels2 = colored2(studio);
  const sheet = sheetOf(camera, box, ratio);
  const { pool } = state.map;
  return {
    picture: [...viewOf(camera), level, desk.atlas.version, pixels2, pool, ...Object.values(place)],
    box,
    paint: (pen) => {
      drawMap(pen, {
        ...{ camera, box, size, sheet },
        ...{ level: isDrawable(scene) ? level : null, top: info?.top ?? 0 },
        tile: info?.tile ?? 1,
        tileAt: (at) => info ? desk.atlas.tile(place, at) : void 0,
        sprite: (tile) => sprites.sprite(tile, pool),
        unknown
      });
      palePadding(pen, sheet, scene.queries.padding, size, colors);
    }
  };
}
function linesWork({ scene, colors, ratio }) {
  const { camera, layout, cell: cell3, state } = scene;
  const { box } = layout;
  const marks = {
    cell: cell3,
    locked: state.map.lock !== null,
    row: state.picked ? state.row : null,
    key: state.key
  };
  return {
    picture: [...viewOf(camera), marks.locked, marks.row, marks.key, ...cellNumbers(cell3)],
    box,
    paint: (pen) => drawLines(pen, sheetOf(camera, box, ratio), marks, colors, ratio)
  };
}
var cellNumbers = (cell3) => cell3 ? [...cell3.rows, ...cell3.keys] : [];
function labelsWork({ scene, colors, ratio }, vertical) {
  const { camera, layout, size, state } = scene;
  const named2 = namedPair(scene);
  const { box, names: names2, above } = layout;
  const axis2 = axisOf(camera, box, size, vertical);
  const across = vertical ? names2 : above;
  const info = vertical ? scene.queries : scene.keys;
  const chosen4 = vertical ? state.picked ? state.row : null : state.key;
  const picked2 = [chosen4, named2 ? named2[vertical ? 0 : 1] : null];
  return {
    picture: [axis2.from, axis2.per, info, ...picked2],
    box: vertical ? { width: across, height: box.height } : { width: box.width, height: across },
    paint: (pen) => drawLabels(pen, axis2, { info, across, picked: picked2, colors, ratio })
  };
}
function profileWork({ scene, desk, colors, ratio }, vertical) {
  const { camera, layout, size, place } = scene;
  const { box, strip: across } = layout;
  const axis2 = axisOf(camera, box, size, vertical);
  const strip = desk.profiles.strip(place, vertical ? "queries" : "keys");
  return {
    picture: [axis2.from, axis2.per, strip],
    box: vertical ? { width: across, height: box.height } : { width: box.width, height: across },
    paint: (pen) => {
      if (strip) drawProfile(pen, axis2, strip, { log: !vertical, across, colors, ratio });
    }
  };
}
function miniBox({ size, layout }) {
  const per = Math.max(size.rows, size.keys) / layout.mini;
  const pixels2 = (length) => Math.max(12, Math.round(length / per));
  return { width: pixels2(size.keys), height: pixels2(size.rows) };
}
function miniWork({ scene, desk, minis, unknown, colors, ratio }) {
  const { camera, layout, info, place, size, state } = scene;
  const { pool, range: range3 } = state.map;
  const at = { level: miniLevel(size, info?.tile ?? 1), i: 0, j: 0 };
  const tile = info && desk.atlas.tile(place, at);
  return {
    picture: [...viewOf(camera), ...Object.values(layout.box), tile, pool, ...range3],
    box: miniBox(scene),
    paint: (pen) => {
      const { width, height } = pen.canvas;
      pen.fillStyle = unknown;
      pen.fillRect(0, 0, width, height);
      pen.imageSmoothingEnabled = false;
      if (tile && info) {
        const counts = new Float64Array(256);
        tally(counts, tile.codes[pool], tile.columns, [0, tile.rows], [0, tile.columns]);
        minis.pixels(state.theme, colors, info.codes, percentiles(counts, info.codes, range3));
        const p = 2 ** at.level;
        const [wide, high] = [tile.columns * p / size.keys, tile.rows * p / size.rows];
        pen.drawImage(minis.sprite(tile, pool), 0, 0, wide * width, high * height);
      }
      const sheet = {
        x: (key) => key / size.keys * width,
        y: (query) => query / size.rows * height
      };
      palePadding(pen, sheet, scene.queries.padding, size, colors);
      drawView(pen, scene, colors, ratio);
    }
  };
}
function drawView(pen, { camera, layout, size }, colors, ratio) {
  const { left: left3, top: top3, right, bottom } = edgesOf(camera, layout.box);
  const { width, height } = pen.canvas;
  const part = (a, b, length, pixels2) => {
    const [from, upTo] = [
      Math.max(0, a) / length * pixels2,
      Math.min(length, b) / length * pixels2
    ];
    const more = Math.max(0, (7 * ratio - (upTo - from)) / 2);
    return [Math.max(1, from - more), Math.min(pixels2 - 1, upTo + more)];
  };
  const [x0, x1] = part(left3, right, size.keys, width);
  const [y0, y1] = part(top3, bottom, size.rows, height);
  for (
    const [color, line4] of
    /** @type {[string, number][]} */
    [
      [colors.paper, 4],
      [colors.focus, 2]
    ]
  ) {
    pen.strokeStyle = color;
    pen.lineWidth = line4 * ratio;
    pen.strokeRect(x0, y0, Math.max(0, x1 - x0), Math.max(0, y1 - y0));
  }
}

// src/map_listen.js
var SPEED = 25e-4;
var PINCH = 0.012;
var LINE2 = 16;
var MOST8 = 1;
var STILL = 4;
function under(event, selector) {
  const [target] = event.composedPath();
  return target instanceof Element ? target.closest(selector) : null;
}
function pointIn(event, box) {
  const { left: left3, top: top3 } = box.getBoundingClientRect();
  return [event.clientX - left3, event.clientY - top3];
}
function listenToMap(root, hands, signal) {
  const fingers = /* @__PURE__ */ new Map();
  const drag = { moved: 0, mini: false, locks: [null, null] };
  const heard = [
    ["wheel", (event) => wheeled(event, hands)],
    ["pointerdown", (event) => pressed2(event, hands, fingers, drag)],
    ["pointermove", (event) => moved2(event, hands, fingers, drag)],
    ["pointerup", (event) => lifted(event, hands, fingers, drag)],
    ["pointercancel", (event) => fingers.delete(event.pointerId)],
    ["dblclick", (event) => doubled(event, hands, drag)],
    ["click", (event) => named(event, hands)],
    ["pointerleave", () => left(hands)]
  ];
  for (const [kind, listener] of heard)
    root.addEventListener(kind, listener, { signal, passive: false });
}
function wheeled(event, { map, life }) {
  const box = under(event, ".map-cells");
  const scene = box && map();
  if (!box || !scene) return;
  event.preventDefault();
  const pixels2 = event.deltaY * (event.deltaMode === 1 ? LINE2 : 1);
  const by = Math.max(-MOST8, Math.min(MOST8, pixels2 * (event.ctrlKey ? PINCH : SPEED)));
  const point = pointIn(event, box);
  const moved3 = zoomedAt(scene.camera, by, point, scene.size, scene.layout.box);
  life.look({ ...moved3, aim: pairUnder(moved3, scene.layout.box, scene.size, point) });
}
function pressed2(event, hands, fingers, drag) {
  const box = under(event, ".map-cells, .map-mini");
  if (!(box instanceof HTMLElement) || event.button !== 0) return;
  drag.mini = box.matches(".map-mini");
  drag.moved = 0;
  fingers.set(event.pointerId, pointIn(event, box));
  box.setPointerCapture(event.pointerId);
  if (drag.mini) centre(event, box, hands);
}
function centre(event, box, { map, life }) {
  const scene = map();
  if (!scene) return;
  const [px, py] = pointIn(event, box);
  const { width, height } = miniBox(scene);
  const { rows, keys } = scene.size;
  life.look({
    ...panned(
      { ...scene.camera, x: px / width * keys, y: py / height * rows },
      0,
      0,
      scene.size,
      scene.layout.box
    ),
    aim: null
  });
}
function moved2(event, hands, fingers, drag) {
  const { map, life, state } = hands;
  if (state().view !== "map") return;
  const from = fingers.get(event.pointerId);
  if (!from) {
    aimed(event, hands);
    return;
  }
  const box = under(event, ".map-cells, .map-mini");
  const scene = box && map();
  if (!box || !scene) return;
  if (drag.mini) {
    centre(event, box, hands);
    return;
  }
  const to = pointIn(event, box);
  drag.moved = Math.max(drag.moved, Math.hypot(to[0] - from[0], to[1] - from[1]));
  if (fingers.size === 1 && drag.moved < STILL) return;
  const others = [...fingers].filter(([id]) => id !== event.pointerId);
  fingers.set(event.pointerId, to);
  drag.moved = Math.max(drag.moved, STILL);
  const { camera, size, layout } = scene;
  const share2 = others.length ? 0.5 : 1;
  const slid = panned(
    camera,
    share2 * (from[0] - to[0]),
    share2 * (from[1] - to[1]),
    size,
    layout.box
  );
  const pinch = others.length ? spread2(others[0][1], from, to) : null;
  life.look({
    ...pinch ? zoomedAt(slid, pinch.by, pinch.at, size, layout.box) : slid,
    aim: null
  });
}
function spread2(other2, from, to) {
  const far = ([x, y]) => Math.max(1, Math.hypot(x - other2[0], y - other2[1]));
  const at = (
    /** @type {Point} */
    [(other2[0] + to[0]) / 2, (other2[1] + to[1]) / 2]
  );
  return { by: Math.log2(far(from) / far(to)), at };
}
function aimed(event, hands) {
  const { map, state } = hands;
  if (event.pointerType !== "mouse") return;
  const box = under(event, ".map-cells");
  const scene = box && map();
  const aim = box && scene ? pairUnder(scene.camera, scene.layout.box, scene.size, pointIn(event, box)) : null;
  const before2 = state().map.aim;
  if (aim?.[0] !== before2?.[0] || aim?.[1] !== before2?.[1])
    hands.glance({ map: { ...state().map, aim } });
}
function lifted(event, { map, act, state }, fingers, drag) {
  if (!fingers.delete(event.pointerId) || drag.moved >= STILL || drag.mini) return;
  const box = under(event, ".map-cells");
  const scene = box && map();
  if (!box || !scene) return;
  const pair2 = pairUnder(scene.camera, scene.layout.box, scene.size, pointIn(event, box));
  drag.locks = [drag.locks[1], state().map.lock];
  if (pair2) act("map-hold", pair2.join(":"));
}
function doubled(event, { map, life, act }, drag) {
  const box = under(event, ".map-cells");
  const scene = box && map();
  if (!box || !scene) return;
  const { camera, size, layout } = scene;
  act("map-rehold", drag.locks[0]?.join(":") ?? "");
  life.look(zoomedAt(camera, event.shiftKey ? 1 : -1, pointIn(event, box), size, layout.box));
}
function named(event, { map, act }) {
  const canvas = under(event, ".map-labels");
  const scene = canvas && map();
  if (!canvas || !scene) return;
  const rows = canvas.getAttribute("data-axis") === "rows";
  const axis2 = axisOf(scene.camera, scene.layout.box, scene.size, rows);
  const at = tokenAt(axis2, pointIn(event, canvas)[rows ? 1 : 0]);
  if (at !== null) act(rows ? "map-ask" : "map-key", String(at));
}
function left({ state, glance: glance2 }) {
  if (state().view === "map" && state().map.aim) glance2({ map: { ...state().map, aim: null } });
}

// src/listen.js
var elementOf = (event) => event.target instanceof Element ? event.target : null;
function listen(root, shadow, hands) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const inside3 = [
    ["click", (event) => clicked(event, hands)],
    ["input", (event) => typed2(event, hands)],
    ["change", (event) => picked(event, hands)],
    ["submit", (event) => submitted(event, hands)],
    ["focusout", (event) => left2(event, hands)],
    ["pointerover", (event) => hovered(event, hands)],
    ["pointermove", (event) => pointed(event, hands)]
  ];
  for (const [kind, listener] of inside3) shadow.addEventListener(kind, listener, { signal });
  listenToMap(root, hands, signal);
  root.addEventListener("pointerleave", () => gone(hands), { signal });
  shadow.addEventListener("scroll", () => markEdges(shadow), { signal, capture: true });
  root.ownerDocument.defaultView?.addEventListener("resize", () => markEdges(shadow), { signal });
  root.ownerDocument.addEventListener("keydown", (event) => pressed3(event, root, shadow, hands), {
    signal
  });
  return () => stopping.abort();
}
function clicked(event, hands) {
  const { act } = hands;
  const meant = elementOf(event)?.closest("[data-act]");
  if (!meant) clickedCell(
    /** @type {PointerEvent} */
    event,
    hands
  );
  if (!meant || meant.hasAttribute("disabled")) return;
  if (
    /** @type {MouseEvent} */
    event.shiftKey && meant.matches(".thumb")
  ) {
    act("compare", meant.getAttribute("data-arg") ?? "");
    return;
  }
  act(meant.getAttribute("data-act") ?? "", meant.getAttribute("data-arg") ?? "");
}
function typed2(event, { act, state, update }) {
  const field3 = elementOf(event);
  if (!(field3 instanceof HTMLInputElement)) return;
  const end = field3.getAttribute("data-range");
  if (end !== null) act("map-range", `${end}:${field3.value}`);
  const side = field3.getAttribute("data-going");
  if (side !== null) act("map-typed", `${side}:${field3.value}`);
  const { turn } = state();
  const index = field3.getAttribute("data-field");
  if (index !== null) {
    const answers = [...turn.typed];
    answers[Number(index)] = field3.value;
    update({ turn: { ...turn, typed: answers, trouble: null } });
  }
  const choice4 = field3.getAttribute("data-choice");
  if (choice4 !== null) update({ turn: { ...turn, typed: [choice4], verdict: null, trouble: null } });
}
function picked(event, { act, update }) {
  const field3 = elementOf(event);
  if (field3 instanceof HTMLSelectElement) act(field3.getAttribute("data-choose") ?? "", field3.value);
  const name = field3?.getAttribute("data-change");
  if (!(field3 instanceof HTMLInputElement) || !name) return;
  const value = field3.valueAsNumber;
  const most = Number(field3.max);
  if (Number.isInteger(value) && value >= 0 && value <= most) {
    act(name, String(value));
    field3.focus();
    return;
  }
  update({ notice: `${name}: a whole number 0 … ${most}; got “${field3.value}”.` });
  field3.value = field3.getAttribute("value") ?? "";
}
function submitted(event, { act }) {
  const form = elementOf(event)?.getAttribute("data-form");
  if (!form) return;
  event.preventDefault();
  act(form, "");
}
function left2(event, { act, state }) {
  const field3 = elementOf(event);
  if (!(field3 instanceof HTMLInputElement) || !field3.matches(".edit")) return;
  const { editing } = state();
  const next2 = event.relatedTarget;
  const value = field3.value;
  setTimeout(() => {
    if (!editing || state().editing !== editing) return;
    act("commit", value);
    if (next2 instanceof HTMLElement && next2.isConnected) next2.focus();
  });
}
function gone(hands) {
  hovered(null, hands);
  unpointed(hands);
}
function hovered(event, { state, update }) {
  if (event && event.pointerType !== "mouse") return;
  const cell3 = event && elementOf(event)?.closest("table.ledger td[data-arg]");
  const [step4, column] = cell3 ? (cell3.getAttribute("data-arg") ?? "").split(":") : [];
  const before2 = state().hover;
  if (!cell3) {
    if (before2) update({ hover: null });
  } else if (before2?.step !== step4 || before2?.column !== Number(column)) {
    update({
      hover: { step: (
        /** @type {import("./types.js").StepId} */
        step4
      ), column: Number(column) }
    });
  }
}
function pressed3(event, root, shadow, { act, state, pass }) {
  const path = event.composedPath();
  const outside = !path.includes(root) && event.target !== root.ownerDocument.body;
  if (event.defaultPrevented || outside || shadow.querySelector("dialog[open]")) return;
  const target = path.includes(root) && path[0] instanceof Element ? path[0] : null;
  if (pass && isForNotebook(event)) {
    event.preventDefault();
    pass(event);
    return;
  }
  const action = actionOf(event, target, state().view);
  if (!action) return;
  event.preventDefault();
  if (action[0] === "rove") rove(target, action[1]);
  else act(...action);
}
function rove(target, way) {
  const buttons = [...target?.closest(ROVING)?.querySelectorAll("button") ?? []];
  const by = jump(way).find((step4) => step4 !== 0) ?? 0;
  const at = buttons.indexOf(
    /** @type {HTMLButtonElement} */
    target
  ) + by;
  buttons[Math.max(0, Math.min(at, buttons.length - 1))]?.focus();
}

// src/elsewhere.js
var isElsewhere = () => self !== top && !document.hasFocus();

// src/header.js
function titleOf({ source, title }) {
  if (source === "lesson") return "Lesson";
  return title === "" ? "a lookup" : readable(title);
}
var COPIED = {
  map: "copy the held pair as a line of a table",
  table: "copy the table as text"
};
function header({ info, capture, view, inFile, inCell }) {
  const act = (name, text, label) => h("button", { type: "button", "data-act": name, "aria-label": label, title: label }, text);
  return h(
    "header",
    { "data-key": "header" },
    h("h1", { class: "mark" }, "softlookup"),
    shelf(capture),
    h(
      "span",
      { class: "acts" },
      (info.source !== "lesson" || view !== "steps") && views(view, !inFile, hasTable(capture) && !inFile),
      act("copy", "copy", COPIED[view] ?? "copy the ledger as text"),
      !inCell && act("link", "link", "copy a link to this place"),
      act("help", "?", "all keys")
    )
  );
}
function shelf({ shelf: items, capture, source, title }) {
  const name = titleOf(items.find(({ id }) => id === capture) ?? { source, title });
  const open4 = h(
    "span",
    {
      class: source === "lesson" ? "title" : "title own",
      "data-key": capture,
      "aria-current": "true",
      title: titleOf({ source, title })
    },
    h("bdi", {}, name)
  );
  if (items.length < 2) return open4;
  const buttons = items.map(
    (item) => item.id === capture ? open4 : h(
      "button",
      {
        type: "button",
        class: "shelved",
        "data-key": item.id,
        "data-act": "capture",
        "data-arg": item.id,
        title: titleOf(item)
      },
      h("bdi", {}, titleOf(item))
    )
  );
  return h("nav", { class: "shelf", "aria-label": "what can be opened" }, buttons);
}
function views(view, map, table7) {
  const one = (name, label) => h(
    "button",
    {
      type: "button",
      "data-act": "view",
      "data-arg": name,
      "aria-pressed": String(name === view),
      title: label
    },
    name
  );
  return h(
    "span",
    { class: "choice", role: "group", "aria-label": "view" },
    map && one("map", "one head as one picture, from the whole to a single weight"),
    table7 && one("table", "all heads, as numbers to sort"),
    one("heads", "all heads, as pictures"),
    one("steps", "one head, step by step")
  );
}
function notices({ notice: notice2, offline, waits }) {
  const isSaid = offline !== null && waits.startsWith(offline);
  return [
    h("p", { class: "waits", role: "status", "data-key": "waits" }, waits),
    h("p", { class: "notice", role: "status", "data-key": "notice" }, notice2),
    offline && !isSaid ? h(
      "div",
      { class: "offline", role: "alert", "data-key": "offline" },
      h("p", {}, offline),
      h("button", { type: "button", class: "plain", "data-act": "retry" }, "Try again")
    ) : h("div", { "data-key": "online" })
  ];
}

// src/map_builder.js
var nameOf4 = (place) => Object.values(place).join("/");
var isDone = ({ done, of }) => done >= of;
var Builder = class {
  /** @type {Map<string, MapAnswer>} */
  #maps = /* @__PURE__ */ new Map();
  /** @type {Map<string, ProfileAnswer>} */
  #profiles = /* @__PURE__ */ new Map();
  /** @type {Map<string, string>} */
  #refusals = /* @__PURE__ */ new Map();
  /** @type {Args | null} */
  #place = null;
  #paused = false;
  #working = false;
  /**
   * @param {import("./map_atlas.js").Hands} hands
   * @param {() => boolean} isSeen  the page is before a reader
   */
  constructor(hands, isSeen) {
    this.hands = hands;
    this.isSeen = isSeen;
  }
  /** Which map is looked at, if any.  @param {Args | null} place @param {boolean} paused */
  see(place, paused) {
    this.#place = place;
    this.#paused = paused;
    void this.#work();
  }
  /** @param {Args} place */
  map(place) {
    return this.#maps.get(nameOf4(place)) ?? null;
  }
  /** @param {Args} place */
  profile(place) {
    return this.#profiles.get(nameOf4(place)) ?? null;
  }
  /** Why there is nothing to look at.  @param {Args} place */
  refused(place) {
    return this.#refusals.get(nameOf4(place)) ?? "";
  }
  /**
   * What is asked next of the map that is looked at, if anything.
   * @returns {{op: "map" | "profile", place: Args, work: "0" | "1"} | null}
   */
  #next() {
    const place = this.#place;
    if (!place || this.#refusals.has(nameOf4(place))) return null;
    const map = this.map(place);
    if (!map) return { op: "map", place, work: "0" };
    if (this.#paused || !this.isSeen() || map.refused) return null;
    if (!isDone(map)) return { op: "map", place, work: "1" };
    const profile = this.profile(place);
    return profile && isDone(profile) ? null : { op: "profile", place, work: "1" };
  }
  async #work() {
    if (this.#working) return;
    this.#working = true;
    for (let next2 = this.#next(); next2; next2 = this.#next()) await this.#step(next2);
    this.#working = false;
  }
  /** @param {{op: "map" | "profile", place: Args, work: string}} next */
  async #step({ op, place, work }) {
    const name = nameOf4(place);
    try {
      const { json } = await this.hands.call(op, { ...place, work });
      if (op === "map") this.#maps.set(name, json);
      else this.#profiles.set(name, revive(json));
    } catch (error) {
      if (isRefusal(error)) this.#refusals.set(name, error.sentence);
      else {
        this.#place = null;
        this.hands.failed(error);
      }
    }
    this.hands.changed();
  }
};

// src/map_profiles.js
var MOST9 = 64;
var lineOf2 = (place, axis2) => `${Object.values(place).join("/")}/${axis2}`;
var Profiles = class {
  /** @type {Map<string, Strip | null>} */
  #known = /* @__PURE__ */ new Map();
  /** @type {Map<string, Strip>} */
  #last = /* @__PURE__ */ new Map();
  // of each axis, of whatever part
  /** @type {Map<string, {name: string, args: Args}>} */
  #wanted = /* @__PURE__ */ new Map();
  // the newest wish of each axis
  /** @type {Set<string>} */
  #flying = /* @__PURE__ */ new Set();
  /** @param {import("./map_atlas.js").Hands} hands */
  constructor(hands) {
    this.hands = hands;
  }
  get busy() {
    return this.#flying.size > 0;
  }
  /** The one that came last, of whatever part.  @param {Args} place @param {AxisName} axis */
  strip(place, axis2) {
    return this.#last.get(lineOf2(place, axis2)) ?? null;
  }
  /**
   * @param {Args} place
   * @param {AxisName} axis
   * @param {[number, number]} span
   * @param {number} buckets
   */
  want(place, axis2, span3, buckets) {
    const line4 = lineOf2(place, axis2);
    const args = { ...place, axis: axis2, span: span3.join(":"), buckets: String(buckets) };
    const name = Object.values(args).join("/");
    const there = this.#known.get(name);
    if (there) keep2(this.#last, line4, there, MOST9);
    if (there !== void 0) {
      this.#wanted.delete(line4);
      return;
    }
    this.#wanted.set(line4, { name, args });
    void this.#fetch(line4);
  }
  /** More may be known by now. */
  older() {
    for (const [name, strip] of this.#known)
      if (!strip || strip.mean.some(Number.isNaN)) this.#known.delete(name);
  }
  /** @param {string} line */
  async #fetch(line4) {
    if (this.#flying.has(line4)) return;
    this.#flying.add(line4);
    for (let next2 = this.#wanted.get(line4); next2; next2 = this.#wanted.get(line4)) {
      this.#wanted.delete(line4);
      const strip = await this.#asked(next2.args);
      if (strip !== void 0) keep2(this.#known, next2.name, strip, MOST9);
      if (strip) keep2(this.#last, line4, strip, MOST9);
    }
    this.#flying.delete(line4);
    this.hands.changed();
  }
  /** Null where it is refused, undefined where nobody answers.  @param {Args} args */
  async #asked(args) {
    try {
      return stripFrom(await this.hands.call("strip", args));
    } catch (error) {
      if (isRefusal(error)) return null;
      this.#wanted.clear();
      this.hands.failed(error);
      return void 0;
    }
  }
};
function stripFrom({ json: { start: start2, stop, buckets }, bytes }) {
  if (!bytes) return null;
  const part = (at) => numbersIn(bytes, Float32Array, 4 * at * buckets, buckets);
  return { start: start2, stop, buckets, most: part(0), mean: part(2) };
}

// src/map_reader.js
var MOST10 = 400;
var PAUSE = 40;
var spanWord = ([from, upTo]) => `${from}:${upTo}`;
function questionOf(place, { level, rows, keys }) {
  if (level === 0) return ["at", { ...place, query: String(rows[0]), key: String(keys[0]) }];
  return ["block", { ...place, rows: spanWord(rows), keys: spanWord(keys) }];
}
var nameOf5 = ([op, args]) => `${op}?${Object.values(args).join("/")}`;
var Reader = class {
  /** @type {Map<string, Reading>} */
  #known = /* @__PURE__ */ new Map();
  /** @type {[string, Args][]} */
  #wanted = [];
  #asking = false;
  /** @param {import("./map_atlas.js").Hands} hands */
  constructor(hands) {
    this.hands = hands;
  }
  get busy() {
    return this.#asking;
  }
  /** @param {Args} place @param {Cell} cell */
  reading(place, cell3) {
    return this.#known.get(nameOf5(questionOf(place, cell3)));
  }
  /** What is read now: nothing else is asked for any more.  @param {Args} place
   * @param {Cell[]} cells */
  want(place, cells2) {
    const questions = cells2.map((cell3) => questionOf(place, cell3));
    this.#wanted = questions.filter((one) => !this.#known.has(nameOf5(one)));
    if (this.#wanted.length) void this.#turn();
  }
  /** @param {Args} place @param {Cell} cell @returns {Promise<Reading | undefined>} */
  async ask(place, cell3) {
    const question2 = questionOf(place, cell3);
    if (!this.#known.has(nameOf5(question2))) await this.#fetch(question2);
    return this.#known.get(nameOf5(question2));
  }
  async #turn() {
    if (this.#asking) return;
    this.#asking = true;
    for (let next2 = this.#wanted.shift(); next2; next2 = this.#wanted.shift()) {
      if (this.#known.has(nameOf5(next2))) continue;
      await this.#fetch(next2);
      this.hands.changed();
      await new Promise((done) => setTimeout(done, PAUSE));
    }
    this.#asking = false;
    this.hands.changed();
  }
  /** @param {[string, Args]} question */
  async #fetch(question2) {
    const name = nameOf5(question2);
    try {
      const { json } = await this.hands.call(...question2);
      const numbers = revive(json);
      keep2(this.#known, name, question2[0] === "at" ? { pair: numbers } : { cell: numbers }, MOST10);
    } catch (error) {
      if (isRefusal(error)) keep2(this.#known, name, { refused: error.sentence }, MOST10);
      else {
        this.#wanted = [];
        this.hands.failed(error);
      }
    }
  }
};

// src/map_desk.js
var REST = 60;
var AGAIN = 500;
var SOON2 = 150;
var LITTLE = 0.2;
var COARSER = 5;
var MOST_BUCKETS = 2048;
var Desk = class {
  /** @type {MapScene | null} */
  #shown = null;
  #view = "";
  // what was asked for last
  #built = "";
  // how far the map was then
  #rest = 0;
  // timers; 0: none is running
  #again = 0;
  /** @type {{place: string, name: string, counts: Float64Array} | null} */
  #counted = null;
  /** @param {import("./map_atlas.js").Hands} hands */
  constructor(hands) {
    const changed3 = () => {
      this.#recount();
      hands.changed();
    };
    const each = { ...hands, changed: changed3 };
    this.changed = changed3;
    this.atlas = new Atlas(each);
    this.reader = new Reader(each);
    this.profiles = new Profiles(each);
    this.builder = new Builder(each, () => document.visibilityState !== "hidden");
  }
  get busy() {
    const parts = [this.atlas, this.reader, this.profiles];
    const gaps = this.#shown !== null && hasGaps(this.#shown, this.atlas);
    return this.#rest !== 0 || gaps || parts.some((part) => part.busy);
  }
  /** How often each code stands in view.  @param {Args} place */
  counts(place) {
    return this.#counted?.place === placeName(place) ? this.#counted.counts : null;
  }
  /** What is shown now.  @param {MapScene | null} scene */
  see(scene) {
    this.#shown = scene;
    this.builder.see(scene?.place ?? null, scene?.state.map.paused ?? true);
    if (!scene?.info) {
      this.#view = "";
      this.reader.want({}, []);
      return;
    }
    this.reader.want(scene.place, readCells(scene));
    const view = viewName2(scene);
    if (view !== this.#view) {
      clearTimeout(this.#rest);
      this.#rest = later(() => this.#ask(), this.#view ? REST : 0);
      this.#view = view;
    }
    const gaps = hasGaps(scene, this.atlas);
    if (this.#again || this.#rest || this.atlas.busy) return;
    if (gaps || this.#built !== builtName(scene))
      this.#again = later(() => this.#lookAgain(), gaps ? REST : pauseOf(scene.info));
  }
  #ask() {
    this.#rest = 0;
    if (!this.#shown) return;
    this.#built = builtName(this.#shown);
    this.atlas.want(this.#shown.place, wantedTiles(this.#shown));
    wantProfiles(this.profiles, this.#shown);
    this.changed();
  }
  #lookAgain() {
    this.#again = 0;
    this.atlas.older();
    this.profiles.older();
    this.#ask();
  }
  #recount() {
    if (!this.#shown?.info || this.#rest || this.atlas.busy) return;
    const name = `${this.#view} ${this.atlas.version}`;
    if (this.#counted?.name === name) return;
    const counts = countsIn(this.#shown, this.atlas);
    if (counts) this.#counted = { place: placeName(this.#shown.place), name, counts };
  }
};
var later = (work, pause) => Number(setTimeout(work, pause));
var pauseOf = ({ done, of }) => done < LITTLE * of ? SOON2 : AGAIN;
var placeName = (place) => Object.values(place).join("/");
function viewName2({ place, camera, layout, level, state }) {
  const { width, height } = layout.box;
  return [
    placeName(place),
    camera.x,
    camera.y,
    camera.z,
    width,
    height,
    level,
    state.map.pool
  ].join(" ");
}
var builtName = ({ info, profile }) => `${info?.done} ${profile?.done}`;
function wantedTiles({ info, level, camera, layout, size }) {
  if (!info) return [];
  const mini = miniLevel(size, info.tile);
  const wanted = info.refused && mini >= info.base ? [] : [{ level: mini, i: 0, j: 0 }];
  if (!isDrawable({ info, level })) return wanted;
  const tiles = (at) => tilesIn(camera, layout.box, size, at, info.tile);
  if (info.done < info.of && !info.refused && level >= info.base)
    for (let up = Math.min(info.top, level + COARSER); up > level; up -= 2)
      wanted.push(...tiles(up));
  wanted.push(...tiles(level));
  return wanted;
}
function hasGaps({ info, level, place, camera, layout, size }, atlas) {
  if (!info || level >= info.base) return false;
  return tilesIn(camera, layout.box, size, level, info.tile).some(
    (at) => atlas.tile(place, at)?.whole === false
  );
}
function readCells({ cell: cell3, state, size }) {
  const { lock } = state.map;
  if (lock) return [cellAround(lock, 0, size)];
  return cell3 ? [cell3] : [];
}
function wantProfiles(profiles, scene) {
  const { place, layout, camera } = scene;
  const region = shownRegion(scene);
  if (!region) return;
  const per = 2 ** camera.z;
  const ask3 = (axis2, [from, upTo], pixels2) => {
    const buckets = Math.min(upTo - from, pixels2, Math.ceil((upTo - from) / per), MOST_BUCKETS);
    profiles.want(place, axis2, [from, upTo], Math.max(1, buckets));
  };
  ask3("queries", region.rows, layout.box.height);
  ask3("keys", region.keys, layout.box.width);
}
function countsIn({ info, level, place, camera, layout, size, state }, atlas) {
  if (!info) return null;
  const counts = new Float64Array(256);
  const { left: left3, top: top3, right, bottom } = edgesOf(camera, layout.box);
  let any = false;
  for (const at of tilesIn(camera, layout.box, size, level, info.tile)) {
    const tile = atlas.tile(place, at);
    if (!tile) continue;
    any = true;
    const part = (from, upTo, start2, length) => {
      const cell3 = (weight) => weight / 2 ** level - start2 * info.tile;
      const first = within(Math.floor(cell3(from)), 0, length);
      return (
        /** @type {[number, number]} */
        [
          first,
          within(Math.ceil(cell3(upTo)), first, length)
        ]
      );
    };
    const [rows, keys] = [
      part(top3, bottom, at.i, tile.rows),
      part(left3, right, at.j, tile.columns)
    ];
    tally(counts, tile.codes[state.map.pool], tile.columns, rows, keys);
  }
  return any ? counts : null;
}

// src/readout.js
var MOST11 = 6;
var ROUNDING = 1e-9;
function added(terms2) {
  if (terms2.length <= MOST11) return terms2.join(" + ") || "0";
  const left3 = terms2.length - MOST11 + 1;
  return `${terms2.slice(0, MOST11 - 1).join(" + ")} + … ${left3} more`;
}
var exactVector = (numbers) => vector(numbers, exact, 6);
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
    return line2(`${added(terms2)} = ${evenly(record.products)(product)}`, exact(product));
  }
  if (id === "visible")
    return { formula: "visible", exactly: "this key takes part in the softmax" };
  if (id === "scaled" || id === "capped" || id === "biased")
    return scoreLine(record, id, i, scaled);
  return softLine(record, id, i, reading);
}
var line2 = (formula, number2) => ({ formula, exactly: `exactly ${number2}` });
function scoreLine(record, id, i, scaled) {
  const before2 = scoreBefore(record, id, i);
  if (id === "scaled") {
    const root = Math.sqrt(record.query.length);
    const divides = scaled && Math.abs(record.scale * root - 1) < 1e-12 && root !== 1;
    const how = divides ? `÷ ${short(root)}` : `× ${short(record.scale)}`;
    const write2 = evenly(record.products);
    return line2(`${write2(before2)} ${how} = ${rounded(record.scaled[i])}`, exact(record.scaled[i]));
  }
  if (id === "capped") {
    const cap = short(record.softcap ?? 0);
    const capped = record.capped?.[i] ?? 0;
    return line2(`${cap} · tanh(${rounded(before2)} ÷ ${cap}) = ${rounded(capped)}`, exact(capped));
  }
  const bias = bracketed(record.bias?.[i] ?? 0);
  return line2(
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
    return line2(`${rounded(score)} − ${minusOf(record.row_max)} = ${rounded(x)}`, exact(x));
  }
  const written3 = writerOf("exp", record, reading);
  if (id === "exp") {
    const x = shifted ? score - record.row_max : score;
    if (exp === Infinity && Number.isFinite(x)) {
      return {
        formula: `exp(${rounded(x)}) = overflow`,
        exactly: "more than the largest float64, 1.8 · 10³⁰⁸"
      };
    }
    return {
      formula: `exp(${rounded(x)}) = ${written3(exp)}`,
      exactly: `= e^${sixth(x)}, exactly ${exact(exp)}`
    };
  }
  if (lostIn(record, reading)) return LOST;
  const weight = record.weights[i];
  const share2 = writerOf("weight", record, reading);
  if (id === "weight") {
    const sum2 = shifted ? record.row_sum : record.exp_sum;
    return line2(`${written3(exp)} ÷ ${written3(sum2)} = ${share2(weight)}`, exact(weight));
  }
  const part = record.contributions?.[i] ?? [];
  const value = vector(record.value?.[i] ?? [], short);
  const read = vector(part, writerOf("reads", record, reading));
  return line2(`${share2(weight)} × ${value} = ${read}`, exactVector(part));
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
  const write2 = writerOf(id, record, reading);
  const share2 = writerOf("weight", record, reading);
  const extra = (x) => rest ? [`${write2(x)} (the others)`] : [];
  if (id === "shifted") {
    const of = record.sink ? "all visible scores and the sink" : "all visible scores";
    return line2(`largest of ${of} = ${rounded(record.row_max)}`, exact(record.row_max));
  }
  if (id === "exp") {
    const exp = shifted ? record.shifted_exp : record.exp;
    const sum2 = shifted ? record.row_sum : record.exp_sum;
    const sink = record.sink ? [`${write2(shifted ? record.sink.shifted_exp : record.sink.exp)} (sink)`] : [];
    const parts2 = [
      ...seen.map((i) => write2(exp[i])),
      ...extra(shifted ? rest?.shifted_exp ?? 0 : rest?.exp ?? 0)
    ];
    return line2(`${added([...parts2, ...sink])} = ${write2(sum2)}`, exact(sum2));
  }
  if (lostIn(record, reading) && (id === "weight" || id === "reads")) return LOST;
  if (id === "weight") {
    const parts2 = [...seen.map((i) => write2(record.weights[i])), ...extra(rest?.weight ?? 0)];
    const sum2 = record.weights_sum;
    const text = `${added(parts2)} = ${write2(sum2)}`;
    if (record.sink || sum2 === 1 || !(Math.abs(sum2 - 1) < ROUNDING)) return line2(text, exact(sum2));
    return { formula: text, exactly: `in float64 ${exact(sum2)}; without rounding exactly 1` };
  }
  if (id !== "reads" || !record.out) return { formula: "", exactly: "this step adds nothing up" };
  const parts = seen.map(
    (i) => `${share2(record.weights[i])}·${vector(record.value?.[i] ?? [], short, 3)}`
  );
  const others = rest?.contribution ? [`${vector(rest.contribution, write2)} (the others)`] : [];
  return line2(`${added([...parts, ...others])} = ${vector(record.out)}`, exactVector(record.out));
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
    return line2(
      `their weights × their values = ${vector(rest.contribution ?? [])}`,
      exactVector(rest.contribution ?? [])
    );
  }
  const sum2 = id === "weight" ? rest.weight : shifted ? rest.shifted_exp : rest.exp;
  return line2(`${many}, summed = ${writerOf(id, record, reading)(sum2)}`, exact(sum2));
}
function sinkLine(record, id, reading) {
  const sink = record.sink;
  const shifted = reading === "shifted";
  if (!sink || id === "reads")
    return { formula: "no value", exactly: "the sink takes weight and gives nothing back" };
  if (id === "shifted") {
    const x = sink.logit - record.row_max;
    return line2(`${rounded(sink.logit)} − ${minusOf(record.row_max)} = ${rounded(x)}`, exact(x));
  }
  const exp = shifted ? sink.shifted_exp : sink.exp;
  const written3 = writerOf("exp", record, reading);
  if (id === "exp") {
    const x = shifted ? sink.logit - record.row_max : sink.logit;
    return line2(`exp(${rounded(x)}) = ${written3(exp)}`, exact(exp));
  }
  if (id === "weight") {
    if (lostIn(record, reading)) return LOST;
    const sum2 = shifted ? record.row_sum : record.exp_sum;
    const share2 = writerOf(id, record, reading)(sink.weight);
    return line2(`${written3(exp)} ÷ ${written3(sum2)} = ${share2}`, exact(sink.weight));
  }
  if (id === lastScore(record))
    return line2(`the sink's logit = ${rounded(sink.logit)}`, exact(sink.logit));
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
function ledgerPart(scene, lights, { whole: whole3 = false } = {}) {
  const { state, tokens, record } = scene;
  const { layers } = state.capture;
  const isOne = layers.length === 1 && layers[0].heads.length === 1;
  const where = whole3 || !isOne ? `, in ${headName(state.capture, state)}` : "";
  const title = h(
    "h2",
    { id: "ledger-title", tabindex: whole3 ? -1 : null },
    `What token ${tokenName(tokens, state.row)} reads, step by step${where}`
  );
  const note = record && isUnfolded("exp", state.step) ? rowNote(record, state.reading) : null;
  return h(
    "section",
    { class: "ledger-part", "data-key": "ledger", "aria-labelledby": "ledger-title" },
    h("div", { class: "titled" }, title, switches(scene, whole3)),
    record && h(
      "p",
      { class: "quiet sideways", "aria-hidden": "true" },
      "More keys than fit: the table scrolls sideways."
    ),
    record ? table2(scene, lights) : h("p", { class: "quiet panel waiting" }, "Asking for this row …"),
    readoutLine(scene),
    note && h("p", { class: "note" }, note),
    !whole3 && stepsLine(scene)
  );
}
var READINGS = {
  textbook: "softmax as it is written: exp of each score, divided by their sum",
  shifted: "softmax as programs compute it: the row's largest score is subtracted first, so that exp never overflows; the weights are the same"
};
function switches({ state }, whole3) {
  const { editable, editable_reason: reason } = state.info;
  const reading = (name) => h(
    "button",
    {
      type: "button",
      "data-act": "reading",
      "data-arg": name,
      "aria-pressed": String(state.reading === name),
      title: READINGS[name]
    },
    name
  );
  return h(
    "div",
    { class: "switches" },
    !whole3 && h(
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
var MARGIN2 = 14;
var PRODUCT = 6;
var HEAD2 = 8;
function headBreadth({ keyTokens }, columns) {
  const sizes = columns.map(
    (column) => column.kind === "key" ? breadth(readable(keyTokens[column.key])) + 1 : 0
  );
  return Math.min(HEAD2, Math.max(...sizes));
}
function piecesOf(text) {
  const words2 = text.split(/(?<= )/);
  return words2.flatMap((word2) => breadth(word2) > PRODUCT ? word2.split(/(?<=·)/) : [word2]);
}
var widestWord = (text) => Math.max(0, ...piecesOf(text).map((piece2) => breadth(piece2.trim())));
function widths(lines, columns, heads, many) {
  const word2 = ({ text, note, strong }) => Math.max(widestWord(text) * (strong ? 1.16 : 1), 0.8 * widestWord(note ?? ""));
  const key = many ? ({ text }) => breadth(text) : word2;
  const whole3 = ({ label, text }) => 1.16 * breadth(label ? `${label} ${text}` : text);
  const widest = (sizes) => Math.max(4, ...sizes);
  const keys = lines.flatMap(({ cells: cells2 }) => cells2.slice(0, -1).map(key));
  const sums = lines.map(({ cells: cells2 }) => cells2[columns.length - 1]);
  const narrow = widest(sums.map(word2));
  const wide = Math.max(narrow, Math.min(MARGIN2, widest(sums.map(whole3))));
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
  const text = column.kind === "sink" ? "sink" : `${others} ${counted(record?.rest?.count ?? 0, "key")}`;
  return h("th", { scope: "col", class: column.kind }, text);
}
function tableRow(row, columns, { unfolded, lights, at, stop }) {
  const cells2 = row.cells.map((cell3, c) => {
    const column = columns[c];
    const tint = unfolded && row.id === "weight" && column.kind === "key" && !cell3.hidden && !cell3.lost;
    const names2 = [
      column.kind === "sum" ? "margin" : column.kind,
      c === at && "at",
      unfolded && lights.has(`${row.id}:${c}`) && "lit",
      unfolded && cell3.hidden && "hatched",
      cell3.lost && "lost",
      tint && `tint ${colorClass(column.key)}`
    ];
    return h(
      "td",
      {
        class: names2.filter(Boolean).join(" "),
        "data-act": "at",
        "data-arg": `${row.id}:${c}`,
        tabindex: c === stop ? 0 : -1,
        vars: tint ? { "--w": String(cell3.weight ?? 0) } : {}
      },
      unfolded ? cellText(cell3, tint) : h("span", { class: "later-step", "aria-label": "not yet" }, cell3.text ? "·" : "")
    );
  });
  return h(
    "tr",
    { class: unfolded ? "unfolded" : "", "data-key": row.id },
    h("th", { scope: "row", class: "step" }, h("b", {}, row.name), h("span", {}, row.how)),
    cells2
  );
}
function cellText(cell3, bar) {
  return [
    cell3.label ? h("span", { class: "label" }, `${cell3.label} `) : null,
    cell3.strong ? h("b", {}, cell3.text) : h("span", {}, cell3.text),
    cell3.note ? h("small", {}, breakable(cell3.note)) : null,
    bar && h("span", { class: "bar", "aria-hidden": "true" })
  ];
}
var breakable = (note) => piecesOf(note).flatMap((piece2, i) => i ? [h("wbr"), piece2] : [piece2]);
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
  const waiting3 = tokens.findIndex((_, row) => !isIn(state, row));
  if (scene.small && waiting3 >= 0) return `Next query: ${tokenName(tokens, waiting3)}`;
  return !state.layer && isWhole2(scene) && hasLayer(scene) ? "All queries at once" : null;
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

// src/lights.js
function lightsOf(record, cursor, reading) {
  const columns = columnsOf(record);
  const column = columns[cursor.column];
  const margin = columns.length - 1;
  const id = cursor.step;
  if (column.kind === "sum") return new Set(marginTerms(record, columns, id, reading));
  const own2 = before(record, id, reading).map((step4) => `${step4}:${cursor.column}`);
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
  const summed2 = { exp: "exp", weight: "weight", reads: "reads", shifted: lastScore(record) };
  const step4 = summed2[id];
  if (!step4 || !stepsOf(record, reading).includes(id)) return [];
  return columns.flatMap((column, c) => {
    if (column.kind === "sum" || column.kind === "key" && !record.visible[column.index])
      return [];
    return [`${step4}:${c}`];
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

// src/vectors_part.js
var FIRST2 = 8;
function vectorsPart(scene, wide) {
  const { record, tokens, keyTokens } = scene;
  if (!record || !record.keys.length) return null;
  const column = columnsOf(record)[pointOf(scene)?.column ?? 0];
  const i = column?.kind === "key" ? column.index : 0;
  const names2 = `${tokenName(tokens, record.row)} and ${tokenName(keyTokens, record.keys[i])}`;
  const width = Math.max(record.query.length, record.value?.[i].length ?? 0);
  const more = h(
    "button",
    { type: "button", class: "link", "data-act": "wide", "aria-pressed": String(wide) },
    wide ? `the first ${FIRST2} dimensions` : `all ${width} dimensions`
  );
  const title = h("h2", { id: "vectors-title" }, `The vectors of ${names2}`);
  const table7 = h(
    "table",
    { class: "vectors", "aria-labelledby": "vectors-title" },
    head(width, wide),
    body(asked(scene, record, i), width, wide),
    record.value && body(given(scene, record, i), width, wide)
  );
  return h(
    "section",
    { class: "vectors-part", "data-key": "vectors", "aria-labelledby": "vectors-title" },
    h("div", { class: "titled" }, title, width > FIRST2 && more),
    h("div", { class: "scroll panel" }, table7)
  );
}
function asked({ tokens, keyTokens }, record, i) {
  const products = record.query.map((x, d) => x * record.key[i][d]);
  return [
    line3("query", chip(tokens, record.row), record.query),
    line3("key", chip(keyTokens, record.keys[i]), record.key[i]),
    line3("query × key", null, products, `adds up to the score ${rounded(record.products[i])}`)
  ];
}
function given({ tokens, keyTokens }, record, i) {
  const read = record.contributions?.[i] ?? [];
  return [
    line3("value", chip(keyTokens, record.keys[i]), record.value?.[i] ?? []),
    line3(`× ${rounded(record.weights[i])}`, null, read, "what is read of it"),
    line3("output", chip(tokens, record.row), record.out ?? [], "all that is read")
  ];
}
var line3 = (name, token2, numbers, note = "") => ({ name, token: token2, numbers, note });
function head(width, wide) {
  const shown = wide ? width : Math.min(FIRST2, width);
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col", class: "step" }, "dimension"),
      Array.from({ length: shown }, (_, d) => h("th", { scope: "col" }, String(d))),
      shown < width && h("th", { class: "more" }, "…")
    )
  );
}
function body(lines, width, wide) {
  const shown = wide ? width : Math.min(FIRST2, width);
  const rows = lines.map(
    ({ name, token: token2, numbers, note }) => h(
      "tr",
      {},
      h("th", { scope: "row", class: "step" }, h("b", {}, name), " ", token2, h("span", {}, note)),
      Array.from(
        { length: shown },
        (_, d) => h("td", {}, d < numbers.length ? rounded(numbers[d]) : "")
      ),
      shown < width && h("td", { class: "more" }, shown < numbers.length ? "…" : "")
    )
  );
  return h("tbody", {}, rows);
}

// src/heads_page.js
var LONGEST2 = 1e3;
function headsMain(scene) {
  const { state } = scene;
  const layout = layoutOf(state);
  return h(
    "main",
    { "data-key": "heads", class: `heads heads-${layout.name}` },
    h("div", { class: "about-text" }, aboutPart(scene), textPart(scene)),
    overviewPart(scene, layout),
    headPart(scene, layout),
    layout.name === "beside" && readsPart(scene),
    ledgerOf(scene)
  );
}
function aboutPart({ state, overview: overview2 }) {
  const { about, layers } = state.capture;
  const said = (name) => (about[name] ?? "").slice(0, LONGEST2);
  const others = Object.keys(about).filter((name) => name !== "model" && name !== "origin");
  const parts = [said("model"), said("origin")].filter(Boolean);
  if (!parts.length && !others.length) return null;
  const { dtype, sizes } = layers[state.stage];
  const { kv_heads, group } = sizes;
  const shared2 = group > 1 ? `, ${group} query heads share one of ${kv_heads} key heads` : "";
  return h(
    "div",
    { class: "about", "data-key": "about" },
    h("p", {}, parts.map((text, i) => [i ? " · " : "", h("bdi", {}, readable(text))]).flat()),
    h(
      "details",
      {},
      h("summary", { class: "quiet" }, "about these numbers"),
      h(
        "dl",
        {},
        others.flatMap((name) => [
          h("dt", {}, h("bdi", {}, readable(name))),
          h("dd", {}, h("bdi", {}, readable(said(name))))
        ]),
        h("dt", {}, "arrays"),
        h("dd", {}, `${dtype}, ${sizes.head_dim} dimensions a head${shared2}`),
        ...backendLines(overview2(state.stage)?.backend),
        h("dt", {}, "a weight"),
        h("dd", {}, "tells what was read, not why")
      )
    )
  );
}
var backendLines = (backend) => backend ? [h("dt", {}, "thumbnails, strips"), h("dd", {}, backend)] : [];
function ledgerOf({ ledger, state }) {
  if (!state.open || !state.picked) return null;
  if (!ledger) {
    return h(
      "p",
      { class: "quiet ledger-part", "data-key": "no ledger" },
      "A mean of several heads has no steps of its own: choose “this head” for the ledger of a row."
    );
  }
  return rowSteps(ledger, state);
}
function rowSteps(ledger, state) {
  const point = pointOf(ledger);
  const lights = ledger.record && point && lightsOf(ledger.record, point, state.reading);
  return h(
    "div",
    { class: "row-steps", "data-key": "row steps" },
    ledgerPart(ledger, lights ?? /* @__PURE__ */ new Set(), { whole: true }),
    vectorsPart(ledger, state.wide)
  );
}

// src/map_lists.js
function listsPart(scene) {
  const { state, queries, keys } = scene;
  if (!state.picked && state.key === null) {
    return h(
      "p",
      { class: "quiet", "data-key": "no lists" },
      "Pick a query (its label at the left, or Enter on a pair) to see what it reads, and every step of it; pick a key (its label above) to see what reads it."
    );
  }
  return h(
    "div",
    { class: "map-lists", "data-key": "lists" },
    state.picked && linksList(scene, "from", `Query ${placed(queries, state.row)} reads`, scene.from),
    state.key !== null && linksList(scene, "by", `Key ${placed(keys, state.key)} is read by`, scene.by)
  );
}
function linksList(scene, which, title, { links, refused }) {
  const id = `map-${which}`;
  return h(
    "section",
    { class: "reads-part", "data-key": id, "aria-labelledby": id },
    h("h2", { id }, isolated(title)),
    links?.length ? table3(scene, which, id, links) : h("p", { class: "quiet" }, links ? nothing(which) : refused || waiting2(scene, which))
  );
}
var nothing = (which) => which === "from" ? "no visible keys: it reads nothing" : "no query";
function waiting2(scene, which) {
  if (which === "from" || isWithinReach(scene)) return "Asking for this list …";
  return scene.info?.refused ? "This list needs the whole map, which is too large here." : "This list is there once the map is whole.";
}
function table3(scene, which, id, links) {
  const axis2 = which === "from" ? scene.keys : scene.queries;
  const name = which === "from" ? "key" : "query";
  const write2 = alike(links.map(({ weight }) => weight));
  const line4 = (link, i) => {
    const at = which === "from" ? link.key : link.query;
    const bar = Number.isFinite(link.weight) ? Math.max(0, Math.min(1, link.weight)) : 0;
    return h(
      "tr",
      { "data-key": String(at) },
      h("th", { scope: "row" }, token(axis2, at, i === 0, `${link.query}:${link.key}`)),
      h("td", { class: "so-far" }, positionWords(at)),
      h(
        "td",
        { class: "weight", vars: { "--w": String(bar) }, title: String(link.weight) },
        write2(link.weight)
      )
    );
  };
  return h(
    "table",
    { class: "reads", "aria-labelledby": id },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["token", name, "weight"].map((word2) => h("th", { scope: "col" }, word2))
      )
    ),
    h("tbody", {}, links.map(line4))
  );
}
function token(axis2, at, first, pair2) {
  const { tokens } = axis2;
  const note = noteOf(axis2, at);
  return h(
    "button",
    {
      type: "button",
      class: `chip ${colorClass(at)} later ${kindOf(axis2, at)}`,
      "data-act": "map-link",
      "data-arg": pair2,
      tabindex: first ? 0 : -1,
      title: `${readable(tokens[at])}${note}`,
      "aria-label": `go to ${shortName(tokens[at])} at ${at}${note}`
    },
    h("bdi", {}, shortName(tokens[at]))
  );
}
function tourPart(scene) {
  const { tour } = scene.state.map;
  if (!tour) return null;
  const heads = ["query → key", "weight"].map((word2) => h("th", { scope: "col" }, word2));
  const write2 = alike(tour.links.map(({ weight }) => weight));
  return h(
    "section",
    { class: "reads-part map-tour", "data-key": "tour", "aria-labelledby": "tour-title" },
    h(
      "div",
      { class: "titled" },
      h("h2", { id: "tour-title" }, "Strongest links of that view"),
      h("button", { type: "button", class: "link", "data-act": "map-tour-close" }, "close")
    ),
    h(
      "table",
      { class: "reads", "aria-labelledby": "tour-title" },
      h("thead", {}, h("tr", {}, heads)),
      h(
        "tbody",
        {},
        tour.links.map((link, i) => tourLine(scene, i, write2(link.weight)))
      )
    ),
    h("p", { class: "quiet" }, tourNote(tour))
  );
}
function tourNote(tour) {
  const part = partWords(tour);
  const next2 = tour.links.length > 1 ? "S leads to the next one." : "";
  return part ? `Only ${part}: ask again when the map is whole. ${next2}` : next2;
}
function tourLine({ state, queries, keys }, i, number2) {
  const { tour } = state.map;
  if (!tour) return null;
  const { query, key, weight } = tour.links[i];
  const here = i === tour.at;
  const from = noteOf(queries, query);
  const upTo = noteOf(keys, key);
  const go2 = h(
    "button",
    {
      type: "button",
      class: "link",
      "data-act": "map-tour",
      "data-arg": i,
      "aria-current": here ? "true" : null,
      tabindex: here ? 0 : -1
    },
    h("span", {}, `${positionWords(query)} → ${positionWords(key)} `),
    h(
      "small",
      {},
      h("bdi", {}, shortName(queries.tokens[query])),
      `${from} → `,
      h("bdi", {}, shortName(keys.tokens[key])),
      upTo
    )
  );
  return h(
    "tr",
    { "data-key": `${query}:${key}` },
    h("th", { scope: "row" }, go2),
    h("td", { title: String(weight) }, number2)
  );
}
function marksPart({ state, queries, keys, size }) {
  const { marks } = state.map;
  if (!marks.length) return null;
  const line4 = (mark3, i) => {
    if (mark3.query >= size.rows || mark3.key >= size.keys) return null;
    const words2 = `${placed(queries, mark3.query)} → ${placed(keys, mark3.key)}`;
    return h(
      "li",
      { "data-key": `${mark3.query}:${mark3.key}:${mark3.z}:${mark3.lock}` },
      h(
        "button",
        { type: "button", class: "link", "data-act": "map-mark-go", "data-arg": i },
        isolated(words2)
      ),
      h(
        "button",
        {
          type: "button",
          class: "step-by",
          "data-act": "map-unmark",
          "data-arg": i,
          "aria-label": `remove the bookmark of query ${mark3.query}, key ${mark3.key}`
        },
        "×"
      )
    );
  };
  return h(
    "section",
    { class: "map-marks", "data-key": "marks", "aria-labelledby": "marks-title" },
    h("h2", { id: "marks-title" }, "Bookmarks: query → key"),
    h("ol", {}, marks.map(line4))
  );
}

// src/map_tools.js
var button = (act, arg, text, label, on = null) => h(
  "button",
  {
    type: "button",
    "data-act": act,
    "data-arg": arg,
    title: label,
    "aria-label": label,
    "aria-pressed": on === null ? null : String(on)
  },
  text
);
var SHARE = "what a cell's queries read there: summed over its keys, averaged over its queries";
var choice2 = (name, buttons) => h("span", { class: "choice", role: "group", "aria-label": name }, buttons);
function plain2(act, text, label) {
  const one = button(act, "", text, label);
  one.classList.add("link");
  return one;
}
function mapTools({ state: { map } }) {
  const isMax = map.pool === "max";
  return h(
    "div",
    { class: "map-tools head-tools" },
    choice2("what a cell shows", [
      button("map-pool", "max", "strongest", "the strongest weight of a cell (M)", isMax),
      button("map-pool", "share", "share", `${SHARE} (M)`, !isMax)
    ]),
    choice2("near and far", [
      button("map-zoom", "-1", "+", "nearer (+)"),
      button("map-zoom", "1", "−", "farther (−)"),
      button("map-zoom", "0", "whole", "the whole head (0)")
    ]),
    plain2("map-going", "go to …", "go to a query and a key (G)"),
    plain2("map-strongest", "strongest in view", "fly to the strongest link in view (S)"),
    plain2("map-mark", "bookmark", "keep this place (B)")
  );
}
function goingPart({ state, size }) {
  const { going: going2 } = state.map;
  if (!going2) return null;
  const field3 = (name, count3) => h(
    "label",
    {},
    `${name} `,
    h("input", {
      type: "text",
      "data-going": name,
      value: going2[name],
      placeholder: `0 … ${positionWords(count3 - 1)}, or a token`,
      autocomplete: "off",
      spellcheck: "false",
      "aria-invalid": going2.wrong === name ? "true" : null,
      "aria-describedby": going2.trouble ? "going-trouble" : null
    })
  );
  return h(
    "form",
    { class: "map-going", "data-form": "map-go", "data-key": "going", novalidate: true },
    field3("query", size.rows),
    field3("key", size.keys),
    h("button", { class: "plain" }, "Go"),
    h(
      "button",
      { type: "button", class: "link", "data-act": "map-going", "data-arg": "close" },
      "close"
    ),
    going2.trouble && h("p", { class: "trouble", id: "going-trouble", role: "alert" }, going2.trouble)
  );
}
function headPickers({ state }) {
  const { capture, stage, head: head2, batch, info } = state;
  const { layers } = capture;
  const select = (act, name, texts2, chosen4) => texts2.length > 1 && h(
    "label",
    { class: "compare" },
    `${name} `,
    h(
      "select",
      { "data-choose": act },
      texts2.map((text, i) => h("option", { value: i, selected: i === chosen4 }, text))
    )
  );
  const { heads, batch: texts } = info.sizes;
  return h(
    "span",
    { class: "map-pickers" },
    select(
      "stage",
      "layer",
      layers.map(({ label }) => label),
      stage
    ),
    select("head", "head", layers[stage].heads.slice(0, heads).map(String), head2),
    select(
      "batch",
      "text",
      Array.from({ length: texts }, (_, i) => String(i)),
      batch
    )
  );
}
function mapLegend(scene) {
  const { state } = scene;
  const words2 = rampWords(scene);
  const colors = heatColors(state.theme);
  const ramp2 = h("span", { class: "heat-ramp", vars: { "--ramp": rampGradient(colors) } });
  return h(
    "div",
    {
      class: "heat-legend map-legend",
      role: "group",
      "aria-label": "legend",
      "data-glance": "legend"
    },
    h(
      "span",
      { class: "heat-scale" },
      h("span", {}, state.map.pool === "max" ? "strongest weight" : "share"),
      ramp2
    ),
    h("span", { class: "ramp-ends" }, words2 ? `${words2[0]} … ${words2[1]}, log scale` : "log scale"),
    swatch2("hidden", "hidden", colors),
    swatch2("unknown", "not computed yet", colors),
    scene.hasNaN && swatch2("NaN", "NaN", colors)
  );
}
function swatch2(kind, words2, colors) {
  const fill = { hidden: colors.hidden, NaN: colors.nan }[kind] ?? colors.paper;
  return h(
    "span",
    { class: "heat-swatch" },
    h("i", { class: `map-${kind}`, vars: { "--fill": fill, "--hatch": colors.hatch } }),
    words2
  );
}
var STEP3 = 0.1;
var handle = (which, value) => h("input", {
  ...{ type: "range", min: 0, max: 100, step: STEP3, value, "data-range": which },
  "aria-label": `${which === "low" ? "least" : "most"}: so many percent of the cells lie below`,
  "aria-valuetext": `${value} %`
});
function rangePart({ state }) {
  const [low, high] = state.map.range;
  const all = { type: "button", class: "link", "data-act": "map-range", "data-arg": "all" };
  return h(
    "div",
    {
      class: "map-range",
      role: "group",
      "aria-label": "range of the colours",
      "data-glance": "range"
    },
    h("span", {}, "colours from"),
    h("output", {}, `${low} %`),
    h(
      "span",
      { class: "two-ended", vars: { "--low": `${low}%`, "--high": `${high}%` } },
      handle("low", low),
      handle("high", high)
    ),
    h("output", {}, `${high} %`),
    h("span", {}, "of the cells in view"),
    (low > 0 || high < 100) && h("button", all, "all")
  );
}

// src/heading.js
function headingOf({ id, unit, means }, { by, down }, word2, { beside, below } = {}) {
  const way = by !== id ? "" : down ? " ▼" : " ▲";
  return h(
    "th",
    {
      scope: "col",
      "data-key": id,
      class: id === BY_HEAD ? "name" : "",
      "aria-sort": by === id ? down ? "descending" : "ascending" : null
    },
    h(
      "button",
      { type: "button", "data-act": "sort", "data-arg": id, title: means },
      h(
        "span",
        {},
        word2,
        " ",
        h(
          "span",
          { class: "whole" },
          unit && h("small", {}, unit),
          h("i", { class: "way", "aria-hidden": "true" }, way)
        ),
        beside
      )
    ),
    below
  );
}

// src/table_part.js
var PICTURE = 48;
var [SHORTLY, MINUTE, HOUR] = [2, 90, 5400];
var rowArg = ({ stage, head: head2 }) => `${stage}.${head2}`;
function tableMain(scene) {
  return h(
    "main",
    { "data-key": "table", class: "heads table-view" },
    h(
      "section",
      { class: "table-part", "aria-labelledby": "table-title" },
      h("div", { class: "titled" }, h("h2", { id: "table-title" }, titleOf2(scene)), tools(scene)),
      progressLine(scene),
      h(
        "div",
        { class: "table-scroll panel", "data-key": "rows" },
        h(
          "table",
          { class: "heads-table", "aria-labelledby": "table-title" },
          h("thead", {}, headRow(scene)),
          h("tbody", {}, bodyRows(scene))
        )
      ),
      h("p", { class: "quiet table-note" }, writtenNote(scene), noteOf2(scene))
    )
  );
}
function titleOf2({ rows, state }) {
  const layer = state.table.layer === null ? null : state.capture.layers[state.table.layer];
  const heads = `${rows.length.toLocaleString("en")} head${rows.length === 1 ? "" : "s"}`;
  return layer ? `${heads} of ${readable(layer.label)}` : `All ${heads} at a glance`;
}
function noteOf2({ by }) {
  const pictures = "Each picture shows its largest weights: queries down, keys across.";
  return `Open a head by its name. ${pictures}${by ? ` Computed by ${by}.` : ""}`;
}
function writtenNote({ rows, state: { capture, batch } }) {
  const all = rows.map(({ at }) => axesOf(capture, at.stage, batch).queries);
  const some = all.filter(({ tokens: tokens2, prompt: prompt2 }) => kindOf({ padding: [], prompt: prompt2 }, tokens2.length - 1));
  if (!some.length) return "";
  const [{ tokens, prompt }] = some;
  const [first, last] = [Number(prompt), tokens.length - 1].map((at) => at.toLocaleString("en"));
  const which = some.length < all.length ? "In some layers queries" : "Queries";
  const means = "each mean is over them and the prompt's.";
  return `${which} ${first} … ${last} were written by the model; ${means} `;
}
function tools({ state, progress }) {
  return h(
    "div",
    { class: "switches table-tools" },
    textField(state),
    layerChoice(state),
    h(
      "button",
      {
        type: "button",
        class: "link",
        "data-act": "save-table",
        disabled: progress.done === 0,
        title: "the rows as they stand, for a spreadsheet"
      },
      "save CSV"
    )
  );
}
function textField({ batch, info: { sizes } }) {
  if (sizes.batch < 2) return null;
  const most = sizes.batch - 1;
  const field3 = { type: "number", min: 0, max: most, step: 1, value: batch };
  return h(
    "label",
    { class: "compare" },
    "text ",
    h("input", { ...field3, "data-change": "batch" }),
    ` of 0 … ${most}`
  );
}
function layerChoice({ capture: { layers }, table: table7 }) {
  if (layers.length < 2) return null;
  const option = (stage, word2) => h("option", { value: stage ?? "", selected: table7.layer === stage }, word2);
  return h(
    "label",
    { class: "compare" },
    "layer ",
    h(
      "select",
      { "data-choose": "table-layer" },
      option(null, "all"),
      layers.map((layer, stage) => option(stage, readable(layer.label)))
    )
  );
}
function progressLine({ progress, state }) {
  const { done, of, part, seconds } = progress;
  if (done >= of) {
    const words3 = of === 1 ? "The head is worked out." : `All ${of} heads are worked out.`;
    return h("p", { class: "table-progress quiet", "data-key": "all" }, words3);
  }
  const { paused } = state.table;
  const left3 = seconds === null || paused ? "" : `, ${timeWords(seconds)}`;
  const words2 = `${done} of ${counted(of, "head")}${paused ? ", held" : left3}`;
  return h(
    "p",
    { class: "table-progress", "data-key": "some" },
    h("progress", { max: 1, value: part, "aria-label": "heads that are worked out" }),
    h("span", { class: "quiet" }, words2),
    h(
      "button",
      { type: "button", class: "link", "data-act": "pause-table", "aria-pressed": String(paused) },
      paused ? "go on" : "hold"
    )
  );
}
function timeWords(seconds) {
  if (seconds < SHORTLY) return "a moment left";
  if (seconds < MINUTE) return `about ${Math.ceil(seconds)} s left`;
  if (seconds < HOUR) return `about ${Math.ceil(seconds / 60)} min left`;
  return `about ${Math.ceil(seconds / 3600)} h left`;
}
function headRow({ columns, state, kinds }) {
  const head2 = { id: BY_HEAD, word: "head", unit: "", means: "the order of the model" };
  return h(
    "tr",
    {},
    [head2, ...columns].map((column) => heading(column, state.table)),
    kinds.length > 0 && h("th", { scope: "col", class: "kinds-cell", "data-key": "kinds" }, "of what is read")
  );
}
function heading(column, table7) {
  const { id, word: word2 } = column;
  const named2 = h("span", { class: id.startsWith("reads ") ? "whole" : "" }, swatch3(id), word2);
  return headingOf(column, table7, named2);
}
function swatch3(id) {
  const kind = id === "first" ? "first token" : id.startsWith("reads ") ? id.slice(6) : "";
  return kind && h("i", { class: `kind ${kindClass(kind)}` });
}
var kindClass = (kind) => `kind-${kind.replace(" ", "-")}`;
function bodyRows(scene) {
  const { rows, columns, state } = scene;
  const shown = rows.some(({ at }) => rowArg(at) === state.table.at);
  const stop = shown ? state.table.at : rows.length ? rowArg(rows[0].at) : "";
  const tops = new Map(columns.map((column) => [column.id, topOf(rows, column)]));
  const alike3 = `${columns.map(({ id }) => id)} ${[...tops.values()]} ${scene.kinds}`;
  return rows.map((row) => {
    const stops = rowArg(row.at) === stop;
    const drawn = bodyRow(scene, row, tops, stops);
    const own2 = `${row.part} ${row.summary !== null} ${stops} ${row.refused}`;
    drawn.setAttribute("data-as", `${own2} ${alike3}`);
    return drawn;
  });
}
function topOf(rows, column) {
  if (column.id !== "entropy" && column.id !== "distance") return 1;
  return Math.max(...rows.map((row) => column.number(row) || 0)) || 1;
}
function bodyRow({ columns, kinds }, row, tops, stops) {
  const arg = rowArg(row.at);
  const name = `${readable(row.label)}, head ${row.number}`;
  return h(
    "tr",
    { "data-key": arg, class: row.summary ? "" : "waiting" },
    h(
      "th",
      { scope: "row", class: "name" },
      h(
        "button",
        {
          type: "button",
          class: "row-open",
          "data-act": "open-row",
          "data-arg": arg,
          tabindex: stops ? 0 : -1,
          "aria-label": `open ${name}`
        },
        h("span", { class: "picture" }, h("canvas", { "data-row": arg })),
        h(
          "span",
          { class: "words" },
          h("bdi", {}, readable(row.label)),
          h("b", {}, `head ${row.number}`)
        )
      )
    ),
    row.refused ? h("td", { class: "refused quiet", colspan: columns.length + 1 }, row.refused) : columns.map((column, i) => numberCell(row, column, tops.get(column.id) ?? 1, i === 0)),
    !row.refused && kinds.length > 0 && h("td", { class: "kinds-cell" }, kindsBar(row))
  );
}
function numberCell(row, column, top3, first) {
  const number2 = column.number(row);
  if (number2 === void 0) {
    const words2 = first && row.part > 0 ? `${Math.floor(100 * row.part)} %` : "";
    return h("td", { class: "quiet" }, words2);
  }
  if (number2 === null) return h("td", { class: "quiet", title: "there is none" }, "–");
  const share2 = Number.isFinite(number2) ? Math.max(0, Math.min(1, number2 / top3)) : 0;
  return h(
    "td",
    { class: "weight", vars: { "--w": share2.toFixed(4) }, title: String(number2) },
    column.id === "distance" ? distanceWord(number2) : rounded(number2)
  );
}
var TENTHS = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
var distanceWord = (distance2) => Number.isFinite(distance2) ? TENTHS.format(distance2) : rounded(distance2);
function kindsBar({ summary }) {
  const groups = (summary?.groups ?? []).filter(({ share: share2 }) => share2 !== null && share2 > 0);
  if (!groups.length) return null;
  const words2 = groups.map(({ name, share: share2 }) => `${name} ${rounded(share2 ?? 0)}`).join(", ");
  return h(
    "span",
    { class: "kinds", role: "img", "aria-label": words2, title: words2 },
    groups.map(
      ({ name, share: share2 }) => h("i", { class: kindClass(name), vars: { "--w": (share2 ?? 0).toFixed(4) } })
    )
  );
}

// src/profile_part.js
var entropies = (list) => list && list.map(({ query, entropy, spread: spread4 }) => ({ at: query, number: entropy, share: spread4 }));
var OF_THE_MOST = "ordered by their share of the most that the visible keys allow";
var LISTS2 = [
  {
    id: "received",
    title: "Keys that receive most",
    axis: "key",
    unit: "a query",
    means: "a mean over the queries that see the key",
    act: "map-see-key",
    lines: ({ top_received: list }) => list && list.map(({ key, each }) => ({ at: key, number: each, share: each }))
  },
  {
    id: "lowest",
    title: "Queries of lowest entropy",
    axis: "query",
    unit: "nats",
    means: `near 0 one key gets all weight; ${OF_THE_MOST}`,
    act: "map-see-query",
    lines: ({ lowest_entropy: list }) => entropies(list)
  },
  {
    id: "highest",
    title: "Queries of highest entropy",
    axis: "query",
    unit: "nats",
    means: `the weight is spread over many keys; ${OF_THE_MOST}`,
    act: "map-see-query",
    lines: ({ highest_entropy: list }) => entropies(list)
  }
];
function profilePart(scene) {
  const { profile } = scene;
  const whole3 = profile?.top_received;
  return h(
    "section",
    { class: "extremes", "data-key": "extremes", "aria-labelledby": "extremes-title" },
    h("h2", { id: "extremes-title" }, "Extremes along the axes"),
    whole3 ? LISTS2.map((list, i) => extremes(scene, list, profile, i === 0)) : waitingLine(scene),
    whole3 && h("p", { class: "quiet" }, `by ${profile.by}`)
  );
}
var waitingLine = (scene) => h("p", { class: "quiet", "data-glance": "extremes" }, waitingWords(scene));
function waitingWords({ info, profile }) {
  if (info?.refused) return "These lists need the whole map, which is too large here.";
  if (!profile) return "These lists come once the map is whole.";
  const part = profile.of ? Math.floor(100 * profile.done / profile.of) : 0;
  const left3 = profile.seconds_left === null ? "" : `, ${timeWords(profile.seconds_left)}`;
  return `Working out what every key receives: ${part} %${left3}`;
}
function extremes({ queries, keys }, list, profile, open4) {
  const lines = list.lines(profile) ?? [];
  const info = list.axis === "key" ? keys : queries;
  const most = Math.max(...lines.map(({ share: share2 }) => share2));
  return h(
    "details",
    { "data-key": list.id, open: open4 },
    h("summary", {}, list.title),
    h("p", { class: "quiet means" }, list.means),
    lines.length ? table4(list, lines, info, most) : h("p", { class: "quiet" }, "there are none")
  );
}
function table4({ axis: axis2, unit, title, act }, lines, info, most) {
  const heads = ["token", axis2, unit].map((word2) => h("th", { scope: "col" }, word2));
  const write2 = alike(lines.map(({ number: number2 }) => number2));
  return h(
    "table",
    { class: "reads", "aria-label": title },
    h("thead", {}, h("tr", {}, heads)),
    h(
      "tbody",
      {},
      lines.map(
        ({ at, number: number2, share: share2 }, i) => h(
          "tr",
          { "data-key": String(at) },
          h("th", { scope: "row" }, pick4(act, axis2, info, at, i === 0)),
          h("td", { class: "so-far" }, positionWords(at)),
          h(
            "td",
            {
              class: "weight",
              vars: { "--w": most > 0 ? (share2 / most).toFixed(4) : "0" },
              title: String(number2)
            },
            write2(number2)
          )
        )
      )
    )
  );
}
function pick4(act, axis2, info, at, first) {
  const { tokens } = info;
  const note = noteOf(info, at);
  return h(
    "button",
    {
      type: "button",
      class: `chip ${colorClass(at)} later ${kindOf(info, at)}`,
      "data-act": act,
      "data-arg": at,
      tabindex: first ? 0 : -1,
      title: `${readable(tokens[at])}${note}`,
      "aria-label": `pick ${axis2} ${at}, ${shortName(tokens[at])}${note}`
    },
    h("bdi", {}, shortName(tokens[at]))
  );
}

// src/map_page.js
function mapMain(scene, desk) {
  const { state, layout, ledger } = scene;
  return h(
    "main",
    { "data-key": "map", class: `map ${layout.beside ? "map-beside" : "map-below"}` },
    mapPart(scene, desk),
    h(
      "div",
      { class: "map-side", "data-key": "side" },
      miniPart(scene),
      tourPart(scene),
      marksPart(scene),
      listsPart(scene),
      profilePart(scene)
    ),
    ledger && rowSteps(ledger, state)
  );
}
var fileMain = () => h(
  "main",
  { "data-key": "no map", class: "map" },
  h(
    "p",
    { class: "alone" },
    "Maps and the table of all heads are worked out by the program, not by a file: run softlookup show on the capture."
  )
);
function mapPart(scene, desk) {
  const { state, size, refused } = scene;
  const name = headName(state.capture, state);
  return h(
    "section",
    { class: "map-part", "data-key": "map", "aria-labelledby": "map-title" },
    h(
      "div",
      { class: "titled" },
      h(
        "h2",
        { id: "map-title", class: "headline", tabindex: -1 },
        `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${positionWords(size.rows)} × ${positionWords(size.keys)} weights`
      ),
      headPickers(scene)
    ),
    mapTools(scene),
    goingPart(scene),
    readRow2(scene),
    refused ? h("p", { class: "quiet panel waiting", "data-key": "refused" }, refused) : [figure2(scene), under2(scene, desk)]
  );
}
function readRow2(scene) {
  const { lock } = scene.state.map;
  const act = (name, text, label) => h("button", { type: "button", class: "link", "data-act": name, title: label }, text);
  return h(
    "div",
    { class: "pair-row" },
    h("div", { class: `readout pair${lock ? " locked" : ""}`, id: "map-pair" }, readLine(scene)),
    h(
      "span",
      { class: "read-acts" },
      act(
        "map-lock",
        lock ? "let go" : "hold",
        lock ? "let the read-out go (L)" : "hold the read-out (L)"
      ),
      act("map-pick", "pick", "pick this query and key: lists and steps (Enter)"),
      act("copy", "copy", "copy the held pair as a line of a table (C)")
    )
  );
}
function readLine(scene) {
  return glance(readWords(scene));
}
var picture = (what, props = {}) => h("canvas", { "data-map": what, ...props });
function figure2(scene) {
  const { box, names: names2, above, strip } = scene.layout;
  const unseen = { "aria-hidden": "true" };
  const vars = {
    ...{ "--names": `${names2}px`, "--strip": `${strip}px`, "--above": `${above}px` },
    ...{ "--width": `${box.width}px`, "--height": `${box.height}px` }
  };
  return h(
    "div",
    { class: "map-figure", "data-key": "figure", vars },
    h(
      "div",
      { class: "heat-corner quiet", ...unseen },
      h("span", {}, "key →"),
      h("span", {}, "query ↓")
    ),
    picture("keys", { class: "map-labels", "data-axis": "keys", ...unseen }),
    h("div", { class: "strip-name quiet" }, "entropy"),
    picture("rows", { class: "map-labels", "data-axis": "rows", ...unseen }),
    cells(scene),
    picture("entropy", unseen),
    h("div", { class: "strip-name quiet below" }, "received"),
    picture("received", unseen)
  );
}
var cells = ({ state }) => h(
  "div",
  {
    class: "map-cells",
    tabindex: 0,
    role: "application",
    "aria-label": `Map of ${headName(state.capture, state)}. Arrow keys move, plus and minus zoom, 0 shows the whole; L holds the pair at the centre, Enter picks it, G goes to a query and key.`,
    "aria-describedby": "map-pair"
  },
  picture("cells"),
  picture("lines")
);
function under2(scene, desk) {
  const { info, state } = scene;
  const building = info !== null && info.done < info.of && !info.refused;
  const { paused } = state.map;
  return h(
    "div",
    { class: "map-under", "data-key": "under" },
    h(
      "div",
      { class: "map-progress" },
      progressLine2(scene),
      building && h(
        "button",
        { type: "button", class: "plain", "data-act": "map-pause", "data-key": "pause" },
        paused ? "Continue" : "Pause"
      )
    ),
    mapLegend(scene),
    rangePart(scene),
    stripLegends(scene, desk)
  );
}
function progressLine2(scene) {
  return h(
    "p",
    { class: "quiet", "data-glance": "progress" },
    h("span", { class: "map-scale" }, scaleWords(scene)),
    " · ",
    h("span", { class: "map-built" }, isolated(progressWords(scene)))
  );
}
function stripLegends({ place }, desk) {
  const entropy = desk.profiles.strip(place, "queries");
  const received = desk.profiles.strip(place, "keys");
  const isKnown = (strip) => strip !== null && !strip.mean.every(Number.isNaN);
  return h(
    "div",
    { class: "strip-legends", "data-glance": "strips" },
    entropy && isKnown(entropy) && stripLegend("entropy of a query, nats", scaleOf2(entropy, false)),
    received && isKnown(received) && stripLegend("received by a key", scaleOf2(received, true))
  );
}
function miniPart(scene) {
  const { width, height } = miniBox(scene);
  return h(
    "div",
    { class: "map-mini-part", "data-key": "mini" },
    h(
      "div",
      {
        class: "map-mini",
        title: "the whole head: click or drag to move the view",
        "aria-hidden": "true",
        vars: { "--width": `${width}px`, "--height": `${height}px` }
      },
      h("canvas", { "data-map": "mini" })
    )
  );
}
var mapGlanced = (scene, desk) => [
  ["pair", readLine(scene)],
  ["progress", progressLine2(scene)],
  ["extremes", waitingLine(scene)],
  ["legend", mapLegend(scene)],
  ["range", rangePart(scene)],
  ["strips", stripLegends(scene, desk)]
];

// src/map_live.js
var REST2 = 220;
var SAY = 700;
var MapLife = class {
  #frame = 0;
  // of the next drawing; 0: none is due
  #rest = 0;
  #flights = 0;
  #phase = "";
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.say = speaker(page.shadow);
    const { failed, source } = page;
    this.desk = new Desk({ call: source.call, changed: () => this.soon(), failed });
    this.paint = createMapPainter(this.desk);
    document.addEventListener("visibilitychange", this.#seen);
  }
  #seen = () => this.soon();
  /** The page is taken away: nothing is asked for any more. */
  end() {
    document.removeEventListener("visibilitychange", this.#seen);
    cancelAnimationFrame(this.#frame);
    this.desk.see(null);
  }
  /** What is shown; null in the other views.  @returns {MapScene | null} */
  scene() {
    const { state, source } = this.page;
    const shown = state().view === "map" && !state().inFile;
    return shown ? mapScene(state(), source, this.desk) : null;
  }
  /** Draw in the next frame. */
  soon() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const scene = this.scene();
      if (scene && phaseOf(scene) !== this.#phase) this.page.update();
      else this.draw();
    });
  }
  /** Paint the canvases and what follows them, and ask for what is missing. */
  draw() {
    const { root, shadow } = this.page;
    const scene = this.scene();
    this.desk.see(this.page.state().offline ? null : scene);
    this.say(scene);
    if (!scene) {
      delete root.dataset.map;
      return;
    }
    this.#phase = phaseOf(scene);
    for (const [name, node] of mapGlanced(scene, this.desk)) {
      const there = shadow.querySelector(`[data-glance="${name}"]`);
      if (there) patch(there, [...node.childNodes]);
    }
    this.paint(shadow, scene);
    root.dataset.map = this.#rest || this.desk.busy || !scene.info ? "busy" : "settled";
  }
  /**
   * Move the map: drawn in the next frame, written into the address once it rests. A movement stops
   * a flight, unless it is a part of it.
   * @param {Partial<MapState>} changes
   * @param {number} [flight]
   */
  look(changes, flight) {
    if (flight === void 0) this.#flights += 1;
    else if (flight !== this.#flights) return;
    const { root, state, set, update } = this.page;
    set({ ...state(), map: { ...state().map, ...changes } });
    root.dataset.map = "busy";
    clearTimeout(this.#rest);
    this.#rest = Number(
      setTimeout(() => {
        this.#rest = 0;
        update();
      }, REST2)
    );
    this.soon();
  }
  /** Begin a flight; any other ends. */
  flight() {
    this.#flights += 1;
    return this.#flights;
  }
  /** @param {number} flight */
  isFlying(flight) {
    return flight === this.#flights;
  }
};
var phaseOf = ({ info, profile, refused, level }) => [
  info !== null,
  info && info.done >= info.of,
  profile !== null,
  profile && profile.done >= profile.of,
  refused,
  level === 0
].join(" ");
function speaker(shadow) {
  let waiting3 = 0;
  let words2 = "";
  const spoken = h("output", { class: "unseen", "aria-live": "polite", "data-say": "pair" });
  return (scene) => {
    if (!scene) {
      spoken.remove();
      return;
    }
    if (!spoken.isConnected) shadow.append(spoken);
    const { formula, exactly } = readWords(scene);
    const now = scene.at && exactly !== "…" ? `${formula} ${exactly}`.replaceAll(/[\u2068\u2069]/g, "") : "";
    if (now === words2) return;
    words2 = now;
    clearTimeout(waiting3);
    waiting3 = Number(
      setTimeout(() => {
        spoken.textContent = now;
      }, SAY)
    );
  };
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
  const open4 = lesson.checklist.find(({ skill }) => !solved.includes(skill));
  return h(
    "div",
    { class: verdict.correct ? "verdict right" : "verdict wrong" },
    h("p", {}, h("b", {}, prose(verdict.verdict)), " ", prose(verdict.explanation)),
    verdict.steps.length > 0 && h(
      "ol",
      { class: "right-step" },
      verdict.steps.map((line4) => h("li", {}, prose(line4)))
    ),
    verdict.correct && open4 && h(
      "button",
      {
        type: "button",
        class: "plain",
        "data-act": "skill",
        "data-arg": open4.skill
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

// src/grid.js
var WIDTH = 262;
var NUMBER = 41;
var LONGEST3 = 5;
function gridPart(scene, lights) {
  const { small: small2, tokens } = scene;
  return h(
    "section",
    { class: "grid-part", "data-key": "grid", "aria-labelledby": "grid-title" },
    h("h2", { id: "grid-title" }, "The weight grid: one row a query"),
    pickers(scene),
    table5(scene, lights),
    legend(scene),
    !small2 && h(
      "p",
      { class: "quiet" },
      `${scene.gridRows.length} of ${tokens.length} queries, against the keys of the ledger.`
    ),
    isWhole2(scene) && h(
      "p",
      { class: "quiet whole" },
      "All rows are in: this grid is the whole layer, every query against every key."
    ),
    isWhole2(scene) && hasLayer(scene) && h(
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
function legend({ small: small2, gridTop }) {
  const end = small2 ? "1" : rounded(gridTop);
  return h(
    "div",
    { class: "legend", "aria-hidden": "true" },
    "0",
    h("span", { class: "ramp" }),
    h("span", { title: small2 ? null : "the largest weight shown" }, end)
  );
}
function pickers({ state, small: small2, tokens }) {
  const { batch_shape, sizes } = state.info;
  const stages = state.capture.layers.length;
  const batches = batch_shape.reduce((product, n) => product * n, 1);
  const { heads } = state.capture.layers[state.stage];
  const numbered = stages > 1 || heads.some((number2, i) => number2 !== i);
  const fields2 = [
    !small2 && field2("query", state.row, tokens.length, `query (0 … ${tokens.length - 1})`),
    stages > 1 && chooser(
      "stage",
      "layer",
      state.stage,
      state.capture.layers.map((l) => l.label)
    ),
    sizes.heads > 1 && numbered && chooser(
      "head",
      "head",
      state.head,
      heads.map((number2) => `head ${number2}`)
    ),
    sizes.heads > 1 && !numbered && field2("head", state.head, sizes.heads, `head (0 … ${sizes.heads - 1})`),
    batches > 1 && field2("batch", state.batch, batches, `batch entry (0 … ${batches - 1})`)
  ].filter(Boolean);
  return fields2.length ? h("div", { class: "pickers" }, fields2) : null;
}
function field2(name, value, size, label) {
  return h(
    "label",
    {},
    h("span", {}, label),
    h("input", { type: "number", min: 0, max: size - 1, step: 1, value, "data-change": name })
  );
}
function chooser(name, label, value, texts) {
  const options = texts.map((text, i) => h("option", { value: i, selected: i === value }, text));
  return h(
    "label",
    {},
    h("span", {}, label),
    h("select", { "data-choose": name, "aria-label": label }, options)
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
function table5(scene, lights) {
  const { tokens, keyTokens, gridRows, gridKeys, state } = scene;
  const { names: names2, written: written3, upright } = measures(scene);
  const rows = gridRows.map(
    (row) => h(
      "tr",
      { class: row === state.row ? "picked" : "" },
      h("th", { scope: "row" }, chip(tokens, row)),
      gridKeys.map(
        (key, c) => cell(scene, row, c, row === state.row && lights.has(`weight@${key}`), written3)
      )
    )
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {
        class: `grid${written3 ? "" : " dense"}${upright ? " upright" : ""}`,
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
function cell(scene, row, c, lit, written3) {
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
      mark2("hidden", false)
    );
  const weight = found.weight;
  const share2 = weight / scene.gridTop;
  return h(
    "td",
    {
      ...props,
      class: `${rampClass(share2)}${light}`,
      title: `${names2}: ${rounded(weight)}`,
      vars: { "--w": String(Number.isFinite(share2) ? share2 : 0) }
    },
    weightMark(rounded(weight), written3)
  );
}
function weightMark(text, written3) {
  if (!written3 || breadth(text) <= LONGEST3) return mark2(text, written3);
  return [h("span", { "aria-hidden": "true" }, "≈0"), mark2(text, false)];
}
var mark2 = (text, written3) => h("span", { class: written3 ? "" : "unseen" }, text);

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
  const [i, j] = cellOf2(scene);
  const turned = (numbers.key[0] ?? []).map((_, d) => numbers.key.map((key2) => key2[d]));
  const query = numbers.query[i];
  const key = numbers.key[j];
  const terms2 = query.map((x, d) => `${bracketed(x)}·${bracketed(key[d])}`).join(" + ");
  const product = all[i].products[j];
  const ask3 = `query ${tokenName(tokens, i)} · key ${tokenName(keyTokens, j)}`;
  const write2 = evenly(all.flatMap((record) => record.products));
  return step3(
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
        { rows: names(scene, "q"), columns: names(scene, "k"), write: write2, at: [i, j] }
      )
    ),
    productLine(`${ask3} = ${terms2} = ${write2(product)}`, product)
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
function cellOf2({ state, tokens, keyTokens }) {
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
  return step3(
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
  return step3(
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
function step3(number2, title, text, ...body2) {
  return h(
    "div",
    { class: "layer-step" },
    h("h3", {}, h("span", { class: "ordinal" }, number2), title),
    h("p", { class: "quiet" }, text),
    body2
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
  const body2 = numbers.map(
    (row, i) => h(
      "tr",
      {},
      rows ? h("th", { scope: "row" }, rows[i]) : null,
      row.map((x, j) => matrixCell(x, i, j, how))
    )
  );
  const heads = columns?.map((node) => h("th", { scope: "col" }, node)) ?? [];
  const head2 = columns ? h("thead", {}, h("tr", {}, rows ? h("td", {}) : null, heads)) : null;
  const props = { class: "matrix", role: how.at ? "grid" : null, "aria-label": name };
  return h(
    "div",
    { class: "matrix-box" },
    h("table", props, head2, h("tbody", {}, body2)),
    h("span", { class: "matrix-name", "aria-hidden": "true" }, name)
  );
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
  const open4 = lesson.sections[index];
  if (!open4) return null;
  const turn = (arg, text, off) => h(
    "button",
    { type: "button", class: "link", "data-act": "section", "data-arg": arg, disabled: off },
    text
  );
  return h(
    "article",
    { class: "article-part", "data-key": "article", "aria-labelledby": "article-title" },
    h("h2", { id: "article-title", class: "headline", tabindex: -1 }, prose(open4.title)),
    open4.paragraphs.map((text) => h("p", {}, prose(text))),
    open4.tables.map(figure3),
    h(
      "div",
      { class: "turns" },
      turn("back", "previous", index === 0),
      h("span", { class: "quiet" }, `${index + 1} of ${lesson.sections.length}`),
      turn("next", "next", index === lesson.sections.length - 1)
    )
  );
}
function figure3(table7) {
  const rows = table7.rows.map(
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
      h("caption", {}, prose(table7.caption)),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          table7.columns.map((name) => h("th", { scope: "col" }, prose(name)))
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
    state.info.editable ? tools2(scene, edited) : h("p", { class: "quiet" }, state.info.editable_reason ?? ""),
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
  const head2 = h(
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
      stacked ? null : head2,
      lines.map((line4) => stacked ? stackedBody(line4) : besideBody(line4))
    )
  );
}
var cellOf3 = ({ lit, parts }) => h("td", { class: lit ? "lit" : "" }, parts);
function besideBody({ picked: picked2, name, cells: cells2 }) {
  return h(
    "tbody",
    {},
    h("tr", { class: picked2 ? "picked" : "" }, h("th", { scope: "row" }, name), cells2.map(cellOf3))
  );
}
function stackedBody({ picked: picked2, name, cells: cells2 }) {
  return h(
    "tbody",
    {},
    cells2.map(
      (cell3, i) => h(
        "tr",
        { class: picked2 ? "picked" : "" },
        i === 0 ? h("th", { scope: "rowgroup", rowspan: cells2.length }, name) : null,
        h("th", { scope: "row", class: "side" }, cell3.side),
        cellOf3(cell3)
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
function tools2({ state, paired, numbers, tokens, keyTokens }, edited) {
  if (!numbers) return null;
  const { side, row } = state.spot;
  const names2 = paired || side === "query" ? tokens : keyTokens;
  const name = row < names2.length ? tokenName(names2, row) : "";
  const adds = paired ? [button2("add", "query", "add a token")] : [button2("add", "query", "add a query"), button2("add", "key", "add a key")];
  return h(
    "div",
    { class: "tools" },
    h(
      "div",
      {},
      adds,
      button2("rename", "", `rename ${name}`),
      button2("remove", "", `remove ${name}`)
    ),
    h(
      "div",
      {},
      stepper("head_dim", "d_k", "query and key", numbers.query[0]?.length ?? 0),
      stepper("value_dim", "d_v", "value", numbers.value[0]?.length ?? 0)
    ),
    edited && h("div", {}, button2("reset", "", "reset: back to the numbers as they came"))
  );
}
function button2(act, arg, text) {
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
  const cell3 = (side, index, numbers) => ({ side, lit: lights.has(`${side}:${index}`), parts: [brief(numbers, 1)] });
  const asks = {
    picked: true,
    name: chip(tokens, record.row),
    cells: [cell3("query", record.row, record.query)]
  };
  const keys = record.keys.map((key, i) => ({
    picked: false,
    name: chip(keyTokens, key),
    cells: [
      cell3("key", key, record.key[i]),
      ...record.value ? [cell3("value", key, record.value[i])] : []
    ]
  }));
  return [
    tableOf("The query that asks", ["query"], [asks], true),
    tableOf("Keys with the largest scores", ["key", "value"], keys, true)
  ];
}

// src/page_view.js
function headsView(scene) {
  const { state } = scene;
  return [header(state), ...notices(state), headsMain(scene), headsFooter()];
}
function mapView(scene, desk) {
  const { state } = scene;
  return [header(state), ...notices(state), mapMain(scene, desk), mapFooter()];
}
function tableView(scene) {
  const { state } = scene;
  return [header(state), ...notices(state), tableMain(scene), tableFooter()];
}
var noMapView = (state) => [header(state), ...notices(state), fileMain()];
function pageView(scene) {
  const { state } = scene;
  if (!scene.tokens.length) {
    return [
      header(state),
      h("p", { class: "alone" }, "This lookup has no queries: there is nothing to look up.")
    ];
  }
  const lights = litBy(scene);
  const lesson = state.info.source === "lesson";
  return [
    header(state),
    ...notices(state),
    h(
      "main",
      { "data-key": "main", class: lesson ? "" : "wide" },
      h("div", { class: "left" }, tokensTable(scene, lights), lesson && contentsPart(state)),
      h(
        "div",
        { class: "center" },
        ledgerPart(scene, lights),
        state.layer && hasLayer(scene) ? layerPart(scene) : null,
        lesson && articlePart(state)
      ),
      h(
        "div",
        { class: "right" },
        gridPart(scene, lights),
        lesson && [turnPart(state), recapPart(state)]
      )
    ),
    footer(scene.tokens.length, lesson)
  ];
}
function litBy(scene) {
  const { record, state } = scene;
  const point = pointOf(scene);
  if (!record || !point || !isUnfolded(point.step, state.step)) return /* @__PURE__ */ new Set();
  return lightsOf(record, point, state.reading);
}

// src/painter.js
function createPainter() {
  const painted = /* @__PURE__ */ new WeakMap();
  const themes = {};
  const isNew = (canvas, picture2) => {
    const before2 = painted.get(canvas);
    painted.set(canvas, picture2);
    return !before2 || before2.some((part, i) => !Object.is(part, picture2[i]));
  };
  return (shadow, scene, only3) => {
    const { theme } = scene.state;
    const colors = themes[theme] ??= heatColors(theme);
    const studio = { scene, layout: layoutOf(scene.state), colors };
    for (const canvas of shadow.querySelectorAll("canvas[data-paint]")) {
      const kind = canvas.getAttribute("data-paint") ?? "";
      if (!(canvas instanceof HTMLCanvasElement) || only3 && kind !== only3) continue;
      const work = workOf(studio, kind, canvas.getAttribute("data-arg") ?? "");
      if (work && isNew(canvas, [theme, devicePixelRatio, ...work.picture])) work.paint(canvas);
    }
  };
}
function workOf(studio, kind, which) {
  if (kind === "thumb") return thumbWork(studio, which);
  const { scene, colors, layout } = studio;
  const view = which === "second" ? scene.second : scene.first;
  const grid2 = view?.grid;
  if (!grid2 || !view) return null;
  const cell3 = cellOf(scene, view, layout);
  const [row, key] = [
    scene.picked?.[0] ?? null,
    scene.state.key === null ? null : scene.picked?.[1] ?? null
  ];
  const range3 = rangeIn(scene);
  if (kind === "grid") {
    return {
      picture: [grid2, cell3, range3.high],
      paint: (canvas) => paintGrid(canvas, grid2, { cell: cell3, range: range3, colors })
    };
  }
  if (kind === "lines") {
    const [hoverRow, hoverKey] = scene.at ?? [null, null];
    return {
      picture: [grid2, cell3, row, key, hoverRow, hoverKey],
      paint: (canvas) => paintOverlay(canvas, grid2, { cell: cell3, row, key, hoverRow, hoverKey, colors })
    };
  }
  const { entropy, received } = stripsOf(scene, view);
  const scales = stripScales(scene);
  const vertical = kind === "entropy";
  const numbers = vertical ? entropy : received;
  const scale2 = vertical ? scales.entropy : scales.received;
  const at = vertical ? row : key;
  const picked2 = at === null ? null : at - (vertical ? grid2.rowAt : grid2.keyAt);
  return {
    picture: [grid2, view.facts, kind, cell3, picked2, scale2.low, scale2.high],
    paint: (canvas) => {
      paintStrip(canvas, numbers, { vertical, cell: cell3, colors, scale: scale2, picked: picked2 });
    }
  };
}
function thumbWork({ scene, layout, colors }, which) {
  const { state } = scene;
  const [stage, head2] = which.split(".").map(Number);
  const overview2 = scene.overview(stage);
  const values = overview2?.pictures[head2];
  if (!overview2 || !values) return null;
  const { rows, columns, per } = overview2;
  const marked = state.picked && isAlike(state, stage, state.stage);
  const markRow = marked ? Math.floor(state.row / per) : null;
  return {
    picture: [values, markRow, state.first, layout.thumb],
    paint: (canvas) => {
      const cell3 = layout.thumb / Math.max(rows, columns);
      const { queries } = axesOf(state.capture, stage, state.batch);
      const padded = paddedBlocks(queries, rows, per);
      const range3 = thumbRange(values, columns, { first: state.first, padded });
      paintThumbnail(canvas, values, rows, columns, { markRow, padded, colors, range: range3, cell: cell3 });
    }
  };
}
function paddedBlocks({ tokens, padding }, rows, per) {
  if (!padding.length) return null;
  return Array.from({ length: rows }, (_, r) => {
    const stop = Math.min(tokens.length, (r + 1) * per);
    return padding.some(([from, upTo]) => from <= r * per && stop <= upTo);
  });
}
function thumbRange(values, columns, { first, padded }) {
  let high = 0;
  values.forEach((value, i) => {
    if (value > high && (first || i % columns) && !padded?.[Math.floor(i / columns)]) high = value;
  });
  return { low: 0, high: high || 1 };
}

// src/sight.js
function pairOf({ view, capture, stage, batch, head: head2, picked: picked2, row, key, follow: follow4 }) {
  if (!(picked2 && follow4 && key !== null)) return "";
  return [view, capture.capture, stage, batch, head2, row, key].join(" ");
}
function createSight() {
  let shown = "";
  return (shadow, state) => {
    const pair2 = pairOf(state);
    if (pair2 === shown) return;
    const cell3 = pair2 && shadow.querySelector(".row-steps table.ledger td[tabindex='0']");
    if (pair2 && !cell3) return;
    shown = pair2;
    if (cell3) bringAcross(cell3);
  };
}
function bringAcross(cell3) {
  const box = cell3.closest(".scroll");
  const [first, last] = [cell3.parentElement?.firstElementChild, cell3.parentElement?.lastElementChild];
  if (!box || !first || !last) return;
  const { left: left3, right } = cell3.getBoundingClientRect();
  const from = first.getBoundingClientRect().right;
  const upTo = Math.min(last.getBoundingClientRect().left, box.getBoundingClientRect().right);
  if (left3 < from) box.scrollLeft -= from - left3;
  else if (right > upTo) box.scrollLeft += right - upTo;
}
function heldLine(shadow) {
  const held2 = shadow.activeElement;
  const at = held2?.matches(".extremes button") ? held2.getBoundingClientRect().top : null;
  return () => {
    if (held2 === null || at === null || !held2.isConnected) return;
    const moved3 = held2.getBoundingClientRect().top - at;
    if (moved3 !== 0) scrollBy({ top: moved3, behavior: "instant" });
  };
}

// src/table_painter.js
function createTablePainter() {
  const painted = /* @__PURE__ */ new WeakMap();
  const themes = {};
  return (shadow, { rows, state: { theme } }) => {
    const colors = themes[theme] ??= heatColors(theme);
    const canvases = new Map(
      [...shadow.querySelectorAll("canvas[data-row]")].map((canvas) => [
        canvas.getAttribute("data-row"),
        /** @type {HTMLCanvasElement} */
        canvas
      ])
    );
    for (const { at, picture: picture2, summary } of rows) {
      const canvas = canvases.get(rowArg(at));
      if (!canvas || !picture2 || !summary) continue;
      const now = [theme, devicePixelRatio, picture2];
      if (painted.get(canvas)?.every((part, i) => Object.is(part, now[i]))) continue;
      painted.set(canvas, now);
      const cell3 = PICTURE / Math.max(summary.rows, summary.columns);
      const range3 = { low: 0, high: largest3(picture2) };
      paintThumbnail(canvas, picture2, summary.rows, summary.columns, { colors, range: range3, cell: cell3 });
    }
  };
}
function heldRow(shadow) {
  const held2 = shadow.activeElement;
  const at = held2?.matches(".row-open") ? held2.getAttribute("data-arg") : null;
  return () => {
    if (at === null || shadow.activeElement === held2 || isElsewhere()) return;
    const now = shadow.querySelector(`.row-open[data-arg="${at}"]`);
    if (now instanceof HTMLElement) now.focus({ preventScroll: true });
  };
}
function largest3(values) {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most || 1;
}

// src/live_page.js
var PACE = 150;
var FOCUS = (
  /** @type {Record<string, string[]>} */
  {
    ledger: ["table.ledger [tabindex='0']"],
    spot: ["table.tokens [data-spot][tabindex='0']"],
    input: ["input.edit"],
    layer: ["table.matrix [tabindex='0']"],
    article: ["#article-title"],
    turn: ["form input:checked", "form input", "form button"],
    verdict: [".verdict .plain", "form input[aria-invalid]", "form input:checked", "form input"],
    head: ["#head-title"],
    cells: [".heat-cells"],
    steps: ["table.ledger [tabindex='0']", "#ledger-title"],
    thumb: [".thumb[tabindex='0']"],
    piece: [".piece[tabindex='0']"],
    map: [".map-cells"],
    row: [".row-open[tabindex='0']"],
    going: ["input[data-going]"]
  }
);
function livePage(root, shadow, page, source, first, address2) {
  let state = first;
  let waiting3 = 0;
  let pause = 0;
  const paint = createPainter();
  const paintTable = createTablePainter();
  const bring = createSight();
  const life = new MapLife({
    ...{ root, shadow, source, state: () => state, update: () => update({}) },
    set: (next2) => state = next2,
    failed: (error) => update({ offline: sentenceOf(error) })
  });
  const scenes = scenesOf(() => state, source, life);
  const { heads, table: table7 } = scenes;
  const wait = async (promise) => {
    waiting3++;
    root.dataset.state = "loading";
    const asked2 = promise.then(() => null, sentenceOf);
    const offline = await asked2.finally(() => waiting3--);
    const steps = offline || state.offline ? [] : tableSteps(state, source);
    if (!steps.length) {
      update({ offline });
      return;
    }
    ask3(steps);
    pause ||= Number(setTimeout(() => update({}), PACE));
  };
  const ask3 = (needs) => {
    for (const [op, args] of needs)
      if (!source.has(op, args) && !source.asking(op, args)) void wait(source.need(op, args));
  };
  const update = ({ focus, ...changes }) => {
    state = settled(state, changes);
    clearTimeout(pause);
    pause = 0;
    const { nodes, needs } = scenes.view();
    const found = heldRow(shadow);
    const stay = heldLine(shadow);
    patch(page, nodes);
    found();
    stay();
    const drawn = heads();
    if (drawn) paint(shadow, drawn);
    const tabled = table7();
    if (tabled) paintTable(shadow, tabled);
    life.draw();
    bring(shadow, state);
    markEdges(shadow);
    root.dataset.state = waiting3 ? "loading" : "ready";
    if (!state.going) announce(root, state, address2);
    ask3(state.offline ? [] : needs);
    if (focus && !isElsewhere()) focusOn(shadow, focus);
  };
  const glance2 = (changes) => {
    state = { ...state, ...changes };
    const drawn = heads();
    if (drawn) follow2(shadow, drawn, paint);
    else if (state.view === "map") life.soon();
  };
  return { ...scenes, life, state: () => state, update, glance: glance2, wait };
}
function scenesOf(state, source, life) {
  const heads = () => state().view === "heads" ? headsScene(state(), source) : null;
  const table7 = () => isTable(state()) ? tableScene(state(), source) : null;
  const map = () => life.scene();
  const scene = () => heads()?.ledger ?? map()?.ledger ?? sceneOf(state(), source);
  const view = () => {
    const drawn = heads();
    if (drawn) return { nodes: headsView(drawn), needs: headNeeds(drawn, source) };
    const mapped = map();
    if (mapped) return { nodes: mapView(mapped, life.desk), needs: mapNeeds(mapped) };
    const tabled = table7();
    if (tabled) return { nodes: tableView(tabled), needs: tableSteps(state(), source) };
    if (state().view === "map" || state().view === "table")
      return { nodes: noMapView(state()), needs: [] };
    const stepped = sceneOf(state(), source);
    return { nodes: pageView(stepped), needs: needsOf(stepped) };
  };
  return { heads, table: table7, map, scene, view };
}
function announce(root, state, address2) {
  address2.write(state);
  if (root.hasAttribute("data-softlookup")) document.title = `${titleOf(state.info)} - softlookup`;
}
function follow2(shadow, drawn, paint) {
  for (const [name, node] of glanced(drawn)) {
    const there = shadow.querySelector(`[data-glance="${name}"]`);
    if (there) patch(there, [...node.childNodes]);
  }
  paint(shadow, drawn, "lines");
}
function sentenceOf(error) {
  if (error instanceof HostError) return error.sentence;
  throw error;
}
var SIGHT = (
  /** @type {Record<string, string>} */
  {
    top: ".page",
    pair: ".head-part",
    cells: ".head-part",
    steps: ".row-steps"
  }
);
function focusOn(shadow, name) {
  const shown = SIGHT[name] && shadow.querySelector(SIGHT[name]);
  if (shown) bringUp(shown);
  const selectors = FOCUS[name] ?? [];
  const found = selectors.map((selector) => shadow.querySelector(selector));
  const element = found.find((candidate) => candidate !== null);
  if (!(element instanceof HTMLElement)) return;
  element.focus({ preventScroll: element.matches(".headline") || shown !== void 0 });
  if (element.matches(".headline")) bringUp(element);
  if (element.matches("table.ledger td:not(.margin)"))
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (element instanceof HTMLInputElement && element.matches(".edit")) element.select();
}
function bringUp(part) {
  const { top: top3 } = part.getBoundingClientRect();
  if (top3 >= 0 && top3 < innerHeight / 3) return;
  const quick = !part.matches(".headline") || matchMedia("(prefers-reduced-motion)").matches;
  part.scrollIntoView({ block: "start", behavior: quick ? "auto" : "smooth" });
}

// src/map_style.js
var MAP_CSS = `
main.map { grid-template-columns: minmax(0, 1fr); gap: 18px 24px; padding-top: 14px; }
main.map-beside { grid-template-columns: minmax(0, 1fr) 286px; }
.map-beside .row-steps { grid-column: 1; } .map-beside .map-side { grid-area: 1 / 2 / span 2; }
.map-beside { grid-template-rows: auto 1fr; }
.map .headline { font-size: 19px; } .map-part { gap: 10px; }
.map-pickers { display: flex; flex-wrap: wrap; gap: 6px 16px; margin-left: auto; }
.map-pickers .compare { margin-left: 0; }
.map-tools { gap: 8px 18px; } .map-tools .link { font-size: 13px; }
.map-tools [data-act=map-zoom] { min-width: 30px; text-align: center; }
.map-going { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; font-size: 13px; color: var(--soft); }
.map-going input { width: 15em; color: var(--ink); } .map-going .trouble { flex-basis: 100%; }
.map .pair-row { align-items: stretch; } .map .readout.pair { user-select: text; overflow-wrap: anywhere; min-width: 0; }
.map .readout.locked { border-color: var(--mark); }
.read-acts { display: flex; flex-direction: column; justify-content: space-around; flex: none; font-size: 13px; line-height: 1.2; }
.map { --mark: light-dark(#e0218a, #ff7ac0); }

.map-figure { display: grid; grid-template-columns: var(--names) var(--width) var(--strip); grid-template-rows: var(--above) var(--height) var(--strip); gap: 3px; width: max-content; max-width: 100%; }
.map-figure canvas { display: block; }
.map-figure .heat-corner { padding-bottom: 4px; }
.map-labels { cursor: pointer; }
.map-cells { position: relative; width: var(--width); height: var(--height); cursor: crosshair; touch-action: none; overflow: hidden; user-select: none; outline: 1px solid var(--line); }
.map-cells canvas { position: absolute; inset: 0; }
.map-cells:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 1px; }
.map-figure .strip-name { padding: 0; }

.map-under { display: flex; flex-direction: column; gap: 7px; }
.map-progress { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; min-height: 30px; } .map-progress p { font-size: 13px; overflow-wrap: anywhere; }
.map-progress .plain { font-size: 13px; padding: 2px 12px; } .map-scale { color: var(--ink); }
.map-legend { gap: 4px 16px; }
.map-legend .heat-ramp { width: 170px; }
.heat-swatch i.map-hidden, .heat-swatch i.map-NaN { background: var(--fill); }
.heat-swatch i.map-unknown { border: 1px solid var(--line); background: repeating-linear-gradient(45deg, var(--fill) 0 3px, var(--hatch) 3px 4.5px); }
.map-range { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 9px; font-size: 12px; color: var(--soft); }
.map-range output { min-width: 3.4em; text-align: center; color: var(--ink); }
.two-ended { position: relative; width: 190px; height: 22px; display: inline-block; }
.two-ended::before { content: ""; position: absolute; left: 8px; right: 8px; top: 9px; height: 4px; border-radius: 2px; background: linear-gradient(90deg, var(--line) var(--low), var(--edge) var(--low) var(--high), var(--line) var(--high)); }
.two-ended input { position: absolute; inset: 0; width: 100%; height: 22px; margin: 0; padding: 0; border: 0; background: none; appearance: none; -webkit-appearance: none; pointer-events: none; }
.two-ended input::-webkit-slider-runnable-track { background: none; }
.two-ended input::-webkit-slider-thumb { -webkit-appearance: none; pointer-events: auto; width: 16px; height: 16px; border-radius: 50%; border: 1px solid var(--edge); background: var(--panel); cursor: ew-resize; }
.two-ended input::-moz-range-thumb { pointer-events: auto; width: 14px; height: 14px; border-radius: 50%; border: 1px solid var(--edge); background: var(--panel); cursor: ew-resize; }
.two-ended input::-moz-range-track { background: none; }
.two-ended input:focus-visible { outline: none; } .two-ended input:focus-visible::-webkit-slider-thumb { outline: 2px solid var(--focus); outline-offset: 1px; }
.two-ended input:focus-visible::-moz-range-thumb { outline: 2px solid var(--focus); }

.map-side { display: flex; flex-direction: column; gap: 18px; min-width: 0; }
.map-mini { width: var(--width); height: var(--height); cursor: move; touch-action: none; outline: 1px solid var(--line); } .map-mini canvas { display: block; }
.map-marks ol { list-style: none; display: flex; flex-direction: column; gap: 4px; font-size: 13px; }
.map-marks li { display: flex; gap: 8px; align-items: baseline; justify-content: space-between; } .map-marks li .link { min-width: 0; overflow-wrap: anywhere; }
.map-tour .reads th[scope=row], .map-tour .reads thead th:first-child { width: 72%; } .map-tour .link { font-size: 13px; max-width: 100%; text-align: left; line-height: 1.3; padding: 2px 0; }
.map-tour .link span { display: block; white-space: nowrap; } .map-tour .link small { display: block; color: var(--soft); overflow: hidden; text-overflow: ellipsis; } .map-tour [aria-current] { color: var(--ink); font-weight: 600; }
.map-side .reads .weight::before { top: auto; bottom: 1px; height: 3px; background: color-mix(in srgb, var(--focus) 55%, transparent); }
.map-side .reads-part > .quiet, .extremes .means { font-size: 12.5px; }
.map-lists { display: flex; flex-direction: column; gap: 20px; }
.map-lists h2 { overflow-wrap: anywhere; }
.map-lists .reads th[scope=row], .map-lists .reads thead th:first-child { width: 44%; }

@media (max-width: 1079px) {
  .map-side { flex-flow: row wrap; align-items: flex-start; gap: 20px 32px; } .map-side > * { flex: 1 1 240px; } .map-side .map-mini-part { flex: none; }
}
@media (max-width: 859px) {
  main.map { display: flex; } .map-pickers { margin-left: 0; }
  .map .pair-row { flex-direction: column; gap: 6px; } .map .pair-row .readout { flex-basis: auto; } .read-acts { flex-direction: row; justify-content: flex-start; gap: 18px; }
}
@media (max-width: 599px) {
  header .acts { flex: 0 1 auto; flex-wrap: wrap; gap: 6px 12px; }
  .map-tools { gap: 8px 12px; } .map-going input { width: 11em; } .map .readout.pair { height: 118px; }
}
@media (pointer: coarse) { .map-tools .link, .read-acts .link { padding: 6px 0; } .two-ended input::-webkit-slider-thumb { width: 24px; height: 24px; } }
@media (forced-colors: active) { .map canvas, .map .heat-swatch i { forced-color-adjust: none; } .two-ended::before { background: CanvasText; } }
`;

// src/place.js
function placeOf2({ capture, view, open: open4, stage, head: head2 }) {
  const one = view === "heads" ? open4 : view !== "table";
  const at = one ? `${stage}.${head2}` : "all";
  return `${capture.capture} ${view} ${at}`;
}
function write(state) {
  try {
    const address2 = `${location.pathname}${location.search}#${toHash(state)}`;
    const place = placeOf2(state);
    const before2 = history.state?.place;
    const there = `${location.pathname}${location.search}${location.hash}` === address2;
    if (there && before2 === place) return;
    if (there || before2 === void 0 || before2 === place)
      history.replaceState({ place }, "", address2);
    else history.pushState({ place }, "", address2);
  } catch {
  }
}
function follow3(moved3) {
  const changed3 = () => moved3(location.hash);
  addEventListener("hashchange", changed3);
  return () => removeEventListener("hashchange", changed3);
}
var addressBar = { read: () => location.hash, write, follow: follow3 };

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
table.ledger { width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed; min-width: calc(var(--step) + var(--keys) * (var(--cell) + 2 * var(--pad)) + var(--margin) + 2 * var(--pad) + var(--rest)); }
.ledger-part { container-type: inline-size; }
.ledger-part .scroll { font-size: 15.5px; --each: calc(var(--cell) + 2 * var(--pad)); --left: calc(100cqi - 2px - var(--step) - var(--margin) - 2 * var(--pad)); --rest: 0px; }
@supports (width: mod(7px, 3px)) {
  .ledger-part .scroll { --rest: clamp(0px, min(var(--keys) * var(--each) - var(--left), var(--left) - var(--each)) * 999, mod(var(--left), var(--each))); }
}
.ledger thead .step { width: calc(var(--step) + var(--rest)); font-size: inherit; }
.ledger-part .scroll { scroll-snap-type: x mandatory; } .ledger thead th { scroll-snap-align: start; } .ledger thead .margin { scroll-snap-align: none; }
 .ledger thead .margin { width: calc(var(--margin) + 2 * var(--pad)); }
.ledger-part .scroll { scroll-padding: 0 calc(var(--margin) + 2 * var(--pad)) 0 calc(var(--step) + var(--rest)); }
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
.scroll[data-more~=right] .margin::before, .scroll[data-more~=left] .step::after { content: ""; position: absolute; top: 0; bottom: 0; width: 7px; pointer-events: none; }
.scroll[data-more~=right] .margin::before { right: 100%; background: linear-gradient(to left, var(--line), transparent); }
.scroll[data-more~=left] .step::after { left: 100%; background: linear-gradient(to right, var(--line), transparent); }
.sideways { display: none; font-size: 13px; } .ledger-part:has(> .scroll[data-more]) .sideways { display: block; }
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
  .ledger-part .scroll { --step: 88px; --margin: var(--sums-narrow); --pad: 5px; font-size: 14px; }
  .ledger .step { padding-left: 9px; } .ledger .step span { font-size: 12px; }
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

// src/table_actions.js
function sort({ state: { table: table7 } }, by) {
  if (!isColumn(by)) return {};
  const down = table7.by === by ? !table7.down : by !== BY_HEAD;
  return { table: { ...table7, by, down } };
}
function move3({ rows, state: { table: table7 } }, way) {
  const [dy, dx] = way ? jump(way) : [0, 0];
  const at = Math.max(0, rows.findIndex((row2) => rowArg(row2.at) === table7.at));
  const step4 = dy || (Number.isFinite(dx) ? 0 : dx);
  const row = rows[Math.max(0, Math.min(at + step4, rows.length - 1))];
  return row ? { table: { ...table7, at: rowArg(row.at) }, focus: "row" } : {};
}
function open2({ state }, argument) {
  const [stage, head2] = argument.split(".").map(Number);
  const { capture, table: table7 } = state;
  const at = { stage, head: head2 };
  const view = isLong(capture, stage) ? "map" : "heads";
  return {
    ...at,
    view,
    open: true,
    thumb: at,
    average: "none",
    compare: null,
    table: { ...table7, at: argument },
    hover: null,
    point: null,
    focus: "top"
  };
}
var TABLE_ACTIONS = {
  sort,
  "open-row": open2,
  "row-move": move3,
  "pause-table": ({ state: { table: table7 } }) => ({ table: { ...table7, paused: !table7.paused } }),
  "table-layer": ({ state: { table: table7 } }, stage) => ({
    table: { ...table7, layer: stage === "" ? null : Number(stage) }
  })
};

// src/table_style.js
var TABLE_CSS = `
main.table-view { grid-template-columns: minmax(0, 1fr); }
.table-part { gap: 12px; }
.table-view .titled h2 { font-size: 19px; color: var(--ink); font-weight: 650; letter-spacing: -.01em; }
.table-tools { flex-wrap: wrap; } .table-tools .compare { margin-left: 0; } .table-tools input { width: 64px; padding: 1px 6px; }
.table-progress { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; min-height: 24px; font-size: 14px; }
.table-progress progress { width: 220px; height: 8px; appearance: none; -webkit-appearance: none; border: 0; border-radius: 4px; overflow: hidden; background: var(--line); }
.table-progress progress::-webkit-progress-bar { background: var(--line); }
.table-progress progress::-webkit-progress-value { background: var(--focus); }
.table-progress progress::-moz-progress-bar { background: var(--focus); }
.table-scroll { overflow: auto; max-height: max(420px, calc(100vh - 226px)); overscroll-behavior: contain; scroll-padding: 64px 0 8px 190px; }
.heads-table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 14px; }
.heads-table th, .heads-table td { padding: 3px 10px; text-align: right; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--line); }
.heads-table tbody tr:last-child > * { border-bottom: 0; }
.heads-table thead th { position: sticky; top: 0; z-index: 2; background: var(--panel); color: var(--soft); font-size: 13px; padding: 0; vertical-align: bottom; }
.heads-table thead button { display: flex; align-items: flex-end; justify-content: flex-end; width: 100%; min-height: 56px; padding: 8px 10px; white-space: normal; text-align: right; line-height: 1.25; }
.heads-table thead button:hover { color: var(--ink); background: var(--faint); }
.heads-table thead [aria-sort] button { color: var(--ink); font-weight: 600; }
.heads-table thead .whole { white-space: nowrap; } .heads-table thead small { font-size: 11px; font-weight: 400; } .heads-table thead .way { font-style: normal; font-size: 10px; }
.heads-table thead button:focus-visible { outline-offset: -2px; }
.heads-table .name { position: sticky; left: 0; z-index: 1; background: var(--panel); text-align: left; border-right: 1px solid var(--line); padding-left: 8px; }
.heads-table thead .name { z-index: 3; padding-left: 0; } .heads-table thead .name button { justify-content: flex-start; text-align: left; padding-left: 68px; }
.row-open { display: flex; align-items: center; gap: 12px; width: 100%; min-width: 150px; border-radius: 4px; }
.row-open .picture { flex: none; display: grid; place-items: center; width: 48px; height: 48px; background: var(--faint); border-radius: 2px; }
.row-open canvas { display: block; }
.row-open .words { display: flex; flex-direction: column; line-height: 1.3; min-width: 0; }
.row-open bdi { max-width: 13em; overflow: hidden; text-overflow: ellipsis; color: var(--soft); font-size: 13px; } .row-open b { font-weight: 600; }
.row-open:hover b { text-decoration: underline; text-underline-offset: 3px; }
.heads-table tbody tr:hover > * { background: color-mix(in srgb, var(--faint) 70%, var(--panel)); }
.heads-table .weight { position: relative; isolation: isolate; min-width: 82px; }
.heads-table .weight::before { content: ""; position: absolute; z-index: -1; left: 6px; right: 6px; bottom: 9px; height: 3px; border-radius: 2px; background: linear-gradient(90deg, color-mix(in srgb, var(--focus) 60%, transparent) calc(100% * var(--w)), var(--line) 0); }
.heads-table .refused { text-align: left; white-space: normal; max-width: 60ch; }
.heads-table .kinds-cell { text-align: left; width: 176px; } .heads-table thead .kinds-cell { padding: 8px 10px; }
.kinds { display: flex; width: 150px; height: 14px; border-radius: 3px; overflow: hidden; background: var(--line); }
.kinds i { width: calc(100% * var(--w)); }
i.kind { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px; }
.kind-first-token { background: light-dark(#0072b2, #3b9ede); } .kind-special { background: #56b4e9; }
.kind-punctuation { background: #e69f00; } .kind-spaces { background: #cc79a7; } .kind-words { background: light-dark(#009e73, #29b58c); }
.table-note { font-size: 13px; }

.extremes { gap: 8px; } .extremes details { font-size: 14px; } .extremes summary { padding: 3px 0; width: auto; }
.extremes summary:hover { text-decoration: underline; text-underline-offset: 3px; }
.extremes .reads { margin: 2px 0 8px; } .extremes .reads th[scope=row], .extremes .reads thead th:first-child { width: 44%; }
.extremes .quiet { font-size: 13px; }

@media (max-width: 859px) {
  .table-scroll { max-height: none; overscroll-behavior-y: auto; }
  .row-open { min-width: 0; } .heads-table thead .name button { padding-left: 8px; }
}
@media (max-width: 599px) {
  .row-open { flex-direction: column; align-items: flex-start; gap: 2px; padding: 4px 0; } .row-open bdi { max-width: 86px; }
  .table-progress progress { width: 120px; }
}
@media (forced-colors: active) {
  .row-open canvas, .kinds i, i.kind { forced-color-adjust: none; }
  .heads-table .weight::before { background: none; border-bottom: 2px solid CanvasText; width: calc((100% - 12px) * var(--w)); right: auto; }
}
`;

// src/style_heads.js
var HEADS_CSS = `
.shelf { flex-direction: row; align-items: baseline; gap: 2px 24px; min-width: 0; flex: 1 1 0; }
.shelf > * { flex: none; max-width: 14em; } .shelf > :first-child { flex: 0 1 auto; max-width: none; min-width: 3em; }
.shelved { font-size: 15px; color: var(--soft); padding-bottom: 13px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.shelved:hover { color: var(--ink); text-decoration: underline; text-underline-offset: 4px; }
.shelf .title { padding-bottom: 11px; border-bottom: 2px solid var(--ink); margin-bottom: -1px; }

main.heads { grid-template-columns: minmax(0, 1fr); gap: 18px 24px; padding-top: 14px; }
main.heads-beside { grid-template-columns: 516px minmax(0, 1fr); grid-template-rows: auto auto 1fr; }
.heads-beside .about-text, .heads-beside .row-steps, .heads-beside > .ledger-part { grid-column: 1 / -1; }
.heads-beside > .head-part { grid-area: 2 / 2 / span 2; } .heads-beside > .said { grid-column: 1; }
.about-text, .row-steps { display: flex; flex-direction: column; gap: 10px; min-width: 0; } .about-text section { gap: 6px; }
.row-steps { min-height: 720px; gap: 26px; scroll-margin-top: -8px; border-top: 1px solid var(--line); padding-top: 24px; }
.about { display: flex; gap: 2px 24px; font-size: 13px; align-items: baseline; justify-content: space-between; }
.about > p { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .about details:not([open]) { flex: none; }
.about:has([open]) { flex-wrap: wrap; } .about:has([open]) > p { white-space: normal; overflow-wrap: anywhere; } .about summary { font-size: 13px; } .about details { font-size: 13px; }
.about dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; padding: 6px 0; overflow-wrap: anywhere; }
.about dt { color: var(--soft); }
.pieces { display: flex; flex-wrap: wrap; gap: 3px; direction: ltr; } .pieces > .quiet { padding: 2px 5px; font-size: 14px; }
.piece { padding: 1px 6px; border-radius: 5px; background: var(--panel); border: 1px solid var(--line); font-size: 14px; white-space: pre; max-width: 100%; overflow: hidden; }
.piece:hover { border-color: var(--edge); }
.piece.picked { background: var(--ink); color: var(--paper); border-color: var(--ink); font-weight: 600; }
.piece.padding { opacity: .55; font-style: italic; }
.fields-line { color: var(--soft); } .fields-line input { width: 76px; padding: 1px 6px; }

.thumbs { border-collapse: separate; border-spacing: 4px 4px; margin: -4px -4px 0; table-layout: fixed; width: max-content; }
.thumbs th { font-weight: 400; font-size: 12px; color: var(--soft); padding: 0; }
.thumbs thead td, .thumbs tbody th { width: calc(var(--label) - 4px); } .thumbs tbody th { text-align: right; padding: calc(var(--thumb) / 2 - 9px) 6px 0 0; vertical-align: top; white-space: nowrap; }
.thumbs tbody th > span { display: flex; justify-content: flex-end; gap: 4px; max-width: calc(var(--label) - 10px); margin-left: auto; } .thumbs th b { font-weight: 400; }
.layer-word { overflow: hidden; text-overflow: ellipsis; min-width: 0; }
.thumbs td { padding: 0; vertical-align: top; width: var(--column); }
.thumb { display: flex; flex-direction: column; align-items: center; width: var(--column); border-radius: 3px; scroll-margin-bottom: 52px; }
.thumb .picture { display: grid; place-items: center; width: var(--thumb); height: var(--thumb); background: var(--faint); border-radius: 2px; }
.thumb canvas { display: block; }
.thumb:hover .picture { outline: 2px solid var(--edge); }
.thumb.open .picture { outline: 3px solid var(--focus); } .thumb.second .picture { outline: 3px dashed var(--focus); }
.thumb:focus-visible { outline: none; } .thumb:focus-visible .picture { outline: 2px solid var(--focus); outline-offset: 2px; }
.most { display: block; width: 100%; padding-top: 3px; text-align: center; font-size: 11px; line-height: 1.25; color: var(--soft); white-space: pre; overflow: hidden; text-overflow: ellipsis; }
.most b { display: block; font-weight: 500; color: var(--ink); }
.most bdi { display: block; overflow: hidden; text-overflow: ellipsis; }
.thumb-line { min-height: 42px; font-size: 13px; overflow-wrap: anywhere; }
@media (min-width: 600px) { .thumb-line { position: sticky; bottom: 0; z-index: 1; background: var(--paper); border-top: 1px solid var(--line); padding-top: 4px; } }

.heads .headline { font-size: 19px; }
.head-tools { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; font-size: 13px; color: var(--soft); }
.head-tools .choice button { padding: 2px 9px; white-space: nowrap; } .head-tools .choice { flex-wrap: wrap; }
.compare select, .part-tools input, .pickers select { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--edge); border-radius: 6px; padding: 2px 6px; max-width: 12em; }
.compare { font-size: 13px; color: var(--soft); margin-left: auto; }
.pair-row { display: flex; gap: 12px; align-items: stretch; } .pair-row .readout { flex: 1; } .pair-row .plain { flex: none; align-self: center; font-size: 13px; }
.head-part .titled .link, .save .link { font-size: 13px; }
.readout.pair { height: 54px; min-height: 0; overflow-y: auto; padding: 4px 14px; line-height: 1.5; font-size: 15px; } .readout.pair .exactly { font-size: 14px; }
.save { display: inline-flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; } .save .quiet { font-size: 13px; }
.part-tools { display: flex; flex-wrap: wrap; gap: 6px 26px; font-size: 13px; color: var(--soft); }
.part-side { display: inline-flex; gap: 8px; align-items: center; } .part-tools input { width: 92px; }
.figures-pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 24px; align-items: start; }
.head-body, .said { display: flex; flex-direction: column; gap: 12px; min-width: 0; }
.head-body { gap: 16px; } .head-body.aside { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 24px; align-items: start; }
.aside .lists { grid-template-columns: minmax(0, 1fr); }
.head-figure { display: flex; flex-direction: column; gap: 8px; min-width: 0; }
.head-figure h3 { margin: 0; font-size: 15px; font-weight: 650; }
.heat { display: grid; grid-template-columns: var(--names) max-content max-content; gap: 3px; width: max-content; padding: 2px 6px 2px 0; }
.heat-corner { align-self: end; justify-self: end; display: flex; flex-direction: column; align-items: end; font-size: 11px; line-height: 1.3; padding: 0 6px 2px 0; }
.strip-name { font-size: 11px; align-self: end; writing-mode: vertical-rl; transform: rotate(180deg); padding-top: 4px; }
.strip-name.below { writing-mode: horizontal-tb; transform: none; align-self: start; justify-self: end; padding: 2px 6px 0 0; }
.heat-cells { position: relative; cursor: crosshair; width: max-content; height: max-content; touch-action: manipulation; }
.heat-cells canvas { display: block; } .heat-cells canvas + canvas { position: absolute; inset: 0; }
.heat-cells:focus-visible { outline-offset: 3px; border-radius: 1px; }
.head-figure { gap: 6px; } .strip-legends { display: flex; flex-wrap: wrap; gap: 2px 24px; }
.strip-legend { color: var(--soft); }
.row-words { font-size: 14px; overflow-wrap: anywhere; }
.lists { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px 28px; max-width: 820px; align-items: start; }
.reads-part h2 { overflow-wrap: anywhere; }

.vectors-part .scroll { width: fit-content; max-width: 100%; }
.vectors { border-collapse: separate; border-spacing: 0; font-size: 14px; }
.vectors th, .vectors td { padding: 5px 9px; text-align: right; font-weight: 400; white-space: nowrap; border-bottom: 1px solid var(--line); }
.vectors thead th { color: var(--soft); font-size: 12px; }
.vectors td { min-width: 86px; } .vectors .more { min-width: 0; }
.vectors .step { position: sticky; left: 0; z-index: 1; background: var(--panel); text-align: left; padding-left: 16px; border-right: 1px solid var(--line); }
.vectors .step span:not(.chip) { display: block; color: var(--soft); font-size: 12px; } .vectors .step b { font-weight: 600; }
.vectors tbody + tbody tr:first-child > * { border-top: 3px double var(--line); }
.vectors tbody:last-child tr:last-child > * { border-bottom: 0; }
.vectors thead .step { border-top-left-radius: 10px; } .vectors tbody:last-child tr:last-child .step { border-bottom-left-radius: 10px; }
.vectors .chip { font-size: 12px; padding: 0 6px; } .vectors .more { color: var(--soft); }

@media (max-width: 859px) {
  .figures-pair { grid-template-columns: minmax(0, 1fr); }
  main.heads { display: flex; } .row-steps > * { order: 0; } .shelved { padding-bottom: 10px; } .shelf .title { padding-bottom: 8px; order: 0; flex-basis: auto; }
  .shelf { order: 1; flex-basis: 100%; flex-wrap: wrap; } .shelf > :first-child { max-width: 100%; }
  .about { flex-wrap: wrap; } .about > p { white-space: normal; overflow-wrap: anywhere; } .readout.pair { height: 80px; } .pair-row { flex-wrap: wrap; } .pair-row .readout { flex-basis: 100%; } .compare { margin-left: 0; }
  .piece { padding: 4px 8px; }
}
@media (max-width: 599px) {
  .head-tools .choice button { padding: 4px 7px; font-size: 12.5px; } .save { gap: 6px 14px; }
  .most bdi { display: none; } .most b { font-size: 10px; letter-spacing: -.03em; }
  .readout.pair { height: 92px; }
  .layer-word { display: none; } .lists { grid-template-columns: minmax(0, 1fr); }
  .vectors td { min-width: 86px; } .vectors .more { min-width: 0; }
.vectors .step { padding-left: 9px; max-width: 132px; white-space: normal; }
}
@media (forced-colors: active) {
  .thumb canvas, .heat canvas { forced-color-adjust: none; }
  .piece.picked { forced-color-adjust: none; background: Highlight; color: HighlightText; }
  .thumb.open .picture { outline-color: Highlight; }
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
.scroll { position: relative; overflow: auto hidden; overscroll-behavior-x: contain; }
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
header .title { flex: 0 1 auto; font-size: 17px; min-width: 0; padding-bottom: 13px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
header .acts { margin-left: auto; flex: none; display: flex; gap: 18px; font-size: 13px; align-items: baseline; padding-bottom: 13px; }
header .acts button { color: var(--soft); min-width: 20px; }
header .acts button:hover { color: var(--ink); }
.notice:empty, .waits:empty { display: none; }
.waits { position: sticky; top: 0; z-index: 3; padding: 7px max(28px, calc(50vw - 652px)); border-bottom: 1px solid var(--line); background: var(--panel); color: var(--soft); font-size: 13px; }
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
dialog th { white-space: nowrap; } dialog h2 + table { margin-bottom: 18px; } dialog h2:focus-visible { outline: none; }
dialog textarea { width: min(500px, 76vw); height: 260px; font: 13px/1.5 ui-monospace, monospace; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 10px; }
dialog form { margin-top: 16px; }

@media (max-width: 1179px) {
  main, main.wide { grid-template-columns: minmax(0, 1fr) 262px; }
  .left { grid-column: 1 / -1; flex-direction: row; flex-wrap: wrap; gap: 30px 48px; }
  .say { max-width: 30em; }
  main:has(.stacked > tbody:nth-of-type(6)) .left { order: 1; }
}
@media (max-width: 859px) {
  header { padding: 14px 16px 0; } header .mark, header .title, header .acts { padding-bottom: 10px; }
  header .own { order: 1; flex-basis: 100%; }
  main { display: flex; flex-direction: column; align-items: stretch; gap: 28px; padding: 18px 16px 8px; }
  .left, .center, .right { display: contents; }
  .tokens-part { order: 1; } .ledger-part { order: 2; } .layer-part { order: 3; } .grid-part { order: 4; }
  main:has(.stacked > tbody:nth-of-type(6)) .tokens-part { order: 4; }
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

// src/survey_data.js
var MOST_ROWS = 400;
var POINTS = (
  /** @type {const} */
  {
    median: "median",
    mean: "mean",
    quarter: "lower quartile",
    three_quarters: "upper quartile",
    most: "largest",
    least: "smallest"
  }
);
var WORDS3 = {
  entropy: {
    word: "entropy",
    unit: "nats",
    means: "0 where one key gets all weight; of each text the mean over its queries"
  },
  first: {
    word: "first-token share",
    unit: "",
    means: "the weight that a text's first token gets, as a mean over its queries"
  },
  previous: {
    word: "previous-token score",
    unit: "",
    means: "the weight of the token just before the query, over the queries that see it"
  },
  induction: {
    word: "induction score",
    unit: "",
    means: "the weight of the tokens after earlier occurrences of the query's own token, over the queries that have any"
  },
  duplicate: {
    word: "duplicate-token score",
    unit: "",
    means: "the weight of earlier occurrences of the query's own token, over the same queries"
  }
};
var wordsOf2 = (measure) => WORDS3[measure] ?? { word: measure, unit: "", means: measure };
function surveyOf(json, bytes) {
  const { heads, measures: measures2, points, bins, distances, labels } = json;
  const sizes = [
    measures2.length * heads.length * points.length,
    measures2.length * heads.length * bins,
    heads.length * distances.length,
    heads.length * labels
  ];
  const all = numbersIn(bytes, Float32Array, 0, sizes.reduce((sum2, size) => sum2 + size, 0));
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum2, size) => sum2 + size, 0));
  const row = (part, at, size) => all.subarray(starts[part] + at * size, starts[part] + (at + 1) * size);
  return {
    json,
    points: (measure, head2) => row(0, measure * heads.length + head2, points.length),
    histogram: (measure, head2) => row(1, measure * heads.length + head2, bins),
    distance: (head2) => row(2, head2, distances.length),
    labels: (head2) => row(3, head2, labels)
  };
}
var numberOf2 = ({ json, points }, measure, head2, point) => points(measure, head2)[json.points.indexOf(point)];
function textsWith(survey, measure) {
  let [least, most] = [survey.json.texts, 0];
  survey.json.heads.forEach((_, head2) => {
    const texts = numberOf2(survey, measure, head2, "count");
    [least, most] = [Math.min(least, texts), Math.max(most, texts)];
  });
  return [least, most];
}
var layerOf = ({ part, layer }) => `${part}/${layer}`;
var layerName = ({ part, layer }) => `${part ? `${part} ` : ""}layer ${layer}`;
function orderOf(survey, { by, point, down, of }) {
  const { heads, measures: measures2 } = survey.json;
  const shown = heads.flatMap((head2, at) => of === "" || layerOf(head2) === of ? [at] : []);
  const measure = measures2.indexOf(by);
  if (measure < 0) return down ? shown.reverse() : shown;
  const numbers = new Map(shown.map((at) => [at, numberOf2(survey, measure, at, point)]));
  return shown.sort((a, b) => {
    const [x, y] = [numbers.get(a) ?? NaN, numbers.get(b) ?? NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return (down ? y - x : x - y) || a - b;
  });
}
var firstSurvey = ({ json }) => ({
  by: BY_HEAD,
  point: "median",
  down: false,
  of: "",
  at: json.heads.length ? 0 : -1,
  open: null,
  all: false,
  notice: ""
});
function surveyHash({ by, point, down, of, open: open4 }) {
  const fields2 = new URLSearchParams();
  if (by !== BY_HEAD) fields2.set("by", by);
  if (down !== (by !== BY_HEAD)) fields2.set("way", down ? "down" : "up");
  if (point !== "median") fields2.set("point", point);
  if (of) fields2.set("of", of);
  if (open4 !== null) fields2.set("open", String(open4));
  return fields2.toString();
}
function surveyAt(hash, survey) {
  const fields2 = new URLSearchParams(hash.replace(/^#/, ""));
  const { heads, measures: measures2 } = survey.json;
  const first = firstSurvey(survey);
  const by = measures2.includes(fields2.get("by") ?? "") ? String(fields2.get("by")) : BY_HEAD;
  const way = fields2.get("way");
  const point = fields2.get("point") ?? "";
  const of = fields2.get("of") ?? "";
  const open4 = /^\d{1,7}$/.test(fields2.get("open") ?? "") ? Number(fields2.get("open")) : -1;
  const state = {
    ...first,
    by,
    down: way === "down" || way !== "up" && by !== BY_HEAD,
    point: Object.hasOwn(POINTS, point) ? point : "median",
    of: heads.some((head2) => layerOf(head2) === of) ? of : "",
    open: open4 >= 0 && open4 < heads.length ? open4 : null
  };
  const order = orderOf(survey, state);
  const all = state.open !== null && order.indexOf(state.open) >= MOST_ROWS;
  return { ...state, all, at: state.open ?? order[0] ?? -1 };
}
function surveyCsv(survey, state) {
  const { heads, measures: measures2, points, keys } = survey.json;
  const names2 = measures2.flatMap((measure) => points.map((point) => `${measure} ${point}`));
  const lines = orderOf(survey, state).map((at) => {
    const { part, layer, head: head3 } = heads[at];
    const numbers = measures2.flatMap(
      (_, m) => [...survey.points(m, at)].map((x) => Number.isNaN(x) ? "" : String(x))
    );
    return [field(part), layer, head3, ...numbers, field(keys[at][0]), keys[at][1]];
  });
  const head2 = ["part", "layer", "head", ...names2, "key read most", "texts"];
  return [head2, ...lines].map((line4) => `${line4.join(",")}\r
`).join("");
}

// src/survey_spread.js
var count2 = (n) => n.toLocaleString("en");
function spread3(survey, m, at) {
  const end = survey.json.tops[m] || 1;
  const place = (point) => percent(Math.max(0, Math.min(1, numberOf2(survey, m, at, point) / end)));
  const vars = {
    "--least": place("least"),
    "--quarter": place("quarter"),
    "--median": place("median"),
    "--three": place("three_quarters"),
    "--most": place("most")
  };
  return h(
    "span",
    { class: "spread", "aria-hidden": "true", vars },
    h("i", { class: "histogram", vars: { "--shape": shapeOf(survey.histogram(m, at)) } }),
    h("i", { class: "whisker" }),
    h("i", { class: "quartiles" }),
    h("i", { class: "middle" })
  );
}
function shapeOf(counts) {
  const most = Math.max(...counts, 1);
  const corners = ["0% 100%"];
  counts.forEach((texts, i) => {
    const tall = percent(texts === 0 ? 1 : Math.min(0.94, 1 - texts / most));
    corners.push(...[i, i + 1].map((step4) => `${percent(step4 / counts.length)} ${tall}`));
  });
  return `polygon(${[...corners, "100% 100%"].join(", ")})`;
}
function large(survey, at) {
  const { measures: measures2, labels } = survey.json;
  return h(
    "tr",
    { class: "large", "data-key": `large ${at}` },
    h(
      "td",
      { colspan: measures2.length + 2 },
      h(
        "div",
        { class: "figures-row" },
        measures2.map((_, m) => figure4(survey, m, at)),
        bars("share of weight by distance", survey.distance(at), distanceNames(survey)),
        labels > 0 && bars(
          "share of weight by label",
          survey.labels(at),
          [...survey.labels(at)].map((_, i) => `label ${i}`)
        )
      )
    )
  );
}
function figure4(survey, m, at) {
  const { measures: measures2, tops } = survey.json;
  const { word: word2, unit } = wordsOf2(measures2[m]);
  const none = Number.isNaN(numberOf2(survey, m, at, "median"));
  const points = ["least", "quarter", "median", "three_quarters", "most", "mean"];
  return h(
    "figure",
    { class: "spread-large" },
    h("figcaption", {}, word2, unit && ` (${unit})`),
    none ? h("p", { class: "quiet" }, "no text has any") : spread3(survey, m, at),
    !none && h("p", { class: "ends quiet" }, h("span", {}, "0"), h("span", {}, rounded(tops[m]))),
    !none && h(
      "dl",
      {},
      h("dt", {}, "texts"),
      h("dd", {}, count2(numberOf2(survey, m, at, "count"))),
      points.flatMap((point) => [
        h("dt", {}, POINTS[
          /** @type {keyof typeof POINTS} */
          point
        ]),
        h("dd", {}, rounded(numberOf2(survey, m, at, point)))
      ])
    )
  );
}
var distanceNames = ({ json }) => json.distances.map(([low, high]) => low === high ? `${low}` : `${low} … ${high}`);
function bars(caption2, shares, names2) {
  const told2 = [...shares].map((x, i) => ({ name: names2[i], x })).filter(({ x }) => x === x);
  if (!told2.length) return null;
  return h(
    "figure",
    { class: "bars" },
    h("figcaption", {}, caption2),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        told2.map(
          ({ name, x }) => h(
            "tr",
            {},
            h("th", { scope: "row" }, name),
            h("td", { class: "weight", vars: { "--w": Math.min(1, x).toFixed(4) } }, rounded(x))
          )
        )
      )
    )
  );
}

// src/survey_part.js
function surveyView(survey, state) {
  const some = survey.json.heads.length > 0;
  return [top2(survey, some), notice(state), main(survey, state), ...some ? [keysFooter()] : []];
}
function top2({ json }, some) {
  return h(
    "header",
    { "data-key": "header" },
    h("h1", { class: "mark" }, "softlookup"),
    h(
      "span",
      { class: "title own", title: readable(json.title) },
      h("bdi", {}, readable(json.title))
    ),
    h(
      "span",
      { class: "acts" },
      some && h("button", { type: "button", "data-act": "save", title: "for a spreadsheet" }, "save CSV")
    )
  );
}
var notice = (state) => h("p", { class: "notice", role: "status", "data-key": "notice" }, state.notice);
function main(survey, state) {
  const order = orderOf(survey, state);
  const rows = state.all ? order : order.slice(0, MOST_ROWS);
  const some = survey.json.heads.length > 0;
  return h(
    "main",
    { "data-key": "survey", class: "heads table-view survey" },
    h(
      "section",
      { class: "table-part", "aria-labelledby": "table-title" },
      h(
        "div",
        { class: "titled" },
        h("h2", { id: "table-title" }, titleOf3(survey, state, order.length)),
        some && tools3(survey, state)
      ),
      state_(survey),
      some ? table6(survey, state, rows) : h("p", { "data-key": "none" }, whatToDo(survey)),
      rows.length < order.length && h(
        "p",
        { "data-key": "more" },
        h(
          "button",
          { type: "button", class: "plain", "data-act": "all" },
          `show all ${counted(order.length, "head")}`
        )
      ),
      some && h(
        "p",
        { class: "quiet table-note" },
        "Below each number: how many texts have how much, on the scale of its heading, and the line from the smallest to the largest with a box between the quartiles."
      )
    )
  );
}
function table6(survey, state, rows) {
  return h(
    "div",
    { class: "table-scroll panel", "data-key": "rows" },
    h(
      "table",
      { class: "heads-table", "aria-labelledby": "table-title" },
      h("thead", {}, headRow2(survey, state)),
      h("tbody", {}, rows.flatMap((at) => bodyRows2(survey, state, at, stopOf(rows, state))))
    )
  );
}
function whatToDo({ json: { lines, skipped, whole: whole3 } }) {
  if (!whole3) return "Nothing is measured yet. Run softlookup survey again into this folder: it goes on.";
  if (!skipped) return `The file has ${lines ? "no text" : "no line"}. Survey one that has a text in each line.`;
  return "No line could be measured; the reasons are above. Survey the right file (--texts), or name the field that has the text (--field).";
}
var stopOf = (rows, { at }) => rows.includes(at) ? at : rows[0] ?? -1;
function titleOf3({ json }, { of }, shown) {
  if (!json.heads.length) return "No heads yet";
  const heads = counted(shown, "head");
  const layer = json.heads.find((head2) => layerOf(head2) === of);
  const what = of && layer ? `${heads} of ${readable(layerName(layer))}` : `All ${heads}`;
  return `${what} over ${counted(json.texts, "text")}`;
}
function state_({ json }) {
  const { skipped, lines, whole: whole3, skipped_lines: some } = json;
  const said = whole3 ? "" : "The survey is not whole yet: run it again, and it goes on. ";
  if (!skipped) return h("p", { class: "quiet", "data-key": "lines" }, said);
  const words2 = `${count2(skipped)} of ${counted(lines, "line")} ${skipped === 1 ? "was" : "were"} skipped`;
  return h(
    "details",
    { class: "skipped quiet", "data-key": "lines", open: json.heads.length === 0 },
    h("summary", {}, `${said}${words2}`),
    h(
      "ul",
      {},
      some.map(([line4, why]) => h("li", {}, `line ${count2(line4)}: `, h("bdi", {}, readable(why)))),
      skipped > some.length && h("li", {}, `and ${count2(skipped - some.length)} more`)
    )
  );
}
function tools3({ json }, state) {
  const layers = [...new Map(json.heads.map((head2) => [layerOf(head2), layerName(head2)]))];
  return h(
    "div",
    { class: "switches table-tools" },
    choice3("number", "point", Object.entries(POINTS), state.point),
    layers.length > 1 && choice3("layer", "of", [["", "all"], ...layers.map(([id, name]) => [id, readable(name)])], state.of)
  );
}
function choice3(word2, name, options, chosen4) {
  return h(
    "label",
    { class: "compare" },
    `${word2} `,
    h(
      "select",
      { "data-choose": name },
      options.map(([value, text]) => h("option", { value, selected: value === chosen4 }, text))
    )
  );
}
function headRow2(survey, state) {
  const order = { id: BY_HEAD, word: "head", unit: "", means: "the order of the model", texts: "", end: 0 };
  const columns = survey.json.measures.map((id, m) => ({
    id,
    ...wordsOf2(id),
    texts: whichTexts(survey, m),
    end: survey.json.tops[m]
  }));
  return h(
    "tr",
    {},
    [order, ...columns].map((column) => heading2(column, state)),
    h(
      "th",
      { scope: "col", class: "key-cell", "data-key": "key" },
      h("span", {}, "key read most, in how many texts"),
      scale(0)
    )
  );
}
function whichTexts(survey, m) {
  const [least, most] = textsWith(survey, m);
  const all = survey.json.texts;
  if (least === all) return "";
  return `${least === most ? "" : `${count2(least)} … `}${count2(most)} of ${counted(all, "text")}`;
}
var scale = (end) => h("span", { class: "scale" }, end > 0 && [h("span", {}, "0"), h("span", {}, rounded(end))]);
function heading2(column, state) {
  const beside = column.texts && h("small", { class: "which" }, column.texts);
  return headingOf(column, state, column.word, { beside, below: scale(column.end) });
}
function bodyRows2(survey, state, at, stop) {
  const { heads, measures: measures2, keys, texts } = survey.json;
  const open4 = state.open === at;
  const [word2, times] = keys[at];
  const row = h(
    "tr",
    { "data-key": `head ${at}` },
    h(
      "th",
      { scope: "row", class: "name" },
      h(
        "button",
        {
          type: "button",
          class: "row-open",
          "data-act": "open",
          "data-arg": at,
          tabindex: at === stop ? 0 : -1,
          "aria-expanded": String(open4)
        },
        h(
          "span",
          { class: "words" },
          h("bdi", {}, readable(layerName(heads[at]))),
          h("b", {}, `head ${heads[at].head}`)
        )
      )
    ),
    measures2.map((_, m) => cell2(survey, state.point, m, at)),
    h(
      "td",
      { class: "key-cell" },
      times > 0 && [
        h("bdi", { class: "token" }, readable(word2)),
        h("small", { class: "quiet" }, ` ${share(times / texts)}`)
      ]
    )
  );
  row.setAttribute("data-as", `${state.point} ${at === stop} ${open4}`);
  return open4 ? [row, large(survey, at)] : [row];
}
var PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
var share = (part) => PERCENT.format(part);
function cell2(survey, point, m, at) {
  const number2 = numberOf2(survey, m, at, point);
  if (Number.isNaN(number2))
    return h("td", { class: "quiet", title: "no text has any" }, "–");
  return h(
    "td",
    { class: "spread-cell", title: sentence(survey, m, at) },
    h("span", { class: "number" }, rounded(number2)),
    spread3(survey, m, at)
  );
}
function sentence(survey, m, at) {
  const of = (point) => rounded(numberOf2(survey, m, at, point));
  const texts = counted(numberOf2(survey, m, at, "count"), "text");
  return `${wordsOf2(survey.json.measures[m]).word} in ${texts}: median ${of("median")}, quartiles ${of("quarter")} and ${of("three_quarters")}, from ${of("least")} to ${of("most")}, mean ${of("mean")}`;
}
function keysFooter() {
  const one = (keys, words2) => h("span", {}, keys.flatMap((key) => [h("kbd", {}, key), " "]), words2);
  return h(
    "footer",
    { "data-key": "footer" },
    one(["↑", "↓"], "among the heads (Home, End); ↓ on a heading: into them"),
    one(["Enter"], "its distributions, large; on a heading: sort"),
    one(["Escape"], "close")
  );
}

// src/survey_page.js
var SURVEY_ACTIONS = {
  sort: (_, { by, down }, id) => ({ by: id, down: by === id ? !down : id !== BY_HEAD, all: false }),
  point: (_, __, point) => ({ point }),
  of: (_, __, of) => ({ of, all: false }),
  all: () => ({ all: true }),
  open: (_, { open: open4 }, at) => ({ at: Number(at), open: open4 === Number(at) ? null : Number(at) }),
  close: () => ({ open: null }),
  enter: (survey, state) => ({ at: orderOf(survey, state)[0] ?? -1 }),
  move: (survey, state, way) => {
    const order = orderOf(survey, state);
    const rows = state.all ? order : order.slice(0, MOST_ROWS);
    const [dy, dx] = jump(way);
    const step4 = dy || (Number.isFinite(dx) ? 0 : dx);
    const at = Math.max(0, rows.indexOf(state.at));
    return { at: rows[Math.max(0, Math.min(at + step4, rows.length - 1))] ?? -1 };
  },
  save: (survey, state) => {
    const name = fileName([survey.json.title, "heads"], "csv");
    download(name, new Blob([surveyCsv(survey, state)], { type: "text/csv" }));
    return { notice: `Saved as ${name}.` };
  }
};
async function mountSurvey(root, shadow, page, host) {
  const { json, bytes } = await host.call("survey");
  const survey = surveyOf(json, bytes ?? new Uint8Array());
  let state = firstSurvey(survey);
  const draw = () => {
    const held2 = focusedRow(shadow);
    patch(page, surveyView(survey, state));
    if (held2 !== null) focusRow(shadow, held2);
    document.title = `${json.title} - softlookup`;
    root.dataset.state = "ready";
  };
  const act = (name, argument) => {
    const action = SURVEY_ACTIONS[name];
    if (!action) return;
    state = { ...state, notice: "", ...action(survey, state, argument) };
    const hash = surveyHash(state);
    history.replaceState(null, "", `${location.pathname}${location.search}${hash && `#${hash}`}`);
    draw();
    if (name === "open") reveal(shadow, state.open);
  };
  const follow4 = () => {
    state = surveyAt(location.hash, survey);
    draw();
    reveal(shadow, state.open);
  };
  const stopping = listen2(root, shadow, act, () => focusRow(shadow, String(state.at)));
  addEventListener("hashchange", follow4, { signal: stopping.signal });
  follow4();
  return () => {
    stopping.abort();
    shadow.replaceChildren();
    delete root.dataset.state;
  };
}
function listen2(root, shadow, act, moved3) {
  const stopping = new AbortController();
  const { signal } = stopping;
  shadow.addEventListener("click", (event) => clicked2(event, act), { signal });
  shadow.addEventListener("change", (event) => chosen3(event, act), { signal });
  const keyed = (event) => pressed4(event, act) && moved3();
  root.ownerDocument.addEventListener("keydown", keyed, { signal });
  return stopping;
}
function clicked2(event, act) {
  const meant = event.target instanceof Element ? event.target.closest("[data-act]") : null;
  if (meant) act(meant.getAttribute("data-act") ?? "", meant.getAttribute("data-arg") ?? "");
}
function chosen3(event, act) {
  const field3 = event.target;
  if (field3 instanceof HTMLSelectElement) act(field3.getAttribute("data-choose") ?? "", field3.value);
}
function pressed4(event, act) {
  const target = event.composedPath()[0];
  const free = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
  if (!free || target instanceof HTMLSelectElement) return false;
  const way = ARROWS[event.key];
  const inRows = target instanceof Element && target.matches(".row-open");
  const aside = way === "left" || way === "right";
  if (way && !aside && (inRows || target === document.body)) {
    event.preventDefault();
    act("move", way);
    return true;
  }
  if (way === "down" && target instanceof Element && target.matches("thead button")) {
    event.preventDefault();
    act("enter", "");
    return true;
  }
  if (event.key === "Escape") act("close", "");
  return false;
}
function focusedRow(shadow) {
  const held2 = shadow.activeElement;
  return held2?.matches(".row-open") ? held2.getAttribute("data-arg") : null;
}
function reveal(shadow, at) {
  const row = at === null ? null : shadow.querySelector(`.row-open[data-arg="${at}"]`)?.closest("tr");
  row?.nextElementSibling?.scrollIntoView({ block: "nearest", inline: "nearest" });
  row?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
function focusRow(shadow, at) {
  const row = shadow.querySelector(`.row-open[data-arg="${at}"]`);
  if (row instanceof HTMLElement && shadow.activeElement !== row) row.focus();
}

// src/survey_style.js
var SURVEY_CSS = `
.survey .heads-table .spread-cell { min-width: 118px; padding-top: 6px; padding-bottom: 6px; }
.survey .row-open { min-width: 96px; padding: 6px 0; } .survey .heads-table thead .name button { padding-left: 8px; }
.survey .row-open b::after { content: "▸"; display: inline-block; margin-left: 8px; color: var(--soft); font-size: 11px; }
.survey .row-open[aria-expanded=true] b::after { content: "▾"; }
.survey .table-scroll { scroll-padding-top: 92px; }
.survey .heads-table thead button { min-height: 0; padding: 8px 10px 2px; } .survey .heads-table .which { display: block; white-space: nowrap; }
.survey .scale { display: flex; justify-content: space-between; min-height: 17px; padding: 0 10px 4px; font-size: 11px; font-weight: 400; line-height: 13px; }
.survey .spread { display: block; position: relative; height: 30px; margin-top: 2px; border-bottom: 1px solid var(--line); }
.survey .spread i { position: absolute; display: block; }
.survey .histogram { inset: 0 0 9px; background: color-mix(in srgb, var(--focus) 62%, var(--panel)); clip-path: var(--shape); }
.survey .whisker { bottom: 3px; height: 1px; left: var(--least); width: calc(var(--most) - var(--least)); background: var(--edge); }
.survey .quartiles { bottom: 1px; height: 5px; left: var(--quarter); width: max(2px, calc(var(--three) - var(--quarter))); background: var(--edge); border-radius: 1px; }
.survey .middle { bottom: 0; height: 7px; width: 2px; left: calc(var(--median) - 1px); background: var(--ink); }
.survey .key-cell { text-align: left !important; } .survey thead .key-cell { padding: 8px 0 0 !important; } .survey thead .key-cell > span:first-child { display: block; padding: 0 10px 2px; }
.survey thead .key-cell { white-space: normal !important; min-width: 132px; line-height: 1.25; }
.survey .key-cell .token { display: inline-block; max-width: 11em; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; unicode-bidi: isolate; }
.survey .skipped summary { width: max-content; max-width: 100%; } .survey .skipped ul { margin: 6px 0 0; padding-left: 22px; max-height: 12em; overflow: auto; }
.survey .heads-table .large > td { text-align: left; white-space: normal; background: var(--faint); padding: 14px 16px 18px; }
.survey .figures-row { display: flex; flex-wrap: wrap; gap: 18px 30px; position: sticky; left: 16px; max-width: min(1180px, calc(100vw - 100px)); }
.survey .figures-row figure { margin: 0; } .survey .figures-row figcaption { font-weight: 600; margin-bottom: 4px; }
.survey .spread-large { width: 196px; } .survey .spread-large .spread { height: 84px; } .survey .spread-large .histogram { inset: 0 0 12px; }
.survey .spread-large .ends { display: flex; justify-content: space-between; font-size: 12px; }
.survey .spread-large dl { display: grid; grid-template-columns: 1fr auto; gap: 1px 10px; font-size: 13px; margin-top: 6px; }
.survey .spread-large dt { color: var(--soft); } .survey .spread-large dd { text-align: right; }
.survey .bars table { border-collapse: collapse; font-size: 13px; } .survey .heads-table .bars th, .survey .heads-table .bars td { padding: 1px 6px; border: 0; }
.survey .heads-table .bars th { color: var(--soft); } .survey .heads-table .bars .weight { min-width: 120px; padding-bottom: 6px; } .survey .heads-table .bars .weight::before { bottom: 2px; }
@media (max-width: 599px) { .survey .heads-table .spread-cell { min-width: 96px; } .survey .figures-row { max-width: calc(100vw - 64px); } }
@media (forced-colors: active) {
  .survey .spread i { forced-color-adjust: none; } .survey .histogram, .survey .whisker, .survey .quartiles { background: GrayText; } .survey .middle { background: CanvasText; }
}
`;

// src/main.js
var STYLES = [PAGE_CSS, FIGURES_CSS, HEAT_CSS, HEADS_CSS, MAP_CSS, TABLE_CSS, SURVEY_CSS];
var OWN = "data-softlookup";
function sheetOf2(css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}
async function mount(root, host) {
  const shadow = root.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = STYLES.map(sheetOf2);
  const page = h("div", { class: "page" });
  shadow.append(page);
  root.dataset.state = "loading";
  host.said?.((waits) => patch(page, [h("p", { class: "alone", role: "status" }, waits)]));
  try {
    const hash = (host.address ?? addressBar).read();
    const asked2 = [captureOf(host, hash), host.call("lesson")];
    const [capture, { json: lesson }] = await Promise.all(asked2);
    if (capture.modes?.includes("survey")) return await mountSurvey(root, shadow, page, host);
    return start(root, shadow, page, host, firstState(capture, lesson, hash));
  } catch (error) {
    patch(page, [h("p", { class: "alone", role: "alert" }, sentenceOf(error))]);
    root.dataset.state = "refused";
    return () => {
    };
  }
}
async function captureOf(host, hash) {
  const { json } = await host.call("info");
  const named2 = captureIn(hash);
  const there = json.shelf.some(({ id }) => id === named2);
  if (!there || named2 === null || named2 === json.capture) return json;
  return (await host.call("info", { capture: named2 })).json;
}
function start(root, shadow, page, host, first) {
  const source = createSource(host, first.info.limits.ledger_keys);
  const dialogs = { help: helpDialog(), copy: copyDialog() };
  shadow.append(dialogs.help, dialogs.copy);
  const { address: address2 = addressBar, theme = system, inFile = false, inCell = false } = host;
  const around2 = { room: root.clientWidth, tall: innerHeight, theme: theme.now(), inFile, inCell };
  const live = livePage(root, shadow, page, source, { ...first, ...around2 }, address2);
  const errand = errands({ ...live, source, dialogs });
  const act = (name, argument) => {
    const heads = name in HEAD_ACTIONS ? live.heads() : null;
    const map = name.startsWith("map-") ? live.map() : null;
    const table7 = name in TABLE_ACTIONS ? live.table() : null;
    if (inCell && live.state().offline) live.update({ offline: null });
    if (name in errand) errand[name](argument);
    else if (map && name in MAP_MOVES) live.life.look(MAP_MOVES[name](map, argument));
    else if (map && name in MAP_ACTIONS)
      live.update({ notice: "", ...MAP_ACTIONS[name](map, argument) });
    else if (table7) live.update({ notice: "", ...TABLE_ACTIONS[name](table7, argument) });
    else if (heads) live.update({ notice: "", ...HEAD_ACTIONS[name](heads, argument) });
    else live.update({ notice: "", ...ACTIONS[name]?.(live.scene(), argument) });
  };
  const stop = listen(root, shadow, { ...live, act, pass: host.pass });
  const unfollow = address2.follow((hash) => {
    errand.follow(hash);
    act("retry", "");
  });
  const unsized = followSize(root, live, theme);
  host.said?.((waits) => live.update({ waits }));
  live.update({ focus: live.state().compare ? "pair" : void 0 });
  errand.turn("");
  return () => {
    stop();
    unsized();
    unfollow();
    live.life.end();
    shadow.replaceChildren();
    delete root.dataset.state;
  };
}
var DARK = "(prefers-color-scheme: dark)";
var system = {
  now: () => matchMedia(DARK).matches ? "dark" : "light",
  follow: (changed3) => {
    const scheme = matchMedia(DARK);
    const told2 = () => changed3(system.now());
    scheme.addEventListener("change", told2);
    return () => scheme.removeEventListener("change", told2);
  }
};
function followSize(root, { state, update }, theme) {
  const observer = new ResizeObserver(() => {
    if (root.clientWidth !== state().room) update({ room: root.clientWidth });
  });
  observer.observe(root);
  const stopping = new AbortController();
  const { signal } = stopping;
  addEventListener("resize", () => update({ tall: innerHeight }), { signal });
  const same2 = theme.follow((now) => {
    wear(root, now, theme);
    update({ theme: now });
  });
  wear(root, state().theme, theme);
  return () => {
    same2();
    observer.disconnect();
    stopping.abort();
  };
}
function wear(root, now, theme) {
  if (theme === system) return;
  root.style.colorScheme = now;
  root.ownerDocument.documentElement.style.colorScheme = now;
}
async function open3(root) {
  const inCell = root.getAttribute(OWN) === "cell";
  const host = inCell ? await widgetHost() : staticHost() ?? httpHost();
  await mount(root, host);
}
var own = document.querySelector(`[${OWN}]`);
if (own instanceof HTMLElement) {
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheetOf2(DOCUMENT_CSS)];
  void open3(own);
  addEventListener("hashchange", () => {
    if (own.dataset.state === "refused") location.reload();
  });
}
export {
  hostOf,
  infoOf,
  mount,
  problemOf,
  revive,
  traceRow,
  unedited
};
