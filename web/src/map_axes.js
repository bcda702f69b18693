// What stands along the map's axes: the tokens where there is room for them, else positions; and
// the profiles on the other sides.
import { kindOf } from "./capture_info.js";
import { shortName } from "./chip.js";
import { edgesOf, within } from "./map_camera.js";
import { barShare, stripScale } from "./heat_strips.js";

/** @typedef {import("./map_camera.js").Camera} Camera */
/** @typedef {import("./map_camera.js").Box} Box */
/** @typedef {import("./heat_color.js").Colors} Colors */
/** @typedef {import("./map_profiles.js").Strip} Strip */

/**
 * @typedef {object} Axis  one side of the map
 * @property {boolean} vertical  of the queries
 * @property {number} from  the weight at its start, fractions allowed
 * @property {number} per  weights along a CSS pixel
 * @property {number} length  CSS pixels
 * @property {number} count  of all tokens
 */

const WORDS = 12; // CSS pixels of a token, at least, for its text to be written
const SPACED = { rows: 26, keys: 62 }; // and between two positions
const TEXT = 11; // pixels of a letter's height
const SMALL = 9.5; // and of a position's beside a text
const APART = 6; // between the two
const GAP = 5;
const EDGE = 16; // pixels of the tick where the prompt ends
const PALE = 0.7; // of a label's colour where the token is padding
const LEAST = 0.02; // of the bars of a log scale that may be too short to be seen

/** @param {Camera} camera @param {Box} box @param {import("./map_camera.js").Size} size
 * @param {boolean} vertical @returns {Axis} */
export function axisOf(camera, box, size, vertical) {
  const { left, top, per } = edgesOf(camera, box);
  return vertical
    ? { vertical, from: top, per, length: box.height, count: size.rows }
    : { vertical, from: left, per, length: box.width, count: size.keys };
}

/** Is there room for texts?  @param {Axis} axis */
export const hasWords = ({ per }) => 1 / per >= WORDS;

/**
 * The tokens that have a label: every one where its text fits, else round positions.
 * @param {Axis} axis
 * @returns {number[]}
 */
export function labelsOn(axis) {
  const { from, per, length, count, vertical } = axis;
  const step = hasWords(axis) ? 1 : roundStep((vertical ? SPACED.rows : SPACED.keys) * per);
  const first = Math.max(0, Math.ceil((from - 0.5) / step) * step);
  const last = Math.min(count - 1, from + length * per);
  const found = [];
  for (let at = first; at <= last; at += step) found.push(at);
  return found;
}

/** 1, 2 or 5 times a power of ten, no less than this.  @param {number} least */
export function roundStep(least) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((by) => by * ten).find((step) => step >= least) ?? 10 * ten;
}

/** Where the middle of a token lies, in CSS pixels.  @param {Axis} axis @param {number} at */
export const middleOf = ({ from, per }, at) => (at + 0.5 - from) / per;

/** The token under a point of the axis, or null.  @param {Axis} axis @param {number} pixels */
export function tokenAt({ from, per, count }, pixels) {
  const at = Math.floor(from + pixels * per);
  return at >= 0 && at < count ? at : null;
}

/** A position as people read it.  @param {number} at */
export const positionWords = (at) => at.toLocaleString("en");

/**
 * Write the labels. The canvas of the queries ends, at its right, where the map begins; that of
 * the keys at its lower edge.
 * @param {CanvasRenderingContext2D} pen
 * @param {Axis} axis
 * @param {object} how
 * @param {import("./types.js").AxisInfo} how.info  what padding says is written pale and slanted
 * @param {number} how.across  CSS pixels
 * @param {(number | null)[]} how.picked  tokens that stand out
 * @param {Colors} how.colors
 * @param {number} how.ratio
 */
