"""Single weights, blocks and the strongest links of a map, beside dense weights."""

import itertools

import numpy as np
import pytest

import oracle
import softlookup as sl
from softlookup.weightmap import rectangles

OPTIONS = {
    "all visible": {},
    "causal": {"causal": True, "q_offset": 40},
    "window": {"window": (50, 20), "q_offset": 30},
    "mask": {"mask": np.random.default_rng(9).random((263, 307)) > 0.7},
    "sinks": {"sinks": np.array([2.0])},
}
REGIONS = [
    (None, None),
    (slice(17, 211), slice(60, 303)),
    (slice(64, 128), slice(0, 96)),
    (slice(0, 1), None),
    (100, None),
    (None, 41),
    (range(3, 9), slice(-20, None)),
    (slice(5, 5), None),
]


@pytest.fixture(params=OPTIONS)
def named(request):
    return request.param


def drawn(name, backend, dtype=np.float32):
    rng = np.random.default_rng(sum(map(ord, name)))
    query, key = (2 * rng.standard_normal((n, 3)).astype(dtype) for n in (263, 307))
    options = OPTIONS[name]
    exact = oracle.lookup(query, key, key[:, :1], **options)
    return sl.Lookup(query, key, **options, backend=backend), exact


def spans(rows, keys):
    every = (np.arange(263), np.arange(307))
    return [
        part if some is None else part[[some]] if isinstance(some, int)
        else part[slice(some.start, some.stop)]
        for part, some in zip(every, (rows, keys), strict=True)
    ]  # fmt: skip


def assert_strongest(links, exact, rows, keys, k):
    """The weights are the largest, falling, and each stands where its link says."""
    i, j = spans(rows, keys)
    part = exact.weights[np.ix_(i, j)]
    want = np.sort(part[part > 0], axis=None)[::-1][:k]
    assert [link.weight for link in links] == pytest.approx(want.tolist(), abs=2e-6)
    assert all(a.weight >= b.weight for a, b in itertools.pairwise(links))
    places = {(link.query, link.key) for link in links}
    assert len(places) == len(links)
    for link in links:
        assert link.query in i
        assert link.key in j
        assert exact.weights[link.query, link.key] == pytest.approx(link.weight, abs=2e-6)


@pytest.mark.parametrize("small", [True, False], ids=["at once", "best first"])
@pytest.mark.parametrize("built", [True, False], ids=["built", "on demand"])
def test_the_strongest_are_exact(named, built, small, backend, monkeypatch):
    if not small:
        monkeypatch.setattr(rectangles, "_AT_ONCE", 16)
    look, exact = drawn(named, backend)
    for rows, keys in REGIONS:
        made = look.map(build=built)
        for k in (1, 40):
            assert_strongest(made.strongest(rows, keys, k), exact, rows, keys, k)


@pytest.mark.parametrize("limited", [True, False])
def test_without_stored_maxima_the_strongest_are_exact(limited, named, backend, monkeypatch):
    monkeypatch.setattr(rectangles, "_AT_ONCE", 16)
    look, exact = drawn(named, backend)
    given = {"limit": 0} if limited else {"pools": "share"}
    made = look.map(build=False, **given)
    for rows, keys in REGIONS:
        assert_strongest(made.strongest(rows, keys, 7), exact, rows, keys, 7)


def test_a_search_opens_few_cells(monkeypatch):
    """Where levels are stored, one strong weight is found by opening one cell."""
    monkeypatch.setattr(rectangles, "_AT_ONCE", 16)
    query = np.zeros((2048, 2), np.float32)
    key = np.random.default_rng(0).standard_normal((2048, 2)).astype(np.float32)
    query[1234] = 200 * key[77]
    made = sl.Lookup(query, key, causal=True, q_offset=1000, backend="blocked").map()
    opened, exact = [], made._bands.exact

    def counted(rows, keys):
        opened.append((rows, keys))
        return exact(rows, keys)

    monkeypatch.setattr(type(made._bands), "exact", lambda self, *at: counted(*at))
    best = made.strongest()[0]
    assert best.query == 1234
    assert len(opened) == 1


