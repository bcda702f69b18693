"""A problem as kernels take it: pointers and strides, numbers, and what they are compiled for."""

from collections.abc import Hashable
from functools import cache
from math import e as euler
from math import log2
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from softlookup.backends.triton.kinds import found, kind_of, kinds_of
from softlookup.device import DeviceArray, interpreted, send
from softlookup.options import Overlay
from softlookup.problem import Problem

_SMALLEST = 16  # the least that tl.dot takes along an axis
_LARGEST = 3.4028234663852886e38  # finite in float32


class Inputs(NamedTuple):
    """Pointers and strides, in elements; None where there is nothing.

    Attributes
    ----------
    query, key, value
        Pointers to the numbers of batch entry 0, head 0, row 0.
    q_batch, q_head, q_row, q_dim, k_batch, ..., v_dim : int
    mask, bias
        Pointers to bytes and to floats; `mask_entry` and `bias_entry` point to int64 of shape
        (batch,), the element where each batch entry's begins; None where all begin at 0.
    m_head, m_row, m_key, b_head, b_row, b_key : int or None
        0 along an axis that counts for all.
    sinks
        Pointer to float32 of shape (heads,), natural.
    limits
        Pointer to int32 of shape (batch, 3): `first`, `last` and `limit` of each batch entry, where
        they differ (`S.varied`).
    """

    query: Any
    key: Any
    value: Any
    q_batch: int
    q_head: int
    q_row: int
    q_dim: int
    k_batch: int
    k_head: int
    k_row: int
    k_dim: int
    v_batch: int
    v_head: int
    v_row: int
    v_dim: int
    mask: Any
    mask_entry: Any
    m_head: int
    m_row: int
    m_key: int
    bias: Any
    bias_entry: Any
    b_head: int
    b_row: int
    b_key: int
    sinks: Any
    limits: Any


class Sizes(NamedTuple):
    """Numbers of one call; a kernel is not compiled anew where lengths and ends change.

    Triton compiles anew for a number that is 1, or that 16 divides, and cannot be told not to for
    one in a tuple. So those that change from call to call travel as odd numbers from 3 on (see
    `_sizes`), and a kernel turns them back by `scores.sizes_of`.

    Attributes
    ----------
    heads, group, q_len, kv_len, head_dim, value_dim : int
    first, last : int
        Row i sees the keys i + first <= j < i + last, where `S.left` and `S.right`; both lie within
        -q_len ... kv_len.
    limit : int
        Keys from here on are padding.
    scale, softcap : float
    unit : float
        What turns a score into a logarithm of base 2: scale * log2(e) for raw products.
    """

    heads: int
    group: int
    q_len: int
    kv_len: int
    head_dim: int
    value_dim: int
    first: int
    last: int
    limit: int
    scale: float
    softcap: float
    unit: float


class Switches(NamedTuple):
    """What a kernel is compiled for.

    Attributes
    ----------
    head, blend : int
        head_dim and value_dim, padded to a power of two, 16 at least.
    left, right, padded, varied, masked, biased, capped, sinks, raw : bool
        `left`, `right`: an interval of keys ends before or after the row (causal is among them);
        `padded`: kv_lens; `varied`: ends differ by batch entry.
    precision : str
        Of products of float32.
    """

    head: int
    blend: int
    left: bool
    right: bool
    padded: bool
    varied: bool
    masked: bool
    biased: bool
    capped: bool
    sinks: bool
    raw: bool
    precision: str


