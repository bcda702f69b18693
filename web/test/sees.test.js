import assert from "node:assert/strict";
import { test } from "node:test";

import { keysSeen } from "../src/map_sees.js";

const seen = (options, query, batch = 0) =>
  keysSeen({ options: { window: null, q_offset: 0, kv_lens: null, ...options }, sizes }, batch, query);
const sizes = { kv_len: 10 };

test("causal, window and lengths tell how many keys a query sees", () => {
  assert.equal(seen({ causal: false, q_offset: null }, 3), 10);
  assert.equal(seen({ causal: true }, 0), 1);
  assert.equal(seen({ causal: true, q_offset: 6 }, 0), 7);
  assert.equal(seen({ causal: true, q_offset: -5 }, 0), 0);
  assert.equal(seen({ causal: true, window: [2, 0] }, 8), 3);
  assert.equal(seen({ causal: false, window: [2, 3] }, 9), 3);
  assert.equal(seen({ causal: true, kv_lens: [4, 1], q_offset: [0, 2] }, 5, 1), 1);
  assert.equal(seen({ causal: true, window: [0, null] }, 4), 1);
});
