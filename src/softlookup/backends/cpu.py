"""The lookup in C++: lanes along queries, K and V read in place, facts in the same pass.

The kernels lie in ``cpp/``; this file hands them its calls, which `calls` makes of a problem.
"""

from typing import NamedTuple

import numpy as np

from softlookup import machine
from softlookup.arrays import Array, IntArray
from softlookup.backends.calls import asked_of, call_of, laid_over, plain
from softlookup.facts import NO_ROW_FACTS, Facts, Findings, room_for
from softlookup.gradients import (
    Gradients,
    Residuals,
    add_to_bias,
    are_finite,
    bias_room,
    count_ranges,
    row_delta,
    sinks_gradient,
)
from softlookup.options import Overlay
from softlookup.partials import RowFacts
from softlookup.pooling import BAND, Normaliser, Pooled
from softlookup.problem import Problem
from softlookup.visibility import readers

NAME = "cpu"
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
    return problem.lies_elsewhere()


def offers(problem: Problem, *, alone: bool) -> bool:  # noqa: ARG001 (the common signature)
    """Return whether ``"auto"`` may take this backend for what it can compute: always."""
    return True


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for."""
    rows = (problem.batch, problem.heads, problem.q_len)
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse = np.empty(rows, problem.compute_dtype)
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
    call = call_of(problem, with_value=False) | {
        "rows": np.ascontiguousarray(rows, np.int64),
        "row_count": len(rows),
        "keys": np.ascontiguousarray(keys, np.int64),
        "key_count": len(keys),
        "weights": result,
    }
    machine.needed_core().forward(call, machine.active(), machine.threads())
    return result


def pooled(problem: Problem, bands: IntArray) -> Pooled:
    """Return whole bands of one head's rows, pooled."""
    blocks, rows = -(-problem.kv_len // BAND), len(bands) * BAND
    most, total = np.zeros((2, len(bands), blocks), problem.compute_dtype)
    shift, factor, lse, entropy = np.zeros((4, rows), problem.compute_dtype)
    call = call_of(problem, with_value=False) | {
        "row_count": rows,
        "bands": np.ascontiguousarray(bands, np.int64),
        "band_count": len(bands),
        "block_max": most,
        "block_sum": total,
        "shift": shift,
        "factor": factor,
        "lse": lse,
        "entropy": entropy,
    }
    if rows:
        machine.needed_core().forward(call, machine.active(), machine.threads())
    return Pooled(most, total, Normaliser(shift, factor), lse, entropy)


def cells(
    problem: Problem, rows: slice, keys: slice, size: int, normaliser: Normaliser
) -> tuple[Array, Array]:
    """Return the largest weight and the sum of each `size` x `size` block of one head's rectangle.

    `rows` and `keys` begin at multiples of `size`; the normaliser is that of these rows.
    """
    row_count, key_count = rows.stop - rows.start, keys.stop - keys.start
    shape = -(-row_count // size), -(-key_count // size)
    most = np.zeros(shape, problem.compute_dtype)
    total = most if size == 1 else np.zeros(shape, problem.compute_dtype)
    if not most.size:
        return most, total
    call = call_of(problem, with_value=False) | {
        "row_from": rows.start,
        "row_count": row_count,
        "key_from": keys.start,
        "key_count": key_count,
        "block": size,
        "block_max": most,
        "block_sum": None if size == 1 else total,
        "shift": np.ascontiguousarray(normaliser.shift, problem.compute_dtype),
        "factor": np.ascontiguousarray(normaliser.factor, problem.compute_dtype),
    }
    machine.needed_core().forward(call, machine.active(), machine.threads())
    return most, total


def residuals(problem: Problem) -> Residuals:
    """Return the output and what its gradients need of it."""
    rows = (problem.batch, problem.heads, problem.q_len)
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse, shift, factor = np.zeros((3, *rows), problem.compute_dtype)
    call = call_of(problem) | {"lse": lse, "shift": shift, "factor": factor}
    if out.size:
        call["out"] = plain(out)
    if lse.size:
        machine.needed_core().forward(call, machine.active(), machine.threads())
    return Residuals(out, lse, Normaliser(shift, factor))


def backward(
    problem: Problem,
    kept: Residuals,
    out_grad: Array,
    lse_grad: Array | None,
    *,
    bias: bool,
) -> Gradients:
    """Return what reaches the inputs; the bias' gradient only where it is asked for."""
    delta = row_delta(kept, out_grad, lse_grad)
    room = bias_room(problem, wanted=bias)
    ranges, dtype = count_ranges(problem), problem.compute_dtype
    lead = (problem.batch, problem.kv_heads, ranges, problem.kv_len)
    pull = _Pull(
        out_grad,
        delta,
        kept.normaliser,
        are_finite(problem.query, problem.key, problem.value, out_grad),
        np.zeros(problem.query.shape, problem.dtype),
        np.zeros((*lead, problem.head_dim), dtype),
        np.zeros((*lead, problem.value_dim), dtype),
    )
    if delta.size and problem.kv_len:
        _pull_all(problem, pull, room)
    key, value = (
        (part[:, :, 0] if ranges == 1 else part.sum(axis=2)).astype(problem.dtype, copy=False)
        for part in (pull.key, pull.value)
    )
    sinks = sinks_gradient(problem, kept, delta)
    return Gradients(pull.query, key, value, None if room is None else room.array, sinks)


class _Pull(NamedTuple):
    """What a call for gradients reads, and the sums that it fills; axes are (batch, heads, ...)."""

    out_grad: Array
    delta: Array  # of rounded outputs the kernels add what is left, see `row_delta`
    normaliser: Normaliser
    finite: bool
    query: Array  # in the inputs' dtype
    key: Array  # (batch, kv_heads, ranges, kv_len, dim), as value is
    value: Array

    def one_head(self, batch: int, head: int, kv_head: int) -> "_Pull":
        """Return the part of one head, sharing memory."""
        at = np.s_[batch : batch + 1, head : head + 1]
        kv = np.s_[batch : batch + 1, kv_head : kv_head + 1]
        own = Normaliser(*(part[at] for part in self.normaliser))
        return _Pull(
            self.out_grad[at], self.delta[at], own, self.finite,
            self.query[at], self.key[kv], self.value[kv],
        )  # fmt: skip


def _pull_all(problem: Problem, pull: _Pull, room: Overlay | None) -> None:
    """Fill the sums of `pull` and, where there is one, of the bias' `room`.

    No two threads may add to one number. A bias along queries and keys that several heads or batch
    entries share is filled head by head; another that is shared, by sums of its own for each.
    """
    if room is None:
        _run(problem, pull)
        return
    entries, heads, rows, keys = room.array.shape
    if rows < problem.q_len or keys < problem.kv_len:  # it grows with one length alone
        ranges = pull.key.shape[2] if rows == 1 else 1  # else no two of them meet
        sums = np.zeros((ranges, problem.batch, problem.heads, rows, keys), room.array.dtype)
        apart = sums[0].size if ranges > 1 else 0
        _run(problem, pull, Overlay(sums[0], np.arange(problem.batch)), apart)
        every = slice(None)
        add_to_bias(room, sums.sum(axis=0), every, (every, every, every))
    elif (entries, heads) == (problem.batch, problem.heads):
        _run(problem, pull, room)
    else:
        for batch, head in np.ndindex(problem.batch, problem.heads):
            entry, own = room.entry[batch], head if heads > 1 else 0
            some = room.array[entry : entry + 1, own : own + 1]
            one = pull.one_head(batch, head, head // problem.group)
            _run(problem.one_head(head, batch), one, Overlay(some, np.zeros(1, np.int64)))


def _run(problem: Problem, pull: _Pull, bias: Overlay | None = None, apart: int = 0) -> None:
    """Let the kernels add to the sums of `pull`; `apart` lies between the ranges' own of a bias."""
    call = call_of(problem) | {
        "out_grad": plain(pull.out_grad),
        "delta": pull.delta,
        "shift": pull.normaliser.shift,
        "factor": pull.normaliser.factor,
        "finite": pull.finite,
        "grad_ranges": pull.key.shape[2],
        "query_grad": plain(pull.query),
        "key_grad": pull.key,
        "value_grad": pull.value,
    }
    if bias is not None:
        call |= {"bias_grad": laid_over(bias, bias.array), "bias_range": apart}
    machine.needed_core().forward(call, machine.active(), machine.threads())


def _compute(
    problem: Problem, facts: Facts, out: Array, lse: Array, found: RowFacts
) -> Array | None:
    """Fill everything that is asked for; return what keys receive, or None."""
    call = call_of(problem)
    if found is not NO_ROW_FACTS or facts.received:  # else the answer alone
        call |= asked_of(problem, facts, found)
    if out.size:
        call["out"] = plain(out)
    call["lse"] = lse
    core, isa = machine.needed_core(), machine.active()
    sums = None
    if facts.received:
        ranges, range_rows = core.ranges(call, isa)
        shape = (problem.batch, problem.heads, ranges, problem.kv_len)
        sums = np.zeros(shape, problem.compute_dtype)
        call |= {"received": sums, "range_count": ranges, "range_rows": range_rows}
    core.forward(call, isa, machine.threads())
    if sums is None:
        return None
    one = sums.shape[2] == 1
    return sums[:, :, 0].astype(np.float64) if one else sums.sum(axis=2, dtype=np.float64)
