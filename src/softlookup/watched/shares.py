"""Shares: what the first key and the key before get of each row, exactly, at two products a row.

Top keys may miss them, and bins of distance do not tell the side; a row's normaliser is known, so
that a weight takes one more product of a query with a key.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.lookup import Lookup
from softlookup.options import Overlay
from softlookup.problem import Problem
from softlookup.visibility import Tile, row_limits, visible

_ROWS = 4_096  # at once
_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Shares:
    """Weights summed over the rows that see several keys: one visible key leaves no choice.

    Plain numbers: small arrays that stay, between a model's large ones that come and go, would keep
    the allocator from giving anything back.

    Attributes
    ----------
    rows : tuple of int
        For each head, how many rows there were, over all batch entries.
    first : tuple of float
        What the first token that is no padding got.
    previous : tuple of float or None
        What the token before each row's own got; None where keys are another text's.
    """

    rows: tuple[int, ...]
    first: tuple[float, ...]
    previous: tuple[float, ...] | None

    def and_(self, other: "Shares") -> "Shares":
        """Return both together."""
        previous = None
        if self.previous is not None and other.previous is not None:
            previous = _added(self.previous, other.previous)
        return Shares(_added(self.rows, other.rows), _added(self.first, other.first), previous)


def _added(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def shares_of(
    look: Lookup,
    lse: Array,
    *,
    offset: int | IntArray | None,
    first: IntArray,
    row_padding: BoolArray | None = None,
) -> Shares:
    """Return what the first and the previous token get of the rows of a lookup.

    Parameters
    ----------
    look : Lookup
        In NumPy.
    lse : ndarray
        Of its rows, as `Lookup.inspect` returns it.
    offset : int, ndarray of int of shape (batch,), or None
        Row 0 stands at this key; None where keys are another text's.
    first : ndarray of int of shape (batch,)
        Where among the keys the first token is that is no padding; negative where it is none of
        them.
    row_padding : ndarray of bool of shape (batch, q_len), optional
        Which rows stand at padding, and count for nothing.
    """
    problem = look.problem
    lse = lse.reshape(problem.batch, problem.heads, problem.q_len)
    real = np.ones((problem.batch, problem.q_len), bool) if row_padding is None else ~row_padding
    nothing = (0.0,) * problem.heads
    found = Shares((0,) * problem.heads, nothing, None if offset is None else nothing)
    for start in range(0, problem.q_len, _ROWS):
        rows = np.arange(start, min(start + _ROWS, problem.q_len))
        keys = [np.broadcast_to(first[:, None], (problem.batch, len(rows)))]
        if offset is not None:
            at = np.broadcast_to(rows + np.reshape(offset, (-1, 1)), keys[0].shape)
            keys += [at - 1, at, at + 1]
        found = found.and_(_of_rows(problem, rows, lse[:, :, rows], keys, real[:, rows]))
    return found


def _of_rows(
    problem: Problem, rows: IntArray, lse: Array, keys: list[IntArray], real: BoolArray
) -> Shares:
    """Return what the first two of `keys` get of some rows; the others lie near them."""
    chosen = real[:, None] & _sees_several(problem, rows, keys, real)
    sums = [
        tuple(np.where(chosen, each, 0).sum(axis=(0, 2), dtype=np.float64).tolist())
        for each in (_weights(problem, rows, some, lse) for some in keys[:2])
    ]
    rows_of = tuple(chosen.sum(axis=(0, 2)).tolist())
    return Shares(rows_of, sums[0], sums[1] if len(sums) > 1 else None)


def _weights(problem: Problem, rows: IntArray, keys: IntArray, lse: Array) -> Array:
    """Return the weight of one key of each row, (batch, heads, rows); 0 where it is hidden."""
    there = np.clip(keys, 0, max(problem.kv_len - 1, 0))
    seen = _sees(problem, rows, keys)
    if not problem.kv_len or not seen.any():
        return np.zeros(lse.shape)
    dtype = problem.compute_dtype
    query = problem.query[:, :, rows].astype(dtype, copy=False)
    query = query.reshape(problem.batch, problem.kv_heads, problem.group, len(rows), -1)
    key = problem.key[np.arange(problem.batch)[:, None], :, there].astype(dtype, copy=False)
    scores = np.einsum("bkgrd,brkd->bkgr", query, key).reshape(lse.shape) * problem.scale
    if problem.softcap is not None:
        scores = problem.softcap * np.tanh(scores / problem.softcap)
    if problem.bias is not None:
        scores = scores + _laid(problem.bias, rows, there)
    with np.errstate(invalid="ignore"):
        found: Array = np.exp(np.where(seen, scores - lse, -np.inf))
    return found


def _sees(problem: Problem, rows: IntArray, keys: IntArray) -> BoolArray:
    """Return whether each row sees one key, (batch, heads or 1, rows)."""
    seen = (keys >= 0) & (keys < problem.kv_len)
    limits = row_limits(problem, slice(0, problem.batch), rows)
    if limits is not None:
        seen = seen & (keys >= limits.start) & (keys < limits.stop)
    seen = seen[:, None]
    there = np.clip(keys, 0, max(problem.kv_len - 1, 0))
    for overlay in (problem.mask, problem.bias):
        if overlay is not None and problem.kv_len:
            over = _laid(overlay, rows, there)
            seen = seen & (over if over.dtype == np.bool_ else ~np.isneginf(over))
    return seen


def _laid(overlay: Overlay, rows: IntArray, keys: IntArray) -> Array:
    """Return a mask or bias at one key of each row, (batch, heads or 1, rows)."""
    array = overlay.array
    row = rows[None, None] if array.shape[2] > 1 else np.zeros((1, 1, 1), np.int64)
    key = keys[:, None] if array.shape[3] > 1 else np.zeros((1, 1, len(rows)), np.int64)
    head = np.arange(array.shape[1])[None, :, None]
    found: Array = array[overlay.entry[:, None, None], head, row, key]
    return found


def _sees_several(
    problem: Problem, rows: IntArray, near: list[IntArray], real: BoolArray
) -> BoolArray:
    """Return whether each row that is real sees more than one key, (batch, heads, rows).

    The keys of `near` settle it for nearly all rows; of the others every key is looked at.
    """
    shape = problem.batch, problem.heads, len(rows)
    if problem.mask is None and problem.bias is None:
        limits = row_limits(problem, slice(0, problem.batch), rows)
        if limits is None:
            return np.full(shape, problem.kv_len > 1)
        spans = limits.stop.astype(np.int64) - limits.start
        return np.broadcast_to((spans > 1)[:, None], shape)
    several = np.zeros(shape, bool)
    for place, keys in enumerate(near):
        seen = _sees(problem, rows, keys)
        for other in near[:place]:
            several |= seen & _sees(problem, rows, other) & (keys != other)[:, None]
    open_rows = np.flatnonzero((real[:, None] & ~several).any(axis=(0, 1)))
    step = max(1, _CELLS // max(problem.batch * problem.heads * problem.kv_len, 1))
    for start in range(0, len(open_rows), step):
        some = open_rows[start : start + step]
        several[:, :, some] = _count(problem, rows[some]) > 1
    return several


def _count(problem: Problem, rows: IntArray) -> IntArray:
    """Return how many keys each row sees, (batch, heads, rows)."""
    every = slice(0, problem.batch), slice(0, problem.kv_heads)
    shown = visible(problem, Tile(*every, rows, slice(0, problem.kv_len)))
    shape = problem.batch, problem.kv_heads, problem.group, len(rows), problem.kv_len
    seen = np.broadcast_to(True if shown is None else shown, shape)
    counts: IntArray = seen.sum(axis=-1).reshape(problem.batch, problem.heads, len(rows))
    return counts
