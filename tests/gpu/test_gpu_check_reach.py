"""What a check of a GPU reaches: every kernel, the choice of `attend`, what waits in a model."""

import contextlib
import sys
import warnings
from types import SimpleNamespace

import pytest
import torch
from test_every_kernel import kernels
from triton.runtime import interpreter

from documented import ROOT
from softlookup.backends import registry
from softlookup.backends.triton import second, splitting

sys.path.insert(0, str(ROOT / "tools"))

from gpu_check import bars, checks, models, names, parts, session

ON_HOPPER = {("hopper", "look_up_kernel")}


def test_every_kernel_is_launched_by_what_is_checked(monkeypatch):
    """At the sizes that a GPU gets; nothing is computed."""
    launched = set()

    def note(grid, *_, **__):
        launched.add((grid.fn.__module__.rsplit(".", 1)[-1], grid.fn.__name__))

    monkeypatch.setattr(interpreter.GridExecutor, "__call__", note)
    monkeypatch.setattr(session.Session, "device", "cpu")
    monkeypatch.setattr(splitting, "_INTERPRETED", 132)  # multiprocessors
    made = session.Session(7, warming=True)
    for part in parts.PARTS:
        if not part.name.startswith(("time:", "watch", "far")):
            part.run(made)
    assert launched >= kernels() - ON_HOPPER


def test_auto_is_timed_as_who_asks_for_the_answer_alone(monkeypatch):
    asked = []
    choose = registry.choose

    def noting(problem, facts, name, *, alone=False):
        asked.append((name, alone))
        return choose(problem, facts, name, alone=alone)

    monkeypatch.setattr(registry, "choose", noting)
    made = session.Session(7, dry=True)
    q, k, v = (made.draw(1, 1, 8, 16) for _ in range(3))
    for runners in (
        bars.ours(made, q, k, v, causal=True),
        bars.ours_decoding(made, q[:, :, :1], k, v),
    ):
        asked.clear()
        runners[names.AUTO]()
        assert asked == [("auto", True)]


def test_counts_of_readers_that_are_one_off_are_found(monkeypatch):
    found = []
    made = session.Session(7, dry=True, say=found.append)
    readers_of = second.readers_of
    monkeypatch.setattr(second, "readers_of", lambda *given: readers_of(*given) + 1)
    monkeypatch.setattr(checks, "FACTS", checks.FACTS[:1])
    checks.facts(made)
    wrong = {each["name"].split(": ")[-1] for each in found if each["status"] == "wrong"}
    assert wrong == {"received, normalised", "received_per_kv_head, normalised"}


@pytest.fixture
def stand_in(monkeypatch):
    """Let models be stand-ins that wait as `each` and `once` say, where torch tells of waits."""
    told = SimpleNamespace(mode="default", watched=False, each=0, once=3, blind=1)

    def wait(times):
        for _ in range(times if told.mode == "warn" else 0):
            warnings.warn("called a synchronizing CUDA operation", stacklevel=1)

    @contextlib.contextmanager
    def watching():
        told.watched = True
        yield
        told.watched = False

    class Ids:
        def sum(self):
            return self

        def item(self):
            wait(1)

    def llama(_session, *, large, layers):
        def model(_ids, *, use_cache):
            assert (large, use_cache) == (False, False)
            wait(told.blind * layers)
            wait(told.once + told.each * layers if told.watched else 0)

        return model, Ids()

    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: setattr(told, "mode", mode))
    monkeypatch.setattr(models, "llama", llama)
    ways = {names.BLIND: contextlib.nullcontext} | dict.fromkeys(
        (names.CONTROL, names.EVERY), watching
    )
    monkeypatch.setattr(models, "ways", lambda _model: ways)
    return told


@pytest.mark.parametrize(("each", "expected"), [(0, "ok"), (1, "wrong")])
def test_a_layer_that_waits_is_found(each, expected, stand_in):
    found = []
    stand_in.each = each
    models.check_waits(session.Session(7, dry=True, say=found.append))
    assert [one["status"] for one in found] == ["ok", expected, expected]
    assert stand_in.mode == "default"


def test_a_watch_over_waits_that_tells_of_none_is_found(stand_in, monkeypatch):
    found = []
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda _: None)
    models.check_waits(session.Session(7, dry=True, say=found.append))
    assert [one["status"] for one in found] == ["wrong", "ok", "ok"]
