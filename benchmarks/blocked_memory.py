"""How much memory does `blocked` need beyond its inputs and its output?

Counted twice, each in a process of its own: what NumPy holds at the highest moment (tracemalloc),
and by how much the process is larger at its highest moment than just before (VmHWM, which includes
the buffers of the BLAS). The lookup is one head, D 64, causal.
"""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import measure
import numpy as np

import softlookup as sl

QUESTION = "memory of blocked beyond inputs and output (one head, D 64, causal, float32)"
BAR = 64.0
LENGTHS = [2048, 4096, 8192, 16384]
MIB = 2**20


def inputs(length):
    """Return query, key and value of one head."""
    rng = np.random.default_rng(7)
    return [rng.standard_normal((length, 64), dtype=np.float32) for _ in range(3)]


def allocated(length):
    """Return the MiB that NumPy held at the highest moment, without the output."""
    arrays = inputs(length)
    sl.attend(*(array[:64] for array in arrays), causal=True, backend="blocked")
    tracemalloc.start()
    out = sl.attend(*arrays, causal=True, backend="blocked")
    return (tracemalloc.get_traced_memory()[1] - out.nbytes) / MIB


def resident(length):
    """Return the MiB that the process grew by at its highest moment, without the output."""
    arrays = inputs(length)
    before = status("VmRSS")
    out = sl.attend(*arrays, causal=True, backend="blocked")
    return max(0.0, status("VmHWM") - before - out.nbytes / MIB)


def status(field):
    """Return a field of /proc/self/status in MiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise LookupError(field)


def in_a_process(name, length, threads):
    """Run one of the counts in a fresh process."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, __file__, "--count", name, str(length)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main():
    """Print one row a length, and the bar at the longest."""
    options = measure.parsed(measure.arguments(QUESTION, rounds=1))
    measure.announce(QUESTION, options, "the highest moment, each count in a process of its own")
    rows, highest = [], 0.0
    for length in LENGTHS[:1] if options.quick else LENGTHS:
        for threads in dict.fromkeys(options.threads):
            counts = [in_a_process(name, length, threads) for name in ("allocated", "resident")]
            highest = max(highest, *counts)
            matrix = length * length * 4 / MIB
            figures = [f"{count:.1f} MiB" for count in (*counts, matrix)]
            rows.append([f"{length:,}", str(threads), *figures])
    measure.table(["N", "threads", "allocated", "resident", "(an N x N matrix)"], rows)
    measure.verdict("the largest extra memory", highest, BAR, " MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        count = {"allocated": allocated, "resident": resident}[sys.argv[2]]
        print(count(int(sys.argv[3])))
    else:
        main()
