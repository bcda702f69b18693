"""Whether a torch tensor is a plain one: its own memory holds its numbers, and they may be read.

A subclass may keep its numbers elsewhere; inside a transform or a tracer a tensor stands for many
others. Read as memory, either would give numbers that nobody meant, so both are refused by name.
"""

import functools
import operator
import re
import sys
from functools import cache
from typing import Any

from softlookup.device import is_on_device
from softlookup.errors import DtypeError

# Dispatch keys under which torch reads a tensor's own memory; its device is asked by name.
_PLAIN = r"CPU|CUDA|Meta|BackendSelect|ADInplaceOrView|Conjugate|Negative|Auto\w+"
# Those of modes that see every operation: the caller's own, and tracers, which are asked by name.
_MODES = r"Python|PythonTLSSnapshot|PythonDispatcher|PreDispatch"


def check_plain(tensor: Any, argument: str) -> None:
    """Check that a tensor's own memory holds its numbers, and that they may be read here.

    torch says so by its dispatch keys, which name what it does before it comes to that memory:
    those of the tensor, and those that a transform or a tracer set for this thread.

    Raises
    ------
    DtypeError
        With what came instead, and the way.
    """
    torch: Any = sys.modules["torch"]
    core, kind = torch._C, type(tensor)
    keys = core._dispatch_keys(tensor) | core._dispatch_tls_local_include_set()
    if (
        (kind is torch.Tensor or kind is torch.nn.Parameter)
        and not keys.raw_repr() & ~_keys(_PLAIN)
        and torch.autograd.forward_ad._current_level < 0
        and (tensor.is_cpu or is_on_device(tensor))
    ):
        return
    odd = _odd_place(tensor) or _odd_kind(tensor, argument)
    if odd is not None:
        raise DtypeError(
            argument, f"must be a plain tensor, whose own memory holds its numbers; got {odd}"
        )
    if not tensor.is_cpu and not is_on_device(tensor):
        there = tensor.device.type == "meta"
        way = "There are no numbers on it." if there else f"Pass {argument}.cpu()."
        raise DtypeError(
            argument,
            f"must lie on the CPU or on a GPU of CUDA; got a tensor on {tensor.device}. {way}",
        )


@cache
def _keys(names: str) -> int:
    """Return the dispatch keys of these names, a bit each."""
    core: Any = sys.modules["torch"]._C
    chosen = (name for name in dir(core.DispatchKey) if re.fullmatch(names, name))
    bits = (core.DispatchKeySet(getattr(core.DispatchKey, name)).raw_repr() for name in chosen)
    return functools.reduce(operator.or_, bits, 0)


def _odd_place(tensor: Any) -> str | None:
    """Return what else follows a tensor here, and would be misled, with the way out of it."""
    torch: Any = sys.modules["torch"]
    core = torch._C
    proxies = sys.modules.get("torch.fx.experimental.proxy_tensor")
    tracer = None
    if torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
        return (
            "a dual tensor, whose tangent would be lost: there are no forward-mode derivatives "
            "here. Take them by backward() or torch.autograd.grad()."
        )
    if torch.jit.is_tracing():
        tracer = "torch.jit.trace or torch.onnx.export"
    elif proxies is not None and proxies.get_proxy_mode() is not None:
        tracer = "make_fx or torch.export"
    if tracer is not None:
        return (
            f"one that {tracer} follows, where this answer would stand for that of every other "
            "tensor. Leave the lookup out of what is traced."
        )
    modes = core._TorchDispatchModeKey
    if any(core._get_dispatch_mode(mode) is not None for mode in (modes.FAKE, modes.FUNCTIONAL)):
        return "one under FakeTensorMode, where nothing is computed. Call it outside."
    around = core._dispatch_tls_local_include_set().raw_repr()
    if around & ~_keys(_PLAIN) & ~_keys(_MODES):
        return (
            "one inside a transform of torch.func, where there are no numbers to read. Call it "
            "outside."
        )
    return None


def _odd_kind(tensor: Any, argument: str) -> str | None:
    """Return what a tensor is instead of a plain one, and the way to one; None where it is one."""
    torch: Any = sys.modules["torch"]
    kind = type(tensor)
    name = f"{kind.__module__}.{kind.__qualname__}"
    own = torch._C._dispatch_keys(tensor).raw_repr()
    odd = None
    if kind.__name__ == "FakeTensor":
        odd = "a fake tensor, which has a shape and no numbers. Call it outside of what is traced."
    elif kind.__name__ == "CausalBias":
        odd = (
            "a CausalBias. As it was made it goes into bias= of attend and Lookup, or attn_mask= "
            "of scaled_dot_product_attention."
        )
    elif tensor.is_nested:
        odd = f"a nested tensor. Pass {argument}.to_padded_tensor(0.0), and hide what it pads."
    elif tensor.layout is not torch.strided:
        odd = f"one of layout {tensor.layout}. Pass {argument}.to_dense()."
    elif tensor.is_quantized:
        odd = f"a quantized tensor. Pass {argument}.dequantize()."
    elif hasattr(tensor, "full_tensor"):
        odd = f"a {name}, of which a part is here. Pass {argument}.full_tensor()."
    elif hasattr(tensor, "get_mask"):
        odd = f"a masked tensor. Pass {argument}.get_data(), and mask= for what may be seen."
    elif not _read_as_any_other(kind):
        odd = f"a {name}, which tells torch's functions itself what it holds. Pass a plain tensor."
    elif own & ~_keys(_PLAIN):
        odd = f"one without memory of its own. Pass {argument}.clone()."
    return odd


def _read_as_any_other(kind: Any) -> bool:
    """Return whether torch's functions do with a class of tensors what they do with any other."""
    torch: Any = sys.modules["torch"]
    core = torch._C
    function, dispatch = kind.__torch_function__, kind.__torch_dispatch__
    unchanged = core._disabled_torch_function_impl, torch.Tensor.__torch_function__.__func__
    return (
        getattr(function, "__func__", function) in unchanged
        and dispatch is core._disabled_torch_dispatch_impl
    )
