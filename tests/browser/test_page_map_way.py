"""How a person finds the way on the map: keys, pointer, addresses, places that are kept."""

import hostile
import map_page as maps
import numpy as np
import pytest
from map_page import NEEDLE, long

import softlookup as sl

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HELD = f"v=map&x={NEEDLE[1] + 0.5}&y={NEEDLE[0] + 0.5}&z=-4.5&lock={NEEDLE[0]}.{NEEDLE[1]}"


def test_the_keys(open_page):
    page = open_page(long(), hash="v=map&x=411.5&y=1300.5&z=-3.3")
    maps.settle(page)
    maps.press(page, "+")
    assert maps.camera(page) == (411.5, 1300.5, -4)
    maps.press(page, "-", "-")
    assert maps.camera(page)[2] == -2
    _, _, width, height = maps.box(page)
    maps.press(page, "ArrowRight", "ArrowDown")
    by = min(width, height) / 6 / 4
    assert maps.camera(page) == pytest.approx((411.5 + by, 1300.5 + by, -2), abs=0.01)
    x, y, _ = maps.camera(page)
    maps.press(page, "Shift+ArrowLeft", "Shift+ArrowUp")
    assert maps.camera(page) == (np.floor(x) - 0.5, np.floor(y) - 0.5, -2)
    maps.press(page, "l")  # the pair at the centre
    assert maps.held(page) == (np.floor(y) - 1, np.floor(x) - 1)
    maps.press(page, "Shift+ArrowRight")
    assert maps.held(page) == (np.floor(y) - 1, np.floor(x))
    maps.press(page, "m")
    assert page.hash()["pool"] == "share"
    maps.press(page, "m", "l", "0")
    assert page.hash() == {"v": "map", "L": "0", "h": "0"}
    maps.press(page, "Enter")  # the strongest pair of the cell at the centre
    assert {"q", "k", "lock"} <= set(page.hash())
    query, key = maps.held(page)
    maps.press(page, ".", ",", ",")
    assert page.hash()["q"] == str(query - 1)
    assert maps.held(page) == (query - 1, key)  # what is held and what is picked stay together
    maps.press(page, "Shift+ArrowUp")  # the held pair alone
    maps.press(page, ".")
    assert maps.held(page) == (query - 2, key)
    maps.press(page, "Escape", "Escape", "0")
    assert page.hash() == {"v": "map", "L": "0", "h": "0"}
    page.press("v")
    assert page.hash()["v"] == "heads"
    page.press("m")
    assert page.hash()["v"] == "map"


def test_drag_double_click_and_the_minimap(open_page):
    page = open_page(long(), hash="v=map&x=400&y=1300&z=-1")
    maps.settle(page)
    left, top, width, height = maps.box(page)
    mouse = page.page.mouse
    mouse.move(left + 200, top + 200)
    mouse.down()
    mouse.move(left + 260, top + 170, steps=4)
    mouse.up()
    maps.settle(page)
    assert maps.camera(page) == (370, 1315, -1)
    assert "lock" not in page.hash()  # a drag holds nothing
    before = maps.camera(page)
    mouse.dblclick(left + width / 2 + 100, top + height / 2)
    maps.settle(page)
    x, y, z = maps.camera(page)
    assert z == -2
    assert (x, y) == pytest.approx((before[0] + 25, before[1]), abs=0.3)
    assert "lock" not in page.hash()  # it comes nearer, and holds nothing
    maps.press(page, "l")
    lock = maps.held(page)
    mouse.dblclick(left + width / 2 - 100, top + height / 2 + 50)
    maps.settle(page)
    page.page.wait_for_timeout(300)
    maps.settle(page)
    assert (maps.camera(page)[2], maps.held(page)) == (-3, lock)
    maps.press(page, "Escape", "-")
    mini = page.page.locator(".map-mini").bounding_box()
    mouse.move(mini["x"] + mini["width"] / 2, mini["y"] + mini["height"] / 4)
    mouse.down()
    maps.settle(page)
    assert maps.camera(page) == pytest.approx((750, 375, -2), abs=8)
    mouse.move(mini["x"] + mini["width"] / 4, mini["y"] + mini["height"] / 2, steps=3)
    mouse.up()
    maps.settle(page)
    assert maps.camera(page) == pytest.approx((375, 750, -2), abs=8)


