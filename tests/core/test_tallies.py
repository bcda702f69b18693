"""`tallies`: what a part keeps for the facts merges like the part, wherever the keys are cut."""

import functools
import itertools

import numpy as np
import pytest

from softlookup.partials import add_sinks, empty_part, merge, part_of_scores, row_facts
from softlookup.tallies import Wanted, best_of

ROWS, KEYS, TOP, GROUPS = 7, 13, 3, 2
POSITION = np.arange(ROWS) * 2 - 1  # from before the first key to behind the last
LABELS = np.arange(KEYS) % (GROUPS + 1) - 1
EDGES = np.array([-15, -7, -3, -1, 0, 1, 2, 4, 8])
NO_VALUE = np.empty((KEYS, 0))
KINDS = ("ordinary", "ties", "empty", "nan", "inf", "-inf only", "some -inf", "loud")
CUTS = ((), (4,), (0,), (13,), (3, 3), tuple(range(13)), (0, 0, 4, 13, 13))


@pytest.fixture(autouse=True)
def _quiet():
    """NaN and inf are data here; the backends too compute with the warnings off."""
    with np.errstate(all="ignore"):
        yield


def rows_of(kind):
    """Return scores and visibility with rows 2 and 3 of `kind` among ordinary ones."""
    rng = np.random.default_rng(sum(map(ord, kind)))
    scores, visible = rng.standard_normal((ROWS, KEYS)) * 3, rng.random((ROWS, KEYS)) > 0.3
    visible[0] = True
    visible[2, [2, 4]] = True
    if kind == "ties":
        scores = np.round(scores / 3)
    elif kind == "empty":
        visible[2] = False
    elif kind in ("nan", "inf"):
        scores[2, 4] = float(kind)
    elif kind == "-inf only":
        scores[2] = -np.inf
    elif kind == "some -inf":
        scores[2, 5:], visible[2], scores[3, 1:] = -np.inf, True, -np.inf
    elif kind == "loud":
        scores[2] -= 1e5
        scores[3] += 1e5
        scores[4, ::2] -= 1e300
    return scores, visible


def want(first, last):
    """Return everything that can be wanted of the keys from `first` to `last`."""
    members = (LABELS[first:last, None] == np.arange(GROUPS)).astype(float)
    starts = np.clip(POSITION[:, None] + EDGES - first, 0, last - first)
    return Wanted(True, True, TOP, first, members, starts)


def parts(kind, cuts):
    scores, visible = rows_of(kind)
    return [
        part_of_scores(scores[:, a:b].copy(), visible[:, a:b], NO_VALUE[a:b], wanted=want(a, b))
        for a, b in itertools.pairwise((0, *cuts, KEYS))
    ]


def shares_by_hand(kind, sink):
    """Return weights of each row, float64: -inf is a score like others, all of them are NaN."""
    scores, visible = rows_of(kind)
    shown = np.where(visible, scores, -np.inf)
    logit = -np.inf if sink is None else sink
    peak = np.maximum(shown.max(-1), logit)
    exps = np.where(visible, np.exp(shown - np.maximum(peak, -1e308)[:, None]), 0)
    weights = exps / (exps.sum(-1) + np.exp(logit - np.maximum(peak, -1e308)))[:, None]
    wrong = (visible & ~(scores < np.inf)).any(-1)
    return np.where(visible.any(-1)[:, None], np.where(wrong[:, None], np.nan, weights), 0.0)


def assert_facts(part, kind, sink):
    scores, visible = rows_of(kind)
    facts = row_facts(part if sink is None else add_sinks(part, np.float64(sink)),
                      None if sink is None else np.float64(sink))  # fmt: skip
    weights = shares_by_hand(kind, sink)
    spoilt = np.isnan(weights).any(-1)
    nan = np.where(spoilt, np.nan, 0)
    logs = np.where(weights > 0, np.log(np.where(weights > 0, weights, 1)), 0)
    distance = np.abs(POSITION[:, None] - np.arange(KEYS))
    bins = ((0, 0), (1, 1), (2, 3), (4, 7), (8, 15))
    close = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-14)
    close(facts.entropy, nan - (np.where(spoilt[:, None], 0, weights) * logs).sum(-1))
    close(facts.groups, np.stack([
        np.where(n == LABELS, weights, 0).sum(-1) + nan for n in range(GROUPS)], -1))  # fmt: skip
    close(facts.distance, np.stack([
        np.where((distance >= low) & (distance <= high), weights, 0).sum(-1) + nan
        for low, high in bins], -1))  # fmt: skip
    wrong = (visible & ~(scores < np.inf)).any(-1)
    peak = np.where(visible, scores, -np.inf).max(-1)
    np.testing.assert_array_equal(facts.max_score, np.where(wrong, np.nan, peak))
    if sink is not None:
        close(facts.sink, 1 - weights.sum(-1))
    for row in range(ROWS):
        seen = np.flatnonzero(visible[row])
        best = [] if wrong[row] else seen[np.argsort(-scores[row, seen], kind="stable")][:TOP]
        keys = np.pad(best, (0, TOP - len(best)), constant_values=-1)
        np.testing.assert_array_equal(facts.top_keys[row], keys)
        there = np.where(keys < 0, 0, weights[row][keys.astype(int)])
        close(facts.top_weights[row], np.nan if wrong[row] else there)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("sink", [None, 0.7])
