"""What all kernels share: loads of tiles, their scores, and which keys their rows see.

Kernels are handed pointers with strides, numbers and switches, as `launch` makes them: `x`, `n` and
`S` here. Scores come in one of two units. Without softcap and bias, and with a scale > 0, a kernel
keeps the raw products (`S.raw`), and scale and the change to base 2 cost one multiplication within
the exponent; else scores are natural ones. `peak_of`, `exps_of`, `natural` and `in_units` know
which.
"""

from math import e as euler
from math import log2

import triton
import triton.language as tl

from softlookup.backends.triton.launch import Sizes

LOG2E = tl.constexpr(log2(euler))
LN2 = tl.constexpr(1 / log2(euler))
LOWEST = tl.constexpr(-3.4028234663852886e38)  # finite: -inf less it stays -inf, and is no NaN


@triton.jit
def sizes_of(n):
    """Return the numbers of a call as they are: what a kernel does with `n` before all else."""
    q_len = _decoded(n.q_len)
    return Sizes(
        n.heads, n.group, q_len, _decoded(n.kv_len), n.head_dim, n.value_dim,
        _decoded(n.first) - q_len, _decoded(n.last) - q_len, _decoded(n.limit),
        n.scale, n.softcap, n.unit,
    )  # fmt: skip


@triton.jit
def _decoded(number):
    return ((number - 3) >> 1).to(tl.int32)


@triton.jit
def place_of(program, tiles, n):
    """Return row tile, batch entry, head and kv head of a program; tiles of a head lie together."""
    pair = program // tiles
    head = pair % n.heads
    return program % tiles, pair // n.heads, head, head // n.group


@triton.jit
def limits_of(x, n, batch, S: tl.constexpr):
    """Return first, last and limit of a batch entry; see `Sizes`."""
    if S.varied:
        at = x.limits + batch * 3
        return tl.load(at), tl.load(at + 1), tl.load(at + 2)
    else:
        return n.first, n.last, n.limit


@triton.jit
def key_range(first, last, limit, row, stop, S: tl.constexpr):
    """Return the keys that some of the rows row <= i < stop see, and those that all of them see.

    As (low, high, free_low, free_high); a mask or a bias may hide further keys of both.
    """
    low = 0
    free_low = 0
    high = limit
    free_high = limit
    if S.left:
        low = tl.maximum(row + first, 0)
        free_low = tl.maximum(stop - 1 + first, 0)
    if S.right:
        high = tl.minimum(stop - 1 + last, limit)
        free_high = tl.minimum(row + last, limit)
    return low, high, free_low, free_high


@triton.jit
def row_range(first, last, key, stop, n, S: tl.constexpr):
    """Return the rows that see some of the keys key <= j < stop, and those that see all of them.

    As (low, high, free_low, free_high), for kernels that go over rows.
    """
    low = 0
    free_low = 0
    high = n.q_len
    free_high = n.q_len
    if S.right:  # key < i + last
        low = tl.maximum(key - last + 1, 0)
        free_low = tl.maximum(stop - last, 0)
    if S.left:  # i + first <= key
        high = tl.minimum(stop - first, n.q_len)
        free_high = tl.minimum(key - first + 1, n.q_len)
    return low, high, free_low, free_high


@triton.jit
def rows_at(start, row_stride, dim_stride, i, there, dim, DIM: tl.constexpr):
    """Load the rows `i` of a matrix, (len(i), DIM); 0 where not `there`, and from `dim` on."""
    d = tl.arange(0, DIM)[None, :]
    at = start + i.to(tl.int64)[:, None] * row_stride + d.to(tl.int64) * dim_stride
    return tl.load(at, mask=there[:, None] & (d < dim), other=0.0)


@triton.jit
def queries(x, n, batch, head, i, S: tl.constexpr):
    """Load the queries `i`, a vector, of a head, (len(i), S.head); 0 from q_len on."""
    start = x.query + batch.to(tl.int64) * x.q_batch + head.to(tl.int64) * x.q_head
    return rows_at(start, x.q_row, x.q_dim, i, i < n.q_len, n.head_dim, S.head)


@triton.jit
def keys(x, n, batch, kv_head, j, there, S: tl.constexpr):
    """Load the keys `j`, a vector, of a kv head, (len(j), S.head); 0 where not `there`."""
    start = x.key + batch.to(tl.int64) * x.k_batch + kv_head.to(tl.int64) * x.k_head
    return rows_at(start, x.k_row, x.k_dim, j, there, n.head_dim, S.head)


@triton.jit
def values(x, n, batch, kv_head, j, there, S: tl.constexpr):
    """Load the values of the keys `j`, (len(j), S.blend); 0 where not `there`."""
    start = x.value + batch.to(tl.int64) * x.v_batch + kv_head.to(tl.int64) * x.v_head
    return rows_at(start, x.v_row, x.v_dim, j, there, n.value_dim, S.blend)


@triton.jit
def query_tile(x, n, batch, head, row, ROWS: tl.constexpr, S: tl.constexpr):
    """Load queries row ... row + ROWS of a head, (ROWS, S.head)."""
    return queries(x, n, batch, head, row + tl.arange(0, ROWS), S)


@triton.jit
def key_tile(x, n, batch, kv_head, key, limit, KEYS: tl.constexpr, S: tl.constexpr):
    """Load keys key ... key + KEYS of a kv head, (KEYS, S.head); 0 from `limit` on."""
    j = key + tl.arange(0, KEYS)
    return keys(x, n, batch, kv_head, j, j < limit, S)


