"""Measures of a layer: means over its rows, what a table of heads shows."""

from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.watched.layer import LayerSeen
from softlookup.watched.repeats import Part


class Mean(NamedTuple):
    """A sum over rows and how many rows there were; two add up.

    Attributes
    ----------
    total, rows : ndarray of shape (heads,)
    """

    total: Array
    rows: Array

    def and_(self, other: "Mean") -> "Mean":
        """Return both together."""
        return Mean(self.total + other.total, self.rows + other.rows)

    @property
    def value(self) -> Array:
        """The mean; NaN where there was no row."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = self.total / self.rows
            return found


def live_rows(layer: LayerSeen) -> BoolArray:
    """Return which rows see any key and stand at no padding, (batch, heads, rows)."""
    return ~layer.padding[:, None] & ~np.isneginf(layer.lse)


def mean_over_rows(fact: Array, rows: BoolArray) -> Mean:
    """Return the mean of a fact of rows over `rows`, both (batch, heads, rows)."""
    total = np.where(rows, fact, 0).sum(axis=(0, 2), dtype=np.float64)
    return Mean(total, rows.sum(axis=(0, 2)))


def first_share(layer: LayerSeen) -> Mean | None:
    """Return what the first token that is no padding gets of the rows that see several keys."""
    shares = layer.shares
    return None if shares is None else Mean(np.array(shares.first), np.array(shares.rows))


def previous_share(layer: LayerSeen) -> Mean | None:
    """Return what the token before gets of those rows that see it; None where it is no key's."""
    return None if layer.shares is None else _of_part(layer.shares.previous)


def induction_share(layer: LayerSeen) -> Mean | None:
    """Return what tokens after earlier occurrences of a row's own token get; None: not known."""
    return None if layer.shares is None else _of_part(layer.shares.induction)


def duplicate_share(layer: LayerSeen) -> Mean | None:
    """Return what earlier occurrences of a row's own token get; None where it is not known."""
    return None if layer.shares is None else _of_part(layer.shares.duplicate)


def _of_part(part: Part | None) -> Mean | None:
    return None if part is None else Mean(np.array(part.total), np.array(part.rows))


def counting_rows(layer: LayerSeen) -> BoolArray:
    """Return which rows count in `received` and see any key, (batch, heads, rows)."""
    return layer.counted[:, None] & ~np.isneginf(layer.lse)


def readers(layer: LayerSeen, keys: IntArray) -> Array:
    """Return how many counting rows may see each of some keys, in order, (batch, heads, keys).

    By their rules: what a mask over single pairs hides is not known here.
    """
    rows = counting_rows(layer).transpose(2, 0, 1).astype(np.int64)
    begun = np.zeros((len(keys) + 1, *rows.shape[1:]), np.int64)
    first, stop = np.searchsorted(keys, layer.spans)
    np.add.at(begun, first, rows)
    np.subtract.at(begun, np.maximum(first, stop), rows)
    return begun[:-1].cumsum(axis=0).transpose(1, 2, 0)
