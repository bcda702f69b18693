"""What does a mask cost, against the same lookup without one?

Four heads, 512 queries and keys, head_dim 32, float32, the same bool mask for every head.
"""

import measure
import numpy as np

import softlookup as sl

QUESTION = "a bool mask against none (4 heads, N 512, D 32, float32)"
SHAPE = (4, 512, 32)


def masks():
    """Yield (name, mask)."""
    rng = np.random.default_rng(7)
    length = SHAPE[1]
    yield "all keys", np.ones((length, length), bool)
    yield "lower triangle", np.tri(length, dtype=bool)
    yield "every second key", np.arange(length) % 2 == 0
    yield "half at random", rng.random((length, length)) < 0.5
    yield "per head, half at random", rng.random((SHAPE[0], length, length)) < 0.5


def measured(mask, rounds):
    """Time the lookup with `mask` against the one without."""
    rng = np.random.default_rng(7)
    query, key, value = (rng.standard_normal(SHAPE, dtype=np.float32) for _ in range(3))

    def masked():
        return sl.attend(query, key, value, mask=mask, backend="blocked")

    def bare():
        return sl.attend(query, key, value, backend="blocked")

    return measure.compare(masked, bare, rounds)


def main():
    """Print one row a mask and thread count."""
    options = measure.arguments(QUESTION, rounds=41).parse_args()
    options.rounds = min(options.rounds, 7) if options.quick else options.rounds
    measure.announce(QUESTION, options)
    rows = []
    for name, mask in masks():
        for threads in dict.fromkeys(options.threads):
            with measure.blas_threads(threads):
                pair = measured(mask, options.rounds)
            times = [measure.milliseconds(pair.theirs), measure.milliseconds(pair.ours)]
            rows.append([name, str(threads), *times, str(pair)])
    measure.table(["mask", "threads", "without", "with", "ratio"], rows)


if __name__ == "__main__":
    main()