class Launch(NamedTuple):
    """A problem as kernels take it.

    Attributes
    ----------
    problem : Problem
    inputs, sizes, switches
        The first arguments of a kernel, and its last: `x`, `n` and `S`.
    device : torch.device
    capability : int
        Compute capability, 90 for 9.0; 80 where kernels are interpreted.
    fits_descriptors : bool
        Whether the GPU reads through tensor descriptors (TMA): compute capability 9.0 at least.
    kind : Hashable
        Of the inputs, sizes and switches; see `kinds`.
    plain : tuple
        The inputs and sizes as tuples without names, which a launcher reads in a third of the time.
    """

    problem: Problem
    inputs: Inputs
    sizes: Sizes
    switches: Switches
    device: Any
    capability: int
    fits_descriptors: bool
    kind: Hashable
    plain: tuple[tuple[Any, ...], tuple[Any, ...]]

    def start(self, kernel: Any, programs: int, *arguments: Any, **options: Any) -> None:
        """Launch a kernel whose first arguments are `x` and `n`, and whose last one is `S`.

        `options` are those between that it is compiled for, and Triton's own.
        """
        known = found(kernel.fn, self.kind, kinds_of(arguments), **options)
        if known.compiled is not None:
            given = [tuple(each) if isinstance(each, tuple) else each for each in arguments]
            known.compiled[programs, 1, 1](*self.plain, *given, *known.constants, self.switches)
            return
        compiled = kernel[(programs,)](
            self.inputs, self.sizes, *arguments, **options, S=self.switches
        )
        if compiled is not None:  # as where it is interpreted
            known.constants = tuple(options[name] for name in kernel.arg_names if name in options)
            known.compiled = compiled

    def descriptor(self, tensor: Any, rows: int, dim: int) -> TensorDescriptor | None:
        """Return the descriptor of (batch, heads, length, dim) that reads tiles of `rows` x `dim`.

        None where there is none: rows must be contiguous, all else at multiples of 16 bytes. In a
        kernel: ``descriptor.load([batch, head, row, 0]).reshape(rows, dim)``; what lies beyond an
        axis' end is read as 0.
        """
        if not self.fits_descriptors or tensor is None or not tensor.numel():
            return None
        strides, each = _strides(tensor), tensor.element_size()
        if strides[-1] != 1 or tensor.data_ptr() % 16:
            return None
        if any(stride <= 0 or stride * each % 16 for stride in strides[:-1]):
            return None
        return TensorDescriptor(tensor, list(tensor.shape), strides, [1, 1, rows, dim])

    def empty(self, *shape: int, dtype: Any = torch.float32) -> Any:
        """Return room on the device."""
        return torch.empty(shape, dtype=dtype, device=self.device)

    def flags(self, *, entropy: bool) -> tuple[Any, Any]:
        """Return zeros, int32 (batch, kv_heads), and others of their own for the entropy, or None.

        Both lie at multiples of 16 bytes: Triton compiles a kernel anew where a pointer does not.
        """
        shape = self.problem.batch, self.problem.kv_heads
        padded = cdiv(shape[0] * shape[1], 4) * 4
        zeros = torch.zeros((1 + entropy) * padded, dtype=torch.int32, device=self.device)
        spoilt = zeros.as_strided(shape, (shape[1], 1))
        return spoilt, zeros.as_strided(shape, (shape[1], 1), padded) if entropy else None

    def sent(self, array: Any) -> Any:
        """Return a NumPy array as a tensor on the device; nothing waits."""
        return send(array, self.device)


def launch_of(problem: Problem) -> Launch:
    """Return what kernels need of a problem whose arrays are `DeviceArray`."""
    query, key, value = map(_tensor_of, (problem.query, problem.key, problem.value))
    device = query.device
    limits, varied = _limits(problem)
    left, right = sides(problem)
    raw = problem.softcap is None and problem.bias is None and problem.scale > 0
    inputs = Inputs._make([
        query, key, value, *query.stride(), *key.stride(),
        *((None,) * 4 if value is None else value.stride()),
        *_overlay(problem.mask, device, torch.uint8),
        *_overlay(problem.bias, device, None),
        None if problem.sinks is None else _floats(_tensor_of(problem.sinks)),
        send(np.array(limits, np.int32), device) if varied else None,
    ])  # fmt: skip
    first, last, limit = (0, 0, problem.kv_len) if varied else limits[0]
    sizes = _sizes(problem, first, last, limit, raw=raw)
    switches = Switches(
        head=padded_dim(problem.head_dim), blend=padded_dim(problem.value_dim),
        left=left is not None, right=right is not None,
        padded=problem.kv_lens is not None, varied=varied,
        masked=problem.mask is not None, biased=problem.bias is not None,
        capped=problem.softcap is not None, sinks=problem.sinks is not None, raw=raw,
        precision="tf32x3" if query.dtype == torch.float32 else "ieee",
    )  # fmt: skip
    capability = _capability(device)
    plain = tuple(inputs), tuple(sizes)
    kind = kind_of(device, kinds_of(plain), switches)
    return Launch(
        problem, inputs, sizes, switches, device, capability, capability >= 90, kind, plain
    )


def _sizes(problem: Problem, first: int, last: int, limit: int, *, raw: bool) -> Sizes:
    q_len = problem.q_len

    def encoded(number: int) -> int:
        return 2 * number + 3

    return Sizes(
        problem.heads, max(problem.group, 1), encoded(q_len), encoded(problem.kv_len),
        problem.head_dim, problem.value_dim,
        encoded(q_len + first), encoded(q_len + last), encoded(limit),
        float(problem.scale), float(problem.softcap or 1.0),
        (problem.scale if raw else 1.0) * log2(euler),
    )  # fmt: skip


