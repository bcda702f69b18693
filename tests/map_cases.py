"""Named lookups of one head for maps: ragged at every level, with every rule of visibility."""

import functools

import numpy as np

import oracle
import softlookup as sl
from cases import BFLOAT16

LEAVES = np.random.default_rng(1).random((1, 389)) > 0.4


def _mask(shape, share):
    mask = np.random.default_rng(3).random(shape) > share
    mask[64:129] = False  # bands without a visible pair, and empty rows at their edges
    mask[:, 96:131] = False
    return mask


def _bias(shape):
    rng = np.random.default_rng(4)
    bias = rng.standard_normal(shape).astype(np.float16)
    bias[rng.random(shape) < 0.5] = -np.inf
    return bias


# name: (q_len, kv_len, dtype, options); sizes are ragged at every level
LOOKUPS = {
    "all visible": (313, 389, np.float32, {}),
    "one query": (1, 389, np.float32, {}),
    "one key": (313, 1, np.float32, {}),
    "within one block": (13, 7, np.float64, {"causal": True, "q_offset": 3}),
    "causal": (697, 697, np.float32, {"causal": True}),
    "causal in bfloat16": (257, 257, BFLOAT16, {"causal": True}),
    "causal in float64": (257, 257, np.float64, {"causal": True}),
    "causal, the first rows empty": (389, 263, np.float32, {"causal": True, "q_offset": -126}),
    "causal, after earlier keys": (97, 389, np.float32, {"causal": True, "q_offset": 292}),
    "window": (521, 521, np.float32, {"window": (37, 11)}),
    "causal window beyond the keys": (521, 97, np.float16,
        {"causal": True, "window": (41, None), "q_offset": -63}),
    "padded keys": (97, 389, np.float32, {"kv_lens": np.array(131)}),
    "no valid key": (97, 389, np.float32, {"kv_lens": np.array(0)}),
    "sink and softcap": (193, 193, np.float32,
        {"causal": True, "sinks": np.array([1.5]), "softcap": 2.0, "scale": -1.3}),
    "mask": (193, 389, np.float32, {"mask": _mask((193, 389), 0.6)}),
    "mask over keys, causal": (389, 389, np.float32, {"mask": LEAVES, "causal": True}),
    "few visible": (193, 389, np.float32, {"mask": _mask((193, 389), 0.9995)}),
    "few visible in a window": (521, 521, np.float32,
        {"mask": _mask((521, 521), 0.98), "window": (45, 21)}),
    "bias that hides": (193, 257, np.float32, {"bias": _bias((193, 257)), "window": (None, 90),
        "q_offset": 0}),
}  # fmt: skip


@functools.cache
def call(name):
    q_len, kv_len, dtype, options = LOOKUPS[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    query, key = (rng.standard_normal((n, 5)).astype(dtype) for n in (q_len, kv_len))
    return query, key, key[:, :1], options


@functools.cache
def expected(name):
    query, key, value, options = call(name)
    accumulator = np.float64 if query.dtype == np.float64 else np.float32
    exact = oracle.lookup(query, key, value, **options)
    return exact, oracle.lookup(query, key, value, **options, dtype=accumulator)


def lookup(name, backend):
    query, key, value, options = call(name)
    return sl.Lookup(query, key, value, **options, backend=backend)
