"""`torch.nn.MultiheadAttention` whose attention is a lookup; imported where it is asked for."""

from typing import Any, NamedTuple

import torch
from torch.nn.functional import linear, pad

from softlookup.attending import attend
from softlookup.errors import DtypeError, OptionError, ShapeError
from softlookup.integrations.torch import check_tensor
from softlookup.lookup import Lookup
from softlookup.plainness import check_plain
from softlookup.tensors import as_autocast, autocast_dtype, is_compiling, is_tensor


class MultiheadAttention(torch.nn.MultiheadAttention):  # type: ignore[misc]
    """`torch.nn.MultiheadAttention`, computed by softlookup, on the CPU and on GPUs.

    It is made from the same arguments, and its `state_dict` is torch's own: either loads what the
    other saved.

    Notes
    -----
    It agrees with torch's module but for these:

    - A query that may look at no key gives the bias of `out_proj` and weights of 0; torch gives
      NaN.
    - ``is_causal=True`` hides what comes later by itself (top-left); torch wants `attn_mask` too.
    - The weights that come back are detached.
    - Dropout is refused while it is trained.

    Masks are torch's: in a bool mask True means hidden, the inverse of `mask` in
    `softlookup.attend`; floats are added to the scores.

    Examples
    --------
    >>> import torch
    >>> theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> ours = MultiheadAttention(8, 2, batch_first=True)
    >>> ours.load_state_dict(theirs.state_dict())
    <All keys matched successfully>
    >>> rows = torch.randn(1, 5, 8)
    >>> torch.allclose(ours(rows, rows, rows)[0], theirs(rows, rows, rows)[0], atol=1e-6)
    True
    """

    def forward(  # noqa: PLR0917 (torch's own signature)
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """Return what torch's own `forward` returns: the output, and the weights or None.

        Parameters
        ----------
        query, key, value : Tensor of shape (len, batch, dim) or (len, dim)
            (batch, len, dim) where made with ``batch_first=True``.
        key_padding_mask : Tensor of shape (batch, kv_len) or (kv_len,), optional
            bool: True = hidden; floats are added to the scores.
        need_weights : bool, default True
            Also return the weights, which are q_len x kv_len.
        attn_mask : Tensor of shape (q_len, kv_len) or (batch * heads, q_len, kv_len), optional
            As `key_padding_mask`.
        average_attn_weights : bool, default True
            The mean of the weights over the heads.
        is_causal : bool, default False
            Query i sees key j only when ``j <= i``.

        Returns
        -------
        out : Tensor like the query
        weights : Tensor of shape (batch, q_len, kv_len), (batch, heads, q_len, kv_len), or None

        Raises
        ------
        ShapeError, OptionError, DtypeError
            One sentence with the real numbers and the next step.
        """
        if self.training and self.dropout > 0:
            raise OptionError(
                "dropout",
                f"must be 0 while training, since there is no dropout here; got {self.dropout}. "
                "Make the module with dropout=0, or call eval().",
            )
        _check_given(self, query, key, value)
        plain = query.dim() == 2
        if plain:
            query, key, value = (x.unsqueeze(0) for x in (query, key, value))
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        q, k, v = self._project(query, key, value)
        if self.bias_k is not None or self.add_zero_attn:  # then a mask says it for every key
            is_causal = is_causal and attn_mask is None
        hidden = _hidden(q, k, key_padding_mask, attn_mask, is_causal=is_causal, plain=plain)
        given = self._append(k, v, hidden)
        look_up = _looked_up
        if is_compiling():  # as in `attend`
            look_up = torch.compiler.disable(look_up)
        out, weights = look_up(q, *given, need_weights=need_weights)
        out = self.out_proj(out.transpose(1, 2).flatten(2))
        if weights is not None and average_attn_weights:
            weights = weights.mean(dim=1)
        if plain:
            return out.squeeze(0), None if weights is None else weights.squeeze(0)
        return out if self.batch_first else out.transpose(0, 1), weights

    def _project(self, *given: Any) -> tuple[Any, ...]:
        """Return query, key and value as (batch, heads, length, head_dim)."""
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        made = (linear(x, w, b) for x, w, b in zip(given, weights, biases, strict=True))
        return tuple(x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2) for x in made)

    def _append(self, key: Any, value: Any, hidden: "_Hidden") -> tuple[Any, Any, "_Hidden"]:
        """Return keys, values and masks with the learned row and the row of zeros, if asked for."""
        batch = len(key)
        if self.bias_k is not None:
            learned = (
                x.unflatten(-1, (self.num_heads, self.head_dim))
                .transpose(1, 2)
                .expand(batch, -1, -1, -1)
                for x in (self.bias_k, self.bias_v)
            )
            key, value = (torch.cat(two, 2) for two in zip((key, value), learned, strict=True))
            hidden = hidden.with_one_more(key.shape[2])
        if self.add_zero_attn:
            key, value = (pad(x, (0, 0, 0, 1)) for x in (key, value))
            hidden = hidden.with_one_more(key.shape[2])
        return key, value, hidden


