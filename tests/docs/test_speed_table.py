"""The README's table of speeds is what the recorded figures say."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load_tool():
    spec = importlib.util.spec_from_file_location("speed_table", ROOT / "tools" / "speed_table.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_table_is_made_of_the_recorded_figures():
    tool = load_tool()
    figures = json.loads(tool.FIGURES.read_text(encoding="utf-8"))
    readme = tool.README.read_text(encoding="utf-8")
    assert tool.with_table(readme, figures) == readme
    assert tool.table(figures) in readme
    shown = {name for _, name in tool.ROWS}
    assert all(row["quiet"] for row in figures["rows"] if row["name"] in shown)


def test_another_figure_makes_another_table():
    tool = load_tool()
    figures = json.loads(tool.FIGURES.read_text(encoding="utf-8"))
    for row in figures["rows"]:
        row["ms"] += 1
    assert tool.table(figures) not in tool.README.read_text(encoding="utf-8")
