"""The heads view: from the lesson to one number of one head of a real model, and what it says."""

import json
import re

import heads_page as heads
import numpy as np
import pytest
from heads_page import small
from lesson_page import read_numbers

import softlookup as sl
from softlookup.captures import Axis, Capture, Layer
from softlookup.captures.shipped import load

pytestmark = pytest.mark.browser


def test_three_clicks_from_the_lesson_to_the_ledger_of_a_real_head(open_page):
    page = open_page()
    assert page.text("header .title") == "Lesson"
    page.click(".shelved[data-arg=sentence]")
    capture = load("sentence")
    assert page.text("header .title") == "a sentence"
    assert page.page.title() == f"{capture.title} - softlookup"
    assert page.count(".thumb") == 72
    heads.open_head(page, 3, 7)
    page.click(".piece[data-arg='6']")
    record = capture.trace([6], head=7, layer=3).record(0, top=12)
    assert "Layer 3, head 7" in page.text("#head-title")
    assert page.steps() == ["score", "scaled", "exp", "weight", "reads"]
    shown = [read_numbers(text)[0] for text in page.row("weight")[:12]]
    assert shown == pytest.approx(record["weights"], abs=0.0006, rel=0.06)
    assert page.exact("weight", 3) == [record["weights"][3]]
    output = page.page.locator(".vectors tbody tr").last.locator("td").all_inner_texts()[:8]
    numbers = [float(text.replace("−", "-")) for text in output]
    assert numbers == pytest.approx(record["out"][:8], abs=0.0006, rel=0.06)
    page.click(".shelved[data-arg=lesson]")
    assert page.text("#ledger-title") == "What token 1 reads, step by step"
    page.click(".shelved[data-arg=sentence]")
    assert "Layer 3, head 7" in page.text("#head-title")  # as it was left


def test_the_numbers_under_the_pointer_are_those_of_trace(open_page):
    capture = small()
    page = open_page(capture)
    heads.open_head(page, 1, 1)
    traced = capture.trace(head=1, layer=1)
    for row, key in ((0, 0), (2, 5), (5, 1)):
        heads.hover(page, row, key)
        assert heads.said_exactly(page) == traced.weights[row, key]
        query, read = "abcdef"[row], "abcdef"[key]
        score, weight = traced.scores[row, key], traced.weights[row, key]
        assert f"“{query}” reads “{read}”: weight {weight:.3f}" in heads.said(page)
        assert f"(scaled score {score:.3f})".replace("-", "−") in heads.said(page)
    heads.click(page, 2, 5)
    assert page.hash()["q"] == "2"
    assert page.hash()["k"] == "5"
    order = np.argsort(-traced.weights[2])
    rows = heads.read_list(page, 0)
    assert [token for token, _, _ in rows] == ["abcdef"[key] for key in order]
    so_far = np.cumsum(traced.weights[2][order])
    assert [share for _, _, share in rows] == [f"{share:.3f}" for share in so_far]
    by = np.argsort(-traced.weights[:, 5])
    assert [token for token, _, _ in heads.read_list(page, 1)] == ["abcdef"[row] for row in by]
    entropy = -(traced.weights[2] * np.log(traced.weights[2])).sum()
    assert f"entropy {entropy:.3f} of at most 1.792 nats" in page.text(".row-words")
    assert f"first-token share {traced.weights[2, 0]:.3f}" in page.text(".row-words")
    assert page.text("table.ledger tr:has(td.at) th b") == "weight"
    assert page.exact("weight", 5) == [traced.weights[2, 5]]


def test_colours_of_hidden_cells_of_the_largest_and_of_none(open_page):
    numbers = np.full((4, 4), -60.0)
    np.fill_diagonal(numbers, 0)
    look = sl.Lookup(*[np.zeros((2, 4, 2))] * 3, bias=numbers, causal=True)
    axis = (Axis(tuple("abcd")),)
    capture = Capture("colours", (Layer(look, axis, axis), Layer(look, axis, axis, number=1)))
    seen = {}
    for scheme in ("light", "dark"):
        page = open_page(capture, color_scheme=scheme, hash="v=heads&L=0&h=0")
        hidden, most, least = (heads.pixel(page, *cell) for cell in ((0, 3), (2, 2), (3, 0)))
        assert heads.pixel(page, 3, 3) == most
        assert max(hidden) - min(hidden) <= 12  # a grey
        assert max(most) - min(most) > 12
        assert max(least) - min(least) > 12
        seen[scheme] = [sum(colour) for colour in (most, least)]
        assert "hidden" in page.text(".heat-legend")
        heads.hover(page, 0, 3)
        assert "“a” reads “d”: hidden" in heads.said(page)
    assert seen["light"][0] < seen["light"][1]
    assert seen["dark"][0] > seen["dark"][1]


