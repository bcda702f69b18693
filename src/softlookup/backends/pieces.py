"""A piece of a lookup as a lookup of its own: some rows and some keys, in their places."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup.arrays import Array, IntArray
from softlookup.facts import Facts
from softlookup.options import Overlay
from softlookup.partials import Part, empty_part
from softlookup.problem import Problem
from softlookup.tallies import Best, Tally

STATE_KEYS = 4096  # that one state of the core gathers


def moved(offset: IntArray | None, first_row: int, first_key: int) -> IntArray | None:
    """Return the position of a piece's first row, counted from its first key."""
    return None if offset is None else offset + (first_row - first_key)


def left_of(kv_lens: IntArray | None, keys: slice) -> IntArray | None:
    """Return how many of a piece's keys are no padding."""
    if kv_lens is None:
        return None
    found: IntArray = np.clip(kv_lens - keys.start, 0, keys.stop - keys.start)
    return found


def keys_of(problem: Problem, keys: slice) -> Problem:
    """Return the lookup over some neighbouring keys, sharing memory."""
    return replace(
        problem,
        key=problem.key[:, :, keys],
        value=None if problem.value is None else problem.value[:, :, keys],
        q_offset=moved(problem.q_offset, 0, keys.start),
        kv_lens=left_of(problem.kv_lens, keys),
        mask=_over_keys(problem.mask, keys),
        bias=_over_keys(problem.bias, keys),
    )


def facts_of_keys(facts: Facts, keys: slice) -> Facts:
    """Return what is asked of some neighbouring keys."""
    labels = facts.labels
    if labels is None:
        return facts
    return facts._replace(labels=labels[:, keys], kinds=facts.groups)


def nothing_seen(rows: tuple[int, ...], value_dim: int, dtype: np.dtype[Any], facts: Facts) -> Part:
    """Return the neutral part of so many rows, with the tally that these facts keep."""
    part = empty_part(rows, value_dim, dtype)
    if not facts.tallied:
        return part
    best = None
    if facts.top:
        shape = (*rows, facts.top)
        best = Best(np.full(shape, -np.inf, dtype), np.full(shape, -1, np.int64))
    tally = Tally(
        np.full(rows, -np.inf, dtype) if facts.max_score else None,
        np.zeros((*rows, 2), dtype) if facts.entropy else None,
        best,
        None if facts.labels is None else np.zeros((*rows, facts.groups), dtype),
        None if facts.bins is None else np.zeros((*rows, facts.bins), dtype),
    )
    return part._replace(tally=tally)


def _over_keys(overlay: Overlay | None, keys: slice) -> Overlay | None:
    if overlay is None or overlay.array.shape[3] == 1:
        return overlay
    array: Array = overlay.array[..., keys]
    return overlay._replace(array=array)
