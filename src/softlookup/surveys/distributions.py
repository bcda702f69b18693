"""Distributions: how the numbers of each head are spread over the texts of a survey, exactly.

The rows of a survey are read some heads at a time, so that memory does not grow with the texts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, IntArray
from softlookup.surveys.block import MEASURES

BINS = 24
POINTS = ("count", "mean", "least", "quarter", "median", "three_quarters", "most")
_BUDGET = 2**28  # bytes of numbers that are held at once
_NAMES = ("part", "layer", "head")
_ROW = 4 * (1 + len(MEASURES))  # bytes of a row

Tables = Callable[[Sequence[str]], Iterator[Any]]


class HeadName(NamedTuple):
    """Which head."""

    part: str
    layer: int
    head: int


@dataclass(frozen=True, eq=False)
class Distributions:
    """What all texts of a survey come to.

    Attributes
    ----------
    heads : tuple of HeadName
    points : ndarray of shape (measures, heads, points)
        Those of `POINTS` of each of `MEASURES`, over the texts that have it.
    histograms : ndarray of int of shape (measures, heads, bins)
        How many texts have it in each of as many bins between 0 and `tops`.
    tops : tuple of float
        Of each measure: 1 of a share.
    distance : ndarray of shape (heads, bins)
        Mean share of each bin of distance.
    groups : ndarray of shape (heads, labels)
        Mean share of each label, over the texts that have labels.
    keys : tuple of (str, int)
        Of each head the token that most texts have as the key that received most, and how many.
    texts : int
    """

    heads: tuple[HeadName, ...]
    points: Array
    histograms: IntArray
    tops: tuple[float, ...]
    distance: Array
    groups: Array
    keys: tuple[tuple[str, int], ...]
    texts: int


def distributions_of(tables: Tables, rows: int, texts: int) -> Distributions:
    """Return how the numbers of all heads are spread.

    Parameters
    ----------
    tables : callable
        From names of columns to the tables of all partitions, read anew each time.
    rows, texts : int
        How many there are in all.
    """
    heads, most = _heads(tables)
    tops = tuple(most if name == "entropy" else 1.0 for name in MEASURES)
    points = np.full((len(MEASURES), len(heads), len(POINTS)), np.nan)
    histograms = np.zeros((len(MEASURES), len(heads), BINS), np.int64)
    passes = max(1, -(-rows * _ROW // _BUDGET))
    each = max(1, -(-len(heads) // passes))
    for first in range(0, len(heads), each):
        chosen = range(first, min(first + each, len(heads)))
        for at, numbers in _numbers(tables, heads, chosen):
            for m, top in enumerate(tops):
                known = numbers[m][~np.isnan(numbers[m])]
                points[m, at] = _points(known)
                histograms[m, at] = np.histogram(known, BINS, (0.0, top or 1.0))[0]
    distance, groups, keys = _profiles(tables, heads)
    return Distributions(heads, points, histograms, tops, distance, groups, keys, texts)


def _points(known: Array) -> Array:
    if not len(known):
        return np.array([0.0, *[np.nan] * (len(POINTS) - 1)])
    wide = known.astype(np.float64)
    return np.array([len(wide), wide.mean(), *np.quantile(wide, [0, 0.25, 0.5, 0.75, 1])])


def _heads(tables: Tables) -> tuple[tuple[HeadName, ...], float]:
    """Return all heads, in the order of the first text's rows, and the largest entropy."""
    heads: dict[HeadName, None] = {}
    most = 0.0
    for table in tables((*_NAMES, "entropy")):
        heads |= dict.fromkeys(map(HeadName._make, zip(*_named(table), strict=True)))
        entropy = _floats(table, "entropy")
        most = max(most, float(np.nanmax(entropy, initial=0.0)) if len(entropy) else 0.0)
    return tuple(heads), most


def _named(table: Any) -> tuple[list[Any], ...]:
    return tuple(table.column(name).to_pylist() for name in _NAMES)


