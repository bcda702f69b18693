import assert from "node:assert/strict";
import { test } from "node:test";

import { heatColors, hexOf } from "../src/heat_color.js";
import { pictureOf, textWidth } from "../src/picture_layout.js";
import { gridSvg } from "../src/picture_svg.js";
import { fileName, gridCsv, gridJson } from "../src/picture_table.js";

const HOSTILE = [
  "</script><script>alert(1)</script>",
  "</text><image href='x'/>",
  "]]>",
  "<!--",
  "&amp;&",
  "\"'",
  "\u202eabc",
  "\ud800",
  "\udc00x",
  "\u0000",
  "\u0008",
  "\ufffe",
  "\uffff",
  "\u2028",
  "\n",
  "",
  "   ",
  "עברית",
  "日本語のトークン",
  "👩",
  "x".repeat(500),
];

/** A square grid, every cell visible and of the same weight; `changes` go last. */
function gridOf(tokens, changes = {}) {
  const n = tokens.length;
  return {
    shape: [n, n],
    weights: new Float64Array(n * n).fill(1 / n),
    visible: new Uint8Array(n * n).fill(1),
    rowTokens: tokens,
    keyTokens: tokens,
    rowAt: 0,
    keyAt: 0,
    sink: null,
    ...changes,
  };
}
const options = { title: "a title", what: "layer 3, head 7", range: { low: 0, high: 1 } };
const names = (n) => Array.from({ length: n }, (_, i) => `t${i}`);

