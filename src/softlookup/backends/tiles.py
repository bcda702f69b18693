"""Tiles of a lookup in NumPy: their scores and values, and what flows back through them.

A tile's rows are (batch, kv_heads, group, rows): the query heads of a group are folded into the
rows, so that K and V are read once per kv head.
"""

from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, cast_finite
from softlookup.gradients import Gradients, Residuals, add_to_bias
from softlookup.options import Overlay
from softlookup.partials import blend
from softlookup.pooling import Normaliser
from softlookup.problem import Problem
from softlookup.visibility import Tile, indices, overlay_tile


def scaled_query(problem: Problem, tile: Tile) -> Array:
    """Return the query of a tile, (batch, kv_heads, group, rows, head_dim), contiguous and scaled.

    Scaling it costs less than scaling the scores; a scale that could lead it out of its dtype's
    range waits for them.
    """
    query = problem.query[tile.batch, tile.heads(problem)][:, :, tile.rows]
    scale = problem.scale if _is_mild(problem.scale) else 1.0
    scaled = query.astype(problem.compute_dtype, order="C") * scale
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return scaled.reshape(scaled.shape[0], kv_heads, problem.group, *scaled.shape[2:])


def scores_of(problem: Problem, tile: Tile, query: Array, scratch: Array) -> Array:
    """Return the scores of a tile, (batch, kv_heads, group, rows, keys), in `scratch`."""
    scores = capped_of(problem, tile, query, scratch)
    if problem.bias is not None:
        scores += cast_finite(overlay_tile(problem, problem.bias, tile), scores.dtype)
    return scores


def capped_of(problem: Problem, tile: Tile, query: Array, scratch: Array) -> Array:
    """Return the scores of a tile before the bias, as `scores_of`."""
    key = _readable(problem.key[tile.batch, tile.kv_heads][:, :, tile.keys], query.dtype)
    folded = query.reshape(*query.shape[:2], query.shape[2] * query.shape[3], query.shape[4])
    shape = (*folded.shape[:-1], key.shape[-2])
    scores = np.matmul(folded, key.swapaxes(-1, -2), out=scratch[: prod(shape)].reshape(shape))
    scores = scores.reshape(*query.shape[:-1], key.shape[-2])
    if not _is_mild(problem.scale):
        scale_by(scores, problem.scale)
    if problem.softcap is not None:
        softcap = softcap_in(scores.dtype, problem.softcap)
        scores /= softcap
        np.tanh(scores, out=scores)
        scores *= softcap
    return scores


def softcap_in(dtype: np.dtype[Any], softcap: float) -> float:
    """Return `softcap`, or the nearest one that `dtype` can divide by."""
    return max(_within(dtype, softcap), float(np.finfo(dtype).tiny))


def values_of(problem: Problem, tile: Tile, value: Array | None) -> Array:
    """Return the values of a tile, (batch, kv_heads, 1, keys, value_dim)."""
    if value is None:
        keys = len(indices(tile.keys, problem.kv_len))
        return np.empty((1, 1, 1, keys, 0), problem.compute_dtype)
    return _part_of(value, tile, problem.compute_dtype)


def _part_of(array: Array, tile: Tile, dtype: np.dtype[Any]) -> Array:
    """Return the keys or values of a tile in `dtype`, (batch, kv_heads, 1, keys, dim)."""
    return _readable(array[tile.batch, tile.kv_heads][:, :, tile.keys], dtype)[:, :, None]


def _readable(part: Array, dtype: np.dtype[Any]) -> Array:
    """Return `part` in `dtype` with strides that a matrix product reads in place."""
    rows, columns = part.strides[-2:]
    if part.dtype == dtype and columns == part.itemsize and rows >= columns * part.shape[-1]:
        return part
    return np.ascontiguousarray(part, dtype)


def _is_mild(scale: float) -> bool:
    return scale == 0 or 2.0**-64 <= abs(scale) <= 1


def scale_by(array: Array, scale: float) -> None:
    """Multiply `array` by `scale`, which may lie beyond its dtype's range."""
    for factor in (scale,) if _is_mild(scale) else _factors(array.dtype, scale):
        array *= factor


def _factors(dtype: np.dtype[Any], scale: float) -> tuple[float, ...]:
    """Return numbers within the range of `dtype` whose product is `scale`, as far as there are."""
    limits = np.finfo(dtype)
    if limits.tiny <= abs(scale) <= limits.max:
        return (scale,)
    power = 2.0**64 if abs(scale) > 1 else 2.0**-64
    return _within(dtype, scale / power), power


def _within(dtype: np.dtype[Any], number: float) -> float:
    """Return `number`, or the nearest one that `dtype` holds: 0 * inf must not arise."""
    largest = float(np.finfo(dtype).max)
    return min(max(number, -largest), largest)


def unfold(array: Array, problem: Problem) -> Array:
    """Turn (batch, kv_heads, group, rows, ...) into (batch, heads, rows, ...)."""
    return array.reshape(array.shape[0], array.shape[1] * problem.group, *array.shape[3:])


def fold(array: Array, problem: Problem, tile: Tile) -> Array:
    """Turn (batch, heads, rows) of a tile into (batch, kv_heads, group, rows)."""
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return array.reshape(len(array), kv_heads, problem.group, array.shape[-1])


class Back(NamedTuple):
    """What the gradients of a tile's rows are made of; leading axes as in a tile's scores.

    Attributes
    ----------
    query, out_grad : ndarray of shape (..., rows, dim)
        The query as it is, not scaled.
    delta : ndarray of shape (..., rows)
    normaliser : Normaliser
    """

    query: Array
    out_grad: Array
    delta: Array
    normaliser: Normaliser


