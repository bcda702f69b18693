// Where to: a position, or the text of a token, as a person types them.
import { positionWords } from "./map_axes.js";
import { readable } from "./readable.js";

/** @typedef {{at: number} | {trouble: string}} Found */

/**
 * The token that is meant: a position, or the next one after `from` that reads so.
 * @param {string} typed
 * @param {readonly string[]} tokens
 * @param {number} from
 * @returns {Found}
 */
export function tokenMeant(typed, tokens, from) {
  const plain = typed.trim();
  if (plain === "") return { at: from };
  const number = plain.replace(/^@/, "").replaceAll(/[,\s_]/g, "");
  if (/^-?\d+$/.test(number)) {
    const at = Number(number);
    if (at >= 0 && at < tokens.length) return { at };
    return { trouble: `must be 0 … ${positionWords(tokens.length - 1)}; got “${short(plain)}”.` };
  }
  const at = nextAfter(tokens, from, ways(typed));
  if (at !== null) return { at };
  return { trouble: `no token reads “${short(plain)}”. Type its text, or a position.` };
}

/** From the strictest reading to the most forgiving.  @param {string} typed
 * @returns {((token: string) => boolean)[]} */
function ways(typed) {
  const plain = typed.trim();
  const low = plain.toLowerCase();
  const bare = (/** @type {string} */ token) => readable(token).replace(/^[\s▁Ġ]+|\s+$/gu, "");
  return [
    (token) => token === typed || readable(token) === plain,
    (token) => bare(token) === plain,
    (token) => bare(token).toLowerCase() === low,
    (token) => readable(token).toLowerCase().includes(low),
  ];
}

/**
 * @param {readonly string[]} tokens
 * @param {number} from
 * @param {((token: string) => boolean)[]} tests
 */
function nextAfter(tokens, from, tests) {
  for (const test of tests) {
    const after = tokens.findIndex((token, i) => i > from && test(token));
    const at = after >= 0 ? after : tokens.findIndex(test);
    if (at >= 0) return at;
  }
  return null;
}

/** @param {string} text */
const short = (text) => (text.length > 24 ? `${text.slice(0, 24)}…` : text);
