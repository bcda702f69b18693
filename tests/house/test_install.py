"""Installing says how far the compiler is, and extras compile nothing."""

import io
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import install  # noqa: E402

NINJA = ["  Running command Building\n", "  [1/3] Building CXX object unit.cpp.o\n",
         "  warning: [2/3] is no step\n", "  [2/3] Building\n", "  [3/3] Linking\n"]  # fmt: skip
MAKE = ["[ 50%] Building CXX object a.o\n", "[100%] Linking CXX shared module\n"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (NINJA, "  compiled, of 3: 1 2 3\n"),
        (MAKE, "  compiled: 50% 100%\n"),
        (["Collecting numpy\n"], ""),
    ],
    ids=["ninja", "make", "nothing to compile"],
)
def test_each_step_of_the_compiler_is_shown_on_one_line(lines, said):
    out = io.StringIO()
    assert install.follow(lines, out) == "".join(lines)
    assert out.getvalue() == said


def test_a_step_is_shown_when_it_comes():
    out, seen = io.StringIO(), []

    def lines():
        for line in NINJA:
            yield line
            seen.append(out.getvalue())

    install.follow(lines(), out)
    assert seen[1:4] == ["  compiled, of 3: 1"] * 2 + ["  compiled, of 3: 1 2"]


def as_pip(monkeypatch, tmp_path, body, *, compiled=True):
    """Let a program stand in for pip."""
    monkeypatch.setattr(install, "PIP", [sys.executable, "-c", body])
    monkeypatch.setattr(install, "LOG", tmp_path / "build" / "install.log")
    monkeypatch.setattr(install, "is_compiled", lambda: compiled)
    out = io.StringIO()
    return install.install(out), out.getvalue()


def test_what_pip_says_is_kept_and_not_shown_where_it_works(monkeypatch, tmp_path):
    body = "print('[1/1] Linking'); print('a lot')"
    assert as_pip(monkeypatch, tmp_path, body) == (0, "  compiled, of 1: 1\n")
    assert install.LOG.read_text(encoding="utf-8") == "[1/1] Linking\na lot\n"


def test_what_pip_says_is_shown_whole_where_it_fails(monkeypatch, tmp_path):
    body = "import sys; print('no such host'); print('twice', file=sys.stderr); sys.exit(3)"
    code, said = as_pip(monkeypatch, tmp_path, body)
    assert code == 3
    assert "no such host\n" in said
    assert "twice\n" in said


def test_a_core_that_did_not_compile_is_told(monkeypatch, tmp_path):
    code, said = as_pip(monkeypatch, tmp_path, "pass", compiled=False)
    assert code == 0
    assert said.startswith("The core could not be compiled, so NumPy computes, slower: see ")


def test_extras_are_what_they_and_those_they_name_need():
    project = {
        "name": "softlookup",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {
            "test": ["pytest>=8", "softlookup[notebook]"],
            "notebook": ["anywidget>=0.11,<1"],
            "all": ["softlookup[test,notebook]", "sybil>=8"],
        },
    }
    assert install.requirements(project, ["notebook"]) == ["numpy>=1.26", "anywidget>=0.11,<1"]
    found = install.requirements(project, ["all"])
    assert sorted(found) == ["anywidget>=0.11,<1", "numpy>=1.26", "pytest>=8", "sybil>=8"]
    with pytest.raises(SystemExit, match=r"extras: must be some of .*test.*; got 'tets'"):
        install.requirements(project, ["tets"])


def test_nothing_that_is_installed_names_the_package_itself(monkeypatch):
    asked = []
    monkeypatch.setattr(
        install.subprocess, "run", lambda command, check: asked.append(command) or run_of(0)
    )
    assert install.main(["--extras", "test,lint,docs,notebook-test", "torch==2.13.0"]) == 0
    (command,) = asked
    assert command[-1] == "torch==2.13.0"
    assert not any(word.startswith("softlookup") for word in command)
    assert {"ruff>=0.9", "furo", "anywidget>=0.11,<1", "numpy>=1.26"} <= set(command)


def run_of(returncode):
    return type("Done", (), {"returncode": returncode})
