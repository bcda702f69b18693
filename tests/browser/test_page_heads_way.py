"""The way through the heads view: what is on screen, where keys and buttons lead, what is said."""

import re

import heads_page as heads
import numpy as np
import pytest
from heads_page import small

import softlookup as sl

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SHADOW = "document.querySelector('[data-softlookup]').shadowRoot"
DEEP = "v=heads&L=0&h=1&q=4&k=2"
SENTENCE = "v=heads&L=2&h=5&q=13"
# How far the bars of a strip reach, of its thickness.
REACH = """(canvas) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height);
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  let reach = 0;
  for (let i = 3; i < data.length; i += 4)
    if (data[i]) reach = Math.max(reach, ((i - 3) / 4) % width + 1);
  return reach / width;
}"""
COVERED = f"""() => {{
  const edges = (cell) => cell.getBoundingClientRect();
  const head = {SHADOW}.querySelector("table.ledger thead tr");
  const [step, ...keys] = head.children;
  const from = edges(step).right, upTo = edges(keys.pop()).left;
  return keys.map(edges).filter(({{ left, right }}) =>
    [from, upTo].some((edge) => left < edge - 1 && right > edge + 1)).length;
}}"""


def box(page, selector, number=0):
    """Return (left, top, right, bottom) of what is on screen."""
    found = page.page.locator(selector).nth(number).bounding_box()
    return (
        found["x"],
        found["y"],
        found["x"] + found["width"],
        found["y"] + found["height"],
    )


def scrolled(page):
    return page.page.evaluate("Math.round(scrollY)")


def focus_in(page, selector):
    return page.page.evaluate(f"(part) => {SHADOW}.activeElement?.matches(part) ?? false", selector)


def test_what_is_asked_for_is_on_the_first_screen(open_page):
    page = open_page("sentence")
    heads.open_head(page, 2, 5)
    heads.pick(page, 13)
    assert scrolled(page) == 0
    for part in ("#pair", "button[data-act=row-steps]", ".heat-cells", ".reads-part h2"):
        assert box(page, part)[3] <= 900, part
    assert box(page, "#pair")[3] <= box(page, ".heat")[1]
    labels = min(box(page, ".keys .heat-label", i)[1] for i in range(31))
    assert labels - box(page, "#pair")[3] < 24  # no blank above the labels
    assert box(page, ".said")[1] - box(page, ".overview-part")[3] < 30  # nor below the thumbnails
    before = box(page, ".heat-cells")
    heads.hover(page, 30, 30)
    assert "exactly" in heads.said(page)
    assert box(page, ".heat-cells") == before  # nothing jumps


def test_the_way_to_the_steps_and_nothing_over_them(open_page):
    page = open_page("sentence")
    heads.open_head(page, 2, 5)
    page.press("s")
    assert "pick a query" in page.text(".notice")
    assert page.count("button[data-act=row-steps]") == 0
    heads.pick(page, 13)
    page.click("button[data-act=row-steps]")
    assert page.text("#ledger-title").endswith("step by step, in layer 2, head 5")
    assert 0 <= box(page, "#ledger-title")[1] < 100
    assert box(page, ".ledger-part .scroll")[3] <= 900
    assert focus_in(page, "table.ledger td")
    for part in (".overview-part", ".head-part", ".said"):
        assert box(page, part)[3] <= box(page, ".row-steps")[1], part
    page.press("g")
    assert focus_in(page, ".heat-cells")
    assert box(page, "#pair")[1] >= 0
    page.press("s")
    assert focus_in(page, "table.ledger td")
    footer = page.text("footer")
    assert "S steps of the row" in footer
    assert "G grid" in footer
    page.click("button[data-act=average][data-arg=heads]")
    assert page.count("button[data-act=row-steps]") == 0
    page.press("s")
    assert "A mean" in page.text(".notice")


def test_the_other_view_begins_at_its_top(open_page):
    page = open_page("sentence", hash=SENTENCE)
    for _ in ("steps", "heads"):
        page.page.mouse.wheel(0, 900)
        page.until(lambda: scrolled(page) > 0)
        page.press("v")
        assert scrolled(page) == 0


