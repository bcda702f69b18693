"""Named problems for every backend: each size is another prime, so no swapped axis passes."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

import oracle

DTYPES = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
BFLOAT16 = DTYPES["bfloat16"]


class Call(NamedTuple):
    """What is handed to a lookup, and to the oracle."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    options: dict[str, Any]

    @property
    def arrays(self):
        return self.query, self.key, self.value


@dataclass(frozen=True)
class Case:
    """A problem by its sizes; `options` makes what needs random numbers or the sizes."""

    name: str
    batch: tuple[int, ...] = (2,)
    heads: tuple[int, int] | None = (3, 1)  # (kv_heads, group); None: plain 2-D arrays
    q_len: int = 7
    kv_len: int = 11
    head_dim: int = 5
    value_dim: int = 13
    dtype: str = "float32"
    size: float = 1.0  # standard deviation of query, key and value
    options: Callable[[np.random.Generator, "Case"], dict[str, Any]] = lambda rng, case: {}
    strides: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def shape(self):
        """(..., heads, q_len, kv_len), what a mask covers."""
        heads = () if self.heads is None else (self.heads[0] * self.heads[1],)
        return (*self.batch, *heads, self.q_len, self.kv_len)

    def build(self):
        rng = np.random.default_rng(sum(map(ord, self.name)))
        lead = self.batch if self.heads is None else (*self.batch, self.heads[0])
        group = 1 if self.heads is None else self.heads[1]
        q_lead = self.batch if self.heads is None else (*self.batch, self.heads[0] * group)
        query, key, value = (
            (rng.standard_normal(shape) * self.size).astype(DTYPES.get(self.dtype, self.dtype))
            for shape in (
                (*q_lead, self.q_len, self.head_dim),
                (*lead, self.kv_len, self.head_dim),
                (*lead, self.kv_len, self.value_dim),
            )
        )
        if self.strides is not None:
            query, key, value = map(self.strides, (query, key, value))
        return Call(query, key, value, self.options(rng, self))


def _fixed(**options):
    return lambda rng, case: options


def _mask(*axes, share=0.4):
    """Draw a bool mask over the last ``len(axes)`` axes; an axis given as 1 is broadcast."""

    def make(rng, case):
        shape = case.shape[len(case.shape) - len(axes) :]
        shape = tuple(1 if axis == 1 else n for axis, n in zip(axes, shape, strict=True))
        return {"mask": rng.random(shape) > share}

    return make


def _bias(dtype, hidden=0.3):
    def make(rng, case):
        bias = rng.standard_normal(case.shape).astype(DTYPES[dtype])
        bias[rng.random(case.shape) < hidden] = -np.inf
        return {"bias": bias}

    return make


def _everything(rng, case):
    heads, batch = case.heads[0] * case.heads[1], case.batch
    return {
        **_mask(*"bhqk")(rng, case), **_bias("float32", hidden=0.2)(rng, case),
        "causal": True, "q_offset": rng.integers(0, case.kv_len, batch), "window": (17, 3),
        "kv_lens": rng.integers(0, case.kv_len + 1, batch), "scale": -0.7, "softcap": 1.9,
        "sinks": rng.standard_normal(heads).astype(np.float32),
    }  # fmt: skip


def _transposed(x):
    return np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2)


def _reversed(x):
    return np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]


def _heads_inside(x):  # (batch, n, heads, dim) in memory, as many models keep it
    return np.ascontiguousarray(np.swapaxes(x, -3, -2)).swapaxes(-3, -2)


def _repeated(x):
    return np.broadcast_to(x[..., :1, :], x.shape)


def _causal_end(rng, case):
    return {"causal": True, "q_offset": case.kv_len - case.q_len}


