"""Where benchmarks keep what they find: a processor's record is never written over by another's."""

import argparse
import io
import json
import sys
from types import ModuleType

import pytest

from planted_places import TOOLS

INTEL = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 207
model name\t: Intel(R) Xeon(R) Processor

processor\t: 1
model name\t: another
"""


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """The module, as if called by a script named core_speed; its records go to a folder of ours."""
    stand_in = ModuleType("threadpoolctl")
    stand_in.threadpool_info, stand_in.threadpool_limits = list, None
    monkeypatch.setitem(sys.modules, "threadpoolctl", stand_in)
    monkeypatch.syspath_prepend(str(TOOLS.parent / "benchmarks"))
    monkeypatch.setattr(sys, "argv", ["benchmarks/core_speed.py"])
    sys.modules.pop("measure", None)
    import measure

    monkeypatch.setattr(measure, "RECORDS", tmp_path)
    yield measure
    sys.modules.pop("measure", None)


@pytest.mark.parametrize(("told", "name"), [
    (INTEL, "Intel(R) Xeon(R) Processor (Emerald Rapids)"),
    (INTEL.replace("207", "42"), "Intel(R) Xeon(R) Processor (family 6, model 42)"),
    ("vendor_id: AuthenticAMD\ncpu family: 26\nmodel: 2\nmodel name: AMD EPYC", "AMD EPYC (Zen 5)"),
    ("vendor_id: AuthenticAMD\ncpu family: 26\nmodel: 80\nmodel name: AMD EPYC",
     "AMD EPYC (family 26, model 80)"),
    ("vendor_id: AuthenticAMD\ncpu family: 25\nmodel: 17\nmodel name: EPYC", "EPYC (Zen 4)"),
    ("model name: A processor that tells no more", "A processor that tells no more"),
])  # fmt: skip
def test_a_processor_is_named_with_its_generation(measure, tmp_path, told, name):
    file = tmp_path / "cpuinfo"
    file.write_text(told, encoding="utf-8")
    assert measure.processor(file) == name


@pytest.mark.parametrize("told", ["", "CPU implementer\t: 0x41\n"])
def test_a_system_that_names_no_processor_tells_its_kind(measure, tmp_path, told):
    file = tmp_path / "cpuinfo"
    file.write_text(told, encoding="utf-8")
    assert measure.processor(file) == measure.platform.machine()
    assert measure.processor(tmp_path / "none")


@pytest.mark.parametrize(("name", "file"), [
    ("AMD EPYC (Zen 5)", "core_speed.txt"),
    ("AMD EPYC (Zen 4)", "core_speed.amd-epyc-zen-4.txt"),
    ("Intel(R) Xeon(R) Processor (Emerald Rapids)",
     "core_speed.intel-xeon-processor-emerald-rapids.txt"),
])  # fmt: skip
def test_the_record_of_another_processor_stands_beside_the_one_that_is_shown(
    measure, monkeypatch, name, file
):
    monkeypatch.setattr(measure, "processor", lambda: name)
    assert measure.record(".txt") == measure.RECORDS / file
    if name != "AMD EPYC (Zen 5)":
        (measure.RECORDS / "core_speed.txt").write_text("shown")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    options = argparse.Namespace(record=True, quick=True, threads=[1], rounds=2)
    measure.announce("What?", options)
    print("a row", flush=True)
    shown = sys.stdout.streams[0].getvalue()
    sys.stdout.streams[1].close()
    assert shown.startswith("What?\n  quick    the smallest cases")
    assert shown.endswith("a row\n")
    assert (measure.RECORDS / file).read_text(encoding="utf-8") == shown
    if name != "AMD EPYC (Zen 5)":
        assert (measure.RECORDS / "core_speed.txt").read_text() == "shown"
    measure.keep(options, rows=[1])
    told = json.loads((measure.RECORDS / file).with_suffix(".json").read_text(encoding="utf-8"))
    assert (told["processor"], told["rows"]) == (name, [1])
    assert told["conditions"]["machine"].startswith(name)


def test_nothing_is_kept_unless_it_is_asked_for(measure, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    options = argparse.Namespace(record=False, quick=False, threads=[1], rounds=2)
    measure.announce("What?", options)
    measure.keep(options, rows=[1])
    assert "quick" not in sys.stdout.getvalue()
    assert list(measure.RECORDS.iterdir()) == []


def test_the_smallest_form_takes_few_rounds_and_waits_for_nobody(measure, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["core_speed.py", "--quick"])
    options = measure.parsed(measure.arguments("What?", rounds=9))
    assert options.rounds == measure.QUICK_ROUNDS
    busy = iter(range(0, 10_000, 1_000))
    monkeypatch.setattr(measure, "others_seconds", lambda: next(busy))
    slept = []
    monkeypatch.setattr(measure.time, "sleep", slept.append)
    pair = measure.compare(lambda: None, lambda: None, options)
    assert not pair.quiet
    assert not any(slept)
    monkeypatch.setattr(sys, "argv", ["core_speed.py"])
    assert measure.parsed(measure.arguments("What?", rounds=9)).rounds == 9


def test_a_record_names_the_script_and_not_the_path(measure, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/else/map_speed.py"])
    monkeypatch.setattr(measure, "processor", lambda: "AMD EPYC (Zen 5)")
    assert measure.record(".json").name == "map_speed.json"


def test_what_is_missing_is_one_sentence(measure, monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    del sys.modules["measure"]
    with pytest.raises(SystemExit, match=r"^benchmarks: they need threadpoolctl, .* pip install"):
        import measure  # noqa: F401
