"""Means over layers that recorded other heads; sinks, padding and positions in a view's numbers."""

import numpy as np
import pytest
from asking import ask, grid, overview

from file_cases import CAPTURES, unequal_heads
from softlookup.viewer import Session, blocks

CAPTURE = unequal_heads()  # heads (2, 5), (5, 7) with sinks, (5,), and a layer over other keys


@pytest.fixture(scope="module")
def session():
    return Session(CAPTURE)


def traced(layer, number):
    """Return the trace of the head of that number."""
    return CAPTURE.layers[layer].head(number).trace()


def weights_of(*places):
    return np.mean([traced(*place).weights for place in places], axis=0)


FIVE = ((0, 5), (1, 5), (2, 5))


@pytest.mark.parametrize(
    ("args", "what", "places"),
    [
        ({"like": 0, "head": 1}, "mean of head 5 over 3 layers", FIVE),
        ({"like": 1, "head": 0}, "mean of head 5 over 3 layers", FIVE),
        ({"like": 0, "head": 0}, "mean of head 2 over 1 layer", ((0, 2),)),
        ({"like": 1, "head": 1}, "mean of head 7 over 1 layer", ((1, 7),)),
        ({"head": "mean"}, "mean over 5 heads of 3 layers", ((0, 2), (1, 7), *FIVE)),
        ({"like": 3, "head": "mean"}, "mean over 2 heads of 1 layer", ((3, 0), (3, 1))),
    ],
)
def test_a_mean_over_layers_goes_by_the_numbers_of_heads(session, args, what, places):
    told, weights, _ = grid(session, layer="mean", **args)
    assert told["what"] == what
    np.testing.assert_allclose(weights, weights_of(*places), rtol=1e-14)
    facts = ask(session, "facts", layer="mean", **args)
    assert facts["what"] == what
    received = weights_of(*places)[:4].sum(axis=0)  # two queries are padding
    np.testing.assert_allclose(facts["received"], received, rtol=1e-6)


def test_one_head_of_a_layer_is_no_several(session):
    assert grid(session, layer=2, head="mean")[0]["what"] == "mean over 1 head of layer 4"


def missing(layer, number):
    return 1 - traced(layer, number).weights.sum(axis=1)


def test_a_layer_without_sinks_misses_nothing_in_a_mean(session):
    expected = missing(1, 5) / 3
    for head in (0, 1):
        args = {"layer": "mean", "like": 1 - head, "head": head}
        np.testing.assert_allclose(ask(session, "facts", **args)["sink"], expected, atol=1e-6)
        told, weights, _ = grid(session, **args)
        np.testing.assert_allclose(told["sink"], expected, atol=1e-14)
        np.testing.assert_allclose(weights.sum(axis=1) + told["sink"], 1, atol=1e-14)
    assert ask(session, "facts", layer="mean", head=0)["sink"] is None
    assert grid(session, layer="mean", head=0)[0]["sink"] is None


def test_a_grid_tells_what_its_rows_leave_to_the_sink(session):
    sink = missing(1, 7)
    told, _, _ = grid(session, layer=1, head=1)
    np.testing.assert_allclose(told["sink"], sink, atol=1e-14)
    told, _, _ = grid(session, layer=1, head=1, rows="2:5", keys="0:1")
    np.testing.assert_allclose(told["sink"], sink[2:5], atol=1e-14)
    told, weights, _ = grid(session, layer=1, head=1, words=1)
    np.testing.assert_allclose(told["sink"], [sink[:2].mean(), *sink[2:]], atol=1e-14)
    np.testing.assert_allclose(weights.sum(axis=1) + told["sink"], 1, atol=1e-14)


def test_padding_reads_nothing(session):
    weights = traced(1, 5).weights[:4]
    told = ask(session, "facts", layer=1, head=0)
    np.testing.assert_allclose(told["received"], weights.sum(axis=0), rtol=1e-6)
    assert len(told["entropy"]) == 6  # each row still has its own numbers
    head = overview(session, layer=1)[0]["heads"][0]
    entropy = -(weights * np.log(weights)).sum(axis=1).mean()
    assert head["entropy"] == pytest.approx(entropy, rel=1e-6)
    assert head["sink"] == pytest.approx(missing(1, 5)[:4].mean(), rel=1e-6)
    assert head["first_share"] == pytest.approx(weights[:, 0].mean(), rel=1e-6)
    assert head["previous_share"] == pytest.approx(weights.diagonal(-1).mean(), rel=1e-6)


def test_the_token_before_goes_by_position_and_needs_one_text(session):
    (moved,) = overview(session, layer=2)[0]["heads"]  # query i stands at position i + 2
    before = traced(2, 5).weights[:4].diagonal(1)
    assert moved["previous_share"] == pytest.approx(before.mean(), rel=1e-6)
    others = overview(session, layer=3)[0]["heads"]  # as many keys, other tokens
    assert [head["previous_share"] for head in others] == [None, None]


def test_heads_are_drawn_in_parts(session):
    told, pictures = overview(session, layer=1)
    for head in range(2):
        part, picture = overview(session, layer=1, heads=f"{head}:{head + 1}")
        assert part == {**told, "heads": told["heads"][head : head + 1]}
        np.testing.assert_array_equal(picture[0], pictures[head])


@pytest.mark.parametrize("name", ["everything", "unequal heads", "spoilt", "biased"])
def test_blocks_of_rows_come_to_the_same(monkeypatch, name):
    session = Session(CAPTURES[name]())
    places = [
        {"layer": layer, "batch": batch}
        for layer, one in enumerate(session.open("given").capture.layers)
        for batch in range(one.look.problem.batch)
    ]
    whole = [(ask(session, "facts", **place), overview(session, **place)) for place in places]
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 20)  # two or three rows
    for place, (facts, (told, pictures)) in zip(places, whole, strict=True):
        assert_near(ask(session, "facts", **place), facts)
        again, others = overview(session, **place)
        assert_near(again, told)
        np.testing.assert_allclose(others, pictures, rtol=1e-6)


def assert_near(found, expected):
    """Assert that two answers hold the same, numbers to within the kernel's precision."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, one in expected.items():
            assert_near(found[name], one)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_near(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
    else:
        assert found == expected
