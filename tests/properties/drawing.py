"""Lookups of any size with any options, drawn by hypothesis; the numbers come from a drawn seed."""

import numpy as np
from hypothesis import strategies as st

from cases import DTYPES, Call

OPTIONS = ("causal", "window", "mask", "bias", "kv_lens", "scale", "softcap", "sinks")
POSITIONED = frozenset({"causal", "window"})


def _window(draw):
    side = st.none() | st.integers(0, 80)
    return draw(side), draw(side)


def _bias(rng, shape):
    bias = rng.standard_normal(shape).astype(rng.choice([np.float16, np.float32, np.float64]))
    bias[rng.random(shape) < 0.2] = -np.inf
    return bias


def _laid_over(draw, shape):
    """Return a shape that broadcasts to `shape`: fewer axes, and some of size 1."""
    axes = shape[draw(st.integers(0, len(shape))) :]
    return tuple(size if draw(st.booleans()) else 1 for size in axes)


def _option(draw, name, rng, batch, shape):
    share = draw(st.sampled_from([0.05, 0.5, 0.95])) if name == "mask" else None
    return {
        "causal": lambda: True,
        "window": lambda: _window(draw),
        "mask": lambda: rng.random(_laid_over(draw, shape)) > share,
        "bias": lambda: _bias(rng, _laid_over(draw, shape)),
        "kv_lens": lambda: rng.integers(0, shape[-1] + 1, batch),
        "scale": lambda: draw(st.sampled_from([0.0, -1.0, 0.3, 2.0])),
        "softcap": lambda: draw(st.sampled_from([0.5, 3.0, 50.0])),
        "sinks": lambda: rng.standard_normal(shape[-3]) * 3,
    }[name]()


@st.composite
def calls(draw, *, without=(), always=(), square=False, most_keys=70, most_queries=9):
    """Draw a lookup whose options leave out `without` and hold `always`."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    batch = draw(st.sampled_from([(), (1,), (2,), (2, 2)]))
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    q_len = draw(st.integers(1, most_queries))
    kv_len = q_len if square else draw(st.integers(0, most_keys))
    head_dim, value_dim = draw(st.integers(0, 9)), draw(st.integers(1, 5))
    dtype = DTYPES[draw(st.sampled_from(list(DTYPES)))]
    query, key, value = (
        (rng.standard_normal(shape) * draw(st.sampled_from([0.1, 1.0, 5.0]))).astype(dtype)
        for shape in (
            (*batch, kv_heads * group, q_len, head_dim),
            (*batch, kv_heads, kv_len, head_dim),
            (*batch, kv_heads, kv_len, value_dim),
        )
    )
    chosen = draw(st.sets(st.sampled_from([n for n in OPTIONS if n not in without]), max_size=4))
    shape = (*batch, kv_heads * group, q_len, kv_len)
    options = {
        name: _option(draw, name, rng, batch, shape)
        for name in OPTIONS
        if name in chosen or name in always
    }
    if POSITIONED & options.keys() and not square:
        options["q_offset"] = draw(st.integers(-10, 80))
    return Call(query, key, value, options)


def permuted(call, order):
    """Return a call with its keys in another order, their values, masks and biases with them."""
    options = {
        name: option[..., order]
        if name in ("mask", "bias") and option.ndim and option.shape[-1] > 1
        else option
        for name, option in call.options.items()
    }
    key, value = call.key[..., order, :], call.value[..., order, :]
    return call._replace(key=key, value=value, options=options)
