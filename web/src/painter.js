// Paints the canvases of the heads view after the page is drawn, and only those whose picture has
// changed.
import { cellOf } from "./head_part.js";
import { paintStrip } from "./heat_strips.js";
import { heatColors } from "./heat_color.js";
import { paintGrid, paintOverlay, paintThumbnail } from "./heat_grid.js";
import { axesOf } from "./capture_info.js";
import { rangeIn } from "./heads_grid.js";
import { isAlike } from "./heads_needs.js";
import { stripScales, stripsOf } from "./heads_strips.js";
import { layoutOf } from "./heads_layout.js";

/** @typedef {import("./heads_scene.js").HeadsScene} HeadsScene */
/** @typedef {import("./heads_scene.js").Overview} Overview */
/** @typedef {import("./heads_layout.js").Layout} Layout */
/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {{scene: HeadsScene, layout: Layout, colors: Colors}} Studio */

export function createPainter() {
  /** @type {WeakMap<Element, unknown[]>} */
  const painted = new WeakMap();
  /** @type {Record<string, Colors>} */
  const themes = {};

  /** @param {Element} canvas @param {unknown[]} picture  all that its pixels depend on */
  const isNew = (canvas, picture) => {
    const before = painted.get(canvas);
    painted.set(canvas, picture);
    return !before || before.some((part, i) => !Object.is(part, picture[i]));
  };

  /**
   * @param {ShadowRoot} shadow
   * @param {HeadsScene} scene
   * @param {string} [only] one kind of canvas
   */
  return (shadow, scene, only) => {
    const { theme } = scene.state;
    const colors = (themes[theme] ??= heatColors(theme));
    const studio = { scene, layout: layoutOf(scene.state), colors };
    for (const canvas of shadow.querySelectorAll("canvas[data-paint]")) {
      const kind = canvas.getAttribute("data-paint") ?? "";
      if (!(canvas instanceof HTMLCanvasElement) || (only && kind !== only)) continue;
      const work = workOf(studio, kind, canvas.getAttribute("data-arg") ?? "");
      if (work && isNew(canvas, [theme, devicePixelRatio, ...work.picture])) work.paint(canvas);
    }
  };
}

/** @typedef {{picture: unknown[], paint: (canvas: HTMLCanvasElement) => void}} Work */

/** @param {Studio} studio @param {string} kind @param {string} which @returns {Work | null} */
function workOf(studio, kind, which) {
  if (kind === "thumb") return thumbWork(studio, which);
  const { scene, colors, layout } = studio;
  const view = which === "second" ? scene.second : scene.first;
  const grid = view?.grid;
  if (!grid || !view) return null;
  const cell = cellOf(scene, view, layout);
  const [row, key] = [
    scene.picked?.[0] ?? null,
    scene.state.key === null ? null : (scene.picked?.[1] ?? null),
  ];
  const range = rangeIn(scene);
  if (kind === "grid") {
    return {
      picture: [grid, cell, range.high],
      paint: (canvas) => paintGrid(canvas, grid, { cell, range, colors }),
    };
  }
  if (kind === "lines") {
    const [hoverRow, hoverKey] = scene.at ?? [null, null];
    return {
      picture: [grid, cell, row, key, hoverRow, hoverKey],
      paint: (canvas) => paintOverlay(canvas, grid, { cell, row, key, hoverRow, hoverKey, colors }),
    };
  }
  const { entropy, received } = stripsOf(scene, view);
  const scales = stripScales(scene);
  const vertical = kind === "entropy";
  const numbers = vertical ? entropy : received;
  const scale = vertical ? scales.entropy : scales.received;
  const at = vertical ? row : key;
  const picked = at === null ? null : at - (vertical ? grid.rowAt : grid.keyAt);
  return {
    picture: [grid, view.facts, kind, cell, picked, scale.low, scale.high],
    paint: (canvas) => {
      paintStrip(canvas, numbers, { vertical, cell, colors, scale, picked });
    },
  };
}

/** @param {Studio} studio @param {string} which @returns {Work | null} */
function thumbWork({ scene, layout, colors }, which) {
  const { state } = scene;
  const [stage, head] = which.split(".").map(Number);
  const overview = scene.overview(stage);
  const values = overview?.pictures[head];
  if (!overview || !values) return null; // on its way
  const { rows, columns, per } = overview;
  const marked = state.picked && isAlike(state, stage, state.stage);
  const markRow = marked ? Math.floor(state.row / per) : null;
  return {
    picture: [values, markRow, state.first, layout.thumb],
    paint: (canvas) => {
      const cell = layout.thumb / Math.max(rows, columns);
      const { queries } = axesOf(state.capture, stage, state.batch);
      const padded = paddedBlocks(queries, rows, per);
      const range = thumbRange(values, columns, { first: state.first, padded });
      paintThumbnail(canvas, values, rows, columns, { markRow, padded, colors, range, cell });
    },
  };
}

/**
 * Which rows of blocks are only padding; null where none is.
 * @param {import("./types.js").AxisInfo} queries
 * @param {number} rows
 * @param {number} per
 */
export function paddedBlocks({ tokens, padding }, rows, per) {
  if (!padding.length) return null;
  return Array.from({ length: rows }, (_, r) => {
    const stop = Math.min(tokens.length, (r + 1) * per);
    return padding.some(([from, upTo]) => from <= r * per && stop <= upTo);
  });
}

/**
 * From 0 to the head's own largest weight, or to the largest but those of the first key.
 * @param {Float32Array} values
 * @param {number} columns
 * @param {{first: boolean, padded: boolean[] | null}} options
 */
export function thumbRange(values, columns, { first, padded }) {
  let high = 0;
  values.forEach((value, i) => {
    if (value > high && (first || i % columns) && !padded?.[Math.floor(i / columns)]) high = value;
  });
  return { low: 0, high: high || 1 };
}
