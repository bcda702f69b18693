"""A weight map that is built in parts, broken off, or not at all."""

import numpy as np
import pytest

import softlookup as sl
from map_cases import expected, lookup
from mapped import assert_tile, cells
from softlookup.errors import OptionError


@pytest.mark.parametrize("name", ["causal", "mask", "window", "causal in float64"])
def test_fine_tiles_need_no_map(name, backend):
    exact, narrow = expected(name)
    made = lookup(name, backend).map(build=False)
    assert made.done == 0
    for level in range(5):
        first = made.tile(level, 0, 0, 7)
        assert_tile(first, exact, narrow, 2**level, np.s_[:7, :7])
        assert first.whole
    assert 0 < made.done < made.of  # what they needed is kept, and no more


def assert_unknown(tile, rows):
    """Assert that no cell of some rows holds a number but the 0 of those that are hidden."""
    seen = np.ones_like(tile.max, bool) if tile.seen is None else tile.seen
    assert not tile.known[rows].any()
    for numbers in (tile.max[rows], tile.share[rows]):
        np.testing.assert_array_equal(np.isnan(numbers), seen[rows])
        assert not numbers[~seen[rows]].any()


def test_a_tile_that_may_not_compute_says_what_it_does_not_know(backend):
    exact, _ = expected("causal")
    made = lookup("causal", backend).map(build=False)
    nothing = made.tile(2, 0, 0, compute=False)
    assert not nothing.whole
    assert not nothing.known.any()
    assert_unknown(nothing, slice(None))
    assert made.done == 0
    while not made.prepare(slice(70, 71), 0):
        pass
    assert made.done >= 1
    assert made.known_rows[64:96].all()
    some = made.tile(2, 0, 0, compute=False)
    assert not some.whole
    known = some.known.all(1)
    want = cells(exact.weights, exact.visible, 4)
    assert known[16:24].all()
    np.testing.assert_allclose(some.max[known], want.max[known], atol=1e-5)
    assert_unknown(some, ~known)


def test_what_is_not_known_is_no_number_however_large_its_scores(backend):
    query, key = 100 * np.random.default_rng(8).standard_normal((2, 193, 4)).astype(np.float32)
    made = sl.Lookup(query, key, causal=True, backend=backend).map(build=False)
    while not made.prepare(slice(0, 1), 0):
        pass
    for level in range(5):
        tile = made.tile(level, 0, 0, compute=False)
        known = tile.known.all(1)
        assert 0 < known.sum() < len(known)
        assert_unknown(tile, ~known)


@pytest.mark.parametrize("name", ["causal", "mask", "few visible"])
def test_a_half_built_map_holds_what_is_done(name, backend):
    exact, _ = expected(name)
    made = lookup(name, backend).map(build=False)
    unknown = made.level(6)
    assert not unknown.known.any()
    assert_unknown(unknown, slice(None))
    made.step(0)
    assert 0 < made.done < made.of
    rows = made.known_rows
    assert np.isnan(made.lse[~rows]).all()
    assert np.isnan(made.entropy[~rows]).all()
    np.testing.assert_allclose(made.lse[rows], exact.lse[rows], atol=1e-5)
    for level in (5, 7, made.levels[-1]):
        size, tile = 2**level, made.level(level)
        known = tile.known if tile.known is not None else np.ones_like(tile.max, bool)
        assert not tile.whole
        for i, j in np.ndindex(*tile.max.shape):
            at = np.s_[i * size : (i + 1) * size, j * size : (j + 1) * size]
            some = rows[at[0]]
            assert known[i, j] == some.any()
            weights = exact.weights[at][some]
            if some.any():
                assert abs(tile.max[i, j] - weights.max()) < 1e-5
                assert abs(tile.share[i, j] - weights.sum() / some.sum()) < 1e-5
            else:
                hidden = tile.seen is not None and not tile.seen[i, j]
                np.testing.assert_equal(tile.max[i, j], 0 if hidden else np.nan)
                np.testing.assert_equal(tile.share[i, j], 0 if hidden else np.nan)
            whole = rows[at[0]].all()
            if tile.seen is not None and (whole or not tile.seen[i, j]):
                assert tile.seen[i, j] == exact.visible[at].any()


