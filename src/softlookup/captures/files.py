"""Open a capture file: choose its form by name, and build what it holds."""

import difflib
import os
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from softlookup.captures import jsonform, npzform, tensorform
from softlookup.captures.capture import Capture
from softlookup.captures.fields import fault, one_lookup
from softlookup.tokens import readable


def load(path: str | os.PathLike[str]) -> Capture:
    """Read a capture: all layers of one that was saved, or the one lookup of another file.

    Parameters
    ----------
    path : str or path-like
        The file; :mod:`softlookup.captures` describes all forms.

    Returns
    -------
    Capture
        With the file's title, or its name where it has none.

    Raises
    ------
    FileError
        Where the file is missing, damaged, or holds something else; the message names the place.

    Notes
    -----
    Files are untrusted. Nothing is unpickled, a header's size is checked against the file before
    memory is taken for it, and sizes are limited: 64 MiB of JSON, 2 GiB of ``.npz`` arrays. The
    arrays of a ``.safetensors`` file are mapped into memory, not read, and have no limit.
    """
    file = Path(path)
    return _form(file)(file)


def _one_lookup(read: Callable[[Path], dict[str, Any]]) -> Callable[[Path], Capture]:
    """Turn a reader of fields, named as in `Lookup`, into a reader of a capture."""
    return lambda file: one_lookup(file, read(file))


FORMS: Mapping[str, Callable[[Path], Capture]] = MappingProxyType(
    {
        ".json": _one_lookup(jsonform.read),
        ".npz": _one_lookup(npzform.read),
        ".safetensors": tensorform.read,
    }
)
_MOST_NAMES = 1000  # of a folder that are looked at
NAMES = ".json, .npz or .safetensors"


def _near(file: Path) -> str | None:
    """Return the name of a file in the same folder that may be meant."""
    try:
        names = [entry.name for entry in islice(file.parent.iterdir(), _MOST_NAMES)]
    except OSError:
        return None
    names = [each for each in names if Path(each).suffix.lower() in FORMS]
    return next(iter(difflib.get_close_matches(file.name, names, n=1, cutoff=0.8)), None)


def _form(file: Path) -> Callable[[Path], Capture]:
    """Return the reader for `file`, after a look at what stands at that path."""
    try:
        there, regular, folder = file.exists(), file.is_file(), file.is_dir()
    except (OSError, ValueError) as error:  # too long a name, a NUL in it, no right to look
        reason = getattr(error, "strerror", None) or error
        raise fault(file, f"cannot be read: {reason}. Check the path.") from error
    if not there:
        near = _near(file)
        hint = "Check the path." if near is None else f"Did you mean {readable(near)!r}?"
        raise fault(file, f"must be a file; there is none. {hint}")
    if not regular:
        kind, advice = "a folder" if folder else "no regular file", f"Name a {NAMES} file."
        if (file / "config.json").is_file():
            kind = "a model's folder"
            advice = f"Let the model read a text: softlookup show --model {file} --text TEXT."
        raise fault(file, f"must be a file; it is {kind}. {advice}")
    form = FORMS.get(file.suffix.lower())
    if file.suffix.lower() == ".parquet":
        raise fault(
            file, "must hold queries and keys; a .parquet file holds facts alone. Read it in "
            'Python with softlookup.load, and write seen.capture().save("run.safetensors"), '
            "with keep=True, for what is looked at here."
        )  # fmt: skip
    if form is None:
        raise fault(
            file,
            f"must end in {NAMES}; it ends in {file.suffix or file.name!r}. "
            "Save the arrays with numpy.savez(path, query=..., key=..., value=...).",
        )
    return form
