"""Two runs into one folder: one of them works, the other says so, and nothing is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

import softlookup as sl
from patience import PATIENCE
from softlookup import writing
from softlookup.errors import FileError
from softlookup.surveys import surveying
from surveyed import without_progress

pytestmark = pytest.mark.models
pytest.importorskip("fcntl")
AT_WORK = "must be surveyed into by one run at a time; another one is at work there"


@pytest.mark.parametrize("place", [
    (writing, "_create"), (surveying, "make_room"), (surveying, "read_manifest"),
], ids=["check_writable", "make_room", "read_manifest"])  # fmt: skip
def test_a_run_that_has_just_begun_is_seen(tiny_model, corpus, tmp_path, monkeypatch, place):
    """A second run looks into the folder while the first one writes what it begins with."""
    out, refused, does = tmp_path / "out", [], getattr(*place)

    def after(*given):
        made = does(*given)
        if (out / ".running").exists() and not refused:
            refused.append(True)
            with pytest.raises(FileError, match=AT_WORK):
                sl.survey(tiny_model, corpus, out, workers=0)
        return made

    monkeypatch.setattr(*place, after)
    assert sl.survey(tiny_model, corpus, out, workers=0).whole
    assert refused


def test_a_run_that_ended_just_now_is_agreed_with(tiny_model, corpus, tmp_path, monkeypatch):
    """It began, and was done, after this one had looked into the folder, and before the lock."""
    out, alone = tmp_path / "out", surveying._alone

    def late(folder):
        monkeypatch.setattr(surveying, "_alone", alone)
        sl.survey(tiny_model, corpus, out, workers=0)
        return alone(folder)

    monkeypatch.setattr(surveying, "_alone", late)
    with pytest.raises(FileError, match="must go on as it began, with top 4; this is 3"):
        sl.survey(tiny_model, corpus, out, workers=0, top=3)


TOGETHER = """
import sys, time
from pathlib import Path
from softlookup.cli import main
from softlookup.surveys import surveying

def entered(*given, enter=surveying._entered):
    Path(sys.argv[1]).touch()
    while not Path(sys.argv[2]).exists():
        time.sleep(0.001)
    return enter(*given)

surveying._entered = entered
sys.exit(main(sys.argv[3:]))
"""


@pytest.mark.slow
def test_of_two_that_begin_at_once_one_works(tiny_model, tmp_path, written, assert_same):
    file = written(tmp_path / "t.jsonl", [{"text": "the bank of the river"}] * 60)
    whole, out = tmp_path / "whole", tmp_path / "out"
    sl.survey(tiny_model, file, whole, workers=0, lines=1)
    words = ["survey", "--model", tiny_model, "--texts", file, "-o", out, "--workers", "0",
             "--lines", "1"]  # fmt: skip
    ready = [str(tmp_path / name) for name in ("one", "other")]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, *each, *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) for each in (ready, ready[::-1])
    ]  # fmt: skip
    try:
        said = [without_progress(run.communicate(timeout=PATIENCE)[1]) for run in runs]
    finally:
        for run in runs:  # one that waits for the other would do so for ever
            run.kill()
    refused = f"{out}: {AT_WORK}. Wait for it, or choose another folder.\n"
    codes = [run.returncode for run in runs]
    assert sorted(zip(codes, said, strict=True)) == [(0, ""), (2, refused)]
    assert_same(whole, out)


def denied(does, within):
    """Return what the system answers in a folder whose owner is somebody else."""

    def ask(path, *given, **options):
        if Path(path).is_relative_to(within) and given != ("rb",):
            raise PermissionError(13, "Permission denied", str(path))
        return does(path, *given, **options)

    return ask


@pytest.mark.parametrize("name", ["mkdir", "open"])
def test_a_folder_of_somebody_else_is_one_sentence(tiny_model, corpus, tmp_path, monkeypatch, name):
    out = tmp_path / "out"
    if name == "open":
        out.mkdir()
    monkeypatch.setattr(Path, name, denied(getattr(Path, name), out))
    with pytest.raises(FileError, match=r"out: cannot be written: Permission denied\. Choose"):
        sl.survey(tiny_model, corpus, out, workers=0)


def test_a_folder_within_that_cannot_be_made_is_one_sentence(tiny_model, corpus, tmp_path):
    out = tmp_path / "out"
    sl.survey(tiny_model, corpus, out, workers=0)
    (out / "done" / "part-000000.json").unlink()
    (out / "done").rmdir()
    (out / "done").write_bytes(b"")
    with pytest.raises(FileError, match=r"out: cannot be written: File exists\. Choose"):
        sl.survey(tiny_model, corpus, out, workers=0)
