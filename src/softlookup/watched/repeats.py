"""Repeats: what each row gives to earlier occurrences of its own token, and to the tokens after.

A head that reads the token after an earlier occurrence is an induction head, one that reads the
occurrence itself a duplicate-token head. Pairs of a row and such a key are listed, some at a time;
there are few of them in a text, and never a matrix of all.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.options import Overlay
from softlookup.problem import Problem
from softlookup.watched.cells import sees_at, weights_at

_NUMBERS = 2**22  # of queries and keys that are gathered at once


class Part(NamedTuple):
    """Weights summed over some rows of each head.

    Attributes
    ----------
    rows : tuple of int
        For each head, how many rows there were that see such a key.
    total : tuple of float
        What those keys got of them.
    """

    rows: tuple[int, ...]
    total: tuple[float, ...]

    @classmethod
    def of_nothing(cls, heads: int) -> "Part":
        """Return what no row gives."""
        return cls((0,) * heads, (0.0,) * heads)

    def and_(self, other: "Part") -> "Part":
        """Return both together."""
        rows = tuple(a + b for a, b in zip(self.rows, other.rows, strict=True))
        return Part(rows, tuple(a + b for a, b in zip(self.total, other.total, strict=True)))


class Read(NamedTuple):
    """What some rows give to the tokens after earlier occurrences, and to those occurrences."""

    induction: Part
    duplicate: Part


class Repeats:
    """The earlier occurrences of each token of a text.

    Parameters
    ----------
    problem : Problem
        Of a lookup whose rows and keys are of one text.
    tokens : ndarray of int of shape (batch, tokens)
        The text up to the last key; its first tokens may be no keys any more.
    offset : ndarray of int of shape (batch,)
        Row 0 stands at this key.
    """

    def __init__(self, problem: Problem, tokens: IntArray, offset: IntArray) -> None:
        self._entries = [entry_of(problem, b) for b in range(problem.batch)]
        self._earlier = [Earlier.of(row, problem.kv_len) for row in tokens]
        self._offset = offset

    def read(self, rows: IntArray, lse: Array, chosen: BoolArray) -> Read:
        """Return what `rows` give, as far as they are `chosen`, (batch, heads, rows).

        `lse` is of all rows, (batch, heads, q_len).
        """
        heads = chosen.shape[1]
        found = Read(Part.of_nothing(heads), Part.of_nothing(heads))
        for b, one in enumerate(self._entries):
            text = _Text(one, self._earlier[b], rows + int(self._offset[b]), lse[b])
            found = Read(
                found.induction.and_(_part(text, rows, chosen[b], after=1)),
                found.duplicate.and_(_part(text, rows, chosen[b], after=0)),
            )
        return found


class Earlier(NamedTuple):
    """Positions in the order of their tokens; those of one token follow each other, rising.

    Attributes
    ----------
    order : ndarray of int of shape (tokens,)
    start, before : ndarray of int of shape (tokens,)
        Of each position: where in `order` its token begins, and how many come before it there.
    first : int
        The position of the first key.
    """

    order: IntArray
    start: IntArray
    before: IntArray
    first: int

    @classmethod
    def of(cls, tokens: IntArray, kv_len: int) -> "Earlier":
        """Return where the tokens of a text stand whose last ones are the keys."""
        order = np.argsort(tokens, kind="stable")
        ordered = tokens[order]
        place = np.arange(len(order))
        begins = np.ones(len(order), bool)
        begins[1:] = ordered[1:] != ordered[:-1]
        first = np.maximum.accumulate(np.where(begins, place, 0))
        start, before = np.empty((2, len(order)), np.int64)
        start[order], before[order] = first, place - first
        return cls(order, start, before, len(order) - kv_len)


class _Text(NamedTuple):
    """One text: its lookup, its tokens, where some rows stand in it, and the lse of all rows."""

    problem: Problem
    earlier: Earlier
    position: IntArray
    lse: Array


def _part(text: _Text, rows: IntArray, chosen: BoolArray, after: int) -> Part:
    """Return what rows of one text give to the keys `after` earlier occurrences of their tokens."""
    problem, earlier, position, lse = text
    wanted: BoolArray = np.logical_or.reduce(chosen)
    seen = np.zeros(chosen.shape, bool)
    total = np.zeros(len(chosen))
    most = max(1, _NUMBERS // max(problem.heads * problem.head_dim, 1))
    for at, keys in pairs(position, earlier, wanted, after, most):
        given = weights_at(problem, rows[at], keys[None], lse[None][:, :, rows[at]])[0]
        total += np.where(chosen[:, at], given, 0).sum(axis=1, dtype=np.float64)
        shown = np.broadcast_to(sees_at(problem, rows[at], keys[None])[0], given.shape)
        begins = np.flatnonzero(np.diff(at, prepend=-1))
        seen[:, at[begins]] |= np.logical_or.reduceat(shown, begins, axis=1)
    return Part(tuple((seen & chosen).sum(axis=1).tolist()), tuple(total.tolist()))


def pairs(
    position: IntArray, earlier: Earlier, wanted: BoolArray, after: int, most: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs, `most` at a time: the places of rows in `position`, and a key for each.

    Both count from the first key; an occurrence before it counts, too, where the key after it does.
    A row's own key is none of them: where a token follows itself, the one after is the row's.
    """
    position = position + earlier.first
    there = np.flatnonzero(wanted & (position >= 0) & (position < len(earlier.order)))
    counts = earlier.before[position[there]]
    there, counts = there[counts > 0], counts[counts > 0]
    ends = np.cumsum(counts)
    for low in range(0, int(ends[-1]) if len(ends) else 0, most):
        flat = np.arange(low, min(low + most, int(ends[-1])))
        which = np.searchsorted(ends, flat, side="right")
        at = there[which]
        nth = flat - (ends[which] - counts[which])
        keys = earlier.order[earlier.start[position[at]] + nth] + after
        kept = (keys < position[at]) & (keys >= earlier.first)
        if kept.any():
            yield at[kept], keys[kept] - earlier.first


def entry_of(problem: Problem, b: int) -> Problem:
    """Return one batch entry of a problem, without values; nothing is copied."""
    one = slice(b, b + 1)

    def laid(overlay: Overlay | None) -> Overlay | None:
        if overlay is None:
            return None
        entry = int(overlay.entry[b])
        return Overlay(overlay.array[entry : entry + 1], np.zeros(1, np.int64))

    return replace(
        problem,
        query=problem.query[one],
        key=problem.key[one],
        value=None,
        batch_shape=(1,),
        plain=False,
        q_offset=None if problem.q_offset is None else problem.q_offset[one],
        kv_lens=None if problem.kv_lens is None else problem.kv_lens[one],
        mask=laid(problem.mask),
        bias=laid(problem.bias),
    )
