"""One head, some rows at a time: as much as is worked out before others may ask."""

from copy import copy
from dataclasses import replace

import numpy as np

from softlookup.arrays import BoolArray, IntArray
from softlookup.captures import Axis
from softlookup.lookup import Lookup
from softlookup.options import Overlay
from softlookup.visibility import Tile, row_limits, visible

BLOCK_CELLS = 2**22  # a fraction of a second


def row_blocks(look: Lookup, per: int = 1) -> list[slice]:
    """Return all rows of one head in blocks, each but the last a multiple of `per` rows."""
    q_len, kv_len = look.problem.q_len, look.problem.kv_len
    step = max(per, BLOCK_CELLS // max(kv_len, 1) // per * per)
    return [slice(start, min(start + step, q_len)) for start in range(0, max(q_len, 1), step)]


def of_rows(look: Lookup, rows: slice) -> Lookup:
    """Return the lookup of some rows of one head, without its value: no answer is asked for."""
    problem, part = look.problem, copy(look)
    offset = problem.q_offset
    part.problem = replace(
        problem,
        query=problem.query[:, :, rows],
        value=None,
        q_offset=None if offset is None else offset + rows.start,
        mask=_overlay_part(problem.mask, rows, slice(None)),
        bias=_overlay_part(problem.bias, rows, slice(None)),
    )
    return part


def of_keys(look: Lookup, keys: slice) -> Lookup:
    """Return the lookup of one head over some keys only, without its value and its sink."""
    problem, part = look.problem, copy(look)
    offset, lens = problem.q_offset, problem.kv_lens
    part.problem = replace(
        problem,
        key=problem.key[:, :, keys],
        value=None,
        q_offset=None if offset is None else offset - keys.start,
        kv_lens=None if lens is None else np.clip(lens - keys.start, 0, keys.stop - keys.start),
        mask=_overlay_part(problem.mask, slice(None), keys),
        bias=_overlay_part(problem.bias, slice(None), keys),
        sinks=None,
    )
    return part


def _overlay_part(overlay: Overlay | None, rows: slice, keys: slice) -> Overlay | None:
    if overlay is None:
        return None
    part = overlay.tile(slice(0, 1), slice(0, 1), rows, keys)
    return Overlay(part, np.zeros(1, np.int64))


def sees(look: Lookup) -> BoolArray:
    """Return which keys each row of one head sees, (rows, keys)."""
    shape = look.problem.q_len, look.problem.kv_len
    tile = Tile(slice(0, 1), slice(0, 1), slice(0, shape[0]), slice(0, shape[1]))
    shown = visible(look.problem, tile)
    return np.ones(shape, bool) if shown is None else np.broadcast_to(shown[0, 0, 0], shape)


def spans(look: Lookup) -> IntArray:
    """Return how many keys causal, window and kv_lens leave each row of one head."""
    start, stop = limits(look, slice(0, look.problem.q_len))
    kept: IntArray = stop - start
    return kept


def limits(look: Lookup, rows: slice) -> tuple[IntArray, IntArray]:
    """Return between which keys, start <= key < stop, causal, window and kv_lens leave some rows.

    Both are the same where they leave none.
    """
    found = row_limits(look.problem, slice(0, 1), rows)
    count = rows.stop - rows.start
    if found is None:
        return np.zeros(count, np.int64), np.full(count, look.problem.kv_len)
    start, stop = found.start[0].astype(np.int64), found.stop[0].astype(np.int64)
    return start, np.maximum(start, stop)


def readers(look: Lookup, real: BoolArray) -> IntArray:
    """Return how many of the rows in `real` see each key of one head."""
    problem = look.problem
    if problem.mask is not None or problem.bias is not None:
        some = [sees(of_rows(look, rows))[real[rows]].sum(axis=0) for rows in row_blocks(look)]
        summed: IntArray = np.sum(some, axis=0, dtype=np.int64)
        return summed
    limits = row_limits(problem, slice(0, 1), slice(0, problem.q_len))
    if limits is None:
        return np.full(problem.kv_len, np.count_nonzero(real))
    start = limits.start[0][real].astype(np.int64)
    stop = np.maximum(limits.stop[0][real].astype(np.int64), start)
    ends = problem.kv_len + 1
    steps = np.bincount(start, minlength=ends) - np.bincount(stop, minlength=ends)
    kept: IntArray = np.cumsum(steps)[:-1]
    return kept


def counts(look: Lookup) -> IntArray:
    """Return how many keys each row of one head sees."""
    if look.problem.mask is None and look.problem.bias is None:
        return spans(look)
    some = [sees(of_rows(look, rows)).sum(axis=1) for rows in row_blocks(look)]
    return np.concatenate(some)


def real(axis: Axis) -> BoolArray:
    """Return which tokens of an axis are no padding.

    Examples
    --------
    >>> real(Axis(("", "", "a"), padding=((0, 2),)))
    array([False, False,  True])
    """
    kept = np.ones(len(axis.tokens), bool)
    for start, stop in axis.padding:
        kept[start:stop] = False
    return kept


def first_real(axis: Axis) -> int:
    """Return the position of the first token that is no padding; the length if there is none."""
    kept = real(axis)
    return int(kept.argmax()) if kept.any() else len(kept)
