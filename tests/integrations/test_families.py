"""One tiny model of each kind of attention: the recorded lookups are what the model computed."""

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import assert_equal_to_eager, logits, run  # noqa: E402 (they need torch)
from tiny import FAMILIES, build, inputs_for  # noqa: E402

from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models
PADDED = {"whole": ((7, 7), "right"), "right": ((7, 4), "right"), "left": ((7, 4), "left")}
BY_SDPA = sorted(set(FAMILIES) - {"gemma2", "gpt_oss"})


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_the_models_own(family, padding):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, *PADDED[padding])
    assert_equal_to_eager(capture(model, inputs), model, inputs)


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("family", BY_SDPA)
def test_recording_changes_no_bit_of_the_answer(family, padding):
    model = build(FAMILIES[family])
    inputs, answers = inputs_for(model, *PADDED[padding]), []
    model.register_forward_hook(lambda *given: answers.append(logits(given[-1])))
    capture(model, inputs)
    plain = logits(run(model, inputs))
    assert torch.equal(answers[0], plain)
    assert plain.std() > 0.1


@pytest.mark.parametrize("family", ["gemma2", "gpt_oss"])
def test_what_sdpa_cannot_compute_is_computed_here(family):
    model = build(FAMILIES[family])
    inputs, answers = inputs_for(model), []
    model.register_forward_hook(lambda *given: answers.append(logits(given[-1])))
    capture(model, inputs)
    eager = logits(run(model, inputs, "eager"))
    assert (answers[0] - eager).abs().max() <= 1e-5 * eager.abs().max()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_capture_has_the_same_weights(family, tmp_path):
    model = build(FAMILIES[family])
    made = capture(model, inputs_for(model, (7, 4), "left"))
    made.save(tmp_path / "run.safetensors")
    again = sl.load(tmp_path / "run.safetensors")
    assert len(again.layers) == len(made.layers)
    for layer, loaded in zip(made.layers, again.layers, strict=True):
        assert (layer.label, layer.name, layer.heads) == (loaded.label, loaded.name, loaded.heads)
        assert (layer.queries, layer.keys) == (loaded.queries, loaded.keys)
        np.testing.assert_array_equal(layer.look.weights(), loaded.look.weights())


@pytest.mark.parametrize(
    ("family", "labels"),
    [
        ("bert", ["layer 0", "layer 1"]),
        ("gpt2", ["layer 0", "layer 1"]),
        ("t5", ["encoder layer 0", "encoder layer 1", "decoder layer 0", "decoder layer 1",
                "cross layer 0", "cross layer 1"]),
        ("whisper", ["encoder layer 0", "encoder layer 1", "decoder layer 0", "decoder layer 1",
                     "cross layer 0", "cross layer 1"]),
    ],
)  # fmt: skip
def test_layers_are_called_by_their_place(family, labels):
    model = build(FAMILIES[family])
    assert [layer.label for layer in capture(model, inputs_for(model)).layers] == labels


def test_what_shapes_the_scores_is_kept_as_it_is():
    shaping = {}
    for family, make in FAMILIES.items():
        model = build(make)
        problem = capture(model, inputs_for(model)).layers[0].look.problem
        shaping[family] = {
            name
            for name in ("causal", "mask", "bias", "sinks", "softcap")
            if getattr(problem, name) is not None and getattr(problem, name) is not False
        }
    assert shaping == {
        "bert": set(), "distilbert": set(), "modernbert": set(), "vit": set(), "bart": set(),
        "whisper": set(), "t5": {"bias"}, "gpt2": {"causal"}, "llama": {"causal"},
        "qwen3": {"causal"}, "deepseek_v3": {"causal"}, "clip_text": {"causal"},
        "opt": {"causal"}, "gpt_neox": {"causal"},
        "mistral": {"mask"}, "gemma3": {"mask"}, "llama4": {"mask"}, "phi3": {"mask"},
        "gemma2": {"mask", "softcap"}, "gpt_oss": {"mask", "sinks"},
    }  # fmt: skip


BACK = np.arange(7)[:, None] - np.arange(7)
CHUNK = np.arange(7) // 4
HIDING = {
    "mistral": (1, (BACK >= 0) & (BACK < 3)),
    "qwen3": (1, (BACK >= 0) & (BACK < 3)),
    "gemma3": (0, (BACK >= 0) & (BACK < 3)),
    "llama4": (0, (BACK >= 0) & (CHUNK[:, None] == CHUNK)),
    "modernbert": (1, np.abs(BACK) <= 2),
}


@pytest.mark.parametrize("family", HIDING)
def test_windows_and_chunks_are_kept_as_what_the_model_masks(family):
    layer, seen = HIDING[family]
    model = build(FAMILIES[family])
    made = capture(model, inputs_for(model))
    np.testing.assert_array_equal(made.trace(layer=layer).visible, seen)
    assert not np.array_equal(made.trace(layer=1 - layer).visible, seen) or family == "mistral"


def test_values_may_be_shorter_than_keys():
    model = build(FAMILIES["deepseek_v3"])
    problem = capture(model, inputs_for(model)).lookup(0).problem
    assert (problem.head_dim, problem.value_dim) == (10, 6)


def test_learned_sinks_take_their_share():
    model = build(FAMILIES["gpt_oss"])
    layer = capture(model, inputs_for(model)).layers[0]
    sums = layer.look.weights().sum(-1)
    assert (sums < 0.999).any()
    np.testing.assert_array_equal(
        layer.look.problem.sinks, model.model.layers[0].self_attn.sinks.detach().numpy()
    )


def test_grouped_heads_are_kept_once():
    model = build(FAMILIES["llama"])
    look = capture(model, inputs_for(model)).lookup(0)
    assert (look.problem.heads, look.problem.kv_heads, look.problem.group) == (4, 2, 2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", ["llama", "gpt_oss"])
def test_half_precision_stays_what_it_is(family, dtype):
    model = build(FAMILIES[family], dtype)
    inputs = inputs_for(model)
    look = capture(model, inputs).lookup(0)
    assert str(look.problem.dtype) == str(dtype).removeprefix("torch.")
    eager = run(model, inputs, "eager", output_attentions=True).attentions[0].float().numpy()
    # Eager scores of either dtype are rounded to it before softmax: up to 2**-8 of their size.
    np.testing.assert_allclose(look.weights(), eager, atol=0.05)
    assert look.attend().dtype == look.problem.dtype
