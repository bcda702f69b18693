"""All heads at a glance: sorted, filtered, opened, while they are worked out one by one."""

import csv
import io
import re
import threading
from pathlib import Path

import hostile
import numpy as np
import pytest
from heads_page import small

import softlookup as sl
from captured import two_stacks
from softlookup.captures import Axis, Capture, Layer
from softlookup.captures.shipped import load
from softlookup.tokens import readable
from softlookup.viewer import summaries

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TABLE = "v=table"
WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
ROWS = ".heads-table tbody tr"
SORTED = """() => {
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  return [...shadow.querySelectorAll("[aria-sort]")].map((cell) =>
    [cell.querySelector("button").dataset.arg, cell.getAttribute("aria-sort")]);
}"""
COLOURS = """(cell) => {
  const panel = cell.closest(".panel");
  return [getComputedStyle(cell).color, getComputedStyle(panel).backgroundColor];
}"""
INK = """(at) => {
  const shadow = document.querySelector("[data-softlookup]").shadowRoot;
  const canvas = shadow.querySelector(`canvas[data-row="${at}"]`);
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const at_ = (x, y) => [...pen.getImageData(x * canvas.width, y * canvas.height, 1, 1).data];
  return [at_(0.99, 0.01), at_(0.01, 0.01)].map((pixel) => pixel.slice(0, 3));
}"""


def order(page):
    """Return the heads in the order in which they stand."""
    return page.page.locator(ROWS).evaluate_all("all => all.map(row => row.dataset.key)")


def column(page, name):
    """Return the exact numbers of a column, by the head."""
    heads = page.page.locator(".heads-table thead th button").evaluate_all(
        "all => all.map(button => button.dataset.arg)"
    )
    cells = page.page.locator(f"{ROWS} td:nth-child({heads.index(name) + 1})").evaluate_all(
        "all => all.map(cell => cell.title)"
    )
    return dict(zip(order(page), map(float, cells), strict=True))


def sort(page, name):
    page.click(f".heads-table thead button[data-arg='{name}']")


def arranged(numbers, *, down=True):
    return sorted(numbers, key=lambda at: -numbers[at] if down else numbers[at])


def test_every_head_of_a_real_model_stands_there_with_its_numbers(open_page):
    page = open_page(load("sentence"), hash=TABLE)
    assert page.text("#table-title") == "All 72 heads at a glance"
    assert page.text(".table-progress") == "All 72 heads are worked out."
    assert order(page) == [f"{layer}.{head}" for layer in range(6) for head in range(12)]
    weights = load("sentence").trace(layer=3, head=7).weights
    entropy = -(weights * np.log(weights)).sum(axis=1).mean()
    steps = abs(np.arange(31)[:, None] - np.arange(31))
    for name, number in (
        ("entropy", entropy),
        ("first", weights[:, 0].mean()),
        ("previous", weights.diagonal(-1).mean()),
        ("distance", (weights * steps).sum(axis=1).mean()),
        ("reads special", weights[:, 30].mean()),
        ("reads punctuation", weights[:, [7, 29]].sum(axis=1).mean()),
    ):
        assert column(page, name)["3.7"] == pytest.approx(number, rel=1e-5), name
    bar = page.page.locator(f"{ROWS}[data-key='3.7'] .kinds")
    told = dict(re.findall(r"([a-z ]+?) ([\d.]+)(?:, |$)", bar.get_attribute("aria-label")))
    assert sum(map(float, told.values())) == pytest.approx(1, abs=0.003)
    assert float(told["first token"]) == pytest.approx(weights[:, 0].mean(), abs=0.0005)


def test_a_click_sorts_and_another_turns_it_round(open_page):
    page = open_page(load("causal"), hash=TABLE)
    assert page.page.evaluate(SORTED) == [["head", "ascending"]]
    for name in ("entropy", "distance", "first", "reads words"):
        sort(page, name)
        assert page.page.evaluate(SORTED) == [[name, "descending"]]
        numbers = column(page, name)
        assert order(page) == arranged(numbers)
        sort(page, name)
        assert page.page.evaluate(SORTED) == [[name, "ascending"]]
        assert order(page) == arranged(numbers, down=False)
        assert page.hash() == {"v": "table", "by": name, "way": "up"}
    page.page.goto("about:blank")
    page.open("v=table&by=distance&of=2")
    assert page.page.evaluate(SORTED) == [["distance", "descending"]]
    assert order(page) == arranged(column(page, "distance"))
    assert {at[0] for at in order(page)} == {"2"}
    sort(page, "head")
    assert order(page) == [f"2.{head}" for head in range(9)]


