"""What a reader may copy about the GPU runs, interpreted: tensors on the CPU stand for a GPU's."""

import doctest
import importlib
import pkgutil

import pytest

import softlookup.backends.triton
from documented import OPTIONS, ROOT, blocks_of, run_examples

PAGE = ROOT / "docs" / "gpu.md"
DEVICE = 'device = "cuda"'
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(
        softlookup.backends.triton.__path__, "softlookup.backends.triton."
    )
)


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    (tmp_path / PAGE.name).write_text(
        PAGE.read_text(encoding="utf-8").replace(DEVICE, 'device = "cpu"'), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    run_examples(tmp_path / PAGE.name, at_least=10)


def test_the_device_is_named_once_and_nothing_else_names_it():
    text = "".join(blocks_of(PAGE))
    assert text.count(DEVICE) == 1
    assert "cuda" not in text.replace(DEVICE, "").replace('backend="cuda"', "").replace(
        "'cuda'", ""
    )


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=OPTIONS).failed == 0
