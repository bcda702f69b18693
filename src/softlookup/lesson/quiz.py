"""The four exercises in the terminal: asked one at a time, each slip explained, progress kept."""

import contextlib
import importlib
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap

from rich.console import Console

from softlookup.errors import OptionError
from softlookup.lesson import progress
from softlookup.lesson.answers import read_number, read_row, split_numbers
from softlookup.lesson.exercises import LARGEST_SEED, SKILLS, check, exercise
from softlookup.lesson.printing import checklist_text
from softlookup.lesson.questions import Exercise, Verdict

Ask = Callable[[str], str]
_WIDTH = 100
_LEAVE = ("q", "quit", "exit")
_HELP = ("?", "h", "help", "hint")


class _SkippedError(Exception):
    """The learner goes on to the next skill."""


@dataclass
class _Sitting:
    """One run of the quiz: where it speaks, how it asks, and what is solved so far."""

    console: Console
    ask: Ask
    path: Path
    solved: list[str]
    seed: int
    unsaved: bool = field(default=False)

    def say(self, text: str, *, indent: str = "", style: str | None = None) -> None:
        """Print a sentence, broken at spaces to the width of the console."""
        width = max(min(self.console.width, _WIDTH), 20)
        for line in wrap(text, width - len(indent), break_on_hyphens=False) or [""]:
            self.show(indent + line, style)

    def show(self, line: str, style: str | None = None) -> None:
        """Print a line as it is."""
        self.console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def run(
    console: Console | None = None,
    *,
    skill: str | None = None,
    seed: int | None = None,
    reset: bool = False,
    ask: Ask | None = None,
) -> int:
    """Ask the skills that are not solved yet, until they are or the learner leaves.

    An empty line or ``?`` shows the hint, an empty line after it skips to the next skill; ``q``,
    Ctrl-C and Ctrl-D leave. After a wrong answer the slip is named, the right step shown, and a
    fresh exercise asked.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to print; the terminal by default.
    skill : str, optional
        Practise this one skill, solved or not.
    seed : int, optional
        Of the first exercise; the next ones follow from it. Default: fresh numbers every time.
    reset : bool, default False
        Untick all boxes first.
    ask : callable, optional
        Takes a prompt and returns a line; `input` by default, with the editing of readline.

    Returns
    -------
    int
        The exit status, 0.

    Raises
    ------
    OptionError
        Where there is no such skill, or the seed is out of range.
    """
    first = secrets.randbelow(2**31) if seed is None else seed
    exercise(SKILLS[0] if skill is None else skill, first)  # refuses a wrong skill or seed at once
    path = progress.default_path()
    console = console or Console(highlight=False)
    known = progress.Progress() if reset else progress.load(path)
    sitting = _Sitting(console, ask or _line_input(), path, list(known.solved), first)
    if known.trouble:
        sitting.say(known.trouble)
    if reset:
        _save(sitting)
    wanted = [skill] if skill else [name for name in SKILLS if name not in sitting.solved]
    if not wanted:
        sitting.say(
            "All four boxes are ticked. --skill NAME practises one again, --reset starts over."
        )
    try:
        for name in wanted:
            _practise(sitting, name)
    except (KeyboardInterrupt, EOFError):
        sitting.say("")
        sitting.say("Until next time." if sitting.unsaved else "Until next time; progress is kept.")
    sitting.say("")
    for line in checklist_text(sitting.solved).splitlines():
        sitting.show(line)
    return 0


def _line_input() -> Ask:
    """Return `input`; at a terminal it edits lines and recalls them, where there is readline."""
    if sys.stdin is not None and sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            importlib.import_module("readline")
    return input


