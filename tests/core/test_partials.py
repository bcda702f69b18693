"""`partials`: a lookup over keys can be cut anywhere and merged."""

import functools
import itertools

import numpy as np
import pytest

import oracle
from budget import assert_within_budget
from softlookup.partials import (
    add_sinks,
    empty_part,
    finish,
    merge,
    part_of_scores,
    weights_of_scores,
)

ROWS, KEYS, DIM = 7, 11, 3
FLOAT = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def _quiet():
    """NaN and inf are data here; the backends too compute with the warnings off."""
    with np.errstate(all="ignore"):
        yield


def _rows(kind, rng):
    """Return scores and visibility with one row of `kind` among ordinary ones, and values."""
    scores = rng.standard_normal((ROWS, KEYS)) * 3
    visible = rng.random((ROWS, KEYS)) > 0.3
    visible[0] = True
    value = rng.standard_normal((KEYS, DIM))
    if kind == "empty":
        visible[2] = False
    elif kind == "nan":
        scores[2, 4], visible[2, 4] = np.nan, True
    elif kind == "inf":
        scores[2, 4], visible[2, 4] = np.inf, True
    elif kind == "-inf only":
        scores[2], visible[2, 3] = -np.inf, True
    elif kind == "hidden nan":
        scores[2, 4], visible[2, 4] = np.nan, False
        value[9], visible[:, 9] = np.nan, False
    elif kind == "loud":
        scores[2] = -1e5 + rng.standard_normal(KEYS)
        scores[3] = 1e5 + rng.standard_normal(KEYS)
    return scores, visible, value


KINDS = ("ordinary", "empty", "nan", "inf", "-inf only", "hidden nan", "loud")


def _parts(scores, visible, value, cuts):
    edges = [0, *cuts, KEYS]
    return [
        part_of_scores(scores[:, a:b].copy(), visible[:, a:b], value[a:b])
        for a, b in itertools.pairwise(edges)
    ]


def _expected(scores, visible, value, sinks, dtype):
    """Let the oracle take the scores as its bias."""
    query, key = np.zeros((ROWS, 1, 1)), np.zeros((ROWS, KEYS, 1))
    sinks = None if sinks is None else np.full(ROWS, sinks)
    return oracle.lookup(
        query, key, np.broadcast_to(value, (ROWS, KEYS, DIM)), bias=np.where(
            np.isneginf(scores), 0.0, scores)[:, None], mask=visible[:, None], sinks=sinks,
        dtype=dtype,
    )  # fmt: skip


def _assert_whole(part, scores, visible, value, sinks=None):
    """Assert the answer of `part`; a row of only -inf is checked by hand, a bias would hide it."""
    out, lse = finish(part if sinks is None else add_sinks(part, np.float64(sinks)))
    exact, naive = (
        _expected(scores, visible, value, sinks, dtype) for dtype in (np.longdouble, np.float64)
    )
    only = np.array([visible[i].any() and np.isneginf(scores[i][visible[i]]).all()
                     for i in range(ROWS)])  # fmt: skip
    assert_within_budget(out[~only], exact.out[~only, 0], naive.out[~only, 0], "out")
    assert_within_budget(lse[~only], exact.lse[~only, 0], naive.lse[~only, 0], "lse")
    if sinks is None:
        assert np.isnan(out[only]).all()
        assert np.isneginf(lse[only]).all()
    else:
        assert not out[only].any()
        assert (lse[only] == sinks).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [(), (4,), (5,), (0,), (11,), (3, 3), (1, 2, 3, 4, 5, 6, 7, 8, 9),
                                  (0, 0, 4, 11, 11)], ids=str)  # fmt: skip
@pytest.mark.parametrize("sinks", [None, 0.7])
def test_any_split_empty_parts_included_merges_to_the_whole(kind, cuts, sinks):
    rows = _rows(kind, np.random.default_rng(23))
    whole = functools.reduce(merge, _parts(*rows, cuts))
    _assert_whole(whole, *rows, sinks)


