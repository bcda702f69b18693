import assert from "node:assert/strict";
import { test } from "node:test";

import { heatColors } from "../src/heat_color.js";
import { hasWords, labelsOn, roundStep, scaleOf, tokenAt } from "../src/map_axes.js";
import {
  NEAREST,
  between,
  cellAround,
  edgesOf,
  heldCamera,
  levelAt,
  pairUnder,
  panned,
  regionOf,
  tilesIn,
  worldCamera,
  zoomedAt,
} from "../src/map_camera.js";
import { percentiles, pixelOf, pixelsOf, tally, valueOf } from "../src/map_codes.js";
import { tokenMeant } from "../src/map_going.js";
import { miniLevel } from "../src/map_scene.js";
import { small } from "../src/numbers.js";

const CODES = { hidden: 0, unknown: 1, nan: 2, zero: 3, first: 4, last: 255, low: -32, high: 0 };
const size = { rows: 1000, keys: 3000 };
const box = { width: 600, height: 400 };

test("the whole head fits into the box, and just so", () => {
  const { x, y, z } = worldCamera(size, box);
  assert.deepEqual([x, y, Math.round(2 ** z * 1e9) / 1e9], [1500, 500, 5]);
  const { left, right, top, bottom } = edgesOf({ x, y, z }, box);
  assert.deepEqual([left, right].map(Math.round), [0, 3000]);
  assert.ok(top <= 0 && bottom >= 1000);
  assert.equal(worldCamera({ rows: 2, keys: 2 }, box).z, NEAREST);
});

test("what lies under the pointer stays there at every zoom", () => {
  const point = [151, 333];
  let camera = { x: 700, y: 300, z: 1 };
  const pair = pairUnder(camera, box, size, point);
  for (const by of [-0.37, -1.2, 0.5, -2, 1.3]) {
    camera = zoomedAt(camera, by, point, size, box);
    assert.deepEqual(pairUnder(camera, box, size, point), pair);
  }
  assert.deepEqual(zoomedAt(camera, 20, point, size, box), worldCamera(size, box));
});

test("the camera stays over the head", () => {
  const held = heldCamera({ x: -5, y: 1e9, z: 99 }, size, box);
  assert.deepEqual(held, { x: 0, y: 1000, z: worldCamera(size, box).z });
  assert.deepEqual(panned({ x: 10, y: 10, z: 2 }, -100, 5, size, box), { x: 0, y: 30, z: 2 });
});

test("a cell of the drawn level never has less than a pixel of the screen, nor two in a row", () => {
  for (let z = -6; z < 12; z += 0.13)
    for (const ratio of [1, 1.25, 2]) {
      const level = levelAt(z, ratio, 17);
      const pixels = (2 ** level / 2 ** z) * ratio;
      assert.ok(pixels >= 1 - 1e-6, `${z} at ${ratio}: ${pixels}`);
      if (level > 0) assert.ok(pixels < 2, "a finer level would do");
    }
  assert.equal(levelAt(3, 1, 17), 3);
  assert.equal(levelAt(9, 1, 4), 4);
});

test("tiles cover what is in view, those at the centre first", () => {
  const camera = { x: 1500, y: 500, z: 1 };
  const tiles = tilesIn(camera, box, size, 1, 256);
  const { rows, keys } = regionOf(camera, box, size);
  assert.deepEqual(
    [rows, keys],
    [
      [100, 900],
      [900, 2100],
    ],
  );
  const covered = (query, key) =>
    tiles.some(({ i, j }) => Math.floor(query / 512) === i && Math.floor(key / 512) === j);
  for (const query of [100, 511, 512, 899])
    for (const key of [900, 1023, 1024, 2099]) assert.ok(covered(query, key));
  assert.equal(tiles.length, 2 * 4);
  const far = ({ i, j }) => Math.hypot((i + 0.5) * 512 - 500, (j + 0.5) * 512 - 1500);
  assert.deepEqual(
    tiles.map(far),
    tiles.map(far).toSorted((a, b) => a - b),
  );
  assert.deepEqual(tilesIn({ x: 0, y: 0, z: 0 }, { width: 0, height: 0 }, size, 0, 256), []);
});

test("a cell is aligned and cut at the edge", () => {
  assert.deepEqual(cellAround([999, 2999], 5, size), {
    level: 5,
    rows: [992, 1000],
    keys: [2976, 3000],
  });
  assert.deepEqual(cellAround([7, 8], 0, size), { level: 0, rows: [7, 8], keys: [8, 9] });
});

test("one tile holds the whole head at the level of the minimap, and not one level finer", () => {
  for (const rows of [1, 255, 256, 257, 100_000, 1_000_000]) {
    const level = miniLevel({ rows, keys: 3 }, 256);
    assert.ok(rows / 2 ** level <= 256);
    if (level) assert.ok(rows / 2 ** (level - 1) > 256);
  }
});

test("between two cameras both ends are met, and a pure zoom keeps its fixed point", () => {
  const [from, to] = [
    { x: 1, y: 2, z: 4 },
    { x: 900, y: 700, z: -4.5 },
  ];
  assert.deepEqual(between(from, to, 0), from);
  assert.deepEqual(between(from, to, 1), to);
  const flat = between({ x: 0, y: 0, z: 1 }, { x: 10, y: 20, z: 1 }, 0.25);
  assert.deepEqual(flat, { x: 2.5, y: 5, z: 1 });
});