def _practise(sitting: _Sitting, skill: str) -> None:
    """Ask fresh exercises of one skill until one is solved or it is skipped."""
    try:
        while True:
            asked = exercise(skill, sitting.seed)
            sitting.seed = (sitting.seed + 1) % (LARGEST_SEED + 1)
            _show(sitting, asked)
            verdict = _judged(sitting, asked)
            _show_verdict(sitting, verdict)
            if verdict.correct:
                if skill not in sitting.solved:
                    sitting.solved.append(skill)
                    _save(sitting)
                return
            sitting.say("Here is a fresh one.")
    except _SkippedError:
        sitting.say("Skipped; it stays open.")


def _judged(sitting: _Sitting, asked: Exercise) -> Verdict:
    if asked.kind == "numbers":
        return check(asked.skill, asked.seed, _ask_numbers(sitting, asked))
    while True:
        line = _ask(sitting, asked, "your choice")
        try:
            return check(asked.skill, asked.seed, line)
        except OptionError as error:
            sitting.say(f"your choice {error.message}", indent="  ")


def _ask_numbers(sitting: _Sitting, asked: Exercise) -> list[str]:
    """Ask field by field; a row, whole or of what is needed, may also be typed at the first one."""
    answers: list[str] = []
    while len(answers) < len(asked.fields):
        field = asked.fields[len(answers)]
        line = _ask(sitting, asked, field.label)
        row = None if answers else read_row(line, [one.needed for one in asked.fields])
        try:
            for text, one in zip(row, asked.fields, strict=True) if row else [(line, field)]:
                if text or one.needed:
                    read_number(text, one.label)
        except OptionError as error:
            pieces = split_numbers(line, 0)
            several = not row and len(pieces) > 1 and all(map(_is_number, pieces))
            wanted = "one number" if answers else f"one number, or {_rows(asked)} in one row"
            trouble = f"{field.label} must be {wanted}; got {len(pieces)} numbers."
            sitting.say(trouble if several else error.message, indent="  ")
            continue
        answers += row or [line]
    return answers


def _rows(asked: Exercise) -> str:
    """Say how many numbers may be typed at once."""
    count, needed = len(asked.fields), sum(field.needed for field in asked.fields)
    return f"all {count}" + (f" or the last {needed}" if needed < count else "")


def _is_number(text: str) -> bool:
    try:
        read_number(text)
    except OptionError:
        return False
    return True


def _ask(sitting: _Sitting, asked: Exercise, label: str) -> str:
    hinted = False
    while True:
        line = sitting.ask(f"  {label}: ")
        word = line.strip().lower()
        if word in _LEAVE:
            raise EOFError  # as Ctrl-D does
        if word and word not in _HELP:
            return line
        if hinted and not word:
            raise _SkippedError
        sitting.say(f"Hint: {asked.hint} (An empty line now skips this skill.)", indent="  ")
        hinted = True


def _show(sitting: _Sitting, asked: Exercise) -> None:
    sitting.say("")
    sitting.say(f"{asked.number} of {asked.of} · {asked.skill}", style="bold")
    sitting.say(asked.question)
    size = max(len(given.label) for given in asked.given)
    for given in asked.given:
        first, *more = given.value.replace("], [", "],\n [").splitlines()  # a matrix row a line
        sitting.show(f"  {given.label.ljust(size)}   {first}")
        for line in more:
            sitting.show(f"  {' ' * size}   {line}")
    for choice in asked.choices or ():
        sitting.say(f"{choice.id}) {choice.text}", indent="  ")
    row = f"one number a line, or {_rows(asked)} in one row; " if len(asked.fields) > 1 else ""
    sitting.say(f"({row}an empty line or ? shows a hint; q or Ctrl-D leaves)", style="dim")


def _show_verdict(sitting: _Sitting, verdict: Verdict) -> None:
    sitting.say(verdict.verdict, style="bold")
    if verdict.explanation:
        sitting.say(verdict.explanation, indent="  ")
    for step in verdict.steps:
        sitting.say(step, indent="  ")


def _save(sitting: _Sitting) -> None:
    trouble = progress.save(sitting.path, sitting.solved)
    if trouble and not sitting.unsaved:
        sitting.say(trouble)
    sitting.unsaved = trouble is not None
