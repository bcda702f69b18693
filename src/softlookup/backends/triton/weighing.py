"""Weights of listed rows whose `Normaliser` is known, one by one or in blocks.

A program takes a tile of rows over a strip of keys. Blocks are squares of weights: of each the
largest, the sum and whether any pair is visible.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from softlookup.backends.triton.launch import Launch, cdiv
from softlookup.backends.triton.row_states import (
    keys_of_rows,
    plain_keys,
    tiles_of,
)
from softlookup.backends.triton.scores import (
    capped_of,
    key_tile,
    limits_of,
    place_of,
    queries,
    seen_scores,
    sizes_of,
    weights_of,
)
from softlookup.backends.triton.scores import keys as keys_at

_STRIP = 2**9  # keys that a program goes over


class Blocks(NamedTuple):
    """What blocks hold, each a tensor (batch * heads, row blocks, key blocks); None: not asked."""

    max: Any
    total: Any
    seen: Any


@triton.jit
def put_blocks(
    weights, sees, out, start, at, there, ROWS: tl.constexpr, KEYS: tl.constexpr, SIZE: tl.constexpr
):
    """Put the blocks of a tile where `at` says; a NaN in a block is its largest weight."""
    if SIZE == 1:
        tl.store(out.max + start + at, weights, mask=there)
    else:
        blocks = tl.reshape(weights, [ROWS // SIZE, SIZE, KEYS // SIZE, SIZE])
        sums = tl.sum(tl.sum(blocks, 3), 1)
        peaks = tl.max(tl.max(blocks, 3), 1)
        tl.store(out.max + start + at, tl.where(sums == sums, peaks, sums), mask=there)
        tl.store(out.total + start + at, sums, mask=there)
    if out.seen is not None:
        pairs = tl.reshape(sees.to(tl.int32), [ROWS // SIZE, SIZE, KEYS // SIZE, SIZE])
        tl.store(out.seen + start + at, tl.max(tl.max(pairs, 3), 1).to(tl.int8), mask=there)


@triton.jit
def weigh(
    out, start, q, x, n, batch, head, kv_head, i, down, shift, factor, key_from, low, high,
    limits, shape, ROWS: tl.constexpr, KEYS: tl.constexpr, SIZE: tl.constexpr, HIDES: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Put the blocks of the keys low <= j < high; HIDES where some pairs may be hidden."""
    first, last, limit = limits
    row_blocks, key_blocks = shape
    for key in tl.range(low, high, KEYS):
        k = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        if HIDES:
            j = key + tl.arange(0, KEYS)[None, :]
            scores, sees = seen_scores(
                products, x, n, batch, head, i[:, None], j, first, last, limit, S
            )
            weights = weights_of(scores, sees, shift[:, None], factor[:, None], n, S)
        else:
            scores = capped_of(products, n, S)
            # a block may hold rows past the last, whose 0 * inf would be NaN
            sees = None if SIZE == 1 else (i < n.q_len)[:, None]
            weights = weights_of(scores, sees, shift[:, None], factor[:, None], n, S)
        across = (key - key_from) // SIZE + tl.arange(0, KEYS // SIZE)
        at = down.to(tl.int64)[:, None] * key_blocks + across[None, :]
        there = (down < row_blocks)[:, None] & (across < key_blocks)[None, :]
        put_blocks(weights, sees, out, start, at, there, ROWS, KEYS, SIZE)


