"""How the map view looks and is heard: narrow, dark, by keyboard, where nobody answers."""

import map_page as maps
import numpy as np
import pytest
from map_page import NEEDLE, long

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HELD = (
    f"v=map&x={NEEDLE[1] + 0.5}&y={NEEDLE[0] + 0.5}&z=-4.5&lock={NEEDLE[0]}.{NEEDLE[1]}"
    f"&q={NEEDLE[0]}&k={NEEDLE[1]}"
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 700, 1280])
def test_it_fits_the_page(open_page, scheme, width):
    page = open_page(long(), hash=HELD, size=(width, 800), color_scheme=scheme)
    maps.build(page)
    page.page.wait_for_selector("table.ledger")
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    _, _, wide, high = maps.box(page)
    assert wide >= 160
    assert high >= 160
    hidden = maps.pixels(page, [maps.place(page, 1298, 1299)])
    maps.look_at(page, 1300.5, 1298.5, -4.5)
    hidden = maps.pixels(page, [maps.place(page, 1298, 1300)])
    assert hidden == [(0xE2, 0xE3, 0xE7, 255) if scheme == "light" else (0x3B, 0x3D, 0x42, 255)]
    assert maps.pixels(page, [maps.place(page, 1300, 1298)]) != hidden


def test_a_fine_screen_shows_finer_cells(open_page):
    coarse = open_page(long(), hash="v=map&x=700&y=900&z=1.5")
    maps.settle(coarse)
    fine = open_page(long(), hash="v=map&x=700&y=900&z=1.5", device_scale_factor=2)
    maps.settle(fine)
    assert "4 × 4" in coarse.text(".map-scale")
    assert "2 × 2" in fine.text(".map-scale")


def test_by_keyboard_alone(open_page):
    page = open_page(long(), hash="v=map&x=411.5&y=1300.5&z=-4")
    maps.settle(page)
    for _ in range(40):
        page.page.keyboard.press("Tab")
        if page.page.evaluate(f"{maps.SHADOW}.activeElement.matches('.map-cells')"):
            break
    maps.press(page, "ArrowLeft", "ArrowRight", "l", "Enter")
    page.page.wait_for_selector("#map-from + table")
    assert page.hash()["q"] == str(NEEDLE[0])
    assert page.page.evaluate(f"{maps.SHADOW}.activeElement.matches('.map-cells')")
    page.page.locator("#map-from + table button").first.focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    maps.settle(page)
    second = page.page.locator("#map-from + table tr").nth(2).locator("td").first.inner_text()
    assert f"{maps.held(page)[1]:,}" == second
    page.page.keyboard.press("t")
    assert page.page.evaluate(f"!!{maps.SHADOW}.activeElement.closest('table.ledger')")
    page.page.keyboard.press("?")
    assert "In the view of the map" in page.text("dialog[open]")


def test_names_and_roles(open_page):
    page = open_page(long(), hash=HELD)
    maps.build(page)
    cells = page.page.get_by_role("application")
    assert cells.get_attribute("aria-label").startswith("Map of layer 0, head 0.")
    assert cells.get_attribute("aria-describedby") == "map-pair"
    for name in ("legend", "range of the colours", "what a cell shows", "near and far"):
        assert page.page.get_by_role("group", name=name).count() == 1
    assert page.page.get_by_role("slider").count() == 2
    assert page.page.get_by_role("table", name="Query 1,300 “t39” reads").count() == 1
    assert page.page.get_by_role("table", name="Key 411 “t23” is read by").count() == 1
    unnamed = page.page.evaluate(
        f"""() => [...{maps.SHADOW}.querySelectorAll("button, input, select")]
          .filter((one) => !(one.textContent || one.ariaLabel || one.labels?.length)).length"""
    )
    assert unnamed == 0


def test_where_nobody_answers_it_says_so_and_goes_on(open_page):
    page = open_page(long(), hash="v=map&x=400&y=1200&z=-1", quiet=False)
    maps.settle(page)
    page.page.route("**/api/**", lambda route: route.abort())
    page.page.focus(".map-cells")
    page.page.keyboard.press("ArrowUp")
    page.page.keyboard.press("ArrowUp")
    page.page.wait_for_selector(".offline:has-text('does not answer')")
    with maps.asked(page) as asked:
        page.page.wait_for_timeout(400)
    assert asked == []  # nothing is asked of nobody
    page.page.unroute("**/api/**")
    page.page.click("[data-act=retry]")
    maps.settle(page)
    page.page.wait_for_timeout(100)
    maps.settle(page)
    _, _, width, height = maps.box(page)
    shown = set(maps.pixels(page, [(x, height - 20) for x in range(0, int(width), 9)]))
    assert len(shown) > 20


def test_an_exported_file_says_that_it_has_no_map(open_page, chromium, tmp_path):
    capture = long(40, heads=2)
    sl.export_html(capture, tmp_path / "file.html")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{(tmp_path / 'file.html').as_uri()}#v=map")
    page.wait_for_selector("[data-softlookup][data-state=ready]")
    assert "not by a file: run softlookup show" in page.inner_text("main")
    context.close()


