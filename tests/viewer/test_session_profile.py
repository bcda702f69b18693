"""What goes along the axes of a head: entropy of queries, weight received by keys."""

from itertools import pairwise

import numpy as np
import pytest
from asking import ask, finish, strip
from looked_into import KINDS, KV_LEN, Q_LEN, capture_of, look_of, spoilt, vast

from softlookup import Lookup
from softlookup.lookup import Lookup as Looked
from softlookup.viewer import Session, blocks, profiles


def entropy_of(weights):
    """Return the entropy of each row, float64."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.where(weights > 0, weights * np.log(weights), 0).sum(axis=1)


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_profiles_are_exact(kind, built, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 2**13)  # several blocks of rows
    look, place = look_of(kind), {"head": 1, "batch": 1}
    session = Session(capture_of(look, padding=((0, 9),)))
    if built:
        finish(session, **place)
    told, _ = finish(session, "profile", **place)
    assert (told["seconds_left"], told["refused"]) == (0.0, None)
    assert told["by"].endswith(("float32", "float64"))
    trace = look.head(1, 1).trace()
    entropy, received = entropy_of(trace.weights), trace.weights[9:].sum(axis=0)
    for axis, exact, unit in (("queries", entropy, "nats"), ("keys", received, "weights")):
        said, found = strip(session, axis=axis, **place)
        assert said == {
            "axis": axis, "start": 0, "stop": len(exact), "buckets": len(exact), "unit": unit,
        }  # fmt: skip
        for numbers in found:  # one number a bucket
            np.testing.assert_allclose(numbers, exact, rtol=1e-3, atol=1e-4)
    assert_extremes(told, entropy, received, trace.visible)


def assert_extremes(told, entropy, received, visible):
    """The lists are ordered by what a query or a key could be; the first nine are padding."""
    seen, readers = visible.sum(axis=1), visible[9:].sum(axis=0)
    top, several = told["top_received"], np.flatnonzero(readers >= 12)
    each = np.sort(received[several] / readers[several])[:-13:-1]
    assert [one["each"] for one in top] == pytest.approx(each, rel=1e-3)
    for one in top:
        assert one["key"] in several
        assert received[one["key"]] == pytest.approx(one["received"], rel=1e-3)
        assert one["each"] == pytest.approx(one["received"] / readers[one["key"]])
    several = np.flatnonzero((seen > 1) & (np.arange(Q_LEN) >= 9))
    ordered = np.sort(entropy[several] / np.log(seen[several]))
    for name, exact in (("lowest_entropy", ordered[:12]), ("highest_entropy", ordered[:-13:-1])):
        assert [one["spread"] for one in told[name]] == pytest.approx(exact, rel=1e-3, abs=1e-4)
        for one in told[name]:
            assert one["query"] in several
            assert entropy[one["query"]] == pytest.approx(one["entropy"], rel=1e-3, abs=1e-4)
            assert one["spread"] == pytest.approx(one["entropy"] / np.log(seen[one["query"]]))


def test_a_turn_takes_few_rows_however_short(monkeypatch):
    monkeypatch.setattr(profiles, "MOST_ROWS", 4)
    session = Session(capture_of(Lookup(*np.ones((2, 31, 3)), window=(0, 0))))
    assert ask(session, "profile", work=1)["done"] == 2 * 4 * profiles.SLICES


def test_a_profile_grows_only_by_requests_that_work(monkeypatch):
    monkeypatch.setattr(profiles, "SLICE", 0.0)  # one row a slice
    session = Session(capture_of(Lookup(*np.ones((2, 31, 3)), causal=True)))
    first = ask(session, "profile")
    lists = "top_received", "lowest_entropy", "highest_entropy"
    assert (first["done"], first["seconds_left"]) == (0, None)
    assert [first[name] for name in lists] == [None] * 3
    begun = ask(session, "profile", work=1)
    assert 0 < begun["done"] < begun["of"]
    assert begun["seconds_left"] > 0
    assert ask(session, "profile") == begun
    _, entropy = strip(session, axis="queries")
    assert np.isfinite(entropy[0]).sum() == profiles.SLICES
    assert np.isnan(strip(session, axis="keys")[1]).all(), "a part of a sum is no number"
    assert ask(session, "map")["done"] == 0
    whole, asked = finish(session, "profile")
    assert asked > 3
    assert [len(whole[name]) for name in lists] == [12] * 3
    exact = [sum(1 / n for n in range(key + 1, 32)) for key in range(12)]
    assert [one["key"] for one in whole["top_received"]] == list(range(12))
    assert [one["received"] for one in whole["top_received"]] == pytest.approx(exact)
    for name in lists[1:]:  # all are spread evenly; row 0 has one key, and no choice
        assert [one["spread"] for one in whole[name]] == pytest.approx([1.0] * 12)
        assert 0 not in [one["query"] for one in whole[name]]


def test_the_first_rows_of_a_causal_head_are_no_extremes_for_their_place():
    rng = np.random.default_rng(4)
    query, key = rng.standard_normal((2, 300, 8))
    query[250] = 30 * key[40]
    key[200] += 4 * np.sign(query[201:].mean(axis=0))
    session = Session(capture_of(Lookup(query[None], key[None], causal=True)))
    told, _ = finish(session, "profile")
    assert told["lowest_entropy"][0]["query"] == 250
    early = [one["query"] for one in told["lowest_entropy"] if one["query"] < 20]
    assert len(early) < 6, "few keys to read are no choice"
    assert {one["key"] for one in told["top_received"]} & set(range(100, 289))
    assert max(one["key"] for one in told["top_received"]) <= 288, "twelve queries read it"


@pytest.mark.parametrize("kind", KINDS)
def test_the_readers_of_a_key_are_those_that_see_it(kind):
    look, real = look_of(kind).head(1, 1), np.random.default_rng(5).random(Q_LEN) > 0.3
    visible = look.trace().visible
    np.testing.assert_array_equal(blocks.readers(look, real), visible[real].sum(axis=0))


def test_the_entropy_of_a_built_map_is_not_worked_out_again(monkeypatch):
    session = Session(capture_of(look_of("plain")))
    finish(session)
    asked, real = [], Looked.inspect

    def inspect(self, **facts):
        asked.append(facts)
        return real(self, **facts)

    monkeypatch.setattr(Looked, "inspect", inspect)
    finish(session, "profile")
    assert asked
    assert not any(facts["entropy"] for facts in asked)


def test_the_strip_of_queries_comes_with_the_map():
    look = look_of("causal")
    session = Session(capture_of(look))
    assert np.isnan(strip(session, axis="queries")[1]).all()
    finish(session)
    exact = entropy_of(look.head(0, 0).trace().weights)
    np.testing.assert_allclose(strip(session, axis="queries")[1][2], exact, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("buckets", [1, 7, 100, 330])
@pytest.mark.parametrize(("start", "stop"), [(0, Q_LEN), (13, 14), (50, 151)])
def test_buckets_hold_everything_once(start, stop, buckets):
    look = look_of("plain")
    session = Session(capture_of(look))
    finish(session)
    exact = entropy_of(look.head(0, 0).trace().weights)[start:stop]
    told, found = strip(session, axis="queries", span=f"{start}:{stop}", buckets=buckets)
    count = min(buckets, stop - start)
    assert (told["start"], told["stop"], told["buckets"]) == (start, stop, count)
    ends = [len(exact) * b // count for b in range(count + 1)]
    parts = [exact[a:b] for a, b in pairwise(ends)]
    for numbers, how in zip(found, (np.max, np.min, np.mean), strict=True):
        np.testing.assert_allclose(numbers, [how(part) for part in parts], rtol=1e-4, atol=1e-5)


def test_a_strip_has_the_same_bytes_at_any_length():
    sizes = set()
    for length in (3_000, 2**20):
        session = Session(vast(length))
        for axis in ("queries", "keys"):
            sizes.add(len(session.handle("strip", {"axis": axis, "buckets": "500"})[1]))
    assert sizes == {3 * 500 * 4}


def test_nan_is_in_no_list():
    session = Session(capture_of(spoilt()))
    told, _ = finish(session, "profile")
    assert told["top_received"] == [], "every key is read by the row of NaN"
    queries = [one["query"] for name in ("lowest", "highest") for one in told[f"{name}_entropy"]]
    assert len(queries) == 24
    assert 41 not in queries
    assert np.isnan(strip(session, axis="queries")[1][:, 41]).all()


def test_a_million_tokens_have_no_profile():
    session = Session(vast(2**20))
    told = ask(session, "profile", work=1)
    assert told["refused"]
    assert (told["done"], told["seconds_left"], told["top_received"]) == (0, None, None)


def test_rows_that_see_nothing_end_too():
    mask = np.zeros((Q_LEN, KV_LEN), bool)
    session = Session(capture_of(Lookup(*[np.ones((n, 2)) for n in (Q_LEN, KV_LEN)], mask=mask)))
    told, _ = finish(session, "profile")
    assert told["lowest_entropy"] == []
    assert told["top_received"] == [], "nobody sees a key"
    none = Lookup(*[np.ones((n, 2)) for n in (3, 5)], causal=True, q_offset=-9)
    assert finish(Session(capture_of(none)), "profile")[0]["done"] > 0
