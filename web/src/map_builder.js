// Has the map of the open head worked out, a little at a time, while it is looked at; after it the
// profiles along its axes.
import { isRefusal } from "./map_atlas.js";
import { revive } from "./source.js";

/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./source.js").Answer} Answer */

/**
 * @typedef {object} MapAnswer  op `map`
 * @property {number} q_len
 * @property {number} kv_len
 * @property {number} base
 * @property {number} top
 * @property {number} tile
 * @property {number} done
 * @property {number} of
 * @property {number | null} seconds_left
 * @property {number} bytes
 * @property {string | null} refused
 * @property {string | null} saved
 * @property {string | null} trouble
 * @property {string} backend
 * @property {import("./map_codes.js").Codes} codes
 *
 * @typedef {object} ProfileAnswer  op `profile`
 * @property {number} done
 * @property {number} of
 * @property {number | null} seconds_left
 * @property {string} by
 * @property {{key: number, received: number, each: number}[] | null} top_received  `each`: a mean
 *   over the queries that see the key
 * @property {{query: number, entropy: number, spread: number}[] | null} lowest_entropy  `spread`:
 *   the entropy as a share of the most that the visible keys allow
 * @property {{query: number, entropy: number, spread: number}[] | null} highest_entropy
 */

/** @param {Args} place */
const nameOf = (place) => Object.values(place).join("/");

/** @param {{done: number, of: number}} answer */
const isDone = ({ done, of }) => done >= of;

export class Builder {
  /** @type {Map<string, MapAnswer>} */
  #maps = new Map();
  /** @type {Map<string, ProfileAnswer>} */
  #profiles = new Map();
  /** @type {Map<string, string>} */
  #refusals = new Map();
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
    return this.#maps.get(nameOf(place)) ?? null;
  }

  /** @param {Args} place */
  profile(place) {
    return this.#profiles.get(nameOf(place)) ?? null;
  }

  /** Why there is nothing to look at.  @param {Args} place */
  refused(place) {
    return this.#refusals.get(nameOf(place)) ?? "";
  }

  /**
   * What is asked next of the map that is looked at, if anything.
   * @returns {{op: "map" | "profile", place: Args, work: "0" | "1"} | null}
   */
  #next() {
    const place = this.#place;
    if (!place || this.#refusals.has(nameOf(place))) return null;
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
    for (let next = this.#next(); next; next = this.#next()) await this.#step(next);
    this.#working = false;
  }

  /** @param {{op: "map" | "profile", place: Args, work: string}} next */
  async #step({ op, place, work }) {
    const name = nameOf(place);
    try {
      const { json } = await this.hands.call(op, { ...place, work });
      if (op === "map") this.#maps.set(name, json);
      else this.#profiles.set(name, revive(json));
    } catch (error) {
      if (isRefusal(error)) this.#refusals.set(name, error.sentence);
      else {
        this.#place = null; // until somebody answers again
        this.hands.failed(error);
      }
    }
    this.hands.changed();
  }
}
