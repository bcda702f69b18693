"""What every key receives: the weights of a tile of keys, summed down the rows in their order.

A program holds a tile of keys and walks the rows; where keys are few, the rows are cut into ranges,
and the sums of the ranges are added in order. No sum depends on which program comes first.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

from softlookup.arrays import BoolArray
from softlookup.backends.triton.launch import Launch, cdiv
from softlookup.backends.triton.row_states import cut, tiles_of
from softlookup.backends.triton.scores import (
    capped_of,
    limits_of,
    place_of,
    queries,
    row_range,
    seen_scores,
    sizes_of,
    weights_of,
)
from softlookup.backends.triton.scores import keys as keys_at

_RANGE = 512  # rows of a range, at least


class Chosen(NamedTuple):
    """The rows that count, where they are not all.

    Attributes
    ----------
    rows : tensor of int32 of shape (batch, most)
        Their positions, rising; q_len after the last of a batch entry. None: all rows count.
    before : tensor of int32 of shape (batch, q_len + 1)
        How many of them lie before each row.
    most : int
    """

    rows: Any
    before: Any
    most: int


@triton.jit
def places_of_rows(row, batch, chosen, n):
    """Return where among the rows that count `row` stands, or would."""
    row = tl.minimum(tl.maximum(row, 0), n.q_len)
    if chosen.rows is not None:
        row = tl.load(chosen.before + batch.to(tl.int64) * (n.q_len + 1) + row)
    return row


@triton.jit
def rows_of_places(places, there, batch, chosen, n):
    """Return the rows that stand at `places` among those that count; q_len where not `there`."""
    if chosen.rows is not None:
        at = chosen.rows + batch.to(tl.int64) * chosen.most + places
        places = tl.load(at, mask=there, other=n.q_len)
    return places


@triton.jit
def add_rows(
    state, k, x, n, batch, head, j, low, high, end, shift, factor, chosen, limits,
    ROWS: tl.constexpr, HIDES: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Add what the keys `j` receive from the rows low ... high; from `end` on none counts.

    The state is the sums and what they lost by rounding, so that their error does not grow with
    the number of rows.
    """
    sums, lost = state
    first, last, limit = limits
    start = (batch * n.heads + head).to(tl.int64) * n.q_len
    for row in tl.range(low, high, ROWS):
        places = row + tl.arange(0, ROWS)
        there = places < end
        i = rows_of_places(places, there, batch, chosen, n)
        own_shift = tl.load(shift + start + i, mask=there, other=0.0)
        own_factor = tl.load(factor + start + i, mask=there, other=0.0)
        q = queries(x, n, batch, head, i, S)
        products = tl.dot(k, q.T, input_precision=S.precision)
        if HIDES:
            scores, sees = seen_scores(
                products, x, n, batch, head, i[None, :], j[:, None], first, last, limit, S
            )
            sees = sees & there[None, :]
            weights = weights_of(scores, sees, own_shift[None, :], own_factor[None, :], n, S)
        else:
            scores = capped_of(products, n, S)
            weights = weights_of(scores, None, own_shift[None, :], own_factor[None, :], n, S)
        more = tl.sum(weights, 1) - lost
        whole = sums + more
        lost = (whole - sums) - more
        sums = whole
    return sums, lost


