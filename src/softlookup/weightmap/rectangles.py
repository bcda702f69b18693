"""What is asked of any rectangle of weights: its strongest ones, its share, what is visible."""

import itertools
from collections.abc import Iterator

import numpy as np

from softlookup.arrays import BoolArray, IntArray
from softlookup.errors import OptionError
from softlookup.pooling import BAND
from softlookup.visibility import Tile, visible
from softlookup.weightmap.answers import Link
from softlookup.weightmap.bands import Bands
from softlookup.weightmap.levels import BASE
from softlookup.weightmap.search import Best, Rectangle, search_bands, search_levels

_MOST_WEIGHTS = 2**34  # to compute for one answer
_MOST_PAIRS = 2**26  # to look at where a mask or a bias hides single ones
_AT_ONCE = 2**22
_BANDS = 64  # whose blocks are put in order at once


def strongest(bands: Bands, where: Rectangle, count: int) -> list[Link]:
    """Return the largest weights of a rectangle; see `WeightMap.strongest`."""
    best, missing = Best(count), bands.missing(where.rows)
    if not where.weights:
        return []
    if where.weights <= _AT_ONCE:
        _check_work(bands, missing)
        bands.ensure(where.rows)
        best.add(bands.exact(*where), *where)
    elif bands.stored and "max" in bands.levels.pools:
        _check_work(bands, missing)
        bands.ensure(where.rows)
        bands.merge()
        opened = _open(bands, bands.of(where.rows), where, best)
        search_levels(bands.levels, where, best, bands.exact, opened)
    else:
        every = bands.of(where.rows)
        _check_work(bands, every)
        for some in bands.pieces(every):
            bounds = bands.compute(some).max
            bounds[_open(bands, some, where, best)[some]] = 0
            search_bands(bounds, some, where, best, bands.exact)
    return best.links()


def strongest_so_far(bands: Bands, where: Rectangle, count: int) -> list[Link]:
    """Return the largest weights of a rectangle among those of its bands that are stored."""
    best, every = Best(count), bands.of(where.rows)
    most = bands.levels[BASE].max
    done = every[bands.done[every]]
    if most is None or not where.weights:
        return []
    cells = slice(0, -(-bands.problem.kv_len // BAND))
    for at in range(0, len(done), _BANDS):
        some = done[at : at + _BANDS]
        bounds = bands.levels[BASE].gather(most, some, cells)
        bounds[_open(bands, some, where, best)[some]] = 0
        search_bands(bounds, some, where, best, bands.exact)
    return best.links()


def share(bands: Bands, where: Rectangle) -> float:
    """Return the weights of a rectangle, summed over its keys and averaged over its rows."""
    if not where.weights:
        return 0.0
    rows, keys = where
    base, missing = bands.levels[BASE], bands.missing(rows)
    if bands.stored and "share" in bands.levels.pools and _aligned(bands, where):
        _check_work(bands, missing)
        bands.ensure(rows)
        if base.total is None:
            raise ValueError("rows that are stored have their totals")
        cells = slice(keys.start // BAND, -(-keys.stop // BAND))
        sums = [base.sum_of(base.total, band, cells) for band in bands.of(rows).tolist()]
    else:
        _check_work(bands, missing, where.weights)
        bands.ensure(rows)
        sums = [float(bands.exact(*part).sum(dtype=np.float64)) for part in _parts(where)]
    return sum(sums) / int(rows.stop - rows.start)


def seen(bands: Bands, where: Rectangle) -> int | bool:
    """Return how many pairs are visible; only whether any is, where they are too many to count."""
    problem, (rows, keys) = bands.problem, where
    if problem.mask is None and problem.bias is None:
        first = np.maximum(bands.spans.start[rows], keys.start)
        last = np.minimum(bands.spans.stop[rows], keys.stop)
        return int(np.maximum(last.astype(np.int64) - first, 0).sum())
    count = 0
    for part in _parts(where):
        sees = visible(problem, Tile(slice(0, 1), slice(0, 1), *part))
        shape = [some.stop - some.start for some in part]
        count += int(np.broadcast_to(True if sees is None else sees[0, 0, 0], shape).sum())
        if count and where.weights > _MOST_PAIRS:
            return True
    return count


def _open(bands: Bands, some: IntArray, where: Rectangle, best: Best) -> BoolArray:
    """Let all weights of those bands compete that hold NaN, which bounds nothing; return which."""
    opened = np.zeros(len(bands.done), bool)
    first = int(some[0]) * BAND
    missing = np.isnan(bands.lse[first : (int(some[-1]) + 1) * BAND])
    opened[(np.flatnonzero(missing) + first) // BAND] = True
    base = bands.levels[BASE]
    for band in np.flatnonzero(opened).tolist():
        rows = where.cut(band, 0, BAND).rows
        start = max(int(base.start[band]) * BAND, where.keys.start)
        stop = min(int(base.stop[band]) * BAND, where.keys.stop)
        if bands.alive(rows) and start < stop:
            for part in _parts(Rectangle(rows, slice(start, stop))):
                best.add(bands.exact(*part), *part)
    return opened


def _aligned(bands: Bands, where: Rectangle) -> bool:
    """Return whether the rectangle is made of whole cells of the base level."""
    lengths = bands.problem.q_len, bands.problem.kv_len
    return all(
        some.start % BAND == 0 and (some.stop % BAND == 0 or some.stop == length)
        for some, length in zip(where, lengths, strict=True)
    )


def _parts(where: Rectangle) -> Iterator[Rectangle]:
    """Yield a rectangle in pieces of at most `_AT_ONCE` weights, or of one row."""
    width = min(max(where.keys.stop - where.keys.start, 1), _AT_ONCE)
    height = max(_AT_ONCE // width, 1)
    steps = (
        range(some.start, some.stop, step)
        for some, step in zip(where, (height, width), strict=True)
    )
    for row, key in itertools.product(*steps):
        yield Rectangle(
            slice(row, min(row + height, where.rows.stop)),
            slice(key, min(key + width, where.keys.stop)),
        )


def _check_work(bands: Bands, some: IntArray, more: int = 0) -> None:
    """Refuse what takes too long for one answer."""
    work = int(bands.cost[some].sum()) + more
    if work > _MOST_WEIGHTS:
        raise OptionError(
            "rows",
            f"must take at most {_MOST_WEIGHTS:,} weights to compute; {len(some):,} bands of 32 "
            f"queries that are not built, and the rectangle itself, take {work:,}. Build the map "
            "first, or choose fewer rows.",
        )
