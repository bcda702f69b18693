"""Masks of other kinds, texts beyond one band, prompts in pieces: still what eager weights say."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import bound_of, eager_weights, run  # noqa: E402 (they need torch)
from eager_facts import Eager, assert_facts  # noqa: E402
from eager_steps import eager_generation, generate  # noqa: E402
from tiny import FAMILIES, WRITERS, build, inputs_for  # noqa: E402

pytestmark = pytest.mark.models
TRIANGLE = np.tril(np.ones((7, 7), bool))
TEXT = np.repeat([0, 1], [3, 4])
BLOCKS = TRIANGLE & (TEXT[:, None] == TEXT)  # two texts in one row


def assert_seen(model, inputs, theirs, rows=None):
    """Assert that what a watch sees of `inputs` is what the weights `theirs` say."""
    with torch.no_grad(), sl.watch(model, top=3, distance=True) as seen:
        model(**inputs)
    assert len(seen.layers) == len(theirs)
    for layer, weights in zip(seen.layers, theirs, strict=True):
        counted = np.ones(weights.shape[::2], bool) if rows is None else rows
        eager = Eager(weights.astype(np.float64), counted, bound_of(layer))
        places = np.arange(weights.shape[2]), np.arange(weights.shape[3])
        assert_facts(layer, eager, positions=None if layer.part == "cross" else places)


LATER = [pytest.param(name, marks=pytest.mark.slow) for name in ("llama4", "gpt_oss", "modernbert")]


@pytest.mark.parametrize("family", ["mistral", "t5", *LATER])
def test_a_text_longer_than_a_band(family):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (1100, 700), "left")
    rows = inputs["attention_mask"].bool().numpy()
    if family == "t5":
        inputs, rows = inputs_for(model, (1100,)), None
    assert_seen(model, inputs, eager_weights(model, inputs), rows)


@pytest.mark.parametrize("family", ["llama", "gpt_oss"])
@pytest.mark.parametrize("kind", ["bools", "numbers"])
def test_a_mask_over_pairs(family, kind):
    model = build(FAMILIES[family])
    ids = inputs_for(model)["input_ids"]
    bools = torch.from_numpy(BLOCKS)[None, None].expand(2, 1, 7, 7)
    numbers = torch.where(bools, 0.0, torch.finfo(torch.float32).min)
    theirs = eager_weights(model, {"input_ids": ids, "attention_mask": numbers})
    given = {"input_ids": ids, "attention_mask": bools if kind == "bools" else numbers}
    assert_seen(model, given, theirs)
    assert not (theirs[0] > 0)[..., ~BLOCKS].any()


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3"])
def test_texts_packed_into_one_row(family):
    model = build(FAMILIES[family])
    inputs = {
        "input_ids": inputs_for(model)["input_ids"],
        "position_ids": torch.tensor([[0, 1, 2, 0, 1, 2, 3]] * 2),
        "use_cache": False,
    }
    theirs = eager_weights(model, inputs)
    assert not (theirs[0] > 0)[..., ~BLOCKS].any()
    assert_seen(model, inputs, theirs)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "gpt_oss", "llama4"])
def test_a_prompt_read_in_pieces(family):
    model = build(WRITERS[family])
    given = inputs_for(model, (11, 8), "left")
    tokens, expected = eager_generation(model, given)
    with sl.watch(model, top=3) as seen:
        out = generate(model, given, prefill_chunk_size=4)
    assert torch.equal(out.sequences, tokens)
    assert seen.runs == 1
    for layer in seen:
        assert_facts(layer, expected[layer.part, layer.number])


@pytest.mark.filterwarnings("ignore:`past_key_values` is deprecated")  # its new name is of 5.24
@pytest.mark.parametrize("family", ["llama", "mistral", "gpt_oss"])
def test_steps_that_the_caller_makes(family):
    """Each pass is a run; its rows go on where the cache ends."""
    model = build(WRITERS[family])
    ids = inputs_for(model)["input_ids"]
    theirs = run(model, {"input_ids": ids}, "eager", output_attentions=True).attentions
    cache = None
    with torch.no_grad(), sl.watch(model, top=3) as seen:
        for start, stop in ((0, 4), (4, 6), (6, 7)):
            step = model(input_ids=ids[:, start:stop], past_key_values=cache, use_cache=True)
            cache = step.past_key_values
    assert seen.runs == 3
    for number, (start, stop) in enumerate(((0, 4), (4, 6), (6, 7))):
        for layer, weights in zip(seen.run(number).layers, theirs, strict=True):
            np.testing.assert_array_equal(layer.queries, np.arange(start, stop))
            part = weights[:, :, start:stop, layer.keys[0] : stop].double().numpy()
            keys = np.where(layer.top.keys < 0, -1, layer.top.keys - layer.keys[0])
            found = Relative(layer.top._replace(keys=keys), layer.entropy, layer.received)
            assert_facts(found, Eager(part, np.ones((2, stop - start), bool), bound_of(layer)))


class Relative:
    """Facts whose best keys count from the first key that is there."""

    def __init__(self, top, entropy, received):
        self.top, self.entropy, self.received = top, entropy, received
