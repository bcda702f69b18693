"""What does a mask cost, against the same lookup without one?

Four heads, 512 queries and keys, head_dim 32, float32, the same bool mask for every head.
"""

import measure
import numpy as np
from blocked_vs_plain import plain

import softlookup as sl

QUESTION = "a bool mask against none (4 heads, N 512, D 32, float32)"
SHAPE, SMALL = (4, 512, 32), (4, 70, 32)


def masks(heads, length):
    """Yield (name, mask); every query of each sees a key."""
    rng = np.random.default_rng(7)
    yield "all keys", np.ones((length, length), bool)
    yield "lower triangle", np.tri(length, dtype=bool)
    yield "every second key", np.arange(length) % 2 == 0
    yield "half at random", rng.random((length, length)) < 0.5
    yield "per head, half at random", rng.random((heads, length, length)) < 0.5


def measured(shape, mask, options):
    """Time the lookup with `mask` against the one without; plain NumPy must agree first."""
    rng = np.random.default_rng(7)
    query, key, value = (rng.standard_normal(shape, dtype=np.float32) for _ in range(3))

    def masked():
        return sl.attend(query, key, value, mask=mask, backend="blocked")

    def bare():
        return sl.attend(query, key, value, backend="blocked")

    hidden = np.where(mask, np.float32(0), np.float32(-np.inf))
    expected = plain(query * np.float32(shape[-1] ** -0.5), key, value, hidden)
    np.testing.assert_allclose(masked(), expected, rtol=0, atol=2e-5)
    return measure.compare(masked, bare, options)


def main():
    """Print one row a mask and thread count."""
    options = measure.parsed(measure.arguments(QUESTION, rounds=41))
    shape = SMALL if options.quick else SHAPE
    measure.announce(QUESTION, options)
    rows = []
    for name, mask in masks(*shape[:2]):
        for threads in dict.fromkeys(options.threads):
            with measure.blas_threads(threads):
                pair = measured(shape, mask, options)
            times = [measure.milliseconds(pair.theirs), measure.milliseconds(pair.ours)]
            rows.append([name, str(threads), *times, str(pair)])
    measure.table(["mask", "threads", "without", "with", "ratio"], rows)


if __name__ == "__main__":
    main()
