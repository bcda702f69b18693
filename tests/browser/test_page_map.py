"""The map view: from the whole head to one weight, and back to its numbers."""

import threading
import time

import map_page as maps
import numpy as np
import pytest
from map_page import NEEDLE, long

from softlookup.viewer import maps as asked_of_maps
from softlookup.viewer.codes import encode
from softlookup.viewer.kept import Kept
from softlookup.weightmap import WeightMap
from softlookup.weightmap import bands as work_of_maps

pytestmark = pytest.mark.browser

OUTSIDE, HIDDEN, NAN = (0, 0, 0, 0), (0xE2, 0xE3, 0xE7, 255), (0xD1, 0x29, 0x3D, 255)


def test_from_the_world_to_the_needle_and_its_number(open_page):
    capture = long()
    page = open_page(capture)
    maps.build(page)
    assert page.hash()["v"] == "map"  # a long text opens as a map
    assert page.text("#map-title").endswith("1,500 × 1,500 weights")
    weight = capture.trace([NEEDLE[0]], head=0, layer=0).weights[0, NEEDLE[1]]
    assert weight > 0.9
    maps.look_at(page, 750, 900, 1)
    page.page.mouse.click(*maps.on_screen(page, *NEEDLE))  # its cell holds 4 weights
    maps.wait_said(page, "exactly")
    maps.settle(page)
    assert maps.held(page) == NEEDLE
    assert maps.said_exactly(page) == weight
    maps.press(page, "Escape")
    for near in (-1.5, -3.5, -6):  # a pointer's place is a whole pixel: it is aimed again
        point = maps.on_screen(page, *NEEDLE)
        page.page.mouse.move(*point)
        while maps.camera(page)[2] > near:
            page.page.mouse.wheel(0, -300)
            maps.settle(page)
        moved = np.subtract(maps.on_screen(page, *NEEDLE), point)
        assert abs(moved).max() < 6  # a pixel of the first picture
    page.page.mouse.move(*maps.on_screen(page, *NEEDLE))
    maps.wait_said(page, f"query 1,300 “t{NEEDLE[0] % 97}” reads key 411 “t{NEEDLE[1] % 97}”")
    maps.wait_said(page, "exactly")
    assert maps.said_exactly(page) == weight


def test_the_strongest_links_in_view(open_page):
    page = open_page(long(), reduced_motion="reduce")
    maps.build(page)
    maps.look_at(page, 600.5, 1200.5, -0.5)
    _, _, width, height = maps.box(page)
    sides = ((1200.5, height), (600.5, width))
    far = [pixels / 2 * 2**-0.5 for _, pixels in sides]
    rows, keys = (
        slice(int(np.floor(middle - by)), int(np.ceil(middle + by)))
        for (middle, _), by in zip(sides, far, strict=True)
    )
    links = long().layers[0].look.head(0).map().strongest(rows, keys, 12)
    assert (links[0].query, links[0].key) == NEEDLE
    for link in links[:3]:
        page.page.keyboard.press("s")
        maps.wait_said(page, f"query {link.query:,}")
        maps.wait_said(page, "exactly")
        maps.settle(page)
        assert maps.held(page) == (link.query, link.key)
        assert maps.camera(page) == (link.key + 0.5, link.query + 0.5, -4.5)
    shown = page.page.locator(".map-tour tbody tr").all()
    assert [float(line.locator("td").get_attribute("title")) for line in shown] == [
        link.weight for link in links
    ]
    page.page.locator(".map-tour tbody button").first.click()
    maps.settle(page)
    assert maps.held(page) == NEEDLE
    page.click("[data-act=map-tour-close]")
    assert page.count(".map-tour") == 0
    maps.press(page, "Escape")
    maps.look_at(page, 1400, 100, -3)  # these keys are hidden from these queries
    page.page.keyboard.press("s")
    page.page.wait_for_selector(".notice:has-text('no visible link in view')")


@pytest.mark.parametrize("z", [-3, 0, 1, 3, 5])
def test_every_pixel_is_the_code_of_its_cell(open_page, z):
    length = {3: 6000, 5: 20_000}.get(z, 1500)
    capture = long(length, heads=1)
    page = open_page(capture)
    maps.build(page)
    level, cell = max(z, 0), 2.0**z
    _, _, width, height = maps.box(page)
    centre = (cell * (20 + width / 2), cell * (15 + height / 2))  # cells end where pixels do
    if z > 0:
        centre = (length / 2 + cell * (width % 2) / 2, length / 2 + cell * (height % 2) / 2)
        centre = tuple(side - side % cell + cell * (n % 2) / 2 for side, n in
                       zip(centre, (width, height), strict=True))  # fmt: skip
    points = np.random.default_rng(1).integers(0, (int(width), int(height)), (3000, 2)) + 0.5
    keys = (points[:, 0] - width / 2) * cell + centre[0]
    queries = (points[:, 1] - height / 2) * cell + centre[1]
    inside = (keys >= 0) & (queries >= 0) & (queries < length) & (keys < length)
    tile = capture.layers[0].look.map().level(level)
    for pool in ("max", "share"):
        maps.look_at(page, *centre, z, f"&pool={pool}")
        codes = encode(getattr(tile, pool), tile.seen, tile.known)
        rows, columns = (np.floor(side / 2**level).astype(int) for side in (queries, keys))
        shown = np.where(inside, codes[rows * inside, columns * inside].astype(int), -1)
        assert_coloured(maps.pixels(page, points), shown)


