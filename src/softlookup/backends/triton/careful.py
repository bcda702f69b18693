"""The same lookup where numbers are not finite: an output, an entropy, of flagged heads alone.

A hidden value contributes nothing, whatever it holds, and a visible NaN or infinity shows in its
own column; a product with 0 would spread it. The kernels that answer flag what they could not tell,
and this one follows each of them, so that nobody waits for the device to say so: a few programs,
which look at the flags, and go over the rows of those kv heads alone whose flag is set.
"""

import triton
import triton.language as tl

from softlookup.backends.triton.launch import Launch, cdiv, multiprocessors
from softlookup.backends.triton.running import Room, advance, finish
from softlookup.backends.triton.scores import (
    LOWEST,
    key_range,
    key_tile,
    limits_of,
    peak_of,
    query_tile,
    seen_scores,
    sizes_of,
    value_tile,
)

_ROWS, _KEYS = 16, 32
_AT_ONCE = tl.constexpr(128)  # flags
_INTERPRETED = 4  # multiprocessors, where there are none


@triton.jit
def _added(amounts, holds, counts, dtype: tl.constexpr):
    """Return `counts` and for every row and column the number of keys where both are set."""
    return tl.dot(amounts.to(dtype), holds.to(dtype), counts, input_precision="ieee")


@triton.jit
def _answer(
    x, n, batch, head, row, wrong, faint, room, other, ROWS: tl.constexpr, KEYS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Store what the flags that are set ask for of the rows from `row` on, of one head."""
    kv_head = head // n.group
    first, last, limit = limits_of(x, n, batch, S)
    stop = tl.minimum(row + ROWS, n.q_len)
    low, high, _, _ = key_range(first, last, limit, row, stop, S)
    i = row + tl.arange(0, ROWS)
    q = query_tile(x, n, batch, head, row, ROWS, S)
    total = tl.zeros([ROWS], tl.float32)
    shift = tl.full([ROWS], LOWEST, tl.float32)
    mixed = tl.zeros([ROWS], tl.float32)
    seen = tl.zeros([ROWS], tl.int32)
    BLEND: tl.constexpr = S.blend
    acc = tl.zeros([ROWS, BLEND], tl.float32)
    missing = tl.zeros([ROWS, BLEND], tl.float32)
    above = tl.zeros([ROWS, BLEND], tl.float32)
    below = tl.zeros([ROWS, BLEND], tl.float32)
    for key in range(low // KEYS * KEYS, high, KEYS):
        k = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        j = key + tl.arange(0, KEYS)
        scores, sees = seen_scores(
            products, x, n, batch, head, i[:, None], j[None, :], first, last, limit, S
        )
        seen = tl.maximum(seen, tl.max(sees.to(tl.int32), 1))
        exps, keep, total, shift, mixed = advance(
            scores, peak_of(scores, n, S), total, shift, mixed, n, True, True, S
        )
        if room.out is not None:
            v = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
            number = v.to(tl.float32)
            lost = (keep == 0)[:, None]  # so is what their infinite values were multiplied by
            missing = tl.where(lost, missing + above + below, missing)
            above = tl.where(lost, 0.0, above)
            below = tl.where(lost, 0.0, below)
            finite = tl.abs(number) < float("inf")
            some = sees & (exps > 0)
            none = sees & ~(exps > 0)
            tame = tl.where(finite, v, 0.0).to(v.dtype)
            acc = tl.dot(exps.to(v.dtype), tame, acc * keep[:, None], input_precision=S.precision)
            missing = _added(sees, number != number, missing, v.dtype)
            missing = _added(none, ~finite, missing, v.dtype)
            above = _added(some, number == float("inf"), above, v.dtype)
            below = _added(some, number == float("-inf"), below, v.dtype)
    if room.out is not None:
        acc = tl.where(above > 0, acc + float("inf"), acc)
        acc = tl.where(below > 0, acc - float("inf"), acc)
        acc = tl.where(missing > 0, float("nan"), acc)
    at = (batch * n.heads + head).to(tl.int64) * n.q_len + i
    if wrong != 0:
        finish(acc, total, shift, mixed, seen > 0, at, i < stop, head, x, n, room, S)
    if faint != 0:
        finish(acc, total, shift, mixed, seen > 0, at, i < stop, head, x, n, other, S)


@triton.jit
def _flag(flags, pair):
    if flags is None:
        return 0
    else:
        return tl.load(flags + pair)


@triton.jit(do_not_specialize=["pairs"])
def careful_kernel(
    x, n, room, other, pairs, ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr
):
    """Answer the rows of those of `pairs` kv heads that are flagged, all programs each of them."""
    n = sizes_of(n)
    kv_heads = n.heads // n.group
    tiles = tl.cdiv(n.q_len, ROWS)
    program, programs = tl.program_id(0), tl.num_programs(0)
    for start in range(0, pairs, _AT_ONCE):
        some = tl.minimum(start + tl.arange(0, _AT_ONCE), pairs - 1)
        flagged = tl.max(_flag(room.spoilt, some) | _flag(other.faint, some), 0)
        if flagged != 0:
            for pair in range(start, tl.minimum(start + _AT_ONCE, pairs)):
                wrong, faint = _flag(room.spoilt, pair), _flag(other.faint, pair)
                if (wrong != 0) | (faint != 0):
                    for work in range((program + pair) % programs, tiles * n.group, programs):
                        head, row = pair % kv_heads * n.group + work // tiles, work % tiles * ROWS
                        _answer(
                            x, n, pair // kv_heads, head, row, wrong, faint, room, other, ROWS,
                            KEYS, S,
                        )  # fmt: skip


def mend(launch: Launch, room: Room) -> None:
    """Compute once more what is flagged in `room`: outputs and entropies, each where it was."""
    _run(
        launch,
        Room(out=room.out, spoilt=room.spoilt),
        Room(entropy=room.entropy, faint=room.faint),
    )


def answer_again(launch: Launch, room: Room) -> None:
    """Compute all that `room` has a place for, in kv heads that its flag `spoilt` names."""
    _run(launch, room, Room())


def _run(launch: Launch, room: Room, other: Room) -> None:
    """Launch as many programs as the registers of all multiprocessors hold at once: one on each."""
    if room.spoilt is None and other.faint is None:
        return
    p = launch.problem
    pairs = p.batch * p.kv_heads
    most = multiprocessors(launch.device, _INTERPRETED)
    launch.start(
        careful_kernel, min(most, pairs * cdiv(p.q_len, _ROWS) * p.group), room, other, pairs,
        ROWS=_ROWS, KEYS=_KEYS, num_warps=8, num_stages=1,
    )  # fmt: skip