def test_any_split_empty_parts_included_merges_to_the_whole(kind, cuts, sink):
    assert_facts(functools.reduce(merge, parts(kind, cuts)), kind, sink)


@pytest.mark.parametrize("kind", KINDS)
def test_in_any_order(kind):
    for order in itertools.permutations(parts(kind, (2, 5, 9))):
        assert_facts(functools.reduce(merge, order), kind, None)


@pytest.mark.parametrize("kind", KINDS)
def test_merge_is_associative(kind):
    a, b, c = parts(kind, (4, 6))
    assert_facts(merge(merge(a, b), c), kind, 0.3)
    assert_facts(merge(a, merge(b, c)), kind, 0.3)


def _assert_same(left, right):
    """Assert that two tallies hold the same numbers."""
    for name in left._fields:
        one, other = getattr(left, name), getattr(right, name)
        for a, b in zip(one, other, strict=True) if name == "best" else ((one, other),):
            np.testing.assert_array_equal(a, b, name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_empty_tally_is_neutral_on_both_sides(kind):
    (part,) = parts(kind, ())
    empty = empty_part((ROWS,), 0, np.dtype(float), want(0, 0))
    for merged in (merge(part, empty), merge(empty, part)):
        for one, other in zip(row_facts(merged), row_facts(part), strict=True):
            np.testing.assert_array_equal(one, other)
        if kind != "inf":  # there a sum of 0 becomes NaN; every fact is NaN either way
            _assert_same(merged.tally, part.tally)


def test_no_keys_or_only_hidden_keys_make_the_empty_tally():
    empty = empty_part((ROWS,), 0, np.dtype(float), want(0, 0)).tally
    none = part_of_scores(np.zeros((ROWS, 0)), None, NO_VALUE[:0], wanted=want(5, 5))
    hidden = part_of_scores(np.full((ROWS, KEYS), np.nan), np.zeros((ROWS, KEYS), bool), NO_VALUE,
                            wanted=want(0, KEYS))  # fmt: skip
    _assert_same(none.tally, empty)
    _assert_same(hidden.tally, empty)


def test_a_tally_changes_no_bit_of_the_part():
    scores, visible = rows_of("loud")
    value = np.random.default_rng(1).standard_normal((KEYS, 2))
    with_facts = part_of_scores(scores.copy(), visible, value, wanted=want(0, KEYS))
    without = part_of_scores(scores.copy(), visible, value)
    assert without.tally is None
    for name in ("row_max", "row_sum", "acc", "seen"):
        assert getattr(with_facts, name).tobytes() == getattr(without, name).tobytes()


def test_what_is_not_wanted_is_not_kept():
    scores, visible = rows_of("ordinary")
    part = part_of_scores(scores.copy(), visible, NO_VALUE, wanted=Wanted(max_score=True))
    merged = add_sinks(merge(part, part), np.float64(9.0))
    assert [name for name, fact in merged.tally._asdict().items() if fact is not None] == ["peak"]
    peak = np.where(visible, scores, -np.inf).max(-1)
    np.testing.assert_array_equal(merged.tally.peak, peak)  # a sink of 9 is no score


def test_keys_that_all_rows_see_need_no_flags():
    scores, visible = rows_of("some -inf")
    visible[:, :4] = True
    whole = part_of_scores(scores.copy(), visible, NO_VALUE, wanted=want(0, KEYS))
    free = part_of_scores(scores.copy(), visible[:, 4:], NO_VALUE, 4, want(0, KEYS))
    _assert_same(whole.tally, free.tally)


@pytest.mark.parametrize("keys", [1, 2, 50, 1000])
@pytest.mark.parametrize("distinct", [1, 2, 7, 10**6])
@pytest.mark.parametrize("top", [1, 5, 60])
def test_the_best_are_a_stable_sort(keys, distinct, top):
    rng = np.random.default_rng(keys + distinct)
    scores = rng.integers(0, distinct, (2, 3, keys)).astype(np.float32)
    scores[0, 0, : keys // 2] = -np.inf
    visible = rng.random((2, 3, keys)) > 0.3
    scores[~visible] = -np.inf
    best = best_of(scores, visible, 0, Wanted(top=top, first_key=100))
    for row in np.ndindex(2, 3):
        seen = np.flatnonzero(visible[row])
        order = seen[np.argsort(-scores[row][seen], kind="stable")][:top]
        np.testing.assert_array_equal(best.keys[row][: len(order)], order + 100)
        np.testing.assert_array_equal(best.scores[row][: len(order)], scores[row][order])
        assert (best.keys[row][len(order) :] == -1).all()
