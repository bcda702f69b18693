"""What a watched model showed on a GPU: it stays there until it is asked for, or is too much.

Bringing it costs more time than looking does, and most of what is looked at is never read. So facts
stay where they are made, and come to memory when they are first read. What is held so is bounded:
beyond the bound the oldest go to memory in the background, and no one waits.
"""

import threading
import weakref
from collections.abc import Iterable
from dataclasses import replace
from math import prod
from typing import Any

from softlookup.arrays import Array
from softlookup.device import numpy_dtype
from softlookup.inspection import Inspection, Top
from softlookup.integrations.sending import Arriving, follow, made_now
from softlookup.tensors import is_tensor

MOST = 2**30  # bytes of facts that stay on the devices
_SMALL = 2**24  # bytes of a pass whose facts become one array
_MANY = 2**12  # of what was held, before those are forgotten that are no more


class Load:
    """Tensors that come to memory together, whichever stream is current where they are read."""

    def __init__(self, tensors: list[Any]) -> None:
        self._tensors = tensors
        self._made = made_now(tensors)
        self._arriving: Arriving | None = None
        self._arrays: list[Array] | None = None
        self._lock = threading.Lock()

    @property
    def held(self) -> int:
        """The bytes that it takes on the device."""
        return sum(int(one.numel()) * int(one.element_size()) for one in self._tensors)

    def send(self) -> None:
        """Let it go to memory, in the background."""
        with self._lock:
            if self._tensors:
                self._arriving = Arriving(self._tensors, aside=True, made=self._made)
                self._tensors = []

    def lead(self) -> None:
        """Let the stream that is current here read what is on the device."""
        if self._made is not None and self._tensors:
            follow(self._tensors, self._made)

    def settle(self) -> bool:
        """Return whether it is in memory, and nowhere else; nobody waits."""
        arriving = self._arriving  # None from when another thread has it
        if arriving is not None and arriving.there:
            self.arrays()
        return self._arrays is not None

    def arrays(self) -> list[Array]:
        """Return it in memory; waits for what made it."""
        with self._lock:
            if self._arrays is None:
                arriving = self._arriving or Arriving(self._tensors, made=self._made)
                self._arrays = arriving.arrays()
                self._tensors, self._arriving = [], None
            return self._arrays


class Carried:
    """An array on a device, which comes to memory when it is asked for."""

    def __init__(self, tensor: Any, load: Load, place: int) -> None:
        self.shape = tuple(tensor.shape)
        self.dtype = numpy_dtype(tensor.dtype)
        self._tensor: Any = weakref.ref(tensor)
        self._load, self._place = load, place
        self._packed = False

    @property
    def load(self) -> Load:
        """What it comes to memory with."""
        return self._load

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Its bytes."""
        return int(prod(self.shape) * self.dtype.itemsize)

    def in_memory(self) -> Array:
        """Return it in memory; waits for what made it."""
        if not self._packed:
            return self._load.arrays()[self._place]
        count = prod(self.shape)
        bytes_of_all = self._load.arrays()[0]
        part = bytes_of_all[self._place : self._place + count * self.dtype.itemsize]
        return part.view(self.dtype).reshape(self.shape)

    def tensor(self) -> Any:
        """Return it where it was made; None where it has gone from there."""
        return self._tensor()

    def move(self, load: Load, first: int) -> None:
        """Let it be part of one array of bytes, from `first` on."""
        self._load, self._place, self._packed, self._tensor = load, first, True, lambda: None


class Hold:
    """What one watch holds on devices.

    Parameters
    ----------
    most : int, optional
        How many bytes may stay there.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._loads: list[weakref.ref[Load]] = []
        self._going: list[weakref.ref[Load]] = []
        self._bytes = 0  # at most: what was read meanwhile is counted, too
        self._many = _MANY

    def take_call(self, found: Any, shares: Any, causal: Any) -> tuple[Any, Any, Any]:
        """Hold what one call showed, as far as it lies on a device."""
        facts: dict[str, Any] = {}
        if isinstance(found, Inspection) and is_tensor(found.lse):
            found = replace(found, out=None, received_per_kv_head=None, max_score_per_head=None)
            facts = {name: fact for name, fact in vars(found).items() if is_tensor(fact)}
            if is_tensor(getattr(found.top, "keys", None)):
                facts |= {f"top.{name}": part for name, part in found.top._asdict().items()}
        given = facts | {"shares": shares, "causal": causal}
        held = self._take({name: one for name, one in given.items() if is_tensor(one)})
        shares, causal = (held.pop(name, given[name]) for name in ("shares", "causal"))
        if "top.keys" in held:
            held["top"] = Top(held.pop("top.keys"), held.pop("top.weights"))
        return replace(found, **held) if held else found, shares, causal

    def _take(self, tensors: dict[str, Any]) -> dict[str, Any]:
        if not tensors:
            return {}
        load = Load(list(tensors.values()))
        self._add(load)
        return {name: Carried(one, load, i) for i, (name, one) in enumerate(tensors.items())}

    def pack(self, shown: Iterable[Any]) -> None:
        """Make one array of what a pass showed, where that is little: a step of generation is."""
        carried = [one for each in shown for one in _carried_in(each)]
        there = [(one, one.tensor()) for one in carried]
        if len(there) < 2 or sum(one.nbytes for one in carried) > _SMALL:
            return
        if any(tensor is None for _, tensor in there):
            return
        if len({tensor.device for _, tensor in there}) > 1:
            return
        import torch

        for load in {one.load for one in carried}:
            load.lead()
        there.sort(key=lambda both: -both[0].dtype.itemsize)  # so that each begins at a whole item
        flat = [tensor.contiguous().view(-1).view(torch.uint8) for _, tensor in there]
        load, first = Load([torch.cat(flat)]), 0
        for one, _ in there:
            one.move(load, first)
            first += one.nbytes
        self._bytes -= load.held
        self._add(load)

    def _add(self, load: Load) -> None:
        self._loads.append(weakref.ref(load))
        self._bytes += load.held
        self._going = [one for one in self._going if _goes_on(one)]
        if self._bytes > self._most or len(self._loads) > self._many:
            self._make_room()

    def _make_room(self) -> None:
        """Send the oldest away, down to three quarters of what may stay, where that is exceeded."""
        there = [load for load in (one() for one in self._loads) if load is not None and load.held]
        total = sum(load.held for load in there)
        most = self._most if total <= self._most else self._most * 3 // 4
        going = 0
        while total > most and going < len(there):
            total -= there[going].held
            there[going].send()
            going += 1
        self._going += [weakref.ref(load) for load in there[:going]]
        self._loads = [weakref.ref(load) for load in there[going:]]
        self._bytes, self._many = total, max(_MANY, 2 * len(self._loads))


def _carried_in(shown: Any) -> list[Carried]:
    """Return what one call showed, as far as it is carried."""
    held = [*vars(shown.found).values()] if isinstance(shown.found, Inspection) else []
    held += [*(shown.found.top or ())] if held else []
    return [one for one in (*held, shown.shares, shown.causal) if isinstance(one, Carried)]


def _goes_on(one: "weakref.ref[Load]") -> bool:
    load = one()
    return load is not None and not load.settle()
