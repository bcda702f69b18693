"""The page on models: its examples that need a model run, and print what it says."""

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="models (make models installs what they need)")
pytest.importorskip("torch", reason="models (make models installs what they need)")

pytestmark = pytest.mark.models
PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"


def test_its_examples_run(minilm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert blocks
    runner = doctest.DocTestRunner(verbose=False)
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, {}, PAGE.name, str(PAGE), 0)
        assert runner.run(test) == (0, len(test.examples))
    assert (tmp_path / "run.safetensors").is_file()
