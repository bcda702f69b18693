"""The module agrees with torch.nn.MultiheadAttention, loads its state, and mends its NaN."""

import inspect

import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

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
