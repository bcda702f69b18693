"""The heads of a survey: sorted, opened, moved through by keys, in both schemes, quiet."""

import csv
import io
from pathlib import Path

import hostile
import numpy as np
import pytest
from lesson_page import LessonPage

from softlookup.cli.surveying import open_heads
from softlookup.surveys.block import MEASURES
from softlookup.surveys.distributions import POINTS
from surveyed import made

pytestmark = pytest.mark.browser

ROWS = ".heads-table tbody tr:not(.large)"
WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
MEDIAN = POINTS.index("median")


@pytest.fixture
def open_survey_page(chromium, tmp_path):
    """Write a survey and open its page; afterwards the page must have stayed quiet."""
    opened = []

    def open_survey_page(*, hash="", size=(1280, 900), scheme="light", **how):  # noqa: A002
        survey = made(tmp_path / "s", **how)
        view = open_heads(str(survey.folder), 0, open_browser=False)
        width, height = size
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        page = LessonPage(context.new_page(), view)
        opened.append((page, context, view))
        page.open(hash)
        return page, survey.distributions

    yield open_survey_page
    for page, context, view in opened:
        context.close()
        view.close()
        assert page.foreign == []
        assert page.errors == []


def order(page):
    """Return the heads as they stand, by their place in the model."""
    names = page.page.locator(f"{ROWS} .row-open").evaluate_all(
        "all => all.map(row => Number(row.dataset.arg))"
    )
    return list(names)


def inside(page, selector):
    """Return whether something is seen whole in the panel of the rows, below its headings."""
    panel, head, box = (page.page.locator(one).bounding_box()
                        for one in (".table-scroll", "thead", selector))  # fmt: skip
    floor = panel["y"] + panel["height"]
    return box["y"] >= head["y"] + head["height"] - 1 and box["y"] + box["height"] <= floor + 1


def by(found, measure, point="median", *, down=True):
    numbers = found.points[MEASURES.index(measure), :, POINTS.index(point)]
    return np.argsort(-numbers if down else numbers, kind="stable").tolist()


def test_a_heading_sorts_and_the_address_keeps_it(open_survey_page):
    page, found = open_survey_page(layers=3, heads=4)
    assert page.text("#table-title") == "All 12 heads over 11 texts"
    assert order(page) == list(range(12))
    page.click("thead button[data-arg=induction]")
    assert order(page) == by(found, "induction")
    page.click("thead button[data-arg=induction]")
    assert order(page) == by(found, "induction", down=False)
    page.page.select_option("select[data-choose=point]", "three_quarters")
    assert order(page) == by(found, "induction", "three_quarters", down=False)
    page.page.select_option("select[data-choose=of]", "/1")
    assert page.text("#table-title") == "4 heads of layer 1 over 11 texts"
    assert page.hash() == {"by": "induction", "way": "up", "point": "three_quarters", "of": "/1"}
    kept = order(page)
    page.page.reload()
    page.wait()
    assert order(page) == kept


def test_a_cell_says_its_number_and_draws_its_texts(open_survey_page):
    page, found = open_survey_page()
    row = page.page.locator(ROWS).nth(2)
    shown = row.locator(".spread-cell .number").all_inner_texts()
    assert shown == [f"{found.points[m, 2, MEDIAN]:.3f}" for m in range(len(MEASURES))]
    title = row.locator(".spread-cell").first.get_attribute("title")
    assert title.startswith(f"entropy in 11 texts: median {found.points[0, 2, MEDIAN]:.3f}, ")
    shape = row.locator(".histogram").first.evaluate("one => getComputedStyle(one).clipPath")
    assert shape.startswith("polygon(")
    counts = found.histograms[0, 2]
    tall = [part.split()[1] for part in shape[8:-1].split(", ")[1:-1:2]]
    assert [part == "100%" for part in tall] == (counts == 0).tolist()
    assert tall[int(counts.argmax())] in ("0%", "0.0%")


def test_keys_lead_through_the_rows_and_open_one(open_survey_page):
    page, found = open_survey_page(hash="by=entropy")
    rows = by(found, "entropy")
    page.press("ArrowDown")
    assert page.focused() == ["button", str(rows[1])]
    page.press("End")
    assert page.focused() == ["button", str(rows[-1])]
    page.press("ArrowUp", "Enter")
    at = rows[-2]
    assert page.focused() == ["button", str(at)]
    assert page.hash() == {"by": "entropy", "open": str(at)}
    figures = page.page.locator(".large figure")
    assert figures.count() == 7
    said = dict(zip(page.all(".spread-large:nth-child(3) dt"),
                    page.all(".spread-large:nth-child(3) dd"), strict=True))  # fmt: skip
    assert said["texts"] == "11"
    assert said["median"] == f"{found.points[2, at, MEDIAN]:.3f}"
    assert page.all(".bars th")[:4] == ["0", "1", "2 … 3", "4 … 7"]
    assert page.all(".bars td")[0] == f"{found.distance[at, 0]:.3f}"
    page.press("Escape")
    assert figures.count() == 0
    assert page.focused() == ["button", str(at)]


