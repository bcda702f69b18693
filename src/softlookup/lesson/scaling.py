"""What dividing by the square root of d_k does, measured on vectors drawn from a seed.

Queries and keys are of the same kind at every d_k: independent standard normal numbers. Nothing
here is remembered; every figure is computed when it is asked for.
"""

from dataclasses import dataclass

import numpy as np

from softlookup.arrays import Array
from softlookup.lookup import Lookup

SIZES = (2, 64, 1024)
SEED = 1
QUERIES = 256
KEYS = 8


@dataclass(frozen=True)
class Growth:
    """How scores and weights behave at one d_k, with the division and without.

    Attributes
    ----------
    head_dim : int
        d_k.
    spread, scaled_spread : float
        Standard deviation of q · k, and of q · k / √d_k.
    largest, scaled_largest : float
        Largest weight of a row, averaged over the queries: 1/KEYS is even, 1 is all on one key.
    slope, scaled_slope : float
        w(1-w) of that weight, averaged: how much it answers to a change of its own score.
    row, scaled_row : ndarray of shape (KEYS,)
        All weights of the first query.
    """

    head_dim: int
    spread: float
    scaled_spread: float
    largest: float
    slope: float
    scaled_largest: float
    scaled_slope: float
    row: Array
    scaled_row: Array


def measure(head_dim: int) -> Growth:
    """Draw queries and keys with `head_dim` numbers each and measure their scores and weights."""
    source = np.random.default_rng([SEED, head_dim])
    query = source.standard_normal((QUERIES, 1, head_dim))
    key = source.standard_normal((QUERIES, KEYS, head_dim))  # its own keys for every query
    trace = Lookup(query, key).trace()
    raw = Lookup(query, key, scale=1.0).weights()
    return Growth(
        head_dim,
        float(trace.products.std()),
        float(trace.scaled.std()),
        *_sharpness(raw),
        *_sharpness(trace.weights),
        raw[0, 0],
        trace.weights[0, 0],
    )


def _sharpness(weights: Array) -> tuple[float, float]:
    largest = weights.max(axis=-1)
    return float(largest.mean()), float((largest * (1 - largest)).mean())
