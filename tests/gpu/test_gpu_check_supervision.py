"""A check of a GPU where something hangs, falls or breaks the device: only that is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import torch

from documented import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from gpu_check import __main__ as command
from gpu_check import bars, parts, record, session, supervision, timing, worker

WORKER = """
import json, subprocess, sys, time
def say(**found): print(json.dumps(found), flush=True)
for part in json.loads(sys.argv[1]):
    if part == "never": sys.exit(5)
    print("7")  # what a library prints may be JSON, too
    say(kind="begin", part=part)
    if "hangs" in part: time.sleep(60)
    if part == "falls": print("RuntimeError: no more", file=sys.stderr); sys.exit(3)
    if part == "leaves a child":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(9)"])
    say(kind="check", part=part, name="one", status="ok", of_budget=0.5, words="")
    say(kind="end", part=part)
    if part == "falls after": sys.exit(4)
"""


@pytest.fixture
def started(monkeypatch):
    """Let workers be WORKER, and return the list of those that were started."""
    begun = []

    def start(names, seed, *, dry, warming, share=(0, 1), words=None):
        begun.append(list(names))
        line = [sys.executable, "-c", WORKER, json.dumps(list(names))]
        return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=words, text=True)

    monkeypatch.setattr(supervision, "_start", start)
    return begun


def ended(limits, seconds=60.0):
    """Return how each part ended, in the order in which that was said."""
    found, until = [], time.monotonic() + seconds
    supervision.supervise(limits, 7, dry=True, until=until, say=found.append)
    said = [each for each in found if each["kind"] != "check"]
    states = {each["part"]: each.get("status", "done") for each in said}
    assert len(said) == len(states)
    return states, {each["part"]: each.get("words", "") for each in said}


def test_a_part_that_hangs_or_falls_loses_only_itself(started):
    limits = {"first": 5.0, "hangs": 0.5, "second": 5.0, "falls": 5.0, "last": 5.0}
    states, words = ended(limits)
    assert states == {
        "first": "done", "hangs": "too long", "second": "done", "falls": "fell", "last": "done",
    }  # fmt: skip
    assert "no more" in words["falls"]


def test_a_worker_that_falls_between_two_parts_loses_none(started):
    states, _ = ended({"falls after": 5.0, "last": 5.0})
    assert states == {"falls after": "done", "last": "done"}


def test_workers_that_cannot_start_are_given_up_after_two_and_every_part_is_named(started):
    names = ["never", "two", "three", "four", "five"]
    states, words = ended(dict.fromkeys(names, 5.0))
    assert states == dict.fromkeys(names, "fell")
    assert words["five"].startswith("exit 5")
    assert started == [names, names]


def test_what_the_time_of_the_run_cuts_is_left_out_and_not_called_too_long(started):
    states, _ = ended({"first": 5.0, "hangs": 50.0, "last": 5.0}, seconds=2.0)
    assert states == {"first": "done", "hangs": "left out", "last": "left out"}


def test_a_compiler_that_outlives_its_worker_holds_nothing_up(started):
    start = time.monotonic()
    assert ended({"leaves a child": 5.0})[0] == {"leaves a child": "done"}
    assert time.monotonic() - start < 6


def test_what_there_is_no_time_for_is_left_out():
    assert ended({"one": 5.0}, seconds=0.0)[0] == {"one": "left out"}


@pytest.mark.parametrize("first", ["forward, hopper hangs", "time: Hopper hangs"])
def test_a_hopper_kernel_that_hangs_is_not_timed_again(first, started):
    limits = {first: 0.5, "time: map": 5.0, "time: Hopper": 5.0, "time: Hopper, long": 5.0}
    assert ended(limits)[0] == {
        first: "too long", "time: Hopper": "left out", "time: Hopper, long": "left out",
        "time: map": "done",
    }  # fmt: skip
    named = [part.name for part in parts.PARTS if "hopper" in part.name.lower()]
    assert named[0] == "forward, cuda-hopper"
    assert all(name.startswith("time: Hopper") for name in named[1:])


def compiling(monkeypatch, *codes):
    """Let the processes that compile run these programs, in turn."""
    ahead = list(codes)

    def start(names, seed, *, dry, warming, share=(0, 1), words=None):
        return subprocess.Popen([sys.executable, "-c", ahead.pop(0)], text=True)

    monkeypatch.setattr(supervision, "_start", start)


HANGS = "import time; time.sleep(60)"


def test_what_takes_too_long_to_compile_is_stopped(monkeypatch):
    compiling(monkeypatch, HANGS)
    start = time.monotonic()
    (told,) = supervision.warm_up({"one": 1}, 7, limit=0.3)
    assert told["exit"] == -signal.SIGKILL
    assert time.monotonic() - start < 30


def test_one_kernel_that_hangs_does_not_hold_up_what_compiles(monkeypatch):
    monkeypatch.setattr(supervision, "ALONE", 1.0)
    monkeypatch.setattr(supervision, "_cores", lambda: 1)
    compiling(monkeypatch, HANGS, "pass", "raise SystemExit(4)")
    told = supervision.warm_up({"hangs": 1, "two": 2}, 7, limit=40)
    assert [(each["part"], each["share"], each["exit"]) for each in told] == [
        ("hangs", 0, -signal.SIGKILL), ("two", 0, 0), ("two", 1, 4),
    ]  # fmt: skip


def test_as_many_compile_side_by_side_as_there_are_cores_for_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 7}, raising=False)
    assert supervision._cores() == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(200)), raising=False)
    monkeypatch.setattr(supervision, "_compiles", lambda each: each.process.poll() is None)
    compiling(monkeypatch, *[HANGS] * 20)
    told = supervision.warm_up({"one": 20}, 7, limit=0.5)
    assert sum(each["exit"] is not None for each in told) <= supervision.MOST


class Device:
    """A device that dies at a call, and says so of every later one in words of Triton's."""

    def __init__(self):
        self.dead = False

    def wait(self):
        if self.dead:
            raise RuntimeError("Triton Error [CUDA]: misaligned address")

    def die(self):
        self.dead = True  # as a launch: nothing is raised yet


