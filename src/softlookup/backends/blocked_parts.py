"""Parts of a lookup in NumPy: gathered over some keys, merged, and ended, elsewhere or later."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.backends.pieces import nothing_seen
from softlookup.backends.tiles import fold, scaled_query, scores_of, unfold
from softlookup.backends.walks import cuts, part_of, plan_of, row_tiles
from softlookup.facts import Facts, Findings
from softlookup.partials import Part, add_sinks, finish, merge, row_facts
from softlookup.pooling import Normaliser, normaliser_of
from softlookup.problem import Problem
from softlookup.tallies import Best, Tally
from softlookup.visibility import Tile, visible


def parts(problem: Problem, facts: Facts, rows: IntArray | None = None) -> list[Part]:
    """Return the state of all rows, or of those chosen, over the keys; no sinks."""
    chosen = np.arange(problem.q_len) if rows is None else rows
    plan = plan_of(problem, len(chosen))
    scratch = plan.scratch(problem)
    rooms: list[Array] | None = None
    like: Part | None = None
    lead = (problem.batch, problem.heads, len(chosen))
    with np.errstate(all="ignore"):  # NaN and inf are answers, not accidents
        for batch, kv_heads, some in row_tiles(problem, len(chosen), plan):
            at = some if rows is None else chosen[some]  # a slice reads masks in place
            tile = Tile(batch, kv_heads, at, slice(0, problem.kv_len))
            like = part_of(problem, tile, problem.value, plan.keys, scratch, facts=facts, end=False)
            numbers = [unfold(array, problem) for array in _arrays(like)]
            if rooms is None:
                rooms = [np.empty((*lead, *array.shape[3:]), array.dtype) for array in numbers]
            for room, array in zip(rooms, numbers, strict=True):
                room[batch, tile.heads(problem), some] = array
    if rooms is None or like is None:  # there is no row
        return [nothing_seen(lead, problem.value_dim, problem.compute_dtype, facts)]
    return [_filled(like, rooms)]


def merged(some: Sequence[Part], facts: Facts) -> Part:  # noqa: ARG001 (the common signature)
    """Return the state over the keys of all parts, merged from the first to the last."""
    with np.errstate(all="ignore"):  # as in `parts`
        return functools.reduce(merge, some)


def ended(
    some: Sequence[Part], facts: Facts, dtype: np.dtype[Any], sinks: Array | None
) -> tuple[Findings, Normaliser]:
    """Merge all parts of some rows and end: out in `dtype`, and what makes scores into weights."""
    whole = merged(some, facts)
    logits = None if sinks is None else sinks[:, None]
    with np.errstate(all="ignore"):  # as in `parts`
        if logits is not None:
            whole = add_sinks(whole, logits)
        answer = finish(whole)
        found = row_facts(whole, logits if facts.sink else None)
        out = answer.out.astype(dtype, copy=False)
        return Findings(out, answer.lse, found), normaliser_of(whole)


def received(problem: Problem, from_rows: BoolArray | None, normaliser: Normaliser) -> Array:
    """Return what each key here receives from rows whose sums over all keys are known, float64."""
    total = np.zeros((problem.batch, problem.heads, problem.kv_len))
    keys, plan = np.arange(problem.kv_len), plan_of(problem, problem.q_len)
    for rows in cuts(problem.q_len, plan.rows):
        here = np.arange(rows.start, rows.stop)
        some = Normaliser(*(each[:, :, rows] for each in normaliser))
        for part in cuts(len(keys), plan.keys):
            weights = rectangle(problem, here, keys[part], some)
            if from_rows is not None:
                np.copyto(weights, 0, where=~from_rows[:, None, rows, None])
            total[:, :, part] += weights.sum(axis=2, dtype=np.float64)
    return total


def rectangle(problem: Problem, rows: IntArray, keys: IntArray, normaliser: Normaliser) -> Array:
    """Return weights (batch, heads, len(rows), len(keys)); the normaliser is that of these rows."""
    result = np.empty((problem.batch, problem.heads, len(rows), len(keys)), problem.compute_dtype)
    plan = plan_of(problem, len(rows))
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # as in `parts`
        for batch, kv_heads, at in row_tiles(problem, len(rows), plan):
            row_tile = Tile(batch, kv_heads, rows[at], slice(0, 0))
            query = scaled_query(problem, row_tile)
            shift, factor = (
                fold(each[batch, row_tile.heads(problem), at], problem, row_tile)[..., None]
                for each in normaliser
            )
            for part in cuts(len(keys), plan.keys):
                tile = row_tile._replace(keys=keys[part])
                scores, sees = scores_of(problem, tile, query, scratch), visible(problem, tile)
                scores -= shift
                np.exp(scores, out=scores)
                scores *= factor
                if sees is not None:
                    np.copyto(scores, 0, where=~sees)
                result[batch, tile.heads(problem), at, part] = unfold(scores, problem)
    return result


def _arrays(part: Part) -> list[Array]:
    """Return all arrays of a part, those of its tally behind the others."""
    tally = part.tally or Tally()
    some = (tally.peak, tally.moments, *(tally.best or ()), tally.groups, tally.distance)
    return [*part[:4], *(array for array in some if array is not None)]


def _filled(like: Part, arrays: Sequence[Array]) -> Part:
    """Return a part with such arrays as `like` has."""
    row_max, row_sum, acc, seen, *rest = arrays
    if like.tally is None:
        return Part(row_max, row_sum, acc, seen)
    left = iter(rest)
    peak, moments = (None if each is None else next(left) for each in like.tally[:2])
    best = None if like.tally.best is None else Best(next(left), next(left))
    groups, distance = (None if each is None else next(left) for each in like.tally[3:])
    return Part(row_max, row_sum, acc, seen, Tally(peak, moments, best, groups, distance))
