"""What a view may ask of one head's map: how far it is, its tiles, single weights, whole regions.

No answer holds a turn for longer than a slice of work, and nothing is worked out that nobody asked
for: the map grows by the requests that carry ``work=1``, and stops with them.
"""

import math
import time
from collections.abc import Generator, Iterator

import numpy as np

from softlookup.errors import ViewError
from softlookup.tracing import to_json
from softlookup.viewer import arguments, codes
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import MAP_LINKS, MAP_TILE, Json
from softlookup.viewer.kept import Kept, Taking
from softlookup.weightmap import BASE, Link, Row

SLICES, SLICE = 3, 0.05  # turns of one request that works, and seconds of each
PATIENCE = 0.25  # seconds that a tile waits for its rows; what is missing then is asked for again
MOST_WORK = 2**28  # weights that are worked out for one region
MOST_BUILT = 2**30  # of them where the map gains by it
MOST_OPENED = 2**10  # cells of the map that are opened in one turn, for what they hold beside NaN
PIECE = 2**22  # of them in one turn
Slices = Generator[None, None, None]


def progress(kept: Kept, args: Arguments) -> Taking[Json]:
    """Return how far the map is; with ``work=1`` build on for a moment, and save what is whole."""
    work = arguments.word(args, "work", ("0", "1"), default="0") == "1"
    if work and kept.refused is None:
        for _ in range(SLICES):
            if kept.work(SLICE):
                break
            yield None
    if kept.worth_saving():
        yield kept.save
    the = kept.map
    q_len, kv_len = the.shape
    return {
        "q_len": q_len,
        "kv_len": kv_len,
        "base": BASE,
        "top": the.levels[-1],
        "tile": MAP_TILE,
        "pools": list(the.pools),
        "done": the.done,
        "of": the.of,
        "seconds_left": None if kept.refused else kept.seconds_left(),
        "bytes": the.bytes,
        "refused": kept.refused,
        "saved": kept.saved,
        "trouble": kept.trouble,
        "backend": kept.map.by,
        "codes": dict(codes.MEANING),
    }


