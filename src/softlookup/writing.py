"""Writing: a file is put in its place once it is whole; what was there stays until then."""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from softlookup.errors import FileError
from softlookup.tokens import readable


def write_whole(path: str | os.PathLike[str], write: Callable[[Path], object]) -> Path:
    """Put what `write` writes in the place of `path`; where it fails, nothing has changed.

    A file that is replaced keeps who may read and write it, a new one has what the system gives
    new files; a link stays one, and what it leads to is replaced.

    Parameters
    ----------
    path : str or path-like
        Where the file goes.
    write : callable
        Is given the path of an empty file beside it, and fills that.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    file = Path(path)
    with _told(file):
        target = _target(file)
        there = target.exists()
        fresh = _create(target, 0o600 if there else 0o666)
        try:
            mode = stat.S_IMODE((target if there else fresh).stat().st_mode)
            write(fresh)  # which may put a file of its own there
            with fresh.open("rb+") as stream:  # on the disk first, or a crash leaves an empty one
                os.fsync(stream.fileno())
            fresh.chmod(mode)  # which may forbid to open it
            fresh.replace(target)
        finally:
            with suppress(FileNotFoundError):
                fresh.unlink()
    return file


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a place where nothing can be written, before the work whose result goes there.

    Raises
    ------
    FileError
        As `write_whole` would.
    """
    file = Path(path)
    with _told(file):
        _create(_target(file), 0o600).unlink()


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """Turn what the system says into one sentence."""
    try:
        yield
    except FileError:  # ours, and a ValueError: it is a sentence already
        raise
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        reason = readable(str(getattr(error, "strerror", None) or error))
        raise FileError(
            readable(str(file)), f"cannot be written: {reason}. Choose another place."
        ) from error


def _target(file: Path) -> Path:
    """Return what `file` leads to; a folder, a pipe or a device is never replaced."""
    target = Path(os.path.realpath(file))
    if target.is_dir():
        raise IsADirectoryError(None, "Is a directory")
    if target.exists() and not target.is_file():
        raise OSError(None, "Not a regular file")
    return target


def _create(target: Path, mode: int) -> Path:
    """Make an empty file beside `target`; the system takes its mask from `mode`."""
    fresh = target.with_name(f".{target.stem[:40]}-{secrets.token_hex(8)}{target.suffix[:20]}")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    return fresh
