"""Corpus: a file of many lines, read a part at a time; it is never in memory as a whole."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from softlookup.errors import FileError
from softlookup.tokens import readable

LONGEST = 2**22  # bytes of a line; longer ones are skipped
_AT_ONCE = 2**20  # bytes
_NEW_LINE = 10


class Line(NamedTuple):
    """One line.

    Attributes
    ----------
    number : int
        From 1.
    content : bytes or None
        Without its end; None where it is longer than `LONGEST`.
    """

    number: int
    content: bytes | None


@dataclass(frozen=True)
class Corpus:
    """A file of lines, cut into parts.

    Attributes
    ----------
    path : Path
    lines_each : int
        Lines of a part; the last one may have fewer.
    lines, bytes : int
        How many there are.
    sha256 : str
        Of all bytes.
    starts : tuple of int
        At which byte each part begins.
    state : tuple of int
        Size and time of change when it was read.
    """

    path: Path
    lines_each: int
    lines: int
    bytes: int
    sha256: str
    starts: tuple[int, ...]
    state: tuple[int, int]

    def part(self, number: int) -> list[Line]:
        """Return the lines of one part.

        Raises
        ------
        FileError
            Where the file is another one by now, or cannot be read.
        """
        first = number * self.lines_each
        count = min(self.lines_each, self.lines - first)
        with _opened(self.path) as stream:
            if _state(stream) != self.state:
                raise FileError(
                    readable(str(self.path)), "must stay as it is while it is surveyed; it has "
                    "changed since. Begin again, with another folder if it is to stay so."
                )  # fmt: skip
            stream.seek(self.starts[number])
            return [Line(first + i + 1, _line(stream)) for i in range(count)]


def read_corpus(path: str | os.PathLike[str], lines_each: int) -> Corpus:
    """Read a file once from end to end, and return where its parts begin.

    Raises
    ------
    FileError
        Where it cannot be read, or is empty.
    """
    file, digest = Path(path), hashlib.sha256()
    if file.exists() and not file.is_file() and not file.is_dir():  # opening one may wait for ever
        raise FileError(
            readable(str(file)), "must be a file, whose parts are read again and again; it is a "
            "stream. Write it to a file first."
        )  # fmt: skip
    starts, lines, at, last = [0], 0, 0, b"\n"
    with _opened(file) as stream:
        state = _state(stream)
        while chunk := stream.read(_AT_ONCE):
            digest.update(chunk)
            ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == _NEW_LINE)
            first = -(lines + 1) % lines_each  # which of these ends ends a part
            starts += (at + 1 + ends[first::lines_each]).tolist()
            lines, at, last = lines + len(ends), at + len(chunk), chunk[-1:]
    if at == 0:
        raise FileError(
            readable(str(file)), "must hold a text in each line, as JSON; it is empty. Write e.g. "
            '{"text": "The bank."}.'
        )  # fmt: skip
    lines += last != b"\n"
    parts = -(-lines // lines_each)
    return Corpus(file, lines_each, lines, at, digest.hexdigest(), tuple(starts[:parts]), state)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            readable(str(path)), f"cannot be read: {readable(reason)}. Name a file with one JSON "
            "text in each line."
        ) from error  # fmt: skip


def _state(stream: BinaryIO) -> tuple[int, int]:
    found = os.fstat(stream.fileno())
    return found.st_size, found.st_mtime_ns


def _line(stream: BinaryIO) -> bytes | None:
    """Return the next line; of one that is too long nothing is kept."""
    found = stream.readline(LONGEST + 1)
    if found.endswith(b"\n") or len(found) <= LONGEST:
        return found.removesuffix(b"\n")
    while (rest := stream.readline(_AT_ONCE)) and not rest.endswith(b"\n"):
        pass
    return None