@pytest.mark.parametrize("pools", [("max", "share"), "share"])
def test_nan_hides_no_number(pools, backend, monkeypatch):
    monkeypatch.setattr(rectangles, "_AT_ONCE", 16)
    look, _ = drawn("all visible", backend)
    query, key = look.problem.query[0, 0].copy(), look.problem.key[0, 0]
    query[[40, 41, 42]] = np.nan
    query[64:96] = np.nan  # a band of nothing else
    exact = oracle.lookup(query, key, key[:, :1])
    made = sl.Lookup(query, key, backend=backend).map(pools=pools)
    finite = exact._replace(weights=np.nan_to_num(exact.weights))
    assert_strongest(made.strongest(k=50), finite, None, None, 50)
    assert_strongest(made.strongest(slice(38, 44), None, 9), finite, slice(38, 44), None, 9)
    assert made.strongest(slice(64, 96)) == []
    assert np.isnan(made.level(5).share[2]).all()
    block = made.block(slice(32, 64), slice(0, 32))
    assert np.isnan(block.max)
    assert np.isnan(block.share)
    assert (block.query, block.key) == (-1, -1)


@pytest.mark.parametrize("aligned", [True, False])
def test_a_block_is_its_reductions(aligned, named, backend):
    look, exact = drawn(named, backend)
    regions = [(slice(64, 128), slice(32, 307)), (slice(256, 263), slice(288, 307)), (None, None)]
    if not aligned:
        regions = [
            (slice(17, 18), slice(3, 300)), (slice(60, 211), slice(0, 96)), (200, 20),
            (slice(33, 64), slice(0, 32)), (slice(32, 64), slice(0, 33)),
        ]  # fmt: skip
    for built in (True, False):
        for rows, keys in regions:
            block = look.map(build=built).block(rows, keys)
            i, j = spans(rows, keys)
            part, sees = exact.weights[np.ix_(i, j)], exact.visible[np.ix_(i, j)]
            assert block.max == pytest.approx(part.max(), abs=2e-6)
            assert block.share == pytest.approx(part.sum() / len(i), abs=1e-5)
            assert block.seen == sees.sum()
            if block.max:
                assert exact.weights[block.query, block.key] == pytest.approx(block.max, abs=2e-6)
            else:
                assert (block.query, block.key) == (-1, -1)


def test_where_pairs_are_too_many_to_count_it_says_whether(monkeypatch):
    monkeypatch.setattr(rectangles, "_MOST_PAIRS", 100)
    look, _ = drawn("mask", "blocked")
    assert look.map().block().seen is True


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_single_weights_are_those_of_the_trace(named, dtype, backend):
    look, _ = drawn(named, backend, dtype)
    made = look.map(build=False)
    for query in (0, 101, 262):
        trace = look.trace(rows=[query])
        row = made.row(query)
        np.testing.assert_array_equal(row.weights, trace.weights[0])
        np.testing.assert_array_equal(row.scores, trace.scores[0])
        np.testing.assert_array_equal(row.visible, trace.visible[0])
        assert row.lse == trace.lse[0]
        for key in (0, 99, 306):
            assert made.at(query, key) == trace.weights[0, key]
    assert made.done == 0
    for query in range(30):
        made.at(query, 0)
    assert len(made._rows) <= 8


def test_more_work_than_one_answer_may_take_is_refused(monkeypatch, backend):
    monkeypatch.setattr(rectangles, "_MOST_WEIGHTS", 60_000)
    look, exact = drawn("all visible", backend)
    made = look.map(build=False)
    with pytest.raises(sl.SoftlookupError, match=r"rows: .*60,000 weights.*9 bands.*Build the map"):
        made.strongest()
    assert made.strongest(slice(0, 64))[0].weight == pytest.approx(
        exact.weights[:64].max(), abs=2e-6
    )
    made.build()
    assert made.strongest()[0].weight == pytest.approx(exact.weights.max(), abs=2e-6)