def test_only_one_layer_is_shown_where_it_is_chosen(open_page):
    page = open_page(small(layers=3, heads=2), hash=TABLE)
    page.page.select_option("select[data-choose=table-layer]", "1")
    page.wait()
    assert order(page) == ["1.0", "1.1"]
    assert page.text("#table-title") == "2 heads of layer 1"
    assert page.hash() == {"v": "table", "of": "1"}
    page.page.select_option("select[data-choose=table-layer]", "")
    page.wait()
    assert len(order(page)) == 6


def test_a_row_opens_its_head_and_the_table_is_found_again(open_page):
    page = open_page(small(layers=2, heads=3), hash=f"{TABLE}&by=entropy")
    rows = order(page)
    page.click(f".row-open[data-arg='{rows[4]}']")
    stage, head = rows[4].split(".")
    assert page.text("#head-title") == f"Layer {stage}, head {head}"
    assert (page.hash()["v"], page.hash()["L"], page.hash()["h"]) == ("heads", stage, head)
    page.click("header [data-act=view][data-arg=table]")
    assert order(page) == rows
    assert page.page.evaluate(SORTED) == [["entropy", "descending"]]
    page.page.go_back()
    page.wait()
    assert page.text("#head-title") == f"Layer {stage}, head {head}"


def test_a_long_head_opens_as_a_map(open_page, monkeypatch):
    monkeypatch.setattr(summaries, "LONG", 1000)
    numbers = np.random.default_rng(5).standard_normal((2, 2, 1100, 4)).astype(np.float32)
    axis = (Axis(tuple(f"t{i}" for i in range(1100))),)
    capture = Capture("long", (Layer(sl.Lookup(*numbers, causal=True), axis, axis),))
    page = open_page(capture, hash=TABLE)
    hidden, first = page.page.evaluate(INK, "0.1")
    assert max(hidden) - min(hidden) <= 12  # a grey: what is hidden, in the picture from the map
    assert hidden != first
    page.page.click(".row-open[data-arg='0.1']")
    page.page.wait_for_selector("main.map")
    assert (page.hash()["v"], page.hash()["h"]) == ("map", "1")


def test_by_keyboard_alone(open_page):
    page = open_page(small(layers=2, heads=3), hash=TABLE)
    page.page.focus(".heads-table thead button[data-arg=entropy]")
    page.press("Enter")
    assert page.focused() == ["button", "entropy"]
    assert page.page.evaluate(SORTED) == [["entropy", "descending"]]
    page.press("Space")
    rows = arranged(column(page, "entropy"), down=False)
    assert order(page) == rows
    page.page.focus(".row-open[tabindex='0']")
    page.press("Home", "ArrowDown", "ArrowDown", "ArrowUp")
    assert page.focused() == ["button", rows[1]]
    page.press("End")
    assert page.focused() == ["button", rows[5]]
    page.press("Enter")
    stage, head = rows[5].split(".")
    assert page.text("#head-title") == f"Layer {stage}, head {head}"
    page.page.go_back()
    page.wait()
    page.press("v")
    assert page.count(".thumb") == 6


class Gate:
    """Lets the summaries of heads through one at a time."""

    def __init__(self, monkeypatch):
        self.free, real = threading.Semaphore(0), summaries.Summary.work
        self.open, self.let_through = False, 0

        def work(summary, seconds):
            if not self.open and not self.free.acquire(timeout=0.01):
                return False  # not a step further
            return real(summary, seconds)

        monkeypatch.setattr(summaries.Summary, "work", work)

    def let(self, page, count):
        """Let heads through until so many are there."""
        self.free.release(count - self.let_through)
        self.let_through = count
        page.page.wait_for_function(
            """(count) => document.querySelector("[data-softlookup]").shadowRoot
              .querySelectorAll(".heads-table tbody tr:not(.waiting)").length === count""",
            arg=count,
        )


