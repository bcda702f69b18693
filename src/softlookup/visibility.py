"""Which keys a query may see: the intersection of all rules, never one instead of another.

Causal, window and kv_lens leave each row one interval of keys; mask and bias = -inf take single
keys out of it. Visibility is a truth value, never a number that is multiplied or added.
"""

from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray, in_memory
from softlookup.options import Overlay
from softlookup.problem import Problem

_CELLS_AT_ONCE = 2**22


class Tile(NamedTuple):
    """A part of a lookup: slices of batch and kv heads, slices or indices of rows and keys."""

    batch: slice
    kv_heads: slice
    rows: Any
    keys: Any

    def heads(self, problem: Problem) -> slice:
        """Return the query heads that use these kv heads."""
        return slice(self.kv_heads.start * problem.group, self.kv_heads.stop * problem.group)


def indices(chosen: Any, length: int) -> IntArray:
    """Return the indices that a slice or an array of indices chooses of an axis."""
    return np.arange(*chosen.indices(length)) if isinstance(chosen, slice) else chosen


class Limits(NamedTuple):
    """The interval of keys, start <= key < stop, of each row (batch, rows), and their ends."""

    start: IntArray
    stop: IntArray
    starts: tuple[int, int]  # the smallest and the largest start
    stops: tuple[int, int]


def row_limits(problem: Problem, batch: slice, rows: Any) -> Limits | None:
    """Return what causal, window and kv_lens leave of the keys; None where that is all of them."""
    left, right = problem.window or (None, None)
    if problem.causal:
        right = 0  # together with a window the nearer end counts, and its right end is >= 0
    if left is None and right is None and problem.kv_lens is None:
        return None
    index = indices(rows, problem.q_len)
    start = np.zeros((len(indices(batch, problem.batch)), len(index)), np.int64)
    stop = np.full_like(start, problem.kv_len)
    if problem.q_offset is not None:
        position = index + problem.q_offset[batch, None]  # (batch, rows)
        if right is not None:
            stop = np.minimum(stop, position + right + 1)
        if left is not None:
            start = np.maximum(start, position - left)
    if problem.kv_lens is not None:
        stop = np.minimum(stop, problem.kv_lens[batch, None])
    small = np.min_scalar_type(problem.kv_len)  # compares up to four times faster
    start = np.minimum(start, problem.kv_len).astype(small)
    stop = np.maximum(stop, 0).astype(small)
    return Limits(start, stop, _ends(start), _ends(stop))


def _ends(numbers: IntArray) -> tuple[int, int]:
    """Return the smallest and the largest of `numbers`; (0, 0) where there are none."""
    return (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)


def key_span(problem: Problem, limits: Limits | None) -> tuple[int, int]:
    """Return an interval (first, last) of keys that holds every row's; first <= last."""
    if limits is None:
        return 0, problem.kv_len
    first, last = limits.starts[0], limits.stops[1]
    return first, max(first, last)


def free_keys(problem: Problem, limits: Limits | None, keys: slice) -> int:
    """Return how many of the first `keys` every row sees for sure: no need to ask for each pair."""
    if limits is None or problem.mask is not None or problem.bias is not None:
        return 0
    if limits.starts[1] > keys.start:
        return 0
    return max(0, min(limits.stops[0], int(keys.stop)) - int(keys.start))


def visible(problem: Problem, tile: Tile, limits: Limits | None = None) -> BoolArray | None:
    """Return which keys the rows of a tile see, or None where they see all of them.

    Parameters
    ----------
    problem : Problem
    tile : Tile
    limits : Limits, optional
        `row_limits` of the tile, where they are known.

    Returns
    -------
    ndarray of bool, broadcastable to (batch, kv_heads, group, rows, keys), or None
    """
    limits = limits or row_limits(problem, tile.batch, tile.rows)
    sees = None if limits is None else _within(limits, indices(tile.keys, problem.kv_len))
    shown = laid_over(problem, tile)
    if shown is not None:
        sees = shown if sees is None else sees & shown
    return None if sees is None or sees.all() else sees


