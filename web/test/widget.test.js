// A cell's page and its kernel: what goes out, what comes back, and what is said while nothing does.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { hostOn } from "../src/host_widget.js";

const INFO = { capture: "given", shelf: [] };

/** The numbers of one head that looks two tokens up in two. */
function numbers() {
  const eye = Buffer.from(Float64Array.from([1, 0, 0, 1]).buffer).toString("base64");
  const sizes = { batch: 1, heads: 1, kv_heads: 1, q_len: 2, kv_len: 2, head_dim: 2, value_dim: 2 };
  const layer = { query: 0, key: 0, value: 0, visible: null, bias: null, sinks: null };
  const text = JSON.stringify({
    info: {
      capture: "given",
      axes: [{ tokens: ["a", "b"], words: [0, 1], padding: [] }],
      layers: [{ heads: [0], queries: [0], keys: [0], sizes, editable_reason: null }],
      limits: { ledger_keys: 12, grid_cells: 9, thumbnail: 2 },
    },
    lesson: {},
    words: [null],
    layers: [{ ...layer, scale: 0.5, softcap: null, q_offset: [0] }],
    arrays: [{ dtype: "float64", shape: [1, 1, 2, 2], data: eye }],
  });
  return /** @type {ArrayBuffer} */ (new TextEncoder().encode(text).buffer);
}

/** A page whose kernel is the test.  @param {object} [first] */
function page(first = {}) {
  /** @type {any[]} */
  const sent = [];
  /** @type {any} */
  const port = { postMessage: (/** @type {any} */ message) => sent.push(message) };
  const host = hostOn(port, first);
  /** @type {string[]} */
  const said = [];
  host.said?.((sentence) => said.push(sentence));
  const told = (/** @type {any} */ data) => port.onmessage({ data });
  const asked = (/** @type {string} */ op) => sent.filter((message) => message.op === op);
  return { host, sent, said, told, asked };
}

const rest = () => new Promise((done) => setImmediate(done));

/**
 * A clock that the test moves.  @param {import("node:test").TestContext} t
 * @returns {(ms: number) => Promise<void>}
 */
function timed(t) {
  let now = 0;
  let last = 0;
  /** @type {Map<number, {at: number, ring: () => void}>} */
  const due = new Map();
  t.mock.method(globalThis, "setTimeout", (/** @type {() => void} */ ring, ms = 0) => {
    due.set((last += 1), { at: now + ms, ring });
    return last;
  });
  t.mock.method(globalThis, "clearTimeout", (/** @type {number} */ id) => due.delete(id));
  return async (ms) => {
    now += ms;
    for (const [id, { at, ring }] of [...due]) if (at <= now && due.delete(id)) ring();
    await rest();
  };
}

test("answers find their questions in any order, bytes and refusals too", async () => {
  const { host, sent, told } = page();
  const asked = [host.call("trace", { row: "1" }), host.call("grid"), host.call("at")];
  const [one, two, three] = sent.map(({ id }) => id);
  assert.equal(new Set([one, two, three]).size, 3);
  told({ id: three, json: { ok: false, error: "query: must be given", argument: "query" } });
  told({ id: two, json: { shape: [1, 1] }, bytes: new Uint8Array([7, 8]).buffer });
  told({ id: "another page's", json: { row: 9 } });
  told({ id: one, json: { row: 1 }, bytes: null });
  assert.deepEqual(await asked[0], { json: { row: 1 }, bytes: null });
  assert.deepEqual(await asked[1], { json: { shape: [1, 1] }, bytes: new Uint8Array([7, 8]) });
  await assert.rejects(asked[2], { kind: "refused", argument: "query" });
});

test("a kernel that computes is not called busy, one that hears nothing is", async (t) => {
  const pass = timed(t);
  const { host, sent, said, told, asked } = page();
  const answer = host.call("facts");
  await pass(700);
  const [here] = asked("here");
  told({ id: here.id, json: { working: [sent[0].id] } });
  await pass(700);
  assert.equal(asked("here").length, 2);
  await pass(1500);
  assert.deepEqual(said, ["", "The kernel is busy: this goes on by itself when it is free."]);
  await pass(30_000);
  assert.equal(asked("here").length, 3);
  await pass(30_000);
  assert.match(said[2], /if it was restarted, run this cell again, after the cells that it needs/);
  told({ id: sent[0].id, json: { done: true } });
  assert.equal(said[3], "");
  assert.deepEqual((await answer).json, { done: true });
  assert.equal(asked("facts").length, 1);
});

