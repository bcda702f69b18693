"""What a part of a lookup keeps for the facts, and how that merges: the other half of `Part`.

With ``e = exp(score - row_max)`` and ``t = score - row_max`` a part keeps, as far as it is wanted,
its largest score, the sums of ``e`` and ``e * t`` (entropy), its best keys, and the sums of ``e``
per group and per bin of distance. Each merges like the rest of the part, and nothing here touches
what the output is made of.
"""

from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray

_NOTHING = -1000.0  # exp of it is 0 in every dtype, and 0 times it is 0 (0 * -inf would be NaN)
_NO_KEY = -1


class Wanted(NamedTuple):
    """Which facts the keys at hand are counted for.

    Attributes
    ----------
    entropy, max_score : bool
    top : int
        How many of the best keys; 0 for none.
    first_key : int
        Position of the first key at hand.
    members : ndarray of shape (..., keys, groups) or None
        1 where the key belongs to the group, else 0.
    starts : ndarray of int of shape (..., rows, 2 * bins - 1) or None
        Where among the keys at hand each bin of distance begins: the bins left of the row's
        position from the farthest to the nearest, its own position, then those to the right. A
        bin reaches to where the next begins; the first start is 0.
    """

    entropy: bool = False
    max_score: bool = False
    top: int = 0
    first_key: int = 0
    members: Array | None = None
    starts: IntArray | None = None


class Best(NamedTuple):
    """Scores and positions of the best keys, (..., top), best first; missing ones -inf and -1."""

    scores: Array
    keys: IntArray


class Tally(NamedTuple):
    """The facts' share of a part's state; leading axes are the rows, None is not wanted.

    Attributes
    ----------
    peak : ndarray of shape (...,)
        The largest visible score, sinks never among them; -inf where none is visible.
    moments : ndarray of shape (..., 2)
        Sums of ``e`` and of ``e * t`` over visible keys.
    best : Best
    groups : ndarray of shape (..., groups)
        Sum of ``e`` over each group's keys.
    distance : ndarray of shape (..., bins)
        Sum of ``e`` over the keys of each bin.
    """

    peak: Array | None = None
    moments: Array | None = None
    best: Best | None = None
    groups: Array | None = None
    distance: Array | None = None