@triton.jit
def value_tile(x, n, batch, kv_head, key, limit, KEYS: tl.constexpr, S: tl.constexpr):
    """Load values key ... key + KEYS of a kv head, (KEYS, S.blend); 0 from `limit` on."""
    j = key + tl.arange(0, KEYS)
    return values(x, n, batch, kv_head, j, j < limit, S)


@triton.jit
def within(i, j, first, last, limit, n, S: tl.constexpr):
    """Return which of the pairs of row i and key j lie in the row's interval, and exist."""
    inside = (i < n.q_len) & (j < limit)
    if S.left:
        inside = inside & (j >= i + first)
    if S.right:
        inside = inside & (j < i + last)
    return inside


@triton.jit
def interval_of(i, first, last, limit, S: tl.constexpr):
    """Return each row's keys, low <= j < high; a mask or a bias may hide further ones."""
    low = tl.zeros_like(i)
    high = low + limit
    if S.left:
        low = tl.maximum(i + first, 0)
    if S.right:
        high = tl.minimum(i + last, high)
    return low, high


@triton.jit
def within_limits(i, first, last, limit, S: tl.constexpr):
    """Return which rows' intervals hold a key; see `Sizes`."""
    low, high = interval_of(i, first, last, limit, S)
    return low < high


@triton.jit
def tanh_of(t):
    """Return the hyperbolic tangent, right to two roundings, near 0 too."""
    z = t * t
    series = -0.005138736683875322 * z + 0.02009161375463009
    series = series * z + -0.05355844646692276
    series = series * z + 0.13329097628593445
    series = series * z + -0.3333318829536438
    power = tl.exp2(tl.minimum(tl.abs(t), 40.0) * (2 * LOG2E))
    far = 1 - 2 / (1 + power)
    far = tl.where(t < 0, -far, far)
    near = tl.where(tl.abs(t) < 0.7, t + t * z * series, far)
    return tl.where(t == t, near, t)


@triton.jit
def capped_of(products, n, S: tl.constexpr):
    """Return scores before bias and visibility: raw products, or natural ones."""
    if S.raw:
        return products
    else:
        scaled = products * n.scale
        if S.capped:
            scaled = n.softcap * tanh_of(scaled / n.softcap)
        return scaled


@triton.jit
def overlay_at(entry, batch, head, i, j, head_stride, row_stride, key_stride):
    """Return where a mask or bias keeps its number for head, row i and key j."""
    at = i.to(tl.int64) * row_stride + j.to(tl.int64) * key_stride
    at += head.to(tl.int64) * head_stride
    if entry is not None:
        at += tl.load(entry + batch)
    return at


@triton.jit
def seen_scores(products, x, n, batch, head, i, j, first, last, limit, S: tl.constexpr):
    """Return the scores of pairs, -inf where hidden, and which pairs are visible.

    `i` and `j` are rows and keys of any shapes that broadcast to that of the products, so that a
    kernel may keep its tile either way round.
    """
    sees = within(i, j, first, last, limit, n, S)
    scores = capped_of(products, n, S)
    if S.masked:
        at = overlay_at(x.mask_entry, batch, head, i, j, x.m_head, x.m_row, x.m_key)
        sees = sees & (tl.load(x.mask + at, mask=sees, other=0) != 0)
    if S.biased:
        at = overlay_at(x.bias_entry, batch, head, i, j, x.b_head, x.b_row, x.b_key)
        extra = tl.load(x.bias + at, mask=sees, other=0.0).to(tl.float32)
        sees = sees & (extra != float("-inf"))
        scores = scores + extra
    return tl.where(sees, scores, float("-inf")), sees


@triton.jit
def peak_of(scores, n, S: tl.constexpr, axis: tl.constexpr = 1):
    """Return the largest score of each row, in units; a NaN is passed over."""
    most = tl.max(scores, axis)
    if S.raw:
        most = most * n.unit
    return most


@triton.jit
def logs_of(scores, shift, n, S: tl.constexpr):
    """Return the logarithm of base 2 of exp(score - shift); `shift` is in units."""
    if S.raw:
        return tl.fma(scores, n.unit + tl.zeros_like(scores), -shift)
    else:
        return (scores - shift) * LOG2E


@triton.jit
def exps_of(scores, shift, n, S: tl.constexpr):
    """Return exp(score - shift); `shift` is in units, of a shape that broadcasts."""
    return tl.exp2(logs_of(scores, shift, n, S))


@triton.jit
def natural(number, S: tl.constexpr):
    """Return a number in units as a natural one."""
    if S.raw:
        return number * LN2
    else:
        return number


@triton.jit
def in_units(number, S: tl.constexpr):
    """Return a natural number (a row's shift, a sink) in units, rounded: no sum takes it in."""
    if S.raw:
        return tl.fma(number, tl.full(number.shape, LOG2E, tl.float32), tl.zeros_like(number))
    else:
        return number


@triton.jit
def weights_of(scores, sees, shift, factor, n, S: tl.constexpr):
    """Return weights from a row's `Normaliser`: shift (natural) and factor; 0 where hidden.

    The four broadcast. Where all pairs of a tile are visible, leave out `sees` (None).
    """
    weights = exps_of(scores, in_units(shift, S), n, S) * factor
    if sees is not None:
        weights = tl.where(sees, weights, 0.0)
    return weights
