"""Whatever is done to a model's mask while it is looked at is done to a mask of its own kind."""

import functools

import numpy as np
import pytest

import softlookup as sl

torch = pytest.importorskip("torch", reason="models (make models installs what they need)")
hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")

from eager import logits  # noqa: E402 (they need torch)
from tiny import BESIDE, FAMILIES, build, inputs_for  # noqa: E402

from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models
ROW, KEY = 3, 2  # a pair that every family sees: in its window, in its chunk
SETTINGS = [
    (family, setting)
    for family in FAMILIES
    for setting in ("eager", "sdpa")
    if not (setting == "sdpa" and family in {"gemma2", "gpt_oss"})
]


@functools.cache
def model_of(family):
    return build(FAMILIES[family])


def added(mask):
    """Hide a pair as papers do that knock attention out: by adding to it."""
    if mask.dtype == torch.bool:
        return torch.where(mask, 0.0, torch.finfo(torch.float32).min) + block_of(mask)
    return mask + block_of(mask)


def block_of(mask):
    block = torch.zeros(1, 1, *mask.shape[-2:])
    block[..., ROW, KEY] = torch.finfo(torch.float32).min
    return block


def chosen(mask):
    """Hide it by logic."""
    block = torch.zeros(mask.shape[-2:], dtype=torch.bool)
    block[ROW, KEY] = True
    if mask.dtype == torch.bool:
        return mask & ~block & torch.logical_not(block)
    return mask.masked_fill(block | ~(mask == 0), torch.finfo(mask.dtype).min)


def written(mask):
    """Hide it by writing to the mask, which other layers share."""
    mask[..., ROW, KEY] = False if mask.dtype == torch.bool else torch.finfo(mask.dtype).min
    return mask


def untouched(mask):
    return mask


HOOKS = {"untouched": untouched, "added": added, "chosen": chosen, "written": written}


class Hooked:
    """Hooks on every attention module that is given a mask."""

    def __init__(self, model, change):
        self.model, self.change, self.given = model, change, []

    def __enter__(self):
        self.handles = [
            one.register_forward_pre_hook(self.hook, with_kwargs=True)
            for one in self.model.modules()
            if "Attention" in type(one).__name__
        ]
        return self.given

    def __exit__(self, *_):
        for handle in self.handles:
            handle.remove()

    def hook(self, _, args, kwargs):
        self.given.append(None)
        mask = kwargs.get("attention_mask")
        if mask is None:
            return None
        self.given[-1] = (mask.dtype, tuple(mask.shape), isinstance(mask, torch.Tensor))
        return args, kwargs | {"attention_mask": self.change(mask)}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(("family", "setting"), SETTINGS)
def test_looking_changes_no_bit_of_what_a_model_or_a_hook_makes_of_its_mask(family, setting, hook):
    model = model_of(family)
    inputs = inputs_for(model, (7, 4), "right")
    model.set_attn_implementation(setting)
    with torch.no_grad():
        with Hooked(model, HOOKS[hook]) as given:
            plain = logits(model(**inputs))
        with Hooked(model, HOOKS[hook]) as same, sl.watch(model, compute="model"):
            own = logits(model(**inputs))
        with Hooked(model, HOOKS[hook]), sl.watch(model) as seen:
            ours = logits(model(**inputs))
    assert torch.equal(own, plain)
    assert same == given
    rows = ...
    if plain.shape[1] == 7 and "attention_mask" in inputs:
        rows = inputs["attention_mask"].bool()  # a row of padding may see no key at all
    assert (ours - plain)[rows].abs().max() <= 1e-5 * plain.abs().max()
    if hook != "untouched" and any(given) and not model.config.is_encoder_decoder:
        for layer in seen.layers:
            assert KEY not in layer.top.keys[:, :, ROW], layer.label
            assert KEY in layer.top.keys[:, :, ROW - 1], layer.label


def test_a_mask_of_floats_that_a_hook_adds_to_is_captured_as_such():
    model = model_of("llama")
    inputs = inputs_for(model, (7, 4), "right")
    model.set_attn_implementation("eager")
    with torch.no_grad(), Hooked(model, added):
        theirs = model(**inputs, output_attentions=True).attentions
    with Hooked(model, added) as given:
        made = capture(model, inputs)
    assert given[0] == (torch.float32, (2, 1, 7, 7), True)
    for layer, weights in zip(made.layers, theirs, strict=True):
        rows = inputs["attention_mask"].bool().numpy()
        found = np.moveaxis(layer.look.weights(), 1, 2)[rows]
        np.testing.assert_allclose(found, weights.transpose(1, 2).numpy()[rows], atol=2e-6)


