"""A long answer keeps nobody waiting: it is bounded, and others have their turns within it."""

import threading
import time
from itertools import count

import numpy as np
import pytest
from asking import ask

from captured import captured
from patience import PATIENCE
from softlookup import Lookup
from softlookup.viewer import Session, blocks, rectangles
from softlookup.viewer.turns import Turns

LENGTH, BLOCKS = 64, 8


def until(true):
    """Wait until something is true, not forever."""
    end = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("op", "where", "name"),
    [
        ("overview", blocks, "of_rows"),
        ("facts", blocks, "of_rows"),
        ("grid", rectangles, "steps"),
    ],
)
def test_others_are_answered_within_a_long_answer(monkeypatch, op, where, name):
    session = Session(captured(Lookup(*np.ones((2, 1, LENGTH, 4)))))
    begun, answered, calls = threading.Event(), threading.Event(), count(1)
    in_time = []
    real = getattr(where, name)

    def block(*args):
        call = next(calls)
        if call == 1:
            begun.set()
            until(lambda: len(session._turns) == 2)  # the other one waits
        elif call == BLOCKS:
            in_time.append(answered.wait(PATIENCE))
        return real(*args)

    monkeypatch.setattr(where, name, block)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", LENGTH * LENGTH // BLOCKS)
    monkeypatch.setattr(rectangles, "CELLS_AT_ONCE", LENGTH * LENGTH // BLOCKS)
    long = threading.Thread(target=ask, args=(session, op))
    long.start()
    assert begun.wait(PATIENCE)
    assert ask(session, "trace", row=3)["row"] == 3
    answered.set()
    long.join()
    assert in_time == [True]


def test_an_overview_is_bounded_over_all_its_heads():
    many = Session(captured(Lookup(*[np.broadcast_to(np.float16(1), (3, 2**13, 1))] * 2)))
    for args in ({}, {"heads": "0:3"}):
        told = ask(many, "overview", **args)
        assert told["argument"] == "overview"
        for part in ("134,217,728", "3 heads of layer 0", "8,192 x 8,192", "201,326,592", "0:1"):
            assert part in told["error"]
    told = ask(many, "overview", heads="2:4")
    assert told["argument"] == "heads"
    assert "within 0:3" in told["error"]


def test_a_turn_goes_to_who_waits_longest():
    turns, order = Turns(), []

    def wait(name):
        with turns:
            order.append(name)

    with turns:
        threads = [threading.Thread(target=wait, args=(name,)) for name in "abc"]
        for number, thread in enumerate(threads, start=2):
            thread.start()
            until(lambda number=number: len(turns) == number)
    with turns:  # asked for last
        order.append("d")
    for thread in threads:
        thread.join(PATIENCE)
    assert order == ["a", "b", "c", "d"]
    assert len(turns) == 0


def test_nobody_waits_for_who_left(monkeypatch):
    turns = Turns()
    with turns:
        with monkeypatch.context() as patch:
            patch.setattr(turns._changed, "wait_for", interrupted)
            with pytest.raises(KeyboardInterrupt), turns:
                pass
        assert len(turns) == 1
    assert len(turns) == 0


def interrupted(_):
    raise KeyboardInterrupt
