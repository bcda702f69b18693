"""A lookup beside the oracle: answer, log-sum-exp and weights, each within its budget."""

import numpy as np

import cases
import oracle
import softlookup as sl
from budget import assert_within_budget, loudest


def assert_answer(answer, exact, naive, narrow):
    """Assert that `answer` is exact; `narrow` is naive in the accumulator's dtype, for the lse."""
    assert_out(answer.out, exact, naive)
    assert_within_budget(answer.lse, exact.lse, narrow.lse, "lse", loudest(exact))


def assert_out(out, exact, naive, at=...):
    """Assert that `out` is the exact output, or its part `at`."""
    assert_within_budget(out, exact.out[at], naive.out[at], "out", loudest(exact))


def assert_weights(weights, exact, narrow, at=...):
    """Assert that `weights` are the exact weights, or their part `at`."""
    assert_within_budget(weights, exact.weights[at], narrow.weights[at], "weights", loudest(exact))


def expect(query, key, value, **options):
    """Return what is exact, naive in the inputs' dtype, and naive in the accumulator's."""
    dtypes = oracle.wide(query.dtype), query.dtype, cases.accumulator(query.dtype)
    return [oracle.lookup(query, key, value, **options, dtype=dtype) for dtype in dtypes]


def assert_agrees(query, key, value, *, backend="auto", **options):
    """Assert that out, lse and weights agree with the oracle; return what is exact."""
    look = sl.Lookup(query, key, value, **options, backend=backend)
    exact, naive, narrow = expect(query, key, value, **options)
    assert_answer(look.inspect(), exact, naive, narrow)
    assert_weights(look.weights(), exact, narrow)
    return exact


def assert_same_bits(left, right):
    """Assert equal bytes, dtype and shape: -0.0 and every NaN included."""
    assert (left.dtype, left.shape) == (right.dtype, right.shape)
    bits = np.dtype(f"u{left.dtype.itemsize}")
    differs = np.ascontiguousarray(left).view(bits) != np.ascontiguousarray(right).view(bits)
    assert not differs.any(), (
        f"{int(differs.sum())} of {differs.size} values differ in their bits, first at "
        f"{tuple(map(int, np.argwhere(differs)[0]))}"
    )
