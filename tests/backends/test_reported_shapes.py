"""Faults that libraries had, 19 to 36: lengths, strides, sizes, causal, windows and masks.

Each test is named after what went wrong; the number is its line in the list of reports.
"""

import tracemalloc

import numpy as np
import pytest

import softlookup as sl
from agreement import assert_agrees, assert_same_bits
from budget import assert_within_budget, loudest
from cases import DTYPES
from softlookup.errors import ShapeError


def _qkv(q_len, kv_len, head_dim, *, lead=(1,), seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    shapes = ((q_len, head_dim), (kv_len, head_dim), (kv_len, head_dim))
    return [rng.standard_normal((*lead, *shape)).astype(dtype) for shape in shapes]


@pytest.mark.parametrize(("keys", "values"), [(5, 6), (6, 5), (1, 6), (0, 6)])
def test_19_key_and_value_of_different_length(backend, keys, values):
    with pytest.raises(ShapeError, match=rf"{keys}; got {values} ") as refused:
        sl.attend(np.ones((3, 4)), np.ones((keys, 4)), np.ones((values, 4)), backend=backend)
    assert refused.value.argument == "value"


def test_20_gqa_with_no_kv_heads(backend):
    none = np.ones((2, 0, 5, 4))
    with pytest.raises(ShapeError, match=r"3 heads; got 0 ") as refused:
        sl.attend(np.ones((2, 3, 7, 4)), none, none, backend=backend)
    assert refused.value.argument == "key"


def test_21_kv_lens_with_0_and_padding_without_effect(backend):
    lens = np.array([24, 125, 53, 28, 77, 96, 13, 114])
    query, key, value = _qkv(3, 128, 8, lead=(8, 2), seed=21)
    options = {"kv_lens": lens, "causal": True, "q_offset": lens - 3}
    exact = assert_agrees(query, key, value, **options, backend=backend)
    assert exact.visible[..., -1, :].sum(-1).tolist() == [[n, n] for n in lens]
    for entry, length in enumerate(lens):
        short = sl.attend(
            query[entry], key[entry, :, :length], value[entry, :, :length], causal=True,
            q_offset=length - 3, backend=backend,
        )  # fmt: skip
        padded = sl.attend(query, key, value, **options, backend=backend)[entry]
        np.testing.assert_allclose(padded, short, rtol=1e-4, atol=1e-6)
    lens = lens * (np.arange(8) != 3)
    answer = sl.Lookup(query, key, value, kv_lens=lens, backend=backend).inspect()
    assert not answer.out[3].any()
    assert np.isneginf(answer.lse[3]).all()
    assert_agrees(query, key, value, kv_lens=lens, backend=backend)


@pytest.mark.parametrize("head_dim", [1, 7, 64, 80, 128])
def test_22_decode_equals_dense_and_the_last_row_of_the_prefill(backend, head_dim):
    query, key, value = _qkv(130, 130, head_dim, seed=22)
    prefill = sl.attend(query, key, value, causal=True, backend=backend)
    for kv_len in [*range(1, 35), 63, 64, 65, 127, 128, 129, 130]:
        kv = key[:, :kv_len], value[:, :kv_len]
        one = query[:, kv_len - 1 : kv_len]
        decoded = sl.attend(one, *kv, causal=True, q_offset=kv_len - 1, backend=backend)
        np.testing.assert_allclose(decoded[0, 0], prefill[0, kv_len - 1], rtol=2e-4, atol=2e-6)
    for kv_len in (1, 2, 31, 65, 130):
        assert_agrees(query[:, :1], key[:, :kv_len], value[:, :kv_len], backend=backend)


@pytest.mark.parametrize(("heads", "kv_heads"), [(9, 3), (3, 3), (6, 3), (7, 1), (14, 2)])
@pytest.mark.parametrize("causal", [False, True])
def test_23_groups_of_1_2_3_and_7(backend, heads, kv_heads, causal):
    query = _qkv(5, 5, 8, lead=(2, heads))[0]
    _, key, value = _qkv(5, 5, 8, lead=(2, kv_heads), seed=1)
    assert_agrees(query, key, value, causal=causal, backend=backend)


def _of_contiguous(arrays, views, backend, **options):
    """Assert that views give what their contiguous copies give."""
    for view, array in zip(views, arrays, strict=True):
        np.testing.assert_array_equal(view, array)
    strided = sl.attend(*views, **options, backend=backend)
    plain = sl.attend(*arrays, **options, backend=backend)
    exact = assert_agrees(*views, **options, backend=backend)
    assert_within_budget(strided, exact.out, plain, size=loudest(exact))
    assert strided.flags.c_contiguous


def _copies(views):
    return [np.ascontiguousarray(view) for view in views]


def test_24_transposed_permuted_mixed_negative_and_zero_strides(backend):
    views = [x.swapaxes(-1, -2) for x in _qkv(16, 16, 16, lead=(2, 3))]
    _of_contiguous(_copies(views), views, backend)
    base = np.random.default_rng(24).standard_normal((3, 84, 3, 3, 64)).astype(np.float32)
    views = [x.transpose(1, 0, 2, 3) for x in base.swapaxes(1, 2)]  # (84, 3, 3, 64), permuted
    assert views[0].shape == (84, 3, 3, 64)
    _of_contiguous(_copies(views), views, backend)
    rng = np.random.default_rng(25)
    inside = [rng.standard_normal((2, 513, 16, 64)).astype(np.float32) for _ in range(3)]
    views = [
        inside[0].swapaxes(1, 2),  # heads inside
        np.ascontiguousarray(inside[1].swapaxes(1, 2)),
        np.asfortranarray(inside[2]).swapaxes(1, 2),
    ]
    plain = sl.attend(*_copies(views), backend=backend)
    np.testing.assert_allclose(sl.attend(*views, backend=backend), plain, rtol=1e-4, atol=1e-6)
    small = _qkv(5, 7, 6, lead=(2, 3))
    for flip in (np.s_[..., ::-1], np.s_[..., ::-1, :], np.s_[::-1, ::-1, ::-1, ::-1]):
        views = [x[flip] for x in small]
        _of_contiguous(_copies(views), views, backend)
    views = [np.broadcast_to(x[:1, :1, :1], x.shape) for x in small]
    _of_contiguous(_copies(views), views, backend)
    views = [np.broadcast_to(x[..., :1], x.shape) for x in small]
    _of_contiguous(_copies(views), views, backend)
    packed = rng.standard_normal((2, 3, 7, 3, 6)).astype(np.float32)
    views = [packed[..., n, :] for n in range(3)]  # one projection, cut into three
    _of_contiguous(_copies(views), views, backend, causal=True)


@pytest.mark.parametrize("keys", [43, 77])
def test_25_a_mask_with_a_non_contiguous_last_axis(backend, keys):
    arrays = _qkv(17, keys, 8, lead=(2, 3))
    drawn = np.random.default_rng(keys).random((2, 3, keys, 34)) > 0.5
    views = (drawn[..., ::2].swapaxes(-1, -2), drawn[..., ::-2].swapaxes(-1, -2),
             np.broadcast_to(drawn[..., :1, ::2].swapaxes(-1, -2), (2, 3, 17, keys)))  # fmt: skip
    for view in views:
        assert not view.flags.c_contiguous
        out = sl.attend(*arrays, mask=view, backend=backend)
        copied = sl.attend(*arrays, mask=np.ascontiguousarray(view), backend=backend)
        np.testing.assert_allclose(out, copied, rtol=1e-5, atol=1e-6)
        assert_agrees(*arrays, mask=view, backend=backend)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_26_inputs_are_never_written_and_outputs_never_alias(backend, dtype):
    arrays = _qkv(7, 7, 4, lead=(2, 3), dtype=DTYPES[dtype])
    extras = {"mask": np.tri(7, dtype=bool), "bias": np.zeros((7, 7)), "sinks": np.zeros(3)}
    everything = [*arrays, *extras.values()]
    before = [array.copy() for array in everything]
    for array in everything:
        array.flags.writeable = False
    look = sl.Lookup(*arrays, **extras, scale=2.0, softcap=3.0, backend=backend)
    results = [look.attend(), look.inspect().lse, look.weights(), look.trace().weights]
    for array, kept in zip(everything, before, strict=True):
        assert_same_bits(array, kept)
        assert not any(np.shares_memory(array, result) for result in results)


def test_27_batch_times_heads_beyond_65_535(backend):
    rng = np.random.default_rng(27)
    arrays = [rng.standard_normal((8209, 8, 2, 3)).astype(np.float32) for _ in range(3)]
    out = sl.attend(*arrays, causal=True, backend=backend)
    query, key, value = (x.astype(float) for x in arrays)
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(3)
    first = 1 / (1 + np.exp(scores[..., 1, 1] - scores[..., 1, 0]))[..., None]
    np.testing.assert_array_equal(out[..., 0, :], arrays[2][..., 0, :])
    expected = first * value[..., 0, :] + (1 - first) * value[..., 1, :]
    np.testing.assert_allclose(out[..., 1, :], expected, atol=1e-5)
    whole = np.broadcast_to(arrays[0][0, 0], (70_001, 1, 2, 3))
    repeated = sl.attend(whole, whole, whole, backend=backend)
    np.testing.assert_allclose(repeated - repeated[:1], 0, atol=1e-6)


def test_28_a_bool_mask_of_more_than_2_31_elements_by_broadcasting(backend):
    length = 47_000
    mask = np.broadcast_to(np.arange(length) < 3, (length, length))
    assert mask.size > 2**31
    query, key, value = _qkv(3, length, 2, seed=28)
    tall = np.broadcast_to(query[:, :1], (1, length, 2))
    tracemalloc.start()
    try:
        out = sl.attend(tall, key, value, mask=mask, backend=backend)
        assert tracemalloc.get_traced_memory()[1] < 256 * 2**20
    finally:
        tracemalloc.stop()
    short = sl.attend(query[:, :1], key[:, :3], value[:, :3], backend=backend)
    np.testing.assert_allclose(out, np.broadcast_to(short, out.shape), rtol=1e-5)


def test_28_positions_beyond_2_31(backend):
    arrays = _qkv(5, 7, 4, seed=29)
    far = 2**33 + 1
    assert_agrees(*arrays, window=(far, 0), q_offset=far, backend=backend)
    seen = sl.Lookup(*arrays, window=(far, 0), q_offset=far, backend=backend).trace().visible
    assert seen[0].sum(-1).tolist() == [7, 6, 5, 4, 3]


def test_29_four_million_keys_for_one_query(backend):
    kv_len = 4_194_304
    rng = np.random.default_rng(29)
    row = rng.standard_normal(128).astype(np.float32)
    key, value = (np.broadcast_to(row, (1, kv_len, 128)) for _ in range(2))
    query = rng.standard_normal((1, 1, 128)).astype(np.float32)
    tracemalloc.start()
    try:
        answer = sl.Lookup(query, key, value, backend=backend).inspect()
        assert tracemalloc.get_traced_memory()[1] < 256 * 2**20
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(answer.out[0, 0], row, rtol=1e-4)
    score = query[0, 0].astype(float) @ row.astype(float) / np.sqrt(128)
    np.testing.assert_allclose(answer.lse, score + np.log(kv_len), rtol=1e-6)


@pytest.mark.parametrize("key_at", [0, 1, 15, 16, 63, 64, 65, 127, 128, 255, 256, 511, 512, 599])
def test_30_a_perturbed_key_moves_no_row_before_it(backend, key_at):
    query, key, value = _qkv(600, 600, 8, seed=30)
    before = sl.attend(query, key, value, causal=True, backend=backend)
    key[0, key_at] += 3
    value[0, key_at] -= 5
    after = sl.attend(query, key, value, causal=True, backend=backend)
    assert_same_bits(after[:, :key_at], before[:, :key_at])
    assert (after[:, key_at] != before[:, key_at]).any()


def test_31_asking_for_more_changes_neither_masking_nor_output(backend):
    rng = np.random.default_rng(31)
    arrays = _qkv(37, 37, 8, lead=(2, 2), seed=31)
    every = {
        "mask": rng.random((37, 37)) > 0.3, "bias": rng.standard_normal((37, 37)), "causal": True,
        "window": (9, 0), "kv_lens": np.array([30, 37]), "softcap": 4.0, "sinks": np.zeros(2),
    }  # fmt: skip
    for dropped in (None, *every):
        options = {name: option for name, option in every.items() if name != dropped}
        look = sl.Lookup(*arrays, **options, backend=backend)
        out, answer, weights, steps = look.attend(), look.inspect(), look.weights(), look.trace()
        assert_same_bits(answer.out, out)
        assert_same_bits(look.attend(), out)
        blended = weights @ arrays[2]
        np.testing.assert_allclose(blended, out, rtol=1e-3, atol=1e-5)
        np.testing.assert_array_equal(weights > 0, steps.visible)
        np.testing.assert_allclose(steps.out, out, rtol=1e-3, atol=1e-5)
        assert_agrees(*arrays, **options, backend=backend)


def test_32_windows_0_31_and_0_0_differ_and_count_their_keys(backend):
    arrays = _qkv(64, 64, 8, seed=32)
    wide, own = (sl.Lookup(*arrays, window=window, backend=backend) for window in ((0, 31), (0, 0)))
    assert not np.allclose(wide.attend(), own.attend())
    np.testing.assert_allclose(own.attend(), arrays[2], rtol=1e-6)
    assert (own.weights() > 0).sum(-1).tolist() == [[1] * 64]
    assert (wide.weights() > 0).sum(-1).tolist() == [[min(32, 64 - i) for i in range(64)]]
    both = sl.Lookup(*arrays, window=(3, 2), backend=backend).weights()
    counts = [min(i, 3) + 1 + min(2, 63 - i) for i in range(64)]
    assert (both > 0).sum(-1).tolist() == [counts]


@pytest.mark.parametrize("left", [0, 1, 5, 64, 1000])
def test_33_a_window_to_the_left_without_causal_sees_no_future(backend, left):
    query, key, value = _qkv(64, 64, 8, seed=33)
    weights = sl.Lookup(query, key, value, window=(left, 0), backend=backend).weights()
    assert not np.triu(weights[0], 1).any()
    windowed, both = (
        sl.attend(query, key, value, window=(left, 0), causal=causal, backend=backend)
        for causal in (False, True)
    )
    np.testing.assert_allclose(windowed, both, rtol=1e-5, atol=1e-6)


def test_34_masks_of_rank_0_to_4_and_advice_for_batch_q_k(backend):
    arrays = _qkv(5, 7, 4, lead=(2, 3), seed=34)
    rng = np.random.default_rng(34)
    shapes = ((), (7,), (5, 7), (3, 5, 7), (2, 3, 5, 7), (2, 1, 1, 7), (1, 1, 7), (1, 7), (5, 1))
    for shape in shapes:
        mask = rng.random(shape) > 0.3
        out = sl.attend(*arrays, mask=mask, backend=backend)
        full = np.broadcast_to(mask, (2, 3, 5, 7)).copy()
        np.testing.assert_allclose(
            out, sl.attend(*arrays, mask=full, backend=backend), rtol=1e-5, atol=1e-6
        )
        assert_agrees(*arrays, mask=mask, backend=backend)
    with pytest.raises(ShapeError, match=r"mask\[:, None\]"):
        sl.attend(*arrays, mask=np.ones((2, 5, 7), bool), backend=backend)


@pytest.mark.parametrize("softcap", [0.5, 5.0, 50.0])
def test_35_softcap_before_bias_and_mask_keeps_hidden_values_out(backend, softcap):
    query, key, value = _qkv(6, 8, 4, lead=(2,), seed=35)
    value[:, 5:] = 1000
    for options in ({"mask": np.arange(8) < 5}, {"bias": np.where(np.arange(8) < 5, 0, -np.inf)}):
        out = sl.attend(query, key, value, softcap=softcap, **options, backend=backend)
        assert (out <= value[:, :5].max(axis=1, keepdims=True) + 1e-5).all()
        assert (out >= value[:, :5].min(axis=1, keepdims=True) - 1e-5).all()
        assert_agrees(query, key, value, softcap=softcap, **options, backend=backend)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_36_negative_scale_is_exact_and_scale_0_gives_running_means(backend, dtype):
    arrays = _qkv(13, 13, 8, lead=(2,), seed=36, dtype=DTYPES[dtype])
    for scale in (-0.35, -1.0, -4.0):
        assert_agrees(*arrays, scale=scale, causal=True, backend=backend)
    out = sl.attend(*arrays, scale=0, causal=True, backend=backend)
    assert_agrees(*arrays, scale=0, causal=True, backend=backend)
    means = arrays[2].astype(float).cumsum(1) / np.arange(1, 14)[:, None]
    tolerance = 2e-2 if dtype == "bfloat16" else 2e-3
    np.testing.assert_allclose(out.astype(float), means, atol=tolerance)
