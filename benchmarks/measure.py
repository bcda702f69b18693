"""How every benchmark here measures: the same flags, the same header, interleaved pairs.

A ratio is the median over rounds of (ours / theirs), each round timing both, in alternating order,
so that a machine that slows down for a second slows down both. Nothing is measured before both have
run twice. Where other programs took part of the cores meanwhile, the comparison is repeated: a BLAS
with several threads then waits whole time slices for them, and the ratio says nothing.
"""

import argparse
import json
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

try:
    from threadpoolctl import threadpool_info, threadpool_limits
except ImportError:
    raise SystemExit(
        'benchmarks: they need threadpoolctl, which is not here; run pip install ".[bench]".'
    ) from None

LONG_ENOUGH = 0.02  # seconds a sample should last; shorter calls are repeated within it
QUIET = 0.1  # of one core, that other programs may use during a comparison
ATTEMPTS = 6
PAUSE = 5.0  # seconds between attempts
LONG_RACE = 4.0  # seconds from where on a race is not repeated
LEAST = 3  # rounds of a race
QUICK_ROUNDS = 2
RECORDS = Path(__file__).resolve().parents[1] / "docs" / "measured"
SHOWN = "amd-epyc-zen-5"  # the processor whose records the pages show
GENERATIONS = (  # vendor, family, models, name; in a cloud the processor's own name says less
    ("AuthenticAMD", 25, (*range(0x10, 0x20), *range(0xA0, 0xB0)), "Zen 4"),
    ("AuthenticAMD", 26, range(0x30), "Zen 5"),
    ("GenuineIntel", 6, (143,), "Sapphire Rapids"),
    ("GenuineIntel", 6, (207,), "Emerald Rapids"),
    ("GenuineIntel", 6, (173, 174), "Granite Rapids"),
)


@dataclass(frozen=True)
class Pair:
    """Medians of one comparison: seconds per call, and the median of the paired ratios.

    `others` is how much of one core other programs used meanwhile; past QUIET it says nothing.
    """

    ours: float
    theirs: float
    ratio: float
    others: float

    @property
    def quiet(self) -> bool:
        """Whether the machine was ours."""
        return self.others <= QUIET

    def __str__(self) -> str:
        return f"{self.ratio:.3f}" + ("" if self.quiet else " (machine busy)")


@dataclass(frozen=True)
class Race:
    """Medians of one race: seconds per call, and how often as long each took as the first.

    `others` is how much of one core other programs used meanwhile, as in `Pair`.
    """

    seconds: dict[str, float]
    ratios: dict[str, float]
    others: float

    @property
    def quiet(self) -> bool:
        """Whether the machine was ours."""
        return self.others <= QUIET


def arguments(question: str, rounds: int) -> argparse.ArgumentParser:
    """Return the parser with the flags that all benchmarks share."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument(
        "--threads",
        type=lambda text: [os.cpu_count() if n == "all" else int(n) for n in text.split(",")],
        default=[1, os.cpu_count()],
        help="thread counts of the BLAS, with commas; 'all' for every core (default: 1,all)",
    )
    parser.add_argument("--rounds", type=int, default=rounds, help=f"pairs (default: {rounds})")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="some seconds of the smallest cases: whether it runs, not how fast",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep what is found in docs/measured, under the processor's name",
    )
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the flags that were given; the smallest form takes few rounds."""
    options = parser.parse_args()
    if options.quick:
        options.rounds = min(options.rounds, QUICK_ROUNDS)
    return options


def announce(question: str, options: argparse.Namespace, how: str = "") -> None:
    """Print the question, the conditions under which it is answered, and how it is measured.

    From here on what is printed is kept, too, where that is asked for.
    """
    if options.record:
        file = record(".txt").open("w", encoding="utf-8")  # until the script ends
        sys.stdout = Kept(sys.stdout, file)
    print(question)
    if options.quick:
        print(f"  {'quick':8} the smallest cases: they say that it runs, and not how fast")
    for label, text in conditions():
        print(f"  {label:8} {text}")
    threads = ", ".join(str(n) for n in dict.fromkeys(options.threads))
    pairs = f"{options.rounds} interleaved pairs after warm-up, BLAS threads {threads}"
    print(f"  {'how':8} {how or pairs}")


def conditions() -> Iterator[tuple[str, str]]:
    """Yield (label, text) for everything a figure depends on besides the code."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    yield "date", time.strftime("%Y-%m-%d %H:%M %Z")
    yield "machine", f"{processor()}, {os.cpu_count()} cores, load {load:.1f} at the start"
    yield "python", f"{platform.python_version()}, numpy {np.__version__}"
    for pool in threadpool_info():
        if pool["user_api"] == "blas":
            kernel = pool.get("architecture", "unknown")
            forced = os.environ.get("OPENBLAS_CORETYPE")
            how = f", forced by OPENBLAS_CORETYPE={forced}" if forced else ""
            yield "blas", f"{pool['internal_api']} {pool['version']}, kernel {kernel}{how}"


def processor(told: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's name where the system tells it, and its generation."""
    try:
        lines = told.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    if not {"model name", "vendor_id", "cpu family", "model"} <= fields.keys():
        return fields.get("model name", platform.machine())
    vendor, family, model = fields["vendor_id"], int(fields["cpu family"]), int(fields["model"])
    for each, its_family, models, generation in GENERATIONS:
        if (vendor, family) == (each, its_family) and model in models:
            return f"{fields['model name']} ({generation})"
    return f"{fields['model name']} (family {family}, model {model})"


