"""The ``.npz`` form: NumPy's zip of arrays, read without unpickling and without trust.

A member's header says how many bytes follow. That is compared with the zip's directory, and the
sum with a limit, before memory is taken: a lying header or a zip bomb is a sentence, not a crash.
"""

import math
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from softlookup.arrays import Array
from softlookup.captures.arrayfields import eight_bits, read_fields
from softlookup.captures.fields import fault, meant_by
from softlookup.errors import FileError

LARGEST = 2 * 2**30  # bytes of all arrays, unpacked
LONGEST_REASON = 160  # characters; zipfile quotes what it found, which may be anything
_E5M2 = "'<f1'"  # what NumPy writes of it, and cannot read
DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError)


def read(file: Path) -> dict[str, Any]:
    """Return the fields of `file`: arrays as they are stored, texts and plain values.

    Raises
    ------
    FileError
        Where it is damaged, pickled, too large, or a field is not what its name asks for.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(file, archive)
            arrays = {name: _array(file, archive, info) for name, info in members.items()}
    except FileError:  # ours, and a ValueError: not damage
        raise
    except OSError as error:
        raise fault(file, f"cannot be read: {error.strerror or error}. Check the path.") from error
    except DAMAGED as error:
        reason = str(error)[:LONGEST_REASON].rstrip(".") or "it ends too early"
        raise fault(file, f"must be a whole .npz file; {reason}. Save it again.") from error
    return read_fields(file, arrays)


def _members(file: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members by field name, after a check of names, repeats and total size."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise fault(file, f"holds {name[:40]!r} twice. Keep one of them.")
        members[name] = info
    meant_by(file, members)
    total = sum(info.file_size for info in members.values())
    if total > LARGEST:
        raise fault(
            file, f"must unpack to at most {LARGEST} bytes; it says {total}. "
            "Build a Lookup from the arrays in Python instead."
        )  # fmt: skip
    return members


def _array(file: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    name = info.filename.removesuffix(".npy")
    with archive.open(info) as stream:
        try:
            shape, dtype = _header(stream)
        except ValueError as error:
            if _E5M2 in str(error):
                raise eight_bits(file, name, "float8_e5m2") from error
            raise
        at = stream.tell()
    if dtype.hasobject:
        raise fault(
            file, f"{name} is an array of Python objects, which is never unpickled. "
            "Save plain numbers, or texts as numpy.array([...], dtype=str)."
        )  # fmt: skip
    promised = math.prod(shape) * dtype.itemsize
    if promised != info.file_size - at:
        raise fault(
            file, f"{name} promises {promised} bytes for shape {shape} of {dtype}; "
            f"{info.file_size - at} follow. Save it again."
        )  # fmt: skip
    with archive.open(info) as stream:
        array: Array = npy.read_array(stream, allow_pickle=False)  # to the end: checks the sum
    return array


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version} of .npy is not one of (1, 0) and (2, 0)")
    if any(size < 0 for size in shape):
        raise ValueError(f"shape {shape} is negative")
    return shape, dtype
