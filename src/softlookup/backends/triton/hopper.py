"""The lookup on a Hopper GPU, written for the machine: tensor cores that work while others compute.

A program has three partitions. One warp, the producer, brings queries, keys and values into shared
memory by TMA. Two groups of four warps, the consumers, take 64 queries each. For a block of 128
keys a consumer issues the products of the next block and the values of this one, both asynchronous,
and meanwhile raises the block in between to the power of 2; its weights go into the second product
as registers. The consumers take turns at issuing, so that one computes while the other multiplies.

Programs stay, one a multiprocessor, and take tile after tile. Causal tiles differ in length: the
producer draws the next one from a counter, the longest first, few heads at a time so that their
keys stay in the L2 cache. Keys run from the last block to the first: only the first block taken
holds hidden keys, and no row is empty from there on.

What is read here is finite: where out is not, in a head, the host lets the careful kernel do that
head again (`spoilt`). Facts only add to what is computed: products that meet a sum on the way to
out are written as fma or kept from being fused, so that no compiler chooses how out is rounded.
Not yet run on a GPU; tested by emulation and by what the compiler makes of it.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

ROWS = 64  # queries of a consumer
BLOCK = 128  # keys of a block, and queries of a tile: so one block holds the diagonal
CHUNK = 32  # keys of a chunk
WARPS = 4
REGISTERS = 168  # a thread at entry, for 12 warps; the consumers end with 240 and leave 24

_ROWS = gl.constexpr(ROWS)
_BLOCK = gl.constexpr(BLOCK)
_CHUNKS = gl.constexpr(BLOCK // CHUNK)
_PARTS = gl.constexpr(4)
_LN2 = gl.constexpr(0.6931471805599453)
_LOG2E = gl.constexpr(1.4426950408889634)
_LOWEST = gl.constexpr(-3.4028234663852886e38)  # finite: -inf less it stays -inf, and is no NaN
_LEAST_STEP = gl.constexpr(-1e4)  # of a maximum: its power of 2 is 0, and 0 times it is 0

# Triton 3.9 knows the copies by these names alone, and 3.6 by those alone
_load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
_store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def _tile(number, first, pair, tiles_a_head, beside, CAUSAL: gl.constexpr):
    """Return the tile of queries and the head (batch entries in a row) of a piece of work.

    Causal: `beside` heads at a time, the longest tiles of all of them first.
    """
    if CAUSAL:
        place = number % (beside * tiles_a_head)
        head = number // (beside * tiles_a_head) * beside + place % beside
        return first + tiles_a_head - 1 - place // beside, pair + head
    else:
        return first + number % tiles_a_head, pair + number // tiles_a_head


@gluon.jit
def _blocks(tile, before, key_blocks, CAUSAL: gl.constexpr):
    """Return how many blocks of keys a tile of queries sees."""
    if CAUSAL:
        return tile + 1 + before
    else:
        return key_blocks


@gluon.jit
def _stage(step, STAGES: gl.constexpr):
    """Return the room of a step, and the phase of its barriers."""
    return step % STAGES, (step // STAGES) & 1


@gluon.jit
def _bring(source, row, column, full, room):
    """Start the copy of a block into shared memory; `full` tells when it is there."""
    mbarrier.expect(full, source.block_type.nbytes)
    _load(source, [row, column], full, room)


@gluon.jit
def _row_sums(numbers):
    """Return row sums, those of a row's four lanes apart: no shuffle in the loop; (rows, 4).

    The long axis first: the other order breaks up multiply-adds, and spills.
    """
    parts = gl.reshape(numbers, [numbers.shape[0], numbers.shape[1] // 8, 4, 2])
    return gl.sum(gl.sum(parts, 1), 2)


@gluon.jit
def _beside(row, sums):
    """Return a number a row in the layout of `_row_sums`."""
    layout: gl.constexpr = gl.SliceLayout(1, sums.type.layout)
    return gl.convert_layout(row, layout, assert_trivial=True)[:, None]


@gluon.jit
def _whole(sums, layout: gl.constexpr):
    """Return the sum of a row's four lanes."""
    return gl.convert_layout(gl.sum(sums, 1), layout, assert_trivial=True)


