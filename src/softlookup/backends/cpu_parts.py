"""Parts of a lookup by the compiled core: gathered over some keys, merged, and ended later.

The state of every 4,096 keys is handed out by itself, since this is how the core adds up: parts
that begin at multiples of 4,096 keys, merged from the first to the last, end in the bits of a
lookup that was never cut. One thread computes each: whoever cuts a lookup runs its pieces at once.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup import machine
from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.backends.calls import DTYPES, asked_of, call_of, plain, widened
from softlookup.backends.pieces import STATE_KEYS, facts_of_keys, keys_of
from softlookup.facts import Facts, Findings, room_for
from softlookup.partials import Part, RowFacts
from softlookup.pooling import Normaliser
from softlookup.problem import Problem
from softlookup.tallies import Best, Tally

_AT_ONCE = 2**16  # keys whose weights a thread holds for a tile of rows


def parts(problem: Problem, facts: Facts, rows: IntArray | None = None) -> list[Part]:
    """Return the state after every 4,096 keys alone, in their order; no sinks.

    Of all rows, or of those chosen where no groups and no distance are asked for.
    """
    count = -(-problem.kv_len // STATE_KEYS)
    chosen = problem.q_len if rows is None else len(rows)
    shape = (count, problem.batch, problem.heads, chosen)
    room = _room(shape, problem.value_dim, problem.compute_dtype, facts)
    if room["part_max"].size:
        call = call_of(problem) | room | {"part_count": count, "top": facts.top}
        if rows is not None:
            call |= {"rows": np.ascontiguousarray(rows, np.int64), "row_count": chosen}
        _run(call)
    found = [_part_of(room, n, facts) for n in range(count)]
    if facts.labels is None and facts.bins is None:
        return found
    return [_with_shares(problem, facts, part, n) for n, part in enumerate(found)]


def merged(some: Sequence[Part], facts: Facts) -> Part:
    """Return the state over the keys of all parts, merged from the first to the last."""
    if len(some) == 1:
        return some[0]
    room = _stacked(some, facts)
    if room["part_max"].size:
        _run(_call_of_parts(some[0], room, facts))
    first = {name: None if array is None else array[:1].copy() for name, array in room.items()}
    whole = _part_of(first, 0, facts)  # in memory of its own, not in that of all
    groups, distance = (_shares(some, whole.row_max, name) for name in ("groups", "distance"))
    if whole.tally is None or (groups is None and distance is None):
        return whole
    return whole._replace(tally=whole.tally._replace(groups=groups, distance=distance))


def ended(
    some: Sequence[Part], facts: Facts, dtype: np.dtype[Any], sinks: Array | None
) -> tuple[Findings, Normaliser]:
    """Merge all parts of some rows and end: out in `dtype`, and what makes scores into weights."""
    rows, wide = some[0].row_max.shape, some[0].row_max.dtype
    out = np.empty((*rows, some[0].acc.shape[-1]), dtype)
    lse, shift, factor = np.zeros((3, *rows), wide)
    found = RowFacts(
        entropy=np.empty(rows, wide) if facts.entropy else None,
        sink=np.empty(rows, wide) if facts.sink else None,
        max_score=np.empty(rows, wide) if facts.max_score else None,
        top_keys=np.empty((*rows, facts.top), np.int64) if facts.top else None,
        top_weights=np.empty((*rows, facts.top), wide) if facts.top else None,
    )
    call = _call_of_parts(some[0], _stacked(some, facts), facts) | {
        "dtype": DTYPES[dtype],
        "lse": lse,
        "shift": shift,
        "factor": factor,
        "entropy": found.entropy,
        "sink": found.sink,
        "max_score": found.max_score,
        "top_keys": found.top_keys,
        "top_weights": found.top_weights,
    }
    if sinks is not None:
        call["sinks"] = np.ascontiguousarray(widened(sinks, wide))
    if out.size:
        call["out"] = plain(out)
    if lse.size:
        _run(call)
    with np.errstate(all="ignore"):  # NaN is an answer
        groups, distance = (
            None if sums is None else sums * factor[..., None]
            for sums in (_shares(some, shift, name) for name in ("groups", "distance"))
        )
    found = found._replace(groups=groups, distance=distance)
    return Findings(out, lse, found), Normaliser(shift, factor)


def received(problem: Problem, from_rows: BoolArray | None, normaliser: Normaliser) -> Array:
    """Return what each key here receives from rows whose sums over all keys are known, float64."""
    total = np.zeros((problem.batch, problem.heads, problem.kv_len))
    if not total.size or not problem.q_len:
        return total
    core, isa = machine.needed_core(), machine.active()
    for start in range(0, problem.kv_len, _AT_ONCE):
        keys = slice(start, min(start + _AT_ONCE, problem.kv_len))
        call = _known(keys_of(problem, keys), normaliser)
        ranges, range_rows = core.ranges(call, isa)
        shape = (problem.batch, problem.heads, ranges, keys.stop - keys.start)
        sums = np.zeros(shape, problem.compute_dtype)
        call |= {"received": sums, "range_count": ranges, "range_rows": range_rows}
        if from_rows is not None:
            call["from_rows"] = np.ascontiguousarray(from_rows)
        _run(call)
        total[:, :, keys] = sums.sum(axis=2, dtype=np.float64)
    return total


def rectangle(problem: Problem, rows: IntArray, keys: IntArray, normaliser: Normaliser) -> Array:
    """Return weights (batch, heads, len(rows), len(keys)); the normaliser is that of these rows."""
    shape = (problem.batch, problem.heads, len(rows), len(keys))
    result = np.empty(shape, problem.compute_dtype)
    if result.size:
        _run(
            _known(problem, normaliser)
            | {
                "rows": np.ascontiguousarray(rows, np.int64),
                "row_count": len(rows),
                "keys": np.ascontiguousarray(keys, np.int64),
                "key_count": len(keys),
                "weights": result,
            }
        )
    return result


def _run(call: dict[str, Any]) -> None:
    threads = machine.threads() if os.environ.get(machine.THREADS) else 1
    machine.needed_core().forward(call, machine.active(), threads)


def _known(problem: Problem, normaliser: Normaliser) -> dict[str, Any]:
    """Return the call that asks of the weights in rows whose sums over all keys are known."""
    shift, factor = (np.ascontiguousarray(x, problem.compute_dtype) for x in normaliser)
    return call_of(problem, with_value=False) | {"known": True, "shift": shift, "factor": factor}


def _room(
    rows: tuple[int, ...], value_dim: int, dtype: np.dtype[Any], facts: Facts
) -> dict[str, Any]:
    """Return the arrays of unfinished rows, by their names in a call, which fills them."""
    return {
        "part_max": np.empty(rows, dtype),
        "part_sum": np.empty(rows, dtype),
        "part_heat": np.empty(rows, dtype) if facts.entropy else None,
        "part_acc": np.empty((*rows, value_dim), dtype),
        "part_seen": np.empty(rows, np.uint8),
        "part_scores": np.empty((*rows, facts.top), dtype) if facts.top else None,
        "part_keys": np.empty((*rows, facts.top), np.int64) if facts.top else None,
    }


def _part_of(room: dict[str, Any], n: int, facts: Facts) -> Part:
    """Return one of the parts that stand in `room`, sharing its memory."""
    one: dict[str, Any] = {
        name: None if array is None else array[n] for name, array in room.items()
    }
    row_max, row_sum, seen = one["part_max"], one["part_sum"], one["part_seen"].view(bool)
    tally = None
    if facts.tallied:
        heat = one["part_heat"]
        tally = Tally(
            peak=np.where(np.isnan(row_sum), np.nan, row_max) if facts.max_score else None,
            moments=None if heat is None else np.stack([row_sum, heat], axis=-1),
            best=Best(one["part_scores"], one["part_keys"]) if facts.top else None,
        )
    return Part(row_max, row_sum, one["part_acc"], seen, tally)


def _stacked(some: Sequence[Part], facts: Facts) -> dict[str, Any]:
    """Return parts as the arrays of a call, (parts, batch, heads, rows, ...)."""
    tallies = [part.tally for part in some if part.tally is not None]
    best = [tally.best for tally in tallies if tally.best is not None]
    heat = [tally.moments[..., 1] for tally in tallies if tally.moments is not None]
    return {
        "part_max": np.stack([part.row_max for part in some]),
        "part_sum": np.stack([part.row_sum for part in some]),
        "part_heat": np.stack(heat) if facts.entropy else None,
        "part_acc": np.stack([part.acc for part in some]),
        "part_seen": np.stack([part.seen for part in some]).view(np.uint8),
        "part_scores": np.stack([each.scores for each in best]) if facts.top else None,
        "part_keys": np.stack([each.keys for each in best]) if facts.top else None,
    }


def _call_of_parts(one: Part, room: dict[str, Any], facts: Facts) -> dict[str, Any]:
    """Return the call that merges the parts in `room`; it has no keys and no queries."""
    batch, heads, q_len, value_dim = one.acc.shape
    return room | {
        "dtype": DTYPES[one.acc.dtype],
        "batch": batch,
        "heads": heads,
        "kv_heads": heads,
        "q_len": q_len,
        "value_dim": value_dim,
        "part_count": len(room["part_max"]),
        "merging": True,
        "top": facts.top,
    }


def _with_shares(problem: Problem, facts: Facts, part: Part, n: int) -> Part:
    """Add to the n-th part's tally its sums per group and per bin of distance."""
    keys = slice(n * STATE_KEYS, min((n + 1) * STATE_KEYS, problem.kv_len))
    some, asked = keys_of(problem, keys), facts_of_keys(facts, keys)
    asked = Facts(labels=asked.labels, bins=asked.bins, kinds=asked.kinds)
    found = room_for(some, asked)
    shift = np.maximum(part.row_max, np.finfo(part.row_max.dtype).min)
    if part.row_max.size and (facts.groups or facts.bins):
        call = _known(some, Normaliser(shift, np.ones_like(shift)))
        _run(call | asked_of(some, asked, found))
    tally = Tally() if part.tally is None else part.tally
    return part._replace(tally=tally._replace(groups=found.groups, distance=found.distance))


def _shares(some: Sequence[Part], shift: Array, name: str) -> Array | None:
    """Return the sums per group or bin of all parts together, as of ``exp(score - shift)``."""
    total = None
    with np.errstate(all="ignore"):  # NaN is an answer
        for part in some:
            sums = None if part.tally is None else getattr(part.tally, name)
            if sums is None:
                return None
            step = part.row_max - np.maximum(shift, np.finfo(shift.dtype).min)
            here = sums * np.exp(step)[..., None]
            total = here if total is None else total + here
    return total
