"""The semantics table: GQA, sizes, dtypes, lse, strides; and what may be handed in."""

import tracemalloc

import numpy as np
import pytest

import softlookup as sl
from agreement import assert_agrees, assert_same_bits
from cases import BFLOAT16, Case

CALL = Case("arrays", q_len=7, kv_len=11).build()
SIZES = {"batch": 2, "heads": 3, "q_len": 7, "kv_len": 11, "head_dim": 5, "value_dim": 13}


@pytest.mark.parametrize(("kv_heads", "group"), [(3, 1), (3, 5), (1, 7), (2, 3), (5, 2)])
def test_gqa_query_head_h_uses_kv_head_h_over_group(backend, kv_heads, group):
    call = Case("grouped", heads=(kv_heads, group)).build()
    assert_agrees(*call.arrays, backend=backend)
    shared = sl.attend(*call.arrays, backend=backend)
    for h in range(kv_heads * group):
        one = sl.attend(
            call.query[:, h], call.key[:, h // group], call.value[:, h // group], backend=backend
        )
        np.testing.assert_allclose(shared[:, h], one, rtol=1e-5, atol=1e-6)


def test_sizes_value_dim_differs_from_head_dim(backend):
    for head_dim, value_dim in ((5, 13), (13, 5), (1, 17), (17, 1)):
        call = Case("dims", head_dim=head_dim, value_dim=value_dim).build()
        assert_agrees(*call.arrays, backend=backend)


@pytest.mark.parametrize("zero", sorted(SIZES))
@pytest.mark.parametrize("options", [{}, {"causal": True, "q_offset": 2}, {"mask": True}])
def test_sizes_every_zero_size_axis_is_defined(backend, zero, options):
    sizes = {**SIZES, zero: 0}
    query, key, value = (
        np.ones([sizes[axis] for axis in axes], np.float32)
        for axes in (
            ("batch", "heads", "q_len", "head_dim"),
            ("batch", "heads", "kv_len", "head_dim"),
            ("batch", "heads", "kv_len", "value_dim"),
        )
    )
    look = sl.Lookup(query, key, value, **options, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    lead = tuple(sizes[axis] for axis in ("batch", "heads", "q_len"))
    assert out.shape == (*lead, sizes["value_dim"])
    assert lse.shape == lead
    assert look.weights().shape == (*lead, sizes["kv_len"])
    assert_agrees(query, key, value, **options, backend=backend)
    assert look.trace().weights.shape == (*lead, sizes["kv_len"])


def test_sizes_several_zero_axes_at_once(backend):
    for shape in ((0, 0), (0, 3), (3, 0)):
        empty = np.zeros(shape, np.float32)
        assert sl.attend(empty, empty, empty, backend=backend).shape == shape
        assert sl.attend(np.zeros((5, shape[1]), np.float32), empty, empty).shape == (5, shape[1])


def test_sizes_no_query_heads_over_some_kv_heads(backend):
    query, key, value = np.zeros((2, 0, 7, 5)), np.zeros((2, 3, 11, 5)), np.zeros((2, 3, 11, 13))
    look = sl.Lookup(query, key, value, backend=backend)
    assert look.attend().shape == (2, 0, 7, 13)
    assert look.weights().shape == look.trace().weights.shape == (2, 0, 7, 11)


def test_sizes_head_dim_0_every_product_is_0(backend):
    call = Case("head_dim 0", head_dim=0).build()
    look = sl.Lookup(*call.arrays, backend=backend)
    assert not look.trace().products.any()
    np.testing.assert_allclose(look.weights(), 1 / 11, rtol=1e-6)
    np.testing.assert_allclose(look.inspect().lse, np.log(11.0), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "facts"),
    [(np.float16, np.float32), (BFLOAT16, np.float32), (np.float32, np.float32),
     (np.float64, np.float64), (">f2", np.float32), (">f4", np.float32), (">f8", np.float64)],
    ids=str,
)  # fmt: skip
def test_dtypes_out_as_the_inputs_weights_and_lse_wide_trace_float64(backend, dtype, facts):
    arrays = [array.astype(dtype) for array in CALL.arrays]
    look = sl.Lookup(*arrays, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    assert out.dtype == np.dtype(dtype).newbyteorder("=")
    assert look.attend().dtype == out.dtype
    assert lse.dtype == facts
    assert look.weights().dtype == facts
    steps = look.trace()
    for name in ("products", "scaled", "scores", "exp", "row_sum", "weights", "out", "lse"):
        assert getattr(steps, name).dtype == np.float64, name
    assert steps.rows.dtype == np.int64
    assert_agrees(*arrays, backend=backend)


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_dtypes_half_types_accumulate_in_float32(backend, dtype):
    kv_len = 8209  # a float16 sum of ones stops at 2,048, a bfloat16 sum at 256
    query, key, value = np.zeros((1, 3)), np.zeros((kv_len, 3)), np.ones((kv_len, 2))
    look = sl.Lookup(*(x.astype(dtype) for x in (query, key, value)), backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    np.testing.assert_array_equal(out.astype(float), 1.0)
    np.testing.assert_allclose(lse, np.log(kv_len), rtol=1e-6)


def test_dtypes_big_endian_gives_the_same_bits_as_native(backend):
    for dtype in ("f2", "f4", "f8"):
        native = [array.astype(dtype) for array in CALL.arrays]
        swapped = [array.astype(">" + dtype) for array in CALL.arrays]
        left, right = (sl.attend(*arrays, backend=backend) for arrays in (native, swapped))
        assert_same_bits(left, right)


def test_dtypes_lists_and_integer_arrays_become_float64(backend):
    query, key, value = [[1, 0]], [[1, 0], [0, 1]], [[10, 0], [20, 5]]
    listed = sl.attend(query, key, value, backend=backend)
    for dtype in (np.int64, np.uint8, np.int16, np.float64):
        arrays = [np.array(x, dtype) for x in (query, key, value)]
        assert_same_bits(sl.attend(*arrays, backend=backend), listed)
    assert listed.dtype == np.float64
    mixed = sl.attend(np.array(query), key, np.array(value, np.float64), backend=backend)
    assert_same_bits(mixed, listed)


def test_lse_is_the_natural_logarithm_with_the_shape_of_out_without_its_last_axis(backend):
    answer = sl.Lookup(*CALL.arrays, backend=backend).inspect()
    out, lse = answer.out, answer.lse
    assert lse.shape == out.shape[:-1] == (2, 3, 7)
    scores = CALL.query.astype(float) @ CALL.key.astype(float).swapaxes(-1, -2) / np.sqrt(5)
    np.testing.assert_allclose(lse, np.log(np.exp(scores).sum(-1)), rtol=1e-5)
    plain = sl.Lookup(CALL.query[0, 0], CALL.key[0, 0], CALL.value[0, 0], backend=backend)
    assert plain.inspect().lse.shape == (7,)


def test_weights_from_lse_are_weights(backend):
    look = sl.Lookup(*CALL.arrays, backend=backend)
    from_lse = np.exp(look.trace().scores - look.inspect().lse[..., None])
    np.testing.assert_allclose(look.weights(), from_lse, rtol=1e-5)


def _negative(x):
    return np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]


def _transposed(x):
    return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)


def _every_third(x):
    wide = np.full((*x.shape[:-1], x.shape[-1] * 3), np.nan, x.dtype)
    wide[..., ::3] = x
    return wide[..., ::3]


def _heads_inside(x):
    return np.ascontiguousarray(x.swapaxes(-3, -2)).swapaxes(-3, -2)


def _misaligned(x):
    room = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    room[...] = x
    return room


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = [_negative, _transposed, _every_third, _heads_inside, _misaligned, _read_only,
           np.asfortranarray]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_strides_any_and_the_result_is_c_contiguous(backend, layout, dtype):
    call = Case("strides", dtype=dtype).build()
    arrays = [layout(array) for array in call.arrays]
    for changed in ((0, 1, 2), (0,), (1,), (2,)):
        some = [arrays[n] if n in changed else call.arrays[n] for n in range(3)]
        answer = sl.Lookup(*some, causal=True, q_offset=4, backend=backend).inspect()
        out, lse = answer.out, answer.lse
        assert out.flags.c_contiguous
        assert lse.flags.c_contiguous
        assert_agrees(*some, causal=True, q_offset=4, backend=backend)


def test_strides_zero(backend):
    row = np.random.default_rng(2).standard_normal((1, 1, 1, 5)).astype(np.float32)
    everywhere = np.broadcast_to(row, (2, 3, 7, 5))
    out = sl.attend(everywhere, everywhere, everywhere, backend=backend)
    np.testing.assert_allclose(out, everywhere, rtol=1e-6)
    assert out.flags.c_contiguous
    one_key = np.broadcast_to(CALL.key[:1, :1], CALL.key.shape)
    one_value = np.broadcast_to(CALL.value[:, :, :1], CALL.value.shape)
    assert_agrees(CALL.query, one_key, one_value, backend=backend)


def test_strides_of_leading_axes_that_cannot_be_merged(backend):
    call = Case("leading", batch=(2, 3), heads=(5, 1)).build()
    swapped = [np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1) for x in call.arrays]
    assert_agrees(*swapped, backend=backend)


