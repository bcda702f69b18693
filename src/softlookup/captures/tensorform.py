"""The ``.safetensors`` form: any number of layers, or one lookup's plain arrays, read in place.

Arrays stand in the file as tensors; one metadata entry, `ENTRY`, is a JSON manifest that says what
they mean, with a format version. Without it tensors are called as in `Lookup`. Arrays stay in the
file, so that a capture larger than memory opens at once.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from softlookup.arrays import BFLOAT16, Array
from softlookup.captures import entries
from softlookup.captures.arrayfields import read_fields
from softlookup.captures.fields import NAMES, fault, meant_by, one_lookup
from softlookup.captures.jsonform import read_texts
from softlookup.captures.manifest import build
from softlookup.captures.manifest_reading import read_manifest
from softlookup.tensorfile import DAMAGED, TensorFile, read_tensors, write_tensors
from softlookup.weightmap import is_map

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
ARRAYS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        **DTYPES,
        "BOOL": np.dtype(np.bool_),
        **{f"I{8 * size}": np.dtype(f"i{size}") for size in (1, 2, 4, 8)},
        **{f"U{8 * size}": np.dtype(f"u{size}") for size in (2, 4, 8)},
        "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
        "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    }
)  # of files without a manifest: options are such, and some are told why they are refused
LARGEST_MANIFEST = 45_000_000  # characters; twice as many, escaped, still make a header


def read(file: Path) -> "Capture":
    """Return the capture in `file`; its arrays are views of the file.

    Without a manifest its tensors have the names of a lookup's arrays and options, as in ``.npz``.

    Raises
    ------
    FileError
        Where it is damaged, is no capture, or does not hold what its manifest promises.
    """
    try:
        found = read_tensors(file, as_object=entries.unique)
    except OSError as error:
        raise fault(file, f"cannot be read: {error.strerror or error}. Check the path.") from error
    except DAMAGED as error:
        reason = str(error)[:160].rstrip(".")
        raise fault(
            file, f"must be a whole .safetensors file; {reason}. Save it again."
        ) from error  # fmt: skip
    if ENTRY in found.metadata:
        return read_manifest(file, found.metadata[ENTRY], _arrays(file, found, DTYPES))
    if is_map(found.metadata):
        raise fault(
            file, "must be a capture; it is a saved weight map. Open the capture that it was "
            "made of, or take softlookup.WeightMap.open(path, look)."
        )  # fmt: skip
    return _without_manifest(file, found)


def _arrays(file: Path, found: TensorFile, dtypes: Mapping[str, np.dtype[Any]]) -> dict[str, Array]:
    try:
        return found.arrays(dtypes)
    except ValueError as error:
        raise fault(file, f"its {error}. Save it again.") from error


def _without_manifest(file: Path, found: TensorFile) -> "Capture":
    """Return the one lookup whose arrays a file holds; what is no array may be in its metadata."""
    texts = {name: text for name, text in found.metadata.items() if name in NAMES}
    meant_by(file, [*found.said, *texts])  # before dtypes: a model's weights have any
    arrays = _arrays(file, found, ARRAYS)
    fields = read_fields(file, arrays)
    for name in texts:
        if name in fields:
            raise fault(file, f"holds {name!r} as a tensor and in its metadata. Keep one of them.")
    return one_lookup(file, fields | read_texts(file, texts))


def write(capture: "Capture", path: str | os.PathLike[str]) -> None:
    """Write `capture`; a file that was there stays as it was until the new one is whole."""
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
    write_tensors(file, made.tensors, {ENTRY: made.text})
