"""Which keys a query may see: the intersection of all rules, never one instead of another.

Causal, window and kv_lens leave each row one interval of keys; mask and bias = -inf take single
keys out of it. Visibility is a truth value, never a number that is multiplied or added.
"""

from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.options import Overlay
from softlookup.problem import Problem


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


def row_limits(problem: Problem, batch: slice, rows: Any) -> tuple[IntArray, IntArray] | None:
    """Return (start, stop), each (batch, rows): what causal, window and kv_lens leave of keys.

    None where they leave all keys to every row.
    """
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
    return np.minimum(start, problem.kv_len), np.maximum(stop, 0)


def key_span(problem: Problem, batch: slice, rows: Any) -> tuple[int, int]:
    """Return the smallest interval of keys that holds every row's; (0, 0) where all are empty."""
    limits = row_limits(problem, batch, rows)
    if limits is None:
        return 0, problem.kv_len
    start, stop = limits
    some = start < stop
    if not some.any():
        return 0, 0
    return int(start[some].min()), int(stop[some].max())


def visible(problem: Problem, tile: Tile) -> BoolArray | None:
    """Return which keys the rows of a tile see, or None where they see all of them.

    Returns
    -------
    ndarray of bool, broadcastable to (batch, kv_heads, group, rows, keys), or None
    """
    sees = _within_limits(problem, tile)
    for overlay in (problem.mask, problem.bias):
        if overlay is not None:
            over = overlay_tile(problem, overlay, tile)
            shown = over if over.dtype == np.bool_ else ~np.isneginf(over)
            sees = shown if sees is None else sees & shown
    return None if sees is None or sees.all() else sees


def _within_limits(problem: Problem, tile: Tile) -> BoolArray | None:
    """Return what `row_limits` leaves of a tile, (batch, 1, 1, rows, keys), or None for all."""
    limits = row_limits(problem, tile.batch, tile.rows)
    keys = indices(tile.keys, problem.kv_len)
    if limits is None or not keys.size or not limits[0].size:
        return None
    small = np.min_scalar_type(problem.kv_len)  # shorter integers compare up to four times faster
    start, stop, keys = (numbers.astype(small) for numbers in (*limits, keys))
    sees: BoolArray | None = None
    if stop.min() <= keys.max():
        sees = (keys < stop[..., None])[:, None, None]
    if start.max() > keys.min():
        after = (keys >= start[..., None])[:, None, None]
        sees = after if sees is None else sees & after
    return sees


def overlay_tile(problem: Problem, overlay: Overlay, tile: Tile) -> Array:
    """Return a mask or bias over a tile, broadcastable to (batch, kv_heads, group, rows, keys)."""
    part = overlay.tile(tile.batch, tile.heads(problem), tile.rows, tile.keys)
    if part.shape[1] == 1:
        return part[:, :, None]
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return part.reshape(part.shape[0], kv_heads, problem.group, *part.shape[2:])
