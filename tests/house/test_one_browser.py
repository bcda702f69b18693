"""Playwright's loop can be started only once in a process: all tests share one browser."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_only_the_shared_fixture_starts_playwright():
    word = "sync_" + "playwright()"
    found = [file for file in TESTS.rglob("*.py") if word in file.read_text(encoding="utf-8")]
    assert found == [TESTS / "conftest.py"]