test("codes stand for numbers on a log scale", () => {
  assert.equal(valueOf(4, CODES), 2 ** -32);
  assert.equal(valueOf(255, CODES), 1);
  assert.ok(Math.abs(valueOf(247, CODES) - 0.5) < 0.01);
  assert.deepEqual([small(0.999), small(0.0123), small(1.2e-5)], ["1", "0.012", "1e−5"]);
});

test("percentiles count only cells with a weight, and never fall together", () => {
  const counts = new Float64Array(256);
  tally(counts, Uint8Array.from([0, 1, 2, 3, 50, 60, 60, 70]), 8, [0, 1], [0, 8]);
  assert.deepEqual(percentiles(counts, CODES, [0, 100]), [50, 70]);
  assert.deepEqual(percentiles(counts, CODES, [25, 75]), [50, 60]);
  assert.deepEqual(percentiles(counts, CODES, [26, 100]), [60, 70]);
  assert.deepEqual(percentiles(new Float64Array(256), CODES, [0, 100]), [4, 255]);
  const one = new Float64Array(256);
  one[4] = 3;
  assert.deepEqual(percentiles(one, CODES, [0, 100]), [4, 5]);
});

test("only the part of a tile in view is counted", () => {
  const counts = new Float64Array(256);
  const codes = Uint8Array.from([10, 11, 12, 13, 14, 15]);
  tally(counts, codes, 3, [1, 2], [1, 3]);
  assert.deepEqual(
    [...counts.entries()].filter(([, n]) => n).map(([code]) => code),
    [14, 15],
  );
});

for (const theme of ["light", "dark"])
  test(`hidden, NaN and weights differ, what is not computed stays open (${theme})`, () => {
    const colors = heatColors(theme);
    const pixels = pixelsOf(colors, CODES, [100, 200]);
    const ramp = new Set(new Uint32Array(colors.ramp.buffer));
    assert.equal(pixels[1], 0);
    assert.equal(pixels[0], pixelOf(colors.hidden));
    assert.equal(pixels[2], pixelOf(colors.nan));
    assert.ok(!ramp.has(pixels[0]) && !ramp.has(pixels[2]));
    assert.equal(pixels[3], pixels[100]);
    assert.equal(pixels[50], pixels[100]);
    assert.equal(pixels[255], pixels[200]);
    assert.notEqual(pixels[100], pixels[200]);
    const word = pixels[150];
    assert.ok(ramp.has(word));
  });

test("axes have words where a token has room, else round positions", () => {
  const near = { vertical: true, from: 10.2, per: 1 / 12, length: 60, count: 1000 };
  assert.ok(hasWords(near));
  assert.deepEqual(labelsOn(near), [10, 11, 12, 13, 14, 15]);
  const far = { ...near, from: -500, per: 10, length: 400 };
  assert.ok(!hasWords(far));
  assert.deepEqual(labelsOn(far), [0, 500]);
  assert.deepEqual([1, 3, 7, 260].map(roundStep), [1, 5, 10, 500]);
  assert.deepEqual([tokenAt(near, 0), tokenAt(far, 10), tokenAt(far, 49)], [10, null, null]);
});

test("a place is a position, or a token's text from here on", () => {
  const tokens = ["the", " cat", "sat", "the", "Cat", "12", "</b>"];
  assert.deepEqual(tokenMeant("3", tokens, 0), { at: 3 });
  assert.deepEqual(tokenMeant("@2", tokens, 0), { at: 2 });
  assert.deepEqual(tokenMeant("", tokens, 5), { at: 5 });
  assert.deepEqual(tokenMeant("the", tokens, 0), { at: 3 });
  assert.deepEqual(tokenMeant("the", tokens, 3), { at: 0 });
  assert.deepEqual(tokenMeant("cat", tokens, 0), { at: 1 });
  assert.deepEqual(tokenMeant("CAT", tokens, 1), { at: 4 });
  assert.deepEqual(tokenMeant("</b", tokens, 1), { at: 6 });
  assert.match(tokenMeant("12", tokens, 0).trouble, /must be 0 … 6; got “12”/);
  assert.match(tokenMeant("-1", tokens, 0).trouble, /got “-1”/);
  assert.match(tokenMeant("dog", tokens, 0).trouble, /no token reads “dog”/);
  const many = Array.from({ length: 50_000 }, (_, i) => `t${i}`);
  assert.deepEqual(tokenMeant("48,211", many, 0), { at: 48_211 });
});

test("a profile on a log scale shows the many beside one that is far above", () => {
  const mean = Float32Array.from({ length: 100 }, (_, i) => (i ? 2 + i / 50 : 25_000));
  const { low, high, under } = scaleOf({ most: mean, mean }, true);
  assert.deepEqual([low, high, under], [1, 25_000, false]);
  mean[50] = 1e-7;
  assert.deepEqual(scaleOf({ most: mean, mean }, true), {
    low: 1,
    high: 25_000,
    log: true,
    under: true,
  });
  const flat = scaleOf({ most: mean, mean: new Float32Array(100).fill(NaN) }, true);
  assert.ok(flat.low > 0 && flat.high >= flat.low);
  assert.equal(scaleOf({ most: mean, mean }, false).low, 0);
});
