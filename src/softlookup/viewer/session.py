"""Session: what a view may ask, and what it is told. Every host carries this and nothing else.

A request is ``(op, args)``, a name and texts; the answer is ``(json, bytes)``, where bytes is None
for most ops. A refusal is ``{"ok": false, "error": ..., "argument": ...}``. Numbers that JSON lacks
travel as the texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.

Any number of threads may ask at once; they take turns. A long answer is a generator: at each of its
yields the next one in the queue has a turn. What it yields, if anything, is called between two
turns: long work on what nobody else changes, such as writing a file.

The map of a head grows while the page asks it to (``work=1``), by about 0.15 seconds a request, and
stops when the page does. These ops choose a head by ``capture, layer, batch, head``, and take:

``map`` : work
    How far it is: ``q_len, kv_len, base, top, tile, pools, done, of, seconds_left, bytes, refused,
    saved, trouble, backend, codes``. `refused` is a sentence where the whole map would be too much;
    tiles finer than level `base` are worked out all the same.
``tile`` : level, i, j
    ``level, i, j, rows, columns, whole``, and for each pool a byte a cell, row by row; see `codes`.
    A cell of level L is ``2**L x 2**L`` weights; tile (i, j) begins at cell (i * tile, j * tile).
    Where it is not `whole`, some cells are not known yet: ask again.
``at`` : query, key
    ``weight, visible, score, lse``, all float64 as in a trace.
``block`` : rows, keys
    ``max, query, key, share, visible``: the strongest pair of a rectangle, and its share.
``strongest`` : rows, keys, count, so_far
    ``links``, each ``query, key, weight``, falling; of the whole map where rows and keys are left
    out. What would take too long is refused; with ``so_far=1`` it is looked for among those rows
    that the map has, and ``known`` says how many these are.
``profile`` : work
    ``done, of, seconds_left, refused, top_received, lowest_entropy, highest_entropy``; the lists
    are null until all is done. What a key receives is compared by ``each``, its mean over the
    queries that see the key; an entropy by ``spread``, its share of the most that the visible keys
    allow.
``head`` : work
    ``done, of, seconds_left, by, summary``; once it is done the summary holds ``number,
    entropy, first_share, previous_share, distance, sink, groups, rows, columns, per``, and the
    bytes are its thumbnail: float32, the largest weight of each block, -1 where hidden.
``strip`` : axis, span, buckets
    The profile of ``queries`` (entropy) or ``keys`` (received): ``axis, start, stop, buckets,
    unit``, and float32: the largest, the smallest and the mean of each bucket, NaN where nothing is
    known.

A view that shows a survey is told "survey" among its modes, and asks one thing:

``survey``
    The heads of all texts, and how their numbers are spread; see `surveyed`.
"""

from collections.abc import Callable, Generator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softlookup import lesson
from softlookup.captures import Capture
from softlookup.errors import SoftlookupError, ViewError
from softlookup.shelf import Item, given, shelf_of
from softlookup.tracing import to_json
from softlookup.viewer import (
    arguments,
    heads,
    maps,
    profiles,
    rectangles,
    summaries,
    surveyed,
    thumbnails,
)
from softlookup.viewer.arguments import Arguments
from softlookup.viewer.information import (
    LEDGER_KEYS,
    Json,
    information,
    whole_numbers,
    why_not_editable,
)
from softlookup.viewer.kept import Kept, Meanwhile, Shelved, Taking
from softlookup.viewer.opened import Opened, place_of
from softlookup.viewer.turns import Turns

if TYPE_CHECKING:
    from softlookup.surveys.reading import Survey

MOST_KEYS = 256  # columns of one record
MOST_CELLS = 64  # rows, and keys, of one rectangle of weights in JSON

Answer = Json | tuple[Json, bytes]
Answering = Answer | Taking[Answer]


class Operation(NamedTuple):
    """One thing a view may ask: how it is answered, and the arguments it takes."""

    answer: Callable[["Session", Arguments], Answering]
    arguments: tuple[str, ...] = ()


class Session:
    """Answer the questions of a view on a shelf of captures, in turns.

    Parameters
    ----------
    first : Item or Capture
        What is shown first; what comes with the package stands beside it.
    survey : Survey, optional
        What the page shows instead.
    """

    def __init__(self, first: Item | Capture, survey: "Survey | None" = None) -> None:
        self.survey = survey
        self.shelf = shelf_of(given(first, "lookup") if isinstance(first, Capture) else first)
        self.kept = Shelved()
        self.summaries = summaries.Summaries()
        self._opened: dict[str, Opened] = {}
        self._turns = Turns()  # a row of a long context fills memory and cores
        self.open(self.shelf[0].id)

    def open(self, name: str) -> Opened:
        """Return the capture of that id, loaded once."""
        if name not in self._opened:
            item = next(item for item in self.shelf if item.id == name)
            self._opened[name] = Opened(item)
        return self._opened[name]

    def handle(self, op: str, args: Arguments) -> tuple[Json, bytes | None]:
        """Answer one request; what cannot be answered comes back as a sentence, never raised."""
        try:
            operation = OPERATIONS.get(op)
            if operation is None:
                raise ViewError("op", f"must be one of {', '.join(OPERATIONS)}; got {op[:40]!r}.")
            arguments.check_names(args, operation.arguments, op)
            answer = self._answered(operation, args)
        except SoftlookupError as error:
            return {"ok": False, "error": str(error), "argument": error.argument}, None
        return answer if isinstance(answer, tuple) else (answer, None)

    def _answered(self, operation: Operation, args: Arguments) -> Answer:
        with self._turns:
            answer = operation.answer(self, args)
        if not isinstance(answer, Generator):
            return answer
        while True:
            with self._turns:
                try:
                    meanwhile: Meanwhile = next(answer)
                except StopIteration as done:
                    whole: Answer = done.value
                    return whole
            if meanwhile is not None:
                meanwhile()


