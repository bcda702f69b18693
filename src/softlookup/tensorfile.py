"""Files of named arrays, ``.safetensors``: read in place, and written whole or not at all.

The library checks the file's own header; arrays are then mapped, not read, so that a file larger
than memory opens at once.
"""

import json
import math
import mmap
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softlookup.arrays import Array
from softlookup.writing import write_whole

LARGEST_EMPTY = 2**20  # entries of a tensor without numbers, its axes of size 0 left out
DAMAGED = (ValueError, TypeError, LookupError, OverflowError)


class TensorFile(NamedTuple):
    """What stands in a file: texts by name, and what is said of each tensor.

    Attributes
    ----------
    metadata : dict of str to str
    said : dict
        Of each tensor its dtype, shape and place, by name.
    mapped : mmap
    start : int
        Where the tensors begin.
    """

    metadata: dict[str, Any]
    said: dict[str, Any]
    mapped: mmap.mmap
    start: int

    def arrays(self, dtypes: Mapping[str, np.dtype[Any]]) -> dict[str, Array]:
        """Return the tensors by name, as views of the file.

        Parameters
        ----------
        dtypes : mapping
            What each name of a dtype means; others are refused.

        Raises
        ------
        ValueError
            Where one has another dtype, or is not to be believed.
        """
        return {
            name: _view(self.mapped, self.start, name, about, dtypes)
            for name, about in self.said.items()
        }


def read_tensors(
    file: Path,
    *,
    as_object: Callable[[list[tuple[str, Any]]], dict[str, Any]] = dict,
    private: bool = False,
) -> TensorFile:
    """Return what stands in `file`.

    Parameters
    ----------
    file : Path
    as_object : callable
        Makes an object of its names and what stands under them.
    private : bool
        Whether arrays may be written to; that never reaches the file.

    Raises
    ------
    OSError
        Where it cannot be read.
    ValueError, TypeError, LookupError, OverflowError
        Where it is damaged: `DAMAGED`.
    """
    _check(file)
    access = mmap.ACCESS_COPY if private else mmap.ACCESS_READ
    with file.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=access)
    length = int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8 : 8 + length], object_pairs_hook=as_object)
    return TensorFile(header.pop("__metadata__", None) or {}, header, mapped, 8 + length)


def write_tensors(file: Path, tensors: Mapping[str, Array], metadata: dict[str, str]) -> None:
    """Write a file; one that was there stays as it was until the new one is whole.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    from safetensors import SafetensorError  # noqa: PLC0415 (only these files need it)
    from safetensors.numpy import save_file  # noqa: PLC0415

    def fill(fresh: Path) -> None:
        try:
            save_file(dict(tensors), fresh, metadata=metadata)
        except SafetensorError as error:
            raise OSError(str(error)) from error

    write_whole(file, fill)


def _check(file: Path) -> None:
    """Let the library check the header: cut off, overlaps, gaps, more bytes than follow."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415 (as above)

    if not stat.S_ISREG(file.stat().st_mode):  # opening a pipe waits, perhaps for ever
        raise OSError(None, "Not a regular file")
    try:
        with safe_open(file, framework="numpy"):
            pass
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _view(
    mapped: mmap.mmap,
    start: int,
    name: str,
    about: Mapping[str, Any],
    dtypes: Mapping[str, np.dtype[Any]],
) -> Array:
    """Return a tensor, which stays in the file."""
    dtype, shape = dtypes.get(about["dtype"]), tuple(about["shape"])
    if dtype is None:
        raise ValueError(
            f"tensor {name[:40]!r} must be one of {', '.join(dtypes)}; it is {about['dtype']}"
        )
    if 0 in shape:
        if math.prod(size for size in shape if size) > LARGEST_EMPTY:
            raise ValueError(f"tensor {name[:40]!r} is empty, but has axes of {str(shape)[:60]}")
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, mapped, start + about["data_offsets"][0])
