"""Kernels for gradients: one over tiles of keys, one over tiles of rows; none adds by chance.

The weights are worked out again from each row's `Normaliser`. `keys_kernel` goes over all rows of
the query heads that share a tile of keys, in order, and holds the gradients of key and value;
`rows_kernel` goes over the keys of a tile of rows and holds the query's. So no number is added to
by two programs, and every run gives the same bits, at the price of seven products where five would
do. A bias along rows and keys has a kernel of its own, which adds up whoever shares a tile; another
is summed by tiles first and by torch then.

Where all numbers are finite, a hidden pair lets nothing through by its weight 0. A kv head that is
not so, by a flag on the device, is left to a variant of the same kernels that looks at each number.
"""

from typing import Any, NamedTuple

import triton
import triton.language as tl

from softlookup.backends.triton.scores import (
    capped_of,
    key_range,
    key_tile,
    limits_of,
    place_of,
    query_tile,
    row_range,
    rows_at,
    seen_scores,
    sizes_of,
    value_tile,
    weights_of,
)


class Flows(NamedTuple):
    """What flows back, beside `Inputs`: pointers and strides.

    Attributes
    ----------
    grad
        The output's gradient; `g_batch`, `g_head`, `g_row`, `g_dim` are its strides.
    shift, factor, delta
        Pointers to float32 of shape (batch, heads, q_len); the first two are the `Normaliser`.
    spoilt
        Pointer to int32 of shape (batch, kv_heads): not 0 where some number is not finite.
    """

    grad: Any
    g_batch: int
    g_head: int
    g_row: int
    g_dim: int
    shift: Any
    factor: Any
    delta: Any
    spoilt: Any


@triton.jit
def grad_tile(y, n, batch, head, row, ROWS: tl.constexpr, S: tl.constexpr):
    """Load the output's gradient of rows row ... row + ROWS, (ROWS, S.blend)."""
    start = y.grad + batch.to(tl.int64) * y.g_batch + head.to(tl.int64) * y.g_head
    i = row + tl.arange(0, ROWS)
    return rows_at(start, y.g_row, y.g_dim, i, i < n.q_len, n.value_dim, S.blend)


@triton.jit
def numbers_at(numbers, n, batch, head, row, ROWS: tl.constexpr):
    """Load a number of each row, (ROWS,); 0 beyond the last."""
    i = row + tl.arange(0, ROWS)
    start = numbers + (batch.to(tl.int64) * n.heads + head) * n.q_len
    return tl.load(start + i, mask=i < n.q_len, other=0.0)


@triton.jit
def finite(numbers):
    """Return which numbers are neither NaN nor infinite."""
    return numbers - numbers == 0


@triton.jit
def weights_and_flow(
    products, pulls, shift, factor, delta, x, n, batch, head, i, j, ends, S: tl.constexpr,
    CALM: tl.constexpr,
):  # fmt: skip
    """Return the weights of a tile, what reaches its scores, and what reaches them before the cap.

    `pulls` are ``g . value``; rows `i`, keys `j` and the numbers of each row broadcast to the tile,
    which may lie either way round. A weight of 0 lets nothing through.
    """
    first, last, limit = ends
    if S.left or S.right or S.masked or S.biased or not CALM:
        scores, sees = seen_scores(products, x, n, batch, head, i, j, first, last, limit, S)
        weights = weights_of(scores, sees, shift, factor, n, S)
    else:  # beyond the last row the factor is 0
        weights = weights_of(capped_of(products, n, S), j < limit, shift, factor, n, S)
    flow = weights * (pulls - delta)
    if not CALM:
        flow = tl.where(weights == 0, 0.0, flow)
    uncapped = flow
    if S.capped:
        steep = capped_of(products, n, S) / n.softcap
        uncapped = flow * (1 - steep * steep)
        if not CALM:
            uncapped = tl.where(flow == 0, 0.0, uncapped)
    return weights, flow, uncapped


