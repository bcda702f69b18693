"""One table of refusals: the call, its class, the argument it names, and what it must say.

The fragments are the real numbers and the next step.
"""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from map_refusals import MAPS
from survey_refusals import SURVEYS

import softlookup as sl
from captured import two_stacks
from refusals import assert_refuses
from softlookup import errors
from softlookup.captures import Capture
from softlookup.errors import BackendError, DtypeError, FileError, OptionError, ShapeError

Q = np.ones((2, 8, 128, 64), np.float32)
K = np.ones((2, 2, 160, 64), np.float32)
V = np.ones((2, 2, 160, 48), np.float32)


def _call(query=Q, key=K, value=V, **options):
    return lambda: sl.attend(query, key, value, **options)


def _zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


class Tensor:
    """What an array of another framework looks like from outside."""

    __module__ = "torch"
    shape, dtype, device = (2, 8, 128, 64), "torch.float32", "cpu"

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("converted unseen")


class Other:
    __module__ = "elsewhere.arrays"


MASKED = np.ma.masked_array(np.ones((3, 4)), np.eye(3, 4, dtype=bool))
VAST = sl.Lookup(*[np.broadcast_to(np.float16(0), (2**20, 1, 2**14, 1))] * 2)
TWO = two_stacks()
SMALL = {"query": _zeros(3, 4), "key": _zeros(5, 4), "value": _zeros(5, 4)}


def _look(**asked):
    return lambda: sl.Lookup(**SMALL).inspect(**asked)


def _grad(out_grad, **more):
    return lambda: sl.Lookup(**SMALL).gradients(out_grad, **more)


