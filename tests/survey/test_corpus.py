"""A corpus is read a part at a time: every line once, whatever it holds."""

import hashlib
import os

import numpy as np
import pytest

from softlookup.errors import FileError
from softlookup.surveys import corpus
from softlookup.surveys.corpus import Line, read_corpus


def every(read):
    return [line for part in range(len(read.starts)) for line in read.part(part)]


@pytest.mark.parametrize("each", [1, 2, 3, 64])
@pytest.mark.parametrize("ends", [True, False], ids=["ends", "open"])
def test_every_line_is_there_once(tmp_path, monkeypatch, each, ends):
    monkeypatch.setattr(corpus, "_AT_ONCE", 7)
    rng = np.random.default_rng(each)
    lines = [bytes(rng.integers(11, 256, rng.integers(0, 12), np.uint8)) for _ in range(23)]
    lines[-1] = b"last"
    content = b"\n".join(lines) + (b"\n" if ends else b"")
    (tmp_path / "t").write_bytes(content)
    read = read_corpus(tmp_path / "t", each)
    assert every(read) == [Line(i + 1, line) for i, line in enumerate(lines)]
    assert (read.lines, read.bytes) == (23, len(content))
    assert read.sha256 == hashlib.sha256(content).hexdigest()
    assert len(read.part(0)) == min(each, 23)


def test_a_line_that_is_too_long_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "LONGEST", 5)
    monkeypatch.setattr(corpus, "_AT_ONCE", 3)
    (tmp_path / "t").write_bytes(b"12345\n123456\n\n1234567890\nok\n123456")
    found = every(read_corpus(tmp_path / "t", 2))
    assert [line.content for line in found] == [b"12345", None, b"", None, b"ok", None]


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    file = tmp_path / "t"
    file.write_bytes(b"a\nb\n")
    read = read_corpus(file, 1)
    file.write_bytes(b"a\nB\n")
    os.utime(file, ns=(1, 1))
    with pytest.raises(FileError, match="must stay as it is while it is surveyed; it has changed"):
        read.part(1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name on this system")
def test_a_stream_is_refused_without_a_wait(tmp_path):
    os.mkfifo(tmp_path / "t")
    with pytest.raises(FileError, match=r"must be a file, .* it is a stream\. Write it to a file"):
        read_corpus(tmp_path / "t", 4)


@pytest.mark.parametrize(("make", "words"), [
    (lambda file: None, "cannot be read: No such file"),
    (lambda file: file.mkdir(), "cannot be read: Is a directory"),
    (lambda file: file.write_bytes(b""), "must hold a text in each line, as JSON; it is empty"),
])  # fmt: skip
def test_what_is_no_corpus_is_refused(tmp_path, make, words):
    make(tmp_path / "t")
    with pytest.raises(FileError, match=words):
        read_corpus(tmp_path / "t", 4)