def tile(kept: Kept, args: Arguments) -> Taking[tuple[Json, bytes]]:
    """Return one tile of a level as codes, a byte a cell and pool; what is missing is told."""
    the = kept.map
    level = arguments.whole(args, "level", the.levels[-1] + 1, default=None)
    across = MAP_TILE << level  # weights along a side
    place = []
    for name, length in zip("ij", the.shape, strict=True):
        place.append(arguments.whole(args, name, -(-length // across), default=None))
    i, j = place
    if level < BASE:
        yield from _prepare(kept, slice(i * across, min((i + 1) * across, the.shape[0])), PATIENCE)
    found = the.tile(level, i, j, MAP_TILE, compute=False)
    pools = [pool for pool in (found.max, found.share) if pool is not None]
    rows, columns = pools[0].shape
    told = {
        "level": level,
        "i": i,
        "j": j,
        "rows": rows,
        "columns": columns,
        "whole": found.whole,
    }
    coded = [codes.encode(pool, found.seen, found.known).tobytes() for pool in pools]
    return told, b"".join(coded)


def at(kept: Kept, args: Arguments) -> Taking[Json]:
    """Return one weight in float64, as in a trace, and what it was made of."""
    q_len, kv_len = kept.map.shape
    query = arguments.whole(args, "query", q_len, default=None)
    key = arguments.whole(args, "key", kv_len, default=None)
    rows: list[Row] = []
    yield lambda: rows.append(kept.row(query))
    (row,) = rows
    told = {
        "weight": row.weights[key],
        "visible": row.visible[key],
        "score": row.scores[key],
        "lse": row.lse,
        "by": "float64",
    }
    plain: Json = to_json(told)
    return plain


def block(kept: Kept, args: Arguments) -> Taking[Json]:
    """Return the strongest pair of a block and its share, of any rows and keys."""
    rows, keys = yield from _region(kept, args)
    parts, queries = [], []
    for some in _pieces(rows, keys, at_once=_is_of_cells(kept, rows, keys)):
        parts.append(kept.map.block(some, keys))
        queries.append(some.stop - some.start)
        yield None
    numbers = np.array([part.max for part in parts])
    best = parts[int(np.argmax(numbers))]  # NaN before all
    shares = np.array([part.share for part in parts])
    seen = [part.seen for part in parts]
    told = {
        "max": best.max,
        "query": best.query,
        "key": best.key,
        "share": np.average(shares, weights=queries),
        "visible": seen[0] if len(seen) == 1 else sum(seen),
        "by": kept.map.by,
    }
    plain: Json = to_json(told)
    return plain


def strongest(kept: Kept, args: Arguments) -> Taking[Json]:
    """Return the largest weights of a region with their pairs, falling."""
    count = arguments.whole(args, "count", MAP_LINKS + 1, default=1, low=1)
    rows, keys = yield from _region(kept, args)
    links: list[Link] = []
    for some in _pieces(rows, keys, at_once=_is_searched(kept, rows, keys)):
        links += kept.map.strongest(some, keys, count)
        links.sort(key=lambda link: (-link.weight, link.query, link.key))
        del links[count:]
        yield None
    return {"links": [link._asdict() for link in links], "by": kept.map.by}


def _region(kept: Kept, args: Arguments) -> Taking[tuple[slice, slice]]:
    """Return the rows and keys that are meant, once the weights of those rows are within reach."""
    q_len, kv_len = kept.map.shape
    rows = arguments.span(args, "rows", q_len)
    keys = arguments.span(args, "keys", kv_len)
    missing = int(np.count_nonzero(~kept.map.known_rows[rows.start : rows.stop]))
    most = MOST_WORK if kept.refused else MOST_BUILT
    _check_work(missing, kv_len, most, " where the map does not have them yet")
    wanted = slice(rows.start, rows.stop)
    yield from _prepare(kept, wanted)
    return wanted, slice(keys.start, keys.stop)


def _pieces(rows: slice, keys: slice, *, at_once: bool) -> Iterator[slice]:
    """Yield rows in pieces, each little work; all of them where the levels have the answer."""
    height, width = rows.stop - rows.start, keys.stop - keys.start
    step = height
    if not at_once:
        _check_work(height, width, MOST_WORK)
        step = max(1, PIECE // width)
    for start in range(rows.start, rows.stop, step):
        yield slice(start, min(start + step, rows.stop))


def _is_of_cells(kept: Kept, rows: slice, keys: slice) -> bool:
    """Return whether a region is made of whole stored cells."""
    size = 2**BASE
    return kept.refused is None and all(
        some.start % size == 0 and (some.stop % size == 0 or some.stop == length)
        for some, length in zip((rows, keys), kept.map.shape, strict=True)
    )


def _is_searched(kept: Kept, rows: slice, keys: slice) -> bool:
    """Return whether the levels lead to the strongest weights of a region.

    They do not where NaN stands beside numbers in too many cells: all of these must be opened.
    """
    size = 2**BASE
    start, stop = rows.start // size * size, min(-(-rows.stop // size) * size, kept.map.shape[0])
    lost, bands = np.isnan(kept.map.lse[start:stop]), np.arange(0, stop - start, size)
    some, whole = (how.reduceat(lost, bands) for how in (np.logical_or, np.logical_and))
    opened = int(np.count_nonzero(some & ~whole)) * -(-(keys.stop - keys.start) // size)
    return kept.refused is None and opened <= MOST_OPENED


def _check_work(rows: int, keys: int, most: int, where: str = "") -> None:
    if rows * keys > most:
        raise ViewError(
            "rows", f"must take at most {most:,} weights to work out{where}; {rows:,} rows of "
            f"{keys:,} keys take {rows * keys:,}. Let the map grow, or ask for fewer."
        )  # fmt: skip


def _prepare(kept: Kept, rows: slice, patience: float = math.inf) -> Slices:
    """Work out what the weights of some rows need, in slices, for so many seconds at most."""
    until = time.perf_counter() + patience
    while not kept.map.prepare(rows, SLICE):
        yield None
        if time.perf_counter() >= until:
            return
