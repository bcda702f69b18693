// The tiles of maps: asked for as they come into view, newest view first, a few at a time; the
// oldest are forgotten.
import { HostError } from "./host_error.js";

/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./source.js").Answer} Answer */
/** @typedef {{level: number, i: number, j: number}} TileAt */
/** @typedef {"max" | "share"} Pool */

/**
 * @typedef {object} Tile
 * @property {number} rows
 * @property {number} columns
 * @property {boolean} whole  every cell is known
 * @property {Record<Pool, Uint8Array>} codes
 * @property {number} age  of the building when it came
 */

const MOST = 400; // tiles that are kept
const FLIGHTS = 4; // and asked for at a time

/** @param {Args} place @param {TileAt} at */
const nameOf = (place, { level, i, j }) => `${Object.values(place).join("/")}:${level}/${i}/${j}`;

/**
 * @typedef {object} Hands
 * @property {(op: string, args: Args) => Promise<Answer>} call
 * @property {() => void} changed  something came, or nothing is on its way any more
 * @property {(error: unknown) => void} failed
 */

export class Atlas {
  /** @type {Map<string, Tile>} */
  #tiles = new Map();
  /** @type {Set<string>} */
  #refused = new Set();
  /** @type {Set<string>} */
  #flying = new Set();
  /** @type {{name: string, args: Args}[]} */
  #queue = [];
  #age = 0;
  /** Another number once a tile has come. */
  version = 0;

  /** @param {Hands} hands @param {number} [most]  tiles that are kept */
  constructor(hands, most = MOST) {
    this.hands = hands;
    this.most = most;
  }

  /** @param {Args} place @param {TileAt} at */
  tile(place, at) {
    const name = nameOf(place, at);
    const tile = this.#tiles.get(name);
    if (tile) keep(this.#tiles, name, tile, this.most); // the last one drawn is forgotten last
    return tile;
  }

  /** What is in view, most urgent first: nothing else is asked for any more.
   * @param {Args} place @param {TileAt[]} wanted */
  want(place, wanted) {
    this.#queue = wanted
      .map((at) => ({ name: nameOf(place, at), args: argsOf(place, at) }))
      .filter(({ name }) => this.#isMissing(name));
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
    return !tile || (!tile.whole && tile.age < this.#age);
  }

  #launch() {
    while (this.#flying.size < FLIGHTS && this.#queue.length) {
      const next = this.#queue.shift();
      if (next && this.#isMissing(next.name)) void this.#fetch(next.name, next.args);
    }
  }

  /** @param {string} name @param {Args} args */
  async #fetch(name, args) {
    const { call, changed, failed } = this.hands;
    this.#flying.add(name);
    const age = this.#age;
    try {
      keep(this.#tiles, name, tileFrom(await call("tile", args), age), this.most);
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
      changed();
    }
  }
}

/** Did the server say no, rather than nothing?  @param {unknown} error
 * @returns {error is HostError} */
export const isRefusal = (error) => error instanceof HostError && error.kind === "refused";

/** @param {Args} place @param {TileAt} at @returns {Args} */
const argsOf = (place, { level, i, j }) => ({
  ...place,
  level: String(level),
  i: String(i),
  j: String(j),
});

/** @param {Answer} answer @param {number} age @returns {Tile} */
function tileFrom({ json, bytes }, age) {
  const { rows, columns, whole } = json;
  const cells = rows * columns;
  const part = (/** @type {number} */ at) =>
    (bytes ?? new Uint8Array(2 * cells)).subarray(at * cells, (at + 1) * cells);
  return { rows, columns, whole, age, codes: { max: part(0), share: part(1) } };
}

/**
 * Keep the newest: what was put there longest ago is forgotten.
 * @template K, T
 * @param {Map<K, T>} kept
 * @param {K} name
 * @param {T} value
 * @param {number} most
 */
export function keep(kept, name, value, most) {
  kept.delete(name);
  kept.set(name, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
}
