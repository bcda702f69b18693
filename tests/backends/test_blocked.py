"""`blocked` with tiles so small that every case has many of them, and its memory."""

import tracemalloc

import numpy as np
import pytest

import cases
import slopes
import softlookup as sl
from agreement import assert_agrees, assert_answer, assert_same_bits, assert_weights
from cases import Case
from softlookup.backends import walks

MEBIBYTE = 2**20


@pytest.fixture(params=[(1, 1), (3, 2), (2, 5)], ids=lambda tile: f"{tile[0]}x{tile[1]}")
def small_tiles(request, monkeypatch):
    rows, keys = request.param
    monkeypatch.setattr(walks, "_NARROW_ROWS", rows)
    monkeypatch.setattr(walks, "TILE_KEYS", keys)
    monkeypatch.setattr(walks, "TILE_CELLS", rows * keys)


SMALL = tuple(name for name in cases.NAMED if "tiles" not in name and "many keys" not in name)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("name", SMALL)
def test_every_case_in_many_small_tiles(name):
    call = cases.build(name)
    look = sl.Lookup(*call.arrays, **call.options, backend="blocked")
    narrow = cases.naive(name, cases.accumulator(call.query.dtype))
    answer = look.inspect()
    assert_answer(answer, cases.exact(name), cases.naive(name), narrow)
    assert_same_bits(look.attend(), answer.out)
    assert_weights(look.weights(), cases.exact(name), narrow)


@pytest.mark.parametrize("small_tiles", [(3, 2)], indirect=True)
@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("name", SMALL)
def test_gradients_of_every_case_in_many_small_tiles(name):
    call = cases.build(name)
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(17))
    look = sl.Lookup(*call.arrays, **call.options, backend="blocked")
    found = look.gradients(out_grad, lse_grad=lse_grad)
    size = slopes.largest_delta(call, out_grad, lse_grad)  # each tile rounds its part of it
    slopes.assert_gradients(found, call, out_grad, lse_grad, size=max(1.0, size))


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 1, 4, 5, 9, 10])
def test_nan_and_infinities_in_any_small_tile(held, at):
    call = Case("small tiles", q_len=5, kv_len=11).build()
    value, bias = call.value.copy(), np.zeros((5, 11), np.float32)
    value[0, 1, at, 3] = held
    assert_agrees(call.query, call.key, value, backend="blocked")
    bias[2, at] = held
    assert_agrees(*call.arrays, bias=bias, backend="blocked")
    assert_agrees(*call.arrays, bias=bias, sinks=np.zeros(3), backend="blocked")


@pytest.mark.usefixtures("small_tiles")
def test_a_row_of_minus_inf_in_many_small_tiles():
    call = Case("small tiles", batch=(), heads=(3, 1), q_len=3, kv_len=11).build()
    query, key = np.abs(call.query), np.abs(call.key)
    query[:, 1] = -np.inf
    assert_agrees(query, key, call.value, backend="blocked")
    assert_agrees(query, key, call.value, sinks=np.zeros(3), backend="blocked")


def _peak(look, ask):
    """Return the bytes that `ask` needs at its peak beyond what it returns."""
    tracemalloc.start()
    try:
        result = ask(look)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak - result.nbytes


def test_memory_is_at_most_64_mebibytes_beyond_inputs_and_outputs():
    rng = np.random.default_rng(16_384)
    arrays = [rng.standard_normal((1, 16_384, 64), dtype=np.float32) for _ in range(3)]
    look = sl.Lookup(*arrays, causal=True, backend="blocked")
    assert _peak(look, sl.Lookup.attend) <= 64 * MEBIBYTE  # the scores alone are 1,024


def test_memory_of_a_corner_of_the_weights_is_that_of_its_cells():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((1, 65_537, 16), dtype=np.float32) for _ in range(3)]
    look = sl.Lookup(*arrays, causal=True, backend="blocked")
    corner = slice(65_537 - 64, None)
    assert _peak(look, lambda look: look.weights(rows=corner, keys=corner)) <= 32 * MEBIBYTE


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_memory_does_not_grow_with_the_square_of_the_length(dtype):
    peaks = []
    for length in (1024, 4096):
        call = Case("memory", batch=(), heads=None, q_len=length, kv_len=length, head_dim=16,
                    value_dim=16, dtype=dtype).build()  # fmt: skip
        look = sl.Lookup(*call.arrays, window=(64, 0), backend="blocked")
        peaks.append(_peak(look, sl.Lookup.attend))
    assert peaks[1] < 5 * peaks[0] + MEBIBYTE
