"""What chosen rows are over all keys: their `Normaliser`, lse and entropy.

Rows are listed, so that they may be any. A program takes a tile of them over a part of the keys;
parts are fixed in length, and a second kernel merges them in their order: what a row is does not
depend on which others are asked for.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from softlookup.backends.triton.launch import Launch, cdiv
from softlookup.backends.triton.running import FAINT, Room, advance, finish, log_step
from softlookup.backends.triton.scores import (
    LOWEST,
    capped_of,
    interval_of,
    key_tile,
    limits_of,
    peak_of,
    place_of,
    queries,
    seen_scores,
    sizes_of,
)

PART = 2**14  # keys of a part: enough parts to fill a GPU where rows are few
PROGRAMS = 512  # that fill one


class Tiles(NamedTuple):
    """How a kernel cuts its work.

    Attributes
    ----------
    still, moving : int
        Length of a tile along the axis that stays, and along the one that is walked.
    warps, stages : int
        Of a program; how many moving tiles are on their way at once.
    """

    still: int
    moving: int
    warps: int
    stages: int


def tiles_of(launch: Launch) -> Tiles:
    """Return tiles that fit into the shared memory and the registers of any GPU."""
    dim = launch.switches.head
    laid_over = launch.switches.masked or launch.switches.biased  # their tiles take room, too
    if launch.inputs.query.element_size() == 4:  # its products hold three times as many registers
        if dim <= 64:
            return Tiles(64, 64, 8, 2)
        return Tiles(64, 32, 8, 2) if dim <= 128 else Tiles(32, 32, 8, 1 if laid_over else 2)
    if dim > 128:
        return Tiles(64, 64, 4, 2)
    return Tiles(128, 32 if laid_over else 64, 8, 3)


def cut(length: int, programs: int, least: int, step: int = 1) -> tuple[int, int]:
    """Return how many parts a walk is cut into where programs are few, and their length.

    No more of them than there would be of `least`; their length is a multiple of `step`.
    """
    wanted = cdiv(PROGRAMS, max(programs, 1))
    parts = max(min(wanted, cdiv(length, least)), 1)
    return parts, max(cdiv(cdiv(length, parts), step), 1) * step


class States(NamedTuple):
    """What listed rows are, each a tensor (batch * heads, rows); 0 where there is no such row."""

    shift: Any
    factor: Any
    lse: Any
    entropy: Any


@triton.jit
def keys_of_rows(i, first, last, limit, n, S: tl.constexpr):
    """Return `interval_of` rows; (kv_len, 0) past the last one."""
    start, stop = interval_of(i, first, last, limit, S)
    there = i < n.q_len
    return tl.where(there, start, n.kv_len), tl.where(there, stop, 0)


@triton.jit
def plain_keys(i, start, stop, low, high, n, KEYS: tl.constexpr, S: tl.constexpr):
    """Return where, in whole tiles from `low` on, every row sees every key: low <= j < high."""
    there = i < n.q_len
    free_low = low
    if S.left:
        free_low = tl.max(tl.where(there, start, 0), 0)
        free_low = tl.minimum(low + tl.cdiv(tl.maximum(free_low - low, 0), KEYS) * KEYS, high)
    free_high = tl.minimum(tl.min(tl.where(there, stop, n.kv_len), 0), high)
    free_high = free_low + tl.maximum(free_high - free_low, 0) // KEYS * KEYS
    return free_low, free_high


@triton.jit
def walk(
    state, q, x, n, batch, head, kv_head, i, low, high, limits,
    KEYS: tl.constexpr, HIDES: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Take the keys low <= j < high into the state of rows; HIDES where some may be hidden."""
    total, shift, mixed, seen = state
    first, last, limit = limits
    for key in tl.range(low, high, KEYS):
        k = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        if HIDES:
            j = key + tl.arange(0, KEYS)[None, :]
            scores, sees = seen_scores(
                products, x, n, batch, head, i[:, None], j, first, last, limit, S
            )
            if S.masked or S.biased:
                seen = tl.maximum(seen, tl.max(sees.to(tl.int32), 1))
        else:
            scores = capped_of(products, n, S)
        peak = peak_of(scores, n, S)
        _, _, total, shift, mixed = advance(scores, peak, total, shift, mixed, n, True, True, S)
    return total, shift, mixed, seen


