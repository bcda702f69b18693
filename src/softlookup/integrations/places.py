"""Where a lookup stands in its model: the number of its layer, and the stack that layer is in."""

import re
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any, NamedTuple

from softlookup.integrations.following import calls_at_work

_CROSS = re.compile(r"encdec|encoder_attn|cross_?att", re.IGNORECASE)
_HOLDERS = frozenset({"block", "blocks", "h", "layer", "layers", "model", "transformer"})
_ENDINGS = re.compile(r"_(model|tower|transformer)$")


class Place(NamedTuple):
    """One call's module.

    Attributes
    ----------
    path : str
        The module's path in its model, e.g. ``"encoder.layer.0.attention.self"``; a module that is
        called again has ``#1``, ``#2``, ... after it.
    number : int
        The layer's number.
    stack : str
        The path of the list that the layer is in, e.g. ``"encoder.layer"``.
    cross : bool
        Whether its keys come from another stack.
    """

    path: str
    number: int
    stack: str
    cross: bool


class Places:
    """Names and numbers the calls of one forward pass, in their order.

    Parameters
    ----------
    paths : mapping of int to str
        From the id of each module to its path.
    """

    def __init__(self, paths: Mapping[int, str]) -> None:
        self._paths = paths
        self._calls: dict[str, int] = {}
        self._numbers: dict[tuple[str, bool], set[int]] = {}
        # Python's own frames, kept so that no later one is taken for them.
        self._last: tuple[FrameType | None, int] = None, 0
        self._owners: dict[tuple[str, bool], FrameType] = {}

    def next(self, module: Any) -> Place:
        """Return the place of a call of `module`, the next one of the pass.

        The number is the first one in the path. Where that layer has called already (layers that
        share their weights, stages that each count from 0), it is the next free one. It is the same
        again where a module at work looks up once more, as for another image, and numbers begin
        anew where what holds the layers is called again.
        """
        path = self._paths.get(id(module), type(module).__name__)
        again = self._calls.get(path, 0)
        self._calls[path] = again + 1
        parts = path.split(".")
        at = next((i for i, part in enumerate(parts) if part.isdecimal()), len(parts))
        stack, cross = ".".join(parts[:at]), bool(_CROSS.search(".".join(parts[at:])))
        number = self._number((stack, cross), int(parts[at]) if at < len(parts) else None, module)
        return Place(f"{path}#{again}" if again else path, number, stack, cross)

    def _number(self, kind: tuple[str, bool], first: int | None, module: Any) -> int:
        """Return the number of a call in a stack; `first` stands in the path."""
        work = list(calls_at_work())
        mine = work[0] if work and work[0].f_locals.get("self") is module else None
        if mine is not None and mine is self._last[0]:
            return self._last[1]
        self._begin_anew(kind, work)
        taken = self._numbers.setdefault(kind, set())
        number = len(taken) if first is None else first
        if number in taken:
            number = max(taken) + 1
        taken.add(number)
        self._last = mine, number
        return number

    def _begin_anew(self, kind: tuple[str, bool], work: list[FrameType]) -> None:
        """Forget the numbers of a stack where what holds it is not the call that it was."""
        if any(frame is self._owners.get(kind) for frame in work):
            return
        for frame in work:
            path = self._paths.get(id(frame.f_locals.get("self")))
            if path is not None and (not path or kind[0].startswith(f"{path}.")):
                self._owners[kind] = frame
                self._numbers.pop(kind, None)
                return


def name_parts(places: Iterable[Place]) -> dict[tuple[str, bool], str]:
    """Return the part of each (stack, cross): "encoder", "decoder", "cross"; "" where it is alone.

    Examples
    --------
    >>> one = Place("model.encoder.layers.0.self_attn", 0, "model.encoder.layers", False)
    >>> other = Place("model.decoder.layers.0.encoder_attn", 0, "model.decoder.layers", True)
    >>> list(name_parts([one, other]).values())
    ['encoder', 'cross']
    """
    kinds = list(dict.fromkeys((place.stack, place.cross) for place in places))
    short = _short(list(dict.fromkeys(stack for stack, _ in kinds)))
    crossing = sum(cross for _, cross in kinds)
    return {
        (stack, cross): short[stack] if not cross
        else "cross" if crossing == 1 or not short[stack] else f"{short[stack]} cross"
        for stack, cross in kinds
    }  # fmt: skip


def _short(stacks: list[str]) -> dict[str, str]:
    """Return a word for each stack, where there are several: the first in which they differ."""
    if len(stacks) == 1:
        return {stacks[0]: ""}
    words = {stack: _words(stack) for stack in stacks}
    while all(words.values()) and len({one[0] for one in words.values()}) == 1:
        words = {stack: one[1:] for stack, one in words.items()}
    first = [one[0] if one else stack for stack, one in words.items()]
    if len(set(first)) == len(stacks):
        return dict(zip(stacks, first, strict=True))
    return {stack: " ".join(one) or stack for stack, one in words.items()}


def _words(stack: str) -> list[str]:
    """Return the words of a path that may tell a stack from another."""
    parts = [_ENDINGS.sub("", part) for part in stack.split(".")]
    return [part for part in parts if part not in _HOLDERS]
