"""The ``.safetensors`` form: any number of layers, read in place.

Arrays stand in the file as tensors; one metadata entry, `ENTRY`, is a JSON manifest that says what
they mean, with a format version. The library checks the file's own header; arrays are then mapped,
not read, so that a capture larger than memory opens at once.
"""

import json
import math
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import BFLOAT16, Array
from softlookup.captures import entries
from softlookup.captures.fields import fault
from softlookup.captures.manifest import build
from softlookup.captures.manifest_reading import read_manifest
from softlookup.writing import write_whole

if TYPE_CHECKING:
    from softlookup.captures.capture import Capture

ENTRY = "softlookup"
DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "F16": np.dtype(np.float16),
        "BF16": BFLOAT16,
        "F32": np.dtype(np.float32),
        "F64": np.dtype(np.float64),
        "U8": np.dtype(np.uint8),
    }
)
LARGEST_MANIFEST = 45_000_000  # characters; twice as many, escaped, still make a header
LARGEST_EMPTY = 2**20  # entries of a tensor without numbers, its axes of size 0 left out
DAMAGED = (ValueError, TypeError, LookupError, OverflowError)


def read(file: Path) -> "Capture":
    """Return the capture in `file`; its arrays are views of the file.

    Raises
    ------
    FileError
        Where it is damaged, is no capture, or does not hold what its manifest promises.
    """
    try:
        _check(file)
        with file.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        length = int.from_bytes(mapped[:8], "little")
        header = json.loads(mapped[8 : 8 + length], object_pairs_hook=entries.unique)
        metadata = header.pop("__metadata__", None) or {}
        tensors = {name: _view(mapped, 8 + length, name, about) for name, about in header.items()}
    except OSError as error:
        raise fault(file, f"cannot be read: {error.strerror or error}. Check the path.") from error
    except DAMAGED as error:
        reason = str(error)[:160].rstrip(".")
        raise fault(
            file, f"must be a whole .safetensors file; {reason}. Save it again."
        ) from error  # fmt: skip
    if not isinstance(metadata.get(ENTRY), str):
        raise fault(
            file, f"must be a capture; its metadata has no entry {ENTRY!r}. "
            "Capture.save and 'softlookup capture' write such files."
        )  # fmt: skip
    return read_manifest(file, metadata[ENTRY], tensors)


def _check(file: Path) -> None:
    """Let the library check the header: cut off, overlaps, gaps, more bytes than follow."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415 (only these files need it)

    try:
        with safe_open(file, framework="numpy"):
            pass
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _view(mapped: mmap.mmap, start: int, name: str, about: Mapping[str, Any]) -> Array:
    """Return a tensor, which stays in the file."""
    dtype, shape = DTYPES.get(about["dtype"]), tuple(about["shape"])
    if dtype is None:
        raise ValueError(
            f"tensor {name[:40]!r} must be one of {', '.join(DTYPES)}; it is {about['dtype']}"
        )
    if 0 in shape:
        if math.prod(size for size in shape if size) > LARGEST_EMPTY:
            raise ValueError(f"tensor {name[:40]!r} is empty, but has axes of {str(shape)[:60]}")
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, mapped, start + about["data_offsets"][0])


def write(capture: "Capture", path: str | os.PathLike[str]) -> None:
    """Write `capture`; a file that was there stays as it was until the new one is whole."""
    from safetensors import SafetensorError  # noqa: PLC0415 (as above)
    from safetensors.numpy import save_file  # noqa: PLC0415

    file = Path(path)
    if file.suffix.lower() != ".safetensors":
        raise fault(
            file, f"must end in .safetensors; it ends in {file.suffix or file.name!r}. "
            "That form holds every capture."
        )  # fmt: skip
    made = build(capture)
    if len(made.text) > LARGEST_MANIFEST:
        raise fault(
            file, f"must have a manifest of at most {LARGEST_MANIFEST:,} characters; it has "
            f"{len(made.text):,}. Leave out words, batch entries or layers."
        )  # fmt: skip

    def fill(fresh: Path) -> None:
        try:
            save_file(dict(made.tensors), fresh, metadata={ENTRY: made.text})
        except SafetensorError as error:
            raise OSError(str(error)) from error

    write_whole(file, fill)