@triton.jit(do_not_specialize=["count", "parts"])
def states_kernel(
    x, n, rows, count, parts, room,
    ROWS: tl.constexpr, KEYS: tl.constexpr, LENGTH: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Put the state of rows over each part into `room`, (total, shift, mixed, seen)."""
    n = sizes_of(n)
    tiles = tl.cdiv(count, ROWS)
    whole, batch, head, kv_head = place_of(tl.program_id(0), tiles * parts, n)
    tile, part = whole % tiles, whole // tiles
    limits = limits_of(x, n, batch, S)
    first, last, limit = limits
    at = tile * ROWS + tl.arange(0, ROWS)
    i = tl.load(rows + at, mask=at < count, other=n.q_len)
    start, stop = keys_of_rows(i, first, last, limit, n, S)
    start = tl.maximum(start, part * LENGTH)
    stop = tl.minimum(stop, (part + 1) * LENGTH)
    low = tl.min(start, 0) // KEYS * KEYS
    high = tl.max(stop, 0)
    q = queries(x, n, batch, head, i, S)
    total = tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS], tl.float32)
    shift = tl.full([ROWS], LOWEST, tl.float32)
    if S.masked or S.biased:
        state = (total, shift, mixed, tl.zeros([ROWS], tl.int32))
        state = walk(state, q, x, n, batch, head, kv_head, i, low, high, limits, KEYS, True, S)
    else:
        free, end = plain_keys(i, start, stop, low, high, n, KEYS, S)
        state = (total, shift, mixed, (start < stop).to(tl.int32))
        if S.left:
            state = walk(state, q, x, n, batch, head, kv_head, i, low, free, limits, KEYS, True, S)
        state = walk(state, q, x, n, batch, head, kv_head, i, free, end, limits, KEYS, False, S)
        state = walk(state, q, x, n, batch, head, kv_head, i, end, high, limits, KEYS, True, S)
    total, shift, mixed, seen = state
    pairs = tl.num_programs(0) // (tiles * parts)
    pair = tl.program_id(0) // (tiles * parts)
    each = (parts * pairs).to(tl.int64) * count
    to = room + (part * pairs + pair).to(tl.int64) * count + at
    there = at < count
    tl.store(to, total, mask=there)
    tl.store(to + each, shift, mask=there)
    tl.store(to + 2 * each, mixed, mask=there)
    tl.store(to + 3 * each, seen.to(tl.float32), mask=there)


@triton.jit(do_not_specialize=["count", "parts"])
def settle_kernel(x, n, rows, count, parts, room, found, ROWS: tl.constexpr, S: tl.constexpr):
    """Merge the parts of rows in their order, and finish."""
    n = sizes_of(n)
    tiles = tl.cdiv(count, ROWS)
    tile, _batch, head, _kv_head = place_of(tl.program_id(0), tiles, n)
    pairs = tl.num_programs(0) // tiles
    pair = tl.program_id(0) // tiles
    at = tile * ROWS + tl.arange(0, ROWS)
    exists = at < count
    total = tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS], tl.float32)
    shift = tl.full([ROWS], LOWEST, tl.float32)
    seen = tl.zeros([ROWS], tl.float32)
    each = (tl.zeros([1], tl.int64) + parts) * pairs * count
    for part in tl.range(parts):
        of = room + (tl.zeros([1], tl.int64) + part * pairs + pair) * count + at
        more = tl.load(of, mask=exists, other=0.0)
        own = tl.load(of + each, mask=exists, other=LOWEST)
        terms = tl.load(of + 2 * each, mask=exists, other=0.0)
        seen = tl.maximum(seen, tl.load(of + 3 * each, mask=exists, other=0.0))
        new = tl.maximum(shift, own)
        left, right = log_step(shift, new, S), log_step(own, new, S)
        mixed = tl.fma(total, tl.maximum(left, FAINT), mixed) * tl.exp2(left)
        mixed += tl.fma(more, tl.maximum(right, FAINT), terms) * tl.exp2(right)
        total = total * tl.exp2(left) + more * tl.exp2(right)
        shift = new
    there = exists & (tl.load(rows + at, mask=exists, other=n.q_len) < n.q_len)
    to = (tl.zeros([1], tl.int64) + pair) * count + at
    finish(None, total, shift, mixed, seen > 0, to, there, head, x, n, found, S)


def states_of(launch: Launch, rows: Any) -> States:
    """Return what `rows` are, a tensor of int32; q_len stands for no row."""
    problem, count = launch.problem, rows.numel()
    pairs = problem.batch * problem.heads
    cells = cdiv(pairs * count, 4) * 4  # each begins at 16 bytes: one kernel for all lengths
    found = States(
        *(part[: pairs * count].view(pairs, count) for part in launch.empty(4, cells).zero_())
    )
    if not found.lse.numel():
        return found
    tiles, parts = tiles_of(launch), cdiv(problem.kv_len, PART)
    room = launch.empty(4, parts, pairs, count)
    x, n, switches = launch.inputs, launch.sizes, launch.switches
    if parts:
        states_kernel[(cdiv(count, tiles.still) * parts * pairs,)](
            x, n, rows, count, parts, room, tiles.still, tiles.moving, PART, switches,
            num_warps=tiles.warps, num_stages=tiles.stages,
        )  # fmt: skip
    settle_kernel[(cdiv(count, 256) * pairs,)](
        x, n, rows, count, parts, room, Room(**found._asdict()), 256, switches
    )
    return found
