"""The README's table of what looking takes is what the recorded figures say."""

import json

from planted_places import load_tool

TOOL = load_tool("looks_table")


def figures():
    return json.loads(TOOL.FIGURES.read_text(encoding="utf-8"))


def test_the_table_is_made_of_the_recorded_figures():
    readme = TOOL.README.read_text(encoding="utf-8")
    assert TOOL.with_table(readme, figures()) == readme
    assert TOOL.table(figures()) in readme
    assert figures()["processor"] in TOOL.table(figures()).splitlines()[0]
    rows = {row["name"]: row for row in figures()["rows"]}
    assert all(rows[name].get("quiet", True) for _, name in TOOL.ROWS)


def test_another_figure_makes_another_table():
    told = figures()
    for row in told["rows"]:
        row |= {name: row[name] + 1 for name in ("seconds", "mib") if name in row}
    shown = TOOL.table(told).splitlines()
    same = TOOL.table(figures()).splitlines()
    assert [one == other for one, other in zip(shown, same, strict=True)] == [True] * 2 + [
        False
    ] * len(TOOL.ROWS)
