"""What others offer for the same work: cuDNN, FlashAttention, FlexAttention, or all the weights."""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from gpu_check.names import CUDNN, FLASH
from gpu_check.session import Session

Tensor = Any
Call = Callable[[], Any]


def sdpa(kind: SDPBackend, query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Call:
    """Return torch's own attention by one of its kernels."""
    grouped = query.shape[1] != key.shape[1]

    def call() -> Tensor:
        with sdpa_kernel(kind):
            return functional.scaled_dot_product_attention(
                query, key, value, is_causal=causal, enable_gqa=grouped
            )

    return call


def blind(session: Session, query: Tensor, key: Tensor, value: Tensor, *,
          causal: bool = False) -> dict[str, Call]:  # fmt: skip
    """Return the kernels that show nothing; a dry run has torch's plain one in their place."""
    made = functools.partial(sdpa, query=query, key=key, value=value, causal=causal)
    if session.dry:
        return {CUDNN: made(SDPBackend.MATH)}
    return {
        CUDNN: made(SDPBackend.CUDNN_ATTENTION),
        FLASH: made(SDPBackend.FLASH_ATTENTION),
    }


def flex(session: Session, query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Call:
    """Return FlexAttention, compiled; in a dry run as it is."""
    from torch.nn.attention.flex_attention import (  # noqa: PLC0415 (slow to load)
        create_block_mask,
        flex_attention,
    )

    length, mask = query.shape[-2], None
    if causal:
        mask = create_block_mask(
            lambda _batch, _head, i, j: i >= j, None, None, length, length, device=session.device
        )
    run = flex_attention if session.dry else torch.compile(flex_attention)
    return lambda: run(query, key, value, block_mask=mask)


def all_weights(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Call:
    """Return what a user does today: the weights, their column sums and best keys, times V."""
    length = query.shape[-2]
    hidden = torch.ones(length, length, dtype=torch.bool, device=query.device).triu(1)

    def call() -> list[Tensor]:
        made = []
        for q, k, v in zip(query, key, value, strict=True):  # as many as fit
            scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
            if causal:
                scores.masked_fill_(hidden, -torch.inf)
            weights = torch.softmax(scores.float(), -1)
            weights.sum(-2)
            weights.topk(8, -1)
            made.append(weights.to(q.dtype) @ v)
        return made

    return call
