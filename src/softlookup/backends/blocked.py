"""The lookup in tiles of queries and keys, in NumPy: the online softmax, memory O(N).

Every tile gives a `Part`, parts merge by the one rule. The group's query heads are folded into the
rows, so that K and V are read once per kv head. Tiles that no row may see are skipped by position.
"""

import numpy as np

from softlookup.arrays import Array, IntArray
from softlookup.backends.tiles import (
    Back,
    Sums,
    back_of,
    blended_pulls,
    capped_of,
    fold,
    scaled_query,
    scores_of,
    unfold,
    weigh_rows,
)
from softlookup.backends.walks import (
    TILE_CELLS,
    TILE_KEYS,
    cuts,
    part_of,
    plan_of,
    row_tiles,
    score_tiles,
    sinks_of,
)
from softlookup.facts import Facts, Findings, room_for
from softlookup.gradients import (
    Gradients,
    Residuals,
    are_finite,
    bias_room,
    is_rounded,
    row_delta,
    sinks_gradient,
)
from softlookup.partials import (
    Part,
    finish,
    row_facts,
    weights_of_scores,
)
from softlookup.pooling import (
    BAND,
    Normaliser,
    Pooled,
    empty_bands,
    empty_blocks,
    fill_bands,
    fill_blocks,
    normaliser_of,
    pool,
    runs,
    weigh,
)
from softlookup.problem import Problem
from softlookup.visibility import (
    Tile,
    key_span,
    readers,
    row_limits,
    visible,
)

NAME = "blocked"

_BANDS = 4  # pooled at once


def missing() -> str | None:
    """Return why this backend cannot run on this machine; NumPy always can."""
    return None


def unsupported(problem: Problem, facts: Facts) -> str | None:  # noqa: ARG001 (the common signature)
    """Return why this backend cannot take `problem`, as a sentence; it takes all in memory."""
    return problem.lies_elsewhere()


def offers(problem: Problem, *, alone: bool) -> bool:  # noqa: ARG001 (the common signature)
    """Return whether ``"auto"`` may take this backend for what it can compute: always."""
    return True


def forward(problem: Problem, facts: Facts) -> Findings:
    """Return out, lse and the facts asked for."""
    rows = (problem.batch, problem.heads, problem.q_len)
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse = np.empty(rows, problem.compute_dtype)
    found = room_for(problem, facts)
    state = np.empty((2, *rows), problem.compute_dtype) if facts.received else None
    plan = plan_of(problem, problem.q_len)
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # NaN and inf are answers, not accidents
        for batch, kv_heads, some in row_tiles(problem, problem.q_len, plan):
            tile = Tile(batch, kv_heads, some, slice(0, problem.kv_len))
            whole = part_of(problem, tile, problem.value, plan.keys, scratch, facts=facts)
            at = batch, tile.heads(problem), some
            answer = finish(whole)
            out[at] = unfold(answer.out, problem)
            lse[at] = unfold(answer.lse, problem)
            sinks = sinks_of(problem, tile) if facts.sink else None
            for room, fact in zip(found, row_facts(whole, sinks), strict=True):
                if room is not None and fact is not None:
                    room[at] = unfold(fact, problem)
            if state is not None:
                state[0][at] = unfold(whole.row_max, problem)
                state[1][at] = unfold(whole.row_sum, problem)
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
    plan = plan_of(problem, len(rows))
    if plan.cells(problem) > scratch.size:
        scratch = plan.scratch(problem)
    for batch, kv_heads, at in row_tiles(problem, len(rows), plan):
        tile = Tile(batch, kv_heads, rows[at], slice(0, problem.kv_len))
        if len(rows) == problem.q_len:
            tile = tile._replace(rows=at)  # a slice reads masks in place
        row_max, row_sum = (
            fold(part[batch, tile.heads(problem)][:, :, rows[at]], problem, tile) for part in state
        )
        whole = Part(row_max, row_sum, row_sum[..., None][..., :0], np.ones(row_max.shape, bool))
        count = None if some is None else some[batch][:, None, None, rows[at], None]
        for part in score_tiles(problem, tile, plan.keys, scratch):
            weights = weights_of_scores(part.scores, part.sees, whole, part.free)
            if count is not None and not count.all():
                np.copyto(weights, 0.0, where=~count)
            ones = np.ones((1, weights.shape[-2]), weights.dtype)
            to = batch, tile.heads(problem), part.keys
            sums[to] += unfold(ones @ weights, problem)[:, :, 0]
    return sums


def weights(problem: Problem, rows: IntArray, keys: IntArray) -> Array:
    """Return the weights of a rectangle, (batch, heads, len(rows), len(keys))."""
    shape = (problem.batch, problem.heads, len(rows), len(keys))
    result = np.empty(shape, problem.compute_dtype)
    plan = plan_of(problem, len(rows))
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # as in `forward`
        for batch, kv_heads, at in row_tiles(problem, len(rows), plan):
            row_tile = Tile(batch, kv_heads, rows[at], slice(0, problem.kv_len))
            whole = part_of(problem, row_tile, None, plan.keys, scratch)
            query = scaled_query(problem, row_tile)
            for part in cuts(len(keys), plan.keys):
                tile = row_tile._replace(keys=keys[part])
                scores = scores_of(problem, tile, query, scratch)
                cells = weights_of_scores(scores, visible(problem, tile), whole)
                result[batch, tile.heads(problem), at, part] = unfold(cells, problem)
    return result