def test_an_address_leads_to_its_row_and_enter_shows_the_numbers(open_survey_page):
    page, found = open_survey_page(layers=8, heads=6, hash="by=previous&open=31")
    assert by(found, "previous").index(31) > 12
    assert inside(page, "tr:has(.row-open[data-arg='31'])")
    page.press("Escape")
    seen = [at for at in order(page) if inside(page, f"tr:has(.row-open[data-arg='{at}'])")]
    page.page.focus(f".row-open[data-arg='{seen[-1]}']")
    page.press("Enter")
    assert page.hash()["open"] == str(seen[-1])
    assert inside(page, ".large")
    page.page.evaluate("location.hash = 'open=47'")
    page.page.wait_for_selector(".row-open[data-arg='47'][aria-expanded=true]")
    assert inside(page, "tr:has(.row-open[data-arg='47'])")


def test_from_a_heading_down_leads_into_the_rows(open_survey_page):
    page, found = open_survey_page()
    page.page.focus("thead button[data-arg=entropy]")
    page.press("Enter")
    rows = by(found, "entropy")
    assert order(page) == rows
    page.press("ArrowDown")
    assert page.focused() == ["button", str(rows[0])]
    page.press("ArrowDown")
    assert page.focused() == ["button", str(rows[1])]
    assert "on a heading: into them" in page.text("footer")


def test_a_heading_has_the_scale_and_the_texts_that_have_the_number(open_survey_page):
    page, found = open_survey_page()
    scales = [text.split() for text in page.all("thead .scale")]
    ends = [["0", f"{end:.3f}"] for end in found.tops]
    assert scales == [[], *ends, []]
    texts = found.points[:, 0, POINTS.index("count")].astype(int)
    assert texts.tolist() == [11, 11, 11, 8, 8]
    assert page.all("thead .which") == ["8 of 11 texts"] * 2
    scale, cell = (page.page.locator(f"{one} >> nth=0").bounding_box()
                   for one in ("thead .scale:not(:empty) >> nth=0 >> span", ".spread"))  # fmt: skip
    assert abs(scale["x"] - cell["x"]) < 2


def test_where_there_is_no_head_it_says_what_to_do(open_survey_page):
    page, _ = open_survey_page(texts=2, skipped=[(1, "bad"), (2, "worse")])
    assert page.text("#table-title") == "No heads yet"
    assert page.count("table") == 0
    assert page.all(".skipped li") == ["line 1: bad", "line 2: worse"]
    assert page.count("[data-act=save], kbd") == 0
    assert page.text("main").endswith("or name the field that has the text (--field).")


def test_tokens_and_reasons_are_texts_of_strangers(open_survey_page):
    lines = [(2 * i + 1, f"bad {text}") for i, text in enumerate(hostile.TEXTS[:4])]
    storable = [text.encode("utf-8", "backslashreplace").decode() for text in hostile.TEXTS]
    page, found = open_survey_page(
        texts=40, heads=12, words=storable, skipped=lines, part=hostile.TEXTS[1],
        model=hostile.TEXTS[0], hash="open=0",
    )  # fmt: skip
    page.page.click(".skipped summary")
    hostile.assert_harmless(page.page, scripts=1)
    hostile.assert_literal(page.page, [word for word, _ in found.keys])
    hostile.assert_literal(page.page, hostile.TEXTS[:2])
    assert len({word for word, _ in found.keys}) > 3


def test_no_number_is_a_dash_and_stands_last(open_survey_page):
    page, _ = open_survey_page(repeats=False, hash="by=induction")
    assert order(page) == list(range(6))
    assert page.page.locator(f"{ROWS} td.quiet").first.inner_text() == "–"
    page.press("Enter")
    page.page.locator(f"{ROWS} .row-open").first.click()
    assert page.count(".large figure") == 7
    assert "no text has any" in page.text(".large")


def test_it_saves_its_numbers(open_survey_page):
    page, found = open_survey_page(hash="by=first", words=("=1+1",))
    with page.page.expect_download() as saved:
        page.page.click("[data-act=save]")
    lines = list(csv.reader(io.StringIO(Path(saved.value.path()).read_text("utf-8"))))
    assert len(lines) == 1 + 6
    column = lines[0].index("first median")
    numbers = [float(line[column]) for line in lines[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == np.float32(found.points[1, :, MEDIAN].max())
    assert not any(line[-2].startswith("=") for line in lines)
    assert page.text(".notice") == f"Saved as {saved.value.suggested_filename}."


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (400, 800)])
def test_it_fits_and_is_readable(open_survey_page, scheme, size):
    page, _ = open_survey_page(hash="open=3", size=size, scheme=scheme)
    scroll, client = page.page.evaluate(WIDTHS)
    assert scroll <= client
    ink, paper = page.page.locator(".spread-cell .number").first.evaluate(
        """(one) => [getComputedStyle(one).color,
                     getComputedStyle(one.closest(".panel")).backgroundColor]"""
    )
    light = [sum(map(int, text[4:-1].split(", "))) for text in (ink, paper)]
    assert (light[0] < light[1]) == (scheme == "light")
    assert abs(light[0] - light[1]) > 450
