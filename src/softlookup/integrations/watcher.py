"""Watcher: answers a model's attention calls, and looks at those that were asked for."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple

from softlookup.device import is_on_device
from softlookup.errors import OptionError
from softlookup.integrations import seeing
from softlookup.integrations.admission import (
    check_heads,
    check_layers,
    check_paths,
    unrouted,
)
from softlookup.integrations.asking import Asked
from softlookup.integrations.carrying import Hold
from softlookup.integrations.comparing import check_answer
from softlookup.integrations.keeping import Keeper
from softlookup.integrations.masks import LazyMask
from softlookup.integrations.moment import Moment
from softlookup.integrations.places import Place
from softlookup.integrations.routing import (
    Overlays,
    as_read,
    attention_of,
    is_idle,
    masks_of,
    read_call,
    routed,
)
from softlookup.integrations.runs import Runs, Shown
from softlookup.integrations.seeing import Seen
from softlookup.tensors import is_compiling
from softlookup.watched import Glance, Watched


class Chosen(NamedTuple):
    """Which lookups are looked at.

    Attributes
    ----------
    numbers : frozenset of int or None
        Of layers; None for all.
    paths : tuple of str
        Of modules, whose calls are looked at whatever their number.
    heads : tuple of int or None
        None for all.
    """

    numbers: frozenset[int] | None = None
    paths: tuple[str, ...] = ()
    heads: tuple[int, ...] | None = None

    def layer(self, place: Place) -> bool:
        """Return whether a call there is looked at."""
        if self.numbers is None or place.number in self.numbers:
            return True
        return any(_is_under(place, one) for one in self.paths)


def _is_under(place: Place, path: str) -> bool:
    """Return whether a call came from the module at `path`, or one in it; "" is the model."""
    return path in {"", place.path} or place.path.startswith((f"{path}.", f"{path}#"))


def _as_theirs(out: Any) -> tuple[Any, None]:
    """Return an answer as the library's attention does."""
    return out.transpose(1, 2).contiguous(), None


