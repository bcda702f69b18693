"""The answer alone, from the kernels that torch brings: cuDNN's attention and FlashAttention.

They know no facts, and of the options causal and scale. What they make of NaN and infinity is not
ours, so a kv head whose answer is not finite is computed once more by our careful kernel, which
looks at a flag on the device; nobody waits for it. Weights and maps, and gradients that torch's
backward kernels cannot give (of the lse; with the same bits every time), come from `triton`.

``"auto"`` takes this backend on compute capability 9.x, in 16 bits, for a head_dim of 64 or 128 and
1,024 queries and keys or more: there cuDNN was faster than an earlier, simpler kernel of ours in a
run on an H200, and FlashAttention was not. The kernels here were never measured beside it, nor were
other GPUs. FlashAttention is used where this backend is asked for by name.
"""

from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BFLOAT16, Array
from softlookup.backends.triton import machine, verbs
from softlookup.device import DeviceArray, interpreted
from softlookup.facts import Facts, Findings
from softlookup.gradients import Gradients, Residuals
from softlookup.pooling import Normaliser
from softlookup.problem import Problem

NAME = "cuda-torch"
weights, pooled, cells = verbs.weights, verbs.pooled, verbs.cells
_HALVES = (np.dtype(np.float16), BFLOAT16)
_CUDNN_VERSION = 91501  # before it, lengths that are no multiple of 128 could go wrong
_CUDNN_DIM, _FLASH_DIM = 128, 256
_CUDNN_HEADS = 65_535
_OFFERED_DIMS, _OFFERED_LENGTH = (64, 128), 1024


class Traits(NamedTuple):
    """What of a GPU and of this torch decides: the compute capability and cuDNN's version."""

    capability: tuple[int, int]
    cudnn: int


def missing() -> str | None:
    """Return why this backend cannot run on this machine, as a sentence, or None."""
    reason = machine.missing()
    if reason is None and interpreted():
        return "torch's own kernels run on a GPU, and are not interpreted."
    return reason


def unsupported(problem: Problem, facts: Facts) -> str | None:
    """Return why this backend cannot take `problem`, as a sentence, or None."""
    reason = machine.unfit(problem)
    if reason is not None:
        return reason
    if facts.tallied or facts.sink or facts.received:
        return "It gives the answer and its lse alone, no facts."
    if problem.dtype not in _HALVES:
        return f"torch's kernels take float16 and bfloat16; here is {problem.dtype}."
    return _option(problem) or _sizes(problem) or _no_way(problem)


def _option(problem: Problem) -> str | None:
    """Return which option torch's kernels do not know, as a sentence, or None."""
    for name in ("window", "mask", "bias", "kv_lens", "softcap", "sinks"):
        if getattr(problem, name) is not None:
            return f"torch's kernels know no {name}."
    if problem.scale <= 0:
        return f"torch's kernels take a scale > 0; here it is {problem.scale:g}."
    if _is_causal(problem) is None:
        return "Its causal begins at position 0, and ends with the last key."
    return None


def _is_causal(problem: Problem) -> bool | None:
    """Return whether rows see less than all keys; None for another corner than the first key's."""
    if not problem.causal or problem.q_offset is None:
        return False
    if (problem.q_offset >= problem.kv_len - 1).all():
        return False
    corner = problem.q_len == problem.kv_len and not problem.q_offset.any()
    return True if corner else None


def _sizes(problem: Problem) -> str | None:
    """Return which size torch's kernels do not take, as a sentence, or None."""
    p = problem
    if p.value is None or 0 in (p.batch, p.heads, p.q_len, p.kv_len, p.head_dim, p.value_dim):
        return "torch's kernels need a value, which a map leaves out, and no axis of size 0."
    for name, dim in (("head_dim", p.head_dim), ("value_dim", p.value_dim)):
        if dim % 8:
            return f"torch's kernels take a {name} that is a multiple of 8; here is {dim}."
    return None


