"""Write the newest run of `tools/gpu_check.sh` into README and docs/gpu.md.

python tools/gpu_table.py writes it; the tests compare. The runs lie in benchmarks/results.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from gpu_check import names  # noqa: E402 (it lies beside this file, in no installed package)
from gpu_check.aims import judged  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
PAGES = (ROOT / "README.md", ROOT / "docs" / "gpu.md")
NOTHING = (
    "No kernel here has run on a GPU yet: they are interpreted, emulated and compiled in tests, "
    "and\nno run of `tools/gpu_check.sh` has come in. What is said of a GPU is what they are made "
    "to do. Run it on your\ncard before you rely on them."
)
COLUMNS = {
    names.CUDNN: "cuDNN, blind",
    names.FACTS: "softlookup: lse, entropy, top 8",
    names.RECEIVED: "and received",
    names.ALL_WEIGHTS: "all weights, as a matrix",
}
UNITS = {"tflops": "{:.0f} TFLOP/s", "terabytes": "{:.2f} TB/s", "mib": "{:,.0f} MiB"}
Run = dict[str, Any]


def newest(folder: Path = RESULTS) -> Run | None:
    """Return the newest run, None where there is none.

    Raises
    ------
    ValueError
        Where a file is no whole run on a GPU.
    """
    runs = [_read(file) for file in sorted(folder.glob("*.json"))]
    return max(runs, key=lambda run: run["date"], default=None)


def _read(file: Path) -> Run:
    run: Run = json.loads(file.read_text(encoding="utf-8"))
    if run["dry"] or not run["whole"]:
        raise ValueError(f"{file.name}: it must be a whole run on a GPU; run tools/gpu_check.sh.")
    return run


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    columns = list(columns)
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]])


def conditions(run: Run) -> str:
    """Return what the figures depend on, in a sentence."""
    wrong = sum(each["status"] in ("wrong", "failed") for each in run["checks"])
    checks = f"all {len(run['checks'])} checks passed"
    if wrong:
        checks = f"**{wrong} of {len(run['checks'])} checks failed**"
    versions = f"torch {run['torch']}, Triton {run['triton']}"
    return f"{run['card']}, {run['date']}, {versions}, bfloat16, medians; {checks}."


def state(run: Run | None) -> str:
    """Return whether a GPU has run the kernels, in a sentence."""
    return NOTHING if run is None else conditions(run)


def forward(run: Run | None) -> str:
    """Return README's table: blind, looking, and all weights, milliseconds a call."""
    if run is None:
        return NOTHING
    taken = {(each["row"], each["runner"]): each for each in run["times"]}
    rows = [row for row in dict.fromkeys(each["row"] for each in run["times"])
            if (row, names.CUDNN) in taken and (row, names.FACTS) in taken]  # fmt: skip
    lines = [[row, *(_milliseconds(taken.get((row, name))) for name in COLUMNS)] for row in rows]
    columns = ["batch x heads x tokens x dims", *COLUMNS.values()]
    return f"{table(columns, lines)}\n\n{conditions(run)}"


def _milliseconds(taken: dict[str, Any] | None) -> str:
    return "" if taken is None else f"{taken['device']:.3g} ms"


def times(run: Run | None) -> str:
    """Return everything that was timed, a line each."""
    if run is None:
        return NOTHING
    lines = [
        [each["row"], each["runner"], _milliseconds(each if "device" in each else None),
         *(form.format(each[name]) for name, form in UNITS.items() if name in each)]
        for each in run["times"]
    ]  # fmt: skip
    lines = [line if len(line) > 3 else [*line, ""] for line in lines]
    return f"{conditions(run)}\n\n{table(['what', 'by', 'time', 'rate'], lines)}"


def aims(run: Run | None) -> str:
    """Return what is aimed at on an H200, the worst row of each, and whether it is reached."""
    told = judged([], []) if run is None else run["aims"]
    return table(["aim", "at", "worst row", "", "that row"], [_aim(each) for each in told])


def _aim(told: dict[str, Any]) -> list[str]:
    sign = "at most" if told["at_most"] else "at least"
    at = f"{sign} {told['bar']:g} {told['unit']}"
    if told["figure"] is None:
        return [told["work"], at, "", "not measured", ""]
    word = "met" if told["met"] else "**not met**"
    if told["void"]:
        word = "void: its kernels are not right"
    return [told["work"], at, f"{told['figure']:.3g} {told['unit']}", word, told["row"]]


PARTS: dict[str, Callable[[Run | None], str]] = {
    "state": state,
    "gpu": forward,
    "times": times,
    "aims": aims,
}
BETWEEN = re.compile(rf"(<!-- ({'|'.join(PARTS)}): .*? -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def with_run(text: str, run: Run | None) -> str:
    """Return a text with what stands between its marks made of this run."""
    return BETWEEN.sub(lambda found: f"{found[1]}{PARTS[found[2]](run)}\n{found[3]}", text)


if __name__ == "__main__":
    last = newest()
    for page in PAGES:
        page.write_text(with_run(page.read_text(encoding="utf-8"), last), encoding="utf-8")