class Watcher:
    """Stands in a model's attention for as long as it is watched.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    watched : Watched
        What is fed.
    asked : Asked, optional
        What is looked at; nothing where left out.
    chosen : Chosen
    own : bool
        Whether the model's own attention answers.
    keep : bool
        Whether queries, keys and values stay.
    progress : callable, optional
        Told the number of lookups seen so far.
    """

    def __init__(
        self,
        model: Any,
        watched: Watched,
        *,
        asked: Asked | None,
        chosen: Chosen,
        own: bool,
        keep: bool,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._model, self._watched = model, watched
        self._asked, self._chosen, self._own, self._progress = asked, chosen, own, progress
        self._keeper = Keeper() if keep else None
        self._overlays = Overlays()  # of a pass
        self._hold = Hold()
        self._runs = Runs(
            model,
            watched,
            self._hold,
            begun=self._begun,
            passed=self._passed,
            ended=self._ended,
        )
        self._before: Callable[[Any], str] = lambda _: "eager"
        self._sinks = False
        self._compared: set[str] = set()  # layers whose answer was, with what is looked at
        self._ids = [False, False]  # of a pass: whether ids were missing, whether any were known
        self._reach = 0  # the token position after the last row of a run
        self._wanted = -1  # the last token position of a run that is to count
        self._of_text: dict[tuple[str, bool, bool], Asked] = {}  # of a pass, by whose text it is
        self._stack: ExitStack | None = None

    def __enter__(self) -> Watched:
        """Begin to watch."""
        if self._stack is not None:
            raise OptionError(
                "model", "must be watched anew in each block; this watch() has had its own. Write "
                "with sl.watch(...) again."
            )  # fmt: skip
        with ExitStack() as stack:
            self._before = stack.enter_context(routed(self._model, self.answer, self.mask))
            stack.enter_context(self._runs.followed())
            self._stack = stack.pop_all()
        return self._watched

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the model as it was, and refuse what was not seen."""
        if self._stack is not None:
            self._stack.__exit__(kind, error, trace)
        if kind is None:
            self._check_seen()

    def _check_seen(self) -> None:
        """Refuse a block of which nothing is seen, or not what was asked for."""
        name, runs = type(self._model).__name__, self._runs
        if not runs.seen and runs.passes:
            raise unrouted(self._model)
        if not runs.seen and runs.astray:
            raise OptionError(
                "model", f"must be called as model(...), where a pass begins and ends; {name} made "
                f"{runs.astray} attention calls outside of one, as model.forward(...) does. Call "
                "the model itself."
            )  # fmt: skip
        if not runs.seen:
            raise OptionError(
                "model", f"must run inside the with block; {name} made no attention call there. "
                "Call it, or its generate(), before the block ends."
            )  # fmt: skip
        if not runs.finished:
            raise OptionError(
                "model", f"must finish a pass to be seen; each of {runs.passes} was cut short by "
                "an exception. Let it end, and choose with layers= what is looked at."
            )  # fmt: skip
        check_paths(self._chosen.paths, [
            path for path in self._chosen.paths
            if any(_is_under(place, path) for place in runs.seen)
        ])  # fmt: skip

    def mask(self, **given: Any) -> Any:
        """Return what stands for a mask that is asked for; called by transformers."""
        verb = self._mask
        if is_compiling():  # as in `answer`
            verb = sys.modules["torch"].compiler.disable(verb)
        return verb(given)

    def _mask(self, given: Mapping[str, Any]) -> Any:
        from softlookup.integrations import unmade

        asked = LazyMask(given, masks_of(self._before(given.get("config"))))
        stands = unmade.handed(asked)
        if is_on_device(asked) and isinstance(stands, unmade.UnmadeMask):
            _ = asked.sight, self._own and stands.own  # now, so that no layer waits for it
        return stands

    def answer(  # noqa: PLR0917 (the library's signature)
        self,
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any = None,
        scaling: float | None = None,
        is_causal: bool | None = None,
        **others: Any,
    ) -> tuple[Any, Any]:
        """Answer one attention call of the model; called by transformers."""
        others |= {"scaling": scaling, "is_causal": is_causal}
        arrays = query, key, value
        verb = self._answer
        if is_compiling():  # here, not in a function: torch.compile has to see it
            verb = sys.modules["torch"].compiler.disable(verb)
        return verb(module, arrays, attention_mask, others)

    def _answer(
        self, module: Any, arrays: tuple[Any, Any, Any], mask: Any, others: dict[str, Any]
    ) -> tuple[Any, Any]:
        from softlookup.integrations.unmade import rule_of

        read = as_read(mask, others, self._setting(module))
        call = read_call(module, arrays, rule_of(mask), read, partial(self._is_idle, module))
        if others.get("output_attentions") and not self._own:
            raise OptionError(
                "output_attentions", "must be left out while softlookup answers, which makes no "
                'matrix of weights; got True. Watch with compute="model".'
            )  # fmt: skip
        place, frame = self._runs.place(module), self._runs.frame
        start = 0 if frame is None else frame.start
        cross = place is not None and place.cross
        sight = partial(seeing.sight_of, call, start, self._overlays, cross=cross)
        if place is None or frame is None or not self._looks_at(place):
            if self._own:
                return self._their_answer(module, arrays, mask, others)
            return _as_theirs(seeing.answer(call, sight()))
        # What cannot be looked at is refused before anybody answers.
        now = Moment(place, self._runs.part(place), frame, call, sight())
        if not self._own:
            return _as_theirs(self._answer_and_look(now))
        answer = self._their_answer(module, arrays, mask, others)
        seen = self._look(now)
        if now.place.path not in self._compared:
            self._compared.add(now.place.path)
            heads = self._heads_of(now)
            check_answer(answer[0], now, seen, heads, self._setting(module))
        return answer

    def _looks_at(self, place: Place) -> bool:
        return self._asked is not None and self._chosen.layer(place)

    def _answer_and_look(self, now: Moment) -> Any:
        """Return the answer, with gradients where they are wanted; see in the same pass if can."""
        if self._chosen.heads is not None or now.call.wants_grad:
            out = seeing.answer(now.call, now.sight)
            self._look(now)
            return out
        out, seen = seeing.answer_and_facts(now.call, now.sight, self._asked_of(now))
        self._hand_on(now, range(now.every), seen)
        return out

    def _heads_of(self, now: Moment) -> Sequence[int]:
        """Return the heads of a call that are looked at."""
        if self._chosen.heads is None:
            return range(now.every)
        check_heads(self._chosen.heads, now.every, now.place.path)
        return self._chosen.heads

    def _look(self, now: Moment) -> list[Seen]:
        """See what some heads read, in a pass of its own."""
        heads = self._heads_of(now)
        seen = seeing.facts(
            now.call,
            now.sight,
            self._asked_of(now),
            self._chosen.heads,
            value=self._keeper is not None,
        )
        self._hand_on(now, heads, seen)
        return seen

    def _asked_of(self, now: Moment) -> dict[str, Any]:
        if self._asked is None:
            return {}
        generating, asked = self._runs.generating, self._asked_of_text(self._asked, now)
        if now.tokens:
            self._reach = max(self._reach, now.sight.start + int(now.call.query.shape[2]))
            self._wanted = max(self._wanted, asked.highest_row())
        return asked.of(
            now.call,
            now.sight,
            tokens=now.tokens,
            input_keys=now.input_keys,
            growing=generating and not (now.place.cross or now.frame.side == "encoder"),
            cross=now.place.cross,
            row_padding=now.row_padding,
        )

    def _asked_of_text(self, asked: Asked, now: Moment) -> Asked:
        """Return what is asked of a call's text, for which a function is called once a pass."""
        groups = asked.groups if now.input_keys else None
        from_rows = asked.from_rows if now.tokens else None
        if not callable(groups) and not callable(from_rows):
            return asked
        text = now.frame.side, now.tokens, now.input_keys
        if text not in self._of_text:
            here = asked._replace(groups=groups, from_rows=from_rows)
            self._of_text[text] = here.of_text(self._runs.ids, self._runs.input_ids)
        return self._of_text[text]

    def _hand_on(self, now: Moment, heads: Sequence[int], seen: list[Seen]) -> None:
        """Let the run know what a call showed."""
        group = now.every // int(now.call.key.shape[1])
        padding, row_padding = now.padding, now.row_padding
        self._sinks |= now.call.sinks is not None
        ids = self._runs.ids if self._asked is not None and self._asked.repeats else None
        if now.tokens and not now.place.cross:
            self._ids[ids is not None] = True
        for one in seen:
            shares = now.shares(one, ids)
            found, shares, causal = self._hold.take_call(one.found, shares, now.sight.causal)
            others = partial(
                Glance,
                heads=tuple(heads),
                kv_heads=tuple(head // group for head in heads),
                key_start=now.sight.key_start,
                look=self._kept(now, one),
                padding=padding,
                row_padding=None if row_padding is None else row_padding[:, one.rows],
                window=now.sight.options.get("window"),
                from_rows=one.asked.get("from_rows"),
                keys=now.sight.stop,
            )
            start = now.sight.start + one.rows.start
            self._runs.add(Shown(now.place, start, found, causal, shares, others))
        if self._progress is not None:
            self._progress(self._runs.count)

    def _kept(self, now: Moment, one: Seen) -> Any:
        if self._keeper is None:
            return None
        return self._keeper.keep(now.place.path, one.look, now.sight.key_start)

    def _their_answer(
        self, module: Any, arrays: tuple[Any, Any, Any], mask: Any, others: dict[str, Any]
    ) -> tuple[Any, Any]:
        """Let the attention answer that the model had before."""
        from softlookup.integrations.unmade import own_of

        function = attention_of(module, self._setting(module))
        given = {
            name: one for name, one in others.items() if name != "is_causal" or one is not None
        }
        out, weights = function(module, *arrays, own_of(mask), **given)
        return out, weights

    def _setting(self, module: Any) -> str:
        """Return how a module had its attention computed before."""
        return self._before(getattr(module, "config", None))

    def _is_idle(self, module: Any, name: str) -> bool:
        """Return whether a name comes from the model's caller and changes nothing."""
        return self._runs.was_given(name) and is_idle(name, module, self._setting(module))

    def _begun(self) -> None:
        """Begin another text: nothing is known of its keys."""
        self._of_text.clear()
        self._ids = [False, False]
        if self._keeper is not None:
            self._keeper.forget()

    def _passed(self, side: str) -> None:
        """Let go of what belongs to one pass; check that what was asked for is there."""
        self._overlays.clear()
        self._of_text.clear()
        (missing, known), self._ids = self._ids, [False, False]
        if self._keeper is not None:
            self._keeper.end_pass()
        if side == "encoder" or not self._runs.seen:
            return
        check_layers(sorted(self._chosen.numbers or ()), self._runs.seen)
        if self._asked is not None and self._asked.sink and not self._sinks:
            raise OptionError(
                "sink", "must be asked of a model with learned sinks; no watched layer of "
                f"{type(self._model).__name__} has any. Leave it out."
            )  # fmt: skip
        if self._asked is not None and self._asked.repeats and missing and not known:
            raise OptionError(
                "repeats", "must be asked where the ids of all tokens are known; "
                f"{type(self._model).__name__} was given none, or went on from another pass's "
                "cache. Give it the whole text as input_ids, or leave repeats out."
            )  # fmt: skip

    def _ended(self) -> None:
        """Check, at the end of a run, that the rows that are to count were there."""
        reach, self._reach = self._reach, 0
        wanted, self._wanted = self._wanted, -1
        if 0 < reach <= wanted:
            raise OptionError(
                "from_rows", f"must be token positions of the run, 0 ... {reach - 1}; got "
                f"{wanted}. Leave it out, or give a slice, which may reach beyond."
            )  # fmt: skip