def _no_way(problem: Problem) -> str | None:
    """Return why neither of torch's kernels takes these sizes, as a sentence, or None."""
    if way_of(problem) is not None:
        return None
    return (
        f"FlashAttention takes one head_dim up to {_FLASH_DIM} for query and value, cuDNN (9.15.1 "
        f"and later, compute capability 9 and 10) both up to {_CUDNN_DIM}; here are "
        f"{problem.head_dim} and {problem.value_dim}."
    )


def offers(problem: Problem, *, alone: bool) -> bool:
    """Return whether ``"auto"`` may take it: where cuDNN is expected to be the faster one.

    See the module; for decoding our kernel was never measured beside it, and so it is not offered.
    """
    p = problem
    return (
        alone
        and way_of(p) == "cudnn"
        and traits_of(p).capability[0] == 9
        and p.head_dim == p.value_dim
        and p.head_dim in _OFFERED_DIMS
        and min(p.q_len, p.kv_len) >= _OFFERED_LENGTH
    )


def way_of(problem: Problem) -> str | None:
    """Return which of torch's kernels computes these sizes: "cudnn" before "flash", or None."""
    p, (capability, cudnn) = problem, traits_of(problem)
    most = max(p.head_dim, p.value_dim)
    if (
        capability[0] in {9, 10}
        and cudnn >= _CUDNN_VERSION
        and most <= _CUDNN_DIM
        and p.kv_len > 1
        and max(p.batch, p.heads) <= _CUDNN_HEADS
    ):
        return "cudnn"
    return "flash" if p.head_dim == p.value_dim <= _FLASH_DIM else None


def traits_of(problem: Problem) -> Traits:
    """Return what decides which of the kernels runs where `problem` lies."""
    import torch

    query: Any = problem.query
    device = query.tensor.device
    if device.type != "cuda":  # where kernels are interpreted, which `missing` tells
        return Traits((0, 0), 0)
    capability = torch.cuda.get_device_capability(device)
    return Traits(capability, int(torch.backends.cudnn.version() or 0))


def forward(problem: Problem, facts: Facts) -> Findings:  # noqa: ARG001 (the common signature)
    """Return out and lse."""
    from softlookup.backends.triton import torch_kernels

    way, causal = way_of(problem) or "flash", bool(_is_causal(problem))
    with machine.on_device(problem):
        found: Any = map(DeviceArray, torch_kernels.answer(problem, way, causal=causal))
        return Findings(*found)


def residuals(problem: Problem) -> Residuals:
    """Return the output, bit for bit that of `forward`, and what its gradients need of it.

    A weight is exp(score - lse), since every row sees some key. The shift is a tensor of its own
    over the same memory: autograd ties the lse itself to what keeps the shift, and such a circle is
    freed only by Python's collector.
    """
    found = forward(problem, Facts())
    lse: Any = found.lse
    shift: Any = DeviceArray(lse.tensor.detach())
    ones: Any = DeviceArray(lse.tensor.new_ones(()).expand(lse.shape))
    return Residuals(found.out, lse, Normaliser(shift, ones))


def backward(
    problem: Problem,
    kept: Residuals,
    out_grad: Array,
    lse_grad: Array | None,
    *,
    bias: bool,
) -> Gradients:
    """Return what reaches query, key and value.

    By torch's kernels, whose sums may end otherwise from run to run; by ours where the loss reads
    the lse, where ``torch.use_deterministic_algorithms`` is on, and where torch has no kernel.
    """
    import torch

    from softlookup.backends.triton import backward as own
    from softlookup.backends.triton import torch_kernels

    way = way_of(problem) or "flash"
    alike = torch.are_deterministic_algorithms_enabled()
    with machine.on_device(problem):
        if lse_grad is not None or alike or not _has_backward(problem, way):
            return own.gradients_of(problem, kept, out_grad, lse_grad, bias=bias)
        causal = bool(_is_causal(problem))
        return torch_kernels.gradients(problem, way, kept, out_grad, causal=causal)


def _has_backward(problem: Problem, way: str) -> bool:
    """Return whether torch's kernel can go back: on small GPUs FlashAttention cannot beyond 192."""
    small = traits_of(problem).capability in {(8, 6), (8, 7), (8, 9), (12, 0), (12, 1)}
    return way == "cudnn" or not small or problem.head_dim <= 192
