"""Faults that libraries had, 1 to 18: empty rows, sentinels, NaN, overflow.

Each test is named after what went wrong; the number is its line in the list of reports.
"""

import functools

import ml_dtypes
import numpy as np
import pytest

import oracle
import softlookup as sl
from agreement import assert_agrees
from cases import DTYPES, Case
from softlookup.partials import empty_part, finish, merge, part_of_scores

DTYPE = pytest.mark.parametrize("dtype", list(DTYPES))


def _normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _qkv(q_len, kv_len, head_dim, *, lead=(1,), seed=0, dtype=np.float32):
    shapes = ((q_len, head_dim), (kv_len, head_dim), (kv_len, head_dim))
    return [_normal(*lead, *shape, seed=seed + n, dtype=dtype) for n, shape in enumerate(shapes)]


@DTYPE
def test_01_half_of_the_rows_all_false(backend, dtype):
    arrays = _qkv(8, 8, 4, lead=(1, 1), dtype=DTYPES[dtype])
    mask = np.ones((1, 1, 8, 8), bool)
    mask[:, :, 4:] = False
    answer = sl.Lookup(*arrays, mask=mask, backend=backend).inspect()
    assert not answer.out[:, :, 4:].any()
    assert np.isneginf(answer.lse[:, :, 4:]).all()
    assert not np.isnan(answer.out.astype(float)).any()
    assert not np.isnan(answer.lse).any()
    assert_agrees(*arrays, mask=mask, backend=backend)


@DTYPE
@pytest.mark.parametrize("bias_dtype", list(DTYPES))
def test_02_a_row_whose_bias_is_all_finfo_min(backend, dtype, bias_dtype):
    query, key, value = _qkv(3, 7, 4, lead=(2,), dtype=DTYPES[dtype])
    bias = np.zeros((3, 7), DTYPES[bias_dtype])
    bias[1] = ml_dtypes.finfo(bias.dtype).min
    look = sl.Lookup(query, key, value, bias=bias, backend=backend)
    assert np.isfinite(look.attend().astype(float)).all()
    exact = oracle.lookup(query, key, value, bias=bias)
    if bias_dtype == "float16":  # -65504 leaves the scores beside it their digits
        np.testing.assert_allclose(look.weights(), exact.weights.astype(float), atol=5e-3)
        assert np.ptp(exact.weights[0, 1]) > 0.01
    else:
        np.testing.assert_allclose(look.weights()[:, 1], 1 / 7, rtol=1e-6)
        np.testing.assert_allclose(look.trace().weights[:, 1], 1 / 7, rtol=1e-6)


def test_03_late_rows_start_with_whole_hidden_blocks_of_keys(backend):
    n = 600
    arrays = _qkv(n, n, 16)
    bias = np.triu(np.full((n, n), -np.inf, np.float32), 1)
    bias += np.tril(np.full((n, n), -np.inf, np.float32), -10)
    exact = assert_agrees(*arrays, bias=bias, backend=backend)
    assert exact.visible.sum(-1).max() == 10


def test_04_mask_and_padding_together_leave_rows_with_nothing(backend):
    arrays = _qkv(16, 16, 8, lead=(1, 2))
    distance = np.arange(16)[:, None] - np.arange(16)
    band = (distance >= 0) & (distance < 4)
    exact = assert_agrees(*arrays, mask=band, kv_lens=np.array([4]), backend=backend)
    out = sl.attend(*arrays, mask=band, kv_lens=np.array([4]), backend=backend)
    nothing = ~exact.visible[0, 0].any(-1)
    assert nothing.sum() == 9
    assert not out[:, :, nothing].any()


def test_05_visibility_is_never_computed_by_multiplication(backend):
    arrays = _qkv(5, 7, 4)
    mask = np.random.default_rng(5).random((5, 7)) > 0.4
    masked = sl.Lookup(*arrays, mask=mask, backend=backend)
    assert not np.isnan(masked.weights()).any()
    assert not np.isnan(masked.trace().masked_scores).any()
    biased = sl.Lookup(*arrays, bias=np.where(mask, 0.0, -np.inf), backend=backend)
    np.testing.assert_array_equal(masked.attend(), biased.attend())
    no_keys = sl.Lookup(*arrays, mask=mask, bias=np.where(mask, -np.inf, 0.0), backend=backend)
    assert not no_keys.attend().any()


@DTYPE
def test_06_every_score_of_a_row_about_minus_100_000(backend, dtype):
    query = np.full((1, 3, 64), 112, DTYPES[dtype])
    key = np.full((1, 11, 64), -112, DTYPES[dtype])
    key[0, 4, 0] = -111.5  # a score higher by 7
    key[0, 7, 0] = -112.5
    value = _normal(1, 11, 5, dtype=DTYPES[dtype])
    assert_agrees(query, key, value, backend=backend)
    look = sl.Lookup(query, key, value, backend=backend)
    np.testing.assert_allclose(look.inspect().lse, -1e5, rtol=0.01)
    exp = np.exp([0, 0, 0, 0, 7, 0, 0, -7, 0, 0, 0])
    np.testing.assert_allclose(look.weights(), np.tile(exp / exp.sum(), (1, 3, 1)), rtol=1e-5)


