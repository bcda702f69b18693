// A notebook's way to the numbers. The page stands in a frame inside the cell, and the cell's script
// (cell.js) hands it one port: questions go out with an id, answers come back with it, in any order.
import { HostError } from "./host_error.js";
import { hostOf } from "./host_static.js";
import { toHash } from "./url.js";

/** @typedef {{json: any, bytes: Uint8Array | null}} Answer */
/** @typedef {Record<string, string>} Args */

/**
 * @typedef {object} Waiting  a question without an answer
 * @property {string} op
 * @property {Args} args
 * @property {(answer: Answer) => void} resolve
 * @property {(error: HostError) => void} reject
 * @property {boolean} here  the page works on it itself
 * @property {boolean} early  it was asked before the kernel was last asked whether it hears
 */

const SOON = 700; // milliseconds without an answer: then the kernel is asked whether it hears
const PATIENCE = 1500; // and until it is said that it does not
const LONG = 30_000; // and until that may be a kernel that was restarted
const LARGEST = 4_000_000; // bytes of a capture's numbers that come along into the page

const BUSY = "The kernel is busy: this goes on by itself when it is free.";
const BUSY_HERE = "The kernel is busy: until it is free this page works out what it can.";
const SILENT =
  "The kernel has been silent for long: this goes on by itself once it is free; if it was " +
  "restarted, run this cell again, after the cells that it needs.";
const GONE =
  "The kernel no longer knows this view: run its cell again, after the cells that it needs.";
const GONE_HERE = `${GONE} Until then this page works out what it can.`;

/**
 * The host of a page inside a cell, once the cell has said how it stands.
 * @returns {Promise<import("./types.js").Host>}
 */
export function widgetHost() {
  return new Promise((found) => {
    const hear = (/** @type {MessageEvent} */ event) => {
      const [port] = event.ports;
      if (event.source !== parent || event.data?.softlookup !== "port" || !port) return;
      removeEventListener("message", hear);
      found(hostOn(port, event.data));
    };
    addEventListener("message", hear);
    parent.postMessage({ softlookup: "ready" }, "*");
  });
}

/**
 * @param {MessagePort} port
 * @param {{place?: string, theme?: "light" | "dark", live?: boolean}} first
 * @returns {import("./types.js").Host}
 */
export function hostOn(port, { place = "", theme = "light", live = true }) {
  const line = new Line(port, live);
  /** @type {((theme: "light" | "dark") => void) | null} */
  let themed = null;
  port.onmessage = ({ data }) => {
    if (data.theme) themed?.((theme = data.theme));
    else line.hear(data);
  };
  let written = place;
  return {
    inCell: true,
    call: (op, args = {}) => line.ask(op, args),
    said: (say) => line.said(say),
    theme: {
      now: () => theme,
      follow: (changed) => {
        themed = changed;
        return () => (themed = null);
      },
    },
    address: {
      read: () => (written ? `#${written}` : ""),
      write: (state) => {
        const hash = toHash(state);
        if (hash !== written) port.postMessage({ place: (written = hash) });
      },
      follow: () => () => {},
    },
    pass: (event) => port.postMessage({ key: keyOf(event) }),
  };
}

/** @param {KeyboardEvent} event  its number is old, but notebooks read it */
const keyOf = ({ key, code, keyCode, ctrlKey, metaKey, altKey, shiftKey }) => ({
  ...{ key, code, keyCode, ctrlKey, metaKey, altKey, shiftKey },
});

/** The questions that are on their way, and what is known of who answers them. */
class Line {
  /** @type {Map<string, Waiting>} */
  #waiting = new Map();
  /** @type {Map<string, import("./types.js").Host>} */
  #numbers = new Map(); // by capture: its numbers, in this page
  /** @type {Set<string>} */
  #fetched = new Set();
  #count = 0;
  #timer = 0; // until the kernel is asked whether it hears; 0: nothing is waited for
  #silent = false; // it was asked and said nothing
  /** @type {(sentence: string) => void} */
  #say = () => {};
  #said = "";

