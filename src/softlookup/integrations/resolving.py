"""The rule of a mask, worked out on the device that the mask is asked for, with one wait for all.

It is what `LazyMask` does in memory, without a number that has to be known on the way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BoolArray
from softlookup.integrations.sending import Arriving

_PAIRS = 2**24  # of a mask that are evaluated at once
_OPEN = 2**60


class Resolved(NamedTuple):
    """What a mask function shows.

    Attributes
    ----------
    left, right : int or None
        How far rows see by the rule that is suggested; None is open.
    fits : bool
        Whether every pair is as the rule says.
    last : int
        How many keys any row sees, of those after the last query; 0 where none sees one of them.
    ahead : bool
        Whether a row sees a key after its own position.
    allowed : ndarray of bool of shape (batch, positions) or None
        The mask over tokens that came with it.
    """

    left: int | None
    right: int | None
    fits: bool
    last: int
    ahead: bool
    allowed: BoolArray | None


def resolve(
    shown: Callable[[slice, slice], Any],
    sizes: tuple[int, int],
    offset: int,
    device: Any,
    over_tokens: Any,
) -> Resolved:
    """Return what a mask function shows; `shown` evaluates it for some rows and keys.

    `sizes` are q_len and kv_len; row 0 stands at key `offset`; `over_tokens` is the mask over
    tokens, or None.
    """
    import torch

    numbers = [one.to(torch.int64).reshape(1) for one in _numbers(shown, sizes, offset, device)]
    sent = [torch.cat(numbers)]
    if over_tokens is not None:
        sent.append(over_tokens.bool())
    first, *others = Arriving(sent).arrays()
    left, right, fits, last, ahead = (int(one) for one in first)
    return Resolved(
        None if left == _OPEN else left,
        None if right == _OPEN else right,
        bool(fits),
        last,
        bool(ahead),
        others[0].astype(bool) if others else None,
    )


def _numbers(
    shown: Callable[[slice, slice], Any], sizes: tuple[int, int], offset: int, device: Any
) -> tuple[Any, ...]:
    """Return left, right, fits, last and ahead as tensors of one number."""
    import torch

    q_len, kv_len = sizes
    every, keys = slice(0, kv_len), torch.arange(kv_len, device=device)
    first, final = (_flat(shown(slice(row, row + 1), every)) for row in (0, q_len - 1))
    begin, end = final.byte().argmax(), kv_len - 1 - first.flip(0).byte().argmax()
    left = (q_len - 1 + offset - begin).masked_fill(begin == 0, _OPEN)
    right = (end - offset).masked_fill(end == kv_len - 1, _OPEN)
    fits = first.any() & final.any() & (left >= 0) & (right >= 0)
    beyond = max(0, min(kv_len, offset + q_len))
    after = torch.zeros(kv_len - beyond, dtype=torch.bool, device=device)
    ahead = torch.zeros((), dtype=torch.bool, device=device)
    step = max(1, _PAIRS // max(kv_len, 1))
    for start in range(0, q_len, step):
        rows = slice(start, min(start + step, q_len))
        some = shown(rows, every)
        some = some.broadcast_to(*some.shape[:2], rows.stop - rows.start, kv_len)
        at = torch.arange(rows.start, rows.stop, device=device)[:, None] + offset
        fits = fits & (some == ((keys <= at + right) & (keys >= at - left))).all()
        ahead = ahead | (some & (keys > at)).any()
        after = after | some[..., beyond:].flatten(0, -2).any(0)
    last = after.any() * kv_len
    if len(after):
        last = last - after.any() * after.flip(0).byte().argmax()
    return left, right, fits, last, ahead


def _flat(shown: Any) -> Any:
    """Return which keys one row sees, in any batch entry."""
    return shown.flatten(0, -2).any(0)


def part_of(allowed: Any, first: int, count: int) -> Any:
    """Return a mask over tokens at `count` positions from `first` on; what it lacks is not seen."""
    import torch

    part = allowed[:, first : first + count].bool()
    return torch.nn.functional.pad(part, (0, count - part.shape[1]))


def host_part_of(allowed: BoolArray, first: int, count: int) -> BoolArray:
    """Return the same in memory."""
    part = allowed[:, first : first + count]
    there = np.zeros((len(part), count), bool)
    there[:, : part.shape[1]] = part
    return there
