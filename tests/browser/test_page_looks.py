"""Light and dark, small and large, still and named: what a page owes to everyone."""

import numpy as np
import pytest

import softlookup as sl

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS = """() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"""
CONTRASTS = """() => {
  const channel = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (color) => {
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((x) => channel(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  return [...shadow.querySelectorAll("table.tokens .chip, table.grid td.filled")].map((element) => {
    const style = getComputedStyle(element);
    const [a, b] = [light(style.color), light(style.backgroundColor)];
    return Math.max(a, b) / Math.min(a, b);
  });
}"""


def background(page):
    return page.page.evaluate(
        "getComputedStyle(document.querySelector('[data-softlookup]')).backgroundColor"
    )


def test_light_and_dark(open_page):
    assert background(open_page(color_scheme="light")) == "rgb(251, 250, 247)"
    assert background(open_page(color_scheme="dark")) == "rgb(22, 23, 26)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chips_and_weights_can_be_read(open_page, scheme):
    """Eight token colours, and weights over the whole ramp, have a contrast of 4.5."""
    bias = np.log(np.linspace(0.001, 1, 8))[:, None] * np.ones((8, 8)) * np.eye(8)
    look = sl.Lookup(*[np.zeros((8, 2))] * 3, bias=bias + 4 * np.eye(8))
    page = open_page(look, tokens=list("abcdefgh"), color_scheme=scheme)
    contrasts = page.page.evaluate(CONTRASTS)
    assert len(contrasts) == 72
    assert min(contrasts) >= 4.5


def test_400_pixels_scroll_only_inside_their_tables(open_page):
    page = open_page(size=(400, 800))
    for keys in ([], ["Space"] * 18, ["r"], ["]"] * 3, ["x"], ["Escape", "?"]):
        page.press(*keys)
        scrolled, shown = page.page.evaluate(WIDTHS)
        assert scrolled == shown == 400, keys
    page.press("Escape", "1")
    for _ in range(3):
        page.click("button[data-act=add]")
    page.press("Escape", "End", "ArrowLeft")
    step = page.page.locator("table.ledger th.step").first.bounding_box()
    scrolled = page.page.locator(".ledger-part .scroll").evaluate("box => box.scrollLeft")
    assert scrolled > 50
    assert page.page.locator(".ledger-part .scroll").get_attribute("data-more") == "left"
    assert 0 <= step["x"] < 40  # the names of the steps stay while the keys scroll
    order = page.page.locator("main h2").evaluate_all(
        "all => all.map(h => [h.getBoundingClientRect().top, h.id]).sort((a, b) => a[0] - b[0])"
    )
    assert [name for _, name in order][:3] == ["tokens-title", "ledger-title", "layer-title"]


def test_a_wide_lookup_at_400_pixels(open_page):
    numbers = np.random.default_rng(2).standard_normal((40, 16))
    page = open_page(sl.Lookup(numbers, numbers, numbers), size=(400, 800),
                     tokens=[f"a-long-token-number-{i}" for i in range(40)])  # fmt: skip
    assert page.page.evaluate(WIDTHS) == [400, 400]


def test_reduced_motion_moves_nothing(open_page):
    moving = (
        "getComputedStyle(document.querySelector('[data-softlookup]').shadowRoot"
        ".querySelector('table.ledger tr.unfolded td > *')).animationName"
    )
    page = open_page(reduced_motion="reduce")
    page.press("Space")
    assert page.page.evaluate(moving) == "none"
    page = open_page(reduced_motion="no-preference")
    page.press("Space")
    assert page.page.evaluate(moving) == "appear"


def test_everything_to_act_on_has_a_name(open_page):
    page = open_page()
    page.press(*["Space"] * 18, "e", "Enter")
    tree = page.page.context.new_cdp_session(page.page).send("Accessibility.getFullAXTree")
    roles = {"button", "textbox", "radio", "switch", "grid", "table", "spinbutton", "dialog"}
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree["nodes"]
        if not node["ignored"] and node["role"]["value"] in roles
    ]
    assert len(named) > 40
    assert [role for role, name in named if not name.strip()] == []


def test_the_ledger_is_a_table_with_headers(open_page):
    page = open_page()
    page.press("a")
    assert page.all("table.ledger th[scope=col]")[:3] == ["1", "2", "3"]
    rows = page.page.locator("table.ledger th[scope=row] b").all_inner_texts()
    assert rows == ["score", "scaled", "exp", "weight", "reads"]
    assert page.page.get_by_role("gridcell", name="0.198", exact=True).count() == 1
    assert page.page.locator("output[aria-live=polite]").count() == 1
    assert page.page.get_by_role("switch", name="scale on").is_visible()


def test_the_focus_can_be_seen(open_page):
    page = open_page()
    page.press("Tab")
    outline = page.page.evaluate(
        "getComputedStyle(document.querySelector('[data-softlookup]').shadowRoot.activeElement)"
        ".outlineStyle"
    )
    assert outline == "solid"


