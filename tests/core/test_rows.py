"""The semantics table: sinks, empty rows, hidden keys, NaN and infinite scores and values."""

import numpy as np
import pytest

import softlookup as sl
from agreement import assert_agrees, assert_same_bits
from cases import Case

CALL = Case("rows", heads=(3, 1), q_len=7, kv_len=11).build()
SINKS = np.array([-2.0, 0.5, 3.0])
TAILS = [1, 2, 3, 7, 8, 13, 16, 17, 31, 40, 257, 1031]


def test_sinks_one_logit_per_head_in_the_denominator_without_a_value(backend):
    exact = assert_agrees(*CALL.arrays, sinks=SINKS, backend=backend)
    exp = np.exp(exact.scores)
    expected = exp / (exp.sum(-1, keepdims=True) + np.exp(SINKS)[:, None, None])
    weights = sl.Lookup(*CALL.arrays, sinks=SINKS, backend=backend).weights()
    np.testing.assert_allclose(weights, expected, rtol=1e-5)
    out = sl.attend(*CALL.arrays, sinks=SINKS, backend=backend)
    np.testing.assert_allclose(out, weights @ CALL.value, rtol=1e-4, atol=1e-6)


def test_sinks_are_not_scaled_and_not_capped(backend):
    query, key, value = np.zeros((1, 1, 2)), np.zeros((1, 1, 2)), np.ones((1, 1, 1))
    for options in ({"scale": 0.1}, {"softcap": 0.5}, {"scale": -7.0, "softcap": 1.0}):
        look = sl.Lookup(query, key, value, sinks=[5.0], **options, backend=backend)
        np.testing.assert_allclose(look.weights(), 1 / (1 + np.exp(5.0)), rtol=1e-13)


@pytest.mark.parametrize("kv_len", [1, 129, 1031, 5003])
def test_sinks_are_added_once_after_the_last_merge(backend, kv_len):
    call = Case("sinks", batch=(), heads=(3, 1), q_len=5, kv_len=kv_len).build()
    assert_agrees(*call.arrays, sinks=SINKS + 6, backend=backend)


def test_sinks_are_part_of_lse(backend):
    with_sinks, without = (
        sl.Lookup(*CALL.arrays, sinks=sinks, backend=backend).inspect().lse
        for sinks in (SINKS, None)
    )
    expected = np.logaddexp(without, SINKS[:, None])
    np.testing.assert_allclose(with_sinks, expected, rtol=1e-6)


