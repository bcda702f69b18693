"""Widgets in a real marimo."""

import pytest
from notebooks import marimo, needs

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOK = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo, softlookup as sl, time
    shown = mo.ui.anywidget(sl.show("causal"))
    shown
    return shown, sl, time


@app.cell
def _(shown):
    print("its place is", shown.place)
    return


@app.cell
def _(sl):
    sl.show("sentence")
    return


@app.cell
def _(sl):
    sl.show(static=True, height=333)
    return


@app.cell
def _(time):
    time.sleep(6)
    return


if __name__ == "__main__":
    app.run()
"""
TITLES = ("A text that repeats itself", "A sentence with two banks", "the lesson")
READY = '[data-softlookup][data-state="ready"]'


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    needs("marimo")
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "cells.py").write_text(NOTEBOOK, encoding="utf-8")
    with marimo(folder, "cells.py") as address:
        yield address


def test_marimo_shows_widgets_and_frames_and_waits_for_its_kernel(chromium, address):
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    foreign, errors = [], []
    page.on("request", lambda asked: foreign.append(asked.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.get_by_text("sl.show(static=True").first.wait_for()
    page.keyboard.press("Control+Shift+r")  # all cells
    boxes = [page.locator(f'iframe[title="{title}"]') for title in TITLES]
    first, second, static = (box.content_frame for box in boxes)
    first.locator(READY).wait_for()
    for frame in (second, static):
        frame.locator(READY).wait_for()
    paper = "root => getComputedStyle(root).backgroundColor"
    assert first.locator(READY).evaluate(paper) == "rgb(22, 23, 26)"
    assert boxes[2].bounding_box()["height"] == 333
    assert "Lesson" in static.locator("header").inner_text()

    # while a cell runs the kernel hears nothing; afterwards all goes on by itself
    page.locator(".cm-content").filter(has_text="time.sleep").click()
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(500)
    first.locator('[data-act="view"][data-arg="map"]').click()
    first.get_by_text("The kernel is busy").wait_for()
    first.locator(".waits:empty").wait_for(state="attached")
    first.locator('[data-map="settled"]').wait_for()
    second.locator(READY).wait_for()

    for number, view in enumerate((first, second)):
        view.locator('[data-act="view"][data-arg="heads"]').click()
        view.locator(".thumb").nth(3 + number).click()
        view.locator(READY).wait_for()
        assert view.locator("#head-title").inner_text() == f"Layer 0, head {3 + number}"
        assert view.locator(".heat-cells").count()
    page.get_by_text("its place is v=heads&L=0&h=3").wait_for()
    context.close()
    assert [
        url for url in foreign if not url.startswith((address, "data:", "blob:", "about:"))
    ] == []
    assert errors == []
