"""Tensors that hold nothing, as a GPU's do as long as it works: what reads one fails.

So does what mixes them with tensors in memory. All that a watch does in a model's attention runs on
them; what a GPU would send to memory before is said here.
"""

import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from stand_in import Empty, OneDevice, hold_nothing  # noqa: E402 (they need torch)
from tiny import FAMILIES, inputs_for  # noqa: E402

pytestmark = pytest.mark.models
WAYS = {
    "all": {"distance": True, "max_score": True, "repeats": True},
    "heads": {"heads": [0, 3]},
    "rows": {"from_rows": slice(1, 4), "groups": [0, 1, 1, 0, 2, 2, -1]},
    "kept": {"keep": True},
    "control": {"facts": None},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("padded", ["whole", "left"])
@pytest.mark.parametrize("family", ["llama", "bert", "gemma2", "gpt_oss", "t5"])
def test_no_layer_reads_what_a_gpu_holds(family, padded, way, monkeypatch):
    backend = Empty()
    model = FAMILIES[family]().eval().to(torch.bfloat16)
    given = inputs_for(model, {"whole": (7, 7), "left": (7, 4)}[padded], "left")
    hold_nothing(monkeypatch, backend, causal=family not in {"bert", "t5"}, padded=padded == "left")
    inputs = {name: one.to("meta") for name, one in given.items()}
    if padded == "whole":
        del inputs["attention_mask"]
    with torch.no_grad(), sl.watch(model.to("meta"), **WAYS[way]) as seen, OneDevice():
        model(**inputs)
    layers = 6 if family == "t5" else 2
    assert len(seen) == (0 if way == "control" else layers)
    assert len(backend.facts) >= layers
    assert all(layer._calls._waiting for layer in seen)  # until they are asked for
