"""The facts of every recorded layer are reductions of the model's own eager weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import bound_of, eager_weights, visible_rows  # noqa: E402 (they need torch)
from eager_facts import Eager, assert_facts  # noqa: E402
from tiny import FAMILIES, build, inputs_for  # noqa: E402

from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models
PADDED = {"whole": ((7, 7), "right"), "right": ((7, 4), "right"), "left": ((7, 4), "left")}


def live_rows(problem):
    """Return which rows see a key, (batch, q_len), by the masks that were recorded."""
    every = np.ones((problem.batch, problem.q_len), bool)
    return (
        every
        if problem.mask is None
        else every & problem.mask.array[problem.mask.entry].any((1, 3))
    )


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_facts_are_those_of_the_eager_weights(family, padding):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    made, theirs = capture(model, inputs), eager_weights(model, inputs)
    assert len(made.layers) == len(theirs) >= 2
    for layer, weights in zip(made.layers, theirs, strict=True):
        problem = layer.look.problem
        rows, near = visible_rows(layer, inputs) & live_rows(problem), layer.part != "cross"
        labels = np.random.default_rng(3).integers(-1, 3, (problem.batch, problem.kv_len))
        labels[0, :4] = range(-1, 3)
        found = layer.look.inspect(
            top=3, entropy=True, received=True, from_rows=rows, groups=labels, distance=near
        )
        places = np.arange(problem.q_len), np.arange(problem.kv_len)
        eager = Eager(weights.astype(np.float64), rows, bound_of(layer))
        assert_facts(found, eager, labels=labels, positions=places if near else None)
