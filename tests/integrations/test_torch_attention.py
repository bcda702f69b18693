"""The drop-in does what torch's own scaled_dot_product_attention does."""

import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from torch.nn.functional import scaled_dot_product_attention as theirs  # noqa: E402

from softlookup import attend  # noqa: E402
from softlookup.errors import DtypeError, OptionError, ShapeError  # noqa: E402
from softlookup.integrations.torch import attend_with_lse  # noqa: E402
from softlookup.integrations.torch import scaled_dot_product_attention as ours  # noqa: E402

pytestmark = pytest.mark.models


def draw(*shape, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


def arrays(lead=(2, 3), q_len=7, kv_len=11, dtype=torch.float64):
    shapes = (q_len, 5), (kv_len, 5), (kv_len, 13)
    return [draw(*lead, *shape, dtype=dtype) for shape in shapes]


CALLS = {
    "plain": (arrays(), {}),
    "two axes": (arrays(()), {}),
    "three axes": (arrays((3,)), {}),
    "five axes": (arrays((2, 1, 3)), {}),
    "causal": (arrays(kv_len=7), {"is_causal": True}),
    "causal, more keys: the top-left corner": (arrays(), {"is_causal": True}),
    "causal, more queries": (arrays(q_len=13), {"is_causal": True}),
    "scale": (arrays(), {"scale": 0.3}),
    "bool mask": (arrays(), {"attn_mask": draw(7, 11) > -0.7}),
    "bool mask of the batch": (arrays(), {"attn_mask": draw(2, 1, 1, 11) > -0.7}),
    "bool mask, three axes": (arrays((3,)), {"attn_mask": draw(3, 7, 11) > -0.7}),
    "float mask": (arrays(), {"attn_mask": draw(3, 7, 11)}),
    "float mask with -inf": (arrays(), {"attn_mask": torch.zeros(7, 11, dtype=torch.float64)
                                        .masked_fill(draw(7, 11) > 1, -torch.inf)}),
    "grouped heads": ([draw(2, 6, 7, 5), draw(2, 3, 11, 5), draw(2, 3, 11, 13)],
                      {"enable_gqa": True}),
    "grouped heads, three axes": ([draw(6, 7, 5), draw(2, 11, 5), draw(2, 11, 13)],
                                  {"enable_gqa": True, "attn_mask": draw(7, 11) > 0}),
    "more key heads than value heads": ([draw(2, 12, 7, 5), draw(2, 6, 11, 5), draw(2, 4, 11, 13)],
                                        {"enable_gqa": True}),
    "more value heads than key heads": ([draw(6, 7, 5), draw(1, 11, 5), draw(3, 11, 13)],
                                        {"enable_gqa": True, "attn_mask": draw(7, 11) > 0}),
    "keys for the whole batch": ([draw(2, 3, 7, 5), draw(1, 3, 11, 5), draw(1, 1, 11, 13)], {}),
    "a row that sees nothing": (arrays(), {"attn_mask": torch.arange(7)[:, None] != 3}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_it_gives_what_torch_gives_and_the_same_gradients(name):
    given, options = CALLS[name]
    results = []
    for verb in (ours, theirs):
        leaves = [x.detach().clone().requires_grad_() for x in given]
        more = dict(options)
        if torch.is_floating_point(more.get("attn_mask", torch.tensor(True))):
            leaves.append(more["attn_mask"].clone().requires_grad_())
            more["attn_mask"] = leaves[-1]
        out = verb(*leaves[:3], **more)
        (out * torch.linspace(-1, 1, 13)).sum().backward()
        results.append([out, *(leaf.grad for leaf in leaves)])
    for mine, other in zip(*results, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_dtypes_agree_within_their_rounding(dtype):
    given = arrays(dtype=dtype)
    out = ours(*given, is_causal=True)
    assert out.dtype == dtype
    exact = theirs(*(x.double() for x in given), is_causal=True)
    assert (out.double() - exact).abs().max() <= 4 * torch.finfo(dtype).eps * exact.abs().max()


def test_the_arguments_are_torchs_own_in_their_order():
    names = ["query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"]
    signature = inspect.signature(ours)
    assert list(signature.parameters) == names
    assert all(f"{name}" in theirs.__doc__ for name in names)
    given = arrays(kv_len=7)
    torch.testing.assert_close(ours(*given, None, 0.0, True), theirs(*given, None, 0.0, True))


def test_the_mask_and_the_causal_corner_count_together():
    given, mask = arrays(kv_len=7), draw(7, 7) > -0.5
    corner = torch.ones(7, 7, dtype=torch.bool).tril()
    found = ours(*given, mask, is_causal=True)
    torch.testing.assert_close(found, theirs(*given, mask & corner))


REFUSED = {
    "dropout": ({"dropout_p": 0.1}, OptionError, "dropout_p", ["got 0.1", "pass 0"]),
    "integer mask": ({"attn_mask": torch.ones(7, 11, dtype=torch.int64)}, DtypeError, "attn_mask",
                     ["torch.int64", "attn_mask.bool()"]),
    "a mask that is no tensor": ({"attn_mask": np.ones((7, 11), bool)}, DtypeError, "attn_mask",
                                 ["ndarray"]),
    "a mask that does not fit": ({"attn_mask": torch.ones(7, 10, dtype=torch.bool)}, ShapeError,
                                 "attn_mask", ["(2, 3, 7, 11)", "(7, 10)"]),
    "integers": ({"query": torch.ones(2, 3, 7, 5, dtype=torch.int64)}, DtypeError, "query",
                 ["torch.int64", "as torch's own takes", "query.to(...)"]),
    "integer values": ({"value": torch.ones(2, 3, 11, 13, dtype=torch.int64)}, DtypeError, "value",
                       ["torch.int64", "value.to(...)"]),
    "another dtype": ({"key": draw(2, 3, 11, 5).float()}, DtypeError, "key",
                      ["float64", "float32", "key.to(query.dtype)"]),
    "one axis": ({"query": draw(5)}, ShapeError, "query", ["2 axes", "(5,)", "query[None]"]),
    "a flag that is a tensor": ({"is_causal": torch.tensor(True)}, DtypeError, "is_causal",
                                ["True or False", "tensor(True)"]),
    "a mask on another device": ({"attn_mask": torch.ones(7, 11, dtype=torch.bool, device="meta")},
                                 DtypeError, "attn_mask", ["meta"]),
    "a mask that lacks the heads": ({"attn_mask": draw(2, 7, 11)}, ShapeError, "attn_mask",
                                    ["(2, 3, 7, 11)", "(2, 7, 11)", "attn_mask[:, None]"]),
    "heads that do not divide": ({"value": draw(2, 2, 11, 13), "enable_gqa": True}, ShapeError,
                                 "value", ["divide the query's 3", "got 2"]),
    "NumPy arrays": ({"query": np.ones((2, 3, 7, 5))}, DtypeError, "query",
                     ["ndarray", "softlookup.attend"]),
    "fewer key heads": ({"key": draw(2, 1, 11, 5).expand(2, 2, 11, 5)}, ShapeError, "key",
                        ["(2, 3)", "(2, 2)", "enable_gqa=True"]),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_done_is_refused_by_torchs_own_names(what):
    changed, kind, argument, fragments = REFUSED[what]
    given = dict(zip(("query", "key", "value"), arrays(), strict=True)) | changed
    with pytest.raises(kind) as caught:
        ours(**given)
    assert caught.value.argument == argument
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_two_halves_merge_by_their_lse():
    query, key, value = (x.requires_grad_() for x in arrays())
    parts = [attend_with_lse(query, key[..., some, :], value[..., some, :])
             for some in (slice(0, 4), slice(4, 11))]  # fmt: skip
    shares = torch.softmax(torch.stack([lse for _, lse in parts], -1), -1)
    merged = sum(out * shares[..., i, None] for i, (out, _) in enumerate(parts))
    slopes = torch.autograd.grad(merged.sum(), (query, key, value))
    whole = theirs(query, key, value)
    torch.testing.assert_close(merged, whole)
    for mine, other in zip(slopes, torch.autograd.grad(whole.sum(), (query, key, value)),
                           strict=True):  # fmt: skip
        torch.testing.assert_close(mine, other)


def test_a_value_is_needed_for_an_answer_with_its_lse():
    with pytest.raises(OptionError, match="value"):
        attend_with_lse(*arrays()[:2], None)


@pytest.mark.filterwarnings("ignore")  # torch.compile warns itself
@pytest.mark.parametrize("verb", [ours, attend, lambda *x: attend_with_lse(*x)[0]],
                         ids=["drop-in", "attend", "with lse"])  # fmt: skip
def test_compiled_code_calls_it_as_it_is(verb):
    def loss(query, key, value):
        return (verb(2 * query, key, value) * torch.arange(13)).sum()

    slopes = []
    for how in (loss, torch.compile(loss, backend="eager")):
        given = [x.requires_grad_() for x in arrays(dtype=torch.bfloat16)]
        how(*given).backward()
        slopes.append([x.grad for x in given])
    for one, other in zip(*slopes, strict=True):
        assert torch.equal(one, other)


CAST = {
    "float32": [torch.float32] * 3,
    "a query after rotary positions": [torch.float32, torch.bfloat16, torch.bfloat16],
    "float16": [torch.float16] * 3,
    "float64 stays": [torch.float64] * 3,
}


@pytest.mark.parametrize("name", CAST)
@pytest.mark.parametrize("mask", [None, draw(7, 11).float(), draw(7, 11) > -0.7])
def test_autocast_casts_as_it_does_for_torch(name, mask):
    given = [x.to(dtype) for x, dtype in zip(arrays(), CAST[name], strict=True)]
    if mask is not None and mask.is_floating_point():
        mask = mask.to(CAST[name][0])
    found = []
    for verb in (ours, theirs):
        leaves = [x.clone().requires_grad_() for x in given]
        with torch.autocast("cpu", torch.bfloat16):
            out = verb(*leaves, mask)
        out.float().sum().backward()
        found.append([out, *(x.grad for x in leaves)])
    for mine, other in zip(*found, strict=True):
        assert mine.dtype == other.dtype
        room = 0.03 if found[1][0].dtype == torch.bfloat16 else 1e-10
        assert (mine.double() - other.double()).abs().max() <= room * other.double().abs().max()