def test_by_keyboard_alone(open_page):
    capture = small(heads=3)
    page = open_page(capture)
    page.page.locator(".thumb[tabindex='0']").focus()
    page.press("ArrowDown", "ArrowRight", "End", "ArrowLeft")
    assert page.focused() == ["button", "1.1"]
    assert "layer 1, head 1: mean entropy" in page.text(".thumb-line")
    page.press("Enter")
    assert page.text("#head-title") == "Layer 1, head 1"
    page.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")
    traced = capture.trace(head=1, layer=1)
    assert "“c” reads “d”" in heads.said(page)
    assert heads.said_exactly(page) == traced.weights[2, 3]
    page.press("Home", "End", "Enter")
    assert (page.hash()["q"], page.hash()["k"]) == ("2", "5")
    assert page.steps()[-1] == "reads"
    page.press(".", ".", ",")
    assert page.hash()["q"] == "3"
    page.press("f", "r")
    assert page.hash()["first"] == "0"
    assert "shifted exp" in page.steps()
    page.press("Escape")
    assert page.focused() == ["button", "1.1"]
    page.press("ArrowRight", "Shift+Enter")
    assert page.hash()["cmp"] == "1.2"
    page.press("v")
    assert page.hash()["v"] == "steps"
    assert page.text("#ledger-title") == "What token d reads, step by step, in layer 1, head 1"
    page.press("v", "?")
    assert "In the view of heads" in page.text("dialog.help")


def test_a_picked_token_is_marked_and_read_in_every_thumbnail(open_page):
    capture = small(heads=3)
    page = open_page(capture)
    assert page.count(".thumb .most") == 0
    before = page.page.locator(".thumb canvas").first.evaluate("c => c.toDataURL()")
    heads.pick(page, 4)
    assert page.page.locator(".thumb canvas").first.evaluate("c => c.toDataURL()") != before
    for stage in (0, 1):
        for head in range(3):
            weights = capture.trace([4], head=head, layer=stage).weights[0]
            shown = page.text(f".thumb[data-arg='{stage}.{head}'] .most").split()
            assert shown == ["abcdef"[np.argmax(weights)], f"{weights.max():.2f}"]
            name = page.page.get_attribute(f".thumb[data-arg='{stage}.{head}']", "aria-label")
            assert f"layer {stage}, head {head}: mean entropy" in name
            assert f"first-token share {first_share(capture, stage, head):.3f}" in name
    page.click("button[data-act=unpick]")
    assert page.count(".thumb .most") == 0


def first_share(capture, stage, head):
    return capture.trace(head=head, layer=stage).weights[:, 0].mean()


def test_two_heads_beside_each_other(open_page):
    capture = small()
    page = open_page(capture)
    heads.open_head(page, 0, 0)
    page.page.select_option("select[data-choose=compare]", "1.1")
    page.wait()
    assert page.all(".head-figure h3") == ["Layer 0, head 0", "Layer 1, head 1"]
    one, other = (capture.trace(head=at, layer=at).weights[3, 2] for at in (0, 1))
    for which in ("first", "second"):  # the same pair in both
        heads.hover(page, 3, 2, which)
        assert f"weight {one:.3f}" in heads.said(page)
        sign = "+" if one > other else "−"
        line = f"layer 1, head 1: {other:.3f}; difference {sign}{abs(one - other):.3f}"
        assert line in heads.said(page)
    heads.click(page, 3, 2, "second")
    assert page.all(".heat-label.picked") == ["c", "d", "c", "d"]
    ends = page.page.locator(".heat-legend").all_inner_texts()
    assert len(set(ends)) == 1
    page.page.select_option("select[data-choose=compare]", "")
    page.wait()
    assert page.count(".head-figure") == 1


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 0)])
def test_two_heads_have_one_range_of_colours(open_page, one, other):
    capture = small()
    most = max(capture.trace(head=at, layer=at).weights.max() for at in (0, 1))
    page = open_page(capture, hash=f"v=heads&L={one}&h={one}&cmp={other}.{other}")
    ends = [text.split()[-1] for text in page.all(".heat-legend")]
    assert ends == [f"{most:.3f}"] * 2


