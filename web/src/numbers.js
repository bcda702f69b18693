// How a number is written: three decimals for reading, every digit where it says "exactly".

/** @param {string} text */
const minus = (text) => text.replaceAll("-", "−");

// Before a number, and neither a hyphen nor the dash of a range.
const NEGATIVE = /(?<![\p{L}\d)\]_-])-(?=\d|\.\d|∞|inf\b)|(?<=\de)-(?=\d)|(?<=[\d)] )-(?= [\d(])/gu;

/** A text from the server, with the page's minus sign.  @param {string} text */
export const withMinus = (text) => text.replace(NEGATIVE, minus);

/** @param {number} x */
function unusual(x) {
  if (Number.isNaN(x)) return "NaN";
  if (x === Infinity) return "∞";
  if (x === -Infinity) return "−∞";
  return null;
}

/**
 * Three decimals; a power of ten where three decimals would show nothing or too much. As
 * numerals.py does.
 * @param {number} x
 */
export const rounded = (x) => written(x, 3);

/** @param {number} x @param {number} places */
function written(x, places) {
  const word = unusual(x);
  if (word) return word;
  const size = Math.abs(x);
  if (size !== 0 && size < 0.5 * 10 ** -places) return minus(x.toExponential(1));
  if (size >= 1e9) return minus(x.toExponential(3).replace("+", ""));
  return minus(decimals(x === 0 ? 0 : x, places));
}

/**
 * In as little room as can be, a weight: two decimals; where they would tell too little, one digit.
 * @param {number} x
 */
export function briefly(x) {
  const word = unusual(x);
  if (word) return word;
  if (x !== 0 && Math.abs(x) < 0.00095) return minus(x.toExponential(0));
  return minus(decimals(x === 0 ? 0 : x, x !== 0 && Math.abs(x) < 0.0095 ? 3 : 2));
}

/**
 * Three decimals, and below 0.01 two digits: there three decimals would tell too little.
 * @param {number} x
 */
export const fine = (x) =>
  x !== 0 && Math.abs(x) < 0.01 ? minus(x.toExponential(1)) : rounded(x);

const LEAST_IN_ROW = 1e-5; // that still gets its two digits

/**
 * How the numbers of a row or a list are written, with as many decimals each: three, or as many as
 * the smallest needs for two digits; those below 1e-5 have a power of ten. As numerals.py does.
 * @param {readonly number[]} numbers
 * @returns {(x: number) => string}
 */
export function alike(numbers) {
  const sizes = numbers.map(Math.abs).filter((x) => x >= LEAST_IN_ROW && Number.isFinite(x));
  const least = Math.min(1, ...sizes);
  const places = Math.max(3, 1 - Number(least.toExponential(1).split("e")[1]));
  return (x) => written(x, places);
}

/**
 * toFixed, but a tie goes to the even neighbour, as Python writes it.
 * @param {number} x
 * @param {number} places  after the point
 */
function decimals(x, places) {
  const ten = 10 ** places;
  const units = x * ten;
  const isTie =
    Math.abs(units % 1) === 0.5 && units / ten === x && Number.isInteger(x * 2 ** (places + 1));
  return (isTie ? (2 * Math.round(units / 2)) / ten : x).toFixed(places);
}

/**
 * A given number: whole ones bare, others with as many of three decimals as they need.
 * @param {number} x
 */
export function short(x) {
  if (isBare(x)) return minus(String(x === 0 ? 0 : x));
  const text = rounded(x);
  return /^−?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
}

/**
 * How the numbers of one row are written: bare where all are whole, else alike.
 * @param {readonly number[]} numbers
 */
export const evenly = (numbers) => (numbers.every(isBare) ? short : alike(numbers));

/** @param {number} x */
const isBare = (x) => Number.isInteger(x) && Math.abs(x) < 1e9;

/**
 * Every digit that tells this float64 from its neighbours.
 * @param {number} x
 */
export function exact(x) {
  return unusual(x) ?? minus(String(x));
}

/**
 * Every digit that tells a number from its neighbours of the dtype that it was worked out in.
 * @param {number} x
 * @param {string} by
 */
export function exactAs(x, by) {
  if (!by.endsWith("float32") || !Number.isFinite(x)) return exact(x);
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(x.toPrecision(digits));
    if (Math.fround(short) === x) return exact(short);
  }
  return exact(Number(x.toPrecision(9)));
}

