"""Modules that look up more than once in a pass: a tower that reads several images."""

import gc
import weakref

import numpy as np
import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, SMALL, build, images_for, inputs_for, qwen2_vl  # noqa: E402

from softlookup.errors import OptionError  # noqa: E402
from softlookup.integrations.transformers import capture  # noqa: E402

pytestmark = pytest.mark.models

ONE, TWO = images_for([(1, 2)]), images_for([(1, 2), (1, 1)])
BLOCKS = [f"model.visual.blocks.{i}.attn" for i in range(2)]


def watched(model, inputs, **asked):
    with torch.no_grad(), sl.watch(model, **asked) as seen:
        model(**inputs)
    return seen


def told(layers):
    visual = [one for one in layers if one.part == "visual"]
    return [(one.number, getattr(one, "path", None) or one.name) for one in visual]


def test_a_block_that_reads_two_images_is_one_layer_of_two_calls():
    model = build(qwen2_vl)
    twice = [(i, f"{path}{again}") for i, path in enumerate(BLOCKS) for again in ("", "#1")]
    seen = watched(model, TWO)
    assert told(seen) == told(capture(model, TWO).layers) == twice
    assert [len(one.queries) for one in seen if one.part == "visual"] == [8, 4] * 2
    assert told(watched(model, ONE)) == list(enumerate(BLOCKS))


@pytest.mark.parametrize("inputs", [ONE, TWO])
def test_a_layer_that_is_chosen_is_the_same_whatever_is_read(inputs):
    model = build(qwen2_vl)
    chosen = told(watched(model, inputs, layers=[1]))
    assert chosen == told(capture(model, inputs, layers=[1]).layers)
    assert {path.partition("#")[0] for _, path in chosen} == {BLOCKS[1]}


def test_an_image_reads_the_same_beside_another():
    """The second image alone is what the second call of each block shows."""
    model = build(qwen2_vl)
    alone = watched(model, {**images_for([(1, 1)]), "pixel_values": TWO["pixel_values"][8:]})
    for one, other in zip(watched(model, TWO).layers[1:4:2], alone, strict=False):
        np.testing.assert_allclose(one.entropy, other.entropy, atol=1e-5)


def test_a_layer_of_several_calls_is_chosen_by_its_path():
    seen = watched(build(qwen2_vl), TWO)
    with pytest.raises(OptionError, match=r"2 are called .*'model.visual.blocks.1.attn#1'\."):
        seen["visual", 1]
    assert len(seen["model.visual.blocks.1.attn#1"].queries) == 4


class Pair(hf.BertPreTrainedModel):
    """Reads a text and its beginning with the same encoder."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = hf.BertModel(config)

    @classmethod
    def _can_set_attn_implementation(cls):
        return True

    def forward(self, input_ids):
        return self.bert(input_ids), self.bert(input_ids[:, :3])


def test_a_tower_that_is_called_again_has_the_same_layers():
    model = build(lambda: Pair(hf.BertConfig(**SMALL, intermediate_size=32)))
    inputs = {"input_ids": inputs_for(model)["input_ids"]}
    for layers in (watched(model, inputs), capture(model, inputs).layers):
        assert [one.number for one in layers] == [0, 1, 0, 1]


def test_layers_that_share_their_weights_count_on():
    sizes = SMALL | {"num_hidden_layers": 4, "embedding_size": 8, "intermediate_size": 32}
    config = hf.AlbertConfig(**sizes, num_hidden_groups=2)
    model = build(lambda: hf.AlbertModel(config))
    for layers in (watched(model, inputs_for(model)), capture(model, inputs_for(model)).layers):
        assert [one.number for one in layers] == [0, 1, 2, 3]


def test_nothing_of_a_pass_is_held_on_to_after_it():
    """Python's frames, which tell the calls of a module apart, hold what the module works on."""
    model = build(FAMILIES["llama"])
    inputs, gone = inputs_for(model), []
    model.model.layers[1].self_attn.register_forward_pre_hook(
        lambda _, args, given: gone.append(weakref.ref(given["hidden_states"])), with_kwargs=True
    )
    with torch.no_grad(), sl.watch(model):
        model(**inputs)
        gc.collect()
        assert [one() for one in gone] == [None]