def test_a_mean_is_over_the_layers_that_see_the_same_tokens(open_page):
    few, many = small(layers=1, length=4), small(layers=2, seed=9)
    page = open_page(Capture("two axes", (few.layers[0], *many.layers)), hash="v=heads&L=1&h=0")
    page.click("button[data-act=average][data-arg=layers]")
    assert page.text("#head-title") == "Mean of head 0 over 2 layers"
    heads.hover(page, 5, 3)
    weights = [layer.look.head(0).trace().weights[5, 3] for layer in many.layers]
    assert heads.said_exactly(page) == pytest.approx(np.mean(weights), abs=1e-15)


def test_words_and_means_are_named_and_right(open_page):
    capture = small(words=(-1, 0, 1, 1, 1, -1))
    page = open_page(capture)
    heads.open_head(page, 0, 1)
    page.press("w")
    assert "summed over the key word's tokens, averaged over the query word's tokens" in page.text(
        ".head-part"
    )
    assert page.all(".rows .heat-label bdi") == ["a", "b", "cde", "f"]
    weights = capture.trace(head=1, layer=0).weights
    heads.hover(page, 2, 1)
    assert heads.said_exactly(page) == pytest.approx(weights[2:5, 1].mean(), abs=1e-15)
    heads.hover(page, 1, 2)
    assert heads.said_exactly(page) == pytest.approx(weights[1, 2:5].sum(), abs=1e-15)
    heads.click(page, 2, 2)
    assert page.hash()["q"] == "2"  # the word's first token
    assert page.all(".heat-label.picked bdi") == ["cde", "cde"]
    page.press("w")
    both = [capture.trace(head=h, layer=stage).weights for stage in (0, 1) for h in (0, 1)]
    for name, what, part in (
        ("heads", "Mean over 2 heads of layer 0", both[:2]),
        ("layers", "Mean of head 1 over 2 layers", both[1::2]),
        ("both", "Mean over 4 heads of 2 layers", both),
    ):
        page.click(f"button[data-act=average][data-arg={name}]")
        assert page.text("#head-title") == what
        heads.hover(page, 3, 4)
        assert heads.said_exactly(page) == pytest.approx(np.mean(part, axis=0)[3, 4], abs=1e-15)
        assert page.count("table.ledger") == 0
        assert "has no steps of its own" in page.text("main")


def test_the_range_of_the_colours_without_the_first_key(open_page):
    bias = np.zeros((6, 6))
    bias[:, 0] = 5
    capture = small(heads=1, bias=bias)
    page = open_page(capture)
    heads.open_head(page, 0, 0)
    weights = capture.trace(layer=0).weights
    assert page.text(".heat-legend").split()[-1] == f"{weights.max():.3f}"
    before = heads.pixel(page, 3, 4)
    page.click("button[data-act=first][data-arg='0']")
    assert page.text(".heat-legend").strip().endswith(f"{weights[:, 1:].max():.3f} or more")
    assert heads.pixel(page, 3, 4) != before
    assert page.hash()["first"] == "0"


def test_sinks_empty_rows_and_padding_are_drawn_as_such(open_page):
    mask = np.ones((6, 6), bool)
    mask[:, 5] = mask[2] = False
    capture = small(mask=mask, sinks=np.array([0.5, 1.5]), padding=((5, 6),))
    page = open_page(capture)
    heads.open_head(page, 0, 1)
    traced = capture.trace(head=1, layer=0)
    assert page.all(".heat-label.sink") == ["sink"]
    box = page.page.locator(".heat-cells")
    box.scroll_into_view_if_needed()
    at = box.bounding_box()
    page.page.mouse.move(at["x"] + at["width"] - 3, heads.place(page, 4, 0)[1])
    assert "“e” leaves to the sink: weight" in heads.said(page)
    assert heads.said_exactly(page) == pytest.approx(1 - traced.weights[4].sum(), abs=1e-6)
    heads.hover(page, 2, 3)
    assert "“c” has no visible keys" in heads.said(page)
    assert page.all(".heat-label.padding bdi") == ["f", "f"]
    assert page.count(".piece.padding") == 1
    assert "padding" in page.page.get_attribute(".piece.padding", "title")
    heads.click(page, 2, 3)
    assert "“c” has no visible keys: it reads nothing." in page.text(".row-words")
    assert "No visible keys" in page.text(".note")
    page.press(".")
    tokens = [token for token, _, _ in heads.read_list(page, 0)]
    assert "sink" in tokens
    assert heads.read_list(page, 0)[-1][2] == "1.000"


