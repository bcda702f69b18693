"""Every case on every backend."""

import numpy as np
import pytest

import cases
import softlookup as sl
from agreement import assert_answer, assert_same_bits, assert_weights
from budget import assert_within_budget

NAMES = tuple(cases.NAMED)


def _look(name, backend):
    call = cases.build(name)
    return sl.Lookup(*call.arrays, **call.options, backend=backend)


@pytest.mark.parametrize("name", NAMES)
def test_forward_is_exact_and_facts_change_no_bit(name, backend):
    look, query = _look(name, backend), cases.build(name).query
    answer = look.inspect()
    narrow = cases.naive(name, cases.accumulator(query.dtype))
    assert_answer(answer, cases.exact(name), cases.naive(name), narrow)
    assert answer.out.dtype == query.dtype.newbyteorder("=")
    assert answer.lse.dtype == cases.accumulator(query.dtype)
    assert answer.out.flags.c_contiguous
    assert_same_bits(look.attend(), answer.out)


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_exact(name, backend):
    weights, dtype = _look(name, backend).weights(), cases.build(name).query.dtype
    narrow = cases.naive(name, cases.accumulator(dtype))
    assert_weights(weights, cases.exact(name), narrow)
    assert weights.dtype == cases.accumulator(dtype)
    assert not weights[~cases.exact(name).visible].any()


def test_the_cases_cover_every_option_and_dtype():
    calls = [cases.build(name) for name in NAMES]
    options = set().union(*(call.options for call in calls))
    assert options == {
        "causal", "q_offset", "window", "mask", "bias", "kv_lens", "scale", "softcap", "sinks",
    }  # fmt: skip
    dtypes = {call.query.dtype.newbyteorder("=") for call in calls}
    assert dtypes == set(cases.DTYPES.values())
    assert {call.query.ndim for call in calls} == {2, 3, 4, 5}


def test_every_size_of_a_case_is_another_prime():
    for case in cases.CASES:
        call = cases.build(case.name)
        sizes = [*case.batch, *(case.heads or ()), *call.query.shape[-2:], *call.value.shape[-2:]]
        lengths = {n for n in sizes if n > 1}
        assert all(all(n % p for p in range(2, n)) for n in lengths), case.name
        few = len([n for n in sizes if n > 1]) - (case.q_len == case.kv_len)
        assert len(lengths) == few, case.name


def test_budget_sees_what_it_should():
    exact = np.linspace(0.0, 1.0, 11)
    naive = exact.astype(np.float32)
    assert_within_budget(naive, exact, naive)
    with pytest.raises(AssertionError, match=r"off by .* at \(3,\)"):
        assert_within_budget(np.where(np.arange(11) == 3, 9.0, exact), exact, naive)
    with pytest.raises(AssertionError, match=r"NaN at 1 of 11 places"):
        assert_within_budget(np.where(np.arange(11) == 3, np.nan, exact), exact, naive)
    with pytest.raises(AssertionError, match="shape"):
        assert_within_budget(exact[:-1], exact, naive)
