// Paints the canvases of the map view after the page is drawn, and only those whose picture has
// changed.
import { heatColors } from "./heat_color.js";
import { sized } from "./heat_grid.js";
import { axisOf, drawLabels, drawProfile } from "./map_axes.js";
import { edgesOf } from "./map_camera.js";
import { percentiles, tally } from "./map_codes.js";
import { drawLines, drawMap, palePadding, sheetOf, unknownFill } from "./map_draw.js";
import { isDrawable, miniLevel, namedPair } from "./map_scene.js";
import { createSprites } from "./map_sprites.js";

/** @typedef {import("./map_scene.js").MapScene} MapScene */
/** @typedef {import("./map_desk.js").Desk} Desk */
/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {{width: number, height: number}} Box */
/** @typedef {{picture: unknown[], box: Box, paint: (pen: CanvasRenderingContext2D) => void}} Work */
/** @typedef {ReturnType<typeof createSprites>} Sprites */

/**
 * @typedef {object} Studio
 * @property {MapScene} scene
 * @property {Desk} desk
 * @property {Colors} colors
 * @property {Sprites} sprites
 * @property {Sprites} minis  of the minimap
 * @property {string | CanvasPattern} unknown  the fill of what is not computed yet
 * @property {number} ratio
 */

/** @param {Desk} desk */
export function createMapPainter(desk) {
  /** @type {WeakMap<Element, unknown[]>} */
  const painted = new WeakMap();
  /** @type {Record<string, Colors>} */
  const themes = {};
  const sprites = createSprites();
  const minis = createSprites();
  /** @type {Record<string, string | CanvasPattern>} */
  const stripes = {};

  /** @param {Element} canvas @param {unknown[]} picture  all that its pixels depend on */
  const isNew = (canvas, picture) => {
    const before = painted.get(canvas);
    painted.set(canvas, picture);
    return (
      before?.length !== picture.length || before.some((part, i) => !Object.is(part, picture[i]))
    );
  };

  /** @param {ShadowRoot} shadow @param {MapScene} scene */
  return (shadow, scene) => {
    const { theme } = scene.state;
    const colors = (themes[theme] ??= heatColors(theme));
    const ratio = globalThis.devicePixelRatio || 1;
    const unknown = (stripes[`${theme} ${ratio}`] ??= unknownFill(colors, ratio));
    const studio = { scene, desk, colors, sprites, minis, unknown, ratio };
    for (const canvas of shadow.querySelectorAll("canvas[data-map]")) {
      if (!(canvas instanceof HTMLCanvasElement)) continue;
      const work = WORKS[canvas.getAttribute("data-map") ?? ""]?.(studio);
      if (!work) continue;
      const { width, height } = work.box;
      const picture = [scene.state.theme, ratio, width, height, ...work.picture];
      if (isNew(canvas, picture)) work.paint(sized(canvas, width, height, ratio));
    }
  };
}

/** @type {Record<string, (studio: Studio) => Work>} */
const WORKS = {
  cells: cellsWork,
  lines: linesWork,
  mini: miniWork,
  rows: (studio) => labelsWork(studio, true),
  keys: (studio) => labelsWork(studio, false),
  entropy: (studio) => profileWork(studio, true),
  received: (studio) => profileWork(studio, false),
};

/** @param {MapScene["camera"]} camera */
const viewOf = ({ x, y, z }) => [x, y, z];

/** The colours of the codes; null before any code is there.  @param {Studio} studio */
function colored({ scene, sprites, colors }) {
  const { info, range, state } = scene;
  if (!info) return null;
  const { first, last } = info.codes;
  return sprites.pixels(state.theme, colors, info.codes, range ?? [first, last]);
}

/** @param {Studio} studio @returns {Work} */
function cellsWork(studio) {
  const { scene, desk, sprites, unknown, colors, ratio } = studio;
  const { camera, layout, level, info, place, size, state } = scene;
  const { box } = layout;
  const pixels = colored(studio);
  const sheet = sheetOf(camera, box, ratio);
  const { pool } = state.map;
  return {
    picture: [...viewOf(camera), level, desk.atlas.version, pixels, pool, ...Object.values(place)],
    box,
    paint: (pen) => {
      drawMap(pen, {
        ...{ camera, box, size, sheet },
        ...{ level: isDrawable(scene) ? level : null, top: info?.top ?? 0 },
        tile: info?.tile ?? 1,
        tileAt: (at) => (info ? desk.atlas.tile(place, at) : undefined),
        sprite: (tile) => sprites.sprite(tile, pool),
        unknown,
      });
      palePadding(pen, sheet, scene.queries.padding, size, colors);
    },
  };
}

/** @param {Studio} studio @returns {Work} */
function linesWork({ scene, colors, ratio }) {
  const { camera, layout, cell, state } = scene;
  const { box } = layout;
  const marks = {
    cell,
    locked: state.map.lock !== null,
    row: state.picked ? state.row : null,
    key: state.key,
  };
  return {
    picture: [...viewOf(camera), marks.locked, marks.row, marks.key, ...cellNumbers(cell)],
    box,
    paint: (pen) => drawLines(pen, sheetOf(camera, box, ratio), marks, colors, ratio),
  };
}

