"""A byte a cell: within half a step of the number, and apart from what is no number."""

import numpy as np
import pytest

from softlookup.viewer import codes

STEP = (codes.HIGH - codes.LOW) / (codes.LAST - codes.FIRST)


def decoded(code):
    """Return log2 of the weight that a code stands for."""
    return codes.LOW + (code.astype(float) - codes.FIRST) * STEP


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_code_is_within_half_a_step(dtype):
    weights = np.concatenate([2.0 ** -np.linspace(0, 32, 10_007), np.linspace(1e-9, 1, 5003)])
    found = codes.encode(weights.astype(dtype))
    assert found.dtype == np.uint8
    assert (found.min(), found.max()) == (codes.FIRST, codes.LAST)
    assert np.abs(decoded(found) - np.log2(weights)).max() <= STEP / 2 * 1.001


def test_larger_weights_never_have_smaller_codes():
    weights = np.sort(2.0 ** -np.random.default_rng(3).uniform(0, 40, 4001))
    assert (np.diff(codes.encode(weights).astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("weight", "code"),
    [
        (0.0, codes.ZERO),
        (-0.0, codes.ZERO),
        (1e-45, codes.ZERO),
        (2.0**-32 * 0.999, codes.ZERO),
        (2.0**-32, codes.FIRST),
        (1.0, codes.LAST),
        (1.0000001, codes.LAST),
        (np.nan, codes.NAN),
    ],
)
def test_the_ends_of_the_range(weight, code):
    assert codes.encode(np.array([weight])).tolist() == [code]


def test_what_is_no_number_has_a_code_of_its_own():
    weights = np.array([[0.5, 0.5, np.nan, np.nan], [0.5, 0.0, np.nan, 0.0]])
    seen = np.array([[True, False, True, False], [False, False, True, True]])
    known = np.array([[True, True, True, True], [False, True, False, False]])
    found = codes.encode(weights, seen, known)
    assert found.tolist() == [[247, 0, 2, 0], [1, 0, 1, 1]]
    assert set(codes.MEANING.values()) >= {0, 1, 2, 3, 4, 255}
