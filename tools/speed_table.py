"""Write the README's table of speeds from the figures that `make bench-core_speed` recorded.

python tools/speed_table.py writes it; the tests compare.
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "measured" / "core_speed.json"
README = ROOT / "README.md"
BETWEEN = re.compile(r"(<!-- speed: .*? -->\n).*?(<!-- end of speed -->)", re.DOTALL)
ROWS = (
    ("float32, 512 tokens, 12 heads of 64", "float32 full (1, 12, 512, 64)"),
    ("the same, causal", "float32 causal (1, 12, 512, 64)"),
    ("float32, 2,048 tokens, 8 heads of 64", "float32 full (1, 8, 2048, 64)"),
    ("the same, causal", "float32 causal (1, 8, 2048, 64)"),
    ("bfloat16, 2,048 tokens, 8 heads of 128", "bfloat16 full (1, 8, 2048, 128)"),
    ("one query over 32,768 keys, 32 heads over 8 of 128", "float32 decode 32/8 32768 x 128"),
)


def table(figures: dict[str, Any]) -> str:
    """Return the table in Markdown."""
    rows = {row["name"]: row for row in figures["rows"]}
    lines = ["| one thread | softlookup | PyTorch | times as fast | of the hardware's limit |",
             "|---|---|---|---|---|"]  # fmt: skip
    for words, name in ROWS:
        row = rows[name]
        limit = "multiply-adds" if row["of"] == "of peak" else "memory reads"
        lines.append(
            f"| {words} | {row['ms']:.2f} ms | {row['other_ms']:.2f} ms | "
            f"{row['times_as_fast']:.2f} | {100 * row['share']:.0f} % of {limit} |"
        )
    return "\n".join(lines)


def with_table(readme: str, figures: dict[str, Any]) -> str:
    """Return the README with the table of these figures."""
    made = table(figures)
    return BETWEEN.sub(lambda found: f"{found[1]}{made}\n{found[2]}", readme)


if __name__ == "__main__":
    told = json.loads(FIGURES.read_text(encoding="utf-8"))
    README.write_text(with_table(README.read_text(encoding="utf-8"), told), encoding="utf-8")
