"""Runs: what belongs together while a model works: one forward pass, or one call of generate().

Hooks say when a model, or a model in it, begins and ends; between them its attention calls come in.
What they showed is handed on at the end of each pass, when all stacks have been seen and can be
named.
"""

import functools
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import IntArray
from softlookup.errors import OptionError
from softlookup.inspection import Inspection
from softlookup.integrations.carrying import Carried, Hold
from softlookup.integrations.following import call_at_work, followed, stack_of
from softlookup.integrations.frames import Frame, as_ids, frame_of
from softlookup.integrations.generation import check_generation, no_batching, reads_in_chunks
from softlookup.integrations.keeping import Apart
from softlookup.integrations.places import Place, Places, name_parts
from softlookup.integrations.routing import routed_modules
from softlookup.integrations.sending import Numbers
from softlookup.tensors import is_transforming
from softlookup.watched import Glance, Watched
from softlookup.watched.shares import Shares
from softlookup.watched.texts import GROWING


class Shown(NamedTuple):
    """What a call, or a band of its rows, showed; a `Glance` once its pass has ended.

    Attributes
    ----------
    place : Place
    start : int
        The token position of its first row.
    found : Inspection or Apart
        Of arrays in memory, or of what is carried.
    causal, shares
        As in `Glance`.
    others : callable
        `Glance`, given the rest of what it is made of.
    """

    place: Place
    start: int
    found: Inspection | Apart
    causal: bool | Carried
    shares: Shares | Carried
    others: Callable[..., Glance]

    def glance(self, run: int) -> Glance:
        """Return it as part of a run."""
        found = self.found.together() if isinstance(self.found, Apart) else self.found
        return self.others(
            run=run, start=self.start, found=found, causal=self.causal, shares=self.shares
        )


