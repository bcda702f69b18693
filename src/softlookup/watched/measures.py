"""Measures of a layer: means over its rows, what a table of heads shows."""

from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray
from softlookup.watched.layer import LayerSeen


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
    """Return what the previous token gets of the same rows; None where it is none of the keys'."""
    shares = layer.shares
    if shares is None or shares.previous is None:
        return None
    return Mean(np.array(shares.previous), np.array(shares.rows))


def counting_rows(layer: LayerSeen) -> BoolArray:
    """Return which rows count in `received` and see any key, (batch, heads, rows)."""
    return layer.counted[:, None] & ~np.isneginf(layer.lse)


def readers(layer: LayerSeen, keys: IntArray) -> Array:
    """Return how many counting rows may see each key, (batch, heads, keys).

    In a causal layer those at or after it; windows are not known here.
    """
    rows = counting_rows(layer)
    if not layer.causal:
        return np.repeat(rows.sum(axis=2)[..., None], len(keys), axis=2)
    order = np.argsort(layer.queries, kind="stable")
    behind = rows[:, :, order][..., ::-1].cumsum(axis=2)[..., ::-1]
    behind = np.concatenate([behind, np.zeros((*behind.shape[:2], 1), behind.dtype)], axis=2)
    return behind[..., np.searchsorted(layer.queries[order], keys)]