def test_go_to_positions_and_to_tokens(open_page):
    tokens = [f"t{i}" for i in range(1500)]
    tokens[800] = " Paris"
    page = open_page(long(tokens=tokens), reduced_motion="reduce")
    maps.settle(page)
    page.page.keyboard.press("g")
    page.page.keyboard.type("1,300")
    page.page.keyboard.press("Tab")
    page.page.keyboard.type("411")
    maps.press(page, "Enter")
    assert maps.held(page) == NEEDLE
    assert maps.camera(page) == (411.5, 1300.5, -4.5)
    focused = f"{maps.SHADOW}.activeElement.className"
    assert page.page.evaluate(focused) == "map-cells"  # keys move the map again
    page.page.fill("[data-going=query]", "t1400")
    page.page.fill("[data-going=key]", "paris")
    maps.press(page, "Enter")
    assert maps.held(page) == (1400, 800)
    page.page.fill("[data-going=query]", "1500")
    maps.press(page, "Enter")
    assert page.text("#going-trouble") == "query: must be 0 … 1,499; got “1500”."
    assert page.page.get_attribute("[data-going=query]", "aria-invalid") == "true"
    assert maps.held(page) == (1400, 800)
    page.page.fill("[data-going=query]", "")
    page.page.fill("[data-going=key]", "no such token")
    maps.press(page, "Enter")
    assert page.text("#going-trouble").startswith("key: no token reads “no such token”")
    maps.press(page, "Escape")
    assert page.count(".map-going") == 0
    assert page.focused()[0] == "div"  # the map again


def test_bookmarks_are_in_the_address_and_lead_back(open_page):
    page = open_page(long(), hash=HELD, reduced_motion="reduce")
    maps.settle(page)
    maps.press(page, "b", "Escape", "0", "b", "b")
    assert page.all(".map-marks li .link") == ["1,300 “t39” → 411 “t23”", "750 “t71” → 750 “t71”"]
    kept = page.hash()["marks"]
    page.page.locator(".map-marks li .link").first.click()
    maps.settle(page)
    assert maps.held(page) == NEEDLE
    assert maps.camera(page) == (411.5, 1300.5, -4.5)
    again = open_page(long(), hash=page.page.url.partition("#")[2])
    maps.settle(again)
    assert again.hash() == page.hash()
    page.page.locator(".map-marks .step-by").first.click()
    assert page.count(".map-marks li") == 1
    assert page.hash()["marks"] != kept


def test_an_address_leads_to_the_same_picture(open_page):
    pages = [open_page(long(), hash=f"{HELD}&pool=share&range=5~99.5&q=1300&k=411&h=0&L=0")]
    maps.build(pages[0])
    pages.append(open_page(long(), hash=pages[0].page.url.partition("#")[2]))
    maps.build(pages[1])
    for page in pages:
        maps.wait_said(page, "exactly")
    assert pages[0].hash() == pages[1].hash()
    assert (pages[1].hash()["pool"], pages[1].hash()["range"]) == ("share", "5~99.5")
    assert maps.said(pages[0]) == maps.said(pages[1])
    points = [(x, y) for x in range(5, 700, 40) for y in range(5, 400, 40)]
    assert maps.pixels(pages[0], points) == maps.pixels(pages[1], points)
    assert pages[0].text(".map-side") == pages[1].text(".map-side")


@pytest.mark.parametrize(
    "hash",
    [
        "v=map&x=1e999&y=-1&z=NaN&pool=__proto__&range=9~1&lock=-1.5&q=1e9&k=x&marks=~~~_<img>",
        "v=map&x=999999999&y=999999999&z=-999999&range=100~100&lock=1499.1499",
        "v=map&x=0&y=0&z=40&marks=" + "_".join(["1~2~3~1"] * 500),
        "v=map&L=9&h=99&b=7&x=1&y=1&z=1&lock=999999999.999999999",
        "v=map&pool=share%00&range=%ff&x=%22%3E%3Cscript%3Ewindow.__pwned=1%3C/script%3E&y=1&z=1",
    ],
)
def test_hostile_addresses_are_held_within_what_there_is(open_page, hash):  # noqa: A002
    page = open_page(long(heads=1), hash=hash)
    maps.settle(page)
    assert page.hash()["v"] == "map"
    hostile.assert_harmless(page.page, scripts=1)
    maps.press(page, "Escape", "Escape", "0", "+", "l")
    maps.wait_said(page, "exactly")
    assert 0 <= maps.held(page)[0] < 1500
    assert page.count(".map-marks li") <= 16


