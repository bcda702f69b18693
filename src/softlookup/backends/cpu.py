"""The lookup in C++: lanes along queries, K and V read in place, facts in the same pass.

The kernels lie in ``cpp/``. This file hands them a call as a dict of numbers and arrays: every size
that they trust was checked by `Problem`, and the dict holds what they read until they return.
"""

from typing import Any

import numpy as np

from softlookup import machine
from softlookup.arrays import BFLOAT16, Array, IntArray, cast_finite
from softlookup.facts import Facts, Findings, room_for
from softlookup.options import Overlay
from softlookup.partials import RowFacts
from softlookup.problem import Problem
from softlookup.visibility import readers

NAME = "cpu"
_DTYPES = {np.dtype(np.float16): 0, BFLOAT16: 1, np.dtype(np.float32): 2, np.dtype(np.float64): 3}
_MOST_KEYS = 2**31 - 64  # a lane of float32 holds the position of a key as an int32


def missing() -> str | None:
    """Return why this backend cannot run on this machine, as a sentence, or None."""
    if machine.core() is None:
        return (
            "This installation has no compiled core that loads here: it was built without a C++ "
            "compiler, or for another system."
        )
    if not machine.supported():
        return f"This processor runs none of {', '.join(machine.compiled())}."
    return None


def unsupported(problem: Problem, facts: Facts) -> str | None:  # noqa: ARG001 (the common signature)
    """Return why this backend cannot take `problem`, as a sentence, or None."""
    if problem.kv_len > _MOST_KEYS:
        return f"It takes up to {_MOST_KEYS:,} keys; here are {problem.kv_len:,}."
    return None


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for."""
    rows, dtype = (problem.batch, problem.heads, problem.q_len), problem.compute_dtype
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse = np.empty(rows, dtype)
    found = room_for(problem, facts)
    received = _compute(problem, facts, out, lse, found) if lse.size else None
    if facts.received and received is None:  # there is no row
        received = np.zeros((problem.batch, problem.heads, problem.kv_len))
    counts = readers(problem, facts.from_rows) if facts.normalised else None
    return Findings(out, lse, found, received, counts)


def weights(problem: Problem, rows: IntArray, keys: IntArray) -> Array:
    """Return the weights of a rectangle, (batch, heads, len(rows), len(keys))."""
    shape = (problem.batch, problem.heads, len(rows), len(keys))
    result = np.empty(shape, problem.compute_dtype)
    if not result.size:
        return result
    call = _call_of(problem, with_value=False) | {
        "rows": np.ascontiguousarray(rows, np.int64),
        "row_count": len(rows),
        "keys": np.ascontiguousarray(keys, np.int64),
        "key_count": len(keys),
        "weights": result,
    }
    machine.needed_core().forward(call, machine.active(), machine.threads())
    return result


def _compute(
    problem: Problem, facts: Facts, out: Array, lse: Array, found: RowFacts
) -> Array | None:
    """Fill everything that is asked for; return what keys receive, or None."""
    call = _call_of(problem) | _asked(problem, facts, found)
    if out.size:
        call["out"] = _plain(out)
    call["lse"] = lse
    core, isa = machine.needed_core(), machine.active()
    sums = None
    if facts.received:
        ranges, range_rows = core.ranges(call, isa)
        shape = (problem.batch, problem.heads, ranges, problem.kv_len)
        sums = np.zeros(shape, problem.compute_dtype)
        call |= {"received": sums, "range_count": ranges, "range_rows": range_rows}
    core.forward(call, isa, machine.threads())
    return None if sums is None else sums.sum(axis=2, dtype=np.float64)


def _asked(problem: Problem, facts: Facts, found: RowFacts) -> dict[str, Any]:
    """Return the entries of a call that ask for facts."""
    asked: dict[str, Any] = {
        "entropy": found.entropy,
        "sink": found.sink,
        "max_score": found.max_score,
        "top": facts.top,
        "top_keys": found.top_keys,
        "top_weights": found.top_weights,
    }
    if facts.from_rows is not None:
        asked["from_rows"] = np.ascontiguousarray(facts.from_rows)
    if facts.groups and facts.labels is not None:
        each = np.broadcast_to(facts.labels, (problem.batch, problem.kv_len))
        asked["labels"] = np.ascontiguousarray(
            np.maximum(each, -1), np.int32
        )  # -2**32 is none, too
        asked |= {"group_count": facts.groups, "groups": found.groups}
    if facts.bins:
        asked |= {"bin_count": facts.bins, "distance": found.distance}
    return asked


def _call_of(problem: Problem, *, with_value: bool = True) -> dict[str, Any]:
    """Return the call that asks nothing yet; what is left out is not there."""
    call: dict[str, Any] = {
        "dtype": _DTYPES[problem.dtype],
        "batch": problem.batch,
        "heads": problem.heads,
        "kv_heads": problem.kv_heads,
        "q_len": problem.q_len,
        "kv_len": problem.kv_len,
        "head_dim": problem.head_dim,
        "query": _plain(problem.query),
        "key": _plain(problem.key),
        "scale": problem.scale,
        "causal": problem.causal,
        "q_offset": problem.q_offset,
        "kv_lens": problem.kv_lens,
    }
    if with_value and problem.value is not None and problem.value_dim:
        call |= {"value": _plain(problem.value), "value_dim": problem.value_dim}
    if problem.softcap is not None:
        call["softcap"] = problem.softcap
    if problem.window is not None:
        left, right = problem.window
        call |= {"left": -1 if left is None else left, "right": -1 if right is None else right}
    if problem.mask is not None:
        call["mask"] = _laid_over(problem.mask, problem.mask.array)
    if problem.bias is not None:
        bias = _plain(_as(problem.bias.array, problem.compute_dtype))
        call["bias"] = _laid_over(problem.bias, bias)
    if problem.sinks is not None:
        call["sinks"] = np.ascontiguousarray(_as(problem.sinks, problem.compute_dtype))
    return call


def _as(array: Array, dtype: np.dtype[Any]) -> Array:
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):  # beyond its range lies its nearest number
        return cast_finite(array, dtype)


def _plain(array: Array) -> Array:
    """Return `array` such that its buffer can be read, and numbers lie whole numbers apart."""
    if array.dtype == BFLOAT16:  # no buffer speaks of it
        array = array.view(np.uint16)
    size = array.itemsize
    apart = array.flags.c_contiguous or not any(stride % size for stride in array.strides)
    return array if apart and array.flags.aligned else np.ascontiguousarray(array)


def _laid_over(overlay: Overlay, array: Array) -> tuple[Array, IntArray]:
    """Return an overlay's numbers, and which of them each batch entry uses."""
    return array, np.ascontiguousarray(overlay.entry)
