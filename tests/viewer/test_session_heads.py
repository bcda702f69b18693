"""What a view is told about many heads: beside `trace`, `weights` and their reductions."""

import math

import numpy as np
import pytest
from asking import ask, grid, overview

from captured import captured, drawn, two_stacks
from softlookup import Lookup
from softlookup.captures import Axis, Capture, Layer
from softlookup.viewer import Session

CAPTURE = two_stacks()


@pytest.fixture(scope="module")
def session():
    return Session(CAPTURE)


def traced(layer, head, batch):
    """Return the trace of the head at that place of a layer of `CAPTURE`."""
    return CAPTURE.layers[layer].look.head(head, batch).trace()


def real_rows(layer, batch):
    """Return which queries of a layer are no padding."""
    axis = CAPTURE.layers[layer].query_axis(batch)
    fillers = {token for span in axis.padding for token in range(*span)}
    return np.array([token not in fillers for token in range(len(axis.tokens))])


def every_head(capture):
    """Yield the positions of every layer, head and batch entry."""
    for number, layer in enumerate(capture.layers):
        problem = layer.look.problem
        for batch, head in np.ndindex(problem.batch, problem.heads):
            yield number, head, batch


HEADS = list(every_head(CAPTURE))


@pytest.mark.parametrize(("layer", "head", "batch"), HEADS)
def test_a_grid_is_the_trace_to_the_last_digit(session, layer, head, batch):
    exact = traced(layer, head, batch)
    told, weights, visible = grid(session, layer=layer, head=head, batch=batch)
    np.testing.assert_array_equal(weights, exact.weights)
    np.testing.assert_array_equal(visible, exact.visible)
    one = CAPTURE.layers[layer]
    assert told["what"] == f"{one.label}, head {one.heads[head]}"
    assert (told["rule"], told["row_labels"], told["row_words"]) == (None, None, None)
    told, part, seen = grid(session, layer=layer, head=head, batch=batch, rows="1:3", keys="2:3")
    assert (told["rows"], told["keys"], told["shape"]) == ([1, 3], [2, 3], [2, 1])
    np.testing.assert_array_equal(part, exact.weights[1:3, 2:3])
    np.testing.assert_array_equal(seen, exact.visible[1:3, 2:3])


def test_means_are_means_and_say_of_what(session):
    heads = [traced(0, head, 1) for head in range(4)]
    told, weights, visible = grid(session, layer=0, head="mean", batch=1)
    assert told["what"] == "mean over 4 heads of decoder layer 0"
    np.testing.assert_allclose(weights, np.mean([t.weights for t in heads], axis=0), rtol=1e-15)
    np.testing.assert_array_equal(visible, np.any([t.visible for t in heads], axis=0))
    layers = [traced(layer, 2, 0) for layer in (0, 1)]  # the two that look alike
    told, weights, _ = grid(session, layer="mean", head=2)
    assert told["what"] == "mean of head 5 over 2 layers"
    np.testing.assert_allclose(weights, np.mean([t.weights for t in layers], axis=0), rtol=1e-15)
    everything = [traced(layer, head, 0) for layer in (0, 1) for head in range(4)]
    told, weights, _ = grid(session, layer="mean", head="mean", like=1)
    assert told["what"] == "mean over 8 heads of 2 layers"
    np.testing.assert_allclose(
        weights, np.mean([t.weights for t in everything], axis=0), rtol=1e-15
    )
    told, weights, _ = grid(session, layer="mean", head=1, like=2, batch=1)
    assert (told["what"], told["shape"]) == ("mean of head 1 over 1 layer", [5, 3])
    np.testing.assert_array_equal(weights, traced(2, 1, 1).weights)


def test_words_are_summed_over_keys_and_averaged_over_queries(session):
    told, weights, visible = grid(session, layer=0, head=1, batch=1, words=1)
    words = [[0], [1], [2, 3], [4]]
    assert told["row_words"] == told["key_words"] == words
    assert told["row_labels"] == told["key_labels"] == ["b0", "b1", "b2b3", "b4"]
    assert told["shape"] == [4, 4]
    assert "summed over the key word" in told["rule"]
    exact = traced(0, 1, 1)
    for i, rows in enumerate(words):
        for j, keys in enumerate(words):
            part = exact.weights[np.ix_(rows, keys)]
            assert weights[i, j] == pytest.approx(part.sum(axis=1).mean(), rel=1e-15)
            assert visible[i, j] == exact.visible[np.ix_(rows, keys)].any()


