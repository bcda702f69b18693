"""Widgets in a real JupyterLab."""

import json

import pytest
from notebooks import LabPage, jupyter_lab, needs, write_notebook

from documented import ROOT, blocks_of
from softlookup.shelf import find

pytestmark = [pytest.mark.browser, pytest.mark.slow]

START = 'import softlookup as sl, time\nsl.show("causal")'
BUSY = "The kernel is busy"
HEADS = "[data-softlookup]"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A JupyterLab as it comes."""
    needs("jupyterlab")
    folder = tmp_path_factory.mktemp("lab")
    with jupyter_lab(folder) as address:
        yield folder, address


@pytest.fixture(scope="module")
def served_old(tmp_path_factory):
    """A dark JupyterLab whose widgets share the kernel's one queue, as elsewhere and before."""
    needs("jupyterlab")
    folder = tmp_path_factory.mktemp("old")
    theme = "JupyterLab Dark"
    with jupyter_lab(folder, commsOverSubshells="disabled", theme=theme) as address:
        yield folder, address


@pytest.fixture
def open_lab(chromium, request):
    """Open a notebook of these cells; nothing foreign may be asked for, nothing may go wrong."""
    opened = []

    def open_lab(served, *cells, size=(1400, 1000)):
        folder, address = served
        name = f"{request.node.name}-{len(opened)}.ipynb"
        if cells:
            write_notebook(folder / name, *cells)
        context = chromium.new_context(viewport=dict(zip(("width", "height"), size, strict=True)))
        page = context.new_page()
        foreign, errors = [], []
        page.on("request", lambda asked: foreign.append(asked.url))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        opened.append((context, foreign, errors))
        return LabPage(page, address(name if cells else f"{request.node.name}-0.ipynb"))

    yield open_lab
    for context, foreign, errors in opened:
        context.close()
        known = ("http://127.0.0.1:", "data:", "blob:", "about:")
        assert [url for url in foreign if not url.startswith(known)] == []
        # of a kernel that was restarted
        assert [error for error in errors if not error.startswith("Comm not found")] == []


def state(view):
    return view.locator(HEADS).get_attribute("data-state")


def paper(view):
    return view.locator(HEADS).evaluate("root => getComputedStyle(root).backgroundColor")


def said(view):
    return view.locator(".waits").inner_text()


def open_head(view, number):
    view.locator(".thumb").nth(number).click()
    view.locator("#head-title").wait_for()


def test_a_cell_shows_heads_and_the_kernel_answers(open_lab, served):
    lab = open_lab(served, START, "print(_.place, _.height)")
    lab.run(0)
    view = lab.view(0)
    open_head(view, 20)
    view.locator(".piece").nth(12).click()
    lab.until(lambda: state(view) == "ready" and view.locator("table.ledger").count())
    assert view.locator("#head-title").inner_text() == "Layer 16, head 2"
    head = find("causal").load().layers[2].head(2)
    strongest = head.trace(rows=[12]).weights[0].max()
    assert f"{strongest:.3f}" in view.locator("table.ledger").inner_text()
    box = lab.cell(0).locator("iframe").bounding_box()
    assert box["height"] == 680 - 12
    assert box["width"] > 800
    lab.run(1)
    shown = lab.cell(1).locator(".jp-OutputArea-output").inner_text()
    assert shown.strip().endswith(" 680")
    assert "L=2" in shown
    assert lab.page.url.partition("#")[2] == ""


def test_the_cells_of_the_documentation_run(open_lab, served):
    cells = blocks_of(ROOT / "docs" / "notebooks.md")
    assert cells
    lab = open_lab(served, *cells)
    for number in range(len(cells)):
        lab.run(number)
        assert lab.view(number).locator("h1").inner_text() == "softlookup"


def test_two_widgets_stand_side_by_side(open_lab, served):
    lab = open_lab(served, START, 'sl.show("sentence")', "_")
    sheets = "() => document.adoptedStyleSheets.length"
    before = lab.page.evaluate(sheets)
    for number in range(3):  # the third is another view of the second
        lab.run(number)
    first, second, third = (lab.view(number) for number in range(3))
    open_head(first, 3)
    open_head(second, 5)
    assert first.locator("#head-title").inner_text() == "Layer 0, head 3"
    assert second.locator("#head-title").inner_text() == "Layer 0, head 5"
    assert third.locator("#head-title").count() == 0
    open_head(third, 7)
    assert second.locator("#head-title").inner_text() == "Layer 0, head 5"
    own = "() => [...document.querySelectorAll('[id]')].filter(e => /head-title/.test(e.id)).length"
    assert lab.page.evaluate(own) == 0
    assert lab.page.evaluate(sheets) == before
    reach = "() => { try { return parent.document.title; } catch (error) { return error.name; } }"
    for view in (first, second):  # and nothing in a cell reaches the notebook
        assert view.locator("body").evaluate(reach) == "SecurityError"
        assert view.locator("body").evaluate("() => origin") == "null"


