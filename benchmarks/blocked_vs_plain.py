"""Is the `blocked` backend as fast as matmul + softmax + matmul in plain NumPy?

Plain is the best form we know that builds the whole score matrix: the query scaled first, each step
in place, the division after the second product, and for causal lookups an additive bias that was
made beforehand. Half precision is computed in float32 there too, as NumPy has no fast float16.
"""

from itertools import product

import measure
import numpy as np

import softlookup as sl

QUESTION = "blocked against plain NumPy (matmul + softmax + matmul)"
BAR = 1.05
SMALL = [(130, 64), (1, 2, 130, 64)]
SHAPES = [
    (512, 64),
    (1024, 64),
    (2048, 64),
    (512, 128),
    (2048, 128),
    (1, 12, 512, 64),
    (1, 8, 1000, 64),
    (1, 8, 1024, 128),
    (1, 4, 2048, 64),
    (2, 4, 4096, 64),
]
OTHER_DTYPES = [(1, 4, 1024, 64)]


def cases(quick):
    """Yield (shape, dtype, causal)."""
    yield from product(SMALL if quick else SHAPES, [np.float32], [False, True])
    others = SMALL[1:] if quick else OTHER_DTYPES
    yield from product(others, [np.float64, np.float16], [False, True])


def plain(query, key, value, bias):
    """Matmul, softmax, matmul, in place; `query` is already scaled."""
    scores = query @ key.swapaxes(-1, -2)  # (..., heads, q_len, kv_len)
    if bias is not None:
        scores += bias
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    out = scores @ value
    out /= scores.sum(axis=-1, keepdims=True)
    return out


def plain_call(query, key, value, causal):
    """Return the call to be timed; the causal bias is made beforehand."""
    work = np.float32 if query.dtype == np.float16 else query.dtype
    length = query.shape[-2]
    scale = np.asarray(query.shape[-1] ** -0.5, work)
    bias = np.triu(np.full((length, length), -np.inf, work), 1) if causal else None

    def call():
        wide = [array.astype(work, copy=False) for array in (query, key, value)]
        return plain(wide[0] * scale, *wide[1:], bias).astype(query.dtype, copy=False)

    return call


def measured(shape, dtype, causal, options):
    """Time one case; both must agree first."""
    rng = np.random.default_rng(7)
    query, key, value = (rng.standard_normal(shape).astype(dtype) for _ in range(3))
    theirs = plain_call(query, key, value, causal)

    def ours():
        return sl.attend(query, key, value, causal=causal, backend="blocked")

    np.testing.assert_allclose(ours(), theirs(), rtol=0, atol=2e-3 if dtype == np.float16 else 2e-5)
    return measure.compare(ours, theirs, options)


def main():
    """Print one row a case and thread count, and the bar."""
    options = measure.parsed(measure.arguments(QUESTION, rounds=21))
    measure.announce(QUESTION, options)
    rows, ratios = [], []
    for shape, dtype, causal in cases(options.quick):
        for threads in dict.fromkeys(options.threads):
            with measure.blas_threads(threads):
                pair = measured(shape, dtype, causal, options)
            ratios += [pair.ratio] if pair.quiet else []
            rows.append(
                [
                    " x ".join(map(str, shape)),
                    np.dtype(dtype).name,
                    "causal" if causal else "full",
                    str(threads),
                    measure.milliseconds(pair.theirs),
                    measure.milliseconds(pair.ours),
                    str(pair),
                ]
            )
    measure.table(["shape", "dtype", "keys", "threads", "plain", "blocked", "ratio"], rows)
    measure.verdict(f"the largest of {len(ratios)} ratios", max(ratios, default=np.nan), BAR)


if __name__ == "__main__":
    main()