def pooled(problem: Problem, bands: IntArray) -> Pooled:
    """Return whole bands of one head's rows, pooled."""
    found = empty_bands(len(bands), problem.kv_len, problem.compute_dtype)
    scratch = np.empty(_BANDS * BAND * TILE_KEYS, problem.compute_dtype)
    with np.errstate(all="ignore"):  # as in `forward`
        for at, rows in runs(bands, _BANDS, problem.q_len):
            tile = Tile(slice(0, 1), slice(0, 1), rows, slice(0, problem.kv_len))
            first, last = key_span(problem, row_limits(problem, tile.batch, rows))
            first //= BAND
            blocks = empty_blocks(rows, slice(first, -(-last // BAND)), problem.compute_dtype)
            for part in score_tiles(problem, tile, TILE_KEYS, scratch, BAND):
                sees = None if part.sees is None else part.sees[0, 0, 0]
                block = part.keys.start // BAND - first
                fill_blocks(blocks, block, part.scores[0, 0, 0], sees, part.free)
            fill_bands(found, at, first, blocks, problem.sinks)
    return found


def cells(
    problem: Problem, rows: slice, keys: slice, size: int, normaliser: Normaliser
) -> tuple[Array, Array]:
    """Return the largest weight and the sum of each `size` x `size` block of one head's rectangle.

    `rows` and `keys` begin at multiples of `size`; the normaliser is that of these rows.
    """
    shape = [-(-(some.stop - some.start) // size) for some in (rows, keys)]
    most, total = np.zeros((2, *shape), problem.compute_dtype)
    width = min(max(shape[1] * size, size), TILE_KEYS)
    height = max(TILE_CELLS // width // size, 1) * size
    scratch = np.empty(height * width, problem.compute_dtype)
    with np.errstate(all="ignore"):  # as in `forward`
        for some in cuts(rows.stop - rows.start, height):
            here = slice(rows.start + some.start, rows.start + some.stop)
            tile = Tile(slice(0, 1), slice(0, 1), here, slice(0, 0))
            own = Normaliser(normaliser.shift[some], normaliser.factor[some])
            for part in cuts(keys.stop - keys.start, width):
                tile = tile._replace(keys=slice(keys.start + part.start, keys.start + part.stop))
                sees = visible(problem, tile)
                scores = scores_of(problem, tile, scaled_query(problem, tile), scratch)[0, 0, 0]
                weights_here = weigh(scores, None if sees is None else sees[0, 0, 0], own)
                at = tuple(slice(s.start // size, -(-s.stop // size)) for s in (some, part))
                most[at] = pool(np.maximum, weights_here, size, size)
                total[at] = pool(np.add, weights_here, size, size)
    return most, total


def residuals(problem: Problem) -> Residuals:
    """Return the output and what its gradients need of it."""
    rows = (problem.batch, problem.heads, problem.q_len)
    out = np.empty((*rows, problem.value_dim), problem.dtype)
    lse, shift, factor = np.empty((3, *rows), problem.compute_dtype)
    plan = plan_of(problem, problem.q_len)
    scratch = plan.scratch(problem)
    with np.errstate(all="ignore"):  # as in `forward`
        for batch, kv_heads, some in row_tiles(problem, problem.q_len, plan):
            tile = Tile(batch, kv_heads, some, slice(0, problem.kv_len))
            whole = part_of(problem, tile, problem.value, plan.keys, scratch)
            at = batch, tile.heads(problem), some
            numbers = (*finish(whole), *normaliser_of(whole))
            for room, part in zip((out, lse, shift, factor), numbers, strict=True):
                room[at] = unfold(part, problem)
    return Residuals(out, lse, Normaliser(shift, factor))


def backward(
    problem: Problem,
    kept: Residuals,
    out_grad: Array,
    lse_grad: Array | None,
    *,
    bias: bool,
) -> Gradients:
    """Return what reaches the inputs; the bias' gradient only where it is asked for."""
    delta = row_delta(kept, out_grad, lse_grad)
    sums = Sums(problem, bias_room(problem, wanted=bias))
    calm = are_finite(problem.query, problem.key, problem.value, out_grad, delta)
    plan = plan_of(problem, problem.q_len)
    scratch = plan.scratch(problem)
    bare = np.empty_like(scratch) if problem.softcap is not None else scratch
    with np.errstate(all="ignore"):  # as in `forward`
        for batch, kv_heads, some in row_tiles(problem, problem.q_len, plan):
            tile = Tile(batch, kv_heads, some, slice(0, problem.kv_len))
            back, query = back_of(problem, tile, kept, out_grad, delta), scaled_query(problem, tile)
            if is_rounded(kept.out):
                back = _with_own_delta(problem, tile, back, plan.keys, scratch)
                delta[batch, tile.heads(problem), some] = unfold(back.delta, problem)
            for part in score_tiles(problem, tile, plan.keys, scratch):
                here = tile._replace(keys=part.keys)
                weigh_rows(part.scores, part.sees, part.free, back.normaliser)
                capped = None
                if problem.softcap is not None:
                    capped = capped_of(problem, here, query, bare)
                sums.add(here, part.scores, capped, back, calm=calm)
    return sums.gradients(sinks_gradient(problem, kept, delta))


def _with_own_delta(
    problem: Problem, tile: Tile, back: Back, key_step: int, scratch: Array
) -> Back:
    """Return `back` with ``out_grad . out`` added to its delta, from the weights themselves."""
    delta = back.delta.copy()
    for part in score_tiles(problem, tile, key_step, scratch):
        weigh_rows(part.scores, part.sees, part.free, back.normaliser)
        delta += blended_pulls(problem, tile._replace(keys=part.keys), part.scores, back)
    return back._replace(delta=delta)
