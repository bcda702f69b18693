"""Gradients of every case on every backend, and where they are 0, NaN or summed."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import cases
import slopes
import softlookup as sl
from agreement import assert_same_bits
from cases import Case
from patience import PATIENCE
from softlookup import machine
from softlookup.backends import registry
from softlookup.gradients import are_finite

NAMES = tuple(cases.NAMED)
BACKENDS = {each.NAME: each for each in registry.backends()}


def look_of(call, backend):
    return sl.Lookup(*call.arrays, **call.options, backend=backend)


def rng_of(name):
    return np.random.default_rng(len(name))


@pytest.mark.parametrize("name", [n for n in NAMES if "tiles" not in n and "many" not in n])
def test_the_dense_reference_is_the_slope_of_the_oracle(name):
    call = cases.build(name)
    slopes.assert_slopes(call, rng_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_case_is_exact(name, backend):
    call = cases.build(name)
    out_grad, lse_grad = slopes.draw(call, rng_of(name))
    look = look_of(call, backend)
    slopes.assert_gradients(look.gradients(out_grad, lse_grad=lse_grad), call, out_grad, lse_grad)
    slopes.assert_gradients(look.gradients(out_grad), call, out_grad, None)


@pytest.mark.parametrize("name", NAMES)
def test_residuals_keep_every_bit_of_the_answer(name, backend):
    look = look_of(cases.build(name), backend)
    kept, found = BACKENDS[backend].residuals(look.problem), look.inspect()
    assert_same_bits(look.problem.restore(kept.out), found.out)
    assert_same_bits(look.problem.restore(kept.lse), found.lse)


@pytest.mark.parametrize("dtype", cases.DTYPES.values(), ids=cases.DTYPES)
def test_numbers_are_told_from_what_is_not_finite(dtype):
    largest = np.array([[1, -1, ml_dtypes.finfo(dtype).max, -0.0, 0]], dtype)
    assert are_finite(largest[:, :2], None, np.zeros((0, 2), dtype))
    for held in (np.nan, np.inf, -np.inf):
        assert not are_finite(np.array([[1.5, held]], dtype))
        assert not are_finite(np.broadcast_to(np.array([held], dtype), (3, 5)))
    if dtype.itemsize == 2:
        assert are_finite(largest, -largest)


BIASES = {
    "one number": (), "keys": (11,), "queries": (7, 1), "both": (7, 11), "heads": (6, 1, 1),
    "heads and keys": (6, 1, 11), "heads and both": (6, 7, 11), "batch and keys": (2, 1, 1, 11),
    "batch and both": (2, 1, 7, 11), "batch, heads and queries": (2, 6, 7, 1),
    "everything": (2, 6, 7, 11),
}  # fmt: skip


@pytest.mark.parametrize("shape", BIASES.values(), ids=BIASES)
def test_a_bias_is_summed_over_the_axes_that_it_was_broadcast_over(shape, backend):
    rng = np.random.default_rng(5)
    call = Case("bias", heads=(3, 2)).build()
    call = call._replace(options={"bias": rng.standard_normal(shape, np.float32), "softcap": 3.0})
    found = look_of(call, backend).gradients(*slopes.draw(call, rng, lse=False)[:1])
    assert found.bias.shape == shape
    out_grad, lse_grad = slopes.draw(call, rng)
    found = look_of(call, backend).gradients(out_grad, lse_grad=lse_grad)
    size = slopes.largest_delta(call, out_grad, lse_grad)  # of which each row brings a rounding
    slopes.assert_gradients(found, call, out_grad, lse_grad, size=size)


def test_a_bias_repeated_by_the_caller_has_a_gradient_for_each_repeat(backend):
    rng = np.random.default_rng(6)
    call = Case("bias", heads=(3, 2)).build()
    bias = np.broadcast_to(rng.standard_normal((1, 6, 1, 11), np.float32), (2, 6, 7, 11))
    call = call._replace(options={"bias": bias})
    out_grad, _ = slopes.draw(call, rng)
    slopes.assert_gradients(look_of(call, backend).gradients(out_grad), call, out_grad, None)


def test_over_several_batch_axes_and_in_one_head(backend):
    rng = np.random.default_rng(7)
    call = Case("bias", batch=(2, 3), heads=(1, 5), q_len=7, kv_len=11).build()
    bias = rng.standard_normal((2, 1, 1, 7, 11), np.float32)
    call = call._replace(options={"bias": bias, "sinks": rng.standard_normal(5)})
    out_grad, lse_grad = slopes.draw(call, rng)
    look = look_of(call, backend)
    found = look.gradients(out_grad, lse_grad=lse_grad)
    slopes.assert_gradients(found, call, out_grad, lse_grad)
    one = look.head(3, (1, 2)).gradients(out_grad[1, 2, 3], lse_grad=lse_grad[1, 2, 3])
    np.testing.assert_allclose(one.query, found.query[1, 2, 3], rtol=2e-5, atol=2e-6)
    assert one.bias.shape == (7, 11)


def test_all_heads_of_one_kv_head_add_up(backend):
    call = Case("grouped", heads=(1, 3), value_dim=17).build()
    out_grad, _ = slopes.draw(call, np.random.default_rng(8))
    found = look_of(call, backend).gradients(out_grad)
    repeated = [np.repeat(x, 3, axis=1) for x in call.arrays[1:]]
    each = sl.Lookup(call.query, *repeated, backend=backend).gradients(out_grad)
    for name in ("key", "value"):
        summed = getattr(each, name).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(getattr(found, name), summed, rtol=1e-5, atol=1e-5)


def test_a_row_that_sees_no_key_and_a_key_that_no_row_sees_get_nothing(backend):
    call = Case("empty", heads=(1, 2)).build()
    mask = np.ones((7, 11), bool)
    mask[3], mask[:, 5] = False, False
    look = sl.Lookup(*call.arrays, mask=mask, sinks=np.zeros(2, np.float32), backend=backend)
    found = look.gradients(*slopes.draw(call, np.random.default_rng(9))[:1])
    assert not found.query[:, :, 3].any()
    assert not found.key[:, :, 5].any()
    assert not found.value[:, :, 5].any()


def test_the_lse_of_an_empty_row_is_its_sink(backend):
    one = np.ones((1, 2, 3), np.float32)
    look = sl.Lookup(one, one, one, mask=np.array([[True, True], [False, False]]),
                     sinks=np.float32([0.5]), backend=backend)  # fmt: skip
    found = look.gradients(np.zeros_like(one), lse_grad=np.float32([[0, 1]]))
    np.testing.assert_array_equal(found.sinks, np.float32([1]))
    assert not found.query.any()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_hidden_keys_hold_changes_nothing(dtype, backend):
    call = Case("hidden", heads=(1, 2), q_len=7, kv_len=67, head_dim=11, dtype=dtype).build()
    rng = np.random.default_rng(10)
    out_grad, lse_grad = slopes.draw(call, rng)
    mask = rng.random(67) < 0.6
    options = {"mask": mask, "softcap": 2.0, "kv_lens": np.array([61, 67]), "backend": backend}
    clean = sl.Lookup(*call.arrays, **options).gradients(out_grad, lse_grad=lse_grad)
    key, value = call.key.copy(), call.value.copy()
    key[:, :, ~mask], value[:, :, ~mask] = np.nan, np.inf
    key[0, :, 61:], value[0, :, 61:] = -np.inf, np.nan
    found = sl.Lookup(call.query, key, value, **options).gradients(out_grad, lse_grad=lse_grad)
    for one, other in zip(clean[:3], found[:3], strict=True):
        assert np.isfinite(other).all()
        room = 1e-6 if dtype == "float32" else 2.0**-7
        np.testing.assert_allclose(
            one.astype(float), other.astype(float), rtol=room, atol=room / 10
        )
        if backend == "cpu":
            assert_same_bits(one, other)


@pytest.mark.parametrize("offset", [0, 10, 100])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("dim", [8, 72])
def test_in_16_bits_each_sum_is_rounded_once_however_far_from_0_values_lie(
    dim, dtype, offset, backend
):
    rng = np.random.default_rng(13)
    arrays = rng.standard_normal((4, 1, 2, 64, dim))
    arrays[2] += offset
    query, key, value, out_grad = arrays.astype(cases.DTYPES[dtype])
    options = {"bias": np.zeros((2, 64, 64), np.float32), "causal": True}
    look = sl.Lookup(query, key, value, **options, backend=backend)
    found = look.gradients(out_grad)
    exact = slopes.gradients((query, key, value), out_grad, None, np.float64, **options)
    half_a_spacing = float(ml_dtypes.finfo(query.dtype).eps) / 2
    for name in ("query", "key", "value", "bias"):
        largest = np.abs(exact[name]).max()
        error = np.abs(np.asarray(getattr(found, name), float) - exact[name]).max() / largest
        assert error <= (1e-3 if name == "bias" else half_a_spacing * 1.05), name
    rows = np.abs(found.bias.sum(axis=-1)).max()  # the weights of a row have one sum
    assert rows <= 1e-3 * np.abs(found.bias).max()


NUMBERS = {"a number": (0.5, np.float64), "an array of no axes": (np.array(0.5), np.float64),
           "NumPy's float32": (np.float32(0.5), np.float32),
           "NumPy's float16": (np.float16(0.5), np.float16)}  # fmt: skip


@pytest.mark.parametrize(("given", "dtype"), NUMBERS.values(), ids=NUMBERS)
def test_one_number_as_sinks_or_bias_has_one_gradient_of_its_own_dtype(given, dtype, backend):
    rows = np.eye(2, dtype=np.float32)
    look = sl.Lookup(rows, rows, rows, sinks=given, bias=given, backend=backend)
    listed = sl.Lookup(rows, rows, rows, sinks=[given], bias=given, backend=backend).gradients(rows)
    assert listed.sinks.shape == (1,)
    for found in (look.gradients(rows), look.head().gradients(rows)):
        for each in (found.sinks, found.bias):
            assert (np.shape(each), each.dtype) == ((), dtype)
        assert float(found.sinks) == pytest.approx(listed.sinks[0], rel=1e-3)


@pytest.mark.parametrize("spoilt", ["query", "sink", "key"])
def test_a_row_that_is_nan_spoils_what_it_sees_and_nothing_else(spoilt, backend):
    call = Case("spoilt", batch=(), heads=(1, 1), q_len=7, kv_len=7, head_dim=5).build()
    query, key, value = (x.copy() for x in call.arrays)
    options = {"causal": True, "bias": np.zeros((7, 7), np.float32), "backend": backend}
    out_grad, _ = slopes.draw(call, np.random.default_rng(11))
    clean = sl.Lookup(query, key, value, **options).gradients(out_grad)
    if spoilt == "query":
        query[0, 3, 1] = np.nan
        rows, seen = slice(3, 4), slice(0, 4)
    elif spoilt == "key":
        key[0, 3, 1] = np.nan
        rows, seen = slice(3, 7), slice(0, 7)
    else:
        options["sinks"] = np.float32([np.nan])
        rows, seen = slice(0, 7), slice(0, 7)
    found = sl.Lookup(query, key, value, **options).gradients(out_grad)
    wrong = np.zeros(7, bool)
    wrong[rows] = True
    assert np.isnan(found.query[0, rows]).all()
    np.testing.assert_allclose(found.query[0, ~wrong], clean.query[0, ~wrong], rtol=1e-5)
    wrong[:], wrong[seen] = False, True
    for name in ("key", "value"):
        assert np.isnan(getattr(found, name)[0, wrong]).all(), name
        same = getattr(clean, name)[0, ~wrong]
        np.testing.assert_allclose(getattr(found, name)[0, ~wrong], same, rtol=1e-5)
    assert not np.isnan(found.bias[np.triu_indices(7, 1)]).any()


@pytest.mark.parametrize("weighed", [True, False])
@pytest.mark.parametrize("held", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_value_that_is_not_finite_spoils_in_16_bits_what_it_spoils_in_32(
    dtype, held, weighed, backend
):
    call = Case("spoilt", batch=(), heads=(1, 1), q_len=7, kv_len=7, head_dim=5).build()
    query, key, value, out_grad = (
        x.astype(cases.DTYPES[dtype]) for x in (*call.arrays, slopes.draw(call, rng_of("x"))[0])
    )
    value[0, 3, 1] = held
    bias = np.zeros((7, 7), np.float32)
    bias[:, 3] = 0 if weighed else -1e4  # its weight is 0, yet it is seen
    options = {"causal": True, "bias": bias, "backend": backend}
    found = sl.Lookup(query, key, value, **options).gradients(out_grad)
    wide = (x.astype(np.float32) for x in (query, key, value))
    expected = sl.Lookup(*wide, **options).gradients(out_grad.astype(np.float32))
    for name in ("query", "key", "value", "bias"):
        one, other = getattr(found, name).astype(float), getattr(expected, name)
        np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other), name)
    assert not np.isfinite(found.query[0, 3:].astype(float)).any()


def test_a_gradient_that_is_not_finite_reaches_what_its_row_weighs(backend):
    call = Case("loud", batch=(), heads=(1, 1), q_len=5, kv_len=5).build()
    out_grad, _ = slopes.draw(call, np.random.default_rng(12))
    out_grad[0, 2, 3] = np.inf
    found = sl.Lookup(*call.arrays, causal=True, backend=backend).gradients(out_grad)
    assert np.isposinf(found.value[0, :3, 3]).all()
    assert np.isfinite(found.value[0, 3:]).all()
    assert np.isfinite(np.delete(found.value[0], 3, axis=1)).all()
    assert np.isfinite(np.delete(found.query[0], 2, axis=0)).all()


def test_a_float32_bias_on_bfloat16(backend):
    call = Case("bfloat16", dtype="bfloat16", heads=(1, 2)).build()
    bias = np.random.default_rng(13).standard_normal((7, 11)).astype(np.float32)
    call = call._replace(options={"bias": bias})
    out_grad, _ = slopes.draw(call, np.random.default_rng(14))
    found = look_of(call, backend).gradients(out_grad)
    slopes.assert_gradients(found, call, out_grad, None)
    assert found.query.dtype == ml_dtypes.bfloat16


def test_gradients_are_taken_in_any_float_dtype_and_any_strides(backend):
    call = Case("odd", dtype="float16").build()
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(15))
    look = look_of(call, backend)
    plain = look.gradients(out_grad, lse_grad=lse_grad)
    odd = np.repeat(out_grad.astype(np.float64), 2, axis=3)[..., ::2]
    found = look.gradients(odd, lse_grad=lse_grad.astype(np.float64))
    for one, other in zip(plain[:3], found[:3], strict=True):
        assert_same_bits(one, other)
    assert_same_bits(
        look.gradients(np.broadcast_to(np.float16(1), out_grad.shape)).value,
        look.gradients(np.ones_like(out_grad)).value,
    )


@pytest.mark.parametrize("dtype", cases.DTYPES)
@pytest.mark.parametrize("bias", [(131,), (1, 6, 131, 131), (2, 1, 131, 131), (6, 131, 1)])
def test_no_number_of_threads_changes_a_bit(bias, dtype, monkeypatch):
    reason = BACKENDS["cpu"].missing()
    if reason is not None:
        pytest.skip(f"hardware: cpu: {reason}")
    rng = np.random.default_rng(16)
    call = Case("threads", heads=(3, 2), q_len=131, kv_len=131, head_dim=37, dtype=dtype).build()
    options = {"causal": True, "bias": rng.standard_normal(bias), "sinks": rng.standard_normal(6)}
    look = sl.Lookup(*call.arrays, **options, backend="cpu")
    out_grad, lse_grad = slopes.draw(call, rng)
    monkeypatch.setenv(machine.THREADS, "1")
    alone = look.gradients(out_grad, lse_grad=lse_grad)
    for threads in ("2", "3", "16"):
        monkeypatch.setenv(machine.THREADS, threads)
        for one, other in zip(alone, look.gradients(out_grad, lse_grad=lse_grad), strict=True):
            assert_same_bits(one, other)


STATUS = Path(
    "/proc/self/status"
)  # its peak is this program's own; getrusage's is the parent's too
MEMORY = """
import re
import sys
from pathlib import Path
import numpy as np
import softlookup as sl

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

rng = np.random.default_rng(0)
arrays = [rng.standard_normal((1, 8192, 64), dtype=np.float32) for _ in range(4)]
bias = rng.standard_normal((1, 1, 8192), dtype=np.float32)
before = peak()
look = sl.Lookup(*arrays[:3], bias=bias, backend=sys.argv[1])
found = look.gradients(arrays[3], lse_grad=np.ones((1, 8192), np.float32))
assert np.isfinite(found.key).all()
print(peak() - before)
"""


def test_memory_grows_with_the_length_not_with_its_square(backend):
    if not STATUS.is_file():
        pytest.skip("hardware: this system does not tell a program's peak of memory")
    ran = subprocess.run(
        [sys.executable, "-c", MEMORY, backend],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    kibibytes = int(ran.stdout)
    assert 1024 < kibibytes <= 160 * 1024, kibibytes  # the weights alone are 256 MiB
