// The profiles along the map's axes: what was told of them last, asked for anew once the view rests.
import { numbersIn } from "./frame.js";
import { isRefusal, keep } from "./map_atlas.js";

/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./source.js").Answer} Answer */
/** @typedef {"queries" | "keys"} AxisName */

/**
 * @typedef {object} Strip  one number a bucket of tokens; NaN where none is known yet
 * @property {number} start
 * @property {number} stop
 * @property {number} buckets
 * @property {Float32Array} most
 * @property {Float32Array} mean
 */

const MOST = 64;

/** @param {Args} place @param {AxisName} axis */
const lineOf = (place, axis) => `${Object.values(place).join("/")}/${axis}`;

export class Profiles {
  /** @type {Map<string, Strip | null>} */
  #known = new Map();
  /** @type {Map<string, Strip>} */
  #last = new Map(); // of each axis, of whatever part
  /** @type {Map<string, {name: string, args: Args}>} */
  #wanted = new Map(); // the newest wish of each axis
  /** @type {Set<string>} */
  #flying = new Set();

  /** @param {import("./map_atlas.js").Hands} hands */
  constructor(hands) {
    this.hands = hands;
  }

  get busy() {
    return this.#flying.size > 0;
  }

  /** The one that came last, of whatever part.  @param {Args} place @param {AxisName} axis */
  strip(place, axis) {
    return this.#last.get(lineOf(place, axis)) ?? null;
  }

  /**
   * @param {Args} place
   * @param {AxisName} axis
   * @param {[number, number]} span
   * @param {number} buckets
   */
  want(place, axis, span, buckets) {
    const line = lineOf(place, axis);
    const args = { ...place, axis, span: span.join(":"), buckets: String(buckets) };
    const name = Object.values(args).join("/");
    const there = this.#known.get(name);
    if (there) keep(this.#last, line, there, MOST);
    if (there !== undefined) {
      this.#wanted.delete(line);
      return;
    }
    this.#wanted.set(line, { name, args });
    void this.#fetch(line);
  }

  /** More may be known by now. */
  older() {
    for (const [name, strip] of this.#known)
      if (!strip || strip.mean.some(Number.isNaN)) this.#known.delete(name);
  }

  /** @param {string} line */
  async #fetch(line) {
    if (this.#flying.has(line)) return;
    this.#flying.add(line);
    for (let next = this.#wanted.get(line); next; next = this.#wanted.get(line)) {
      this.#wanted.delete(line);
      const strip = await this.#asked(next.args);
      if (strip !== undefined) keep(this.#known, next.name, strip, MOST);
      if (strip) keep(this.#last, line, strip, MOST);
    }
    this.#flying.delete(line);
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
      return undefined;
    }
  }
}

/** @param {Answer} answer @returns {Strip | null} */
function stripFrom({ json: { start, stop, buckets }, bytes }) {
  if (!bytes) return null;
  const part = (/** @type {number} */ at) =>
    numbersIn(bytes, Float32Array, 4 * at * buckets, buckets);
  return { start, stop, buckets, most: part(0), mean: part(2) };
}