  /** @param {MessagePort} port @param {boolean} live  somebody is at the other end */
  constructor(port, live) {
    this.port = port;
    this.live = live;
    this.name = Math.random().toString(36).slice(2); // several pages may share one widget
  }

  /** @param {(sentence: string) => void} say  is told at once, and whenever it changes */
  said(say) {
    this.#say = say;
    say(this.#said);
  }

  /** @param {string} op @param {Args} args @returns {Promise<Answer>} */
  ask(op, args) {
    return new Promise((resolve, reject) => {
      const id = `${this.name}.${(this.#count += 1)}`;
      const waiting = { op, args, resolve, reject, here: false, early: false };
      this.#waiting.set(id, waiting);
      if (this.#silent || !this.live) this.#answerHere(id, waiting);
      if (!this.live) this.#giveUp();
      else if (!waiting.here) {
        this.port.postMessage({ id, op, args }); // one that is busy reads it later
        this.#watch();
      }
    });
  }

  /** @param {any} data */
  hear({ id, json, bytes, gone }) {
    if (gone) {
      this.#lost();
      return;
    }
    this.#silent = false;
    this.#tell("");
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (id === this.#here) this.#askAgain(json.working);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting) settle(waiting, json, bytes);
    if (waiting?.op === "info" && json?.ok !== false) this.#fetchNumbers(json);
    if (this.#waiting.size) this.#watch();
  }

  /** Is anybody there? Asked where an answer does not come; a kernel that computes says yes. */
  #watch() {
    this.#timer ||= Number(setTimeout(() => this.#isThere(PATIENCE), SOON));
  }

  /** @param {number} patience */
  #isThere(patience) {
    this.#timer = 0;
    if (!this.#waiting.size && !this.#silent) return;
    for (const waiting of this.#waiting.values()) waiting.early = true;
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
    for (const [id, waiting] of this.#waiting) this.#answerHere(id, waiting);
    this.#timer = Number(setTimeout(() => this.#isThere(LONG), LONG));
  }

  #lost() {
    this.live = false;
    clearTimeout(this.#timer);
    for (const [id, waiting] of this.#waiting) this.#answerHere(id, waiting);
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
  #tell(sentence) {
    if (sentence === this.#said) return;
    this.#said = sentence;
    this.#say(sentence);
  }

  /** Small captures come into the page, for the time when nobody answers.  @param {any} info */
  #fetchNumbers({ capture }) {
    if (this.#fetched.has(capture)) return;
    this.#fetched.add(capture);
    this.ask("numbers", { capture, most: String(LARGEST) }).then(
      ({ bytes }) => {
        if (bytes) this.#numbers.set(capture, hostOf(new TextDecoder().decode(bytes)));
      },
      () => {}, // too large, or nobody there
    );
  }

  /** @param {string} id @param {Waiting} waiting */
  #answerHere(id, waiting) {
    const { op, args, resolve } = waiting;
    const numbers = this.#numbers.get(args.capture ?? "") ?? [...this.#numbers.values()][0];
    if (waiting.here || !numbers || !HERE.has(op)) return;
    if (args.capture && !this.#numbers.has(args.capture)) return;
    waiting.here = true;
    numbers.call(op, args).then(
      (answer) => {
        if (this.#waiting.delete(id)) resolve(answer);
      },
      (error) => {
        if (this.#waiting.delete(id)) waiting.reject(error);
      },
    );
  }
}

/** What the page's own arithmetic answers as the kernel does. */
const HERE = new Set(["arrays", "trace", "weights", "overview", "grid", "facts", "everywhere"]);

/** @param {Waiting} waiting @param {any} json @param {ArrayBuffer | null} bytes */
function settle({ op, resolve, reject }, json, bytes) {
  if (json?.ok === false) reject(new HostError(json.error, "refused", json.argument));
  else if (json) resolve({ json, bytes: bytes ? new Uint8Array(bytes) : null });
  else reject(new HostError(`The kernel's answer to “${op}” was empty. Run this cell again.`, "gone"));
}
