"""The lookup in tiles of queries and keys, in NumPy: the online softmax, memory O(N).

Every tile gives a `Part`, parts merge by the one rule. The group's query heads are folded into the
rows, so that K and V are read once per kv head. Tiles that no row may see are skipped by position.
"""

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray, IntArray, cast_finite
from softlookup.facts import Facts, Findings, room_for, wanted
from softlookup.partials import (
    Part,
    add_sinks,
    empty_part,
    finish,
    merge,
    part_of_scores,
    row_facts,
    weights_of_scores,
)
from softlookup.problem import Problem
from softlookup.tallies import Wanted
from softlookup.visibility import (
    Tile,
    free_keys,
    indices,
    key_span,
    overlay_tile,
    readers,
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
_NO_FACTS = Facts()


def missing() -> str | None:
    """Return why this backend cannot run on this machine; NumPy always can."""
    return None


def unsupported(problem: Problem, facts: Facts) -> str | None:  # noqa: ARG001 (the common signature)
    """Return why this backend cannot take `problem`; it takes every one."""
    return None


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for."""
    rows = (problem.batch, problem.heads, problem.q_len)
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse = np.empty(rows, problem.compute_dtype)
    found = room_for(problem, facts)
    state = np.empty((2, *rows), problem.compute_dtype) if facts.received else None
    plan = _plan(problem, problem.q_len)
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # NaN and inf are answers, not accidents
        for batch, kv_heads, some in _row_tiles(problem, problem.q_len, plan):
            tile = Tile(batch, kv_heads, some, slice(0, problem.kv_len))
            whole = _part(problem, tile, problem.value, plan.keys, scratch, facts=facts)
            at = batch, tile.heads(problem), some
            answer = finish(whole)
            out[at] = _unfold(answer.out, problem)
            lse[at] = _unfold(answer.lse, problem)
            sinks = _sinks(problem, tile) if facts.sink else None
            for room, fact in zip(found, row_facts(whole, sinks), strict=True):
                if room is not None and fact is not None:
                    room[at] = _unfold(fact, problem)
            if state is not None:
                state[0][at] = _unfold(whole.row_max, problem)
                state[1][at] = _unfold(whole.row_sum, problem)
        received = None if state is None else _received(problem, facts, state, scratch)
    counts = readers(problem, facts.from_rows) if facts.normalised else None
    return Findings(out, lse, found, received, counts)


def _received(problem: Problem, facts: Facts, state: Array, scratch: Array) -> Array:
    """Return what every key receives: a second pass.

    `state` holds row_max and row_sum, (2, batch, heads, q_len). Rows are summed by a product within
    a tile, in float64 over tiles.
    """
    sums = np.zeros((problem.batch, problem.heads, problem.kv_len))
    some = facts.from_rows
    rows = np.arange(problem.q_len) if some is None else np.flatnonzero(some.any(axis=0))
    plan = _plan(problem, len(rows))
    if plan.cells(problem) > scratch.size:
        scratch = plan.scratch(problem)
    for batch, kv_heads, at in _row_tiles(problem, len(rows), plan):
        tile = Tile(batch, kv_heads, rows[at], slice(0, problem.kv_len))
        if len(rows) == problem.q_len:
            tile = tile._replace(rows=at)  # a slice reads masks in place
        row_max, row_sum = (
            _fold(part[batch, tile.heads(problem)][:, :, rows[at]], problem, tile) for part in state
        )
        whole = Part(row_max, row_sum, row_sum[..., None][..., :0], np.ones(row_max.shape, bool))
        count = None if some is None else some[batch][:, None, None, rows[at], None]
        for part in _score_tiles(problem, tile, plan.keys, scratch):
            weights = weights_of_scores(part.scores, part.sees, whole, part.free)
            if count is not None and not count.all():
                np.copyto(weights, 0.0, where=~count)
            ones = np.ones((1, weights.shape[-2]), weights.dtype)
            to = batch, tile.heads(problem), part.keys
            sums[to] += _unfold(ones @ weights, problem)[:, :, 0]
    return sums


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

    def cells(self, problem: Problem) -> int:
        """Return how many scores the largest tile holds."""
        return prod(self) * problem.group

    def scratch(self, problem: Problem) -> Array:
        """Return room for the scores of the largest tile: fresh memory for each would cost more."""
        return np.empty(self.cells(problem), problem.compute_dtype)


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


class _ScoreTile(NamedTuple):
    """Scores of some keys; the first `free` of them every row sees, `sees` tells of the others."""

    keys: slice
    scores: Array
    sees: BoolArray | None
    free: int


def _score_tiles(
    problem: Problem, tile: Tile, key_step: int, scratch: Array
) -> Iterator[_ScoreTile]:
    """Yield the scores of a tile's rows (batch, kv_heads, group, rows, keys), in `scratch`.

    Tiles that no row may see are left out.
    """
    limits = row_limits(problem, tile.batch, tile.rows)
    first, last = key_span(problem, limits)
    query = _scaled_query(problem, tile)
    for begin in range(first - first % key_step, last, key_step):
        keys = slice(max(begin, first), min(begin + key_step, last))
        free = free_keys(problem, limits, keys)
        some = tile._replace(keys=slice(keys.start + free, keys.stop))
        sees = visible(problem, some, limits)
        if not free and sees is not None and not sees.any():
            continue
        scores = _scores(problem, tile._replace(keys=keys), query, scratch)
        yield _ScoreTile(keys, scores, sees, free)


def _part(
    problem: Problem,
    tile: Tile,
    value: Array | None,
    key_step: int,
    scratch: Array,
    *,
    facts: Facts = _NO_FACTS,
) -> Part:
    """Return the whole state of a tile's rows over all keys, sinks included.

    Leading axes are (batch, kv_heads, group, rows).
    """
    rows = indices(tile.rows, problem.q_len)
    whole: Part | None = None
    for keys, scores, sees, free in _score_tiles(problem, tile, key_step, scratch):
        values = _values(problem, tile._replace(keys=keys), value)
        want = wanted(facts, problem, tile.batch, rows, keys)
        part = part_of_scores(scores, sees, values, free, want)
        whole = part if whole is None else merge(whole, part)
    if whole is None:
        want = wanted(facts, problem, tile.batch, rows, slice(0, 0))
        whole = _nothing_seen(problem, tile, 0 if value is None else value.shape[3], want)
    if problem.sinks is not None:
        whole = add_sinks(whole, _sinks(problem, tile))
    return whole


def _nothing_seen(problem: Problem, tile: Tile, value_dim: int, want: Wanted | None) -> Part:
    axes = (
        (tile.batch, problem.batch),
        (tile.kv_heads, problem.kv_heads),
        (tile.rows, problem.q_len),
    )
    batch, kv_heads, rows = (len(indices(chosen, length)) for chosen, length in axes)
    shape = (batch, kv_heads, problem.group, rows)
    return empty_part(shape, value_dim, problem.compute_dtype, want)


def _sinks(problem: Problem, tile: Tile) -> Array:
    """Return the logits of a tile's heads, (kv_heads, group, 1)."""
    if problem.sinks is None:
        raise ValueError("a lookup without sinks has no logits to add")
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return problem.sinks[tile.heads(problem)].reshape(kv_heads, problem.group, 1)


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


def _fold(array: Array, problem: Problem, tile: Tile) -> Array:
    """Turn (batch, heads, rows) of a tile into (batch, kv_heads, group, rows)."""
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return array.reshape(len(array), kv_heads, problem.group, array.shape[-1])