def test_sinks_weights_sum_to_less_than_1_and_are_never_renormalised(backend):
    weights = sl.Lookup(*CALL.arrays, sinks=SINKS, backend=backend).weights()
    sums = weights.sum(-1)
    assert (sums < 1).all()
    lse = sl.Lookup(*CALL.arrays, sinks=SINKS, backend=backend).inspect().lse
    np.testing.assert_allclose(sums, 1 - np.exp(SINKS[:, None] - lse), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_sinks_in_any_dtype_and_as_a_list(backend, dtype):
    call = Case("sinks", dtype=dtype).build()
    for sinks in (SINKS.astype(call.query.dtype), SINKS, SINKS.astype(np.float32)):
        assert_agrees(*call.arrays, sinks=sinks, backend=backend)
    listed = sl.attend(*call.arrays, sinks=SINKS.tolist(), backend=backend)
    np.testing.assert_array_equal(listed, sl.attend(*call.arrays, sinks=SINKS, backend=backend))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_empty_row_out_0_weights_0_and_lse_minus_inf(backend, dtype):
    call = Case("empty", dtype=dtype).build()
    mask = np.ones((7, 11), bool)
    mask[[0, 4]] = False
    look = sl.Lookup(*call.arrays, mask=mask, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    assert not out[..., [0, 4], :].any()
    assert not look.weights()[..., [0, 4], :].any()
    assert np.isneginf(lse[..., [0, 4]]).all()
    assert np.isfinite(lse[..., [1, 2, 3, 5, 6]]).all()
    steps = look.trace()
    assert not steps.out[..., [0, 4], :].any()
    assert not steps.weights[..., [0, 4], :].any()
    assert np.isneginf(steps.lse[..., [0, 4]]).all()


def test_empty_row_lse_is_the_sink_if_there_is_one(backend):
    look = sl.Lookup(*CALL.arrays, mask=False, sinks=SINKS, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    assert not out.any()
    assert not look.weights().any()
    np.testing.assert_array_equal(lse, np.broadcast_to(SINKS[:, None], lse.shape))
    np.testing.assert_array_equal(look.trace().lse, lse)


def test_empty_row_with_a_sink_of_minus_inf_is_one_without_a_sink(backend):
    mask = np.ones((7, 11), bool)
    mask[[0, 4]] = False
    look, without = (
        sl.Lookup(*CALL.arrays, mask=mask, sinks=sinks, backend=backend)
        for sinks in (np.full(3, -np.inf), None)
    )
    assert_same_bits(look.attend(), without.attend())
    np.testing.assert_array_equal(look.inspect().lse, without.inspect().lse)
    np.testing.assert_array_equal(look.trace().out, without.trace().out)


def test_empty_row_is_decided_on_visibility_not_on_numbers(backend):
    bias = np.full((7, 11), -1e30, np.float32)
    assert_agrees(*CALL.arrays, bias=bias, backend=backend)
    weights = sl.Lookup(*CALL.arrays, bias=bias, backend=backend).weights()
    np.testing.assert_allclose(weights, 1 / 11, rtol=1e-6)


@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf, 3e38, -3e38])
@pytest.mark.parametrize(
    "options",
    [{"mask": np.arange(11) < 7}, {"bias": np.where(np.arange(11) < 7, 0.0, -np.inf)},
     {"causal": True, "q_offset": 0}, {"window": (None, 0), "q_offset": 0},
     {"kv_lens": np.array([7, 7])}],
    ids=["mask", "bias", "causal", "window", "kv_lens"],
)  # fmt: skip
def test_hidden_keys_contribute_exactly_nothing_whatever_they_hold(backend, held, options):
    key, value = CALL.key.copy(), CALL.value.copy()
    key[..., 7:, :], value[..., 7:, :] = 0.25, 0.5
    quiet = sl.Lookup(CALL.query, key, value, **options, backend=backend)
    loud_key, loud_value = key.copy(), value.copy()
    loud_key[..., 7:, 1::2], loud_value[..., 7:, ::3] = held, held
    loud = sl.Lookup(CALL.query, loud_key, loud_value, **options, backend=backend)
    assert_same_bits(loud.attend(), quiet.attend())
    assert_same_bits(loud.inspect().lse, quiet.inspect().lse)
    assert_same_bits(loud.weights(), quiet.weights())
    steps, calm = loud.trace(), quiet.trace()
    for name in ("weights", "out", "lse", "exp", "row_max", "row_sum", "masked_scores"):
        np.testing.assert_array_equal(getattr(steps, name), getattr(calm, name), err_msg=name)


@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf])
def test_hidden_key_for_one_row_is_seen_by_another(backend, held):
    mask = np.ones((7, 11), bool)
    mask[:4, 5] = False
    value = CALL.value.copy()
    value[..., 5, 2] = held
    out = sl.attend(CALL.query, CALL.key, value, mask=mask, backend=backend)
    clean = sl.attend(*CALL.arrays, mask=mask, backend=backend)
    assert_same_bits(out[..., :4, :], clean[..., :4, :])
    np.testing.assert_array_equal(out[..., 4:, 2], np.full_like(out[..., 4:, 2], held))
    assert_agrees(CALL.query, CALL.key, value, mask=mask, backend=backend)


@pytest.mark.parametrize("kv_len", TAILS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_nan_or_inf_visible_score_makes_that_row_nan_and_no_other(backend, dtype, kv_len):
    call = Case("nan", batch=(), heads=(2, 1), q_len=5, kv_len=kv_len, dtype=dtype).build()
    query = call.query.copy()
    query[0, 1, 3] = np.nan
    query[1, 4] = np.where(call.key[1, kv_len - 1] > 0, np.inf, -np.inf)  # q . k_last = +inf
    look = sl.Lookup(query, call.key, call.value, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    weights, touched = look.weights(), np.zeros((2, 5), bool)
    touched[0, 1] = touched[1, 4] = True
    for array in (out, weights):
        assert np.isnan(array[touched].astype(float)).all()
        assert np.isfinite(array[~touched].astype(float)).all()
    np.testing.assert_array_equal(np.isnan(lse), touched)
    np.testing.assert_array_equal(np.isnan(look.trace().lse), touched)
    assert_agrees(query, call.key, call.value, backend=backend)


@pytest.mark.parametrize("at", [0, 5, 10])
@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_nan_or_inf_score_by_bias_at_any_key(backend, at, score):
    bias = np.zeros((7, 11), np.float32)
    bias[2, at] = score
    exact = assert_agrees(*CALL.arrays, bias=bias, backend=backend)
    assert np.isnan(exact.out[..., 2, :]).all()
    assert np.isfinite(exact.out[..., [0, 1, 3, 4, 5, 6], :]).all()
    assert_agrees(*CALL.arrays, bias=bias, sinks=SINKS, backend=backend)
    hidden = np.arange(11) != (at + 1) % 11
    exact = assert_agrees(*CALL.arrays, bias=bias, mask=hidden, backend=backend)
    assert not exact.weights[..., 2, (at + 1) % 11].any()


@pytest.mark.parametrize("kv_len", TAILS)
@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf])
def test_nan_or_inf_in_a_visible_value_stays_in_its_column(backend, held, kv_len):
    call = Case("value", batch=(), heads=(2, 1), q_len=5, kv_len=kv_len).build()
    value = call.value.copy()
    value[1, kv_len // 2, 4] = held
    answer = sl.Lookup(call.query, call.key, value, backend=backend).inspect()
    out, lse = answer.out, answer.lse
    np.testing.assert_array_equal(out[1, :, 4], np.full(5, held, np.float32))
    assert np.isfinite(np.delete(out[1], 4, axis=-1)).all()
    assert np.isfinite(out[0]).all()
    assert np.isfinite(lse).all()
    assert_agrees(call.query, call.key, value, backend=backend)


@pytest.mark.parametrize("kv_len", [2, 17, 1031])
@pytest.mark.parametrize("q_len", [1, 5])
@pytest.mark.parametrize("value_dim", [1, 13])
@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf])
def test_a_visible_value_that_is_not_finite_shows_where_its_weight_underflows_too(
    backend, held, value_dim, q_len, kv_len
):
    call = Case("0 * inf", batch=(), heads=(2, 1), q_len=q_len, kv_len=kv_len,
                value_dim=value_dim).build()  # fmt: skip
    query, key, value = np.abs(call.query) + 1, np.abs(call.key), call.value.copy()
    key[:, kv_len - 1] = -1000
    value[0, kv_len - 1, 0] = held
    look = sl.Lookup(query, key, value, backend=backend)
    assert not look.weights()[..., kv_len - 1].any()
    out = look.attend()
    assert not np.isfinite(out[0, :, 0]).any()
    assert np.isfinite(out[0, :, 1:]).all()
    assert np.isfinite(out[1]).all()
    assert_agrees(query, key, value, backend=backend)


