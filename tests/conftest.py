"""What every test may use: golden files, rewritten by ``pytest --rewrite-golden``, and hypothesis.

The profile ``ci`` draws the same examples every time; ``HYPOTHESIS_PROFILE=roam`` (make roam) looks
for new ones.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "golden"

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
