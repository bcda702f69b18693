"""How a lookup in NumPy is walked: tiles of rows, and of each the scores of tiles of keys.

The group's query heads are folded into the rows, so that K and V are read once per kv head. Tiles
that no row may see are skipped by position.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from softlookup.arrays import Array, BoolArray
from softlookup.backends.tiles import scaled_query, scores_of, values_of
from softlookup.facts import NO_FACTS, Facts, wanted
from softlookup.partials import Part, add_sinks, empty_part, merge, part_of_scores
from softlookup.problem import Problem
from softlookup.tallies import Wanted
from softlookup.visibility import Tile, free_keys, indices, key_span, row_limits, visible

# A tile's scores stay in cache (2^20 float32 numbers are 4 MiB), and its products are large enough
# for a BLAS with threads.
TILE_CELLS = 2**20
TILE_KEYS = 2048
_NARROW_ROWS = 256  # with causal or a window: shorter tiles skip more of what is hidden
_MOST_KEYS = 4096  # a float32 sum in one go; longer ones would lose digits


class Plan(NamedTuple):
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


def plan_of(problem: Problem, rows: int) -> Plan:
    """Choose tiles of about TILE_CELLS scores; a small problem takes one tile of many heads."""
    group, kv_len = max(problem.group, 1), max(problem.kv_len, 1)
    keys = min(kv_len, TILE_KEYS)
    narrow = problem.causal or problem.window is not None
    most_rows = _NARROW_ROWS if narrow else TILE_CELLS // keys
    row_step = max(1, min(rows, most_rows // group))
    per_key = group * row_step
    if problem.dtype != problem.compute_dtype:  # then a tile holds K and V in another dtype, too
        per_key = max(per_key, problem.head_dim, problem.value_dim)
    kv_heads = max(1, min(problem.kv_heads, TILE_CELLS // (per_key * keys)))
    batch = 1
    if kv_heads == problem.kv_heads:
        batch = max(1, min(problem.batch, TILE_CELLS // (per_key * keys * kv_heads)))
    keys = min(kv_len, _MOST_KEYS, max(TILE_KEYS, TILE_CELLS // (per_key * kv_heads * batch)))
    return Plan(batch, kv_heads, row_step, keys)


def row_tiles(problem: Problem, rows: int, plan: Plan) -> Iterator[tuple[slice, slice, slice]]:
    """Yield (batch, kv_heads, rows) slices."""
    for batch in cuts(problem.batch, plan.batch):
        for kv_heads in cuts(problem.kv_heads, plan.kv_heads):
            for some_rows in cuts(rows, plan.rows):
                yield batch, kv_heads, some_rows


def cuts(length: int, step: int) -> Iterator[slice]:
    """Yield slices of `step` that make up an axis; the last may be shorter."""
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


class ScoreTile(NamedTuple):
    """Scores of some keys; the first `free` of them every row sees, `sees` tells of the others."""

    keys: slice
    scores: Array
    sees: BoolArray | None
    free: int


def score_tiles(
    problem: Problem, tile: Tile, key_step: int, scratch: Array, unit: int = 1
) -> Iterator[ScoreTile]:
    """Yield the scores of a tile's rows (batch, kv_heads, group, rows, keys), in `scratch`.

    Tiles that no row may see are left out; each begins at a multiple of `unit`.
    """
    limits = row_limits(problem, tile.batch, tile.rows)
    first, last = key_span(problem, limits)
    first -= first % unit
    query = scaled_query(problem, tile)
    for begin in range(first - first % key_step, last, key_step):
        keys = slice(max(begin, first), min(begin + key_step, last))
        free = free_keys(problem, limits, keys)
        some = tile._replace(keys=slice(keys.start + free, keys.stop))
        sees = visible(problem, some, limits)
        if not free and sees is not None and not sees.any():
            continue
        scores = scores_of(problem, tile._replace(keys=keys), query, scratch)
        yield ScoreTile(keys, scores, sees, free)


def part_of(
    problem: Problem,
    tile: Tile,
    value: Array | None,
    key_step: int,
    scratch: Array,
    *,
    facts: Facts = NO_FACTS,
    end: bool = True,
) -> Part:
    """Return the state of a tile's rows over all keys; whole, sinks included, where it is the end.

    Leading axes are (batch, kv_heads, group, rows).
    """
    rows = indices(tile.rows, problem.q_len)
    whole: Part | None = None
    for keys, scores, sees, free in score_tiles(problem, tile, key_step, scratch):
        values = values_of(problem, tile._replace(keys=keys), value)
        want = wanted(facts, problem, tile.batch, rows, keys)
        part = part_of_scores(scores, sees, values, free, want)
        whole = part if whole is None else merge(whole, part)
    if whole is None:
        want = wanted(facts, problem, tile.batch, rows, slice(0, 0))
        whole = _nothing_seen(problem, tile, 0 if value is None else value.shape[3], want)
    if end and problem.sinks is not None:
        whole = add_sinks(whole, sinks_of(problem, tile))
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


def sinks_of(problem: Problem, tile: Tile) -> Array:
    """Return the logits of a tile's heads, (kv_heads, group, 1)."""
    if problem.sinks is None:
        raise ValueError("a lookup without sinks has no logits to add")
    kv_heads = len(indices(tile.kv_heads, problem.kv_heads))
    return problem.sinks[tile.heads(problem)].reshape(kv_heads, problem.group, 1)
