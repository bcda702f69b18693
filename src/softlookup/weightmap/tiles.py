"""Rectangles of cells of one level: gathered where they are stored, else computed."""

import numpy as np

from softlookup.arrays import Array, BoolArray
from softlookup.pooling import BAND
from softlookup.weightmap.answers import MapTile
from softlookup.weightmap.bands import Bands
from softlookup.weightmap.levels import BASE, Spans, cell_spans, seen_cells


def tile(bands: Bands, number: int, rows: slice, columns: slice, *, compute: bool) -> MapTile:
    """Return a rectangle of cells of level `number`; see `WeightMap.tile`."""
    if number >= BASE:
        bands.merge()
        return _stored(bands, number, rows, columns)
    size = 2**number
    queries = slice(rows.start * size, min(rows.stop * size, bands.problem.q_len))
    if compute:
        bands.ensure(queries)
    return _computed(bands, size, queries, columns)


def _stored(bands: Bands, number: int, rows: slice, columns: slice) -> MapTile:
    level, pools = bands.levels[number], bands.levels.pools
    filled, real = level.filled[rows, None], level.real[rows, None]
    seen = level.inside(rows, columns)
    known = np.broadcast_to(filled > 0, seen.shape)
    most = total = np.zeros(seen.shape, np.float32)
    if level.max is not None:
        most = level.gather(level.max, rows, columns)
    if level.total is not None:
        total = level.gather(level.total, rows, columns)
    if level.seen is not None:  # of rows that are not whole, nobody knows yet
        seen &= level.gather(level.seen, rows, columns) | (filled < real)
    return MapTile(
        _unknown(most, known, seen) if "max" in pools else None,
        _unknown(_average(total, filled), known, seen) if "share" in pools else None,
        None if seen.all() else seen,
        None if known.all() else known.copy(),
        bool((filled == real).all()),
    )


def _computed(bands: Bands, size: int, queries: slice, columns: slice) -> MapTile:
    problem, pools = bands.problem, bands.levels.pools
    spans = cell_spans(bands.spans, size, queries)
    first_query = np.arange(queries.start, queries.stop, size)
    done = bands.done[first_query // BAND]
    cell = np.arange(columns.start, columns.stop)
    seen = (cell >= spans.start[:, None]) & (cell < spans.stop[:, None])
    most, total = np.zeros((2, *seen.shape), np.float32)
    some = _hull(spans, columns)
    if some.stop > some.start and done.any():
        at = np.s_[:, some.start - columns.start : some.stop - columns.start]
        keys = slice(some.start * size, min(some.stop * size, problem.kv_len))
        most[at], total[at] = bands.cells(queries, keys, size)
        if problem.mask is not None or problem.bias is not None:
            seen[at] &= seen_cells(problem, queries, keys, size)
    most[~done], total[~done] = 0, 0  # what has no normaliser yet
    real = np.minimum(problem.q_len - first_query, size)
    known = np.broadcast_to(done[:, None], seen.shape)
    return MapTile(
        _unknown(most, known, seen) if "max" in pools else None,
        _unknown(_average(total, real[:, None]), known, seen) if "share" in pools else None,
        None if seen.all() else seen,
        None if known.all() else known.copy(),
        bool(done.all()),
    )


def _hull(spans: Spans, columns: slice) -> slice:
    """Return those of the columns that lie within what any row sees."""
    some = spans.stop > spans.start
    if not some.any():
        return slice(columns.start, columns.start)
    first = max(int(spans.start[some].min()), columns.start)
    return slice(first, min(int(spans.stop.max()), columns.stop))


def _unknown(cells: Array, known: BoolArray, seen: BoolArray) -> Array:
    """Return the cells, NaN where nothing is known of what may be seen."""
    if not known.all():
        cells[seen & ~known] = np.nan
    return cells


def _average(total: Array, queries: Array) -> Array:
    return (total / np.maximum(queries, 1).astype(np.float32)).astype(np.float32, copy=False)
