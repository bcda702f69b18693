"""The module agrees with torch.nn.MultiheadAttention, loads its state, and mends its NaN."""

import inspect
import re

import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from torch.nn.attention.bias import causal_upper_left  # noqa: E402

from softlookup.errors import DtypeError, OptionError, PackageError, ShapeError  # noqa: E402
from softlookup.integrations import torch as ours_module  # noqa: E402
from softlookup.integrations.torch import MultiheadAttention  # noqa: E402

pytestmark = pytest.mark.models
BATCH, HEADS, Q_LEN, KV_LEN, DIM = 2, 3, 7, 11, 15


def pair(**options):
    torch.manual_seed(3)
    theirs = torch.nn.MultiheadAttention(DIM, HEADS, dtype=torch.float64, **options)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    ours = MultiheadAttention(DIM, HEADS, dtype=torch.float64, **options)
    assert ours.load_state_dict(theirs.state_dict()).missing_keys == []
    return ours, theirs


def rows(length=Q_LEN, dim=DIM, *, batch_first=True):
    shape = (BATCH, length, dim) if batch_first else (length, BATCH, dim)
    return torch.randn(shape, dtype=torch.float64)


LATER = torch.ones(Q_LEN, Q_LEN, dtype=torch.bool).triu(1)
SOME = torch.rand(Q_LEN, KV_LEN, generator=torch.Generator().manual_seed(4)) < 0.3
SOME[:, 0] = False
END = torch.arange(KV_LEN) >= torch.tensor([[KV_LEN], [4]])
LOUD = torch.randn(Q_LEN, KV_LEN, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
CALLS = {
    "nothing": ({}, {}),
    "length first": ({"batch_first": False}, {}),
    "no bias": ({"bias": False}, {}),
    "other sizes of key and value": ({"kdim": 13, "vdim": 17}, {}),
    "a learned key": ({"add_bias_kv": True}, {"attn_mask": SOME}),
    "a learned key and zeros": ({"add_bias_kv": True, "add_zero_attn": True},
                                {"key_padding_mask": END}),
    "zeros and a float mask": ({"add_zero_attn": True}, {"attn_mask": LOUD}),
    "a mask": ({}, {"attn_mask": SOME}),
    "a mask for every head": ({}, {"attn_mask": SOME.expand(BATCH * HEADS, -1, -1)
                                   & (torch.arange(BATCH * HEADS) % 2 == 0)[:, None, None]}),
    "a float mask": ({}, {"attn_mask": LOUD}),
    "padding": ({}, {"key_padding_mask": END}),
    "padding and a mask": ({}, {"key_padding_mask": END, "attn_mask": SOME}),
    "padding and a float mask": ({}, {"key_padding_mask": END.double().masked_fill(END, -torch.inf),
                                      "attn_mask": LOUD}),
    "each head's weights": ({}, {"average_attn_weights": False}),
    "no weights": ({}, {"need_weights": False, "attn_mask": SOME}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_it_agrees_with_torchs_module_and_its_gradients(name):
    options, asked = CALLS[name]
    options = {"batch_first": True, **options}
    first = options["batch_first"]
    ours, theirs = pair(**options)
    given = [rows(batch_first=first), rows(KV_LEN, options.get("kdim", DIM), batch_first=first),
             rows(KV_LEN, options.get("vdim", DIM), batch_first=first)]  # fmt: skip
    found = []
    for module in (ours, theirs):
        inputs = [x.clone().requires_grad_() for x in given]
        out, weights = module(*inputs, **asked)
        (out * torch.linspace(-1, 1, DIM)).sum().backward()
        found.append([out, weights, *(x.grad for x in (*inputs, *module.parameters()))])
    for mine, other in zip(*found, strict=True):
        if mine is None or other is None:
            assert mine is other
        else:
            torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-11)


def test_without_a_batch_and_causal():
    ours, theirs = pair()
    one = torch.randn(Q_LEN, DIM, dtype=torch.float64)
    for asked in ({"need_weights": False}, {}):
        mine = ours(one, one, one, is_causal=True, **asked)
        other = theirs(one, one, one, attn_mask=LATER, is_causal=True, **asked)
        torch.testing.assert_close(mine, other)


def test_it_stands_in_an_encoder_layer():
    torch.manual_seed(6)
    layer = torch.nn.TransformerEncoderLayer(
        DIM, HEADS, 32, dropout=0.0, batch_first=True, dtype=torch.float64
    )
    given, mask = rows(), torch.zeros(Q_LEN, Q_LEN).masked_fill(LATER, -torch.inf).double()
    expected = layer(given, src_mask=mask, is_causal=True)
    ours = MultiheadAttention(DIM, HEADS, batch_first=True, dtype=torch.float64)
    ours.load_state_dict(layer.self_attn.state_dict())
    layer.self_attn = ours
    torch.testing.assert_close(layer(given, src_mask=mask, is_causal=True), expected)


def test_a_causal_hint_beside_a_mask_and_a_learned_key():
    ours, theirs = pair(batch_first=True, add_bias_kv=True, add_zero_attn=True)
    given = rows()
    mine = ours(given, given, given, attn_mask=LATER, is_causal=True)
    torch.testing.assert_close(mine, theirs(given, given, given, attn_mask=LATER))


def test_either_loads_what_the_other_saved():
    ours, theirs = pair(add_bias_kv=True)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(ours.state_dict())
    mine, other = (inspect.signature(x.forward) for x in (ours, theirs))
    assert list(mine.parameters) == list(other.parameters)


def test_a_query_that_may_look_at_nothing_is_no_nan():
    ours, theirs = pair(batch_first=True)
    given, mask = rows(), torch.zeros(Q_LEN, Q_LEN, dtype=torch.bool)
    mask[3] = True
    out, weights = ours(given, given, given, attn_mask=mask)
    assert theirs(given, given, given, attn_mask=mask)[0][:, 3].isnan().all()
    torch.testing.assert_close(out[:, 3], ours.out_proj.bias.expand(BATCH, DIM))
    assert not weights[:, 3].any()


def test_where_torch_is_missing_it_says_so(monkeypatch):
    monkeypatch.setattr(ours_module, "find_spec", lambda name: None)
    with pytest.raises(PackageError, match=r"torch: .*softlookup\[torch\]"):
        ours_module.MultiheadAttention  # noqa: B018
    with pytest.raises(AttributeError, match="Multihead"):
        ours_module.Multihead  # noqa: B018


def test_what_cannot_be_done_is_refused():
    ours, _ = pair(batch_first=True, dropout=0.1)
    given = rows()
    with pytest.raises(OptionError, match=r"dropout: .*got 0\.1.*eval\(\)"):
        ours(given, given, given)
    ours.eval()
    ours(given, given, given)
    with pytest.raises(DtypeError, match=r"attn_mask: .*torch\.int64"):
        ours(given, given, given, attn_mask=LATER.long())
    with pytest.raises(ShapeError, match=r"attn_mask: .*\(7, 7\).*\(7, 11\)"):
        ours(given, given, given, attn_mask=SOME)
    ours, _ = pair(batch_first=True, add_zero_attn=True)
    with pytest.raises(OptionError, match=r"is_causal: .*attn_mask"):
        ours(given, given, given, is_causal=True)


@pytest.mark.parametrize("asked", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_autocast_casts_as_in_torchs_module(asked, dtype):
    ours, theirs = (one.to(dtype) for one in pair(batch_first=True, **asked))
    given = rows().to(dtype)
    for needed in (True, False):
        with torch.autocast("cpu", torch.bfloat16):
            mine, other = (one(given, given, given, need_weights=needed) for one in (ours, theirs))
        assert mine[0].dtype == other[0].dtype
        room = 0.05 if mine[0].dtype == torch.bfloat16 else 1e-10
        assert (mine[0] - other[0]).abs().max() <= room * other[0].abs().max()
        assert (mine[1] is None) == (other[1] is None)
        if needed:
            assert (mine[1] - other[1]).abs().max() <= room


ONE, MANY = torch.zeros(Q_LEN, DIM).double(), torch.zeros(BATCH, Q_LEN, DIM).double()
HIDDEN = torch.zeros(BATCH, Q_LEN, dtype=torch.bool)
REFUSED = {  # query, key, value and options; the argument; what is said
    "one axis": ([ONE[0]] * 3, {}, "query", [r"\(len, 15\)", r"got shape \(15,\)"]),
    "four axes": ([MANY[None]] * 3, {}, "query", ["2 axes", r"\(1, 2, 7, 15\)"]),
    "another width": ([MANY[..., :13]] * 3, {}, "query", [r"\(2, 7, 15\); got \(2, 7, 13\)"]),
    "another width of values": ([MANY, MANY, MANY[..., :13]], {}, "value", [r"\(2, 7, 13\)"]),
    "a batch of keys alone": ([ONE, MANY, MANY], {}, "key", [r"\(7, 15\); got \(2, 7, 15\)"]),
    "a batch of queries alone": ([MANY, ONE, ONE], {}, "key", [r"got \(7, 15\)"]),
    "another batch": ([MANY, MANY[:1], MANY[:1]], {}, "key", [r"\(2, 7, 15\); got \(1, 7, 15\)"]),
    "values of another length": ([MANY, MANY, MANY[:, :5]], {}, "value", [r"got \(2, 5, 15\)"]),
    "another dtype": ([MANY.float()] * 3, {}, "query", ["float64 on cpu", "float32 on cpu"]),
    "integers": ([MANY.long()] * 3, {}, "query", [r"torch\.int64"]),
    "NumPy arrays": ([MANY.numpy()] * 3, {}, "query", ["ndarray", r"torch\.as_tensor\(query\)"]),
    "on another device": ([MANY.to("meta")] * 3, {}, "query", ["meta"]),
    "sparse": ([MANY.to_sparse()] * 3, {}, "query", [r"query\.to_dense\(\)"]),
    "padding without its batch": ([MANY] * 3, {"key_padding_mask": HIDDEN[0]},
                                  "key_padding_mask", [r"\(2, 7\); got \(7,\)"]),
    "that of a batch of one": ([MANY[:1]] * 3, {"key_padding_mask": HIDDEN[0]},
                               "key_padding_mask", [r"\(1, 7\); got \(7,\)"]),
    "padding with a batch": ([ONE] * 3, {"key_padding_mask": HIDDEN[:1]},
                             "key_padding_mask", [r"\(7,\); got \(1, 7\)"]),
    "padding in NumPy": ([MANY] * 3, {"key_padding_mask": HIDDEN.numpy()},
                         "key_padding_mask", ["ndarray"]),
    "a mask of one axis": ([MANY] * 3, {"attn_mask": HIDDEN[0]}, "attn_mask", [r"got \(7,\)"]),
    "a mask of four axes": ([MANY] * 3, {"attn_mask": LATER[None, None]}, "attn_mask",
                            [r"\(7, 7\); got \(1, 1, 7, 7\)"]),
    "a sparse mask": ([MANY] * 3, {"attn_mask": LATER.to_sparse()}, "attn_mask", ["to_dense"]),
    "a causal rule": ([MANY] * 3, {"attn_mask": causal_upper_left(Q_LEN, Q_LEN)}, "attn_mask",
                      ["CausalBias"]),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_torchs_module_refuses_is_refused_in_one_sentence(what):
    given, asked, argument, words = REFUSED[what]
    ours, theirs = pair(batch_first=True)
    with pytest.raises((ShapeError, OptionError, DtypeError)) as caught:
        ours(*given, **asked)
    assert caught.value.argument == argument
    for part in words:
        assert re.search(part, str(caught.value)), str(caught.value)
    with pytest.raises((AssertionError, AttributeError, RuntimeError, TypeError), match=r"\w"):
        theirs(*given, **asked)


@pytest.mark.filterwarnings("ignore")  # torch.compile warns itself
@pytest.mark.parametrize("needed", [True, False])
def test_compiled_code_calls_it_as_it_is(needed):
    ours, _ = pair(batch_first=True, add_bias_kv=True)
    given, ours = rows().float(), ours.float()
    compiled = torch.compile(ours, backend="eager")
    with torch.autocast("cpu", torch.bfloat16):
        plain = ours(given, given, given, need_weights=needed)
        found = compiled(given, given, given, need_weights=needed)
    assert torch.equal(found[0], plain[0])
    assert found[1] is plain[1] is None or torch.equal(found[1], plain[1])
