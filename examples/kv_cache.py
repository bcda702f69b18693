"""Decode one token against a cache: unequal lengths, so the position of the query must be given."""

import numpy as np

import softlookup as sl

rng = np.random.default_rng(7)
heads, kv_heads, cached, head_dim = 4, 2, 1000, 64

query = rng.standard_normal((heads, 1, head_dim), dtype=np.float32)  # the newest token
key = rng.standard_normal((kv_heads, cached, head_dim), dtype=np.float32)
value = rng.standard_normal((kv_heads, cached, head_dim), dtype=np.float32)

out = sl.attend(query, key, value, causal=True, q_offset=cached - 1)
print(out.shape, out.dtype)  # prints: (4, 1, 64) float32

near = sl.Lookup(query, key, value, window=(127, 0), q_offset=cached - 1)
print(int((near.weights() > 0).sum(axis=-1).max()))  # prints: 128