@pytest.mark.parametrize("kv_len", [1, 3, 12])
def test_07_bottom_right_causal_with_more_queries_than_keys(backend, kv_len):
    arrays = _qkv(13, kv_len, 8)
    offset = kv_len - 13
    assert_agrees(*arrays, causal=True, q_offset=offset, backend=backend)
    answer = sl.Lookup(*arrays, causal=True, q_offset=offset, backend=backend).inspect()
    assert not answer.out[0, :-kv_len].any()
    assert np.isneginf(answer.lse[0, :-kv_len]).all()
    assert np.isfinite(answer.lse[0, -kv_len:]).all()


def test_08_a_part_of_a_split_without_keys_or_with_hidden_keys_only():
    scores, value = _normal(5, 7, dtype=float), _normal(7, 3, dtype=float)
    hidden = np.zeros((5, 2), bool)
    with np.errstate(all="ignore"):
        some = part_of_scores(scores[:, :5].copy(), None, value[:5])
        none = part_of_scores(scores[:, 5:].copy(), hidden, value[5:])
        no_keys = part_of_scores(scores[:, :0].copy(), None, value[:0])
        whole = finish(some)
        for order in ([some, none, no_keys], [none, no_keys, some], [no_keys, some, none]):
            merged = finish(functools.reduce(merge, order))
            np.testing.assert_array_equal(merged.out, whole.out)
            np.testing.assert_array_equal(merged.lse, whole.lse)
        empty = finish(merge(none, merge(no_keys, empty_part((5,), 3, np.dtype(float)))))
    assert not empty.out.any()
    assert np.isneginf(empty.lse).all()


@pytest.mark.parametrize(
    ("zero", "shape"),
    [("kv_len", (2, 3, 5, 4)), ("q_len", (2, 3, 0, 4)), ("batch", (0, 3, 5, 4)),
     ("heads", (2, 0, 5, 4)), ("value_dim", (2, 3, 5, 0)), ("head_dim", (2, 3, 5, 4))],
)  # fmt: skip
@DTYPE
def test_09_sizes_of_zero(backend, dtype, zero, shape):
    size = {"batch": 2, "heads": 3, "q_len": 5, "kv_len": 7, "head_dim": 6, "value_dim": 4}
    size[zero] = 0
    query, key, value = (
        np.ones((size["batch"], size["heads"], size[n], size[d]), DTYPES[dtype])
        for n, d in (("q_len", "head_dim"), ("kv_len", "head_dim"), ("kv_len", "value_dim"))
    )
    answer = sl.Lookup(query, key, value, backend=backend).inspect()
    assert answer.out.shape == shape
    assert answer.lse.shape == shape[:-1]
    if zero == "kv_len":
        assert not answer.out.any()
        assert np.isneginf(answer.lse).all()
    if zero == "head_dim":
        np.testing.assert_allclose(sl.Lookup(query, key, value).weights(), 1 / 7, rtol=1e-6)
    assert_agrees(query, key, value, backend=backend)


