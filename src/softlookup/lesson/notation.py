"""How exact vectors are written in the questions; `softlookup.numerals` writes measured ones."""

from collections.abc import Sequence
from fractions import Fraction

from softlookup.lesson.intervals import plain


def vector(numbers: Sequence[Fraction]) -> str:
    """Write exact numbers as a row: [1, -0.5]."""
    return "[" + ", ".join(plain(number) for number in numbers) + "]"


def matrix_text(rows: Sequence[Sequence[Fraction]]) -> str:
    """Write rows of exact numbers as a matrix: [[1, 0], [0, 1]]."""
    return "[" + ", ".join(vector(row) for row in rows) + "]"


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the exact dot product."""
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
