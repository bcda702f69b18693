"""How vectors and sums are written in the questions."""

from collections.abc import Sequence
from fractions import Fraction

from softlookup.lesson.intervals import plain


def vector(numbers: Sequence[Fraction]) -> str:
    """Write exact numbers as a row: [1, -0.5]."""
    return "[" + ", ".join(plain(number) for number in numbers) + "]"


def matrix_text(rows: Sequence[Sequence[Fraction]]) -> str:
    """Write rows of exact numbers as a matrix: [[1, 0], [0, 1]]."""
    return "[" + ", ".join(vector(row) for row in rows) + "]"


def factor(text: str) -> str:
    """Put a negative number in brackets, so that it can follow a sign."""
    return f"({text})" if text.startswith("-") else text


def sum_of_products(left: Sequence[str], right: Sequence[str]) -> str:
    """Write a dot product term by term: 2·1 + (-1)·0."""
    return " + ".join(f"{factor(a)}·{factor(b)}" for a, b in zip(left, right, strict=True))


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the exact dot product."""
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
