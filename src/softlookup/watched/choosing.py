"""Choosing a row, a key or a batch entry: by a number or by a text; every refusal of one."""

from collections.abc import Callable
from typing import Any

from softlookup.arrays import IntArray
from softlookup.captures.fitting import whole
from softlookup.errors import OptionError, ShapeError
from softlookup.tokens import find_token, listed

Texts = Callable[[int], "tuple[str, ...] | None"]


def check_batch(batch: Any, entries: int) -> int:
    """Return which batch entry is meant.

    Raises
    ------
    OptionError, DtypeError
        Where it is not there, or no whole number.
    """
    wanted = whole(batch, "batch", "a whole number, which batch entry")
    if not 0 <= wanted < entries:
        raise OptionError(
            "batch", f"must {within(0, entries - 1)}; got {wanted}. It counts from 0."
        )
    return wanted


def one_of(**given: Any) -> tuple[str, Any]:
    """Return the name and the value of the one argument that was given.

    Raises
    ------
    OptionError
        Where none was, or both.
    """
    there = [(name, value) for name, value in given.items() if value is not None]
    if len(there) != 1:
        first, other = given
        raise OptionError(
            first, f"must be given, or {other}= instead; got {'both' if there else 'neither'}. "
            "Write one of them."
        )  # fmt: skip
    return there[0]


def position_of(
    token: Any, positions: IntArray, texts: Texts, *, batch: int, entries: int, argument: str
) -> int:
    """Return the token position that is meant; whether it is there is not said.

    Parameters
    ----------
    token : int or str
        A position, negative from the end; ``"@POSITION"``; or a text that one token has.
    positions : ndarray of int
        Where the texts stand.
    texts : callable
        Gives the texts of a batch entry, None where none is known.
    batch, entries : int
        Whose texts are meant, and how many there are.
    argument : str
        What the caller calls it.

    Raises
    ------
    OptionError, ShapeError, DtypeError
        Where no text is known, none is shown so, or several are.
    """
    if not isinstance(token, str):
        wanted = whole(token, argument, "a token position, or a token's text")
        return wanted if wanted >= 0 else int(positions.max(initial=-1)) + 1 + wanted
    if token.startswith("@") and token[1:].isdecimal():
        return int(token[1:])
    known = texts(batch)
    if known is None:
        raise OptionError(
            argument, f"must be a number where no texts are known; got {listed(token)!r}. Pass "
            "tokenizer= to watch."
        )  # fmt: skip
    try:
        return int(positions[find_token(known, token)])
    except ShapeError as error:
        others = [str(b) for b in range(entries) if b != batch and _has(texts(b), token)]
        hint = f" Batch entry {others[0]} has it: batch={others[0]}." if others else ""
        parts = _parts(known, token)
        if parts is not None:
            first, last = (int(positions[at]) for at in parts)
            hint += f" It is the tokens @{first} ... @{last} together."
        raise ShapeError(argument, f"{error.message}{hint}") from None


def _has(texts: tuple[str, ...] | None, token: str) -> bool:
    return texts is not None and any(text.strip() == token.strip() for text in texts)


def _parts(texts: tuple[str, ...], word: str) -> tuple[int, int] | None:
    """Return the first and the last of several tokens that make up a word; None where none do.

    Examples
    --------
    >>> _parts(("The", " clock", "maker"), "clockmaker"), _parts(("un", "##do"), "undo")
    ((1, 2), (0, 1))
    """
    wanted = word.strip()
    for first in range(len(texts)):
        joined = ""
        for last in range(first, len(texts)):
            joined = (joined + texts[last].removeprefix("##" if joined else "")).lstrip()
            if not joined or not wanted.startswith(joined):
                break
            if joined == wanted:
                return (first, last) if last > first else None
    return None


def within(low: int, high: int) -> str:
    """Write between which numbers one must lie.

    Examples
    --------
    >>> within(0, 3), within(0, 0)
    ('lie in 0 ... 3', 'be 0, the only one')
    """
    return f"be {low}, the only one" if low == high else f"lie in {low} ... {high}"


def span(positions: IntArray) -> str:
    """Write the first and the last position.

    Examples
    --------
    >>> import numpy as np
    >>> span(np.arange(3, 6)), span(np.arange(2, 3)), span(np.arange(0))
    ('3 ... 5', '2', 'none')
    """
    if not len(positions):
        return "none"
    low, high = int(positions.min()), int(positions.max())
    return str(low) if low == high else f"{low} ... {high}"
