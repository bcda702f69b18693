"""What a watch sees of one pass is what the eager weights say, and watching changes no answer."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import LATER, bound_of, eager_weights, logits, run  # noqa: E402 (they need torch)
from eager_facts import Eager, assert_facts  # noqa: E402
from tiny import FAMILIES, build, inputs_for  # noqa: E402

pytestmark = pytest.mark.models
PADDED = {"whole": ((7, 7), "right"), "right": ((7, 4), "right"), "left": ((7, 4), "left")}
LABELS = np.random.default_rng(3).integers(-1, 3, (2, 11))
LABELS[0, :4] = range(-1, 3)
OWN = ("gemma2", "gpt_oss")  # softcaps and sinks, which sdpa does not compute


def tokens_of(layer, inputs):
    """Return which rows stand for a token, (batch, rows), by the mask that was given."""
    rows = np.ones((2, len(layer.queries)), bool)
    mask = inputs.get("attention_mask")
    if layer.part in {"", "encoder"} and mask is not None:
        rows &= mask.numpy().astype(bool)
    return rows


def labels_of(inputs):
    """Return a label for each position of the input: tokens, patches or frames of sound."""
    length = {"pixel_values": 5, "input_features": 11}.get(next(iter(inputs)), 7)
    return LABELS[:, :length]


def watched(model, inputs, **asked):
    """Return what the model answers while it is watched, and what was seen."""
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        outputs = model(**inputs)
    return logits(outputs), seen


def assert_seen(seen, model, inputs):
    """Assert that the facts of all layers are those of the eager weights."""
    theirs = eager_weights(model, inputs)
    assert (seen.runs, len(seen.layers)) == (1, len(theirs))
    for layer, weights in zip(seen.layers, theirs, strict=True):
        places = np.arange(weights.shape[2]), np.arange(weights.shape[3])
        np.testing.assert_array_equal(layer.queries, places[0])
        np.testing.assert_array_equal(layer.keys, places[1])
        rows = tokens_of(layer, inputs)
        np.testing.assert_array_equal(layer.padding, ~rows)
        eager = Eager(weights.astype(np.float64), rows, bound_of(layer))
        labels = LABELS[:, : weights.shape[3]]
        # A decoder's own keys are no tokens of the input; distance is that of one text.
        own, cross = layer.part == "decoder", layer.part == "cross"
        assert_facts(
            layer,
            eager,
            labels=None if own else labels,
            positions=None if cross else places,
        )


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_facts_are_those_of_the_eager_weights(family, padding):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    _, seen = watched(model, inputs, top=3, groups=labels_of(inputs), distance=True)
    assert_seen(seen, model, inputs)


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_facts_change_no_bit_of_the_answer(family, padding):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    control, nothing = watched(model, inputs, facts=None)
    answer, _ = watched(model, inputs, groups=labels_of(inputs), distance=True, max_score=True)
    assert torch.equal(answer, control)
    assert not nothing.layers
    plain = logits(run(model, inputs, "eager" if family in OWN else "sdpa"))
    rows = torch.from_numpy(answered(model, inputs))
    assert (answer - plain)[rows].abs().max() <= LATER * plain.abs().max()


def answered(model, inputs):
    """Return which rows of an answer stand for a token."""
    mask = inputs.get("attention_mask")
    if mask is None or model.config.is_encoder_decoder:
        return np.ones(len(next(iter(inputs.values()))), bool)
    return mask.numpy().astype(bool)


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_models_own_answer_keeps_every_bit(family, padding):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    with torch.no_grad():
        plain = logits(model(**inputs))
    answer, seen = watched(
        model, inputs, compute="model", top=3, groups=labels_of(inputs), distance=True
    )
    assert torch.equal(answer, plain)
    assert_seen(seen, model, inputs)


@pytest.mark.parametrize("family", ["llama", "gpt_oss", "mistral"])
def test_a_row_of_padding_that_sees_nothing_has_read_nothing(family):
    model = build(FAMILIES[family])
    _, seen = watched(model, inputs_for(model, (7, 4), "left"), top=3)
    for layer in seen:
        dead = layer.padding
        assert dead[1].tolist() == [True] * 3 + [False] * 4
        top, entropy = layer.top, layer.entropy.swapaxes(1, 2)
        assert (entropy[dead] == 0).all()
        assert (entropy[~dead] > 0).any()
        assert (top.keys.swapaxes(1, 2)[dead] == -1).all()
        assert (top.weights.swapaxes(1, 2)[dead] == 0).all()
        assert (layer.received[1, :, :3] == 0).all()
