"""torch's own attention kernels, and what is mended of their answers.

Both give the natural lse, cuDNN's with an axis of size 1 behind it. They take grouped heads as they
are. Where a score or a value is not finite, their answer is not ours, and is not finite either, so
that one sum a head tells: a hidden value that is NaN spreads, and a row without a finite score is 0
with an lse of inf to FlashAttention.
"""

from typing import Any, NamedTuple

import torch

from softlookup.backends.triton import backward, careful
from softlookup.backends.triton.launch import launch_of
from softlookup.backends.triton.running import Room
from softlookup.device import DeviceArray
from softlookup.gradients import Gradients, Residuals
from softlookup.problem import Problem

_ALIGNED = 16  # bytes, as both kernels read them


class Call(NamedTuple):
    """What torch's kernels are handed: arrays that they can read, and two options."""

    query: Any
    key: Any
    value: Any
    causal: bool
    scale: float


def operation(way: str, suffix: str = "") -> Any:
    """Return the operation of torch by which "cudnn" or "flash" is called, or its "_backward"."""
    return getattr(torch.ops.aten, f"_scaled_dot_product_{way}_attention{suffix}")


def run_forward(way: str, call: Call) -> tuple[Any, Any]:
    """Return out and the lse, as the kernel gives them."""
    bias_and_lse = (None, True) if way == "cudnn" else ()
    arrays = (call.query, call.key, call.value)
    found = operation(way)(*arrays, *bias_and_lse, 0.0, call.causal, False, scale=call.scale)
    return found[0], found[1]


def run_backward(way: str, call: Call, out: Any, lse: Any, grad: Any) -> tuple[Any, Any, Any]:
    """Return the gradients of query, key and value; there is no dropout to remember."""
    arrays = (grad, call.query, call.key, call.value, out)
    lengths = (call.query.shape[2], call.key.shape[2])
    ends: tuple[Any, ...] = (*lengths, 0.0, call.causal)
    if way == "cudnn":
        seed = torch.zeros((), dtype=torch.int64, device=out.device)
        more: tuple[Any, ...] = (lse[..., None], seed, seed, None, None, None, *ends)
    else:
        seeds = torch.zeros(2, dtype=torch.uint64, device=out.device)
        more = (lse, None, None, *ends, seeds, seeds[0])
    found: tuple[Any, Any, Any] = operation(way, "_backward")(*arrays, *more, scale=call.scale)
    return found


def answer(problem: Problem, way: str, *, causal: bool) -> tuple[Any, Any]:
    """Return out and lse as tensors, C-contiguous, mended where they are not finite."""
    out, lse = run_forward(way, _call_of(problem, causal=causal))
    out = out.contiguous()
    lse = lse.reshape(problem.batch, problem.heads, -1)[:, :, : problem.q_len].contiguous()
    sums = out.sum((2, 3), dtype=torch.float32) + lse.sum(2)
    room = Room(out=out, lse=lse, spoilt=_spoilt(problem, sums))
    careful.answer_again(launch_of(problem), room)
    return out, lse


def gradients(
    problem: Problem, way: str, kept: Residuals, out_grad: Any, *, causal: bool
) -> Gradients:
    """Return what reaches query, key and value, mended where it is not finite."""
    residuals: tuple[Any, Any] = kept.out, kept.lse
    out, lse = (part.tensor.contiguous() for part in residuals)
    call = _call_of(problem, causal=causal)
    grad = readable(out_grad.tensor)
    found = [part.contiguous() for part in run_backward(way, call, out, lse, grad)]
    sums = found[0].sum((2, 3), dtype=torch.float32)
    by_kv = found[1].sum((2, 3), dtype=torch.float32) + found[2].sum((2, 3), dtype=torch.float32)
    sums = sums + by_kv.repeat_interleave(problem.group, 1)
    backward.mend(problem, kept, out_grad, _spoilt(problem, sums), *found)
    arrays: Any = map(DeviceArray, found)
    return Gradients(*arrays)


def _spoilt(problem: Problem, sums: Any) -> Any:
    """Return int32 of shape (batch, kv_heads), 1 where some head's sum is not finite."""
    wrong = ~torch.isfinite(sums)
    return wrong.reshape(problem.batch, problem.kv_heads, problem.group).any(2).to(torch.int32)


def _call_of(problem: Problem, *, causal: bool) -> Call:
    arrays: Any = (problem.query, problem.key, problem.value)
    query, key, value = (readable(array.tensor) for array in arrays)
    return Call(query, key, value, causal, problem.scale)


def readable(tensor: Any) -> Any:
    """Return `tensor` as torch's kernels read it: rows contiguous and aligned, nothing repeated."""
    aligned = all(
        size == 1 or (stride > 0 and stride * tensor.element_size() % _ALIGNED == 0)
        for size, stride in zip(tensor.shape[:-1], tensor.stride()[:-1], strict=True)
    )
    if aligned and tensor.stride(-1) == 1 and tensor.data_ptr() % _ALIGNED == 0:
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format)
