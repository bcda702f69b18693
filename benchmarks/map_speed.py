"""How long until 100,000 tokens are seen whole, and what does a look at any part of them cost?

One head, D 64, causal, float32: the time from queries and keys to the complete weight map, on one
thread and on all; until a coarse picture is there; of one tile of every level; the memory at the
highest moment; the bytes that a view is sent, at any length; and the facts of 4,096 queries.
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import measure
import numpy as np

import softlookup as sl
from softlookup import machine
from softlookup.viewer import Session

QUESTION = __doc__.splitlines()[0]
LENGTH, QUICK, DIM = 100_000, 2_048, 64
QUERIES = 4_096  # whose facts are asked for
COARSE = 48  # rows of cells that a first picture has
TILE, VIEW = 256, 3  # cells along a tile, and tiles along a view of 768 x 768 pixels
LENGTHS = (1_000, 32_000, 1_000_000)  # of served views
FLOAT32 = 2  # the core's code of that dtype
SHARE = 0.75  # of the peak that q . k alone should reach
MIB = 2**20
Row = dict[str, Any]


def lookup(length: int, queries: int | None = None) -> sl.Lookup:
    """Return a causal head of noise; its queries are the last of so many tokens."""
    rng = np.random.default_rng(7)
    query = rng.standard_normal((queries or length, DIM), dtype=np.float32)
    key, value = rng.standard_normal((2, length, DIM), dtype=np.float32)
    return sl.Lookup(query, key, value, causal=True, q_offset=length - len(query))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let the core use `count` threads inside the block."""
    before = os.environ.get(machine.THREADS)
    os.environ[machine.THREADS] = str(count)
    try:
        yield
    finally:
        os.environ.pop(machine.THREADS)
        if before is not None:
            os.environ[machine.THREADS] = before


def timed(rows: list[Row], name: str, work: Callable[[], float], rounds: int, **more: Any) -> float:
    """Take the median of `rounds` times that `work` reports, print it, keep it, return it."""
    start, busy = time.perf_counter(), measure.others_seconds()
    seconds = statistics.median([work() for _ in range(rounds)])
    others = (measure.others_seconds() - busy) / (time.perf_counter() - start)
    told = {"name": name, "seconds": seconds, "quiet": others <= measure.QUIET, **more}
    report(rows, told, measure.milliseconds(seconds) if seconds < 1 else f"{seconds:.2f} s")
    return seconds


def report(rows: list[Row], told: Row, shown: str) -> None:
    """Print one row, and keep it."""
    busy = "" if told.get("quiet", True) else "  (machine busy)"
    print(f"{told['name']:62} {shown:>12}{busy}", flush=True)
    rows.append(told)


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long `work` takes."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak() -> float:
    """Return how many operations a second one thread can do in registers, float32."""
    core, isa, best = machine.needed_core(), machine.active(), 0.0
    for _ in range(5):
        start = time.perf_counter()
        operations = core.spin(isa, FLOAT32, 20_000_000)
        best = max(best, operations / (time.perf_counter() - start))
    return best


def until_coarse(look: sl.Lookup) -> float:
    """Return the seconds until every cell of a first picture of the whole has a value."""
    gc.collect()
    start = time.perf_counter()
    the = look.map(build=False)
    level = max(
        (level for level in the.levels if -(-the.shape[0] >> level) >= COARSE),
        default=the.levels[0],
    )
    while True:
        whole = the.step(0.05)
        known = the.level(level).known
        if whole or known is None or known.all():
            return time.perf_counter() - start


def building(rows: list[Row], look: sl.Lookup, options: measure.argparse.Namespace) -> None:
    """Measure the complete map and the first picture of it, for each number of threads."""
    length = look.problem.q_len
    operations = 2 * DIM * length * (length + 1) / 2
    most = peak() if machine.core() is not None else float("nan")
    for count in dict.fromkeys(options.threads):
        words = "one thread" if count == 1 else f"{count} threads"
        with threads(count):
            seconds = timed(rows, f"the complete map, {words}", lambda: seconds_of(look.map),
                            options.rounds, threads=count)  # fmt: skip
            share = operations / seconds / (most * count)
            report(rows, {"name": f"  of the peak of multiply-adds, {words}", "share": share},
                   f"{100 * share:.0f} %")  # fmt: skip
            timed(rows, f"a first picture of the whole, {words}", lambda: until_coarse(look),
                  options.rounds, threads=count)  # fmt: skip


