"""Open a capture file: choose its form by name, and build the lookup that it holds."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from softlookup.captures import jsonform, npzform
from softlookup.captures.capture import Capture, label
from softlookup.captures.fields import OPTIONS, fault
from softlookup.errors import SoftlookupError
from softlookup.lookup import Lookup

FORMS: Mapping[str, Callable[[Path], dict[str, Any]]] = MappingProxyType(
    {".json": jsonform.read, ".npz": npzform.read}
)


def load(path: str | os.PathLike[str]) -> Capture:
    """Read the one lookup that a ``.json`` or ``.npz`` file holds.

    Parameters
    ----------
    path : str or path-like
        The file; :mod:`softlookup.captures` describes both forms.

    Returns
    -------
    Capture
        With the file's ``title``, or its name where it has none.

    Raises
    ------
    FileError
        Where the file is missing, damaged, or holds something else; the message names the place.

    Notes
    -----
    Files are untrusted. Nothing is unpickled, a header's size is checked against the file before
    memory is taken for it, and sizes are limited: 64 MiB of JSON, 2 GiB of arrays.
    """
    file = Path(path)
    fields = _form(file)(file)
    for name in ("query", "key"):
        if fields.get(name) is None:
            raise fault(file, f"must hold {name!r}; it is not there. Add it.")
    try:
        look = Lookup(
            fields["query"],
            fields["key"],
            fields.get("value"),
            **{name: fields[name] for name in OPTIONS if fields.get(name) is not None},
        )
        return label(
            look,
            tokens=fields.get("tokens"),
            key_tokens=fields.get("key_tokens"),
            title=fields.get("title") or file.stem,
        )
    except SoftlookupError as error:
        raise fault(file, str(error)) from error


def _form(file: Path) -> Callable[[Path], dict[str, Any]]:
    """Return the reader for `file`, after a look at what stands at that path."""
    try:
        there, regular, folder = file.exists(), file.is_file(), file.is_dir()
    except (OSError, ValueError) as error:  # too long a name, a NUL in it, no right to look
        reason = getattr(error, "strerror", None) or error
        raise fault(file, f"cannot be read: {reason}. Check the path.") from error
    if not there:
        raise fault(file, "must be a file; there is none. Check the path.")
    if not regular:
        kind = "a folder" if folder else "no regular file"
        raise fault(file, f"must be a file; it is {kind}. Name a .json or .npz file.")
    form = FORMS.get(file.suffix.lower())
    if form is None:
        raise fault(
            file,
            f"must end in .json or .npz; it ends in {file.suffix or file.name!r}. "
            "Save the arrays with numpy.savez(path, query=..., key=..., value=...).",
        )
    return form
