"""Gradients of tensors: beside autograd over the whole weight matrix, by gradcheck, and refused."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from dense_torch import dense  # noqa: E402 (it needs torch)

from slopes import assert_freed  # noqa: E402
from softlookup.errors import BackendError, DtypeError  # noqa: E402
from softlookup.integrations.torch import attend_with_lse  # noqa: E402

pytestmark = pytest.mark.models
DTYPES = {"float32": (torch.float32, 2e-5), "float64": (torch.float64, 1e-11),
          "float16": (torch.float16, 6e-4), "bfloat16": (torch.bfloat16, 5e-3)}  # fmt: skip
MASK = torch.rand(7, 11, generator=torch.Generator().manual_seed(1)) < 0.7
MASK[:, 0] = True
OPTIONS = {
    "nothing": {},
    "causal": {"causal": True, "q_offset": 4},
    "window": {"window": (3, 2), "q_offset": 2},
    "mask": {"mask": MASK},
    "padding": {"kv_lens": [5, 11]},
    "softcap 15": {"softcap": 15.0},
    "softcap 30": {"softcap": 30.0},
    "a tight softcap": {"softcap": 0.7},
    "scale": {"scale": -0.3},
    "scale 0": {"scale": 0.0},
    "all at once": {"causal": True, "q_offset": 4, "window": (9, 3), "mask": MASK,
                    "kv_lens": [8, 11], "softcap": 2.0, "scale": 0.9},
}  # fmt: skip
BIASES = {"no bias": None, "one number": (1,), "keys": (11,), "queries": (7, 1), "both": (7, 11),
          "a head each": (4, 7, 11), "heads and keys": (4, 1, 11), "batch": (2, 1, 7, 11),
          "all": (2, 4, 7, 11)}  # fmt: skip


def inputs(dtype=torch.float64, *, kv_heads=4, value_dim=3, bias=None, sinks=False):
    draw = torch.Generator().manual_seed(2)
    shapes = [(2, 4, 7, 5), (2, kv_heads, 11, 5), (2, kv_heads, 11, value_dim)]
    made = [torch.randn(shape, generator=draw, dtype=torch.float64).to(dtype) for shape in shapes]
    made.append(None if bias is None else torch.randn(bias, generator=draw, dtype=torch.float64))
    made.append(torch.randn(4, generator=draw, dtype=torch.float64) if sinks else None)
    return [None if x is None else x.requires_grad_() for x in made]


def check(options, name, given, *, alone=None, fast=True):
    def both(*tensors):
        query, key, value, bias, sinks = tensors
        return attend_with_lse(query, key, value, bias=bias, sinks=sinks, backend=name, **options)

    if alone is not None:
        given = [x if x is None or i == alone else x.detach() for i, x in enumerate(given)]
    assert torch.autograd.gradcheck(both, given, fast_mode=fast)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_gradcheck_of_every_option(options, backend):
    given = inputs(kv_heads=2, sinks=True, bias=(4, 1, 11))
    check(options, backend, given, fast=len(options) < 3)


@pytest.mark.parametrize("shape", BIASES.values(), ids=BIASES)
def test_gradcheck_of_every_bias(shape, backend):
    check({"softcap": 2.0}, backend, inputs(bias=shape))


@pytest.mark.parametrize("alone", range(5), ids=["query", "key", "value", "bias", "sinks"])
def test_gradcheck_where_one_input_alone_requires_grad(alone, backend):
    check({}, backend, inputs(kv_heads=1, value_dim=9, bias=(4, 7, 11), sinks=True), alone=alone)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_are_those_of_the_written_out_formula(dtype, options, backend):
    kind, room = DTYPES[dtype]
    given = inputs(kind, kv_heads=2, bias=(4, 7, 11), sinks=True)
    exact = [x.detach().double().requires_grad_() for x in given]
    gradients = []
    for tensors, how in ((given, attend_with_lse), (exact, dense)):
        *arrays, bias, sinks = tensors
        more = {"backend": backend} if how is attend_with_lse else {}
        out, lse = how(*arrays, bias=bias, sinks=sinks, **options, **more)
        ((out.double() * torch.linspace(-1, 1, 3)).sum() + (lse.double() ** 2).sum()).backward()
        gradients.append([x.grad for x in tensors])
    for found, expected, tensor in zip(*gradients, given, strict=True):
        assert found.dtype == tensor.dtype
        assert found.shape == tensor.shape
        size = max(1.0, float(expected.abs().max()))
        assert (found.double() - expected).abs().max() <= room * size


def test_no_bit_depends_on_whether_a_gradient_is_wanted(backend):
    given = inputs(torch.float32, bias=(7, 11), sinks=True)
    query, key, value, bias, sinks = given
    options = {"bias": bias, "sinks": sinks, "backend": backend}
    kept = sl.attend(query, key, value, **options)
    assert kept.requires_grad
    with torch.no_grad():
        plain = sl.attend(query, key, value, **options)
    assert not plain.requires_grad
    assert torch.equal(kept, plain)
    assert torch.equal(kept, sl.Lookup(query, key, value, **options).attend())
    assert torch.equal(kept, sl.Lookup(query, key, value, **options).inspect().out)
    assert all(x.grad is None and x.requires_grad for x in given)


@pytest.mark.parametrize("shape", [(4, 1, 11), (2, 1, 7, 11), (11,)])
def test_lookup_carries_gradients_for_one_head_too(shape, backend):
    query, key, value, bias, sinks = inputs(kv_heads=2, bias=shape, sinks=True)
    look = sl.Lookup(query, key, value, bias=bias, sinks=sinks, backend=backend)
    (look.attend()[1, 3] ** 2).sum().backward()
    whole = [x.grad.clone() for x in (query, key, value, bias, sinks)]
    for x in (query, key, value, bias, sinks):
        x.grad = None
    (look.head(3, 1).attend() ** 2).sum().backward()
    for x, expected in zip((query, key, value, bias, sinks), whole, strict=True):
        torch.testing.assert_close(x.grad, expected)


def test_gradients_of_a_lookup_are_what_backward_gives(backend):
    query, key, value, bias, sinks = inputs(kv_heads=2, bias=(7, 11), sinks=True)
    look = sl.Lookup(query, key, value, bias=bias, sinks=sinks, backend=backend)
    out = look.attend()
    found = look.gradients(torch.ones_like(out))
    out.sum().backward()
    for part, tensor in zip(found, (query, key, value, bias, sinks), strict=True):
        assert torch.equal(part, tensor.grad)
        assert not part.requires_grad


def test_facts_and_weights_come_back_detached(backend):
    query, key, value, *_ = inputs()
    look = sl.Lookup(query, key, value, backend=backend)
    found = look.inspect(entropy=True, top=2, received=True)
    for fact in (found.out, found.lse, found.entropy, *found.top, found.received, look.weights()):
        assert isinstance(fact, torch.Tensor)
        assert not fact.requires_grad


def test_strided_and_expanded_tensors_get_their_own_gradients(backend):
    base = torch.randn(2, 7, 4, 5, dtype=torch.float64, requires_grad=True)  # heads inside
    one = torch.randn(1, 1, 5, dtype=torch.float64, requires_grad=True)

    def both(base, one):
        query = base.transpose(1, 2)
        return sl.attend(query, query.flip(-1), one.expand(2, 4, 7, 5), backend=backend)

    assert torch.autograd.gradcheck(both, (base, one))


def test_an_input_changed_before_backward_is_refused(backend):
    query, key, value, *_ = inputs()
    mask = torch.ones(7, 11, dtype=torch.bool)
    out = sl.attend(query, key, value, mask=mask, backend=backend)
    mask[:, 3] = False
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.parametrize("changed", ["key", "value", "mask", "bias", "sinks"])
@pytest.mark.parametrize("whole", [True, False], ids=["4-D", "one head"])
def test_an_array_changed_before_backward_changes_no_gradient(changed, whole, backend):
    query, key, value, bias, sinks = inputs(bias=(4, 7, 11), sinks=True)
    given = {"key": key, "value": value, "mask": MASK, "bias": bias, "sinks": sinks}
    given = {name: x.detach().numpy().copy() for name, x in given.items()}
    given["key"] = np.broadcast_to(given["key"][:1], key.shape).copy()

    def slope(asked, *, later=None):
        query.grad = None
        look = sl.Lookup(query, **asked, backend=backend)
        out = look.attend() if whole else look.head(2, 1).attend()
        if later is not None:
            asked[later][...] = True if later == "mask" else 7
        out.square().sum().backward()
        return query.grad

    expected = slope(dict(given)).clone()
    assert torch.equal(slope(given, later=changed), expected)
    assert not torch.equal(slope(given), expected)


def test_an_array_that_repeats_is_copied_as_it_is(backend):
    query, key, value, *_ = (x if x is None else x.detach().numpy() for x in inputs())
    wide = np.broadcast_to(key[:1], key.shape)
    given = torch.from_numpy(query).requires_grad_()
    out = sl.attend(given, wide, value, mask=np.broadcast_to(MASK.numpy(), (2, 4, 7, 11)),
                    backend=backend)  # fmt: skip
    out.sum().backward()
    three = [torch.from_numpy(x.copy()) for x in (query, wide, value)]
    three[0].requires_grad_()
    dense(*three, mask=MASK)[0].sum().backward()
    torch.testing.assert_close(given.grad, three[0].grad)


def test_a_second_derivative_is_refused_in_one_sentence(backend):
    query, key, value, *_ = inputs()
    out = sl.attend(query, key, value, backend=backend)
    (slope,) = torch.autograd.grad(out.sum(), query, create_graph=True)
    torch.testing.assert_close(slope, torch.autograd.grad(
        dense(query, key, value)[0].sum(), query)[0])  # fmt: skip
    with pytest.raises(BackendError, match=r"create_graph: .*second derivative"):
        slope.sum().backward()


@pytest.mark.parametrize("argument", ["key", "bias", "scale"])
def test_a_gradient_that_would_be_lost_is_refused(argument):
    query = np.ones((3, 2)) if argument != "scale" else torch.ones(3, 2)
    given = {"query": query, "key": query, "value": query}
    grows = {"key": (3, 2), "bias": (3, 3), "scale": ()}[argument]
    given[argument] = torch.ones(grows, dtype=torch.float64, requires_grad=True)
    with pytest.raises(DtypeError, match=rf"{argument}: .*Pass {argument}\.detach\(\)") as caught:
        sl.attend(**given)
    assert caught.value.argument == argument
    with torch.no_grad():
        sl.attend(**given)


@pytest.mark.parametrize("whole", [True, False], ids=["4-D", "one head"])
def test_what_an_answer_keeps_goes_with_it(whole, backend):
    given = [x.detach() if whole else x.detach()[0, 0] for x in inputs()[:3]]
    assert_freed(*given, causal=True, q_offset=4, backend=backend)


def test_hooks_that_move_what_is_saved_are_honoured(backend):
    query, key, value, *_ = inputs()
    with torch.autograd.graph.save_on_cpu():
        out = sl.attend(query, key, value, backend=backend)
    out.sum().backward()
    expected = torch.autograd.grad(dense(query, key, value)[0].sum(), key)[0]
    torch.testing.assert_close(key.grad, expected)
