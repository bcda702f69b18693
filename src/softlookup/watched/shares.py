"""Shares: what the first key and the key before get of each row, exactly, at two products a row.

Top keys may miss them, and bins of distance do not tell the side. Where it is asked for, also what
earlier occurrences of a row's own token get, and the tokens after them, at a product for each pair.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.lookup import Lookup
from softlookup.problem import Problem
from softlookup.visibility import Tile, row_limits, visible
from softlookup.watched.cells import sees_at, weights_at
from softlookup.watched.repeats import Part, Repeats

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
    previous : Part or None
        What the token before each row's own got, over those of the rows that see it; None where
        keys are another text's.
    induction : Part or None
        What the tokens after earlier occurrences of each row's own token got, over the rows that
        have any; None where it is not known.
    duplicate : Part or None
        What those occurrences got themselves.
    """

    rows: tuple[int, ...]
    first: tuple[float, ...]
    previous: Part | None
    induction: Part | None = None
    duplicate: Part | None = None

    def and_(self, other: "Shares") -> "Shares":
        """Return both together."""
        return Shares(
            _added(self.rows, other.rows),
            _added(self.first, other.first),
            _both(self.previous, other.previous),
            _both(self.induction, other.induction),
            _both(self.duplicate, other.duplicate),
        )


def _both(one: Part | None, other: Part | None) -> Part | None:
    return None if one is None or other is None else one.and_(other)


def _added(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def shares_of(
    look: Lookup,
    lse: Array,
    *,
    offset: int | IntArray | None,
    first: IntArray,
    row_padding: BoolArray | None = None,
    tokens: IntArray | None = None,
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
    tokens : ndarray of int of shape (batch, tokens), optional
        The text up to the last key; with it and `offset` what earlier occurrences get is told.
    """
    problem = look.problem
    lse = lse.reshape(problem.batch, problem.heads, problem.q_len)
    real = np.ones((problem.batch, problem.q_len), bool) if row_padding is None else ~row_padding
    none = Part.of_nothing(problem.heads)
    found = Shares(none.rows, none.total, None if offset is None else none)
    repeats = None
    if offset is not None and tokens is not None:
        repeats = Repeats(problem, tokens, np.broadcast_to(offset, problem.batch))
        found = replace(found, induction=none, duplicate=none)
    for start in range(0, problem.q_len, _ROWS):
        rows = np.arange(start, min(start + _ROWS, problem.q_len))
        keys = [np.broadcast_to(first[:, None], (problem.batch, len(rows)))]
        if offset is not None:
            at = np.broadcast_to(rows + np.reshape(offset, (-1, 1)), keys[0].shape)
            keys += [at - 1, at, at + 1]
        chosen = real[:, None, rows] & _sees_several(problem, rows, keys, real[:, rows])
        part = _near(problem, rows, lse[:, :, rows], keys, chosen)
        if repeats is not None:
            part = replace(part, **repeats.read(rows, lse, chosen)._asdict())
        found = found.and_(part)
    return found


def _near(
    problem: Problem, rows: IntArray, lse: Array, keys: list[IntArray], chosen: BoolArray
) -> Shares:
    """Return what the first two of `keys` get of the chosen ones of some rows."""
    first = weights_at(problem, rows, keys[0], lse)
    previous = None
    if len(keys) > 1:
        paired = chosen & sees_at(problem, rows, keys[1])
        previous = Part(_count_of(paired), _sum_of(weights_at(problem, rows, keys[1], lse), paired))
    return Shares(_count_of(chosen), _sum_of(first, chosen), previous)


def _count_of(rows: BoolArray) -> tuple[int, ...]:
    return tuple(rows.sum(axis=(0, 2)).tolist())


def _sum_of(weights: Array, rows: BoolArray) -> tuple[float, ...]:
    return tuple(np.where(rows, weights, 0).sum(axis=(0, 2), dtype=np.float64).tolist())


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
        seen = sees_at(problem, rows, keys)
        for other in near[:place]:
            several |= seen & sees_at(problem, rows, other) & (keys != other)[:, None]
    open_rows = np.flatnonzero((real[:, None] & ~several).any(axis=(0, 1)))
    step = max(1, _CELLS // max(problem.batch * problem.heads * problem.kv_len, 1))
    for start in range(0, len(open_rows), step):
        some = open_rows[start : start + step]
        several[:, :, some] = _counts(problem, rows[some]) > 1
    return several


def _counts(problem: Problem, rows: IntArray) -> IntArray:
    """Return how many keys each row sees, (batch, heads, rows)."""
    every = slice(0, problem.batch), slice(0, problem.kv_heads)
    shown = visible(problem, Tile(*every, rows, slice(0, problem.kv_len)))
    shape = problem.batch, problem.kv_heads, problem.group, len(rows), problem.kv_len
    seen = np.broadcast_to(True if shown is None else shown, shape)
    counts: IntArray = seen.sum(axis=-1).reshape(problem.batch, problem.heads, len(rows))
    return counts
