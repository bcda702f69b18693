"""Memory asked for without a value holds NaN, so that what a kernel leaves unwritten shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

POISON = -(2**28)  # in integers: no position, no count, and no address that is mapped
MAKERS = ((torch, "empty"), (torch, "empty_like"), (torch, "empty_strided"),
          (torch.Tensor, "new_empty"))  # fmt: skip


@contextmanager
def poisoned() -> Iterator[None]:
    """Fill what torch.empty and its like return, for as long as the block lasts."""
    plain = [getattr(place, name) for place, name in MAKERS]
    for (place, name), make in zip(MAKERS, plain, strict=True):
        setattr(place, name, _filling(make))
    try:
        yield
    finally:
        for (place, name), make in zip(MAKERS, plain, strict=True):
            setattr(place, name, make)


def _filling(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **options: Any) -> Any:
        tensor = make(*args, **options)
        if tensor.is_floating_point():
            return tensor.fill_(torch.nan)
        if tensor.dtype in (torch.int16, torch.int32, torch.int64):
            return tensor.fill_(POISON if tensor.itemsize > 2 else -(2**12))
        return tensor.fill_(1)  # a flag is set, a byte is one

    return made
