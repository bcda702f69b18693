// How the tokens table stands: query, key and value side by side, or below one another where they
// are too wide; and which number an arrow key leads to.
import { jump } from "./keys.js";
import { breadth, short, vector } from "./numbers.js";

/** @typedef {import("./types.js").Side} Side */
/** @typedef {import("./types.js").Spot} Spot */
/** @typedef {import("./types.js").Edit} Edit */

const ROOM = 22; // digits that fit beside one another

/**
 * The tables: one where queries and keys are the same tokens, else two.
 * @param {Edit} numbers
 * @param {boolean} paired
 * @returns {{label: string, sides: Side[], tokens: string[]}[]}
 */
export function tablesOf(numbers, paired) {
  const filled = (/** @type {Side[]} */ sides) =>
    sides.filter((side) => (numbers[side][0]?.length ?? 0) > 0);
  const { tokens, key_tokens } = numbers;
  if (paired)
    return [
      {
        label: "Tokens with query, key and value",
        sides: filled(["query", "key", "value"]),
        tokens,
      },
    ];
  return [
    { label: "Queries", sides: filled(["query"]), tokens },
    { label: "Keys and values", sides: filled(["key", "value"]), tokens: key_tokens },
  ];
}

/** @param {Edit} numbers @param {Side[]} sides */
export function isStacked(numbers, sides) {
  if (sides.length < 2) return false;
  const wide = sides.map((side) =>
    Math.max(...numbers[side].map((row) => breadth(vector(row, short, 99)))),
  );
  return wide.reduce((total, digits) => total + digits + 1, 0) > ROOM;
}

/**
 * Every spot, in lines as they stand on the page.
 * @param {Edit} numbers
 * @param {boolean} paired
 * @returns {Spot[][]}
 */
function linesOf(numbers, paired) {
  return tablesOf(numbers, paired).flatMap(({ sides, tokens }) => {
    const stacked = isStacked(numbers, sides);
    const spots = (/** @type {Side} */ side, /** @type {number} */ row) =>
      numbers[side][row].map((_, col) => ({ side, row, col }));
    return tokens.flatMap((_, row) => {
      const lines = sides.map((side) => spots(side, row));
      return stacked ? lines : [lines.flat()];
    });
  });
}

/**
 * @param {Edit} numbers
 * @param {boolean} paired
 * @param {Spot} spot
 * @param {string} way
 * @returns {Spot}
 */
export function spotBeside(numbers, paired, spot, way) {
  const lines = linesOf(numbers, paired).filter((line) => line.length);
  const same = (/** @type {Spot} */ other) =>
    other.side === spot.side && other.row === spot.row && other.col === spot.col;
  const y = lines.findIndex((line) => line.some(same));
  if (y < 0) return lines[0]?.[0] ?? spot;
  const x = lines[y].findIndex(same);
  const [dy, dx] = jump(way);
  const line = lines[Math.max(0, Math.min(y + dy, lines.length - 1))];
  return line[Math.max(0, Math.min(x + dx, line.length - 1))];
}
