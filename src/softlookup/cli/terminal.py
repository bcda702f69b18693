"""Write to any terminal: what its encoding lacks is spelt in ASCII, never an error."""

import codecs
import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        "·": "*",
        "×": "x",
        "÷": "/",
        "−": "-",
        "√": "sqrt",
        "≈": "~",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "ᵀ": "^T",
        "Σ": "sum",
        "∞": "inf",
        "…": "...",
        "–": "-",
        "—": "-",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "⟨": "<",
        "⟩": ">",
        "⏎": "\\n",
        "⇥": "\\t",
        "─": "-",
        "│": "|",
        "✓": "+",
        "☐": "[ ]",
        "☑": "[x]",
    }
)
_HANDLER = "softlookup.spell"


def spell(text: str) -> str:
    r"""Write `text` in ASCII.

    Examples
    --------
    >>> spell("1·0 ÷ √2 → é")
    '1*0 / sqrt2 -> \\xe9'
    """
    return "".join(
        letter if letter.isascii()
        else SPELLINGS.get(letter) or letter.encode("ascii", "backslashreplace").decode("ascii")
        for letter in text
    )  # fmt: skip


def make_writable(*streams: TextIO | None) -> None:
    """Let each stream spell what its encoding lacks, instead of raising UnicodeEncodeError."""
    codecs.register_error(_HANDLER, _spell_error)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _spell_error(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return spell(error.object[error.start : error.end]), error.end