CASES = (
    Case("plain in float32"),
    Case("plain in float64", dtype="float64"),
    Case("plain in float16", dtype="float16"),
    Case("plain in bfloat16", dtype="bfloat16"),
    Case("big-endian float32", dtype=">f4"),
    Case("big-endian float64 with a mask", dtype=">f8", options=_mask(*"bhqk")),
    Case("plain 2-D arrays", batch=(), heads=None, q_len=3, kv_len=17),
    Case("plain 2-D arrays, causal", batch=(), heads=None, q_len=11, options=_fixed(causal=True)),
    Case("3-D arrays", batch=(), heads=(3, 1), options=_mask(*"hqk")),
    Case("5-D arrays", batch=(2, 3), heads=(7, 1), q_len=17, options=_mask(*"abhqk")),
    Case("causal over equal lengths", q_len=19, kv_len=19, options=_fixed(causal=True)),
    Case("causal from the end", options=_causal_end),
    Case("causal with leading empty rows", q_len=17, kv_len=7, options=_causal_end),
    Case("an offset for each batch entry", batch=(3,), heads=(2, 1),
         options=_fixed(causal=True, q_offset=np.array([-3, 4, 29]))),
    Case("window both ways", q_len=17, kv_len=17, options=_fixed(window=(2, 3))),
    Case("window open to the left", options=_fixed(window=(None, 1), q_offset=3)),
    Case("window open to the right", options=_fixed(window=(1, None), q_offset=5)),
    Case("causal window in bfloat16", q_len=23, kv_len=23, dtype="bfloat16",
         options=_fixed(causal=True, window=(5, None))),
    Case("mask over keys", options=_mask("k")),
    Case("mask over queries and keys", options=_mask(*"qk")),
    Case("mask over the batch and keys", options=_mask("b", 1, 1, "k")),
    Case("mask that leaves empty rows", q_len=29, kv_len=7, options=_mask(*"bhqk", share=0.8)),
    Case("mask of a single False", options=_fixed(mask=np.array(False))),
    Case("bias in float32", options=_bias("float32")),
    Case("bias in float16 on float64", dtype="float64", options=_bias("float16")),
    Case("bias in bfloat16 on float16", dtype="float16", options=_bias("bfloat16")),
    Case("padded keys, one entry empty", batch=(3,), heads=(2, 1), kv_len=29,
         options=_fixed(kv_lens=np.array([0, 29, 13]))),
    Case("negative scale and softcap", size=3.0, options=_fixed(scale=-1.3, softcap=2.3)),
    Case("scale 0", options=_fixed(scale=0.0)),
    Case("softcap in float16", dtype="float16", size=3.0, options=_fixed(softcap=5.0)),
    Case("sinks", options=_fixed(sinks=np.array([-1.5, 0.5, 7.0]))),
    Case("sinks and empty rows", q_len=23, kv_len=7,
         options=lambda rng, case: {**_mask(*"bhqk", share=0.8)(rng, case),
                                    "sinks": np.array([-90.0, 0.0, 90.0])}),
    Case("grouped heads", heads=(3, 7), q_len=17),
    Case("one kv head for all", heads=(1, 3), dtype="bfloat16"),
    Case("everything at once", heads=(3, 7), q_len=11, kv_len=31, options=_everything),
    Case("everything at once in bfloat16", batch=(7,), heads=(3, 2), q_len=11, kv_len=37,
         dtype="bfloat16", options=_everything),
    Case("everything at once in float64", batch=(7,), heads=(2, 3), q_len=17, kv_len=41,
         dtype="float64", options=_everything),
    Case("no keys", kv_len=0),
    Case("no keys but sinks", kv_len=0, options=_fixed(sinks=np.array([1.0, 2.0, 3.0]))),
    Case("no queries", q_len=0),
    Case("no batch", batch=(0,)),
    Case("no heads", heads=(0, 1)),
    Case("head_dim 0", head_dim=0),
    Case("value_dim 0", value_dim=0),
    Case("transposed in memory", strides=_transposed),
    Case("reversed in memory", strides=_reversed, dtype="float64"),
    Case("heads inside in memory", strides=_heads_inside, dtype="bfloat16"),
    Case("repeated by a zero stride", strides=_repeated),
    Case("many keys for one query", batch=(), heads=(2, 1), q_len=1, kv_len=4099),
    Case("many keys with padding in float16", heads=(1, 3), q_len=7, kv_len=1031, dtype="float16",
         options=_fixed(kv_lens=np.array([3, 1021]))),
    Case("several tiles, causal", batch=(), heads=(1, 2), q_len=307, kv_len=1303,
         options=_causal_end),
    Case("several tiles, window", batch=(), heads=None, q_len=1301, kv_len=1301,
         options=_fixed(window=(67, 31))),
    Case("several tiles, mask and bias", batch=(), heads=(1, 1), q_len=137, kv_len=1103,
         options=lambda rng, case: {**_mask(*"qk", share=0.9)(rng, case),
                                    **_bias("float32", hidden=0.6)(rng, case)}),
)  # fmt: skip
NAMED = {case.name: case for case in CASES}


@functools.cache
def build(name):
    """Return the call of the case `name`."""
    return NAMED[name].build()


@functools.cache
def exact(name):
    """Return what the case `name` gives exactly."""
    call = build(name)
    return oracle.lookup(*call.arrays, **call.options)


@functools.cache
def naive(name, dtype=None):
    """Return what naive code in `dtype` (default: the inputs') makes of the case `name`."""
    call = build(name)
    return oracle.lookup(*call.arrays, **call.options, dtype=dtype or call.query.dtype)


def accumulator(dtype):
    """Return the dtype of weights and facts for inputs of `dtype`."""
    wide = np.dtype(dtype).newbyteorder("=") == np.float64
    return np.dtype(np.float64 if wide else np.float32)