def test_padding_is_paled_and_named(open_page):
    axis = (Axis(tuple("abcdef"), None, ((4, 6),)),)
    numbers = np.zeros((1, 6, 4))  # every weight is alike, and padding reads like the others
    capture = Capture("padded", (Layer(sl.Lookup(*[numbers] * 3), axis, axis),))
    page = open_page(capture, hash="v=map&x=3&y=3&z=-6&q=1&lock=5.4", color_scheme="light")
    maps.build(page)
    shades = [
        sum(maps.pixels(page, [maps.place(page, query, 2)])[0][:3]) for query in range(6)
    ]  # fmt: skip
    assert len(set(shades[:4])) == len(set(shades[4:])) == 1
    assert shades[0] + 100 < shades[4]
    assert "query 5 “f” (padding) reads key 4 “e” (padding): weight" in maps.said(page)
    links = page.page.locator("#map-from + table button.padding bdi")
    assert sorted(links.all_inner_texts()) == ["e", "f"]


def test_the_picked_key_is_in_sight_in_the_ledger(open_page):
    page = open_page(long(), hash="v=map&x=411.5&y=1300.5&z=-5", size=(1100, 800))
    maps.settle(page)
    maps.press(page, "Enter")
    cell = page.page.wait_for_selector("table.ledger td[tabindex='0']")
    maps.settle(page)
    around = page.page.locator(".row-steps .scroll").first
    assert around.evaluate("box => box.scrollWidth > box.clientWidth + 50")
    steps = page.page.locator("table.ledger tbody tr").first.locator("th").bounding_box()
    sums = page.page.locator("table.ledger tbody tr").first.locator("td.margin").bounding_box()

    def is_in_sight(cell):
        box = cell.bounding_box()
        left, right = steps["x"] + steps["width"], sums["x"]
        return left - 1 <= box["x"] and box["x"] + box["width"] <= right + 1

    assert is_in_sight(cell)
    keys = page.page.locator("#map-from + table tbody tr td:nth-child(2)").all_inner_texts()
    for position in (keys.index(min(keys, key=as_number)), keys.index(max(keys, key=as_number))):
        page.page.locator("#map-from + table tbody button").nth(position).click()
        maps.settle(page)
        assert page.hash()["k"] == keys[position].replace(",", "")
        assert is_in_sight(page.page.locator("table.ledger td[tabindex='0']"))


def as_number(text):
    return int(text.replace(",", ""))


def test_the_lines_of_what_is_picked_leave_its_cell_free(open_page):
    page = open_page(long(), hash=f"{HELD}".replace("z=-4.5", "z=-1"))
    maps.settle(page)
    lines = f"""() => {{
      const canvas = {maps.SHADOW}.querySelector("canvas[data-map=lines]");
      const pen = canvas.getContext("2d");
      const {{ width, height }} = canvas;
      const {{ data }} = pen.getImageData(0, 0, width, height);
      const alpha = (x, y) => data[4 * (y * width + x) + 3];
      const [x, y] = [Math.round(width / 2), Math.round(height / 2)];
      return [alpha(x, y), alpha(x - 1, y - 1), alpha(x - 40, y), alpha(x, y - 40)];
    }}"""
    inside, beside, *along = page.page.evaluate(lines)
    assert (inside, beside) == (0, 0)
    assert min(along) > 0


def test_the_help_begins_with_the_keys_of_the_view(open_page):
    page = open_page(long(), hash=HELD)
    maps.settle(page)
    for view, title in (("map", "the map"), ("table", "all heads"), ("heads", "heads")):
        page.click(f"[data-act=view][data-arg={view}]")
        page.page.keyboard.press("?")
        assert title in page.page.locator("dialog[open] section h2").first.inner_text()
        page.page.keyboard.press("Escape")


def test_a_tab_without_a_key_keeps_its_place_until_the_link_is_opened(chromium, open_page):
    page = open_page(long(), hash=HELD)
    link, place = page.page.evaluate("[sessionStorage['softlookup-token'], location.hash]")
    context = chromium.new_context()
    other = context.new_page()
    address = page.page.url.partition("#")[0]
    other.goto(address + place)
    other.wait_for_selector("[data-softlookup][data-state=refused]")
    other.goto(f"{address}#t={link}")
    other.wait_for_selector("[data-softlookup][data-map=settled]", state="attached")
    assert f"lock={NEEDLE[0]}.{NEEDLE[1]}" in other.url
    assert "t=" not in other.url.partition("#")[2]
    context.close()


def test_a_copied_link_says_where_it_opens(open_page):
    page = open_page(long(), hash=HELD, permissions=["clipboard-read", "clipboard-write"])
    maps.settle(page)
    page.page.keyboard.press("k")
    page.page.wait_for_selector(".notice:has-text('open the terminal’s link first.')")


def test_the_strongest_links_leave_out_who_sees_one_key(open_page):
    page = open_page(long(), reduced_motion="reduce")
    maps.build(page)
    page.page.keyboard.press("s")
    page.page.wait_for_selector(".map-tour tbody tr")
    rows = page.page.locator(".map-tour tbody tr").evaluate_all(
        "all => all.map(x => x.dataset.key)"
    )
    assert len(rows) == 12
    assert "0:0" not in rows
    first = page.page.locator(".map-tour tbody button span").first
    assert first.inner_text() == f"{NEEDLE[0]:,} → {NEEDLE[1]:,}"
    assert first.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_heads_that_are_too_long_for_thumbnails_lead_to_map_and_table(open_page):
    page = open_page(long(12_000, heads=1), hash="v=heads")
    with maps.asked(page) as asked:
        page.page.wait_for_selector(".too-long")
        page.page.wait_for_timeout(300)
    assert not any(one.startswith("overview") for one in asked)
    assert page.text(".too-long") == (
        "Too long for thumbnails: see the map of one head, or the table of all."
    )
    for view in ("table", "map"):
        page.click(f".too-long [data-arg={view}]")
        assert page.hash()["v"] == view
        page.page.go_back()
        page.page.wait_for_selector(".too-long")
