"""Codes: what a picture of weights needs of each cell, one byte on the wire, for colour only.

A weight is told by its binary logarithm, in 251 equal steps from 2**-32 to 1: at most 4.5 % off.
What is not a number in that range has a code of its own. Numbers that are read come exact, by other
questions.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from softlookup.arrays import Array, BoolArray

HIDDEN, UNKNOWN, NAN, ZERO, FIRST, LAST = 0, 1, 2, 3, 4, 255
LOW, HIGH = -32, 0  # log2 of the weights that FIRST and LAST stand for

MEANING: Mapping[str, int] = MappingProxyType(
    {
        "hidden": HIDDEN,
        "unknown": UNKNOWN,
        "nan": NAN,
        "zero": ZERO,
        "first": FIRST,
        "last": LAST,
        "low": LOW,
        "high": HIGH,
    }
)


def encode(
    weights: Array, seen: BoolArray | None = None, known: BoolArray | None = None
) -> NDArray[np.uint8]:
    """Return the code of each weight.

    Parameters
    ----------
    weights : ndarray of float
        From 0 to 1, NaN allowed; what rounding leaves above 1 counts as 1.
    seen, known : ndarray of bool, optional
        False where hidden, and where not computed yet; all True where left out.

    Returns
    -------
    ndarray of uint8, of the same shape
        ``LOW + (code - FIRST) / (LAST - FIRST) * (HIGH - LOW)`` is log2 of the weight, within half
        a step; `ZERO` is 0, or below ``2**LOW``.

    Examples
    --------
    >>> encode(np.array([1.0, 0.5, 2.0**-32, 0.0, np.nan]))
    array([255, 247,   4,   3,   2], dtype=uint8)
    >>> encode(np.zeros(2), seen=np.array([False, True]), known=np.array([True, False]))
    array([0, 1], dtype=uint8)
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 and NaN have codes of their own
        steps = (np.log2(weights) - LOW) * ((LAST - FIRST) / (HIGH - LOW))
    small = ~(steps >= 0)
    steps[small] = 0
    codes = (np.minimum(np.rint(steps), LAST - FIRST) + FIRST).astype(np.uint8)
    codes[small] = ZERO
    codes[np.isnan(weights)] = NAN
    if seen is not None:
        codes[~seen] = HIDDEN
    if known is not None:
        codes[~known] = UNKNOWN
    return codes