def test_forced_colours_keep_cursor_and_words(open_page):
    page = open_page(forced_colors="active")
    page.press("a")
    outline = page.page.evaluate(
        "getComputedStyle(document.querySelector('[data-softlookup]').shadowRoot"
        ".querySelector('table.ledger td.at')).outlineStyle"
    )
    assert outline == "solid"


def test_tokens_beyond_the_colours_are_told_apart_by_position(open_page):
    page = open_page(sl.Lookup(*[np.eye(10)[:, :3]] * 3), tokens=["x"] * 10)
    assert page.all("table.tokens .chip small") == [f"@{i}" for i in range(10)]
    assert "x @0 reads" in page.text("#ledger-title")
    few = open_page(sl.Lookup(*[np.eye(3)] * 3), tokens=["x", "x", "y"])
    assert few.all("table.tokens .chip small") == ["@0", "@1"]


def test_a_text_that_is_alone_or_is_the_position_needs_no_position(open_page):
    page = open_page(sl.Lookup(*[np.eye(10)[:, :3]] * 3))
    assert page.all("table.tokens .chip") == [str(i) for i in range(10)]
    assert "What token 0 reads" in page.text("#ledger-title")
    page = open_page(sl.Lookup(*[np.eye(10)[:, :3]] * 3), tokens=list("abcdefghij"))
    assert page.all("table.tokens .chip") == list("abcdefghij")
    spaces = open_page(sl.Lookup(*[np.eye(3)] * 3), tokens=[" ", "   ", "a"])
    assert spaces.all("table.tokens .chip") == ["⟨space⟩", "⟨3 spaces⟩", "a"]


OUTSIDE = """() => {
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  const box = shadow.querySelector(".ledger-part .scroll").getBoundingClientRect();
  return [...shadow.querySelectorAll("table.ledger .margin")].filter((cell) => {
    const place = cell.getBoundingClientRect();
    return place.left < box.left + 60 || place.right > box.right + 1
      || cell.scrollWidth > cell.clientWidth + 1;
  }).length;
}"""
EDGES = "table.ledger .margin"


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("tokens", [3, 4, 7, 40])
def test_what_a_row_adds_up_to_is_always_in_sight(open_page, width, tokens):
    numbers = np.arange(2.0 * tokens).reshape(-1, 2) % 2
    page = open_page(sl.Lookup(numbers, numbers, numbers), size=(width, 800))
    box = page.page.locator(".ledger-part .scroll")
    for left in (0, 40, 9999):
        box.evaluate("(box, left) => { box.scrollLeft = left; }", left)
        assert page.page.evaluate(OUTSIDE) == 0
    assert page.count(EDGES) == len(page.steps()) + 1
    box.evaluate("box => { box.scrollLeft = 0; }")
    wide = box.evaluate("box => box.scrollWidth > box.clientWidth + 2")
    assert wide == (tokens > (3 if width == 400 else 5))
    page.until(lambda: box.get_attribute("data-more") == ("right" if wide else None))
    assert page.page.locator(".sideways").is_visible() == wide


def test_the_cell_under_the_cursor_is_never_behind_a_column_that_stays(open_page):
    numbers = np.random.default_rng(1).standard_normal((40, 2))
    page = open_page(sl.Lookup(numbers, numbers, numbers), size=(400, 800))
    for key in ["ArrowRight"] * 12 + ["ArrowLeft"] * 12:
        page.press(key)
        cell, step, margin = (
            page.page.locator(f"table.ledger {part}").first.bounding_box()
            for part in ("td.at", "th.step", "td.margin")
        )
        assert cell["x"] >= step["x"] + step["width"] - 1
        if cell["x"] < margin["x"]:
            assert cell["x"] + cell["width"] <= margin["x"] + 1


@pytest.mark.parametrize("touch", [True, False])
def test_words_about_keys_are_for_keyboards(open_page, touch):
    page = open_page(size=(400, 800), has_touch=touch, is_mobile=touch)
    assert page.page.evaluate("matchMedia('(pointer: coarse)').matches") == touch
    assert ("press Space" in page.text("main")) != touch
    assert page.page.locator("footer").is_visible() != touch
    assert page.page.locator("header [data-act=help]").is_visible() != touch


CUT = """() => {
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  return [...shadow.querySelectorAll("table.grid td, table.grid th .chip")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent);
}"""


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_in_the_grid_is_cut_or_spills(open_page, width):
    bias = np.array([[0, -708, -30, -3.0]] * 4)
    look = sl.Lookup(*[np.zeros((4, 2))] * 3, bias=bias)
    page = open_page(look, size=(width, 800),
                     tokens=["a-rather-long-token", "closed", "tokenization", "x"])  # fmt: skip
    assert page.page.evaluate(CUT) == []
    page = open_page(look, tokens=["the", "river", "bank", "closed"], size=(width, 800))
    assert page.page.evaluate(CUT) == []
    assert page.page.evaluate(CUT.replace(".chip", ".chip bdi")) == []  # short texts in full
    assert "≈0" in page.text("table.grid")
    assert page.page.locator("table.grid tbody td").nth(1).get_attribute("title").endswith("−308")
