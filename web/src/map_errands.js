// What the map view does that takes time: flying somewhere, looking for the strongest link, holding
// a pair whose place has to be asked for first.
import { cellAround, centreOf, NATIVE, between, heldCamera } from "./map_camera.js";
import { changed, pickPair } from "./map_actions.js";
import { isRefusal } from "./map_atlas.js";
import { tokenMeant } from "./map_going.js";
import { keysSeen } from "./map_sees.js";
import { isDrawable, LISTED, shownRegion } from "./map_scene.js";
import { pairTable, partWords, readWords } from "./map_words.js";
import { revive } from "./source.js";

/** @typedef {import("./errands.js").Page} Page */
/** @typedef {import("./types.js").Pair} Pair */
/** @typedef {import("./map_camera.js").Camera} Camera */
/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./map_scene.js").Link} Link */
/** @typedef {NonNullable<import("./types.js").MapState["tour"]>} Tour */

const FLIGHT = 260; // milliseconds
const IDLE = Promise.resolve(true);
const SPARE = 4; // links that are asked for beyond those that are listed

/** @param {Page} page @returns {Record<string, (argument: string) => void>} */
export function mapErrands(page) {
  const last = { asked: 0 }; // which hold was asked for last: an earlier one comes too late
  let search = IDLE; // what is found is picked, and nothing else, by Enter at once after S
  return {
    "map-lock": () => void page.wait(toggleLock(page, last)),
    "map-hold": (pair) => void page.wait(hold(page, pairFrom(pair), last)),
    "map-rehold": (pair) => {
      last.asked += 1;
      const scene = page.map();
      if (scene) page.update(changed(scene, { lock: pair ? pairFrom(pair) : null }));
    },
    "map-pick": () => void page.wait(search.then((found) => (found ? pick(page) : undefined))),
    "map-strongest": () => {
      const asked = strongest(page);
      search = asked.catch(() => false).finally(() => (search = IDLE));
      void page.wait(asked);
    },
    "map-go": () => go(page),
    "map-fly": (pair) => flyTo(page, pair),
    "map-link": (pair) => {
      const scene = page.map();
      const [query, key] = pairFrom(pair);
      if (!scene) return;
      page.update(pickPair(scene, query, key));
      flyTo(page, pair);
    },
    "map-tour": (i) => {
      const { tour } = page.state().map;
      if (tour?.links[Number(i)]) visit(page, { ...tour, at: Number(i) });
    },
    "map-mark-go": (i) => {
      const mark = page.state().map.marks[Number(i)];
      if (!mark) return;
      const at = /** @type {Pair} */ ([mark.query, mark.key]);
      fly(page, { x: mark.key + 0.5, y: mark.query + 0.5, z: mark.z }, mark.lock ? at : null);
    },
  };
}

/** @param {string} text @returns {Pair} */
const pairFrom = (text) => /** @type {Pair} */ (text.split(":").map(Number));

/**
 * The pair that a cell stands for: itself, or its strongest.
 * @param {Page} page
 * @param {MapScene} scene
 * @param {Pair} at
 * @returns {Promise<Pair>}
 */
async function pairAt({ life }, scene, at) {
  if (scene.state.map.lock || scene.level === 0) return at;
  const reading = await life.desk.reader.ask(scene.place, cellAround(at, scene.level, scene.size));
  const { query = -1, key = -1 } = reading?.cell ?? {};
  return query < 0 || key < 0 ? at : [query, key];
}

/** @param {Page} page @param {Pair} at @param {{asked: number}} last */
async function hold(page, at, last) {
  const scene = page.map();
  if (!scene || scene.refused) return;
  const free = { ...scene, state: { ...scene.state, map: { ...scene.state.map, lock: null } } };
  const mine = (last.asked += 1);
  const pair = await pairAt(page, free, at);
  const now = page.map();
  if (now && mine === last.asked) page.update(changed(now, { lock: pair }));
}

/** @param {Page} page @param {{asked: number}} last */
async function toggleLock(page, last) {
  const scene = page.map();
  if (!scene) return;
  if (scene.state.map.lock) page.update(changed(scene, { lock: null }));
  else await hold(page, scene.at ?? centreOf(scene.camera, scene.size), last);
}

/** The held pair, or the one aimed at: its query and key are picked.  @param {Page} page */
async function pick(page) {
  const scene = page.map();
  if (!scene || scene.refused) return;
  const at = scene.at ?? centreOf(scene.camera, scene.size);
  const [query, key] = await pairAt(page, scene, at);
  const now = page.map();
  if (now) page.update({ ...changed(now, { lock: [query, key] }), ...pickPair(now, query, key) });
}

/**
 * The strongest links of the view, and to the first of them; asked again from there, to the next.
 * Those of a part of it are looked for once more when the map is whole.
 * @param {Page} page
 * @returns {Promise<boolean>} whether a link is held now
 */
async function strongest(page) {
  const scene = page.map();
  if (!scene || scene.refused) return false;
  const { tour, lock } = scene.state.map;
  const held = tour?.links[tour.at];
  const here = tour && lock && held?.query === lock[0] && held.key === lock[1] ? tour : null;
  if (here && (here.part === 1 || !isBuilt(scene))) {
    visit(page, { ...here, at: (here.at + 1) % here.links.length });
    return true;
  }
  const found = await strongestLinks(page, scene, here?.region ?? shownRegion(scene));
  if (found?.links.length) visit(page, found);
  else if (found) page.update({ notice: noLink(scene, found) });
  return Boolean(found?.links.length);
}