REFUSALS = {
    # arrays
    "1-D query": (_call(_zeros(64)), ShapeError, "query", ["(64,)", "query[None]"]),
    "1-D key": (_call(key=_zeros(64)), ShapeError, "key", ["(64,)", "key[None]"]),
    "1-D value": (_call(value=_zeros(64)), ShapeError, "value", ["(64,)", "value[None]"]),
    "0-D query": (_call(np.float32(1)), ShapeError, "query", ["()"]),
    "head_dim differs": (_call(key=_zeros(2, 2, 160, 80)), ShapeError, "key",
        ["head_dim must equal the query's 64", "got 80", "(2, 2, 160, 80)", "last axis"]),
    "kv_len differs": (_call(value=_zeros(2, 2, 161, 48)), ShapeError, "value",
        ["160", "161", "(2, 2, 161, 48)"]),
    "kv_heads differ": (_call(value=_zeros(2, 4, 160, 48)), ShapeError, "value",
        ["kv_heads", "2", "4", "(2, 4, 160, 48)"]),
    "heads not a multiple": (_call(key=_zeros(2, 3, 160, 64), value=_zeros(2, 3, 160, 48)),
        ShapeError, "key", ["8", "3", "(2, 3, 160, 64)", "h // (heads // kv_heads)"]),
    "more kv_heads than heads": (_call(key=_zeros(2, 16, 160, 64), value=_zeros(2, 16, 160, 48)),
        ShapeError, "key", ["8", "16"]),
    "0 kv_heads": (_call(key=_zeros(2, 0, 160, 64), value=_zeros(2, 0, 160, 48)),
        ShapeError, "key", ["8", "0"]),
    "batch differs": (_call(key=_zeros(3, 2, 160, 64)), ShapeError, "key",
        ["(2,)", "(3,)", "not broadcast"]),
    "batch of the value differs": (_call(value=_zeros(1, 2, 160, 48)), ShapeError, "value",
        ["(2,)", "(1,)", "not broadcast"]),
    "ranks differ": (_call(key=_zeros(2, 160, 64)), ShapeError, "key", ["4", "3", "(2, 160, 64)"]),
    "key dtype differs": (_call(key=K.astype(np.float16)), DtypeError, "key",
        ["float32", "float16", "astype"]),
    "value dtype differs": (_call(value=V.astype(float)), DtypeError, "value",
        ["float32", "float64", "astype"]),
    "complex": (_call(Q.astype(complex)), DtypeError, "query", ["complex128", "float32"]),
    "complex of size 0": (_call(Q[:0].astype(complex)), DtypeError, "query", ["complex128"]),
    "bool": (_call(Q > 0), DtypeError, "query", ["bool"]),
    "object": (_call(Q[:, :, :1].astype(object)), DtypeError, "query", ["object"]),
    "longdouble": (_call(Q.astype(np.longdouble)), DtypeError, "query",
        [str(np.dtype(np.longdouble))]),
    "texts": (_call([["a", "b"]]), DtypeError, "query", ["float32"]),
    "dates": (_call(np.zeros((3, 4), "M8[s]")), DtypeError, "query", ["datetime64[s]"]),
    "structured": (_call(np.zeros((3, 4), "f4,f4")), DtypeError, "query", ["f4"]),
    "ragged list": (_call([[1.0, 2.0], [3.0]]), ShapeError, "query", ["differ in length"]),
    "None as query": (_call(None), DtypeError, "query",
        ["array of shape (length, dim)", "got None"]),
    "None as key": (_call(key=None), DtypeError, "key", ["got None. Pass one."]),
    "a masked array": (_call(MASKED), DtypeError, "query", ["masked array", "mask=~"]),
    "another framework's array": (_call(Tensor()), DtypeError, "query",
        ["torch.Tensor", "Pass query.detach().cpu().numpy()."]),
    "an array of some library": (_call(Other()), DtypeError, "query",
        ["elsewhere.Other", "numpy.asarray(...)"]),
    "a framework's array as mask": (_call(mask=Tensor()), DtypeError, "mask", ["torch.Tensor"]),
    "a masked array as mask": (_call(mask=np.ma.masked_array([True])), DtypeError, "mask",
        ["masked array"]),
    "a set": (_call({1.0}), DtypeError, "query", ["set"]),
    "value left out of attend": (_call(value=None), OptionError, "value", ["128", "value"]),
    # mask and bias
    "integer mask": (_call(mask=np.ones((128, 160), np.int64)), DtypeError, "mask",
        ["bool", "int64", "nn.MultiheadAttention", "inverse"]),
    "uint8 mask": (_call(mask=np.ones((128, 160), np.uint8)), DtypeError, "mask",
        ["bool", "uint8", "inverse"]),
    "float mask": (_call(mask=_zeros(128, 160)), DtypeError, "mask", ["float32", "bias"]),
    "3-D mask as (batch, q, k)": (_call(mask=np.ones((2, 128, 160), bool)), ShapeError, "mask",
        ["(2, 8, 128, 160)", "(2, 128, 160)", "mask[:, None]"]),
    "3-D bias as (batch, q, k)": (_call(bias=_zeros(2, 128, 160)), ShapeError, "bias",
        ["(2, 8, 128, 160)", "(2, 128, 160)", "bias[:, None]"]),
    "mask too long": (_call(mask=np.ones(161, bool)), ShapeError, "mask", ["160", "(161,)"]),
    "mask left-aligned": (_call(mask=np.ones((2, 8), bool)), ShapeError, "mask", ["(2, 8)"]),
    "mask of too many axes": (_call(mask=np.ones((1, 1, 1, 1, 1), bool)), ShapeError, "mask",
        ["(1, 1, 1, 1, 1)"]),
    "mask transposed": (_call(mask=np.ones((160, 128), bool)), ShapeError, "mask",
        ["(160, 128)", "128, 160)"]),
    "mask over kv_heads": (_call(mask=np.ones((2, 2, 128, 160), bool)), ShapeError, "mask",
        ["(2, 2, 128, 160)", "(2, 8, 128, 160)"]),
    "bool bias": (_call(bias=np.ones((128, 160), bool)), DtypeError, "bias", ["bool", "mask"]),
    "integer bias": (_call(bias=np.ones((128, 160), int)), DtypeError, "bias", ["float", "int64"]),
    "complex bias": (_call(bias=_zeros(128, 160, dtype=complex)), DtypeError, "bias",
        ["complex128"]),
    "bias too long": (_call(bias=_zeros(128, 161)), ShapeError, "bias", ["160", "(128, 161)"]),
    # positions
    "causal, unequal lengths": (_call(causal=True), OptionError, "q_offset",
        ["128", "160", "0", "32", "torch", "FlashAttention"]),
    "window, unequal lengths": (_call(window=(3, 0)), OptionError, "q_offset",
        ["window", "128", "160", "32", "top-left", "bottom-right"]),
    "causal, padded, unequal": (_call(causal=True, kv_lens=[9, 160]), OptionError, "q_offset",
        ["128", "160", "kv_lens - q_len"]),
    "causal as a number": (_call(causal=1, q_offset=0), DtypeError, "causal", ["1"]),
    "causal as a text": (_call(causal="top-left", q_offset=0), DtypeError, "causal",
        ["'top-left'"]),
    "float offset": (_call(causal=True, q_offset=0.5), DtypeError, "q_offset",
        ["integer", "float"]),
    "bool offset": (_call(causal=True, q_offset=True), DtypeError, "q_offset", ["bool"]),
    "offsets of another batch": (_call(causal=True, q_offset=[1, 2, 3]), ShapeError, "q_offset",
        ["(2,)", "(3,)"]),
    "an offset beyond counting": (_call(causal=True, q_offset=2**70), OptionError, "q_offset",
        [str(2**70)]),
    "window -1": (_call(window=(-1, 0), q_offset=0), OptionError, "window",
        ["(-1, 0)", ">= 0", "None"]),
    "window right -1": (_call(window=(3, -1), q_offset=0), OptionError, "window", ["(3, -1)"]),
    "window as one int": (_call(window=128, q_offset=0), DtypeError, "window",
        ["(left, right)", "128", "w + 1"]),
    "window of three": (_call(window=(1, 2, 3), q_offset=0), DtypeError, "window",
        ["(left, right)", "(1, 2, 3)"]),
    "window of floats": (_call(window=(1.5, 0), q_offset=0), DtypeError, "window",
        ["integers", "(1.5, 0)"]),
    "window of bools": (_call(window=(True, False), q_offset=0), DtypeError, "window",
        ["integers"]),
    "the lowest of int64": (_call(causal=True, q_offset=[0, -(2**63)]), OptionError, "q_offset",
        ["-2**60 ... 2**60", str(-(2**63))]),
    # padding
    "kv_lens beyond kv_len": (_call(kv_lens=[161, 3]), OptionError, "kv_lens",
        ["0 ... 160", "161"]),
    "kv_lens below 0": (_call(kv_lens=[5, -1]), OptionError, "kv_lens", ["0 ... 160", "-1"]),
    "kv_lens of another batch": (_call(kv_lens=[1, 2, 3]), ShapeError, "kv_lens",
        ["(2,)", "(3,)"]),
    "one kv_lens for a batch": (_call(kv_lens=100), ShapeError, "kv_lens", ["(2,)", "()"]),
    "float kv_lens": (_call(kv_lens=[1.0, 2.0]), DtypeError, "kv_lens", ["integers", "float64"]),
    "bool kv_lens": (_call(kv_lens=[True, False]), DtypeError, "kv_lens", ["integers", "bool"]),
    # numbers
    "softcap 0": (_call(softcap=0), OptionError, "softcap", ["> 0", "0", "None"]),
    "softcap negative": (_call(softcap=-30.0), OptionError, "softcap", ["> 0", "-30.0"]),
    "softcap nan": (_call(softcap=np.nan), OptionError, "softcap", ["nan"]),
    "softcap inf": (_call(softcap=np.inf), OptionError, "softcap", ["inf"]),
    "scale nan": (_call(scale=np.nan), OptionError, "scale", ["finite", "nan"]),
    "scale inf": (_call(scale=-np.inf), OptionError, "scale", ["finite", "-inf"]),
    "scale as a text": (_call(scale="0.1"), DtypeError, "scale",
        ["must be one number; got str"]),
    "scale as a list": (_call(scale=[0.1]), DtypeError, "scale", ["must be one number; got list"]),
    "scale of another framework": (_call(scale=Tensor()), DtypeError, "scale",
        ["must be one number; got Tensor"]),
    "softcap as a text": (_call(softcap="30"), DtypeError, "softcap",
        ["must be one number; got str"]),
    "scale as an array": (_call(scale=np.ones(8)), DtypeError, "scale", ["one number"]),
    "scale as a bool": (_call(scale=True), DtypeError, "scale", ["number", "bool"]),
    "scale complex": (_call(scale=1j), DtypeError, "scale", ["number", "complex"]),
    "sinks per kv_head": (_call(sinks=_zeros(2)), ShapeError, "sinks", ["(8,)", "(2,)"]),
    "one sink for all": (_call(sinks=1.0), ShapeError, "sinks", ["(8,)", "()"]),
    "sinks per query": (_call(sinks=_zeros(8, 128)), ShapeError, "sinks", ["(8,)", "(8, 128)"]),
    "complex sinks": (_call(sinks=np.zeros(8, complex)), DtypeError, "sinks", ["complex128"]),
    # backends
    "unknown backend": (_call(backend="fast"), OptionError, "backend",
        ["auto", "cpu", "blocked", "'fast'"]),
    "backend by another type": (_call(backend=None), OptionError, "backend", ["auto", "None"]),
    "backend misspelt in case": (_call(backend="Blocked"), OptionError, "backend", ["'Blocked'"]),
    # looking
    "row beyond the last": (lambda: sl.Lookup(**SMALL).weights(rows=[3]), OptionError, "rows",
        ["0 ... 2", "3"]),
    "row before the first": (lambda: sl.Lookup(**SMALL).trace(rows=[-4]), OptionError, "rows",
        ["0 ... 2", "-4"]),
    "key beyond the last": (lambda: sl.Lookup(**SMALL).weights(keys=[0, 5]), OptionError, "keys",
        ["0 ... 4", "5"]),
    "rows as floats": (lambda: sl.Lookup(**SMALL).weights(rows=[0.5]), DtypeError, "rows",
        ["float64", "integers"]),
    "too few bools": (lambda: sl.Lookup(**SMALL).weights(rows=[True]), DtypeError, "rows",
        ["3 bools", "(1,)"]),
    "rows of two axes": (lambda: sl.Lookup(**SMALL).trace(rows=[[0]]), DtypeError, "rows",
        ["(1, 1)"]),
    "too few tokens": (lambda: sl.Lookup(**SMALL).trace(tokens=["a"]), ShapeError, "tokens",
        ["3", "1"]),
    "key tokens as one text": (lambda: sl.Lookup(**SMALL).trace(key_tokens="abcde"), DtypeError,
        "key_tokens", ["5", "one string"]),
    "tokens as a number": (lambda: sl.Lookup(**SMALL).trace(tokens=5), DtypeError, "tokens",
        ["3", "got int"]),
    "head beyond the last": (lambda: sl.Lookup(Q, K, V).head(8, (0,)), OptionError, "head",
        ["0 ... 7", "8"]),
    "batch beyond the last": (lambda: sl.Lookup(Q, K, V).head(0, (2,)), OptionError, "batch",
        ["(2,)"]),
    "batch left out": (lambda: sl.Lookup(Q, K, V).head(0), OptionError, "batch", ["(2,)", "()"]),
    "rows beyond the last as a range": (lambda: sl.Lookup(**SMALL).weights(rows=range(4)),
        OptionError, "rows", ["0 ... 2", "3"]),
    "weights of everything": (VAST.weights, OptionError, "weights",
        ["1,048,576 x 1 x 16,384 x 16,384 of float32", "1,048,576.0 GiB", "rows=, keys="]),
    # captures
    "layer that was not recorded": (lambda: TWO.lookup(layer=1), OptionError, "layer",
        ["got 1", "decoder layer 0", "encoder layer 0"]),
    "layer of three stacks": (lambda: TWO.trace(layer=0), OptionError, "layer",
        ["3 are called 0", "Choose one of", "'cross layer 0'"]),
    "head that was not recorded": (lambda: TWO.lookup(head=0), OptionError, "head",
        ["1, 2, 5, 7", "decoder layer 0", "got 0"]),
    "batch entry beyond the last": (lambda: TWO.lookup(head=1, batch=2), OptionError, "batch",
        ["0 ... 1", "got 2"]),
    "rows of a capture": (lambda: TWO.trace([5], head=1), OptionError, "rows", ["0 ... 4", "5"]),
    "a capture of nothing": (lambda: Capture("x", ()), ShapeError, "layers", ["at least one"]),
    "a capture under another ending": (lambda: TWO.save("x.npz"), FileError, "x.npz",
        ["must end in .safetensors", "'.npz'"]),
    "a capture where none can be": (lambda: TWO.save("none/x.safetensors"), FileError,
        "none/x.safetensors", ["cannot be written", "Choose another place"]),
    # facts
    "out_grad of another shape": (_grad(_zeros(4, 3)), ShapeError, "out_grad",
        ["output's shape (3, 4)", "got (4, 3)"]),
    "out_grad as a text": (_grad("ones"), DtypeError, "out_grad", ["str"]),
    "lse_grad of another shape": (_grad(_zeros(3, 4), lse_grad=_zeros(3, 1)), ShapeError,
        "lse_grad", ["lse's shape (3,)", "got (3, 1)"]),
    "gradients without a value": (lambda: sl.Lookup(_zeros(3, 4), _zeros(5, 4)).gradients(
        _zeros(3, 4)), OptionError, "value", ["left out", "Pass value"]),
    "entropy as a number": (_look(entropy=1), DtypeError, "entropy", ["True or False", "got 1"]),
    "top as a flag": (_look(top=True), DtypeError, "top", ["integer", "True", "top=8"]),
    "top 0": (_look(top=0), OptionError, "top", ["1 ... ", "got 0", "Leave it out"]),
    "top as a float": (_look(top=2.0), DtypeError, "top", ["integer", "2.0"]),
    "top beyond counting": (_look(top=2**31), OptionError, "top", ["2147483647", "2147483648"]),
    "top beyond reason": (lambda: VAST.inspect(top=2**31 - 1), OptionError, "top",
        ["1,048,576 x 1 x 16,384 x 2,147,483,647", "GiB", "Ask for fewer"]),
    "top beyond memory": (lambda: sl.Lookup(_zeros(2**15, 1), _zeros(3, 1)).inspect(
        top=2**31 - 1), OptionError, "top", ["1 x 1 x 32,768 x 2,147,483,647", "786,432.0 GiB"]),
    "sink without sinks": (_look(sink=True), OptionError, "sink", ["has none", "sinks="]),
    "from_rows alone": (_look(from_rows=[0]), OptionError, "from_rows",
        ["received=True", "received=False", "Ask for both"]),
    "normalised alone": (_look(normalised=True), OptionError, "normalised", ["received=True"]),
    "normalised as a text": (_look(normalised="l1"), DtypeError, "normalised", ["'l1'"]),
    "from_rows beyond the last": (_look(received=True, from_rows=[3]), OptionError, "from_rows",
        ["0 ... 2", "3"]),
    "from_rows of too few bools": (_look(received=True, from_rows=[True, False]), ShapeError,
        "from_rows", ["(3,)", "(2,)", "from_rows=[0]"]),
    "from_rows as floats": (_look(received=True, from_rows=[0.5]), DtypeError, "from_rows",
        ["float64", "integers"]),
    "from_rows of another batch": (lambda: sl.Lookup(Q, K, V).inspect(
        received=True, from_rows=np.ones((3, 128), bool)), ShapeError, "from_rows",
        ["(128,) or (2, 128)", "(3, 128)"]),
    "groups too short": (_look(groups=[0, 1]), ShapeError, "groups", ["(5,)", "(2,)"]),
    "groups of another batch": (lambda: sl.Lookup(Q, K, V).inspect(
        groups=np.zeros((3, 160), int)), ShapeError, "groups", ["(2, 160)", "(3, 160)"]),
    "groups as floats": (_look(groups=np.zeros(5)), DtypeError, "groups", ["integers", "float64"]),
    "groups as bools": (_look(groups=[True] * 5), DtypeError, "groups", ["integers", "bool"]),
    "groups beyond 255": (_look(groups=[0, 0, 0, 0, 256]), OptionError, "groups",
        ["below 256", "got 256", "from 0"]),
    "distance, unequal lengths": (_look(distance=True), OptionError, "q_offset",
        ["with distance", "q_len 3", "kv_len 5", "top-left", "bottom-right", "= 2"]),
    "distance, padded, unequal": (lambda: sl.Lookup(Q, K, V, kv_lens=[9, 160]).inspect(
        distance=True), OptionError, "q_offset", ["128", "160", "kv_lens - q_len"]),
    "a trace of everything": (lambda: sl.Lookup(_zeros(4096, 2), _zeros(4096, 2)).trace(),
        OptionError, "rows", ["4096 rows", "16,777,216"]),
    **MAPS,
    **SURVEYS,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name):
    assert_refuses(*REFUSALS[name])


