"""Where numbers end below: which weights are 0, and which numbers of bfloat16, set by set."""

import ml_dtypes
import numpy as np
import pytest

import cases
import softlookup as sl
from agreement import assert_same_bits
from softlookup import machine
from softlookup.backends import cpu

pytestmark = pytest.mark.skipif(cpu.missing() is not None, reason=f"hardware: cpu: {cpu.missing()}")
PAIRS = "x86-64-v4-bf16"
BELOW = {dtype: 708.396 if dtype == "float64" else 87.3365 for dtype in cases.DTYPES}


@pytest.fixture(params=machine.supported())
def isa(request, monkeypatch):
    monkeypatch.setenv(machine.ISA, request.param)
    return request.param


def with_gap(gap, dtype, rows=1, backend="cpu"):
    """Return a lookup of two keys whose scores, a bias, lie `gap` apart."""
    kind = cases.DTYPES[dtype]
    wide = cases.accumulator(kind)
    bias = np.array([0, -gap], wide)
    query, key = np.zeros((rows, 3), kind), np.zeros((2, 3), kind)
    value = np.array([[0], [1]], kind)
    return sl.Lookup(query, key, value, bias=bias, backend=backend), float(-bias[1])


@pytest.mark.parametrize("dtype", cases.DTYPES)
@pytest.mark.parametrize("rows", [1, 40])
def test_a_weight_counts_down_to_the_smallest_normal_number(isa, dtype, rows):
    for under in (
        0.5,
        0.3,
        0.1,
        0.001,
    ):  # where the power of two is the last one, rounded up or not
        look, gap = with_gap(BELOW[dtype] - under, dtype, rows)
        np.testing.assert_allclose(look.weights()[:, 1], np.exp(-gap), rtol=2e-5)
        top = look.inspect(top=2, received=True)
        np.testing.assert_allclose(top.top.weights[:, 1], np.exp(-gap), rtol=2e-5)
        np.testing.assert_allclose(top.received[1], rows * np.exp(-gap), rtol=2e-5)


@pytest.mark.parametrize("dtype", cases.DTYPES)
@pytest.mark.parametrize("rows", [1, 40])
def test_below_that_it_is_0(isa, dtype, rows):
    for over in (0.001, 0.1, 0.4, 1, 20, 1e4):
        look, _ = with_gap(BELOW[dtype] + over, dtype, rows)
        assert not look.weights()[:, 1].any()
        facts = look.inspect(top=2, received=True, entropy=True)
        assert not facts.top.weights[:, 1].any()
        assert facts.received[1] == 0
        assert not facts.entropy.any()
        assert not facts.out.any()
        grad = np.ones((rows, 1), cases.DTYPES[dtype])
        assert look.gradients(grad).value[1, 0] == 0


def test_numpy_and_a_trace_go_on_below(isa):
    value = np.array([[0], [2.0**127]], np.float32)
    query, key = np.zeros((1, 3), np.float32), np.zeros((2, 3), np.float32)
    options = {"bias": np.array([0, -90], np.float32)}
    right = np.exp(-90.0) * 2.0**127
    assert sl.attend(query, key, value, **options, backend="cpu") == 0
    in_numpy = sl.attend(query, key, value, **options, backend="blocked")
    np.testing.assert_allclose(in_numpy, right, rtol=1e-5)
    trace = sl.Lookup(query, key, value, **options).trace()
    np.testing.assert_allclose(trace.out, right, rtol=1e-12)


def brain(*rows):
    return np.array(rows, ml_dtypes.bfloat16)


def looked_at(look):
    """Yield the weights of a lookup, (rows, 2), from all that gives them."""
    rows = look.problem.q_len
    facts = look.inspect(top=2, groups=[0, 1])
    yield from (look.weights(), facts.groups)
    yield np.take_along_axis(facts.top.weights, facts.top.keys.argsort(-1), -1)
    grad = np.zeros((rows, 64), ml_dtypes.bfloat16)
    grad[-1] = 1  # then the gradient of a value is its weight in that row
    yield np.broadcast_to(look.gradients(grad).value[:, 0].astype(float), (rows, 2))


@pytest.mark.parametrize("rows", [1, 8, 40])
@pytest.mark.parametrize("least", [2.0**-127, 2.0**-126])
def test_dots_of_pairs_take_subnormal_queries_and_keys_as_0(isa, least, rows):
    few = np.full((rows, 64), least, ml_dtypes.bfloat16)
    many = brain([1 / least] * 64, [0] * 64)
    value = brain([1] * 64, [0] * 64)
    look = sl.Lookup(few, many, value, backend="cpu")
    exact = np.exp([0, -8]) / (1 + np.exp(-8))
    flushed = isa == PAIRS and least < 2.0**-126
    right = [0.5, 0.5] if flushed else exact
    for found in looked_at(look):
        np.testing.assert_allclose(found, np.broadcast_to(right, found.shape), rtol=3e-3)
    assert (look.attend() == (0.5 if flushed else 1)).all()
    np.testing.assert_allclose(look.trace(rows=[rows - 1]).weights[0, 0], exact[0], rtol=1e-12)
    turned = sl.Lookup(
        brain([1 / least] * 64), np.stack([few[0], 0 * few[0]]), value, backend="cpu"
    )
    assert (turned.attend() == (0.5 if flushed else 1)).all()


@pytest.mark.parametrize("rows", [1, 8, 40])
@pytest.mark.parametrize("least", [2.0**-127, 2.0**-126])
def test_dots_of_pairs_take_subnormal_values_as_0(isa, least, rows):
    query, key = np.zeros((rows, 3), ml_dtypes.bfloat16), np.zeros((5, 3), ml_dtypes.bfloat16)
    value = np.full((5, 19), least, ml_dtypes.bfloat16)
    look = sl.Lookup(query, key, value, backend="cpu")
    flushed = isa == PAIRS and least < 2.0**-126
    assert (look.attend() == (0 if flushed else value[0, 0])).all()
    assert look.trace(rows=[0]).out[0, 0] == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("rows", [1, 40])
def test_dots_of_pairs_take_sums_below_the_normal_numbers_as_0(isa, rows):
    query = np.full((rows, 64), 2.0**-64, ml_dtypes.bfloat16)
    key = brain([2.0**-64] * 64, [2.0**-64] * 64)  # 64 products of 2^-128
    key[1] = 0
    look = sl.Lookup(query, key, brain([1], [0]), scale=2.0**122 * 8, backend="cpu")
    np.testing.assert_array_equal(look.attend(), brain(*[[0.5 if isa == PAIRS else 1]] * rows))


def test_rows_of_subnormal_numbers_change_no_bit_of_others(isa):
    rng = np.random.default_rng(3)
    query, key, value = rng.standard_normal((3, 40, 64)).astype(ml_dtypes.bfloat16)
    alone = sl.attend(query[:1], key, value, backend="cpu")
    query[1:] = 2.0**-130
    assert_same_bits(sl.attend(query, key, value, backend="cpu")[:1], alone)
