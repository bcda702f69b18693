// A grid as a PNG file: the same picture as the SVG, painted.
import { h } from "./dom.js";
import { hexOf } from "./heat_color.js";
import { hiddenFill, paintGrid, sized } from "./heat_grid.js";
import { pictureOf } from "./picture_layout.js";

/** @typedef {import("./heat_grid.js").Grid} Grid */
/** @typedef {import("./picture_layout.js").Picture} Picture */
/** @typedef {import("./picture_layout.js").PictureOptions} PictureOptions */
/** @typedef {import("./picture_layout.js").PictureText} PictureText */

const FONT = 'system-ui, "Segoe UI", "Noto Sans", sans-serif';

/**
 * @param {Grid} grid
 * @param {PictureOptions & {ratio?: number}} options  `ratio`: pixels of the file a CSS pixel
 * @returns {Promise<Blob>}
 */
export function gridPng(grid, { ratio = 2, ...options }) {
  const picture = pictureOf(grid, options);
  const { cell, colors, left, top } = picture;
  const canvas = newCanvas();
  const pen = sized(canvas, picture.width, picture.height, ratio);
  pen.fillStyle = colors.paper;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const cells = newCanvas();
  paintGrid(cells, grid, { cell, range: options.range, colors, ratio });
  pen.drawImage(cells, left * ratio, top * ratio);
  paintLegend(pen, picture, ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  paintTicks(pen, picture);
  pen.direction = "ltr";
  pen.textBaseline = "middle";
  for (const text of picture.texts) paintText(pen, text);
  return new Promise((resolve, reject) => {
    const failed = "picture: must fit into the browser's memory; it did not. Save the SVG instead.";
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(failed))), "image/png");
  });
}

const newCanvas = () => /** @type {HTMLCanvasElement} */ (h("canvas"));

/** @param {CanvasRenderingContext2D} pen @param {Picture} picture @param {number} ratio */
function paintLegend(pen, { ramp, swatches, colors }, ratio) {
  const wide = Math.round(ramp.width * ratio);
  for (let x = 0; x < wide; x += 1) {
    pen.fillStyle = hexOf(colors.ramp, Math.round((255 * x) / (wide - 1)));
    pen.fillRect(Math.round(ramp.x * ratio) + x, ramp.y * ratio, 1, ramp.height * ratio);
  }
  for (const { x, y, size, kind } of swatches) {
    pen.fillStyle = kind === "nan" ? colors.nan : hiddenFill(pen, colors, true, ratio);
    pen.fillRect(x * ratio, y * ratio, size * ratio, size * ratio);
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Picture} picture */
function paintTicks(pen, { ticks, colors }) {
  pen.strokeStyle = colors.soft;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const [x0, y0, x1, y1] of ticks) {
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
  }
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {PictureText} text */
function paintText(pen, { x, y, text, size, anchor, upright, color, bold }) {
  pen.save();
  pen.translate(x, y);
  if (upright) pen.rotate(-Math.PI / 2);
  pen.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
  pen.fillStyle = color;
  pen.textAlign = anchor === "middle" ? "center" : anchor;
  pen.fillText(text, 0, 0);
  pen.restore();
}
