"""A model on a GPU is watched by the real kernels: as in memory, and looking changes no bit."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import softlookup as sl
from softlookup import device

pytest.importorskip("transformers", reason="models (make test-gpu installs what they need)")
sys.path.append(str(Path(__file__).parent.parent / "integrations"))

from eager import logits
from tiny import FAMILIES, build, inputs_for

ASKED = {"top": 3, "max_score": True, "distance": True, "repeats": True}
FACTS = ("lse", "entropy", "max_score", "received")


def short(family, dtype=torch.float32):
    """Return a model of one layer: the interpreter is slow."""
    model = build(FAMILIES[family], dtype)
    for module in model.modules():
        for name in ("layers", "block"):
            if isinstance(getattr(module, name, None), torch.nn.ModuleList):
                setattr(module, name, getattr(module, name)[:1])
    return model


def watched(model, inputs, **asked):
    """Return what the model answers while it is watched, and what was seen."""
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        outputs = model(**inputs)
    return logits(outputs), seen


@pytest.mark.parametrize(
    ("family", "dtype"),
    [
        ("llama", torch.float16),  # left padding, which is a mask over keys
        ("gemma2", torch.float32),  # a softcap and a window
        ("gpt_oss", torch.float32),  # sinks
        ("t5", torch.float32),  # a bias
    ],
)
def test_the_same_is_seen(family, dtype, monkeypatch):
    model = short(family, dtype)
    inputs = inputs_for(model, (5, 3) if family == "llama" else (5,), "left")
    answer, seen = watched(model, inputs, **ASKED)
    control, _ = watched(model, inputs, facts=None)
    assert torch.equal(answer, control)
    with monkeypatch.context() as patch:
        patch.setattr(device, "interpreted", lambda: False)
        plain, expected = watched(model, inputs, **ASKED)
    bound = 8 * float(torch.finfo(dtype).eps)
    rows = inputs.get("attention_mask", torch.ones(answer.shape[:2])).bool()
    rows = rows if rows.shape == answer.shape[:2] else slice(None)
    assert (answer - plain)[rows].abs().max() <= bound * plain[rows].abs().max()
    for layer, other in zip(seen.layers, expected.layers, strict=True):
        if layer.part == "cross":  # reads what the layers before have rounded
            bound *= 4
        for name in FACTS:
            given = getattr(layer, name), getattr(other, name)
            np.testing.assert_allclose(*given, atol=4 * bound, rtol=4 * bound)
    for one, other in zip(seen.summary(), expected.summary(), strict=True):
        for name in ("first", "previous", "induction", "duplicate"):
            near = pytest.approx(getattr(other, name), abs=4 * bound, nan_ok=True)
            assert getattr(one, name) == near


def test_gradients_reach_the_model():
    model = short("llama")
    inputs = inputs_for(model, (4,))
    slopes = []
    for watching in (True, False):
        model.zero_grad()
        if watching:
            with sl.watch(model, layers=[0]):
                answer = logits(model(**inputs))
        else:
            answer = logits(model(**inputs))
        answer.square().mean().backward()
        slopes.append([w.grad for w in model.parameters() if w.grad is not None])
    for one, other in zip(*slopes, strict=True):
        assert (one - other).abs().max() <= 2e-5 * other.abs().max().clamp(min=1e-6)
