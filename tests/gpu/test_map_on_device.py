"""The map of tensors: the same as of arrays, file and all, brought into memory band by band."""

import threading

import borrowed
import numpy as np
import pytest
import sent

import map_cases
import softlookup as sl
from map_cases import call, expected
from mapped import assert_tile
from softlookup.weightmap import bands, identity

MAPS = borrowed.module("core/test_weightmap.py")
SMALL = [
    "one query", "one key", "causal, the first rows empty", "causal, after earlier keys",
    "causal window beyond the keys", "no valid key", "sink and softcap", "mask", "bias that hides",
    "few visible",
]  # fmt: skip


@pytest.fixture(autouse=True)
def on_device(monkeypatch):
    """Let the cases be tensors."""
    monkeypatch.setattr(map_cases, "sl", borrowed.TENSORS)


def made(name, **options):
    return map_cases.lookup(name, "cuda").map(**options)


@pytest.mark.parametrize("name", SMALL)
def test_every_level_is_exact(name):
    exact, narrow = expected(name)
    look_map = made(name)
    assert look_map.by == "cuda, float32"
    for level in {0, 3, *look_map.levels[5:]}:
        assert_tile(look_map.level(level), exact, narrow, 2**level)
    np.testing.assert_allclose(look_map.lse, exact.lse.astype(np.float64), atol=1e-5)


@pytest.mark.parametrize("name", ["mask", "sink and softcap", "bias that hides"])
def test_rows_blocks_and_the_strongest(name):
    query, key, value, options = call(name)
    exact, _ = expected(name)
    look_map, here = made(name), sl.Lookup(query, key, value, **options).map()
    for row in (0, len(query) - 1):
        for part, same in zip(look_map.row(row)[:3], here.row(row)[:3], strict=True):
            np.testing.assert_array_equal(part, same)
    assert look_map.at(40, 20) == here.at(40, 20)
    rows, keys = slice(7, 150), slice(10, 140)
    block, same = look_map.block(rows, keys), here.block(rows, keys)
    assert block == pytest.approx(same, abs=1e-5)
    best = look_map.strongest(rows, keys, k=5)
    right = np.sort(exact.weights[rows, keys], axis=None)[:-6:-1]
    assert [link.weight for link in best] == pytest.approx(right, abs=1e-5)


@pytest.mark.parametrize("name", ["mask", "sink and softcap"])
def test_a_file_is_of_the_arrays_wherever_they_lie(name, tmp_path):
    query, key, value, options = call(name)
    look, here = map_cases.lookup(name, "cuda"), sl.Lookup(query, key, value, **options)
    assert identity.fingerprint(look.problem) == identity.fingerprint(here.problem)
    look.map().save(tmp_path / "one.safetensors")
    opened = sl.WeightMap.open(tmp_path / "one.safetensors", here)
    assert opened.done == opened.of
    assert "saved levels by cuda" in opened.by
    look.look.problem.query.tensor[0, 0, 3] += 1
    with pytest.raises(sl.SoftlookupError, match="of this lookup"):
        sl.WeightMap.open(tmp_path / "one.safetensors", look.look)


def test_the_lookup_is_taken_note_of_as_it_was(monkeypatch):
    class Late(threading.Thread):
        """Begins when it is waited for."""

        def start(self):
            pass

        def join(self, timeout=None):
            super().start()
            super().join(timeout)

    monkeypatch.setattr(identity.threading, "Thread", Late)
    problem = map_cases.lookup("sink and softcap", "cuda").look.problem
    before, waiting = identity.fingerprint(problem), identity.begun(problem)
    problem.key.tensor.zero_()
    assert waiting() == before != identity.fingerprint(problem)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_stops_a_fingerprint_is_raised_where_it_is_read(monkeypatch):
    def stopped(_):
        raise MemoryError("no room")

    monkeypatch.setattr(identity, "fingerprint", stopped)
    read = identity.begun(sl.Lookup(*map(sent.sent, np.ones((3, 4, 8), np.float32))).problem)
    with pytest.raises(MemoryError, match="no room"):
        read()


def test_estimate_progress_and_a_stop(monkeypatch):
    monkeypatch.setattr(bands, "_DEVICE_BANDS", 1)
    monkeypatch.setattr(bands, "_DEVICE_GROUPS", 1)
    monkeypatch.setattr(bands, "GROUP", 1)
    look_map, seen = made("causal, after earlier keys", build=False), []
    estimate = look_map.estimate()
    assert estimate.seconds > 0
    assert look_map.done == 1

    def progress(done, of):
        seen.append((done, of))
        raise KeyboardInterrupt

    monkeypatch.setattr("softlookup.weightmap.map._STEP", 0.0)
    with pytest.raises(KeyboardInterrupt):
        look_map.build(progress)
    assert 1 < look_map.done == seen[0][0] < look_map.of
    look_map.build()
    exact, narrow = expected("causal, after earlier keys")
    assert_tile(look_map.level(5), exact, narrow, 32)


def test_fine_tiles_alone():
    exact, narrow = expected("window")
    tile = made("window", build=False, limit=0).tile(0, 1, 1, 64)
    assert_tile(tile, exact, narrow, 1, np.s_[64:128, 64:128])


def test_a_head_among_others(monkeypatch):
    monkeypatch.setattr(MAPS, "sl", borrowed.TENSORS)
    MAPS.test_a_head_among_others("cuda")
