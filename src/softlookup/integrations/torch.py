"""For PyTorch: a drop-in for its attention, and the answer with its lse, both with gradients.

`softlookup.attend` and `softlookup.Lookup` take tensors by themselves; this module speaks torch's
dialect, its names, its causal corner and its mask.
"""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from math import lcm
from typing import Any

from softlookup import autograd
from softlookup.attending import attend
from softlookup.backends import registry
from softlookup.errors import (
    DtypeError,
    OptionError,
    PackageError,
    ShapeError,
    SoftlookupError,
)
from softlookup.facts import NO_FACTS
from softlookup.lookup import Lookup
from softlookup.options import check_flag
from softlookup.plainness import check_plain
from softlookup.tensors import as_autocast, corner_of, is_compiling, is_tensor


def __getattr__(name: str) -> Any:
    if name == "MultiheadAttention":  # a class of torch's: it needs torch to be there at all
        if find_spec("torch") is None:
            raise PackageError(
                "torch",
                "must be installed for MultiheadAttention; it is not here. Run pip install "
                '"softlookup[torch]".',
            )
        return import_module("softlookup.integrations.multihead").MultiheadAttention
    raise AttributeError(f"module 'softlookup.integrations.torch' has no attribute {name!r}")


def scaled_dot_product_attention(  # noqa: PLR0917 (torch's own signature)
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Do what `torch.nn.functional.scaled_dot_product_attention` does, on the CPU and on GPUs.

    Parameters
    ----------
    query : Tensor of shape (..., heads, q_len, head_dim)
        float16, bfloat16, float32 or float64; key and value share its dtype. Under torch.autocast
        all three are cast, as for torch's own.
    key, value : Tensor of shape (..., heads, kv_len, dim)
        Leading axes are broadcast, as in torch.
    attn_mask : Tensor, optional
        Broadcast, right-aligned, to (..., heads, q_len, kv_len). bool: True = may look. Floats are
        added to the scores. `causal_upper_left` and `causal_lower_right` are rules.
    dropout_p : float, default 0.0
        There is no dropout here: anything else is refused.
    is_causal : bool, default False
        Query i sees key j only when ``j <= i``, whatever the lengths (top-left, as in torch).
        Together with `attn_mask` both count; torch refuses that.
    scale : float, optional
        Default ``head_dim ** -0.5``.
    enable_gqa : bool, default False
        Key and value may each have fewer heads; query head h uses their head
        ``h // (heads // kv_heads)``.

    Returns
    -------
    Tensor of shape (..., heads, q_len, value_dim)
        With gradients where query, key, value or a float `attn_mask` require them. A row that may
        look at no key gives 0.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        One sentence with the real numbers and the next step.

    Examples
    --------
    >>> import torch
    >>> rows = torch.eye(2)[None]
    >>> scaled_dot_product_attention(rows, rows, rows, is_causal=True, scale=0.0)
    tensor([[[1.0000, 0.0000],
             [0.5000, 0.5000]]])
    """
    check_tensor(query, "query")
    verb = _as_torch_does
    if is_compiling():  # as in `attend`
        verb = sys.modules["torch"].compiler.disable(verb)
    return verb(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _as_torch_does(  # noqa: PLR0917 (as above)
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: Any,
    is_causal: Any,
    scale: Any,
    grouped: bool,
) -> Any:
    for argument, given in (("query", query), ("key", key), ("value", value)):
        check_tensor(given, argument)
        check_plain(given, argument)
    if dropout_p != 0:
        raise OptionError(
            "dropout_p",
            f"must be 0, since there is no dropout here; got {dropout_p}. In evaluation models "
            "pass 0; leave training with dropout to torch.",
        )
    kind, causal = _kind_of(attn_mask), check_flag(is_causal, "is_causal")
    if kind == "rule" and causal:
        raise OptionError(
            "is_causal",
            "must be False where attn_mask is a causal rule, as in torch; got True. Leave it out.",
        )
    query, key, value = as_autocast(query, key, value)
    _check_three(query, key, value)
    try:
        return attend(
            *_broadcast(query, key, value, grouped=grouped),
            causal=causal,
            q_offset=0 if causal else None,
            mask=attn_mask if kind == "mask" else None,
            bias=attn_mask if kind in {"bias", "rule"} else None,
            scale=scale,
        )
    except SoftlookupError as error:
        if error.argument not in {"mask", "bias"}:
            raise
        words = re.sub(rf"\b{error.argument}\b", "attn_mask", error.message)
        raise type(error)("attn_mask", words) from None


def attend_with_lse(query: Any, key: Any, value: Any, **options: Any) -> tuple[Any, Any]:
    """Return the answer of `softlookup.attend` and its lse, both with gradients.

    Two lookups over different keys merge by their lse: that is what a loss on it is for.

    Parameters
    ----------
    query, key, value : Tensor
        As in `softlookup.attend`.
    **options
        Those of `softlookup.attend`.

    Returns
    -------
    out : Tensor of shape (..., heads, q_len, value_dim)
        Bit for bit that of `softlookup.attend`.
    lse : Tensor of shape (..., heads, q_len)
        Natural logarithm of the sum of ``exp(score)``; float32, float64 for float64.

    Raises
    ------
    ShapeError, OptionError, DtypeError, BackendError
        One sentence with the real numbers and the next step.

    Examples
    --------
    >>> import torch
    >>> rows = torch.eye(2)
    >>> out, lse = attend_with_lse(rows, rows, rows, scale=0.0)
    >>> lse  # two keys with the score 0: ln 2
    tensor([0.6931, 0.6931])
    """
    check_tensor(query, "query")
    verb = _attend_with_lse
    if is_compiling():  # as in `attend`
        verb = sys.modules["torch"].compiler.disable(verb)
    return verb(query, key, value, options)


def _attend_with_lse(query: Any, key: Any, value: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    look = Lookup(query, key, value, **options)
    look.problem.need_value()
    if look.tensors is None:
        raise ValueError("a lookup of a tensor holds its tensors")
    backend = registry.choose(look.problem, NO_FACTS, look.backend, alone=True)
    return autograd.answer(look.problem, backend, look.tensors)


def check_tensor(given: Any, argument: str) -> None:
    """Check that `given` is a tensor.

    Raises
    ------
    DtypeError
        Where it is none.
    """
    if is_tensor(given):
        return
    way = f"Pass torch.as_tensor({argument}); softlookup.attend takes NumPy arrays."
    if type(given).__name__ == "Proxy":
        way = "Keep the lookup out of what torch.fx traces, by torch.fx.wrap."
    raise DtypeError(
        argument,
        f"must be a torch tensor; got {type(given).__name__}. {way}",
    )


def _check_three(query: Any, key: Any, value: Any) -> None:
    """Check that all three have lengths and hold floats of one dtype."""
    for argument, given in (("query", query), ("key", key), ("value", value)):
        if given.ndim < 2:
            raise ShapeError(
                argument,
                f"must have at least 2 axes, (length, dim); got shape {tuple(given.shape)}. One "
                f"vector is {argument}[None].",
            )
        if not given.is_floating_point():
            raise DtypeError(
                argument,
                "must hold float16, bfloat16, float32 or float64, as torch's own takes; got "
                f"{given.dtype}. Cast it with {argument}.to(...).",
            )
        if given.dtype != query.dtype:
            raise DtypeError(
                argument,
                f"must share the query's dtype {query.dtype}; got {given.dtype}. Pass "
                f"{argument}.to(query.dtype), or cast the query.",
            )


def _kind_of(attn_mask: Any) -> str | None:
    """Return what `attn_mask` is here: "mask", "bias", or a causal "rule" of torch's."""
    if attn_mask is None:
        return None
    if corner_of(attn_mask) is not None:
        return "rule"
    check_tensor(attn_mask, "attn_mask")
    check_plain(attn_mask, "attn_mask")
    if attn_mask.is_floating_point():
        return "bias"
    if str(attn_mask.dtype) == "torch.bool":
        return "mask"
    raise DtypeError(
        "attn_mask",
        f"must be bool, True = may look, or floats that are added; got {attn_mask.dtype}. Write "
        "attn_mask.bool().",
    )


def _broadcast(query: Any, key: Any, value: Any, *, grouped: bool) -> tuple[Any, Any, Any]:
    """Return the three with equal leading axes, but for the heads where they are grouped."""
    import torch

    kept = 3 if grouped else 2
    for argument, each in (("key", key), ("value", value)):
        if each.shape[:-kept] == query.shape[:-kept]:
            continue
        try:
            lead = torch.broadcast_shapes(query.shape[:-kept], each.shape[:-kept])
        except RuntimeError:
            advice = "" if grouped else " For fewer key heads pass enable_gqa=True."
            raise ShapeError(
                argument,
                f"leading axes must broadcast to the query's {tuple(query.shape[:-kept])}; got "
                f"{tuple(each.shape[:-kept])} (shape {tuple(each.shape)}).{advice}",
            ) from None
        query = query.expand(*lead, *query.shape[-kept:])
    key, value = (
        each
        if each.shape[:-kept] == query.shape[:-kept]
        else each.expand(*query.shape[:-kept], *each.shape[-kept:])
        for each in (key, value)
    )
    if grouped and query.ndim > 2:
        key, value = _with_equal_heads(query, key, value)
    return query, key, value


def _with_equal_heads(query: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """Return key and value with as many heads, where each has its own number of them."""
    heads, own = query.shape[-3], (key.shape[-3], value.shape[-3])
    if own[0] == own[1] or 0 in own:
        return key, value
    for argument, count in zip(("key", "value"), own, strict=True):
        if heads % count:
            raise ShapeError(
                argument,
                f"heads must divide the query's {heads}; got {count}. With enable_gqa query head h "
                f"uses head h // (heads // {count}).",
            )
    each = lcm(*own)
    return key.repeat_interleave(each // own[0], -3), value.repeat_interleave(each // own[1], -3)
