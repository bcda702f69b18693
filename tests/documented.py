"""The examples that need a model, or a package that not everyone has: a page's ```py blocks."""

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks_of(page):
    """Return the blocks of a page that are run with models."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run_examples(page, at_least):
    """Run them one after the other, in one namespace; each prints what the page says."""
    blocks = "\n".join(blocks_of(page))
    test = doctest.DocTestParser().get_doctest(blocks, {}, page.name, str(page), 0)
    assert len(test.examples) >= at_least
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    assert runner.run(test) == (0, len(test.examples))
