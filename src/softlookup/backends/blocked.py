"""The lookup in tiles of queries and keys, in NumPy: the online softmax, memory O(N).

Every tile gives a `Part`, parts merge by the one rule. The group's query heads are folded into the
rows, so that K and V are read once per kv head. Tiles that no row may see are skipped by position.
"""

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, IntArray, cast_finite
from softlookup.partials import (
    Answer,
    Part,
    add_sinks,
    empty_part,
    finish,
    merge,
    part_of_scores,
    weights_of_scores,
)
from softlookup.problem import Facts, Problem
from softlookup.visibility import (
    Tile,
    free_keys,
    indices,
    key_span,
    overlay_tile,
    row_limits,
    visible,
)

NAME = "blocked"

# A tile's scores stay in cache (2^20 float32 numbers are 4 MiB), and its products are large enough
# for a BLAS with threads.
_TILE_CELLS = 2**20
_TILE_KEYS = 2048
_NARROW_ROWS = 256  # with causal or a window: shorter tiles skip more of what is hidden
_MOST_KEYS = 4096  # a float32 sum in one go; longer ones would lose digits


def missing() -> str | None:
    """Return why this backend cannot run on this machine; NumPy always can."""
    return None


def unsupported(problem: Problem, facts: Facts) -> str | None:  # noqa: ARG001 (the common signature)
    """Return why this backend cannot take `problem`; it takes every one."""
    return None


def forward(problem: Problem, facts: Facts) -> Answer:  # noqa: ARG001 (lse costs nothing here)
    """Return out (batch, heads, q_len, value_dim) and lse (batch, heads, q_len)."""
    rows = (problem.batch, problem.heads, problem.q_len)
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse = np.empty(rows, problem.compute_dtype)
    plan = _plan(problem, problem.q_len)
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # NaN and inf are answers, not accidents
        for batch, kv_heads, some in _row_tiles(problem, problem.q_len, plan):
            tile = Tile(batch, kv_heads, some, slice(0, problem.kv_len))
            answer = finish(_part(problem, tile, problem.value, plan.keys, scratch))
            heads = tile.heads(problem)
            out[batch, heads, some] = _unfold(answer.out, problem)
            lse[batch, heads, some] = _unfold(answer.lse, problem)
    return Answer(out, lse)


def weights(problem: Problem, rows: IntArray, keys: IntArray) -> Array:
    """Return the weights of a rectangle, (batch, heads, len(rows), len(keys))."""
    shape = (problem.batch, problem.heads, len(rows), len(keys))
    result = np.empty(shape, problem.compute_dtype)
    plan = _plan(problem, len(rows))
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # as in `forward`
        for batch, kv_heads, at in _row_tiles(problem, len(rows), plan):
            row_tile = Tile(batch, kv_heads, rows[at], slice(0, problem.kv_len))
            whole = _part(problem, row_tile, None, plan.keys, scratch)
            query = _scaled_query(problem, row_tile)
            for part in _cuts(len(keys), plan.keys):
                tile = row_tile._replace(keys=keys[part])
                scores = _scores(problem, tile, query, scratch)
                cells = weights_of_scores(scores, visible(problem, tile), whole)
                result[batch, tile.heads(problem), at, part] = _unfold(cells, problem)
    return result


class _Plan(NamedTuple):
    """How far a tile reaches along each axis."""

    batch: int
    kv_heads: int
    rows: int
    keys: int

    def scratch(self, problem: Problem) -> Array:
        """Return room for the scores of the largest tile: fresh memory for each would cost more."""
        return np.empty(prod(self) * problem.group, problem.compute_dtype)