/** Six decimals, to try on a calculator.  @param {number} x */
export const sixth = (x) =>
  Number.isFinite(x) && Math.abs(x) < 1e6 ? exact(Number(x.toFixed(6))) : exact(x);

/** Two digits: colours are no finer.  @param {number} x */
export function small(x) {
  if (x >= 0.995) return "1";
  if (x >= 0.001) return String(Number(x.toPrecision(2)));
  return minus(x.toExponential(0));
}

/** How many there are.  @param {number} number @param {string} what  one of them */
export const counted = (number, what) =>
  `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

/** A part of a whole, for the style sheet.  @param {number} x */
export const percent = (x) => `${(100 * x).toFixed(2)}%`;

/** A power of ten as people write it.  @param {number} x */
export const power = (x) => (x >= 1e-3 ? String(Number(x.toPrecision(3))) : rounded(x));

/**
 * @param {readonly number[]} numbers
 * @param {(x: number) => string} [write]
 * @param {number} [most] how many numbers are written before "... more"
 */
export function vector(numbers, write = rounded, most = 4) {
  if (numbers.length <= most) return `[${numbers.map(write).join(", ")}]`;
  const first = numbers
    .slice(0, most - 1)
    .map(write)
    .join(", ");
  return `[${first}, … ${numbers.length - most + 1} more]`;
}

/**
 * As it stands after a sign: a negative number in brackets.
 * @param {number} x
 * @param {(x: number) => string} [write]
 */
export const bracketed = (x, write = short) => (x < 0 ? `(${write(x)})` : write(x));

/** About how many digits wide a text is.  @param {string} text */
export const breadth = (text) => [...text].reduce((total, letter) => total + breadthOf(letter), 0);

/** @param {string} letter */
function breadthOf(letter) {
  if (/[\s.,·[\]()]/.test(letter)) return 0.5;
  return /[−+…]/.test(letter) ? 1.35 : 1;
}

/**
 * A vector for a narrow column: a long one by its first numbers.
 * @param {readonly number[]} numbers
 * @param {number} [first]
 * @param {(x: number) => string} [write]
 */
export function brief(numbers, first = 2, write = rounded) {
  const some = briefPart(numbers, first);
  if (some.length === numbers.length) return vector(numbers, write);
  return `[${some.map(write).join(", ")}, …]`;
}

/** The numbers that `brief` shows.  @param {readonly number[]} numbers @param {number} first */
export const briefPart = (numbers, first) =>
  numbers.length <= first + 1 ? numbers : numbers.slice(0, first);

/**
 * The number in a text that a person typed, or the sentence that says what is wrong with it.
 * @param {string} text
 * @returns {{number: number} | {sentence: string}}
 */
export function parseNumber(text) {
  const plain = text.trim().replaceAll("−", "-");
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\s*\/\s*(\d+\.?\d*))?$/i.exec(plain);
  const number = match ? Number(match[1]) / (match[2] === undefined ? 1 : Number(match[2])) : NaN;
  if (Number.isFinite(number)) return { number: number === 0 ? 0 : number };
  const got =
    plain === "" ? "nothing" : `“${plain.length > 24 ? `${plain.slice(0, 24)}…` : plain}”`;
  if (match) return { sentence: `A number here must be finite; got ${got}. Type a smaller one.` };
  return { sentence: `Type one number, such as 2, −0.5 or 1/3; got ${got}.` };
}
