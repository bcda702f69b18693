"""What may be asked of a map: each check returns it in one form, or says what it must be."""

from typing import Any

import numpy as np

from softlookup.errors import DtypeError, OptionError
from softlookup.problem import Problem

POOLS = ("max", "share")


def check_one_head(problem: Problem) -> None:
    """Refuse a lookup of several heads, or of none."""
    if problem.batch * problem.heads == 1:
        return
    there, take = f"{problem.heads} head{'' if problem.heads == 1 else 's'}", "look.head(0).map()"
    if problem.batch_shape:
        there += f" and leading axes {problem.batch_shape}"
        take = f"look.head(0, batch={(0,) * len(problem.batch_shape)}).map()"
    if not problem.batch * problem.heads:
        take = "a lookup that has one"
    raise OptionError("map", f"must be of one head; this lookup has {there}. Take {take}.")


def check_pools(pools: Any) -> tuple[str, ...]:
    """Return some of `POOLS`, in their order."""
    given = (pools,) if isinstance(pools, str) else pools
    if not isinstance(given, (tuple, list)) or not given or not set(given) <= set(POOLS):
        raise OptionError(
            "pools", f"must be some of {', '.join(POOLS)}; got {pools!r}. Default is both."
        )
    return tuple(pool for pool in POOLS if pool in given)


def check_integer(
    given: Any, argument: str, least: int, most: int | None = None, what: str = ""
) -> int:
    """Return `given`, an integer within the ends; `what` tells what they count."""
    if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, np.integer)):
        raise DtypeError(argument, f"must be an integer; got {given!r}. Pass a plain number.")
    if given < least or (most is not None and given > most):
        if most is not None and most < least:
            raise OptionError(argument, f"must lie on an axis with a length; got {given}.")
        if most is None:
            raise OptionError(argument, f"must be at least {least:,}; got {given:,}. Raise it.")
        there = f"within {least:,} ... {most:,}{what}"
        raise OptionError(argument, f"must be {there}; got {given:,}. Both ends count.")
    return int(given)


def check_seconds(given: Any) -> float:
    """Return `given`, a time to work for."""
    number = isinstance(given, (int, float, np.integer, np.floating))
    if isinstance(given, bool) or not number or not given >= 0:
        raise OptionError("seconds", f"must be a number from 0 on; got {given!r}. E.g. 0.2.")
    return float(given)


def check_span(given: Any, argument: str, length: int) -> slice:
    """Return `given`, neighbouring positions, as a slice with 0 <= start <= stop <= length."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.bool_)):
        one = check_integer(given, argument, 0, length - 1)
        return slice(one, one + 1)
    some = slice(None) if given is None else given
    if isinstance(some, range) and some.step == 1:
        some = slice(some.start, some.stop)
    if not isinstance(some, slice) or some.step not in (None, 1):
        raise DtypeError(
            argument,
            f"must be neighbouring positions; got {given!r}. E.g. {argument}=slice(0, 64).",
        )
    start, stop, _ = some.indices(length)
    return slice(start, max(start, stop))


def duration(seconds: float) -> str:
    """Write a time for a sentence.

    Examples
    --------
    >>> duration(0.02), duration(2.34), duration(90), duration(9000)
    ('under 0.1 seconds', 'about 2.3 seconds', 'about 90 seconds', 'about 2 hours')
    """
    if seconds < 0.05:
        return "under 0.1 seconds"
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"about {seconds / size:,.0f} {unit}"
    return f"about {seconds:,.1f} seconds" if seconds < 10 else f"about {seconds:,.0f} seconds"
