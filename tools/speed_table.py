"""Write what `benchmarks/core_speed.py` recorded into README and docs/benchmarks.md.

python tools/speed_table.py writes it; the tests compare.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "measured" / "core_speed.json"
README, DOCS = ROOT / "README.md", ROOT / "docs" / "benchmarks.md"
SHOWN = (
    ("float32, 512 tokens, 12 heads of 64", "float32 full (1, 12, 512, 64)"),
    ("the same, causal", "float32 causal (1, 12, 512, 64)"),
    ("float32, 2,048 tokens, 8 heads of 64", "float32 full (1, 8, 2048, 64)"),
    ("the same, causal", "float32 causal (1, 8, 2048, 64)"),
    ("bfloat16, 2,048 tokens, 8 heads of 128", "bfloat16 full (1, 8, 2048, 128)"),
    ("one query over 32,768 keys, 32 heads over 8 of 128", "float32 decode 32/8 32768 x 128"),
)
LIMITS = {"of peak": "multiply-adds", "of read": "memory reads"}
BESIDE = ("small", "forward", "decode")  # the kinds of rows that are measured beside peers


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]])


def speed(figures: dict[str, Any]) -> str:
    """Return README's table: PyTorch, the fastest of the other peers, and the limit."""
    rows = {row["name"]: row for row in figures["rows"]}
    others = any(set(rows[name]["peers"]) - {"PyTorch"} for _, name in SHOWN)
    where = f"one thread, {figures['processor']}"
    columns = [where, "softlookup", "PyTorch", "times as fast"]
    if others:
        columns += ["the fastest other", "times as fast"]
    lines = []
    for words, name in SHOWN:
        row = rows[name]
        rest = dict(row["peers"])
        cells = [words, f"{row['ms']:.2f} ms", *_peer("", rest.pop("PyTorch"))]
        if others:
            fastest = min(rest, key=lambda peer: rest[peer]["times"], default="")
            cells += _peer(f"{fastest}, ", rest[fastest]) if fastest else ["none", ""]
        lines.append([*cells, f"{100 * row['share']:.0f} % of {LIMITS[row['of']]}"])
    return table([*columns, "of the hardware's limit"], lines)


def _peer(name: str, peer: dict[str, Any]) -> list[str]:
    return [f"{name}{peer['ms']:.2f} ms", f"{peer['times']:.2f}"]


def peers(figures: dict[str, Any]) -> str:
    """Return how many times as long each peer takes, row by row, and where one is faster."""
    rows = [row for row in figures["rows"] if row["kind"] in BESIDE]
    lines = [
        [row["name"], f"{row['ms']:.3f} ms", *(_times(row, name) for name in figures["peers"])]
        for row in rows
    ]
    versions = [f"{name} {version}" for name, version in figures["peers"].items()]
    missing = ", ".join(figures["missing"])
    told = [f"Not measured, since not installed there: {missing}."] if missing else []
    columns = [f"one thread, {figures['processor']}", "softlookup", *versions]
    return "\n\n".join([table(columns, lines), *told, "\n".join(_wins(rows))])


def _times(row: dict[str, Any], name: str) -> str:
    peer = row["peers"].get(name)
    return "" if peer is None else f"{peer['times']:.2f}"


def _wins(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each row in which a peer is faster."""
    slower = [row for row in rows if any(p["times"] < 1 for p in row["peers"].values())]
    if not slower:
        yield "No peer is faster in any of these rows."
        return
    yield f"A peer is faster in {len(slower)} of these {len(rows)} rows:\n"
    for row in slower:
        ahead = {name: peer for name, peer in row["peers"].items() if peer["times"] < 1}
        words = ", ".join(f"{name} takes {peer['times']:.2f} of our time ({peer['form']})"
                          for name, peer in ahead.items())  # fmt: skip
        yield f"- {row['name']}: {words}"


def bars(figures: dict[str, Any]) -> str:
    """Return what was aimed at, the worst row of each, and whether it is reached."""
    lines = [_bar(told) for told in figures["bars"]]
    return table(["aim", "at", "worst row", "", "that row"], lines)


def _bar(told: dict[str, Any]) -> list[str]:
    unit, sign = told["unit"], "at most" if told["at_most"] else "at least"
    aim = "reported" if told["bar"] is None else f"{sign} {told['bar']:g} {unit}"
    if told["figure"] is None:
        return [told["work"], aim, "", "not measured", ""]
    word = {True: "met", False: "**not met**", None: ""}[told["met"]]
    busy = "" if told["quiet"] else " (machine busy)"
    return [told["work"], aim, f"{told['figure']:.3g} {unit}", word + busy, told["row"]]


PARTS = {"speed": speed, "peers": peers, "bars": bars}
BETWEEN = re.compile(rf"(<!-- ({'|'.join(PARTS)}): .*? -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def with_figures(text: str, figures: dict[str, Any]) -> str:
    """Return a text with what stands between its marks made of these figures."""
    return BETWEEN.sub(lambda found: f"{found[1]}{PARTS[found[2]](figures)}\n{found[3]}", text)


if __name__ == "__main__":
    recorded = json.loads(FIGURES.read_text(encoding="utf-8"))
    for page in (README, DOCS):
        written = with_figures(page.read_text(encoding="utf-8"), recorded)
        page.write_text(written, encoding="utf-8")
