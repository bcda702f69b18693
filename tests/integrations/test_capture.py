"""What `capture` keeps, how it is chosen, and that the model is left as it was."""

from pathlib import Path

import numpy as np
import pytest

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, SMALL, build, inputs_for  # noqa: E402 (it needs torch)

import softlookup as sl  # noqa: E402
from softlookup.errors import OptionError  # noqa: E402
from softlookup.integrations import recording  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models


def test_chosen_layers_and_heads_are_those_of_the_whole():
    model = build(FAMILIES["llama"])
    inputs = inputs_for(model, (7, 4), "left")
    whole = capture(model, inputs)
    for heads, kv_heads in (([0], 1), ([1, 2], 2), ([0, 1, 3], 3), ([2, 3], 1), (range(4), 2)):
        some = capture(model, inputs, layers=[1], heads=heads)
        (layer,) = some.layers
        assert (layer.number, layer.heads) == (1, tuple(heads))
        assert layer.look.problem.kv_heads == kv_heads
        np.testing.assert_array_equal(
            layer.look.weights(), whole.lookup(1).weights()[:, list(heads)]
        )
        np.testing.assert_array_equal(layer.look.attend(), whole.lookup(1).attend()[:, list(heads)])


@pytest.mark.parametrize("family", ["gpt_oss", "t5"])
def test_chosen_heads_bring_their_sinks_and_biases(family):
    model = build(FAMILIES[family])
    whole, some = (capture(model, inputs_for(model), heads=heads) for heads in (None, [3, 1]))
    assert some.layers[0].heads == (1, 3)
    for layer, part in zip(whole.layers, some.layers, strict=True):
        np.testing.assert_array_equal(part.look.weights(), layer.look.weights()[:, [1, 3]])


def test_layers_that_are_not_chosen_leave_parts_and_labels_as_they_are():
    model = build(lambda: hf.BartForConditionalGeneration(
        hf.BartConfig(vocab_size=61, d_model=24, encoder_layers=1, decoder_layers=2,
                      encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=32,
                      decoder_ffn_dim=32, max_position_embeddings=32)
    ))  # fmt: skip
    inputs = {"input_ids": torch.ones(1, 7, dtype=torch.long),
              "decoder_input_ids": torch.ones(1, 5, dtype=torch.long)}  # fmt: skip
    made = capture(model, inputs, layers=[1], tokens=list("abcdefg"))
    assert [layer.label for layer in made.layers] == ["decoder layer 1", "cross layer 1"]
    assert made.layers[1].keys[0].tokens == tuple("abcdefg")
    assert made.layers[1].queries == made.layers[0].queries == made.layers[0].keys
    assert made.layers[0].queries[0].tokens == tuple("01234")


def test_layers_share_one_mask_in_memory_and_in_the_file(tmp_path):
    from safetensors import safe_open

    model = build(FAMILIES["llama"])
    made = capture(model, inputs_for(model, (7, 4), "left"))
    first, second = (layer.look.problem.mask.array for layer in made.layers)
    assert np.shares_memory(first, second)
    made.save(tmp_path / "run.safetensors")
    with safe_open(tmp_path / "run.safetensors", framework="numpy") as file:
        names = list(file.keys())
    assert sum(name.startswith("mask") for name in names) == 1


@pytest.mark.parametrize("family", ["gpt2", "gpt_oss"])
def test_what_was_kept_does_not_change_with_the_model(family):
    model = build(FAMILIES[family])
    inputs = inputs_for(model)
    made = capture(model, inputs)
    before = made.lookup(0).weights()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    inputs["attention_mask"].zero_()
    np.testing.assert_array_equal(made.lookup(0).weights(), before)


def test_a_mask_of_numbers_hides_by_the_lowest_one():
    model = build(FAMILIES["bert"])
    ids = inputs_for(model)["input_ids"][:1]
    seen = torch.tril(torch.ones(1, 1, 7, 7, dtype=torch.bool))
    lowest = torch.finfo(torch.float32).min
    added = torch.where(seen, 0.0, lowest)
    added[..., 1, 0] = -0.5
    made = capture(model, {"input_ids": ids, "attention_mask": added})
    trace = made.trace()
    np.testing.assert_array_equal(trace.visible, seen[0, 0].numpy())
    assert trace.bias[1, 0] == -0.5
    plain = capture(model, {"input_ids": ids, "attention_mask": seen})
    assert plain.lookup(0).problem.bias is None
    np.testing.assert_array_equal(plain.trace().visible, trace.visible)


