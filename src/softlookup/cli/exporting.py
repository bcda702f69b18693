"""What ``softlookup export`` does: choose, say how large, write."""

import re
from dataclasses import replace

from softlookup.errors import OptionError
from softlookup.shelf import find
from softlookup.tokens import readable
from softlookup.viewer.excerpt import choose
from softlookup.viewer.export import check_path, prepare

_SPAN = re.compile(r"([0-9]{1,6})-([0-9]{1,6})", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
MOST = 4096  # numbers that one span may stand for
MEGABYTE = 1_000_000


def export(
    what: str, path: str, layers: str | None, heads: str | None, batch: int, largest: float
) -> None:
    """Write the file at `path`, after its size has been printed."""
    file = check_path(path)
    item = find(what)
    part = choose(
        item.load(),
        layers=None if layers is None else names(layers, "layers"),
        heads=None if heads is None else numbers(heads, "heads"),
        batch=batch,
    )
    made = prepare(replace(item, load=lambda: part), largest=largest * MEGABYTE)
    print(f"{made.size}  {readable(part.title)}, {made.what}", flush=True)
    written = made.write(file)
    print(
        f"{readable(str(written))} opens by a double click; it needs no network and no softlookup."
    )


def names(text: str, argument: str) -> list[int | str]:
    """Return names from a list with commas, where 3-5 stands for the numbers 3, 4 and 5.

    Raises
    ------
    OptionError
        Where the list is empty, or a span runs backwards.

    Examples
    --------
    >>> names("0, 3-5, encoder layer 1", "layers")
    ['0', 3, 4, 5, 'encoder layer 1']
    """
    found: list[int | str] = []
    for part in text.split(","):
        word = part.strip()
        span = _SPAN.fullmatch(word)
        if span:
            first, last = int(span[1]), int(span[2])
            if not first <= last < first + MOST:
                forwards = f"Write {last}-{first}." if last < first else "Name fewer."
                raise OptionError(
                    argument,
                    f"must name spans forwards, at most {MOST} long; got {word}. {forwards}",
                )
            found += range(first, last + 1)
        elif word:
            found.append(word)  # a layer may be named "7"
    if not found:
        raise OptionError(argument, f"must name at least one; got {text!r}. Write 0,3-5.")
    return found


def numbers(text: str, argument: str) -> list[int]:
    """Return the numbers of such a list.

    Raises
    ------
    OptionError
        Where it holds anything else.
    """
    found: list[int] = []
    for name in names(text, argument):
        if isinstance(name, str) and not _NUMBER.fullmatch(name):
            raise OptionError(argument, f"must be numbers; got {name[:40]!r}. Write 0,3-5.")
        found.append(int(name))
    return found
