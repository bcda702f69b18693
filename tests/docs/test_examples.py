"""Every example that a reader may copy runs, and prints what the page says it prints."""

import doctest
import importlib
import pkgutil
import webbrowser
from pathlib import Path

import console
import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser

import softlookup
from documented import blocks_of
from softlookup.viewer import View

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PYTHON = Sybil(parsers=[PythonCodeBlockParser(doctest_optionflags=OPTIONS)])
DOCUMENTS = console.documents()
EXAMPLES = sorted((console.ROOT / "examples").glob("*.py"))
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(softlookup.__path__, "softlookup.")
    if not module.name.endswith("__main__")
    and not module.name.startswith("softlookup.backends.triton.")  # tests/gpu: they need Triton
)


def named(path):
    return path.name


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_python_blocks(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for example in PYTHON.parse(path):
        example.evaluate()


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_console_blocks(path):
    for block in console.BLOCK.finditer(path.read_text(encoding="utf-8")):
        for step in console.steps(block[1]):
            printed = console.run(step.command)
            assert console.matches(step.shown, printed), (
                f"{path.name}: $ {step.command}\nshown:\n{step.shown}\nprinted:\n{printed}"
            )


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.endswith((".torch", ".multihead", ".unmade")):
        pytest.importorskip("torch", reason="models (make models installs what they need)")
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_example_scripts(path, tmp_path, monkeypatch, capsys):
    """An example prints what the comments beside its prints say."""
    source = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(source, path, "exec"), {"__name__": "__main__", "__file__": str(path)})  # noqa: S102
    promised = [line.split("# prints: ")[1] for line in source.splitlines() if "# prints: " in line]
    printed = capsys.readouterr().out
    assert promised
    for line in promised:
        assert line in printed


def test_the_line_that_shows_a_lookup_opens_its_page(monkeypatch, capsys):
    page = console.ROOT / "docs" / "first_steps.md"
    document = PYTHON.parse(page)
    for example in document:
        example.evaluate()
    (block,) = blocks_of(page)
    shown = []
    monkeypatch.setattr(View, "wait", lambda view: (shown.append(view.url), view.close()))
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    exec(block, document.namespace)  # noqa: S102
    assert shown[0] in capsys.readouterr().out


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if blocks_of(path)], ids=named)
def test_every_block_that_needs_more_than_the_package_is_run_by_some_test(path):
    if path.parent.name == "recipes":  # tests/integrations/test_recipes.py takes all of them
        return
    tests = [
        *(console.ROOT / "tests").glob("*/test_documentation.py"),
        console.ROOT / "tests" / "browser" / "test_notebook_lab.py",
        Path(__file__),
    ]
    assert any(f'{path.name}"' in test.read_text(encoding="utf-8") for test in tests)


def test_a_wrong_output_is_seen():
    assert console.matches("a\nb\n", "a\nb\n")
    assert console.matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert not console.matches("a\nb\n", "a\nc\n")
    assert not console.matches("a\n...\nd\n", "a\nb\nc\n")
