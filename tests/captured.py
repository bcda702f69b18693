"""Captures for tests: a small one with everything in it, what makes two the same, and raw files."""

import json
from dataclasses import fields
from importlib import metadata

import numpy as np

from agreement import assert_same_bits
from cases import BFLOAT16
from softlookup import Lookup
from softlookup.captures import Axis, Capture, Layer

HOSTILE = (
    "<script>window.pwned=1</script>", "</script>", "<!--", "\u2028", "\0", "\ud800", "\u202e", "",
    "\u200b", "\x1b[31m", "é", "😀",
)  # fmt: skip
ENTRY = "softlookup"


def texts(capture):
    """Return the texts of the queries and of the keys of a capture's only layer."""
    (layer,) = capture.layers
    return layer.query_axis().tokens, layer.key_axis().tokens


def numbered(length, start=0):
    """Return an axis whose tokens are numbers."""
    return Axis(tuple(str(start + i) for i in range(length)))


def captured(look, **options):
    """Return a capture of one layer, its tokens named by position."""
    problem = look.problem
    axes = (numbered(problem.q_len),), (numbered(problem.kv_len, 100),)
    return Capture("one", (Layer(look, *axes, **options),))


def drawn(rng, *shape, dtype=np.float32):
    """Return random numbers."""
    return rng.standard_normal(shape).astype(dtype)


def two_stacks(length=5, source=3):
    """Return a capture with three parts, chosen heads, words, padding, axes of batch entries.

    Layers 0 and 2 of a decoder share a mask; a cross layer looks at another axis.
    """
    rng = np.random.default_rng(4)
    words = (-1, 0, 1, 1, -1)[:length]
    own = tuple(
        Axis(tuple(f"{name}{i}" for i in range(length)), words, padding)
        for name, padding in (("a", ((0, 2),)), ("b", ()))
    )
    other = (Axis(HOSTILE[:source], None, ((2, 3),)),)
    mask = np.ones((2, 1, length, length), bool)
    mask[0, :, :, :2] = False
    layers = []
    for number in (0, 2):
        arrays = [drawn(rng, 2, heads, length, 4) for heads in (4, 2, 2)]
        look = Lookup(*arrays, mask=mask, causal=True, scale=0.3, sinks=drawn(rng, 4))
        layers.append(
            Layer(look, own, own, f"decoder.{number}.self", number, "decoder", (1, 2, 5, 7))
        )
    arrays = [drawn(rng, 2, 4, n, 4, dtype=BFLOAT16) for n in (length, source, source)]
    bias = drawn(rng, 1, 4, length, source)
    bias[..., 0] = -np.inf
    look = Lookup(*arrays, bias=bias, softcap=20.0, kv_lens=np.array([3, 2]))
    layers.append(Layer(look, own, other, "decoder.0.cross", 0, "cross"))
    arrays = [drawn(rng, 2, 4, source, 4, dtype=np.float64) for _ in range(2)]
    look = Lookup(*arrays, window=(2, None), q_offset=np.array([3, -1]))
    layers.append(Layer(look, other, other, "", 0, "encoder"))
    about = {"model": "made up", "license": HOSTILE[0], "origin": "\ud800\u202e", "": "nothing"}
    return Capture("two stacks \ud800", tuple(layers), about)


def assert_same(left, right):
    """Assert that two captures hold the same, bit for bit, and give the same answers."""
    assert (left.title, dict(left.about)) == (right.title, dict(right.about))
    assert len(left.layers) == len(right.layers)
    for one, other in zip(left.layers, right.layers, strict=True):
        for name in ("queries", "keys", "name", "number", "part", "heads"):
            assert getattr(one, name) == getattr(other, name), name
        assert_same_problem(one.look.problem, other.look.problem)
        if one.look.problem.value is not None:
            assert_same_bits(one.look.attend(), other.look.attend())
        assert_same_bits(one.look.weights(), other.look.weights())


def assert_same_problem(one, other):
    """Assert that two problems have the same sizes, numbers and options."""
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("mask", "bias") and left is not None:
            assert left.array.nbytes >= right.array.nbytes, "what is broadcast stays so"
            left, right = (overlay.array[overlay.entry] for overlay in (left, right))
        if isinstance(left, np.ndarray):
            assert_same_bits(left, right)
        else:
            assert left == right, field.name


def raw(header, data=b""):
    """Return the bytes of a .safetensors file; `header` is an object, or its text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def parts(file):
    """Return the header of a .safetensors file, its manifest, and the bytes of its tensors."""
    content = file.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    return header, json.loads(header["__metadata__"][ENTRY]), content[end:]


def with_manifest(file, manifest):
    """Return the bytes of `file` under another manifest, an object or its text."""
    header, _, data = parts(file)
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return raw(header | {"__metadata__": {ENTRY: text}}, data)


def knows_small_floats():
    """Return whether this release of safetensors has names for floats of 8 and 4 bits."""
    return tuple(map(int, metadata.version("safetensors").split(".")[:2])) >= (0, 6)
