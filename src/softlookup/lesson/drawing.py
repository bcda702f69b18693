"""Fresh numbers from a seed, the same on every machine and Python version.

Python promises the sequence of ``random.Random.random`` and nothing else of that module, so the
choices built on it are written out here.
"""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")
_TRIES = 20_000


def generator(skill: str, seed: int) -> random.Random:
    """Return the generator of one exercise; skills draw from unrelated sequences."""
    return random.Random(f"softlookup {skill} {seed}")  # noqa: S311 - exercises, not secrets


def choose(source: random.Random, options: Sequence[T]) -> T:
    """Return one of `options`, each as likely as the next."""
    return options[int(source.random() * len(options))]


def first(attempt: Callable[[], T | None]) -> T:
    """Return the first result of `attempt` that is not None; a few hundred tries are usual."""
    for _ in range(_TRIES):
        if (made := attempt()) is not None:
            return made
    raise RuntimeError(f"no clear question in {_TRIES:,} tries: two slips always agree")


def shuffle(source: random.Random, items: Sequence[T]) -> list[T]:
    """Return `items` in a drawn order (Fisher and Yates)."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = int(source.random() * (last + 1))
        order[last], order[other] = order[other], order[last]
    return order


def matrix(
    source: random.Random, rows: int, columns: int, options: Sequence[Fraction]
) -> list[list[Fraction]]:
    """Return `rows` lists of `columns` numbers chosen among `options`."""
    return [[choose(source, options) for _ in range(columns)] for _ in range(rows)]
