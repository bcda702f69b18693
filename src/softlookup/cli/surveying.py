"""What ``softlookup survey`` and ``softlookup heads`` do: measure a corpus, and show its heads."""

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from softlookup.cli import INTERRUPTED, TOLD_TO_END
from softlookup.cli.capturing import spans, working
from softlookup.cli.terminal import progress_bar
from softlookup.errors import SoftlookupError
from softlookup.numerals import counted
from softlookup.tokens import readable

if TYPE_CHECKING:
    from softlookup.surveys import Survey
    from softlookup.viewer import View

MOST_LINES = 10  # of those that were skipped


def survey(
    model: str, texts: str, path: str, layers: str | None, heads: str | None, asked: dict[str, Any]
) -> None:
    """Run the survey, and say what it found, what it skipped, and what comes next."""
    from softlookup.surveys import survey as run

    asked |= {"layers": spans(layers, "layers"), "heads": spans(heads, "heads")}
    try:
        with progress_bar("line", None) as advance:
            found = run(model, texts, path, **asked, progress=_telling(advance))
    except (KeyboardInterrupt, SystemExit) as end:  # Ctrl-C, or kill
        if sys.stderr.isatty():
            print(file=sys.stderr)  # after the ^C that a terminal shows
        _tell_how_far(path)
        code = INTERRUPTED if isinstance(end, KeyboardInterrupt) else TOLD_TO_END
        raise typer.Exit(code) from None
    for file in found.remade:
        print(f"{readable(file)}: was damaged, and is made again", file=sys.stderr)
    _list_skipped(found)
    print(_said(found, path))
    print(f"next  softlookup heads {shlex.quote(readable(path))}")


def _telling(advance: Callable[..., None]) -> Callable[[int, int], None]:
    """Say once how many lines are there from an earlier run, and move the bar."""
    begun = False

    def tell(done: int, of: int) -> None:
        nonlocal begun
        if not begun and 0 < done < of:
            print(f"goes on: {done:,} of {counted(of, 'line')} are there", file=sys.stderr)
        begun = True
        advance(done, of)

    return tell


def _tell_how_far(path: str) -> None:
    """Say how far a run came that was interrupted."""
    from softlookup.surveys import open_survey

    try:
        found = open_survey(path)
    except SoftlookupError:  # it had not begun to write
        print("nothing is written yet; run the same line again", file=sys.stderr)
        return
    _list_skipped(found)
    files = found.manifest.partitions
    whole = (
        f"{len(found.files):,} of {counted(files, 'file')} {'is' if files == 1 else 'are'} whole"
    )
    print(f"{whole}; run the same line again, it goes on", file=sys.stderr)


def _list_skipped(found: "Survey") -> None:
    """Name the lines that were skipped, the first of them, and say where the rest stand."""
    for one in found.skipped[:MOST_LINES]:
        print(f"line {one.line:,}: {readable(one.reason)}; skipped", file=sys.stderr)
    more = len(found.skipped) - MOST_LINES
    if more > 0:
        folder = readable(repr(str(found.folder)))
        print(
            f"and {counted(more, 'more line')} skipped; "
            f"softlookup.surveys.open_survey({folder}).skipped names all",
            file=sys.stderr,
        )


def _said(found: "Survey", path: str) -> str:
    rows, files = counted(found.rows, "row"), counted(len(found.files), "file")
    return (
        f"wrote {readable(path)}: {counted(found.texts, 'text')}, {rows} in {files}; "
        f"{counted(len(found.skipped), 'line')} skipped"
    )


def open_heads(folder: str, port: int | None, open_browser: bool | None) -> "View":
    """Serve the heads of a survey, once their numbers have been read."""
    from softlookup.shelf import find
    from softlookup.surveys import open_survey
    from softlookup.viewer import open_view

    found = open_survey(folder)
    with working(f"reading {counted(found.rows, 'row')}"):
        found.distributions  # noqa: B018 - kept from here on
    return open_view(find("lesson"), port, open_browser, survey=found)
