"""The largest score of every part of every chunk of keys, on the way: what `top` chooses by."""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from softlookup.backends.triton.scores import LOWEST

CHUNK = 32  # keys


class Strip(NamedTuple):
    """Which rows one launch takes: `pairs` of a batch entry and a head, `rows` of each.

    `maxima` is room for float32 of shape (pairs, chunks, rows, parts), or None. A chunk has
    CHUNK keys; `parts` is 4, or 1 where only the largest of the whole chunk is kept.
    """

    pair: int
    pairs: int
    row: int
    rows: int
    maxima: Any = None
    parts: int = 4


@triton.jit
def chunk_maxima(scores, ROWS: tl.constexpr, KEYS: tl.constexpr):
    """Return the largest of each part of each chunk of 32 keys, (ROWS, KEYS // 32, 4).

    Part p holds the keys whose position modulo 8 is 2 p or 2 p + 1: what one thread holds of a
    row's chunk, so that no thread asks another.
    """
    parts = tl.reshape(scores, (ROWS, KEYS // 32, 4, 4, 2))
    return tl.max(tl.max(parts, 4), 2)


@triton.jit
def visible_maxima(scores, sees, n, ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr):
    """Return `chunk_maxima` of visible scores in units: finite at least, -inf where none is."""
    most = chunk_maxima(tl.where(sees, tl.maximum(scores, LOWEST), float("-inf")), ROWS, KEYS)
    if S.raw:  # a unit above 1 makes the lowest number infinite
        most = tl.where(most < LOWEST, most, tl.maximum(most * n.unit, LOWEST))
    return most


@triton.jit
def _dealt(array, ROWS: tl.constexpr, REST: tl.constexpr, WARPS: tl.constexpr):
    """Return (ROWS, REST) with its rows in another order: see `_dealt_rows`."""
    parts = tl.reshape(array, (ROWS // (16 * WARPS), WARPS, 2, 8, REST))
    return tl.reshape(tl.permute(parts, (0, 2, 1, 3, 4)), (ROWS, REST))


@triton.jit
def _dealt_rows(ROWS: tl.constexpr, WARPS: tl.constexpr):
    """Return which row stands where: each warp's rows, 16 and 16, as 8 and 8.

    A product leaves 16 neighbouring rows to a warp, and a store takes 8 of each; so dealt, no
    number changes its warp, and no warp waits for another.
    """
    rows = tl.arange(0, ROWS)
    warp, half = rows // 8 % WARPS, rows // (8 * WARPS)
    return half // 2 * (16 * WARPS) + warp * 16 + half % 2 * 8 + rows % 8


@triton.jit
def _store(most, to, row, stop, key, strip_rows, n, ROWS: tl.constexpr, CELLS: tl.constexpr,
           PARTS: tl.constexpr, WARPS: tl.constexpr):  # fmt: skip
    """Store the largest of each part of the chunks from `key` on, (ROWS, CELLS)."""
    if WARPS > 1 and ROWS % (16 * WARPS) == 0:
        i = row + _dealt_rows(ROWS, WARPS)[:, None]
        most = _dealt(most, ROWS, CELLS, WARPS)
    else:
        i = row + tl.arange(0, ROWS)[:, None]
    cell = tl.arange(0, CELLS)[None, :]
    chunk = key // 32 + cell // PARTS
    at = to + (chunk.to(tl.int64) * strip_rows + i) * PARTS + cell % PARTS
    tl.store(at, most, mask=(i < stop) & (chunk * 32 < n.kv_len))


@triton.jit
def peaks_of(scores, sees, to, row, stop, key, strip_rows, n, ROWS: tl.constexpr,
           KEYS: tl.constexpr, PARTS: tl.constexpr, WARPS: tl.constexpr,
           S: tl.constexpr):  # fmt: skip
    """Return `peak_of` the scores, and store the largest of every part of a chunk, in units.

    What is visible counts as finite at least, so that -inf means that nothing is.
    """
    if sees is None:
        most = chunk_maxima(scores, ROWS, KEYS)
        if S.raw:
            most = most * n.unit
        most = tl.maximum(most, LOWEST)
    else:
        most = visible_maxima(scores, sees, n, ROWS, KEYS, S)
    CHUNKS: tl.constexpr = KEYS // 32
    if PARTS == 1:
        most = tl.max(most, 2)
        _store(most, to, row, stop, key, strip_rows, n, ROWS, CHUNKS, 1, WARPS)
        return tl.max(most, 1)
    else:
        parts = tl.reshape(most, (ROWS, CHUNKS * PARTS))
        _store(parts, to, row, stop, key, strip_rows, n, ROWS, CHUNKS * PARTS, PARTS, WARPS)
        return tl.max(tl.max(most, 2), 1)
