"""How far something is that takes long: a bar on a terminal, a line now and then in a log."""

import os
import subprocess
import sys
import time

import pytest

from patience import PATIENCE
from softlookup.cli import terminal
from softlookup.cli.terminal import progress_bar

STEPS = {  # when, and how many of 160 are done then; what is said of it
    "nothing yet": ([(0, 0), (40, 0)], "0 of 160 lines"),
    "the first, after a start": ([(0, 0), (40, 16)], "16 of 160 lines"),
    "the second": ([(0, 0), (40, 16), (50, 32)], "32 of 160 lines"),
    "as long again": (
        [(0, 0), (40, 16), (60, 32), (80, 48)], "48 of 160 lines, about 0:02:20 left",
    ),
    "two workers in step": (
        [(0, 0), (40, 16), (41, 32), (60, 48), (61, 64), (80, 80), (81, 96)],
        "96 of 160 lines, about 0:00:40 left",
    ),
    "slow ones": ([(0, 0), (90, 16), (180, 32)], "32 of 160 lines, about 0:12:00 left"),
    "slower ones": (
        [(0, 0), (90, 16), (180, 32), (300, 48)], "48 of 160 lines, about 0:12:15 left",
    ),
    "very slow ones": (
        [(0, 0), (86_400, 40), (172_800, 80)], "80 of 160 lines, about 2 days, 0:00:00 left",
    ),
    "gone on with": ([(9, 80)], "80 of 160 lines"),
    "the first one after": ([(9, 80), (49, 96)], "96 of 160 lines"),
    "the second one after": (
        [(9, 80), (49, 96), (89, 112)], "112 of 160 lines, about 0:02:00 left",
    ),
    "all there": ([(9, 160)], "160 of 160 lines"),
    "all done": ([(0, 0), (40, 160)], "160 of 160 lines"),
}  # fmt: skip


@pytest.fixture
def clock(monkeypatch):
    """What time it is for a bar; lines of a log come quickly."""
    now = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: 1000.0 + now[0])
    for name in ("_FIRST", "_EVERY"):
        monkeypatch.setattr(terminal, name, 0.005)
    return now


def said(capsys, line):
    """Wait until a line is said, and return all that were until then."""
    until, found = time.monotonic() + PATIENCE, []
    while line not in found:
        assert time.monotonic() < until, found
        time.sleep(0.01)
        found += capsys.readouterr().err.splitlines()
    return found


def walk(clock, advance, steps):
    for at, done in steps:
        clock[0] = at
        advance(done, 160)


@pytest.mark.parametrize("kind", ["", "dumb"])
@pytest.mark.parametrize("steps", STEPS)
def test_a_log_is_told_now_and_then(capsys, monkeypatch, clock, steps, kind):
    if kind:  # a terminal, as of an editor, where nothing can be written over
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", kind)
    walked, line = STEPS[steps]
    with progress_bar("line", None) as advance:
        time.sleep(0.05)
        assert capsys.readouterr().err == "", "nobody knows of how many"
        walk(clock, advance, walked)
        assert {one.split(" of ")[1][:9] for one in said(capsys, line)} == {"160 lines"}


@pytest.mark.parametrize("steps", STEPS)
def test_a_bar_tells_the_same(capsys, monkeypatch, clock, steps):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    walked, line = STEPS[steps]
    left = line.partition("about ")[2].removesuffix(" left")
    with progress_bar("line", None) as advance:
        walk(clock, advance, walked)
        capsys.readouterr()
    last = capsys.readouterr().err
    assert (left or ("0:00:00" if "160 of" in line else "-:--:--")) in last
    assert " of 160" not in last


def test_a_total_that_is_known_needs_no_telling(capsys, clock):
    with progress_bar("layer", 12) as advance:
        assert said(capsys, "0 of 12 layers")
        for at in range(1, 4):
            clock[0] = 10 * at
            advance(at)
        assert said(capsys, "3 of 12 layers, about 0:01:30 left")


def test_one_thing_is_no_several(capsys, clock):
    with progress_bar("band", 1):
        assert said(capsys, "0 of 1 band")


LOG = """
import time
from softlookup.cli import terminal
terminal._FIRST = terminal._EVERY = 0.005
with terminal.progress_bar("line", None) as advance:
    advance(0, 160)
    time.sleep(0.1)
print("done")
"""


def test_a_log_that_nobody_reads_takes_nothing_with_it():
    read, write = os.pipe()
    os.close(read)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", LOG],
            check=False, stdout=subprocess.PIPE, stderr=write, timeout=PATIENCE, text=True,
        )  # fmt: skip
    finally:
        os.close(write)
    assert (ended.returncode, ended.stdout) == (0, "done\n")


def test_what_is_done_with_quickly_says_nothing(capsys):
    with progress_bar("line", None) as advance:
        advance(0, 160)
        advance(160, 160)
    assert capsys.readouterr() == ("", "")
