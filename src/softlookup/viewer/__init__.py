"""The viewer: one session, several hosts. Here: a local page, and one HTML file."""

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from softlookup import captures, shelf
from softlookup.captures import Capture
from softlookup.errors import DtypeError, OptionError
from softlookup.lookup import Lookup
from softlookup.shelf import Item
from softlookup.viewer.excerpt import choose
from softlookup.viewer.export import LARGEST, check_path, prepare
from softlookup.viewer.redirect import has_display
from softlookup.viewer.session import Session
from softlookup.viewer.view import View, announce

__all__ = ["Session", "View", "export_html", "item_of", "open_view", "show"]

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
        What to show; None is the lesson's worked example, ``"sentence"`` and ``"causal"`` are real
        models' heads that come with the package, a path is read by :func:`load`.
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
    view = open_view(item_of(look, tokens, key_tokens, title), port, open_browser)
    if not _is_interactive():
        print(CLOSES, flush=True)
    return view


def export_html(
    look: Lookup | Capture | str | os.PathLike[str] | None,
    path: str | os.PathLike[str],
    *,
    layers: int | str | Iterable[int | str] | None = None,
    heads: int | Iterable[int] | None = None,
    batch: int | None = 0,
    largest: float = LARGEST,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write one HTML file that opens by a double click, offline, and shows what the page shows.

    Parameters
    ----------
    look : Lookup, Capture, path or None
        As for :func:`show`.
    path : str or path-like
        Ends in ``.html``. A file that is there stays until the new one is whole.
    layers : int, str or iterable of these, optional
        Numbers, labels or names of the layers that go in; all where left out.
    heads : int or iterable of int, optional
        Numbers of the heads that go in, of each of those layers; all where left out.
    batch : int or None
        Which batch entry, counted over all leading axes; None takes them all.
    largest : int, default 50,000,000
        Bytes that the file may have.
    tokens, key_tokens, title
        As for :func:`show`.

    Returns
    -------
    Path
        Where it is.

    Raises
    ------
    OptionError
        Where there is no such layer, head or batch entry, or the file would be too large: then the
        message says how large it would be.
    FileError
        Where it cannot be written, or `look` cannot be read.

    Notes
    -----
    The arrays go in whole, in their own dtype, four bytes for each three; a mask takes one bit a
    cell. Whoever has the file has the numbers.

    Examples
    --------
    >>> import softlookup as sl
    >>> look = sl.Lookup([[1, 0]], [[1, 0], [0, 1]], [[1, 0], [0, 1]])
    >>> sl.export_html(look, "lookup.html", tokens=["a"]).name  # doctest: +SKIP
    'lookup.html'
    """
    file = check_path(path)
    item = item_of(look, tokens, key_tokens, title)
    part = choose(item.load(), layers=layers, heads=heads, batch=batch)
    return prepare(replace(item, load=lambda: part), largest=largest).write(file)


def open_view(first: Item, port: int | None = None, open_browser: bool | None = None) -> View:
    """Serve `first`, print the link, and open it; the options are those of :func:`show`."""
    view = View(Session(first), port)
    print(announce(view), flush=True)
    if has_display(os.environ, sys.platform) if open_browser is None else open_browser:
        view.open_browser()
    return view


def _is_interactive() -> bool:
    """Say whether the program goes on after its last line: a prompt, or a notebook."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules


def item_of(
    look: Lookup | Capture | str | os.PathLike[str] | None,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
) -> Item:
    """Return what :func:`show` was given, ready to be opened."""
    if isinstance(look, Lookup):
        named = captures.label(look, tokens=tokens, key_tokens=key_tokens, title=title)
        return shelf.given(named, "lookup")
    for name, texts in (("tokens", tokens), ("key_tokens", key_tokens), ("title", title)):
        if texts is not None:
            raise OptionError(name, "goes with a Lookup only; a capture has its own. Leave it out.")
    if isinstance(look, Capture):
        return shelf.given(look, "lookup")
    if look is None or isinstance(look, str | os.PathLike):
        return shelf.find("lesson" if look is None else look)
    raise DtypeError(
        "look", f"must be a Lookup, a Capture or a path; got {type(look).__name__}. "
        "Build one with Lookup(query, key, value)."
    )  # fmt: skip
