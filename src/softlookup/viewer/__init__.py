"""The viewer: one session, several hosts. Here: a local page, a notebook's cell, one HTML file."""

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup import captures, shelf
from softlookup.captures import Capture
from softlookup.errors import DtypeError, OptionError, PackageError
from softlookup.lookup import Lookup
from softlookup.shelf import Item
from softlookup.tokens import readable
from softlookup.viewer.excerpt import choose
from softlookup.viewer.export import LARGEST, check_path, prepare
from softlookup.viewer.framed import Frame
from softlookup.viewer.kernel import notebook
from softlookup.viewer.redirect import has_display
from softlookup.viewer.session import Session
from softlookup.viewer.view import View, announce
from softlookup.watched import Watched
from softlookup.weightmap import WeightMap

if TYPE_CHECKING:
    from softlookup.surveys.reading import Survey
    from softlookup.viewer.widget import Widget

__all__ = ["Frame", "Session", "View", "export_html", "item_of", "open_view", "show"]

HEIGHT = 680  # pixels of a cell
CLOSES = "The page closes when this program ends; show(...).wait() keeps it open."


def show(
    look: Lookup | Capture | Watched | str | os.PathLike[str] | None = None,
    *,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    title: str | None = None,
    port: int | None = None,
    open_browser: bool | None = None,
    static: bool = False,
    height: int = HEIGHT,
) -> "View | Widget | Frame":
    """Open a lookup as a local page, or in the cell of a notebook, and return at once.

    The link is printed, and opened in a browser where there is a display. The page is served from
    127.0.0.1 to whoever has the link, by a thread that ends with the program: a script calls
    ``show(...).wait()``, and is told so.

    In a notebook the same page stands in the cell instead, as long as neither `port` nor
    `open_browser` is named; the kernel answers it, nothing is served. So it is where a marimo
    notebook is run as a script, though nobody looks.

    Parameters
    ----------
    look : Lookup, Capture, Watched, path or None
        What to show; None is the lesson's worked example, ``"sentence"`` and ``"causal"`` are real
        models' heads that come with the package, a path is read by :func:`load`. What was watched
        is shown where ``keep=True`` kept it.
    tokens, key_tokens : iterable of str, optional
        One text for each query and for each key of a Lookup; positions where left out.
    title : str, optional
        What stands above it.
    port : int, optional
        Where to listen; 0 is any free port. Where left out: 8642, or the next free one.
    open_browser : bool, optional
        True and False are obeyed; where left out, a browser opens if there is a display.
    static : bool, default False
        A frame that carries all it shows, as :func:`export_html` writes it: it needs no kernel, and
        stays in a notebook that is saved or converted.
    height : int, default 680
        Pixels of the cell.

    Returns
    -------
    View, Widget or Frame
        A local page has ``.url``, ``.wait()`` and ``.close()``, and is a context manager. What
        stands in a cell is shown by its last line.

    Raises
    ------
    ViewError
        Where the port is in use.
    PackageError
        In a notebook, where anywidget is not installed.
    DtypeError, ShapeError, OptionError, FileError
        Where there is nothing that can be shown.
    """
    item = item_of(look, tokens, key_tokens, title)
    _check_height(height)
    named = port is not None or open_browser is not None
    if static:
        if named:
            raise OptionError("static", "goes without port and open_browser: nothing is served.")
        content = prepare(item).content.decode("utf-8")
        return Frame(content, readable(item.title) or "a lookup", height)
    if notebook() is not None and not named:
        return _widget(item, height)
    view = open_view(item, port, open_browser)
    if not _is_interactive():
        print(CLOSES, flush=True)
    return view


def export_html(
    look: Lookup | Capture | Watched | str | os.PathLike[str] | None,
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
    look : Lookup, Capture, Watched, path or None
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


def open_view(
    first: Item,
    port: int | None = None,
    open_browser: bool | None = None,
    *,
    survey: "Survey | None" = None,
) -> View:
    """Serve `first`, print the link, and open it; the options are those of :func:`show`.

    With `survey` the page shows its heads, and `first` is not seen.
    """
    view = View(Session(first, survey), port)
    print(announce(view), flush=True)
    if has_display(os.environ, sys.platform) if open_browser is None else open_browser:
        view.open_browser()
    return view


def _widget(item: Item, height: int) -> "Widget":
    try:
        from softlookup.viewer.widget import Widget  # noqa: PLC0415 - nobody else needs anywidget
    except ImportError as error:
        raise PackageError(
            "anywidget", "is needed to show a page in a cell."
            ' Run pip install "softlookup[notebook]"; or pass static=True, or port=0, a local page.'
        ) from error  # fmt: skip
    return Widget(Session(item), height)


def _check_height(height: int) -> None:
    if isinstance(height, bool) or not isinstance(height, int) or not 200 <= height <= 10_000:
        raise OptionError(
            "height", f"must be a whole number 200 ... 10000, pixels; got {height!r}."
        )


def _is_interactive() -> bool:
    """Say whether the program goes on after its last line: a prompt, or a notebook."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules


def item_of(
    look: Lookup | Capture | Watched | str | os.PathLike[str] | None,
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
    if isinstance(look, Capture | Watched):
        capture = look.capture() if isinstance(look, Watched) else look
        return shelf.given(capture, "lookup")
    if look is None or isinstance(look, str | os.PathLike):
        return shelf.find("lesson" if look is None else look)
    way = "Build one with Lookup(query, key, value)."
    if isinstance(look, WeightMap):
        way = "Show the lookup that it was made of, sl.show(look): the page has the map."
    came = type(look).__name__
    raise DtypeError("look", f"must be a Lookup, a Capture, a Watched or a path; got {came}. {way}")
