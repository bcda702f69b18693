"""torch's own kernels: which calls they are handed, what is mended, what they refuse and offer.

No GPU is here, so their operations are only asked for their shapes, on torch's device "meta". What
is around them is computed with a stand-in that has the habits of both: a hidden NaN spreads, a row
without a finite score is 0 with an lse of inf, and the lse has the shape that the kernel gives it.
"""

import numpy as np
import pytest
import sent
import torch

import cases
import slopes
import softlookup as sl
from agreement import assert_answer, expect
from cases import Case
from softlookup.backends import cuda_torch, registry
from softlookup.backends.triton import torch_kernels
from softlookup.errors import BackendError
from softlookup.facts import NO_FACTS, Facts
from softlookup.partials import Answer

HOPPER, AMPERE, SMALL = ((9, 0), 91600), ((8, 0), 91600), ((8, 9), 90100)


class StandIn:
    """In the place of one of torch's operations; `calls` tells which."""

    def __init__(self):
        self.calls = []

    def __call__(self, way, suffix=""):
        self.calls.append(way + suffix)
        return getattr(self, f"{way}{suffix}")

    def cudnn(self, *arrays_and_more, scale):
        *arrays, bias, wants_lse, dropout, causal, debug = arrays_and_more
        assert (bias, wants_lse, dropout, debug) == (None, True, 0.0, False)
        out, lse = _answer(*arrays, causal=causal, scale=scale)
        lengths = arrays[0].shape[2], arrays[1].shape[2]
        return out, lse[..., None], None, None, *lengths, None, None, None

    def flash(self, *arrays_and_more, scale):
        *arrays, dropout, causal, debug = arrays_and_more
        assert (dropout, debug) == (0.0, False)
        return *_answer(*arrays, causal=causal, scale=scale), None, None

    def cudnn_backward(self, *given, scale):
        (*arrays, _, lse), (*seeds, bias), (*lengths, dropout, causal) = (
            given[:6], given[6:9], given[9:]
        )  # fmt: skip
        assert all(seed.shape == () and seed.dtype == torch.int64 for seed in seeds)
        assert lengths == [None, None, arrays[1].shape[2], arrays[2].shape[2]]
        assert (bias, dropout) == (None, 0.0)
        assert lse.shape == (*arrays[1].shape[:3], 1)
        return _pull(*arrays, causal=causal, scale=scale)

    def flash_backward(self, *given, scale):
        (*arrays, _, lse), (*lengths, dropout, causal), seeds = given[:6], given[6:12], given[12:]
        assert lengths == [None, None, arrays[1].shape[2], arrays[2].shape[2]]
        assert dropout == 0.0
        assert [seed.dtype for seed in seeds] == [torch.uint64, torch.uint64]
        assert lse.shape == arrays[1].shape[:3]
        return _pull(*arrays, causal=causal, scale=scale)


def _answer(query, key, value, *, causal, scale):
    """Attention over the whole matrix in float32, hidden pairs -inf, as kernels do it."""
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = (query.float() @ key.float().mT) * scale
    if causal:  # the first key's corner
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    top = scores.amax(-1, keepdim=True)
    exps = torch.exp(scores - torch.where(top == -torch.inf, 0.0, top))
    total = exps.sum(-1, keepdim=True)
    out = exps @ value.float() / torch.where(total == 0, 1.0, total)
    lse = torch.where(total == 0, torch.inf, top + torch.log(total))[..., 0]
    return out.to(query.dtype), lse


def _pull(grad, query, key, value, *, causal, scale):
    with torch.enable_grad():
        given = [x.detach().requires_grad_() for x in (query, key, value)]
        out, _ = _answer(*given, causal=causal, scale=scale)
    return torch.autograd.grad(out, given, grad)


def stand_in_for(monkeypatch, way):
    """Let one of torch's kernels be there, and be the stand-in."""
    stand_in = StandIn()
    monkeypatch.setattr(torch_kernels, "operation", stand_in)
    monkeypatch.setattr(cuda_torch, "missing", lambda: None)
    traits = cuda_torch.Traits(*(HOPPER if way == "cudnn" else SMALL))
    monkeypatch.setattr(cuda_torch, "traits_of", lambda _: traits)
    stand_in.way = way
    return stand_in


@pytest.fixture(params=["cudnn", "flash"])
def way(request, monkeypatch):
    return stand_in_for(monkeypatch, request.param)


def _call(name="torch", **sizes):
    plain = {"batch": (2,), "heads": (2, 3), "q_len": 19, "kv_len": 19, "head_dim": 8,
             "value_dim": 8, "dtype": "float16"}  # fmt: skip
    return Case(name, **{**plain, **sizes}).build()


