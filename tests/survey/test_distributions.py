"""How numbers are spread over texts: what NumPy says of all rows at once."""

import numpy as np
import pytest

from softlookup.errors import FileError
from softlookup.surveys import distributions, open_survey
from softlookup.surveys.block import MEASURES
from surveyed import made


def assert_spread(found):
    """Assert the distributions of a survey, beside all its rows in one frame."""
    rows = found.to_pandas()
    told = found.distributions
    assert told.texts == rows.line.nunique()
    for at, (part, layer, head) in enumerate(told.heads):
        mine = rows[(rows.part == part) & (rows.layer == layer) & (rows["head"] == head)]
        for m, name in enumerate(MEASURES):
            known = mine[name].dropna().astype(np.float64)
            expected = [len(known), known.mean(), *np.quantile(known, [0, 0.25, 0.5, 0.75, 1])]
            np.testing.assert_allclose(told.points[m, at], expected, rtol=1e-12)
            counted = np.histogram(known, distributions.BINS, (0, told.tops[m]))[0]
            np.testing.assert_array_equal(told.histograms[m, at], counted)
        np.testing.assert_allclose(told.distance[at], np.mean(mine.distance.tolist(), axis=0), 1e-6)
        np.testing.assert_allclose(told.groups[at], np.mean(mine.groups.tolist(), axis=0), 1e-6)
        words = [words[0] for words in mine.top_tokens]
        assert told.keys[at] == max(
            ((word, words.count(word)) for word in sorted(set(words))), key=lambda one: one[1]
        )
    assert told.tops == (rows.entropy.max(), 1, 1, 1, 1)


def test_they_are_exact(tmp_path):
    assert_spread(made(tmp_path / "s", texts=23, lines=5, part="decoder"))


def test_some_heads_at_a_time_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(distributions, "_BUDGET", 900)
    assert_spread(made(tmp_path / "s", texts=23, lines=5))


def test_a_measure_that_no_text_has_is_none(tmp_path):
    found = made(tmp_path / "s", texts=4, repeats=False)
    assert np.isnan(found.distributions.points[MEASURES.index("induction"), :, 1:]).all()
    assert found.heads()[0].induction is None
    assert "induction" not in repr(found.heads())


def test_a_survey_in_which_every_line_was_skipped(tmp_path):
    found = made(tmp_path / "s", texts=2, skipped=[(1, "bad"), (2, "bad")])
    assert (found.texts, found.rows, found.distributions.heads) == (0, 0, ())
    assert repr(found.heads()) == "tiny over 0 texts of texts.jsonl: nothing"
    assert [one.line for one in found.skipped] == [1, 2]


def test_the_list_of_heads_is_medians(tmp_path):
    found = made(tmp_path / "s", texts=9)
    rows = found.to_pandas()
    for record in found.heads():
        mine = rows[(rows.layer == record.layer) & (rows["head"] == record.head)]
        assert record.duplicate == pytest.approx(mine.duplicate.median())
        assert record.texts == 9
    assert found.heads().by("previous")[0].previous == max(one.previous for one in found.heads())


def test_a_folder_without_a_survey_is_refused(tmp_path):
    with pytest.raises(FileError, match="must be the folder of a survey; it holds no manifest"):
        open_survey(tmp_path)