def test_the_first_steps_lie_evenly(backend):
    query, key = np.random.default_rng(0).standard_normal((2, 4096, 3)).astype(np.float32)
    made = sl.Lookup(query, key, backend=backend).map(build=False)
    groups = []
    while len(groups) < 8:
        before = made.known_rows
        made.step(0)
        groups = np.unique(np.flatnonzero(made.known_rows) // 128)
        assert (made.known_rows >= before).all()
    gaps = np.diff(np.concatenate([[-1], groups, [32]]))
    assert gaps.max() <= 2 * 32 / len(groups)


class Stop(BaseException):
    """What no caller catches by accident."""


def test_what_progress_raises_leaves_a_map_that_goes_on(backend):
    look = lookup("causal", backend)
    whole, made = look.map(), look.map(build=False)
    seen = []

    def stop(done, of):
        seen.append((done, of))
        raise Stop

    made.step(0)
    with pytest.raises(Stop):
        made.build(stop)
    assert seen == [(made.done, made.of)]
    made.build(lambda done, of: seen.append((done, of)))
    assert seen[-1] == (made.of, made.of)
    for level in made.levels:
        np.testing.assert_allclose(made.level(level).share, whole.level(level).share, atol=1e-6)


@pytest.mark.parametrize("when", range(4))
def test_an_interrupt_anywhere_leaves_a_map_that_goes_on(when, monkeypatch):
    """Whatever was half written is written again: nothing is counted twice."""
    from softlookup.weightmap import levels

    look = lookup("mask", "blocked")
    whole, made = look.map(), look.map(build=False)
    calls, merge = [], levels._merge_row

    def interrupted(*given):
        merge(*given)
        calls.append(given)
        if len(calls) == 1 + 2 * when:
            raise KeyboardInterrupt

    monkeypatch.setattr(levels, "_merge_row", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.build()
    made.build()
    for level in made.levels:
        np.testing.assert_allclose(made.level(level).share, whole.level(level).share, atol=1e-6)
        np.testing.assert_array_equal(made.level(level).seen, whole.level(level).seen)


def test_a_band_that_is_computed_twice_counts_once(backend):
    made = lookup("causal", backend).map()
    before = [made.level(level) for level in made.levels]
    made._bands.compute(np.arange(3, 9))
    made._bands.merged[:] = False
    after = [made.level(level) for level in made.levels]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one.share, other.share, atol=1e-6)


def test_the_limit_refuses_before_anything_is_stored(backend):
    exact, narrow = expected("causal")
    look = lookup("causal", backend)
    needed = look.map(build=False).bytes
    with pytest.raises(
        OptionError, match=rf"limit: .*{needed - 1:,} bytes.*{needed:,}.*build=False"
    ):
        look.map(limit=needed - 1)
    made = look.map(limit=needed - 1, build=False)
    assert f"{needed:,}" in made.refused
    for refused in (made.step, made.build, lambda: made.save("m.safetensors")):
        with pytest.raises(OptionError, match="limit"):
            refused()
    assert_tile(made.level(3), exact, narrow, 8)
    coarse = made.level(7)
    assert not coarse.known.any()
    assert not coarse.whole
    best = made.strongest(k=3)
    assert [link.weight for link in best] == pytest.approx(
        np.sort(exact.weights, axis=None)[:-4:-1], abs=1e-5
    )
    assert not made._bands.levels.allocated
    assert look.map(limit=needed).refused is None


def test_an_estimate_is_of_the_rest(backend):
    made = lookup("causal", backend).map(build=False)
    before = made.estimate()
    assert before.seconds > 0
    assert before.bytes == made.bytes
    made.build()
    assert made.estimate().seconds == 0


def test_what_takes_hours_is_not_begun(monkeypatch):
    from softlookup.weightmap import map as module

    monkeypatch.setattr(module, "_MOST_SECONDS", 0)
    with pytest.raises(OptionError, match=r"build: .*697 x 697 weights.*seconds here.*step\(\)"):
        lookup("causal", "blocked").map()
    lookup("causal", "blocked").map(build=False).build()
