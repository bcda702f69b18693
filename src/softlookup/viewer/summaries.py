"""What one head comes to in a table of all heads: a few means, and a thumbnail.

A head is worked out in steps, each time the page asks with ``work=1``; what is whole is kept. A
long head is drawn from its map, which then stands ready for whoever opens it.
"""

import time
from collections import OrderedDict
from collections.abc import Generator

import numpy as np

from softlookup.arrays import Array
from softlookup.tracing import to_json
from softlookup.viewer import arguments, blocks, kinds, thumbnails
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import THUMBNAIL, Json
from softlookup.viewer.kept import Kept, Meanwhile, Shelved, Taking
from softlookup.viewer.opened import Opened, Place, place_of
from softlookup.viewer.readings import Means, read, wide
from softlookup.weightmap import BASE

SLICES, SLICE = 3, 0.05  # turns of one request that works, and seconds of each
STEP_CELLS = 2**25  # weights of one step, about
STEP_ROWS = 64, 128, 256, 512  # its rows: with these the kernel is at its fastest
LONG = THUMBNAIL << BASE  # tokens from which a map is drawn, and not the weights themselves
MOST_ACROSS = 1024  # cells a side of the map's level that a thumbnail is made of
MOST_UNDER_WAY = 8

_Name = tuple[str, int, int, int]


def is_long(place: Place) -> bool:
    """Return whether a head is drawn from its map."""
    problem = place.look.problem
    return max(problem.q_len, problem.kv_len) > LONG


