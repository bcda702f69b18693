"""Numbers and parts of layers, from the paths of their modules."""

import pytest

from softlookup.integrations.places import Places, name_parts


class Module:
    pass


def places_of(*paths):
    modules = {path: Module() for path in paths}
    places = Places({id(module): path for path, module in modules.items()})
    return [places.next(modules[path]) for path in paths]


def told(*paths):
    places = places_of(*paths)
    parts = name_parts(places)
    return [(parts[place.stack, place.cross], place.number) for place in places]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["encoder.layer.0.attention.self", "encoder.layer.1.attention.self"], [("", 0), ("", 1)]),
        (["model.decoder.layers.3.self_attn"], [("", 3)]),
        (["transformer.h.11.attn"], [("", 11)]),
        (
            ["encoder.block.0.layer.0.SelfAttention", "decoder.block.0.layer.0.SelfAttention",
             "decoder.block.0.layer.1.EncDecAttention"],
            [("encoder", 0), ("decoder", 0), ("cross", 0)],
        ),
        (
            ["model.encoder.layers.1.self_attn", "model.decoder.layers.0.encoder_attn"],
            [("encoder", 1), ("cross", 0)],
        ),
        (
            ["vision_model.encoder.layers.0.self_attn", "text_model.encoder.layers.0.self_attn"],
            [("vision", 0), ("text", 0)],
        ),
        (
            ["model.visual.blocks.0.attn", "model.language_model.layers.0.self_attn"],
            [("visual", 0), ("language", 0)],
        ),
        (
            ["encoder.encoder.layer.0.attention.self",
             "decoder.bert.encoder.layer.0.crossattention.self"],
            [("encoder", 0), ("cross", 0)],
        ),
        (
            ["vision_tower.blocks.0.attn", "language_model.encoder.layers.0.self_attn",
             "language_model.decoder.layers.0.self_attn"],
            [("vision", 0), ("language encoder", 0), ("language decoder", 0)],
        ),
        (  # stages, each counting its blocks from 0
            ["stages.0.blocks.0.attn", "stages.0.blocks.1.attn", "stages.1.blocks.0.attn"],
            [("", 0), ("", 1), ("", 2)],
        ),
        (["attention"], [("", 0)]),
    ],
)  # fmt: skip
def test_places(paths, expected):
    assert told(*paths) == expected


def test_a_module_that_is_called_again_is_the_next_layer():
    module = Module()
    places = Places({id(module): "groups.0.attention"})
    again = [places.next(module) for _ in range(3)]
    assert [place.number for place in again] == [0, 1, 2]
    assert [place.path for place in again] == [f"groups.0.attention{i}" for i in ("", "#1", "#2")]
