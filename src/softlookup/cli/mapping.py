"""What ``softlookup map`` does: build one head's weight map, and write it as a picture."""

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softlookup.captures import Capture, Layer
from softlookup.cli.map_picture import Cells, draw, room, zoom_of
from softlookup.cli.steps import Place, which_head
from softlookup.cli.terminal import progress_bar
from softlookup.errors import FileError, OptionError
from softlookup.ledger import name
from softlookup.numerals import fixed
from softlookup.shelf import find
from softlookup.tokens import listed, readable
from softlookup.writing import check_writable, write_whole

if TYPE_CHECKING:
    from softlookup.viewer.kept import Kept
    from softlookup.weightmap import WeightMap

NARROWEST, WIDEST, WIDTH = 320, 4096, 1240  # pixels
STRONGEST = 3  # links that are named
STEP = 0.2  # seconds of work between two looks at how far it is
POOLS = ("max", "share")


def write_map(what: str, place: Place, path: str, pool: str, width: int, *, save: bool) -> None:
    """Write the picture at `path`, and say which links are the strongest."""
    file = _checked(path, pool, width)
    kept, title, which = _head(what, place, save=save)
    the, start = kept.map, time.perf_counter()
    with progress_bar("band", the.of) as advance:
        while not kept.work(STEP):
            advance(the.done)
    seconds = time.perf_counter() - start
    cells = _cells(kept, pool, room(width))
    each = _each(cells, pool, width)
    image = draw(cells, (title, each), width)
    write_whole(file, lambda fresh: image.save(fresh, format="PNG"))
    if which is not None:
        print(which)
    print(f"wrote {readable(path)}: {image.width} x {image.height} pixels, {each}")
    for line in _links(kept):
        print(line)
    nan = int(np.isnan(the.lse).sum())
    if nan:
        print(f"NaN        {nan:,} of {the.shape[0]:,} queries, from NaN or infinite numbers")
    q_len, kv_len = the.shape
    built = f"{seconds:.1f} s for {q_len:,} x {kv_len:,} weights, {the.by}"
    print(f"time       {built if kept.built else f'none: it was saved in {kept.saved}'}")
    if save:
        _save(kept)


def _checked(path: str, pool: str, width: int) -> Path:
    """Return the file; refuse what could not be written or drawn, before anything is read."""
    if pool not in POOLS:
        raise OptionError("pool", f"must be max or share; got {listed(pool)}. Leave it out: max.")
    if not NARROWEST <= width <= WIDEST:
        raise OptionError(
            "width", f"must lie in {NARROWEST} ... {WIDEST:,} pixels; got {width:,}. Axes and "
            f"legend take {NARROWEST - room(NARROWEST)} of them. Leave it out: {WIDTH:,}."
        )  # fmt: skip
    file = Path(path)
    if os.path.isdir(file) and file.suffix.lower() != ".png":  # noqa: PTH112 (never raises)
        raise FileError(
            readable(path), "must be a picture's file; it is a folder. Write -o "
            f"{readable(str(file / 'map.png'))}."
        )  # fmt: skip
    if file.name.lower() == ".png":
        raise FileError(
            readable(path), "must have a name before its ending; it has none. Write -o "
            f"{readable(str(file.with_name('map.png')))}."
        )  # fmt: skip
    if file.suffix.lower() != ".png":
        raise FileError(
            readable(path), f"must end in .png; it ends in "
            f"{readable(file.suffix or file.name)!r}. Write -o {file.stem or 'map'}.png."
        )  # fmt: skip
    check_writable(file)  # before the work, not after
    return file


def _head(what: str, place: Place, *, save: bool) -> tuple["Kept", str, str | None]:
    """Return the head with its map, saved or still to be built, what it is, and which it is."""
    from softlookup.viewer.kept import open_kept
    from softlookup.viewer.opened import Place as Positions

    item = find(what)
    if save and item.path is None:
        raise OptionError(
            "save", f"goes with a file; {readable(what)} comes with the package. Leave it out."
        )
    capture = item.load()
    layer, head = place.of(capture)
    layer.head(head, place.batch)  # its refusals name what there is
    at = next(i for i, one in enumerate(capture.layers) if one is layer)
    kept = open_kept(item.path, Positions(layer, layer.place(head), place.batch), at)
    _check_amount(kept.map)
    if kept.trouble is not None:
        print(kept.trouble, file=sys.stderr)  # a saved map that is of no use is no error here
    return kept, _what(capture, layer, head, place.batch), which_head(capture, place)


def _check_amount(the: "WeightMap") -> None:
    if the.refused is not None:
        q_len, kv_len = the.shape
        raise OptionError(
            "map", f"must fit into {the.limit:,} bytes; that of {q_len:,} x {kv_len:,} weights "
            f"takes {the.bytes:,}. Look at parts of it: softlookup show."
        )  # fmt: skip


def _save(kept: "Kept") -> None:
    if kept.saved is None:
        kept.save()
    if kept.saved is None:
        argument, _, message = (kept.trouble or "").partition(": ")
        raise FileError(argument, message)
    print(f"saved      {kept.saved}, which softlookup show opens, too")


def _cells(kept: "Kept", pool: str, most: int) -> Cells:
    """Return the finest level that fits, whole."""
    the = kept.map
    level = next(level for level in the.levels if -(-max(the.shape) >> level) <= most)
    found = the.level(level)
    texts = kept.place.queries.tokens, kept.place.keys.tokens
    return Cells(getattr(found, pool), found.seen, 2**level, the.shape, texts)


def _what(capture: Capture, layer: Layer, head: int, batch: int) -> str:
    entry = f", batch entry {batch}" if layer.look.problem.batch > 1 else ""
    return f"{readable(capture.title)}: {readable(layer.label)}, head {head}{entry}"


def _each(cells: Cells, pool: str, width: int) -> str:
    """Say what one square is."""
    side, zoom = cells.side, zoom_of(cells.values.shape, width)
    pixels = "pixel" if zoom == 1 else f"{zoom} x {zoom} pixels"
    if side == 1:
        return f"each {pixels} one weight"
    if pool == "max":
        return f"each {pixels} the largest of {side} x {side} weights"
    return f"each {pixels} the share that a query gives {side} keys, averaged over {side} queries"


def _links(kept: "Kept") -> list[str]:
    """Name the strongest links, with their weights."""
    queries, keys = kept.place.queries.tokens, kept.place.keys.tokens
    lines = [
        f"{name(queries[link.query])} @{link.query} reads {name(keys[link.key])} @{link.key}  "
        f"{fixed(link.weight)}"
        for link in kept.map.strongest(k=STRONGEST)
    ] or ["none: no weight is above 0"]
    return [f"{'strongest' if i == 0 else '':10} {line}" for i, line in enumerate(lines)]
