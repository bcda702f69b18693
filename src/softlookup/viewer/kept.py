"""Kept: the heads that are looked into as maps; the latest stay in memory, slow ones on the disk.

A head is asked about many times, tile by tile, and its map grows while the page asks it to.
Whatever is here is touched by one request at a time, in its turn. Between turns files are read and
written, a map that is written being whole, and one that is read nobody's yet; and single rows are
worked out in float64, which nothing else has a part in.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from softlookup.errors import SoftlookupError, ViewError
from softlookup.lookup import Lookup
from softlookup.tokens import readable
from softlookup.viewer import arguments
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.opened import Opened, Place, place_of
from softlookup.weightmap import BASE, Row, WeightMap

if TYPE_CHECKING:
    from softlookup.viewer.profiles import Profile

MOST_BYTES = 2**29  # of all maps in memory together; the one that is asked about always stays
MOST_HEADS = 64
POOLS = ("max", "share")  # a view needs both
ROW_BYTES = 24  # that a map keeps of each query, whatever becomes of its levels
SAVED_AFTER = 1.0  # seconds of work

T = TypeVar("T")
Meanwhile = Callable[[], object] | None  # what is done between two turns
Taking = Generator[Meanwhile, None, T]


@dataclass(eq=False)
class Kept:
    """One head, its map as far as it is built, and its profile.

    Attributes
    ----------
    place, look
        Which head.
    map : WeightMap
        Works out what it is asked for.
    file : Path or None
        Where the map may be saved; None where the capture is no file of the caller's.
    refused : str or None
        Why the whole map is not built, one sentence; fine tiles are there all the same.
    held : int
        Bands of the map that its file holds; -1 where there is none of use.
    trouble : str or None
        Why there is no file of use, one sentence.
    spent : float
        Seconds that were worked on `built` bands of the map here.
    profile : Profile or None
        What goes along the axes, once asked for.
    """

    place: Place
    look: Lookup
    map: WeightMap
    file: Path | None
    refused: str | None = None
    held: int = -1
    trouble: str | None = None
    spent: float = 0.0
    built: int = 0
    profile: "Profile | None" = None
    _tried: int = field(default=0, repr=False)
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def work(self, seconds: float) -> bool:
        """Build the map for about so long; return whether it is whole."""
        if self.map.done == self.map.of:
            return True
        before, start = self.map.done, time.perf_counter()
        whole = self.map.step(seconds)
        self.spent += time.perf_counter() - start
        self.built += self.map.done - before
        return whole

    def row(self, query: int) -> Row:
        """Return a whole row in float64; between turns, for a long one takes its time."""
        with self._reading:
            return self.map.row(query)

    def seconds_left(self) -> float | None:
        """Return how long the rest of the map will take; None before anything is known."""
        left = self.map.of - self.map.done
        return 0.0 if not left else self.spent / self.built * left if self.built else None

    def worth_saving(self) -> bool:
        """Return True, once each, where the map and where its profile are whole and were slow.

        Only of what has a place to go.
        """
        if self.file is None or self.map.done < self.map.of:
            return False
        spent = [self.spent]
        if self.profile is not None and self.profile.whole:
            spent.append(self.profile.spent)
        slow = sum(seconds > SAVED_AFTER for seconds in spent)
        worth, self._tried = slow > self._tried, slow
        return worth

    def save(self) -> None:
        """Write the map beside the capture; a failure is told, not raised.

        Where its file is there, and what its profile adds cannot be written, nothing is to be told.
        """
        if self.file is None:
            return
        done = self.map.done
        try:
            self.file.parent.mkdir(exist_ok=True)
            self.map.save(self.file)
        except (SoftlookupError, OSError) as error:
            if self.saved is None:
                self.trouble = _told(error, self.file, "written")
        else:
            self.held, self.trouble = done, None

    @property
    def saved(self) -> str | None:
        """The name of the file that holds all that is built; None where there is none."""
        return _name(self.file) if self.file is not None and self.held >= self.map.done else None

    @property
    def bytes(self) -> int:
        """Bytes in memory: of levels that lie in a file, or are never built, only the rows'."""
        rows = ROW_BYTES * self.map.shape[0]
        mapped = self.saved is not None and not self.built
        mine = rows if mapped or self.refused is not None else self.map.bytes
        return mine + (0 if self.profile is None else self.profile.bytes)