class Summary:
    """One head, as far as it is worked out.

    Attributes
    ----------
    done, of : int
        Weights within the rows' intervals that were worked out, and that there are; twice as many
        where a map is built as well.
    kept : Kept or None
        The head of which a long one is drawn.
    """

    def __init__(self, place: Place, kept: Kept | None) -> None:
        self.place, self.kept = place, kept
        look = place.look
        self._look = wide(look)
        self._distant = look.problem.q_offset is not None
        self._labels = kinds.labels(place.keys)
        self._means = Means(place)
        q_len, kv_len = look.problem.q_len, look.problem.kv_len
        self.per = max(1, -(-max(q_len, kv_len) // THUMBNAIL))
        self._picture = np.full((-(-q_len // self.per), -(-kv_len // self.per)), -1, np.float32)
        # a row of one weight more, or rows that see nothing would take no time and never end
        self._cost = np.concatenate([[0], np.cumsum(blocks.spans(look) + 1)])
        self._rows = 0
        self._spent = self._worked = 0.0

    @property
    def _is_mapped(self) -> bool:
        """Whether a map is built as well."""
        return self.kept is not None and self.kept.refused is None

    @property
    def _drawn(self) -> float:
        """How much of the map that the thumbnail is made of is built, 0 ... 1."""
        if self.kept is None or self.kept.refused is not None:
            return 1.0
        return self.kept.map.done / self.kept.map.of

    @property
    def of(self) -> int:
        """Weights that there are to work out."""
        return int(self._cost[-1]) * (2 if self._is_mapped else 1)

    @property
    def done(self) -> int:
        """Weights that were worked out."""
        drawn = int(self._drawn * self._cost[-1]) if self._is_mapped else 0
        return int(self._cost[self._rows]) + drawn

    @property
    def whole(self) -> bool:
        """Whether nothing is left to do."""
        return self._rows == len(self._cost) - 1 and self._drawn == 1

    def seconds_left(self) -> float | None:
        """Return how long the rest will take; None before anything is known."""
        left = self.of - self.done
        return 0.0 if not left else self._spent / self._worked * left if self._worked else None

    def work(self, seconds: float) -> bool:
        """Work for about so long; return whether all is done."""
        begun, before = time.perf_counter(), self.done
        if self.kept is not None and self._drawn < 1:
            self.kept.work(seconds)
        else:
            while not self.whole:
                self._step()
                if time.perf_counter() - begun >= seconds:
                    break
        self._spent += time.perf_counter() - begun
        self._worked += self.done - before
        return self.whole

    def _step(self) -> None:
        """Read the next rows."""
        last = int(np.searchsorted(self._cost, self._cost[self._rows] + STEP_CELLS, side="right"))
        fit = last - 1 - self._rows
        step = max(rows for rows in STEP_ROWS if rows <= max(fit, STEP_ROWS[0]))
        if self.kept is None:
            step = max(self.per, step // self.per * self.per)
        rows = slice(self._rows, min(self._rows + step, self._look.problem.q_len))
        if self.kept is None:
            thumbnails.draw(self._look, rows, self._picture, self.per)
        self._means.add(rows, read(self._look, rows, self._labels, distance=self._distant))
        self._rows = rows.stop

    def numbers(self) -> Json:
        """Return what the head comes to."""
        shares = self._means.shares(len(kinds.KINDS))
        told = [None] * len(kinds.KINDS) if shares is None else shares
        there = bool((self._labels == 0).any())  # a token that is no padding
        found = {
            "number": self.place.layer.heads[self.place.head],
            "entropy": self._means.of_seeing("entropy"),
            "first_share": told[0] if there else None,
            "previous_share": self._means.previous(),
            "distance": self._means.of_seeing("distance"),
            "sink": self._means.of_seeing("sink"),
            "groups": [
                {"name": name, "share": share}
                for name, share in zip(kinds.KINDS, told, strict=True)
            ],
        }
        return to_json(found)  # type: ignore[no-any-return]

    def picture(self) -> tuple[Array, int]:
        """Return the largest weight of each block, -1 where hidden, and the block's size.

        A head whose map would be too much has no picture.
        """
        if self.kept is None:
            return self._picture, self.per
        if self.kept.refused is not None:
            return np.zeros((0, 0), np.float32), 1
        return drawn_from(self.kept)

    @property
    def backend(self) -> str:
        """What computed it."""
        return self._means.backend


def drawn_from(kept: Kept) -> tuple[Array, int]:
    """Return a thumbnail of a map that is built, -1 where hidden, and its blocks' size."""
    levels, longest = kept.map.levels, max(kept.map.shape)
    fit = (level for level in levels[BASE:] if -(-longest >> level) <= MOST_ACROSS)
    level = next(fit, levels[-1])
    found = kept.map.level(level)
    picture = np.asarray(found.max)
    if found.seen is not None:
        picture = np.where(found.seen, picture, -1)
    across = -(-max(picture.shape) // THUMBNAIL)
    for axis in (0, 1):
        picture = np.maximum.reduceat(picture, np.arange(0, picture.shape[axis], across), axis)
    return picture, across << level


class Summaries:
    """The heads of a session that were summed up, and those that are under way."""

    def __init__(self) -> None:
        self._whole: dict[_Name, tuple[Json, bytes]] = {}
        self._under_way: OrderedDict[_Name, Summary] = OrderedDict()

    def head(
        self, shelved: Shelved, opened: Opened, args: Arguments
    ) -> Taking[Json | tuple[Json, bytes]]:
        """Return how far a head is, and what it comes to; with ``work=1`` go on for a moment."""
        place = place_of(opened, args)
        layer = arguments.whole(args, "layer", len(opened.capture.layers), default=0)
        work = arguments.word(args, "work", ("0", "1"), default="0") == "1"
        name = opened.item.id, layer, place.batch, place.head
        if name in self._whole:
            return self._whole[name]
        if name not in self._under_way:
            kept = (yield from shelved.head(opened, args)) if is_long(place) else None
            made: list[Summary] = []
            yield lambda: made.append(Summary(place, kept))  # a look at every token
            self._under_way.setdefault(name, made[0])  # another may have been faster meanwhile
        summary = self._under_way[name]
        self._under_way.move_to_end(name)
        while len(self._under_way) > MOST_UNDER_WAY:
            self._under_way.popitem(last=False)
        if work:
            yield from _slices(summary)
        if not summary.whole:
            return _told(summary)
        picture, per = summary.picture()
        shape = {"rows": picture.shape[0], "columns": picture.shape[1], "per": per}
        told = {**_told(summary), "summary": {**summary.numbers(), **shape}}
        self._under_way.pop(name, None)
        self._whole[name] = told, picture.astype("<f4").tobytes()
        return self._whole[name]


def _slices(summary: Summary) -> Generator[Meanwhile, None, None]:
    for _ in range(SLICES):
        if summary.work(SLICE):
            break
        yield None
    if summary.kept is not None and summary.kept.worth_saving():
        yield summary.kept.save


def _told(summary: Summary) -> Json:
    return {
        "done": summary.done,
        "of": summary.of,
        "seconds_left": summary.seconds_left(),
        "by": summary.backend,
        "summary": None,
    }
