"""The commands that need a model say so, where the library is not installed."""

import sys

import pytest

from softlookup.cli import main


@pytest.mark.parametrize(
    "words",
    [
        ["capture", "--model", "m", "--text", "t", "-o", "run.safetensors"],
        ["show", "--model", "m", "--text", "t"],
    ],
)
def test_the_missing_package_is_named_in_one_line(monkeypatch, capsys, words):
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("transformers: must be installed")
    assert line.endswith('pip install "softlookup[transformers]".')
