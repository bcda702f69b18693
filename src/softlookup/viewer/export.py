"""One HTML file: the page, its script and a capture's arrays, to be opened by a double click.

The file asks nobody for anything, see ``inlined.py``. The arrays stand in a block of JSON, see
``packed.py``; what a view asks is answered from them by the page's own float64 arithmetic, see
``web/src/host_static.js``.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from softlookup.captures import Capture
from softlookup.errors import DtypeError, FileError, OptionError
from softlookup.shelf import Item
from softlookup.tokens import readable
from softlookup.viewer.inlined import inline_script, page
from softlookup.viewer.packed import least, pack
from softlookup.viewer.session import Session
from softlookup.writing import write_whole

LARGEST = 50_000_000  # bytes


@dataclass(frozen=True)
class Export:
    """The file as it will be written.

    Attributes
    ----------
    content : bytes
        All of it, UTF-8.
    what : str
        What it holds, e.g. ``"6 layers of 12 heads"``.
    """

    content: bytes
    what: str

    @property
    def size(self) -> str:
        """Its size, as a person reads it."""
        return megabytes(len(self.content))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write it to `path`; a file that was there stays until the new one is whole.

        Raises
        ------
        FileError
            Where the name does not end in ``.html``, or the file cannot be written.
        """
        return write_whole(check_path(path), lambda fresh: fresh.write_bytes(self.content))


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return where the file goes; refuse a name that no double click opens in a browser."""
    file = Path(path)
    if file.suffix.lower() != ".html":
        raise FileError(
            readable(str(file)),
            f"must end in .html; it ends in {readable(file.suffix or file.name)!r}. "
            "A browser opens such a file by a double click.",
        )
    return file


def megabytes(size: float) -> str:
    """Write a number of bytes as a person reads it, in thousands or millions.

    Examples
    --------
    >>> megabytes(2_345_678), megabytes(149_137)
    ('2.3 MB', '149 kB')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def prepare(item: Item, *, largest: float = LARGEST) -> Export:
    """Return the file that shows `item`, all of it.

    Raises
    ------
    OptionError
        Where it would be larger than `largest` bytes; the message says how large.
    ViewError
        Where the installation lacks the page's script.
    """
    if isinstance(largest, bool) or not isinstance(largest, int | float | np.number):
        raise DtypeError("largest", f"must be a number of bytes; got {largest!r}. Pass {LARGEST}.")
    session = Session(item)
    opened = session.open(item.id)
    _check_size(opened.capture, _least(opened.capture), largest)
    version = session.handle("info", {})[0]["version"]
    content = page(opened.title, version, data=pack(session, item.id)).encode("utf-8")
    _check_size(opened.capture, len(content), largest)
    return Export(content, _contents(opened.capture))


def _check_size(capture: Capture, size: float, largest: float) -> None:
    if size <= largest:
        return
    layers = len(capture.layers)
    heads = max(layer.look.problem.heads for layer in capture.layers)
    fewer = "Choose layers or heads" if layers > 1 else "Choose fewer heads"
    advice = fewer if layers * heads > 1 else "Take fewer tokens"
    each = "" if layers == 1 else f" ({megabytes(size / layers)} a layer on average)"
    raise OptionError(
        "largest",
        f"must be at least the file's size, {megabytes(size)} for {_contents(capture)}; got "
        f"{megabytes(largest)}. {advice}{each}, or allow more.",
    )


def _contents(capture: Capture) -> str:
    """Say how many layers and heads a file holds."""
    layers, counts = len(capture.layers), {layer.look.problem.heads for layer in capture.layers}
    heads = " or ".join(str(count) for count in sorted(counts))
    of_heads = f"{heads} head{'' if counts == {1} else 's'}"
    return of_heads if layers == 1 else f"{layers} layers of {of_heads}"


def _least(capture: Capture) -> float:
    """Return what the file takes at least, in bytes."""
    return len(inline_script()) + least(capture)
