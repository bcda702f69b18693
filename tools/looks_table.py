"""Write the README's table of what looking takes from the figures that `map_speed` recorded.

python tools/looks_table.py writes it; the tests compare.
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "measured" / "map_speed.json"
README = ROOT / "README.md"
BETWEEN = re.compile(r"(<!-- looks: .*? -->\n).*?(<!-- end of looks -->)", re.DOTALL)
ROWS = (
    ("every weight of a causal head, two threads", "the complete map, 2 threads"),
    ("the same, one thread", "the complete map, one thread"),
    ("until a first picture of the whole is there", "a first picture of the whole, 2 threads"),
    ("256 x 256 single weights, anywhere in it", "one tile of 256 x 256 cells of 1 x 1 weights"),
    (
        "what the last 4,096 queries read most, what keys receive from them",
        "top 8 and received, 4,096 queries: highest memory",
    ),
)
MEMORY = {"the complete map, 2 threads": "the complete map: highest memory"}


def table(figures: dict[str, Any]) -> str:
    """Return the table in Markdown."""
    rows = {row["name"]: row for row in figures["rows"]}
    what = f"100,000 tokens, one head of 64, float32, {figures['processor']}"
    lines = [
        f"| {what} | time | memory above the arrays |",
        "|---|---|---|",
    ]
    for words, name in ROWS:
        memory = rows[MEMORY.get(name, name)].get("mib")
        shown = "" if memory is None else f"{memory:.0f} MiB"
        lines.append(f"| {words} | {duration(rows[name]['seconds'])} | {shown} |")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Write a time."""
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{1e3 * seconds:.1f} ms"


def with_table(readme: str, figures: dict[str, Any]) -> str:
    """Return the README with the table of these figures."""
    made = table(figures)
    return BETWEEN.sub(lambda found: f"{found[1]}{made}\n{found[2]}", readme)


if __name__ == "__main__":
    told = json.loads(FIGURES.read_text(encoding="utf-8"))
    README.write_text(with_table(README.read_text(encoding="utf-8"), told), encoding="utf-8")
