"""Problem: one lookup with its sizes and options, checked once; the only place that refuses.

Everything below sees one form: arrays of four axes (batch, heads, length, dim), where batch is all
leading axes as one, and options as arrays over that batch. Nothing is copied to get there unless
leading axes with odd strides must be merged. The arrays lie where the caller's lie, and so does
what a backend makes of them.
"""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from softlookup.arrays import (
    DASK,
    MEMORY,
    Array,
    IntArray,
    as_floats,
    as_ndarray,
    beside,
    bring_rows,
    compute_dtype,
    contiguous,
    in_memory,
    not_beside,
    place_of,
)
from softlookup.errors import DtypeError, OptionError, ShapeError
from softlookup.options import (
    Overlay,
    Window,
    check_bias,
    check_corner,
    check_flag,
    check_kv_lens,
    check_mask,
    check_q_offset,
    check_scale,
    check_sinks,
    check_softcap,
    check_window,
    lay_over,
)

_MOST_BROUGHT = 2**32  # bytes


@dataclass(frozen=True, eq=False)
class Problem:
    """One lookup: arrays of shape (batch, heads, length, dim) and options over that batch.

    Attributes
    ----------
    query, key, value
        (batch, heads, q_len, head_dim), (batch, kv_heads, kv_len, head_dim) and
        (batch, kv_heads, kv_len, value_dim); value is None where only facts are wanted.
    batch_shape : tuple of int
        The leading axes as the caller gave them.
    plain : bool
        Given without a heads axis, as (length, dim).
    q_offset : ndarray of shape (batch,) or None
        Position of query 0; None where lengths differ and no option needs positions.
    kv_lens : ndarray of shape (batch,) or None
        Valid keys of each batch entry.
    mask, bias : Overlay or None
        True may look; added to the scores.
    sinks : ndarray of shape (heads,) or None
        One logit a head in the denominator.
    sinks_given : tuple of int
        The shape that the caller gave them: what their gradient has. () for one number.
    batch, heads, kv_heads, group, q_len, kv_len, head_dim, value_dim : int
        The sizes: batch of all leading axes together, group of query heads that share a key head,
        kv_len with its padding, value_dim 0 where no value was given.
    place : str
        Where query, key, value, sinks, mask and bias lie: "memory", a device such as "cuda:0", or
        "dask". Other options lie in memory.
    dtype, compute_dtype : dtype
        Of the inputs and the output; of sums, weights and facts.
    """

    query: Array
    key: Array
    value: Array | None
    batch_shape: tuple[int, ...]
    plain: bool
    causal: bool
    q_offset: IntArray | None
    window: Window | None
    mask: Overlay | None
    bias: Overlay | None
    kv_lens: IntArray | None
    scale: float
    softcap: float | None
    sinks: Array | None
    sinks_given: tuple[int, ...] = ()
    batch: int = field(init=False)
    heads: int = field(init=False)
    kv_heads: int = field(init=False)
    group: int = field(init=False)
    q_len: int = field(init=False)
    kv_len: int = field(init=False)
    head_dim: int = field(init=False)
    value_dim: int = field(init=False)
    place: str = field(init=False)
    dtype: np.dtype[Any] = field(init=False)
    compute_dtype: np.dtype[Any] = field(init=False)

    def __post_init__(self) -> None:
        # beside the setters, which a frozen class refuses: once, since a small lookup asks often
        sizes = vars(self)
        sizes["batch"], sizes["heads"], sizes["q_len"], sizes["head_dim"] = self.query.shape
        _, kv_heads, sizes["kv_len"], _ = self.key.shape
        sizes["kv_heads"] = kv_heads
        sizes["group"] = self.heads // kv_heads if kv_heads else 0
        sizes["place"] = place_of(self.query)
        sizes["value_dim"] = 0 if self.value is None else self.value.shape[3]
        sizes["dtype"] = dtype = self.query.dtype
        sizes["compute_dtype"] = compute_dtype(dtype)

    def restore(self, array: Array) -> Array:
        """Give `array` (batch, heads, ...) the caller's leading axes, C-contiguous."""
        array = contiguous(array)
        if len(self.batch_shape) == 1:  # one axis for the batch, as here
            return array
        lead = self.batch_shape if self.plain else (*self.batch_shape, array.shape[1])
        return array.reshape((*lead, *array.shape[2:]))

    def need_value(self) -> Array:
        """Return the value, or refuse: it may be left out only where no output is wanted."""
        if self.value is None:
            raise OptionError(
                "value",
                f"is needed for the output of {self.q_len} queries; it was left out. "
                "Pass value, or ask for weights or facts only.",
            )
        return self.value

    def lies_elsewhere(self) -> str | None:
        """Return why a backend that reads memory cannot take it, as a sentence, or None."""
        if self.place == MEMORY:
            return None
        if self.place == DASK:
            return "It reads arrays in memory; these are dask arrays: compute() brings them."
        return f"It reads arrays in memory; these lie on {self.place}: cpu() brings them."

    def in_memory(self, rows: IntArray | None = None) -> "Problem":
        """Return the same problem over arrays in memory; what lies elsewhere is copied.

        Of the queries only some `rows` where they are given: the others are then zeros.

        Raises
        ------
        OptionError
            Where what lies in the chunks of a cluster is more than 4 GiB.
        """
        if self.place == MEMORY:
            return self
        if self.place == DASK:
            self._check_brought(self.q_len if rows is None else len(rows))
        return replace(
            self,
            query=bring_rows(self.query, rows),
            key=in_memory(self.key),
            value=None if self.value is None else in_memory(self.value),
            mask=None if self.mask is None else self.mask.in_memory(rows),
            bias=None if self.bias is None else self.bias.in_memory(rows),
            sinks=None if self.sinks is None else in_memory(self.sinks),
        )

    def _check_brought(self, rows: int) -> None:
        """Refuse what is too large to be brought into memory, with so many of its rows."""
        share = rows / max(self.q_len, 1)
        keys = self.key.nbytes + (0 if self.value is None else self.value.nbytes)
        laid = [self.query, *(each.array for each in (self.mask, self.bias) if each is not None)]
        size = keys + share * sum(each.nbytes for each in laid if each.shape[2] == self.q_len)
        if size > _MOST_BROUGHT:
            argument, part = ("key", "keys") if 2 * keys > size else ("query", "queries")
            raise OptionError(
                argument, f"must fit into {_MOST_BROUGHT / 2**30:.0f} GiB with the others to be "
                f"brought into memory; all are {size / 2**30:,.1f} GiB. Take a part of the {part}.",
            )  # fmt: skip

    def one_row(self, row: int) -> "Problem":
        """Return the problem of one query, at its place, sharing memory."""
        only = slice(row, row + 1)
        return replace(
            self,
            query=self.query[:, :, only],
            q_offset=None if self.q_offset is None else self.q_offset + row,
            mask=None if self.mask is None else self.mask.of_row(only),
            bias=None if self.bias is None else self.bias.of_row(only),
        )

    def one_head(self, head: int, batch: int) -> "Problem":
        """Return the plain problem of one query head of one batch entry, sharing memory."""
        here, kv_head = slice(batch, batch + 1), head // max(self.group, 1)
        kv = slice(kv_head, kv_head + 1)
        only = slice(head, head + 1)
        return replace(
            self,
            query=self.query[here, only],
            key=self.key[here, kv],
            value=None if self.value is None else self.value[here, kv],
            batch_shape=(),
            plain=True,
            q_offset=None if self.q_offset is None else self.q_offset[here],
            kv_lens=None if self.kv_lens is None else self.kv_lens[here],
            mask=None if self.mask is None else self.mask.of_head(here, only),
            bias=None if self.bias is None else self.bias.of_head(here, only),
            sinks=None if self.sinks is None else self.sinks[only],
            sinks_given=self.sinks_given if self.plain else (1,),
        )