def test_two_heads_have_one_scale_of_strips_and_names(open_page):
    capture = small(length=9)
    page = open_page(capture)
    heads.open_head(page, 0, 0)
    heads.click(page, 3, 2)
    plain = page.all(".strip-legend")
    page.page.select_option("select[data-choose=compare]", "1.1")
    page.wait()
    legends = page.all(".strip-legend")
    assert legends[:2] == legends[2:]
    assert legends[:2] != plain
    most = [
        max(-(row * np.log(row)).sum() for row in capture.trace(head=at, layer=at).weights)
        for at in (0, 1)
    ]
    assert legends[0].endswith(f"0 … {max(most):.3f}")
    for which, entropy in zip(("first", "second"), most, strict=True):
        strip = page.page.locator(f"canvas[data-paint=entropy][data-arg={which}]")
        assert strip.evaluate(REACH) == pytest.approx(entropy / max(most), abs=0.03)
    titles = [re.sub("[\u2068\u2069]", "", text) for text in page.all(".reads-part h2")]
    where = "in layer 0, head 0"
    assert titles == [f"“d” reads from, {where}", f"“c” is read by, {where}"]
    assert where in page.text("#ledger-title")
    assert "save layer 0, head 0 as" in page.text(".save")


def test_two_grids_stay_on_screen(open_page):
    page = open_page("sentence", hash=SENTENCE)
    page.page.locator("select[data-choose=compare]").focus()
    page.page.select_option("select[data-choose=compare]", "0.2")
    page.wait()
    for at in (0, 1):
        _, top, _, bottom = box(page, ".heat-cells", at)
        assert 0 <= top < bottom <= 900
    assert focus_in(page, "select")
    page.page.reload()
    page.wait()
    assert 0 <= box(page, ".heat-cells", 1)[1] < 500


def test_back_leads_to_the_head_the_view_and_the_capture_before(open_page):
    page = open_page()
    page.press("Space")
    page.click(".shelved[data-arg=sentence]")
    heads.open_head(page, 3, 7)
    heads.pick(page, 4)
    heads.pick(page, 6)  # the same place
    heads.open_head(page, 2, 5)
    page.press("v")
    assert page.count("table.tokens") > 0

    def place():
        title = page.all("#head-title")
        return page.text("header .title"), *(title or [""]), page.count(".piece.picked")

    for before in (
        ("a sentence", "Layer 2, head 5", 1),
        ("a sentence", "Layer 3, head 7", 1),
        ("a sentence", "", 0),
        ("Lesson", "", 0),
    ):
        page.page.go_back()
        page.until(lambda before=before: place() == before)
        page.wait()
    assert page.steps() == ["score"]
    page.page.go_forward()
    page.page.wait_for_selector(".thumb[data-arg='5.11']")
    page.page.go_forward()
    page.page.wait_for_selector("#head-title")
    page.wait()
    assert page.text("#head-title") == "Layer 3, head 7"
    assert page.text(".piece.picked") == "bank"


def test_the_export_command_is_there_where_one_works(open_page):
    page = open_page("sentence", hash=SENTENCE, permissions=["clipboard-read", "clipboard-write"])
    assert page.text("button[data-act=save-page]") == "copy the export command"
    page.click("button[data-act=save-page]")
    page.page.wait_for_selector(".notice:not(:empty)")
    copied = page.page.evaluate("navigator.clipboard.readText()")
    assert copied == "softlookup export sentence -o page.html"
    made = open_page(small(about={"made": "one forward pass"}), hash=DEEP)
    assert made.count("button[data-act=save]") == 4
    assert made.count("button[data-act=save-page]") == 0


def test_the_lesson_stands_beside_the_lesson_only(open_page):
    parts = (".article-part", ".turn-part", ".contents-part", ".recap-part")
    page = open_page("sentence", hash="v=steps&q=3")
    assert [page.count(part) for part in parts] == [0] * 4
    assert "exercise" not in page.text("footer")
    page.press("x")
    assert "open Lesson" in page.text(".notice")
    page.click(".shelved[data-arg=lesson]")
    assert [page.count(part) for part in parts] == [1] * 4
    page.press("x")
    assert focus_in(page, "form input")


def test_the_shelf_keeps_its_names_and_order(open_page):
    page = open_page(small(), size=(400, 800))
    shelf = "nav.shelf > *"
    names = ["a few heads", "Lesson", "a sentence", "a repeated phrase"]
    assert page.all(shelf) == names
    places = [box(page, shelf, at)[:2] for at in range(4)]
    assert places == sorted(places, key=lambda place: (place[1], place[0]))
    for opened in ("sentence", "lesson", "causal", "given"):
        page.click(f".shelved[data-arg={opened}]")
        assert page.all(shelf) == names
        assert page.count("header .title") == 1


