"""Intervals of exact fractions: what a rounded number may have been.

A number shown as 1.414 stands for anything from 1.4135 to 1.4145. Carrying both ends through a sum,
a product or a quotient says which answers an honest calculation by hand can reach. Fractions are
exact and the same on every machine; `exp` and `sqrt` come from `decimal`, correctly rounded to 30
digits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context
from fractions import Fraction
from functools import lru_cache

_DIGITS = 30


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`, both included."""

    low: Fraction
    high: Fraction

    def __contains__(self, value: Fraction) -> bool:
        return self.low <= value <= self.high

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, other: "Interval") -> "Interval":
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: "Interval") -> "Interval":
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("the divisor may be zero")
        return self * Interval(1 / other.high, 1 / other.low)

    def widened(self, margin: Fraction) -> "Interval":
        """Return the interval with `margin` more on either side."""
        return Interval(self.low - margin, self.high + margin)

    def joined(self, other: "Interval") -> "Interval":
        """Return the smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def overlaps(self, other: "Interval") -> bool:
        """Say whether some number lies in both."""
        return self.low <= other.high and other.low <= self.high


def point(value: Fraction | int) -> Interval:
    """Return the interval of a number known exactly."""
    return Interval(Fraction(value), Fraction(value))


def total(intervals: Iterable[Interval]) -> Interval:
    """Add up intervals; the empty sum is exactly 0."""
    return sum(intervals, point(0))


def half_unit(digits: int) -> Fraction:
    """Return half a unit of the last of `digits` decimals: 1/2000 for three."""
    return Fraction(1, 2 * 10**digits)


def rounded(value: Fraction, digits: int) -> Fraction:
    """Round to `digits` decimals, ties to even."""
    return Fraction(round(value * 10**digits), 10**digits)


def shown(value: Fraction, digits: int = 3) -> str:
    """Write `value` with exactly `digits` decimals; zero has no sign.

    Examples
    --------
    >>> shown(Fraction(2, 3)), shown(Fraction(-1, 9000))
    ('0.667', '0.000')
    """
    units = round(value * 10**digits)
    whole, rest = divmod(abs(units), 10**digits)
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"


def plain(value: Fraction) -> str:
    """Write an exact short decimal with no more digits than it has: 2, -1, 0.5.

    Examples
    --------
    >>> plain(Fraction(3)), plain(Fraction(-1, 2))
    ('3', '-0.5')
    """
    digits = 0
    while rounded(value, digits) != value:
        digits += 1
    return shown(value, digits)


@lru_cache(maxsize=256)
def exp(value: Fraction) -> Fraction:
    """Return e to the power of a short fraction, to 30 digits."""
    context = Context(prec=_DIGITS)
    return Fraction(context.divide(value.numerator, value.denominator).exp(context))


@lru_cache(maxsize=64)
def sqrt(value: int) -> Fraction:
    """Return the square root of a whole number, to 30 digits."""
    context = Context(prec=_DIGITS)
    return Fraction(context.sqrt(value))
