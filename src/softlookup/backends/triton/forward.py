"""The answer and the facts of its rows from one kernel: facts are switches that change no bit.

A program takes a tile of queries of one head over the keys that they see: first the tiles of keys
that every row sees whole, without a test for any pair, then those at the ends. Tiles that no row
sees are never visited. What hidden or visible values that are not finite do to an output, and a
visible score of -inf to an entropy, is noticed at the end, and left to `careful`.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from softlookup.backends.triton import splitting
from softlookup.backends.triton.launch import Launch, cdiv, padded_dim, shared_memory
from softlookup.backends.triton.maxima import CHUNK, Strip, peaks_of
from softlookup.backends.triton.running import Room, advance, ask_for_care, finish
from softlookup.backends.triton.scores import (
    LOWEST,
    capped_of,
    key_range,
    key_tile,
    limits_of,
    peak_of,
    query_tile,
    seen_scores,
    sizes_of,
    value_tile,
    within_limits,
)


class Asked(NamedTuple):
    """What is wanted beside the answer."""

    entropy: bool = False
    sink: bool = False
    peak: bool = False
    normaliser: bool = False


class Tiling(NamedTuple):
    """How a program is cut: rows and keys of a tile, warps, stages of the pipeline."""

    rows: int
    keys: int
    warps: int
    stages: int


# The largest of head_dim and value_dim, padded, to tilings, by compute capability and bytes of a
# number. At 9.0 and 2 bytes those of 64 and 128 are what was fastest on an H200 for a plainer loop;
# the others are chosen by registers and shared memory, and not measured.
_TILINGS = {
    (9, 2): {64: Tiling(128, 64, 4, 3), 128: Tiling(128, 128, 8, 3), 256: Tiling(128, 64, 8, 2)},
    (8, 2): {64: Tiling(128, 64, 8, 3), 128: Tiling(128, 64, 8, 2), 256: Tiling(64, 32, 8, 2)},
    (9, 4): {64: Tiling(64, 64, 4, 2), 128: Tiling(64, 32, 4, 2), 256: Tiling(32, 32, 4, 2)},
    (8, 4): {64: Tiling(64, 32, 4, 2), 128: Tiling(32, 32, 4, 2), 256: Tiling(16, 32, 4, 2)},
}


@triton.jit
def _key_tile(through, x, n, batch, kv_head, key, limit, KEYS: tl.constexpr, S: tl.constexpr):
    if through is None:
        return key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
    else:
        return through.load([batch, kv_head, key, 0]).reshape(KEYS, S.head)


@triton.jit
def _value_tile(through, x, n, batch, kv_head, key, limit, KEYS: tl.constexpr, S: tl.constexpr):
    if through is None:
        return value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
    else:
        return through.load([batch, kv_head, key, 0]).reshape(KEYS, S.blend)


@triton.jit(do_not_specialize=["pair", "row_from", "strip_rows", "tiles", "chunks"])
def forward_kernel(
    x, n, room, maxima, q_through, k_through, v_through, pair, row_from, strip_rows, tiles, chunks,
    ROWS: tl.constexpr, KEYS: tl.constexpr, STAGES: tl.constexpr, WARPS: tl.constexpr,
    PARTS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Answer a tile of rows; see the module."""
    n = sizes_of(n)
    program = tl.program_id(0)
    tile = program % tiles
    if S.right:  # the longest first
        tile = tiles - 1 - tile
    near = program // tiles
    batch, head = (pair + near) // n.heads, (pair + near) % n.heads
    kv_head = head // n.group
    row = row_from + tile * ROWS
    first, last, limit = limits_of(x, n, batch, S)
    stop = tl.minimum(row + ROWS, n.q_len)
    low, high, free_low, free_high = key_range(first, last, limit, row, stop, S)
    begin = low // KEYS * KEYS
    free, free_end = begin, begin
    if not (S.masked or S.biased):
        free = (free_low + KEYS - 1) // KEYS * KEYS
        free_end = tl.maximum(free_high, 0) // KEYS * KEYS
        empty = free_end <= free
        free = tl.where(empty, begin, free)
        free_end = tl.where(empty, begin, free_end)

    i = row + tl.arange(0, ROWS)
    if q_through is None:
        q = query_tile(x, n, batch, head, row, ROWS, S)
    else:
        q = q_through.load([batch, head, row, 0]).reshape(ROWS, S.head)
    if maxima is not None:
        to = maxima + (near.to(tl.int64) * chunks * strip_rows - row_from) * PARTS
    total = tl.zeros([ROWS], tl.float32)
    shift = tl.full([ROWS], LOWEST, tl.float32)
    mixed = tl.zeros([ROWS], tl.float32)
    seen = tl.zeros([ROWS], tl.int32)
    BLEND: tl.constexpr = S.blend
    acc = tl.zeros([ROWS, BLEND], tl.float32)

    for key in tl.range(free, free_end, KEYS, num_stages=STAGES):
        k = _key_tile(k_through, x, n, batch, kv_head, key, limit, KEYS, S)
        scores = capped_of(tl.dot(q, k.T, input_precision=S.precision), n, S)
        if maxima is None:
            peak = peak_of(scores, n, S)
        else:
            peak = peaks_of(
                scores, None, to, row, stop, key, strip_rows, n, ROWS, KEYS, PARTS, WARPS, S
            )
        exps, keep, total, shift, mixed = advance(
            scores, peak, total, shift, mixed, n, room.entropy is not None, False, S
        )
        if room.out is not None:
            v = _value_tile(v_through, x, n, batch, kv_head, key, limit, KEYS, S)
            acc = tl.dot(exps.to(v.dtype), v, acc * keep[:, None], input_precision=S.precision)

    jumped = free_end - free
    for step in tl.range(begin, tl.maximum(high - jumped, begin), KEYS, num_stages=STAGES):
        key = tl.where(step >= free, step + jumped, step)
        k = _key_tile(k_through, x, n, batch, kv_head, key, limit, KEYS, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        j = key + tl.arange(0, KEYS)
        scores, sees = seen_scores(
            products, x, n, batch, head, i[:, None], j[None, :], first, last, limit, S
        )
        if maxima is None:
            peak = peak_of(scores, n, S)
        else:
            peak = peaks_of(
                scores, sees, to, row, stop, key, strip_rows, n, ROWS, KEYS, PARTS, WARPS, S
            )
        if S.masked or S.biased:
            seen = tl.maximum(seen, tl.max(sees.to(tl.int32), 1))
        exps, keep, total, shift, mixed = advance(
            scores, peak, total, shift, mixed, n, room.entropy is not None, True, S
        )
        if room.out is not None:
            if S.padded:  # what lies past the end is never multiplied
                v = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
            else:
                v = _value_tile(v_through, x, n, batch, kv_head, key, limit, KEYS, S)
            acc = tl.dot(exps.to(v.dtype), v, acc * keep[:, None], input_precision=S.precision)

    sees_any = seen > 0
    if not (S.masked or S.biased):
        sees_any = within_limits(i, first, last, limit, S)
    at = (pair + near).to(tl.int64) * n.q_len + i
    ask_for_care(acc, total, mixed, i < stop, batch, kv_head, n, room)
    finish(acc, total, shift, mixed, sees_any, at, i < stop, head, x, n, room, S)


def tiling_of(launch: Launch) -> Tiling:
    """Return how programs are cut; whatever is asked, and whichever strip it is, it is one."""
    s, rows = launch.switches, padded_dim(launch.problem.q_len)
    dim = max(s.head, s.blend, 64)
    roomy = shared_memory(launch.capability) > 200  # 12.x is as narrow as 8.6
    each = launch.problem.dtype.itemsize
    tiling = _TILINGS[9 if roomy else 8, each][dim]
    if s.masked or s.biased:  # their tiles are on their way at once, too
        keys = min(tiling.keys, 64 if roomy and dim < 256 else 32)
        tiling = tiling._replace(keys=keys, stages=2 if roomy or each * dim < 1024 else 1)
    rows = min(tiling.rows, rows)
    return tiling._replace(rows=rows, warps=min(tiling.warps, 8 if rows > 64 else 4))


def run(launch: Launch, room: Room, strip: Strip) -> None:
    """Launch the kernel for a strip of rows; few queries are `splitting`'s."""
    cut = splitting.cut_of(launch)
    if splitting.fits(launch, cut):
        splitting.run(launch, room, strip, cut)
        return
    p, tiling = launch.problem, tiling_of(launch)
    if strip.maxima is not None and tiling.keys == 128:  # a third leaves no room to move them
        tiling = tiling._replace(stages=min(tiling.stages, 2))
    tiles = cdiv(strip.rows, tiling.rows)
    x, s = launch.inputs, launch.switches
    launch.start(
        forward_kernel, tiles * strip.pairs, room, strip.maxima,
        launch.descriptor(x.query, tiling.rows, s.head),
        launch.descriptor(x.key, tiling.keys, s.head),
        launch.descriptor(x.value, tiling.keys, s.blend),
        strip.pair, strip.row, strip.rows, tiles, cdiv(p.kv_len, CHUNK),
        ROWS=tiling.rows, KEYS=tiling.keys, STAGES=tiling.stages, WARPS=tiling.warps,
        PARTS=strip.parts, num_warps=tiling.warps,
    )  # fmt: skip


def room_for(launch: Launch, asked: Asked) -> Room:
    """Return room for what is asked of all rows, and the flags for `careful`."""
    p = launch.problem
    rows = (p.batch, p.heads, p.q_len)

    def per_row(wanted: bool) -> Any:
        return launch.empty(*rows) if wanted else None

    spoilt, faint = launch.flags(entropy=asked.entropy)
    return Room(
        out=launch.empty(*rows, p.value_dim, dtype=launch.inputs.query.dtype)
        if p.value_dim
        else None,
        lse=launch.empty(*rows),
        shift=per_row(asked.normaliser),
        factor=per_row(asked.normaliser),
        entropy=per_row(asked.entropy),
        sink=per_row(asked.sink),
        peak=per_row(asked.peak),
        spoilt=spoilt if p.value_dim else None,
        faint=faint,
    )
