"""What a view is told of a survey: the heads, and their numbers as float32."""

import numpy as np
import pytest

from softlookup.lesson import example
from softlookup.surveys.distributions import BINS, POINTS
from softlookup.viewer.session import Session
from surveyed import made


def told(survey):
    session = Session(example(), survey)
    return session.handle("survey", {})


def test_it_is_told_whole(tmp_path):
    survey = made(tmp_path / "s", texts=9, skipped=[(3, "bad \u202e line")])
    json, content = told(survey)
    found = survey.distributions
    assert json["title"] == "tiny over 8 texts of texts.jsonl"
    assert (json["texts"], json["lines"], json["skipped"], json["whole"]) == (8, 9, 1, True)
    assert json["skipped_lines"] == [[3, "bad ⟨202e⟩ line"]]
    assert json["heads"] == [
        {"part": "", "layer": layer, "head": head} for layer in (0, 1) for head in (0, 1, 2)
    ]
    assert json["distances"] == [[0, 0], [1, 1], [2, 3], [4, 7]]
    assert (json["labels"], json["bins"]) == (2, BINS)
    numbers = np.frombuffer(content, "<f4")
    sizes = 5 * 6 * len(POINTS), 5 * 6 * BINS, 6 * 4, 6 * 2
    points, counts, distance, labels = np.split(numbers, np.cumsum(sizes)[:-1])
    np.testing.assert_array_equal(points, found.points.astype("f4").ravel())
    np.testing.assert_array_equal(counts, found.histograms.ravel())
    np.testing.assert_array_equal(distance, found.distance.astype("f4").ravel())
    np.testing.assert_array_equal(labels, found.groups.astype("f4").ravel())
    assert json["keys"] == [list(one) for one in found.keys]


def test_texts_of_strangers_are_readable(tmp_path):
    survey = made(tmp_path / "s", words=("<b>\u202e", "a\n"), part="x\u200b", model="m\u2066")
    json, _ = told(survey)
    assert {word for word, _ in json["keys"]} <= {"<b>⟨202e⟩", "a⏎"}
    assert json["heads"][0]["part"] == "x⟨200b⟩"
    assert json["title"].startswith("m⟨2066⟩ over")


def test_the_page_knows_that_it_shows_a_survey(tmp_path):
    info, _ = Session(example(), made(tmp_path / "s")).handle("info", {})
    assert info["modes"][-1] == "survey"
    plain = Session(example())
    assert "survey" not in plain.handle("info", {})[0]["modes"]
    refused, _ = plain.handle("survey", {})
    assert refused == {
        "ok": False,
        "error": "survey: is not open here. Open one with softlookup heads OUT/.",
        "argument": "survey",
    }


@pytest.mark.parametrize("texts", [0, 1])
def test_few_texts_are_enough(tmp_path, texts):
    survey = made(tmp_path / "s", texts=1, skipped=[(1, "bad")] if texts == 0 else ())
    json, content = told(survey)
    assert json["texts"] == texts
    assert len(json["heads"]) == 6 * texts
    assert len(content) == 4 * 6 * texts * (5 * (len(POINTS) + BINS) + 4 + 2)
