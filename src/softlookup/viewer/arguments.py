"""Read the arguments of a view's request: texts from outside, each checked by a sentence."""

import json
import re
from collections.abc import Mapping, Sequence

from softlookup.errors import ViewError

_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
LONGEST_ANSWER = 2_000  # characters

Arguments = Mapping[str, str]


def check_names(args: Arguments, known: Sequence[str], op: str) -> None:
    """Refuse arguments that `op` does not have."""
    for name in args:
        if name not in known:
            has = f"It has {', '.join(known)}." if known else "It has none."
            raise ViewError(op, f"has no argument {name[:40]!r}. {has}")


def whole(args: Arguments, name: str, count: int, *, default: int | None, low: int = 0) -> int:
    """Return the whole number `name`, within `low` ... `count` - 1."""
    given = args.get(name)
    if given is None and default is not None:
        given = str(default)
    if given is None:
        raise ViewError(name, f"must be given, a whole number {_range(low, count)}.")
    return _inside(given, name, low, count)


def wholes(args: Arguments, name: str, count: int, most: int) -> list[int]:
    """Return the list `name`, at most `most` whole numbers with commas, each below `count`."""
    given = args.get(name)
    if not given:
        raise ViewError(name, "must be given, whole numbers with commas between, e.g. 0,1,2.")
    parts = given.split(",", most)
    if len(parts) > most:
        raise ViewError(name, f"must hold at most {most} numbers; got more. Ask in parts.")
    return [_inside(part, name, 0, count) for part in parts]


def span(args: Arguments, name: str, count: int) -> range:
    """Return the span `name`, written ``start:stop`` within 0 ... `count`; all where left out."""
    given = args.get(name)
    if given is None:
        return range(count)
    ends = given.split(":", 2)
    if len(ends) == 2 and all(_WHOLE.fullmatch(end) for end in ends):
        start, stop = (int(end) for end in ends)
        if 0 <= start < stop <= count:
            return range(start, stop)
    raise ViewError(
        name, f"must be start:stop within 0:{count}, at least one wide; got {given[:40]!r}."
    )


def word(args: Arguments, name: str, choices: Sequence[str], default: str = "") -> str:
    """Return the word `name`, one of `choices`."""
    given = args.get(name, default)
    if given not in choices:
        found = repr(given[:40]) if given else "nothing"
        raise ViewError(name, f"must be one of {', '.join(choices)}; got {found}.")
    return given


def answer(args: Arguments, name: str) -> list[str] | str:
    """Return an exercise's answer: texts from a JSON list, or the id of a choice."""
    given = args.get(name, "")
    if len(given) > LONGEST_ANSWER:
        raise ViewError(name, f"must be at most {LONGEST_ANSWER} characters; got {len(given)}.")
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        found = given if _WORD.fullmatch(given) else None
    if isinstance(found, str) or (
        isinstance(found, list) and all(isinstance(text, str) for text in found)
    ):
        return found
    raise ViewError(name, 'must be a JSON list of texts, e.g. ["0.401"], or the id of a choice.')


def _inside(given: str, name: str, low: int, count: int) -> int:
    if _WHOLE.fullmatch(given) is None or not low <= int(given) < count:
        raise ViewError(name, f"must be a whole number {_range(low, count)}; got {given[:40]!r}.")
    return int(given)


def _range(low: int, count: int) -> str:
    return f"{low} ... {count - 1}" if count > low else "(there is none to choose)"
