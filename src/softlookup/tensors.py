"""Torch tensors seen as arrays and given back, without a copy and without importing torch.

Whoever holds a tensor has torch loaded: it is found among the loaded modules, so that a caller
without torch never pays for it. bfloat16 crosses as its bits.
"""

import sys
from typing import Any, NamedTuple

from softlookup.device import DeviceArray, as_numpy, as_torch, is_on_device
from softlookup.errors import DtypeError
from softlookup.plainness import check_plain


def is_tensor(thing: object) -> bool:
    """Return whether `thing` is a torch tensor."""
    torch = sys.modules.get("torch")
    kind = getattr(torch, "Tensor", None)  # none while torch itself is being imported
    return kind is not None and isinstance(thing, kind)


def corner_of(bias: Any) -> tuple[int, int, int] | None:
    """Return the q_len, kv_len and q_offset of a causal rule of torch's; None of anything else.

    Such a `CausalBias` is a tensor whose memory holds nothing: it is the rule.
    """
    module: Any = sys.modules.get("torch.nn.attention.bias")
    if module is None or not isinstance(bias, module.CausalBias) or not hasattr(bias, "variant"):
        return None
    lower = bias.variant == module.CausalVariant.LOWER_RIGHT
    return bias.seq_len_q, bias.seq_len_kv, (bias.seq_len_kv - bias.seq_len_q) * lower


def view(tensor: Any, argument: str, *, followed: bool = False) -> Any:
    """Return `tensor` as an array that shares its memory whatever its strides.

    An ndarray where it lies on the CPU, a `DeviceArray` where it lies on a GPU.

    Parameters
    ----------
    followed : bool, default False
        Whether its gradient is followed from here: without that none may be wanted of it.

    Raises
    ------
    DtypeError
        Where it lies elsewhere, or its memory holds no numbers that NumPy knows, or a derivative
        would be lost.
    """
    torch: Any = sys.modules["torch"]
    check_plain(tensor, argument)
    if not followed and tensor.requires_grad and torch.is_grad_enabled():
        raise DtypeError(
            argument,
            "must not require grad, since none would reach it from here; got a tensor that does. "
            f"Pass {argument}.detach().",
        )
    plain = tensor.detach().resolve_conj().resolve_neg()
    try:
        return DeviceArray(plain) if is_on_device(plain) else as_numpy(plain)
    except TypeError as error:
        raise DtypeError(
            argument,
            f"must hold numbers that NumPy knows, or bfloat16; got {tensor.dtype}. Convert it, "
            f"e.g. {argument}.float().",
        ) from error


def as_autocast(*tensors: Any) -> list[Any]:
    """Return tensors as torch.autocast would hand them to torch's own attention."""
    torch: Any = sys.modules["torch"]
    if not torch.is_autocast_enabled(tensors[0].device.type):
        return list(tensors)
    return [one if one is None else one.to(autocast_dtype(one)) for one in tensors]


def autocast_dtype(tensor: Any) -> Any:
    """Return the dtype in which torch.autocast would hand on a tensor: float64 as it is."""
    torch: Any = sys.modules["torch"]
    where = tensor.device.type
    if not tensor.is_floating_point() or tensor.dtype == torch.float64:
        return tensor.dtype
    return torch.get_autocast_dtype(where) if torch.is_autocast_enabled(where) else tensor.dtype


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
    """The tensors that a lookup was given where its query is one: there its gradients go.

    Attributes
    ----------
    query, key, value, bias, sinks, mask
        As in `Lookup`; None for what is no tensor, and for a causal rule in the place of a bias.
    """

    query: Any
    key: Any
    value: Any
    bias: Any
    sinks: Any
    mask: Any

    @classmethod
    def seen(cls, **given: Any) -> tuple["Tensors", dict[str, Any]]:
        """Return the tensors among what is given by the names here, and all of it as arrays."""
        held = {name: each if is_tensor(each) else None for name, each in given.items()}
        if corner_of(given["bias"]) is not None:
            held["bias"] = None
        arrays = {
            name: given[name] if each is None else view(each, name, followed=True)
            for name, each in held.items()
        }
        return cls(**held), arrays

    def one_head(self, head: int, group: int, batch: tuple[int, ...]) -> "Tensors":
        """Return those of one query head of one batch entry, sharing memory and history."""
        if self.query.ndim == 2:
            return self
        at, kv_at = (*batch, head), (*batch, head // max(group, 1))
        key, value = (None if each is None else each[kv_at] for each in (self.key, self.value))
        bias, mask = (
            None if each is None else _over_head(each, at) for each in (self.bias, self.mask)
        )
        sinks = None if self.sinks is None else self.sinks[head : head + 1]
        return Tensors(self.query[at], key, value, bias, sinks, mask)


def _over_head(overlay: Any, at: tuple[int, ...]) -> Any:
    """Return the part of a mask or bias, broadcast to the right, over the head at `at`."""
    lead = tuple(overlay.shape[:-2])
    own = at[len(at) - len(lead) :]
    return overlay[tuple(0 if n == 1 else i for n, i in zip(lead, own, strict=True))]
