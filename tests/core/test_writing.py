"""A file is put in its place once it is whole, with the rights that it should have."""

import os
import stat
import threading

import pytest

from patience import PATIENCE
from softlookup.errors import FileError
from softlookup.writing import check_writable, write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="hardware: not a POSIX system")


def write(path, text="new"):
    return write_whole(path, lambda fresh: fresh.write_text(text))


def rights(file):
    return stat.S_IMODE(file.stat().st_mode)


def replace_itself(fresh):
    """Write as libraries do that put a file of their own there."""
    other = fresh.with_name("other")
    other.write_text("new")
    other.chmod(0o700)
    other.replace(fresh)


@posix
@pytest.mark.parametrize("fill", [lambda fresh: fresh.write_text("new"), replace_itself])
def test_a_new_file_has_the_rights_of_new_files_and_an_old_one_its_own(tmp_path, fill):
    file = tmp_path / "a.txt"
    mask = os.umask(0o027)
    try:
        write_whole(file, fill)
        assert rights(file) == 0o640
        for mode in (0o600, 0o444, 0o666):
            file.chmod(mode)
            write_whole(file, fill)
            assert (rights(file), file.read_text()) == (mode, "new")
    finally:
        os.umask(mask)
    assert list(tmp_path.iterdir()) == [file]


@posix
def test_what_replaces_a_private_file_is_never_readable_by_others(tmp_path):
    file = tmp_path / "a.txt"
    write(file)
    file.chmod(0o600)
    seen = []
    write_whole(file, lambda fresh: seen.append(rights(fresh)))
    assert seen == [0o600]


@posix
def test_the_mask_of_the_process_is_not_touched(tmp_path, monkeypatch):
    """Between two calls of umask another thread would make files that all may write."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the mask was changed"))
    write(tmp_path / "a.txt")
    write(tmp_path / "a.txt")
    check_writable(tmp_path / "b.txt")


@posix
def test_a_link_stays_one_also_where_it_leads_nowhere_yet(tmp_path):
    link, target = tmp_path / "link.txt", tmp_path / "target.txt"
    link.symlink_to(target)
    for text in ("first", "second"):
        assert write(link, text) == link
        assert link.is_symlink()
        assert target.read_text() == text
    assert sorted(tmp_path.iterdir()) == [link, target]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), ValueError("x"), KeyError("x")])
def test_a_write_that_fails_changes_nothing(tmp_path, error):
    file = tmp_path / "a.txt"
    write(file, "old")

    def half(fresh):
        fresh.write_text("ha")
        raise error

    with pytest.raises(KeyError if isinstance(error, KeyError) else FileError):
        write_whole(file, half)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_sentence_of_ours_is_not_wrapped_in_another(tmp_path):
    def refuse(_):
        raise FileError("x", "is wrong.")

    with pytest.raises(FileError, match=r"^x: is wrong\.$"):
        write_whole(tmp_path / "a.txt", refuse)
    assert not list(tmp_path.iterdir())


@posix
@pytest.mark.parametrize("verb", [write, check_writable])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none/a.txt", "No such file or directory"),
        ("file/a.txt", "Not a directory"),
        ("folder", "Is a directory"),
        ("a\0", "embedded null byte"),
        ("a" * 300, "File name too long"),
    ],
)
def test_a_place_where_nothing_can_be_written_is_a_sentence(tmp_path, verb, name, reason):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError) as told:
        verb(tmp_path / name)
    assert f"cannot be written: {reason}. Choose another place." in str(told.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("verb", [write, check_writable])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="hardware: no named pipes on this system")
def test_a_pipe_or_a_device_is_never_replaced(tmp_path, verb):
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "pipe.txt")
    with pytest.raises(FileError, match="cannot be written: Not a regular file"):
        verb(tmp_path / "link.txt")
    assert (tmp_path / "pipe.txt").is_fifo()


def test_a_check_leaves_nothing_and_changes_nothing(tmp_path):
    write(tmp_path / "a.txt", "old")
    check_writable(tmp_path / "a.txt")
    check_writable(tmp_path / "b.txt")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_two_that_write_at_once_do_not_meet(tmp_path):
    file, both = tmp_path / "a.txt", threading.Barrier(2, timeout=PATIENCE)

    def fill(fresh):
        fresh.write_text("whole")
        both.wait()

    writers = [threading.Thread(target=write_whole, args=(file, fill)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (file.read_text(), list(tmp_path.iterdir())) == ("whole", [file])
