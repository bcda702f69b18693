"""Ways to cut a call's arrays into chunks, and what a lookup over them must say."""

import dask.array as da
import numpy as np


def drawn(shape, dtype=np.float64, seed=0):
    """Return random numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def in_chunks(call, sizes, laid=()):
    """Return a call over dask arrays; `sizes` are chunks along batch, heads, queries and keys.

    Where a size is None the axis stays whole. Options named in `laid` become dask arrays, too.
    """
    batch, heads, rows, keys = sizes
    query = chunked(call.query, batch, heads, rows)
    key, value = (chunked(each, batch, heads, keys) for each in call.arrays[1:])
    options = dict(call.options)
    for name in laid:
        if name in options:
            array = np.asarray(options[name])
            ends = (
                (batch, heads, rows, keys)[4 - min(array.ndim, 4) :]
                if name != "sinks"
                else (heads,)
            )
            ends = (None,) * (array.ndim - len(ends)) + ends
            options[name] = da.from_array(array, chunks=_within(array.shape, ends))
    return query, key, value, options


def chunked(array, batch, heads, length):
    """Return a dask array of `array`, whose leading axes are cut like the batch."""
    ends = (*[batch] * (array.ndim - 3), heads, length, None)[-array.ndim :]
    return da.from_array(array, chunks=_within(array.shape, ends))


def _within(shape, ends):
    return tuple(
        size if end is None else min(end, size) or size
        for size, end in zip(shape, ends, strict=True)
    )


def some_ways():
    """Yield (name, sizes, options that are chunked, too)."""
    yield "one chunk", (None, None, None, None), ()
    yield "keys by 3", (None, None, None, 3), ("mask", "bias", "sinks")
    yield "everything by 3", (2, 1, 3, 3), ("mask",)
    yield "rows by 5, heads by 1", (None, 1, 5, None), ("bias", "sinks")
