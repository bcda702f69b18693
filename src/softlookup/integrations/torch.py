"""For PyTorch: a drop-in for its attention, and the answer with its lse, both with gradients.

`softlookup.attend` and `softlookup.Lookup` take tensors by themselves; this module speaks torch's
dialect, its names, its causal corner and its mask.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from softlookup import autograd
from softlookup.attending import attend
from softlookup.backends import registry
from softlookup.errors import DtypeError, OptionError, PackageError, ShapeError
from softlookup.facts import NO_FACTS
from softlookup.lookup import Lookup
from softlookup.tensors import is_compiling, is_tensor


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
        float16, bfloat16, float32 or float64; key and value share its dtype.
    key, value : Tensor of shape (..., heads, kv_len, dim)
        Leading axes are broadcast, as in torch.
    attn_mask : Tensor, optional
        Broadcast, right-aligned, to (..., heads, q_len, kv_len). bool: True = may look. Floats are
        added to the scores.
    dropout_p : float, default 0.0
        There is no dropout here: anything else is refused.
    is_causal : bool, default False
        Query i sees key j only when ``j <= i``, whatever the lengths (top-left, as in torch).
        Together with `attn_mask` both count; torch refuses that.
    scale : float, optional
        Default ``head_dim ** -0.5``.
    enable_gqa : bool, default False
        Key and value may have fewer heads; query head h uses head ``h // (heads // kv_heads)``.

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
    for argument, given in (("query", query), ("key", key), ("value", value)):
        _check_tensor(given, argument)
    if dropout_p != 0:
        raise OptionError(
            "dropout_p",
            f"must be 0, since there is no dropout here; got {dropout_p}. In evaluation models "
            "pass 0; leave training with dropout to torch.",
        )
    kind = _kind_of(attn_mask)
    try:
        return attend(
            *_broadcast(query, key, value, grouped=enable_gqa),
            causal=is_causal,
            q_offset=0 if is_causal else None,
            mask=attn_mask if kind == "mask" else None,
            bias=attn_mask if kind == "bias" else None,
            scale=scale,
        )
    except ShapeError as error:
        if error.argument in ("mask", "bias"):
            raise ShapeError("attn_mask", error.message) from None
        raise


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
    _check_tensor(query, "query")
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


def _check_tensor(given: Any, argument: str) -> None:
    if not is_tensor(given):
        raise DtypeError(
            argument,
            f"must be a torch tensor; got {type(given).__name__}. softlookup.attend takes NumPy "
            "arrays.",
        )


def _kind_of(attn_mask: Any) -> str | None:
    """Return which option `attn_mask` is here, "mask" or "bias"."""
    if attn_mask is None:
        return None
    _check_tensor(attn_mask, "attn_mask")
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
    key, value = (each.expand(*lead, *each.shape[-kept:]) for each in (key, value))
    return query, key, value
