"""Maps are kept: beside the capture where they were slow, the latest in memory, for everyone."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from asking import ask, finish, strip, tile
from looked_into import KV_LEN, Q_LEN, capture_of, look_of

from patience import PATIENCE
from softlookup import Lookup
from softlookup.errors import FileError
from softlookup.shelf import find
from softlookup.viewer import Session, item_of, kept, maps, profiles, summaries
from softlookup.viewer.opened import Opened, place_of
from softlookup.weightmap import WeightMap, bands


@pytest.fixture
def file(tmp_path):
    """Return a capture file of three heads and two batch entries."""
    path = tmp_path / "run.safetensors"
    capture_of(look_of("causal")).save(path)
    return path


@pytest.fixture
def slow(monkeypatch):
    """Every map counts as slow."""
    monkeypatch.setattr(kept, "SAVED_AFTER", -1.0)


def until(true):
    """Wait until something is true, not forever."""
    end = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        time.sleep(0.001)


def all_tiles(session, **place):
    """Return the codes of all tiles of all levels."""
    top = ask(session, "map", **place)["top"]
    found = {}
    for level in range(top + 1):
        sides = [-(-n // (256 << level)) for n in (Q_LEN, KV_LEN)]
        for i, j in np.ndindex(*sides):
            found[level, i, j] = tile(session, level=level, i=i, j=j, **place)[1].tobytes()
    return found


def test_a_slow_map_is_saved_and_used_by_the_next_session(file, slow):
    first = Session(find(file))
    told, _ = finish(first, head=2, batch=1)
    name = "run.safetensors.maps/layer-0-head-2-batch-1.safetensors"
    assert (told["saved"], told["trouble"]) == (name, None)
    assert (file.parent / name).is_file()
    assert {path.name for path in file.parent.iterdir()} == {file.name, f"{file.name}.maps"}
    again = Session(find(file))
    told = ask(again, "map", head=2, batch=1)
    assert (told["done"], told["saved"], told["seconds_left"]) == (told["of"], name, 0.0)
    assert all_tiles(again, head=2, batch=1) == all_tiles(first, head=2, batch=1)
    for args in ({"rows": "3:99"}, {"keys": "10:20", "count": 9}):
        both = [ask(session, "strongest", head=2, batch=1, **args) for session in (first, again)]
        assert both[0] == both[1]
    entropies = [strip(session, axis="queries", head=2, batch=1)[1] for session in (first, again)]
    np.testing.assert_array_equal(*entropies)
    assert not np.isnan(entropies[0]).any()
    assert ask(again, "map")["saved"] is None, "another head"


def test_a_saved_map_is_not_worked_out_again(file, slow, monkeypatch):
    finish(Session(find(file)))
    monkeypatch.setattr(WeightMap, "step", None)
    told = ask(Session(find(file)), "map", work=1)
    assert told["done"] == told["of"]


def profile_of(session):
    """Return what is told of the profile without any work."""
    told = ask(session, "profile")
    return told, strip(session, axis="keys")[1], strip(session, axis="queries")[1]


def test_what_keys_receive_is_saved_with_the_map(file, slow, monkeypatch):
    first = Session(find(file))
    finish(first)
    finish(first, "profile")
    monkeypatch.setattr(profiles.Profile, "work", None)
    again = profile_of(Session(find(file)))
    assert again[0]["done"] == again[0]["of"]
    for one, other in zip(again, profile_of(first), strict=True):
        np.testing.assert_equal(one, other)


def test_what_keys_receive_of_other_queries_is_worked_out_anew(file, slow):
    first = Session(find(file))
    finish(first)
    finish(first, "profile")
    capture_of(look_of("causal"), padding=((0, 9),)).save(file)
    session = Session(find(file))
    assert ask(session, "map")["saved"], "the map is of the same weights"
    assert ask(session, "profile")["done"] == 0
    finish(session, "profile")
    assert not np.array_equal(profile_of(session)[1], profile_of(first)[1])
    np.testing.assert_array_equal(profile_of(Session(find(file)))[1], profile_of(session)[1])


def test_a_map_that_knows_nothing_of_its_keys_learns_it(file, slow):
    path = saved_beside(file, look_of("causal").head(0, 0).map())
    session = Session(find(file))
    assert ask(session, "profile")["done"] == 0
    finish(session, "profile")
    assert WeightMap.open(path, look_of("causal").head(0, 0)).received is not None


def test_where_it_cannot_be_added_nothing_is_told(file, slow, monkeypatch):
    saved_beside(file, look_of("causal").head(0, 0).map())

    def full(self, path):
        raise FileError("here", "cannot be written: No space left on device. Choose another place.")

    monkeypatch.setattr(WeightMap, "save", full)
    session = Session(find(file))
    finish(session, "profile")
    told = ask(session, "map")
    assert (told["saved"] is None, told["trouble"]) == (False, None)


def test_a_quick_map_is_not_saved(file):
    told, _ = finish(Session(find(file)))
    assert (told["saved"], told["trouble"]) == (None, None)
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("how", ["lookup", "shipped", "capture"])
def test_what_is_no_file_of_the_caller_is_not_saved(how, slow):
    look = Lookup(*np.ones((2, 3, 4)))
    first = {"lookup": lambda: item_of(look), "shipped": lambda: find("sentence"),
             "capture": lambda: item_of(capture_of(look))}[how]()  # fmt: skip
    told, _ = finish(Session(first))
    assert (told["saved"], told["trouble"]) == (None, None)


def test_the_map_of_another_capture_is_not_used(file, slow):
    finish(Session(find(file)))
    capture_of(look_of("window")).save(file)
    session = Session(find(file))
    told = ask(session, "map")
    assert (told["done"], told["saved"]) == (0, None)
    assert "layer-0-head-0-batch-0.safetensors" in told["trouble"]
    told, _ = finish(session)
    assert (told["saved"] is not None, told["trouble"]) == (True, None)
    fresh = Session(capture_of(look_of("window")))
    finish(fresh)
    assert all_tiles(Session(find(file))) == all_tiles(fresh)


@pytest.mark.parametrize("content", [b"", b"no map", b"\x10" + bytes(31)])
def test_a_damaged_file_is_told_and_replaced(file, slow, content):
    name, _ = finish(Session(find(file)))
    path = file.parent / name["saved"]
    path.write_bytes(content)
    session = Session(find(file))
    told = ask(session, "map")
    assert (told["done"], told["saved"]) == (0, None)
    assert path.name in told["trouble"]
    assert finish(session)[0]["trouble"] is None
    assert ask(Session(find(file)), "map")["saved"]


def saved_beside(file, made):
    """Put a map where that of the first head goes."""
    path = file.parent / "run.safetensors.maps" / "layer-0-head-0-batch-0.safetensors"
    path.parent.mkdir()
    made.save(path)
    return path


@pytest.mark.parametrize("pool", ["max", "share"])
def test_a_map_that_lacks_a_pool_is_built_anew(file, slow, monkeypatch, pool):
    monkeypatch.setattr(summaries, "LONG", 40)
    look = look_of("causal").head(0, 0)
    path = saved_beside(file, look.map(pools=(pool,)))
    session = Session(find(file))
    told = ask(session, "map")
    assert (told["done"], told["saved"], told["pools"]) == (0, None, ["max", "share"])
    assert f"must hold max and share; it holds {pool}" in told["trouble"]
    for _ in range(100):
        summary = ask(session, "head", work=1)
        if isinstance(summary, tuple):
            break
    assert isinstance(summary, tuple)
    told = ask(session, "map", work=1)
    assert (told["saved"] is not None, told["trouble"]) == (True, None)
    assert WeightMap.open(path, look).pools == ("max", "share")


def test_a_map_that_was_saved_half_built_is_saved_again(file, slow):
    look = look_of("causal").head(0, 0)
    half = look.map(build=False)
    half.prepare(slice(0, 32), 0.0)
    path = saved_beside(file, half)
    one = kept.open_kept(file, place_of(Opened(find(file)), {}), 0)
    assert 0 < one.map.done < one.map.of
    assert one.saved
    one.work(0.0)
    assert one.saved is None, "memory holds more"
    session = Session(find(file))
    assert 0 < ask(session, "map")["done"] < ask(session, "map")["of"]
    assert finish(session)[0]["saved"]
    again = WeightMap.open(path, look)
    assert again.done == again.of


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_where_a_map_would_lie_is_let_alone(file, slow):
    path = file.parent / "run.safetensors.maps" / "layer-0-head-0-batch-0.safetensors"
    path.parent.mkdir()
    os.mkfifo(path)
    session = Session(find(file))
    assert ask(session, "map")["done"] == 0
    told, _ = finish(session)
    assert told["saved"] is None
    assert "cannot be written: Not a regular file" in told["trouble"]
    assert path.is_fifo()


def test_a_folder_that_cannot_be_written_is_told(file, slow):
    file.with_name(f"{file.name}.maps").write_text("in the way")
    session = Session(find(file))
    told, _ = finish(session)
    assert told["saved"] is None
    assert "cannot be written" in told["trouble"]
    assert "run.safetensors.maps" in told["trouble"]
    assert ask(session, "map", work=1) == told
    assert tile(session, level=5, i=0, j=0)[0]["whole"]


def test_a_name_too_long_for_a_folder_beside_it_is_told(tmp_path, slow):
    path = tmp_path / f"{'x' * 240}.safetensors"
    capture_of(look_of("causal")).save(path)
    session = Session(find(path))
    assert "cannot be read" in ask(session, "map")["trouble"]
    told, _ = finish(session)
    assert told["saved"] is None
    assert "cannot be written" in told["trouble"]


def test_a_full_disk_is_told_once(file, slow, monkeypatch):
    tried = []

    def full(self, path):
        tried.append(path)
        raise FileError("here", "cannot be written: No space left on device. Choose another place.")

    monkeypatch.setattr(WeightMap, "save", full)
    session = Session(find(file))
    told, _ = finish(session)
    assert told["trouble"].startswith("here: cannot be written: No space")
    assert ask(session, "map", work=1) == told
    assert len(tried) == 1


def test_only_the_latest_heads_stay_in_memory(monkeypatch):
    session = Session(capture_of(look_of("plain")))
    one = finish(session, head=0)[0]["bytes"]
    monkeypatch.setattr(kept, "MOST_BYTES", int(2.5 * one))
    for head in (1, 0, 2):  # 1 was not asked about for longest
        finish(session, head=head)
    assert len(session.kept) == 2
    assert ask(session, "map", head=0)["done"] > 0
    assert ask(session, "map", head=1)["done"] == 0
    monkeypatch.setattr(kept, "MOST_BYTES", 0)
    assert finish(session, head=2)[0]["done"] > 0, "the one that is asked about stays"
    assert len(session.kept) == 1


def test_maps_that_lie_in_files_take_little_room(file, slow, monkeypatch):
    capture_of(Lookup(*np.ones((2, 3, 4096, 2), np.float32))).save(file)
    for head in range(3):
        size = finish(Session(find(file)), head=head)[0]["bytes"]
    monkeypatch.setattr(kept, "MOST_BYTES", 2 * size)
    session = Session(find(file))
    for head in range(3):
        assert ask(session, "map", head=head)["saved"]
    assert len(session.kept) == 3


def test_a_map_that_is_never_built_pushes_no_other_out(monkeypatch):
    session = Session(capture_of(Lookup(*np.ones((2, 3, 4096, 2), np.float32))))
    size = ask(session, "map", head=0)["bytes"]
    session.kept._heads["given", 0, 0, 0].refused = "too much"
    monkeypatch.setattr(kept, "MOST_BYTES", int(1.5 * size))
    ask(session, "map", head=1)
    assert len(session.kept) == 2
    ask(session, "map", head=2)
    assert len(session.kept) == 1, "those that may be built count"


def test_many_threads_build_the_same_map(monkeypatch):
    monkeypatch.setattr(maps, "SLICE", 0.0)
    monkeypatch.setattr(bands, "_SHORTEST", 0.0)
    look = look_of("mask")
    alone = Session(capture_of(look))
    finish(alone, head=0)
    finish(alone, head=1)
    session = Session(capture_of(look))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as threads:
            jobs = [threads.submit(finish, session, head=n % 2) for n in range(4)]
            jobs += [threads.submit(finish, session, "profile", head=n) for n in (0, 1)]
            looks = [threads.submit(all_tiles, session, head=n % 2) for n in range(4)]
            for job in (*jobs, *looks):
                job.result()
    finally:
        sys.setswitchinterval(interval)
    for head in (0, 1):
        assert all_tiles(session, head=head) == all_tiles(alone, head=head)
        for args in ({}, {"rows": "10:300", "keys": "7:11", "count": 64}):
            assert ask(session, "strongest", head=head, **args) == ask(
                alone, "strongest", head=head, **args
            )


def test_two_who_finish_a_map_save_it_once(file, slow, monkeypatch):
    saved, real = [], WeightMap.save

    def save(self, path):
        saved.append(path)
        return real(self, path)

    monkeypatch.setattr(WeightMap, "save", save)
    session = Session(find(file))
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda _: finish(session)[0], range(4)))
    assert len(saved) == 1
    assert all(one["done"] == one["of"] for one in told)
    assert ask(session, "map")["saved"]


@pytest.mark.parametrize("what", ["step", "save", "row"])
def test_others_are_answered_while_a_map_is_worked_out(file, slow, monkeypatch, what):
    monkeypatch.setattr(maps, "SLICE", 0.0)
    monkeypatch.setattr(bands, "_SHORTEST", 0.0)
    session = Session(find(file))
    begun, answered, real = threading.Event(), threading.Event(), getattr(WeightMap, what)
    in_time = []

    def wait(self, *args):
        if what == "step" and not begun.is_set():
            begun.set()
            until(lambda: len(session._turns) == 2)  # the other one waits
        else:
            begun.set()
            in_time.append(answered.wait(PATIENCE))
        return real(self, *args)

    monkeypatch.setattr(WeightMap, what, wait)
    args = {"query": 5, "key": 3} if what == "row" else {}
    work = ask if args else finish
    long = threading.Thread(target=work, args=(session, "at" if args else "map"), kwargs=args)
    long.start()
    assert begun.wait(PATIENCE)
    assert ask(session, "trace", row=3)["row"] == 3
    answered.set()
    long.join()
    assert in_time
    assert all(in_time)
