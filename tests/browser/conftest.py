"""A real view in this process, and a page of Chromium that looks at it."""

import pytest
from lesson_page import LessonPage

import softlookup as sl
from strangers import stranger  # noqa: F401


@pytest.fixture(scope="session")
def profile(chromium):
    """What pages share that ask for nothing of their own: each has a port, and so storage, alone.

    A profile for each page would take a renderer's start, half of what opening a page takes.
    """
    context = chromium.new_context()
    yield context
    context.close()


@pytest.fixture
def open_page(chromium, profile):
    """Show a lookup (None: the lesson) and open it; afterwards the page must have stayed quiet."""
    opened = []

    def open_page(look=None, *, hash="", ready="ready", quiet=True, size=(1280, 900), **how):  # noqa: A002
        shown = {name: how.pop(name) for name in ("tokens", "key_tokens", "title") if name in how}
        view = sl.show(look, port=0, open_browser=False, **shown)
        viewport = dict(zip(("width", "height"), size, strict=True))
        context = chromium.new_context(viewport=viewport, **how) if how else profile
        page = LessonPage(context.new_page(), view)
        page.page.set_viewport_size(viewport)
        opened.append((page, context if how else page.page, view, quiet))
        page.open(hash, ready)
        return page

    yield open_page
    for page, own, view, quiet in opened:
        own.close()
        view.close()
        assert page.foreign == []
        if quiet:
            assert page.errors == []


@pytest.fixture(scope="module")
def bundle_page(chromium):
    """A page on which the bundle can be imported."""
    view = sl.show(port=0, open_browser=False)
    context = chromium.new_context()
    page = context.new_page()
    page.goto(view.url)
    yield page
    context.close()
    view.close()
