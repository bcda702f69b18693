"""Two real models: their captures are what they compute, and the shipped files are theirs."""

import importlib.util

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import assert_equal_to_eager, logits, run  # noqa: E402 (it needs torch)

from softlookup.captures import shipped  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models
TEXTS = ["The bank closed early, so she sat on the bank of the river.", "Hello there."]


def assert_recorded(loaded, inputs):
    """Assert that weights are the model's and that its answer keeps every bit."""
    model, tokenizer, _ = loaded
    answers = []
    hook = model.register_forward_hook(lambda *given: answers.append(logits(given[-1])))
    made = capture(model, inputs, tokenizer=tokenizer)
    hook.remove()
    assert torch.equal(answers[0], logits(run(model, inputs)))
    assert_equal_to_eager(made, model, inputs)
    return made


@pytest.mark.parametrize("side", ["right", "left"])
def test_minilm_over_a_padded_batch(minilm, side):
    minilm.tokenizer.padding_side = side
    inputs = minilm.tokenizer(TEXTS, padding=True, return_tensors="pt")
    made = assert_recorded(minilm, inputs)
    assert len(made.layers) == 6
    first, second = made.layers[0].queries
    real = [i for i, token in enumerate(second.tokens) if token != "[PAD]"]
    assert (real[0], real[-1] + 1) == ((0, 5) if side == "right" else (12, 17))
    assert [token for token in second.tokens if token != "[PAD]"] == [
        "[CLS]", "hello", "there", ".", "[SEP]"
    ]  # fmt: skip
    assert first.words[:4] == (-1, 0, 1, 2)


@pytest.mark.slow
def test_smollm2_over_one_text_and_over_a_padded_batch(smollm2):
    inputs = smollm2.tokenizer(TEXTS[0], return_tensors="pt")
    made = assert_recorded(smollm2, inputs)
    assert "".join(made.layers[0].queries[0].tokens) == TEXTS[0]
    assert {(one.look.problem.causal, one.look.problem.group) for one in made.layers} == {(True, 3)}
    smollm2.tokenizer.padding_side = "left"
    made = assert_recorded(smollm2, smollm2.tokenizer(TEXTS, padding=True, return_tensors="pt"))
    ((start, stop),) = made.layers[0].queries[1].padding
    assert start == 0
    weights = made.lookup(29).weights()[1]
    assert (weights[:, :stop] == 0).all()
    assert (weights[:, stop:].sum(-1) > 0.99).all()


@pytest.mark.parametrize(
    "name", ["sentence", pytest.param("causal", marks=pytest.mark.slow)]
)  # fmt: skip
def test_shipped_captures_are_made_again(name, request, monkeypatch):
    """Up to float32 noise: another library or machine rounds in another order."""
    loaded = request.getfixturevalue({"sentence": "minilm", "causal": "smollm2"}[name])
    loaded.tokenizer.padding_side = "right"
    tool = tools("shipped_captures")
    monkeypatch.setattr(tool, "load_model", lambda model: loaded)
    made, stored = tool.make(name), shipped.load(name)
    assert made.title == stored.title
    assert {**made.about, "versions": ""} == {**stored.about, "versions": ""}
    for layer, kept in zip(made.layers, stored.layers, strict=True):
        assert (layer.name, layer.heads, layer.queries) == (kept.name, kept.heads, kept.queries)
        for side in ("query", "key", "value"):
            array, other = getattr(layer.look.problem, side), getattr(kept.look.problem, side)
            np.testing.assert_allclose(array, other, atol=1e-4 * np.abs(other).max())


def tools(name):
    from pathlib import Path

    path = Path(__file__).resolve().parents[2] / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
