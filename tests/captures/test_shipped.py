"""The captures that come with the package: small, described, and worth looking at."""

import numpy as np
import pytest

from softlookup.captures import shipped
from softlookup.errors import OptionError

SIZES = {"sentence": (6, 12, 12, 32), "causal": (6, 9, 3, 64)}  # layers, heads, kv_heads, head_dim


@pytest.fixture(params=shipped.names())
def named(request):
    return request.param, shipped.load(request.param)


def test_they_are_small_files_of_the_package(named):
    name, _ = named
    assert (shipped.FOLDER / f"{name}.safetensors").stat().st_size <= 1_500_000


def test_they_say_where_they_come_from(named):
    name, capture = named
    assert set(capture.about) == {"model", "license", "origin", "made", "versions"}
    assert capture.about["license"] == "Apache-2.0"
    assert "written for softlookup" in capture.about["origin"]
    assert {"sentence": "MiniLM", "causal": "SmolLM2"}[name] in capture.about["model"]
    assert "/" not in capture.about["made"].replace("tools/", "")  # no path of a machine
    assert shipped.words(name)


def test_they_hold_all_heads_of_their_layers(named):
    name, capture = named
    layers, *rest = SIZES[name]
    assert len(capture.layers) == layers
    for layer in capture.layers:
        p = layer.look.problem
        assert [p.heads, p.kv_heads, p.head_dim] == rest
        assert (str(p.dtype), p.batch) == ("float32", 1)
        assert layer.heads == tuple(range(p.heads))
        assert p.causal == (name == "causal")
        assert 20 <= p.q_len == p.kv_len == len(layer.queries[0].tokens) <= 40


def test_their_weights_are_finite_and_rows_sum_to_1(named):
    for layer in named[1].layers:
        weights = layer.look.weights()
        assert np.isfinite(weights).all()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
        assert weights.std() > 0.01


def test_the_sentence_has_words_of_several_tokens_and_two_banks():
    (axis,) = shipped.load("sentence").layers[0].queries
    assert axis.tokens.count("bank") == 2
    assert "she" in axis.tokens
    pieces = [i for i, token in enumerate(axis.tokens) if token.startswith("##")]
    assert len(pieces) >= 3
    assert all(axis.words[i] == axis.words[i - 1] for i in pieces)


def test_the_text_repeats_a_phrase_and_a_head_copies_it():
    capture = shipped.load("causal")
    (axis,) = capture.layers[0].queries
    first = axis.tokens.index(" clock")
    second = axis.tokens.index(" clock", first + 1)
    repeats = range(second, len(axis.tokens) - 1)
    assert all(axis.tokens[i] == axis.tokens[i - second + first] for i in repeats)
    weights = capture.lookup(18, 6).weights()  # an induction head: what followed last time?
    follows = [weights[i, i - second + first + 1] for i in repeats]
    assert np.mean(follows) > 0.5


def test_another_name_is_refused():
    with pytest.raises(OptionError, match=r"sentence, causal; got 'lesson'"):
        shipped.load("lesson")
    with pytest.raises(OptionError, match="must be one of"):
        shipped.words("")
