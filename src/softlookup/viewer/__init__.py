"""The viewer: one session, several hosts. Here: a local page."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from softlookup import captures, lesson
from softlookup.captures import Capture
from softlookup.errors import DtypeError, OptionError
from softlookup.lookup import Lookup
from softlookup.viewer.redirect import has_display
from softlookup.viewer.session import Session, Source
from softlookup.viewer.view import View, announce

__all__ = ["Session", "View", "capture_of", "open_view", "show"]

CLOSES = "The page closes when this program ends; show(...).wait() keeps it open."


def show(
    look: Lookup | Capture | str | os.PathLike[str] | None = None,
    *,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
    port: int | None = None,
    open_browser: bool | None = None,
) -> View:
    """Open a lookup as a local page, and return at once.

    The link is printed, and opened in a browser where there is a display. The page is served from
    127.0.0.1 to whoever has the link, by a thread that ends with the program: a script calls
    ``show(...).wait()``, and is told so.

    Parameters
    ----------
    look : Lookup, Capture, path or None
        What to show; None is the lesson's worked example, a path is read by :func:`load`.
    tokens, key_tokens : iterable of str, optional
        One text for each query and for each key of a Lookup; positions where left out.
    title : str, optional
        What stands above it.
    port : int, optional
        Where to listen; 0 is any free port. Where left out: 8642, or the next free one.
    open_browser : bool, optional
        True and False are obeyed; where left out, a browser opens if there is a display.

    Returns
    -------
    View
        With ``.url``, ``.wait()`` and ``.close()``; also a context manager.

    Raises
    ------
    ViewError
        Where the port is in use.
    DtypeError, ShapeError, OptionError, FileError
        Where there is nothing that can be shown.
    """
    view = open_view(*capture_of(look, tokens, key_tokens, title), port, open_browser)
    if not _is_interactive():
        print(CLOSES, flush=True)
    return view


def open_view(
    capture: Capture, source: Source, port: int | None = None, open_browser: bool | None = None
) -> View:
    """Serve `capture`, print the link, and open it; the options are those of :func:`show`."""
    view = View(Session(capture, source), port)
    print(announce(view), flush=True)
    if has_display(os.environ, sys.platform) if open_browser is None else open_browser:
        view.open_browser()
    return view


def _is_interactive() -> bool:
    """Say whether the program goes on after its last line: a prompt, or a notebook."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules


def capture_of(
    look: Lookup | Capture | str | os.PathLike[str] | None,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
) -> tuple[Capture, Source]:
    """Return what :func:`show` was given as a capture, and where it came from."""
    if isinstance(look, Lookup):
        return captures.label(look, tokens=tokens, key_tokens=key_tokens, title=title), "lookup"
    for name, given in (("tokens", tokens), ("key_tokens", key_tokens), ("title", title)):
        if given is not None:
            raise OptionError(name, "goes with a Lookup only; a capture has its own. Leave it out.")
    if look is None:
        return lesson.example(), "lesson"
    if isinstance(look, Capture):
        return look, "lookup"
    if isinstance(look, str | Path | os.PathLike):
        return captures.load(look), "file"
    raise DtypeError(
        "look", f"must be a Lookup, a Capture or a path; got {type(look).__name__}. "
        "Build one with Lookup(query, key, value)."
    )  # fmt: skip
