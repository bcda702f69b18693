"""What Triton compiles a kernel anew for, so that a launch finds again what it was compiled to.

At every launch Triton sees through all arguments, writes out what they are and compares each global
number with what it was when the kernel was compiled: 10 us or more, on the host, of a lookup that
may take 100 on the GPU. A kernel that is found here is handed its arguments as they are.
"""

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any

import torch

_LEAST, _MOST = -(2**31), 2**31 - 1


class Found:
    """What a kernel was compiled to for arguments of some kinds; None before the first launch.

    Attributes
    ----------
    compiled : CompiledKernel or None
    constants : tuple
        Those of its last arguments that it is compiled for, in their order.
    """

    __slots__ = ("compiled", "constants")

    def __init__(self) -> None:
        self.compiled: Any = None
        self.constants: tuple[Any, ...] = ()


@lru_cache(maxsize=2**12)
def found(*_: Hashable, **__: Hashable) -> Found:
    """Return the one place for all that are equal: a kernel's function, kinds and constants."""
    return Found()


@lru_cache(maxsize=2**12)
def kind_of(*_: Hashable) -> object:
    """Return one object for all that are equal, which costs nothing to compare."""
    return object()


def kinds_of(arguments: Iterable[Any]) -> tuple[Hashable, ...]:
    """Return what Triton may compile a kernel anew for, of each argument: equal where it may not.

    Of a whole number whether 16 divides it, whether it is 1, and whether 32 bits hold it; of a
    tensor its dtype, and whether it begins at a multiple of 16 bytes; of a tuple its items' kinds;
    of a tensor descriptor what it reads at once; and anything else itself.
    """
    return tuple([
        each if each is None
        else (each & 15 and (1 if each == 1 else 2)) + (0 if _LEAST <= each <= _MOST else 4)
        if type(each) is int
        else kinds_of(each) if isinstance(each, tuple)
        else (each.dtype, each.data_ptr() & 15 == 0) if isinstance(each, torch.Tensor)
        else float if type(each) is float
        else _kind_of_other(each)
        for each in arguments
    ])  # fmt: skip


def _kind_of_other(thing: Any) -> Hashable:
    """Return the kind of a tensor descriptor; of anything else, itself."""
    if not hasattr(thing, "block_shape"):
        return type(thing), thing
    return thing.base.dtype, tuple(thing.block_shape), getattr(thing, "layout", None)