def test_a_nan_stays_with_the_words_of_its_row():
    query = np.ones((1, 4, 2))
    query[0, 2, 0] = np.nan
    axis = (Axis(("a", "b", "c", "d"), (0, 0, 1, 2)),)
    session = Session(Capture("x", (Layer(Lookup(query, np.ones((1, 4, 2))), axis, axis),)))
    _, weights, visible = grid(session, words=1)
    np.testing.assert_array_equal(weights, [[0.5, 0.25, 0.25], [np.nan] * 3, [0.5, 0.25, 0.25]])
    assert visible.all()


def test_words_are_spelt_from_their_pieces():
    tokens = ("[CLS]", "un", "##bel", "##va", " the", " clock", "maker", "[SEP]", "a\n", "\ud800")
    words = (-1, 0, 0, 0, 1, 2, 2, -1, 3, 3)
    axis = (Axis(tokens, words),)
    look = Lookup(*np.ones((2, 10, 1)))
    told, _, _ = grid(Session(Capture("x", (Layer(look, axis, axis),))), words=1)
    assert told["row_labels"] == ["[CLS]", "unbelva", "the", "clockmaker", "[SEP]", "a⏎⟨d800⟩"]


def long(heads=2, length=53, **options):
    """Return a session on a lookup that is drawn in blocks."""
    rng = np.random.default_rng(8)
    look = Lookup(*[drawn(rng, heads, length, 6) for _ in range(3)], **options)
    return Session(captured(look)), look


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"mask": np.arange(53) % 7 > 2}])
def test_an_overview_shows_the_largest_weight_of_each_block(options):
    session, look = long(**options)
    told, pictures = overview(session)
    assert (told["per"], told["rows"], told["columns"]) == (2, 27, 27)
    assert told["backend"] == f"{Lookup([[1.0]], [[1.0]]).inspect().backend}, float32"
    weights, visible = look.weights(), look.trace(rows=range(53)).visible
    for head, i, j in np.ndindex(2, 27, 27):
        block = (head, slice(2 * i, 2 * i + 2), slice(2 * j, 2 * j + 2))
        seen = weights[block][visible[block]]
        assert pictures[head, i, j] == (seen.max() if seen.size else -1)


def test_an_overview_of_few_tokens_shows_the_weights_themselves(session):
    for layer, one in enumerate(CAPTURE.layers):
        for batch in range(2):
            told, pictures = overview(session, layer=layer, batch=batch)
            assert (told["layer"], told["per"]) == (layer, 1)
            assert [head["number"] for head in told["heads"]] == list(one.heads)
            seen = np.stack([traced(layer, head, batch).visible for head in range(4)])
            weights = one.look.weights()[batch]
            np.testing.assert_allclose(pictures[seen], weights[seen], rtol=1e-6)
            assert (pictures[~seen] == -1).all()


def test_the_numbers_of_an_overview_are_means_over_rows(session):
    for layer, first in ((0, 2), (1, 2), (2, 0), (3, 0)):  # two keys of padding on the left
        heads = overview(session, layer=layer)[0]["heads"]
        for head, told in enumerate(heads):
            exact = traced(layer, head, 0)
            weights = exact.weights
            counts = np.where(real_rows(layer, 0), exact.visible.sum(axis=1), 0)
            logs = np.log(np.where(weights > 0, weights, 1))
            entropy = -(weights * logs).sum(axis=1)[counts > 0].mean()
            assert told["entropy"] == pytest.approx(entropy, rel=1e-5)
            assert told["first_share"] == pytest.approx(weights[counts > 1, first].mean(), rel=1e-5)
            sink = (1 - weights.sum(axis=1))[counts > 0].mean()
            assert told["sink"] == (pytest.approx(sink, rel=1e-5) if layer in (0, 1) else None)
            if layer == 2:
                assert told["previous_share"] is None
                continue
            at = 2 if layer == 3 else -1  # layer 3 begins at 3
            before, seen = weights.diagonal(at), exact.visible.diagonal(at)
            share = before[seen & (counts > 1)[max(0, -at) :][: len(before)]].mean()
            assert told["previous_share"] == pytest.approx(share, rel=1e-5)


def test_rows_that_see_one_key_have_no_share():
    session, _ = long(heads=1, window=(0, 0))
    (head,) = overview(session)[0]["heads"]
    assert (head["entropy"], head["first_share"], head["previous_share"]) == (0, None, None)
    session, _ = long(heads=1, mask=False)
    told, pictures = overview(session)
    assert told["heads"][0]["entropy"] is None
    assert (pictures == -1).all()


