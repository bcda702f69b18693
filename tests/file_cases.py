"""Captures of every kind that a file may hold, small and with all sizes different."""

import ml_dtypes
import numpy as np

from softlookup import Capture, Lookup
from softlookup.captures import Axis, Layer, label
from softlookup.lesson import example


def arrays(
    seed, q_len, kv_len, *, heads=(1, 1), head_dim=5, value_dim=3, batch=(), dtype="float64"
):
    """Draw query, key and value; `heads` are (kv heads, query heads for each of them)."""
    numbers = np.random.default_rng(seed)
    kv_heads, group = heads
    shapes = (
        (*batch, kv_heads * group, q_len, head_dim),
        (*batch, kv_heads, kv_len, head_dim),
        (*batch, kv_heads, kv_len, value_dim),
    )
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    return [numbers.standard_normal(shape).astype(kind) for shape in shapes]


def axis(names, words=None, padding=()):
    return Axis(tuple(names), words, tuple(padding))


def several_layers():
    """Two layers of grouped causal heads over one axis with words, and one over another."""
    same = (axis(["a", "bb", "##c", "d", "##e", "f", "g"], (0, 1, 1, 2, 2, -1, 3)),)
    other = (axis([f"k{i}" for i in range(11)]),)
    return Capture(
        "several layers",
        (
            Layer(Lookup(*arrays(1, 7, 7, heads=(2, 3), dtype="float32"), causal=True),
                  same, same, "model.0", 0, heads=(0, 1, 2, 5, 6, 7)),
            Layer(Lookup(*arrays(2, 7, 11, heads=(3, 1), dtype="float16")), same, other, "cross", 4,
                  "cross"),
            Layer(Lookup(*arrays(3, 7, 7, heads=(6, 1), dtype="float32"), causal=True,
                         window=(2, 0)), same, same, "model.7", 7),
        ),
        {"model": "none", "license": "CC0"},
    )  # fmt: skip


def unequal_heads():
    """Layers with other heads each, a sink in one of them, other positions in another, padding."""
    same = (axis("abcdef", (0, 0, 1, 2, -1, -1), [(4, 6)]),)
    other = (axis("uvwxyz"),)
    return Capture(
        "unequal heads",
        (
            Layer(Lookup(*arrays(17, 6, 6, heads=(1, 2))), same, same, number=0, heads=(2, 5)),
            Layer(Lookup(*arrays(18, 6, 6, heads=(2, 1)), sinks=np.array([0.5, -1.0])),
                  same, same, number=3, heads=(5, 7)),
            Layer(Lookup(*arrays(19, 6, 6), causal=True, q_offset=2), same, same, number=4,
                  heads=(5,)),
            Layer(Lookup(*arrays(20, 6, 6, heads=(1, 2))), same, other, "x.cross", 4, "cross"),
        ),
    )  # fmt: skip


def padded_batch():
    """A batch of two texts, the first padded on the left, the second not at all."""
    mask = np.ones((2, 1, 1, 6), bool)
    mask[0, ..., :2] = False
    axes = (
        axis(["", "", *"abcd"], (-1, -1, 0, 0, 1, 2), [(1, 2), (0, 1)]),
        axis("uvwxyz", (0, 1, 1, 1, 2, 3)),
    )
    look = Lookup(
        *arrays(4, 6, 6, heads=(2, 2), batch=(2,), dtype="float32"), mask=mask, causal=True
    )
    return Capture("a padded batch", (Layer(look, axes, axes),))


def spoilt():
    """NaN in a key that some rows see, infinite scores, NaN in a value, an empty row."""
    query, key, value = arrays(5, 5, 7, heads=(1, 2))
    key[0, 3, 0] = np.nan
    key[0, :, 0] = np.abs(key[0, :, 0])
    query[0, 1] = [np.inf, 0, 0, 0, 0]  # +inf everywhere
    query[0, 2] = [-np.inf, 0, 0, 0, 0]  # -inf everywhere
    query[1, 4, 1] = np.inf  # both, and NaN
    value[0, 1, 2] = np.nan
    mask = np.ones((5, 7), bool)
    mask[:3, 3] = False
    mask[1:3, 0] = mask[0] = False
    return label(Lookup(query, key, value, mask=mask), title="spoilt")


def biased():
    numbers = np.random.default_rng(6)
    bias = numbers.standard_normal((4, 5, 9)).astype(np.float16)
    bias[numbers.random(bias.shape) < 0.4] = -np.inf
    bias[2, 1] = -np.inf
    return label(Lookup(*arrays(7, 5, 9, heads=(2, 2), dtype="float16"), bias=bias), title="biased")


def everything():
    numbers = np.random.default_rng(8)
    return label(
        Lookup(
            *arrays(9, 7, 11, heads=(2, 3), batch=(3,), dtype="bfloat16"),
            mask=numbers.random((3, 6, 7, 11)) < 0.7,
            bias=numbers.standard_normal((1, 1, 11)).astype(np.float32),
            causal=True, q_offset=np.array([-2, 4, 9]), window=(8, 3), kv_lens=np.array([11, 0, 9]),
            scale=-0.7, softcap=1.9, sinks=numbers.standard_normal(6).astype(np.float32),
        ),
        title="everything at once",
    )  # fmt: skip


CAPTURES = {
    "lesson": example,
    "several layers": several_layers,
    "unequal heads": unequal_heads,
    "padded batch": padded_batch,
    "spoilt": spoilt,
    "biased": biased,
    "everything": everything,
    "sinks": lambda: label(
        Lookup(*arrays(10, 3, 5, heads=(1, 3)), sinks=np.array([-90.0, 0.5, 800.0]))
    ),
    "softcap": lambda: label(Lookup(*arrays(11, 3, 5), softcap=0.8, scale=3.0)),
    "plain": lambda: label(Lookup(*[a[0] for a in arrays(12, 2, 3, dtype="float32")])),
    "no value": lambda: label(Lookup(*arrays(13, 2, 5)[:2])),
    "no keys": lambda: label(Lookup(*arrays(14, 3, 0))),
    "thumbnails of blocks": lambda: label(
        Lookup(*arrays(15, 101, 101, heads=(1, 2), dtype="bfloat16"), causal=True, window=(40, 3))
    ),
    "extremes": lambda: label(
        Lookup(*[(a * 3e4).astype(np.float16) for a in arrays(16, 3, 5)], scale=1e-9)
    ),
}  # fmt: skip
