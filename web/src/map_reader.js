// The exact numbers of cells, asked for one at a time while the pointer moves: the newest wish
// first, those that were passed over never.
import { isRefusal, keep } from "./map_atlas.js";
import { revive } from "./source.js";

/** @typedef {import("./source.js").Args} Args */
/** @typedef {import("./source.js").Answer} Answer */
/** @typedef {import("./map_camera.js").Cell} Cell */

/**
 * @typedef {object} PairRead  op `at`: one weight
 * @property {number} weight
 * @property {boolean} visible
 * @property {number | null} score
 * @property {number} lse
 * @property {string} by
 *
 * @typedef {object} CellRead  op `block`: the strongest pair of a cell, and its share
 * @property {number} max
 * @property {number} query  -1 where no pair is visible
 * @property {number} key
 * @property {number} share
 * @property {boolean | number} visible
 * @property {string} by
 *
 * @typedef {{pair?: PairRead, cell?: CellRead, refused?: string}} Reading
 */

const MOST = 400;
const PAUSE = 40; // milliseconds between two questions, at least

/** @param {import("./map_camera.js").Span} span */
const spanWord = ([from, upTo]) => `${from}:${upTo}`;

/** @param {Args} place @param {Cell} cell @returns {[string, Args]} */
function questionOf(place, { level, rows, keys }) {
  if (level === 0) return ["at", { ...place, query: String(rows[0]), key: String(keys[0]) }];
  return ["block", { ...place, rows: spanWord(rows), keys: spanWord(keys) }];
}

/** @param {[string, Args]} question */
const nameOf = ([op, args]) => `${op}?${Object.values(args).join("/")}`;

export class Reader {
  /** @type {Map<string, Reading>} */
  #known = new Map();
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
  reading(place, cell) {
    return this.#known.get(nameOf(questionOf(place, cell)));
  }

  /** What is read now: nothing else is asked for any more.  @param {Args} place
   * @param {Cell[]} cells */
  want(place, cells) {
    const questions = cells.map((cell) => questionOf(place, cell));
    this.#wanted = questions.filter((one) => !this.#known.has(nameOf(one)));
    if (this.#wanted.length) void this.#turn();
  }

  /** @param {Args} place @param {Cell} cell @returns {Promise<Reading | undefined>} */
  async ask(place, cell) {
    const question = questionOf(place, cell);
    if (!this.#known.has(nameOf(question))) await this.#fetch(question);
    return this.#known.get(nameOf(question));
  }

  async #turn() {
    if (this.#asking) return;
    this.#asking = true;
    for (let next = this.#wanted.shift(); next; next = this.#wanted.shift()) {
      if (this.#known.has(nameOf(next))) continue;
      await this.#fetch(next);
      this.hands.changed();
      await new Promise((done) => setTimeout(done, PAUSE));
    }
    this.#asking = false;
    this.hands.changed();
  }

  /** @param {[string, Args]} question */
  async #fetch(question) {
    const name = nameOf(question);
    try {
      const { json } = await this.hands.call(...question);
      const numbers = revive(json);
      keep(this.#known, name, question[0] === "at" ? { pair: numbers } : { cell: numbers }, MOST);
    } catch (error) {
      if (isRefusal(error)) keep(this.#known, name, { refused: error.sentence }, MOST);
      else {
        this.#wanted = [];
        this.hands.failed(error);
      }
    }
  }
}