def build_problem(
    query: Any,
    key: Any,
    value: Any,
    *,
    causal: Any,
    q_offset: Any,
    window: Any,
    mask: Any,
    bias: Any,
    kv_lens: Any,
    scale: Any,
    softcap: Any,
    sinks: Any,
) -> Problem:
    """Check everything that can be wrong with a lookup, and return it in one form.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        One sentence with the real numbers and the next step; `.argument` names the culprit.
    """
    query, key = as_floats(query, "query"), as_floats(key, "key")
    if value is not None:
        value = as_floats(value, "value")
    _check_arrays(query, key, value)
    plain, batch_shape = query.ndim == 2, query.shape[:-3]
    query, key = _with_four_axes(query), _with_four_axes(key)
    _, heads, q_len, head_dim = query.shape
    kv_len = key.shape[2]
    sides, looks_back = check_window(window), check_flag(causal, "causal")
    corner = check_corner(bias, q_offset, q_len, kv_len)
    if corner is not None:
        bias, looks_back, q_offset = None, True, corner
    full = (*batch_shape, *(() if plain else (heads,)), q_len, kv_len)
    lens = check_kv_lens(kv_lens, batch_shape, kv_len)
    asked = "causal" if looks_back else "window" if sides is not None else None
    logits = None if sinks is None else check_sinks(sinks, heads, plain)
    return Problem(
        query=query,
        key=key,
        value=None if value is None else _with_four_axes(value),
        batch_shape=batch_shape,
        plain=plain,
        causal=looks_back,
        q_offset=check_q_offset(
            q_offset,
            batch_shape,
            q_len=q_len,
            kv_len=kv_len,
            asked=asked,
            padded=lens is not None,
        ),
        window=sides,
        mask=None if mask is None else _laid_over(check_mask(mask), "mask", full, query, plain),
        bias=None if bias is None else _laid_over(check_bias(bias), "bias", full, query, plain),
        kv_lens=lens,
        scale=check_scale(scale, head_dim),
        softcap=check_softcap(softcap),
        sinks=None if logits is None else beside(logits.reshape(heads), query, "sinks"),
        sinks_given=() if logits is None else logits.shape,
    )