@pytest.mark.parametrize(("layer", "head", "batch"), HEADS)
def test_facts_are_reductions_of_the_weights(session, layer, head, batch):
    told = ask(session, "facts", layer=layer, head=head, batch=batch)
    one, exact = CAPTURE.layers[layer], traced(layer, head, batch)
    weights = exact.weights
    logs = np.log(np.where(weights > 0, weights, 1))
    scores = np.where(exact.visible, exact.scores, -np.inf)
    first = 2 if one.key_axis(batch).padding == ((0, 2),) else 0
    expected = {
        "entropy": -(weights * logs).sum(axis=1),
        "received": weights[real_rows(layer, batch)].sum(axis=0),
        "max_score": scores.max(axis=1), "visible": exact.visible.sum(axis=1),
        "first_share": weights[:, first],
    }  # fmt: skip
    if one.look.problem.sinks is not None:
        expected["sink"] = 1 - weights.sum(axis=1)
    for name, numbers in expected.items():
        found = [
            float(n.replace("Infinity", "inf")) if isinstance(n, str) else n for n in told[name]
        ]
        np.testing.assert_allclose(found, numbers, rtol=2e-5, atol=1e-6, err_msg=name)
    assert (told["sink"] is None) == (one.look.problem.sinks is None)
    assert told["what"] == f"{one.label}, head {one.heads[head]}"
    assert told["backend"] == f"{one.look.inspect().backend}, {one.look.problem.compute_dtype}"


def test_facts_of_a_mean_are_means_of_the_facts(session):
    alone = [ask(session, "facts", layer=2, head=head) for head in range(4)]
    told = ask(session, "facts", layer=2, head="mean")
    assert told["what"] == "mean over 4 heads of cross layer 0"
    for name in ("entropy", "received", "max_score", "visible", "first_share"):
        np.testing.assert_allclose(told[name], np.mean([one[name] for one in alone], axis=0))
    assert told["sink"] is None


def test_one_token_is_followed_through_every_head_that_sees_the_same(session):
    told = ask(session, "everywhere", layer=1, query=4, batch=1)
    assert (told["query"], [one["layer"] for one in told["layers"]]) == (4, [0, 1])
    for one in told["layers"]:
        for head, found in enumerate(one["heads"]):
            weights = traced(one["layer"], head, 1).weights[4]
            assert found["key"] == weights.argmax()
            assert found["weight"] == weights.max()
            some = weights[weights > 0]
            assert found["entropy"] == pytest.approx(-(some * np.log(some)).sum(), rel=1e-12)
    hidden = ask(session, "everywhere", layer=0, query=0)["layers"][0]["heads"]
    assert hidden == [{"key": -1, "weight": 0.0, "entropy": 0.0}] * 4


def test_rows_of_nan_and_empty_rows_are_told_as_they_are():
    query = np.ones((1, 3, 2))
    query[0, 1, 0] = np.nan
    mask = np.array([[True, True], [True, True], [False, False]])
    session = Session(captured(Lookup(query, np.ones((1, 2, 2)), mask=mask)))
    _, weights, visible = grid(session)
    np.testing.assert_array_equal(weights, [[0.5, 0.5], [np.nan, np.nan], [0, 0]])
    np.testing.assert_array_equal(visible, mask)
    told, pictures = overview(session)
    np.testing.assert_array_equal(pictures[0], [[0.5, 0.5], [np.nan, np.nan], [-1, -1]])
    assert (told["heads"][0]["entropy"], told["heads"][0]["first_share"]) == ("NaN", "NaN")
    facts = ask(session, "facts")
    assert facts["entropy"] == [pytest.approx(math.log(2)), "NaN", 0.0]
    assert facts["received"] == ["NaN", "NaN"]
    assert facts["max_score"] == [pytest.approx(2**0.5), "NaN", "-Infinity"]
    assert facts["visible"] == [2, 2, 0]
    heads = [ask(session, "everywhere", query=i)["layers"][0]["heads"] for i in range(3)]
    assert heads[1] == [{"key": -1, "weight": "NaN", "entropy": "NaN"}]
    assert heads[2] == [{"key": -1, "weight": 0.0, "entropy": 0.0}]
    (first,) = heads[0]
    assert (first["key"], first["weight"]) == (0, 0.5)
