"""Few queries: the heads of a group share the keys that are read, and many programs share them.

A program takes the queries of all heads of a kv head over one segment of the keys, so that keys and
values are read once. Of several segments, a second kernel merges those of each row in their order,
by the rule of `softlookup.partials`: nothing depends on which program was first.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from softlookup.backends.triton.launch import (
    Launch,
    cdiv,
    multiprocessors,
    padded_dim,
    power_of_2,
    shared_memory,
)
from softlookup.backends.triton.maxima import CHUNK, Strip, visible_maxima
from softlookup.backends.triton.running import (
    FAINT,
    Room,
    advance,
    ask_for_care,
    finish,
    log_step,
)
from softlookup.backends.triton.scores import (
    LOWEST,
    keys,
    limits_of,
    peak_of,
    seen_scores,
    sizes_of,
    value_tile,
    within_limits,
)

_MOST_ROWS = 64  # queries of all heads of a group; more are `forward`'s
_LEAST_KEYS = 256  # of a segment
_MOST_SEGMENTS = 128  # merged at once
_PROGRAMS = 3  # for each multiprocessor: as many as find room there at once
_INTERPRETED = 2  # multiprocessors, where there are none


class Parts(NamedTuple):
    """Pointers to the states of segments, over (kv pairs, segments, rows); see `running`."""

    acc: Any = None  # (..., value_dim as padded)
    total: Any = None
    shift: Any = None
    mixed: Any = None
    seen: Any = None


@triton.jit(do_not_specialize=["pair", "span", "segments", "chunks"])
def parts_kernel(
    x, n, parts, room, maxima, pair, span, segments, chunks,
    ROWS: tl.constexpr, KEYS: tl.constexpr, STAGES: tl.constexpr, PARTS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Take the rows of a kv head over one segment of the keys; `pair` is the first kv pair.

    What becomes of them is stored in `parts`, or in `room`, where the segment is the only one.
    """
    n = sizes_of(n)
    program = tl.program_id(0)
    near, segment = program // segments, program % segments
    kv_heads = n.heads // n.group
    batch, kv_head = (pair + near) // kv_heads, (pair + near) % kv_heads
    r = tl.arange(0, ROWS)
    there = r < n.group * n.q_len
    head = kv_head * n.group + tl.where(there, r // n.q_len, 0)
    i = tl.where(there, r % n.q_len, n.q_len)
    first, last, limit = limits_of(x, n, batch, S)
    low, high = segment * span, tl.minimum(segment * span + span, limit)
    if S.left:
        low = tl.maximum(low, first // KEYS * KEYS)
    if S.right:
        high = tl.minimum(high, n.q_len - 1 + last)
    d = tl.arange(0, S.head)[None, :]
    at = batch.to(tl.int64) * x.q_batch + head.to(tl.int64) * x.q_head + i.to(tl.int64) * x.q_row
    inside = there[:, None] & (d < n.head_dim)
    q = tl.load(x.query + at[:, None] + d.to(tl.int64) * x.q_dim, mask=inside, other=0.0)
    total = tl.zeros([ROWS], tl.float32)
    shift = tl.full([ROWS], LOWEST, tl.float32)
    mixed = tl.zeros([ROWS], tl.float32)
    seen = tl.zeros([ROWS], tl.int32)
    BLEND: tl.constexpr = S.blend
    acc = tl.zeros([ROWS, BLEND], tl.float32)
    for key in tl.range(low, high, KEYS, num_stages=STAGES):
        j = key + tl.arange(0, KEYS)
        k = keys(x, n, batch, kv_head, j, j < limit, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        scores, sees = seen_scores(
            products, x, n, batch, head[:, None], i[:, None], j[None, :], first, last, limit, S
        )
        if maxima is not None:
            most = visible_maxima(scores, sees, n, ROWS, KEYS, S)
            if PARTS == 1:
                most = tl.max(most, 2)[:, :, None]
            chunk = (key // 32 + tl.arange(0, KEYS // 32))[None, :, None]
            row = (near * n.group + r // n.q_len).to(tl.int64)[:, None, None] * chunks + chunk
            to = (row * n.q_len + i[:, None, None]) * PARTS + tl.arange(0, PARTS)[None, None, :]
            tl.store(maxima + to, most, mask=there[:, None, None] & (chunk * 32 < n.kv_len))
        if S.masked or S.biased:
            seen = tl.maximum(seen, tl.max(sees.to(tl.int32), 1))
        exps, keep, total, shift, mixed = advance(
            scores, peak_of(scores, n, S), total, shift, mixed, n, True, True, S
        )
        if (parts.acc is not None) or (room.out is not None):
            v = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
            acc = tl.dot(exps.to(v.dtype), v, acc * keep[:, None], input_precision=S.precision)
    if parts.total is None:
        sees_some = seen > 0
        if not (S.masked or S.biased):
            sees_some = within_limits(i, first, last, limit, S)
        to = (batch * n.heads + head).to(tl.int64) * n.q_len + i
        ask_for_care(acc, total, mixed, there, batch, kv_head, n, room)
        finish(acc, total, shift, mixed, sees_some, to, there, head, x, n, room, S)
    else:
        to = program.to(tl.int64) * ROWS + r
        tl.store(parts.total + to, total)
        tl.store(parts.shift + to, shift)
        tl.store(parts.mixed + to, mixed)
        tl.store(parts.seen + to, seen)
        if parts.acc is not None:
            tl.store(parts.acc + to[:, None] * BLEND + tl.arange(0, BLEND)[None, :], acc)


@triton.jit(do_not_specialize=["pair", "segments"])
def merge_kernel(
    x, n, parts, room, pair, segments, ROWS: tl.constexpr, SEGMENTS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Merge all segments of one row, and store what is wanted of it."""
    n = sizes_of(n)
    program = tl.program_id(0)
    rows = n.group * n.q_len
    r, near = program % rows, program // rows
    kv_heads = n.heads // n.group
    batch, kv_head = (pair + near) // kv_heads, (pair + near) % kv_heads
    head = kv_head * n.group + r // n.q_len
    i = r % n.q_len + tl.zeros([1], tl.int32)
    segment = tl.arange(0, SEGMENTS)
    there = segment < segments
    at = (near.to(tl.int64) * segments + segment) * ROWS + r
    totals = tl.load(parts.total + at, mask=there, other=0.0)
    shifts = tl.load(parts.shift + at, mask=there, other=LOWEST)
    mixes = tl.load(parts.mixed + at, mask=there, other=0.0)
    shift = tl.max(shifts, 0, keep_dims=True)
    steps = log_step(shifts, shift, S)
    keeps = tl.exp2(steps)
    total = tl.sum(totals * keeps, 0, keep_dims=True)
    mixed = tl.sum(tl.fma(totals, tl.maximum(steps, FAINT), mixes) * keeps, 0, keep_dims=True)
    seen = tl.max(tl.load(parts.seen + at, mask=there, other=0), 0, keep_dims=True) > 0
    BLEND: tl.constexpr = S.blend
    if parts.acc is not None:
        cells = at[:, None] * BLEND + tl.arange(0, BLEND)[None, :]
        accs = tl.load(parts.acc + cells, mask=there[:, None], other=0.0)
        acc = tl.sum(accs * keeps[:, None], 0, keep_dims=True)
    else:
        acc = tl.zeros([1, BLEND], tl.float32)
    if not (S.masked or S.biased):
        first, last, limit = limits_of(x, n, batch, S)
        seen = within_limits(i, first, last, limit, S)
    to = (batch * n.heads + head).to(tl.int64) * n.q_len + i
    ask_for_care(acc, total, mixed, i < n.q_len, batch, kv_head, n, room)
    finish(acc, total, shift, mixed, seen, to, i < n.q_len, head, x, n, room, S)


def fits(launch: Launch) -> bool:
    """Return whether a problem has so few queries that this way is better, and room for it."""
    p, s = launch.problem, launch.switches
    wide = launch.inputs.query.element_size() * max(s.head, s.blend) > 512
    roomless = wide and shared_memory(launch.capability) < 100
    return p.q_len * p.group <= _MOST_ROWS and not roomless


def run(launch: Launch, room: Room, strip: Strip) -> None:
    """Launch the kernels for a strip of whole groups of heads."""
    p, s = launch.problem, launch.switches
    rows = padded_dim(p.q_len * p.group)
    keys_at_once = 32 if launch.inputs.query.element_size() * max(s.head, s.blend) > 256 else 64
    pairs, first = strip.pairs // p.group, strip.pair // p.group
    span = _span(launch)
    segments = max(1, cdiv(p.kv_len, span))
    parts = Parts()
    if segments > 1:
        shape = (pairs, segments, rows)
        acc = None if room.out is None else launch.empty(*shape, s.blend)
        total, shift, mixed = launch.empty(3, *shape)
        parts = Parts(acc, total, shift, mixed, launch.empty(*shape, dtype=torch.int32))
    parts_kernel[(pairs * segments,)](
        launch.inputs, launch.sizes, parts, room if segments == 1 else Room(), strip.maxima,
        first, span, segments, cdiv(p.kv_len, CHUNK), ROWS=rows, KEYS=keys_at_once,
        STAGES=_stages(launch, rows, keys_at_once), PARTS=strip.parts, S=s, num_warps=4,
    )  # fmt: skip
    if segments > 1:
        merge_kernel[(pairs * p.group * p.q_len,)](
            launch.inputs, launch.sizes, parts, room, first, segments, ROWS=rows,
            SEGMENTS=power_of_2(segments), S=s, num_warps=4,
        )  # fmt: skip


def _stages(launch: Launch, rows: int, keys_at_once: int) -> int:
    """Return how many tiles may be on their way at once: 3, or what shared memory has room for."""
    s, each = launch.switches, launch.inputs.query.element_size()
    laid_over = rows * (s.masked + 4 * s.biased)
    stage = keys_at_once * (each * (s.head + s.blend) + laid_over)
    beside = keys_at_once * rows * 4
    if each == 4:  # its products read the queries, and one tile more, from there
        beside += (rows + keys_at_once) * each * s.head
    room = shared_memory(launch.capability) * 1024 - beside
    return int(max(1, min(3, room // stage)))


def _span(launch: Launch) -> int:
    """Return how many keys a segment has: a multiple of 64, so that it ends where a tile does.

    It follows from the whole problem, so that a strip of it has the same segments.
    """
    p = launch.problem
    gpu = multiprocessors(launch.device, _INTERPRETED)
    wanted = max(1, _PROGRAMS * gpu // (p.batch * p.kv_heads))
    keys_each = max(cdiv(p.kv_len, min(wanted, _MOST_SEGMENTS)), _LEAST_KEYS)
    return cdiv(keys_each, 64) * 64
