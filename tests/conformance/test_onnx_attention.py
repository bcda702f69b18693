"""All backend cases of the ONNX Attention operator, inner results too; none is skipped."""

import numpy as np
import pytest
from onnx_cases import load_cases, lower, pack

import softlookup as sl

CASES = load_cases()
WITH_INNER = [case for case in CASES if "qk_matmul_output" in case.outputs]
# The operator's own bounds for float32; the half types are stored after many roundings.
BOUNDS = {"float32": (1e-3, 1e-6), "float16": (2e-3, 2e-3), "bfloat16": (2e-2, 2e-2)}


def _assert_close(case, actual, expected):
    rtol, atol = BOUNDS[str(case.inputs["Q"].dtype)]
    assert actual.shape == expected.shape
    np.testing.assert_allclose(
        actual.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=atol
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_output(backend, case):
    arrays, options = lower(case)
    out = sl.attend(*arrays, **options, backend=backend)
    assert out.dtype == case.outputs["Y"].dtype
    _assert_close(case, pack(out) if case.packed else out, case.outputs["Y"])
    for name, array in zip(("present_key", "present_value"), arrays[1:], strict=True):
        np.testing.assert_array_equal(array, case.outputs.get(name, array))


@pytest.mark.parametrize("case", WITH_INNER, ids=lambda case: case.name)
def test_inner_result_through_trace(case):
    arrays, options = lower(case)
    steps = sl.Lookup(*arrays, **options).trace()
    inner = getattr(steps, case.inner)
    if inner is None:  # softcap is off: the operator returns what it would have capped
        inner = steps.scaled
    _assert_close(case, inner, case.outputs["qk_matmul_output"])
    out = pack(steps.out) if case.packed else steps.out
    _assert_close(case, out, case.outputs["Y"])


@pytest.mark.parametrize(
    "case", [case for case in WITH_INNER if case.inner == "weights"], ids=lambda case: case.name
)
def test_inner_result_through_weights(backend, case):
    arrays, options = lower(case)
    weights = sl.Lookup(*arrays, **options, backend=backend).weights()
    _assert_close(case, weights, case.outputs["qk_matmul_output"])


def test_every_case_is_here():
    assert len({case.name for case in CASES}) == len(CASES) == 93
    assert len(WITH_INNER) == 18
    inner = [case.inner for case in WITH_INNER]
    assert {name: inner.count(name) for name in set(inner)} == {
        "scaled": 3, "capped": 2, "masked_scores": 7, "weights": 6,
    }  # fmt: skip


def test_the_cases_use_every_option_that_the_operator_has():
    used = set()
    for case in CASES:
        _, options = lower(case)
        used |= {name for name, option in options.items() if option is not None}
        used |= {"causal"} if options["causal"] else set()
    assert used >= {"causal", "q_offset", "window", "mask", "bias", "kv_lens", "scale", "softcap"}
