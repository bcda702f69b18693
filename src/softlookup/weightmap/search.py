"""The strongest weights of a rectangle, exactly: best first, down the levels of a map."""

import heapq
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.pooling import BAND
from softlookup.weightmap.answers import Link
from softlookup.weightmap.levels import BASE, Levels

Evaluate = Callable[[slice, slice], Array]

# A stored largest weight is a float32 and came by another way than the weights themselves: so much
# may a weight lie above it.
_ROUNDING = 1 + 2.0**-15
_OFTEN = 8  # settle what is new before it is more than an eighth


class Rectangle(NamedTuple):
    """Rows and keys of a lookup, start <= index < stop."""

    rows: slice
    keys: slice

    @property
    def weights(self) -> int:
        """Return how many weights it has."""
        return int(self.rows.stop - self.rows.start) * int(self.keys.stop - self.keys.start)

    def cut(self, row: int, key: int, size: int) -> "Rectangle":
        """Return its part in one cell of `size`; empty where they do not meet."""
        parts = []
        for some, at in ((self.rows, row * size), (self.keys, key * size)):
            start, stop = max(some.start, at), min(some.stop, at + size)
            parts.append(slice(start, max(start, stop)))
        return Rectangle(*parts)


class Best:
    """The best weights so far; among equals the earlier query, then the earlier key."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._kept = _Links(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        self._new: list[_Links] = []
        self._floor = 0.0  # what a weight must reach, once there are enough

    def beats(self, bound: float) -> bool:
        """Return whether nothing up to `bound` can change them."""
        return bound <= self._floor

    def add(self, weights: Array, rows: slice, keys: slice) -> None:
        """Let the weights of a rectangle compete; those that are 0 or NaN do not."""
        flat = weights.reshape(-1)
        place = np.flatnonzero(flat >= self._floor if self._floor else flat > 0)
        query, key = np.divmod(place, weights.shape[1])
        new = _Links(flat[place].astype(np.float64), query + rows.start, key + keys.start)
        self._new.append(new.best(self.count))
        if sum(len(some.weight) for some in self._new) * _OFTEN > self.count:
            self._settle()

    def links(self) -> list[Link]:
        """Return them as plain numbers, falling."""
        self._settle()
        weight, query, key = self._kept
        order = np.lexsort((key, query, -weight))
        found = zip(*(each[order].tolist() for each in (query, key, weight)), strict=True)
        return [Link(*each) for each in found]

    def _settle(self) -> None:
        every = zip(self._kept, *self._new, strict=True)
        self._kept = _Links(*(np.concatenate(parts) for parts in every)).best(self.count)
        self._new = []
        if len(self._kept.weight) == self.count:
            self._floor = float(self._kept.weight.min())


class _Links(NamedTuple):
    """Some weights with their places, in no order."""

    weight: Array
    query: IntArray
    key: IntArray

    def best(self, count: int) -> "_Links":
        """Return the `count` best of them."""
        if len(self.weight) <= count:
            return self
        least = np.partition(self.weight, -count)[-count]
        above, equal = np.flatnonzero(self.weight > least), np.flatnonzero(self.weight == least)
        first = np.lexsort((self.key[equal], self.query[equal]))[: count - len(above)]
        place = np.concatenate([above, equal[first]])
        return _Links(self.weight[place], self.query[place], self.key[place])


def search_levels(
    levels: Levels, where: Rectangle, best: Best, evaluate: Evaluate, opened: BoolArray
) -> None:
    """Find the best of a rectangle whose bands are all stored.

    A cell's largest weight bounds what lies in it: the next best cell is opened until none can hold
    a better weight. NaN says nothing of a cell's other rows: those of bands are to be `opened`.

    Parameters
    ----------
    levels : Levels
    where : Rectangle
    best : Best
        Filled.
    evaluate : callable
        Gives the weights of some rows and keys.
    opened : ndarray of bool of shape (bands,)
        Those whose weights compete already.
    """
    top = levels.list[-1].number
    queue: list[tuple[float, int, int, int]] = [(-math.inf, top, 0, 0)]
    while queue:
        bound, number, row, cell = heapq.heappop(queue)
        if best.beats(-bound * _ROUNDING):
            return
        if number == BASE:
            part = where.cut(row, cell, BAND)
            best.add(evaluate(*part), *part)
            continue
        level = levels[number - 1]
        if level.max is None:
            raise ValueError("without the largest weights there is nothing to search by")
        for below in (2 * row, 2 * row + 1):
            for next_cell in (2 * cell, 2 * cell + 1):
                part = where.cut(below, next_cell, 2**level.number)
                if below < len(level.start) and part.weights:
                    most = level.value(level.max, below, next_cell)
                    if opened[part.rows.start // BAND : -(-part.rows.stop // BAND)].all():
                        most = 0.0
                    if most > 0 or math.isnan(most):
                        most = math.inf if math.isnan(most) else most
                        heapq.heappush(queue, (-most, level.number, below, next_cell))


def search_bands(
    bounds: Array, bands: IntArray, where: Rectangle, best: Best, evaluate: Evaluate
) -> None:
    """Find the best of some bands, by `bounds`, the largest weight of each of their blocks."""
    some = slice(where.keys.start // BAND, -(-where.keys.stop // BAND))
    most = bounds[:, some].astype(np.float64)
    most[np.isnan(most)] = np.inf
    order = np.argsort(-most, axis=None, kind="stable")
    for n, cell in zip(*(at.tolist() for at in np.unravel_index(order, most.shape)), strict=True):
        if best.beats(float(most[n, cell]) * _ROUNDING):
            return
        part = where.cut(int(bands[n]), cell + some.start, BAND)
        if part.weights:
            best.add(evaluate(*part), *part)
