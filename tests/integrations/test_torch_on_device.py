"""Tensors on a GPU go through torch's dialect and through `capture` as those in memory do."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from stand_in import stand_in  # noqa: E402 (it needs torch)
from tiny import FAMILIES, build, inputs_for  # noqa: E402

from softlookup.errors import OptionError  # noqa: E402
from softlookup.integrations import watching  # noqa: E402
from softlookup.integrations.torch import (  # noqa: E402
    MultiheadAttention,
    attend_with_lse,
    scaled_dot_product_attention,
)
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(7), requires_grad=True)


def test_the_drop_in_takes_them(monkeypatch):
    stand_in(monkeypatch)
    query, key = drawn(2, 4, 5, 3), drawn(2, 2, 7, 3)
    mask = torch.rand(5, 7, generator=torch.Generator().manual_seed(3)) > 0.3
    given = (query, key, key, mask)
    ours = scaled_dot_product_attention(*given, enable_gqa=True)
    theirs = torch.nn.functional.scaled_dot_product_attention(*given, enable_gqa=True)
    assert torch.allclose(ours, theirs, atol=1e-6)
    slopes = [torch.autograd.grad(one.square().sum(), (query, key)) for one in (ours, theirs)]
    for one, other in zip(*slopes, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_the_lse_comes_along(monkeypatch):
    stand_in(monkeypatch)
    query, key = drawn(4, 5, 3), drawn(4, 7, 3)
    out, lse = attend_with_lse(query, key, key, scale=0.0)
    assert torch.allclose(lse, torch.full((4, 5), np.log(7.0)))
    assert torch.allclose(out, key.mean(1, keepdim=True).expand_as(out), atol=1e-6)
    assert lse.requires_grad


def test_the_module_takes_them(monkeypatch):
    stand_in(monkeypatch)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    ours = MultiheadAttention(8, 2, batch_first=True)
    ours.load_state_dict(theirs.state_dict())
    rows, hidden = drawn(2, 5, 8), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    answers = [
        one(rows, rows, rows, key_padding_mask=hidden, average_attn_weights=False)
        for one in (ours, theirs)
    ]
    for one, other in zip(*answers, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt_oss", "t5"])
def test_a_capture_is_in_memory(family, monkeypatch):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (7, 4), "left")
    expected = capture(model, inputs)
    stand_in(monkeypatch)
    made = capture(model, inputs)
    for layer, other in zip(made.layers, expected.layers, strict=True):
        problem, same = layer.look.problem, other.look.problem
        assert problem.place == "memory"
        assert (problem.mask is None, problem.bias is None) == (
            same.mask is None,
            same.bias is None,
        )
        np.testing.assert_allclose(layer.look.weights(), other.look.weights(), atol=1e-5)


class Spread:
    """A model whose weights lie on some devices."""

    def __init__(self, *devices):
        self._devices = devices

    def parameters(self):
        return [torch.nn.Parameter(torch.empty(0)) if device == "cpu" else Weight(device)
                for device in self._devices]  # fmt: skip


class Weight:
    def __init__(self, device):
        self.device = torch.device(device)


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        (("cuda:0", "cuda:1"), "one device to be watched; Spread lies on cuda:0 and cuda:1."),
        (("cpu", "cuda:0"), "one device to be watched; Spread lies on cpu and cuda:0."),
        (("mps:0",), "on the CPU or on a GPU of CUDA to be watched; Spread lies on mps:0."),
    ],
)
def test_models_that_lie_elsewhere_are_refused(devices, said):
    with pytest.raises(OptionError, match=said):
        watching._check_device(Spread(*devices))
    watching._check_device(Spread("cuda:0", "cuda:0"))
