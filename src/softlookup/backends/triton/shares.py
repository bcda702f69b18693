"""Each row's share of every group of keys and of every bin of distance: a second pass over q . k.

A program takes a tile of rows over the keys that they see, with the rows' normaliser. Weights meet
the members of a group in a product of their own; a tile of keys meets one bin of distance, or two,
unless it lies at the rows' own position.
"""

from typing import Any, NamedTuple

import numpy as np
import triton
import triton.language as tl

from softlookup.backends.triton.launch import Launch, cdiv, padded_dim
from softlookup.backends.triton.row_states import cut, tiles_of
from softlookup.backends.triton.scores import (
    key_range,
    key_tile,
    limits_of,
    place_of,
    query_tile,
    seen_scores,
    sizes_of,
    weights_of,
)
from softlookup.facts import Facts

_ROWS, _KEYS = 64, 32  # small tiles: weights are held beside what is counted
_GROUPS = 32  # that a program counts
_PART = 2**11  # keys of a part, at least


class Counted(NamedTuple):
    """What is counted, and where it goes; None is not wanted.

    Attributes
    ----------
    labels : tensor of int32 of shape (1 or batch, kv_len)
    own_labels : int
        kv_len where each batch entry has its own, else 0.
    groups : tensor (parts, batch, heads, q_len, group_count)
    offsets : tensor of int64 of shape (batch,)
        Position of row 0.
    distance : tensor (parts, batch, heads, q_len, bin_count)
    group_count, bin_count : int
    """

    labels: Any = None
    own_labels: int = 0
    groups: Any = None
    offsets: Any = None
    distance: Any = None
    group_count: int = 0
    bin_count: int = 0


@triton.jit
def bin_of(distance):
    """Return the bin of one distance: how many bits its number has."""
    bits = tl.full([64], 1, tl.int64) << tl.minimum(tl.arange(0, 64), 62).to(tl.int64)
    return tl.sum((tl.abs(distance) >= bits).to(tl.int32) * (tl.arange(0, 64) < 62), 0)


@triton.jit
def near(number):
    """Return an int64 number as an int32: beyond +-2**30, where no tile reaches, 2**30 serves."""
    return tl.minimum(tl.maximum(number, -(1 << 30)), 1 << 30).to(tl.int32)


