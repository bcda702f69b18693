"""The rows of the core's benchmark: how one is named, measured beside the hardware, and printed."""

import time
from collections.abc import Callable

import measure
import ml_dtypes
import numpy as np

from races.bars import Row
from softlookup import machine

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32,
          "float64": np.float64}  # fmt: skip
CODES = {"bfloat16": 1, "float32": 2, "float64": 3}
ROUNDS = 2_000_000  # of multiply-adds in registers, some milliseconds
READ = 2**26  # numbers of float32 that are read, more than any cache holds
NAMED = 58  # characters of a row's name
OURS, LIMIT = "softlookup", "limit"

Rows = list[Row]
Calls = dict[str, Callable[[], object]]


def arrays(dtype: str, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Return standard normal numbers of each shape."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape, dtype=np.float32).astype(DTYPES[dtype]) for shape in shapes]


def multiply_adds(dtype: str) -> tuple[Callable[[], object], float]:
    """Return a call that does nothing but `dtype`'s dot products in registers, and how many."""
    core, isa, code = machine.needed_core(), machine.active(), CODES[dtype]
    return lambda: core.spin(isa, code, ROUNDS), core.spin(isa, code, ROUNDS)


def reads() -> tuple[Callable[[], object], float]:
    """Return a call that does nothing but read memory, and how many bytes."""
    numbers = np.ones(READ, np.float32)
    return numbers.max, numbers.nbytes


def rate(limit: tuple[Callable[[], object], float]) -> float:
    """Return how many operations, or bytes, a second the call does at its best."""
    call, amount = limit
    return amount / min(measure.seconds(call, 1) for _ in range(5))


def useful(shape: tuple[int, ...], causal: bool) -> float:
    """Return the operations of one lookup that count: of a causal one, the triangle."""
    batch, heads, length, dim = shape
    pairs = length * (length + 1) / 2 if causal else length * length
    return 4 * batch * heads * pairs * dim


def share_of(race: measure.Race, work: float, amount: float) -> float:
    """Return which share of the limit `work` reaches; the limit's own call did `amount`."""
    return work / amount * race.ratios[LIMIT]


def beside_peers(row: Row, race: measure.Race, forms: dict[str, str]) -> Row:
    """Return the row with the medians of a race; `forms` says which form each peer ran in."""
    peers = {
        name: {"ms": 1e3 * race.seconds[name], "times": race.ratios[name], "form": form}
        for name, form in forms.items()
    }
    return row | {"ms": 1e3 * race.seconds[OURS], "peers": peers, "quiet": race.quiet}


def beside_bare(row: Row, race: measure.Race, bare: str = "bare") -> Row:
    """Return the row of what something costs beside the same lookup without it."""
    more = 1 / race.ratios[bare] - 1
    bare_ms = 1e3 * race.seconds[bare]
    ms = 1e3 * race.seconds[OURS]
    return row | {"ms": ms, "bare_ms": bare_ms, "more": more, "quiet": race.quiet}


def report(results: Rows, row: Row) -> None:
    """Print one row, and keep it."""
    text = f"{row['name']:{NAMED}} {written(row['ms'])}"
    if "kernel_us" in row:
        text += f"  {row['kernel_us']:.2f} us of them in the kernel"
    if "share" in row:
        text += f"  {100 * row['share']:5.1f} % {row['of']}"
    if "more" in row:
        text += f"  {written(row['bare_ms'])} without: {100 * row['more']:5.1f} % more"
    for name, peer in row.get("peers", {}).items():
        text += f"  {name} x {peer['times']:.2f}"
    print(text + ("" if row["quiet"] else "  (machine busy)"), flush=True)
    results.append(row | {"at": time.strftime("%H:%M:%S")})


def written(ms: float) -> str:
    """Write milliseconds in a width of 12, small ones in microseconds."""
    return f"{1e3 * ms:9.2f} us" if ms < 0.1 else f"{ms:9.3f} ms"