@triton.jit(do_not_specialize=["count", "key_from", "key_to", "strips"])
def blocks_kernel(
    x, n, rows, count, key_from, key_to, shift, factor, out, strips,
    ROWS: tl.constexpr, KEYS: tl.constexpr, STRIP: tl.constexpr, SIZE: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Put blocks of listed rows over neighbouring keys; `out` begins as 0."""
    n = sizes_of(n)
    tiles = tl.cdiv(count, ROWS)
    whole, batch, head, kv_head = place_of(tl.program_id(0), tiles * strips, n)
    pair = (tl.program_id(0) // (tiles * strips)).to(tl.int64)
    tile, strip = whole % tiles, whole // tiles
    first, last, limit = limits_of(x, n, batch, S)
    limit = tl.minimum(limit, key_to)
    at = tile * ROWS + tl.arange(0, ROWS)
    i = tl.load(rows + at, mask=at < count, other=n.q_len)
    start, stop = keys_of_rows(i, first, last, limit, n, S)
    begin = key_from + strip * STRIP
    start = tl.maximum(start, begin)
    low = tl.minimum(tl.min(start, 0), key_to)
    low = begin + (low - begin) // KEYS * KEYS
    high = tl.minimum(tl.max(stop, 0), begin + STRIP)
    q = queries(x, n, batch, head, i, S)
    own_shift = tl.load(shift + pair * count + at, mask=at < count, other=0.0)
    own_factor = tl.load(factor + pair * count + at, mask=at < count, other=0.0)
    row_blocks, key_blocks = tl.cdiv(count, SIZE), tl.cdiv(key_to - key_from, SIZE)
    down = tile * (ROWS // SIZE) + tl.arange(0, ROWS // SIZE)
    limits = (first, last, limit)
    shape = (row_blocks, key_blocks)
    room = pair * row_blocks * key_blocks
    if S.masked or S.biased:
        weigh(
            out, room, q, x, n, batch, head, kv_head, i, down, own_shift, own_factor, key_from,
            low, high, limits, shape, ROWS, KEYS, SIZE, True, S,
        )  # fmt: skip
    else:
        free, end = plain_keys(i, start, stop, low, high, n, KEYS, S)
        if S.left:
            weigh(
                out, room, q, x, n, batch, head, kv_head, i, down, own_shift, own_factor, key_from,
                low, free, limits, shape, ROWS, KEYS, SIZE, True, S,
            )  # fmt: skip
        weigh(
            out, room, q, x, n, batch, head, kv_head, i, down, own_shift, own_factor, key_from,
            free, end, limits, shape, ROWS, KEYS, SIZE, False, S,
        )  # fmt: skip
        weigh(
            out, room, q, x, n, batch, head, kv_head, i, down, own_shift, own_factor, key_from,
            end, high, limits, shape, ROWS, KEYS, SIZE, True, S,
        )  # fmt: skip


@triton.jit(do_not_specialize=["count", "key_count"])
def pairs_kernel(
    x, n, rows, count, keys, key_count, shift, factor, out,
    ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Put the weights of listed rows and listed keys, (pairs, rows, keys)."""
    n = sizes_of(n)
    tiles, across = tl.cdiv(count, ROWS), tl.cdiv(key_count, KEYS)
    whole, batch, head, kv_head = place_of(tl.program_id(0), tiles * across, n)
    pair = (tl.program_id(0) // (tiles * across)).to(tl.int64)
    first, last, limit = limits_of(x, n, batch, S)
    at = whole % tiles * ROWS + tl.arange(0, ROWS)
    to = whole // tiles * KEYS + tl.arange(0, KEYS)
    i = tl.load(rows + at, mask=at < count, other=n.q_len)
    j = tl.load(keys + to, mask=to < key_count, other=n.kv_len)
    q = queries(x, n, batch, head, i, S)
    k = keys_at(x, n, batch, kv_head, j, j < n.kv_len, S)
    products = tl.dot(q, k.T, input_precision=S.precision)
    scores, sees = seen_scores(
        products, x, n, batch, head, i[:, None], j[None, :], first, last, limit, S
    )
    own_shift = tl.load(shift + pair * count + at, mask=at < count, other=0.0)
    own_factor = tl.load(factor + pair * count + at, mask=at < count, other=0.0)
    weights = weights_of(scores, sees, own_shift[:, None], own_factor[:, None], n, S)
    place = (pair * count + at)[:, None] * key_count + to[None, :]
    there = (at < count)[:, None] & (to < key_count)[None, :]
    tl.store(out + place, weights, mask=there)


def blocks_of(launch: Launch, rows: Any, keys: slice, size: int, shift: Any, factor: Any) -> Blocks:
    """Return blocks of `size` x `size` weights; `rows` as in `states_of`, `shift` of (pairs, rows).

    `size` is a power of two up to 32, and 1 for single weights, which have no sums.
    """
    problem, count = launch.problem, rows.numel()
    pairs, width = problem.batch * problem.heads, keys.stop - keys.start
    shape = pairs, cdiv(count, size), cdiv(width, size)
    hides = launch.switches.masked or launch.switches.biased
    most = torch.zeros(shape, dtype=torch.float32, device=launch.device)
    found = Blocks(
        most,
        most if size == 1 else torch.zeros_like(most),
        torch.zeros(shape, dtype=torch.bool, device=launch.device) if hides else None,
    )
    if not most.numel():
        return found
    tiles, strips = tiles_of(launch), cdiv(width, _STRIP)
    blocks_kernel[(cdiv(count, tiles.still) * strips * pairs,)](
        launch.inputs, launch.sizes, rows, count, keys.start, keys.stop, shift, factor, found,
        strips, tiles.still, tiles.moving, _STRIP, size, launch.switches,
        num_warps=tiles.warps, num_stages=tiles.stages,
    )  # fmt: skip
    return found


def pairs_of(launch: Launch, rows: Any, keys: Any, shift: Any, factor: Any) -> Any:
    """Return the weights of listed rows and keys, (pairs, rows, keys)."""
    problem, count, key_count = launch.problem, rows.numel(), keys.numel()
    pairs = problem.batch * problem.heads
    found = launch.empty(pairs, count, key_count)
    if found.numel():
        tiles = tiles_of(launch)
        pieces = cdiv(count, tiles.still) * cdiv(key_count, tiles.moving)
        pairs_kernel[(pieces * pairs,)](
            launch.inputs, launch.sizes, rows, count, keys, key_count, shift, factor, found,
            tiles.still, tiles.moving, launch.switches, num_warps=tiles.warps,
        )  # fmt: skip
    return found
