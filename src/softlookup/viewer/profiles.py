"""Profiles: what goes along the axes of a head, the entropy of queries and what keys receive.

Both are exact. The entropy comes with the map where that is built; what keys receive is worked out
here, some rows at a time, whenever a request carries ``work=1``.
"""

import time

import numpy as np

from softlookup.arrays import Array
from softlookup.tracing import to_json
from softlookup.viewer import arguments, blocks
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import MAP_BUCKETS, Json, computed_by
from softlookup.viewer.kept import Kept, Taking
from softlookup.weightmap import Received

SLICES, SLICE = 2, 0.08  # turns of one request that works, and seconds of each
FIRST_RATE = 2.0**25  # weights a second, until it is measured
MOST_ROWS = 2**14  # of one turn: short ones take time, too
LISTED = 12  # extremes of each list
FEWEST = 12  # readers of a key that is listed: the mean of fewer says little
AXES = {"queries": "nats", "keys": "weights"}  # units along them


class Profile:
    """The profile of one head, as far as it is worked out.

    Attributes
    ----------
    done, of : int
        Weights within the rows' intervals that were worked out, and that there are.
    entropy : ndarray of shape (q_len,)
        Float64, nats; NaN where not known.
    received : ndarray of shape (kv_len,)
        Float64, summed over the rows so far that are no padding.
    readers : ndarray of shape (kv_len,)
        Int64, those of these rows that see each key.
    """

    def __init__(self, kept: Kept) -> None:
        look, place = kept.look, kept.place
        q_len, kv_len = look.problem.q_len, look.problem.kv_len
        # a row of one weight more, or rows that see nothing would take no time and never end
        self._cost = np.cumsum(blocks.spans(look) + 1)
        self._real = blocks.real(place.queries)
        self._seen = np.zeros(q_len, np.int64)
        self._rows = 0
        self._rate = FIRST_RATE
        self.entropy = np.full(q_len, np.nan)
        self.received = np.zeros(kv_len)
        self.readers = np.zeros(kv_len, np.int64)
        self.spent = 0.0
        self.backend = ""
        saved = kept.map.received
        if saved and np.array_equal(saved.rows, self._real) and kept.map.known_rows.all():
            _, self._seen, self.received, self.readers, self.backend = saved
            self.entropy[:] = kept.map.entropy
            self._rows = q_len

    @property
    def done(self) -> int:
        """Weights that were worked out."""
        return int(self._cost[self._rows - 1]) if self._rows else 0

    @property
    def of(self) -> int:
        """Weights that there are."""
        return int(self._cost[-1])

    @property
    def whole(self) -> bool:
        """Whether all rows were worked out."""
        return self._rows == len(self._cost)

    @property
    def bytes(self) -> int:
        """Bytes in memory."""
        arrays = (
            self._cost, self._real, self._seen, self.entropy, self.received, self.readers,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)

    def seconds_left(self) -> float | None:
        """Return how long the rest will take; None before anything is known."""
        left = self.of - self.done
        return 0.0 if not left else self.spent / self.done * left if self.done else None

    def work(self, kept: Kept, seconds: float) -> bool:
        """Work out the next rows, for about so long; return whether all are."""
        if self.whole:
            return True
        begun, before = time.perf_counter(), self.done
        last = int(np.searchsorted(self._cost, before + self._rate * seconds, side="right"))
        # few different sizes, or memory that is freed does not fit what is asked for next
        step = min(1 << max(last - self._rows, 1).bit_length() - 1, MOST_ROWS)
        rows = slice(self._rows, min(self._rows + step, len(self._cost)))
        known = kept.map.known_rows[rows]
        part = blocks.of_rows(kept.look, rows)
        found = part.inspect(entropy=not known.all(), received=True, from_rows=self._real[rows])
        if found.entropy is None:
            self.entropy[rows] = kept.map.entropy[rows]
        else:
            self.entropy[rows] = found.entropy
        if found.received is not None:
            self.received += found.received
        self._seen[rows] = blocks.counts(part)
        self.readers += blocks.readers(part, self._real[rows])
        self.backend, self._rows = found.backend, rows.stop
        took = time.perf_counter() - begun
        self.spent += took
        self._rate = (self.done - before) / max(took, 1e-4)
        if self.whole:
            kept.map.received = Received(
                self._real, self._seen, self.received, self.readers, self.backend
            )
        return self.whole

    def chosen(self) -> Array:
        """Return the queries whose entropy is worth a list: no padding, more than one key to read.

        One visible key leaves no choice.
        """
        return np.flatnonzero(self._real & (self._seen > 1) & ~np.isnan(self.entropy))

    def spread(self, queries: Array) -> Array:
        """Return the entropy of queries as a share of the most that their visible keys allow."""
        shares: Array = self.entropy[queries] / np.log(self._seen[queries])
        return shares

    def compared(self) -> Array:
        """Return the keys that are worth a list: known, and read by several queries."""
        fewest = min(FEWEST, int(self.readers.max(initial=0)))
        return np.flatnonzero(~np.isnan(self.received) & (self.readers >= max(fewest, 1)))


