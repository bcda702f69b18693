"""Shelf: what a word or a path opens, and what else there is to look at."""

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from softlookup import lesson
from softlookup.captures import Capture, load, shipped
from softlookup.errors import FileError

Source = Literal["lesson", "file", "lookup"]
GIVEN = "given"  # the id of what a caller brought


@dataclass(frozen=True)
class Item:
    """One capture that can be opened.

    Parameters
    ----------
    id : str
        A word that stands for it.
    title : str
        A few words, for the button that opens it.
    source : {"lesson", "file", "lookup"}
        Where it comes from.
    load : callable
        Returns the capture.
    path : Path, optional
        The file that a caller named; what is worked out from it may be kept beside it.
    """

    id: str
    title: str
    source: Source
    load: Callable[[], Capture]
    path: Path | None = None


def ready() -> tuple[Item, ...]:
    """Return what comes with the package: the lesson, and the shipped captures."""
    return (
        Item("lesson", "the lesson", "lesson", lesson.example),
        *(
            Item(name, shipped.words(name), "file", partial(shipped.load, name))
            for name in shipped.names()
        ),
    )


def given(capture: Capture, source: Source) -> Item:
    """Return the item of what a caller brought."""
    return Item(GIVEN, capture.title, source, lambda: capture)


def find(what: str | os.PathLike[str]) -> Item:
    """Return what `what` means: one that comes with the package by its word, or a file's capture.

    Raises
    ------
    FileError
        Where it is no such word and no file that can be read.
    """
    items = {item.id: item for item in ready()}
    if isinstance(what, str):
        if what in items:
            return items[what]
        near = difflib.get_close_matches(what.lower(), items, n=1)
        if near and not Path(what).exists():
            words = ", ".join(repr(word) for word in items)
            raise FileError(
                what,
                f"must be {words} or a file; there is no such file. Did you mean {near[0]!r}?",
            )
    return replace(given(load(what), "file"), path=Path(what).absolute())


def shelf_of(first: Item) -> tuple[Item, ...]:
    """Return `first`, then what else comes with the package."""
    return (first, *(item for item in ready() if item.id != first.id))
