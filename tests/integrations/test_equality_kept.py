"""What keep=True keeps is a capture whose weights are the eager ones, joined over all steps."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import assert_equal_to_eager  # noqa: E402 (they need torch)
from eager_facts import assert_near  # noqa: E402
from eager_steps import CACHES, eager_generation, generate  # noqa: E402
from tiny import FAMILIES, WRITERS, build, inputs_for  # noqa: E402

pytestmark = pytest.mark.models
PADDED = {"whole": ((7, 7), "right"), "right": ((7, 4), "right"), "left": ((7, 4), "left")}


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_of_one_pass(family, padding):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    with torch.no_grad(), sl.watch(model, keep=True) as seen:
        model(**inputs)
    assert_equal_to_eager(seen.capture(), model, inputs)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("family", WRITERS)
def test_of_all_steps(family, cache):
    model = build(WRITERS[family])
    given = inputs_for(model, (7, 4), "left")
    _, expected = eager_generation(model, given, cache_implementation=CACHES[cache])
    with sl.watch(model, keep=True, top=3) as seen:
        generate(model, given, cache_implementation=CACHES[cache])
    made = seen.capture()
    assert [(layer.part, layer.number) for layer in made.layers] == list(expected)
    for layer, facts in zip(made.layers, seen.layers, strict=True):
        eager = expected[layer.part, layer.number]
        weights = layer.look.weights()
        assert weights.shape == eager.weights.shape
        assert_near(eager.of(weights), eager.rows, eager.bound, layer.label)
        again = layer.look.inspect(top=3, entropy=True)
        np.testing.assert_array_equal(again.top.keys, facts.top.keys)
        np.testing.assert_array_equal(again.entropy, facts.entropy)