@gluon.jit
def _peaks(
    s, scale, maxima, to, strip_rows,
    LAYOUT: gl.constexpr, MAXIMA: gl.constexpr, CLAMP: gl.constexpr,
):  # fmt: skip
    """Return the largest score of each row, by an fma, so that no later sum is fused with it.

    With MAXIMA also store that of each part of each chunk of 32 keys, see `maxima.chunk_maxima`:
    what one thread holds of a chunk. There, what is visible counts as finite at least, by
    CLAMP everything, else all but what is -inf.
    """
    if MAXIMA:
        parts = gl.max(gl.max(gl.reshape(s, [_ROWS, _CHUNKS, 4, _PARTS, 2]), 4), 2)
        hidden = parts < _LOWEST
        parts = gl.maximum(gl.fma(parts, scale, 0.0), _LOWEST)  # a scale above 1 makes it infinite
        if not CLAMP:
            parts = gl.where(hidden, -float("inf"), parts)
        layout: gl.constexpr = parts.type.layout
        to = gl.convert_layout(to, gl.SliceLayout(1, gl.SliceLayout(2, layout)))
        chunk = gl.arange(0, _CHUNKS, gl.SliceLayout(0, gl.SliceLayout(2, layout)))
        part = gl.arange(0, _PARTS, gl.SliceLayout(0, gl.SliceLayout(1, layout)))
        at = to[:, None, None] + part[None, None, :]
        gl.store(maxima + (at + chunk[None, :, None] * (strip_rows * _PARTS)), parts)
        return gl.convert_layout(gl.max(gl.max(parts, 1), 1), LAYOUT, assert_trivial=True)
    else:
        return gl.fma(gl.max(s, 1), scale, 0.0)


@gluon.jit
def _finish(
    row_max, total, moment, acc, at, kv_head, facts,
    LAYOUT: gl.constexpr, ENTROPY: gl.constexpr,
):  # fmt: skip
    """Store what is known of rows, and ask for care where a number of a head is not finite."""
    (rows_of, each, spoilt, faint) = facts
    each = gl.cast(each, gl.int64)  # so many rows times 4 may be past an int32
    known = total == total  # a row that is NaN is so by its scores
    zero = gl.sum(acc - acc, 1)  # NaN where a number of the row is not finite
    zero = gl.convert_layout(zero, LAYOUT, assert_trivial=True)
    where = kv_head + gl.full([_ROWS], 0, gl.int32, LAYOUT)
    gl.store(spoilt + where, 1, mask=(zero != zero) & known)
    natural = row_max * _LN2
    rounded = gl.exp2(row_max - gl.fma(natural, _LOG2E, 0.0))  # what the change of base is off by
    nothing = total == 0.0  # every visible score is -inf
    gl.store(rows_of + at, gl.fma(gl.log2(total), _LN2, natural))
    gl.store(rows_of + each + at, natural)
    gl.store(rows_of + 2 * each + at, 1.0 / (total * rounded))
    peak = gl.where(nothing, -float("inf"), gl.where(known, natural, total))
    gl.store(rows_of + 3 * each + at, peak)
    if ENTROPY:
        entropy = (gl.log2(total) - moment / total) * _LN2
        gl.store(faint + where, 1, mask=(moment != moment) & known)
        gl.store(rows_of + 4 * each + at, gl.where(entropy < 0.0, 0.0, entropy))