def test_keys_in_a_cell_are_its_own_and_saving_is_the_notebook_s(open_lab, served):
    lab = open_lab(served, START, "2", "3")
    lab.run(0)
    view = lab.view(0)
    open_head(view, 3)
    view.locator(".piece").nth(4).click()
    lab.until(lambda: state(view) == "ready")
    picked = view.locator(".piece[aria-pressed='true']")
    before = picked.inner_text()
    cells = lab.page.locator(".jp-Notebook .jp-Cell").count()
    for key in ("d", "d", "a", "x", "j", "."):
        lab.page.keyboard.press(key)
    lab.until(lambda: picked.inner_text() != before)
    assert lab.page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert lab.page.locator(".jp-mod-dirty").count() == 1
    lab.page.keyboard.press("Control+s")
    lab.until(lambda: lab.page.locator(".jp-mod-dirty").count() == 0)
    # and what is pressed in the notebook reaches no cell
    now = picked.inner_text()
    lab.cell(2).locator(".jp-InputPrompt").click()
    for key in (".", ".", "Escape"):
        lab.page.keyboard.press(key)
    lab.page.wait_for_timeout(300)
    assert picked.inner_text() == now


def test_an_answer_that_comes_late_takes_no_focus(open_lab, served_old):
    lab = open_lab(served_old, START.replace('"causal"', ""), "time.sleep(5)", "word")
    lab.run(0)
    view = lab.view(0)
    asked = view.locator(".given").inner_text()
    lab.run(1, wait=False)
    view.locator('[data-act="another"]').first.click()
    lab.cell(2).locator(".cm-content").click()
    lab.page.keyboard.type("typed ")
    lab.until(lambda: "*" not in lab.prompt(1))
    lab.until(
        lambda: view.locator(".given").count() and view.locator(".given").inner_text() != asked
    )
    lab.page.wait_for_timeout(300)
    lab.page.keyboard.type("here ")
    assert "typed here " in lab.cell(2).locator(".cm-content").inner_text()


def test_a_cell_that_moves_and_a_page_that_is_loaded_again_find_their_place(open_lab, served):
    lab = open_lab(served, START, "_.height = 444", "3")
    lab.run(0)
    open_head(lab.view(0), 20)
    lab.run(1)
    lab.until(lambda: lab.cell(0).locator("iframe").bounding_box()["height"] == 444 - 12)
    lab.cell(0).locator(".jp-InputPrompt").click()
    lab.page.get_by_text("Edit", exact=True).click()
    lab.page.get_by_text("Move Cell Down", exact=True).click()
    lab.until(lambda: lab.cell(1).locator("iframe").count())
    lab.view(1).locator("#head-title").wait_for()
    assert lab.view(1).locator("#head-title").inner_text() == "Layer 16, head 2"
    lab.page.keyboard.press("Control+s")
    lab.until(lambda: lab.page.locator(".jp-mod-dirty").count() == 0)
    lab.page.reload()
    lab.view(1).locator("#head-title").wait_for()
    assert lab.view(1).locator("#head-title").inner_text() == "Layer 16, head 2"
    assert said(lab.view(1)) == ""


def test_a_running_cell_holds_nothing_up_where_the_kernel_has_subshells(open_lab, served):
    lab = open_lab(served, START, "for _ in range(200): time.sleep(.1)")
    lab.run(0)
    view = lab.view(0)
    lab.run(1, wait=False)
    view.locator('[data-act="view"][data-arg="table"]').click()  # only the kernel knows it
    lab.until(lambda: view.locator("table.heads-table tbody tr").count() == 54)
    lab.until(lambda: "…" not in view.locator("table.heads-table tbody").inner_text())
    assert "*" in lab.prompt(1), "the cell still runs"
    assert said(view) == ""
    lab.page.keyboard.press("Escape")
    lab.page.get_by_text("Kernel", exact=True).click()
    lab.page.get_by_text("Interrupt Kernel", exact=True).click()


