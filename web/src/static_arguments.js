// The arguments of a request to an exported file, checked as viewer/arguments.py checks them.
import { HostError } from "./host_error.js";

/** @typedef {Record<string, string>} Args */

/** @param {string} argument @param {string} words @returns {never} */
export function refuse(argument, words) {
  throw new HostError(`${argument}: ${words}`, "refused", argument);
}

/** A text as it came, short, in quotes.  @param {string | undefined} text */
const quoted = (text) => (text === undefined ? "nothing" : `'${text.slice(0, 40)}'`);

/** @param {number} low @param {number} count */
const range = (low, count) =>
  count > low ? `${low} ... ${count - 1}` : "(there is none to choose)";

/** @param {string} text @param {string} name @param {number} low @param {number} count */
function inside(text, name, low, count) {
  const number = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : -1;
  if (number >= low && number < count) return number;
  return refuse(name, `must be a whole number ${range(low, count)}; got ${quoted(text)}.`);
}

/**
 * The whole number `name`, within `low` ... `count` - 1; without a default it must be given.
 * @param {Args} args
 * @param {string} name
 * @param {number} count
 * @param {number | null} [standard]
 * @param {number} [low]
 */
export function whole(args, name, count, standard = 0, low = 0) {
  const given = args[name] ?? (standard === null ? undefined : String(standard));
  if (given === undefined)
    return refuse(name, `must be given, a whole number ${range(low, count)}.`);
  return inside(given, name, low, count);
}

/**
 * The list `name`, at most `most` whole numbers with commas, each below `count`.
 * @param {Args} args
 * @param {string} name
 * @param {number} count
 * @param {number} most
 */
export function wholes(args, name, count, most) {
  const given = args[name];
  if (!given) return refuse(name, "must be given, whole numbers with commas between, e.g. 0,1,2.");
  const parts = given.split(",");
  if (parts.length > most)
    return refuse(name, `must hold at most ${most} numbers; got more. Ask in parts.`);
  return parts.map((part) => inside(part, name, 0, count));
}

/**
 * The span `name`, written start:stop; all where it is left out.
 * @param {Args} args
 * @param {string} name
 * @param {number} count
 * @returns {[number, number]}
 */
export function span(args, name, count) {
  const given = args[name];
  if (given === undefined) return [0, count];
  const match = /^([0-9]{1,15}):([0-9]{1,15})$/.exec(given);
  const [start, stop] = match ? [Number(match[1]), Number(match[2])] : [0, 0];
  if (match && start < stop && stop <= count) return [start, stop];
  return refuse(
    name,
    `must be start:stop within 0:${count}, at least one wide; got ${quoted(given)}.`,
  );
}

/** The words `name` may be.  @param {Args} args @param {string} name @param {string[]} choices */
export function word(args, name, choices) {
  const given = args[name] ?? choices[0];
  if (choices.includes(given)) return given;
  return refuse(name, `must be one of ${choices.join(", ")}; got ${quoted(given)}.`);
}