def progress(kept: Kept, args: Arguments) -> Taking[Json]:
    """Return how far the profile is, and its extremes; with ``work=1`` go on for a moment."""
    work = arguments.word(args, "work", ("0", "1"), default="0") == "1"
    if kept.profile is None:
        kept.profile = Profile(kept)
    profile = kept.profile
    if work and kept.refused is None:
        for _ in range(SLICES):
            if profile.work(kept, SLICE):
                break
            yield None
    if kept.worth_saving():
        yield kept.save
    told = {
        "done": profile.done,
        "of": profile.of,
        "seconds_left": None if kept.refused else profile.seconds_left(),
        "refused": kept.refused,
        "by": computed_by(profile.backend, kept.look) if profile.backend else kept.map.by,
        **_extremes(profile),
    }
    plain: Json = to_json(told)
    return plain


def _extremes(profile: Profile) -> Json:
    """Return the keys that receive most, and the queries of least and of most entropy.

    Both are compared by what they could be: what a key receives, by the queries that see it; the
    entropy of a query, by that of a weight spread evenly over the keys that it sees.
    """
    if not profile.whole:
        return dict.fromkeys(("top_received", "lowest_entropy", "highest_entropy"))
    keys = profile.compared()
    each = profile.received[keys] / profile.readers[keys]
    most = np.argsort(-each, kind="stable")[:LISTED]
    queries = profile.chosen()
    spread = profile.spread(queries)
    return {
        "top_received": [
            {"key": int(keys[i]), "received": profile.received[keys[i]], "each": each[i]}
            for i in most
        ],
        "lowest_entropy": _entropies(profile, queries, spread, np.argsort(spread, kind="stable")),
        "highest_entropy": _entropies(profile, queries, spread, np.argsort(-spread, kind="stable")),
    }


def _entropies(profile: Profile, queries: Array, spread: Array, order: Array) -> list[Json]:
    return [
        {"query": int(queries[i]), "entropy": profile.entropy[queries[i]], "spread": spread[i]}
        for i in order[:LISTED]
    ]


def strip(kept: Kept, args: Arguments) -> Taking[tuple[Json, bytes]]:
    """Return the profile of an axis in buckets: the largest, the smallest, the mean of each."""
    axis = arguments.word(args, "axis", tuple(AXES))
    length = kept.map.shape[0 if axis == "queries" else 1]
    span = arguments.span(args, "span", length)
    asked = arguments.whole(args, "buckets", MAP_BUCKETS + 1, default=MAP_BUCKETS, low=1)
    buckets = min(asked, len(span))
    yield None
    numbers = _along(kept, axis)[span.start : span.stop]
    told = {
        "axis": axis,
        "start": span.start,
        "stop": span.stop,
        "buckets": buckets,
        "unit": AXES[axis],
    }
    return told, pooled(numbers, buckets).astype("<f4").tobytes()


def _along(kept: Kept, axis: str) -> Array:
    """Return the numbers along an axis as far as they are known, NaN elsewhere."""
    profile = kept.profile
    if axis == "keys":  # a part of the sum is no number of a key
        if profile is not None and profile.whole:
            return profile.received
        return np.full(kept.map.shape[1], np.nan)
    there = np.where(kept.map.known_rows, kept.map.entropy, np.nan)
    return there if profile is None else np.where(np.isnan(there), profile.entropy, there)


def pooled(numbers: Array, buckets: int) -> Array:
    """Return the largest, the smallest and the mean of what is known in each bucket, (3, buckets).

    Bucket b holds the numbers ``len * b // buckets`` up to ``len * (b + 1) // buckets``.

    Examples
    --------
    >>> pooled(np.array([1.0, 5.0, np.nan, 2.0, np.nan]), 2)
    array([[5., 2.],
           [1., 2.],
           [3., 2.]])
    """
    starts = np.arange(buckets) * len(numbers) // buckets
    known = ~np.isnan(numbers)
    counted = np.add.reduceat(known.astype(np.int64), starts)
    summed = np.add.reduceat(np.where(known, numbers, 0.0), starts)
    with np.errstate(invalid="ignore"):  # NaN: nothing is known of that bucket
        mean = summed / counted
        return np.stack(
            [np.fmax.reduceat(numbers, starts), np.fmin.reduceat(numbers, starts), mean]
        )
