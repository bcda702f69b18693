"""How numbers are written where a person reads them; the exact ones stay underneath."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

MOST_IN_VECTOR = 4  # numbers that are all written; of more, the first two
_LEAST_IN_ROW = 1e-5  # that still gets its two digits: six decimals, and no more, can be read


def fixed(number: Any, decimals: int = 3) -> str:
    """Write `number` with three decimals; very small and very large ones with an exponent.

    Examples
    --------
    >>> fixed(0.40111), fixed(0.0), fixed(1.2e-05), fixed(-np.inf)
    ('0.401', '0.000', '1.2e-05', '-inf')
    """
    value = float(number)
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "inf" if value > 0 else "-inf"
    if 0 < abs(value) < 0.5 * 10**-decimals:
        return f"{value:.1e}"
    if abs(value) >= 1e9:
        return f"{value:.3e}"
    return f"{value + 0.0:.{decimals}f}"  # + 0.0: no minus before a zero


def alike(numbers: Iterable[Any]) -> Callable[[Any], str]:
    """Return how the numbers of one row are written: with as many decimals each.

    Three, or as many as the smallest needs for two digits. Of those below 1e-5 there is only the
    order of magnitude to be seen: they have an exponent.

    Examples
    --------
    >>> write = alike([0.001, 0.0009, 4.1e-4, 1e-9])
    >>> [write(x) for x in (0.001, 0.0009, 4.1e-4, 1e-9)]
    ['0.00100', '0.00090', '0.00041', '1.0e-09']
    """
    sizes = [abs(float(number)) for number in numbers]
    least = min((size for size in sizes if _LEAST_IN_ROW <= size < np.inf), default=1.0)
    decimals = max(3, 1 - int(f"{least:.1e}".partition("e")[2]))
    return lambda number: fixed(number, decimals)


def evenly(numbers: Iterable[Any]) -> Callable[[Any], str]:
    """Return how given numbers of one row are written: bare where all are whole, else alike.

    Examples
    --------
    >>> [evenly([1, 2.5])(x) for x in (1, 2.5)], [evenly([1, 2])(x) for x in (1, 2)]
    (['1.000', '2.500'], ['1', '2'])
    """
    row = [float(number) for number in numbers]
    bare = all(np.isfinite(x) and abs(x) < 1e9 and x == int(x) for x in row)
    return short if bare else alike(row)


def short(number: Any) -> str:
    """Write a given number: whole ones bare, others with as many of three decimals as they need.

    Examples
    --------
    >>> short(1.0), short(-0.5), short(0.12345)
    ('1', '-0.5', '0.123')
    """
    value = float(number)
    if np.isfinite(value) and abs(value) < 1e9 and value == int(value):
        return str(int(value))
    text = fixed(value)
    return text if "e" in text or "n" in text.lower() else text.rstrip("0").rstrip(".")


def counted(number: int, what: str) -> str:
    """Write how many there are.

    Examples
    --------
    >>> counted(1, "head"), counted(9, "head"), counted(1000, "more row")
    ('1 head', '9 heads', '1,000 more rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def vector(numbers: Iterable[Any], write: Any = short) -> str:
    """Write a vector in brackets; a long one by its first numbers and its length.

    Examples
    --------
    >>> vector([1, 0])
    '[1, 0]'
    >>> vector(range(64))
    '[0, 1, ... 64 numbers]'
    """
    parts = list(numbers)
    if len(parts) <= MOST_IN_VECTOR:
        return "[" + ", ".join(write(part) for part in parts) + "]"
    first = ", ".join(write(part) for part in parts[:2])
    return f"[{first}, ... {len(parts)} numbers]"


def brief(numbers: Iterable[Any], write: Any = short) -> str:
    """Write a vector for a narrow column: a long one by its first two numbers.

    Examples
    --------
    >>> brief([1, 0]), brief(range(64))
    ('[1, 0]', '[0, 1, …]')
    """
    parts = list(numbers)
    if len(parts) <= MOST_IN_VECTOR:
        return vector(parts, write)
    return f"[{write(parts[0])}, {write(parts[1])}, …]"


def product_terms(left: Sequence[Any], right: Sequence[Any]) -> str | None:
    """Write ``left . right`` term by term, or None where it is too long to read.

    Examples
    --------
    >>> product_terms([1, 0], [1, -2])
    '1·1 + 0·(-2)'
    """
    if not 0 < len(left) <= MOST_IN_VECTOR:
        return None
    return sum_of_products([short(a) for a in left], [short(b) for b in right])


def sum_of_products(left: Sequence[str], right: Sequence[str]) -> str:
    """Write a dot product of written numbers term by term.

    Examples
    --------
    >>> sum_of_products(["2", "-1"], ["1", "0"])
    '2·1 + (-1)·0'
    """
    return " + ".join(f"{factor(a)}·{factor(b)}" for a, b in zip(left, right, strict=True))


def factor(text: str) -> str:
    """Put a negative number in brackets, so that it can follow a sign."""
    return f"({text})" if text.startswith("-") else text