def test_a_lookup_is_refused_when_it_is_made_not_when_it_is_asked():
    with pytest.raises(ShapeError, match="head_dim"):
        sl.Lookup(Q, K[..., :5], V)
    with pytest.raises(OptionError, match="backend"):
        sl.Lookup(Q, K, V, backend="fast")


def test_every_class_is_the_builtin_a_caller_expects():
    classes = {
        "ShapeError": ValueError, "OptionError": ValueError, "DtypeError": TypeError,
        "FileError": ValueError, "BackendError": RuntimeError, "ViewError": RuntimeError,
    }  # fmt: skip
    for name, builtin in classes.items():
        error = getattr(errors, name)("mask", "must be bool.")
        assert isinstance(error, builtin)
        assert isinstance(error, sl.SoftlookupError)
        assert (error.argument, str(error)) == ("mask", "mask: must be bool.")
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
        assert (type(again), again.argument, str(again)) == (type(error), "mask", str(error))


def test_a_backend_asked_for_by_name_is_used_or_refused_never_replaced(monkeypatch):
    from softlookup.backends import registry

    gone = SimpleNamespace(NAME="gone", missing=lambda: "needs a part that is not there.",
                           unsupported=lambda problem, facts: None)  # fmt: skip
    picky = SimpleNamespace(NAME="picky", missing=lambda: None,
                            unsupported=lambda problem, facts: "takes nothing at all.")  # fmt: skip
    every = (gone, picky, *registry.backends())
    monkeypatch.setattr(registry, "backends", lambda: every)
    for name, reason in (("gone", "needs a part"), ("picky", "takes nothing")):
        with pytest.raises(BackendError, match=f"{name}: {reason}") as refused:
            sl.attend(Q, K, V, backend=name)
        assert refused.value.argument == "backend"
        taker = sl.Lookup(Q, K, V).inspect().backend
        assert str(refused.value).endswith(f'. backend="{taker}" takes this lookup.')
        with pytest.raises(BackendError, match=name):
            sl.Lookup(Q, K, V, backend=name).weights(rows=[0])
    assert sl.Lookup(Q, K, V).inspect().backend in ("cpu", "blocked")
    monkeypatch.setattr(registry, "backends", lambda: (gone, picky))
    with pytest.raises(BackendError, match=r"gone: needs.*picky: takes"):
        sl.attend(Q, K, V)


def test_unequal_lengths_need_no_offset_where_none_of_the_three_is_asked():
    assert sl.attend(Q, K, V, mask=np.ones((128, 160), bool)).shape == (2, 8, 128, 48)
    assert sl.attend(Q, K, V, window=(None, None)).shape == (2, 8, 128, 48)