/** @param {MapScene["cell"]} cell */
const cellNumbers = (cell) => (cell ? [...cell.rows, ...cell.keys] : []);

/** @param {Studio} studio @param {boolean} vertical @returns {Work} */
function labelsWork({ scene, colors, ratio }, vertical) {
  const { camera, layout, size, state } = scene;
  const named = namedPair(scene);
  const { box, names, above } = layout;
  const axis = axisOf(camera, box, size, vertical);
  const across = vertical ? names : above;
  const info = vertical ? scene.queries : scene.keys;
  const chosen = vertical ? (state.picked ? state.row : null) : state.key;
  const picked = [chosen, named ? named[vertical ? 0 : 1] : null];
  return {
    picture: [axis.from, axis.per, info, ...picked],
    box: vertical ? { width: across, height: box.height } : { width: box.width, height: across },
    paint: (pen) => drawLabels(pen, axis, { info, across, picked, colors, ratio }),
  };
}

/** @param {Studio} studio @param {boolean} vertical @returns {Work} */
function profileWork({ scene, desk, colors, ratio }, vertical) {
  const { camera, layout, size, place } = scene;
  const { box, strip: across } = layout;
  const axis = axisOf(camera, box, size, vertical);
  const strip = desk.profiles.strip(place, vertical ? "queries" : "keys");
  return {
    picture: [axis.from, axis.per, strip],
    box: vertical ? { width: across, height: box.height } : { width: box.width, height: across },
    paint: (pen) => {
      if (strip) drawProfile(pen, axis, strip, { log: !vertical, across, colors, ratio });
    },
  };
}

/** CSS pixels of the minimap.  @param {MapScene} scene @returns {Box} */
export function miniBox({ size, layout }) {
  const per = Math.max(size.rows, size.keys) / layout.mini;
  const pixels = (/** @type {number} */ length) => Math.max(12, Math.round(length / per));
  return { width: pixels(size.keys), height: pixels(size.rows) };
}

/** The whole head, small, in colours of its own range; and what part of it is in view.
 * @param {Studio} studio @returns {Work} */
function miniWork({ scene, desk, minis, unknown, colors, ratio }) {
  const { camera, layout, info, place, size, state } = scene;
  const { pool, range } = state.map;
  const at = { level: miniLevel(size, info?.tile ?? 1), i: 0, j: 0 };
  const tile = info && desk.atlas.tile(place, at);
  return {
    picture: [...viewOf(camera), ...Object.values(layout.box), tile, pool, ...range],
    box: miniBox(scene),
    paint: (pen) => {
      const { width, height } = pen.canvas;
      pen.fillStyle = unknown;
      pen.fillRect(0, 0, width, height);
      pen.imageSmoothingEnabled = false;
      if (tile && info) {
        const counts = new Float64Array(256);
        tally(counts, tile.codes[pool], tile.columns, [0, tile.rows], [0, tile.columns]);
        minis.pixels(state.theme, colors, info.codes, percentiles(counts, info.codes, range));
        const p = 2 ** at.level;
        const [wide, high] = [(tile.columns * p) / size.keys, (tile.rows * p) / size.rows];
        pen.drawImage(minis.sprite(tile, pool), 0, 0, wide * width, high * height);
      }
      const sheet = {
        x: (/** @type {number} */ key) => (key / size.keys) * width,
        y: (/** @type {number} */ query) => (query / size.rows) * height,
      };
      palePadding(pen, sheet, scene.queries.padding, size, colors);
      drawView(pen, scene, colors, ratio);
    },
  };
}

/** @param {CanvasRenderingContext2D} pen @param {MapScene} scene @param {Colors} colors
 * @param {number} ratio */
function drawView(pen, { camera, layout, size }, colors, ratio) {
  const { left, top, right, bottom } = edgesOf(camera, layout.box);
  const { width, height } = pen.canvas;
  const part = (
    /** @type {number} */ a,
    /** @type {number} */ b,
    /** @type {number} */ length,
    /** @type {number} */ pixels,
  ) => {
    const [from, upTo] = [
      (Math.max(0, a) / length) * pixels,
      (Math.min(length, b) / length) * pixels,
    ];
    const more = Math.max(0, (7 * ratio - (upTo - from)) / 2);
    return [Math.max(1, from - more), Math.min(pixels - 1, upTo + more)];
  };
  const [x0, x1] = part(left, right, size.keys, width);
  const [y0, y1] = part(top, bottom, size.rows, height);
  for (const [color, line] of /** @type {[string, number][]} */ ([
    [colors.paper, 4],
    [colors.focus, 2],
  ])) {
    pen.strokeStyle = color;
    pen.lineWidth = line * ratio;
    pen.strokeRect(x0, y0, Math.max(0, x1 - x0), Math.max(0, y1 - y0));
  }
}
