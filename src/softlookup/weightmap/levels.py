"""The stored levels of a weight map: for each row of cells the interval that its queries can see.

Level L has cells of ``2**L`` by ``2**L`` weights. What causal, window and kv_lens hide is not
stored; what a mask or a bias hides within is flagged. A coarser level is always made of the next
finer one, so that it can be made again: work that is broken off leaves nothing half added.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.pooling import BAND, Pooled, pool, runs
from softlookup.problem import Problem
from softlookup.visibility import Tile, laid_over, row_limits, visible

BASE = 5  # the finest level that is stored; 2**BASE is BAND
_CELLS_AT_ONCE = 2**22
_BANDS = 4  # whose flags are found at once


class Spans(NamedTuple):
    """For each row the interval, start <= key < stop, outside of which it sees nothing."""

    start: IntArray
    stop: IntArray


def row_spans(problem: Problem) -> Spans:
    """Return what causal, window and kv_lens leave to each query; (kv_len, 0) where nothing."""
    limits = row_limits(problem, slice(0, 1), slice(0, problem.q_len))
    start = np.zeros(problem.q_len, np.int64)
    stop = np.full_like(start, problem.kv_len)
    if limits is not None:
        start, stop = limits.start[0].astype(np.int64), limits.stop[0].astype(np.int64)
    empty = start >= stop
    start[empty], stop[empty] = problem.kv_len, 0
    return Spans(start, stop)


def cell_spans(spans: Spans, size: int, rows: slice) -> Spans:
    """Return the cells of `size` that the rows of each row of cells see; (0, 0) where none.

    Neighbouring rows see neighbouring intervals, so every cell between the ends is seen.
    """
    at = np.arange(rows.start, rows.stop, size)
    if not at.size:
        return Spans(at, at)
    first = np.minimum.reduceat(spans.start[rows], at - rows.start)
    last = np.maximum.reduceat(spans.stop[rows], at - rows.start)
    start, stop = first // size, -(-last // size)
    empty = first >= last
    start[empty], stop[empty] = 0, 0
    return Spans(start, stop)


def seen_cells(problem: Problem, rows: slice, keys: slice, size: int) -> BoolArray:
    """Return which cells of a rectangle of one head hold a pair that mask and bias leave visible.

    `rows` and `keys` begin at multiples of `size`.
    """
    shape = [-(-(some.stop - some.start) // size) for some in (rows, keys)]
    seen = np.zeros(shape, bool)
    step = max(_CELLS_AT_ONCE // max(keys.stop - keys.start, 1) // size, 1) * size
    for first in range(rows.start, rows.stop, step):
        here = slice(first, min(first + step, rows.stop))
        down = slice((here.start - rows.start) // size, -(-(here.stop - rows.start) // size))
        for some, edge in _by_limits(problem, here, keys, size):
            across = slice((some.start - keys.start) // size, -(-(some.stop - keys.start) // size))
            tile = Tile(slice(0, 1), slice(0, 1), here, some)
            sees = visible(problem, tile) if edge else laid_over(problem, tile)
            # an axis that only repeats has size 1, and is spread here
            seen[down, across] = (
                True if sees is None else pool(np.logical_or, sees[0, 0, 0], size, size)
            )
    return seen


def _by_limits(
    problem: Problem, rows: slice, keys: slice, size: int
) -> Iterator[tuple[slice, bool]]:
    """Yield keys that every row sees but for mask and bias, and those where limits count, too."""
    limits = row_limits(problem, slice(0, 1), rows)
    first, last = keys.start, keys.stop
    if limits is not None:
        first = min(max(-(-limits.starts[1] // size) * size, keys.start), keys.stop)
        last = max(min(limits.stops[0] // size * size, keys.stop), first)
        if limits.stops[0] >= keys.stop > first:
            last = keys.stop
    for start, stop, edge in (
        (keys.start, first, True),
        (first, last, False),
        (last, keys.stop, True),
    ):
        if stop > start:
            yield slice(start, stop), edge


class Level:
    """One stored level: ragged rows of cells, one after the other.

    Attributes
    ----------
    number : int
    start, stop : ndarray of shape (rows,)
        The cells of each row that are stored.
    offset : ndarray of shape (rows + 1,)
        Where each row begins in the arrays.
    real, filled : ndarray of shape (rows,)
        How many queries each row has, and of how many the weights are in it.
    max, total, seen : ndarray of shape (offset[-1],) or None
        Largest weight, sum of weights, and whether any pair is visible (None: all are).
    """

    __slots__ = ("filled", "max", "number", "offset", "real", "seen", "start", "stop", "total")

    def __init__(self, number: int, spans: Spans, q_len: int) -> None:
        self.number, size = number, 2**number
        self.start, self.stop = cell_spans(spans, size, slice(0, q_len))
        self.offset = np.zeros(len(self.start) + 1, np.int64)
        np.cumsum(self.stop - self.start, out=self.offset[1:])
        first = np.arange(len(self.start)) * size
        self.real = np.minimum(q_len - first, size)
        self.filled = np.zeros_like(self.real)
        self.max: Array | None = None
        self.total: Array | None = None
        self.seen: BoolArray | None = None

    @property
    def cells(self) -> int:
        """Return how many cells are stored."""
        return int(self.offset[-1])

    def pools(self) -> Iterator[tuple[Array, np.ufunc]]:
        """Yield what there is of the arrays, and how it is merged."""
        for array, how in (
            (self.max, np.maximum),
            (self.total, np.add),
            (self.seen, np.logical_or),
        ):
            if array is not None:
                yield array, how

    def gather(self, array: Array, rows: slice | IntArray, cells: slice) -> Array:
        """Return some cells of some rows, 0 where nothing is stored."""
        at, inside = self._places(rows, cells)
        if not array.size:
            return np.zeros(at.shape, array.dtype)
        found = array[np.where(inside, at, 0)]
        found[~inside] = 0
        return found

    def inside(self, rows: slice, cells: slice) -> BoolArray:
        """Return which cells of a rectangle are stored."""
        return self._places(rows, cells)[1]

    def sum_of(self, array: Array, row: int, cells: slice) -> float:
        """Return the sum of some cells of a row."""
        start, stop = int(self.start[row]), int(self.stop[row])
        first, last = max(cells.start, start), min(cells.stop, stop)
        at = int(self.offset[row]) - start
        return float(array[at + first : at + last].sum(dtype=np.float64)) if first < last else 0.0

    def value(self, array: Array, row: int, cell: int) -> float:
        """Return one cell, 0 where it is not stored."""
        if not self.start[row] <= cell < self.stop[row]:
            return 0.0
        return float(array[self.offset[row] + cell - self.start[row]])

    def _places(self, rows: slice | IntArray, cells: slice) -> tuple[IntArray, BoolArray]:
        cell = np.arange(cells.start, cells.stop)
        start, stop = self.start[rows, None], self.stop[rows, None]
        at: IntArray = (self.offset[:-1] - self.start)[rows, None] + cell
        return at, (cell >= start) & (cell < stop)


class Levels:
    """All stored levels of one map, from `BASE` to the one that is a single cell."""

    def __init__(self, problem: Problem, spans: Spans, top: int, pools: tuple[str, ...]) -> None:
        self.problem, self.pools = problem, pools
        self.flagged = problem.mask is not None or problem.bias is not None
        self.list = [Level(n, spans, problem.q_len) for n in range(BASE, max(top, BASE) + 1)]
        self.allocated = False

    @property
    def bytes(self) -> int:
        """Return how much memory the arrays of all levels take."""
        return sum(level.cells for level in self.list) * (4 * len(self.pools) + self.flagged)

    def allocate(self) -> None:
        """Make room; the system gives the memory when it is filled."""
        for level in () if self.allocated else self.list:
            level.max = np.zeros(level.cells, np.float32) if "max" in self.pools else None
            level.total = np.zeros(level.cells, np.float32) if "share" in self.pools else None
            level.seen = np.zeros(level.cells, bool) if self.flagged else None
        self.allocated = True

    def __getitem__(self, number: int) -> Level:
        return self.list[number - BASE]

    def tensors(self) -> dict[str, Array]:
        """Return all arrays by name; made of nothing until they are filled."""
        self.allocate()
        named: dict[str, Array] = {}
        for level in self.list:
            arrays = {"max": level.max, "total": level.total, "seen": level.seen}
            named |= {f"{level.number}.{name}": a for name, a in arrays.items() if a is not None}
        return named

    def take(self, tensors: Mapping[str, Array], done: BoolArray) -> None:
        """Let other arrays, by the same names, stand for all levels of the bands that are done."""
        for level in self.list:
            level.max = tensors.get(f"{level.number}.max")
            level.total = tensors.get(f"{level.number}.total")
            level.seen = tensors.get(f"{level.number}.seen")
        self.allocated = True
        base = self.list[0]
        base.filled[:] = np.where(done, base.real, 0)
        for child, parent in zip(self.list, self.list[1:], strict=False):
            parent.filled[:] = _pairs(child.filled)

    def put(self, bands: IntArray, pooled: Pooled) -> None:
        """Put whole bands into the base level."""
        base = self.list[0]
        for n, band in enumerate(bands.tolist()):
            start, stop = int(base.start[band]), int(base.stop[band])
            at = slice(int(base.offset[band]), int(base.offset[band + 1]))
            if base.max is not None:
                base.max[at] = _not_lost(pooled.max[n, start:stop])
            if base.total is not None:
                base.total[at] = pooled.total[n, start:stop]
            if base.seen is not None and pooled.seen is not None:
                base.seen[at] = pooled.seen[n, start:stop]
        if base.seen is not None and pooled.seen is None:
            for at, rows in runs(bands, _BANDS, self.problem.q_len):
                self._flag(base.seen, bands[at].tolist(), rows)
        base.filled[bands] = base.real[bands]

    def _flag(self, seen: BoolArray, bands: list[int], rows: slice) -> None:
        """Put which cells of neighbouring bands hold a visible pair into the base level."""
        base = self.list[0]
        filled = [band for band in bands if base.stop[band] > base.start[band]]
        if not filled:
            return
        first = min(int(base.start[band]) for band in filled)
        last = max(int(base.stop[band]) for band in filled)
        keys = slice(first * BAND, min(last * BAND, self.problem.kv_len))
        found = seen_cells(self.problem, rows, keys, BAND)
        for n, band in enumerate(bands):
            at = slice(int(base.offset[band]), int(base.offset[band + 1]))
            start = int(base.start[band]) - first
            if at.stop > at.start:
                seen[at] = found[n, start : start + at.stop - at.start]

    def merge(self, bands: IntArray) -> None:
        """Make what lies above these bands of the base level anew."""
        rows = bands
        for child, parent in zip(self.list, self.list[1:], strict=False):
            rows = np.unique(rows >> 1)
            for row in rows.tolist():
                _merge_row(parent, child, row)
            parent.filled[rows] = _pairs(child.filled)[rows]


def _not_lost(most: Array) -> Array:
    """Return `most` as float32 that are above 0 where it is, however small."""
    narrow = most.astype(np.float32, copy=False)
    if narrow is most:
        return most
    return np.where((most > 0) & (narrow == 0), np.finfo(np.float32).smallest_subnormal, narrow)


def _pairs(filled: IntArray) -> IntArray:
    """Return the sums of each two."""
    return filled[0::2] + np.pad(filled[1::2], (0, len(filled) % 2))


def _merge_row(parent: Level, child: Level, row: int) -> None:
    """Make one row of cells of the two rows below it."""
    start, stop = int(parent.start[row]), int(parent.stop[row])
    at = slice(int(parent.offset[row]), int(parent.offset[row + 1]))
    below = range(2 * row, min(2 * row + 2, len(child.start)))
    for (to, how), (array, _) in zip(parent.pools(), child.pools(), strict=True):
        room = np.zeros((2, 2 * (stop - start)), array.dtype)
        for n, row_below in enumerate(below):
            first = int(child.start[row_below]) - 2 * start
            cells = array[int(child.offset[row_below]) : int(child.offset[row_below + 1])]
            if cells.size:
                room[n, first : first + cells.size] = cells
        both = how(room[0], room[1])
        to[at] = how(both[0::2], both[1::2])
