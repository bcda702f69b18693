"""Gradients on a GPU: which kernels of `flows` a problem needs, on which tiles, and what is left.

Nothing here waits for the device: what depends on the numbers is decided there.
"""

from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch

from softlookup.backends.triton.flows import (
    Flows,
    bias_kernel,
    keys_kernel,
    keys_start_kernel,
    rows_kernel,
    rows_start_kernel,
)
from softlookup.backends.triton.launch import Launch, cdiv, held, launch_of
from softlookup.backends.triton.scores import LOG2E
from softlookup.gradients import Gradients, Residuals
from softlookup.problem import Problem

_SCAN = 32  # rows, and keys, that one program of the first two kernels reads


class Tile(NamedTuple):
    """How many rows and keys a program holds at a time, its warps, and how far it loads ahead."""

    rows: int
    keys: int
    warps: int
    stages: int


def gradients_of(
    problem: Problem,
    kept: Residuals,
    out_grad: Any,
    lse_grad: Any,
    *,
    bias: bool,
) -> Gradients:
    """Return what reaches the inputs of a problem on a device, as `DeviceArray`.

    The gradient of the bias is worked out where `bias` says so.
    """
    launch = launch_of(problem)
    flows = _flows(launch, kept, out_grad.tensor, lse_grad)
    found = Pull.of(launch, wanted=bias and problem.bias is not None)
    if problem.q_len and problem.kv_len and problem.heads and problem.batch:
        pull(launch, flows, found)
    parts = (*found[:3], found.of_bias(problem), _sinks_gradient(launch, kept, flows.delta))
    return Gradients(*map(held, parts))


class Pull(NamedTuple):
    """Room for what the kernels write.

    Attributes
    ----------
    query, key, value : Tensor
        Contiguous, in the inputs' dtype.
    by_key, by_row : Tensor of shape (batch, heads, kv_len or q_len), or None
        Sums of the scores' gradients, for a bias along keys or along rows at most.
    by_both : Tensor of shape (entries, heads or 1, q_len, kv_len), or None
        In the bias' dtype.
    """

    query: Any
    key: Any
    value: Any
    by_key: Any
    by_row: Any
    by_both: Any

    @classmethod
    def of(cls, launch: Launch, *, wanted: bool) -> "Pull":
        """Return room for a problem; for its bias only if that is wanted."""
        p = launch.problem
        kind = launch.inputs.query.dtype
        shapes = (
            (p.batch, p.heads, p.q_len, p.head_dim),
            (p.batch, p.kv_heads, p.kv_len, p.head_dim),
            (p.batch, p.kv_heads, p.kv_len, p.value_dim),
        )
        query, key, value = (
            torch.zeros(shape, dtype=kind, device=launch.device) for shape in shapes
        )
        by_key = by_row = by_both = None
        if wanted:
            of_bias = _bias_shape(p)
            rows, keys = of_bias[2:]
            if (rows > 1 and keys > 1) or 0 in of_bias:
                kind = launch.inputs.bias.dtype
                by_both = torch.zeros(of_bias, dtype=kind, device=launch.device)
            elif keys > 1:
                by_key = torch.zeros(
                    (p.batch, p.heads, keys), dtype=torch.float32, device=launch.device
                )
            else:
                by_row = torch.zeros(
                    (p.batch, p.heads, p.q_len), dtype=torch.float32, device=launch.device
                )
        return cls(query, key, value, by_key, by_row, by_both)

    def of_bias(self, problem: Problem) -> Any:
        """Return the gradient of the bias in its own shape, or None if it is not wanted."""
        given = _given(problem)
        if self.by_both is not None:
            return self.by_both.reshape(given)
        if self.by_key is not None:
            sums = self.by_key[:, :, None, :]
        elif self.by_row is not None:
            sums = self.by_row[:, :, :, None]
        else:
            return None
        lead = problem.batch_shape if problem.plain else (*problem.batch_shape, problem.heads)
        sums = sums.reshape(*lead, *sums.shape[2:])
        target = _padded(given, sums.ndim)
        axes = [axis for axis, size in enumerate(target) if size == 1 != sums.shape[axis]]
        if axes:
            sums = sums.sum(axes)
        return sums.reshape(given)


def _given(problem: Problem) -> tuple[int, ...]:
    return () if problem.bias is None else problem.bias.given


