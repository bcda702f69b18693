"""One comparison for everything: an error may be twice that of naive code, plus a rounding."""

import ml_dtypes
import numpy as np


def eps(dtype):
    """Return the spacing of `dtype` at 1, bfloat16 included."""
    return float(ml_dtypes.finfo(np.dtype(dtype).newbyteorder("=")).eps)


def _where(flags):
    return tuple(int(i) for i in np.argwhere(flags)[0])


def assert_same_nonfinite(actual, exact, what="result"):
    """Assert that NaN, inf and -inf stand at the same places."""
    for name, test in (("NaN", np.isnan), ("+inf", np.isposinf), ("-inf", np.isneginf)):
        differs = test(actual) != test(exact)
        assert not differs.any(), (
            f"{what}: {name} at {int(differs.sum())} of {differs.size} places that differ, first "
            f"at {_where(differs)}: got {actual[_where(differs)]}, exact {exact[_where(differs)]}"
        )


def loudest(exact):
    """Return the largest visible score of an exact lookup, for `size`."""
    scores = np.abs(exact.scores[exact.visible])
    return float(scores[np.isfinite(scores)].max(initial=1.0))


def assert_within_budget(actual, exact, naive, what="result", size=1.0):
    """Assert max|actual - exact| <= 2 max|naive - exact| + 2 eps max(1, max|exact|).

    `exact` is wide (float64, longdouble for float64); `naive` is the same formula in the dtype
    whose rounding is forgiven. Where `naive` itself is not finite it forgives nothing. A score of
    `size` on the way is rounded by eps * size, and moves its weight by as much; in a small result
    `naive` may have been lucky there, so 1 and `size` count like the result's own largest number.
    Not in 16 bits, whose eps is so large that any small result would do.
    """
    actual, exact, naive = np.asarray(actual), np.asarray(exact), np.asarray(naive)
    assert actual.shape == exact.shape, f"{what}: shape {actual.shape}, not {exact.shape}"
    unit, naive_bytes, wide = eps(naive.dtype), naive.dtype.itemsize, exact.dtype
    actual, naive = actual.astype(wide), naive.astype(wide)
    assert_same_nonfinite(actual, exact, what)
    finite = np.isfinite(exact)
    if not finite.any():
        return
    known = finite & np.isfinite(naive)
    largest = np.abs(exact[finite]).max()
    size = largest if naive_bytes == 2 else max(1.0, size, largest)
    budget = 2 * np.abs(naive[known] - exact[known]).max(initial=0.0) + 2 * unit * size
    error = np.zeros(exact.shape, wide)
    error[finite] = np.abs(actual[finite] - exact[finite])
    worst = np.unravel_index(int(error.argmax()), error.shape)
    assert error[worst] <= budget, (
        f"{what}: off by {error[worst]:.3g} at {tuple(map(int, worst))}: got {actual[worst]}, "
        f"exact {exact[worst]}; the budget is {budget:.3g}, {int((error > budget).sum())} of "
        f"{error.size} exceed it"
    )
