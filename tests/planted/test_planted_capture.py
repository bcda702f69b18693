"""The synthetic capture has its facts where it says, by arithmetic that is not softlookup's."""

import numpy as np
import pytest

from captured import assert_same
from planted_places import load_tool, planted
from softlookup.captures import load

LENGTHS = [256, 700, 2048]


def exact(capture, layer, rows):
    """Return the weights of some rows of a layer, in float64."""
    problem = capture.layers[layer].look.problem
    query, key = (array[0, 0].astype(np.float64) for array in (problem.query, problem.key))
    rows, keys = np.asarray(rows)[:, None], np.arange(len(key))
    left = len(key) if layer == 0 else problem.window[0]
    scores = np.where(
        (keys <= rows) & (keys >= rows - left), query[rows[:, 0]] @ key.T / 8, -np.inf
    )
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_needle_is_where_it_is_said_to_be(length):
    capture, places = planted(length)
    query, key = places.needle
    (row,) = exact(capture, 0, [query])
    assert row.argmax() == key
    assert row[key] == pytest.approx(places.weight, abs=1e-12)
    assert 0.98 < places.weight < 1
    assert query - key > length // 2
    tokens = capture.layers[0].query_axis().tokens
    assert (tokens[key], tokens[query]) == ("needle", "needle?")


@pytest.mark.parametrize("length", LENGTHS)
def test_every_query_of_the_copied_span_reads_what_it_repeats(length):
    capture, places = planted(length)
    rows = exact(capture, 0, places.copy)
    source = np.array(places.copy) - places.distance
    assert (rows.argmax(axis=1) == source).all()
    weights = rows[np.arange(len(rows)), source]
    assert weights.min() > 0.7
    assert weights.max() < 0.9
    tokens = capture.layers[0].query_axis().tokens
    assert [tokens[i] for i in places.copy] == [tokens[j] for j in source]


@pytest.mark.parametrize("length", LENGTHS)
def test_the_other_queries_read_the_first_token(length):
    capture, places = planted(length)
    others = sorted({*range(1, length)} - {*places.copy, places.needle[0]})
    first = exact(capture, 0, others)[:, 0]
    assert np.median(first) == pytest.approx(0.3, abs=0.02)
    assert first[length // 4 :].min() > 0.15
    assert exact(capture, 0, places.copy)[:, 0].max() < 0.02


def test_the_second_layer_sees_a_window():
    capture, places = planted(700)
    problem = capture.layers[1].look.problem
    assert (problem.window, problem.causal) == (places.window, True)
    weights = capture.lookup(1, 0).weights()
    expected = exact(capture, 1, range(700))
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    assert not weights[~np.tri(700, dtype=bool)].any()
    assert not weights[np.tri(700, k=-places.window[0] - 1, dtype=bool)].any()


def test_what_is_planted_stands_in_the_file(tmp_path, capsys):
    tool, file, again = (
        load_tool("planted_capture"),
        tmp_path / "a.safetensors",
        tmp_path / "b.safetensors",
    )
    tool.main(["300", "-o", str(file)])
    places = planted(300)[1]
    assert places.about in capsys.readouterr().out
    assert f"query {places.needle[0]} reads key {places.needle[1]}" in places.about
    loaded = load(file)
    assert loaded.about["planted"] == places.about
    assert_same(loaded, planted(300)[0])
    tool.main(["300", "-o", str(again)])
    assert file.read_bytes() == again.read_bytes()
    tool.main(["300", "--seed", "8", "-o", str(again)])
    assert file.read_bytes() != again.read_bytes()


def test_too_few_tokens_for_the_facts_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="tokens: must be at least 256; got 255"):
        load_tool("planted_capture").main(["255", "-o", str(tmp_path / "a.safetensors")])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.txt", "must end in .safetensors; it ends in '.txt'"),
        ("a", "must end in .safetensors; it ends in 'a'"),
        ("none/a.safetensors", "cannot be written: No such file or directory"),
        ("", "cannot be written: Is a directory"),
    ],
)
def test_a_wrong_place_is_one_sentence(tmp_path, name, words):
    with pytest.raises(SystemExit) as stopped:
        load_tool("planted_capture").main(["300", "-o", str(tmp_path / name)])
    assert words in stopped.value.code
    assert "\n" not in stopped.value.code
    assert list(tmp_path.iterdir()) == []


def test_a_seed_below_nothing_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="seed: must be 0 or more; got -1"):
        load_tool("planted_capture").main(["--seed", "-1", "-o", str(tmp_path / "a.safetensors")])
