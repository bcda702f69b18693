"""Tensors in, tensors out: no copy, no change of bits, the same answers as NumPy's."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import cases
import softlookup as sl
from patience import PATIENCE

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from softlookup.captures import label  # noqa: E402
from softlookup.errors import DtypeError, SoftlookupError  # noqa: E402
from softlookup.tensors import tensor_of, view  # noqa: E402

pytestmark = pytest.mark.models
NAMES = [n for n in cases.NAMED if "tiles" not in n and "many" not in n and "endian" not in n]


def tensors(thing):
    """Return `thing` with a tensor for every array, of the same strides where torch has them."""
    if not isinstance(thing, np.ndarray):
        return thing
    if any(stride < 0 for stride in thing.strides):
        return tensor_of(np.ascontiguousarray(thing))
    if thing.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(thing.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(thing if thing.flags.writeable else thing.copy())


def same(tensor, array):
    """Whether a tensor holds an array's own bits."""
    assert isinstance(tensor, torch.Tensor)
    seen = view(tensor, "tensor")
    assert (seen.dtype, seen.shape) == (array.dtype, array.shape)
    return seen.tobytes() == array.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_case_gives_the_bits_that_it_gives_in_numpy(name, backend):
    call = cases.build(name)
    plain = sl.Lookup(*call.arrays, **call.options, backend=backend)
    options = {key: tensors(given) for key, given in call.options.items()}
    held = [tensors(array) for array in call.arrays]
    look = sl.Lookup(*held, **options, backend=backend)
    assert same(look.attend(), plain.attend())
    assert same(sl.attend(*held, **options, backend=backend), plain.attend())
    assert same(look.weights(), plain.weights())
    asked = {"entropy": True, "max_score": True, "top": 3, "received": True}
    found, expected = look.inspect(**asked), plain.inspect(**asked)
    for fact in ("out", "lse", "entropy", "max_score", "max_score_per_head", "received"):
        assert same(getattr(found, fact), getattr(expected, fact)), fact
    assert same(found.top.keys, expected.top.keys)
    assert same(found.top.weights, expected.top.weights)
    assert repr(found) == repr(expected)
    assert found.to_dict(out=True) == expected.to_dict(out=True)
    out_grad = np.ones_like(plain.attend())
    for part, own in zip(look.gradients(tensors(out_grad)), plain.gradients(out_grad), strict=True):
        assert part is own is None or same(part, own)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nothing_is_copied(dtype):
    tensor = torch.randn(3, 7, 5).to(getattr(torch, dtype)).transpose(0, 1)
    seen = view(tensor, "query")
    assert seen.ctypes.data == tensor.data_ptr()
    assert seen.shape == (7, 3, 5)
    back = tensor_of(np.ascontiguousarray(seen))
    assert torch.equal(back, tensor)
    look = sl.Lookup(tensor, tensor, tensor)
    assert look.problem.query.ctypes.data == tensor.data_ptr()
    assert look.attend().dtype == tensor.dtype


def test_views_that_only_torch_knows_are_read_right():
    rows = torch.randn(4, 3, 2, dtype=torch.complex64)
    imag = rows.conj().imag  # minus the numbers in memory
    assert imag.is_neg()
    plain = imag.resolve_neg().numpy()
    assert same(sl.attend(imag, imag, imag), sl.attend(plain, plain, plain))


def test_integers_become_float64_as_in_numpy():
    whole = torch.arange(6).reshape(3, 2)
    out = sl.attend(whole, whole, whole)
    assert out.dtype == torch.float64


def test_answers_follow_the_query():
    query = torch.ones(3, 2)
    key = np.ones((5, 2), np.float32)
    assert isinstance(sl.attend(query, key, key), torch.Tensor)
    assert isinstance(sl.attend(key, query, query), np.ndarray)
    where = torch.ones(3, 5, dtype=torch.bool)
    assert isinstance(sl.attend(query.numpy(), key, key, mask=where), np.ndarray)


def test_options_and_questions_may_be_tensors():
    query = torch.randn(2, 3, 7, 5)
    options = {"causal": True, "q_offset": torch.tensor([0, 1]), "scale": torch.tensor(0.5),
               "kv_lens": torch.tensor([4, 7]), "softcap": torch.tensor(3.0)}  # fmt: skip
    plain = {name: x if isinstance(x, bool) else x.numpy() for name, x in options.items()}
    look = sl.Lookup(query, query, query, **options)
    expected = sl.Lookup(*[query.numpy()] * 3, **plain)
    assert same(look.attend(), expected.attend())
    assert same(look.weights(torch.tensor([1, 3])), expected.weights([1, 3]))
    labels, rows = torch.tensor([0, 1, 1, 0, 2, 2, -1]), torch.tensor([True] * 6 + [False])
    found = look.inspect(groups=labels, received=True, from_rows=rows)
    known = expected.inspect(groups=labels.numpy(), received=True, from_rows=rows.numpy())
    assert same(found.groups, known.groups)
    assert same(found.received, known.received)


def test_a_trace_a_map_and_the_page_read_a_lookup_of_tensors():
    query = torch.randn(7, 5)
    look = sl.Lookup(query, query, query)
    plain = look.in_numpy()
    assert plain.in_numpy() is plain
    assert isinstance(plain.attend(), np.ndarray)
    assert str(look.trace([0])) == str(plain.trace([0]))
    assert (look.map().tile(0, 0, 0).max == plain.map().tile(0, 0, 0).max).all()
    assert isinstance(label(look).layers[0].look.attend(), np.ndarray)


REFUSED = {
    "complex": (torch.ones(3, 2, dtype=torch.complex64), ["complex64"]),
    "bool": (torch.ones(3, 2, dtype=torch.bool), ["bool"]),
    "of eight bits": (
        torch.ones(3, 2).to(torch.float8_e4m3fn),
        ["float8_e4m3fn", "e.g. query.float()"],
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_tensor_that_cannot_be_read_is_refused(what):
    tensor, fragments = REFUSED[what]
    with pytest.raises(DtypeError) as caught:
        sl.attend(tensor, torch.ones(3, 2), torch.ones(3, 2))
    assert caught.value.argument == "query"
    assert isinstance(caught.value, SoftlookupError)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_in_inference_mode_and_with_parameters():
    weight = torch.nn.Parameter(torch.randn(3, 5))
    out = sl.attend(weight, weight, weight)
    assert type(out) is torch.Tensor
    with torch.inference_mode():
        plain = sl.attend(weight, weight, weight)
        again = sl.attend(plain, plain, plain)
    assert torch.equal(plain, out)
    assert not plain.requires_grad
    assert again.shape == (3, 5)


def test_numpy_callers_do_not_load_torch_even_where_it_is():
    program = """
import sys
import numpy as np
import softlookup as sl
one = np.ones((1, 2), np.float32)
look = sl.Lookup(one, one, one)
look.inspect(entropy=True), look.gradients(one), look.weights(), look.trace()
assert "torch" not in sys.modules
import softlookup.integrations.torch
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)
