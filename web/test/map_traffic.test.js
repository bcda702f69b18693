import assert from "node:assert/strict";
import { test } from "node:test";

import { HostError } from "../src/host_error.js";
import { Atlas, keep } from "../src/map_atlas.js";
import { Builder } from "../src/map_builder.js";
import { Profiles } from "../src/map_profiles.js";
import { Reader } from "../src/map_reader.js";

const place = { capture: "given", layer: "0", batch: "0", head: "0" };
const soon = () => new Promise((done) => setTimeout(done));

/** A host that answers when it is told to. */
function stub() {
  const asked = [];
  const failures = [];
  const hands = {
    call: (op, args) => new Promise((done, fail) => asked.push({ op, args, done, fail })),
    changed: () => {},
    failed: (error) => failures.push(error),
  };
  return { asked, failures, hands };
}

const tileAnswer = (whole = true) => ({
  json: { rows: 1, columns: 2, whole },
  bytes: Uint8Array.from([7, 8, 9, 10]),
});
const at = (j, level = 0) => ({ level, i: 0, j });
const names = (asked) => asked.map(({ args }) => args.j);

test("four tiles at a time, the newest view first, what was passed over never", async () => {
  const { asked, hands } = stub();
  const atlas = new Atlas(hands);
  atlas.want(
    place,
    [0, 1, 2, 3, 4, 5].map((j) => at(j)),
  );
  assert.deepEqual(names(asked), ["0", "1", "2", "3"]);
  atlas.want(
    place,
    [9, 3, 8].map((j) => at(j)),
  );
  assert.deepEqual(names(asked), ["0", "1", "2", "3"]);
  for (const one of asked.slice(0, 4)) one.done(tileAnswer());
  await soon();
  assert.deepEqual(names(asked), ["0", "1", "2", "3", "9", "8"]);
  assert.ok(atlas.busy);
  for (const one of asked.slice(4)) one.done(tileAnswer());
  await soon();
  assert.ok(!atlas.busy);
  assert.deepEqual([...atlas.tile(place, at(9)).codes.max], [7, 8]);
  assert.deepEqual([...atlas.tile(place, at(9)).codes.share], [9, 10]);
  assert.equal(atlas.tile(place, at(4)), undefined);
  atlas.want(place, [at(9)]);
  assert.equal(asked.length, 6, "what is there is not asked for again");
  assert.equal(atlas.tile({ ...place, head: "1" }, at(9)), undefined);
});

test("a tile with gaps is asked for again once the building has gone on, and not before", async () => {
  const { asked, hands } = stub();
  const atlas = new Atlas(hands);
  const look = async () => {
    atlas.want(place, [at(0)]);
    await soon();
    return asked.length;
  };
  await look();
  asked[0].done(tileAnswer(false));
  await soon();
  assert.equal(await look(), 1);
  atlas.older();
  assert.equal(await look(), 2);
  asked[1].done(tileAnswer(true));
  await soon();
  atlas.older();
  assert.equal(await look(), 2);
});

test("a refused tile waits for the building; where nobody answers, nothing more is asked", async () => {
  const { asked, failures, hands } = stub();
  const atlas = new Atlas(hands);
  atlas.want(
    place,
    [0, 1, 2, 3, 4, 5].map((j) => at(j)),
  );
  asked[0].fail(new HostError("too much", "refused"));
  await soon();
  assert.equal(asked.length, 5);
  assert.equal(failures.length, 0);
  atlas.want(place, [at(0), at(6)]);
  asked[1].fail(new HostError("gone", "gone"));
  await soon();
  assert.equal(failures.length, 1);
  assert.deepEqual(names(asked).slice(5), []);
});

test("the tiles that were drawn last are kept", async () => {
  const { asked, hands } = stub();
  const atlas = new Atlas(hands, 3);
  for (const j of [0, 1, 2]) {
    atlas.want(place, [at(j)]);
    asked.at(-1).done(tileAnswer());
    await soon();
  }
  atlas.tile(place, at(0));
  atlas.want(place, [at(3)]);
  asked.at(-1).done(tileAnswer());
  await soon();
  assert.deepEqual(
    [0, 1, 2, 3].map((j) => atlas.tile(place, at(j)) !== undefined),
    [true, false, true, true],
  );
  const kept = new Map();
  for (let i = 0; i < 9; i += 1) keep(kept, i % 5, i, 3);
  assert.deepEqual(
    [...kept],
    [
      [1, 6],
      [2, 7],
      [3, 8],
    ],
  );
});

