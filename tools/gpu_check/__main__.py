"""The command: `tools/gpu_check.sh` says what it takes."""

import argparse
import importlib.util
import signal
import sys
import time
from pathlib import Path

NEEDED = ("numpy", "ml_dtypes", "torch", "triton")
LIMIT, WARM, DRY = 235.0, 100.0, 3600.0  # seconds of all, of compiling, of a dry run
STOPPED = 128 + 15  # the exit status where it was asked to stop, as a shell has it


def main() -> int:
    """Check and time; return 0 where everything that was checked is right."""
    options = arguments()
    wanting = missing()
    if wanting:
        print(wanting, file=sys.stderr)
        return 2
    from gpu_check import parts, record, supervision  # noqa: PLC0415 (they need what was missing)

    start = time.monotonic()
    limits = chosen({part.name: part.limit for part in parts.PARTS}, options)
    told = record.conditions(options.seed, dry=options.dry, whole=options.only is None)
    if not options.dry and not told["multiprocessors"]:
        print("gpu_check: there must be a CUDA GPU that torch sees; got none. Without one: --dry.",
              file=sys.stderr)  # fmt: skip
        return 2
    kept = record.Record(options.json, told, limits)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(STOPPED))
    try:
        if not options.dry:
            shares = {part.name: part.shares for part in parts.PARTS if part.name in limits}
            kept.told["compiling"] = supervision.warm_up(shares, options.seed, WARM)
            kept.told["compiling_seconds"] = round(time.monotonic() - start, 1)
        supervision.supervise(limits, options.seed, dry=options.dry, until=start + options.limit,
                              say=kept.take)  # fmt: skip
    finally:  # whoever stops it gets what there is
        kept.told["seconds"] = round(time.monotonic() - start, 1)
        kept.write()
        print(*kept.lines(), sep="\n", flush=True)
    return 0 if kept.sound else 1


def arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="tools/gpu_check.sh", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="tiny inputs, interpreted, no figures")
    parser.add_argument("--json", type=Path, default=Path("gpu_check.json"), help="all figures")
    parser.add_argument("--only", help="parts, with semicolons (default: all)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31, help="default: fresh")
    parser.add_argument("--limit", type=float, help=f"seconds (default: {LIMIT:g}; dry {DRY:g})")
    options = parser.parse_args()
    if options.limit is None:
        options.limit = DRY if options.dry else LIMIT
    return options


def missing() -> str | None:
    """Return what this Python lacks, as a sentence."""
    if sys.version_info < (3, 11):  # noqa: UP036 (here it may be any Python)
        return f"gpu_check: it needs Python 3.11 or newer; got {sys.version.split()[0]}."
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if not lacking:
        return None
    return (f"gpu_check: {sys.executable} must have {', '.join(NEEDED)}; it lacks "
            f"{', '.join(lacking)}. Install them, or name another Python by PYTHON=.")  # fmt: skip


def chosen(limits: dict[str, float], options: argparse.Namespace) -> dict[str, float]:
    """Return the parts to run and their limits; an interpreter takes longer."""
    names = (
        list(limits) if options.only is None else [name.strip() for name in options.only.split(";")]
    )
    unknown = [name for name in names if name not in limits]
    if unknown:
        sys.exit(f"gpu_check: --only must name parts of {'; '.join(limits)}; got {unknown[0]!r}.")
    return {name: 20 * limits[name] if options.dry else limits[name] for name in names}


if __name__ == "__main__":
    sys.exit(main())
