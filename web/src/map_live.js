// Keeps the map view alive: what moves is drawn in the next frame, and the page around it once it
// rests.
import { h, patch } from "./dom.js";
import { Desk } from "./map_desk.js";
import { mapGlanced } from "./map_page.js";
import { createMapPainter } from "./map_painter.js";
import { mapScene } from "./map_scene.js";
import { readWords } from "./map_words.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").MapState} MapState */
/** @typedef {import("./map_scene.js").MapScene} MapScene */

const REST = 220; // milliseconds without a movement before the address is written
const SAY = 700; // and before a read-out is spoken

/**
 * @typedef {object} Page
 * @property {HTMLElement} root
 * @property {ShadowRoot} shadow
 * @property {import("./source.js").Source} source
 * @property {() => State} state
 * @property {(state: State) => void} set  without drawing
 * @property {() => void} update  draws everything
 * @property {(error: unknown) => void} failed
 */

export class MapLife {
  #frame = 0; // of the next drawing; 0: none is due
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
    this.desk.see(this.page.state().offline ? null : scene); // nothing is asked of nobody
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
    if (flight === undefined) this.#flights += 1;
    else if (flight !== this.#flights) return;
    const { root, state, set, update } = this.page;
    set({ ...state(), map: { ...state().map, ...changes } });
    root.dataset.map = "busy";
    clearTimeout(this.#rest);
    this.#rest = Number(
      setTimeout(() => {
        this.#rest = 0;
        update();
      }, REST),
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
}

/** What changes more of the page than its glanced parts.  @param {MapScene} scene */
const phaseOf = ({ info, profile, refused, level }) =>
  [
    info !== null,
    info && info.done >= info.of,
    profile !== null,
    profile && profile.done >= profile.of,
    refused,
    level === 0,
  ].join(" ");

/**
 * Speaks what is read out, once it stays.
 * @param {ShadowRoot} shadow
 * @returns {(scene: MapScene | null) => void}
 */
function speaker(shadow) {
  let waiting = 0;
  let words = "";
  const spoken = h("output", { class: "unseen", "aria-live": "polite", "data-say": "pair" });
  return (scene) => {
    if (!scene) {
      spoken.remove();
      return;
    }
    if (!spoken.isConnected) shadow.append(spoken);
    const { formula, exactly } = readWords(scene);
    const now =
      scene.at && exactly !== "…" ? `${formula} ${exactly}`.replaceAll(/[\u2068\u2069]/g, "") : "";
    if (now === words) return;
    words = now;
    clearTimeout(waiting);
    waiting = Number(
      setTimeout(() => {
        spoken.textContent = now;
      }, SAY),
    );
  };
}