@triton.jit(do_not_specialize=["ranges", "length"])
def received_kernel(
    x, n, shift, factor, chosen, ranges, length, out,
    ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Put the sums of each range of rows into `out`, (ranges, pairs, kv_len)."""
    n = sizes_of(n)
    tiles = tl.cdiv(n.kv_len, KEYS)
    whole, batch, head, kv_head = place_of(tl.program_id(0), tiles * ranges, n)
    tile, part = whole % tiles, whole // tiles
    limits = limits_of(x, n, batch, S)
    first, last, limit = limits
    key = tile * KEYS
    stop = tl.minimum(key + KEYS, limit)
    j = key + tl.arange(0, KEYS)
    k = keys_at(x, n, batch, kv_head, j, j < limit, S)
    low, high, free_low, free_high = row_range(first, last, key, stop, n, S)
    low = tl.maximum(places_of_rows(low, batch, chosen, n), part * length)
    high = tl.minimum(places_of_rows(high, batch, chosen, n), (part + 1) * length)
    high = tl.where(key < limit, high, low)
    state = (tl.zeros([KEYS], tl.float32), tl.zeros([KEYS], tl.float32))
    if S.masked or S.biased:
        state = add_rows(
            state, k, x, n, batch, head, j, low, high, high, shift, factor, chosen, limits,
            ROWS, True, S,
        )  # fmt: skip
    else:
        free_low = places_of_rows(free_low, batch, chosen, n)
        free_low = low + tl.cdiv(tl.maximum(free_low - low, 0), ROWS) * ROWS
        free_low = tl.maximum(tl.minimum(free_low, high), low)
        free_high = tl.minimum(places_of_rows(free_high, batch, chosen, n), high)
        free_high = free_low + tl.maximum(free_high - free_low, 0) // ROWS * ROWS
        if S.right:
            state = add_rows(
                state, k, x, n, batch, head, j, low, free_low, high, shift, factor, chosen,
                limits, ROWS, True, S,
            )  # fmt: skip
        state = add_rows(
            state, k, x, n, batch, head, j, free_low, free_high, high, shift, factor, chosen,
            limits, ROWS, False, S,
        )  # fmt: skip
        state = add_rows(
            state, k, x, n, batch, head, j, free_high, high, high, shift, factor, chosen, limits,
            ROWS, True, S,
        )  # fmt: skip
    sums, _ = state
    pairs = tl.num_programs(0) // (tiles * ranges)
    pair = tl.program_id(0) // (tiles * ranges)
    to = out + (tl.zeros([1], tl.int64) + part * pairs + pair) * n.kv_len + j
    tl.store(to, tl.where(j < limit, sums, 0.0), mask=j < n.kv_len)


@triton.jit(do_not_specialize=["ranges", "length", "heads"])
def readers_kernel(
    x, n, chosen, ranges, length, heads, out,
    ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Put how many rows of each range may see a key into `out`, (ranges, batch * heads, kv_len)."""
    n = sizes_of(n)
    tiles = tl.cdiv(n.kv_len, KEYS)
    whole, pair = tl.program_id(0) % (tiles * ranges), tl.program_id(0) // (tiles * ranges)
    tile, part = whole % tiles, whole // tiles
    batch, head = pair // heads, pair % heads
    first, last, limit = limits_of(x, n, batch, S)
    key = tile * KEYS
    j = key + tl.arange(0, KEYS)
    if S.masked or S.biased:
        counts = tl.zeros([KEYS], tl.int32)
        stop = tl.minimum(key + KEYS, limit)
        low, high, _low, _high = row_range(first, last, key, stop, n, S)
        low = tl.maximum(places_of_rows(low, batch, chosen, n), part * length)
        high = tl.minimum(places_of_rows(high, batch, chosen, n), (part + 1) * length)
        for row in tl.range(low, high, ROWS):
            places = row + tl.arange(0, ROWS)
            there = places < high
            i = rows_of_places(places, there, batch, chosen, n)
            nothing = tl.zeros([KEYS, ROWS], tl.float32)
            _scores, sees = seen_scores(
                nothing, x, n, batch, head, i[None, :], j[:, None], first, last, limit, S
            )
            counts += tl.sum((sees & there[None, :]).to(tl.int32), 1)
    else:  # one range
        low, high, _low, _high = row_range(first, last, j, j + 1, n, S)
        low = places_of_rows(tl.zeros_like(j) + low, batch, chosen, n)
        high = places_of_rows(tl.zeros_like(j) + high, batch, chosen, n)
        counts = tl.where(j < limit, tl.maximum(high - low, 0), 0)
    pairs = tl.num_programs(0) // (tiles * ranges)
    to = out + (tl.zeros([1], tl.int64) + part * pairs + pair) * n.kv_len + j
    tl.store(to, counts, mask=j < n.kv_len)


def received_of(launch: Launch, shift: Any, factor: Any, from_rows: BoolArray | None) -> Any:
    """Return what keys receive, a tensor of float64 of shape (batch, heads, kv_len).

    `shift` and `factor` are the rows' normaliser, tensors (batch, heads, q_len), contiguous.
    """
    problem, tiles = launch.problem, tiles_of(launch)
    chosen, most = _chosen(launch, from_rows)
    pairs = problem.batch * problem.heads
    across = cdiv(problem.kv_len, tiles.still)
    ranges, length = cut(most, across * pairs, _RANGE)
    sums = launch.empty(ranges, pairs, problem.kv_len)
    if sums.numel():
        received_kernel[(across * ranges * pairs,)](
            launch.inputs, launch.sizes, shift, factor, chosen, ranges, length, sums,
            tiles.moving, tiles.still, launch.switches,
            num_warps=tiles.warps, num_stages=tiles.stages,
        )  # fmt: skip
    whole = sums.sum(0, dtype=torch.float64)
    return whole.reshape(problem.batch, problem.heads, problem.kv_len)


def readers_of(launch: Launch, from_rows: BoolArray | None) -> Any:
    """Return how many rows may see each key, a tensor of int64 of shape (batch, heads, kv_len)."""
    problem, x, size = launch.problem, launch.inputs, 64
    chosen, most = _chosen(launch, from_rows)
    heads = problem.heads if x.m_head or x.b_head else min(problem.heads, 1)
    pairs, across = problem.batch * heads, cdiv(problem.kv_len, size)
    single = launch.switches.masked or launch.switches.biased
    ranges, length = cut(most, across * pairs, _RANGE) if single else (1, max(most, 1))
    counts = launch.empty(ranges, pairs, problem.kv_len, dtype=torch.int32)
    if counts.numel():
        readers_kernel[(across * ranges * pairs,)](
            x, launch.sizes, chosen, ranges, length, heads, counts, size // 2, size, launch.switches
        )
    whole = counts.sum(0, dtype=torch.int64).reshape(problem.batch, heads, problem.kv_len)
    return whole.expand(problem.batch, problem.heads, problem.kv_len)


def _chosen(launch: Launch, from_rows: BoolArray | None) -> tuple[Chosen, int]:
    """Return the rows that count, and how many there are at most."""
    problem = launch.problem
    if from_rows is None or from_rows.all():
        return Chosen(None, None, 0), problem.q_len
    before = np.zeros((problem.batch, problem.q_len + 1), np.int32)
    np.cumsum(from_rows, axis=1, out=before[:, 1:])
    most = int(before[:, -1].max(initial=0))
    rows = np.full((problem.batch, max(most, 1)), problem.q_len, np.int32)
    batch, row = np.nonzero(from_rows)
    rows[batch, before[batch, row]] = row
    return Chosen(launch.sent(rows), launch.sent(before), rows.shape[1]), most
