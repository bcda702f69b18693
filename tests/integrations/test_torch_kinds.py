"""Tensors whose memory is not their numbers: honoured as what they mean, or refused by name."""

import io
from functools import partial

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from torch.autograd import forward_ad  # noqa: E402
from torch.autograd.functional import jacobian  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.masked import masked_tensor  # noqa: E402
from torch.nn.attention.bias import causal_lower_right, causal_upper_left  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention as theirs  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from softlookup.errors import BackendError, DtypeError, OptionError, ShapeError  # noqa: E402
from softlookup.integrations.torch import attend_with_lse  # noqa: E402
from softlookup.integrations.torch import scaled_dot_product_attention as ours  # noqa: E402

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("ignore")]  # torch's of prototypes
ROWS = torch.randn(3, 2, generator=torch.Generator().manual_seed(1))
EVERY_WAY = {
    "drop-in": ours,
    "attend": sl.attend,
    "lse": lambda *three: attend_with_lse(*three)[0],
    "Lookup": lambda *three: sl.Lookup(*three).attend(),
    "a question": lambda *three: sl.Lookup(*three).inspect(entropy=True).out,
}


@pytest.fixture(params=EVERY_WAY)
def verb(request):
    return EVERY_WAY[request.param]


RULES = {"upper left": causal_upper_left, "lower right": causal_lower_right}


@pytest.mark.parametrize(("q_len", "kv_len"), [(4, 4), (3, 7), (7, 3), (1, 5)])
@pytest.mark.parametrize("rule", RULES)
def test_a_causal_bias_is_the_rule_that_it_stands_for(rule, q_len, kv_len):
    draw = torch.Generator().manual_seed(2)
    query = torch.randn(2, 5, q_len, 11, dtype=torch.float64, generator=draw)
    key, value = torch.randn(2, 2, 5, kv_len, 11, dtype=torch.float64, generator=draw)
    bias = RULES[rule](q_len, kv_len)
    expected = theirs(query, key, value, bias)
    torch.testing.assert_close(ours(query, key, value, bias), expected)
    torch.testing.assert_close(sl.attend(query, key, value, bias=bias), expected)
    plain = [x.numpy() for x in (query, key, value)]
    np.testing.assert_allclose(sl.attend(*plain, bias=bias), expected, rtol=1e-12, atol=1e-14)
    look = sl.Lookup(query, key, value, bias=bias)
    hidden = ~bias._materialize()
    assert not look.weights()[..., hidden].any()
    torch.testing.assert_close(look.head(3, 1).attend(), expected[1, 3])


def test_a_causal_bias_narrows_with_the_other_rules_and_leads_gradients_on():
    key = torch.arange(10.0).reshape(5, 2)
    query, bias = key[:3].clone().requires_grad_(), causal_lower_right(3, 5)
    more = {"window": (1, 0), "kv_lens": 4}
    narrow = sl.Lookup(query, key, key, bias=bias, **more)
    assert (narrow.weights() > 0).int().tolist() == [
        [0, 1, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0],
    ]
    sl.attend(query, key, key, bias=bias).square().sum().backward()
    slopes = query.grad.clone()
    query.grad = None
    sl.attend(query, key, key, causal=True, q_offset=2).square().sum().backward()
    assert torch.equal(query.grad, slopes)


def test_a_causal_bias_that_does_not_fit_is_refused():
    given, bias = (ROWS, ROWS, ROWS), causal_lower_right(3, 5)
    with pytest.raises(ShapeError, match=r"bias: .*3 queries and 3 keys; got one of 3 and 5"):
        sl.attend(*given, bias=bias)
    with pytest.raises(ShapeError, match=r"attn_mask: .*3 queries and 3 keys; got one of 3 and 5"):
        ours(*given, bias)
    with pytest.raises(OptionError, match=r"q_offset: .*rule in bias, 0; got 2"):
        sl.attend(*given, bias=causal_upper_left(3, 3), q_offset=2)
    with pytest.raises(OptionError, match=r"is_causal: must be False .*causal rule, as in torch"):
        ours(*given, causal_upper_left(3, 3), is_causal=True)
    with pytest.raises(DtypeError, match=r"mask: .*CausalBias.* bias= of attend"):
        sl.attend(*given, mask=causal_upper_left(3, 3))


def refused(verb, *given, match, kind=DtypeError):
    with pytest.raises(kind, match=match) as caught:
        verb(*given)
    assert str(caught.value).count("\n") == 0
    return caught.value.argument