def laid_over(problem: Problem, tile: Tile) -> BoolArray | None:
    """Return what mask and bias leave of a tile, None where there is neither; as `visible`."""
    sees: BoolArray | None = None
    for overlay in (problem.mask, problem.bias):
        if overlay is not None:
            over = overlay_tile(problem, overlay, tile)
            shown = over if over.dtype == np.bool_ else ~np.isneginf(over)
            sees = shown if sees is None else sees & shown
    return sees


def _within(limits: Limits, keys: IntArray) -> BoolArray | None:
    """Return which keys lie within the limits, (batch, 1, 1, rows, keys), or None for all."""
    if not keys.size or not limits.start.size:
        return None
    first, last = _ends(keys)
    keys = keys.astype(limits.start.dtype)
    sees: BoolArray | None = None
    if limits.stops[0] <= last:
        sees = (keys < limits.stop[..., None])[:, None, None]
    if limits.starts[1] > first:
        after = (keys >= limits.start[..., None])[:, None, None]
        sees = after if sees is None else sees & after
    return sees


def overlay_tile(problem: Problem, overlay: Overlay, tile: Tile) -> Array:
    """Return a mask or bias over a tile, broadcastable to (batch, kv_heads, group, rows, keys).

    In memory: what lies elsewhere is brought, and its tile must be of slices.
    """
    part = in_memory(overlay.tile(tile.batch, tile.heads(problem), tile.rows, tile.keys))
    if part.shape[1] == 1:
        return part[:, :, None]
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return part.reshape(part.shape[0], kv_heads, problem.group, *part.shape[2:])


def readers(problem: Problem, from_rows: BoolArray | None = None) -> IntArray:
    """Return how many rows may see each key, (batch, heads, kv_len); only those in `from_rows`.

    Without a mask or a bias every row's keys are an interval, and counting their ends is enough.
    """
    counts = np.zeros((problem.batch, problem.heads, problem.kv_len), np.int64)
    if not counts.size:
        return counts
    counted = np.ones((problem.batch, problem.q_len), bool) if from_rows is None else from_rows
    if problem.mask is None and problem.bias is None:
        counts[:] = _interval_readers(problem, counted)[:, None]
        return counts
    step = max(1, _CELLS_AT_ONCE // (problem.kv_len * problem.group))
    for batch, kv_head in np.ndindex(problem.batch, problem.kv_heads):
        for start in range(0, problem.q_len, step):
            rows = slice(start, min(start + step, problem.q_len))
            here, one = slice(batch, batch + 1), slice(kv_head, kv_head + 1)
            tile = Tile(here, one, rows, slice(0, problem.kv_len))
            sees = visible(problem, tile)
            shape = (1, 1, problem.group, rows.stop - rows.start, problem.kv_len)
            full = np.broadcast_to(True if sees is None else sees, shape)
            chosen = full & counted[batch, rows][:, None]
            counts[batch, tile.heads(problem)] += chosen[0, 0].sum(axis=1)
    return counts


def _interval_readers(problem: Problem, counted: BoolArray) -> IntArray:
    """Return how many of the counted rows' intervals hold each key, (batch, kv_len)."""
    limits = row_limits(problem, slice(0, problem.batch), slice(0, problem.q_len))
    if limits is None:
        total = counted.sum(axis=1, dtype=np.int64)
        return np.repeat(total[:, None], problem.kv_len, axis=1)
    begun = np.zeros((problem.batch, problem.kv_len + 1), np.int64)
    start = np.minimum(limits.start, limits.stop)  # an empty interval begins and ends at once
    for batch in range(problem.batch):
        chosen = counted[batch]
        np.add.at(begun[batch], start[batch][chosen], 1)
        np.subtract.at(begun[batch], limits.stop[batch][chosen], 1)
    return np.cumsum(begun, axis=1)[:, :-1]
