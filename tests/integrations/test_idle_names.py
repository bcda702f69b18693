"""What a model's caller gives by a name that its attention lets pass changes nothing."""

import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from eager import assert_equal_to_eager, logits  # noqa: E402 (they need torch)
from tiny import FAMILIES, LLAMA, build, inputs_for  # noqa: E402

from softlookup.errors import OptionError  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models

NAMES = ("token_type_ids", "special_tokens_mask", "length", "offset_mapping")
FAMILIES_THAT_IGNORE = ("llama", "mistral", "gemma2", "gpt_neox", "opt", "phi3", "bert")


@pytest.mark.parametrize("family", FAMILIES_THAT_IGNORE)
def test_a_tokenizers_extra_outputs_change_nothing(family):
    model = build(FAMILIES[family])
    inputs = inputs_for(model, (7, 4), "left")
    more = dict.fromkeys(NAMES, torch.zeros_like(inputs["input_ids"]))
    with torch.no_grad():
        plain = logits(model(**inputs))
        assert torch.equal(logits(model(**inputs | more)), plain)
        for compute in ("softlookup", "model"):
            with sl.watch(model, compute=compute) as seen:
                own, other = logits(model(**inputs)), logits(model(**inputs | more))
            assert torch.equal(own, other)
            assert len(seen.run(1)) == 2
    assert torch.equal(other, plain)  # as the model itself
    assert_equal_to_eager(capture(model, inputs | more), model, inputs)


@pytest.mark.parametrize(("name", "given"), [
    ("softcap", 1.0), ("s_aux", torch.ones(4)), ("position_bias", torch.ones(1, 4, 7, 7).triu()),
])  # fmt: skip
def test_what_would_shape_scores_of_another_model_changes_nothing(name, given):
    model = build(FAMILIES["llama"])
    model.set_attn_implementation("eager")
    inputs = inputs_for(model)
    with torch.no_grad():
        plain = logits(model(**inputs))
        assert torch.equal(logits(model(**inputs, **{name: given})), plain)
        for compute in ("softlookup", "model"):
            with sl.watch(model, compute=compute):
                own, other = logits(model(**inputs)), logits(model(**inputs, **{name: given}))
            assert torch.equal(own, other)
    assert_equal_to_eager(capture(model, inputs | {name: given}), model, inputs)


def test_what_the_models_own_attention_names_is_refused():
    """An attention of the caller's own that reads it."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    def by_kind(*given, token_type_ids=None, **more):
        return sdpa_attention_forward(*given, **more)

    hf.AttentionInterface.register("by_kind", by_kind)
    hf.AttentionMaskInterface.register("by_kind", hf.AttentionMaskInterface()["sdpa"])
    model = build(FAMILIES["llama"])
    model.set_attn_implementation("by_kind")
    inputs = inputs_for(model)
    inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
    try:
        for compute in ("softlookup", "model"):
            asked = sl.watch(model, compute=compute)
            with pytest.raises(OptionError, match="'token_type_ids'"), asked:
                model(**inputs)
        with pytest.raises(OptionError, match="'token_type_ids'"):
            capture(model, inputs)
    finally:
        hf.AttentionInterface._global_mapping.pop("by_kind")
        hf.AttentionMaskInterface._global_mapping.pop("by_kind")


def test_a_softcap_of_0_is_none():
    sizes = LLAMA | {"head_dim": 6, "query_pre_attn_scalar": 11, "sliding_window": 3}

    def capped(softcap):
        config = hf.Gemma2Config(**sizes, attn_logit_softcapping=softcap)
        return build(lambda: hf.Gemma2ForCausalLM(config))

    off, none = capped(0.0), capped(None)
    inputs = inputs_for(off)
    with torch.no_grad(), sl.watch(off) as seen:
        answer = logits(off(**inputs))
    torch.testing.assert_close(answer, logits(none(**inputs)), atol=1e-4, rtol=1e-4)
    assert len(seen) == 2
    assert_equal_to_eager(capture(off, inputs), none, inputs)
