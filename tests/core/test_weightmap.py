"""A weight map at every level, beside dense weights."""

import numpy as np
import pytest

import oracle
import softlookup as sl
from agreement import assert_same_bits
from map_cases import LOOKUPS, expected, lookup
from mapped import assert_tile, cells
from softlookup.errors import OptionError


@pytest.mark.parametrize("name", LOOKUPS)
def test_every_level_is_exact(name, backend):
    exact, narrow = expected(name)
    look = lookup(name, backend)
    made = look.map()
    assert made.done == made.of == -(-look.problem.q_len // 32)
    assert made.levels[-1] == int(np.ceil(np.log2(max(made.shape))))
    for level in made.levels:
        tile = made.level(level)
        assert tile.whole
        assert tile.known is None
        assert_tile(tile, exact, narrow, 2**level)
    assert tile.share.size == 1
    np.testing.assert_allclose(made.lse, exact.lse.astype(np.float64), atol=1e-5)


@pytest.mark.parametrize("name", ["causal", "window", "mask", "causal, the first rows empty"])
def test_tiles_are_parts_of_their_level(name, backend):
    made = lookup(name, backend).map()
    for level, size in ((0, 256), (1, 113), (3, 29), (5, 7), (6, 3), (6, 256)):
        whole = made.level(level)
        cells_of = whole.max.shape
        for i, j in np.ndindex(*(-(-n // size) for n in cells_of)):
            at = np.s_[i * size : (i + 1) * size, j * size : (j + 1) * size]
            tile = made.tile(level, i, j, size)
            assert tile.whole
            for one, all_of_it in zip(tile[:2], whole[:2], strict=True):
                np.testing.assert_allclose(one, all_of_it[at], atol=1e-6)
            seen = np.ones(cells_of, bool) if whole.seen is None else whole.seen
            assert (seen[at] if tile.seen is None else seen[at] == tile.seen).all()


@pytest.mark.parametrize("name", ["causal", "sink and softcap", "mask", "padded keys"])
def test_a_row_of_shares_sums_to_one_less_the_sink(name, backend):
    exact, _ = expected(name)
    made = lookup(name, backend).map()
    for level in made.levels:
        whole = cells(exact.weights, exact.visible, 2**level).share.sum(1)
        np.testing.assert_allclose(made.level(level).share.sum(1), whole, atol=2e-5)


def test_flags_of_masks_are_found_in_pieces(backend, monkeypatch):
    from softlookup.weightmap import levels

    exact, narrow = expected("mask")
    monkeypatch.setattr(levels, "_CELLS_AT_ONCE", 5000)
    made = lookup("mask", backend).map()
    for level in (0, 2, 5, 7):
        assert_tile(made.level(level), exact, narrow, 2**level)


def test_a_fine_tile_computes_no_keys_that_it_cannot_see(monkeypatch):
    made, asked = lookup("window", "blocked").map(), []
    backend = made._bands.backend
    cells_of = backend.cells

    def counted(problem, rows, keys, size, normaliser):
        asked.append((rows, keys))
        return cells_of(problem, rows, keys, size, normaliser)

    monkeypatch.setattr(backend, "cells", counted)
    made.tile(0, 4, 0, 64)
    assert not asked
    made.tile(0, 4, 4, 64)
    made.tile(0, 4, 3, 64)
    assert asked == [(slice(256, 320), slice(256, 320)), (slice(256, 320), slice(219, 256))]


@pytest.mark.parametrize("pools", ["max", "share", ("share",), ["max"]])
def test_a_pool_that_was_not_asked_for_is_not_there(pools, backend):
    exact, narrow = expected("causal")
    made = lookup("causal", backend).map(pools=pools)
    assert len(made.pools) == 1
    for level in (0, 3, 5, 8):
        tile = made.level(level)
        assert (tile.max is None) == ("max" not in made.pools)
        assert (tile.share is None) == ("share" not in made.pools)
        assert_tile(tile, exact, narrow, 2**level)
    strongest = made.strongest(k=5)
    assert [link.weight for link in strongest] == pytest.approx(
        np.sort(exact.weights, axis=None)[:-6:-1], abs=1e-5
    )
    assert made.block(slice(32, 64), slice(0, 32)).share == pytest.approx(
        exact.weights[32:64, :32].sum() / 32, abs=1e-5
    )


def test_what_causal_and_window_hide_is_not_stored():
    query = np.zeros((4096, 1), np.float32)
    whole, causal, window = (
        sl.Lookup(query, query, **options).map(build=False).bytes
        for options in ({}, {"causal": True}, {"window": (100, 0)})
    )
    rows = 4096 * (4 * 4 + 2 * 8)  # lse, entropy and normaliser; what each row sees
    cells_of = 128 * 128 * 4 / 3 * 8
    assert abs(whole - rows - cells_of) < 16
    assert causal - rows < 0.53 * (whole - rows)
    assert window - rows < 0.1 * (whole - rows)


@pytest.mark.parametrize(("q_len", "kv_len"), [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_no_queries_or_no_keys(q_len, kv_len, backend):
    look = sl.Lookup(np.ones((q_len, 2)), np.ones((kv_len, 2)), backend=backend)
    made = look.map()
    for level in made.levels:
        tile = made.tile(level, 0, 0)
        assert tile.max.shape == tuple(-(-n // 2**level) for n in (q_len, kv_len))
        assert tile.whole
    assert made.step()
    assert made.strongest() == ([] if not q_len * kv_len else [(0, 0, 1.0)])
    assert made.block().seen == q_len * kv_len
    assert made.estimate().seconds == 0


def test_a_head_among_others(backend):
    rng = np.random.default_rng(2)
    query = rng.standard_normal((2, 6, 67, 5)).astype(np.float32)
    key = rng.standard_normal((2, 3, 67, 5)).astype(np.float32)
    options = {
        "causal": True, "q_offset": np.array([0, -7]), "kv_lens": np.array([67, 41]),
        "mask": rng.random((6, 67, 67)) > 0.3, "sinks": rng.standard_normal(6),
    }  # fmt: skip
    look = sl.Lookup(query, key, **options, backend=backend)
    exact = oracle.lookup(query, key, key[..., :1], **options)
    made = look.head(5, batch=1).map()
    want = cells(exact.weights[1, 5], exact.visible[1, 5], 32)
    np.testing.assert_allclose(made.level(5).share, want.share, atol=1e-5)
    np.testing.assert_array_equal(made.level(5).seen, want.seen)
    with pytest.raises(
        OptionError, match=r"6 heads.*\(2,\).*look\.head\(0, batch=\(0,\)\)\.map\(\)"
    ):
        look.map()
    assert look.head(0, batch=(0,)).map().done == 3  # what it says to do does it


def test_a_map_changes_nothing_and_keeps_no_value(backend):
    look = lookup("mask", backend)
    before = look.attend(), look.weights()
    made = look.map()
    assert_same_bits(look.attend(), before[0])
    assert_same_bits(look.weights(), before[1])
    assert made._bands.problem.value is None
    with pytest.raises(ValueError, match="read-only"):
        made.lse[0] = 0


@pytest.mark.parametrize("options", [{"causal": True}, {"window": (90, 0)}])
def test_a_mask_opens_nothing_that_position_hides(options, backend):
    query = np.zeros((131, 2), np.float32)
    made = sl.Lookup(query, query, mask=np.triu(np.ones((131, 131), bool), 1), **options,
                     backend=backend).map()  # fmt: skip
    for level in made.levels:
        tile = made.level(level)
        assert not tile.seen.any()
        assert not tile.max.any()
    assert made.strongest() == []
    assert made.block() == (0.0, -1, -1, 0.0, 0)