def record(ending: str, name: str | None = None) -> Path:
    """Return the file in which this script keeps what it finds on the processor of this name.

    Of the one that the pages show it is the script's name; of others it stands beside that.
    """
    plain = re.sub(r"\((r|tm)\)", "", (name or processor()).lower())
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    script = Path(sys.argv[0]).stem
    return RECORDS / (f"{script}{ending}" if slug == SHOWN else f"{script}.{slug}{ending}")


class Kept:
    """A stream that also writes to a file what it shows."""

    def __init__(self, shown: TextIO, file: TextIO) -> None:
        self.streams = (shown, file)

    def write(self, text: str) -> int:
        """Write to both."""
        return min([stream.write(text) for stream in self.streams])

    def flush(self) -> None:
        """Flush both."""
        for stream in self.streams:
            stream.flush()


def keep(options: argparse.Namespace, **told: object) -> None:
    """Write rows, and what else is told, where that is asked for; conditions stand before them."""
    if options.record:
        whole = {"processor": processor(), "conditions": dict(conditions()), **told}
        record(".json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Let the BLAS use `count` threads inside the block."""
    with threadpool_limits(limits=count, user_api="blas"):
        yield


def compare(
    ours: Callable[[], object], theirs: Callable[[], object], options: argparse.Namespace
) -> Pair:
    """Time `ours` and `theirs` in alternating order, so many rounds, on a quiet machine.

    The smallest form waits for no quiet machine.
    """
    repeats = {call: repeats_of(call) for call in (ours, theirs)}
    for attempt in range(1 if options.quick else ATTEMPTS):
        time.sleep(PAUSE if attempt else 0)
        start, busy = time.perf_counter(), others_seconds()
        samples = interleaved(ours, theirs, repeats, options.rounds)
        others = (others_seconds() - busy) / (time.perf_counter() - start)
        ratios = [a / b for a, b in zip(samples[ours], samples[theirs], strict=True)]
        medians = [statistics.median(samples[call]) for call in (ours, theirs)]
        pair = Pair(*medians, statistics.median(ratios), others)
        if pair.quiet:
            break
    return pair


def interleaved(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: dict[Callable[[], object], int],
    rounds: int,
) -> dict[Callable[[], object], list[float]]:
    """Return the samples of both, taken in pairs in alternating order."""
    samples: dict[Callable[[], object], list[float]] = {ours: [], theirs: []}
    for number in range(rounds):
        for call in (ours, theirs) if number % 2 == 0 else (theirs, ours):
            samples[call].append(seconds(call, repeats[call]))
    return samples


def race(runners: Mapping[str, Callable[[], object]], duration: float) -> Race:
    """Time all `runners` in turn, in rounds that take about `duration` seconds together.

    Each round lets everyone run once and begins with another one; there are LEAST at least. All
    have run before. A race that was not quiet is run once more, unless that would take long.
    """
    enough = min(LONG_ENOUGH, duration / LEAST / len(runners))
    repeats = {name: _repeats_of_warm(call, enough) for name, call in runners.items()}
    for _ in range(2):
        start, busy = time.perf_counter(), others_seconds()
        samples: dict[str, list[float]] = {name: [] for name in runners}
        order = list(runners)
        while len(samples[order[0]]) < LEAST or time.perf_counter() - start < duration:
            for name in order:
                samples[name].append(seconds(runners[name], repeats[name]))
            order.append(order.pop(0))
        took = time.perf_counter() - start
        result = _race_of(samples, (others_seconds() - busy) / took)
        if result.quiet or took > LONG_RACE:
            break
    return result


def _repeats_of_warm(call: Callable[[], object], enough: float) -> int:
    """Return how often a call fits into a sample; one that is as long is not run for that twice."""
    return 1 if seconds(call, 1) >= enough else repeats_of(call, enough)


def _race_of(samples: dict[str, list[float]], others: float) -> Race:
    first = next(iter(samples.values()))
    medians = {name: statistics.median(times) for name, times in samples.items()}
    ratios = {
        name: statistics.median(mine / one for mine, one in zip(times, first, strict=True))
        for name, times in samples.items()
    }
    return Race(medians, ratios, others)


def others_seconds() -> float:
    """Return the core seconds that everybody else has used since the start; 0 if not told."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, irq, softirq, steal = (int(field) for field in fields)
    everybody = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return everybody - time.process_time()


def repeats_of(call: Callable[[], object], enough: float = LONG_ENOUGH) -> int:
    """Warm `call` up, and return how often it fits into a sample."""
    seconds(call, 1)
    return max(1, round(enough / seconds(call, 1)))


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the mean duration of `repeats` calls."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print `rows` under `columns`, as Markdown, ready for the documentation."""
    widths = [max(len(row[i]) for row in (columns, *rows)) for i in range(len(columns))]
    for row in (columns, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |")


def verdict(name: str, figure: float, bar: float, unit: str = "") -> None:
    """Print whether a bar is kept, with the figure that decides."""
    word = "kept" if figure <= bar else "MISSED"
    print(f"bar: {name} <= {bar:g}{unit}: {word}, {figure:.3g}{unit}")


def milliseconds(duration: float) -> str:
    """Write a duration for a table."""
    return f"{duration * 1e3:.2f} ms"