def _tensor_of(array: Any) -> Any:
    return None if array is None else array.tensor


def held(tensor: Any) -> Any:
    """Return a tensor as the array that it counts as, None as None."""
    return None if tensor is None else DeviceArray(tensor)


def padded_dim(dim: int) -> int:
    """Return the power of two that a tile holds along an axis of `dim`."""
    return 1 << max(dim - 1, _SMALLEST - 1).bit_length()


def cdiv(length: int, step: int) -> int:
    """Return how many steps cover a length; Triton's own takes 20 times as long."""
    return -(-length // step)


def power_of_2(number: int) -> int:
    """Return the least power of two that is not below `number`, from 1 on."""
    return 1 << max(number - 1, 0).bit_length()


def _strides(tensor: Any) -> list[int]:
    """Return the strides, where an axis of size 1 counts as if contiguous."""
    strides, inner = list(tensor.stride()), 1
    for axis in reversed(range(tensor.ndim)):
        if tensor.shape[axis] == 1:
            strides[axis] = inner
        inner = max(inner, strides[axis] * tensor.shape[axis])
    if tensor.shape[-1] == 1:
        strides[-1] = 1
    return strides


def _capability(device: Any) -> int:
    if device.type == "cuda":
        return _traits(device)[0]
    if interpreted():
        return 80
    return int(triton.runtime.driver.active.get_current_target().arch)  # compiled for another's


def multiprocessors(device: Any, otherwise: int) -> int:
    """Return how many a GPU has; `otherwise` where kernels are interpreted or emulated."""
    return _traits(device)[1] if device.type == "cuda" else otherwise


@cache  # torch takes a microsecond or two to tell
def _traits(device: Any) -> tuple[int, int]:
    """Return a GPU's compute capability, and how many multiprocessors it has."""
    traits = torch.cuda.get_device_properties(device)
    return 10 * int(traits.major) + int(traits.minor), int(traits.multi_processor_count)


def shared_memory(capability: int) -> int:
    """Return how many kilobytes of shared memory a program can have."""
    if 90 <= capability < 120:
        return 227
    return 163 if capability in (80, 87) else 99


def sides(problem: Problem) -> tuple[int | None, int | None]:
    """Return how many keys left and right of its position a row sees; None is all."""
    left, right = problem.window or (None, None)
    return left, 0 if problem.causal else right


def _limits(problem: Problem) -> tuple[list[tuple[int, int, int]], bool]:
    """Return first, last and limit of each batch entry, or of one for all, and which it is."""
    left, right = sides(problem)
    q_len, kv_len = problem.q_len, problem.kv_len
    offsets = [0] if problem.q_offset is None else problem.q_offset.tolist()
    lens = [kv_len] if problem.kv_lens is None else problem.kv_lens.tolist()

    def clipped(end: int) -> int:
        return min(max(end, -q_len), kv_len)

    firsts = [0] if left is None else [clipped(offset - left) for offset in offsets]
    lasts = [0] if right is None else [clipped(offset + right + 1) for offset in offsets]
    columns = [firsts, lasts, lens]
    if all(column.count(column[0]) == len(column) for column in columns if column):
        return [(firsts[0], lasts[0], lens[0])] if all(columns) else [(0, 0, kv_len)], False
    entries = max(map(len, columns))
    full = [column * (entries if len(column) == 1 else 1) for column in columns]
    return list(zip(*full, strict=True)), True


def _overlay(overlay: Overlay | None, device: Any, view: Any) -> tuple[Any, ...]:
    """Return an overlay's pointer, where each entry begins, and its strides."""
    if overlay is None:
        return None, None, None, None, None
    tensor = _tensor_of(overlay.array)
    tensor = tensor.view(view) if view is not None else _no_double(tensor)
    strides = [
        stride if size > 1 else 0
        for size, stride in zip(tensor.shape[1:], tensor.stride()[1:], strict=True)
    ]
    starts, entry = overlay.entry * tensor.stride(0), None
    if starts.any():
        entry = send(starts.astype(np.int64), device)
    return tensor, entry, strides[0], strides[1], strides[2]


def _floats(tensor: Any) -> Any:
    return _no_double(tensor).to(torch.float32).contiguous()


def _no_double(tensor: Any) -> Any:
    """Return float64 as float32, where a finite number beyond its range is its nearest one."""
    if tensor.dtype != torch.float64:
        return tensor
    near = tensor.clamp(min=-_LARGEST, max=_LARGEST)
    return torch.where(torch.isinf(tensor), tensor, near).to(torch.float32)
