"""Blocks of weights of every case on every backend: whole bands, and cells of any size."""

import numpy as np
import pytest

import cases
import oracle
import softlookup as sl
from agreement import assert_same_bits
from budget import assert_same_nonfinite, assert_within_budget, loudest
from looking import depth
from mapped import assert_cells, cells, head_of
from softlookup.backends import registry
from softlookup.pooling import BAND, Normaliser

BACKENDS = {backend.NAME: backend for backend in registry.backends()}
NAMES = [name for name, case in cases.NAMED.items() if 0 not in (*case.batch, *(case.heads or ()))]


def heads(name, backend):
    """The first and the last head of a case, as a problem and what it gives exactly and naively."""
    call = cases.build(name)
    look = sl.Lookup(*call.arrays, **call.options, backend=backend)
    narrow = cases.naive(name, cases.accumulator(call.query.dtype))
    for index in {(0,) * (call.query.ndim - 2), tuple(n - 1 for n in call.query.shape[:-2])}:
        one = look.head(index[-1], index[:-1]) if index else look
        yield one.problem, head_of(cases.exact(name), index), head_of(narrow, index)


def pool(backend, problem, order=None):
    """All bands in a shuffled order, put back in their places."""
    count = -(-problem.q_len // BAND)
    bands = np.random.default_rng(count).permutation(count) if order is None else order
    found = BACKENDS[backend].pooled(problem, bands)
    back = np.argsort(bands)
    rows = (back[:, None] * BAND + np.arange(BAND)).reshape(-1)
    per_row = [part[rows] for part in (*found.normaliser, found.lse, found.entropy)]
    return found.max[back], found.total[back], per_row


@pytest.mark.parametrize("name", NAMES)
def test_bands_are_exact(name, backend):
    for problem, exact, narrow in heads(name, backend):
        most, total, per_row = pool(backend, problem)
        assert_cells((most, total), exact, narrow, BAND)
        for past in per_row:
            assert not past[problem.q_len :].any()
        shift, factor, lse, entropy = (part[: problem.q_len] for part in per_row)
        loud = loudest(exact)
        assert_within_budget(lse, exact.lse, narrow.lse, "lse", loud)
        wide, rough = (oracle.facts(found, 1)["entropy"] for found in (exact, narrow))
        rough = rough.astype(problem.compute_dtype)
        assert_within_budget(entropy, wide, rough, "entropy", loud * depth(wide))
        with np.errstate(all="ignore"):
            weights = np.exp(exact.scores - shift[:, None]) * factor[:, None]
        weights = np.where(exact.visible, weights, 0)
        assert_within_budget(weights, exact.weights, narrow.weights, "normalised", loud)
        empty = ~exact.visible.any(-1)
        assert not factor[empty].any()


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_exact(name, backend):
    for problem, exact, narrow in heads(name, backend):
        normaliser = [part[: problem.q_len] for part in pool(backend, problem)[2][:2]]
        for size in (1, 2, 4, 8, 16, 32):
            for cut in (0, 3):  # all of it, and a corner whose end is no multiple of anything
                lengths = exact.weights.shape
                first = [length * cut // 5 // size * size for length in lengths]
                last = [max(length - cut, at) for length, at in zip(lengths, first, strict=True)]
                rows, keys = map(slice, first, last)
                some = Normaliser(*(part[rows] for part in normaliser))
                found = BACKENDS[backend].cells(problem, rows, keys, size, some)
                assert found[0].dtype == found[1].dtype == problem.compute_dtype
                part, near = (corner(each, rows, keys) for each in (exact, narrow))
                assert_cells(found, part, near, size)


def corner(found, rows, keys):
    """A rectangle of what the oracle found."""
    names = ("weights", "scores", "visible")
    return found._replace(**{name: getattr(found, name)[rows, keys] for name in names})


def test_a_band_does_not_depend_on_the_others(backend):
    for problem, _, _ in heads("several tiles, causal", backend):
        together = pool(backend, problem)
        one = BACKENDS[backend].pooled(problem, np.array([3]))
        size = np.abs(together[0][3]).max()
        np.testing.assert_allclose(one.max[0], together[0][3], atol=1e-6 * size)
        twice = BACKENDS[backend].pooled(problem, np.array([3, 3]))
        assert_same_bits(twice.max[:1], twice.max[1:])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_stays_in_its_rows(bad, backend):
    rng = np.random.default_rng(5)
    query, key, value = rng.standard_normal((3, 71, 3)).astype(np.float32)
    query[37] = bad  # scores of one row: NaN, or inf and -inf
    bias = np.zeros((71, 71), np.float32)
    bias[11, 5] = np.nan
    options = {"causal": True, "bias": bias}
    problem = sl.Lookup(query, key, value, **options, backend=backend).problem
    exact, narrow = (
        oracle.lookup(query, key, value, **options, dtype=dtype)
        for dtype in (np.float64, np.float32)
    )
    assert np.isnan(exact.weights).any(-1).sum() >= 2
    for order in ([0, 1, 2], [2, 1, 0]):  # side by side, a band has blocks that others alone see
        most, total, per_row = pool(backend, problem, np.array(order))
        assert_cells((most, total), exact, narrow, BAND)
    assert_same_nonfinite(per_row[3][:71], oracle.facts(exact, 1)["entropy"], "entropy")
    normaliser = Normaliser(*(part[:71] for part in per_row[:2]))
    for size in (1, 8):
        found = BACKENDS[backend].cells(problem, slice(0, 71), slice(0, 71), size, normaliser)
        assert_cells(found, exact, narrow, size)


def test_rows_whose_visible_scores_are_all_minus_infinity(backend):
    query, key = np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([[np.inf, 0.0], [np.inf, 0.0]])
    with np.errstate(all="ignore"):
        for sinks in (None, [0.5]):
            options = {} if sinks is None else {"sinks": np.array(sinks)}
            problem = sl.Lookup(query, key, **options, scale=1.0, backend=backend).problem
            exact = oracle.lookup(query, key, key, **options, scale=1.0)
            found = BACKENDS[backend].pooled(problem, np.array([0]))
            want = cells(exact.weights, exact.visible, BAND)
            assert_same_nonfinite(found.max, want.max)
            each = BACKENDS[backend].cells(
                problem, slice(0, 2), slice(0, 2), 1, Normaliser(*(p[:2] for p in found.normaliser))
            )
            assert_same_nonfinite(each[0], exact.weights)


def test_no_bands_and_no_cells(backend):
    problem = sl.Lookup(np.ones((5, 2)), np.ones((7, 2)), backend=backend).problem
    found = BACKENDS[backend].pooled(problem, np.zeros(0, np.int64))
    assert found.max.shape == found.total.shape == (0, 1)
    nothing = Normaliser(np.zeros(0), np.zeros(0))
    assert BACKENDS[backend].cells(problem, slice(0, 0), slice(0, 7), 1, nothing)[0].shape == (0, 7)
