"""Write to any terminal: what its encoding lacks is spelt in ASCII, never an error."""

import codecs
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
_ROOT = re.compile(r"√(\w+)")  # the sign has no brackets, its spelling needs them


def spell(text: str) -> str:
    r"""Write `text` in ASCII.

    Examples
    --------
    >>> spell("1·0 ÷ √2 → é")
    '1*0 / sqrt(2) -> \\xe9'
    """
    text = _ROOT.sub(r"√(\1)", text)
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


def writer(stream: TextIO | None) -> Callable[[str], str]:
    """Return what spells a text as `stream` will show it, so that it can be measured before."""
    encoding = getattr(stream, "encoding", None)
    if encoding is None or getattr(stream, "errors", None) != _HANDLER:
        return str
    return lambda text: text.encode(encoding, _HANDLER).decode(encoding)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[..., None]]:
    """Show how much is done while it is; what is given takes the number done, and of how many."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, of=total: bar.update(task, completed=done, total=of)


def _spell_error(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    end = error.end
    if root := _ROOT.match(error.object, end - 1):  # √ is the last sign that is lacking
        end = root.end()
    return spell(error.object[error.start : end]), end