class Runs:
    """The runs of one watched model.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    watched : Watched
        What is fed.
    hold : Hold
        What is kept of it on a GPU.
    begun : callable
        Called where another text may begin.
    passed : callable
        Called at the end of each pass with the side that it was on.
    ended : callable
        Called at the end of each run.

    Attributes
    ----------
    seen : dict of Place to None
        Where calls have come from, in order.
    passes, finished : int
        How many passes began, and how many of them came to their end.
    astray : int
        How many calls came outside of a pass.
    """

    def __init__(
        self,
        model: Any,
        watched: Watched,
        hold: Hold,
        *,
        begun: Callable[[], None],
        passed: Callable[[str], None],
        ended: Callable[[], None],
    ) -> None:
        self._model, self._watched, self._hold = model, watched, hold
        self._begun, self._passed, self._ended = begun, passed, ended
        self.paths = {id(module): path for path, module in model.named_modules()}
        self._sides = _sides(model)
        self._seeded = _attention_places(self.paths, model)
        self.seen: dict[Place, None] = {}
        self.passes = self.finished = self.astray = 0
        self._parts: dict[tuple[str, bool], str] = {}
        self._lock = threading.RLock()
        self._frames: list[Frame] = []
        self._thread: int | None = None  # in which the model works, or generates
        self._places = Places(self.paths)
        self._pending: list[Shown] = []
        self._ids: list[tuple[str, int, Numbers]] = []
        self._run: int | None = None  # of the pass, or of generate(), that goes on
        self._count = 0
        self._ends: dict[str, int] = {}
        self._generating = 0
        self._awaits_prompt = False  # generate() has begun, what it was given is not read yet
        self._prompt: int | None = None  # how many tokens that was; None where it is not known
        self._kept = 0

    @property
    def frame(self) -> Frame | None:
        """The innermost model at work."""
        return self._frames[-1] if self._frames else None

    @property
    def ids(self) -> IntArray | None:
        """Token ids of the text at work from its first token on; None where they are not known."""
        frame = next((one for one in reversed(self._frames) if one.ids is not None), None)
        if frame is None or frame.ids is None or not frame.start:
            return None if frame is None else frame.ids
        before = None if self._run is None else self._watched.ids(self._run, frame.side)
        if before is None or len(before) != len(frame.ids) or before.shape[1] < frame.start:
            return None
        return np.concatenate([before[:, : frame.start], frame.ids], axis=1)

    def was_given(self, name: str) -> bool:
        """Return whether a model at work was given something by that name."""
        return any(name in frame.names for frame in self._frames)

    @property
    def input_ids(self) -> IntArray | None:
        """Token ids of the input, which of an encoder and a decoder the encoder reads."""
        if not self._sides:
            return self.ids
        there = [some.array for side, start, some in self._ids if (side, start) == ("encoder", 0)]
        if there:
            return there[-1]
        return None if self._run is None else self._watched.ids(self._run, "")

    @property
    def count(self) -> int:
        """How many calls have shown something."""
        return self._kept + len(self._pending)

    def place(self, module: Any) -> Place | None:
        """Return where a call of `module` stands; None where it does not belong to a pass."""
        if not self._frames or id(module) not in self.paths:
            self.astray += not self._frames
            return None
        place = self._places.next(module)
        self.seen[place] = None
        return place

    @property
    def generating(self) -> bool:
        """Whether generate() goes on."""
        return self._generating > 0

    def part(self, place: Place) -> str:
        """Return the part that a call is in, as far as it can be told before its pass has ended."""
        kind = place.stack, place.cross
        if kind not in self._parts:
            self._parts = name_parts([*self._seeded, *self.seen])
        return self._parts[kind]

    def add(self, shown: Shown) -> None:
        """Take in what a call showed; it is handed on at the end of the pass."""
        self._pending.append(shown)

    def followed(self) -> AbstractContextManager[None]:
        """Follow the model until the block ends."""
        return followed(self._model, self._enter, self._leave, self._verbs)

    def _verbs(self, model: Any) -> dict[str, Callable[..., Any]]:
        """Return what stands in the place of a model's own methods."""
        verbs: dict[str, Callable[..., Any]] = {}
        if callable(getattr(model, "generate", None)):
            verbs["generate"] = self._generate(model)
        if callable(getattr(model, "init_continuous_batching", None)):
            verbs |= dict.fromkeys(("init_continuous_batching", "generate_batch"), no_batching)
        return verbs

    def _claim(self) -> None:
        """Take the model for this thread, under the lock; what was cut short works no more."""
        stack = stack_of(self._thread) if self._frames else set()
        for i, frame in enumerate(self._frames):
            if frame.at is not None and id(frame.at) not in stack:
                del self._frames[i:]
                break
        if not self._frames:
            self._forget_pass()
        free = not self._frames and not self._generating
        if not free and self._thread != threading.get_ident():
            raise OptionError(
                "model", f"must run in one thread at a time while it is watched; "
                f"{type(self._model).__name__} was called from two. Run one after the other."
            )  # fmt: skip
        self._thread = threading.get_ident()

    def _forget_pass(self) -> tuple[list[Shown], list[tuple[str, int, Numbers]]]:
        """Return what came since the pass began, and keep nothing of it."""
        pending, ids = self._pending, self._ids
        self._pending, self._ids, self._places = [], [], Places(self.paths)
        return pending, ids

    def _enter(self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if is_transforming():
            raise OptionError(
                "model", "must not run inside a transform of torch.func (grad, vjp, jvp, vmap) "
                "while it is watched: there are no numbers to read in it. Call it plainly, and "
                "take its gradients with backward() or torch.autograd.grad()."
            )  # fmt: skip
        frame = frame_of(module, self._sides.get(id(module), ""), args, kwargs, call_at_work())
        with self._lock:
            self._claim()
            outermost = not self._frames
            self._frames.append(frame)
            if outermost:
                self.passes += 1
                if not (self._generating and frame.start):
                    self._begun()
            if frame.tokens is not None and (frame.side if self._sides else outermost):
                self._ids.append((frame.side, frame.start, frame.tokens))

    def _leave(self, module: Any, _: Any, result: Any) -> None:
        with self._lock:
            there = [frame.module for frame in self._frames]
            if self._thread != threading.get_ident() or module not in there:
                return  # it was not let in
            at = len(there) - 1 - there[::-1].index(module)
            frame = self._frames[at]
            del self._frames[at:]  # and what was cut short in it
            if self._frames:
                return
            pending, ids = self._forget_pass()
            if result is None:  # it ended by an exception: half a pass is none
                return
            self._take_in(pending, ids)
            self._passed(frame.side)
            if not self._generating and frame.side != "encoder":
                self._ended()

    def _take_in(self, pending: list[Shown], ids: list[tuple[str, int, Numbers]]) -> None:
        """Hand on what a pass showed."""
        self.finished += 1
        run = self._begin(pending)
        parts = name_parts([*self._seeded, *self.seen])
        for side, start, some in ids:
            self._watched.add_ids(run, side, start, some.array)
        self._hold.pack(pending)
        for shown in pending:
            place, glance = shown.place, shown.glance(run)
            self._check_end(place, glance)
            part = parts[place.stack, place.cross]
            self._watched.add(place.path, place.number, part, glance)
        self._note_prompt(run)
        self._kept += len(pending)
        if not self._generating:
            self._run = None

    def _note_prompt(self, run: int) -> None:
        """Keep how many tokens generate() was given: what its first pass over the text read."""
        if self._awaits_prompt:
            ends = [
                self._ends[place.path] for place in self.seen
                if place.path in self._ends and not place.cross and self.part(place) in GROWING
            ]  # fmt: skip
            self._prompt = max(ends, default=None)  # an encoder's pass reads none of it
            self._awaits_prompt = self._prompt is None
        if self._prompt is not None:
            self._watched.add_prompt(run, self._prompt)

    def _begin(self, pending: list[Shown]) -> int:
        """Return the run that goes on, or a new one; generate() may read one text after another."""
        again = any(one.start == 0 and self._ends.get(one.place.path, 0) > 0 for one in pending)
        if self._run is None or again:
            self._run, self._count, self._ends = self._count, self._count + 1, {}
        return self._run

    def _check_end(self, place: Place, glance: Glance) -> None:
        """Refuse a step that does not go on where the one before ended."""
        end = self._ends.get(place.path)
        if end is not None and glance.start != end:
            raise OptionError(
                "model", f"must go on where it was, at token {end}; it went to token "
                f"{glance.start}, as where tokens are taken back, or a second text is read between "
                "the steps of one. Generate without that, or watch one forward over the whole text."
            )  # fmt: skip
        self._ends[place.path] = glance.start + glance.found.lse.shape[2]

    def _generate(self, model: Any) -> Callable[..., Any]:
        """Return `model.generate` as one run."""
        inner = model.generate

        @functools.wraps(inner)
        def generate(*args: Any, **kwargs: Any) -> Any:
            check_generation(model, inner, args, kwargs)
            with self._lock:
                self._claim()
                first = self._count
                self._generating += 1
                self._prompt = None
                self._awaits_prompt = not reads_in_chunks(model, inner, args, kwargs)
                self._begun()
            try:
                result = inner(*args, **kwargs)
                self._add_result(result, first)
                if self._generating == 1:
                    self._ended()
            finally:
                with self._lock:
                    self._generating -= 1
                    if not self._generating:
                        self._run = self._prompt = None
                        self._awaits_prompt = False
            return result

        return generate

    def _add_result(self, result: Any, first: int) -> None:
        """Take in the whole text: its last token was read by no step."""
        ids = as_ids(getattr(result, "sequences", result))
        ends = [
            end for path, end in self._ends.items()
            if not self._sides or any(p.path == path and _decodes(p) for p in self.seen)
        ]  # fmt: skip
        most = max(ends, default=-2) + 1
        if ids is None or self._count != first + 1 or ids.array.shape[1] != most:
            return
        self._watched.add_ids(first, "decoder" if self._sides else "", 0, ids.array)


def _decodes(place: Place) -> bool:
    return "decoder" in place.path


def _sides(model: Any) -> dict[int, str]:
    """Return which models in `model` are its encoder and its decoder, by id."""
    if not getattr(model.config, "is_encoder_decoder", False):
        return {}
    found = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    return {id(module): side for side, module in found.items() if module is not model}


def _attention_places(paths: Mapping[int, str], model: Any) -> list[Place]:
    """Return a place for each attention module in a layer, called or not.

    So that a part has its name before all others were seen: generate() runs an encoder, or what
    reads images, in a pass of its own.
    """
    places = Places(paths)
    return [
        places.next(module)
        for module in routed_modules(model)
        if "Attention" in type(module).__name__
        and any(part.isdecimal() for part in paths[id(module)].split("."))
    ]
