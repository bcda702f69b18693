"""How fast is the compiled core, beside its peers and the hardware's limit, and what do facts cost?

One thread of one core. Every row times all its calls in turn, in rounds, and takes medians: the
public `attend` (the checks of `Lookup` are made before, but for the small whole calls), each peer
that is installed in its best form, and the limit: multiply-adds in registers, or reads of memory.
Only useful operations count: causal is a triangle. "x 2.00" means that the peer takes twice as
long. At the end stands what was aimed at, and whether it is reached.

    make models peers                              what it is measured beside; the missing is told
    make bench-core_speed RECORD=yes               also keeps the rows
"""

import argparse
import os
import time
from collections.abc import Callable

import measure
from races import bars, costs, footprints, peers, rows, speeds
from threadpoolctl import threadpool_limits

from softlookup import machine

PARTS: dict[str, Callable[[argparse.Namespace, rows.Rows], None]] = {
    "small": speeds.small_rows,
    "forward": speeds.forward_rows,
    "decode": speeds.decode_rows,
    "dtypes": costs.dtype_rows,
    "masks": costs.mask_rows,
    "facts": costs.fact_rows,
    "eager": costs.eager_rows,
    "threads": costs.thread_rows,
    "memory": footprints.memory_rows,
    "imports": footprints.import_rows,
}


def about() -> dict[str, object]:
    """Return and print what every figure depends on besides the code."""
    there, missing = peers.installed(), peers.missing()
    print(f"  {'core':8} {machine.active()}, "
          f"{rows.rate(rows.multiply_adds('float32')) / 1e9:.0f} GFLOP/s float32, "
          f"{rows.rate(rows.multiply_adds('bfloat16')) / 1e9:.0f} bfloat16, "
          f"{rows.rate(rows.reads()) / 1e9:.1f} GB/s read")  # fmt: skip
    print(f"  {'peers':8} {', '.join(' '.join(each) for each in there.items())}")
    if missing:
        print(f"  {'missing':8} {', '.join(missing)}: not installed here, so not measured")
    return {"core": machine.active(), "peers": there, "missing": missing}


def keep(
    options: argparse.Namespace, told: dict[str, object], results: rows.Rows
) -> list[dict[str, object]]:
    """Judge the rows so far, keep them where that is asked for, and return the judgements."""
    judged = list(bars.judged(results))
    measure.keep(options, **told, rows=results, bars=judged)
    return judged


def main() -> None:
    """Measure what is asked for, judge it, and keep it where that is wanted."""
    question = __doc__.splitlines()[0]
    parser = measure.arguments(question, rounds=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="of one row (default: 1.5)")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument(
        "--limit", type=float, default=540, help="seconds after which no part begins (default: 540)"
    )
    options = measure.parsed(parser)
    options.threads = [1]
    if options.quick:
        options.seconds = min(options.seconds, 0.02)
    os.environ[machine.THREADS] = "1"
    peers.one_thread()
    start = time.monotonic()
    left_out = []
    measure.announce(question, options, f"all calls of a row in turn, {options.seconds:g} s a row, "
                     "three rounds at least, medians; one thread of one core")  # fmt: skip
    results: rows.Rows = []
    with threadpool_limits(limits=1):
        told = about()
        for part in options.parts:
            if time.monotonic() - start > options.limit:
                left_out.append(part)
                continue
            PARTS[part](options, results)
            keep(options, told, results)
    judged = keep(options, told, results)
    if left_out:
        print(f"left out after {options.limit:g} s: {', '.join(left_out)}")
    print()
    measure.table(bars.COLUMNS, [bars.written(each) for each in judged])
    print(f"\nmeasured in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