def test_inf_and_minus_inf_in_one_visible_column_are_nan(backend):
    value = CALL.value.copy()
    value[0, 0, 2, 3], value[0, 0, 9, 3] = np.inf, -np.inf
    assert_agrees(CALL.query, CALL.key, value, backend=backend)


def _row_of_minus_inf(kv_len, dtype=np.float32):
    """Return arrays of which row 1's every score is -inf: visible, but without a number."""
    call = Case("-inf", batch=(), heads=(3, 1), q_len=3, kv_len=kv_len).build()
    query, key = np.abs(call.query), np.abs(call.key) + 0.5
    query[:, 1] = -np.inf
    return query.astype(dtype), key.astype(dtype), call.value.astype(dtype)


@pytest.mark.parametrize("kv_len", TAILS)
def test_all_visible_scores_minus_inf_make_out_and_weights_nan_and_lse_minus_inf(backend, kv_len):
    arrays = _row_of_minus_inf(kv_len)
    look = sl.Lookup(*arrays, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    assert np.isnan(out[:, 1]).all()
    assert np.isnan(look.weights()[:, 1]).all()
    assert np.isneginf(lse[:, 1]).all()
    assert np.isfinite(out[:, [0, 2]]).all()
    steps = look.trace()
    assert np.isnan(steps.out[:, 1]).all()
    assert np.isnan(steps.weights[:, 1]).all()
    assert np.isneginf(steps.lse[:, 1]).all()
    assert_agrees(*arrays, backend=backend)


@pytest.mark.parametrize("kv_len", TAILS)
def test_all_visible_scores_minus_inf_with_a_finite_sink(backend, kv_len):
    arrays = _row_of_minus_inf(kv_len)
    look = sl.Lookup(*arrays, sinks=SINKS, backend=backend)
    answer = look.inspect()
    out, lse = answer.out, answer.lse
    assert not out[:, 1].any()
    assert not look.weights()[:, 1].any()
    np.testing.assert_array_equal(lse[:, 1], SINKS)
    assert not look.trace().out[:, 1].any()
    np.testing.assert_array_equal(look.trace().lse[:, 1], SINKS)
    assert_agrees(*arrays, sinks=SINKS, backend=backend)


def test_a_single_minus_inf_score_among_finite_ones_weighs_0(backend):
    key = np.abs(CALL.key)
    key[..., 3, :] = -np.inf
    exact = assert_agrees(np.abs(CALL.query), key, CALL.value, backend=backend)
    assert not exact.weights[..., 3].any()
    assert exact.visible.all()


def test_empty_row_lse_is_the_sink_even_an_infinite_one(backend):
    query, key, value = np.ones((3, 1, 2)), np.ones((3, 1, 2)), np.ones((3, 1, 1))
    sinks = np.array([0.25, np.inf, -np.inf])
    look = sl.Lookup(query, key, value, sinks=sinks, mask=False, backend=backend)
    np.testing.assert_array_equal(look.inspect().lse[:, 0], sinks)
    np.testing.assert_array_equal(look.trace().lse[:, 0], sinks)
    np.testing.assert_array_equal(look.trace().sink_weight, np.ones((3, 1)))
    np.testing.assert_array_equal(look.attend(), 0 * value)


def test_a_finite_sink_beyond_float32_is_just_a_number(backend):
    one = np.ones((1, 1, 1), np.float32)
    look = sl.Lookup(one, one, one, sinks=np.array([1e39]), backend=backend)
    np.testing.assert_array_equal(look.attend(), 0 * one)
    np.testing.assert_array_equal(look.weights(), 0 * one)