def test_without_a_mask_eager_attention_sees_every_key():
    """It goes by no flag, as sdpa does."""
    model = model_of("llama")
    inputs = {"input_ids": inputs_for(model)["input_ids"]}

    def drop(_, args, kwargs):
        return args, kwargs | {"attention_mask": None}

    layer = model.model.layers[0].self_attn
    for setting, last in (("eager", 6), ("sdpa", 0)):
        model.set_attn_implementation(setting)
        handle = layer.register_forward_pre_hook(drop, with_kwargs=True)
        with torch.no_grad():
            plain = model(**inputs).logits
            with sl.watch(model) as seen:
                ours = model(**inputs).logits
            with sl.watch(model, compute="model"):
                assert torch.equal(model(**inputs).logits, plain)
        handle.remove()
        assert (ours - plain).abs().max() <= 1e-5 * plain.abs().max()
        assert seen[0].top.keys[:, :, 0].max() == last
        assert seen[1].top.keys[:, :, 0].max() == 0


def test_a_mask_that_is_none_is_handed_on_as_none():
    """Moonshine is causal where it gets no mask."""
    config = hf.MoonshineConfig(
        **{f"{side}_{name}": one for side in ("encoder", "decoder")
           for name, one in (("num_hidden_layers", 1), ("num_attention_heads", 4))},
        vocab_size=61, hidden_size=24, intermediate_size=32, max_position_embeddings=64,
        bos_token_id=1, eos_token_id=2, pad_token_id=0, decoder_start_token_id=1,
    )  # fmt: skip
    model = build(lambda: hf.MoonshineForConditionalGeneration(config))
    torch.manual_seed(11)
    inputs = {
        "input_values": torch.randn(1, 2000),
        "decoder_input_ids": torch.tensor([[5, 6, 7, 8, 9]]),
    }
    with torch.no_grad():
        plain = model(**inputs).logits
        with sl.watch(model, compute="model") as own:
            assert torch.equal(model(**inputs).logits, plain)
        with sl.watch(model) as seen:
            ours = model(**inputs).logits
    assert (ours - plain).abs().max() <= 1e-5 * plain.abs().max()
    for one in (own, seen):
        assert (one["decoder", 0].top.keys[..., :5] <= np.arange(5)[:, None]).all()


def test_a_part_that_adds_the_mask_itself_is_right_and_is_said_to_be_missing():
    config = hf.BigBirdPegasusConfig(
        **BESIDE, attention_type="original_full", max_position_embeddings=64
    )
    model = build(lambda: hf.BigBirdPegasusForConditionalGeneration(config))
    inputs = inputs_for(model, (7, 4))
    with torch.no_grad():
        plain = model(**inputs).logits
        with sl.watch(model, compute="model"):
            assert torch.equal(model(**inputs).logits, plain)
        with sl.watch(model) as seen:
            ours = model(**inputs).logits
    assert (ours - plain).abs().max() <= 1e-5 * plain.abs().max()
    assert {layer.part for layer in seen} == {"decoder", "cross"}
    said = "BigBirdPegasusEncoderAttention, which does its own attention"
    assert seen.about["without"] == said
    assert repr(seen).endswith(f"  without {said}")
    assert capture(model, inputs).about["without"] == said


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_said_to_be_missing_of_a_model_that_is_seen_whole(family):
    model = model_of(family)
    with torch.no_grad(), sl.watch(model) as seen:
        model(**inputs_for(model))
    assert "without" not in seen.about


def test_a_hook_on_a_static_cache_leaves_its_unused_slots_out():
    model = model_of("llama")
    model.set_attn_implementation("sdpa")
    inputs = inputs_for(model, (7, 5), "left")
    how = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False}
    how |= {"cache_implementation": "static"}

    def again(_, args, kwargs):
        return args, kwargs | {"attention_mask": kwargs["attention_mask"] & True}

    with torch.no_grad():
        with sl.watch(model, keep=True, top=3) as expected:
            plain = model.generate(**inputs, **how)
        hooks = [
            one.self_attn.register_forward_pre_hook(again, with_kwargs=True)
            for one in model.model.layers
        ]
        with sl.watch(model, keep=True, top=3) as seen:
            assert torch.equal(model.generate(**inputs, **how), plain)
    for one in hooks:
        one.remove()
    for layer, other in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(layer.top.keys, other.top.keys)
        np.testing.assert_array_equal(layer.keys, other.keys)
        one, two = (each.capture().lookup(layer.number) for each in (seen, expected))
        np.testing.assert_allclose(one.weights(), two.weights(), atol=1e-6)


