"""Lookups of every kind for the map, and their dense answers."""

import functools

import numpy as np

from cases import BFLOAT16
from softlookup import Lookup
from softlookup.captures import Axis, Capture, Layer
from softlookup.viewer import codes, maps
from softlookup.weightmap import bands

Q_LEN, KV_LEN, DIM = 331, 547, 7  # several tiles a side, none of them whole
STEP = (codes.HIGH - codes.LOW) / (codes.LAST - codes.FIRST)


def _mask(rng):
    mask = rng.random((Q_LEN, KV_LEN)) > 0.3
    mask[5] = False  # a row that sees nothing
    mask[64:96, 128:160] = False  # a block that nobody sees
    return mask


def _bias(rng):
    bias = rng.standard_normal((3, Q_LEN, KV_LEN)).astype(np.float32)
    bias[:, :, 40:80] = -np.inf
    return bias


# name: dtype, and options drawn with a generator
KINDS = {
    "plain": (np.float32, lambda rng: {}),
    "causal": (np.float32, lambda rng: {"causal": True, "q_offset": KV_LEN - Q_LEN}),
    "window": (np.float32, lambda rng: {"window": (61, 7), "q_offset": 101}),
    "mask": (np.float32, lambda rng: {"mask": _mask(rng)}),
    "bias": (np.float32, lambda rng: {"bias": _bias(rng)}),
    "lengths": (np.float32, lambda rng: {"kv_lens": np.array([401, 29])}),
    "sinks": (np.float32, lambda rng: {"sinks": np.array([1.0, 5.0, -3.0]), "softcap": 1.5}),
    "half": (np.float16, lambda rng: {"causal": True, "q_offset": 3}),
    "bfloat16": (BFLOAT16, lambda rng: {}),
    "double": (np.float64, lambda rng: {"scale": -0.7}),
}


def look_of(kind, size=2.0):
    """Return a lookup of two batch entries and three heads over one kv head."""
    dtype, options = KINDS[kind]
    rng = np.random.default_rng(sum(map(ord, kind)))
    query = rng.standard_normal((2, 3, Q_LEN, DIM)) * size
    key = rng.standard_normal((2, 1, KV_LEN, DIM))
    return Lookup(query.astype(dtype), key.astype(dtype), **options(rng))


def spoilt():
    """Return a lookup with a row of NaN, among others."""
    rng = np.random.default_rng(8)
    query, key = (rng.standard_normal((n, DIM)).astype(np.float32) for n in (97, 83))
    query[41] = np.nan
    return Lookup(query, key)


def capture_of(look, padding=()):
    """Return a capture of one layer, its tokens numbered; some queries may be padding."""
    problem = look.problem
    queries, keys = (tuple(map(str, range(n))) for n in (problem.q_len, problem.kv_len))
    layer = Layer(look, (Axis(queries, None, padding),), (Axis(keys),))
    return Capture("mapped", (layer,))


@functools.cache
def vast(length):
    """Return a causal capture of that many tokens, whose arrays take next to no memory."""
    row = np.broadcast_to(np.float32(1), (length, 1))
    return capture_of(Lookup(row, row, causal=True))


def pooled(trace, level):
    """Return the largest weight, the share and what is seen of each cell of a level, float64."""
    weights, visible, size = trace.weights, trace.visible, 2**level
    rows, keys = (np.arange(0, n, size) for n in weights.shape)
    queries = np.diff([*rows, len(weights)])

    def cells(how, array):
        return how.reduceat(how.reduceat(array, rows, axis=0), keys, axis=1)

    return (
        cells(np.maximum, weights),
        cells(np.add, weights) / queries[:, None],
        cells(np.logical_or, visible),
    )


def assert_codes(found, exact, seen):
    """Assert that codes tell the exact numbers, half a step and float32's rounding aside."""
    assert found.shape == exact.shape
    np.testing.assert_array_equal(found == codes.HIDDEN, ~seen)
    np.testing.assert_array_equal(found == codes.NAN, seen & np.isnan(exact))
    with np.errstate(divide="ignore"):
        log = np.log2(exact)
    clear = seen & (log >= codes.LOW + STEP)  # below, rounding may make it 0
    told = codes.LOW + (found.astype(float) - codes.FIRST) * STEP
    assert (found[clear] >= codes.FIRST).all()
    assert np.abs(told - log)[clear].max(initial=0) <= STEP / 2 + 1e-3
    tiny = seen & (log < codes.LOW - STEP)
    assert (found[tiny] == codes.ZERO).all()


def by_groups(monkeypatch):
    """Let one slice of work be one group of rows."""
    monkeypatch.setattr(maps, "SLICE", 0.0)
    monkeypatch.setattr(bands, "_SHORTEST", 0.0)