def test_hostile_tokens_are_only_text(open_page):
    page = open_page(hostile.capture(), hash="v=map&x=3&y=5.5&z=-5", reduced_motion="reduce")
    maps.build(page)
    for query in range(len(hostile.TEXTS)):
        page.page.keyboard.press("g")
        page.page.fill("[data-going=query]", str(query))
        page.page.fill("[data-going=key]", "0")
        page.page.keyboard.press("Enter")
        page.page.keyboard.press("Escape")
        maps.settle(page)
        maps.press(page, "Enter", "b")
    hostile.assert_literal(page.page)
    hostile.assert_harmless(page.page, scripts=1)


def test_the_held_read_out_is_copied_and_spoken(open_page):
    permissions = ["clipboard-read", "clipboard-write"]
    page = open_page(long(), hash=HELD, permissions=permissions)
    maps.settle(page)
    maps.wait_said(page, "exactly")
    page.page.keyboard.press("c")
    page.page.wait_for_selector(".notice:has-text('The pair is copied')")
    lines = page.page.evaluate("navigator.clipboard.readText()").splitlines()
    fields = dict(zip(lines[0].split("\t")[-2:], lines[1].split("\t")[-2:], strict=True))
    assert float(fields["weight"]) == maps.said_exactly(page)
    assert lines[1].split("\t")[1:5] == ["1300", "t39", "411", "t23"]
    page.page.wait_for_function(
        f"() => {maps.SHADOW}.querySelector('[data-say=pair]').textContent.includes('exactly')"
    )
    select = f"getComputedStyle({maps.SHADOW}.querySelector('#map-pair')).userSelect"
    assert page.page.evaluate(select) == "text"


def test_another_head_is_seen_in_the_same_place(open_page):
    page = open_page(long(), hash=HELD)
    maps.settle(page)
    maps.wait_said(page, "exactly")
    first = maps.said_exactly(page)
    page.page.select_option("select[data-choose=head]", "1")
    page.page.wait_for_function(
        f"() => {maps.SHADOW}.querySelector('h2').textContent.includes('head 1')"
    )
    maps.wait_said(page, "exactly")
    maps.settle(page)
    assert maps.said_exactly(page) != first
    assert (page.hash()["h"], maps.held(page)) == ("1", NEEDLE)
    assert maps.camera(page) == (411.5, 1300.5, -4.5)
    page.page.go_back()
    page.page.wait_for_function(
        f"() => {maps.SHADOW}.querySelector('h2').textContent.includes('head 0')"
    )


@pytest.mark.parametrize(
    ("rows", "keys", "options"),
    [
        (1, 3000, {}),
        (3000, 1, {}),
        (3, 5, {}),
        (400, 3000, {"causal": True, "q_offset": 2600, "window": (200, 0)}),
    ],
)
def test_a_head_of_any_shape(open_page, rows, keys, options):
    numbers = np.random.default_rng(2)
    look = sl.Lookup(
        *(numbers.standard_normal((1, length, 4)) for length in (rows, keys, keys)), **options
    )
    page = open_page(look, hash="v=map", reduced_motion="reduce")
    maps.settle(page)
    middle = (rows // 2, keys // 2)
    maps.press(page, "l")
    maps.wait_said(page, "query")
    weights = look.weights()[0]
    if weights[middle] == 0:
        maps.wait_said(page, "hidden")
    maps.press(page, "Escape", "s")
    strongest = np.unravel_index(np.argmax(weights), weights.shape)
    assert maps.held(page) == strongest
    maps.wait_said(page, "exactly")
    assert maps.said_exactly(page) == look.trace([strongest[0]]).weights[0, 0, strongest[1]]


def test_a_lookup_without_queries_has_no_map(open_page):
    look = sl.Lookup(np.zeros((0, 4)), np.zeros((5, 4)), np.zeros((5, 4)))
    page = open_page(look, hash="v=map", quiet=False)
    page.page.wait_for_selector(".waiting:has-text('at least one query')")
    for key in ("l", "Enter", "s", "g", "b", "+", "Escape"):
        page.page.keyboard.press(key)
    page.page.wait_for_timeout(200)
    assert [error for error in page.errors if "400" not in error] == []
