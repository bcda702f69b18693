"""The map as a view sees it: codes against exact numbers, progress, single weights, regions."""

import threading

import numpy as np
import pytest
from asking import ask, finish, tile
from looked_into import (
    DIM,
    KINDS,
    KV_LEN,
    Q_LEN,
    assert_codes,
    by_groups,
    capture_of,
    look_of,
    pooled,
    spoilt,
    vast,
)

from softlookup import Lookup
from softlookup.viewer import Session, codes, maps

TOP = 10  # the level at which 547 keys are one cell
VAST = 2**20  # a million tokens


def session_of(look, **options):
    return Session(capture_of(look, **options))


def tiles_of(level, look):
    """Return the places of all tiles of a level."""
    sides = [-(-n // (256 << level)) for n in (look.problem.q_len, look.problem.kv_len)]
    return np.ndindex(*sides)


def assert_level(session, look, level, **place):
    """Assert that all tiles of a level, put together, are its exact numbers."""
    trace = look.head(place.get("head", 0), place.get("batch", ())).trace()
    most, share, seen = pooled(trace, level)
    for i, j in tiles_of(level, look):
        told, found = tile(session, level=level, i=i, j=j, **place)
        at = np.s_[i * 256 : (i + 1) * 256, j * 256 : (j + 1) * 256]
        assert told == {
            "level": level, "i": i, "j": j, "whole": True,
            "rows": most[at].shape[0], "columns": most[at].shape[1],
        }  # fmt: skip
        assert_codes(found[0], most[at], seen[at])
        assert_codes(found[1], share[at], seen[at])


@pytest.mark.parametrize("kind", KINDS)
def test_every_level_tells_the_exact_numbers(kind):
    look = look_of(kind)
    session = session_of(look)
    place = {"batch": 1, "head": 2}
    told, _ = finish(session, **place)
    assert (told["q_len"], told["kv_len"], told["base"], told["top"]) == (Q_LEN, KV_LEN, 5, TOP)
    for level in range(TOP + 1):
        assert_level(session, look, level, **place)


@pytest.mark.parametrize("kind", ["plain", "causal", "mask"])
def test_fine_levels_are_there_before_anything_is_built(kind):
    look = look_of(kind)
    session = session_of(look)
    told, found = tile(session, level=5, i=0, j=0, batch=0, head=1)
    assert not told["whole"]
    assert (found == codes.UNKNOWN).any()
    assert (found <= codes.UNKNOWN).all()
    assert ask(session, "map", batch=0, head=1)["done"] == 0, "nobody asked for work"
    for level in range(5):
        assert_level(session, look, level, batch=0, head=1)


def test_a_row_of_nan_spoils_its_own_cells_only():
    look = spoilt()
    session = session_of(look)
    finish(session)
    for level in (0, 3, 5):
        assert_level(session, look, level)
    _, found = tile(session, level=0, i=0, j=0)
    assert (found[:, 41] == codes.NAN).all()
    assert (np.delete(found, 41, axis=1) != codes.NAN).all()
    told = ask(session, "at", query=41, key=3)
    assert (told["weight"], told["score"], told["lse"]) == ("NaN", "NaN", "NaN")
    assert ask(session, "block", rows="40:42", keys="0:5")["max"] == "NaN"
    links = ask(session, "strongest", count=64)["links"]
    assert len(links) == 64
    assert 41 not in [link["query"] for link in links]


def test_the_map_grows_only_by_requests_that_work(monkeypatch):
    by_groups(monkeypatch)
    session = session_of(Lookup(*np.ones((2, 2**11, 4), np.float32)))
    threads = threading.active_count()
    first = ask(session, "map")
    assert (first["done"], first["of"], first["seconds_left"]) == (0, 64, None)
    assert first["codes"] == {
        "hidden": 0, "unknown": 1, "nan": 2, "zero": 3, "first": 4, "last": 255, "low": -32,
        "high": 0,
    }  # fmt: skip
    begun = ask(session, "map", work=1)
    assert 0 < begun["done"] < 64
    assert begun["seconds_left"] > 0
    told, found = tile(session, level=5, i=0, j=0)
    assert not told["whole"]
    known = (found[0] != codes.UNKNOWN).all(axis=1)
    assert known.sum() == begun["done"]
    assert ask(session, "map") == begun, "nobody asked for more"
    assert threading.active_count() == threads
    whole, asked = finish(session)
    assert asked > 2
    assert (whole["done"], whole["seconds_left"]) == (64, 0.0)
    assert tile(session, level=5, i=0, j=0)[0]["whole"]
    assert (whole["pools"], whole["tile"], whole["refused"]) == (["max", "share"], 256, None)
    assert (whole["saved"], whole["trouble"]) == (None, None)
    assert whole["backend"].endswith(", float32")
    assert whole["bytes"] > 64 * 64 * 4


def test_every_head_has_a_map_of_its_own():
    look = look_of("sinks")
    session = session_of(look)
    finish(session, batch=1, head=2)
    assert ask(session, "map", batch=1, head=2)["done"] == ask(session, "map")["of"]
    for place in ({}, {"batch": 1}, {"head": 2}, {"batch": 0, "head": 1}):
        assert ask(session, "map", **place)["done"] == 0, place
    one, other = (tile(session, level=0, i=0, j=0, head=h)[1] for h in (0, 1))
    assert (one != other).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_weight_is_that_of_a_trace(kind):
    look = look_of(kind)
    session = session_of(look)
    trace = look.head(1, 1).trace()
    rng = np.random.default_rng(5)
    pairs = {(0, 0), (Q_LEN - 1, KV_LEN - 1), (5, 3), (64, 128)}
    pairs |= {(int(rng.integers(Q_LEN)), int(rng.integers(KV_LEN))) for _ in range(30)}
    for query, key in pairs:
        told = ask(session, "at", batch=1, head=1, query=query, key=key)
        assert told["by"] == "float64"
        assert told["visible"] == trace.visible[query, key]
        exact = {
            "weight": trace.weights[query, key],
            "score": trace.scores[query, key],
            "lse": trace.lse[query],
        }
        for name, number in exact.items():
            found = float(told[name]) if isinstance(told[name], str) else told[name]
            assert found == pytest.approx(number, rel=1e-12, abs=1e-15), name
        assert (told["weight"] == 0) == (trace.weights[query, key] == 0)


def test_a_tile_has_the_same_bytes_at_any_length():
    sizes = set()
    for length in (1_000, 32_000, VAST):
        session = Session(vast(length))
        for level in (0, 1):
            _, blob = session.handle("tile", {"level": str(level), "i": "0", "j": "0"})
            sizes.add(len(blob))
    assert sizes == {2 * 256 * 256}


def test_a_million_tokens_are_there_by_tiles_alone():
    session = Session(vast(VAST))
    told = ask(session, "map", work=1)
    assert told["refused"].startswith("map: ")
    assert "1,048,576" in told["refused"]
    assert told["done"] < told["of"]
    assert (told["seconds_left"], told["saved"], told["top"]) == (None, None, 20)
    for level in (0, 4):
        whole, found = tile(session, level=level, i=0, j=0)
        assert whole["whole"]
        rows = np.arange(256)[:, None]
        np.testing.assert_array_equal(found[0] == codes.HIDDEN, rows < np.arange(256))
    for level in (5, 12, 20):
        whole, found = tile(session, level=level, i=0, j=0)
        assert not whole["whole"]
        assert (found == codes.UNKNOWN).all()
    assert ask(session, "at", query=99, key=3)["weight"] == pytest.approx(0.01)
    assert ask(session, "block", rows="64:96", keys="0:32")["max"] == pytest.approx(1 / 65)
    links = ask(session, "strongest", rows="0:3", keys="0:9", count=3)["links"]
    assert [link["weight"] for link in links] == pytest.approx([1.0, 0.5, 0.5])
    told = ask(session, "strongest")
    assert told["argument"] == "rows"
    assert "rows of up to 1,048,448 keys take 549,613,737,920. Ask for fewer." in told["error"]
    assert ask(session, "block", rows="0:257")["visible"] == 257 * 258 // 2
    told = ask(session, "block", rows="1048318:1048575")
    assert told["argument"] == "rows"
    assert "257 rows of up to 1,048,575 keys take 269,450,879" in told["error"]


def test_rows_that_take_long_come_bit_by_bit(monkeypatch):
    by_groups(monkeypatch)
    monkeypatch.setattr(maps, "PATIENCE", 0.0)
    look = look_of("plain")
    session = session_of(look)
    told, found = tile(session, level=0, i=0, j=0)
    assert not told["whole"]
    known = (found[0] != codes.UNKNOWN).all(axis=1)
    assert known.any()
    assert not known.all()
    np.testing.assert_array_equal(found[1] == codes.UNKNOWN, found[0] == codes.UNKNOWN)
    for _ in range(256):
        told, later = tile(session, level=0, i=0, j=0)
        np.testing.assert_array_equal(later[:, known], found[:, known])
        if told["whole"]:
            break
    assert_level(session, look, 0, batch=0)


EMPTY = {"queries": (0, 3), "keys": (3, 0), "both": (0, 0)}
ASKED = {
    "map": {}, "tile": {"level": 0, "i": 0, "j": 0}, "at": {"query": 0, "key": 0}, "block": {},
    "strongest": {}, "profile": {}, "strip": {"axis": "keys"},
}  # fmt: skip


@pytest.mark.parametrize("op", ASKED)
@pytest.mark.parametrize("sizes", EMPTY.values(), ids=EMPTY)
def test_without_queries_or_keys_there_is_no_map(sizes, op):
    session = session_of(Lookup(*[np.ones((n, DIM)) for n in sizes]))
    told = ask(session, op, **ASKED[op])
    assert told["argument"] == "map"
    assert "{} x {}".format(*sizes) in told["error"]


@pytest.mark.parametrize("op", ASKED)
def test_a_head_without_dimensions_has_a_map(op):
    session = session_of(Lookup(*np.ones((2, 5, 0))))
    answer = ask(session, op, **ASKED[op])
    assert isinstance(answer, tuple) or answer.get("ok") is not False, answer


REFUSALS = {
    "level too high": ("tile", {"level": 11, "i": 0, "j": 0}, "level", ["0 ... 10", "got '11'"]),
    "level below": ("tile", {"level": -1, "i": 0, "j": 0}, "level", ["0 ... 10"]),
    "level huge": ("tile", {"level": "9" * 18, "i": 0, "j": 0}, "level", ["0 ... 10"]),
    "no level": ("tile", {"i": 0, "j": 0}, "level", ["must be given"]),
    "tile below": ("tile", {"level": 0, "i": 2, "j": 0}, "i", ["0 ... 1", "got '2'"]),
    "tile beside": ("tile", {"level": 0, "i": 0, "j": 3}, "j", ["0 ... 2", "got '3'"]),
    "tile coarse": ("tile", {"level": 10, "i": 0, "j": 1}, "j", ["0 ... 0"]),
    "tile negative": ("tile", {"level": 0, "i": -1, "j": 0}, "i", ["0 ... 1"]),
    "tile by word": ("tile", {"level": 0, "i": "x", "j": 0}, "i", ["got 'x'"]),
    "no such query": ("at", {"query": Q_LEN, "key": 0}, "query", ["0 ... 330"]),
    "no such key": ("at", {"query": 0, "key": KV_LEN}, "key", ["0 ... 546"]),
    "no key": ("at", {"query": 0}, "key", ["must be given"]),
    "rows beyond": ("block", {"rows": f"0:{Q_LEN + 1}"}, "rows", [f"0:{Q_LEN}"]),
    "no rows": ("strongest", {"rows": "7:7"}, "rows", ["one wide"]),
    "keys backwards": ("strongest", {"keys": "9:7"}, "keys", ["start:stop"]),
    "too many links": ("strongest", {"count": 65}, "count", ["1 ... 64"]),
    "no links": ("strongest", {"count": 0}, "count", ["1 ... 64"]),
    "work a lot": ("map", {"work": 2}, "work", ["0, 1", "got '2'"]),
    "work on a profile": ("profile", {"work": "yes"}, "work", ["0, 1"]),
    "no axis": ("strip", {}, "axis", ["queries, keys", "got nothing"]),
    "no such axis": ("strip", {"axis": "rows"}, "axis", ["queries, keys", "got 'rows'"]),
    "span of queries": ("strip", {"axis": "queries", "span": "0:547"}, "span", ["0:331"]),
    "too many buckets": ("strip", {"axis": "keys", "buckets": 2049}, "buckets", ["1 ... 2048"]),
    "no such head": ("map", {"head": 3}, "head", ["0 ... 2", "got '3'"]),
    "no such batch": ("tile", {"batch": 2, "level": 0}, "batch", ["0 ... 1"]),
    "mean head": ("at", {"head": "mean"}, "head", ["got 'mean'"]),
    "no such layer": ("strip", {"layer": 1}, "layer", ["0 ... 0"]),
    "no such capture": ("map", {"capture": "x"}, "capture", ["given, lesson"]),
    "no such argument": ("tile", {"size": 3}, "tile", ["no argument 'size'", "level, i, j"]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_the_real_numbers(name):
    op, args, argument, fragments = REFUSALS[name]
    told = ask(ASKED_OF, op, **args)
    assert (told["ok"], told["argument"]) == (False, argument)
    assert told["error"].startswith(f"{argument}: ")
    for fragment in fragments:
        assert fragment in told["error"]


ASKED_OF = session_of(look_of("plain"))