test("the reader asks for one number at a time, the newest", async () => {
  const { asked, hands } = stub();
  const reader = new Reader(hands);
  const cell = (query, level = 0) => ({ level, rows: [query, query + 2 ** level], keys: [5, 6] });
  reader.want(place, [cell(0)]);
  reader.want(place, [cell(1)]);
  reader.want(place, [cell(2)]);
  assert.deepEqual(
    asked.map(({ op, args }) => [op, args.query, args.key]),
    [["at", "0", "5"]],
  );
  asked[0].done({ json: { weight: "NaN", visible: true } });
  await new Promise((done) => setTimeout(done, 80));
  assert.deepEqual(
    asked.map(({ args }) => args.query),
    ["0", "2"],
  );
  assert.ok(Number.isNaN(reader.reading(place, cell(0)).pair.weight));
  asked[1].fail(new HostError("rows: must be fewer.", "refused", "rows"));
  await new Promise((done) => setTimeout(done, 80));
  assert.equal(reader.reading(place, cell(2)).refused, "Rows must be fewer.");
  const waited = reader.ask(place, cell(8, 3));
  assert.deepEqual([asked[2].op, asked[2].args.rows, asked[2].args.keys], ["block", "8:16", "5:6"]);
  asked[2].done({ json: { max: 0.5, query: 9, key: 5 } });
  assert.equal((await waited).cell.query, 9);
  assert.equal((await reader.ask(place, cell(8, 3))).cell.key, 5);
  assert.equal(asked.length, 3);
});

const built = (done, more = {}) => ({ json: { done, of: 4, refused: null, ...more } });

test("the map is built while it is looked at, then its profiles", async () => {
  const { asked, hands } = stub();
  let seen = true;
  const builder = new Builder(hands, () => seen);
  const told = () => asked.map(({ op, args }) => `${op} ${args.work}`);
  const answer = async (one) => {
    asked.at(-1).done(one);
    await soon();
  };
  builder.see(place, false);
  builder.see(place, false);
  assert.deepEqual(told(), ["map 0"]);
  await answer(built(0));
  await answer(built(1));
  assert.deepEqual(told(), ["map 0", "map 1", "map 1"]);
  builder.see(place, true); // paused
  await answer(built(2));
  assert.equal(asked.length, 3);
  seen = false;
  builder.see(place, false);
  assert.equal(asked.length, 3, "nobody looks at the page");
  seen = true;
  builder.see(place, false);
  builder.see(null, false); // another view
  await answer(built(3));
  assert.equal(asked.length, 4);
  builder.see(place, false);
  await answer(built(4));
  assert.equal(told().at(-1), "profile 1");
  await answer(built(4));
  assert.equal(asked.length, 6);
  assert.equal(builder.map(place).done, 4);
  assert.equal(builder.profile(place).done, 4);
});

test("a map that is refused is not asked to grow, nor one that there is not", async () => {
  const { asked, hands } = stub();
  const builder = new Builder(hands, () => true);
  builder.see(place, false);
  asked[0].done(built(0, { refused: "far too much" }));
  await soon();
  assert.equal(asked.length, 1);
  assert.equal(builder.map(place).refused, "far too much");
  const other = { ...place, head: "1" };
  builder.see(other, false);
  asked[1].fail(new HostError("map: must be of at least one query", "refused"));
  await soon();
  builder.see(other, false);
  assert.equal(asked.length, 2);
  assert.match(builder.refused(other), /at least one query/);
});

test("where nobody answers the building waits until the view is drawn anew", async () => {
  const { asked, failures, hands } = stub();
  const builder = new Builder(hands, () => true);
  builder.see(place, false);
  asked[0].fail(new HostError("gone", "gone"));
  await soon();
  assert.deepEqual([asked.length, failures.length], [1, 1]);
  builder.see(place, false);
  assert.equal(asked.length, 2);
});

const strip = (numbers) => ({
  json: { start: 0, stop: 2, buckets: 2 },
  bytes: new Uint8Array(Float32Array.from(numbers).buffer),
});

test("a profile is asked for once a part, the newest part first, and anew while it has gaps", async () => {
  const { asked, hands } = stub();
  const profiles = new Profiles(hands);
  const spans = () => asked.map(({ args }) => `${args.axis} ${args.span}`);
  profiles.want(place, "queries", [0, 2], 2);
  profiles.want(place, "queries", [1, 3], 2);
  profiles.want(place, "queries", [2, 4], 2);
  profiles.want(place, "keys", [0, 9], 2);
  assert.deepEqual(spans(), ["queries 0:2", "keys 0:9"]);
  asked[0].done(strip([1, 2, 0, 0, 0.5, NaN]));
  await soon();
  assert.deepEqual(spans(), ["queries 0:2", "keys 0:9", "queries 2:4"]);
  asked[2].done(strip([3, 4, 0, 0, 2.5, 3.5]));
  await soon();
  assert.deepEqual([...profiles.strip(place, "queries").mean], [2.5, 3.5]);
  assert.deepEqual([...profiles.strip(place, "queries").most], [3, 4]);
  profiles.want(place, "queries", [0, 2], 2);
  assert.equal(asked.length, 3);
  assert.ok(Number.isNaN(profiles.strip(place, "queries").mean[1]));
  profiles.older();
  profiles.want(place, "queries", [2, 4], 2);
  assert.equal(asked.length, 3);
  profiles.want(place, "queries", [0, 2], 2);
  assert.equal(asked.length, 4);
});