def _places(table: Any, places: dict[HeadName, int]) -> IntArray:
    """Return which head each row is of."""
    named = map(HeadName._make, zip(*_named(table), strict=True))
    return np.fromiter((places[one] for one in named), np.int32, len(table))


def _floats(table: Any, name: str) -> Array:
    """Return a column as numbers, NaN where there is none."""
    found: Array = table.column(name).to_numpy()
    return found.astype(np.float32, copy=False)


def _numbers(
    tables: Tables, heads: Sequence[HeadName], chosen: range
) -> Iterator[tuple[int, list[Array]]]:
    """Yield some heads, with the numbers of each measure over all texts."""
    places = {name: at for at, name in enumerate(heads)}
    where: list[IntArray] = [np.zeros(0, np.int32)]
    numbers: list[list[Array]] = [[np.zeros(0, np.float32)] for _ in MEASURES]
    for table in tables((*_NAMES, *MEASURES)):
        at = _places(table, places)
        kept = (at >= chosen.start) & (at < chosen.stop)
        where.append(at[kept])
        for m, name in enumerate(MEASURES):
            numbers[m].append(_floats(table, name)[kept])
    at = np.concatenate(where)
    order = np.argsort(at, kind="stable")
    ends = np.searchsorted(at[order], np.arange(chosen.start, chosen.stop + 1))
    sorted_numbers = [np.concatenate(parts)[order] for parts in numbers]
    for i, head in enumerate(chosen):
        yield head, [one[ends[i] : ends[i + 1]] for one in sorted_numbers]


def _profiles(
    tables: Tables, heads: Sequence[HeadName]
) -> tuple[Array, Array, tuple[tuple[str, int], ...]]:
    """Return mean shares of distances and of labels, and the token that each head reads most."""
    places = {name: at for at, name in enumerate(heads)}
    sums = {name: _Sum(len(heads)) for name in ("distance", "groups")}
    counts: list[Counter[str]] = [Counter() for _ in heads]
    for table in tables((*_NAMES, *sums, "top_tokens")):
        at = _places(table, places)
        for name, one in sums.items():
            one.add(at, table.column(name))
        for place, word in zip(at.tolist(), _first(table.column("top_tokens")), strict=True):
            if word is not None:
                counts[place][word] += 1
    keys = tuple(_commonest(one) for one in counts)
    return sums["distance"].mean(), sums["groups"].mean(), keys


def _commonest(counts: Counter[str]) -> tuple[str, int]:
    """Return what there is most of; of several the first in the order of texts."""
    return min(counts.items(), key=lambda one: (-one[1], one[0]), default=("", 0))


def _first(column: Any) -> Iterable[str | None]:
    return (one[0] if one else None for one in column.to_pylist())


class _Sum:
    """Lists of numbers of each head, summed; shorter ones end in zeros."""

    def __init__(self, heads: int) -> None:
        self._total, self._rows = np.zeros((heads, 0)), np.zeros(heads, np.int64)

    def add(self, at: IntArray, column: Any) -> None:
        """Add a list for each row."""
        for chunk in column.chunks or ():
            rows, at = at[: len(chunk)], at[len(chunk) :]
            there = np.asarray(chunk.is_valid())
            counts = np.diff(np.asarray(chunk.offsets))[there]
            values = np.asarray(chunk.flatten(), dtype=np.float64)
            widest = int(counts.max(initial=0))
            if widest > self._total.shape[1]:
                more = widest - self._total.shape[1]
                self._total = np.pad(self._total, [(0, 0), (0, more)])
            whose = np.repeat(rows[there], counts)
            starts = np.repeat(np.cumsum(counts) - counts, counts)
            np.add.at(self._total, (whose, np.arange(len(values)) - starts), np.nan_to_num(values))
            np.add.at(self._rows, rows[there], 1)

    def mean(self) -> Array:
        """Return the mean list of each head; NaN where a head has none."""
        with np.errstate(invalid="ignore"):
            found: Array = self._total / np.where(self._rows, self._rows, np.nan)[:, None]
        return found