def _laid_over(
    array: Array, argument: str, full: tuple[int, ...], query: Array, plain: bool
) -> Overlay:
    overlay = lay_over(array, argument, full, plain)
    return overlay._replace(array=beside(overlay.array, query, argument))


def _with_four_axes(array: Array) -> Array:
    if array.ndim == 4:
        return array
    if array.ndim == 2:
        return array[None, None]
    return array.reshape(prod(array.shape[:-3]), *array.shape[-3:])  # not -1: an axis may be 0


def _check_arrays(query: Array, key: Array, value: Array | None) -> None:
    if query.ndim < 2:
        raise _too_few_axes(query, "query")
    place = place_of(query)
    _check_alike(key, "key", query, place)
    if value is not None:
        _check_alike(value, "value", query, place)
    if key.shape[-1] != query.shape[-1]:
        raise ShapeError(
            "key",
            f"head_dim must equal the query's {query.shape[-1]}; got {key.shape[-1]} "
            f"(key has shape {key.shape}). head_dim is the last axis.",
        )
    if value is not None and value.shape[-2] != key.shape[-2]:
        raise ShapeError(
            "value",
            f"kv_len must equal the key's {key.shape[-2]}; got {value.shape[-2]} "
            f"(value has shape {value.shape}). kv_len is the last axis but one.",
        )
    if query.ndim > 2:
        _check_heads(query, key, value)


def _check_alike(array: Array, argument: str, query: Array, place: str) -> None:
    """Check what query, key and value share: their dtype, their place and their leading axes."""
    if array.ndim < 2:
        raise _too_few_axes(array, argument)
    if array.dtype != query.dtype:
        raise DtypeError(
            argument,
            f"must share the query's dtype {query.dtype}; got {array.dtype}. "
            "Cast one of them with .astype(...).",
        )
    if place_of(array) != place:
        raise not_beside(argument, place_of(array), place)
    if array.ndim != query.ndim:
        raise ShapeError(
            argument,
            f"must have as many axes as the query, {query.ndim}; got {array.ndim} "
            f"(shape {array.shape}). Add or drop leading axes.",
        )
    if array.shape[:-3] != query.shape[:-3]:
        raise ShapeError(
            argument,
            f"must have the query's leading axes {query.shape[:-3]}; got "
            f"{array.shape[:-3]} (shape {array.shape}). Leading axes are not broadcast: use "
            "numpy.broadcast_to.",
        )


def _too_few_axes(array: Array, argument: str) -> ShapeError:
    return ShapeError(
        argument,
        "must have at least 2 axes, (length, dim); got shape "
        f"{array.shape}. One vector is {argument}[None].",
    )


def _check_heads(query: Array, key: Array, value: Array | None) -> None:
    heads, kv_heads = query.shape[-3], key.shape[-3]
    if value is not None and value.shape[-3] != kv_heads:
        raise ShapeError(
            "value",
            f"kv_heads must equal the key's {kv_heads}; got {value.shape[-3]} "
            f"(value has shape {value.shape}). kv_heads is the last axis but two.",
        )
    if heads and (not kv_heads or heads % kv_heads):
        raise ShapeError(
            "key",
            f"kv_heads must divide the query's {heads} heads; got {kv_heads} (key has shape "
            f"{key.shape}). Query head h uses kv head h // (heads // kv_heads).",
        )


def pick(chosen: Any, length: int, argument: str) -> IntArray:
    """Return the indices of `chosen`: None for all, a slice, a range, integers or bools.

    Raises
    ------
    OptionError
        Where an index lies outside the axis of `length`.
    DtypeError
        Where `chosen` is none of these.
    """
    if chosen is None:
        return np.arange(length)
    if isinstance(chosen, slice):
        return np.arange(length)[chosen]
    if isinstance(chosen, range):
        chosen = np.arange(chosen.start, chosen.stop, chosen.step)
    array = np.atleast_1d(as_ndarray(chosen, argument))
    if array.dtype == np.bool_ and array.shape == (length,):
        return np.flatnonzero(array)
    if (array.dtype.kind not in "iu" and array.size) or array.ndim != 1:
        raise DtypeError(
            argument,
            f"must be None, a slice, a list of integers or {length} bools; got "
            f"{array.dtype} of shape {array.shape}. E.g. {argument}=[0].",
        )
    outside = array[(array < -length) | (array >= length)]
    if outside.size:
        there = f"lie in 0 ... {length - 1}" if length else "be empty, as that axis is"
        raise OptionError(argument, f"must {there}; got {outside[0]}. Positions count from 0.")
    chosen_indices = array.astype(np.int64)  # first: a small integer dtype cannot hold the length
    return np.where(chosen_indices < 0, chosen_indices + length, chosen_indices)


def too_large(
    argument: str, shape: tuple[int, ...], each: int, what: str, advice: str
) -> OptionError:
    """Return the error for an answer of `shape` whose items take `each` bytes."""
    sizes, gib = " x ".join(f"{size:,}" for size in shape), prod(shape) * each / 2**30
    return OptionError(
        argument, f"must fit into memory; {sizes} of {what} are {gib:,.1f} GiB. {advice}"
    )
