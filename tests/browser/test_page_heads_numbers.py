"""What the heads view draws and lists beside weights: what is missing, whose reading counts."""

import heads_page as heads
import numpy as np
import pytest
from heads_page import small

import softlookup as sl
from file_cases import unequal_heads
from softlookup.captures import Capture, Layer

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def hover_sink(page, row):
    """Point at the column beside the keys."""
    _, y = heads.place(page, row, 0)
    box = page.page.locator(".heat-cells").bounding_box()
    page.page.mouse.move(box["x"] + box["width"] - 3, y)


def test_what_is_missing_is_drawn_of_words_too(open_page):
    capture = small(words=(0, 0, 1, 2, 2, 3), sinks=np.array([0.5, 1.5]))
    page = open_page(capture, hash="v=heads&L=0&h=1&w=1")
    missing = 1 - capture.trace(head=1, layer=0).weights.sum(axis=1)
    assert page.all(".heat-label.sink") == ["sink"]
    for row, tokens in enumerate(([0, 1], [2], [3, 4], [5])):
        hover_sink(page, row)
        assert heads.said_exactly(page) == pytest.approx(missing[tokens].mean(), abs=1e-14)
    heads.click(page, 2, 1)
    listed = {token: weight for token, weight, _ in heads.read_list(page, 0)}
    assert listed["sink"] == f"{missing[3:5].mean():.3f}"
    assert heads.read_list(page, 0)[-1][2] == "1.000"


def test_what_is_missing_is_listed_of_a_row_shown_in_part(open_page):
    numbers = np.random.default_rng(2)
    arrays = [numbers.standard_normal((1, 1100, 4)).astype(np.float32) for _ in "qkv"]
    sinks = np.array([7.0], np.float32)
    page = open_page(sl.Lookup(*arrays, causal=True, sinks=sinks), hash="v=heads&L=0&h=0")
    heads.click(page, 50, 7)
    row = int(page.hash()["q"])
    missing = 1 - sl.Lookup(*arrays, causal=True, sinks=sinks).head().trace([row]).weights.sum()
    first = heads.read_list(page, 0)[0]
    assert first == ("sink", f"{missing:.3f}", f"{missing:.3f}")


def test_a_mean_says_over_how_many_and_what_they_miss(open_page):
    capture = unequal_heads()
    page = open_page(capture, hash="v=heads&L=0&h=1")
    page.click("button[data-act=average][data-arg=layers]")
    assert page.text("#head-title") == "Mean of head 5 over 3 layers"
    traces = [layer.head(5).trace().weights for layer in capture.layers[:3]]
    heads.hover(page, 3, 2)
    assert heads.said_exactly(page) == pytest.approx(np.mean(traces, axis=0)[3, 2], abs=1e-14)
    hover_sink(page, 3)
    missing = (1 - traces[1][3].sum()) / 3
    assert heads.said_exactly(page) == pytest.approx(missing, abs=1e-14)
    page.click("button[data-act=average][data-arg=both]")
    assert page.text("#head-title") == "Mean over 5 heads of 3 layers"
    heads.open_head(page, 0, 0)  # head 2 was recorded in one layer only
    assert page.count("button[data-act=average][data-arg=layers]") == 0


def test_padding_is_not_among_the_readers(open_page):
    capture = small(padding=((4, 6),))
    page = open_page(capture, hash="v=heads&L=0&h=0&q=1&k=2")
    weights = capture.trace(layer=0).weights[:, 2]
    order = [row for row in np.argsort(-weights) if row < 4]
    assert [token for token, _, _ in heads.read_list(page, 1)] == ["abcdef"[row] for row in order]


@pytest.mark.parametrize(("width", "hash_"), [(900, ""), (1280, ""), (1280, "v=heads&L=0&h=1")])
def test_a_long_label_cuts_off_no_thumbnail(open_page, width, hash_):
    few = small(heads=16)
    layers = tuple(
        Layer(one.look, one.queries, one.keys, number=one.number, part="a very long name of a part")
        for one in few.layers
    )
    page = open_page(Capture("long labels", layers), size=(width, 800), hash=hash_)
    box, first, last, label = (
        page.page.locator(place).first.bounding_box()
        for place in (
            ".overview-part .scroll", ".thumb[data-arg='0.0']", ".thumb[data-arg='0.15']",
            ".thumbs tbody th",
        )
    )  # fmt: skip
    assert last["x"] + last["width"] <= box["x"] + box["width"] + 0.5
    assert label["x"] + label["width"] <= first["x"] + 0.5