def _check_given(module: MultiheadAttention, query: Any, key: Any, value: Any) -> None:
    """Check the sizes that torch's module asserts, dtypes, and where query, key and value lie."""
    given = {"query": query, "key": key, "value": value}
    for argument, each in given.items():
        _check_read(each, argument)
    axes, weight = query.dim(), module.out_proj.weight
    if axes not in {2, 3}:
        raise ShapeError(
            "query",
            f"must have 2 axes, (len, {module.embed_dim}), or 3 with a batch; got shape "
            f"{tuple(query.shape)}. Merge or add axes for the batch.",
        )
    length = int(axes == 3 and module.batch_first)  # the axis of len
    widths = {"query": module.embed_dim, "key": module.kdim, "value": module.vdim}
    for argument, each in given.items():
        shape = [*query.shape[:-1], widths[argument]]
        if argument != "query" and key.dim() == axes:
            shape[length] = key.shape[length]
        if list(each.shape) != shape:
            raise ShapeError(
                argument,
                f"must have the shape {tuple(shape)}; got {tuple(each.shape)}. The last axis is as "
                "the module was made, the batch is the query's, and key and value are as long.",
            )
        if autocast_dtype(each) != autocast_dtype(weight) or each.device != weight.device:
            raise DtypeError(
                argument,
                f"must be {weight.dtype} on {weight.device}, as the module's weights are; got "
                f"{each.dtype} on {each.device}. Pass {argument}.to(module.out_proj.weight).",
            )


def _check_read(given: Any, argument: str) -> None:
    """Check that it is a tensor that can be read; in a compiled graph `attend` asks that."""
    check_tensor(given, argument)
    if not is_compiling():
        check_plain(given, argument)


class _Hidden(NamedTuple):
    """What shapes the scores, in the words of `attend`."""

    mask: Any
    bias: Any
    causal: bool

    def with_one_more(self, kv_len: int) -> "_Hidden":
        """Return the same for one key more, kv_len in all, that every query sees."""
        mask = self.mask
        if self.causal:
            raise OptionError(
                "is_causal",
                "must come as attn_mask where the module adds keys of its own; got is_causal=True. "
                "Pass the mask.",
            )
        if mask is not None:
            mask = pad(mask.expand(*mask.shape[:-1], kv_len - 1), (0, 1), value=True)
        return _Hidden(mask, None if self.bias is None else pad(self.bias, (0, 1)), causal=False)


def _hidden(
    query: Any, key: Any, padding: Any, attn_mask: Any, *, is_causal: bool, plain: bool
) -> _Hidden:
    """Return the masks of torch's module in the words of `attend`."""
    (batch, heads, q_len, _), kv_len = query.shape, key.shape[2]
    found = []
    shape: tuple[int, ...]
    if padding is not None:
        shape = (kv_len,) if plain else (batch, kv_len)
        found.append(_fitting(padding, "key_padding_mask", shape).reshape(batch, 1, 1, kv_len))
    if attn_mask is not None:
        many = is_tensor(attn_mask) and attn_mask.dim() == 3
        shape = (batch * heads, q_len, kv_len) if many else (q_len, kv_len)
        lead = (batch, heads) if many else (1, 1)
        found.append(_fitting(attn_mask, "attn_mask", shape).reshape(*lead, q_len, kv_len))
    mask = bias = None
    for each in found:
        if each.is_floating_point():
            bias = each if bias is None else bias + each
        else:
            mask = ~each if mask is None else mask & ~each
    return _Hidden(mask, bias, is_causal)


def _fitting(mask: Any, argument: str, shape: tuple[int, ...]) -> Any:
    _check_read(mask, argument)
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise DtypeError(
            argument,
            f"must be bool, True = hidden, or floats that are added; got {mask.dtype}. Write "
            f"{argument}.bool().",
        )
    if tuple(mask.shape) != shape:
        raise ShapeError(
            argument,
            f"must have the shape {shape}; got {tuple(mask.shape)}. Its last axis counts keys.",
        )
    return mask


def _looked_up(
    query: Any, key: Any, value: Any, hidden: _Hidden, *, need_weights: bool
) -> tuple[Any, Any]:
    """Return out and, where they are needed, the weights of all heads."""
    query, key, value = as_autocast(query, key, value)
    options = {**hidden._asdict(), "q_offset": 0 if hidden.causal else None}
    if not need_weights:
        return attend(query, key, value, **options), None
    look = Lookup(query, key, value, **options)
    weights: Any = look.weights()
    return look.attend(), weights.to(query.dtype)
