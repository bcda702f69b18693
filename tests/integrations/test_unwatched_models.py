"""What cannot be watched, or only in a part: the sentence says so, and where to look instead."""

import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, LLAMA, SMALL, SPEAKS, build, inputs_for  # noqa: E402 (it needs torch)

from refusals import assert_refuses  # noqa: E402
from softlookup.errors import DtypeError, OptionError  # noqa: E402
from softlookup.integrations.routing import read_call  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models

IDS = {"input_ids": torch.tensor([[5, 7, 8, 9]])}
FEW = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2}


def llama():
    return build(FAMILIES["llama"])


class Classifier(torch.nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert
        self.head = torch.nn.Linear(24, 2)

    def forward(self, **inputs):
        return self.head(self.bert(**inputs).last_hidden_state)


class Adapted(torch.nn.Module):
    """As peft holds a model: a tuner, which holds it."""

    def __init__(self, model):
        super().__init__()
        self.base_model = torch.nn.Module()
        self.base_model.model = model

    def forward(self, **inputs):
        return self.base_model.model(**inputs)


def classifier():
    return Classifier(build(FAMILIES["bert"]))


HOLDERS = {
    "several devices": (lambda: torch.nn.DataParallel(llama()), "model.module"),
    "compiled": (lambda: torch.compile(llama(), backend="eager"), "model._orig_mod"),
    "adapted": (lambda: Adapted(llama()), "model.base_model.model"),
    "one's own": (classifier, "model.bert"),
    "in a list": (lambda: torch.nn.Sequential(classifier()), "model[0].bert"),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_what_holds_a_model_is_told_where(name):
    make, inside = HOLDERS[name]
    model = make()
    part = eval(inside, {"model": model})  # noqa: S307 (as it is spelled)
    fragments = [type(model).__name__, f"holds {type(part).__name__}.", f"Give {inside} instead"]
    assert_refuses(lambda: sl.watch(model), DtypeError, "model", fragments)
    assert_refuses(lambda: capture(model, IDS), DtypeError, "model", fragments)
    if name == "compiled":
        return  # test_watch.py does, at length
    whole = model[0] if name == "in a list" else model
    with torch.no_grad(), sl.watch(part) as seen:
        whole(**inputs_for(part))
    assert (seen.runs, len(seen)) == (1, 2)


def test_two_models_are_both_named():
    model = torch.nn.ModuleDict({"one": llama(), "other": build(FAMILIES["bert"])})
    fragments = ["LlamaForCausalLM and BertModel", "model.one or model.other"]
    assert_refuses(lambda: sl.watch(model), DtypeError, "model", fragments)


def got_ocr2():
    """Its tower does its own attention, in the file of the whole; its text goes through Qwen2."""
    tower = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32,
             "patch_size": 4, "window_size": 2, "global_attn_indexes": [1], "mlp_dim": 16,
             "output_channels": 8}  # fmt: skip
    text = LLAMA | SPEAKS | {"model_type": "qwen2"}
    config = hf.GotOcr2Config(vision_config=tower, text_config=text, image_token_id=60)
    return build(lambda: hf.GotOcr2ForConditionalGeneration(config))


def test_a_part_that_can_be_watched_is_named():
    model = got_ocr2()
    fragments = ["GotOcr2ForConditionalGeneration does its own in some",
                 "Give model.model.language_model instead"]  # fmt: skip
    assert_refuses(lambda: sl.watch(model), OptionError, "model", fragments)
    assert_refuses(lambda: capture(model, IDS), OptionError, "model", fragments)
    with torch.no_grad():
        plain = model(**IDS).logits
        with sl.watch(model.model.language_model, compute="model") as seen:
            watched = model(**IDS).logits
    assert torch.equal(watched, plain)
    assert [layer.number for layer in seen] == [0, 1]


WITHOUT = {
    "mamba": (lambda: hf.MambaForCausalLM(hf.MambaConfig(**FEW, state_size=4)), IDS),
    "fnet": (lambda: hf.FNetModel(hf.FNetConfig(**FEW, intermediate_size=32)), IDS),
    "resnet": (
        lambda: hf.ResNetModel(
            hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
        ),
        {"pixel_values": torch.ones(1, 3, 32, 32)},
    ),
}


def run(look, model, inputs):
    """Let a model run while it is looked at."""
    if look is capture:
        capture(model, inputs)
        return
    with torch.no_grad(), look(model):
        model(**inputs)


@pytest.mark.parametrize("look", [sl.watch, capture])
@pytest.mark.parametrize("family", WITHOUT)
def test_a_model_without_attention_is_told_so(family, look):
    make, inputs = WITHOUT[family]
    model = build(make)
    assert_refuses(lambda: run(look, model, inputs), OptionError, "model",
                   ["must have attention", f"{type(model).__name__} has none"])  # fmt: skip


def deepseek_v32():
    """An indexer chooses four keys for each query."""
    config = hf.DeepseekV32Config(
        **LLAMA | {"num_key_value_heads": 4}, q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=4,
        qk_nope_head_dim=6, v_head_dim=6, n_group=1, topk_group=1, n_routed_experts=2,
        num_experts_per_tok=1, moe_intermediate_size=16, first_k_dense_replace=1,
        index_n_heads=2, index_head_dim=8, index_topk=4,
    )  # fmt: skip
    return build(lambda: hf.DeepseekV32ForCausalLM(config))


def inkling2():
    """Each token says by itself how much each head's sink gets."""
    config = hf.Inkling2TextConfig(
        **SMALL, num_key_value_heads=2, head_dim=6, swa_num_attention_heads=4,
        swa_num_key_value_heads=2, swa_head_dim=6, sliding_window_size=3, d_rel=4, rel_extent=8,
        moe_intermediate_size=16, n_routed_experts=2, num_experts_per_tok=1, unpadded_vocab_size=61,
        n_layers_per_attn_res_block=1, max_position_embeddings=64,
    )  # fmt: skip
    return build(lambda: hf.Inkling2ForCausalLM(config))


@pytest.mark.parametrize("look", [sl.watch, capture])
def test_sinks_by_token_are_called_so(look):
    if hasattr(hf, "Inkling2TextConfig"):  # of newer releases
        said = ["4 heads", "16", "by token", "1, 4, 4, 1"]
        assert_refuses(lambda: run(look, inkling2(), IDS), OptionError, "model", said)


def test_keys_that_an_indexer_chooses_are_looked_at_where_they_come_as_a_mask():
    if not hasattr(hf, "DeepseekV32Config"):  # of newer releases
        return
    model, ids = deepseek_v32(), torch.tensor([[5, 7, 8, 9, 11, 6, 10]])
    with torch.no_grad():
        plain = model(ids).logits
        with sl.watch(model, compute="model") as seen:
            own = model(ids).logits
        with sl.watch(model):
            ours = model(ids).logits
    assert torch.equal(own, plain)
    torch.testing.assert_close(ours, plain, atol=1e-5, rtol=1e-5)
    assert ((seen[0].top.keys[0, :, -1] >= 0).sum(-1) == 4).all(), "four of all that come before"


def test_keys_that_an_indexer_chooses_are_refused_where_they_come_by_number():
    arrays = (torch.ones(1, 1, 3, 2),) * 3
    with pytest.raises(OptionError, match="sparse attention, over the indices"):
        read_call(torch.nn.Identity(), arrays, None, {"indices": torch.zeros(1, 3, 1)})
