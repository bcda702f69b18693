"""Rows of memory and of imports, each counted in fresh processes."""

import argparse
import os
import statistics
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import softlookup as sl
from races.rows import NAMED, Row, Rows

MIB = 2**20
LONG, SHORT = 100_000, 2_000
CALLS, FEW_CALLS = 10_000, 100
IMPORTED = ["numpy", "softlookup", "onnxruntime", "openvino", "torch", "jax"]
IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
AFTER = "import numpy; " + IMPORT


def status(field: str) -> float:
    """Return a field of /proc/self/status in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def extra_of(length: int) -> float:
    """Return by how many MiB one causal head with four facts grows the process, answers apart."""
    rng = np.random.default_rng(0)
    three = [rng.standard_normal((length, 64), dtype=np.float32) for _ in range(3)]
    look = sl.Lookup(*three, causal=True, backend="cpu")
    sl.Lookup(*(array[:64] for array in three), causal=True).inspect(entropy=True, top=8)
    before = status("VmRSS")
    found = look.inspect(entropy=True, received=True, top=8)
    after = status("VmHWM")
    answers = [found.out, found.lse, found.entropy, found.received, found.received_per_kv_head]
    answers += [found.top.keys, found.top.weights]
    return after - before - sum(array.nbytes for array in answers) / MIB


def growth_of(calls: int) -> float:
    """Return by how many MiB the process has grown after so many calls of several kinds."""
    rng = np.random.default_rng(0)
    looks = [
        sl.Lookup(*(rng.standard_normal((2, length, 32), dtype=np.float32) for _ in range(3)),
                  causal=causal, backend="cpu")
        for length in (16, 50, 130) for causal in (False, True)
    ]  # fmt: skip

    def work(count: int) -> None:
        for number in range(count):
            look = looks[number % len(looks)]
            look.attend()
            look.inspect(entropy=True, received=True, top=8)

    work(500)
    before = status("VmRSS")
    work(calls)
    return status("VmRSS") - before


def memory_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure the highest moment of a long lookup with facts, and what is left after many calls."""
    if not Path("/proc/self/status").exists():
        return
    length = SHORT if options.quick else LONG
    for threads in (1, 2):
        mib = _count("extra_of", length, threads)
        name = f"{length:,} x {length:,} causal, 4 facts, threads {threads}"
        row: Row = {"kind": "memory", "name": name, "length": length, "mib": mib}
        _report(results, row, f"{mib:.1f} MiB above inputs and answers")
    calls = FEW_CALLS if options.quick else CALLS
    row = {"kind": "growth", "name": f"after {calls:,} calls", "mib": _count("growth_of", calls, 2)}
    _report(results, row, f"{row['mib']:+.1f} MiB")


def import_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure how long an import takes, alone and, where it needs NumPy anyway, after NumPy."""
    rounds = 1 if options.quick else 3
    modules = [name for name in IMPORTED if find_spec(name)]
    for module in modules[:2] if options.quick else modules:
        times = {
            how: statistics.median(_printed(["-c", code.format(module)]) for _ in range(rounds))
            for how, code in (("alone", IMPORT), ("after", AFTER))
        }
        row: Row = {"kind": "import", "name": f"import {module}", "module": module,
                    "ms": 1e3 * times["alone"], "after_numpy_ms": 1e3 * times["after"]}  # fmt: skip
        _report(results, row, f"{row['ms']:8.1f} ms, {row['after_numpy_ms']:8.1f} after numpy")


def _report(results: Rows, row: Row, text: str) -> None:
    print(f"{row['name']:{NAMED}} {text}", flush=True)
    results.append(row | {"quiet": True})


def _count(name: str, amount: int, threads: int) -> float:
    """Run one of the counts of this file in a fresh process, on every processor."""
    return _printed(["-m", "races.footprints", name, str(amount)], str(threads))


def _printed(command: list[str], threads: str = "1") -> float:
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"SOFTLOOKUP_THREADS": threads},
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):  # who started this may keep to one core
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    print({"extra_of": extra_of, "growth_of": growth_of}[sys.argv[1]](int(sys.argv[2])))
