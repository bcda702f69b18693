"""Gradients: what reaches a lookup's inputs, and the steps that backends share.

With p a weight, g the gradient of its row's output, and ``delta = g . out`` less the gradient of
the row's lse:

    d value[j]    = sum over i of p[i, j] * g[i]
    d score[i, j] = p[i, j] * (g[i] . value[j] - delta[i])

and the chain rule leads on to query, key and bias. The weights are worked out again from each row's
`Normaliser`: nothing grows with q_len x kv_len but the gradient of a bias of that size.

An ``out`` of 16 bits is rounded, and far from 0 its rounding is larger than the differences that
the gradients are made of. There a backend sums ``g . out`` of a row itself, over j as
p[i, j] * (g[i] . value[j]), before anything flows.
"""

from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import BFLOAT16, Array, as_floats, beside, without_repeats
from softlookup.errors import ShapeError
from softlookup.options import Overlay, lay_over
from softlookup.pooling import Normaliser
from softlookup.problem import Problem

_RANGE_ROWS = 32  # the fewest rows that are worth sums of their own
_MOST_RANGES = 16  # of all kv heads together: each holds a copy of the keys' gradients


class Residuals(NamedTuple):
    """What a backend keeps of a lookup for its gradients.

    Attributes
    ----------
    out : ndarray of shape (batch, heads, q_len, value_dim)
        In the inputs' dtype, bit for bit that of `forward`.
    lse : ndarray of shape (batch, heads, q_len)
    normaliser : Normaliser
        Of all rows, (batch, heads, q_len).
    """

    out: Array
    lse: Array
    normaliser: Normaliser


class Gradients(NamedTuple):
    """What reaches each input of a lookup.

    Attributes
    ----------
    query : ndarray of shape (..., heads, q_len, head_dim)
        In the inputs' dtype, as key and value are.
    key : ndarray of shape (..., kv_heads, kv_len, head_dim)
        Summed over the query heads of each kv head.
    value : ndarray of shape (..., kv_heads, kv_len, value_dim)
    bias : ndarray of the bias' own shape and dtype, or None
        Summed over the axes that the bias was broadcast over; None without a bias.
    sinks : ndarray of the sinks' own shape and dtype, or None
        None without sinks.
    """

    query: Array
    key: Array
    value: Array
    bias: Array | None = None
    sinks: Array | None = None


def check_out_grad(problem: Problem, out_grad: Any) -> Array:
    """Return the gradient of the output as (batch, heads, q_len, value_dim), in its dtype.

    Raises
    ------
    ShapeError, DtypeError
        Where it is not like the output.
    """
    lead = () if problem.plain else (problem.heads,)
    shape = (*problem.batch_shape, *lead, problem.q_len, problem.value_dim)
    given = beside(as_floats(out_grad, "out_grad"), problem.query, "out_grad")
    array = _like(given, "out_grad", "output", shape, problem.dtype)
    return array.reshape(problem.batch, problem.heads, problem.q_len, problem.value_dim)


def check_lse_grad(problem: Problem, lse_grad: Any) -> Array | None:
    """Return the gradient of the lse as (batch, heads, q_len), or None.

    Raises
    ------
    ShapeError, DtypeError
        Where it is not like the lse.
    """
    if lse_grad is None:
        return None
    lead = () if problem.plain else (problem.heads,)
    shape = (*problem.batch_shape, *lead, problem.q_len)
    given = beside(as_floats(lse_grad, "lse_grad"), problem.query, "lse_grad")
    array = _like(given, "lse_grad", "lse", shape, problem.compute_dtype)
    return array.reshape(problem.batch, problem.heads, problem.q_len)