@gluon.jit
def _produce(given, CAUSAL: gl.constexpr, STAGES: gl.constexpr):
    """Draw tiles, and fill rooms with queries, keys and values as they are free: the producer."""
    (sources, places, rings, turns, counter, work) = given
    (queries, keys, values) = sources
    (heads, group, q_at, k_at, v_at) = places
    (q_room, k_room, v_room, q_full, q_empty, k_full, k_empty, v_full, v_empty) = rings
    (drawn, drawn_full, drawn_empty) = turns
    (key_blocks, before, pair, first, count, tiles_a_head, beside) = work
    taken = 0
    step = 0
    number = gl.program_id(0)
    while number < count:
        if CAUSAL:
            following = gl.num_programs(0) + gl.atomic_add(counter, 1)
            slot = taken % 2
            mbarrier.wait(drawn_empty.index(slot), ((taken // 2) & 1) ^ 1)
            one: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
            drawn.index(slot).store(gl.full([1], following, gl.int32, one))
            mbarrier.arrive(drawn_full.index(slot), count=1)
        else:
            following = number + gl.num_programs(0)
        tile, head = _tile(number, first, pair, tiles_a_head, beside, CAUSAL)
        batch, h = head // heads, head % heads
        row = batch * q_at[0] + h * q_at[1] + tile * _BLOCK
        for c in gl.static_range(2):
            mbarrier.wait(q_empty.index(c), (taken & 1) ^ 1)
            q_row, q_column = row + c * _ROWS, h * q_at[2]
            _bring(queries, q_row, q_column, q_full.index(c), q_room.index(c))
        h = h // group
        k_row, k_column = batch * k_at[0] + h * k_at[1], h * k_at[2]
        v_row, v_column = batch * v_at[0] + h * v_at[1], h * v_at[2]
        blocks = _blocks(tile, before, key_blocks, CAUSAL)
        for i in range(blocks):
            stage, phase = _stage(step, STAGES)
            key = (blocks - 1 - i) * _BLOCK
            mbarrier.wait(k_empty.index(stage), phase ^ 1)
            _bring(keys, k_row + key, k_column, k_full.index(stage), k_room.index(stage))
            mbarrier.wait(v_empty.index(stage), phase ^ 1)
            _bring(values, v_row + key, v_column, v_full.index(stage), v_room.index(stage))
            step += 1
        number = following
        taken += 1


@gluon.jit
def _consume(
    given,
    ME: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr,
    ENTROPY: gl.constexpr, MAXIMA: gl.constexpr, DTYPE: gl.constexpr,
):  # fmt: skip
    """Answer 64 queries after 64 queries: a consumer."""
    (out, maxima, facts, rings, turns, order, out_room, sizes, work) = given
    (group, q_len, scale) = sizes
    (q_room, k_room, v_room, q_full, q_empty, k_full, k_empty, v_full, v_empty) = rings
    (drawn, drawn_full, drawn_empty) = turns
    (key_blocks, before, pair, first, count, tiles_a_head, beside) = work
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, _BLOCK, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, o_layout, 2)
    s_rows: gl.constexpr = gl.SliceLayout(1, s_layout)
    o_rows: gl.constexpr = gl.SliceLayout(1, o_layout)
    q = q_room.index(ME)
    my_turn, your_turn = order.index(ME), order.index(1 - ME)
    nothing = gl.zeros([_ROWS, _BLOCK], gl.float32, s_layout)
    taken = 0
    step = 0
    number = gl.program_id(0)
    while number < count:
        tile, head = _tile(number, first, pair, tiles_a_head, beside, CAUSAL)
        blocks = _blocks(tile, before, key_blocks, CAUSAL)
        row = (tile - first) * _BLOCK + ME * _ROWS + gl.arange(0, _ROWS, s_rows)  # of the strip
        strip_rows = tiles_a_head * _BLOCK
        block_size = strip_rows * (_CHUNKS * _PARTS)
        to = ((head - pair) * key_blocks + blocks - 1) * block_size + row * _PARTS
        # the last block of keys, which holds the diagonal
        stage, phase = _stage(step, STAGES)
        mbarrier.wait(q_full.index(ME), taken & 1)
        mbarrier.wait(k_full.index(stage), phase)
        mbarrier.wait(my_turn, (step + 1 - ME) & 1)  # the first consumer has the first turn
        k = k_room.index(stage).permute((1, 0))
        s = warpgroup_mma(q, k, nothing, use_acc=False, is_async=True)
        mbarrier.arrive(your_turn, count=1)
        s = warpgroup_mma_wait(0, deps=(s,))
        mbarrier.arrive(k_empty.index(stage), count=1)
        peaks = s
        if CAUSAL:
            keys = (blocks - 1) * _BLOCK + gl.arange(0, _BLOCK, gl.SliceLayout(0, s_layout))
            sees = row[:, None] + (first + before) * _BLOCK >= keys[None, :]
            s = gl.where(sees, s, -float("inf"))
            peaks = s
            if MAXIMA:
                peaks = gl.where(sees, gl.maximum(s, _LOWEST), -float("inf"))
        block_max = _peaks(peaks, scale, maxima, to, strip_rows, s_rows, MAXIMA, not CAUSAL)
        row_max = gl.maximum(block_max, _LOWEST)
        t = gl.fma(s, scale, -row_max[:, None])
        p = gl.exp2(t)
        row_sum = _row_sums(p)
        moment = row_sum
        if ENTROPY:
            moment = _row_sums(gl.where(p > 0.0, p * t, 0.0) if CAUSAL else p * t)
        weights = gl.convert_layout(gl.cast(p, DTYPE), p_layout)
        acc = gl.zeros([_ROWS, HEAD_DIM], gl.float32, o_layout)
        for _ in range(1, blocks):
            stage, phase = _stage(step, STAGES)
            next_stage, next_phase = _stage(step + 1, STAGES)
            mbarrier.wait(k_full.index(next_stage), next_phase)
            mbarrier.wait(my_turn, (step - ME) & 1)
            k = k_room.index(next_stage).permute((1, 0))
            s = warpgroup_mma(q, k, nothing, use_acc=False, is_async=True)
            mbarrier.wait(v_full.index(stage), phase)
            acc = warpgroup_mma(weights, v_room.index(stage), acc, is_async=True)
            mbarrier.arrive(your_turn, count=1)
            s = warpgroup_mma_wait(1, deps=(s,))
            mbarrier.arrive(k_empty.index(next_stage), count=1)
            to -= block_size
            block_max = _peaks(s, scale, maxima, to, strip_rows, s_rows, MAXIMA, True)
            new_max = gl.maximum(row_max, block_max)
            keep = gl.exp2(row_max - new_max)
            t = gl.fma(s, scale, -new_max[:, None])
            p = gl.exp2(t)
            kept = _beside(keep, row_sum)
            if ENTROPY:
                moved = gl.maximum(row_max - new_max, _LEAST_STEP)
                moment += row_sum * _beside(moved, row_sum)
                moment = moment * kept + _row_sums(p * t)
            row_sum = gl.fma(row_sum, kept, _row_sums(p))
            row_max = new_max
            next_weights = gl.convert_layout(gl.cast(p, DTYPE), p_layout)
            # it passes at once; its branch keeps ptxas from moving the next wait above the softmax
            mbarrier.wait(v_full.index(stage), phase)
            acc, weights = warpgroup_mma_wait(0, deps=(acc, weights))
            mbarrier.arrive(v_empty.index(stage), count=1)
            acc = acc * gl.convert_layout(keep, o_rows)[:, None]
            weights = next_weights
            step += 1
        mbarrier.arrive(q_empty.index(ME), count=1)
        stage, phase = _stage(step, STAGES)
        mbarrier.wait(v_full.index(stage), phase)
        acc = warpgroup_mma(weights, v_room.index(stage), acc, is_async=True)
        acc, weights = warpgroup_mma_wait(0, deps=(acc, weights))
        mbarrier.arrive(v_empty.index(stage), count=1)
        step += 1
        total = _whole(row_sum, s_rows)
        o = acc * gl.convert_layout(1.0 / total, o_rows)[:, None]
        room = out_room.index(ME)
        tma.store_wait(0)
        room.store(gl.cast(o, DTYPE))
        fence_async_shared()
        place = head * q_len + tile * _BLOCK + ME * _ROWS
        _store(out, [place, 0], room)
        at = gl.cast(place, gl.int64) + gl.arange(0, _ROWS, s_rows)
        moment = _whole(moment, s_rows) if ENTROPY else total
        _finish(row_max, total, moment, acc, at, head // group, facts, s_rows, ENTROPY)
        if CAUSAL:
            slot = taken % 2
            mbarrier.wait(drawn_full.index(slot), (taken // 2) & 1)
            all_alike: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
            number = gl.max(drawn.index(slot).load(all_alike), 0)
            mbarrier.arrive(drawn_empty.index(slot), count=1)
        else:
            number = number + gl.num_programs(0)
        taken += 1
    tma.store_wait(0)


@gluon.jit
def _barriers(number: gl.constexpr, arrivals: gl.constexpr):
    """Return barriers that wait for so many arrivals."""
    made = gl.allocate_shared_memory(gl.int64, [number, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(number):
        mbarrier.init(made.index(i), count=arrivals)
    return made


@gluon.jit(
    do_not_specialize=[
        "each", "q_len", "key_blocks", "before", "pair", "first", "count", "tiles_a_head", "beside",
    ]
)  # fmt: skip
def look_up_kernel(
    queries, keys, values, out, rows_of, each, maxima, spoilt, faint, counter, places,
    scale, q_len, key_blocks, before, pair, first, count, tiles_a_head, beside,
    HEAD_DIM: gl.constexpr, STAGES: gl.constexpr, CAUSAL: gl.constexpr,
    ENTROPY: gl.constexpr, MAXIMA: gl.constexpr,
):  # fmt: skip
    """Answer a strip of rows, and say what else is known of them.

    `queries` ... `out` are tensor descriptors of blocks (64 or 128, HEAD_DIM). `places` holds
    heads, group and, for queries, keys and values each, the rows that a batch entry adds, the rows
    and the columns that a head adds. `scale` is that of logarithms of base 2.

    `rows_of` is room for float32 (5, each): lse, shift, factor, peak and, with ENTROPY, entropy, of
    every row; `maxima` with MAXIMA for (pairs, chunks, rows, parts) of this strip; `spoilt` and
    `faint` are flags of each kv head for `careful`, 0 as `counter` is.

    A strip is `count` tiles of queries, `tiles_a_head` from `first` on, of the heads from `pair` on
    (batch entries in a row); causal ones are taken `beside` heads at a time. A causal query sees
    `before` blocks of keys more than those of its own position.
    """
    DTYPE: gl.constexpr = queries.dtype
    q_room = gl.allocate_shared_memory(DTYPE, [2, _ROWS, HEAD_DIM], queries.layout)
    k_room = gl.allocate_shared_memory(DTYPE, [STAGES, _BLOCK, HEAD_DIM], keys.layout)
    v_room = gl.allocate_shared_memory(DTYPE, [STAGES, _BLOCK, HEAD_DIM], values.layout)
    out_room = gl.allocate_shared_memory(DTYPE, [2, _ROWS, HEAD_DIM], out.layout)
    one: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    drawn = gl.allocate_shared_memory(gl.int32, [2, 1], one)
    q_full, q_empty = _barriers(2, 1), _barriers(2, 1)
    k_full, k_empty = _barriers(STAGES, 1), _barriers(STAGES, 2)
    v_full, v_empty = _barriers(STAGES, 1), _barriers(STAGES, 2)
    drawn_full, drawn_empty = _barriers(2, 1), _barriers(2, 2)
    order = _barriers(2, 1)
    fence_async_shared()
    rings = (q_room, k_room, v_room, q_full, q_empty, k_full, k_empty, v_full, v_empty)
    turns = (drawn, drawn_full, drawn_empty)
    work = (key_blocks, before, pair, first, count, tiles_a_head, beside)
    produced = ((queries, keys, values), places, rings, turns, counter, work)
    facts = (rows_of, each, spoilt, faint)
    sizes = (places[1], q_len, scale)
    consumed = (out, maxima, facts, rings, turns, order, out_room, sizes, work)
    gl.warp_specialize(
        [
            (_consume, (consumed, 0, HEAD_DIM, STAGES, CAUSAL, ENTROPY, MAXIMA, DTYPE)),
            (_consume, (consumed, 1, HEAD_DIM, STAGES, CAUSAL, ENTROPY, MAXIMA, DTYPE)),
            (_produce, (produced, CAUSAL, STAGES)),
        ],
        [4, 1],
        [240, 24],
    )
