"""A model on a GPU is watched as one in memory is, and no attention call waits for the GPU."""

import numpy as np
import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from eager import logits  # noqa: E402 (they need torch)
from stand_in import refuse_waits, stand_in  # noqa: E402
from tiny import FAMILIES, build, inputs_for  # noqa: E402

from softlookup.integrations import masks, resolving  # noqa: E402

pytestmark = pytest.mark.models
PADDED = {"whole": ((7, 7), "right"), "right": ((7, 4), "right"), "left": ((7, 4), "left")}
ASKED = {"top": 3, "distance": True, "max_score": True, "repeats": True}


def watched(model, inputs, **asked):
    """Return what the model answers while it is watched, and what was seen."""
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        outputs = model(**inputs)
    return logits(outputs), seen


def assert_same(seen, expected):
    """Assert that two watches saw the same, within the error of their dtype."""
    assert [layer.path for layer in seen.layers] == [layer.path for layer in expected.layers]
    for layer, other in zip(seen.layers, expected.layers, strict=True):
        assert (layer.asked, layer.causal) == (other.asked, other.causal)
        np.testing.assert_array_equal(layer.queries, other.queries)
        np.testing.assert_array_equal(layer.keys, other.keys)
        np.testing.assert_array_equal(layer.top.keys, other.top.keys)
        np.testing.assert_array_equal(layer.key_padding, other.key_padding)
        names = [name for name in other.asked if name != "top"]
        for name in names:
            one, two = getattr(layer, name), getattr(other, name)
            assert one.dtype == two.dtype
            np.testing.assert_allclose(one, two, atol=1e-5, rtol=1e-5)
        np.testing.assert_allclose(layer.top.weights, other.top.weights, atol=1e-5)
    assert_same_shares(seen, expected)


def assert_same_shares(seen, others):
    for one, other in zip(seen.summary(), others.summary(), strict=True):
        for name in one._fields:
            expected = pytest.approx(getattr(other, name), abs=1e-5, nan_ok=True)
            assert getattr(one, name) == expected, name


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_is_seen_and_nothing_waits(family, padding, monkeypatch):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    asked = ASKED | {"repeats": family != "vit"}  # patches have no ids
    answer, expected = watched(model, inputs, **asked)
    backend, calls = stand_in(monkeypatch), refuse_waits(monkeypatch)
    same, seen = watched(model, inputs, **asked)
    control, _ = watched(model, inputs, facts=None)
    assert len(backend.facts) == len(calls) == 2 * len(seen.layers)
    assert torch.equal(same, control)
    assert (same - answer).abs().max() <= 1e-5 * answer.abs().max()
    assert_same(seen, expected)


@pytest.mark.parametrize("lengths", [(11, 11), (11, 8)])
@pytest.mark.parametrize("family", ["llama", "mistral", "bert", "gemma2"])
def test_what_earlier_occurrences_get_is_the_same(family, lengths, monkeypatch):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, lengths, "left")
    inputs["input_ids"] = torch.where(inputs["input_ids"] > 0, inputs["input_ids"] % 3 + 5, 0)
    _, expected = watched(model, inputs, repeats=True)
    assert all(one.induction > 0 for one in expected.summary())
    stand_in(monkeypatch)
    refuse_waits(monkeypatch)
    _, seen = watched(model, inputs, repeats=True)
    assert_same_shares(seen, expected)


WAYS = {
    "gradients": {},
    "heads": {"heads": [1, 3, 2]},
    "model": {"compute": "model"},
    "rows": {"from_rows": slice(2, 40), "groups": [0, 0, 1, 1, -1, 2, 0]},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", ["llama", "t5", "gpt_oss", "gemma2", "llama4"])
def test_every_way_of_looking_is_the_same(family, way, monkeypatch):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (7, 5), "left")

    def look():
        with torch.set_grad_enabled(way == "gradients"), sl.watch(model, **WAYS[way]) as seen:
            answer = logits(model(**inputs))
        return answer, seen

    answer, expected = look()
    stand_in(monkeypatch)
    refuse_waits(monkeypatch)
    same, seen = look()
    assert (same - answer).abs().max() <= 1e-5 * answer.abs().max()
    assert same.requires_grad == (way == "gradients")
    assert_same(seen, expected)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("family", ["llama", "mistral", "t5", "gpt_oss", "whisper"])