def _padded(given: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    return (1,) * (ndim - len(given)) + given


def _bias_shape(problem: Problem) -> tuple[int, int, int, int]:
    """Return entries, heads, rows and keys of the bias as it was given, repeats counted."""
    lead = () if problem.plain else (problem.heads,)
    ndim = len(problem.batch_shape) + len(lead) + 2
    shape = _padded(_given(problem), ndim)
    rows, keys = shape[-2:]
    if problem.plain:
        return prod(shape[:-2]), 1, rows, keys
    return prod(shape[:-3]), shape[-3], rows, keys


def _sharers(problem: Problem) -> Any:
    """Return the batch entries that use each entry of the bias, (entries, shared)."""
    lead = _padded(_given(problem), len(problem.batch_shape) + (2 if problem.plain else 3))
    lead = lead[: len(problem.batch_shape)]
    own = np.broadcast_to(np.arange(prod(lead)).reshape(lead), problem.batch_shape)
    order = np.argsort(own.reshape(-1), kind="stable").astype(np.int32)
    return order.reshape(prod(lead), -1)


def mend(
    problem: Problem,
    kept: Residuals,
    out_grad: Any,
    spoilt: Any,
    query: Any,
    key: Any,
    value: Any,
) -> None:
    """Compute once more the gradients of query, key and value of kv heads that are flagged.

    `spoilt` is int32 of shape (batch, kv_heads), the gradients are contiguous tensors.
    """
    launch = launch_of(problem)
    flows = _flows(launch, kept, out_grad.tensor, None, spoilt)
    pull(launch, flows, Pull(query, key, value, None, None, None), calm=False)


def _flows(
    launch: Launch, kept: Residuals, out_grad: Any, lse_grad: Any, spoilt: Any = None
) -> Flows:
    """Return what flows back, after the kernels that read all numbers once.

    They flag kv heads in `spoilt`; where it is given, keys and values are not looked at.
    """
    p, n, switches = launch.problem, launch.sizes, launch.switches
    arrays: Any = (kept.out, *kept.normaliser)
    out, shift, factor = (part.tensor.contiguous() for part in arrays)
    delta, look = launch.empty(p.batch, p.heads, p.q_len), spoilt is None
    if spoilt is None:
        spoilt = torch.zeros((p.batch, p.kv_heads), dtype=torch.int32, device=launch.device)
    batch, head, row, dim = out_grad.stride()
    flows = Flows(out_grad, batch, head, row, dim, shift, factor, delta, spoilt)
    of_lse = None if lse_grad is None else lse_grad.tensor.contiguous()
    tiles = cdiv(p.q_len, _SCAN)
    if delta.numel():
        rows_start_kernel[(tiles * p.batch * p.heads,)](
            launch.inputs, flows, n, out, of_lse, delta, tiles, ROWS=_SCAN, S=switches
        )
    tiles = cdiv(p.kv_len, _SCAN)
    if look and tiles and spoilt.numel():
        keys_start_kernel[(tiles * p.batch * p.kv_heads,)](
            launch.inputs, flows, n, tiles, KEYS=_SCAN, S=switches
        )
    return flows


def pull(launch: Launch, flows: Flows, found: Pull, *, calm: bool = True) -> None:
    """Fill the room of `found`, that of calm kv heads only if `calm`."""
    p, x, n, switches = launch.problem, launch.inputs, launch.sizes, launch.switches
    for variant in (True, False) if calm else (False,):
        tile = tile_of("keys", launch)
        tiles = cdiv(p.kv_len, tile.keys)
        keys_kernel[(tiles * p.batch * p.kv_heads,)](
            x, flows, n, found.key, found.value, found.by_key, tiles, CALM=variant,
            ROWS=tile.rows, KEYS=tile.keys, S=switches, num_warps=tile.warps,
            num_stages=tile.stages,
        )  # fmt: skip
        tile = tile_of("rows", launch)
        tiles = cdiv(p.q_len, tile.rows)
        rows_kernel[(tiles * p.batch * p.heads,)](
            x, flows, n, found.query, found.by_row, tiles, CALM=variant,
            ROWS=tile.rows, KEYS=tile.keys, S=switches, num_warps=tile.warps,
            num_stages=tile.stages,
        )  # fmt: skip
    if found.by_both is not None:
        _pull_bias(launch, flows, found.by_both)


def _pull_bias(launch: Launch, flows: Flows, by_both: Any) -> None:
    entries, own, q_len, kv_len = by_both.shape
    sharers = _sharers(launch.problem)
    tile = tile_of("rows", launch)
    row_tiles, key_tiles = cdiv(q_len, tile.rows), cdiv(kv_len, tile.keys)
    bias_kernel[(row_tiles * key_tiles * entries * own,)](
        launch.inputs, flows, launch.sizes, by_both, launch.sent(sharers),
        sharers.shape[1], own, row_tiles, key_tiles, ROWS=tile.rows, KEYS=tile.keys,
        S=launch.switches, num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip


def _sinks_gradient(launch: Launch, kept: Residuals, delta: Any) -> Any:
    """Return what reaches the sinks, (heads,), as `gradients.sinks_gradient` does in memory."""
    if launch.inputs.sinks is None:
        return None
    logits = launch.inputs.sinks[:, None]
    normaliser: Any = kept.normaliser
    shift, factor = (part.tensor for part in normaliser)
    power, unit = (torch.exp2, LOG2E.value) if launch.switches.raw else (torch.exp, 1.0)
    share = power(logits * unit - shift * unit) * factor  # rounded as in the kernels
    share = torch.where(factor == 0, 1.0, share)
    share = torch.where(torch.isneginf(logits), 0.0, share)
    terms = torch.where(share == 0, 0.0, -share * delta)
    return terms.sum((0, 2), dtype=torch.float64).float()


def tile_of(kernel: str, launch: Launch) -> Tile:
    """Return the tile on which "keys" or "rows" works, by the size of a row and the device."""
    switches, each = launch.switches, launch.inputs.query.element_size()
    return _tile(kernel, max(switches.head, switches.blend) * each // 2, launch.capability)


@cache
def _tile(kernel: str, width: int, capability: int) -> Tile:
    """Return a tile for rows of `width` 16-bit numbers: up to 128, calm variants spill nothing.

    12.x has the shared memory of 8.6, 99 kB.
    """
    roomy = 90 <= capability < 120
    if width > 256:
        return Tile(16, 16, 4, 1)
    if width > 128:
        return Tile(32, 32, 8, 1)
    if width > 64:
        if kernel == "rows":
            keys = 64 if capability < 100 else 32  # 64 spill there
            return Tile(128, keys, 8, 2) if roomy else Tile(64, 64, 8, 2)
        return Tile(32, 128, 8, 2) if roomy else Tile(64, 64, 8, 2)
    return Tile(64, 64, 4, 3) if kernel == "rows" else Tile(64, 128, 8, 2)