/** @param {Page} page @param {Tour} tour */
function visit(page, tour) {
  const scene = page.map();
  if (!scene) return;
  const { query, key } = tour.links[tour.at];
  const part = partWords(tour);
  const notice = part && `The strongest link ${part}. Ask again when the map is whole.`;
  page.update({ ...changed(scene, { tour }), notice: tour.at ? "" : notice });
  flyTo(page, `${query}:${key}`);
}

/** @param {MapScene} scene */
const isBuilt = ({ info }) => info !== null && info.done >= info.of;

/** @param {MapScene} scene @param {Tour} found */
function noLink({ info }, found) {
  if (found.part > 0) return `There is no visible link ${partWords(found) || "in view"}.`;
  const what = info?.refused ? ": zoom in" : " yet: zoom in, or let the map grow";
  return `Too much is in view to be looked through${what}.`;
}

/**
 * @param {Page} page
 * @param {MapScene} scene
 * @param {Tour["region"] | null} region
 * @returns {Promise<Tour | null>}
 */
async function strongestLinks({ source, update }, scene, region) {
  if (!region) return { links: [], at: 0, part: 1, region: { rows: [0, 0], keys: [0, 0] } };
  const [rows, keys] = [region.rows.join(":"), region.keys.join(":")];
  try {
    const args = { ...scene.place, rows, keys, count: String(LISTED + SPARE), so_far: "1" };
    const { links, known } = revive((await source.call("strongest", args)).json);
    const part = known / (region.rows[1] - region.rows[0]);
    return { links: chosen(scene, links), at: 0, part, region };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    update({ notice: error.sentence });
    return null;
  }
}

/**
 * Without the queries that see a single key, and read it with 1: they have no choice. Where there are
 * no others, with them.
 * @param {MapScene} scene
 * @param {Link[]} links
 */
function chosen({ state }, links) {
  const some = links.filter(({ query }) => keysSeen(state.info, state.batch, query) > 1);
  return (some.length ? some : links).slice(0, LISTED);
}

/** Where the form says; a field that is left empty stays where it is.  @param {Page} page */
function go(page) {
  const scene = page.map();
  const going = scene?.state.map.going;
  if (!scene || !going || scene.refused) return;
  const [query, key] = scene.state.map.lock ?? centreOf(scene.camera, scene.size);
  const row = tokenMeant(going.query, scene.queries.tokens, query);
  const column = tokenMeant(going.key, scene.keys.tokens, key);
  const wrong = "trouble" in row ? "query" : "trouble" in column ? "key" : null;
  const trouble = "trouble" in row ? row.trouble : "trouble" in column ? column.trouble : "";
  page.update(
    changed(scene, { going: { ...going, wrong, trouble: wrong ? `${wrong}: ${trouble}` : "" } }),
  );
  if (!("at" in row && "at" in column)) return;
  page.update({ focus: "map" });
  flyTo(page, `${row.at}:${column.at}`);
}

/**
 * Near enough to read it, and hold it; a side that is left out stays where it is.
 * @param {Page} page
 * @param {string} argument  query:key
 */
function flyTo(page, argument) {
  const scene = page.map();
  if (!scene) return;
  const [query, key] = argument.split(":");
  const centre = centreOf(scene.camera, scene.size);
  const at = /** @type {Pair} */ ([
    query === "" ? centre[0] : Number(query),
    key === "" ? centre[1] : Number(key),
  ]);
  const z = Math.min(scene.camera.z, NATIVE);
  fly(page, { x: at[1] + 0.5, y: at[0] + 0.5, z }, at);
}

/**
 * @param {Page} page
 * @param {Camera} target
 * @param {Pair | null} lock
 */
function fly(page, target, lock) {
  const scene = page.map();
  if (!scene) return;
  const from = scene.camera;
  const to = heldCamera(target, scene.size, scene.layout.box);
  const arrive = () => page.life.look({ ...to, lock, aim: null });
  if (matchMedia("(prefers-reduced-motion)").matches || !isDrawable(scene)) {
    arrive();
    return;
  }
  const start = performance.now();
  const flight = page.life.flight();
  const step = () => {
    if (!page.life.isFlying(flight)) return;
    const share = Math.min(1, (performance.now() - start) / FLIGHT);
    const eased = share * share * (3 - 2 * share);
    if (share >= 1) arrive();
    else {
      page.life.look({ ...between(from, to, eased), aim: null }, flight);
      requestAnimationFrame(step);
    }
  };
  page.life.look({ lock }, flight);
  step();
}

/**
 * The held pair for the clipboard: done, and the text; null where there is none.
 * @param {MapScene} scene
 * @returns {{done: string, text: string} | null}
 */
export function pairText(scene) {
  const text = pairTable(scene);
  if (text) return { done: "The pair is copied, as two lines of a table.", text };
  const { formula, exactly } = readWords(scene);
  return formula ? { done: "The read-out is copied.", text: `${formula} ${exactly}` } : null;
}
