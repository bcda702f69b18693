"""The best keys of each row, exact, without a score kept: chunks first, then their keys again.

The kernel that answers stores the largest score of every part of every chunk of 32 keys. Only the
k chunks with the largest scores can hold a row's k best keys, ties to the lower position included;
of their parts, only those that reach the k-th largest are scored again. Rows go in strips, so that
what is stored grows with the number of keys alone. Many keys are found by sorting strips of scores.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from softlookup.backends.triton.launch import Launch, cdiv, multiprocessors, power_of_2
from softlookup.backends.triton.maxima import CHUNK, Strip
from softlookup.backends.triton.running import Room
from softlookup.backends.triton.scores import (
    LOWEST,
    exps_of,
    in_units,
    interval_of,
    key_range,
    key_tile,
    keys,
    limits_of,
    queries,
    query_tile,
    seen_scores,
    sizes_of,
)

_MOST_BYTES = 2**28  # of maxima, or of scores to be sorted
_LEAST_ROWS = 2**14  # of a strip, so that it fills a GPU, however long the keys
_MOST_CHOSEN = 64  # beyond, strips of scores are sorted
_LEAST_CHUNKS = 256  # of a segment
_PROGRAMS = 32  # for each multiprocessor: as many of one warp as it can hold at once
_INTERPRETED = 128  # multiprocessors, where there are none
_BLOCK = 32  # chunks that are looked at at once
_FAR = tl.constexpr(2**31 - 1)
_NONE = tl.constexpr(-(2**63))  # less than every code


class Best(NamedTuple):
    """Positions and weights of the best keys, (batch, heads, q_len, top)."""

    keys: Any
    weights: Any


@triton.jit
def _empty(top, TOP: tl.constexpr, ROWS: tl.constexpr):
    """Return a list of numbers and their places for each row; what lies past `top` stays so."""
    slot = tl.arange(0, TOP)[:, None] + tl.zeros([TOP, ROWS], tl.int32)
    numbers = tl.where(slot < top, float("-inf"), float("inf"))
    return numbers, tl.full([TOP, ROWS], -1, tl.int32)


@triton.jit
def _taken(numbers, places, block, block_at):
    """Return lists that hold the best of what they held and of a block of (numbers, rows).

    A number goes in for the least, of several such the one at the highest place, and only where it
    is larger: so ties go to the lower place, if blocks come in the order of their places.
    """
    least, most = tl.min(numbers, 0), tl.max(block, 0)
    while tl.max((most > least).to(tl.int32), 0) > 0:
        place = tl.min(tl.where(block == most[None, :], block_at, _FAR), 0)
        block = tl.where(block_at == place[None, :], float("-inf"), block)
        last = tl.max(tl.where(numbers == least[None, :], places, -2), 0)
        goes = (numbers == least[None, :]) & (places == last[None, :]) & (most > least)[None, :]
        first = tl.min(tl.where(goes, _slots(numbers), _FAR), 0)  # of those that are empty, one
        goes = goes & (_slots(numbers) == first[None, :])
        numbers = tl.where(goes, most[None, :], numbers)
        places = tl.where(goes, place[None, :], places)
        least, most = tl.min(numbers, 0), tl.max(block, 0)
    return numbers, places


@triton.jit
def _slots(numbers):
    return tl.arange(0, numbers.shape[0])[:, None] + tl.zeros(numbers.shape, tl.int32)


@triton.jit(
    do_not_specialize=["pair", "row_from", "strip_rows", "chunks", "span", "segments", "top"]
)
def chunks_kernel(
    x, n, maxima, best, best_at, pair, row_from, strip_rows, chunks, span, segments, top,
    TOP: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Find the chunks with the largest scores among a segment of them, for some rows of a head."""
    n = sizes_of(n)
    tiles = tl.cdiv(strip_rows, ROWS)
    program = tl.program_id(0)
    segment = program % segments
    tile, near = program // segments % tiles, program // segments // tiles
    batch = (pair + near) // n.heads
    first, last, limit = limits_of(x, n, batch, S)
    row = row_from + tile * ROWS
    stop = tl.minimum(row + ROWS, n.q_len)
    low, high, _, _ = key_range(first, last, limit, row, stop, S)
    begin = tl.maximum(low // 32 // BLOCK * BLOCK, segment * span)
    end = tl.minimum((high + 31) // 32, segment * span + span)
    # a cell for each part, along a row's parts and then the rows, as they lie
    cell = tile * ROWS * PARTS + tl.arange(0, ROWS * PARTS)
    i = row_from + cell // PARTS
    row_low, row_high = interval_of(i, first, last, limit, S)
    there = (cell < strip_rows * PARTS) & (i < n.q_len)
    numbers, places = _empty(top, TOP, ROWS)
    for chunk in range(begin, end, BLOCK):
        c = chunk + tl.arange(0, BLOCK)[:, None]
        sees = (c * 32 < row_high[None, :]) & (c * 32 + 32 > row_low[None, :]) & there[None, :]
        at = (near.to(tl.int64) * chunks + c) * strip_rows * PARTS + cell[None, :]
        parts = tl.load(maxima + at, mask=sees, other=float("-inf"))
        most = tl.max(tl.reshape(parts, (BLOCK, ROWS, PARTS)), 2)
        numbers, places = _taken(numbers, places, most, c + tl.zeros([BLOCK, ROWS], tl.int32))
    own = tile * ROWS + tl.arange(0, ROWS)[None, :]
    to = (near.to(tl.int64) * segments + segment) * TOP + tl.arange(0, TOP)[:, None]
    to = to * strip_rows + own
    numbers = tl.where(numbers == float("inf"), float("-inf"), numbers)
    tl.store(best + to, numbers, mask=own < strip_rows)
    tl.store(best_at + to, places, mask=own < strip_rows)


@triton.jit(do_not_specialize=["strip_rows", "segments", "top"])
def segments_kernel(
    best, best_at, whole_at, strip_rows, segments, top, TOP: tl.constexpr, ROWS: tl.constexpr
):
    """Merge what the segments of some rows hold, in their order, and store which chunks stay."""
    tiles = tl.cdiv(strip_rows, ROWS)
    program = tl.program_id(0)
    tile, near = program % tiles, program // tiles
    own = tile * ROWS + tl.arange(0, ROWS)[None, :]
    slot = tl.arange(0, TOP)[:, None]
    numbers, places = _empty(top, TOP, ROWS)
    for segment in range(segments):
        at = ((near.to(tl.int64) * segments + segment) * TOP + slot) * strip_rows + own
        some = tl.load(best + at, mask=own < strip_rows, other=float("-inf"))
        some_at = tl.load(best_at + at, mask=own < strip_rows, other=-1)
        numbers, places = _taken(numbers, places, some, some_at)
    to = (near.to(tl.int64) * TOP + slot) * strip_rows + own
    tl.store(whole_at + to, places, mask=own < strip_rows)


@triton.jit
def _codes(numbers, places, there):
    """Return int64 in the order of numbers, of equal ones the lower place above; _NONE else."""
    bits = tl.where(numbers == 0, 0.0, numbers).to(tl.int32, bitcast=True)  # -0.0 equals 0.0
    bits = bits ^ ((bits >> 31) & _FAR)
    codes = (bits.to(tl.int64) << 32) | (~places & _FAR).to(tl.int64)
    return tl.where(there, codes, _NONE)


@triton.jit
def _number_of(codes):
    bits = (codes >> 32).to(tl.int32)
    return (bits ^ ((bits >> 31) & _FAR)).to(tl.float32, bitcast=True)


@triton.jit
def _place_of(codes):
    return ~codes.to(tl.int32) & _FAR


@triton.jit
def _largest(codes, TOP: tl.constexpr):
    """Return the TOP largest codes, the largest first; _NONE where there are fewer."""
    if codes.shape[0] >= TOP:
        return tl.topk(codes, TOP)
    else:
        begins = tl.arange(0, TOP // codes.shape[0])[:, None] == 0
        ordered = tl.sort(codes, descending=True)[None, :]
        return tl.reshape(tl.where(begins, ordered, _NONE), (TOP,))


@triton.jit
def _one_row(products):
    """Return one of 8 equal rows of 32 numbers, so that no two threads hold the same number."""
    tiles = tl.reshape(products, (4, 2, 4, 8))
    own = tl.arange(0, 4)[:, None, None, None] == tl.arange(0, 4)[None, None, :, None]
    tiles = tl.where(own, tiles, float("-inf"))
    return tl.reshape(tl.max(tl.max(tiles, 2), 1), (32,))


@triton.jit
def _store_best(
    found, found_at, none, rank, to, shift, factor, top_keys, top_weights, top, n, S: tl.constexpr
):
    """Store keys and weights of the row at `to`: its scores `found`, or none, of each rank."""
    row_factor = tl.load(factor + to)
    weights = exps_of(found, in_units(tl.load(shift + to), S), n, S) * row_factor
    weights = tl.where(row_factor == float("inf"), float("nan"), weights)  # all it sees is -inf
    spoilt = row_factor != row_factor
    weights = tl.where(spoilt, row_factor, tl.where(none, 0.0, weights))
    tl.store(top_weights + to * top + rank, weights, mask=rank < top)
    kept = tl.where(spoilt, -1, tl.where(none, -1, found_at)).to(tl.int64)
    tl.store(top_keys + to * top + rank, kept, mask=rank < top)


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows", "chunks", "top"])
def keys_kernel(
    x, n, maxima, best_at, shift, factor, top_keys, top_weights, pair, row_from, strip_rows,
    chunks, top, TOP: tl.constexpr, PARTS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Score the best parts of the chosen chunks of one row again, and store its best keys.

    A part that stays below k others holds none of the k best keys: each of those has a better one.
    The others are put in order, and 32 of their keys are scored at a time: k parts, as a rule, and
    more where they are equal.
    """
    n = sizes_of(n)
    program = tl.program_id(0)
    own, near = program % strip_rows, program // strip_rows
    batch, head = (pair + near) // n.heads, (pair + near) % n.heads
    first, last, limit = limits_of(x, n, batch, S)
    row = row_from + own
    q = queries(x, n, batch, head, row + tl.zeros([8], tl.int32), S)  # all rows of a product
    cell = tl.arange(0, TOP * PARTS)
    chunk = tl.load(best_at + (near.to(tl.int64) * TOP + cell // PARTS) * strip_rows + own)
    at = (near.to(tl.int64) * chunks + chunk) * strip_rows + own
    at = at * PARTS + cell % PARTS
    most = tl.load(maxima + at, mask=chunk >= 0, other=float("-inf"))
    codes = _codes(most, chunk * PARTS + cell % PARTS, most > float("-inf"))
    order = tl.sort(codes, descending=True)
    least = tl.max(tl.where(cell == top - 1, order, _NONE), 0) >> 32 << 32
    least = tl.maximum(least, _NONE + 1)
    reaching = tl.sum((order >= least).to(tl.int32), 0)
    order = tl.reshape(order, (TOP, PARTS))
    nth = tl.arange(0, 32 // PARTS)
    nth = nth // (8 // PARTS) * 8 + nth % (8 // PARTS)  # where a part's keys lie, see `maxima`
    best = tl.full([TOP], _NONE, tl.int64)  # the least first
    for turn in tl.range(0, tl.cdiv(reaching, PARTS), num_stages=1):
        part = tl.max(tl.where(tl.arange(0, TOP)[:, None] == turn, order, _NONE), 0)
        place = _place_of(part)
        j = (place // PARTS * 32 + place % PARTS * (8 // PARTS))[:, None] + nth[None, :]
        there = (part >= least)[:, None] & (j < limit)
        there = tl.reshape(there, (32,))
        j = tl.where(there, tl.reshape(j, (32,)), limit)  # hidden: no mask is read of such a key
        k = keys(x, n, batch, head // n.group, j, there, S)
        products = _one_row(tl.dot(q, k.T, input_precision=S.precision))
        i = row + tl.zeros([32], tl.int32)
        scores, sees = seen_scores(products, x, n, batch, head, i, j, first, last, limit, S)
        found = _largest(_codes(scores, j, sees & there), TOP)
        best = tl.bitonic_merge(tl.maximum(best, found), descending=False)
    to = (pair + near).to(tl.int64) * n.q_len + row
    _store_best(
        _number_of(best), _place_of(best), best == _NONE, TOP - 1 - tl.arange(0, TOP), to,
        shift, factor, top_keys, top_weights, top, n, S,
    )  # fmt: skip


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows"])
def scores_kernel(
    x, n, scores, pair, row_from, strip_rows, ROWS: tl.constexpr, KEYS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Store scores of some rows, (pairs, rows, kv_len): -inf is hidden, all else finite."""
    n = sizes_of(n)
    program = tl.program_id(0)
    blocks, tiles = tl.cdiv(n.kv_len, KEYS), tl.cdiv(strip_rows, ROWS)
    key, tile = program % blocks * KEYS, program // blocks % tiles
    near = program // blocks // tiles
    batch, head = (pair + near) // n.heads, (pair + near) % n.heads
    first, last, limit = limits_of(x, n, batch, S)
    row = row_from + tile * ROWS
    i, j = row + tl.arange(0, ROWS)[:, None], key + tl.arange(0, KEYS)[None, :]
    q = query_tile(x, n, batch, head, row, ROWS, S)
    k = key_tile(x, n, batch, head // n.group, key, limit, KEYS, S)
    products = tl.dot(q, k.T, input_precision=S.precision)
    found, sees = seen_scores(products, x, n, batch, head, i, j, first, last, limit, S)
    found = tl.where(sees, tl.maximum(found, LOWEST), float("-inf"))
    own = i - row_from
    at = (near.to(tl.int64) * strip_rows + own) * n.kv_len + j
    tl.store(scores + at, found, mask=(own < strip_rows) & (j < n.kv_len))


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows", "top"])
def sorted_kernel(
    x, n, scores, places, shift, factor, top_keys,  # noqa: ARG001 (`Launch.start` hands x over)
    top_weights, pair, row_from, strip_rows, top, BLOCK: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Store the best keys of one row and their weights, from its sorted scores."""
    n = sizes_of(n)
    program = tl.program_id(0)
    to = (pair + program // strip_rows).to(tl.int64) * n.q_len + row_from + program % strip_rows
    for start in range(0, top, BLOCK):
        rank = start + tl.arange(0, BLOCK)
        at = program.to(tl.int64) * n.kv_len + rank
        found = tl.load(scores + at, mask=rank < n.kv_len, other=float("-inf"))
        found_at = tl.load(places + at, mask=rank < n.kv_len, other=-1)
        none = found == float("-inf")
        _store_best(
            found, found_at, none, rank, to, shift, factor, top_keys, top_weights, top, n, S
        )


def best_of(launch: Launch, room: Room, top: int, kernel: Any) -> Best:
    """Answer all rows by `kernel` into `room`, and return their best keys; see the module.

    `room` has a normaliser. `kernel` is the module that launches, such as `forward`.
    """
    p = launch.problem
    best = room_for_best(launch, top)
    if top > _MOST_CHOSEN or not p.kv_len:
        kernel.run(launch, room, Strip(0, p.batch * p.heads, 0, p.q_len))
        _sort_strips(launch, room, best, top)
        return best
    parts = _parts_of(p.kv_len, kernel)
    chunks = cdiv(p.kv_len, CHUNK)
    rows = max(_LEAST_ROWS, _MOST_BYTES // (4 * parts * chunks))
    maxima = None
    for strip in strips(p.batch * p.heads, p.group, p.q_len, rows):
        if maxima is None:  # the first is the largest
            maxima = launch.empty(strip.pairs * chunks * strip.rows * parts)
        whole = strip._replace(maxima=maxima, parts=parts)
        kernel.run(launch, room, whole)
        _choose(launch, room, whole, best, top)
    return best


def _parts_of(kv_len: int, kernel: Any) -> int:
    """Return how many parts of a chunk are kept apart: 4, or 1 where that would be too much."""
    few = kv_len <= _MOST_BYTES // _LEAST_ROWS * 2
    return int(getattr(kernel, "ONLY_PARTS", 4 if few else 1))


def room_for_best(launch: Launch, top: int) -> Best:
    """Return room for the best keys of all rows."""
    p = launch.problem
    shape = (p.batch, p.heads, p.q_len, top)
    return Best(launch.empty(*shape, dtype=torch.int64), launch.empty(*shape))


def strips(pairs: int, group: int, q_len: int, rows: int) -> list[Strip]:
    """Cut all pairs' rows into strips of at most so many: whole groups, or parts of one pair.

    Parts begin at multiples of 128 rows; the first strip is the largest.
    """
    if q_len * group <= rows:
        many = min(pairs, rows // (q_len * group) * group)
        return [Strip(pair, min(many, pairs - pair), 0, q_len) for pair in range(0, pairs, many)]
    step = max(rows // 128 * 128, 128)
    return [
        Strip(pair, 1, row, min(step, q_len - row))
        for pair in range(pairs)
        for row in range(0, q_len, step)
    ]


def _choose(launch: Launch, room: Room, strip: Strip, best: Best, top: int) -> None:
    """Fill in the best keys of a strip whose maxima are known."""
    chunks, width = cdiv(launch.problem.kv_len, CHUNK), max(4, power_of_2(top))
    rows = min(32, 512 // width)  # whose lists a warp holds in registers
    tiles = cdiv(strip.rows, rows) * strip.pairs
    span = _span(launch, chunks, tiles)
    segments = cdiv(chunks, span)
    shape = (strip.pairs, segments, width, strip.rows)
    found, found_at = launch.empty(*shape), launch.empty(*shape, dtype=torch.int32)
    launch.start(
        chunks_kernel, tiles * segments, strip.maxima, found, found_at, strip.pair, strip.row,
        strip.rows, chunks, span, segments, top, TOP=width, PARTS=strip.parts, ROWS=rows,
        BLOCK=_BLOCK, num_warps=1,
    )  # fmt: skip
    if segments > 1:
        some_at, found_at = found_at, launch.empty(*shape[:1], *shape[2:], dtype=torch.int32)
        segments_kernel[(tiles,)](
            found, some_at, found_at, strip.rows, segments, top, TOP=width, ROWS=rows, num_warps=1
        )
    held = 64 if launch.inputs.query.element_size() == 4 else 256  # of 32 keys, by one warp
    launch.start(
        keys_kernel, strip.rows * strip.pairs, strip.maxima, found_at, room.shift, room.factor,
        best.keys, best.weights, strip.pair, strip.row, strip.rows, chunks, top, TOP=width,
        PARTS=strip.parts, num_warps=max(1, launch.switches.head // held),
    )  # fmt: skip


def _span(launch: Launch, chunks: int, tiles: int) -> int:
    """Return how many chunks a segment has, so that programs fill a GPU: whole blocks."""
    wanted = max(1, _PROGRAMS * multiprocessors(launch.device, _INTERPRETED) // tiles)
    return cdiv(max(cdiv(chunks, wanted), _LEAST_CHUNKS), _BLOCK) * _BLOCK


def _sort_strips(launch: Launch, room: Room, best: Best, top: int) -> None:
    """Fill in the best keys of all rows by sorting scores, as many at once as memory is set by."""
    p = launch.problem
    most = max(128, _MOST_BYTES // (16 * max(p.kv_len, 1)))
    for strip in strips(p.batch * p.heads, p.group, p.q_len, most):
        scores = launch.empty(strip.pairs, strip.rows, p.kv_len)
        blocks, tiles = cdiv(p.kv_len, 64), cdiv(strip.rows, 32)
        launch.start(
            scores_kernel, blocks * tiles * strip.pairs, scores, strip.pair, strip.row, strip.rows,
            ROWS=32, KEYS=64, num_warps=4, num_stages=1,
        )  # fmt: skip
        found, found_at = scores.sort(dim=-1, descending=True, stable=True)
        launch.start(
            sorted_kernel, strip.pairs * strip.rows, found, found_at, room.shift, room.factor,
            best.keys, best.weights, strip.pair, strip.row, strip.rows, top, BLOCK=256, num_warps=4,
        )  # fmt: skip
