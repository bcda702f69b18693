"""What may be asked of a map: each check returns it in one form, or says what it must be."""

from typing import Any

import numpy as np

from softlookup.errors import DtypeError, OptionError
from softlookup.problem import Problem

POOLS = ("max", "share")


def check_one_head(problem: Problem) -> None:
    """Refuse a lookup of several heads, or of none."""
    if problem.batch * problem.heads != 1:
        raise OptionError(
            "map",
            f"must be of one head; this lookup has {problem.heads} heads and leading axes "
            f"{problem.batch_shape}. Take look.head(0).map(), which takes batch=, too.",
        )


def check_pools(pools: Any) -> tuple[str, ...]:
    """Return some of `POOLS`, in their order."""
    given = (pools,) if isinstance(pools, str) else pools
    if not isinstance(given, (tuple, list)) or not given or not set(given) <= set(POOLS):
        raise OptionError(
            "pools", f"must be some of {', '.join(POOLS)}; got {pools!r}. Default is both."
        )
    return tuple(pool for pool in POOLS if pool in given)


def check_integer(given: Any, argument: str, least: int, most: int | None = None) -> int:
    """Return `given`, an integer within the ends."""
    if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, np.integer)):
        raise DtypeError(argument, f"must be an integer; got {given!r}. Pass a plain number.")
    if given < least or (most is not None and given > most):
        there = f"at least {least:,}" if most is None else f"within {least:,} ... {most:,}"
        if most is not None and most < least:
            raise OptionError(argument, f"must lie on an axis with a length; got {given}.")
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
    """Write a time for a sentence."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:,.1f} seconds" if seconds < 10 else f"{seconds:,.0f} seconds"