const CHARACTERS = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
const TAG = /^<(\/?)([A-Za-z]+)((?:\s+[A-Za-z:-]+="[^"<]*")*)\s*(\/?)>/;

/** The names of the elements of an XML text; throws where the text is not well-formed. */
function elementsOf(xml) {
  assert.match(xml, CHARACTERS);
  assert.ok(!/&(?!(?:amp|lt|gt|quot|#39);)/.test(xml), "a bare &");
  const [found, open] = [[], []];
  let rest = xml.trim();
  while (rest) {
    const match = TAG.exec(rest);
    assert.ok(match, `no tag: ${rest.slice(0, 80)}`);
    const [tag, closing, name, attributes, empty] = match;
    const keys = [...attributes.matchAll(/([A-Za-z:-]+)="/g)].map(([, key]) => key);
    assert.equal(new Set(keys).size, keys.length, `an attribute twice: ${tag}`);
    if (closing) assert.equal(open.pop(), name);
    else found.push(name);
    if (!closing && !empty) open.push(name);
    rest = rest.slice(tag.length);
    const next = rest.indexOf("<");
    const text = next < 0 ? rest : rest.slice(0, next);
    assert.ok(!text.includes("]]>"));
    assert.ok(open.length || text.trim() === "", "text outside of the root");
    rest = next < 0 ? "" : rest.slice(next);
  }
  assert.deepEqual(open, []);
  return found;
}

/** How many cells each colour of an SVG's paths covers. */
function cellsOf(svg, cell) {
  const counts = {};
  for (const [, fill, d] of svg.matchAll(/<path fill="([^"]+)" d="([^"]*)"/g)) {
    const pieces = [...d.matchAll(/M\d+ \d+h(\d+)v(\d+)h-\d+z/g)];
    assert.equal(pieces.map(([piece]) => piece).join(""), d);
    counts[fill] = pieces.reduce((sum, [, wide, high]) => sum + (wide * high) / cell ** 2, 0);
  }
  return counts;
}

test("an SVG with hostile texts everywhere is XML without anything that runs", () => {
  const grid = gridOf(HOSTILE, { sink: HOSTILE.map(() => NaN) });
  for (const text of [...HOSTILE, HOSTILE.join(" ")]) {
    const svg = gridSvg(grid, { ...options, title: text, what: text });
    const allowed = "svg title desc defs linearGradient stop pattern rect path g text".split(" ");
    for (const name of elementsOf(svg)) assert.ok(allowed.includes(name), name);
    assert.ok(!/ on[a-z]+=| href=|style=|@import|<style/.test(svg.replace(/>[^<]*</g, "><")));
  }
  assert.match(gridSvg(grid, options), />⟨0000⟩</); // controls are spelt out
});

test("the SVG's cells: each in its colour, neighbours of one colour in one piece", () => {
  const grid = gridOf(names(4), {
    weights: Float64Array.from([1, 0, 0, 0, 0.5, 0.5, 0, 0, NaN, 0.5, 0.5, 0, 0, 0, 0, 0]),
    visible: Uint8Array.from([1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0]),
  });
  const svg = gridSvg(grid, options);
  const { ramp, hidden } = heatColors("light");
  assert.deepEqual(cellsOf(svg, 22), {
    [hexOf(ramp, 255)]: 1,
    [hexOf(ramp, 128)]: 4,
    "url(#hidden)": 6,
    "url(#nan)": 1,
    [hidden]: 4, // the row that sees no key: plain
  });
  assert.ok(svg.includes("M0 22h44v22h-44z")); // two cells, one piece
  assert.ok(!svg.includes("no visible keys")); // 88 pixels are too few for the words
});

test("a row that sees no key says so", () => {
  const visible = new Uint8Array(36).fill(1).fill(0, 6, 12);
  const svg = gridSvg(gridOf(names(6), { visible }), options);
  assert.equal(svg.match(/no visible keys/g)?.length, 1);
});

test("the sink has a column, a label, and the ramp's colours", () => {
  const svg = gridSvg(gridOf(names(2), { sink: [1, NaN] }), options);
  const { ramp, nan } = heatColors("light");
  assert.match(svg, />sink<\/text>/);
  for (const fill of [hexOf(ramp, 255), nan])
    assert.equal(
      svg.match(new RegExp(`width="22" height="22" fill="${fill}" shape`, "g"))?.length,
      1,
    );
});

test("a dark picture", () => {
  const svg = gridSvg(gridOf(names(2)), { ...options, theme: "dark" });
  assert.ok(svg.includes(`fill="${heatColors("dark").paper}"`));
  assert.ok(svg.includes(hexOf(heatColors("dark").ramp, 128)));
});

test("sizes stay sane from 1 token to 512", () => {
  for (const n of [1, 2, 12, 40, 200, 512]) {
    const picture = pictureOf(gridOf(names(n), { sink: Array(n).fill(0) }), options);
    const { width, height, texts, cell } = picture;
    assert.ok(width >= 400 && width < 1200 && height > 100 && height < 1200, `${n}: ${width}`);
    assert.equal(cell, { 1: 22, 2: 22, 12: 22, 40: 21, 200: 4, 512: 1 }[n]);
    assert.ok(texts.length < 200);
    for (const { x, y, size, text, upright, anchor } of texts) {
      const long = textWidth(text, size) * (anchor === "end" ? -1 : 1);
      const [x1, y1] = upright ? [x, y - long] : [x + long, y];
      for (const at of [x, x1]) assert.ok(at >= 0 && at <= width, `${n} ${text}: ${at}`);
      for (const at of [y, y1]) assert.ok(at >= 0 && at <= height, `${n} ${text}: ${at}`);
    }
  }
  const weights = Float64Array.from({ length: 512 * 512 }, (_, i) => ((i * 7919) % 1009) / 1009);
  const worst = gridSvg(gridOf(names(512), { weights }), options); // no two neighbours alike
  assert.ok(worst.length < 5e6, `${worst.length}`);
});

test("texts that run from right to left are held together", () => {
  const { texts } = pictureOf(gridOf(["עברית", "עברית"]), options);
  const shown = texts.map(({ text }) => text);
  assert.ok(shown.includes("\u2068עברית\u2069 @1"), `${shown}`);
});

test("a long title is cut, and the legend has numbers", () => {
  const range = { low: 0, high: 0.25, over: true };
  const { texts, width } = pictureOf(gridOf(names(3)), { title: "x".repeat(999), what: "", range });
  assert.ok(texts[0].text.endsWith("x…"));
  assert.ok(textWidth(texts[0].text, 15) <= width);
  const shown = texts.map(({ text }) => text);
  for (const text of ["weight", "0", "0.250 or more"]) assert.ok(shown.includes(text), text);
});

test("CSV: every digit, hidden empty, fields quoted, no formula", () => {
  const grid = gridOf(["=1+1", 'a,"b"\n', "-x"], {
    weights: Float64Array.from([1 / 3, 1e-9, NaN, 1, 0, 0, 0.1, 0.2, 0.7]),
    visible: Uint8Array.from([1, 1, 1, 1, 0, 0, 1, 1, 1]),
    sink: [0.25, 0, 0],
  });
  assert.equal(
    gridCsv(grid),
    `,'=1+1,"a,""b""\n",'-x,(sink)\r\n` +
      `'=1+1,0.3333333333333333,1e-9,NaN,0.25\r\n` +
      `"a,""b""\n",1,,,0\r\n` +
      `'-x,0.1,0.2,0.7,0\r\n`,
  );
});

test("CSV: whatever a spreadsheet would run gets an apostrophe", () => {
  const header = (token) =>
    gridCsv(gridOf([token]))
      .slice(1)
      .split("\r\n")[0];
  const heads = ["=a", "+a", "-a", "@a", " =a", "\t=a", "\ta", "\u0000=a", "＝a"].map(header);
  for (const head of heads) assert.match(head, /^"?'/, head);
  for (const plain of ["a=b", "##ing", "the", "'s", "1"]) assert.equal(header(plain), plain);
});

test("JSON reads back with hidden as null", () => {
  const grid = gridOf(["a", "\ud800"], {
    weights: Float64Array.from([1 / 3, 0, NaN, 1]),
    visible: Uint8Array.from([1, 0, 1, 1]),
    rowAt: 5,
  });
  const about = { model: "m" };
  const read = JSON.parse(gridJson(grid, { what: "layer 3, head 7", title: "a title", about }));
  assert.deepEqual(read, {
    title: "a title",
    what: "layer 3, head 7",
    about,
    tokens: ["a", "\ud800"],
    key_tokens: ["a", "\ud800"],
    rows: [5, 7],
    keys: [0, 2],
    weights: [
      [1 / 3, null],
      ["NaN", 1],
    ],
  });
  assert.deepEqual(JSON.parse(gridJson({ ...grid, sink: [0.5, NaN] }, { what: "" })).sink, [
    0.5,
    "NaN",
  ]);
});

test("file names are plain", () => {
  assert.equal(
    fileName(["MiniLM, a sentence", "layer 3, head 7"], "svg"),
    "MiniLM-a-sentence-layer-3-head-7.svg",
  );
  assert.equal(fileName(["../../etc/passwd\u0000"], "csv"), "etc-passwd.csv");
  assert.equal(fileName(["日本語", ""], "png"), "grid.png");
});
