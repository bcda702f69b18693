"""Compare what a model's own attention answered with what is looked at, in a few rows.

Facts are those of the answer only where both are of one lookup. An attention of the caller's own
may leave out sinks, or a mask. A row is compared with the weights that are looked at, times the
values; what rounding may differ by is reckoned from the scores themselves.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import MEMORY
from softlookup.errors import OptionError
from softlookup.integrations.moment import Moment
from softlookup.integrations.seeing import Seen

# Of first-order rounding: the library rounds scores, weights and sums; kernels in another order.
_ROOM = 8


class _Gap(NamedTuple):
    """How far one number of an answer is from what is looked at, and what rounding explains."""

    apart: float
    room: float
    head: int
    row: int


def check_answer(
    out: Any, now: Moment, seen: Sequence[Seen], heads: Sequence[int], setting: str
) -> None:
    """Refuse an answer (batch, q_len, heads, value_dim) that is not that of the lookup seen.

    The first row, the last and one between are compared; on a GPU, which must not wait, none.

    Raises
    ------
    OptionError
        With the numbers of the one that is furthest from it.
    """
    q_len = int(now.call.query.shape[2])
    chosen, gaps = sorted({0, q_len // 2, q_len - 1}), list[_Gap]()
    for one in seen:
        rows = [row for row in chosen if one.rows.start <= row < one.rows.stop]
        if rows and one.look.problem.place == MEMORY:
            gaps += _gaps(out, now, one, heads, rows)
    worst = max(gaps, key=lambda gap: gap.apart / gap.room, default=None)
    if worst is not None and worst.apart > worst.room:
        raise OptionError(
            "compute", 'must be "softlookup" where a model does not answer by what is looked at; '
            f"in {now.place.path}, attention {setting!r} is off by {worst.apart:.2g} at head "
            f"{worst.head} of row {worst.row}, where rounding explains {worst.room:.1g}. Leave it "
            "out, or load the model with another attn_implementation."
        )  # fmt: skip


def _gaps(
    out: Any, now: Moment, seen: Seen, heads: Sequence[int], rows: Sequence[int]
) -> Iterator[_Gap]:
    """Return the largest gap of each head, in some rows of all texts; NaN counts as endless."""
    import torch

    call, at = now.call, [row - seen.rows.start for row in rows]
    given = torch.as_tensor(np.asarray(seen.look.weights(rows=at)))  # (batch, heads, rows, keys)
    lse = torch.as_tensor(np.asarray(seen.lse))[:, :, at, None]
    batch, _, _, keys = given.shape
    query, key, value = (one.detach() for one in (call.query, call.key, call.value))
    theirs = out.detach().reshape(*out.shape[:2], now.every, -1)[:, rows].to(given.dtype)
    group = now.every // int(key.shape[1])
    # The library's softmax is float32's, at best; products cancel there, and are rounded to their
    # own dtype on the way to scores that are capped or biased.
    fine = torch.finfo(torch.float32).eps
    coarse = max(fine, *(torch.finfo(one.dtype).eps for one in (query, out)))
    wide = fine if call.bias is None and call.softcap is None else coarse
    real = torch.ones(batch, len(rows), dtype=torch.bool)
    if now.row_padding is not None:
        real = ~torch.from_numpy(now.row_padding[:, rows])
    for place, head in enumerate(heads):
        weights, mine = given[:, place], head // group
        v = value[:, mine, :keys].to(given.dtype).expand(batch, -1, -1)
        size = _norm(query[:, head, rows])[..., None] * _norm(key[:, mine, :keys])[:, None]
        risky = (torch.xlogy(weights, weights) + weights * lse[:, place]).abs() + weights
        risky = coarse * risky + wide * abs(call.scale) * size * weights  # of each summand
        ours = weights @ v
        room = _ROOM * (risky @ v.abs() + risky.sum(-1, keepdim=True) * ours.abs())
        room += torch.finfo(torch.float32).tiny
        counts = real & (weights.sum(-1) > 0) & (ours + room).isfinite().all(-1)
        apart = (theirs[:, :, head] - ours).abs().nan_to_num(torch.inf)
        apart = torch.where(counts[..., None], apart, 0)
        most = int((apart / room).nan_to_num(0).argmax())
        row = rows[most // apart.shape[-1] % len(rows)]
        yield _Gap(float(apart.flatten()[most]), float(room.flatten()[most]), head, row)


def _norm(vectors: Any) -> Any:
    """Return lengths, at least in float32."""
    import torch

    dtype = torch.promote_types(vectors.dtype, torch.float32)
    return torch.linalg.vector_norm(vectors, dim=-1, dtype=dtype)
