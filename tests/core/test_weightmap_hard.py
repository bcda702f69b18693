"""Weight maps under threads, with very many links, and with weights below float32's range."""

import threading

import numpy as np
import pytest

import softlookup as sl
from patience import PATIENCE
from softlookup.weightmap import rectangles
from softlookup.weightmap.bands import Bands
from softlookup.weightmap.levels import Levels


def lookup(length, dtype=np.float32, **options):
    numbers = np.random.default_rng(5).standard_normal((2, length, 8)).astype(dtype)
    return sl.Lookup(*numbers, **options)


def in_a_thread(name, do):
    thread = threading.Thread(target=do, name=name, daemon=True)
    thread.start()
    return thread


def test_a_step_ends_where_another_thread_took_the_last_bands(monkeypatch):
    made = lookup(100).map(build=False)
    ask, asked, others = Bands._waiting, threading.Event(), threading.Event()

    def slow(bands):
        if threading.current_thread().name == "slow":
            asked.set()
            others.wait(0.3)  # a lock keeps them out; without one they take all there is
        return ask(bands)

    monkeypatch.setattr(Bands, "_waiting", slow)
    first = in_a_thread("slow", lambda: made.step(0.0))
    asked.wait(PATIENCE)
    second = in_a_thread("fast", lambda: (made.build(), others.set()))
    for thread in (first, second):
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert made.done == made.of


def test_two_threads_that_begin_at_once_lose_nothing(monkeypatch):
    look = lookup(300)
    made, right = look.map(build=False), look.map().level(5)
    allocate = Levels.allocate

    def slow(levels):
        if threading.current_thread().name == "slow" and not levels.allocated:
            threading.Event().wait(0.1)
            levels.allocated = False
        allocate(levels)

    monkeypatch.setattr(Levels, "allocate", slow)
    threads = [
        in_a_thread("slow", lambda: made.prepare(slice(0, 32), 0.0)),
        in_a_thread("fast", lambda: made.prepare(slice(160, 192), 0.0)),
    ]
    for thread in threads:
        thread.join(PATIENCE)
    made.build()
    np.testing.assert_array_equal(made.level(5).max, right.max)
    np.testing.assert_array_equal(made.level(5).share, right.share)


@pytest.mark.parametrize("count", [1, 7, 1000, 100_000])
def test_as_many_links_as_asked_for_are_the_largest(count):
    look = lookup(2100)
    made, dense = look.map(), look.weights()
    links = made.strongest(k=count)
    found = np.array([link.weight for link in links])
    assert (np.diff(found) <= 0).all()
    assert len({(link.query, link.key) for link in links}) == count
    largest = np.sort(np.partition(dense.reshape(-1), -count)[-count:])[::-1]
    np.testing.assert_allclose(found, largest, rtol=2e-5)


def test_equal_weights_are_told_in_order():
    made = sl.Lookup(np.zeros((2200, 4)), np.ones((2200, 4))).map()
    assert [link[:2] for link in made.strongest(k=5)] == [(0, key) for key in range(5)]


def test_weights_below_the_range_of_float32_are_found():
    look = lookup(2100, np.float64, sinks=np.array([200.0]))
    dense = look.weights()
    best = look.map().strongest(k=1)[0]
    assert (best.query, best.key) == np.unravel_index(dense.argmax(), dense.shape)
    np.testing.assert_allclose(best.weight, dense.max(), rtol=1e-12)
    assert look.map().block().max == best.weight


@pytest.mark.parametrize("pools", ["max", "share"])
@pytest.mark.parametrize("cause", [np.nan, np.inf])
def test_rows_of_nan_everywhere_are_not_opened_cell_by_cell(pools, cause, backend, monkeypatch):
    query, key = np.random.default_rng(9).standard_normal((2, 700, 8)).astype(np.float32)
    query[5::32] = cause * np.sign(key[0])  # against key 0 a score of NaN or inf: the row is NaN
    query[[64, 650]] = 3 * key[[10, 300]]
    query[96:128] = np.nan  # of one band nothing is left
    look = sl.Lookup(query, key, causal=True, backend=backend)
    weights, made = np.nan_to_num(look.weights()), look.map(pools=pools)
    monkeypatch.setattr(rectangles, "_AT_ONCE", 2**18)  # less than the rectangle has
    asked, exact = [], Bands.exact
    monkeypatch.setattr(Bands, "exact", lambda *args: asked.append(args) or exact(*args))
    rows, keys = slice(40, 690), slice(5, 600)
    found = made.strongest(rows, keys, k=300)
    assert len(asked) < 30  # once a band; 250 cells hold NaN
    assert len({link[:2] for link in found}) == 300
    want = np.sort(weights[rows, keys], axis=None)[:-301:-1]
    np.testing.assert_allclose([link.weight for link in found], want, atol=1e-6)
    for query, key, weight in found:
        assert abs(weights[query, key] - weight) < 1e-6
