"""The semantics table: order, scale, softcap, mask, bias."""

import ml_dtypes
import numpy as np
import pytest

import softlookup as sl
from agreement import assert_agrees
from cases import Case

CALL = Case("scores", q_len=7, kv_len=11).build()
TWO_KEYS = (np.array([[1.0, 2.0]]), np.array([[3.0, 1.0], [-1.0, 4.0]]), np.array([[1.0], [5.0]]))


def test_order_products_scaled_capped_scores_masked_weights():
    query, key, value = TWO_KEYS
    steps = sl.Lookup(query, key, value, scale=0.5, softcap=2.0, bias=np.array([[0.25, -0.5]]),
                      mask=np.array([[True, False]])).trace()  # fmt: skip
    np.testing.assert_array_equal(steps.products, [[5.0, 7.0]])
    np.testing.assert_array_equal(steps.scaled, [[2.5, 3.5]])
    np.testing.assert_allclose(steps.capped, 2 * np.tanh([[1.25, 1.75]]), rtol=1e-15)
    np.testing.assert_allclose(steps.scores - steps.capped, [[0.25, -0.5]], rtol=1e-14)
    np.testing.assert_array_equal(steps.masked_scores, [[steps.scores[0, 0], -np.inf]])
    np.testing.assert_array_equal(steps.weights, [[1.0, 0.0]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_order_all_options_in_every_dtype(backend, dtype):
    call = Case("order", dtype=dtype, size=2.0).build()
    bias = np.linspace(-3, 3, 77).reshape(7, 11)
    mask = (np.arange(77).reshape(7, 11) % 3) > 0
    assert_agrees(
        *call.arrays, scale=0.9, softcap=1.7, bias=bias, mask=mask, causal=True, q_offset=4,
        backend=backend,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1.0, 10.0, 100.0])
def test_scores_of_any_size_stay_within_the_budget_of_their_roundings(backend, size, dtype):
    rng = np.random.default_rng(int(size))
    for kv_len in (3, 17, 131):
        query, key, value = (rng.standard_normal((1, 2, n, 13)) for n in (7, kv_len, kv_len))
        query *= size
        bias = size * rng.standard_normal((7, kv_len))
        arrays = (x.astype(dtype) for x in (query, key, value))
        assert_agrees(*arrays, bias=bias, sinks=np.zeros(2), backend=backend)


def test_scale_default_is_head_dim_to_the_power_minus_half(backend):
    for head_dim in (1, 2, 5, 64, 67):
        call = Case("scale", head_dim=head_dim, dtype="float64").build()
        assert sl.Lookup(*call.arrays).problem.scale == head_dim**-0.5
        default, given = (
            sl.attend(*call.arrays, scale=scale, backend=backend)
            for scale in (None, head_dim**-0.5)
        )
        np.testing.assert_array_equal(default, given)


def test_scale_default_is_1_when_head_dim_is_0():
    assert sl.Lookup(*Case("scale", head_dim=0).build().arrays).problem.scale == 1


def test_scale_beyond_the_range_of_float32_leaves_a_product_of_0_at_0(backend):
    query = np.zeros((2, 3, 7, 5), np.float32)
    for scale in (1e300, -1e300):
        weights = sl.Lookup(query, CALL.key, CALL.value, scale=scale, backend=backend).weights()
        np.testing.assert_allclose(weights, 1 / 11, rtol=1e-6)


@pytest.mark.parametrize("scale", [0, -0.0, 0.0, -1.0, -3.7, 2, 1e-30])
def test_scale_0_and_negative_are_literal(backend, scale):
    exact = assert_agrees(*CALL.arrays, scale=scale, backend=backend)
    if scale == 0:
        np.testing.assert_allclose(exact.weights, 1 / 11)


def test_softcap_is_softcap_times_tanh_of_scaled_over_softcap(backend):
    query, key, value = TWO_KEYS
    capped = 3.0 * np.tanh(np.array([5.0, 7.0]) / 3.0)
    weights = sl.Lookup(query, key, value, scale=1.0, softcap=3.0, backend=backend).weights()
    np.testing.assert_allclose(weights[0], np.exp(capped) / np.exp(capped).sum(), rtol=1e-14)


def test_softcap_none_is_off(backend):
    loud = CALL.query * 100
    exact = assert_agrees(loud, CALL.key, CALL.value, softcap=None, backend=backend)
    assert np.abs(exact.scores).max() > 50


@pytest.mark.parametrize("softcap", [1e-300, 1e-50, 1e-6, 1, 30.0, 1e30, 1e40, 1e300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softcap_any_positive_number_beyond_the_range_of_float32_too(backend, softcap, dtype):
    call = Case("softcap", dtype=dtype).build()
    query = call.query.copy()
    query[..., 3, :] = 0  # 0 / softcap must not become 0 / 0
    assert_agrees(query, call.key, call.value, softcap=softcap, backend=backend)


def test_mask_true_means_may_look(backend):
    mask = np.zeros((7, 11), bool)
    mask[:, 3] = True
    out = sl.attend(*CALL.arrays, mask=mask, backend=backend)
    expected = np.broadcast_to(CALL.value[..., 3:4, :], out.shape)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "shape",
    [(), (1,), (11,), (1, 1), (7, 1), (1, 11), (7, 11), (1, 7, 11), (3, 1, 11), (3, 7, 11),
     (2, 1, 1, 11), (1, 3, 7, 1), (2, 3, 1, 1), (2, 3, 7, 11)],
)  # fmt: skip
def test_mask_right_aligned_broadcast_rank_0_up(backend, shape):
    mask = np.random.default_rng(3).random(shape) > 0.4
    assert_agrees(*CALL.arrays, mask=mask, backend=backend)
    bias = np.where(mask, 0.5, -np.inf).astype(np.float32)
    assert_agrees(*CALL.arrays, bias=bias, backend=backend)


def test_mask_as_nested_lists_and_plain_bool(backend):
    query, key, value = TWO_KEYS
    np.testing.assert_array_equal(
        sl.attend(query, key, value, mask=[[False, True]], backend=backend), [[5.0]]
    )
    np.testing.assert_array_equal(sl.attend(query, key, value, mask=False), [[0.0]])
    np.testing.assert_array_equal(
        sl.attend(query, key, value, mask=True), sl.attend(query, key, value)
    )


@pytest.mark.parametrize("byte", [2, 128, 255])
def test_mask_viewed_from_bytes_that_are_not_1(backend, byte):
    mask = np.random.default_rng(7).random((7, 11)) > 0.4
    viewed = (mask * np.uint8(byte)).view(bool)
    one, other = (sl.Lookup(*CALL.arrays, mask=m, backend=backend) for m in (mask, viewed))
    np.testing.assert_array_equal(one.attend(), other.attend())
    np.testing.assert_array_equal(one.weights(), other.weights())
    np.testing.assert_array_equal(one.trace().weights, other.trace().weights)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("inputs", ["bfloat16", "float32", "float64"])
def test_bias_any_float_dtype_is_added(backend, dtype, inputs):
    call = Case("bias", dtype=inputs).build()
    bias = np.random.default_rng(5).standard_normal((3, 7, 11)).astype(dtype)
    assert_agrees(*call.arrays, bias=bias, backend=backend)


def test_bias_minus_inf_hides(backend):
    bias = np.zeros((7, 11), np.float32)
    bias[:, 4:] = -np.inf
    look = sl.Lookup(*CALL.arrays, bias=bias, backend=backend)
    masked = sl.Lookup(*CALL.arrays, mask=np.arange(11) < 4, backend=backend)
    np.testing.assert_array_equal(look.weights(), masked.weights())
    np.testing.assert_array_equal(look.trace().visible, masked.trace().visible)
    assert not look.weights()[..., 4:].any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_bias_every_finite_number_finfo_min_too_is_just_a_number(backend, dtype):
    call = Case("finfo.min", q_len=3, kv_len=5, dtype=dtype).build()
    lowest = ml_dtypes.finfo(call.query.dtype).min
    bias = np.full((3, 5), lowest, call.query.dtype)
    bias[1, 2] = 0
    look = sl.Lookup(*call.arrays, bias=bias, backend=backend)
    assert look.trace().visible.all()
    exact = assert_agrees(*call.arrays, bias=bias, backend=backend)
    assert np.isfinite(look.attend().astype(float)).all()
    np.testing.assert_array_equal(look.weights()[..., 1, :], np.eye(5)[2] * np.ones((2, 3, 1)))
    if dtype != "float16":  # -65504 leaves room for the scores beside it
        np.testing.assert_allclose(exact.weights[..., 0, :].astype(float), 0.2, atol=0.2)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_bias_of_float64_beyond_float32_counts_as_its_largest_number(backend, dtype):
    one = np.ones((1, 1), dtype)
    key = value = np.array([[1], [2], [3]], dtype)
    largest = float(np.finfo(np.float32).max)
    for size in (1e39, 1e300, np.finfo(np.float64).max):
        for bias in ([size, 0, size], [-size, -size, -2 * largest], [-size, 1, -size]):
            given = {"bias": np.array(bias), "backend": backend}
            clipped = {"bias": np.clip(bias, -largest, largest), "backend": backend}
            for ask in ("attend", "weights"):
                found, expected = (
                    getattr(sl.Lookup(one, key, value, **how), ask)() for how in (given, clipped)
                )
                np.testing.assert_array_equal(found, expected)
                assert np.isfinite(found.astype(float)).all()
    infinite = sl.Lookup(one, key, value, bias=[[np.inf, 0, 0]], backend=backend)
    assert np.isnan(infinite.attend().astype(float)).all()


def test_bias_nan_at_a_hidden_key_changes_nothing(backend):
    bias = np.zeros((7, 11), np.float32)
    mask = np.arange(11) < 6
    plain = sl.attend(*CALL.arrays, bias=bias, mask=mask, backend=backend)
    bias[:, 6:] = [np.nan, np.inf, -np.inf, 3e38, -3e38]
    np.testing.assert_array_equal(
        plain, sl.attend(*CALL.arrays, bias=bias, mask=mask, backend=backend)
    )


@pytest.mark.parametrize(
    ("query", "key", "scale", "score"),
    [
        (1e30, 1e-30, 1e10, 1e10),
        (1e20, 1e-38, 1e20, 100),
        (-3e5, 2, 0.5, -3e5),
        (7, 1, 1e-40, 7e-40),
    ],
)
def test_scale_is_applied_to_the_products_so_that_a_large_one_overflows_nothing(
    backend, query, key, scale, score
):
    query, key = (np.full((1, 1), number, np.float32) for number in (query, key))
    look = sl.Lookup(query, key, np.ones((1, 1), np.float32), scale=scale, backend=backend)
    np.testing.assert_allclose(look.inspect().lse, [score], rtol=1e-6)
    np.testing.assert_array_equal(look.attend(), [[1]])