@pytest.mark.parametrize("kind", KINDS)
def test_merge_is_associative(kind):
    a, b, c = _parts(*_rows(kind, np.random.default_rng(29)), (4, 6))
    left, right = finish(merge(merge(a, b), c)), finish(merge(a, merge(b, c)))
    np.testing.assert_allclose(left.out, right.out, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(left.lse, right.lse, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_merge_in_any_order(kind):
    rows = _rows(kind, np.random.default_rng(31))
    for order in itertools.permutations(_parts(*rows, (2, 5, 9))):
        _assert_whole(functools.reduce(merge, order), *rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_empty_part_is_neutral_on_both_sides(kind):
    (part,) = _parts(*_rows(kind, np.random.default_rng(37)), ())
    empty = empty_part((ROWS,), DIM, FLOAT)
    for merged in (merge(part, empty), merge(empty, part)):
        for name in part._fields:
            np.testing.assert_array_equal(getattr(merged, name), getattr(part, name), name)


def test_a_part_with_no_keys_or_only_hidden_keys_is_the_empty_part():
    empty = empty_part((ROWS,), DIM, FLOAT)
    none = part_of_scores(np.zeros((ROWS, 0)), None, np.zeros((0, DIM)))
    value = np.full((KEYS, DIM), np.nan)
    hidden = part_of_scores(np.full((ROWS, KEYS), np.nan), np.zeros((ROWS, KEYS), bool), value)
    for part in (none, hidden):
        for name in empty._fields:
            np.testing.assert_array_equal(getattr(part, name), getattr(empty, name), name)


def test_two_empty_parts_merge_to_empty_not_nan():
    empty = empty_part((ROWS,), DIM, FLOAT)
    merged = merge(empty, empty)
    for name in empty._fields:
        np.testing.assert_array_equal(getattr(merged, name), getattr(empty, name), name)
    out, lse = finish(merged)
    assert not out.any()
    assert np.isneginf(lse).all()


def test_sinks_after_the_last_merge_are_counted_once():
    rows = _rows("empty", np.random.default_rng(41))
    whole = functools.reduce(merge, _parts(*rows, (4, 8)))
    _assert_whole(whole, *rows, sinks=2.0)
    early = [add_sinks(part, np.float64(2.0)) for part in _parts(*rows, (4, 8))]
    assert (finish(functools.reduce(merge, early)).lse[0] - finish(whole).lse[0]) > 0.01


def test_visibility_none_means_all():
    rng = np.random.default_rng(43)
    scores, value = rng.standard_normal((ROWS, KEYS)), rng.standard_normal((KEYS, DIM))
    whole = part_of_scores(scores.copy(), None, value)
    shown = part_of_scores(scores.copy(), np.ones((ROWS, KEYS), bool), value)
    for name in whole._fields:
        np.testing.assert_array_equal(getattr(whole, name), getattr(shown, name), name)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_a_part_given_the_whole(kind):
    scores, visible, value = _rows(kind, np.random.default_rng(47))
    whole = functools.reduce(merge, _parts(scores, visible, value, (4,)))
    parts = [weights_of_scores(scores[:, s].copy(), visible[:, s], whole)
             for s in (slice(0, 6), slice(6, KEYS))]  # fmt: skip
    weights = np.concatenate(parts, axis=-1)
    assert not weights[~visible].any()
    out = finish(whole).out
    np.testing.assert_allclose(
        np.where(visible, weights, 0) @ np.nan_to_num(value), out, rtol=1e-12, atol=1e-14
    )


def test_a_part_without_keys_is_empty_whatever_a_broadcast_mask_says():
    scores, value = np.empty((ROWS, 0)), np.empty((0, DIM))
    part = part_of_scores(scores, np.ones((ROWS, 1), bool), value)
    assert not part.seen.any()
    np.testing.assert_array_equal(finish(part).out, np.zeros((ROWS, DIM)))


def test_a_byte_that_is_not_0_is_visible():
    scores, visible, value = _rows("ordinary", np.random.default_rng(41))
    other = (visible.view(np.uint8) * 255).view(bool)  # NumPy takes it for True, too
    one, two = (part_of_scores(scores.copy(), each, value) for each in (visible, other))
    for left, right in zip(one[:4], two[:4], strict=True):
        np.testing.assert_array_equal(left, right)


def test_values_that_are_not_finite_count_for_keys_that_every_row_sees():
    scores, visible, value = _rows("ordinary", np.random.default_rng(43))
    visible[:, :4] = True
    value[1, 0], value[2, 1], value[6, 2], value[9, 0] = np.inf, np.nan, np.inf, -np.inf
    whole = part_of_scores(scores.copy(), visible, value)
    some = part_of_scores(scores.copy(), visible[:, 4:], value, 4)
    assert np.isnan(whole.acc[:, 1]).all()
    assert np.isinf(whole.acc).any()
    for left, right in zip(whole[:4], some[:4], strict=True):
        np.testing.assert_array_equal(left, right)


def test_an_infinite_value_of_no_weight_is_nan_for_those_who_see_it():
    scores, visible, value = _rows("ordinary", np.random.default_rng(47))
    value[6, 1], scores[2:5, 6], visible[:, 6] = np.inf, -1e4, True
    visible[3, 6] = False
    found = part_of_scores(scores, visible, value).acc[:, 1]
    assert np.isnan(found[[2, 4]]).all()
    assert np.isfinite(found[3])
    assert np.isposinf(found[[0, 1, 5, 6]]).all()


@pytest.mark.parametrize("sink", [np.inf, -np.inf, 3.5])
def test_the_lse_of_an_empty_row_is_its_sink_whatever_that_is(sink):
    empty = add_sinks(empty_part((ROWS,), DIM, FLOAT), np.float64(sink))
    np.testing.assert_array_equal(finish(empty).lse, np.full(ROWS, sink))
    np.testing.assert_array_equal(finish(empty).out, np.zeros((ROWS, DIM)))


def test_weights_of_keys_some_of_which_every_row_sees():
    scores, visible, value = _rows("ordinary", np.random.default_rng(59))
    visible[:, :4] = True
    whole = part_of_scores(scores.copy(), visible, value)
    every = weights_of_scores(scores.copy(), visible, whole)
    np.testing.assert_array_equal(weights_of_scores(scores.copy(), visible[:, 4:], whole, 4), every)