@triton.jit
def add_bins(sums, weights, gap, ROWS: tl.constexpr, KEYS: tl.constexpr, BINS: tl.constexpr):
    """Add the weights of a tile to the bins that it meets.

    `gap` (int64) is the position of the tile's first row less that of its first key.
    """
    left, right = gap - (KEYS - 1), gap + (ROWS - 1)  # the ends of row position - key
    across = (left <= 0) & (right >= 0)
    low = bin_of(tl.where(across, 0, tl.minimum(tl.abs(left), tl.abs(right))))
    high = bin_of(tl.maximum(tl.abs(left), tl.abs(right)))
    step = tl.arange(0, ROWS)[:, None] - tl.arange(0, KEYS)[None, :]  # position - key is gap + step
    for each in tl.range(low, high + 1):
        end = (tl.abs(gap) * 0 + 1) << each  # distances end // 2 ... end - 1
        inside = (step >= near(end // 2 - gap)) & (step <= near(end - 1 - gap))
        before = (step >= near(1 - end - gap)) & (step <= near(-(end // 2) - gap))
        part = tl.sum(tl.where(inside | before, weights, 0.0), 1)
        sums += tl.where((tl.arange(0, BINS) == each)[None, :], part[:, None], 0.0)
    return sums


@triton.jit
def add_members(groups, weights, members):
    """Add ``weights @ members`` in three products whose every factor has the bits of a tf32."""
    left = weights
    for _ in tl.static_range(3):
        part = (left.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)  # 11 bits
        groups = tl.dot(part, members, groups, input_precision="tf32")
        left = left - part
    return groups


@triton.jit(do_not_specialize=["tiles", "parts", "length"])
def shares_kernel(
    x, n, shift, factor, counted, tiles, parts, length,
    ROWS: tl.constexpr, KEYS: tl.constexpr, GROUPS: tl.constexpr, BINS: tl.constexpr,
    S: tl.constexpr,
):  # fmt: skip
    """Put the shares of rows over each part of the keys into the rooms of `counted`.

    A program counts GROUPS labels, and all BINS.
    """
    n = sizes_of(n)
    lots = tl.maximum(tl.cdiv(counted.group_count, GROUPS), 1)
    whole, batch, head, kv_head = place_of(tl.program_id(0), tiles * lots * parts, n)
    row, lot, part = whole % tiles * ROWS, whole // tiles % lots, whole // tiles // lots
    first, last, limit = limits_of(x, n, batch, S)
    low, high, _, _ = key_range(first, last, limit, row, tl.minimum(row + ROWS, n.q_len), S)
    low = tl.maximum(low // KEYS * KEYS, part * length)
    high = tl.minimum(high, (part + 1) * length)
    i = row + tl.arange(0, ROWS)
    there = i < n.q_len
    at = (batch * n.heads + head).to(tl.int64) * n.q_len + i
    own_shift = tl.load(shift + at, mask=there, other=0.0)
    own_factor = tl.load(factor + at, mask=there, other=0.0)
    q = query_tile(x, n, batch, head, row, ROWS, S)
    groups = tl.zeros([ROWS, GROUPS], tl.float32)
    bins = tl.zeros([ROWS, BINS], tl.float32)
    label = lot * GROUPS + tl.arange(0, GROUPS)
    for key in tl.range(low, high, KEYS):
        k = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
        products = tl.dot(q, k.T, input_precision=S.precision)
        j = key + tl.arange(0, KEYS)
        scores, sees = seen_scores(
            products, x, n, batch, head, i[:, None], j[None, :], first, last, limit, S
        )
        weights = weights_of(scores, sees, own_shift[:, None], own_factor[:, None], n, S)
        if counted.groups is not None:
            own = counted.labels + batch.to(tl.int64) * counted.own_labels + j
            labels = tl.load(own, mask=j < limit, other=-1)
            members = (labels[:, None] == label[None, :]).to(tl.float32)
            groups = add_members(groups, weights, members)
        if counted.distance is not None:
            position = tl.load(counted.offsets + batch)
            bins = add_bins(bins, weights, position + row - key, ROWS, KEYS, BINS)
    lost = (own_factor * 0)[:, None]  # a row that is NaN is so in every share
    at += part.to(tl.int64) * (tl.num_programs(0) // (tiles * lots * parts)) * n.q_len
    if counted.groups is not None:
        to = counted.groups + at[:, None] * counted.group_count + label[None, :]
        inside = there[:, None] & (label < counted.group_count)[None, :]
        tl.store(to, groups + lost, mask=inside)
    if counted.distance is not None:
        each = tl.arange(0, BINS)
        to = counted.distance + at[:, None] * counted.bin_count + each[None, :]
        inside = there[:, None] & (each < counted.bin_count)[None, :] & (lot == 0)
        tl.store(to, bins + lost, mask=inside)


def shares_of(launch: Launch, shift: Any, factor: Any, facts: Facts) -> tuple[Any, Any]:
    """Return the shares of groups and of bins that `facts` asks for, or None for each.

    `shift` and `factor` are the rows' normaliser, tensors (batch, heads, q_len), contiguous.
    """
    problem, size = launch.problem, min(tiles_of(launch).still, _ROWS)
    tiles, pairs = cdiv(problem.q_len, size), problem.batch * problem.heads
    parts, length = cut(problem.kv_len, tiles * pairs, _PART, _KEYS)
    rows = parts, problem.batch, problem.heads, problem.q_len
    counted = Counted(group_count=facts.groups, bin_count=facts.bins or 0)
    if facts.labels is not None:
        labels = np.maximum(facts.labels, -1).astype(np.int32)
        counted = counted._replace(
            labels=launch.sent(labels),
            own_labels=problem.kv_len if len(labels) > 1 else 0,
            groups=launch.empty(*rows, facts.groups),
        )
    if facts.bins is not None:
        offsets = problem.q_offset
        if offsets is None:  # then there is no pair, or the lengths are equal
            offsets = np.zeros(problem.batch, np.int64)
        counted = counted._replace(
            offsets=launch.sent(offsets), distance=launch.empty(*rows, facts.bins)
        )
    if tiles * pairs and (facts.groups or facts.bins):
        lots = max(cdiv(facts.groups, _GROUPS), 1)
        shares_kernel[(tiles * lots * parts * pairs,)](
            launch.inputs, launch.sizes, shift, factor, counted, tiles, parts, length,
            size, _KEYS, min(_GROUPS, padded_dim(facts.groups)), padded_dim(facts.bins or 0),
            launch.switches, num_warps=4 if size > 32 else 8, num_stages=2,
        )  # fmt: skip
    return _whole(counted.groups), _whole(counted.distance)


def _whole(sums: Any) -> Any:
    """Return the sums of all parts, in their order."""
    if sums is None or len(sums) == 1:
        return None if sums is None else sums[0]
    return sums.sum(0)