def test_a_busy_kernel_is_one_quiet_line_and_the_page_goes_on(open_lab, served_old):
    lab = open_lab(served_old, START, "for _ in range(90): time.sleep(.1)")
    lab.run(0)
    view = lab.view(0)
    lab.page.wait_for_timeout(500)
    lab.run(1, wait=False)
    open_head(view, 3)
    lab.until(lambda: said(view).startswith(BUSY))
    lab.until(lambda: state(view) == "ready")
    assert view.locator(".heat-cells").count()
    view.locator('[data-act="view"][data-arg="map"]').click()
    lab.page.wait_for_timeout(500)
    assert "*" in lab.prompt(1), "the cell still runs"
    assert said(view).startswith(BUSY)
    lab.until(lambda: "*" not in lab.prompt(1))
    lab.until(lambda: said(view) == "" and state(view) == "ready")
    view.locator(".map-cells").wait_for()
    assert view.locator(".offline").count() == 0


def test_after_a_restart_a_sentence_says_what_to_do(open_lab, served):
    lab = open_lab(served, START, "1")
    lab.run(0)
    view = lab.view(0)
    lab.page.wait_for_timeout(500)
    lab.page.get_by_text("Kernel", exact=True).click()
    lab.page.get_by_text("Restart Kernel…", exact=True).click()
    lab.page.locator(".jp-Dialog button.jp-mod-warn").click()
    lab.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    lab.until(lambda: lab.page.locator(".jp-Dialog").count() == 0)
    lab.page.wait_for_timeout(1000)
    view.locator('[data-act="view"][data-arg="map"]').click()
    sentence = "The kernel no longer knows this view: run its cell again, after the cells that it"
    lab.until(lambda: said(view).startswith(sentence))
    lab.page.wait_for_timeout(300)
    assert view.locator(".offline").count() == 0, "it is said once, and no trying again helps"
    view.locator('[data-act="view"][data-arg="heads"]').click()
    open_head(view, 3)  # what the page has it goes on showing
    view.locator(".heat-cells").wait_for()
    lab.run(1)
    lab.run(0)
    again = lab.view(0)
    open_head(again, 4)
    assert again.locator(".offline").count() == 0


def test_colours_follow_the_notebook_and_its_changes(open_lab, served_old):
    lab = open_lab(served_old, START)
    lab.run(0)
    view = lab.view(0)
    assert paper(view) == "rgb(22, 23, 26)"
    lab.page.get_by_text("Settings", exact=True).click()
    lab.page.get_by_text("Theme", exact=True).hover()
    lab.page.get_by_text("JupyterLab Light", exact=True).click()
    lab.until(lambda: paper(view) == "rgb(251, 250, 247)")
    lab.page.get_by_text("Settings", exact=True).click()
    lab.page.get_by_text("Theme", exact=True).hover()
    lab.page.get_by_text("JupyterLab Dark", exact=True).click()
    lab.until(lambda: paper(view) == "rgb(22, 23, 26)")


def test_a_narrow_cell_has_the_narrow_page(open_lab, served):
    lab = open_lab(served, START, size=(700, 900))
    lab.run(0)
    view = lab.view(0)
    open_head(view, 3)
    wide = "root => root.ownerDocument.documentElement.scrollWidth - innerWidth"
    assert view.locator(HEADS).evaluate(wide) <= 0


def test_a_saved_notebook_keeps_the_static_view_and_a_word_for_the_other(open_lab, served):
    lab = open_lab(served, 'import softlookup as sl\nsl.show("causal")', "sl.show(static=True)")
    lab.run(0)
    lab.run(1)
    lab.view(1)
    lab.page.keyboard.press("Control+s")
    lab.until(lambda: lab.page.locator(".jp-mod-dirty").count() == 0)
    folder, _ = served
    (file,) = folder.glob("test_a_saved_notebook*.ipynb")
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    first, second = (cell["outputs"][0]["data"] for cell in cells[:2])
    assert "Run this cell to look into it" in "".join(first["text/html"])
    assert len(json.dumps(first)) < 2_000, "the page itself is not saved"
    assert "".join(second["text/html"]).startswith("<iframe")
    lab.page.get_by_text("Kernel", exact=True).click()
    lab.page.get_by_text("Restart Kernel…", exact=True).click()
    lab.page.locator(".jp-Dialog button.jp-mod-warn").click()
    lab.page.wait_for_timeout(1000)
    reopened = open_lab(served)
    assert "Lesson" in reopened.view(1).locator("header").inner_text()