def _plan(problem: Problem, rows: int) -> _Plan:
    """Choose tiles of about _TILE_CELLS scores; a small problem takes one tile of many heads."""
    group, kv_len = max(problem.group, 1), max(problem.kv_len, 1)
    keys = min(kv_len, _TILE_KEYS)
    narrow = problem.causal or problem.window is not None
    most_rows = _NARROW_ROWS if narrow else _TILE_CELLS // keys
    row_step = max(1, min(rows, most_rows // group))
    per_key = group * row_step
    if problem.dtype != problem.compute_dtype:  # then a tile holds K and V in another dtype, too
        per_key = max(per_key, problem.head_dim, problem.value_dim)
    kv_heads = max(1, min(problem.kv_heads, _TILE_CELLS // (per_key * keys)))
    batch = 1
    if kv_heads == problem.kv_heads:
        batch = max(1, min(problem.batch, _TILE_CELLS // (per_key * keys * kv_heads)))
    keys = min(kv_len, _MOST_KEYS, max(_TILE_KEYS, _TILE_CELLS // (per_key * kv_heads * batch)))
    return _Plan(batch, kv_heads, row_step, keys)


def _row_tiles(problem: Problem, rows: int, plan: _Plan) -> Iterator[tuple[slice, slice, slice]]:
    """Yield (batch, kv_heads, rows) slices."""
    for batch in _cuts(problem.batch, plan.batch):
        for kv_heads in _cuts(problem.kv_heads, plan.kv_heads):
            for some_rows in _cuts(rows, plan.rows):
                yield batch, kv_heads, some_rows


def _cuts(length: int, step: int) -> Iterator[slice]:
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def _part(problem: Problem, tile: Tile, value: Array | None, key_step: int, scratch: Array) -> Part:
    """Return the whole state of a tile's rows over all keys, sinks included.

    Leading axes are (batch, kv_heads, group, rows).
    """
    limits = row_limits(problem, tile.batch, tile.rows)
    first, last = key_span(problem, limits)
    query = _scaled_query(problem, tile)
    whole: Part | None = None
    for begin in range(first - first % key_step, last, key_step):
        keys = slice(max(begin, first), min(begin + key_step, last))
        free = free_keys(problem, limits, keys)
        some = tile._replace(keys=slice(keys.start + free, keys.stop))
        sees = visible(problem, some, limits)
        if not free and sees is not None and not sees.any():
            continue
        some = tile._replace(keys=keys)
        scores = _scores(problem, some, query, scratch)
        part = part_of_scores(scores, sees, _values(problem, some, value), free)
        whole = part if whole is None else merge(whole, part)
    if whole is None:
        value_dim = 0 if value is None else value.shape[3]
        whole = empty_part(query.shape[:-1], value_dim, query.dtype)
    if problem.sinks is not None:
        sinks = problem.sinks[tile.heads(problem)].reshape(query.shape[1], problem.group, 1)
        whole = add_sinks(whole, sinks)
    return whole


def _scaled_query(problem: Problem, tile: Tile) -> Array:
    """Return the query of a tile, (batch, kv_heads, group, rows, head_dim), contiguous and scaled.

    Scaling it costs less than scaling the scores; a scale that could lead it out of its dtype's
    range waits for them.
    """
    query = problem.query[tile.batch, tile.heads(problem)][:, :, tile.rows]
    scale = problem.scale if _is_mild(problem.scale) else 1.0
    scaled = query.astype(problem.compute_dtype, order="C") * scale
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return scaled.reshape(scaled.shape[0], kv_heads, problem.group, *scaled.shape[2:])


def _scores(problem: Problem, tile: Tile, query: Array, scratch: Array) -> Array:
    """Return the scores of a tile, (batch, kv_heads, group, rows, keys), in `scratch`."""
    key = _readable(problem.key[tile.batch, tile.kv_heads][:, :, tile.keys], query.dtype)
    folded = query.reshape(*query.shape[:2], query.shape[2] * query.shape[3], query.shape[4])
    shape = (*folded.shape[:-1], key.shape[-2])
    scores = np.matmul(folded, key.swapaxes(-1, -2), out=scratch[: prod(shape)].reshape(shape))
    scores = scores.reshape(*query.shape[:-1], key.shape[-2])
    if not _is_mild(problem.scale):
        for factor in _factors(scores.dtype, problem.scale):
            scores *= factor
    if problem.softcap is not None:
        softcap = max(_within(scores.dtype, problem.softcap), float(np.finfo(scores.dtype).tiny))
        scores /= softcap
        np.tanh(scores, out=scores)
        scores *= softcap
    if problem.bias is not None:
        scores += cast_finite(overlay_tile(problem, problem.bias, tile), scores.dtype)
    return scores


def _values(problem: Problem, tile: Tile, value: Array | None) -> Array:
    """Return the values of a tile, (batch, kv_heads, 1, keys, value_dim)."""
    if value is None:
        keys = len(indices(tile.keys, problem.kv_len))
        return np.empty((1, 1, 1, keys, 0), problem.compute_dtype)
    part = value[tile.batch, tile.kv_heads][:, :, tile.keys]
    return _readable(part, problem.compute_dtype)[:, :, None]


def _readable(part: Array, dtype: np.dtype[Any]) -> Array:
    """Return `part` in `dtype` with strides that a matrix product reads in place."""
    rows, columns = part.strides[-2:]
    if part.dtype == dtype and columns == part.itemsize and rows >= columns * part.shape[-1]:
        return part
    return np.ascontiguousarray(part, dtype)


def _is_mild(scale: float) -> bool:
    return scale == 0 or 2.0**-64 <= abs(scale) <= 1


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


def _unfold(array: Array, problem: Problem) -> Array:
    """Turn (batch, kv_heads, group, rows, ...) into (batch, heads, rows, ...)."""
    return array.reshape(array.shape[0], array.shape[1] * problem.group, *array.shape[3:])