def test_a_batch_has_an_axis_for_each_entry_where_they_differ():
    model = build(FAMILIES["bert"])
    made = capture(model, inputs_for(model, (7, 4), "left"))
    first, second = made.layers[0].queries
    assert (first.padding, second.padding) == ((), ((0, 3),))
    one = capture(model, inputs_for(model))
    assert len(one.layers[0].queries) == 1


def test_texts_given_by_the_caller_stand_on_the_axes():
    model = build(FAMILIES["gpt2"])
    inputs = inputs_for(model)
    one = capture(model, inputs, tokens=list("abcdefg"))
    assert one.layers[0].key_axis(1).tokens == tuple("abcdefg")
    two = capture(model, inputs, tokens=[list("abcdefg"), list("hijklmn")])
    assert two.layers[1].query_axis(1).tokens == tuple("hijklmn")
    assert "7 tokens" in two.title


def test_a_bare_tensor_of_ids_is_enough():
    model = build(FAMILIES["gpt2"])
    ids = inputs_for(model)["input_ids"][0]
    made = capture(model, ids, title="mine", about={"license": "none", "model": "tiny"})
    assert made.lookup(0).problem.batch == 1
    assert made.title == "mine"
    assert (made.about["license"], made.about["model"]) == ("none", "tiny")
    assert "GPT2LMHeadModel, float32" in made.about["made"]
    assert f"transformers {hf.__version__}" in made.about["versions"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("org/tiny", "org/tiny"),
        ("tiny", "tiny"),
        ("/home/me/tiny", "tiny"),
        ("/home/me/tiny/", "tiny"),
        ("../me/tiny", "tiny"),
        ("/home/me/models--org--tiny/snapshots/" + "0f" * 20, "org/tiny"),
        ("/home/me/model", "GPT2LMHeadModel"),  # not a name
        ("/home/me/checkpoint-500", "GPT2LMHeadModel"),
        ("/home/me/tmp1a2b3c4d", "GPT2LMHeadModel"),
        (str(Path.home()), "GPT2LMHeadModel"),
        ("/", "GPT2LMHeadModel"),
        ("", "GPT2LMHeadModel"),
    ],
)
def test_a_name_is_told_and_a_path_is_not(name, told):
    model = build(FAMILIES["gpt2"])
    model.name_or_path = name
    made = capture(model, inputs_for(model))
    assert made.about["model"] == told
    assert made.title.startswith(told.rpartition("/")[2])
    assert "/home" not in made.title + str(dict(made.about))
    with sl.watch(model) as seen:
        model(**inputs_for(model))
    assert (seen.about["model"], seen.title) == (told, told.rpartition("/")[2])


def test_one_entry_of_a_batch_is_picked():
    model = build(FAMILIES["gpt2"])
    made = capture(model, inputs_for(model, (7, 4), "left"))
    np.testing.assert_array_equal(
        made.lookup(1, 2, batch=1).weights(), made.lookup(1).weights()[1, 2]
    )
    with pytest.raises(OptionError, match=r"0 \.\.\. 1; got 2"):
        made.lookup(1, 2, batch=2)


def test_one_token_sees_itself():
    model = build(FAMILIES["llama"])
    made = capture(model, torch.tensor([[5]]))
    np.testing.assert_array_equal(made.lookup(1).weights(), np.ones((1, 4, 1, 1)))


def recorded(module, *arrays, **options):
    """Return what one call leaves behind, without a model around it."""
    recorder = recording.Recorder(recording.Places({}))
    out, _ = recorder.answer(module, *arrays, **options)
    return recorder.records[0].look, out


@pytest.mark.parametrize(("length", "seen"), [(1, [5]), (3, [1, 2, 3])])
def test_the_causal_rule_is_that_of_sdpa(length, seen):
    """Upper left, keys after the last query cut off; a query alone sees all keys."""
    torch.manual_seed(3)
    query, key, value = (torch.randn(1, 2, size, 7) for size in (length, 5, 5))
    module = torch.nn.Identity()  # causal, as a module is that does not say
    look, out = recorded(module, query, key, value, None)
    assert (look.weights() > 0).sum(-1)[0, 0].tolist() == seen
    np.testing.assert_allclose(look.attend().swapaxes(1, 2), out.numpy(), atol=1e-6)
    look, _ = recorded(module, query, key, value, None, is_causal=False)
    assert (look.weights() > 0).all()