def back_of(problem: Problem, tile: Tile, kept: Residuals, out_grad: Array, delta: Array) -> Back:
    """Return what the gradients of a tile's rows are made of."""
    dtype, heads = problem.compute_dtype, tile.heads(problem)
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))

    def rows_of(array: Array) -> Array:
        part = array[tile.batch, heads][:, :, tile.rows].astype(dtype, order="C", copy=False)
        return part.reshape(len(part), kv_heads, problem.group, *part.shape[2:])

    normaliser = Normaliser(*(rows_of(part) for part in kept.normaliser))
    return Back(rows_of(problem.query), rows_of(out_grad), rows_of(delta), normaliser)


def weigh_rows(scores: Array, visible: BoolArray | None, free: int, normaliser: Normaliser) -> None:
    """Turn the scores of a tile into weights, in place; `free` is as in `part_of_scores`."""
    scores -= normaliser.shift[..., None]
    np.exp(scores, out=scores)
    scores *= normaliser.factor[..., None]
    if visible is not None:
        np.copyto(scores[..., free:], 0, where=~visible)


class Sums:
    """The gradients of a lookup while its tiles are added up, tile by tile."""

    def __init__(self, problem: Problem, bias: Overlay | None) -> None:
        self.problem, self.bias = problem, bias
        keys = (problem.batch, problem.kv_heads, problem.kv_len)
        dtype = problem.compute_dtype
        self.query = np.zeros(problem.query.shape, dtype)
        self.key = np.zeros((*keys, problem.head_dim), dtype)
        self.value = np.zeros((*keys, problem.value_dim), dtype)

    def add(
        self, tile: Tile, weights: Array, capped: Array | None, back: Back, *, calm: bool
    ) -> None:
        """Add what flows back through a tile; `capped` are its scores before the bias.

        `calm` says that all numbers are finite: then a weight of 0 lets nothing through by itself.
        """
        problem, heads = self.problem, tile.heads(self.problem)
        flow = _flow_of(weights, values_of(problem, tile, problem.value), back, calm=calm)
        if self.bias is not None:
            at = heads, tile.rows, tile.keys
            add_to_bias(self.bias, unfold(flow, problem), tile.batch, at)
        if capped is not None and problem.softcap is not None:
            _uncap(flow, capped, problem.softcap)
        key = _part_of(problem.key, tile, problem.compute_dtype)
        to_keys = np.s_[tile.batch, tile.kv_heads, tile.keys]
        to_rows = np.s_[tile.batch, heads, tile.rows]
        self.query[to_rows] += unfold(_through(flow, key, calm=calm), problem)
        self.key[to_keys] += _through(_turned(flow), _folded(back.query), calm=calm)
        amounts, grads = _turned(weights), _folded(back.out_grad)
        self.value[to_keys] += amounts @ grads if calm else blend(amounts, amounts != 0, grads)

    def gradients(self, sinks: Array | None) -> Gradients:
        """Return them in the inputs' dtype."""
        for part in (self.query, self.key):
            scale_by(part, self.problem.scale)
        query, key, value = (
            part.astype(self.problem.dtype, copy=False)
            for part in (self.query, self.key, self.value)
        )
        return Gradients(query, key, value, None if self.bias is None else self.bias.array, sinks)


def blended_pulls(problem: Problem, tile: Tile, weights: Array, back: Back) -> Array:
    """Return what a tile's keys are of their rows' ``out_grad . out``, (..., rows)."""
    pulls = back.out_grad @ values_of(problem, tile, problem.value).swapaxes(-1, -2)
    pulls *= weights
    np.copyto(pulls, 0, where=weights == 0)  # whatever the values of hidden keys hold
    return np.asarray(pulls.sum(axis=-1))


def _flow_of(weights: Array, values: Array, back: Back, *, calm: bool) -> Array:
    """Return the gradients of a tile's scores; exactly 0 where the weight is."""
    flow = back.out_grad @ values.swapaxes(-1, -2)
    flow -= back.delta[..., None]
    flow *= weights
    if not calm:
        np.copyto(flow, 0, where=weights == 0)
    return np.asarray(flow)


def _uncap(flow: Array, capped: Array, softcap: float) -> None:
    """Turn the gradients of capped scores into those before the cap: times 1 - tanh^2."""
    capped /= softcap_in(capped.dtype, softcap)
    np.multiply(capped, capped, out=capped)
    np.subtract(1, capped, out=capped)
    nothing = flow == 0
    flow *= capped
    np.copyto(flow, 0, where=nothing)


def _through(amounts: Array, array: Array, *, calm: bool) -> Array:
    """Return ``amounts @ array``, numbers of `array` that are not finite left out.

    A visible one has spoilt its row's weights, or has the weight 0.
    """
    return np.asarray(amounts @ (array if calm else np.where(np.isfinite(array), array, 0)))


def _folded(rows: Array) -> Array:
    """Turn (batch, kv_heads, group, rows, ...) into (batch, kv_heads, group * rows, ...)."""
    return rows.reshape(*rows.shape[:2], rows.shape[2] * rows.shape[3], *rows.shape[4:])


def _turned(amounts: Array) -> Array:
    """Return a tile's amounts by their keys, (batch, kv_heads, keys, group * rows)."""
    return _folded(amounts).swapaxes(-1, -2)