test("a question that was lost on its way is asked again", async (t) => {
  const pass = timed(t);
  const { host, told, asked } = page();
  void host.call("facts");
  void host.call("grid");
  await pass(700);
  void host.call("trace"); // the kernel reads it after it is asked whether it hears
  told({ id: asked("here")[0].id, json: { working: [asked("grid")[0].id] } });
  assert.equal(asked("trace").length, 1);
  assert.equal(asked("facts").length, 2);
  assert.deepEqual(asked("facts")[0], asked("facts")[1]);
  assert.equal(asked("grid").length, 1);
});

/** The page of a small capture, with its numbers in it.  @param {(ms: number) => Promise<void>} pass */
async function withNumbers(pass) {
  const all = page();
  const info = all.host.call("info");
  all.told({ id: all.asked("info")[0].id, json: INFO });
  await info;
  await rest();
  const [asked] = all.asked("numbers");
  assert.deepEqual(asked.args, { capture: "given", most: "4000000" });
  all.told({ id: asked.id, json: {}, bytes: numbers() });
  await pass(0);
  return all;
}

test("while the kernel is busy the page works out what it can, and asks for the rest", async (t) => {
  const pass = timed(t);
  const { host, said, told, asked } = await withNumbers(pass);
  const before = host.call("trace", { capture: "given", row: "0" });
  const map = host.call("map", { capture: "given" });
  await pass(700);
  await pass(1500);
  assert.match(said.at(-1) ?? "", /busy: until it is free this page works out what it can/);
  assert.equal((await before).json.row, 0);
  const after = host.call("trace", { capture: "given", row: "1" });
  assert.equal((await after).json.row, 1);
  assert.equal(asked("trace").length, 1, "the second was worked out here");
  const other = host.call("trace", { capture: "lesson", row: "1" });
  assert.equal(asked("trace").length, 2, "of another capture it has no numbers");
  told({ id: asked("map")[0].id, json: { done: 1 } });
  assert.equal(said.at(-1), "");
  assert.deepEqual((await map).json, { done: 1 });
  told({ id: asked("trace")[1].id, json: { query: 1 } });
  assert.deepEqual((await other).json, { query: 1 });
});

test("a lost kernel is one sentence, and numbers that are here stay", async (t) => {
  const pass = timed(t);
  const { host, said, told, asked } = await withNumbers(pass);
  const map = host.call("map", { capture: "given" });
  const trace = host.call("trace", { capture: "given", row: "1" });
  told({ gone: true });
  await assert.rejects(map, { kind: "gone", message: /run its cell again, after the cells that it needs/ });
  assert.equal((await trace).json.row, 1);
  assert.match(said.at(-1) ?? "", /no longer knows this view: run its cell again, after the cells that it needs\. Until then/);
  const before = asked("head").length;
  await assert.rejects(host.call("head", { capture: "given" }), { kind: "gone" });
  assert.equal(asked("head").length, before, "nobody is asked");
});

test("a page whose kernel is gone from the start says what to do", async () => {
  const { host, said, sent } = page({ live: false });
  await assert.rejects(host.call("info"), { kind: "gone" });
  assert.match(said[1], /^The kernel no longer knows this view: run its cell again, after .*\.$/);
  assert.equal(said.length, 2);
  assert.deepEqual(sent, []);
});

test("themes and keys pass, and the place begins where the cell left it", () => {
  const { host, sent, told } = page({ theme: "dark", place: "v=heads&L=2" });
  const seen = mock.fn();
  assert.equal(host.theme?.now(), "dark");
  const stop = host.theme?.follow(seen);
  told({ theme: "light" });
  assert.deepEqual(seen.mock.calls[0].arguments, ["light"]);
  assert.equal(host.theme?.now(), "light");
  stop?.();
  told({ theme: "dark" });
  assert.equal(seen.mock.callCount(), 1);
  assert.equal(host.address?.read(), "#v=heads&L=2");
  const pressed = { key: "s", code: "KeyS", keyCode: 83, ctrlKey: true, metaKey: false };
  const whole = { ...pressed, altKey: false, shiftKey: false };
  host.pass?.(/** @type {any} */ (whole));
  assert.deepEqual(sent, [{ key: whole }]);
});
