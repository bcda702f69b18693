"""What every test may use: golden files (``pytest --rewrite-golden``), hypothesis, Chromium.

The profile ``ci`` draws the same examples every time; ``HYPOTHESIS_PROFILE=roam`` (make roam) looks
for new ones.
"""

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from left_out import BROWSERS
from patience import PATIENCE

GOLDEN = Path(__file__).parent / "golden"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP evil.test 127.0.0.1",  # a stranger's name that points here
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job, and its children
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", derandomize=True, max_examples=40, deadline=None, database=None)
settings.register_profile("roam", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden", action="store_true", help="write what is printed to tests/golden"
    )


@pytest.fixture
def assert_golden(request):
    """Compare a text with tests/golden/NAME, or write it there under --rewrite-golden."""

    def assert_same(name, text):
        file = GOLDEN / name
        if request.config.getoption("rewrite_golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"{file} is missing: run pytest --rewrite-golden and read the diff"
        assert text == file.read_text(encoding="utf-8")

    return assert_same


def patient(new_context):
    """Let what is waited for in a page come late: Playwright's own 30 seconds may pass."""

    def new(**how):
        context = new_context(**how)
        context.set_default_timeout(1000 * PATIENCE)
        return context

    return new


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests of a process: Playwright's loop can be started only once in it."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("chromium is missing: make browser installs it")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip('playwright is missing: pip install "softlookup[test]"')
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=list(FLAGS), timeout=1000 * PATIENCE
        )
        browser.new_context = patient(browser.new_context)
        yield browser
        browser.close()
