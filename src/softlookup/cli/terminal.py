"""Write to any terminal: what its encoding lacks is spelt in ASCII, never an error."""

import codecs
import io
import math
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from softlookup.numerals import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task

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
_UNKNOWN = "-:--:--"  # how long the rest takes
_TOGETHER = 1.25  # times as late as the first step: what comes until then began with it
_FIRST, _EVERY = 10, 60  # seconds to the first line of a log, and from one to the next
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
def progress_bar(what: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Show how much is done, and how long the rest may take: a bar, or a line of a log at times.

    What is given takes the number done, and of how many. What it hears first was there before.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(file=sys.stderr, stderr=True)
    watched = console.is_terminal and not console.is_dumb_terminal
    left = TextColumn("{task.fields[left]}", style="progress.remaining")
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), left
    bar, pace = Progress(*columns, console=console, transient=True), _Pace()
    task = bar.add_task(f"{what}s", total=None, what=what, left=_UNKNOWN)

    def advance(done: int, of: int | None = total) -> None:
        rest = None if of is None else pace.step(bar.get_time(), done, of)
        known = _UNKNOWN if rest is None else str(timedelta(seconds=rest))
        bar.update(task, completed=done, total=of, left=known)

    if total is not None:
        advance(0)
    with bar if watched else _logged(console, bar.tasks[0]):
        yield advance


class _Pace:
    """How long the rest may take, by the speed since the first step.

    Before that step processes start and models load, which no later step does; and the first steps
    of several workers come together. So the speed is that after these, and nothing is guessed
    before as much time again has gone by as the first one took.
    """

    def __init__(self) -> None:
        self._began: float | None = None
        self._first: float | None = None
        self._from = (0.0, 0)  # when, and how many were done then

    def step(self, now: float, done: int, of: int) -> int | None:
        """Return how many seconds the rest may take, None where nobody knows yet."""
        if self._began is None:
            self._began, self._from = now, (now, done)
        since, (when, before) = now - self._began, self._from
        if done == of:
            return 0
        if done == before:
            return None
        if self._first is None:
            self._first = since
        if since <= _TOGETHER * self._first:
            self._from = now, done
        if since < 2 * self._first or self._from[1] == done:
            return None
        return math.ceil((of - done) * (now - when) / (done - before))


@contextmanager
def _logged(console: "Console", task: "Task") -> Iterator[None]:
    """Say now and then how far a task is, in a thread: a step may take longer."""
    ended = threading.Event()

    def say() -> None:
        pause = _FIRST
        while not ended.wait(pause):
            pause = _EVERY
            if task.total is not None:
                with suppress(OSError, ValueError):  # nobody reads it: rich would end stdout, too
                    print(_how_far(task), file=console.file, flush=True)

    thread = threading.Thread(target=say, name="softlookup-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _how_far(task: "Task") -> str:
    total = int(task.total or 0)
    told = f"{task.completed:,} of {counted(total, task.fields['what'])}"
    known = task.completed != total and task.fields["left"] != _UNKNOWN
    return f"{told}, about {task.fields['left']} left" if known else told


def _spell_error(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    end = error.end
    if root := _ROOT.match(error.object, end - 1):  # √ is the last sign that is lacking
        end = root.end()
    return spell(error.object[error.start : end]), end
