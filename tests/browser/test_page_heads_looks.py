"""The heads view for everyone and under hostile texts: sizes, schemes, names, odd captures."""

import heads_page as heads
import hostile
import numpy as np
import pytest
from heads_page import small

import softlookup as sl
from captured import two_stacks
from softlookup.captures import Axis, Capture, Layer
from softlookup.tokens import readable

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
DARKEST = """(canvas, rows) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height);
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  return Array.from({ length: rows }, (_, row) => {
    const { data } = pen.getImageData(0, Math.round(((row + 0.5) * height) / rows), width, 1);
    const shades = data.filter((_, i) => i % 4 < 3);
    return Math.min(...Array.from({ length: width }, (_, x) =>
      shades[3 * x] + shades[3 * x + 1] + shades[3 * x + 2]));
  });
}"""
DEEP = "v=heads&L=0&h=1&q=4&k=2"


def test_hostile_texts_stay_texts_in_every_place(open_page):
    page = open_page(hostile.capture(), hash=DEEP)
    hostile.assert_literal(page.page)
    heads.hover(page, 7, 3)
    for text in (hostile.TEXTS[7], hostile.TEXTS[3]):
        assert readable(text)[:10] in heads.said(page)
    page.press("w")
    page.page.select_option("select[data-choose=compare]", index=1)
    page.wait()
    page.page.click("summary")
    page.press("?", "Escape")
    for kind in ("svg", "csv", "json", "png"):
        with page.page.expect_download() as waiting:
            page.page.click(f"button[data-act=save][data-arg={kind}]")
        name = waiting.value.suggested_filename
        assert name.isascii()
        assert not set(name) & set("<>&'\"/\\ ")
    page.press("v", "v")
    hostile.assert_harmless(page.page, scripts=1)


def test_a_right_to_left_text_keeps_its_order(open_page):
    tokens = ["א", "ב", "5", "ג", "(", "د", "x"]
    numbers = np.random.default_rng(1).standard_normal((2, 7, 4))
    page = open_page(sl.Lookup(*[numbers] * 3), tokens=tokens, hash=f"{DEEP}")
    lefts = page.page.locator(".piece").evaluate_all(
        "all => all.map(piece => piece.getBoundingClientRect().left)"
    )
    assert page.all(".piece bdi") == tokens
    assert lefts == sorted(lefts)
    heads.hover(page, 1, 3)
    parts = page.page.locator("#pair .formula bdi").all_inner_texts()
    assert parts == ["“ב”", "“ג”"]


def test_rows_of_padding_are_paled_and_set_no_colours(open_page):
    numbers = np.random.default_rng(5).standard_normal((3, 1, 6, 4))
    numbers[0, :, 4:] *= 9
    axis = (Axis(tuple("abcdef"), None, ((4, 6),)),)
    capture = Capture("padded", (Layer(sl.Lookup(*numbers), axis, axis),))
    weights = capture.layers[0].look.weights()[0]
    assert weights[4:].max() > weights[:4].max() + 0.01
    page = open_page(capture, hash="v=heads&L=0&h=0", color_scheme="light")
    assert f"{weights[:4].max():.3f}" in page.text(".heat-legend")
    darkest = [
        min(sum(heads.pixel(page, row, key)) for key in range(6)) for row in range(6)
    ]  # fmt: skip
    assert max(darkest[:4]) < min(darkest[4:])
    shades = page.page.locator(".thumb canvas").evaluate(DARKEST, 6)
    assert max(shades[:4]) < min(shades[4:])


def test_what_a_model_wrote_is_marked(open_page):
    axis = (Axis(tuple("abcdef"), None, (), 4),)
    numbers = np.random.default_rng(5).standard_normal((3, 1, 6, 4))
    capture = Capture("written", (Layer(sl.Lookup(*numbers, causal=True), axis, axis),))
    page = open_page(capture, hash="v=heads&L=0&h=0")
    assert page.all(".pieces > *") == ["a", "b", "c", "d", "written:", "e", "f"]
    assert page.all(".piece.written") == ["e", "f"]
    assert page.all(".heat-label.written bdi") == ["e", "f", "e", "f"]
    assert page.page.get_attribute(".piece.written", "title") == "e (written)"
    for axis in (".rows", ".keys"):  # where a text is on its side, its line is beside it
        label = page.page.locator(f"{axis} > .heat-label.written").first
        box = label.bounding_box()
        around = {"x": box["x"] - 3, "y": box["y"] - 3} | {
            side: box[side] + 6 for side in ("width", "height")
        }
        marked = page.page.screenshot(clip=around)
        label.locator("bdi").evaluate("text => { text.style.textDecoration = 'none'; }")
        assert page.page.screenshot(clip=around) != marked, axis


def test_hostile_addresses_open_what_there_is(open_page):
    capture = small()
    page = open_page(capture)
    before = page.text("main")
    for hash_ in (
        "v=heads&q=99&k=-1&c=__proto__&b=7",
        "v=<b>&L=9&h=9&cmp=9.9&w=2&m=toString",
        "c=constructor&v=heads&win=1.1&first=0x",
        "%00%ff%E0%A4%A&v=&&&==",
    ):
        page.page.goto("about:blank")
        page.open(hash_)
        assert page.text("main") == before, hash_
    page.page.evaluate("location.hash = 'c=sentence&v=heads&L=2&h=1&q=3'")
    page.page.wait_for_selector(".thumb[data-arg='5.11']")
    page.wait()
    assert page.text("#head-title") == "Layer 2, head 1"
    page.page.evaluate("location.hash = 'v=heads&L=1&h=1&q=3'")
    page.page.wait_for_selector(".thumb[data-arg='5.11']", state="detached")
    page.wait()
    assert page.text("header .title") == "a few heads"
    assert page.text("#head-title") == "Layer 1, head 1"