def _opened(session: Session, args: Arguments) -> Opened:
    names = [item.id for item in session.shelf]
    return session.open(arguments.word(args, "capture", names, default=names[0]))


def _of_capture(answer: Callable[[Opened, Arguments], Answering], *names: str) -> Operation:
    """Return the operation that asks one capture of the shelf."""
    return Operation(
        lambda session, args: answer(_opened(session, args), args), ("capture", *names)
    )


def _of_head(
    answer: Callable[[Kept, Arguments], Taking[Json] | Taking[tuple[Json, bytes]]], *names: str
) -> Operation:
    """Return the operation that asks one head, whose map is kept."""

    def asked(session: Session, args: Arguments) -> Taking[Answer]:
        kept = yield from session.kept.head(_opened(session, args), args)
        told: Answer = yield from answer(kept, args)
        return told

    return Operation(asked, ("capture", *_HEAD, *names))


def _info(session: Session, args: Arguments) -> Json:
    found = information(_opened(session, args), session.shelf)
    if session.survey is not None:
        found["modes"] = [*found["modes"], "survey"]
    return found


def _survey(session: Session, _: Arguments) -> tuple[Json, bytes]:
    if session.survey is None:
        raise ViewError("survey", "is not open here. Open one with softlookup heads OUT/.")
    return surveyed.told(session.survey)


def _arrays(opened: Opened, args: Arguments) -> Json:
    look = place_of(opened, args).look
    reason = why_not_editable(look)
    if reason is not None:
        raise ViewError("arrays", f"go to the page only where they can be edited. {reason}")
    problem = look.problem
    traced = look.trace()
    return {
        "query": to_json(traced.query.astype(np.float64)),
        "key": to_json(traced.key.astype(np.float64)),
        "value": None if traced.value is None else to_json(traced.value.astype(np.float64)),
        "visible": to_json(traced.visible),
        "bias": to_json(traced.bias),
        "sink": None if traced.sinks is None else to_json(traced.sinks.astype(np.float64)[0]),
        "scale": to_json(problem.scale),
        "softcap": to_json(problem.softcap),
        "q_offset": whole_numbers(problem.q_offset),
    }


def _trace(opened: Opened, args: Arguments) -> Json:
    place = place_of(opened, args)
    look = place.look
    row = arguments.whole(args, "row", look.problem.q_len, default=None)
    top = arguments.whole(args, "top", MOST_KEYS + 1, default=LEDGER_KEYS, low=1)
    traced = look.trace(
        rows=[row],
        tokens=opened.readable(place.queries),
        key_tokens=opened.readable(place.keys),
    )
    return traced.record(0, top=top)


def _weights(opened: Opened, args: Arguments) -> Generator[None, None, Json]:
    look = place_of(opened, args).look
    rows = arguments.wholes(args, "rows", look.problem.q_len, MOST_CELLS)
    keys = arguments.wholes(args, "keys", look.problem.kv_len, MOST_CELLS)
    part = yield from rectangles.exact([look], np.array(rows), np.array(keys))
    return {"weights": to_json(part.weights), "visible": to_json(part.visible)}


def _summary(session: Session, args: Arguments) -> Taking[Json | tuple[Json, bytes]]:
    return session.summaries.head(session.kept, _opened(session, args), args)


def _lesson(_: Session, __: Arguments) -> Json:
    return {
        "sections": [section.to_dict() for section in lesson.sections()],
        "recap": list(lesson.recap()),
        "checklist": [point.to_dict() for point in lesson.checklist()],
    }


def _exercise(_: Session, args: Arguments) -> Json:
    skill = arguments.word(args, "skill", lesson.SKILLS)
    seed = arguments.whole(args, "seed", lesson.LARGEST_SEED + 1, default=None)
    return lesson.exercise(skill, seed).to_dict()


def _check(_: Session, args: Arguments) -> Json:
    skill = arguments.word(args, "skill", lesson.SKILLS)
    seed = arguments.whole(args, "seed", lesson.LARGEST_SEED + 1, default=None)
    return lesson.check(skill, seed, arguments.answer(args, "answer")).to_dict()


_HEAD = ("layer", "batch", "head")

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "info": Operation(_info, ("capture",)),
        "arrays": _of_capture(_arrays, *_HEAD),
        "trace": _of_capture(_trace, *_HEAD, "row", "top"),
        "weights": _of_capture(_weights, *_HEAD, "rows", "keys"),
        "overview": _of_capture(thumbnails.overview, "layer", "batch", "heads"),
        "grid": _of_capture(heads.grid, *_HEAD, "like", "rows", "keys", "words"),
        "facts": _of_capture(heads.facts, *_HEAD, "like"),
        "everywhere": _of_capture(heads.everywhere, "layer", "batch", "query"),
        "map": _of_head(maps.progress, "work"),
        "tile": _of_head(maps.tile, "level", "i", "j"),
        "at": _of_head(maps.at, "query", "key"),
        "block": _of_head(maps.block, "rows", "keys"),
        "strongest": _of_head(maps.strongest, "rows", "keys", "count", "so_far"),
        "profile": _of_head(profiles.progress, "work"),
        "strip": _of_head(profiles.strip, "axis", "span", "buckets"),
        "head": Operation(_summary, ("capture", *_HEAD, "work")),
        "survey": Operation(_survey),
        "lesson": Operation(_lesson),
        "exercise": Operation(_exercise, ("skill", "seed")),
        "check": Operation(_check, ("skill", "seed", "answer")),
    }
)
