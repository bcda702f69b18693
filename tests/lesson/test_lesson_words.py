"""Every number in the lesson's words is computed here a second time, in a few lines of NumPy."""

import re
import subprocess
import sys

import numpy as np
import pytest

import softlookup as sl
from captured import texts
from softlookup import lesson
from softlookup.lesson import figures, scaling

IDS = [
    "lookup", "library", "scores", "scaling", "softmax", "readings", "all-queries", "output",
]  # fmt: skip


@pytest.fixture(scope="module")
def sections():
    return {section.id: section for section in lesson.sections()}


def cells(table, first=1):
    """All cells but the first columns, as floats; empty ones are NaN."""
    return np.array(
        [[float(c.replace(",", "") or "nan") for c in row[first:]] for row in table.rows]
    )


def vectors(column):
    return np.array([[float(x) for x in cell.strip("[]").split(", ")] for cell in column])


def softmax(scores):
    terms = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return terms / terms.sum(axis=-1, keepdims=True)


def assert_shown(actual, exact):
    """What is shown is the exact number rounded to three decimals."""
    np.testing.assert_array_equal(actual, np.round(exact, 3) + 0.0)


X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
WEIGHTS = softmax(X @ X.T / np.sqrt(2))


def test_the_worked_example_is_a_capture():
    capture = lesson.example()
    assert texts(capture) == (("1", "2", "3"), ("1", "2", "3"))
    assert isinstance(capture.lookup(), sl.Lookup)
    assert_shown(np.round(capture.lookup().attend(), 3), WEIGHTS @ X)
    assert capture.lookup().attend()[0].round(3).tolist() == [0.802, 0.599]
    assert set(capture.about) == {"license", "origin", "made"}
    assert capture.about["license"] == "Apache-2.0"


def test_sections_stand_in_reading_order_and_as_plain_data(sections):
    assert list(sections) == IDS
    for section in sections.values():
        made = section.to_dict()
        assert list(made) == ["id", "title", "paragraphs", "tables"]
        assert all(list(table) == ["caption", "columns", "rows"] for table in made["tables"])
        for table in section.tables:
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.columns)}
            assert all(isinstance(cell, str) for row in table.rows for cell in row)
            assert not re.search(r"-0\.0+\b", str(table.rows))


def test_recap_and_checklist():
    assert len(lesson.recap()) == 5
    assert [box.to_dict()["skill"] for box in lesson.checklist()] == list(lesson.SKILLS)


def test_vectors(sections):
    (table,) = sections["lookup"].tables
    for column in (1, 2, 3):
        np.testing.assert_array_equal(vectors([row[column] for row in table.rows]), X)


def test_scores(sections):
    products, signs = sections["scores"].tables
    assert [row[2] for row in products.rows] == ["1", "0", "1"]
    assert [row[1] for row in products.rows] == ["1·1 + 0·0", "1·0 + 0·1", "1·1 + 0·1"]
    keys = vectors([row[0] for row in signs.rows])
    np.testing.assert_array_equal(cells(signs)[:, 0], keys @ [1, 0])
    assert_shown(cells(signs)[:, 1], softmax(keys @ [1, 0] / np.sqrt(2)))
    assert signs.caption.endswith("the weights come later: each score divided by √2, then softmax")
    assert (cells(signs)[:, 0] > 0).any()
    assert (cells(signs)[:, 0] == 0).any()
    assert (cells(signs)[:, 0] < 0).any()


def drawn(head_dim):
    source = np.random.default_rng([scaling.SEED, head_dim])
    query = source.standard_normal((scaling.QUERIES, 1, head_dim))
    key = source.standard_normal((scaling.QUERIES, scaling.KEYS, head_dim))
    return np.array([k @ q[0] for q, k in zip(query, key, strict=True)])  # (queries, keys)


def test_scaling(sections):
    growth, rows, _ = sections["scaling"].tables
    assert [row[0] for row in growth.rows] == ["2", "64", "1,024"]
    for size, line, pair in zip(
        (2, 64, 1024), cells(growth), cells(rows, 2).reshape(3, 2, -1), strict=True
    ):
        products = drawn(size)
        raw, divided = softmax(products), softmax(products / np.sqrt(size))
        top, soft = raw.max(axis=1), divided.max(axis=1)
        np.testing.assert_allclose(
            line,
            [
                np.sqrt(size), products.std(), (products / np.sqrt(size)).std(),
                top.mean(), soft.mean(), (top * (1 - top)).mean(), (soft * (1 - soft)).mean(),
            ],
            atol=0.000501,
            rtol=0,
        )  # fmt: skip
        np.testing.assert_allclose(pair, [raw[0], divided[0]], atol=0.000501, rtol=0)


