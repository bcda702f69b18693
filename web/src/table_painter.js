// Paints the thumbnails of the table, and only those that are new.
import { isElsewhere } from "./elsewhere.js";
import { heatColors } from "./heat_color.js";
import { paintThumbnail } from "./heat_grid.js";
import { PICTURE, rowArg } from "./table_part.js";

/** @typedef {import("./table_scene.js").TableScene} TableScene */

export function createTablePainter() {
  /** @type {WeakMap<Element, unknown[]>} */
  const painted = new WeakMap();
  /** @type {Record<string, import("./heat_color.js").Colors>} */
  const themes = {};

  /** @param {ShadowRoot} shadow @param {TableScene} scene */
  return (shadow, { rows, state: { theme } }) => {
    const colors = (themes[theme] ??= heatColors(theme));
    const canvases = new Map(
      [...shadow.querySelectorAll("canvas[data-row]")].map((canvas) => [
        canvas.getAttribute("data-row"),
        /** @type {HTMLCanvasElement} */ (canvas),
      ]),
    );
    for (const { at, picture, summary } of rows) {
      const canvas = canvases.get(rowArg(at));
      if (!canvas || !picture || !summary) continue;
      const now = [theme, devicePixelRatio, picture];
      if (painted.get(canvas)?.every((part, i) => Object.is(part, now[i]))) continue;
      painted.set(canvas, now);
      const cell = PICTURE / Math.max(summary.rows, summary.columns);
      const range = { low: 0, high: largest(picture) };
      paintThumbnail(canvas, picture, summary.rows, summary.columns, { colors, range, cell });
    }
  };
}

/**
 * A row that moves to its place keeps the focus.
 * @param {ShadowRoot} shadow
 * @returns {() => void} gives it back, after the rows were drawn anew
 */
export function heldRow(shadow) {
  const held = shadow.activeElement;
  const at = held?.matches(".row-open") ? held.getAttribute("data-arg") : null;
  return () => {
    if (at === null || shadow.activeElement === held || isElsewhere()) return;
    const now = shadow.querySelector(`.row-open[data-arg="${at}"]`);
    if (now instanceof HTMLElement) now.focus({ preventScroll: true });
  };
}

/** @param {Float32Array} values */
function largest(values) {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most || 1;
}
