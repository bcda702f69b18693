"""What a view may ask of one head's map: how far it is, its tiles, single weights, whole regions.

No answer holds a turn for longer than a slice of work, and nothing is worked out that nobody asked
for: the map grows by the requests that carry ``work=1``, and stops with them.
"""

import math
import time
from collections.abc import Generator, Iterator

import numpy as np

from softlookup.arrays import IntArray
from softlookup.errors import ViewError
from softlookup.tracing import to_json
from softlookup.viewer import arguments, blocks, codes
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import MAP_LINKS, MAP_TILE, Json
from softlookup.viewer.kept import Kept, Taking
from softlookup.weightmap import BASE, Block, Link, Row

SLICES, SLICE = 3, 0.05  # turns of one request that works, and seconds of each
PATIENCE = 0.25  # seconds that a tile waits for its rows; what is missing then is asked for again
MOST_WORK = 2**28  # weights that are worked out for one region
MOST_BUILT = 2**30  # of them where the map gains by it
MOST_OPENED = 2**10  # cells of the map that are opened in one turn, for what they hold beside NaN
ROWS_KNOWN = 2**14  # of which what is known is looked through in one turn
PIECE, MOST_ROWS = 2**22, 256  # of them in one turn, and of their rows
Part = tuple[slice, slice]  # rows and keys
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
    rows, keys = _region(kept, args)
    parts = list(_parts(kept, rows, keys))
    yield from _prepare(kept, rows)
    found: list[Block] = []
    for part in parts:
        found.append(kept.map.block(*part))
        yield None
    best = min(found, key=_order)
    heights = [part.stop - part.start for part, _ in parts]
    told = {
        "max": best.max,
        "query": best.query,
        "key": best.key,
        "share": np.dot([part.share for part in found], heights) / (rows.stop - rows.start),
        "visible": _counted([part.seen for part in found]),
        "by": kept.map.by,
    }
    plain: Json = to_json(told)
    return plain


def _order(part: Block) -> tuple[bool, float, int, int]:
    """Return what puts the best part first: NaN, then large weights, then the first pair."""
    return not math.isnan(part.max), -part.max, part.query, part.key


def _counted(seen: list[int | bool]) -> int | bool:
    """Return how many pairs are visible; True where those of a part are too many to count."""
    return True if any(some is True for some in seen) else sum(seen)


def strongest(kept: Kept, args: Arguments) -> Taking[Json]:
    """Return the largest weights of a region with their pairs, falling, and of how many rows.

    With ``so_far=1`` of those that the map has, where it would take too long to work out the rest.
    """
    count = arguments.whole(args, "count", MAP_LINKS + 1, default=1, low=1)
    so_far = arguments.word(args, "so_far", ("0", "1"), default="0") == "1"
    rows, keys = _spans(kept, args)
    known = int(rows.stop - rows.start)
    try:
        _check_reach(kept, rows)
        if kept.refused is None:  # only rows that are known tell where NaN stands
            yield from _prepare(kept, rows)
        parts = [(rows, keys)]
        if not _is_searched(kept, rows, keys):
            parts = list(_pieces(kept, rows, keys, by_bands=kept.refused is not None))
    except ViewError:
        if not so_far:
            raise
        parts = list(_known_parts(kept, rows, keys))
        known = int(kept.map.known_rows[rows].sum()) if parts else 0
    else:
        so_far = False
    links: list[Link] = []
    for part in parts:
        if kept.refused and not _is_wide(*part):  # a wide one is worked out by the way
            yield from _prepare(kept, part[0])
        links += kept.map.strongest(*part, count, so_far=so_far)
        links.sort(key=lambda link: (-link.weight, link.query, link.key))
        del links[count:]
        yield None
    return {"links": [link._asdict() for link in links], "by": kept.map.by, "known": known}


def _known_parts(kept: Kept, rows: slice, keys: slice) -> Iterator[Part]:
    """Yield a region in pieces, of which what is known is looked through.

    None where no levels are kept, or where NaN stands in too many cells.
    """
    if not _is_searched(kept, rows, keys):
        return
    for start in range(rows.start, rows.stop, ROWS_KNOWN):
        yield slice(start, min(start + ROWS_KNOWN, rows.stop)), keys


def _region(kept: Kept, args: Arguments) -> Part:
    """Return the rows and keys that are meant, where the weights of those rows are within reach."""
    rows, keys = _spans(kept, args)
    _check_reach(kept, rows)
    return rows, keys


def _spans(kept: Kept, args: Arguments) -> Part:
    """Return the rows and keys that are meant."""
    q_len, kv_len = kept.map.shape
    rows = arguments.span(args, "rows", q_len)
    keys = arguments.span(args, "keys", kv_len)
    return slice(rows.start, rows.stop), slice(keys.start, keys.stop)