def test_a_long_title_stays_on_its_line(open_page):
    title = "a title of somebody who never thought of the header, " * 8 + "and its end"
    look = sl.Lookup(*[np.ones((1, 3, 2))] * 3)
    page, usual = open_page(look, title=title), open_page(look, title="short")
    assert box(page, "header")[3] == box(usual, "header")[3]
    assert page.page.get_attribute("header .title", "title") == title
    assert page.page.evaluate("document.documentElement.scrollWidth") == 1280
    names = page.page.locator(".shelved").evaluate_all(
        "all => all.map((name) => name.scrollWidth - name.clientWidth)"
    )
    assert names == [0, 0, 0]


def test_the_keys_open_at_their_top_and_say_the_words(open_page):
    page = open_page(small(), hash=DEEP, size=(1280, 500))
    page.press("?")
    assert focus_in(page, "#help-title")
    assert page.page.locator("dialog[open]").evaluate("dialog => dialog.scrollTop") == 0
    told = page.text("dialog[open]")
    for word in ("first-token share", "token-before share", "so far", "shifted", "only names"):
        assert word in told
    page.press("Escape")
    assert "first-token share: " in page.page.get_attribute(".thumb-line", "title")
    assert "so far" in page.all(".reads thead th")
    assert page.page.locator(".reads thead th[title]").count() == 2
    for reading in ("textbook", "shifted"):
        title = page.page.get_attribute(f"button[data-arg={reading}]", "title")
        assert "softmax as" in title


def test_a_list_and_a_choice_are_one_tab_stop(open_page):
    page = open_page(small(words=(0, 0, 1, 2, 3, 4)), hash=DEEP)
    for part in (".reads", ".head-tools .choice"):
        for group in page.page.locator(part).all():
            assert group.locator("button:not([tabindex='-1'])").count() == 1, part
    rows = page.page.locator(".reads").first.locator("button")
    rows.first.focus()
    page.press("ArrowDown", "ArrowDown", "ArrowUp")
    assert rows.nth(1).evaluate(f"row => {SHADOW}.activeElement === row")
    assert page.hash()["k"] == "2"
    page.press("ArrowDown", "Enter")
    key = rows.nth(2).get_attribute("data-arg")
    assert page.hash()["k"] == key
    page.page.locator("button[data-act=words][data-arg='0']").focus()
    page.press("ArrowRight", "Enter")
    assert page.hash()["w"] == "1"
    page.page.locator("#head-title").focus()
    stops = 0
    while not focus_in(page, ".heat-cells"):
        page.press("Tab")
        stops += 1
        assert stops <= 8


def test_the_frame_of_the_opened_head_leaves_its_caption_whole(open_page):
    page = open_page("sentence", hash=SENTENCE)
    thumb = ".thumb.open"
    frame = box(page, f"{thumb} .picture")[3] + 3
    assert box(page, f"{thumb} bdi")[1] >= frame
    narrow = open_page("sentence", hash=SENTENCE, size=(400, 800))
    assert not narrow.page.locator(f"{thumb} bdi").is_visible()
    cut = narrow.page.locator(".thumb .most b").evaluate_all(
        "all => all.filter((text) => text.scrollWidth > text.clientWidth + 1).length"
    )
    assert cut == 0


def test_the_bar_of_a_weight_stands_in_its_row(open_page):
    page = open_page(small(), hash=DEEP)
    inside = page.page.locator(".reads .weight").evaluate_all(
        """cells => cells.map((cell) => {
          const bar = getComputedStyle(cell, "::before");
          const [top, height] = [parseFloat(bar.top), parseFloat(bar.height)];
          return top >= 2 && height >= 10 && top + height <= cell.clientHeight - 2;
        })"""
    )
    assert len(inside) == 12
    assert all(inside)


@pytest.mark.parametrize("size", [(1280, 900), (700, 900), (400, 800)])
def test_columns_of_the_ledger_are_whole(open_page, size):
    page = open_page("sentence", hash=SENTENCE, size=size)
    ledger = page.page.locator(".ledger-part .scroll")
    assert ledger.evaluate("part => part.scrollWidth > part.clientWidth")
    for left in (0, 150, 333, 9999):
        ledger.evaluate("(part, left) => { part.scrollLeft = left; }", left)
        page.until(lambda: page.page.evaluate(COVERED) == 0)
