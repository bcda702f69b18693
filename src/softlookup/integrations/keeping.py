"""What stays of a call: its facts; with `keep=True` its lookup, on arrays of its own.

A cache holds the keys of all earlier steps, and keeping each step's would grow with the square of
the tokens. Keys and values stand once, in a buffer a layer that grows; every step's lookup sees its
part of it. What lies on a GPU is kept there.
"""

import mmap
from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array
from softlookup.device import DeviceArray
from softlookup.inspection import Inspection, Top
from softlookup.lookup import Lookup
from softlookup.options import Overlay

_LINE = 64  # bytes
_PRIVATE: dict[str, int] = (  # to this process: neighbours become one mapping, of which few may be
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)
_WORTH_IT = 2**18  # bytes of a call's facts; a step of generation has fewer


class Buffer:
    """Rows at positions from `base` on, (batch, heads, positions, dim); only ever added to."""

    def __init__(self, array: Array, base: int) -> None:
        self._begin(array, base)

    def _begin(self, array: Array, base: int) -> None:
        self._array, self._base, self._stop = _copy(array), base, base + array.shape[2]

    def take(self, array: Any, first: int) -> Any:
        """Return rows like `array`, at positions from `first` on, that stay as they are now."""
        stop = first + array.shape[2]
        if first < self._base or first > self._stop or array.shape[:2] != self._array.shape[:2]:
            self._begin(array, first)  # another text
        new = stop - self._stop
        if new > 0:
            self._make_room(stop - self._base)
            _fill(self._array, self._stop - self._base, array[:, :, -new:])
            self._stop = stop
        return self._array[:, :, first - self._base : stop - self._base]

    def _make_room(self, count: int) -> None:
        there = self._array.shape[2]
        if count > there:
            wider = list(self._array.shape)
            wider[2] = max(count, 2 * there)
            room = _room(wider, self._array)
            _fill(room, 0, self._array)
            self._array = room


def _copy(array: Any) -> Any:
    """Return an array of its own where it lies."""
    if isinstance(array, DeviceArray):
        return DeviceArray(array.tensor.clone())
    return np.array(array)


def _room(shape: list[int], like: Any) -> Any:
    """Return zeros where `like` lies."""
    if isinstance(like, DeviceArray):
        return DeviceArray(like.tensor.new_zeros(shape))
    return np.zeros(shape, like.dtype)


def _fill(room: Any, first: int, array: Any) -> None:
    """Write rows into `room`, at positions from `first` on."""
    at = slice(first, first + array.shape[2])
    if isinstance(room, DeviceArray):
        room.tensor[:, :, at] = array.tensor
    else:
        room[:, :, at] = array


class Keeper:
    """Keeps the lookups of one run after another."""

    def __init__(self) -> None:
        self._buffers: dict[str, tuple[Buffer, Buffer]] = {}
        self._overlays: dict[int, tuple[Any, Array]] = {}

    def forget(self) -> None:
        """Begin another run."""
        self._buffers.clear()

    def end_pass(self) -> None:
        """Let go of what layers of one pass share."""
        self._overlays.clear()

    def keep(self, path: str, look: Lookup, key_start: int) -> Lookup:
        """Return `look`, which reads the model's memory, on arrays that stay."""
        p = look.problem
        value = p.need_value()
        if path not in self._buffers:
            self._buffers[path] = Buffer(p.key, key_start), Buffer(value, key_start)
        key, kept_value = (
            buffer.take(array, key_start)
            for buffer, array in zip(self._buffers[path], (p.key, value), strict=True)
        )
        kept = object.__new__(Lookup)
        kept.backend, kept.tensors = look.backend, None
        kept.problem = replace(
            p,
            query=_copy(p.query),
            key=key,
            value=kept_value,
            mask=self._overlay(p.mask),
            bias=self._overlay(p.bias),
            sinks=None if p.sinks is None else _copy(p.sinks),
        )
        return kept

    def _overlay(self, overlay: Overlay | None) -> Overlay | None:
        """Return a copy; layers that share one share its copy."""
        if overlay is None:
            return None
        array: Any = overlay.array
        there = isinstance(array, DeviceArray)
        at = array.tensor.data_ptr() if there else array.__array_interface__["data"][0]
        known = self._overlays.get(at)
        if known is None or known[1].shape != array.shape:
            known = array, _copy(array)
            self._overlays[at] = known
        return overlay._replace(array=known[1])


class Apart(NamedTuple):
    """The facts of a call in one block of memory, until the pass ends.

    Small arrays that stay, between large ones that come and go layer by layer, would keep the
    allocator from giving anything back: a long text would take several times its facts. So there
    are no arrays before the pass has ended, and their block is the system's, to be given and taken
    back whole.

    Attributes
    ----------
    block : mmap
    places : tuple of (name, dtype, shape, first byte)
    others : tuple of (name, value)
        What is no array.
    """

    block: mmap.mmap
    places: tuple[tuple[str, str, tuple[int, ...], int], ...]
    others: tuple[tuple[str, Any], ...]

    def together(self) -> Inspection:
        """Return the facts."""
        arrays: dict[str, Any] = {}
        for name, dtype, shape, first in self.places:
            flat = np.frombuffer(self.block, np.dtype(dtype), prod(shape), first)
            arrays[name] = flat.reshape(shape)
        if "top.keys" in arrays:
            arrays["top"] = Top(arrays.pop("top.keys"), arrays.pop("top.weights"))
        return Inspection(**dict(self.others), **arrays)


def set_apart(found: Inspection) -> Inspection | Apart:
    """Return facts in memory of their own; those of a short text as they are."""
    held = dict(vars(found))
    top = held.pop("top")
    if top is not None:
        held |= {f"top.{name}": part for name, part in top._asdict().items()}
    arrays = {name: fact for name, fact in held.items() if isinstance(fact, np.ndarray)}
    others = tuple((name, fact) for name, fact in held.items() if name not in arrays)
    sizes = [-(-array.nbytes // _LINE) * _LINE for array in arrays.values()]
    if sum(sizes) < _WORTH_IT:
        return found
    block = mmap.mmap(-1, sum(sizes), **_PRIVATE)
    places = []
    for (name, array), first in zip(arrays.items(), accumulate([0, *sizes]), strict=False):
        places.append((name, array.dtype.str, array.shape, first))
        np.frombuffer(block, array.dtype, array.size, first)[...] = array.ravel()
    return Apart(block, tuple(places), others)