def tiles(rows: list[Row], look: sl.Lookup, rounds: int) -> None:
    """Measure one tile of each level, at random places, as Python gets it."""
    the = look.map()
    rng = np.random.default_rng(1)
    for level in the.levels[:7]:
        side = max(1, -(-min(the.shape) >> level) // TILE)
        places = [sorted(rng.integers(side, size=2).tolist(), reverse=True) for _ in range(rounds)]
        the.tile(level, side - 1, side - 1)
        waiting = iter(places)
        name = f"one tile of {TILE} x {TILE} cells of {2**level} x {2**level} weights"
        timed(rows, name, lambda level=level, waiting=waiting: seconds_of(
            lambda: the.tile(level, *next(waiting))), rounds, level=level)  # fmt: skip
    report(rows, {"name": "the map in memory, both pools", "bytes": the.bytes},
           f"{the.bytes / MIB:.1f} MiB")  # fmt: skip


def served(rows: list[Row], length: int) -> int:
    """Count the bytes of one native view in the middle of so many tokens."""
    capture = sl.captures.label(lookup(length))
    session, total = Session(capture), 0
    first = max(0, -(-length // TILE) // 2 - VIEW)
    for i in range(first, first + VIEW):
        for j in range(first, first + VIEW):
            told, blob = session.handle("tile", {"level": "0", "i": str(i), "j": str(j)})
            if not told.get("ok", True):
                raise SystemExit(f"tile: {told}")
            total += len(json.dumps(told)) + len(blob or b"")
    report(rows, {"name": f"bytes of one view of {length:,} tokens", "bytes": total}, f"{total:,}")
    return total


def grown(work: Callable[[], object]) -> float:
    """Return the MiB that this process grew by at its highest moment of `work`."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the highest moment is now
    before = status("VmRSS")
    kept = work()
    return max(0.0, status("VmHWM") - before) if kept is not None else 0.0


def status(field: str) -> float:
    """Return a field of /proc/self/status in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def map_of(length: int) -> tuple[float, float]:
    """Return the seconds and the MiB of the complete map."""
    look = lookup(length)
    small = lookup(QUICK // 8)
    small.map()  # what is loaded at first is loaded
    start = time.perf_counter()
    more = grown(look.map)
    return time.perf_counter() - start, more


def facts_of(length: int) -> tuple[float, float]:
    """Return the seconds and the MiB of top 8 and received, of the last queries."""
    look = lookup(length, min(QUERIES, length))
    lookup(QUICK // 8, 64).inspect(top=8, received=True)
    start = time.perf_counter()
    more = grown(lambda: look.inspect(top=8, received=True))
    return time.perf_counter() - start, more


ALONE = {"map": map_of, "facts": facts_of}


def in_a_process(name: str, length: int) -> tuple[float, float]:
    """Run one of them in a fresh process."""
    command = [sys.executable, __file__, "--alone", name, str(length)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, more = json.loads(done.stdout)
    return seconds, more


def memory(rows: list[Row], length: int) -> None:
    """Measure the highest moments, each in a process of its own, on all threads."""
    for name, words in (
        ("map", "the complete map"),
        ("facts", f"top 8 and received, {min(QUERIES, length):,} queries"),
    ):
        seconds, more = in_a_process(name, length)
        report(rows, {"name": f"{words}: highest memory", "mib": more, "seconds": seconds},
               f"{more:.1f} MiB")  # fmt: skip
        if name == "facts":
            report(rows, {"name": f"{words}: time", "seconds": seconds}, f"{seconds:.2f} s")


def verdicts(rows: list[Row]) -> None:
    """Print whether the bars are kept."""
    told = {row["name"]: row for row in rows}
    for name, key, bar, unit in (
        ("the complete map, 2 threads", "seconds", 8, " s"),
        ("the complete map, one thread", "seconds", 14, " s"),
        ("a first picture of the whole, 2 threads", "seconds", 1, " s"),
        ("one tile of 256 x 256 cells of 1 x 1 weights", "seconds", 0.005, " s"),
        ("the complete map: highest memory", "mib", 200, " MiB"),
    ):
        if name in told:
            measure.verdict(name, told[name][key], bar, unit)
    share = told.get("  of the peak of multiply-adds, one thread", {}).get("share", float("nan"))
    word = "kept" if share >= SHARE else "MISSED"
    print(f"bar: q . k alone, of the peak of multiply-adds >= {SHARE:.0%}: {word}, {share:.1%}")


def main() -> None:
    """Print one row a figure, then the bars."""
    parser = measure.arguments(QUESTION, rounds=3)
    parser.add_argument("--length", type=int, help=f"tokens (default: {LENGTH:,})")
    options = measure.parsed(parser)
    length = options.length or (QUICK if options.quick else LENGTH)
    many = options.rounds if options.quick else 20 * options.rounds
    how = f"{length:,} tokens, one head, D {DIM}, causal, float32; medians of {options.rounds} maps"
    measure.announce(QUESTION, options, f"{how}, of {many} tiles")
    rows: list[Row] = []
    look = lookup(length)
    look.map(pools=("max",), build=False).step(0.2)  # warm
    building(rows, look, options)
    tiles(rows, look, many)
    memory(rows, length)
    sizes = [served(rows, size) for size in (LENGTHS[:1] if options.quick else LENGTHS)]
    if length == LENGTH or options.quick:
        verdicts(rows)
        measure.verdict("bytes of a view, largest by smallest", max(sizes) / min(sizes), 1.05)
    measure.keep(options, rows=rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        print(json.dumps(ALONE[sys.argv[2]](int(sys.argv[3]))))
    else:
        main()