def assert_coloured(colours, codes):
    """Each code has one colour, and the greater codes the darker ones; -1 is outside."""
    seen = {code: {colours[i] for i in np.flatnonzero(codes == code)} for code in np.unique(codes)}
    assert all(len(one) == 1 for one in seen.values())
    assert seen.pop(-1, {OUTSIDE}) == {OUTSIDE}
    assert seen.pop(0) == {HIDDEN}
    ramp = [sum(seen[code].pop()[:3]) for code in sorted(seen)]
    assert len(ramp) > 10
    assert ramp == sorted(ramp, reverse=True)
    assert ramp[0] > ramp[-1] + 100


def test_hidden_and_nan_and_what_is_not_computed_look_different(open_page, monkeypatch):
    monkeypatch.setattr(Kept, "work", lambda self, seconds: time.sleep(0.02))
    page = open_page(long(20_000, heads=1, lost=200))
    page.page.wait_for_selector(".map-built:has-text('exact so far: 0 of')")
    maps.look_at(page, 190.5, 200.5, -3)
    places = [(200, 180), (190, 200), (195, 185)]
    nan, hidden, weight = maps.pixels(page, [maps.place(page, *pair) for pair in places])
    assert (nan, hidden) == (NAN, HIDDEN)
    assert weight not in (nan, hidden, OUTSIDE)
    assert page.count(".map-NaN") == 1
    maps.press(page, "0")
    _, _, width, height = maps.box(page)
    points = [(width / 2 + x, height / 2) for x in range(-40, 40)]
    stripes = set(maps.pixels(page, points))
    assert len(stripes) > 1
    assert (255, 255, 255, 255) in stripes
    assert not stripes & {HIDDEN, OUTSIDE, NAN}
    assert maps.pixels(page, [(3, 3)]) == [OUTSIDE]


def test_colours_by_percentile_without_a_request(open_page):
    page = open_page(long())
    maps.build(page)
    maps.look_at(page, 700, 1100, 0)
    points = [maps.place(page, query, 700) for query in range(900, 1250, 7)]
    before = maps.pixels(page, points)
    ends = page.text(".ramp-ends")
    with maps.asked(page) as asked:
        page.page.focus("[data-range=low]")
        for _ in range(10):
            page.page.keyboard.press("PageUp")
        maps.settle(page)
        after = maps.pixels(page, points)
        page.page.focus("[data-range=high]")
        page.page.keyboard.press("PageDown")
        maps.settle(page)
    assert asked == []
    assert page.hash()["range"] == "100~100" or float(page.hash()["range"].split("~")[0]) > 50
    assert before != after
    assert ends != page.text(".ramp-ends")
    page.click("[data-act=map-range]")
    maps.settle(page)
    assert "range" not in page.hash()
    assert maps.pixels(page, points) == before


def hold_on(monkeypatch, *, bands):
    """Let maps grow to so many bands, and on once `going` is set; little else is worked out.

    Return `going`, and the heads that were worked at.
    """
    going, heads, work, prepare = threading.Event(), [], Kept.work, WeightMap.prepare

    def work_a_little(kept, seconds):
        heads.append(kept)
        return (kept.map.done < bands or going.wait(0.05)) and work(kept, seconds)

    for owner, name, value in (
        (Kept, "work", work_a_little),
        (WeightMap, "prepare", lambda *of: not going.is_set() or prepare(*of)),
        (asked_of_maps, "SLICE", 0.0),
        (asked_of_maps, "MOST_BUILT", 1_000),
        (work_of_maps, "_SHORTEST", 0.0),
    ):
        monkeypatch.setattr(owner, name, value)
    return going, heads


def test_the_strongest_link_of_what_is_worked_out_so_far(open_page, monkeypatch):
    """More than may be worked out for one answer is missing, and the map stays as far as it is."""
    going, heads = hold_on(monkeypatch, bands=16)
    page = open_page(long(), hash="v=map", reduced_motion="reduce", quiet=False)
    maps.wait_built(page, "exact so far: 16 of 47 bands")
    page.page.keyboard.press("s")
    notice = page.page.wait_for_selector(".notice:has-text('worked out so far')")
    assert notice.inner_text() == (
        "The strongest link of the 34 % of this view worked out so far. Ask again when the map is "
        "whole."
    )
    assert page.errors == []
    page.page.keyboard.press("Enter")
    page.page.wait_for_selector("#map-from + table")
    weights = long().trace(head=0, layer=0).weights.copy()
    weights[~heads[-1].map.known_rows] = 0
    weights[0] = 0  # sees one key, and has no choice
    best = np.unravel_index(np.argmax(weights), weights.shape)
    assert best != NEEDLE
    assert maps.held(page) == best
    assert page.hash()["q"] == str(best[0])
    assert "Only of the 34 % of this view" in page.text(".map-tour")
    going.set()
    maps.build(page)
    page.page.keyboard.press("s")  # the same view, all of it
    maps.wait_said(page, f"query {NEEDLE[0]:,}")
    maps.settle(page)
    assert maps.held(page) == NEEDLE
    assert "Only of" not in page.text(".map-tour")