def test_a_place_comes_back_from_its_address(open_page):
    capture = small(words=(0, 0, 1, 2, 3, 4))
    page = open_page(capture)
    heads.open_head(page, 1, 0)
    heads.click(page, 3, 1)
    page.page.select_option("select[data-choose=compare]", "0.1")
    page.wait()
    page.press("w", "f")
    place, shown = page.page.url, page.page.locator("main").inner_text()
    page.page.goto("about:blank")
    page.page.goto(place)
    page.wait()
    heads_of = "Layer 1, head 0"
    assert page.text("#head-title") == heads_of
    heads.hover(page, 0, 0)
    assert page.page.url == place
    again = page.page.locator("main").inner_text()
    pair = re.compile(r"“[^\n]*exactly[^\n]*|“[^\n]*difference[^\n]*|Point at[^\n]*")
    assert pair.sub("", again) == pair.sub("", shown)


def test_a_long_text_is_shown_in_parts(open_page):
    numbers = np.random.default_rng(2)
    arrays = [numbers.standard_normal((1, 1112, 4)).astype(np.float32) for _ in "qkv"]
    page = open_page(sl.Lookup(*arrays, causal=True), hash="v=heads&L=0&h=0")
    page.page.fill("input[data-change=part-row]", "600")
    page.press("Enter")
    assert page.hash()["win"] == "600.0"  # the last part that there is
    assert "… 1111 of 1,112" in page.text(".part-side")
    assert page.page.locator("button[data-arg='row:1']").is_disabled()
    look = sl.Lookup(*(part[0] for part in arrays), causal=True)
    weights = look.trace([650]).weights[0]
    heads.hover(page, 50, 7)
    assert heads.said_exactly(page) == weights[7]
    heads.click(page, 50, 7)
    assert page.hash()["q"] == "650"
    most = np.argsort(-weights, kind="stable")[:12]
    assert [row[0].split()[0] for row in heads.read_list(page, 0)] == [str(key) for key in most]
    page.page.fill("input[data-change=ask]", "3")
    page.press("Enter")
    assert page.hash()["q"] == "3"
    assert page.hash().get("win", "0.0").startswith("0.")


def test_what_is_saved_is_what_is_shown(open_page):
    capture = small(causal=True, about={"model": "none"})
    page = open_page(capture, permissions=["clipboard-read", "clipboard-write"])
    heads.open_head(page, 0, 1)
    weights = capture.trace(head=1, layer=0).weights
    files = {}
    for kind in ("png", "svg", "csv", "json"):
        with page.page.expect_download() as waiting:
            page.page.click(f"button[data-act=save][data-arg={kind}]")
        files[kind] = waiting.value
    contents = {kind: file.path().read_bytes() for kind, file in files.items()}
    assert files["csv"].suggested_filename == "a-few-heads-layer-0-head-1.csv"
    assert contents["png"].startswith(b"\x89PNG")
    assert b"layer 0, head 1" in contents["svg"]
    found = json.loads(contents["json"])
    assert found["weights"][5] == weights[5].tolist()
    assert found["weights"][0][1] is None
    last = contents["csv"].decode().strip().split("\r\n")[-1].split(",")
    assert [float(field) for field in last[-6:]] == weights[5].tolist()
    page.click("button[data-act=save-page]")
    page.page.locator(".notice", has_text="sl.export_html(").wait_for()  # not the one before it
    assert "sl.export_html(" in page.text(".notice")


def test_all_dimensions_of_the_vectors(open_page):
    numbers = np.random.default_rng(5).standard_normal((2, 3, 40))
    axis = (Axis(tuple("abc")),)
    layers = [Layer(sl.Lookup(numbers, numbers, numbers), axis, axis, number=n) for n in (0, 1)]
    page = open_page(Capture("wide", tuple(layers)), hash="v=heads&L=0&h=1&q=1&k=2")
    assert len(page.all(".vectors tbody tr:first-child td")) / 2 == 9
    page.click("button[data-act=wide]")
    cells = page.all(".vectors tbody:first-of-type tr:nth-child(3) td")[:40]
    products = numbers[1, 1] * numbers[1, 2]
    assert [float(cell.replace("−", "-")) for cell in cells] == pytest.approx(products, abs=0.0006)
    assert f"adds up to the score {products.sum():.3f}".replace("-", "−") in page.text(".vectors")
