"""What the rows of one head come to, some rows at a time, and the means over all of them.

Nothing here holds a row's weights: shares and distances come from the fused pass, and what stands
at the diagonal from a small square beside it.
"""

from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.lookup import Lookup
from softlookup.viewer import blocks
from softlookup.viewer.information import computed_by
from softlookup.viewer.opened import Place
from softlookup.watched.cells import sees_at


class Reading(NamedTuple):
    """What some rows of one head come to.

    Attributes
    ----------
    counts : ndarray of shape (rows,)
        Of the keys that a row sees.
    entropy, sink, previous, distance : ndarray of shape (rows,) or None
        In nats; the sink's share; the weight of the key one position before; the mean distance
        ``sum_j weights[i, j] * abs(i + q_offset - j)``. None where there is none, or not asked.
    paired : ndarray of bool of shape (rows,) or None
        Whether a row sees the key one position before.
    shares : ndarray of shape (rows, groups)
        What a row reads of the keys of each label.
    backend : str
    """

    counts: IntArray
    entropy: Array | None
    sink: Array | None
    previous: Array | None
    distance: Array | None
    paired: BoolArray | None
    shares: Array
    backend: str


def wide(look: Lookup) -> Lookup:
    """Return `look` in the dtype it is computed in, so that a value may hold distances."""
    problem, part = look.problem, copy(look)
    dtype = problem.compute_dtype
    query, key = (array.astype(dtype, copy=False) for array in (problem.query, problem.key))
    part.problem = replace(problem, query=query, key=key, value=None)
    return part


def read(look: Lookup, rows: slice, labels: IntArray, *, distance: bool = False) -> Reading:
    """Return what `rows` of one head come to.

    Parameters
    ----------
    look : Lookup
        Of one head; for `distance` a wide one.
    rows : slice
    labels : ndarray of int of shape (kv_len,)
        The group of each key; negative for none.
    distance : bool, default False
        Whether distances are asked for; they need positions.
    """
    part = blocks.of_rows(look, rows)
    square = _square_of(part)
    asked = part
    if distance and square is not None:
        asked = copy(part)
        asked.problem = replace(part.problem, value=_outside(part, square))
    facts = asked.inspect(entropy=True, groups=labels, sink=part.problem.sinks is not None)
    previous = far = paired = None
    if square is not None:
        paired = _sees_before(part, square)
        near = _near(part, square, facts.lse)  # (rows, keys of the square)
        previous = _before(near, square)
        if facts.out is not None:
            centred = square.position - square.centre
            far = facts.out[:, 0] + centred * facts.out[:, 1].astype(np.float64)
            far = far + _within(near, square)
    shares = np.zeros((part.problem.q_len, 0)) if facts.groups is None else facts.groups
    return Reading(blocks.counts(part), facts.entropy, facts.sink, previous, far, paired, shares,
                   computed_by(facts.backend, look))  # fmt: skip


class _Square(NamedTuple):
    """The keys at the positions of some rows, with the one before."""

    position: IntArray  # of the rows
    keys: slice
    centre: int


