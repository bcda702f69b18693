"""Light and dark, small and large, still and named: what a page owes to everyone."""

import numpy as np
import pytest

import softlookup as sl

pytestmark = pytest.mark.browser

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
    page.press("Escape", "1", "End")
    step = page.page.locator("table.ledger th.step").first.bounding_box()
    scrolled = page.page.locator(".ledger-part .scroll").evaluate("box => box.scrollLeft")
    assert scrolled > 50
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
    assert page.all("table.tokens .chip small") == [str(i) for i in range(10)]
    few = open_page(sl.Lookup(*[np.eye(3)] * 3), tokens=["x", "x", "y"])
    assert few.all("table.tokens .chip small") == ["0", "1"]