def test_generation_is_the_same_and_its_steps_are_few_arrays(family, cache, monkeypatch):
    model = build(FAMILIES[family])
    whole = inputs_for(model, (7, 5), "left")
    inputs = {name: one for name, one in whole.items() if not name.startswith("decoder_")}
    how = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False}
    how |= {"cache_implementation": "static"} if cache == "static" else {}

    def write(**asked):
        with sl.watch(model, top=3, **asked) as seen:
            return model.generate(**inputs, **how), seen

    ids, expected = write(keep=True)
    stand_in(monkeypatch)
    refuse_waits(monkeypatch)
    same, seen = write(keep=True)
    assert torch.equal(ids, same)
    waiting = [one.found.lse for layer in seen.layers for one in layer._calls._waiting]
    assert len({id(one._load) for one in waiting}) < len(waiting)  # a step is one array
    assert_same(seen, expected)
    for layer, other in zip(seen.capture().layers, expected.capture().layers, strict=True):
        assert layer.look.problem.place == "memory"
        np.testing.assert_allclose(layer.look.weights(), other.look.weights(), atol=1e-5)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_the_callers_own_mask_over_pairs_counts(kind, monkeypatch):
    model = build(FAMILIES["llama"])
    mask = torch.rand(2, 1, 7, 7, generator=torch.Generator().manual_seed(5)) > 0.4
    mask |= torch.eye(7, dtype=torch.bool)
    given = mask if kind == "bool" else torch.where(mask, 0.5, torch.finfo(torch.float32).min)
    inputs = {"input_ids": inputs_for(model)["input_ids"], "attention_mask": given}
    _, expected = watched(model, inputs, keep=True)
    stand_in(monkeypatch)
    refuse_waits(monkeypatch)
    _, seen = watched(model, inputs, keep=True)
    assert_same(seen, expected)
    first, second = (layer.look.problem for layer in seen.capture().layers)
    laid = {"bool": "mask", "float": "bias"}[kind]
    assert getattr(first, laid).array is getattr(second, laid).array  # once for all layers


def test_packed_texts_are_looked_at_in_bands(monkeypatch):
    model = build(FAMILIES["llama"])
    inputs = {
        "input_ids": inputs_for(model)["input_ids"],
        "position_ids": torch.tensor([[0, 1, 2, 0, 1, 2, 3]]),
        "use_cache": False,
    }
    _, expected = watched(model, inputs)
    stand_in(monkeypatch)
    refuse_waits(monkeypatch)
    monkeypatch.setattr(masks, "_PAIRS", 7 * 2 * 3)  # three rows at once
    monkeypatch.setattr(resolving, "_PAIRS", 7 * 3)
    backend_calls = stand_in(monkeypatch).facts
    _, seen = watched(model, inputs)
    assert_same(seen, expected)
    assert len(backend_calls) == 2 * 3


def test_a_compiled_model_is_watched(monkeypatch):
    model = build(FAMILIES["llama"])
    inputs = inputs_for(model)
    _, expected = watched(model, inputs)
    stand_in(monkeypatch)
    with torch.no_grad(), sl.watch(model) as seen:
        compiled = torch.compile(model, backend="eager")
        compiled(**inputs)
        compiled(**inputs)
    assert seen.runs == 2
    assert_same(seen.run(1), expected)


def test_gradients_reach_the_model_as_ever(monkeypatch):
    model = build(FAMILIES["gpt_oss"])
    slopes = []
    for on_device in (False, True):
        if on_device:
            stand_in(monkeypatch)
        model.zero_grad()
        with sl.watch(model):
            logits(model(**inputs_for(model))).square().mean().backward()
        slopes.append({n: w.grad for n, w in model.named_parameters() if w.grad is not None})
    for name, slope in slopes[0].items():
        largest = slope.abs().max().clamp(min=1e-6)
        assert (slopes[1][name] - slope).abs().max() <= 2e-5 * largest, name
