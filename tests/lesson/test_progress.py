"""Progress: kept in one step, and never a reason to stop."""

import json
import os
from pathlib import Path

import pytest

from softlookup.lesson import progress


@pytest.fixture
def path(tmp_path):
    return tmp_path / "softlookup" / "progress.json"


def test_it_comes_back(path):
    assert progress.load(path) == progress.Progress()
    assert progress.save(path, ["output", "scores"]) is None
    assert progress.load(path) == progress.Progress(("scores", "output"))
    assert [entry.name for entry in path.parent.iterdir()] == ["progress.json"]


def test_it_lives_in_the_users_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert progress.default_path().parts[-2:] == ("softlookup", "progress.json")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is not JSON"),
        (b'{"version": 1, "solved": ["sco', "it is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b"[" * 50_000, "it is not JSON"),
        (b"[]", "it is not of version 1"),
        (b'{"version": 2, "solved": []}', "it is not of version 1"),
        (b'{"version": 1}', 'it has no list "solved"'),
        (b'{"version": 1, "solved": "scores"}', 'it has no list "solved"'),
        (b" " * 100_001, "it has more than 100,000 bytes"),
    ],
)
def test_a_damaged_file_is_kept_aside(path, content, reason):
    path.parent.mkdir()
    for number in (1, 2):
        path.write_bytes(content)
        found = progress.load(path)
        assert found.solved == ()
        assert reason in found.trouble
        assert found.trouble.count(".json") == 2
        assert (path.parent / f"progress.damaged-{number}.json").read_bytes() == content
        assert not path.exists()
    assert progress.save(path, ["scores"]) is None
    assert progress.load(path).solved == ("scores",)


def test_unknown_skills_are_left_out(path):
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "solved": ["scores", "sums", 3, [], "scores"]}))
    assert progress.load(path) == progress.Progress(("scores",))


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "softlookup").write_text("in the way")
    path = tmp_path / "softlookup" / "progress.json"
    assert "could not be read" in progress.load(path).trouble
    assert "could not be written" in progress.save(path, ["scores"])


def test_a_folder_in_the_place_of_the_file(path):
    path.mkdir(parents=True)
    assert "could not be read" in progress.load(path).trouble
    assert "could not be written" in progress.save(path, ["scores"])
    assert [entry.name for entry in path.parent.iterdir()] == ["progress.json"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    progress.save(path, ["scores"])

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in progress.save(path, ["scores", "output"])
    assert progress.load(path).solved == ("scores",)
    assert [entry.name for entry in path.parent.iterdir()] == ["progress.json"]


def test_a_damaged_file_that_cannot_be_moved_is_said_in_one_sentence(path, monkeypatch):
    path.parent.mkdir()
    path.write_text("{")

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refused)
    assert "could not be put aside (Permission denied)" in progress.load(path).trouble
    assert path.read_text() == "{"