def test_rows_arrive_one_by_one_and_stay_in_order(open_page, monkeypatch):
    gate = Gate(monkeypatch)
    page = open_page(small(layers=2, heads=3), hash=f"{TABLE}&by=entropy&way=up", ready="loading")
    page.page.wait_for_selector(ROWS)
    assert page.text(".table-progress").startswith("0 of 6 heads")
    assert page.page.get_attribute(".table-progress progress", "value") == "0"
    first = order(page)
    assert first == [f"{layer}.{head}" for layer in range(2) for head in range(3)]
    for count in range(1, 4):
        coming = first[count - 1]
        page.page.focus(f".row-open[data-arg='{coming}']")
        gate.let(page, count)
        numbers = {at: number for at, number in column_there(page).items() if number is not None}
        assert len(numbers) == count
        known = [at for at in order(page) if at in numbers]
        assert known == arranged(numbers, down=False)
        assert order(page)[:count] == known
        assert order(page)[count:] == [at for at in first if at not in numbers]
        assert page.focused() == ["button", coming]  # although its row may have moved
    assert order(page) != first
    page.page.click("[data-act=pause-table]")
    page.wait()
    assert page.text(".table-progress").startswith("3 of 6 heads, held")
    gate.free.release()
    page.page.wait_for_timeout(150)
    assert page.text(".table-progress").startswith("3 of 6 heads, held")
    gate.open = True
    page.press("p")
    page.wait()
    assert page.text(".table-progress") == "All 6 heads are worked out."
    assert order(page) == arranged(column(page, "entropy"), down=False)


def column_there(page):
    """Return the mean entropy of each head, None where it is not worked out."""
    cells = page.page.locator(f"{ROWS} td:nth-child(2)").evaluate_all(
        "all => all.map(cell => cell.title)"
    )
    numbers = [float(cell) if cell else None for cell in cells]
    return dict(zip(order(page), numbers, strict=True))


def test_nothing_is_worked_out_in_another_view(open_page, monkeypatch):
    gate = Gate(monkeypatch)
    page = open_page(small(layers=2, heads=3), hash=TABLE, ready="loading")
    gate.let(page, 2)
    asked = []
    page.page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.page.click("header [data-act=view][data-arg=heads]")
    page.wait()
    asked.clear()
    page.page.wait_for_timeout(150)
    assert not [name for name in asked if name.startswith("head?")]
    gate.open = True
    page.page.click("header [data-act=view][data-arg=table]")
    page.wait()
    assert page.text(".table-progress") == "All 6 heads are worked out."


def test_the_table_is_saved_and_copied_as_it_stands(open_page):
    page = open_page(small(layers=2, heads=2), hash=f"{TABLE}&by=entropy&of=1")
    with page.page.expect_download() as waiting:
        page.page.click("[data-act=save-table]")
    assert waiting.value.suggested_filename == "a-few-heads-layer-1.csv"
    content = Path(waiting.value.path()).read_bytes().decode()
    lines = list(csv.reader(io.StringIO(content, newline="")))
    assert lines[0][:5] == ["layer", "head", "module", "mean entropy (nats)", "first-token share"]
    numbers = column(page, "entropy")
    assert [(line[0], f"1.{line[1]}", float(line[3])) for line in lines[1:]] == [
        ("layer 1", at, numbers[at]) for at in order(page)
    ]


def test_it_says_which_queries_a_model_wrote(open_page):
    def made(prompt, stacks=1):
        axes = [(Axis(tuple("abcdef"), prompt=one),) for one in (prompt, None)][:stacks]
        look = sl.Lookup(*np.random.default_rng(5).standard_normal((3, 2, 6, 4)), causal=True)
        return Capture("written", tuple(Layer(look, axis, axis) for axis in axes))

    said = "4 … 5 were written by the model; each mean is over them and the prompt's."
    for capture, words in (
        (made(4), f"Queries {said} Open a head"),
        (made(4, stacks=2), f"In some layers queries {said} Open a head"),
        (made(6), "Open a head"),
        (made(None), "Open a head"),
    ):
        assert open_page(capture, hash=TABLE).text(".table-note").startswith(words)