def empty_tally(rows: tuple[int, ...], wanted: Wanted, dtype: np.dtype[Any]) -> Tally:
    """Return the neutral tally: no key seen yet."""
    members, starts = wanted.members, wanted.starts
    return Tally(
        np.full(rows, -np.inf, dtype) if wanted.max_score else None,
        np.zeros((*rows, 2), dtype) if wanted.entropy else None,
        _no_best(rows, wanted.top, dtype) if wanted.top else None,
        None if members is None else np.zeros((*rows, members.shape[-1]), dtype),
        None if starts is None else np.zeros((*rows, (starts.shape[-1] + 1) // 2), dtype),
    )


def neutral(tally: Tally) -> Tally:
    """Return the neutral tally that keeps what `tally` keeps."""
    peak, moments, best, groups, distance = tally
    return Tally(
        None if peak is None else np.full_like(peak, -np.inf),
        None if moments is None else np.zeros_like(moments),
        None if best is None else _no_best(best.keys.shape[:-1], best.keys.shape[-1],
                                           best.scores.dtype),
        None if groups is None else np.zeros_like(groups),
        None if distance is None else np.zeros_like(distance),
    )  # fmt: skip


def logs_of(shifted: Array) -> Array:
    """Return a copy of ``t`` that can be multiplied by ``e``: -inf becomes finite, NaN stays."""
    return np.asarray(np.maximum(shifted, _NOTHING))


def tally_of(
    wanted: Wanted, exps: Array, logs: Array | None, best: Best | None, row: tuple[Array, Array]
) -> Tally:
    """Return the tally of the keys whose ``e`` and ``t`` are given.

    Parameters
    ----------
    wanted : Wanted
    exps : ndarray of shape (..., rows, keys)
        ``e``; 0 where hidden.
    logs : ndarray of shape (..., rows, keys) or None
        `logs_of` the shifted scores, where entropy is wanted; used up as working memory.
    best : Best or None
        `best_of` the scores.
    row : tuple of ndarray
        `row_max` and `row_sum` of the part.
    """
    row_max, row_sum = row
    moments = None
    if logs is not None:
        logs *= exps
        moments = np.stack([row_sum, logs @ np.ones(logs.shape[-1], logs.dtype)], axis=-1)
    return Tally(
        row_max if wanted.max_score else None,
        moments,
        best,
        None if wanted.members is None else exps @ wanted.members,
        None if wanted.starts is None else _bin_sums(exps, wanted.starts),
    )


def best_of(scores: Array, visible: BoolArray | None, free: int, wanted: Wanted) -> Best:
    """Return the best of the keys at hand: by score, ties to the lower position.

    Parameters
    ----------
    scores : ndarray of shape (..., rows, keys)
        -inf where hidden.
    visible : ndarray of bool, broadcastable to scores[..., free:], or None
        Tells a visible -inf from a hidden key.
    free : int
        How many of the first keys every row sees.
    wanted : Wanted
    """
    cells = scores.reshape(prod(scores.shape[:-1]), scores.shape[-1])  # not -1: an axis may be 0
    best = _no_best(cells.shape[:1], wanted.top, scores.dtype)
    if cells.size:
        chosen = _candidates(cells, scores.shape, visible, free, wanted.top)
        row, key = np.divmod(np.flatnonzero(chosen), cells.shape[1])  # nonzero() takes ten times it
        value = cells[row, key]
        order = np.lexsort((key, -value, row))
        row, key, value = row[order], key[order], value[order]
        starts = np.searchsorted(row, np.arange(len(cells)))
        place = np.arange(len(row)) - starts[row]
        row, key, value, place = (part[place < wanted.top] for part in (row, key, value, place))
        best.scores[row, place] = value
        best.keys[row, place] = key + wanted.first_key
    rows = (*scores.shape[:-1], wanted.top)
    return Best(best.scores.reshape(rows), best.keys.reshape(rows))


def _candidates(
    cells: Array, shape: tuple[int, ...], visible: BoolArray | None, free: int, top: int
) -> BoolArray:
    """Return flags (rows, keys) of cells among which each row's best are, and not many more."""
    few = min(top, cells.shape[1])
    threshold = np.partition(cells, -few, axis=1)[:, -few, None]
    chosen: BoolArray = cells >= threshold  # of a row with NaN: any, it has no best keys
    low = np.isneginf(threshold[:, 0])
    if visible is not None and low.any():  # -inf may be a score, or a hidden key
        sees = np.ones(shape, bool)
        sees[..., free:] = visible
        chosen[low] &= sees.reshape(cells.shape)[low]
    if np.count_nonzero(chosen) > 2 * few * len(cells):  # many ties: the first of each row will do
        tied = chosen & (cells == threshold)
        chosen &= ~tied | (np.cumsum(tied, axis=1, dtype=np.int32) <= few)
    return chosen


def _no_best(rows: tuple[int, ...], top: int, dtype: np.dtype[Any]) -> Best:
    shape = (*rows, top)
    return Best(np.full(shape, -np.inf, dtype), np.full(shape, _NO_KEY, np.int64))


def _bin_sums(amounts: Array, starts: IntArray) -> Array:
    """Sum `amounts` (..., rows, keys) over each bin of distance, (..., rows, bins).

    Every key is read once, whatever the number of bins.
    """
    rows, keys, bins = amounts.shape[:-1], amounts.shape[-1], (starts.shape[-1] + 1) // 2
    begin = np.broadcast_to(starts, (*rows, starts.shape[-1]))
    begin = begin.reshape(prod(rows), starts.shape[-1])
    sums = np.zeros(begin.shape, amounts.dtype)
    if amounts.size and begin.size:
        end = np.concatenate([begin[:, 1:], np.full((len(begin), 1), keys)], axis=1)
        filled = end > begin
        row = np.arange(len(begin))[:, None] * keys
        sums[filled] = np.add.reduceat(amounts.reshape(-1), (row + begin)[filled])
    middle = begin.shape[1] // 2
    sums[:, middle + 1 :] += sums[:, :middle][:, ::-1]  # left and right of the position
    return sums[:, middle:].reshape(*rows, bins)


def merge_tallies(left: Tally, right: Tally, steps: tuple[Array, Array]) -> Tally:
    """Merge two tallies that keep the same; associative, an empty one is neutral.

    Parameters
    ----------
    left, right : Tally
    steps : tuple of ndarray of shape (...,)
        For each, its row_max minus the merged one: what ``t`` changes by, and the logarithm of what
        ``e`` is multiplied by.
    """
    by, keep = [logs_of(step)[..., None] for step in steps], [np.exp(s)[..., None] for s in steps]
    peak = best = moments = None
    if left.peak is not None and right.peak is not None:
        peak = np.maximum(left.peak, right.peak)
    if left.best is not None and right.best is not None:
        best = _merge_best(left.best, right.best)
    if left.moments is not None and right.moments is not None:
        moments = _moved(left.moments, by[0]) * keep[0] + _moved(right.moments, by[1]) * keep[1]
    groups, distance = (
        None if a is None or b is None else a * keep[0] + b * keep[1]
        for a, b in ((left.groups, right.groups), (left.distance, right.distance))
    )
    return Tally(peak, moments, best, groups, distance)


def _moved(moments: Array, by: Array) -> Array:
    """Return the sums of ``e`` and ``e * (t + by)``."""
    moved = moments.copy()
    moved[..., 1:] += moments[..., :1] * by
    return moved


def _merge_best(left: Best, right: Best) -> Best:
    scores = np.concatenate([left.scores, right.scores], axis=-1)
    keys = np.concatenate([left.keys, right.keys], axis=-1)
    last = np.where(keys == _NO_KEY, np.iinfo(np.int64).max, keys)  # after every visible -inf
    order = np.lexsort((last, -scores), axis=-1)[..., : left.keys.shape[-1]]
    return Best(np.take_along_axis(scores, order, -1), np.take_along_axis(keys, order, -1))
