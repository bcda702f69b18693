"""The lookups that are checked: every option alone, and together, at sizes that fit no tile.

Their last tiles are more than half full, for 64 keys and for 32, so that losing one shows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from gpu_check.session import Session

Tensor = Any
Options = dict[str, Any]
Shape = tuple[int, ...]


class Made(NamedTuple):
    """The tensors of a lookup, and its options."""

    query: Tensor
    key: Tensor
    value: Tensor
    options: Options


class Case(NamedTuple):
    """A lookup by its sizes; `options` makes what needs random numbers.

    `heads` are (kv_heads, group). `lengths` are (q_len, kv_len) on a GPU, `tiny` those of a dry
    run, whose heads and dims are few, too; None where it leaves the case out.
    """

    name: str
    options: Callable[[Session, Shape], Options] = lambda *_: {}
    heads: tuple[int, int] = (2, 2)
    lengths: tuple[int, int] = (443, 443)
    tiny: tuple[int, int] | None = None
    dims: tuple[int, int] = (64, 64)
    dtype: str = ""
    across: bool = False
    tiny_batch: int = 1

    def make(self, session: Session) -> Made:
        """Return fresh tensors, and the options over (batch, heads, q_len, kv_len)."""
        q_len, kv_len = self.tiny if session.dry and self.tiny else self.lengths
        batch = self.tiny_batch if session.dry else 2
        kv_heads, group = (1, 2) if session.dry else self.heads
        dim, value_dim = (32, 32) if session.dry else self.dims
        heads, dtype = kv_heads * group, getattr(torch, self.dtype) if self.dtype else None
        shapes = ((heads, q_len, dim), (kv_heads, kv_len, dim), (kv_heads, kv_len, value_dim))
        made = [session.draw(batch, *shape, dtype=dtype, scale=1.3) for shape in shapes]
        if self.across:  # as a projection leaves them: (batch, length, heads, dim) in memory
            made = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in made]
        options = self.options(session, (batch, heads, q_len, kv_len))
        if "wrong" in options:  # one number, which must reach those rows alone that see it
            made["qkv".index(options.pop("wrong"))][:, :, -1, 0] = torch.nan
        if "spoilt" in options:  # the padding of the values holds what must not count
            made[2][0, :, options["kv_lens"][0] :] = options.pop("spoilt")
        return Made(*made, options)


def _draw_mask(session: Session, shape: Shape) -> Tensor:
    mask = torch.rand(shape, generator=session.generator, device=session.device) < 0.7
    mask[..., 3:4, :] = False  # a row that sees nothing
    return mask


def _draw_bias(session: Session, shape: Shape) -> Tensor:
    bias = session.draw(*shape, dtype=torch.float32)
    return bias.masked_fill_(~_draw_mask(session, shape), -torch.inf)


def _every(session: Session, at: Shape) -> Options:
    """Return all options at once."""
    batch, heads, q_len, kv_len = at
    return {
        "causal": True, "q_offset": kv_len - q_len, "window": (kv_len // 2, None),
        "mask": _draw_mask(session, (batch, 1, q_len, kv_len)),
        "bias": session.draw(1, heads, 1, kv_len, dtype=torch.float32),
        "kv_lens": [kv_len - 3, kv_len], "scale": 0.2, "softcap": 3.0,
        "sinks": session.draw(heads, dtype=torch.float32),
    }  # fmt: skip


def _both(session: Session, at: Shape) -> Options:
    return {"mask": _draw_mask(session, at), "bias": _draw_bias(session, at)}


def _fixed(**options: Any) -> Callable[[Session, Shape], Options]:
    return lambda *_: dict(options)


CAUSAL = _fixed(causal=True)
CASES = (
    Case("full"),
    Case("causal", CAUSAL, tiny=(39, 39)),
    Case("causal, 128 dims, heads 8 over 2", CAUSAL, heads=(2, 4), dims=(128, 128)),
    Case("128 dims, whole tiles", dims=(128, 128), lengths=(512, 512)),
    Case("causal, 128 dims, whole tiles", CAUSAL, dims=(128, 128), lengths=(512, 512)),
    Case("causal, 64 dims, whole tiles, heads 6 over 2", CAUSAL, heads=(2, 3), lengths=(384, 384)),
    Case("causal, whole tiles, more keys", _fixed(causal=True, q_offset=256), lengths=(256, 640),
         dims=(128, 128)),
    Case("causal, more keys than queries", _fixed(causal=True, q_offset=274), lengths=(169, 443)),
    Case("causal, the batch at two offsets", _fixed(causal=True, q_offset=[-5, 90])),
    Case("window", _fixed(window=(70, 5))),
    Case("window, causal, sinks", lambda session, at: {
        "causal": True, "window": (9, None), "sinks": session.draw(at[1], dtype=torch.float32),
    }, heads=(1, 3), tiny=(35, 35)),
    Case("mask", lambda session, at: {"mask": _draw_mask(session, at)}),
    Case("bias that hides", lambda session, at: {"bias": _draw_bias(session, at)}),
    Case("softcap", _fixed(softcap=2.0)),
    Case("sinks", lambda session, at: {"sinks": session.draw(at[1], dtype=torch.float32)}),
    Case("padding of NaN", _fixed(kv_lens=[333, 443], spoilt=torch.nan)),
    Case("padding of inf, causal", _fixed(kv_lens=[333, 443], causal=True, spoilt=torch.inf)),
    Case("causal, NaN in the last query", _fixed(causal=True, wrong="q"), tiny=(19,19)),
    Case("causal, NaN in the last value", _fixed(causal=True, wrong="v"), tiny=(19,19)),
    Case("an empty cache", _fixed(kv_lens=[0, 443])),
    Case("80 dims, values of 48", CAUSAL, dims=(80, 48)),
    Case("256 dims", CAUSAL, dims=(256, 256), lengths=(251, 251)),
    Case("float16", CAUSAL, dtype="float16"),
    Case("float32", CAUSAL, heads=(1, 2), dtype="float32", tiny=(21, 21)),
    Case("heads inside", CAUSAL, across=True),
    Case("scale 0", _fixed(scale=0.0)),
    Case("one query", heads=(2, 4), dims=(128, 128), lengths=(1, 5_107), tiny=(1, 133)),
    Case("three queries, causal", _fixed(causal=True, q_offset=5_104), heads=(2, 4),
         dims=(128, 128), lengths=(3, 5_107)),
    Case("a long cache", heads=(2, 4), dims=(128, 128), lengths=(1, 40_063)),
    Case("causal, many tiles", CAUSAL, dims=(128, 128), lengths=(2_551, 2_551)),
    Case("all options", _every, heads=(1, 2), lengths=(197, 443), tiny=(13, 37), tiny_batch=2),
)  # fmt: skip

LAID_OVER = (
    Case("mask, 128 dims, many tiles", lambda session, at: {"mask": _draw_mask(session, at)},
         dims=(128, 128), lengths=(1_151, 1_151)),
    Case("bias that hides, 128 dims, many tiles",
         lambda session, at: {"bias": _draw_bias(session, at)},
         dims=(128, 128), lengths=(1_151, 1_151)),
    Case("mask and bias, 128 dims, many tiles", _both, dims=(128, 128), lengths=(1_151, 1_151),
         tiny=(35, 37)),
    Case("mask and bias, 256 dims", _both, dims=(256, 256), lengths=(1_151, 1_151)),
    Case("mask and bias, 64 dims", _both, lengths=(1_151, 1_151)),
    Case("mask and bias, 128 dims, float32", _both, heads=(1, 2), dims=(128, 128),
         lengths=(1_151, 1_151), dtype="float32"),
    Case("many rows over a long cache", heads=(1, 1), dims=(128, 128), lengths=(130, 33_003)),
    Case("mask and bias, one query", _both, dims=(128, 128), lengths=(1, 5_107)),
)  # fmt: skip
TORCHS = (
    Case("torch's: full", tiny=(19, 23)),
    Case("torch's: causal", CAUSAL, heads=(2, 3), tiny=(19, 19)),
    Case("torch's: 128 dims, one query", heads=(2, 4), dims=(128, 128), lengths=(1, 5_107)),
)


def named(*names: str) -> tuple[Case, ...]:
    """Return the cases of these names, in their order."""
    known = {case.name: case for case in CASES + LAID_OVER}
    return tuple(known[name] for name in names)


def chosen(session: Session, some: tuple[Case, ...]) -> tuple[Case, ...]:
    """Return those that a session takes: a dry run its own, one that warms up its share."""
    first, step = session.share
    return tuple(case for case in some if case.tiny or not session.dry)[first::step]