def test_strides_of_mask_and_bias(backend):
    mask = np.random.default_rng(1).random((2, 3, 7, 11)) > 0.3
    bias = np.random.default_rng(2).standard_normal((2, 3, 7, 11)).astype(np.float32)
    for layout in (_negative, _transposed, _heads_inside, np.asfortranarray):
        assert_agrees(*CALL.arrays, mask=layout(mask), bias=layout(bias), backend=backend)
    spread = np.broadcast_to(mask[:, :1, :, :1], mask.shape)
    assert_agrees(*CALL.arrays, mask=spread, backend=backend)


def test_inputs_are_never_written_and_the_output_never_aliases_one(backend):
    call = Case("owned", dtype="float64").build()
    extras = {
        "mask": np.random.default_rng(1).random((2, 3, 7, 11)) > 0.3,
        "bias": np.zeros((7, 11)), "kv_lens": np.array([3, 11]), "sinks": np.zeros(3),
        "q_offset": np.array([4, 5]), "causal": True,
    }  # fmt: skip
    arrays = [*call.arrays, *(x for x in extras.values() if isinstance(x, np.ndarray))]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    look = sl.Lookup(*call.arrays, **extras, backend=backend)
    answer = look.inspect()
    given = [look.attend(), answer.out, answer.lse, look.weights(), look.trace().out]
    for array, kept in zip(arrays, before, strict=True):
        assert_same_bits(array, kept)
        for result in given:
            assert not np.shares_memory(result, array)
    for result in given:
        result[...] = 0  # ours to write


