"""The mergeable state of a lookup: a lookup over keys can be cut anywhere and merged.

For a part of the keys keep, for every row, the largest score, the sum of ``exp(score - row_max)``
and the values summed with those numbers; and, if facts are wanted, a `Tally`. Two parts merge by an
associative rule; a part without a visible key is neutral. Tiles, threads, split keys and workers of
a cluster are all this one merge; kernels are tested against this file.

``seen`` stands beside the numbers since an empty row is decided on visibility: a row whose only
visible scores are -inf has the same numbers as an empty one and another answer.
"""

from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray, cast_finite
from softlookup.tallies import (
    Best,
    Tally,
    Wanted,
    best_of,
    empty_tally,
    logs_of,
    merge_tallies,
    neutral,
    tally_of,
)

_CALM = 16  # cells for each change of visibility, from where on a choice for each is faster


class Part(NamedTuple):
    """The state of a lookup over some of the keys; leading axes are the rows.

    Attributes
    ----------
    row_max : ndarray of shape (...,)
        Largest visible score; -inf where none is visible.
    row_sum : ndarray of shape (...,)
        Sum of ``exp(score - row_max)`` over visible keys.
    acc : ndarray of shape (..., value_dim)
        Sum of ``exp(score - row_max) * value``; value_dim is 0 where no value was given.
    seen : ndarray of shape (...,), bool
        Whether any key is visible.
    tally : Tally or None
        What is kept for the facts; None where none is wanted.
    """

    row_max: Array
    row_sum: Array
    acc: Array
    seen: BoolArray
    tally: Tally | None = None


class Answer(NamedTuple):
    """What a lookup returns: `out` (..., value_dim) and `lse` (...,), the natural log-sum-exp."""

    out: Array
    lse: Array


class RowFacts(NamedTuple):
    """Facts of each row; (...,) unless said, None where not wanted.

    Attributes
    ----------
    entropy, sink, max_score
    top_keys, top_weights
        (..., top).
    groups, distance
        (..., groups) and (..., bins).
    """

    entropy: Array | None = None
    sink: Array | None = None
    max_score: Array | None = None
    top_keys: IntArray | None = None
    top_weights: Array | None = None
    groups: Array | None = None
    distance: Array | None = None


def empty_part(
    rows: tuple[int, ...],
    value_dim: int,
    dtype: np.dtype[np.generic],
    wanted: Wanted | None = None,
) -> Part:
    """Return the neutral part: no key seen yet."""
    return Part(
        row_max=np.full(rows, -np.inf, dtype),
        row_sum=np.zeros(rows, dtype),
        acc=np.zeros((*rows, value_dim), dtype),
        seen=np.zeros(rows, bool),
        tally=None if wanted is None else empty_tally(rows, wanted, dtype),
    )


def part_of_scores(
    scores: Array,
    visible: BoolArray | None,
    value: Array,
    free: int = 0,
    wanted: Wanted | None = None,
) -> Part:
    """Return the part of the keys whose scores and values are given.

    Parameters
    ----------
    scores : ndarray of shape (..., rows, keys)
        Used up as working memory.
    visible : ndarray of bool, broadcastable to scores[..., free:], or None
        None where every key is visible.
    value : ndarray of shape (..., keys, value_dim)
        Leading axes broadcast against those of scores.
    free : int
        How many of the first keys every row sees, so that `visible` leaves them out.
    wanted : Wanted, optional
        Facts to be counted beside; they change no bit of the rest.
    """
    if visible is not None:
        _hide(scores[..., free:], visible)
    row_max = scores.max(axis=-1, initial=-np.inf)
    best = best_of(scores, visible, free, wanted) if wanted and wanted.top else None
    scores -= _shift(row_max)[..., None]
    logs = logs_of(scores) if wanted and wanted.entropy else None
    np.exp(scores, out=scores)
    keys = scores.shape[-1]
    if visible is None or free or not keys:  # without keys a broadcast `visible` says nothing
        seen = np.full(row_max.shape, keys > 0)
    else:
        seen = np.broadcast_to(visible.any(axis=-1), row_max.shape)
    ones = np.ones(keys, scores.dtype)  # a product sums three times as fast as sum()
    row_sum = scores @ ones
    tally = None if wanted is None else tally_of(wanted, scores, logs, best, (row_max, row_sum))
    return Part(row_max, row_sum, blend(scores, visible, value, free), seen, tally)


def _hide(scores: Array, visible: BoolArray, hidden: float = -np.inf) -> None:
    """Set hidden scores to `hidden`, whatever they hold.

    A choice for each cell is fast where neighbours are alike, and up to ten times slower where they
    change at random (no branch can be foretold); there one mask over the bits serves all cells.
    """
    changes = np.count_nonzero(visible[..., 1:] != visible[..., :-1])
    if changes * _CALM < visible.size:
        np.copyto(scores, hidden, where=~visible)
        return
    bits = scores.view(f"i{scores.itemsize}")
    there = np.array(hidden, scores.dtype).view(bits.dtype)
    sees = visible.view(np.int8) != 0  # a bool viewed from bytes may hold 255, and is True
    keep = np.negative(sees.view(np.int8)).astype(bits.dtype)  # all ones, or all zeros
    bits ^= there
    bits &= keep
    bits ^= there


