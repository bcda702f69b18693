"""While a model writes, what is seen of each token is what the eager weights of its step say."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import LATER  # noqa: E402 (they need torch)
from eager_facts import assert_facts  # noqa: E402
from eager_steps import CACHES, eager_generation, generate  # noqa: E402
from tiny import WRITERS, build, inputs_for  # noqa: E402

pytestmark = pytest.mark.models
PROMPTS = {"whole": ((7, 7), "right"), "left": ((7, 4), "left"), "short": ((2, 2), "right")}
LABELS = np.random.default_rng(3).integers(-1, 3, (2, 23))
LABELS[0, :4] = range(-1, 3)


def labels_of(model, given):
    """Return a label for each position of the text, or of the encoder's input."""
    if not model.config.is_encoder_decoder:
        return LABELS
    ids = given.get("attention_mask")
    return LABELS[:, : 11 if ids is None else ids.shape[1]]


def written(model, given, cache, **asked):
    """Return what the model writes while it is watched, its logits, and what was seen."""
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        out = generate(model, given, cache_implementation=cache, output_logits=True)
    return out.sequences, torch.stack(out.logits), seen


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("family", WRITERS)
def test_the_eager_weights_are_the_same_with_every_cache(family, prompt):
    """What the other tests compare with: the positions of keys in sliding and static caches."""
    model = build(WRITERS[family])
    given = inputs_for(model, *PROMPTS[prompt])
    (tokens, dynamic), (again, static) = (
        eager_generation(model, given, cache_implementation=cache) for cache in CACHES.values()
    )
    assert torch.equal(tokens, again)
    assert dynamic.keys() == static.keys()
    for place, one in dynamic.items():
        np.testing.assert_allclose(static[place].rows, one.rows, atol=one.bound)
        np.testing.assert_allclose(one.rows.sum(-1), 1, atol=2e-6 if family != "gpt_oss" else 1)


def assert_seen(seen, expected):
    """Assert that the facts of all steps of all layers are those of the eager weights."""
    assert seen.runs == 1
    assert [(layer.part, layer.number) for layer in seen] == list(expected)
    for layer in seen:
        eager = expected[layer.part, layer.number]
        places = np.arange(eager.weights.shape[2]), np.arange(eager.weights.shape[3])
        np.testing.assert_array_equal(layer.queries, places[0])
        np.testing.assert_array_equal(layer.keys, places[1])
        np.testing.assert_array_equal(layer.padding, ~eager.counted)
        labels = LABELS[:, : len(places[1])]
        # A decoder's own keys are no tokens of the input; distance is that of one text.
        own, cross = layer.part == "decoder", layer.part == "cross"
        assert_facts(
            layer,
            eager,
            labels=None if own else labels,
            positions=None if cross else places,
        )


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("family", WRITERS)
def test_facts_of_every_token_are_those_of_the_eager_weights(family, prompt, cache):
    model = build(WRITERS[family])
    given = inputs_for(model, *PROMPTS[prompt])
    tokens, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    asked = {"top": 3, "groups": labels_of(model, given), "distance": True}
    control, logits, _ = written(model, given, CACHES[cache], facts=None)
    again, answer, seen = written(model, given, CACHES[cache], **asked)
    assert torch.equal(control, tokens)
    assert torch.equal(again, tokens)
    assert torch.equal(logits, answer)
    assert_seen(seen, expected)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("family", WRITERS)
def test_the_models_own_answer_keeps_every_bit(family, cache):
    model = build(WRITERS[family])
    given = inputs_for(model, (7, 4), "left")
    with torch.no_grad():
        out = generate(model, given, cache_implementation=CACHES[cache], output_logits=True)
    asked = {"top": 3, "groups": labels_of(model, given), "distance": True, "compute": "model"}
    tokens, answer, seen = written(model, given, CACHES[cache], **asked)
    plain = torch.stack(out.logits)
    assert torch.equal(tokens, out.sequences)
    assert torch.equal(answer, plain)
    _, ours, _ = written(model, given, CACHES[cache], facts=None)
    finite = plain.isfinite()  # a token that may not be written has -inf
    assert (ours - plain)[finite].abs().max() <= LATER * plain[finite].abs().max()
    assert finite.float().mean() > 0.9
    _, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    assert_seen(seen, expected)


@pytest.mark.parametrize("family", ["llama", "mistral", "gpt_oss", "t5"])
def test_the_row_that_produced_a_token_is_the_one_before_it(family):
    model = build(WRITERS[family])
    given = inputs_for(model, (7, 4), "left")
    tokens, _, seen = written(model, given, None, tokens=None)
    layer = seen.layers[-1] if family != "t5" else seen["decoder", 1]
    length = tokens.shape[1]
    np.testing.assert_array_equal(layer.queries, np.arange(length - 1))
    row = layer.row(producing=length - 1)
    assert row.position == length - 2
    np.testing.assert_array_equal(row["entropy"], layer.entropy[:, :, -1])