@pytest.mark.parametrize("block", [1, 7, 64, 128])
def test_10_whole_random_blocks_of_minus_inf_in_a_bias(backend, block):
    rng = np.random.default_rng(block)
    rows, keys = 97, 521
    cells = rng.random((-(-rows // block), -(-keys // block))) < 0.5
    hidden = np.kron(cells, np.ones((block, block), bool))[:rows, :keys]
    bias = np.where(hidden, -np.inf, rng.standard_normal((rows, keys))).astype(np.float32)
    assert_agrees(*_qkv(rows, keys, 8), bias=bias, backend=backend)


@pytest.mark.parametrize("n", [5, 97, 301])
def test_11_softcap_bias_random_mask_and_causal_at_once(backend, n):
    rng = np.random.default_rng(n)
    arrays = _qkv(n, n, 16, lead=(1, 2))
    mask, bias = rng.random((n, n)) > 0.7, _normal(2, n, n, seed=3)
    exact = assert_agrees(*arrays, softcap=30.0, bias=bias, mask=mask, causal=True, backend=backend)
    empty = ~exact.visible.any(-1)
    assert empty.any()
    out = sl.attend(*arrays, softcap=30.0, bias=bias, mask=mask, causal=True, backend=backend)
    assert not out[empty].any()


def test_12_float64_inputs_with_a_mask_overflow_no_sentinel(backend):
    arrays = _qkv(5, 7, 4, lead=(2,), dtype=np.float64)
    mask = np.random.default_rng(1).random((5, 7)) > 0.5
    mask[3] = False
    with np.errstate(all="raise"):
        out = sl.attend(*arrays, mask=mask, backend=backend)
    assert not out[:, 3].any()
    assert_agrees(*arrays, mask=mask, backend=backend)
    huge = [arrays[0] * 1e150, arrays[1] * 1e157, arrays[2]]  # below any finite "minus infinity"
    assert_agrees(*huge, mask=mask, backend=backend)


@DTYPE
@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("hide", ["mask", "causal", "padding"])
def test_13_nan_at_a_hidden_key_changes_nothing(backend, dtype, held, hide):
    query, key, value = _qkv(9, 9, 4, lead=(1, 2), dtype=DTYPES[dtype])
    options = {
        "mask": {"mask": np.arange(9) < 5}, "causal": {"causal": True},
        "padding": {"kv_lens": np.array([5])},
    }[hide]  # fmt: skip
    rows = slice(0, 5) if hide == "causal" else slice(None)
    clean = sl.attend(query, key, value, **options, backend=backend)
    key, value = key.copy(), value.copy()
    key[:, :, 5:], value[:, :, 5:] = held, held
    dirty = sl.attend(query, key, value, **options, backend=backend)
    np.testing.assert_array_equal(dirty[:, :, rows], clean[:, :, rows])


@pytest.mark.parametrize("kv_len", range(1, 41))
def test_14_nan_in_a_query_row(backend, kv_len):
    query, key, value = _qkv(3, kv_len, 8)
    query[0, 1, 2] = np.nan
    look = sl.Lookup(query, key, value, backend=backend)
    answer = look.inspect()
    assert np.isnan(answer.out[0, 1]).all()
    assert np.isnan(answer.lse[0, 1])
    assert np.isnan(look.weights()[0, 1]).all()
    assert_agrees(query, key, value, backend=backend)
    clean = sl.attend(query[:, ::2], key, value, backend=backend)
    np.testing.assert_allclose(answer.out[:, ::2], clean, rtol=1e-5, atol=1e-6)


def test_15_float16_far_beyond_its_range(backend):
    rng = np.random.default_rng(15)
    query = rng.uniform(-576, 576, (1, 7, 64)).astype(np.float16)
    key = rng.uniform(-382, 382, (1, 11, 64)).astype(np.float16)
    value = rng.standard_normal((1, 11, 64)).astype(np.float16)
    assert np.isfinite(assert_agrees(query, key, value, backend=backend).out).all()
    query, key, value = ((rng.random((1, 7, 64)) * -900).astype(np.float16) for _ in range(3))
    assert np.isfinite(assert_agrees(query, key, value, backend=backend).out).all()
    loud, ones = np.full((1, 5, 64), 300, np.float16), np.ones((1, 5, 64), np.float16)
    np.testing.assert_array_equal(sl.attend(loud, loud, ones, backend=backend), ones)


@DTYPE
@pytest.mark.parametrize("head_dim", [6, 7, 40, 72, 80, 104, 260])
def test_16_any_head_dim_in_every_dtype(backend, dtype, head_dim):
    arrays = _qkv(5, 19, head_dim, lead=(2,), dtype=DTYPES[dtype])
    assert_agrees(*arrays, backend=backend)


def test_17_an_infinite_score_stays_in_its_row(backend):
    bias = np.zeros((5, 11), np.float32)
    bias[2, 7] = np.inf
    arrays = _qkv(5, 11, 4)
    out = sl.attend(*arrays, bias=bias, backend=backend)
    assert np.isnan(out[:, 2]).all()
    assert np.isfinite(np.delete(out, 2, axis=1)).all()
    query, key = np.abs(arrays[0]), np.abs(arrays[1])
    key[0, 7] = -np.inf
    look = sl.Lookup(query, key, arrays[2], backend=backend)
    assert not look.weights()[..., 7].any()
    without = (x.take([0, 1, 2, 3, 4, 5, 6, 8, 9, 10], axis=1) for x in (key, arrays[2]))
    np.testing.assert_allclose(
        look.attend(), sl.attend(query, *without, backend=backend), rtol=1e-5, atol=1e-6
    )


def test_18_the_error_at_8192_keys_stays_at_the_level_of_512(backend):
    errors = []
    for n in (512, 8192):
        query, key, _ = _qkv(16, n, 64, seed=18)
        value = np.ones((1, n, 1), np.float32)
        assert_agrees(query, key, value, backend=backend)
        errors.append(np.abs(sl.attend(query, key, value, backend=backend) - 1.0).max())
    assert errors[1] <= 2 * errors[0] + 2e-7
    np.testing.assert_array_equal(
        sl.attend(np.zeros((1, 4)), np.zeros((8192, 4)), np.ones((8192, 1)), backend=backend), 1
    )


def test_case_builder_is_seeded():
    first, second = (Case("seed").build() for _ in range(2))
    np.testing.assert_array_equal(first.query, second.query)
