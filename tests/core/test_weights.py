"""`weights`: exact rectangles of the weights, never the whole unless asked."""

import numpy as np
import pytest

import cases
import softlookup as sl

NAMES = ("plain in float32", "sinks", "everything at once", "mask that leaves empty rows",
         "plain 2-D arrays", "several tiles, causal")  # fmt: skip


def _pick(chosen, length):
    if chosen is None:
        return np.arange(length)
    return np.arange(length)[chosen if isinstance(chosen, slice) else np.asarray(chosen, int)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("rows", "keys"),
    [(slice(0, 2), None), (None, slice(1, 3)), (slice(1, 3), slice(0, 2)), ([0], [2]),
     ([2, 0], [1, 1, 0]), ([-1], [-1, 0]), (slice(None, None, -1), slice(None, None, -2)),
     (slice(2, 2), None), ([], [0]), (slice(-2, None), slice(None, -1)),
     (range(2), range(2, 0, -1)), (range(0), range(3))],
    ids=str,
)  # fmt: skip
def test_rectangles_are_parts_of_the_whole(backend, name, rows, keys):
    call, exact = cases.build(name), cases.exact(name).weights
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    part = look.weights(rows=rows, keys=keys)
    picked = exact[..., _pick(rows, exact.shape[-2]), :][..., _pick(keys, exact.shape[-1])]
    assert part.dtype == cases.accumulator(call.query.dtype)
    assert part.shape == picked.shape
    np.testing.assert_allclose(part, picked.astype(float), rtol=2e-5, atol=1e-7)


def test_a_rectangle_is_normalised_over_all_keys_not_its_own(backend):
    call = cases.build("plain in float32")
    part = sl.Lookup(*call.arrays, backend=backend).weights(keys=[3])
    assert (part < 1).all()


def test_bools_choose_rows_and_keys(backend):
    call = cases.build("plain in float32")
    look = sl.Lookup(*call.arrays, backend=backend)
    rows, keys = np.arange(7) % 2 == 0, np.arange(11) > 8
    np.testing.assert_array_equal(
        look.weights(rows=rows, keys=keys), look.weights(rows=[0, 2, 4, 6], keys=[9, 10])
    )


def test_weights_are_the_callers_to_write(backend):
    call = cases.build("plain in float32")
    weights = sl.Lookup(*call.arrays, backend=backend).weights()
    assert weights.flags.c_contiguous
    weights[...] = 0


def test_a_rectangle_of_a_long_lookup_needs_no_whole(backend):
    rng = np.random.default_rng(7)
    query, key = (rng.standard_normal((100_003, 8)).astype(np.float32) for _ in range(2))
    look = sl.Lookup(query, key, causal=True, backend=backend)
    part = look.weights(rows=[0, 100_002], keys=slice(100_000, None))
    scores = key.astype(float) @ query[100_002].astype(float) / np.sqrt(8)
    exp = np.exp(scores - scores.max())
    assert not part[0].any()
    np.testing.assert_allclose(part[1], (exp / exp.sum())[100_000:], rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
def test_indices_of_any_integer_dtype(backend, dtype):
    query, key = np.ones((300, 2)), np.ones((7, 2))
    look = sl.Lookup(query, key, backend=backend)
    rows = np.array([0, 100], dtype)
    assert look.weights(rows=rows, keys=np.array([6], dtype)).shape == (2, 1)
    np.testing.assert_array_equal(look.trace(rows=rows).rows, [0, 100])