def test_a_bias_is_cut_with_its_keys_and_one_query_batch_serves_all():
    torch.manual_seed(3)
    query, key, value = torch.randn(1, 2, 3, 7), torch.randn(2, 2, 5, 7), torch.randn(2, 2, 5, 7)
    bias = torch.randn(1, 2, 3, 5)
    look, out = recorded(torch.nn.Identity(), query, key, value, None, position_bias=bias)
    assert (look.problem.batch, look.problem.kv_len) == (2, 3)
    np.testing.assert_allclose(look.attend().swapaxes(1, 2), out.numpy(), atol=1e-6)


def test_progress_is_told_layer_by_layer():
    model, told = build(FAMILIES["t5"]), []
    capture(model, inputs_for(model), progress=told.append)
    assert told == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("setting", ["eager", "sdpa"])
def test_the_setting_comes_back_even_after_a_failure(setting):
    model = build(FAMILIES["t5"])
    model.set_attn_implementation(setting)
    configs = [module.config for module in model.modules() if hasattr(module, "config")]
    capture(model, inputs_for(model))
    with pytest.raises(ValueError, match="heads"):
        capture(model, inputs_for(model), heads=[4])
    assert {config._attn_implementation for config in configs} == {setting}


def test_a_model_of_models_keeps_each_ones_setting():
    vision = {"image_size": 8, "patch_size": 4, "num_hidden_layers": 1}
    text = SMALL | {"max_position_embeddings": 16, "eos_token_id": 2, "bos_token_id": 1}
    model = build(lambda: hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=vision)))
    model.set_attn_implementation({"text_config": "eager", "vision_config": "sdpa"})
    texts = inputs_for(build(FAMILIES["bert"]), (5, 5))  # as many as there are image patches
    made = capture(model, texts | {"pixel_values": torch.randn(2, 3, 8, 8)}, tokens=list("abcde"))
    config = model.config
    settings = (config.text_config._attn_implementation, config.vision_config._attn_implementation)
    assert settings == ("eager", "sdpa")
    labels = [layer.label for layer in made.layers]
    assert labels == ["vision layer 0", "text layer 0", "text layer 1"]
    assert made.layer("text layer 1").queries[0].tokens == tuple("abcde")
    assert made.layer("vision layer 0").queries[0].tokens == tuple("01234")


def test_layers_whose_configuration_no_model_holds_are_recorded_too():
    def make():
        decoder = hf.BertConfig(**SMALL, is_decoder=True, add_cross_attention=True)
        return hf.EncoderDecoderModel(
            encoder=hf.BertModel(hf.BertConfig(**SMALL)), decoder=hf.BertLMHeadModel(decoder)
        )

    model = build(make)
    ids = torch.full((1, 7), 5)
    made = capture(model, {"input_ids": ids, "decoder_input_ids": ids[:, :5]})
    assert [layer.part for layer in made.layers] == ["encoder"] * 2 + ["decoder"] * 2 + [
        "cross"
    ] * 2


def test_keys_of_another_source_are_not_called_by_the_inputs_tokens():
    config = hf.BertConfig(**SMALL, is_decoder=True, add_cross_attention=True)
    model = build(lambda: hf.BertLMHeadModel(config))
    states = torch.randn(1, 7, 24)
    inputs = {"input_ids": torch.full((1, 7), 5), "encoder_hidden_states": states}
    cross = capture(model, inputs, tokens=list("abcdefg")).layer("cross layer 0")
    assert cross.queries[0].tokens == tuple("abcdefg")
    assert cross.keys[0].tokens == tuple("0123456")


def test_shared_weights_are_as_many_layers_as_they_are_called():
    model = build(lambda: hf.AlbertModel(hf.AlbertConfig(**SMALL, intermediate_size=32)))
    made = capture(model, inputs_for(model), layers=[1])
    assert [(layer.number, layer.name[-2:]) for layer in made.layers] == [(1, "#1")]


def test_asking_for_attentions_changes_nothing():
    model = build(FAMILIES["bert"])
    plain = capture(model, inputs_for(model))
    asked = capture(model, inputs_for(model) | {"output_attentions": True})
    np.testing.assert_array_equal(plain.lookup(1).weights(), asked.lookup(1).weights())
    model.set_attn_implementation("eager")
    model.config.output_attentions = True
    always = capture(model, inputs_for(model))
    np.testing.assert_array_equal(plain.lookup(1).weights(), always.lookup(1).weights())


def test_no_gradient_is_kept():
    model = build(FAMILIES["bert"])
    grad = []
    model.register_forward_hook(lambda *given: grad.append(given[-1][0].requires_grad))
    capture(model, inputs_for(model))
    assert grad == [False]
