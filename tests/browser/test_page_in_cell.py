"""The page in the sizes of a notebook's cells: what is in sight, and what scrolls."""

import numpy as np
import pytest

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELL, NARROW, WINDOW = (1090, 668), (700, 668), (1280, 900)
WORDS = ("[CLS]", "the", "bank", "of", "the", "river", "was", "old", ".", "[SEP]")
SHADOW = 'document.querySelector("[data-softlookup]").shadowRoot'
DOWN = f"""() => [...{SHADOW}.querySelectorAll(".scroll")]
  .filter((box) => box.scrollHeight > box.clientHeight)
  .map((box) => box.firstElementChild.className)"""
PLACES = """(all) => all.map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return { left, right, top, bottom };
})"""


@pytest.fixture(scope="module")
def encoder():
    """Return 6 layers of 12 heads over 10 tokens, as of a small sentence encoder."""
    numbers = np.random.default_rng(3)
    axis = (Axis(WORDS),)
    layers = [
        Layer(
            sl.Lookup(*(2 * numbers.standard_normal((12, 10, 16)) for _ in "qkv")),
            axis, axis, number=number,
        )
        for number in range(6)
    ]  # fmt: skip
    return Capture("an encoder", tuple(layers), {"model": "an encoder"})


def places(page, selector):
    return page.page.locator(selector).evaluate_all(PLACES)


def lefts(page):
    return [round(place["left"]) for place in places(page, ".thumbs thead th")]


@pytest.mark.parametrize("size", [CELL, NARROW, WINDOW])
def test_boxes_within_the_page_scroll_sideways_only(open_page, encoder, size):
    page = open_page(encoder, hash="v=heads", size=size)
    assert page.page.evaluate(DOWN) == []
    page.click(".thumb[data-arg='5.6']")
    page.click(".piece[data-arg='2']")
    assert page.count("table.ledger") == 1
    assert page.page.evaluate(DOWN) == []
    for view in ("table", "steps"):
        page.click(f"[data-act=view][data-arg={view}]")
        assert page.page.evaluate(DOWN) == []


def test_every_head_and_its_numbers_are_in_sight_in_a_cell(open_page, encoder):
    page = open_page(encoder, hash="v=heads", size=CELL)
    wide, tall = CELL
    last = places(page, ".thumb")[-1]
    line = places(page, ".thumb-line")[0]
    assert last["right"] <= wide
    assert last["right"] > 0.9 * wide
    assert last["bottom"] <= line["top"]
    assert line["bottom"] <= tall
    page.page.hover(".thumb[data-arg='5.11']")
    assert "layer 5, head 11: mean entropy" in page.text(".thumb-line")


def test_the_line_of_numbers_stays_in_sight_above_thumbnails_that_are_not(open_page, encoder):
    page = open_page(encoder, hash="v=heads&q=2", size=(*NARROW[:1], 420))
    assert places(page, ".thumb")[-1]["bottom"] > 420
    assert places(page, ".thumb-line")[0]["bottom"] <= 420
    page.page.locator(".thumb[tabindex='0']").focus()
    for _ in range(5):
        page.press("ArrowDown")
        focused = places(page, ".thumb[tabindex='0'] .picture")[0]
        assert focused["bottom"] <= places(page, ".thumb-line")[0]["top"]


def test_neither_a_head_that_opens_nor_a_token_moves_the_columns(open_page, encoder):
    page = open_page(encoder, hash="v=heads", size=CELL)
    before = lefts(page)
    page.click(".thumb[data-arg='5.6']")
    assert page.count(".heads-below") == 1
    assert lefts(page) == before
    page.click(".piece[data-arg='2']")
    assert lefts(page) == before


def test_the_weight_below_a_thumbnail_is_rounded(open_page, encoder):
    page = open_page(encoder, hash="v=heads&q=2", size=CELL)
    most = [layer.look.weights()[:, 2].max(axis=-1) for layer in encoder.layers]
    shown = [float(text) for text in page.all(".thumb .most b")]
    assert shown == pytest.approx(np.concatenate(most), abs=0.005001)


@pytest.mark.parametrize("size", [CELL, NARROW])
def test_keys_that_do_not_fit_are_told_above_the_steps(open_page, encoder, size):
    page = open_page(encoder, hash="v=heads&L=5&h=6&q=2", size=size)
    said, table = places(page, ".sideways")[0], places(page, "table.ledger")[0]
    assert said["bottom"] > said["top"]
    assert said["bottom"] <= table["top"]


@pytest.mark.parametrize("size", [CELL, NARROW])
def test_a_long_list_of_vectors_does_not_stand_before_the_steps(open_page, encoder, size):
    page = open_page(encoder, hash="v=steps&L=5&h=6&q=2", size=size)
    assert page.text("#ledger-title") == "What token bank reads, step by step, in layer 5, head 6"
    assert places(page, "#ledger-title")[0]["top"] < 200
    few = open_page(sl.Lookup(*[np.eye(3) / 3] * 3), size=size)
    assert places(few, "table.tokens")[0]["bottom"] <= places(few, "#ledger-title")[0]["top"]
