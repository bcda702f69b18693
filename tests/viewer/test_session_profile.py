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
    top = told["top_received"]
    assert [one["received"] for one in top] == pytest.approx(np.sort(received)[:-13:-1], rel=1e-3)
    assert [received[one["key"]] for one in top] == pytest.approx(
        [one["received"] for one in top], rel=1e-3
    )
    several = np.flatnonzero((trace.visible.sum(axis=1) > 1) & (np.arange(Q_LEN) >= 9))
    ordered = np.sort(entropy[several])
    for name, exact in (("lowest_entropy", ordered[:12]), ("highest_entropy", ordered[:-13:-1])):
        assert [one["entropy"] for one in told[name]] == pytest.approx(exact, rel=1e-3, abs=1e-4)
        for one in told[name]:
            assert one["query"] in several
            assert entropy[one["query"]] == pytest.approx(one["entropy"], rel=1e-3, abs=1e-4)


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
    # row 0 has one key, and no choice
    assert [one["query"] for one in whole["lowest_entropy"]] == list(range(1, 13))
    assert [one["query"] for one in whole["highest_entropy"]] == list(range(30, 18, -1))


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
    assert [one["received"] for one in told["top_received"]] == [0.0] * 12
    none = Lookup(*[np.ones((n, 2)) for n in (3, 5)], causal=True, q_offset=-9)
    assert finish(Session(capture_of(none)), "profile")[0]["done"] > 0
