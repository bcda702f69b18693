"""Follow a model at work: told where it, or a model in it, begins and ends, and where it generates.

What stands in a model for that long is no part of it: a copy of the model that is made meanwhile
gets what was there before.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from softlookup.integrations.routing import routed_modules
from softlookup.tensors import is_compiling


class Guest:
    """A function that stands in a model, but not in copies of it.

    Parameters
    ----------
    verb : callable
    instead : tuple
        What a copy has there, as ``__reduce__`` returns it.
    """

    def __init__(self, verb: Callable[..., Any], instead: tuple[Any, ...]) -> None:
        self._verb, self._instead = verb, instead
        functools.update_wrapper(self, verb, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do it; outside of the graph where the model is compiled."""
        verb = self._verb
        if is_compiling():
            verb = sys.modules["torch"].compiler.disable(verb)
        return verb(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy has."""
        return self._instead


def _no_hook() -> Callable[..., None]:
    return _idle


def _idle(*_: Any) -> None:
    """Do nothing, in a copy of a model that was followed."""


@contextmanager
def followed(
    model: Any,
    enter: Callable[..., None],
    leave: Callable[..., None],
    verbs: Callable[[Any], dict[str, Callable[..., Any]]],
) -> Iterator[None]:
    """Call `enter` and `leave` as models begin and end, until the block ends.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    enter, leave : callable
        As forward hooks; `leave` is called after an exception, too.
    verbs : callable
        From a model to what stands meanwhile in the place of methods that it has, by name.
    """
    from transformers import PreTrainedModel

    hooks = Guest(enter, (_no_hook, ())), Guest(leave, (_no_hook, ()))
    models = [one for one in routed_modules(model) if isinstance(one, PreTrainedModel)]
    handles, before = [], []
    try:
        for one in models:
            handles.append(one.register_forward_pre_hook(hooks[0], with_kwargs=True))
            handles.append(one.register_forward_hook(hooks[1], always_call=True))
            for name, verb in verbs(one).items():
                before.append((one, name, vars(one).get(name)))
                vars(one)[name] = Guest(verb, (getattr, (one, name)))
        yield
    finally:
        for handle in handles:
            handle.remove()
        for one, name, own in before:
            del vars(one)[name]
            if own is not None:
                vars(one)[name] = own


def calls_at_work() -> Iterator[FrameType]:
    """Return those of Python's frames in which torch calls a module, from here outwards."""
    torch = sys.modules.get("torch")
    there = None if torch is None else torch.nn.modules.module.__file__
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 (as inspect.currentframe())
    while frame is not None:
        if frame.f_code.co_filename == there:
            yield frame
        frame = frame.f_back


def call_at_work() -> FrameType | None:
    """Return the innermost of these frames."""
    return next(calls_at_work(), None)


def stack_of(thread: int | None) -> set[int]:
    """Return the ids of the frames that stand on a thread's stack."""
    frame = sys._current_frames().get(thread or 0)  # noqa: SLF001 (documented, for debuggers)
    found = set()
    while frame is not None:
        found.add(id(frame))
        frame = frame.f_back
    return found