export function drawLabels(pen, axis, { info, across, picked, colors, ratio }) {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = `${TEXT}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  pen.direction = "ltr";
  const worded = hasWords(axis);
  const marked = /** @type {number[]} */ (picked.filter((at) => at !== null));
  const near = (/** @type {number} */ at) =>
    !worded && marked.some((one) => Math.abs(one - at) / axis.per < clearance(axis) && one !== at);
  for (const at of new Set([...labelsOn(axis), ...marked])) {
    const middle = middleOf(axis, at);
    if (near(at) && !marked.includes(at)) continue;
    if (middle < 0 || middle > axis.length) continue;
    const strong = marked.includes(at);
    pen.fillStyle = strong ? colors.ink : colors.soft;
    const filler = kindOf(info, at) === "padding";
    pen.globalAlpha = filler ? PALE : 1;
    pen.font = `${filler ? "italic " : ""}${strong ? 650 : 400} ${TEXT}px system-ui, sans-serif`;
    const text = shortName(info.tokens[at]);
    if (worded) writeToken(pen, axis, middle, text, positionWords(at), across);
    else writePosition(pen, axis, middle, positionWords(at), across);
  }
  pen.globalAlpha = 1;
  if (info.prompt) drawEdge(pen, axis, info.prompt, across, colors);
  pen.setTransform(1, 0, 0, 1, 0, 0);
}

/**
 * A long tick where the prompt ends, and what a model wrote begins.
 * @param {CanvasRenderingContext2D} pen
 * @param {Axis} axis
 * @param {number} prompt
 * @param {number} across
 * @param {Colors} colors
 */
function drawEdge(pen, { vertical, from, per, length }, prompt, across, colors) {
  const edge = Math.round((prompt - from) / per);
  if (edge <= 0 || edge >= length) return;
  pen.fillStyle = colors.ink;
  if (vertical) pen.fillRect(across - EDGE, edge - 1, EDGE, 2);
  else pen.fillRect(edge - 1, across - EDGE, 2, EDGE);
}

/** Pixels that a strong label keeps free around it.  @param {Axis} axis */
const clearance = ({ vertical }) => (vertical ? 14 : 44);

/**
 * A token's text next to the map, and its position: where room is short the text loses letters, the
 * position never.
 * @param {CanvasRenderingContext2D} pen
 * @param {Axis} axis
 * @param {number} middle
 * @param {string} text
 * @param {string} position
 * @param {number} across
 */
function writeToken(pen, { vertical }, middle, text, position, across) {
  pen.save();
  pen.translate(vertical ? across : middle, vertical ? middle : across);
  if (!vertical) pen.rotate(-Math.PI / 2);
  const { font } = pen;
  pen.font = font.replace(`${TEXT}px`, `${SMALL}px`);
  const small = pen.font;
  const taken = pen.measureText(position).width + APART;
  pen.font = font;
  const shown = fitted(pen, text, across - GAP - 2 - taken);
  const wide = shown ? pen.measureText(shown).width + APART : 0;
  pen.textAlign = vertical ? "right" : "left";
  pen.fillText(shown, vertical ? -GAP : GAP, 0);
  pen.font = small;
  pen.fillText(position, vertical ? -GAP - wide : GAP + wide, 0);
  pen.restore();
}

/** As much of a text as fits; nothing where not even a letter does.
 * @param {Pick<CanvasRenderingContext2D, "measureText">} pen @param {string} text
 * @param {number} room */
export function fitted(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let letters = [...text];
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > room)
    letters = letters.slice(0, -1);
  return letters.length ? `${letters.join("")}…` : "";
}

/**
 * A position with its tick.
 * @param {CanvasRenderingContext2D} pen
 * @param {Axis} axis
 * @param {number} middle
 * @param {string} text
 * @param {number} across
 */
function writePosition(pen, { vertical, length }, middle, text, across) {
  if (vertical) {
    pen.textAlign = "right";
    pen.fillText(text, across - GAP - 3, within(middle, TEXT / 2, length - TEXT / 2));
    pen.fillRect(across - 4, middle - 0.5, 4, 1);
    return;
  }
  const half = pen.measureText(text).width / 2;
  pen.textAlign = "center";
  pen.fillText(text, within(middle, half, length - half), across - GAP - 3 - TEXT / 2);
  pen.fillRect(middle - 0.5, across - 4, 1, 4);
}

/**
 * What the bars of a profile are measured by; on a log scale almost all of them have a length,
 * however far the largest is above the others.
 * @param {Strip} strip
 * @param {boolean} log
 * @returns {import("./heat_strips.js").Scale}
 */
export function scaleOf({ most, mean }, log) {
  if (!log) return stripScale(most);
  const seen = mean.filter((x) => x > 0 && Number.isFinite(x)).sort();
  if (!seen.length) return stripScale(most, { log });
  const least = seen[Math.floor(LEAST * seen.length)];
  const low = 10 ** Math.floor(Math.log10(least * 0.999999));
  const high = most.reduce((top, x) => (x > top ? x : top), low);
  return { low, high: Math.max(high, 10 * low), log, under: mean.some((x) => x < low) };
}

/**
 * One bar a bucket: up to the mean in full, up to the largest number in a paler tone.
 * @param {CanvasRenderingContext2D} pen
 * @param {Axis} axis
 * @param {Strip} strip
 * @param {{log: boolean, across: number, colors: Colors, ratio: number}} how
 */
export function drawProfile(pen, axis, strip, { log, across, colors, ratio }) {
  const scale = scaleOf(strip, log);
  const each = (strip.stop - strip.start) / strip.buckets;
  const place = (/** @type {number} */ bucket) =>
    Math.round(((strip.start + bucket * each - axis.from) / axis.per) * ratio);
  const bar = (
    /** @type {number} */ from,
    /** @type {number} */ upTo,
    /** @type {number} */ share,
  ) => {
    const long = Math.max(share > 0 ? ratio : 0, Math.round(share * across * ratio));
    const size = Math.max(1, upTo - from - (upTo - from >= 6 * ratio ? ratio : 0));
    if (axis.vertical) pen.fillRect(0, from, long, size);
    else pen.fillRect(from, 0, size, long);
  };
  for (let b = 0; b < strip.buckets; b += 1) {
    const [from, upTo] = [place(b), place(b + 1)];
    if (upTo < 0 || from > axis.length * ratio || Number.isNaN(strip.most[b])) continue;
    pen.fillStyle = colors.hatch;
    bar(from, upTo, barShare(strip.most[b], scale));
    pen.fillStyle = colors.bar;
    bar(from, upTo, barShare(strip.mean[b], scale));
  }
}
