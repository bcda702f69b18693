"""Regions of a map, of any rows and keys: the strongest weights, and what a block comes to."""

import numpy as np
import pytest
from asking import ask, finish
from looked_into import DIM, KINDS, KV_LEN, Q_LEN, by_groups, capture_of, look_of

from softlookup import Lookup, weightmap
from softlookup.viewer import Session, maps
from softlookup.weightmap import WeightMap

WAYS = ("fresh", "built", "rim in pieces", "in pieces", "by bands")


def session_like(way, look, monkeypatch):
    """Return a session on a map of which nothing is there, or all, or that is never built."""
    session = Session(capture_of(look))
    if way in ("built", "rim in pieces"):
        finish(session)
    if way in ("in pieces", "by bands"):
        refuse(session)
    if way not in ("fresh", "built"):
        monkeypatch.setattr(maps, "PIECE", 5_000)
    if way == "by bands":
        monkeypatch.setattr(weightmap.rectangles, "_AT_ONCE", 5_000)
    return session


def refuse(session):
    """Let a map of which nothing is there never be built."""
    ask(session, "map")
    (one,) = session.kept._heads.values()
    one.refused = "too much"


def called(monkeypatch, name):
    """Return a list that what a map is asked for is put into."""
    calls, real = [], getattr(WeightMap, name)

    def note(self, rows, keys, *more, **how):
        calls.append((rows.start, rows.stop, keys.start, keys.stop))
        return real(self, rows, keys, *more, **how)

    monkeypatch.setattr(WeightMap, name, note)
    return calls


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_block_tells_its_strongest_pair_and_its_share(kind, way, monkeypatch):
    look = look_of(kind)
    session = session_like(way, look, monkeypatch)
    trace = look.head(0, (0,)).trace()
    for rows, keys in (((0, 32), (32, 64)), ((3, 4), (0, KV_LEN)), ((64, 96), (128, 160)),
                       ((0, Q_LEN), (0, KV_LEN)), ((17, 211), (101, 409))):  # fmt: skip
        spans = {"rows": ":".join(map(str, rows)), "keys": ":".join(map(str, keys))}
        told = ask(session, "block", **spans)
        part = trace.weights[slice(*rows), slice(*keys)]
        seen = trace.visible[slice(*rows), slice(*keys)]
        assert told["max"] == pytest.approx(part.max(), rel=1e-4, abs=1e-30)
        assert told["share"] == pytest.approx(part.sum() / len(part), rel=1e-4, abs=1e-30)
        assert bool(told["visible"]) == seen.any()
        if isinstance(told["visible"], int) and not isinstance(told["visible"], bool):
            assert told["visible"] == seen.sum()
        if part.max() > 0:
            assert trace.weights[told["query"], told["key"]] == pytest.approx(told["max"], rel=1e-4)
            assert rows[0] <= told["query"] < rows[1]
            assert keys[0] <= told["key"] < keys[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_strongest_links_of_a_region(kind, way, monkeypatch):
    look = look_of(kind)
    session = session_like(way, look, monkeypatch)
    trace = look.head(0, (0,)).trace()
    regions = ({}, {"rows": "200:201"}, {"keys": "77:78"}, {"rows": "17:211", "keys": "101:409"})
    for region in regions:
        spans = [region.get(name, f"0:{n}") for name, n in (("rows", Q_LEN), ("keys", KV_LEN))]
        (first, last), (left, right) = (map(int, span.split(":")) for span in spans)
        part = trace.weights[first:last, left:right]
        found = ask(session, "strongest", count=19, **region)["links"]
        exact = np.sort(part, axis=None)[::-1][: min(19, np.count_nonzero(part))]
        assert [link["weight"] for link in found] == pytest.approx(exact.tolist(), rel=1e-4)
        for link in found:
            here = trace.weights[link["query"], link["key"]]
            assert here == pytest.approx(link["weight"], rel=1e-4)
            assert first <= link["query"] < last
            assert left <= link["key"] < right
        assert len({(link["query"], link["key"]) for link in found}) == len(found)
    assert len(ask(session, "strongest")["links"]) == 1


def with_nan():
    rng = np.random.default_rng(8)
    query, key = (rng.standard_normal((n, DIM)).astype(np.float32) for n in (Q_LEN, KV_LEN))
    query[[2, 41, 300]] = np.nan
    return Lookup(query, key)


@pytest.mark.parametrize("kind", [*KINDS, "nan"])
def test_the_strongest_links_of_what_is_worked_out_so_far(kind, monkeypatch):
    by_groups(monkeypatch)
    monkeypatch.setattr(maps, "MOST_BUILT", 1_000)
    monkeypatch.setattr(maps, "ROWS_KNOWN", 64)
    monkeypatch.setattr(maps, "SLICES", 1)
    look = with_nan() if kind == "nan" else look_of(kind)
    session = Session(capture_of(look))
    assert ask(session, "strongest", so_far=1)["known"] == 0
    assert ask(session, "strongest", so_far=1)["links"] == []
    ask(session, "map", work=1)
    (kept,) = session.kept._heads.values()
    known = kept.map.known_rows.copy()
    assert 0 < known.sum() < len(known)
    one = look.head(0, (0,)) if look.problem.batch_shape else look
    weights = np.nan_to_num(one.trace().weights)
    weights[~known] = 0
    for rows, keys in (((0, len(known)), (0, weights.shape[1])), ((17, len(known)), (101, 409))):
        spans = {"rows": ":".join(map(str, rows)), "keys": ":".join(map(str, keys))}
        told = ask(session, "strongest", count=19, so_far=1, **spans)
        part = weights[slice(*rows), slice(*keys)]
        exact = np.sort(part, axis=None)[::-1][: min(19, np.count_nonzero(part))]
        assert [link["weight"] for link in told["links"]] == pytest.approx(exact.tolist(), rel=1e-4)
        for link in told["links"]:
            assert weights[link["query"], link["key"]] == pytest.approx(link["weight"], rel=1e-4)
        assert told["known"] == known[slice(*rows)].sum()
    assert (kept.map.known_rows == known).all(), "nothing was worked out for it"
    assert "at most 1,000 weights" in session.handle("strongest", {})[0]["error"]


def test_what_needs_no_waiting_is_whole(monkeypatch):
    session = Session(capture_of(look_of("plain")))
    told = ask(session, "strongest", so_far=1, rows="3:300")
    assert told == ask(session, "strongest", rows="3:300")
    assert told["known"] == 297
    refuse(session)
    monkeypatch.setattr(maps, "MOST_WORK", 1_000)
    for one in session.kept._heads.values():
        one.map._bands.done[:] = False
    assert ask(session, "strongest", so_far=1)["known"] == 0
    assert ask(session, "strongest", so_far=1, rows="3:4")["known"] == 1
    assert session.handle("strongest", {"so_far": "2"})[0]["argument"] == "so_far"


def test_only_the_rim_of_a_block_is_worked_out(monkeypatch):
    session = session_like("rim in pieces", look_of("plain"), monkeypatch)
    calls = called(monkeypatch, "block")
    ask(session, "block", rows="17:211", keys="101:409")
    assert calls == [
        (32, 192, 128, 384), (17, 32, 101, 409),
        (32, 192, 101, 128), (32, 192, 384, 409), (192, 208, 101, 409), (208, 211, 101, 409),
    ]  # fmt: skip


def test_very_long_rows_are_looked_through_by_bands(monkeypatch):
    session = session_like("by bands", look_of("plain"), monkeypatch)
    calls = called(monkeypatch, "strongest")
    ask(session, "strongest", rows="17:71", keys="101:409")
    assert [call[:2] for call in calls] == [(17, 32), (32, 64), (64, 71)]


def test_what_a_window_hides_is_no_work(monkeypatch):
    long = 2**16
    row = np.broadcast_to(np.float32(1), (long, 1))
    session = Session(capture_of(Lookup(row, row, window=(3, 0), q_offset=0)))
    calls = called(monkeypatch, "block")
    told = ask(session, "block", rows=f"5:{long}", keys=f"1:{long - 1}")
    assert (told["max"], told["query"], told["key"]) == (0.25, 5, 2)
    assert told["share"] == pytest.approx(1 - 0.25 / (long - 5))
    assert told["visible"] == 4 * (long - 5) - 1
    assert sum((stop - start) * (last - first) for start, stop, first, last in calls[1:]) < 2**20
    links = ask(session, "strongest", rows="1:65536", count=2)["links"]
    assert [(link["query"], link["key"]) for link in links] == [(1, 0), (1, 1)]
    refuse(session)
    told = ask(session, "block", rows=f"5:{long}")
    assert (told["query"], told["key"], told["visible"]) == (5, 2, 4 * (long - 5))
    assert told["share"] == pytest.approx(1)


@pytest.mark.parametrize("built", [True, False])
@pytest.mark.parametrize(
    ("opened", "every", "asked"),
    [(0, 5, 24), (2**10, 5, 1), (0, Q_LEN, 1)],  # in pieces of 10 rows, or at once
)
def test_the_strongest_links_beside_rows_of_nan(monkeypatch, built, opened, every, asked):
    monkeypatch.setattr(maps, "MOST_OPENED", opened)
    monkeypatch.setattr(maps, "PIECE", 5_000)
    calls, real = [], WeightMap.strongest

    def strongest(self, rows, keys, k, **how):
        calls.append(rows)
        return real(self, rows, keys, k, **how)

    monkeypatch.setattr(WeightMap, "strongest", strongest)
    rng = np.random.default_rng(6)
    query, key = (rng.standard_normal((n, DIM)).astype(np.float32) for n in (Q_LEN, KV_LEN))
    query[3::every] = np.nan
    query[64:96] = np.nan  # a whole band is passed over
    look = Lookup(query, key)
    session = Session(capture_of(look))
    if built:
        finish(session)
    links = ask(session, "strongest", rows="60:300", keys="5:500", count=30)["links"]
    exact = np.sort(np.nan_to_num(look.trace().weights[60:300, 5:500]), axis=None)[:-31:-1]
    assert [link["weight"] for link in links] == pytest.approx(exact.tolist(), rel=1e-4)
    assert len(calls) == asked