def _square_of(part: Lookup) -> _Square | None:
    """Return the square of all rows of `part`; None where they have no positions."""
    problem = part.problem
    if problem.q_offset is None:
        return None
    position = np.arange(problem.q_len) + int(problem.q_offset[0])
    first = int(position[0]) if len(position) else 0
    start, stop = np.clip([first - 1, first + len(position)], 0, problem.kv_len)
    return _Square(position, slice(int(start), int(stop)), first + len(position) // 2)


def _outside(part: Lookup, square: _Square) -> Array:
    """Return a value, (1, 1, kv_len, 2), whose blend tells distances to keys beyond the square.

    A key j before the rows' centre c is ``(i - c) + (c - j)`` away from row i, one behind it
    ``(j - c) - (i - c)``: the columns are ``abs(j - c)`` and the sign of ``i - c``. Counted from
    the centre the numbers stay small, and so do their rounding errors.
    """
    j = np.arange(part.problem.kv_len)
    value = np.stack([abs(j - square.centre), np.where(j < square.keys.start, 1, -1)], axis=-1)
    value[square.keys] = 0
    return value[None, None].astype(part.problem.compute_dtype)


def _near(part: Lookup, square: _Square, lse: Array) -> Array:
    """Return the weights of all rows in their square: those of its keys alone, rescaled."""
    if square.keys.stop == square.keys.start or not part.problem.q_len:
        return np.zeros((part.problem.q_len, square.keys.stop - square.keys.start))
    alone = blocks.of_keys(part, square.keys)
    lse_alone, whole = alone.inspect().lse.astype(np.float64), lse.astype(np.float64)
    with np.errstate(invalid="ignore"):  # -inf less -inf: the row sees nothing, or comes to NaN
        factor = np.exp(lse_alone - whole)
    weights = alone.weights()
    weights *= factor[:, None].astype(weights.dtype)
    weights[factor == 0] = 0  # even where its scores are all -inf here, and not elsewhere
    lost = np.isnan(factor)
    if lost.any():
        weights[lost] = np.where(blocks.sees(alone)[lost], np.nan, 0)
    return weights


def _before(near: Array, square: _Square) -> Array:
    """Return what each row reads of the key one position before; 0 where there is none."""
    keys = square.position - 1 - square.keys.start
    there = np.flatnonzero((keys >= 0) & (keys < near.shape[1]))
    found = np.zeros(len(near))
    found[there] = near[there, keys[there]]
    return found


def _sees_before(part: Lookup, square: _Square) -> BoolArray:
    """Return whether each row sees the key one position before."""
    rows = np.arange(part.problem.q_len)
    seen: BoolArray = sees_at(part.problem, rows, square.position[None] - 1)[0, 0]
    return seen


def _within(near: Array, square: _Square) -> Array:
    """Return what the keys of the square add to each row's mean distance."""
    keys = np.arange(square.keys.start, square.keys.stop) - square.centre
    rows = square.position - square.centre  # both small: exact in float32
    steps = abs(rows.astype(near.dtype)[:, None] - keys.astype(near.dtype))
    far: Array = np.einsum("ij,ij->i", near, steps)
    return far


class Means:
    """Means over the rows of one head, added block by block.

    Padding reads nothing. Entropy, sink and distance are means over the rows that see a key,
    shares over those that see several: one visible key leaves no choice; `previous` over those of
    them that see the key before.

    Parameters
    ----------
    place : Place
        The head.
    """

    def __init__(self, place: Place) -> None:
        self.backend = ""
        self._real: BoolArray = blocks.real(place.queries)
        self._paired = place.queries == place.keys  # else the key before is none of the text's
        self._sums: dict[str, Array | None] = {}
        self._seeing = self._choosing = self._pairs = 0

    def add(self, rows: slice, reading: Reading) -> None:
        """Count some rows."""
        seeing = self._real[rows] & (reading.counts > 0)
        choosing = self._real[rows] & (reading.counts > 1)
        self._seeing += int(seeing.sum())
        self._choosing += int(choosing.sum())
        self.backend = reading.backend
        for name in ("entropy", "sink", "distance"):
            self._add(name, getattr(reading, name), seeing)
        self._add("shares", reading.shares, choosing)
        if reading.paired is not None:
            self._pairs += int((choosing & reading.paired).sum())
            self._add("previous", reading.previous, choosing & reading.paired)

    def _add(self, name: str, numbers: Array | None, chosen: BoolArray) -> None:
        if numbers is None:
            return
        total = numbers[chosen].sum(axis=0, dtype=np.float64)
        before = self._sums.get(name)
        self._sums[name] = total if before is None else before + total

    def of_seeing(self, name: str) -> float | None:
        """Return the mean `entropy`, `sink` or `distance`; None where there is none."""
        total = self._sums.get(name)
        return None if total is None or not self._seeing else float(total / self._seeing)

    def shares(self, groups: int) -> list[float] | None:
        """Return the mean share of each of the labels 0 ... `groups` - 1; None where there is none.

        Labels that no key has have none of the weight.
        """
        total = self._sums.get("shares")
        if total is None or not self._choosing:
            return None
        found = np.zeros(groups)
        found[: len(total)] = total / self._choosing
        return [float(share) for share in found]

    def previous(self) -> float | None:
        """Return the mean weight of the key before; None where none is seen of the same text."""
        total = self._sums.get("previous")
        if total is None or not (self._paired and self._pairs):
            return None
        return float(total / self._pairs)
