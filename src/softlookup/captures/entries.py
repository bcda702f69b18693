"""What an entry of a JSON text may be: each check returns it, or says in a ValueError where."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

LARGEST = 2**62


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose names stand once; for `json.loads`."""
    found: dict[str, Any] = {}
    for name, given in pairs:
        if name in found:
            raise ValueError(f"it holds {name[:40]!r} twice. Keep one of them.")
        found[name] = given
    return found


def need(entry: Mapping[str, Any], name: str, place: str) -> Any:
    """Return what stands under `name`."""
    if name not in entry:
        raise ValueError(f"{place} must hold {name!r}; it is not there.")
    return entry[name]


def known(entry: dict[str, Any], names: tuple[str, ...], place: str) -> None:
    """Refuse names that have no meaning."""
    for name in entry:
        if name not in names:
            raise ValueError(f"{place} holds {name[:40]!r}, which has no meaning here.")


def _kind(given: Any) -> str:
    if isinstance(given, dict | list):
        return "an object" if isinstance(given, dict) else "a list"
    return json.dumps(given)[:40]


def as_object(given: Any, place: str) -> dict[str, Any]:
    """Return an object."""
    if not isinstance(given, dict):
        raise ValueError(f"{place} must be an object; it is {_kind(given)}.")
    return given


def as_list(given: Any, place: str) -> list[Any]:
    """Return a list."""
    if not isinstance(given, list):
        raise ValueError(f"{place} must be a list; it is {_kind(given)}.")
    return given


def each(take: Callable[[Any, str], Any], given: Any, place: str) -> tuple[Any, ...]:
    """Return a list, each item taken by `take`."""
    return tuple(take(one, f"{place}[{i}]") for i, one in enumerate(as_list(given, place)))


def text(given: Any, place: str) -> str:
    """Return a text."""
    if not isinstance(given, str):
        raise ValueError(f"{place} must be a text; it is {_kind(given)}.")
    return given


def integer(given: Any, place: str) -> int:
    """Return a whole number within int64."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise ValueError(f"{place} must be a whole number; it is {_kind(given)}.")
    if abs(given) > LARGEST:
        raise ValueError(f"{place} must lie within -2**62 ... 2**62; it is {_kind(given)}.")
    return given


def number(given: Any, place: str) -> float:
    """Return a float64 number."""
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise ValueError(f"{place} must be a number; it is {_kind(given)}.")
    try:
        return float(given)
    except OverflowError as error:
        raise ValueError(f"{place} must be a float64 number; it is far larger.") from error


def truth(given: Any, place: str) -> bool:
    """Return true or false."""
    if not isinstance(given, bool):
        raise ValueError(f"{place} must be true or false; it is {_kind(given)}.")
    return given


def integers(given: Any, place: str) -> Any:
    """Return one whole number, or nested lists of them as an array."""
    if not isinstance(given, list):
        return integer(given, place)
    try:
        return np.array(_nested(given, place), np.int64)
    except ValueError as error:
        if str(error).startswith(place):
            raise
        raise ValueError(f"{place} must be lists of equal length, one within another.") from error


def _nested(given: list[Any], place: str) -> list[Any]:
    return [
        _nested(one, place) if isinstance(one, list) else integer(one, f"{place}[{i}]")
        for i, one in enumerate(given)
    ]


def window(given: Any, place: str) -> tuple[int | None, int | None]:
    """Return (left, right), None for an open side."""
    sides = as_list(given, place)
    if len(sides) != 2:
        raise ValueError(f"{place} must be [left, right]; it has {len(sides)} items.")
    left, right = (None if side is None else integer(side, place) for side in sides)
    return left, right


def span(given: Any, place: str) -> tuple[int, int]:
    """Return (start, stop)."""
    ends = each(integer, given, place)
    if len(ends) != 2:
        raise ValueError(f"{place} must be [start, stop]; it has {len(ends)} items.")
    start, stop = ends
    return start, stop
