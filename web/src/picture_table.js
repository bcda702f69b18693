// A grid's numbers as files: CSV for spreadsheets, JSON for programs; and how a file leaves the
// page.
import { h } from "./dom.js";

/** @typedef {import("./heat_grid.js").Grid} Grid */

// What a spreadsheet would run as a formula, behind whatever it skips.
const FORMULA = /^[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** A token as a field that no spreadsheet runs.  @param {string} text */
export function field(text) {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * RFC 4180: a line of the keys, then a line for each query; hidden cells are empty fields, numbers
 * have every digit. The sink's share, where there is one, is the last column.
 * @param {Grid} grid
 */
export function gridCsv({ shape: [rows, columns], weights, visible, rowTokens, keyTokens, sink }) {
  const lines = [["", ...keyTokens.map(field), ...(sink ? ["(sink)"] : [])]];
  for (let r = 0; r < rows; r += 1) {
    const line = [field(rowTokens[r])];
    for (let i = r * columns; i < (r + 1) * columns; i += 1)
      line.push(visible[i] ? String(weights[i]) : "");
    if (sink) line.push(String(sink[r]));
    lines.push(line);
  }
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/**
 * Hidden cells are null; a number JSON lacks is the text "NaN".
 * @param {Grid} grid
 * @param {{what: string, title?: string, about?: Record<string, string>}} about
 */
export function gridJson(grid, { what, title, about = {} }) {
  const { shape, weights, visible, rowTokens, keyTokens, rowAt, keyAt, sink } = grid;
  const [rows, columns] = shape;
  const number = (/** @type {number} */ x) => (Number.isFinite(x) ? x : String(x));
  const cell = (/** @type {number} */ i) => (visible[i] ? number(weights[i]) : null);
  const matrix = Array.from({ length: rows }, (_, r) =>
    Array.from({ length: columns }, (_, c) => cell(r * columns + c)),
  );
  return `${JSON.stringify({
    title,
    what,
    about,
    tokens: rowTokens,
    key_tokens: keyTokens,
    rows: [rowAt, rowAt + rows],
    keys: [keyAt, keyAt + columns],
    weights: matrix,
    ...(sink ? { sink: sink.map(number) } : {}),
  })}\n`;
}

/**
 * A file name of plain letters from texts that may hold anything.
 * @param {string[]} parts
 * @param {string} ending such as "svg"
 */
export function fileName(parts, ending) {
  const plain = (/** @type {string} */ part) =>
    part
      .normalize("NFKD")
      .replace(/[^A-Za-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60);
  const name = parts.map(plain).filter(Boolean).join("-") || "grid";
  return `${name}.${ending}`;
}

/**
 * Hand a file to the person at the page.
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
  const href = URL.createObjectURL(blob);
  const anchor = h("a", { href, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000); // the browser has read it by then
}
