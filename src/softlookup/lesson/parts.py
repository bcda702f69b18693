"""What the lesson is made of: sections of paragraphs and tables, and the skills to tick off."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from softlookup.numerals import fixed, vector


@dataclass(frozen=True)
class Table:
    """A table whose cells are texts, written from computed numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and texts, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Section:
    """A part of the lesson."""

    id: str
    title: str
    paragraphs: tuple[str, ...]
    tables: tuple[Table, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and texts, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Box:
    """One line of the checklist; it ticks itself when the exercise of its skill is solved."""

    skill: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain texts, ready for JSON."""
        return asdict(self)


def number(value: float, digits: int = 3) -> str:
    """Write a computed number with `digits` decimals; nothing is "-0.000", infinity is "inf".

    Examples
    --------
    >>> number(2 / 3), number(-0.0), number(1234.5, 1), number(np.inf)
    ('0.667', '0.000', '1,234.5', 'inf')
    """
    if not np.isfinite(value):
        return fixed(value)
    return f"{round(float(value), digits) + 0.0:,.{digits}f}"


def numbers(values: Sequence[float] | np.ndarray[Any, Any], digits: int = 3) -> tuple[str, ...]:
    """Write each of `values`."""
    return tuple(number(float(value), digits) for value in values)


def row(values: Sequence[float] | np.ndarray[Any, Any], digits: int = 3) -> str:
    """Write a vector: [0.802, 0.599]."""
    return vector(values, lambda value: number(value, digits))
