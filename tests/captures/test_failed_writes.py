"""A write that fails leaves what was there as it was, and nothing beside it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from captured import assert_same, captured
from patience import PATIENCE
from softlookup import Lookup, load
from softlookup.captures import Axis, Capture, Layer, manifest, tensorform
from softlookup.errors import FileError

posix = pytest.mark.skipif(os.name != "posix", reason="hardware: not a POSIX system")


def capture(size=2):
    return captured(Lookup(*np.ones((3, size, size))))


@pytest.mark.parametrize("name", ["run.npz", "run.json", "run", "run.safetensors.bak"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(FileError, match=r"must end in \.safetensors; it ends in") as caught:
        capture().save(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert not list(tmp_path.iterdir())


PLACES = ("none/run", "file/run", "x\0", "a" * 300, "folder")


@pytest.mark.parametrize("place", [f"{place}.safetensors" for place in PLACES])
def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.safetensors").mkdir()
    with pytest.raises(
        FileError, match=r"cannot be written: .+\. Choose another place\."
    ) as caught:
        capture().save(tmp_path / place)
    assert str(caught.value).isprintable()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder.safetensors"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="hardware: no /proc on this system")
def test_a_folder_that_cannot_be_written_to_is_a_sentence():
    with pytest.raises(FileError, match="cannot be written"):
        capture().save("/proc/self/run.safetensors")


FULL = """
import resource, sys, numpy as np
from captured import captured
from softlookup import Lookup
from softlookup.errors import FileError
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    captured(Lookup(*np.ones((3, 200, 200)))).save(sys.argv[1])
except FileError as error:
    print(error)
"""


@posix
def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    file = tmp_path / "run.safetensors"
    capture().save(file)
    before = file.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(file)], capture_output=True, text=True, check=True,
        timeout=PATIENCE, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.startswith(f"{file}: cannot be written: ")
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_whatever_stops_it_leaves_the_old_file_whole(tmp_path, monkeypatch, error):
    file = tmp_path / "run.safetensors"
    capture().save(file)
    before = file.read_bytes()

    def write_half(tensors, name, metadata):
        Path(name).write_bytes(b"half")
        raise error

    monkeypatch.setattr("safetensors.numpy.save_file", write_half)
    expected = FileError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        capture(5).save(file)
    if expected is FileError:
        assert str(caught.value) == (
            f"{file}: cannot be written: No space left on device. Choose another place."
        )
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_manifest_that_no_reader_would_take_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tensorform, "LARGEST_MANIFEST", 100)
    with pytest.raises(FileError, match=r"at most 100 characters; it has [1-9]\d\d\. Leave out"):
        capture().save(tmp_path / "run.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_largest_manifest_can_be_read(tmp_path):
    """Every character of it may be escaped, and the library has a limit for the whole header."""
    most = tensorform.LARGEST_MANIFEST
    axis = (Axis(("a", '"' * ((most - 1000) // 2))),)
    vast = Capture("x", (Layer(capture().lookup(), axis, axis),))
    assert most - 1000 < len(manifest.build(vast).text) < most
    vast.save(tmp_path / "run.safetensors")
    assert load(tmp_path / "run.safetensors").layers[0].queries == axis


@posix
def test_a_new_file_keeps_the_rights_of_the_old_one(tmp_path):
    file = tmp_path / "run.safetensors"
    umask = os.umask(0o027)
    try:
        capture().save(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        file.chmod(0o600)
        capture(3).save(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    finally:
        os.umask(umask)


@posix
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    capture().save(tmp_path / "there" / "run.safetensors")
    (tmp_path / "run.safetensors").symlink_to(tmp_path / "there" / "run.safetensors")
    capture(3).save(tmp_path / "run.safetensors")
    assert (tmp_path / "run.safetensors").is_symlink()
    assert_same(load(tmp_path / "there" / "run.safetensors"), capture(3))