def test_the_output_is_no_view_of_a_value_that_it_equals(backend):
    value = np.ones((1, 3))
    out = sl.attend(np.ones((1, 2)), np.ones((1, 2)), value, backend=backend)
    assert not np.shares_memory(out, value)


def test_value_may_be_left_out_where_only_facts_are_wanted(backend):
    look = sl.Lookup(CALL.query, CALL.key, backend=backend)
    whole = sl.Lookup(*CALL.arrays, backend=backend)
    answer = look.inspect()
    assert answer.out is None
    np.testing.assert_allclose(answer.lse, whole.inspect().lse, rtol=1e-6)
    np.testing.assert_allclose(look.weights(), whole.weights(), rtol=1e-5)
    assert look.trace().out is None
    np.testing.assert_array_equal(look.trace().weights, whole.trace().weights)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (2, 3, 5)])
def test_leading_axes_of_any_rank(backend, batch):
    call = Case("leading", batch=batch, heads=(2, 3), q_len=3, kv_len=7).build()
    exact = assert_agrees(*call.arrays, causal=True, q_offset=2, backend=backend)
    assert exact.out.shape == (*batch, 6, 3, 13)


def test_a_byte_swapped_bias_that_repeats_is_not_expanded():
    bias = np.broadcast_to(np.array(1, ">f4"), (4096, 4096))
    arrays = [np.ones((4096, 2), np.float32)] * 3
    tracemalloc.start()
    look = sl.Lookup(*arrays, bias=bias)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    np.testing.assert_allclose(look.weights(rows=[7], keys=[9]), [[1 / 4096]], rtol=1e-5)