TRANSFORMS = {
    "functionalize": lambda verb: torch.func.functionalize(verb)(ROWS),
    "vmap": lambda verb: torch.vmap(verb)(ROWS[None]),
    "grad": lambda verb: torch.func.grad(lambda rows: verb(rows).sum())(ROWS),
    "vjp": lambda verb: torch.func.vjp(verb, ROWS),
    "jvp": lambda verb: torch.func.jvp(verb, (ROWS,), (ROWS,)),
    "jacrev": lambda verb: torch.func.jacrev(verb)(ROWS),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_every_transform_of_torch_func_is_refused(transform, verb):
    words = r"tangent" if transform == "jvp" else r"transform of torch\.func.* Call it outside\.$"
    made = TRANSFORMS[transform]
    assert refused(made, lambda rows: verb(rows, rows, rows), match=words) == "query"


def test_functionalize_is_refused_where_other_tensors_are_plain():
    def looked_up(rows):
        return sl.attend(ROWS, ROWS, ROWS) + rows.sum()

    assert refused(torch.func.functionalize(looked_up), ROWS, match="torch.func") == "query"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tracing_is_refused(verb, dtype):
    rows = ROWS.to(dtype)

    def looked_up(one):
        return verb(one, one, one)

    for how in ({}, {"pre_dispatch": True}, {"tracing_mode": "fake"}):
        assert (
            refused(make_fx(looked_up, **how), rows, match=r"make_fx or torch\.export") == "query"
        )
    assert refused(torch.jit.trace, looked_up, (rows,), match=r"torch\.jit\.trace or") == "query"


class Layer(torch.nn.Module):
    def forward(self, rows):
        return ours(rows, rows, rows, is_causal=rows.shape[0] > 1)


def test_exports_are_refused():
    for old in (True, False):
        how = torch.onnx.export if old else torch.export.export
        more = {"f": io.BytesIO(), "dynamo": False} if old else {"strict": False}
        with pytest.raises(DtypeError, match=r"query: .*(onnx\.export|torch\.export) follows"):
            how(Layer(), (ROWS,), **more)
    for traced in (Layer(), lambda rows: sl.attend(rows, rows, rows)):
        said = refused(torch.fx.symbolic_trace, traced, match=r"Proxy.*torch\.fx\.wrap")
        assert said == "query"


def test_forward_mode_derivatives_are_refused(verb):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(ROWS, ROWS)
        plain = verb(ROWS, ROWS, ROWS)
        assert torch.equal(plain, sl.attend(ROWS, ROWS, ROWS))
        for at, argument in enumerate(("query", "key", "value")):
            given = [dual if at == i else ROWS for i in range(3)]
            assert refused(verb, *given, match="tangent would be lost.*backward") == argument
            wanted = [ROWS.clone().requires_grad_(), *given[1:]]
            if at:
                assert refused(verb, *wanted, match="tangent") == argument
        if verb is sl.attend:
            assert refused(verb, dual.numpy(), dual, ROWS, match="tangent") == "key"
            out = sl.attend(rows := ROWS.clone().requires_grad_(), ROWS, ROWS)
            seeded = forward_ad.make_dual(torch.ones_like(ROWS), ROWS)
            assert refused(torch.autograd.grad, out, rows, seeded, match="tangent") == "out_grad"
    with pytest.raises(DtypeError, match=r"query: .*tangent"):
        jacobian(lambda x: verb(x, x, x), ROWS, strategy="forward-mode", vectorize=True)


@pytest.mark.parametrize("how", ["is_grads_batched", "vectorize", "vmap", "gradcheck"])
def test_many_gradients_at_once_are_refused_in_one_sentence(how):
    rows = ROWS.double().requires_grad_()
    out, many = sl.attend(rows, ROWS.double(), ROWS.double()), torch.ones(5, 3, 2).double()
    asked = {
        "is_grads_batched": lambda: torch.autograd.grad(out, rows, many, is_grads_batched=True),
        "vectorize": lambda: jacobian(lambda x: sl.attend(x, x, x), rows, vectorize=True),
        "vmap": lambda: torch.vmap(lambda one: torch.autograd.grad(out, rows, one))(many),
    }
    if how == "gradcheck":
        with pytest.raises(RuntimeError, match=r"is_grads_batched: .*check_batched_grad=False"):
            torch.autograd.gradcheck(lambda x: sl.attend(x, x, x), rows, check_batched_grad=True)
        return
    assert refused(asked[how], match="got those of many", kind=BackendError) == "is_grads_batched"
    assert len(jacobian(lambda x: sl.attend(x, x, x), rows)) == 3


class Named(torch.Tensor):
    """A class of the caller's that changes nothing."""


class Own(torch.Tensor):
    """A class that sees every function of torch's, whatever it does then."""

    @classmethod
    def __torch_function__(cls, verb, types, args=(), kwargs=None):
        return super().__torch_function__(verb, types, args, kwargs or {})


class Wrapped(torch.Tensor):
    """A class whose numbers are another tensor's."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, verb, types, args=(), kwargs=None):
        raise NotImplementedError


def fake(tensor):
    return torch._subclasses.FakeTensorMode().from_tensor(tensor)


KINDS = {
    "sparse": (lambda x: x.to_sparse(), r"sparse_coo\. Pass {}\.to_dense\(\)\.$"),
    "sparse rows": (lambda x: x.to_sparse_csr(), r"sparse_csr\. Pass {}\.to_dense\(\)\.$"),
    "mkldnn": (lambda x: x.to_mkldnn(), r"mkldnn\. Pass {}\.to_dense\(\)\.$"),
    "nested": (lambda x: torch.nested.nested_tensor([x, x]), r"Pass {}\.to_padded_tensor\(0\.0\)"),
    "jagged": (lambda x: torch.nested.nested_tensor([x, x], layout=torch.jagged),
               r"Pass {}\.to_padded_tensor\(0\.0\)"),
    "masked": (lambda x: masked_tensor(x, x > 0), r"a masked tensor\. Pass {}\.get_data\(\)"),
    "fake": (fake, r"a fake tensor, which has a shape and no numbers"),
    "meta": (lambda x: x.to("meta"), r"a tensor on meta\. There are no numbers on it\.$"),
    "quantized": (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
                  r"Pass {}\.dequantize\(\)"),
    "of zeros": (lambda x: torch._efficientzerotensor(x.shape), r"Pass {}\.clone\(\)"),
    "wrapped": (Wrapped, r"a test_torch_kinds\.Wrapped, .* Pass a plain tensor\."),
    "of a class with a meaning": (lambda x: x.as_subclass(Own), r"a test_torch_kinds\.Own, "),
    "not there yet": (lambda x: torch.nn.UninitializedParameter(), r"UninitializedParameter, "),
    "a rule": (lambda x: causal_upper_left(3, 3), r"a CausalBias\."),
    "a rule that lost itself": (lambda x: causal_upper_left(3, 3) + 0, r"a CausalBias\."),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_plain_tensor_is_refused_by_what_it_is(kind, verb):
    make, words = KINDS[kind]
    odd = make(ROWS)
    for at, argument in enumerate(("query", "key", "value")):
        given = [odd if at == i else ROWS for i in range(3)]
        assert refused(verb, *given, match=words.format(argument)) == argument


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a rule"])
def test_masks_and_biases_are_refused_under_the_callers_name(kind):
    make, words = KINDS[kind]
    odd, given = make(torch.ones(3, 3)), (ROWS, ROWS, ROWS)
    for argument in ("mask", "bias", "sinks"):
        asked = partial(sl.attend, *given, **{argument: odd})
        assert refused(asked, match=words.format(argument)) == argument
    assert refused(ours, *given, odd, match=words.format("attn_mask")) == "attn_mask"
    plain = [x.numpy() for x in given]
    assert refused(lambda: sl.attend(*plain, bias=odd), match=words.format("bias")) == "bias"


def test_a_sparse_mask_of_bools_stays_one():
    bools = torch.eye(3, dtype=torch.bool).to_sparse()
    assert refused(lambda: sl.attend(ROWS, ROWS, ROWS, mask=bools), match=r"mask\.to_dense\(\)\.$")
    assert torch.equal(sl.attend(ROWS, ROWS, ROWS, mask=bools.to_dense()), ROWS)


def test_a_part_of_a_distributed_tensor_is_refused():
    from torch.distributed import tensor as distributed

    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    try:
        mesh = distributed.init_device_mesh("cpu", (1,))
        part = distributed.distribute_tensor(ROWS, mesh, [distributed.Shard(0)])
        for verb in (sl.attend, ours):
            said = refused(verb, part, ROWS, ROWS, match=r"DTensor.* Pass query\.full_tensor\(\)")
            assert said == "query"
    finally:
        torch.distributed.destroy_process_group()


class Counting(TorchDispatchMode):
    def __torch_dispatch__(self, verb, types, args=(), kwargs=None):
        return verb(*args, **kwargs or {})


def test_what_leaves_the_numbers_alone_is_read_as_ever(verb):
    expected = theirs(ROWS, ROWS, ROWS)
    with torch.no_grad():
        for rows in (torch.nn.Parameter(ROWS), ROWS.as_subclass(Named), torch.nn.Buffer(ROWS)):
            torch.testing.assert_close(torch.as_tensor(verb(rows, rows, rows)), expected)
    with Counting():
        torch.testing.assert_close(verb(ROWS, ROWS, ROWS), expected)
    with torch._subclasses.FakeTensorMode():
        assert refused(verb, ROWS, ROWS, ROWS, match="FakeTensorMode") == "query"
