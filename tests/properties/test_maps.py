"""What holds for every map: each level is the pooled weights, however it was built."""

import numpy as np
import pytest
from drawing import calls
from hypothesis import given
from hypothesis import strategies as st

import softlookup as sl
from agreement import expect
from mapped import assert_tile, head_of


def _one_head(call, backend, data):
    """Return one head of a drawn lookup, and what is exact and naive of it."""
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    index = tuple(data.draw(st.integers(0, n - 1)) for n in call.query.shape[:-2])
    exact, _, narrow = expect(*call.arrays, **call.options)
    return look.head(index[-1], index[:-1]), head_of(exact, index), head_of(narrow, index)


@given(call=calls(most_keys=140, most_queries=110), data=st.data())
def test_every_level_is_exact(call, data, backend):
    look, exact, narrow = _one_head(call, backend, data)
    made = look.map(build=False)
    for _ in range(data.draw(st.integers(0, 3))):  # on demand first, in any order
        q_len = made.shape[0]
        made.tile(data.draw(st.integers(0, min(4, made.levels[-1]))), 0, 0,
                  data.draw(st.integers(1, 20)))  # fmt: skip
        made.prepare(slice(data.draw(st.integers(0, q_len)), q_len), 0)
    made.build()
    for level in made.levels:
        tile = made.level(level)
        assert tile.whole
        assert_tile(tile, exact, narrow, 2**level)


@given(call=calls(most_keys=140, most_queries=110), data=st.data())
def test_a_cell_is_made_of_the_four_below_it(call, data, backend):
    look, _, _ = _one_head(call, backend, data)
    made = look.map()
    q_len = made.shape[0]
    for level in made.levels[1:]:
        fine, coarse = made.level(level - 1), made.level(level)
        four = [(slice(a, None, 2), slice(b, None, 2)) for a in (0, 1) for b in (0, 1)]
        most = np.zeros((4, *coarse.max.shape))
        total, seen = np.zeros_like(most), np.zeros(most.shape, bool)
        queries = np.minimum(q_len - np.arange(len(fine.max)) * 2 ** (level - 1), 2 ** (level - 1))
        for n, at in enumerate(four):
            part = fine.max[at]
            to = n, slice(0, part.shape[0]), slice(0, part.shape[1])
            most[to] = part
            total[to] = (fine.share * queries[:, None])[at]
            seen[to] = (np.ones_like(fine.max) if fine.seen is None else fine.seen)[at]
        whole = np.minimum(q_len - np.arange(len(coarse.max)) * 2**level, 2**level)
        np.testing.assert_allclose(coarse.max, most.max(0), rtol=1e-3, atol=1e-5)
        share = total.sum(0) / whole[:, None]
        np.testing.assert_allclose(coarse.share, share, rtol=1e-3, atol=1e-5)
        flags = np.ones(coarse.max.shape, bool) if coarse.seen is None else coarse.seen
        np.testing.assert_array_equal(flags, seen.any(0))


@given(call=calls(most_keys=140, most_queries=110), data=st.data())
def test_the_strongest_of_any_rectangle(call, data, backend):
    look, exact, _ = _one_head(call, backend, data)
    made = look.map(build=data.draw(st.booleans()))
    spans = []
    for length in made.shape:
        start = data.draw(st.integers(0, length))
        spans.append(slice(start, data.draw(st.integers(start, length))))
    k = data.draw(st.integers(1, 30))
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):
            patch.setattr("softlookup.weightmap.rectangles._AT_ONCE", 8)
        links = made.strongest(*spans, k)
    part = np.nan_to_num(exact.weights[tuple(spans)].astype(np.float64))
    want = np.sort(part[part > 0], axis=None)[::-1][:k]
    size = 1e-4 if call.query.dtype != np.float64 else 1e-9
    got = [link.weight for link in links]
    assert len(got) == len(want) or want[len(got) :].max() < 1e-30  # below float32's range
    np.testing.assert_allclose(got, want[: len(got)], rtol=size, atol=size)
    for link in links:
        assert exact.visible[link.query, link.key]
        assert abs(float(exact.weights[link.query, link.key]) - link.weight) <= size
