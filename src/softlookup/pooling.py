"""Pooling: blocks of weights, the largest of each and their sum, as backends return them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray, bringing
from softlookup.partials import (
    Part,
    add_sinks,
    empty_part,
    finish,
    merge,
    part_of_scores,
    row_facts,
)
from softlookup.tallies import Tally, Wanted

BAND = 32  # rows, and keys, of the largest block that a backend pools
_WANTED = Wanted(entropy=True)


class Normaliser(NamedTuple):
    """How the scores of some rows become weights: ``weight = exp(score - shift) * factor``.

    Attributes
    ----------
    shift, factor : ndarray of shape (rows,)
        factor is 0 for an empty row, and not finite where the row's visible weights are NaN.
    """

    shift: Array
    factor: Array


class Pooled(NamedTuple):
    """Whole bands of `BAND` rows of one head, in blocks of as many keys.

    Attributes
    ----------
    max, total : ndarray of shape (bands, key_blocks)
        The largest weight of each block, and the sum of its weights; 0 where nothing is visible.
    normaliser : Normaliser
        Of (bands * BAND,) rows; 0 for rows past the last.
    lse, entropy : ndarray of shape (bands * BAND,)
        0 for rows past the last.
    seen : ndarray of bool of shape (bands, key_blocks) or None
        Whether any pair of each block is visible, from a backend that says so where a mask or a
        bias hides some.
    """

    max: Array
    total: Array
    normaliser: Normaliser
    lse: Array
    entropy: Array
    seen: BoolArray | None = None

    def in_memory(self) -> "Pooled":
        """Return the same numbers in memory."""
        return self.bringing()()

    def bringing(self) -> Callable[[], "Pooled"]:
        """Return what gives the same numbers in memory; copies from a device start at once."""
        shift, factor = self.normaliser
        given = self.max, self.total, shift, factor, self.lse, self.entropy
        parts = [bringing(part) for part in given]
        seen = None if self.seen is None else bringing(self.seen)

        def brought() -> Pooled:
            most, total, shift, factor, lse, entropy = (part() for part in parts)
            flags = None if seen is None else seen()
            return Pooled(most, total, Normaliser(shift, factor), lse, entropy, flags)

        return brought


def runs(bands: IntArray, most: int, q_len: int) -> Iterator[tuple[slice, slice]]:
    """Yield where neighbours stand beside one another, at most so many, and their rows."""
    start = 0
    for at in range(1, len(bands) + 1):
        if at == len(bands) or at - start == most or bands[at] != bands[at - 1] + 1:
            first, last = int(bands[start]) * BAND, (int(bands[at - 1]) + 1) * BAND
            yield slice(start, at), slice(first, min(last, q_len))
            start = at


def empty_bands(bands: int, kv_len: int, dtype: np.dtype[np.generic]) -> Pooled:
    """Return room for so many bands; nothing is visible yet."""
    most, total = np.zeros((2, bands, -(-kv_len // BAND)), dtype)
    shift, factor, lse, entropy = np.zeros((4, bands * BAND), dtype)
    return Pooled(most, total, Normaliser(shift, factor), lse, entropy)


def empty_blocks(rows: slice, blocks: slice, dtype: np.dtype[np.generic]) -> Part:
    """Return room for a part of every row over every block of keys; nothing is seen yet."""
    return empty_part((rows.stop - rows.start, blocks.stop - blocks.start), 0, dtype, _WANTED)


def fill_blocks(
    blocks: Part, first: int, scores: Array, visible: BoolArray | None, free: int
) -> None:
    """Put the scores (rows, keys) of some keys into `blocks`, from block `first` on.

    `visible` and `free` are as in `part_of_scores`; the scores are used up as working memory.
    """
    rows, keys = scores.shape
    sees = None
    if visible is not None:
        sees = np.ones((rows, keys), bool)
        sees[:, free:] = visible
    whole = keys - keys % BAND
    for start, stop, width in ((0, whole, BAND), (whole, keys, keys - whole)):
        if start == stop:
            continue
        shape = (rows, (stop - start) // width, width)
        shown = None if sees is None else sees[:, start:stop].reshape(shape)
        nothing = np.empty((width, 0), scores.dtype)
        part = part_of_scores(scores[:, start:stop].reshape(shape), shown, nothing, 0, _WANTED)
        at = slice(first + start // BAND, first + start // BAND + shape[1])
        for room, found in zip(_numbers(blocks), _numbers(part), strict=True):
            room[:, at] = found


def merge_blocks(blocks: Part) -> Part:
    """Return the part of every row over all its blocks, by the one merge, two and two."""
    while blocks.seen.shape[1] > 1:
        half, odd = divmod(blocks.seen.shape[1], 2)
        merged = merge(_some(blocks, slice(0, half)), _some(blocks, slice(half, 2 * half)))
        if odd:
            last = _some(blocks, slice(2 * half, None))
            pairs = zip(_numbers(merged), _numbers(last), strict=True)
            merged = _part_of([np.concatenate(pair, axis=1) for pair in pairs])
        blocks = merged
    if not blocks.seen.shape[1]:
        return empty_part(blocks.seen.shape[:1], 0, blocks.row_max.dtype, _WANTED)
    return _part_of([array[:, 0] for array in _numbers(blocks)])


def _numbers(part: Part) -> list[Array]:
    moments = None if part.tally is None else part.tally.moments
    if moments is None:
        raise ValueError("blocks keep the moments of every part")
    return [part.row_max, part.row_sum, part.acc, part.seen, moments]


def _part_of(numbers: list[Array]) -> Part:
    row_max, row_sum, acc, seen, moments = numbers
    return Part(row_max, row_sum, acc, seen, Tally(moments=moments))


def _some(blocks: Part, at: slice) -> Part:
    return _part_of([array[:, at] for array in _numbers(blocks)])


def normaliser_of(whole: Part) -> Normaliser:
    """Return how scores become weights in rows whose whole state is known, sinks included."""
    factor = np.where(whole.seen, 1 / whole.row_sum, 0)  # NaN or inf for a lost row
    shift = np.where(np.isfinite(whole.row_max), whole.row_max, 0)
    return Normaliser(shift, factor.astype(shift.dtype, copy=False))


def fill_bands(found: Pooled, at: slice, first: int, blocks: Part, sinks: Array | None) -> None:
    """Put neighbouring bands, whose blocks from `first` on are filled, into their places."""
    whole = merge_blocks(blocks)
    if sinks is not None:
        whole = add_sinks(whole, sinks)
    shift, factor = normaliser = normaliser_of(whole)
    lift = np.exp(blocks.row_max - shift[:, None]) * factor[:, None]
    sums = blocks.row_sum * lift
    hidden = ~blocks.seen
    lift[hidden] = 0
    sums[hidden] = 0
    to = at, slice(first, first + lift.shape[1])
    found.max[to], found.total[to] = pool(np.maximum, lift, BAND, 1), pool(np.add, sums, BAND, 1)
    rows = slice(at.start * BAND, at.start * BAND + len(shift))
    for room, numbers in zip(
        (*found.normaliser, found.lse, found.entropy),
        (*normaliser, finish(whole).lse, row_facts(whole).entropy),
        strict=True,
    ):
        room[rows] = numbers


def pool(how: np.ufunc, cells: Array, rows: int, keys: int) -> Array:
    """Reduce every `rows` x `keys` cells to one; those at the ends may be smaller."""
    for axis, size in ((0, rows), (1, keys)):
        length = cells.shape[axis]
        if size > 1 and length:
            cells = how.reduceat(cells, np.arange(0, length, size), axis=axis)
    return cells


def weigh(scores: Array, visible: BoolArray | None, normaliser: Normaliser) -> Array:
    """Return the weights of some keys (rows, keys); the scores are used up as working memory."""
    scores -= normaliser.shift[:, None]
    np.exp(scores, out=scores)
    scores *= normaliser.factor[:, None]
    if visible is not None:
        np.copyto(scores, 0, where=~visible)
    return scores
