"""Rows of whole lookups, beside the peers and the hardware's limit."""

import argparse

import measure
import numpy as np

from races import peers
from races.rows import (
    LIMIT,
    OURS,
    Calls,
    Row,
    Rows,
    arrays,
    beside_peers,
    multiply_adds,
    reads,
    report,
    share_of,
    useful,
)
from softlookup import Lookup, attend, machine
from softlookup.backends import cpu
from softlookup.backends.calls import call_of
from softlookup.facts import Facts

SHAPES = [
    (8, 12, 64, 64),
    (1, 12, 128, 64),
    (1, 12, 512, 64),
    (1, 8, 2048, 64),
    (1, 8, 2048, 128),
    (1, 4, 8192, 64),
]
DECODE = [(8192, 64), (8192, 128), (32768, 64), (32768, 128)]
SMALL = [(1, 1, 16, 64), (1, 12, 16, 64)]
# Past 2,048 tokens the two that hold the whole scores take most of the time of all.
_HOLDING, _SLOW = ("NumPy", "JAX"), 2048


def forward_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure full and causal lookups."""
    for dtype in ("float32", "bfloat16"):
        limit, amount = multiply_adds(dtype)
        for shape in SHAPES[1:2] if options.quick else SHAPES:
            query, key, value = arrays(dtype, shape, shape, shape)
            for causal in (False, True):
                mask = "causal" if causal else "full"
                case = peers.Case(query, key, value, causal)
                look = Lookup(query, key, value, causal=causal, backend="cpu")
                calls: Calls = {OURS: look.attend, LIMIT: limit}
                forms = add_peers(calls, case, left_out=_HOLDING if shape[2] > _SLOW else ())
                race = measure.race(calls, options.seconds)
                row: Row = {"kind": "forward", "name": f"{dtype} {mask} {shape}", "dtype": dtype,
                            "mask": mask, "length": shape[2], "dim": shape[3],
                            "share": share_of(race, useful(shape, causal), amount),
                            "of": "of peak"}  # fmt: skip
                report(results, beside_peers(row, race, forms))


def decode_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure one query a head over many keys, 32 heads over 8."""
    limit, amount = reads()
    for dtype in ("float32", "bfloat16"):
        for length, dim in DECODE[:1] if options.quick else DECODE:
            kv = (1, 8, length, dim)
            query, key, value = arrays(dtype, (1, 32, 1, dim), kv, kv)
            calls: Calls = {OURS: Lookup(query, key, value, backend="cpu").attend, LIMIT: limit}
            forms = add_peers(calls, peers.Case(query, key, value))
            race = measure.race(calls, options.seconds)
            row: Row = {"kind": "decode", "name": f"{dtype} decode 32/8 {length} x {dim}",
                        "dtype": dtype, "length": length, "dim": dim,
                        "share": share_of(race, key.nbytes + value.nbytes, amount),
                        "of": "of read"}  # fmt: skip
            report(results, beside_peers(row, race, forms))


def small_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure whole calls of `attend` that are over at once, and the kernel alone."""
    for shape in SMALL[:1] if options.quick else SMALL:
        three = arrays("float32", shape, shape, shape)
        calls: Calls = {OURS: lambda three=three: attend(*three), "kernel": kernel_alone(three)}
        forms = add_peers(calls, peers.Case(*three))
        race = measure.race(calls, options.seconds / 2)
        kernel = 1e6 * race.seconds["kernel"]
        row: Row = {"kind": "small", "name": f"float32 attend {shape}, whole call",
                    "heads": shape[1], "length": shape[2], "kernel_us": kernel,
                    "above_us": 1e6 * race.seconds[OURS] - kernel}  # fmt: skip
        report(results, beside_peers(row, race, forms))
        look = Lookup(*three)
        calls = {OURS: lambda look=look: look.inspect(entropy=True, received=True, top=8)}
        race = measure.race(calls, options.seconds / 4)
        row = {"kind": "small inspect", "name": f"float32 inspect {shape}, four facts, whole call"}
        report(results, beside_peers(row, race, {}))


def kernel_alone(three: list[np.ndarray]) -> peers.Call:
    """Return the call of the compiled core that `attend` makes in the end."""
    core, isa, problem = machine.needed_core(), machine.active(), Lookup(*three).problem
    found = cpu.forward(problem, Facts())
    out, lse = np.zeros_like(found.out), np.zeros_like(found.lse)
    call = call_of(problem) | {"out": out, "lse": lse}
    core.forward(call, isa, 1)
    np.testing.assert_array_equal(out, found.out)
    return lambda: core.forward(call, isa, 1)


def add_peers(calls: Calls, case: peers.Case, left_out: tuple[str, ...] = ()) -> dict[str, str]:
    """Add the peers' calls for `case`, once their numbers are ours; return their forms."""
    forms = {}
    expected = calls[OURS]()
    for name, form, call in peers.best_of(case, left_out):
        peers.assert_same(expected, call(), name)
        calls[name], forms[name] = call, form
    return forms
