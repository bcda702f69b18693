"""Which skills are solved, kept in a small file in the user's data folder.

Nothing here stops a lesson: a file that cannot be read or written becomes one sentence, and the
lesson goes on with what it knows.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from softlookup.errors import FileError
from softlookup.lesson.exercises import SKILLS
from softlookup.writing import write_whole

_VERSION = 1
_LARGEST_FILE = 100_000


@dataclass(frozen=True)
class Progress:
    """The solved skills in the lesson's order, and a sentence where the file gave trouble."""

    solved: tuple[str, ...] = ()
    trouble: str | None = None


def default_path() -> Path:
    """Return where progress is kept: ``progress.json`` in the user's data folder."""
    return platformdirs.user_data_path("softlookup") / "progress.json"


def load(path: Path) -> Progress:
    """Read the solved skills; a damaged file is put aside under another name."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        return Progress()
    except OSError as error:
        return Progress(
            trouble=f"Progress could not be read from {path} ({_reason(error)}); "
            "starting without it."
        )
    try:
        return Progress(_solved(text))
    except ValueError as error:
        return _put_aside(path, str(error))


def save(path: Path, solved: Collection[str]) -> str | None:
    """Write the solved skills in one step; return a sentence where that is not possible."""
    content = {"version": _VERSION, "solved": [skill for skill in SKILLS if skill in solved]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda fresh: fresh.write_text(json.dumps(content) + "\n", "utf-8"))
    except (OSError, FileError) as error:
        return (
            f"Progress could not be written to {path} ({_reason(error)}); it lasts until you leave."
        )
    return None


def _solved(text: bytes) -> tuple[str, ...]:
    if len(text) > _LARGEST_FILE:
        raise ValueError(f"it has more than {_LARGEST_FILE:,} bytes")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        raise ValueError(f"it is not of version {_VERSION}")
    if isinstance(solved := content.get("solved"), list):
        return tuple(skill for skill in SKILLS if skill in solved)
    raise ValueError('it has no list "solved"')


def _put_aside(path: Path, reason: str) -> Progress:
    aside = _free_name(path)
    try:
        path.rename(aside)
    except OSError as error:
        return Progress(
            trouble=f"Progress in {path} is damaged ({reason}) and could not be put aside "
            f"({_reason(error)}); starting without it."
        )
    return Progress(
        trouble=f"Progress in {path} is damaged ({reason}); it is kept as {aside.name}, "
        "and the lesson starts afresh."
    )


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")).exists():
        number += 1
    return aside


def _reason(error: BaseException) -> str:
    """Return what the system said; an error of ours has that as its cause."""
    told = error.__cause__ or error
    return getattr(told, "strerror", None) or type(told).__name__
