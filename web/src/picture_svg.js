// A grid as an SVG text for papers: no script, no font of its own, every token escaped.
import { codeOf, hexOf } from "./heat_color.js";
import { EMPTY_WORDS, FADED, emptyFits, isEmpty, sinkLeft, sinkWidth } from "./heat_grid.js";
import { pictureOf } from "./picture_layout.js";
import { readable } from "./readable.js";

/** @typedef {import("./heat_color.js").Range} Range */
/** @typedef {import("./heat_grid.js").Grid} Grid */
/** @typedef {import("./picture_layout.js").Picture} Picture */
/** @typedef {import("./picture_layout.js").PictureOptions} PictureOptions */
/** @typedef {import("./picture_layout.js").PictureText} PictureText */

const HIDDEN = -2; // beside the codes of the ramp, and −1 for NaN
const EMPTY = -3; // a cell of a row that sees no key
const RAMP_STOPS = 33;
const PATTERNED = 6; // pixels of a cell, at least, for stripes and crosses
const NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * @param {Grid} grid
 * @param {PictureOptions} options
 */
export function gridSvg(grid, options) {
  const picture = pictureOf(grid, options);
  const { width, height, left, top, colors } = picture;
  const lines = [
    `<svg xmlns="${NAMESPACE}" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, 'Segoe UI', 'Noto Sans', sans-serif">`,
    `<title>${escaped(readable(options.title))}</title>`,
    `<desc>${escaped(readable(options.what))}</desc>`,
    definitionsOf(picture),
    `<rect width="${width}" height="${height}" fill="${colors.paper}"/>`,
    `<g transform="translate(${left} ${top})" shape-rendering="crispEdges">`,
    ...cellPaths(grid, options.range, picture),
    "</g>",
    ...sinkRects(grid, options.range, picture),
    `<path d="${picture.ticks.map(tickOf).join("")}" stroke="${colors.soft}"/>`,
    ...legendRects(picture),
    ...emptyTexts(grid, picture).map(textOf),
    ...picture.texts.map(textOf),
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

/** @param {Picture["ticks"][number]} tick */
const tickOf = ([x0, y0, x1, y1]) => `M${x0} ${y0}L${x1} ${y1}`;

/** @param {string} text */
const escaped = (text) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");

/** @param {PictureText} text */
function textOf({ x, y, text, size, anchor, upright, color, bold }) {
  const turn = upright ? ` transform="rotate(-90 ${x} ${y})"` : "";
  const weight = bold ? ' font-weight="600"' : "";
  return (
    `<text x="${x}" y="${y}" dy=".35em" font-size="${size}" text-anchor="${anchor}" ` +
    `fill="${color}" xml:space="preserve"${weight}${turn}>${escaped(text)}</text>`
  );
}

/** The stripes of hidden cells, the crosses of NaN, the ramp.  @param {Picture} picture */
function definitionsOf({ colors, cell }) {
  const stops = Array.from({ length: RAMP_STOPS }, (_, i) => {
    const share = i / (RAMP_STOPS - 1);
    return `<stop offset="${share}" stop-color="${hexOf(colors.ramp, Math.round(255 * share))}"/>`;
  });
  const [near, far] = [1, cell - 1];
  return [
    "<defs>",
    `<linearGradient id="ramp">${stops.join("")}</linearGradient>`,
    `<pattern id="hidden" width="6" height="6" patternUnits="userSpaceOnUse">` +
      `<rect width="6" height="6" fill="${colors.hidden}"/>` +
      `<path d="M-1 7L7-1M-1 1L1-1M5 7L7 5" stroke="${colors.hatch}" stroke-width="1.2"/></pattern>`,
    `<pattern id="nan" width="${cell}" height="${cell}" patternUnits="userSpaceOnUse">` +
      `<rect width="${cell}" height="${cell}" fill="${colors.nan}"/>` +
      `<path d="M${near} ${near}L${far} ${far}M${far} ${near}L${near} ${far}" ` +
      `stroke="${colors.paper}"/></pattern>`,
    "</defs>",
  ].join("\n");
}

const PALE = "0.3"; // what FADED leaves

/**
 * The cells: along a row, neighbours of one colour are one piece; all pieces of a colour are one
 * path.
 * @param {Grid} grid
 * @param {Range} range
 * @param {Picture} picture
 */
function cellPaths(grid, range, { colors, cell }) {
  const [rows, columns] = grid.shape;
  const { weights, visible } = grid;
  /** @type {Map<number, string[]>} */
  const pieces = new Map();
  for (let r = 0; r < rows; r += 1) {
    const unseen = isEmpty(grid, r) ? EMPTY : HIDDEN;
    const codeAt = (/** @type {number} */ c) =>
      visible[r * columns + c] ? codeOf(weights[r * columns + c], range) : unseen;
    for (let c = 0; c < columns;) {
      const [from, code] = [c, codeAt(c)];
      while (c < columns && codeAt(c) === code) c += 1;
      const wide = (c - from) * cell;
      const piece = `M${from * cell} ${r * cell}h${wide}v${cell}h${-wide}z`;
      const others = pieces.get(code);
      if (others) others.push(piece);
      else pieces.set(code, [piece]);
    }
  }
  const paths = [...pieces].map(
    ([code, list]) => `<path fill="${fillOf(code, cell, colors)}" d="${list.join("")}"/>`,
  );
  return [...paths, ...fadedRects(grid, cell, colors)];
}

/** @param {Grid} grid @param {number} cell @param {import("./heat_color.js").Colors} colors */
function fadedRects(grid, cell, colors) {
  const wide = grid.shape[1] * cell;
  return (grid.padded ?? []).flatMap((isPadded, r) =>
    isPadded
      ? `<rect y="${r * cell}" width="${wide}" height="${cell}" fill="${colors.paper}" fill-opacity="${FADED}"/>`
      : [],
  );
}

/** @param {number} code @param {number} cell @param {import("./heat_color.js").Colors} colors */
function fillOf(code, cell, colors) {
  if (code >= 0) return hexOf(colors.ramp, code);
  if (code === EMPTY) return colors.hidden;
  if (code === HIDDEN) return cell >= PATTERNED ? "url(#hidden)" : colors.hidden;
  return cell >= PATTERNED ? "url(#nan)" : colors.nan;
}

/**
 * The words in rows that read nothing, where they fit.
 * @param {Grid} grid
 * @param {Picture} picture
 * @returns {PictureText[]}
 */
function emptyTexts(grid, { left, top, cell, colors }) {
  const rows = Array.from({ length: grid.shape[0] }, (_, r) => r);
  if (!emptyFits(grid, cell)) return [];
  return rows
    .filter((r) => isEmpty(grid, r))
    .map((r) => ({
      x: left + 6,
      y: top + (r + 0.5) * cell,
      text: EMPTY_WORDS,
      size: 11,
      anchor: "start",
      upright: false,
      color: colors.soft,
    }));
}

/**
 * @param {Grid} grid
 * @param {Range} range
 * @param {Picture} picture
 */
function sinkRects(grid, range, { left, top, cell, colors }) {
  const x = left + sinkLeft(grid, cell);
  return (grid.sink ?? []).map((share, r) => {
    const code = codeOf(share, range);
    const fill = code < 0 ? colors.nan : hexOf(colors.ramp, code);
    const pale = grid.padded?.[r] ? `fill-opacity="${PALE}" ` : "";
    return (
      `<rect x="${x}" y="${top + r * cell}" width="${sinkWidth(cell)}" height="${cell}" ` +
      `fill="${fill}" ${pale}shape-rendering="crispEdges"/>`
    );
  });
}

/** @param {Picture} picture */
function legendRects({ ramp, swatches, colors }) {
  const rect = (/** @type {number[]} */ [x, y, width, height], /** @type {string} */ fill) =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`;
  const others = swatches.map(({ x, y, size, kind }) =>
    rect([x, y, size, size], kind === "hidden" ? "url(#hidden)" : colors.nan),
  );
  return [rect([ramp.x, ramp.y, ramp.width, ramp.height], "url(#ramp)"), ...others];
}
