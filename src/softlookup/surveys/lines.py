"""Lines: what one line of a corpus asks for, or why it is skipped. Nothing here raises."""

import json
from itertools import starmap
from typing import Any, NamedTuple

from softlookup.surveys.corpus import LONGEST, Line
from softlookup.tokens import listed

MOST_GROUPS = 256
_KINDS = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
    float: "a number", type(None): "null",
}  # fmt: skip


class Span(NamedTuple):
    """Characters start ... stop - 1 of a text, whose tokens have this label."""

    start: int
    stop: int
    label: int


class Prompt(NamedTuple):
    """What a line asks for.

    Attributes
    ----------
    text : str
    id : str or None
        What the line calls itself.
    labels : list of int, or list of Span, or None
        One a token, or for spans of characters.
    """

    text: str
    id: str | None
    labels: list[int] | list[Span] | None


def read_line(line: Line, field: str) -> Prompt | str:
    """Return what a line asks for, or in a sentence why it is skipped.

    Examples
    --------
    >>> read_line(Line(1, b'{"text": "The bank.", "id": 7}'), "text")
    Prompt(text='The bank.', id='7', labels=None)
    >>> read_line(Line(2, b'{"test": "The bank."}'), "text")
    "must have a field 'text'; it has 'test'"
    """
    if line.content is None:
        return f"must have at most {LONGEST:,} bytes; it has more"
    found = _object_of(line.content)
    if isinstance(found, str):
        return found
    if field not in found:
        names = ", ".join(repr(listed(name)) for name in list(found)[:4]) or "nothing"
        return f"must have a field {listed(field)!r}; it has {names}"
    text = found[field]
    if not isinstance(text, str):
        return f"{listed(field)!r} must be a text; it is {_kind(text)}"
    if not text.strip():
        return f"{listed(field)!r} must hold a few words; it is empty"
    if _broken(text):
        return f"{listed(field)!r} must be whole characters; it has half of a surrogate pair"
    name, labels = found.get("id"), found.get("groups")
    if isinstance(name, bool) or not isinstance(name, str | int | None):
        kind = "no whole one" if isinstance(name, float) else _kind(name)
        return f"'id' must be a text or a whole number; it is {kind}"
    if isinstance(name, str) and _broken(name):
        return "'id' must be whole characters; it has half of a surrogate pair"
    known = None if labels is None else _labels(labels, len(text))
    if isinstance(known, str):
        return known
    return Prompt(text, None if name is None else str(name), known)


def _object_of(content: bytes) -> dict[str, Any] | str:
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return f"must be UTF-8; byte {error.start} is not"
    except json.JSONDecodeError as error:
        if not content.strip():
            return "must be JSON; it is empty"
        return f"must be JSON; it is not, at character {error.pos}"
    except (ValueError, RecursionError):  # a number of thousands of digits; brackets in brackets
        return "must be plain JSON; it holds what nobody can read"
    return found if isinstance(found, dict) else f"must be an object; it is {_kind(found)}"


def _labels(given: Any, length: int) -> list[int] | list[Span] | str:
    """Return labels, one a token or one a span."""
    if not isinstance(given, list) or not given:
        return "'groups' must be a list of labels, or of [start, stop, label]; it is neither"
    if all(map(_is_label, given)):
        return given
    if not all(isinstance(one, list) and len(one) == 3 and all(map(_is_whole, one))
               for one in given):  # fmt: skip
        return (
            f"'groups' must be labels below {MOST_GROUPS}, or [start, stop, label]; it holds others"
        )
    spans = list(starmap(Span, given))
    for span in spans:
        if not (0 <= span.start < span.stop <= length and 0 <= span.label < MOST_GROUPS):
            return (
                f"'groups' must lie within the text's {length:,} characters, labels below "
                f"{MOST_GROUPS}; {list(span)} does not"
            )
    return spans


def _is_whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _is_label(given: Any) -> bool:
    return _is_whole(given) and -1 <= given < MOST_GROUPS


def _broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _kind(given: Any) -> str:
    return _KINDS[type(given)]