@triton.jit(do_not_specialize=["tiles"])
def rows_start_kernel(x, y, n, out, lse_grad, delta, tiles, ROWS: tl.constexpr, S: tl.constexpr):
    """Write a row's ``g . out`` less the gradient of its lse, and whether it or a query is spoilt.

    `out` and `lse_grad` (or None) are contiguous.
    """
    n = sizes_of(n)
    tile, batch, head, kv_head = place_of(tl.program_id(0), tiles, n)
    row = tile * ROWS
    i = row + tl.arange(0, ROWS)
    at = (batch.to(tl.int64) * n.heads + head) * n.q_len
    grad = grad_tile(y, n, batch, head, row, ROWS, S).to(tl.float32)
    there = i < n.q_len
    answer = rows_at(out + at * n.value_dim, n.value_dim, 1, i, there, n.value_dim, S.blend)
    number = tl.sum(grad * answer.to(tl.float32), 1)
    if lse_grad is not None:
        number -= tl.load(lse_grad + at + i, mask=i < n.q_len, other=0.0)
    tl.store(delta + at + i, number, mask=i < n.q_len)
    query = query_tile(x, n, batch, head, row, ROWS, S)
    fine = tl.min(tl.min(finite(query).to(tl.int32), 1) & finite(number).to(tl.int32), 0)
    if fine == 0:
        kv_heads = n.heads // n.group
        tl.atomic_max(y.spoilt + batch * kv_heads + kv_head, 1)


@triton.jit(do_not_specialize=["tiles"])
def keys_start_kernel(x, y, n, tiles, KEYS: tl.constexpr, S: tl.constexpr):
    """Tell kv heads whose keys or values are not all finite; padding is not read."""
    n = sizes_of(n)
    kv_heads = n.heads // n.group
    pair = tl.program_id(0) // tiles
    batch, kv_head = pair // kv_heads, pair % kv_heads
    key = tl.program_id(0) % tiles * KEYS
    limit = limits_of(x, n, batch, S)[2]
    keys = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
    values = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
    fine = tl.min(finite(keys).to(tl.int32)) & tl.min(finite(values).to(tl.int32))
    if fine == 0:
        tl.atomic_max(y.spoilt + pair, 1)


@triton.jit
def codes_of(grad):
    """Return numbers that tell, when some are summed, which of inf, -inf and NaN were there."""
    grad = grad.to(tl.float32)
    codes = tl.where(grad == float("inf"), 1.0, 0.0) + tl.where(grad == float("-inf"), 128.0, 0.0)
    return codes + tl.where(grad == grad, 0.0, 16384.0)


@triton.jit
def with_infinities(numbers, found):
    """Return finite sums with what `found`, whose codes met a weight, adds to them."""
    numbers += tl.where(found & 127 != 0, float("inf"), 0.0)
    numbers += tl.where((found >> 7) & 127 != 0, float("-inf"), 0.0)
    return tl.where(found >> 14 != 0, float("nan"), numbers)