@pytest.mark.parametrize("padding", ["whole", "left"])
@pytest.mark.parametrize("family", ["llama", "mistral", "bert"])
def test_flash_attentions_mask_over_tokens_is_read_as_its_rule(family, padding):
    """It needs a GPU to answer; its masks are made anywhere."""
    model = build(FAMILIES[family])
    inputs = inputs_for(model, {"whole": (7, 7), "left": (7, 4)}[padding], "left")
    with torch.no_grad():
        with sl.watch(model) as expected:
            plain = logits(model(**inputs))
        for module in model.modules():
            if hasattr(module, "config"):
                module.config._attn_implementation_internal = "flash_attention_2"
        with Hooked(model, untouched) as given, sl.watch(model) as seen:
            assert torch.equal(logits(model(**inputs)), plain)
    masks = {one for one in given if one is not None}
    assert all(shape == (2, 7) for _, shape, _ in masks)
    assert bool(masks) == (padding == "left" or family == "mistral")
    for layer, other in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(layer.top.keys, other.top.keys)


def test_an_untouched_mask_of_a_long_text_is_never_made(monkeypatch):
    from softlookup.integrations.unmade import UnmadeMask

    def refuse(_):
        raise AssertionError("a mask over pairs was made")

    monkeypatch.setattr(UnmadeMask, "own", property(refuse))
    model = model_of("mistral")
    for setting in ("eager", "sdpa"):
        model.set_attn_implementation(setting)
        inputs = inputs_for(model, (60, 50), "left")
        with torch.no_grad(), sl.watch(model) as seen:
            model(**inputs)
            model.generate(**inputs, max_new_tokens=2, cache_implementation="static")
        assert seen.runs == 2


@pytest.mark.parametrize("setting", ["eager", "sdpa"])
def test_a_model_that_asks_for_its_setting_is_told_what_it_is_unwatched(setting):
    """Models with a sparse indexer make masks of their own by it."""
    model, told = model_of("llama"), []
    model.set_attn_implementation(setting)

    def ask(module, *_):
        name = module.config._attn_implementation
        told.append((name == setting, name != setting, name in {"eager", "sdpa"}))
        told.append(name in ("eager", "sdpa"))

    handle = model.model.layers[0].self_attn.register_forward_pre_hook(ask)
    with torch.no_grad(), sl.watch(model) as seen:
        model(**inputs_for(model))
    handle.remove()
    assert len(seen) == 2
    assert told == [(True, False, False), True]  # a set goes by the name that the calls go by


def through_memory(mask):
    """Hide it in memory that a view of the mask shares, where torch counts no write."""
    lowest = torch.finfo(mask.dtype).min
    mask.detach().numpy()[..., ROW, KEY] = lowest
    return mask


def through_data(mask):
    mask[0].data[..., ROW, KEY] = torch.finfo(mask.dtype).min
    return mask


def with_data(mask):
    mask.data = mask.detach() + block_of(mask)
    return mask


@pytest.mark.parametrize("change", [through_memory, through_data, with_data])
def test_what_is_written_past_torch_counts_too(change):
    model = model_of("llama")
    model.set_attn_implementation("eager")
    inputs = inputs_for(model)
    with torch.no_grad(), Hooked(model, change):
        plain = logits(model(**inputs))
        with sl.watch(model, compute="model") as seen:
            own = logits(model(**inputs))
        with sl.watch(model):
            ours = logits(model(**inputs))
    assert torch.equal(own, plain)
    assert (ours - plain).abs().max() <= 1e-5 * plain.abs().max()
    assert KEY not in seen[0].top.keys[0, :, ROW]


def test_a_hook_that_takes_the_mask_away_is_captured_as_eager_attention_reads_none():
    model = model_of("llama")
    model.set_attn_implementation("eager")
    inputs = inputs_for(model)
    with torch.no_grad(), Hooked(model, lambda _: None):
        with sl.watch(model, compute="model"):
            weights = model(**inputs, output_attentions=True).attentions[0][0, 1]
        found = capture(model, inputs).lookup(0, 1).weights()
    assert np.abs(found - weights.numpy()).max() <= 1e-5
    assert found[0, 1:].max() > 0, "row 0 reads what comes after it"