def test_every_layer_of_a_capture_with_everything_opens(open_page):
    """Two stacks, chosen heads, a batch with axes of its own, sinks, bfloat16, empty rows."""
    capture = two_stacks()
    page = open_page(capture)
    for stage, layer in enumerate(capture.layers):
        head = len(layer.heads) - 1
        heads.open_head(page, stage, head)
        page.wait()
        name = f"{layer.label}, head {layer.heads[head]}"
        assert page.text("#head-title") == name[0].upper() + name[1:]
        rows, keys = layer.look.problem.q_len, layer.look.problem.kv_len
        assert f"{rows} × {keys} tokens" in page.page.get_attribute(".heat-cells", "aria-label")
        heads.click(page, rows - 1, 0)
        assert page.count("table.ledger") == 1
        assert page.count(".offline") == 0
    first = page.all(".piece bdi")
    page.page.fill("input[data-change=batch]", "1")
    page.press("Enter")
    heads.open_head(page, 0, 0)
    page.wait()
    assert page.all(".piece bdi") != first
    assert page.all(".piece bdi")[0] == "b0"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_400_pixels_scroll_only_inside_their_boxes(open_page, scheme):
    capture = small(heads=12, length=16, words=tuple(range(16)), about={"origin": "x" * 300})
    page = open_page(capture, size=(400, 800), color_scheme=scheme)
    assert page.page.evaluate(WIDTHS) == [400, 400]
    heads.open_head(page, 1, 11)
    page.wait()
    heads.click(page, 9, 4)
    assert page.page.evaluate(WIDTHS) == [400, 400]
    page.page.select_option("select[data-choose=compare]", "0.3")
    page.wait()
    assert page.page.evaluate(WIDTHS) == [400, 400]
    tall = page.page.locator(".heat-cells").evaluate_all("all => all.map(b => b.offsetTop)")
    assert len(tall) == 2
    figures = page.page.locator(".head-figure")
    one, other = (figures.nth(i).bounding_box() for i in (0, 1))
    assert other["y"] >= one["y"] + one["height"]


def test_everything_to_act_on_has_a_name(open_page):
    page = open_page(small(words=(0, 0, 1, 2, 3, 4)), hash=f"{DEEP}&cmp=1.0")
    tree = page.page.context.new_cdp_session(page.page).send("Accessibility.getFullAXTree")
    roles = {"button", "spinbutton", "combobox", "application", "table", "group", "grid", "region"}
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree["nodes"]
        if not node["ignored"] and node["role"]["value"] in roles
    ]
    assert len(named) > 60
    assert [role for role, name in named if not name.strip()] == []
    assert sum(role == "application" for role, _ in named) == 2
    assert page.count("output[aria-live=polite]") == 2


def test_tab_stops_once_in_each_part(open_page):
    page = open_page(small(heads=4), hash=DEEP)
    for part in (".thumbs", ".pieces", ".heat-axis.rows", ".heat-axis.keys", "table.ledger"):
        assert page.page.locator(f"{part} [tabindex='0']").count() == 1, part
    page.page.locator(".heat-cells").focus()
    outline = (
        "getComputedStyle(document.querySelector('[data-softlookup]').shadowRoot.activeElement)"
        ".outlineStyle"
    )
    page.press("ArrowRight")
    assert page.page.evaluate(outline) == "solid"


def test_a_thumbnail_follows_the_scheme_while_the_page_is_open(open_page):
    page = open_page(small(), hash=DEEP, color_scheme="light")
    drawn = "c => c.toDataURL()"
    canvases = [page.page.locator(part).first for part in (".thumb canvas", ".heat-cells canvas")]
    before = [canvas.evaluate(drawn) for canvas in canvases]
    page.page.emulate_media(color_scheme="dark")
    page.wait()
    assert all(canvas.evaluate(drawn) != old for canvas, old in zip(canvases, before, strict=True))
    page.page.emulate_media(color_scheme="light")
    page.wait()
    assert [canvas.evaluate(drawn) for canvas in canvases] == before


def test_forced_colours_keep_pictures_and_the_opened_head(open_page):
    page = open_page(small(), hash=DEEP, forced_colors="active")
    assert max(heads.pixel(page, 3, 3)) != min(heads.pixel(page, 3, 3))
    style = "e => getComputedStyle(e).outlineStyle"
    assert page.page.locator(".thumb.open .picture").evaluate(style) == "solid"


def test_a_server_that_is_gone_says_so_and_keeps_what_is_shown(open_page):
    page = open_page(small(), hash=DEEP, quiet=False)
    page.view.close()
    heads.open_head(page, 1, 0)
    page.page.wait_for_selector(".offline")
    assert "Start it again" in page.text(".offline")
    assert page.text("#head-title") == "Layer 1, head 0"
    heads.open_head(page, 0, 1)  # known already
    assert page.count(".heat-cells") == 1
