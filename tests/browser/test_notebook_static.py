"""A static view: one frame, in any page that holds it, and in a converted notebook, offline."""

import html
import subprocess
import sys

import pytest
from notebooks import needs, write_notebook

import softlookup as sl
from softlookup.viewer.framed import SANDBOX

pytestmark = [pytest.mark.browser, pytest.mark.slow]

READY = '[data-softlookup][data-state="ready"]'
CELL = "import softlookup as sl\nsl.show('sentence', static=True)"


@pytest.fixture
def offline(chromium):
    """Open a text or a file where there is no network; nothing may go wrong but what it must."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900}, offline=True)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: page.errors.append(said.text) if said.type == "error" else None)
    yield page
    context.close()


def test_a_frame_shows_answers_and_stays_inside(offline):
    offline.set_content(f"<p>before</p>{sl.show('causal', static=True)._repr_html_()}")
    view = offline.frame_locator("iframe")
    view.locator(READY).wait_for()
    view.locator(".thumb").nth(20).click()
    view.locator(".piece").nth(12).click()
    view.locator("table.ledger").wait_for()
    assert view.locator("#head-title").inner_text() == "Layer 16, head 2"
    assert view.locator('[data-act="link"]').count() == 0, "a frame has no address"
    # it cannot reach the page that holds it
    reach = "() => { try { return parent.document.title; } catch (error) { return error.name; } }"
    assert view.locator("body").evaluate(reach) == "SecurityError"
    assert view.locator("body").evaluate("() => origin") == "null"
    # dialogs open and close, files are saved
    view.locator('[data-act="help"]').click()
    view.locator("dialog.help[open]").wait_for()
    view.locator("dialog.help button").click()
    assert view.locator("dialog[open]").count() == 0
    with offline.expect_download() as saved:
        view.locator('[data-act="save"][data-arg="csv"]').click()
    assert saved.value.suggested_filename.endswith(".csv")
    assert offline.errors == []


@pytest.mark.parametrize("less", SANDBOX.split())
def test_the_frame_is_allowed_no_more_than_it_needs(offline, less):
    whole = sl.show("causal", static=True)._repr_html_()
    offline.set_content(whole.replace(SANDBOX, SANDBOX.replace(less, "").strip()))
    view = offline.frame_locator("iframe")
    if less == "allow-scripts":
        offline.wait_for_timeout(500)
        assert view.locator("header").count() == 0
        return
    view.locator(READY).wait_for()
    if less == "allow-forms":
        view.locator('[data-act="help"]').click()
        view.locator("dialog.help button").click()
        assert view.locator("dialog[open]").count() == 1
        return
    view.locator(".thumb").nth(20).click()
    downloads = []
    offline.on("download", lambda file: downloads.append(file))  # noqa: PLW0108 - it marks what it calls
    view.locator('[data-act="save"][data-arg="csv"]').click()
    offline.wait_for_timeout(500)
    assert downloads == []


def test_a_hostile_title_stays_a_title(offline):
    look = sl.Lookup([[1, 0]], [[1, 0]], [[1, 0]])
    title = "\"></iframe><script>window.pwned = 1</script><p id='x'>"
    frame = sl.show(look, static=True, title=title, tokens=["</script>"], key_tokens=["<b>"])
    offline.set_content(frame._repr_html_())
    offline.frame_locator("iframe").locator(READY).wait_for()
    assert offline.evaluate("() => [window.pwned, document.getElementById('x')]") == [None, None]
    assert html.escape(title) not in offline.locator("iframe").get_attribute("title")
    assert offline.locator("iframe").get_attribute("title") == title


@pytest.mark.slow
def test_nbconvert_keeps_it(offline, tmp_path):
    needs("nbconvert", "ipykernel")
    write_notebook(tmp_path / "saved.ipynb", CELL, "sl.show('causal')")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "saved.ipynb"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    offline.goto((tmp_path / "saved.html").as_uri())
    view = offline.locator("iframe").first.content_frame
    view.locator(READY).wait_for()
    view.locator(".thumb").nth(3).click()
    view.locator(".heat-cells").wait_for()


@pytest.mark.slow
def test_a_notebook_converted_without_a_kernel_has_a_sentence_for_a_widget(offline, tmp_path):
    needs("nbconvert", "ipykernel")
    write_notebook(tmp_path / "live.ipynb", "import softlookup as sl\nsl.show('sentence')")
    run = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "live.ipynb"]
    state = "--ExecutePreprocessor.store_widget_state=False"
    for command in ([*run, state], [*run[:4], "html", "live.nbconvert.ipynb"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    offline.goto((tmp_path / "live.nbconvert.html").as_uri())
    assert "Run this cell to look into it" in offline.locator("body").inner_text()
