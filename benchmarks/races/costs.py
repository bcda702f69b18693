"""Rows of what options and facts cost beside the same lookup without them, and of two threads."""

import argparse
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any

import measure
import numpy as np

from races import peers
from races.bars import FOUR
from races.rows import OURS, Calls, Row, Rows, arrays, beside_bare, report
from softlookup import Lookup, machine
from softlookup.backends import cpu
from softlookup.facts import Facts, build_facts

ASKED = {
    "lse, entropy": {"entropy": True},
    "received": {"received": True},
    "top 8": {"top": 8},
    FOUR: {"entropy": True, "received": True, "top": 8},
    "groups": {"groups": True},
    "distance": {"distance": True},
}
SHAPES = [(1, 12, 128, 64), (1, 12, 512, 64), (1, 4, 2048, 64), (1, 1, 8192, 64)]
WIDE = [(1, 12, 512, 64), (1, 8, 2048, 64)]


def forward_of(look: Lookup, facts: Facts | None = None) -> Callable[[], object]:
    """Return the call that computes; the checks of `Lookup` were made before."""
    return lambda: cpu.forward(look.problem, facts or Facts())


def dtype_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure float16 and float64 beside float32."""
    for dtype, shape in product(("float16", "float64"), SHAPES[:1] if options.quick else WIDE):
        calls: Calls = {
            OURS: forward_of(Lookup(*arrays(dtype, shape, shape, shape))),
            "bare": forward_of(Lookup(*arrays("float32", shape, shape, shape))),
        }
        race = measure.race(calls, options.seconds)
        row: Row = {"kind": "dtype", "name": f"{dtype} {shape}", "dtype": dtype,
                    "length": shape[2], "ms": 1e3 * race.seconds[OURS], "quiet": race.quiet,
                    "share": race.ratios["bare"], "of": "of float32's rate"}  # fmt: skip
        report(results, row)


def mask_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure a bool mask and a bias over all heads, half of the pairs hidden, beside none."""
    rng = np.random.default_rng(1)
    for shape in SHAPES[:1] if options.quick else SHAPES[:3]:
        length, three = shape[2], arrays("float32", shape, shape, shape)
        given = {
            "mask": {"mask": rng.random((length, length)) < 0.5},
            "bias": {"bias": rng.standard_normal((length, length), dtype=np.float32)},
        }
        for name, option in given.items():
            calls: Calls = {
                OURS: forward_of(Lookup(*three, **option)),
                "bare": forward_of(Lookup(*three)),
            }
            race = measure.race(calls, options.seconds)
            row: Row = {"kind": "mask", "name": f"float32 {shape} with a {name}", "length": length}
            report(results, beside_bare(row, race))


def fact_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure facts beside the output alone."""
    for shape, causal in product(SHAPES[:1] if options.quick else SHAPES, (False, True)):
        look = Lookup(*arrays("float32", shape, shape, shape), causal=causal)
        for name, asked in ASKED.items():
            if causal and name != FOUR:
                continue
            given: dict[str, Any] = dict(asked)
            if "groups" in given:
                given["groups"] = np.arange(shape[2]) % 8
            facts = build_facts(look.problem, **given)
            calls: Calls = {OURS: forward_of(look, facts), "bare": forward_of(look)}
            race = measure.race(calls, options.seconds)
            mask = "causal" if causal else "full"
            row: Row = {"kind": "facts", "name": f"float32 {mask} {shape} with {name}",
                        "facts": name, "mask": mask, "length": shape[2]}  # fmt: skip
            report(results, beside_bare(row, race))


def eager_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure the output with all four facts, beside PyTorch holding the whole weights."""
    if not find_spec("torch"):
        return
    shapes = SHAPES[:1] if options.quick else SHAPES[:3]
    for shape, causal in product(shapes, (False, True)):
        three = arrays("float32", shape, shape, shape)
        look = Lookup(*three, causal=causal, backend="cpu")
        facts = build_facts(look.problem, **ASKED[FOUR])
        forms = dict(eager_forms(three, causal))
        form = min(forms, key=lambda name: measure.seconds(forms[name], 1))
        peers.assert_same(look.attend(), forms[form](), "eager PyTorch")
        calls: Calls = {OURS: forward_of(look, facts), "PyTorch": forms[form]}
        race = measure.race(calls, options.seconds)
        mask = "causal" if causal else "full"
        row: Row = {"kind": "eager", "name": f"float32 {mask} {shape}, four facts by hand",
                    "mask": mask, "length": shape[2], "ms": 1e3 * race.seconds[OURS],
                    "quiet": race.quiet}  # fmt: skip
        told = {"ms": 1e3 * race.seconds["PyTorch"], "times": race.ratios["PyTorch"], "form": form}
        report(results, row | {"peers": {"PyTorch": told}})


def eager_forms(three: list[np.ndarray], causal: bool) -> Iterator[tuple[str, peers.Call]]:
    """Yield two ways to the same five answers: through softmax, and through the log-sum-exp."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    query, key, value = (torch.from_numpy(array) for array in three)
    length, scale = query.shape[-2], query.shape[-1] ** -0.5
    turned = key.transpose(-1, -2)
    bias = torch.full((length, length), -1e30).triu(1) if causal else None

    def scores_of() -> Any:
        scores = (query * scale) @ turned
        return scores if bias is None else scores.add_(bias)

    def by_softmax() -> Any:
        scores = scores_of()
        lse, weights = torch.logsumexp(scores, -1), torch.softmax(scores, -1)
        facts = (lse, torch.special.entr(weights).sum(-1), weights.sum(-2), weights.topk(8))
        return (weights @ value, facts)[0]

    def by_lse() -> Any:
        scores = scores_of()
        lse = torch.logsumexp(scores, -1, keepdim=True)
        weights = (scores - lse).exp_()
        entropy = lse[..., 0] - (weights * scores).sum(-1)
        return (weights @ value, entropy, weights.sum(-2), weights.topk(8))[0]

    yield "by softmax", by_softmax
    yield "by log-sum-exp", by_lse


def thread_rows(options: argparse.Namespace, results: Rows) -> None:
    """Measure two threads beside one."""
    if not hasattr(os, "sched_setaffinity") or (os.cpu_count() or 1) < 2:
        return
    here = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(2))
    try:
        for shape, causal in product([(1, 8, 512, 64), (1, 8, 2048, 64)], (False, True)):
            look = Lookup(*arrays("float32", shape, shape, shape), causal=causal)
            calls: Calls = {OURS: on_threads(look, 2), "one": on_threads(look, 1)}
            race = measure.race(calls, options.seconds)
            mask = "causal" if causal else "full"
            row: Row = {"kind": "threads", "name": f"float32 {mask} {shape}, two threads",
                        "length": shape[2], "ms": 1e3 * race.seconds[OURS],
                        "quiet": race.quiet}  # fmt: skip
            told = {"ms": 1e3 * race.seconds["one"], "times": race.ratios["one"], "form": ""}
            report(results, row | {"peers": {"one thread": told}})
            if options.quick:
                return
    finally:
        os.environ[machine.THREADS] = "1"
        os.sched_setaffinity(0, here)


def on_threads(look: Lookup, count: int) -> Callable[[], object]:
    """Return the call on so many threads; the environment is read at every call."""

    def call() -> object:
        os.environ[machine.THREADS] = str(count)
        return cpu.forward(look.problem, Facts())

    return call
