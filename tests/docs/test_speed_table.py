"""The tables of speeds in README and the documentation are what the recorded figures say."""

import copy
import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_tool():
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "tools" / "speed_table.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


TOOL = load_tool()
FIGURES = json.loads(TOOL.FIGURES.read_text(encoding="utf-8"))
PAGES = {TOOL.README: ("speed",), TOOL.DOCS: ("peers", "bars")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_are_made_of_the_recorded_figures(page):
    text = page.read_text(encoding="utf-8")
    assert TOOL.with_figures(text, FIGURES) == text
    assert all(TOOL.PARTS[name](FIGURES) in text for name in PAGES[page])


def test_the_rows_that_readme_shows_were_taken_on_a_quiet_machine():
    shown = {name for _, name in TOOL.SHOWN}
    assert all(row["quiet"] for row in FIGURES["rows"] if row["name"] in shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_other_figures_make_other_tables(page):
    others = copy.deepcopy(FIGURES)
    for row in others["rows"]:
        if "ms" in row:  # a footprint has none
            row["ms"] += 1
    text = page.read_text(encoding="utf-8")
    assert TOOL.with_figures(text, others) != text


def test_the_tables_say_on_which_processor_they_were_taken():
    assert "EPYC" in FIGURES["processor"]
    other = FIGURES | {"processor": "Some Processor (Its Generation)"}
    for part in (TOOL.speed, TOOL.peers):
        assert part(FIGURES).startswith(f"| one thread, {FIGURES['processor']} | softlookup |")
        assert part(other).startswith(
            "| one thread, Some Processor (Its Generation) | softlookup |"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_say_where_a_peer_is_faster_on_another_processor(page):
    said = " ".join(page.read_text(encoding="utf-8").split())
    assert re.search(r"on an Intel Xeon with AMX, PyTorch", said, re.IGNORECASE)
    assert "0.17 to 0.5 of our time" in said


def test_a_peer_that_is_faster_is_told():
    row = {"name": "one", "kind": "forward", "ms": 2.0, "share": 0.5, "of": "of peak",
           "peers": {"A": {"ms": 1.8, "times": 0.9, "form": "best"},
                     "B": {"ms": 4.0, "times": 2.0, "form": ""}}}  # fmt: skip
    figures = {"processor": "P", "rows": [row], "peers": {"A": "1.0", "B": "2.0"}, "missing": ["C"]}
    told = TOOL.peers(figures)
    assert "faster in 1 of these 1 rows" in told
    assert "- one: A takes 0.90 of our time (best)" in told
    assert "not installed there: C" in told


def test_a_bar_that_is_not_met_or_not_measured_is_told():
    bar = {"work": "w", "bar": 85, "unit": "%", "at_most": False, "figure": 70.0, "met": False,
           "quiet": True, "row": "r"}  # fmt: skip
    told = TOOL.bars({"bars": [bar, bar | {"figure": None}]})
    assert "at least 85 % | 70 % | **not met** | r" in told
    assert "not measured" in told


def test_the_fastest_of_the_other_peers_has_its_column():
    figures = copy.deepcopy(FIGURES)
    for row in figures["rows"]:
        if row["name"] == TOOL.SHOWN[0][1]:
            row["peers"] = {"PyTorch": row["peers"]["PyTorch"],
                            "A": {"ms": 9.0, "times": 3.0, "form": ""},
                            "B": {"ms": 6.0, "times": 2.0, "form": ""}}  # fmt: skip
    assert " | B, 6.00 ms | 2.00 | " in TOOL.speed(figures)
