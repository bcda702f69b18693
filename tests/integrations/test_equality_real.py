"""Two real models over real text: facts are those of their eager weights, no bit changes."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import LATER, bound_of, eager_weights, logits, run  # noqa: E402 (they need torch)
from eager_facts import Eager, assert_facts  # noqa: E402
from eager_steps import CACHES, eager_generation, generate  # noqa: E402

from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = [pytest.mark.models, pytest.mark.slow]
TEXTS = [
    "The bank closed early, so she sat on the bank of the river and counted the boats until dark.",
    "Hello there.",
]
ASKED = {"top": 5, "entropy": True, "received": True, "distance": True}


def padded(loaded, side):
    loaded.tokenizer.padding_side = side
    return dict(loaded.tokenizer(TEXTS, padding=True, return_tensors="pt"))


def of_eager(model, inputs, layers):
    """Return each layer with its eager weights."""
    rows = inputs["attention_mask"].bool().numpy()
    theirs = eager_weights(model, inputs)
    return [
        (layer, Eager(weights.astype(np.float64), rows, bound_of(layer)))
        for layer, weights in zip(layers, theirs, strict=True)
    ]


def assert_one_pass(model, inputs):
    """Assert that `capture` and `watch` find the facts, and that answers keep their bits."""
    length = inputs["input_ids"].shape[1]
    places = np.arange(length), np.arange(length)
    for layer, eager in of_eager(model, inputs, capture(model, inputs).layers):
        found = layer.look.inspect(**ASKED, from_rows=eager.counted)
        assert_facts(found, eager, positions=places)
    answers = {}
    for name, asked in (("facts", ASKED), ("control", {"facts": None}),
                        ("model", {**ASKED, "compute": "model"})):  # fmt: skip
        with torch.no_grad(), sl.watch(model, **asked) as seen:
            answers[name] = logits(model(**inputs))
        if name != "control":
            for layer, eager in of_eager(model, inputs, seen.layers):
                assert_facts(layer, eager, positions=places)
    plain, rows = logits(run(model, inputs)), inputs["attention_mask"].bool()
    assert torch.equal(answers["facts"], answers["control"])
    assert torch.equal(answers["model"], plain)
    assert (answers["facts"] - plain)[rows].abs().max() <= 2 * LATER * plain.abs().max()


@pytest.mark.parametrize("side", ["right", "left"])
def test_minilm(minilm, side):
    assert_one_pass(minilm.model, padded(minilm, side))


@pytest.mark.parametrize("side", ["right", "left"])
def test_smollm2(smollm2, side):
    assert_one_pass(smollm2.model, padded(smollm2, side))


@pytest.mark.parametrize("cache", CACHES)
def test_smollm2_while_it_writes(smollm2, cache):
    model, given = smollm2.model, padded(smollm2, "left")
    tokens, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    answers = {}
    for name, asked in (("facts", ASKED), ("control", {"facts": None})):
        with sl.watch(model, **asked) as seen:
            out = generate(model, given, cache_implementation=CACHES[cache], output_logits=True)
        assert torch.equal(out.sequences, tokens)
        answers[name] = torch.stack(out.logits)
        for layer in seen:
            eager = expected[layer.part, layer.number]
            places = (np.arange(eager.weights.shape[-1]),) * 2
            assert_facts(layer, eager, positions=places)
    assert torch.equal(answers["facts"], answers["control"])