@pytest.fixture
def device(monkeypatch):
    made = Device()
    monkeypatch.setattr(session.Session, "device", "cpu")
    monkeypatch.setattr(torch.cuda, "synchronize", made.wait)
    monkeypatch.setattr(torch.cuda, "empty_cache", made.wait)
    return made


@pytest.fixture
def real(device):
    """Return a session that is not dry, and the list that its findings go to."""
    found = []
    return session.Session(7, say=found.append), found


def test_the_case_that_kills_the_device_is_named(device, real):
    made, found = real
    with pytest.raises(RuntimeError, match="misaligned"):
        made.attempt("the ninth case", device.die)
    assert [(each["name"], each["status"]) for each in found] == [("the ninth case", "failed")]


def fails():
    raise RuntimeError("CUDA error: out of memory")


def test_a_failure_that_leaves_the_device_alive_loses_one_case(real):
    made, found = real
    assert made.attempt("large", fails) is None
    assert timing.race(made, "row", {"cuDNN": fails}) == {}
    assert [each["kind"] for each in found] == ["check", "untimed"]


def test_a_runner_that_kills_the_device_is_named_and_ends_the_part(device, real, monkeypatch):
    made, found = real
    with pytest.raises(RuntimeError, match="misaligned"):
        timing.race(made, "row", {"cuDNN": device.die})
    device.dead = False
    monkeypatch.setattr(session.Session, "draw", lambda *_, **__: torch.zeros(1, 1, 2, 16))
    monkeypatch.setattr(bars.peers, "blind", lambda *_, **__: {"flash": device.die})
    with pytest.raises(RuntimeError, match="misaligned"):
        bars.gradients(made)
    assert [each["runner"] for each in found] == ["cuDNN", "flash"]


def test_a_dead_device_ends_the_worker_in_the_part_that_killed_it(device, monkeypatch):
    said = []
    monkeypatch.setattr(worker, "say", said.append)
    steps = [session.Part("kills", lambda _: device.die(), 5), session.Part("next", print, 5)]
    monkeypatch.setattr(worker, "PARTS", steps)
    with pytest.raises(SystemExit) as left:
        worker.work(["kills", "next"], 7, dry=False, warming=False, share=(0, 1))
    assert left.value.code == worker.LOST
    assert [(each["kind"], each["part"]) for each in said] == [("begin", "kills"),
                                                               ("broken", "kills")]  # fmt: skip


def test_the_kernels_of_the_memory_are_compiled_before_they_are_measured(real, monkeypatch):
    made, found = real
    made.warming = True
    asked = []
    shape = []
    monkeypatch.setattr(session.Session, "draw", lambda _, *given, **__: shape.append(given))
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 0)
    look = SimpleNamespace(inspect=lambda **facts: asked.append(facts))
    monkeypatch.setattr(bars.sl, "Lookup", lambda *_, **__: look)
    bars.memory(made)
    assert [each["received"] for each in asked] == [True]
    assert set(shape) == {(1, 8, 32_768, 128)}
    assert found == []


def test_a_part_that_cannot_be_warmed_shows_in_the_exit_status(device, monkeypatch):
    monkeypatch.setattr(worker, "PARTS", [session.Part("one", lambda _: fails(), 5)])
    with pytest.raises(SystemExit) as left:
        worker.work(["one"], 7, dry=False, warming=True, share=(0, 1))
    assert left.value.code == worker.UNWARMED


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError, signal.SIGTERM])
def test_whoever_stops_the_run_gets_the_table_and_what_was_not_reached(
    stop, tmp_path, monkeypatch, capsys
):
    file = tmp_path / "told.json"

    def supervise(limits, seed, *, dry, until, say):
        say({"kind": "done", "part": "weights", "seconds": 1.0})
        if stop is signal.SIGTERM:
            os.kill(os.getpid(), stop)
            time.sleep(10)
        raise stop

    monkeypatch.setattr(supervision, "supervise", supervise)
    monkeypatch.setattr(sys, "argv", ["x", "--dry", "--json", str(file), "--only", "weights; map"])
    own = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit if stop is signal.SIGTERM else stop):
            command.main()
    finally:
        signal.signal(signal.SIGTERM, own)
    assert json.loads(file.read_text("utf-8"))["not_reached"] == ["map"]
    assert "NOT ENDED: map" in capsys.readouterr().out


def test_what_was_not_compiled_is_told_and_what_was_left_out_makes_no_aim_void(tmp_path):
    told = record.conditions(7, dry=False, whole=True)
    made = record.Record(tmp_path / "told.json", told, ["map", "facts"])
    made.told["compiling"] = [{"part": "map", "share": 0, "seconds": 45.0, "exit": -9},
                              {"part": "facts", "share": 0, "seconds": 9.0, "exit": 0}]  # fmt: skip
    made.take({"kind": "stopped", "part": "map", "status": "left out", "words": "no time"})
    assert made.wrong() == set()
    assert made.told["not_reached"] == ["map", "facts"]
    assert "  compiling: 1 of 2 ended amiss: map" in made.lines()
    made.take({"kind": "stopped", "part": "facts", "status": "too long", "words": "stopped"})
    assert made.wrong() == {"cuda"}