def test_what_the_scaling_words_claim_is_so(sections):
    line = cells(sections["scaling"].tables[0])
    root, spread, scaled, largest, soft, slope, soft_slope = line.T
    assert (np.abs(spread / root - 1) < 0.1).all()
    assert (np.abs(scaled - 1) < 0.1).all()
    assert (np.diff(largest) > 0).all()
    assert (np.diff(slope) < 0).all()
    assert largest[-1] > 0.95
    assert (soft < 0.45).all()
    assert (soft_slope > 0.15).all()
    assert slope[-1] < 0.05


def test_numbers_in_the_scaling_words_are_those_of_its_table(sections):
    growth = sections["scaling"].tables[0].rows
    text = " ".join(sections["scaling"].paragraphs)
    assert set(re.findall(r"\d\.\d{3}|\d{2}\.\d{3}", text)) == {
        growth[row][column] for row in (0, 2) for column in (2, 3, 4, 5)
    } | {growth[2][6], growth[2][7]}


def test_slope(sections):
    table = sections["scaling"].tables[2]
    shares = np.array([float(name) for name in table.columns[1:]])
    np.testing.assert_allclose(cells(table)[0], shares * (1 - shares), atol=5e-7)
    step = 1e-6  # and it is the slope: move the score of one key of two a little
    scores = np.log(shares / (1 - shares))
    moved = 1 / (1 + np.exp(-(scores + step)))
    np.testing.assert_allclose(cells(table)[0], (moved - shares) / step, atol=2e-6)


def test_softmax(sections):
    (table,) = sections["softmax"].tables
    scaled = X[0] @ X.T / np.sqrt(2)
    scaled_row, exp_row, weight_row = cells(table)
    assert_shown(scaled_row[:3], scaled)
    assert_shown(exp_row, [*np.exp(scaled), np.exp(scaled).sum()])
    assert_shown(weight_row, [*WEIGHTS[0], 1.0])
    assert [row[-1] for row in table.rows] == ["", "5.056", "1.000"]


def test_two_readings_give_the_same_weights(sections):
    table, large = sections["readings"].tables
    score, textbook, weights, shifted, same = cells(table)
    exact = X[0] @ X.T / np.sqrt(2)
    assert_shown(score[:3], exact)
    assert_shown(textbook, [*np.exp(exact), np.exp(exact).sum()])
    assert_shown(shifted, [*np.exp(exact - exact.max()), np.exp(exact - exact.max()).sum()])
    assert_shown(weights, [*WEIGHTS[0], 1.0])
    np.testing.assert_array_equal(weights, same)

    score, textbook, weights, shifted, same = cells(large)
    assert np.isinf(textbook).all()
    assert np.isnan(weights).all()
    assert_shown(shifted[:3], np.exp(score[:3] - score[:3].max()))
    assert_shown(same, [*softmax(score[:3]), 1.0])


def test_the_overflow_limit_is_one():
    limit = figures.overflow_limit()
    with np.errstate(over="ignore"):
        assert np.isfinite(np.exp(limit - 1e-9))
        assert np.isinf(np.exp(limit + 1e-9))


def test_all_queries_at_once(sections):
    transpose, products, layer = sections["all-queries"].tables
    np.testing.assert_array_equal(cells(transpose), X.T)
    np.testing.assert_array_equal(cells(products), X @ X.T)
    assert_shown(np.array([[float(c) for c in row[1:4]] for row in layer.rows]), WEIGHTS)
    assert_shown(vectors([row[4] for row in layer.rows]), WEIGHTS @ X)
    assert "columns" in " ".join(sections["all-queries"].paragraphs)


def test_output(sections):
    (table,) = sections["output"].tables
    *lines, total = table.rows
    assert_shown(np.array([float(row[1]) for row in lines]), WEIGHTS[0])
    assert_shown(vectors([row[3] for row in lines]), WEIGHTS[0][:, None] * X)
    assert total == ("sum", "1.000", "", "[0.802, 0.599]")
    assert "[0.802, 0.599]" in sections["output"].paragraphs[1]


def test_the_text_for_the_terminal_holds_everything(sections):
    text = lesson.as_text()
    flat = " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    for section in sections.values():
        assert section.title in text
        assert all(paragraph in flat for paragraph in section.paragraphs)
        for table in section.tables:
            assert table.caption in flat
            assert all(cell in text for row in table.rows for cell in row)
    assert all(point in flat for point in lesson.recap())
    assert text.count("[ ] I can ") == 4
    assert str(lesson.example().lookup().trace([0], tokens=["1", "2", "3"])) in text
    assert "\x1b" not in text


def test_the_lesson_needs_no_terminal_library():
    code = (
        "import sys, softlookup.lesson; print([m for m in ('rich', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
