"""The running state of rows while a kernel goes over keys: one step, one merge, and the end.

It is the state of `softlookup.partials`, with row_max kept in the units of `scores` and never below
a finite number, so that -inf less it is no NaN. What facts need is beside it and changes no bit of
the rest: sums and products that could be contracted into one rounding are written as `tl.fma`.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from softlookup.backends.triton.scores import (
    LN2,
    LOG2E,
    in_units,
    logs_of,
    natural,
)

FAINT = tl.constexpr(-1000.0)  # exp2 of it is 0, and 0 times it is 0, where 0 * -inf is NaN


class Room(NamedTuple):
    """Pointers to what rows become, contiguous over (batch, heads, q_len); None is not wanted.

    Attributes
    ----------
    out
        (batch, heads, q_len, value_dim), in the inputs' dtype.
    lse, shift, factor, entropy, sink, peak
        float32; shift and factor are a `Normaliser`, peak is the largest score.
    spoilt, faint
        int32 of shape (batch, kv_heads), zeros: set where a kv head needs the careful kernel, for
        its output (a value that is not finite) or for its entropy (a visible score of -inf).
    """

    out: Any = None
    lse: Any = None
    shift: Any = None
    factor: Any = None
    entropy: Any = None
    sink: Any = None
    peak: Any = None
    spoilt: Any = None
    faint: Any = None


@triton.jit
def log_step(old, new, S: tl.constexpr):
    """Return the logarithm of base 2 of exp(old - new) of two shifts."""
    if S.raw:
        return old - new
    else:
        return (old - new) * LOG2E


@triton.jit
def advance(
    scores, peak, total, shift, mixed, n, ENTROPY: tl.constexpr, HIDES: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Take scores (rows, keys) into the state of rows.

    `peak` is `peak_of` the scores; `HIDES` tells whether one may be -inf.

    Returns exps (rows, keys), what the sums so far were multiplied by, total, shift and mixed, the
    sum of e * log2(e).
    """
    new = tl.maximum(shift, peak)
    logs = logs_of(scores, new[:, None], n, S)
    exps = tl.exp2(logs)
    step = log_step(shift, new, S)
    keep = tl.exp2(step)
    if ENTROPY:
        if HIDES:
            logs = tl.maximum(logs, FAINT)
        mixed = tl.fma(total, tl.maximum(step, FAINT), mixed) * keep + tl.sum(exps * logs, 1)
    total = tl.fma(total, keep, tl.sum(exps, 1))
    return exps, keep, total, new, mixed


@triton.jit
def with_sink(logit, total, shift, mixed, counted, S: tl.constexpr):
    """Take a logit (in units) into the denominator.

    Returns what the sums were multiplied by, the sink's own e, total, shift, mixed, counted.
    """
    new = tl.maximum(shift, logit)
    step = log_step(shift, new, S)
    keep = tl.exp2(step)
    own = tl.exp2(log_step(logit, new, S))
    mixed = tl.fma(counted, tl.maximum(step, FAINT), mixed) * keep
    return keep, own, tl.fma(total, keep, own), new, mixed, counted * keep


@triton.jit
def finish(acc, total, shift, mixed, seen, at, there, head, x, n, room, S: tl.constexpr):
    """Store everything that is wanted of rows whose state is whole.

    `at` is where each row lies, `there` whether it exists, `seen` whether it sees a key; `head` may
    be one for each row.
    """
    counted, before, low = total, total, shift
    keep = tl.full(total.shape, 1.0, tl.float32)
    if S.sinks:
        logit = in_units(tl.load(x.sinks + head), S) + tl.zeros_like(total)
        keep, own, total, shift, mixed, counted = with_sink(logit, total, shift, mixed, total, S)
        if room.sink is not None:
            tl.store(room.sink + at, tl.where(seen, own / total, 1.0), mask=there)
    if room.lse is not None:
        lse = tl.fma(tl.log2(total), tl.full(total.shape, LN2, tl.float32), natural(shift, S))
        tl.store(room.lse + at, lse, mask=there)
    if room.shift is not None:
        whole = natural(shift, S)
        rounded = log_step(shift, in_units(whole, S), S)  # what exps_of will be off by
        factor = tl.where(seen, 1.0 / (total * tl.exp2(rounded)), 0.0)
        tl.store(room.shift + at, whole, mask=there)
        tl.store(room.factor + at, factor, mask=there)
    if room.entropy is not None:
        entropy = LN2 * (tl.log2(total) * counted - mixed) / total
        entropy = tl.where(entropy < 0, 0.0, entropy)
        tl.store(room.entropy + at, tl.where(seen, entropy, 0.0), mask=there)
    if room.peak is not None:
        peak = tl.where(before == 0, float("-inf"), natural(low, S))
        peak = tl.where(total != total, total, peak)
        tl.store(room.peak + at, tl.where(seen, peak, float("-inf")), mask=there)
    if room.out is not None:
        out = tl.where(seen[:, None], acc * (keep / total)[:, None], 0.0)
        d = tl.arange(0, S.blend)[None, :]
        to = room.out + at[:, None] * n.value_dim + d
        inside = there[:, None] & (d < n.value_dim)
        tl.store(to, out.to(room.out.dtype.element_ty), mask=inside)


@triton.jit
def ask_for_care(acc, total, mixed, there, batch, kv_head, n, room):
    """Set the flags of a kv head where a value was not finite, or a visible score was -inf.

    Every row that finds it stores the same number, so that nothing is reduced over rows.
    """
    flag = batch * (n.heads // n.group) + kv_head + tl.zeros_like(there.to(tl.int32))
    known = there & (total == total)  # a row that is NaN is so by its scores
    if room.spoilt is not None:
        wrong = known & (tl.max((~(tl.abs(acc) < float("inf"))).to(tl.int32), 1) > 0)
        tl.store(room.spoilt + flag, 1, mask=wrong)
    if room.faint is not None:
        tl.store(room.faint + flag, 1, mask=known & (mixed != mixed))