def _like(
    array: Array, argument: str, what: str, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    if array.shape != shape:
        raise ShapeError(
            argument,
            f"must have the {what}'s shape {shape}; got {array.shape}. It holds the gradient of "
            f"each number of the {what}.",
        )
    return array if array.dtype == dtype else _cast(array, dtype)


def _cast(array: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):  # beyond its range lies inf, which says so
        return array.astype(dtype, copy=False)


def row_delta(residuals: Residuals, out_grad: Array, lse_grad: Array | None) -> Array:
    """Return ``out_grad . out`` of each row less the gradient of its lse, (batch, heads, q_len).

    Of an output of 16 bits, which is rounded, ``out_grad . out`` is left to be added where it is
    finite. It is a new array.
    """
    dtype = residuals.lse.dtype
    out, grad = (part.astype(dtype, copy=False) for part in (residuals.out, out_grad))
    with np.errstate(all="ignore"):  # NaN and inf are answers, not accidents
        delta = np.einsum("bhqd,bhqd->bhq", grad, out)
        if is_rounded(residuals.out):
            delta[np.isfinite(delta)] = 0
        if lse_grad is not None:
            delta = delta - lse_grad
    return np.ascontiguousarray(delta, dtype)


def is_rounded(out: Array) -> bool:
    """Return whether `out` has fewer digits than it was computed with."""
    return out.itemsize == 2


def sinks_gradient(problem: Problem, residuals: Residuals, delta: Array) -> Array | None:
    """Return what reaches the sinks, (heads,): each row's share of its sink times -delta.

    An empty row's lse is its sink, so all of that lse's gradient reaches it.
    """
    if problem.sinks is None:
        return None
    logits = problem.sinks.astype(problem.compute_dtype)[:, None]
    shift, factor = residuals.normaliser
    with np.errstate(all="ignore"):  # as above
        share = np.where(factor == 0, 1, np.exp(logits - shift) * factor)
        share = np.where(np.isneginf(logits), 0, share)
        terms = np.where(share == 0, 0, -share * delta)
        return np.asarray(terms.sum(axis=(0, 2), dtype=np.float64).astype(problem.compute_dtype))


def count_ranges(problem: Problem) -> int:
    """Return into how many ranges a kv head's rows are cut, each with its own sums over rows.

    It depends on the sizes alone, so that the order of sums is the same for any thread count.
    """
    most = _MOST_RANGES // max(problem.batch * problem.kv_heads, 1)
    return max(1, min(-(-problem.q_len // _RANGE_ROWS), most))


def are_finite(*arrays: Array | None) -> bool:
    """Return True where all numbers are finite for sure: one pass over each array tells."""
    return all(_is_finite(without_repeats(array)) for array in arrays if array is not None)


def _is_finite(array: Array) -> bool:
    if array.itemsize == 2:  # as integers: a sum would widen each number first
        infinite = 0x7F80 if array.dtype == BFLOAT16 else 0x7C00
        return int((array.view(np.uint16) & 0x7FFF).max(initial=0)) < infinite
    with np.errstate(all="ignore"):  # a sum beyond the range is not finite, either
        return bool(np.isfinite(array.sum()))


def bias_room(problem: Problem, *, wanted: bool) -> Overlay | None:
    """Return zeros of the bias' own shape, laid over the scores as it is; None if not wanted."""
    if not wanted or problem.bias is None:
        return None
    lead = () if problem.plain else (problem.heads,)
    full = (*problem.batch_shape, *lead, problem.q_len, problem.kv_len)
    zeros = np.zeros(problem.bias.given, problem.compute_dtype)
    return lay_over(zeros, "bias", full, problem.plain)


def add_to_bias(room: Overlay, part: Array, batch: slice, at: tuple[slice, slice, slice]) -> None:
    """Add the scores' gradients of a tile (batch, heads, rows, keys), summed where `room` is 1.

    `at` holds the tile's heads, rows and keys.
    """
    sizes = room.array.shape[1:]
    axes = tuple(axis for axis, size in enumerate(sizes) if size == 1)
    to = tuple(slice(None) if n == 1 else some for some, n in zip(at, sizes, strict=True))
    for entry, each in zip(room.entry[batch], part, strict=True):
        room.array[entry][to] += each.sum(axis=axes, keepdims=True) if axes else each


def restore(problem: Problem, found: Gradients) -> Gradients:
    """Give what a backend found the shapes and dtypes of the caller's arrays."""
    bias, sinks = found.bias, found.sinks
    if bias is not None and problem.bias is not None:
        bias = _cast(bias.reshape(problem.bias.given), problem.bias.array.dtype)
    if sinks is not None and problem.sinks is not None:
        sinks = _cast(sinks.reshape(problem.sinks_given), problem.sinks.dtype)
    query, key, value = (problem.restore(part) for part in found[:3])
    return Gradients(query, key, value, bias, sinks)
