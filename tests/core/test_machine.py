"""The compiled core: what runs here, what the two variables force, what is refused."""

from pathlib import Path

import numpy as np
import pytest

import softlookup as sl
from softlookup import machine
from softlookup.backends import cpu
from softlookup.cli.diagnosis import diagnose
from softlookup.errors import BackendError, OptionError

ONE = np.ones((1, 1), np.float32)
compiled = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")


@pytest.fixture(autouse=True)
def unforced(monkeypatch):
    monkeypatch.delenv(machine.ISA, raising=False)
    monkeypatch.delenv(machine.THREADS, raising=False)


@compiled
def test_the_best_supported_set_is_active_and_any_supported_one_can_be_forced(monkeypatch):
    assert set(machine.supported()) <= set(machine.compiled())
    assert machine.active() == machine.supported()[0]
    for name in machine.supported():
        monkeypatch.setenv(machine.ISA, name)
        assert machine.active() == name
        np.testing.assert_array_equal(sl.attend(ONE, ONE, ONE, backend="cpu"), ONE)


@compiled
def test_dots_of_pairs_come_first_on_the_processors_that_they_are_faster_on(monkeypatch):
    names, info = machine.supported(), Path("/proc/cpuinfo")
    pairs = "x86-64-v4-bf16"
    if pairs not in names or not info.is_file():
        pytest.skip("hardware: no instruction set with dots of bfloat16, or none that is named")
    amd = "AuthenticAMD" in info.read_text(encoding="utf-8")
    assert (names[0] == pairs) == amd
    assert [n for n in machine.compiled() if n in names] == list(names)
    why = "active " + names[0] + " on"
    assert why in diagnose()
    assert ("this processor's dots of bfloat16 are slower" in diagnose()) == (not amd)
    monkeypatch.setenv(machine.ISA, pairs)
    assert f"active {pairs} on {machine.threads()} threads: SOFTLOOKUP_ISA names it" in diagnose()


@compiled
@pytest.mark.parametrize("name", ["avx3", "X86-64-V3", "x86-64-v2 "])
def test_an_unknown_set_is_refused_with_the_choices(monkeypatch, name):
    monkeypatch.setenv(machine.ISA, name)
    with pytest.raises(OptionError, match="SOFTLOOKUP_ISA: must be one of") as refused:
        sl.attend(ONE, ONE, ONE)
    assert all(choice in str(refused.value) for choice in (*machine.supported(), repr(name)))
    assert "active none: SOFTLOOKUP_ISA" in diagnose()


@compiled
def test_a_set_that_cannot_run_here_is_refused_as_that(monkeypatch):
    monkeypatch.setattr(machine, "supported", lambda: ("x86-64-v2",))
    monkeypatch.setattr(machine, "compiled", lambda: ("x86-64-v4", "x86-64-v2"))
    monkeypatch.setenv(machine.ISA, "x86-64-v4")
    with pytest.raises(OptionError, match="which this processor cannot run"):
        machine.active()


@compiled
@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", "1025", "9" * 5000])
def test_a_wrong_number_of_threads_is_refused(monkeypatch, count):
    monkeypatch.setenv(machine.THREADS, count)
    with pytest.raises(
        OptionError, match=r"SOFTLOOKUP_THREADS: must be a whole number 1 \.\.\. 1024"
    ):
        sl.attend(ONE, ONE, ONE)


@compiled
def test_threads_are_the_processors_of_the_process_or_what_is_asked(monkeypatch):
    assert machine.threads() == machine.core().processors() >= 1
    monkeypatch.setenv(machine.THREADS, "3")
    assert machine.threads() == 3


def test_without_the_core_auto_computes_in_numpy_and_cpu_is_refused(monkeypatch):
    monkeypatch.setattr(machine, "core", lambda: None)
    assert sl.Lookup(ONE, ONE, ONE).inspect().backend == "blocked"
    with pytest.raises(BackendError, match="cpu: This installation has no compiled core"):
        sl.attend(ONE, ONE, ONE, backend="cpu")
    with pytest.raises(BackendError, match="which is not installed"):
        machine.needed_core()
    monkeypatch.setattr(machine, "compiled", lambda: ())
    assert "core       not compiled" in diagnose()


@compiled
def test_a_processor_that_runs_none_of_the_sets_is_told(monkeypatch):
    monkeypatch.setattr(machine, "supported", lambda: ())
    with pytest.raises(BackendError, match="runs none of"):
        machine.active()
    assert "active none: backend: cpu" in diagnose()
    assert sl.Lookup(ONE, ONE, ONE).inspect().backend == "blocked"


def test_a_core_that_does_not_load_is_as_none(monkeypatch):
    def broken(name):
        raise ImportError(f"{name}: wrong ELF class")

    monkeypatch.setattr(machine, "import_module", broken)
    assert machine.core.__wrapped__() is None