class Shelved:
    """The heads that are kept, the latest last."""

    def __init__(self) -> None:
        self._heads: OrderedDict[tuple[str, int, int, int], Kept] = OrderedDict()

    def head(self, opened: Opened, args: Arguments) -> Taking[Kept]:
        """Return the head that a request means, its saved map opened where there is one.

        Raises
        ------
        ViewError
            Where the head has no weights.
        """
        place = place_of(opened, args)
        layer = arguments.whole(args, "layer", len(opened.capture.layers), default=0)
        name = opened.item.id, layer, place.batch, place.head
        if name not in self._heads:
            made: list[Kept] = []
            yield lambda: made.append(open_kept(opened.item.path, place, layer))
            self._heads.setdefault(name, made[0])  # another may have been faster meanwhile
        kept = self._heads[name]
        self._heads.move_to_end(name)
        self._forget()
        return kept

    def _forget(self) -> None:
        """Let go of those that were not asked about for longest."""
        while len(self._heads) > 1 and (
            len(self._heads) > MOST_HEADS
            or sum(kept.bytes for kept in self._heads.values()) > MOST_BYTES
        ):
            self._heads.popitem(last=False)

    def __len__(self) -> int:
        return len(self._heads)


def open_kept(path: Path | None, place: Place, layer: int) -> Kept:
    """Return a head with its saved map, or with one of which nothing is worked out yet."""
    look = place.look
    problem = look.problem
    if not (problem.q_len and problem.kv_len):
        raise ViewError(
            "map", f"must be of at least one query and one key; this head has {problem.q_len:,} x "
            f"{problem.kv_len:,}. Choose another."
        )  # fmt: skip
    file, trouble = None if path is None else _file(path, place, layer), None
    try:
        if file is not None and file.is_file():
            there = WeightMap.open(file, look)
            if there.pools == POOLS:
                return Kept(place, look, there, file, held=there.done)
            trouble = _lacking(there, file)
    except (SoftlookupError, OSError) as error:
        trouble = _told(error, file, "read")
    return _fresh(place, look, file, trouble)


def _fresh(place: Place, look: Lookup, file: Path | None, trouble: str | None) -> Kept:
    """Return a head of whose map nothing is built yet."""
    made = look.map(build=False)
    return Kept(place, look, made, file, refused=_refusal(made), trouble=trouble)


def _lacking(there: WeightMap, file: Path) -> str:
    """Return why a map that was saved with one pool is not used."""
    return readable(
        f"{file}: must hold {' and '.join(POOLS)}; it holds {' and '.join(there.pools)}. The map "
        "is built anew."
    )


def _refusal(made: WeightMap) -> str | None:
    """Return why the whole map will not be built, in the words of the page."""
    if made.refused is None:
        return None
    (q_len, kv_len), (seconds, size) = made.shape, made.estimate()
    return (
        f"map: must take at most {made.limit:,} bytes to be built as a whole; {q_len:,} x "
        f"{kv_len:,} weights take {size:,}, and about {seconds / 60:,.0f} minutes. Zoom in: cells "
        f"of up to {2 ** (BASE - 1)} x {2 ** (BASE - 1)} weights are worked out where you look."
    )


def _file(path: Path, place: Place, layer: int) -> Path:
    """Return where the map of a head goes, beside its capture."""
    number = place.layer.heads[place.head]
    folder = path.with_name(f"{path.name}.maps")
    return folder / f"layer-{layer}-head-{number}-batch-{place.batch}.safetensors"


def _name(file: Path) -> str:
    return readable(f"{file.parent.name}/{file.name}")


def _told(error: Exception, file: Path | None, done: str) -> str:
    """Return what is said about a file that could not be read or written."""
    if isinstance(error, SoftlookupError):
        return readable(str(error))
    reason = getattr(error, "strerror", None) or error
    return readable(f"{file}: cannot be {done}: {reason}. The map stays in memory.")
