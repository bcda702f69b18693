"""How a token's text is shown: every character visible, nothing that can reorder or hide text.

A token comes from a tokenizer or a file and is untrusted. ``readable`` is for every place where a
person reads it; the text itself is kept as it came.
"""

import difflib
import re
from collections.abc import Iterable, Sequence

from softlookup.errors import DtypeError, ShapeError

# Controls, lone surrogates, every space but the plain one, zero-width, filling and bidirectional
# marks, variation selectors, tag characters, line separators, BOM.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc"
    "\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NAMED = {"\n": "⏎", "\t": "⇥"}
_LONGEST = 40  # characters of one text where several are listed
_LONGEST_POSITION = 20  # digits of a position; longer ones lie beyond every axis


def readable(token: str) -> str:
    r"""Show `token` with its invisible characters spelt out.

    Examples
    --------
    >>> readable("a\nb\u200b")
    'a⏎b⟨200b⟩'
    >>> readable(""), readable(" "), readable("   ")
    ('⟨empty⟩', '⟨space⟩', '⟨3 spaces⟩')
    """
    if not token:
        return "⟨empty⟩"
    if not token.strip(" "):
        return "⟨space⟩" if len(token) == 1 else f"⟨{len(token)} spaces⟩"
    return _UNSEEN.sub(lambda found: _NAMED.get(found[0], f"⟨{ord(found[0]):04x}⟩"), token)


def listed(token: str, longest: int = _LONGEST) -> str:
    """Show `token` readably in at most `longest` characters, for a list, a table or a sentence.

    Examples
    --------
    >>> listed("bank"), listed("unbelievable", longest=6)
    ('bank', 'unbel…')
    """
    text = readable(token)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def check_tokens(
    tokens: Iterable[str] | None, length: int, argument: str, axis: str
) -> tuple[str, ...]:
    """Return `tokens` as a tuple of `length` texts; positions 0, 1, 2, ... where there are none.

    Raises
    ------
    DtypeError
        Where `tokens` is one string, no list, or holds something that is not text.
    ShapeError
        Where their number is not `length`, the size of `axis`.
    """
    if tokens is None:
        return tuple(str(position) for position in range(length))
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        came = "one string" if isinstance(tokens, str) else type(tokens).__name__
        raise DtypeError(
            argument,
            f"must be a list of texts, one for each of {axis} {length}; got {came}. Pass a list.",
        )
    texts = tuple(tokens)
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise DtypeError(
                argument,
                f"must hold texts; item {position} is a {type(text).__name__}. Pass str(token).",
            )
    if len(texts) != length:
        raise ShapeError(
            argument,
            f"must hold one text for each of {axis} {length}; got {len(texts)}. "
            "Leave it out to show positions.",
        )
    return texts


def label_axes(
    tokens: Iterable[str] | None, key_tokens: Iterable[str] | None, q_len: int, kv_len: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the texts of the queries and of the keys, checked.

    Keys that have none of their own share the queries' where there are as many, else they are
    named by position.
    """
    names, key_names = given_axes(tokens, key_tokens, q_len, kv_len)
    return (
        check_tokens(None, q_len, "tokens", "q_len") if names is None else names,
        check_tokens(None, kv_len, "key_tokens", "kv_len") if key_names is None else key_names,
    )


def given_axes(
    tokens: Iterable[str] | None, key_tokens: Iterable[str] | None, q_len: int, kv_len: int
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return them as `label_axes`, but None instead of positions: of many, few may be shown."""
    names = None if tokens is None else check_tokens(tokens, q_len, "tokens", "q_len")
    if key_tokens is None:
        return names, names if q_len == kv_len else None
    return names, check_tokens(key_tokens, kv_len, "key_tokens", "kv_len")


def find_token(tokens: Sequence[str], wanted: str) -> int:
    """Return the position of the token shown as `wanted`, or at ``@POSITION`` (0-based).

    Raises
    ------
    ShapeError
        Where there is none, or where several are shown alike; the message names what there is.
    """
    if wanted.startswith("@") and wanted[1:].lstrip("-").isdecimal():
        position = int(wanted[1:]) if len(wanted) < _LONGEST_POSITION else -1
        if 0 <= position < len(tokens):
            return position
        raise ShapeError(
            "query",
            f"{wanted[:_LONGEST]} must be a position 0 ... {len(tokens) - 1}. Positions count "
            "from 0.",
        )
    alike = (
        [i for i, text in enumerate(tokens) if wanted in (text, readable(text))]
        or [i for i, text in enumerate(tokens) if wanted.strip() == text.strip() != ""]
    )  # fmt: skip
    if len(alike) == 1:
        return alike[0]
    if alike:
        places = ", ".join(f"@{position}" for position in alike[:8])
        raise ShapeError(
            "query",
            f"{listed(wanted)!r} must be one token; {len(alike)} are shown like that. "
            f"Choose a position: {places}.",
        )
    raise ShapeError(
        "query", f"there is no token {listed(wanted)!r}; {_what_there_is(tokens, wanted)}"
    )


def _what_there_is(tokens: Sequence[str], wanted: str) -> str:
    """Name the nearest token where one is near, else the first ones."""
    near = difflib.get_close_matches(wanted.strip(), {text.strip(): None for text in tokens}, n=1)
    if near:
        return f"did you mean {listed(near[0])!r}? Or choose @POSITION."
    names = ", ".join(listed(text.strip(" ") or text) for text in tokens[:8])
    more = f", and {len(tokens) - 8} more" if len(tokens) > 8 else ""
    return f"the tokens are {names}{more}. Choose one of them, or @POSITION."
