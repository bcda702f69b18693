"""The page on tensors: its examples run, and print what it says."""

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="models (make models installs what they need)")

pytestmark = pytest.mark.models
PAGE = Path(__file__).resolve().parents[2] / "docs" / "torch.md"


def test_its_examples_run():
    text = PAGE.read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks.count(">>>") >= 15
    test = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(verbose=False)
    assert runner.run(test) == (0, len(test.examples))