def blend(amounts: Array, visible: BoolArray | None, value: Array, free: int = 0) -> Array:
    """Return ``amounts @ value`` where a hidden key adds nothing, whatever its value holds.

    `amounts` (..., rows, keys) are 0 for hidden keys; `value` is (..., keys, value_dim); `visible`
    and `free` are as for `part_of_scores`.

    The product alone would turn ``0 * NaN`` of a hidden key into NaN. So where the product is not
    finite, a non-finite value is taken out of it and put back, as NaN or inf in its own column, for
    the rows that see its key.
    """
    out = amounts @ value
    if np.isfinite(out).all():  # every row meets every value, so all values are finite
        return np.asarray(out)
    finite = np.isfinite(value)
    if finite.all():
        return np.asarray(out)
    out = amounts @ np.where(finite, value, 0)
    sees = np.ones(amounts.shape, bool)
    if visible is not None:
        sees[..., free:] = visible
    counts = amounts.dtype.type
    for special, holds in ((np.inf, np.isposinf(value)), (-np.inf, np.isneginf(value))):
        out[((amounts > 0).astype(counts) @ holds.astype(counts)) > 0] += special
    # 0 * inf is NaN for a visible key, as in the plain product
    nothing = (sees & ~(amounts > 0)).astype(counts) @ (~finite).astype(counts)
    missing = sees.astype(counts) @ np.isnan(value).astype(counts)
    out[(nothing > 0) | (missing > 0)] = np.nan
    return np.asarray(out)


def merge(left: Part, right: Part) -> Part:
    """Merge the states of two parts of the keys; associative, `empty_part` is neutral."""
    row_max = np.maximum(left.row_max, right.row_max)
    shift = _shift(row_max)
    steps = left.row_max - shift, right.row_max - shift
    keep_left, keep_right = np.exp(steps[0]), np.exp(steps[1])
    tally = None
    if left.tally is not None and right.tally is not None:
        tally = merge_tallies(left.tally, right.tally, steps)
    return Part(
        row_max,
        left.row_sum * keep_left + right.row_sum * keep_right,
        left.acc * keep_left[..., None] + right.acc * keep_right[..., None],
        left.seen | right.seen,
        tally,
    )


def add_sinks(part: Part, sinks: Array) -> Part:
    """Add one logit a row to the denominator; once, after the last merge.

    `sinks` are broadcast to the rows. A sink has no value and makes no key visible.
    """
    logits = _logits(part, sinks)
    tally = None if part.tally is None else neutral(part.tally)
    blank = np.zeros_like(part.acc), np.zeros_like(part.seen)
    return merge(part, Part(logits, np.ones_like(logits), *blank, tally))


def _logits(part: Part, sinks: Array) -> Array:
    return cast_finite(np.broadcast_to(sinks, part.row_max.shape), part.row_max.dtype)


def finish(part: Part) -> Answer:
    """Divide: the output and the log-sum-exp; for an empty row 0, and its sink or -inf."""
    out = part.acc / part.row_sum[..., None]
    lse = part.row_max + np.log(part.row_sum)
    if not part.seen.all():
        out[~part.seen] = 0
        lse = np.where(part.seen, lse, part.row_max)
    return Answer(out, lse)


def row_facts(whole: Part, sinks: Array | None = None) -> RowFacts:
    """Return the facts of rows whose `whole` state is known.

    Parameters
    ----------
    whole : Part
        Over all keys, sinks included.
    sinks : ndarray, broadcastable to the rows, or None
        Where their share is wanted.
    """
    sink = None
    if sinks is not None:
        logits = _logits(whole, sinks)[..., None]
        sink = np.where(whole.seen, weights_of_scores(logits, None, whole)[..., 0], 1)
    if whole.tally is None:
        return RowFacts(sink=sink)
    peak, moments, best, groups, distance = whole.tally
    entropy = keys = weights = None
    if best is not None:
        keys, weights = _top(best, whole)
    if moments is not None:
        terms = np.log(whole.row_sum) * moments[..., 0] - moments[..., 1]
        entropy = np.where(whole.seen, terms / whole.row_sum, 0)  # >= 0, for row_sum is >= 1
    return RowFacts(
        entropy,
        sink,
        None if peak is None else np.where(np.isposinf(peak), np.nan, peak),
        keys,
        weights,
        None if groups is None else _shares(groups, whole),
        None if distance is None else _shares(distance, whole),
    )


def _top(best: Best, whole: Part) -> tuple[IntArray, Array]:
    weights = weights_of_scores(best.scores.copy(), best.keys >= 0, whole)
    keys = best.keys.copy()
    spoilt = whole.seen & np.isnan(whole.row_sum)  # a visible NaN or +inf
    keys[spoilt], weights[spoilt] = -1, np.nan
    return keys, weights


def _shares(sums: Array, whole: Part) -> Array:
    shares = sums / whole.row_sum[..., None]
    shares[~whole.seen] = 0
    return np.asarray(shares)


def weights_of_scores(
    scores: Array, visible: BoolArray | None, whole: Part, free: int = 0
) -> Array:
    """Return the weights of some keys in rows whose `whole` state (sinks included) is known.

    `scores`, (..., keys) with the rows of `whole` in front, are used up as working memory;
    `visible` and `free` are as for `part_of_scores`.
    """
    scores -= _shift(whole.row_max)[..., None]
    np.exp(scores, out=scores)
    scores /= whole.row_sum[..., None]
    if visible is not None:
        _hide(scores[..., free:], visible, 0.0)
    return scores


def _shift(row_max: Array) -> Array:
    """Return what exp subtracts: the maximum, or a finite number where it is -inf.

    -inf - -inf is NaN; -inf minus any finite number stays -inf, and its exp 0.
    """
    return np.asarray(np.maximum(row_max, np.finfo(row_max.dtype).min))
