"""Look into a long context: what the last 4,096 of 100,000 tokens read, in memory that stays small.

Every query's eight strongest keys and what every key receives, exactly, without the weights.
"""

import resource
import time

import numpy as np

import softlookup as sl

rng = np.random.default_rng(7)
length, last, dim = 100_000, 4_096, 64
query = rng.standard_normal((last, dim), dtype=np.float32)
key, value = rng.standard_normal((2, length, dim), dtype=np.float32)
query[2000] = 3 * key[12345]  # one query that asks for one key, far away

before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
look = sl.Lookup(query, key, value, causal=True, q_offset=length - last)
seen = look.inspect(top=8, received=True)
seconds = time.perf_counter() - start
grew = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024  # in KiB on Linux

best, weight = seen.top.keys[2000, 0], seen.top.weights[2000, 0]
print(f"query 2000 reads key {best} with {weight:.4f}")  # prints: reads key 12345 with 0.9997
print(f"in all, keys receive {seen.received.sum():.1f}")  # prints: in all, keys receive 4096.0
print(f"{seconds:.1f} s, peak memory {grew:.0f} MiB more")  # the highest moment, out and facts in
print(f"the weights: {last * length * 4 / 2**20:,.0f} MiB")  # prints: the weights: 1,562 MiB