def _check_reach(kept: Kept, rows: slice) -> None:
    """Refuse rows of which too much is missing."""
    start, stop = blocks.limits(kept.look, rows)
    missing = (stop - start)[~kept.map.known_rows[rows]]
    most = MOST_WORK if kept.refused else MOST_BUILT
    _check_work(kept, missing, most, " where the map does not have them yet")


def _parts(kept: Kept, rows: slice, keys: slice) -> Iterator[Part]:
    """Yield a block as its whole stored cells, and pieces of what is left around them."""
    q_len, kv_len = kept.map.shape
    inner_rows, inner_keys = _of_cells(rows, q_len), _of_cells(keys, kv_len)
    few = (inner_rows, inner_keys) != (rows, keys) and not _is_wide(rows, keys)
    if kept.refused or inner_rows is None or inner_keys is None or few:
        yield from _pieces(kept, rows, keys)
        return
    yield inner_rows, inner_keys
    for some, across in (
        (slice(rows.start, inner_rows.start), keys),
        (inner_rows, slice(keys.start, inner_keys.start)),
        (inner_rows, slice(inner_keys.stop, keys.stop)),
        (slice(inner_rows.stop, rows.stop), keys),
    ):
        if some.stop > some.start and across.stop > across.start:
            yield from _pieces(kept, some, across)


def _of_cells(some: slice, length: int) -> slice | None:
    """Return what of rows or keys is made of whole stored cells; None where nothing is."""
    size = 2**BASE
    start = -(-some.start // size) * size
    stop = some.stop if some.stop == length else some.stop // size * size
    return slice(start, stop) if stop > start else None


def _is_wide(rows: slice, keys: slice) -> bool:
    """Return whether there are more weights than are worked out one by one in a turn."""
    return int(rows.stop - rows.start) * int(keys.stop - keys.start) > PIECE


def _pieces(kept: Kept, rows: slice, keys: slice, *, by_bands: bool = False) -> Iterator[Part]:
    """Yield a region in pieces, each little work: the keys that any of its rows may see.

    Of very long rows there are few in a piece; `by_bands` leaves those of a band together.

    Raises
    ------
    ViewError
        Where they are too much together.
    """
    first, last = (np.clip(ends, keys.start, keys.stop) for ends in blocks.limits(kept.look, rows))
    _check_work(kept, last - first, MOST_WORK)
    at = 0
    while at < len(first):
        part = _hull(first[at : at + MOST_ROWS], last[at : at + MOST_ROWS], keys)
        most = min(max(1, PIECE // (part.stop - part.start)), MOST_ROWS)
        if by_bands and most < 2**BASE:
            most = 2**BASE - (rows.start + at) % 2**BASE
        stop = min(at + most, len(first))
        part = _hull(first[at:stop], last[at:stop], keys)
        yield slice(rows.start + at, rows.start + stop), part
        at = stop


def _hull(first: IntArray, last: IntArray, keys: slice) -> slice:
    """Return the keys from the first that a row sees up to the last; one where there is none."""
    seeing = last > first
    if not seeing.any():
        return slice(keys.start, keys.start + 1)
    return slice(int(first[seeing].min()), int(last[seeing].max()))


def _is_searched(kept: Kept, rows: slice, keys: slice) -> bool:
    """Return whether the levels lead to the strongest weights of a region.

    They do not where NaN stands beside numbers in too many cells: all of these must be opened.
    """
    size = 2**BASE
    start, stop = rows.start // size * size, min(-(-rows.stop // size) * size, kept.map.shape[0])
    lost = np.isnan(kept.map.lse[start:stop]) & kept.map.known_rows[start:stop]
    bands = np.arange(0, stop - start, size)
    some, whole = (how.reduceat(lost, bands) for how in (np.logical_or, np.logical_and))
    opened = int(np.count_nonzero(some & ~whole)) * -(-(keys.stop - keys.start) // size)
    return kept.refused is None and opened <= MOST_OPENED


def _check_work(kept: Kept, counts: IntArray, most: int, where: str = "") -> None:
    """Refuse rows that see so many keys each, where these are too many together."""
    work = int(counts.sum())
    if work > most:
        raise ViewError(
            "rows", f"must take at most {most:,} weights to work out{where}; {len(counts):,} rows "
            f"of up to {int(counts.max()):,} keys take {work:,}. "
            f"{'Ask' if kept.refused else 'Let the map grow, or ask'} for fewer."
        )  # fmt: skip


def _prepare(kept: Kept, rows: slice, patience: float = math.inf) -> Slices:
    """Work out what the weights of some rows need, in slices, for so many seconds at most."""
    until = time.perf_counter() + patience
    while not kept.map.prepare(rows, SLICE):
        yield None
        if time.perf_counter() >= until:
            return