def test_too_much_in_view_is_said_and_nothing_is_picked(open_page, monkeypatch):
    hold_on(monkeypatch, bands=0)
    page = open_page(long(), hash="v=map", reduced_motion="reduce")
    maps.wait_built(page, "exact so far: 0 of 47 bands")
    page.page.keyboard.press("s")
    page.page.keyboard.press("Enter")
    page.page.wait_for_selector(".notice:has-text('Too much is in view')")
    page.wait()
    assert not {"q", "lock"} & set(page.hash())


def test_a_label_picks_its_token_lists_and_steps_follow(open_page):
    capture = long()
    page = open_page(capture)
    maps.build(page)
    maps.look_at(page, 411.5, 1300.5, -4)
    maps.press(page, "l")
    maps.press(page, "Enter")
    page.page.wait_for_selector("table.ledger")
    traced = capture.trace([1300], head=0, layer=0)
    order = np.argsort(-traced.weights[0], kind="stable")[:12]
    rows = page.page.locator("#map-from + table tbody tr")
    shown = [row.locator("td").first.inner_text() for row in rows.all()]
    assert shown == [f"{key:,}" for key in order]
    column = capture.trace(head=0, layer=0).weights[:, 411]
    by = np.argsort(-column, kind="stable")[:12]
    rows = page.page.locator("#map-by + table tbody tr")
    assert [row.locator("td").first.inner_text() for row in rows.all()] == [f"{q:,}" for q in by]
    assert "What token t39 @1300 reads, step by step, in layer 0, head 0" in page.text(
        "#ledger-title"
    )
    first = sorted(order).index(order[0])
    assert page.exact("weight", first) == [traced.weights[0, order[0]]]
    left, top, _, _ = maps.box(page)
    _, y = maps.on_screen(page, 1303, 411)
    page.page.mouse.click(left - 20, y)
    page.page.wait_for_selector("#map-from:has-text('Query 1,303')")
    x, _ = maps.on_screen(page, 1300, 415)
    page.page.mouse.click(x, top - 12)
    page.page.wait_for_selector("#map-by:has-text('Key 415')")
    page.page.locator("#map-by + table button").nth(2).click()
    maps.settle(page)
    assert maps.held(page)[1] == 415
    assert page.hash()["q"] == str(maps.held(page)[0])


def test_leaving_the_view_stops_the_building_and_so_does_the_button(open_page, monkeypatch):
    work, idle = Kept.work, iter(range(1000))

    def slowly(self, seconds):
        time.sleep(0.02)
        return work(self, seconds) if next(idle, None) is None else False

    monkeypatch.setattr(Kept, "work", slowly)
    page = open_page(long(20_000, heads=1))
    page.page.wait_for_selector(".map-built:has-text('exact so far: 0 of 625 bands')")

    def rests():
        """Is nothing asked for the map to be built, for a while?"""
        with maps.asked(page) as asked:
            page.page.wait_for_timeout(250)
        return not any("work=1" in one for one in asked)

    def works():
        return not rests()

    page.until(works)
    page.page.click("[data-act=map-pause]")
    page.until(rests)
    page.page.click("[data-act=map-pause]")
    page.until(works)
    page.page.click("[data-act=view][data-arg=steps]")
    page.until(rests)
    page.page.click("[data-act=view][data-arg=map]")
    page.until(works)
    for _ in idle:
        pass
    maps.build(page)


def test_a_refused_map_is_looked_at_by_its_fine_tiles(open_page, monkeypatch):
    monkeypatch.setattr(WeightMap, "refused", property(lambda self: "too large"))
    page = open_page(long(40_000, heads=1))
    page.page.wait_for_selector(".map-built:has-text('must take at most')")
    maps.settle(page)
    assert "16 × 16" in page.text(".map-scale")  # the first part, not the whole
    assert set(maps.pixels(page, [(3.5, 200.5)])) != {(0, 0, 0, 0)}
    maps.look_at(page, 20_411.5, 21_300.5, -3)
    assert "one weight" in page.text(".map-scale")
    maps.press(page, "l")
    maps.wait_said(page, "exactly")
    assert maps.said(page).startswith("query 21,300")
    with maps.asked(page) as asked:
        maps.press(page, "0")
        maps.look_at(page, 20_000, 20_000, 7)
    levels = {int(one.partition("level=")[2].partition("&")[0]) for one in asked if "level=" in one}
    assert all(level <= 4 for level in levels)
    assert "must take at most" in page.text(".map-built")