CALLS = {
    "full": ({}, {}),
    "causal": ({}, {"causal": True}),
    "scaled": ({}, {"scale": 0.9}),
    "other lengths": ({"q_len": 5, "kv_len": 23}, {}),
    "a last query that sees all": ({"q_len": 1, "kv_len": 23}, {"causal": True, "q_offset": 22}),
    "heads inside": ({"strides": cases._heads_inside}, {"causal": True}),
    "repeated keys": ({"strides": cases._repeated}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_the_answer_is_exact(name, way):
    sizes, options = CALLS[name]
    call = _call(**sizes)
    tensors = map(sent.as_it_lies, call.arrays)
    found = sl.Lookup(*tensors, **options, backend="cuda-torch").inspect()
    assert way.calls == [way.way]
    assert found.backend == "cuda-torch"
    answer = Answer(sent.brought(found.out), sent.brought(found.lse))
    assert_answer(answer, *expect(*call.arrays, **options))
    assert found.out.is_contiguous()


@pytest.mark.parametrize("name", CALLS)
def test_the_gradients_are_exact(name, way):
    sizes, options = CALLS[name]
    call = _call(**sizes)._replace(options=options)
    out_grad, lse_grad = slopes.draw(call, np.random.default_rng(2))
    look = sent.Lookup(*call.arrays, **options, backend="cuda-torch")
    slopes.assert_gradients(look.gradients(out_grad), call, out_grad, None, rounded=True)
    assert way.calls == [way.way, f"{way.way}_backward"]
    found = look.gradients(out_grad, lse_grad=lse_grad)
    slopes.assert_gradients(found, call, out_grad, lse_grad, rounded=True)
    assert way.calls == [way.way, f"{way.way}_backward", way.way]


def test_the_same_bits_are_had_on_request(way):
    call = _call()
    out_grad, _ = slopes.draw(call, np.random.default_rng(3))
    torch.use_deterministic_algorithms(True)
    try:
        found = sent.Lookup(*call.arrays, backend="cuda-torch").gradients(out_grad)
    finally:
        torch.use_deterministic_algorithms(False)
    slopes.assert_gradients(found, call, out_grad, None, rounded=True)
    assert way.calls == [way.way]


def test_what_hidden_keys_hold_is_mended(way):
    call = _call(value_dim=8)
    options = {"causal": True, "backend": "cuda-torch"}
    out_grad, _ = slopes.draw(call, np.random.default_rng(4))
    key, value = call.key.copy(), call.value.copy()
    key[0, 1, 15:], value[0, 1, 15:] = np.nan, np.inf
    value[1, 0, 16:] = np.nan
    spoilt = sent.Lookup(call.query, key, value, **options)
    same = sl.Lookup(*call.arrays, causal=True, backend="blocked")
    found = sent.brought(spoilt.attend())
    np.testing.assert_allclose(found[:, :, :15], same.attend()[:, :, :15], atol=2e-3)
    assert np.isnan(found[0, 3:, 15:]).all()
    assert np.isfinite(found[0, :3]).all()
    assert np.isfinite(found[1, 3:]).all()
    gradients, expected = spoilt.gradients(out_grad), same.gradients(out_grad)
    assert np.isfinite(gradients.query[:, :, :15]).all()
    np.testing.assert_allclose(gradients.query[0, :3], expected.query[0, :3], atol=2e-2)
    np.testing.assert_allclose(gradients.query[:, :, :15], expected.query[:, :, :15], atol=2e-2)


def test_rows_without_a_finite_score_are_mended(way):
    call = _call()
    query, key = call.query.copy(), call.key.copy()
    query[0, 4, 7, 2] = np.nan
    query[1, 0] = np.abs(query[1, 0])
    key[1, 0] = -np.inf
    found = sl.Lookup(*map(torch.from_numpy, (query, key, call.value)), backend="cuda-torch")
    found = found.inspect()
    exact, *_ = expect(query, key, call.value)
    np.testing.assert_array_equal(np.isnan(sent.brought(found.out)), np.isnan(exact.out))
    lse = sent.brought(found.lse)
    np.testing.assert_array_equal(np.isnan(lse), np.isnan(exact.lse))
    np.testing.assert_array_equal(np.isneginf(lse), np.isneginf(exact.lse))
    assert np.isneginf(lse[1, 0]).all()


def test_tensors_carry_gradients(way):
    query, key, value = (torch.from_numpy(x).requires_grad_() for x in _call().arrays)
    sl.attend(
        query, key, value, causal=True, backend="cuda-torch"
    ).float().square().sum().backward()
    found = [x.grad for x in (query, key, value)]
    exact = [x.detach().double().requires_grad_() for x in (query, key, value)]
    repeated = [x.repeat_interleave(3, 1) for x in exact[1:]]
    torch.nn.functional.scaled_dot_product_attention(
        exact[0], *repeated, is_causal=True
    ).square().sum().backward()
    for one, other in zip(found, exact, strict=True):
        torch.testing.assert_close(one.double(), other.grad, atol=2e-2, rtol=2e-2)


def test_what_an_answer_keeps_goes_with_it(way):
    slopes.assert_freed(*map(sent.sent, _call().arrays), causal=True, backend="cuda-torch")
    assert way.calls == [way.way]


def test_what_a_kernel_cannot_read_is_copied():
    base = torch.zeros(2, 3, 24, 16, dtype=torch.float16)
    for fine in (base, base.transpose(1, 2), base[:, :, ::2], base[:1, :, 8:]):
        assert torch_kernels.readable(fine) is fine
    for odd in (base.mT, base[..., ::2], base[:, :1].expand(2, 5, 24, 16), base[..., 1:9],
                base[..., :12].clone()):  # fmt: skip
        copy = torch_kernels.readable(odd)
        assert copy.shape == odd.shape
        assert copy.is_contiguous()
        assert copy.data_ptr() != odd.data_ptr()


# torch's operations themselves: their schemas, without numbers.


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("way", ["cudnn", "flash"])
def test_the_operations_take_our_calls(way, dtype):
    def room(*shape, kind=dtype):
        return torch.empty(shape, dtype=kind, device="meta")

    call = torch_kernels.Call(room(2, 6, 40, 64), room(2, 3, 40, 64), room(2, 3, 40, 64), True, 0.3)
    out, lse = torch_kernels.run_forward(way, call)
    assert (out.shape, out.dtype) == ((2, 6, 40, 64), dtype)
    assert lse.shape == ((2, 6, 40, 1) if way == "cudnn" else (2, 6, 40))
    assert lse.dtype == torch.float32
    plain = room(2, 6, 40, kind=torch.float32)
    gradients = torch_kernels.run_backward(way, call, out, plain, room(2, 6, 40, 64))
    for one, other in zip(gradients, call[:3], strict=True):
        assert (one.shape, one.dtype) == (other.shape, dtype)


@pytest.mark.parametrize("way", ["cudnn", "flash"])
def test_the_schemas_are_those_that_were_read(way):
    for suffix, names in (("", _FORWARD[way]), ("_backward", _BACKWARD[way])):
        schema = torch_kernels.operation(way, suffix).default._schema
        assert [argument.name for argument in schema.arguments] == names


_ENDS = ["dropout_p", "is_causal"]
_FORWARD = {
    "cudnn": ["query", "key", "value", "attn_bias", "compute_log_sumexp", *_ENDS,
              "return_debug_mask", "scale"],
    "flash": ["query", "key", "value", *_ENDS, "return_debug_mask", "scale"],
}  # fmt: skip
_GIVEN = ["grad_out", "query", "key", "value", "out", "logsumexp"]
_SEEDS, _LENGTHS = ["philox_seed", "philox_offset"], ["cum_seq_q", "cum_seq_k", "max_q", "max_k"]
_BACKWARD = {
    "cudnn": [*_GIVEN, *_SEEDS, "attn_bias", *_LENGTHS, *_ENDS, "scale"],
    "flash": [*_GIVEN, *_LENGTHS, *_ENDS, *_SEEDS, "scale"],
}


# What is refused, and what is offered.


def _problem(*, options=None, **sizes):
    call = _call(**sizes)
    arrays = (torch.from_numpy(x) for x in call.arrays)
    return sl.Lookup(*arrays, **(options or {})).problem


REFUSED = {
    "facts": ({}, {}, Facts(entropy=True), "no facts"),
    "received": ({}, {}, Facts(received=True), "no facts"),
    "float32": ({"dtype": "float32"}, {}, NO_FACTS, "float32"),
    "window": ({}, {"window": (3, 0)}, NO_FACTS, "no window"),
    "mask": ({}, {"mask": np.ones((19, 19), bool)}, NO_FACTS, "no mask"),
    "bias": ({}, {"bias": np.ones((19, 19))}, NO_FACTS, "no bias"),
    "kv_lens": ({}, {"kv_lens": [3, 4]}, NO_FACTS, "no kv_lens"),
    "softcap": ({}, {"softcap": 3.0}, NO_FACTS, "no softcap"),
    "sinks": ({}, {"sinks": np.ones(6)}, NO_FACTS, "no sinks"),
    "scale": ({}, {"scale": -0.5}, NO_FACTS, "scale > 0; here it is -0.5"),
    "corner": ({"kv_len": 23}, {"causal": True, "q_offset": 4}, NO_FACTS, "begins at position 0"),
    "offset": ({}, {"causal": True, "q_offset": [0, 1]}, NO_FACTS, "begins at position 0"),
    "nothing": ({"q_len": 0}, {}, NO_FACTS, "no axis of size 0"),
    "head_dim": ({"head_dim": 12}, {}, NO_FACTS, "head_dim that is a multiple of 8; here is 12"),
    "value_dim": ({"value_dim": 5}, {}, NO_FACTS, "value_dim that is a multiple of 8; here is 5"),
    "wide": ({"head_dim": 264, "value_dim": 264}, {}, NO_FACTS, "up to 256; here it is 264"),
    "float64": ({"dtype": "float64"}, {}, NO_FACTS, "float32; here is float64"),
    "uneven": ({"head_dim": 136, "value_dim": 8}, {}, NO_FACTS, "136 and 8"),
}  # fmt: skip
NOWHERE = ("wide", "float64")  # on a GPU: `cuda` refuses them, too


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_sentence_and_another_names_what_can(name, way):
    sizes, options, facts, words = REFUSED[name]
    with pytest.raises(BackendError) as refusal:
        registry.choose(_problem(options=options, **sizes), facts, "cuda-torch")
    assert words in str(refusal.value)
    taker = '"auto" takes cpu() of the tensors' if name in NOWHERE else '"cuda" takes this lookup'
    assert str(refusal.value).endswith(f". backend={taker}.")


def test_it_says_that_it_is_not_interpreted():
    query = torch.zeros(1, 1, 8, 8, dtype=torch.float16)
    assert cuda_torch.missing() == "torch's own kernels run on a GPU, and are not interpreted."
    with pytest.raises(BackendError, match=r"cuda-torch: .*not interpreted"):
        sl.attend(query, query, query, backend="cuda-torch")
    assert sl.Lookup(query, query, query).inspect().backend == "cuda"


def _large(dim=128, q_len=1024, kv_len=1024, value_dim=None, heads=1, **options):
    sizes = (q_len, dim), (kv_len, dim), (kv_len, value_dim or dim)
    one = torch.empty(1, 1, 1, 1, dtype=torch.float16)
    made = (one.expand(1, heads, length, width) for length, width in sizes)
    return sl.Lookup(*made, **options).problem


WAYS = {
    "Hopper": (HOPPER, {}, "cudnn", True),
    "Hopper, causal": (HOPPER, {"causal": True}, "cudnn", True),
    "Hopper, 64": (HOPPER, {"dim": 64}, "cudnn", True),
    "Hopper, 96": (HOPPER, {"dim": 96}, "cudnn", False),
    "Hopper, 256": (HOPPER, {"dim": 256}, "flash", False),
    "Hopper, two widths": (HOPPER, {"value_dim": 64}, "cudnn", False),
    "Hopper, short": (HOPPER, {"q_len": 1023}, "cudnn", False),
    "Hopper, few keys": (HOPPER, {"kv_len": 1000}, "cudnn", False),
    "Hopper, one key": (HOPPER, {"kv_len": 1}, "flash", False),
    "Hopper, decoding": (HOPPER, {"q_len": 1, "kv_len": 131072}, "cudnn", False),
    "Hopper, too many heads": (HOPPER, {"heads": 65536}, "flash", False),
    "Hopper, an old cuDNN": (((9, 0), 91500), {}, "flash", False),
    "Hopper, no cuDNN": (((9, 0), 0), {}, "flash", False),
    "Blackwell": (((10, 0), 91600), {}, "cudnn", False),
    "Ampere": (AMPERE, {}, "flash", False),
    "Ampere, two widths": (AMPERE, {"value_dim": 64}, None, False),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_the_rule_by_which_a_kernel_is_chosen(name, monkeypatch):
    traits, sizes, way, offered = WAYS[name]
    monkeypatch.setattr(cuda_torch, "traits_of", lambda _: cuda_torch.Traits(*traits))
    problem = _large(**sizes)
    assert cuda_torch.way_of(problem) == way
    assert (cuda_torch.unsupported(problem, NO_FACTS) is None) == (way is not None)
    assert cuda_torch.offers(problem, alone=True) == offered
    assert not cuda_torch.offers(problem, alone=False)


def test_a_small_gpu_goes_back_by_our_kernels_beyond_192(monkeypatch):
    monkeypatch.setattr(cuda_torch, "traits_of", lambda _: cuda_torch.Traits(*SMALL))
    assert cuda_torch._has_backward(_large(dim=192), "flash")
    assert not cuda_torch._has_backward(_large(dim=200), "flash")
    monkeypatch.setattr(cuda_torch, "traits_of", lambda _: cuda_torch.Traits(*HOPPER))
    assert cuda_torch._has_backward(_large(dim=200), "flash")