def test_hostile_texts_stay_texts(open_page):
    page = open_page(hostile.capture(), hash=f"{TABLE}&by=reads%20words")
    for text in (readable(hostile.TEXTS[1]), readable(hostile.TEXTS[2])):
        assert text in page.text(".heads-table")
    with page.page.expect_download() as waiting:
        page.page.click("[data-act=save-table]")
    assert not set(waiting.value.suggested_filename) & set("<>&'\"/\\ ")
    page.page.select_option("select[data-choose=table-layer]", "1")
    page.wait()
    assert readable(hostile.TEXTS[2]) in page.text("#table-title")
    page.click(".row-open")
    page.press("v", "v")
    hostile.assert_harmless(page.page, scripts=1)


def test_hostile_addresses_show_the_table_as_it_is_at_first(open_page):
    page = open_page(small(), hash=TABLE)
    before = page.text("main")
    for hash_ in ("v=table&by=__proto__&way=<b>&of=9", "v=table&of=-1&by=reads&b=7"):
        page.page.goto("about:blank")
        page.open(hash_)
        assert page.text("main") == before, hash_


def test_a_capture_with_everything_has_its_rows(open_page):
    """Two stacks, a batch with axes of its own, sinks, other tokens across, empty rows."""
    page = open_page(two_stacks(), hash=TABLE)
    assert len(order(page)) == 16
    heads = page.all(".heads-table thead th")
    assert any(text.startswith("sink") for text in heads)
    assert "–" in page.text(f"{ROWS}[data-key='2.0']")  # no token before: it reads another text
    page.page.fill("input[data-change=batch]", "1")
    page.page.press("input[data-change=batch]", "Enter")
    page.wait()
    assert page.hash() == {"v": "table", "b": "1"}
    assert page.text(".table-progress") == "All 16 heads are worked out."


def test_what_is_refused_is_told_in_its_row(open_page, monkeypatch):
    real = summaries.is_long

    def refuse(place):
        if place.head == 1:
            raise sl.viewer.session.ViewError("head", "must be an easier one; got 1. Choose 0.")
        return real(place)

    monkeypatch.setattr(summaries, "is_long", refuse)
    page = open_page(small(layers=1, heads=3), hash=TABLE, quiet=False)
    assert "must be an easier one" in page.text(f"{ROWS}[data-key='0.1']")
    assert page.text(".table-progress") == "All 3 heads are worked out."
    assert "0.2" in column_there(page)


@pytest.mark.parametrize("size", [(1280, 900), (900, 700), (400, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_size_in_light_and_dark(open_page, size, scheme):
    page = open_page(load("sentence"), hash=TABLE, size=size, color_scheme=scheme)
    wide, there = page.page.evaluate(WIDTHS)
    assert wide <= there
    ink, paper = page.page.locator(f"{ROWS} td").first.evaluate(COLOURS)
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
    assert (light[0] < light[1]) == (scheme == "light")
    assert abs(light[0] - light[1]) > 500
    dark_end, pale_end = (sum(pixel) for pixel in page.page.evaluate(INK, "0.2")[::-1])
    assert (dark_end < pale_end) == (scheme == "light")  # of head 2, which reads the token before


def test_a_single_head_has_no_table(open_page):
    page = open_page(small(layers=1, heads=1, length=14), hash="v=heads")
    assert page.all("header [data-act=view]") == ["map", "heads", "steps"]
    page = open_page(small(), hash="v=heads")
    assert page.all("header [data-act=view]") == ["map", "table", "heads", "steps"]


def test_a_file_works_out_no_table_and_says_so(chromium, tmp_path):
    file = sl.export_html(small(), tmp_path / "page.html")
    context = chromium.new_context(offline=True)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{file.as_uri()}#v=table")
    page.wait_for_selector("[data-softlookup][data-state=ready]", state="attached")
    said = page.inner_text("main")
    offered = page.locator("header [data-act=view]").all_inner_texts()
    context.close()
    assert "table of all heads" in said
    assert "softlookup show" in said
    assert offered == ["heads", "steps"]  # nothing that leads here
    assert errors == []


def test_the_table_is_copied_as_it_stands(open_page):
    page = open_page(
        small(layers=1, heads=2),
        hash=f"{TABLE}&by=entropy",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page.press("c")
    page.page.wait_for_function(
        """() => document.querySelector("[data-softlookup]").shadowRoot
          .querySelector(".notice").textContent.includes("copied")"""
    )
    lines = page.page.evaluate("navigator.clipboard.readText()").splitlines()
    numbers = column(page, "entropy")
    assert [float(line.split("\t")[3]) for line in lines[1:]] == [numbers[at] for at in order(page)]
