"""The semantics table: position, causal, window, kv_lens, visibility."""

import itertools

import numpy as np
import pytest

import softlookup as sl
from agreement import assert_agrees
from cases import Case

CALL = Case("positions", batch=(3,), heads=(2, 1), q_len=7, kv_len=11).build()
SQUARE = Case("positions", batch=(3,), heads=(2, 1), q_len=11, kv_len=11).build()
I, J = np.arange(7)[:, None], np.arange(11)


def visible(call, backend="auto", **options):
    """Return which keys the trace calls visible, after comparing the whole with the oracle."""
    exact = assert_agrees(*call.arrays, backend=backend, **options)
    seen = sl.Lookup(*call.arrays, **options).trace().visible
    np.testing.assert_array_equal(seen, exact.visible)
    return seen


@pytest.mark.parametrize("q_offset", [0, 1, 4, 10, 11, -1, -6, -7, 1000, -1000, 2**40, -(2**40)])
def test_position_query_i_stands_at_i_plus_q_offset_never_clamped(backend, q_offset):
    seen = visible(CALL, backend, causal=True, q_offset=q_offset)
    np.testing.assert_array_equal(seen[0, 0], I + q_offset >= J)
    seen = visible(CALL, backend, window=(2, 1), q_offset=q_offset)
    np.testing.assert_array_equal(seen[0, 0], (I + q_offset - 2 <= J) & (I + q_offset + 1 >= J))


def test_position_default_is_0_when_lengths_are_equal_whatever_kv_lens_says(backend):
    for lens in ([11, 11, 11], [0, 4, 11]):
        seen = visible(SQUARE, backend, causal=True, kv_lens=np.array(lens))
        expected = (np.arange(11)[:, None] >= J) & (np.array(lens)[:, None, None, None] > J)
        np.testing.assert_array_equal(seen, np.broadcast_to(expected, seen.shape))


def test_position_is_not_needed_without_causal_or_window(backend):
    assert visible(CALL, backend, mask=True, kv_lens=[11, 11, 11], scale=2.0).all()
    assert sl.Lookup(*CALL.arrays).problem.q_offset is None


@pytest.mark.parametrize("kind", [list, tuple, np.array, np.int8, np.uint16])
def test_position_as_integers_of_the_batchs_shape(backend, kind):
    seen = visible(CALL, backend, causal=True, q_offset=kind([0, 5, 9]))
    for entry, offset in enumerate((0, 5, 9)):
        np.testing.assert_array_equal(seen[entry, 1], I + offset >= J)


def test_position_an_integer_of_numpy_counts_as_an_int(backend):
    plain, numpys = (
        sl.attend(*CALL.arrays, causal=True, q_offset=kind(3), backend=backend)
        for kind in (int, np.int64)
    )
    np.testing.assert_array_equal(plain, numpys)


def test_causal_sees_key_j_when_j_is_at_most_i_plus_q_offset(backend):
    seen = visible(CALL, backend, causal=True, q_offset=4)
    assert seen[0, 0].sum(axis=-1).tolist() == [5, 6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("left", [None, 0, 1, 5, 100, 2**62])
@pytest.mark.parametrize("right", [None, 0, 3, 2**62])
def test_window_left_right_inclusive_none_is_open(backend, left, right):
    seen = visible(SQUARE, backend, window=(left, right))
    distance = J - np.arange(11)[:, None]
    expected = np.ones((11, 11), bool)
    if left is not None:
        expected &= distance >= -left
    if right is not None:
        expected &= distance <= right
    np.testing.assert_array_equal(seen[2, 1], expected)


def test_window_as_a_list_is_the_same(backend):
    pair, listed = (
        sl.attend(*SQUARE.arrays, window=window, backend=backend) for window in ((1, 2), [1, 2])
    )
    np.testing.assert_array_equal(pair, listed)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_kv_lens_padding_is_never_read(backend, dtype):
    call = Case("padding", batch=(3,), heads=(2, 1), dtype=dtype).build()
    lens = np.array([0, 11, 4])
    clean = sl.Lookup(*call.arrays, kv_lens=lens, backend=backend)
    key, value = call.key.copy(), call.value.copy()
    for entry, length in enumerate(lens):
        key[entry, :, length:] = np.nan
        value[entry, :, length:] = np.inf
    dirty = sl.Lookup(call.query, key, value, kv_lens=lens, backend=backend)
    with np.errstate(all="raise"):
        answer = dirty.inspect()
        out, lse = answer.out, answer.lse
    np.testing.assert_array_equal(out, clean.attend())
    np.testing.assert_array_equal(lse, clean.inspect().lse)
    np.testing.assert_array_equal(dirty.weights(), clean.weights())


def test_kv_lens_0_to_kv_len_and_batch_shapes(backend):
    for lens in ([0, 0, 0], [11, 11, 11], [0, 1, 10]):
        visible(CALL, backend, kv_lens=np.array(lens))
    flat = Case("3-D", batch=()).build()
    visible(flat, backend, kv_lens=np.array(4))
    visible(flat, backend, kv_lens=4)
    deep = Case("5-D", batch=(2, 3)).build()
    visible(deep, backend, kv_lens=np.arange(6).reshape(2, 3), causal=True,
            q_offset=np.arange(-2, 4).reshape(2, 3))  # fmt: skip


def _five(rng):
    bias = rng.standard_normal((3, 2, 7, 11)).astype(np.float32)
    bias[rng.random(bias.shape) < 0.15] = -np.inf
    return {
        "mask": rng.random((3, 2, 7, 11)) > 0.15, "bias": bias, "causal": True,
        "window": (6, 3), "kv_lens": np.array([11, 9, 5]),
    }  # fmt: skip


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_visibility_is_the_intersection_of_all_five_never_one_instead_of_another(backend, count):
    options = _five(np.random.default_rng(11))
    alone = {
        name: visible(CALL, backend, q_offset=3, **{name: option})
        for name, option in options.items()
    }
    for names in itertools.combinations(options, count):
        some = {name: options[name] for name in names}
        seen = sl.Lookup(*CALL.arrays, q_offset=3, **some, backend=backend)
        expected = np.logical_and.reduce([alone[name] for name in names])
        np.testing.assert_array_equal(seen.trace().visible, expected)
        np.testing.assert_array_equal(seen.weights() > 0, expected)


def test_visibility_of_all_five_together_is_exact(backend):
    visible(CALL, backend, q_offset=3, softcap=2.0, **_five(np.random.default_rng(11)))
