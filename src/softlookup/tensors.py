"""Torch tensors seen as arrays and given back, without a copy and without importing torch.

Whoever holds a tensor has torch loaded: it is found among the loaded modules, so that a caller
without torch never pays for it. bfloat16 crosses as its bits.
"""

import sys
from typing import Any, NamedTuple

from softlookup.device import DeviceArray, as_numpy, as_torch, is_on_device
from softlookup.errors import DtypeError


def is_tensor(thing: object) -> bool:
    """Return whether `thing` is a torch tensor."""
    torch = sys.modules.get("torch")
    kind = getattr(torch, "Tensor", None)  # none while torch itself is being imported
    return kind is not None and isinstance(thing, kind)


def view(tensor: Any, argument: str) -> Any:
    """Return `tensor` as an array that shares its memory whatever its strides.

    An ndarray where it lies on the CPU, a `DeviceArray` where it lies on a GPU.

    Raises
    ------
    DtypeError
        Where it lies elsewhere, or holds no numbers that NumPy knows, or a gradient would be lost.
    """
    torch: Any = sys.modules["torch"]
    on_device = is_on_device(tensor)
    if tensor.device.type != "cpu" and not on_device:
        raise DtypeError(
            argument,
            f"must lie on the CPU or on a GPU of CUDA; got a tensor on {tensor.device}. Pass "
            f"{argument}.cpu().",
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise DtypeError(
            argument,
            "must not require grad, since none would reach it from here; got a tensor that does. "
            f"Pass {argument}.detach().",
        )
    plain = tensor.detach().resolve_conj().resolve_neg()
    try:
        if on_device and plain.layout == torch.strided:
            plain.untyped_storage()  # inside a transform of torch.func there is none
            return DeviceArray(plain)
        return as_numpy(plain)
    except (TypeError, RuntimeError) as error:
        advice = f"Convert it, e.g. {argument}.to_dense().float()."
        if tensor.dtype.is_floating_point and tensor.dtype.itemsize > 1 and not tensor.is_sparse:
            advice = (
                "Inside a transform of torch.func there are no numbers to read: call it outside."
            )
        raise DtypeError(
            argument,
            f"must be a dense tensor of plain numbers; got {tensor.dtype} in {tensor.layout}. "
            f"{advice}",
        ) from error


def tensor_of(array: Any) -> Any:
    """Return a contiguous array as a tensor that shares its memory."""
    return array.tensor if isinstance(array, DeviceArray) else as_torch(array)


def is_compiling() -> bool:
    """Return whether torch.compile looks into the caller: tensors hold no numbers then."""
    torch: Any = sys.modules["torch"]
    return bool(torch.compiler.is_compiling())


def is_transforming() -> bool:
    """Return whether a transform of torch.func is at work: no tensor there holds numbers."""
    torch: Any = sys.modules["torch"]
    return torch._C._functorch.peek_interpreter_stack() is not None  # noqa: SLF001 (no other way)


class Tensors(NamedTuple):
    """What a lookup was given where its query is a tensor: there its gradients go.

    Attributes
    ----------
    query, key, value, bias, sinks, mask
        As in `Lookup`; no gradient goes to what is no tensor.
    """

    query: Any
    key: Any
    value: Any
    bias: Any
    sinks: Any
    mask: Any

    def detached(self) -> "Tensors":
        """Return them all without their history."""
        return Tensors._make(each.detach() if is_tensor(each) else each for each in self)

    def one_head(self, head: int, group: int, batch: tuple[int, ...]) -> "Tensors":
        """Return those of one query head of one batch entry, sharing memory and history."""
        if self.query.ndim == 2:
            return self
        at, kv_at = (*batch, head), (*batch, head // max(group, 1))
        key, value = (each[kv_at] if is_tensor(each) else None for each in (self.key, self.value))
        bias, mask = (
            _over_head(each, at) if is_tensor(each) else None for each in (self.bias, self.mask)
        )
        sinks = self.sinks[head : head + 1] if is_tensor(self.sinks) else None
        return Tensors(self.query[at], key, value, bias, sinks, mask)


def _over_head(overlay: Any, at: tuple[int, ...]) -> Any:
    """Return the part of a mask or bias, broadcast to the right, over the head at `at`."""
    lead = tuple(overlay.shape[:-2])
    own = at[len(at) - len(lead) :]
    return overlay[tuple(0 if n == 1 else i for n, i in zip(lead, own, strict=True))]
