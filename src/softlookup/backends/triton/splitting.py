"""Few queries: the heads of a group share the keys that are read, and many programs share them.

A program takes a tile of the queries of all heads of a kv head over one segment of the keys, so
that keys and values are read once for all of them. Of several segments, a second kernel merges
those of each row in their order, by the rule of `softlookup.partials`: nothing depends on which
program was first.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from softlookup.backends.triton.launch import (
    Launch,
    cdiv,
    multiprocessors,
    padded_dim,
    power_of_2,
    shared_memory,
    sides,
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
    key_range,
    keys,
    limits_of,
    peak_of,
    seen_scores,
    sizes_of,
    value_tile,
    within_limits,
)

_ROWS = 64  # of a tile, of all heads of a group
_TILE = 2**15  # of a tile of long rows, see `cut_of`: what its registers hold
_MOST_ROWS = 2**14  # of all tiles of a kv head: a strip of `top` holds them whole
_LEAST_KEYS = 256  # of a segment
_LEAST_SEGMENTS = 3  # fewer are not worth a merge where rows are many
_MOST_SEGMENTS = 128  # merged at once
_PROGRAMS = 3  # for each multiprocessor, as many as find room there at once; one less if they are
# large. It bounds the parts of a problem, too: 9 MiB on 132, however many rows and keys there are
_INTERPRETED = 2  # multiprocessors, where there are none


class Cut(NamedTuple):
    """How a kv head is cut: rows of a tile, and tiles; keys of a segment, and segments.

    Rows go by position, all heads of the group at each, so that those of a tile see nearly the same
    keys; a tile's segments begin where its first row's keys do.
    """

    rows: int
    tiles: int
    span: int
    segments: int


class Parts(NamedTuple):
    """Pointers to the states of segments, over (kv pairs, tiles, segments, rows); see `running`."""

    acc: Any = None  # (..., value_dim as padded)
    states: Any = None  # (4, ...): total, shift, mixed, and 1 where a key was seen


@triton.jit(do_not_specialize=["pair", "span", "segments", "chunks"])
def parts_kernel(
    x, n, parts, room, maxima, pair, span, segments, chunks,
    ROWS: tl.constexpr, KEYS: tl.constexpr, STAGES: tl.constexpr, PARTS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Take a tile of a kv head's rows over one segment of its keys; `pair` is the first kv pair.

    What becomes of them is stored in `parts`, or in `room`, where the segment is the only one.
    """
    n = sizes_of(n)
    program = tl.program_id(0)
    tiles, segment = tl.cdiv(n.group * n.q_len, ROWS), program % segments
    tile, near = program // segments % tiles, program // segments // tiles
    kv_heads = n.heads // n.group
    batch, kv_head = (pair + near) // kv_heads, (pair + near) % kv_heads
    r = tile * ROWS + tl.arange(0, ROWS)
    there = r < n.group * n.q_len
    i = tl.where(there, r // n.group, n.q_len)
    own = tl.where(there, r % n.group, 0)
    head = kv_head * n.group + own
    first, last, limit = limits_of(x, n, batch, S)
    row = tile * ROWS // n.group
    stop = tl.minimum((tile * ROWS + ROWS - 1) // n.group + 1, n.q_len)
    low, high, _, _ = key_range(first, last, limit, row, stop, S)
    low = low // KEYS * KEYS + segment * span
    high = tl.minimum(low + span, high)
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
            line = (near * n.group + own).to(tl.int64)[:, None, None] * chunks + chunk
            to = (line * n.q_len + i[:, None, None]) * PARTS + tl.arange(0, PARTS)[None, None, :]
            tl.store(maxima + to, most, mask=there[:, None, None] & (chunk * 32 < n.kv_len))
        if S.masked or S.biased:
            seen = tl.maximum(seen, tl.max(sees.to(tl.int32), 1))
        exps, keep, total, shift, mixed = advance(
            scores, peak_of(scores, n, S), total, shift, mixed, n, True, True, S
        )
        if (parts.acc is not None) or (room.out is not None):
            v = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
            acc = tl.dot(exps.to(v.dtype), v, acc * keep[:, None], input_precision=S.precision)
    if parts.states is None:
        sees_some = seen > 0
        if not (S.masked or S.biased):
            sees_some = within_limits(i, first, last, limit, S)
        to = (batch * n.heads + head).to(tl.int64) * n.q_len + i
        ask_for_care(acc, total, mixed, there, batch, kv_head, n, room)
        finish(acc, total, shift, mixed, sees_some, to, there, head, x, n, room, S)
    else:
        to = program.to(tl.int64) * ROWS + tl.arange(0, ROWS)
        each = tl.num_programs(0).to(tl.int64) * ROWS
        tl.store(parts.states + to, total)
        tl.store(parts.states + each + to, shift)
        tl.store(parts.states + 2 * each + to, mixed)
        tl.store(parts.states + 3 * each + to, seen.to(tl.float32))
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
    r, near, tiles = program % rows, program // rows, tl.cdiv(rows, ROWS)
    kv_heads = n.heads // n.group
    batch, kv_head = (pair + near) // kv_heads, (pair + near) % kv_heads
    head = kv_head * n.group + r % n.group
    i = r // n.group + tl.zeros([1], tl.int32)
    segment = tl.arange(0, SEGMENTS)
    there = segment < segments
    at = ((near.to(tl.int64) * tiles + r // ROWS) * segments + segment) * ROWS + r % ROWS
    each = (tl.num_programs(0) // rows).to(tl.int64) * tiles * segments * ROWS
    totals = tl.load(parts.states + at, mask=there, other=0.0)
    shifts = tl.load(parts.states + each + at, mask=there, other=LOWEST)
    mixes = tl.load(parts.states + 2 * each + at, mask=there, other=0.0)
    shift = tl.max(shifts, 0, keep_dims=True)
    steps = log_step(shifts, shift, S)
    keeps = tl.exp2(steps)
    total = tl.sum(totals * keeps, 0, keep_dims=True)
    mixed = tl.sum(tl.fma(totals, tl.maximum(steps, FAINT), mixes) * keeps, 0, keep_dims=True)
    sees = tl.load(parts.states + 3 * each + at, mask=there, other=0.0)
    seen = tl.max(sees, 0, keep_dims=True) > 0
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


def cut_of(launch: Launch) -> Cut:
    """Return how a problem is cut; it follows from the whole of it, whichever strip is asked."""
    p, s = launch.problem, launch.switches
    row = max(s.head, s.blend) * p.dtype.itemsize**2  # three products take more registers than one
    rows = padded_dim(min(p.q_len * p.group, _ROWS, _TILE // row))
    tiles = cdiv(p.q_len * p.group, rows)
    programs = _PROGRAMS - 1 if rows * row >= _TILE else _PROGRAMS
    programs *= multiprocessors(launch.device, _INTERPRETED)
    segments = max(1, min(programs // (p.batch * p.kv_heads * tiles), _MOST_SEGMENTS))
    keys = _keys_of(launch, rows)
    span = max(cdiv(keys, segments), _LEAST_KEYS)
    span = cdiv(span, 64) * 64  # so that a segment ends where a tile of keys does
    return Cut(rows, tiles, span, max(1, cdiv(keys, span)))


def _keys_of(launch: Launch, rows: int) -> int:
    """Return how many keys a tile of rows goes over at most, from a multiple of 64 on."""
    p = launch.problem
    left, right = sides(p)
    if left is None or right is None:
        return p.kv_len
    return min(p.kv_len, left + right + cdiv(rows - 1, p.group) + 64)


def fits(launch: Launch, cut: Cut) -> bool:
    """Return whether this way is better.

    It is where tiles hold the rows of several heads, and where tiles are fewer than multiprocessors
    and keys are many enough to be split among those.
    """
    p = launch.problem
    better = p.q_len <= cut.rows or cut.segments >= _LEAST_SEGMENTS
    return better and p.q_len * p.group <= _MOST_ROWS


def run(launch: Launch, room: Room, strip: Strip, cut: Cut) -> None:
    """Launch the kernels for a strip of whole groups of heads."""
    p, s = launch.problem, launch.switches
    keys_at_once = 32 if launch.inputs.query.element_size() * max(s.head, s.blend) > 256 else 64
    pairs, first = strip.pairs // p.group, strip.pair // p.group
    parts = Parts()
    if cut.segments > 1:
        shape = (pairs, cut.tiles, cut.segments, cut.rows)
        acc = None if room.out is None else launch.empty(*shape, s.blend)
        parts = Parts(acc, launch.empty(4, *shape))
    launch.start(
        parts_kernel, pairs * cut.tiles * cut.segments, parts,
        room if cut.segments == 1 else Room(), strip.maxima, first, cut.span,
        cut.segments, cdiv(p.kv_len, CHUNK), ROWS=cut.rows, KEYS=keys_at_once,
        STAGES=_stages(launch, cut.rows, keys_at_once), PARTS=strip.parts, num_warps=4,
    )  # fmt: skip
    if cut.segments > 1:
        merged = power_of_2(cut.segments)
        launch.start(
            merge_kernel, pairs * p.group * p.q_len, parts, room, first, cut.segments,
            ROWS=cut.rows, SEGMENTS=merged, num_warps=4 if merged * s.blend <= 2**14 else 8,
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
