"""The best keys of each row, exact, without a score kept: chunks first, then their keys again.

The kernel that answers stores the largest score of every part of every chunk of 32 keys. Only the
k chunks with the largest scores can hold a row's k best keys, ties to the lower position included;
of those chunks, only parts that reach the k-th largest are scored again. Rows go in strips, so that
what is stored grows with the number of keys alone. Many keys are found by sorting strips of scores.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from softlookup.backends.triton.launch import Launch, cdiv, power_of_2
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
_SEGMENT = 256  # chunks that one program looks through where rows are few
_FAR = tl.constexpr(2**31 - 1)


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


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows", "chunks", "segments", "top"])
def chunks_kernel(
    x, n, maxima, best, best_at, pair, row_from, strip_rows, chunks, segments, top,
    TOP: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
    SEGMENT: tl.constexpr, S: tl.constexpr,
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
    begin = tl.maximum(low // 32 // BLOCK * BLOCK, segment * SEGMENT)
    end = tl.minimum((high + 31) // 32, segment * SEGMENT + SEGMENT)
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
    best, best_at, whole, whole_at, strip_rows, segments, top,
    TOP: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Merge what the segments of some rows hold, in their order."""
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
    tl.store(whole + to, numbers, mask=own < strip_rows)
    tl.store(whole_at + to, places, mask=own < strip_rows)


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows", "chunks", "top"])
def keys_kernel(
    x, n, maxima, best, best_at, shift, factor, top_keys, top_weights, pair, row_from, strip_rows,
    chunks, top, TOP: tl.constexpr, PARTS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Score the chosen chunks of one row again, and store its best keys and their weights."""
    n = sizes_of(n)
    program = tl.program_id(0)
    own, near = program % strip_rows, program // strip_rows
    batch, head = (pair + near) // n.heads, (pair + near) % n.heads
    first, last, limit = limits_of(x, n, batch, S)
    row = row_from + own
    i = row + tl.zeros([16], tl.int32)  # the least rows of a product; all are this one
    q = queries(x, n, batch, head, i, S)
    lane = tl.arange(0, 32)
    slot = tl.arange(0, TOP)[:, None]
    cells = tl.full([TOP, 32], float("-inf"), tl.float32)
    places = tl.full([TOP, 32], _FAR, tl.int32)
    lists = near.to(tl.int64) * TOP * strip_rows + own
    filled = tl.arange(0, TOP)
    numbers = tl.load(best + lists + filled * strip_rows, mask=filled < top, other=float("inf"))
    least = tl.min(numbers, 0)
    for rank in range(top):
        chunk = tl.load(best_at + lists + rank * strip_rows)
        at = (near.to(tl.int64) * chunks + chunk) * strip_rows + own
        most = tl.load(maxima + at * PARTS + lane % 8 // 2 * PARTS // 4, mask=chunk >= 0)
        j = chunk * 32 + lane
        there = (chunk >= 0) & (most >= least) & (j < limit)
        k = keys(x, n, batch, head // n.group, j, there, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        scores, sees = seen_scores(
            products, x, n, batch, head, i[:, None], j[None, :], first, last, limit, S
        )
        seen = (tl.max(sees.to(tl.int32), 0) > 0) & there
        cells = tl.where(slot == rank, tl.max(scores, 0)[None, :], cells)
        places = tl.where(slot == rank, tl.where(seen, j, _FAR)[None, :], places)
    ranks = tl.arange(0, TOP)
    found = tl.full([TOP], float("-inf"), tl.float32)
    found_at = tl.full([TOP], _FAR, tl.int32)
    for rank in range(top):
        left = tl.where(places == _FAR, float("-inf"), cells)
        most = tl.max(tl.max(left, 1), 0)
        key = tl.min(tl.min(tl.where(left == most, places, _FAR), 1), 0)
        places = tl.where(places == key, _FAR, places)
        found = tl.where(ranks == rank, most, found)
        found_at = tl.where(ranks == rank, key, found_at)
    to = (pair + near).to(tl.int64) * n.q_len + row
    row_factor = tl.load(factor + to)
    weights = exps_of(found, in_units(tl.load(shift + to), S), n, S) * row_factor
    none, spoilt = found_at == _FAR, row_factor != row_factor
    weights = tl.where(spoilt, row_factor, tl.where(none, 0.0, weights))
    tl.store(top_weights + to * top + ranks, weights, mask=ranks < top)
    kept = tl.where(spoilt, -1, tl.where(none, -1, found_at)).to(tl.int64)
    tl.store(top_keys + to * top + ranks, kept, mask=ranks < top)


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows"])
def scores_kernel(
    x, n, scores, pair, row_from, strip_rows, ROWS: tl.constexpr, KEYS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Store natural scores of some rows, (pairs, rows, kv_len): -inf is hidden, all else finite."""
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
    if S.raw:
        found = found * n.scale
    found = tl.where(sees, tl.maximum(found, LOWEST), float("-inf"))
    own = i - row_from
    at = (near.to(tl.int64) * strip_rows + own) * n.kv_len + j
    tl.store(scores + at, found, mask=(own < strip_rows) & (j < n.kv_len))


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
    chunks = cdiv(launch.problem.kv_len, CHUNK)
    width, rows = max(4, power_of_2(top)), 32
    tiles = cdiv(strip.rows, rows) * strip.pairs
    few = tiles * cdiv(chunks, _SEGMENT) <= 2**12
    segment = _SEGMENT if few else power_of_2(chunks)
    segments = cdiv(chunks, segment)
    shape = (strip.pairs, segments, width, strip.rows)
    found, found_at = launch.empty(*shape), launch.empty(*shape, dtype=torch.int32)
    chunks_kernel[(tiles * segments,)](
        launch.inputs, launch.sizes, strip.maxima, found, found_at, strip.pair, strip.row,
        strip.rows, chunks, segments, top, TOP=width, PARTS=strip.parts, ROWS=rows,
        BLOCK=32, SEGMENT=segment, S=launch.switches, num_warps=1,
    )  # fmt: skip
    if segments > 1:
        some, some_at = found, found_at
        found, found_at = (
            launch.empty(*shape[:1], *shape[2:]),
            launch.empty(*shape[:1], *shape[2:], dtype=torch.int32),
        )
        segments_kernel[(tiles,)](
            some, some_at, found, found_at, strip.rows, segments, top, TOP=width, ROWS=rows,
            num_warps=1,
        )  # fmt: skip
    keys_kernel[(strip.rows * strip.pairs,)](
        launch.inputs, launch.sizes, strip.maxima, found, found_at, room.shift, room.factor,
        best.keys, best.weights, strip.pair, strip.row, strip.rows, chunks, top,
        TOP=width, PARTS=strip.parts, S=launch.switches, num_warps=1,
    )  # fmt: skip


def _sort_strips(launch: Launch, room: Room, best: Best, top: int) -> None:
    """Fill in the best keys of all rows by sorting scores, as many at once as memory is set by."""
    p, there = launch.problem, min(top, launch.problem.kv_len)
    flat = [
        array.view(p.batch * p.heads, p.q_len, -1) for array in (*best, room.shift, room.factor)
    ]
    keys, weights, shift, factor = flat
    keys.fill_(-1)
    weights.zero_()
    if p.kv_len:
        for strip in strips(
            p.batch * p.heads, p.group, p.q_len, max(128, _MOST_BYTES // (16 * p.kv_len))
        ):
            scores = launch.empty(strip.pairs, strip.rows, p.kv_len)
            blocks, tiles = cdiv(p.kv_len, 64), cdiv(strip.rows, 32)
            scores_kernel[(blocks * tiles * strip.pairs,)](
                launch.inputs, launch.sizes, scores, strip.pair, strip.row, strip.rows,
                ROWS=32, KEYS=64, S=launch.switches, num_warps=4, num_stages=1,
            )  # fmt: skip
            found, found_at = scores.sort(dim=-1, descending=True, stable=True)
            found, found_at = found[..., :there], found_at[..., :there]
            at = (
                slice(strip.pair, strip.pair + strip.pairs),
                slice(strip.row, strip.row + strip.rows),
            )
            none = torch.isneginf(found)
            weight = torch.exp(found - shift[at]) * factor[at]
            weight.masked_fill_(torch.isinf(factor[at]), float("nan"))  # all visible are -inf
            keys[at][..., :there] = found_at.masked_fill(none, -1)
            weights[at][..., :there] = weight.masked_fill(none, 0.0)
    spoilt = torch.isnan(factor)
    keys.masked_fill_(spoilt, -1)
    weights.masked_fill_(spoilt, float("nan"))