@triton.jit(do_not_specialize=["tiles"])
def keys_kernel(
    x, y, n, key_grad, value_grad, bias_grad, tiles,
    CALM: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Write the gradients of a tile of keys and values, and those of their scores where wanted.

    `key_grad` and `value_grad` are contiguous; `bias_grad` is None or (batch, heads, kv_len), each
    head's sum over rows, and zeros before.
    """
    n = sizes_of(n)
    kv_heads = n.heads // n.group
    pair = tl.program_id(0) // tiles
    batch, kv_head = pair // kv_heads, pair % kv_heads
    if (tl.load(y.spoilt + pair) == 0) != CALM:
        return
    key = tl.program_id(0) % tiles * KEYS
    first, last, limit = limits_of(x, n, batch, S)
    j = key + tl.arange(0, KEYS)
    keys = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
    values = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
    HEAD: tl.constexpr = S.head
    BLEND: tl.constexpr = S.blend
    to_keys = tl.zeros([KEYS, HEAD], tl.float32)
    to_values = tl.zeros([KEYS, BLEND], tl.float32)
    found = tl.zeros([KEYS, BLEND], tl.int32)
    to_scores = tl.zeros([KEYS], tl.float32)
    seen_by = row_range(first, last, key, tl.minimum(key + KEYS, limit), n, S)
    low = seen_by[0] // ROWS * ROWS
    each = tl.cdiv(tl.maximum(seen_by[1] - low, 0), ROWS)  # tiles of rows a head
    if key >= limit:
        each = 0
    for step in range(n.group * each):
        head, row = kv_head * n.group + step // each, low + step % each * ROWS
        i = row + tl.arange(0, ROWS)
        queries = query_tile(x, n, batch, head, row, ROWS, S)
        grad = grad_tile(y, n, batch, head, row, ROWS, S)
        shift = numbers_at(y.shift, n, batch, head, row, ROWS)
        factor = numbers_at(y.factor, n, batch, head, row, ROWS)
        delta = numbers_at(y.delta, n, batch, head, row, ROWS)
        products = tl.dot(keys, queries.T, input_precision=S.precision)
        pulls = tl.dot(values, grad.T, input_precision=S.precision)
        weights, flow, uncapped = weights_and_flow(
            products, pulls, shift[None, :], factor[None, :], delta[None, :], x, n, batch, head,
            i[None, :], j[:, None], (first, last, limit), S, CALM,
        )  # fmt: skip
        if not CALM:
            some = (weights > 0).to(grad.dtype)
            found |= tl.dot(some, codes_of(grad).to(grad.dtype)).to(tl.int32)
            grad = tl.where(finite(grad), grad, 0.0)
            queries = tl.where(finite(queries), queries, 0.0)
        to_values = tl.dot(weights.to(grad.dtype), grad, to_values, input_precision=S.precision)
        to_keys = tl.dot(uncapped.to(queries.dtype), queries, to_keys, input_precision=S.precision)
        if bias_grad is not None:
            to_scores += tl.sum(flow, 1)
            if step % each == each - 1:
                at = (batch.to(tl.int64) * n.heads + head) * n.kv_len
                tl.store(bias_grad + at + j, to_scores, mask=j < limit)
                to_scores = tl.zeros([KEYS], tl.float32)
    if not CALM:
        to_values = with_infinities(to_values, found)
    there = pair.to(tl.int64) * n.kv_len
    inside = (j < n.kv_len)[:, None]
    to_keys = tl.where((j < limit)[:, None], to_keys * n.scale, 0.0)
    to_values = tl.where((j < limit)[:, None], to_values, 0.0)
    d, e = tl.arange(0, S.head)[None, :], tl.arange(0, S.blend)[None, :]
    at = key_grad + there * n.head_dim + j.to(tl.int64)[:, None] * n.head_dim + d
    tl.store(at, to_keys.to(key_grad.dtype.element_ty), mask=inside & (d < n.head_dim))
    at = value_grad + there * n.value_dim + j.to(tl.int64)[:, None] * n.value_dim + e
    tl.store(at, to_values.to(value_grad.dtype.element_ty), mask=inside & (e < n.value_dim))


@triton.jit(do_not_specialize=["tiles"])
def rows_kernel(
    x, y, n, query_grad, bias_grad, tiles,
    CALM: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Write the gradients of a tile of queries, and those of their scores where wanted.

    `query_grad` is contiguous; `bias_grad` is None or (batch, heads, q_len), each row's sum over
    keys.
    """
    n = sizes_of(n)
    tile, batch, head, kv_head = place_of(tl.program_id(0), tiles, n)
    if (tl.load(y.spoilt + batch * (n.heads // n.group) + kv_head) == 0) != CALM:
        return
    if S.right:  # the longest first
        tile = tiles - 1 - tile
    row = tile * ROWS
    i = row + tl.arange(0, ROWS)
    first, last, limit = limits_of(x, n, batch, S)
    queries = query_tile(x, n, batch, head, row, ROWS, S)
    grad = grad_tile(y, n, batch, head, row, ROWS, S)
    shift = numbers_at(y.shift, n, batch, head, row, ROWS)
    factor = numbers_at(y.factor, n, batch, head, row, ROWS)
    delta = numbers_at(y.delta, n, batch, head, row, ROWS)
    HEAD: tl.constexpr = S.head
    to_queries = tl.zeros([ROWS, HEAD], tl.float32)
    to_scores = tl.zeros([ROWS], tl.float32)
    seen = key_range(first, last, limit, row, tl.minimum(row + ROWS, n.q_len), S)
    for key in range(seen[0] // KEYS * KEYS, seen[1], KEYS):
        j = key + tl.arange(0, KEYS)
        keys = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
        values = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
        products = tl.dot(queries, keys.T, input_precision=S.precision)
        pulls = tl.dot(grad, values.T, input_precision=S.precision)
        reached = weights_and_flow(
            products, pulls, shift[:, None], factor[:, None], delta[:, None], x, n, batch, head,
            i[:, None], j[None, :], (first, last, limit), S, CALM,
        )  # fmt: skip
        if bias_grad is not None:
            to_scores += tl.sum(reached[1], 1)
        if not CALM:
            keys = tl.where(finite(keys), keys, 0.0)
        to_queries = tl.dot(
            reached[2].to(keys.dtype), keys, to_queries, input_precision=S.precision
        )
    at = (batch.to(tl.int64) * n.heads + head) * n.q_len
    if bias_grad is not None:
        tl.store(bias_grad + at + i, to_scores, mask=i < n.q_len)
    d = tl.arange(0, S.head)[None, :]
    places = query_grad + at * n.head_dim + i.to(tl.int64)[:, None] * n.head_dim + d
    inside = (i < n.q_len)[:, None] & (d < n.head_dim)
    tl.store(places, (to_queries * n.scale).to(query_grad.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["shared", "bias_heads", "row_tiles", "key_tiles"])
def bias_kernel(
    x, y, n, bias_grad, sharers, shared, bias_heads, row_tiles, key_tiles,
    ROWS: tl.constexpr, KEYS: tl.constexpr, S: tl.constexpr,
):  # fmt: skip
    """Write a tile of the gradient of a bias along rows and keys, summed over whoever shares it.

    `bias_grad` is (entries, bias_heads, q_len, kv_len), contiguous; `sharers` (entries, shared) are
    the batch entries that use each. The sum goes over them, and over the heads within each.
    """
    n = sizes_of(n)
    program = tl.program_id(0)
    key = program % key_tiles * KEYS
    row = program // key_tiles % row_tiles * ROWS
    pair = program // key_tiles // row_tiles
    own = pair % bias_heads
    i, j = row + tl.arange(0, ROWS), key + tl.arange(0, KEYS)
    each = n.heads // bias_heads
    total = tl.zeros([ROWS, KEYS], tl.float32)
    for step in range(shared * each):
        batch = tl.load(sharers + pair // bias_heads * shared + step // each)
        head = own * each + step % each
        kv_head = head // n.group
        first, last, limit = limits_of(x, n, batch, S)
        stop = tl.minimum(row + ROWS, n.q_len)
        seen = key_range(first, last, limit, row, stop, S)
        if (key < seen[1]) & (key + KEYS > seen[0]):
            queries = query_tile(x, n, batch, head, row, ROWS, S)
            grad = grad_tile(y, n, batch, head, row, ROWS, S)
            shift = numbers_at(y.shift, n, batch, head, row, ROWS)
            factor = numbers_at(y.factor, n, batch, head, row, ROWS)
            delta = numbers_at(y.delta, n, batch, head, row, ROWS)
            keys = key_tile(x, n, batch, kv_head, key, limit, KEYS, S)
            values = value_tile(x, n, batch, kv_head, key, limit, KEYS, S)
            products = tl.dot(queries, keys.T, input_precision=S.precision)
            pulls = tl.dot(grad, values.T, input_precision=S.precision)
            reached = weights_and_flow(
                products, pulls, shift[:, None], factor[:, None], delta[:, None], x, n, batch,
                head, i[:, None], j[None, :], (first, last, limit), S, False,
            )  # fmt: skip
            total += reached[1]
    at = (pair.to(tl.int64) * n.q_len + i.to(tl.int64)[:, None]) * n.kv_len + j[None, :]
    inside = (i < n.q_len)[:, None] & (j < n.kv_len)[None, :]
    tl.store(bias_grad + at, total.to(bias_grad.dtype.element_ty), mask=inside)
