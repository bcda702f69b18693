"""What a fresh machine lacks is named in one line, before anything is built."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def ask(*words):
    command = ["sh", str(ROOT / "tools" / "environment.sh"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def stand_in(path, body):
    """Write a program that stands in for a Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{body}\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def test_this_python_will_do():
    assert ask("missing", sys.executable) == ""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("exit 1", "needs Python 3.11 or newer"),
        (
            'case "$2" in *version_info*) exit 1;; *python_version*) echo 3.9.2; exit;; esac',
            "3.9.2",
        ),
        ('case "$2" in *ensurepip*) exit 1;; esac', "apt-get install python3-venv"),
    ],
    ids=["not a Python", "too old", "no venv"],
)
def test_what_is_missing_is_one_line(tmp_path, body, said):
    answer = ask("missing", stand_in(tmp_path / "python3", body))
    assert answer.count("\n") == 1
    assert said in answer


def test_no_python_at_all():
    assert "found no '/nowhere/python3'" in ask("missing", "/nowhere/python3")


def test_make_says_only_that_line(tmp_path):
    words = [f"VENV={tmp_path / 'venv'}", "PYTHON=/nowhere/python3"]
    done = subprocess.run(
        ["make", "-C", ROOT, "--no-print-directory", "show", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    assert done.returncode == 2
    assert len(said) == 1
    assert "found no '/nowhere/python3'" in said[0]


def test_no_environment_is_not_a_stale_one(tmp_path):
    assert ask("stale", tmp_path / "venv", "/here") == ""


def test_a_working_environment_is_kept(tmp_path):
    stand_in(tmp_path / "venv" / "bin" / "python", "")
    assert ask("stale", tmp_path / "venv", "/here") == ""
    assert ask("stale", tmp_path / "venv", "/here", sys.executable) == ""


def test_a_broken_a_moved_and_another_pythons_environment_are_stale(tmp_path):
    venv = tmp_path / "venv"
    stand_in(venv / "bin" / "python", "exit 1")
    assert "no working Python" in ask("stale", venv, "/here")
    stand_in(venv / "bin" / "python", "")
    other = stand_in(tmp_path / "other", 'echo "(3, 99) /usr"; exit')
    assert "another Python" in ask("stale", venv, "/here", other)
    (venv / ".made").mkdir()
    (venv / ".made" / "where").write_text("/elsewhere\n", encoding="utf-8")
    assert "made for /elsewhere" in ask("stale", venv, "/here")
