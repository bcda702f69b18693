"""The ``.safetensors`` form: any number of layers, read in place.

Arrays stand in the file as tensors; one metadata entry, `ENTRY`, is a JSON manifest that says what
they mean, with a format version. Arrays stay in the file, so that a capture larger than memory
opens at once.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import BFLOAT16
from softlookup.captures import entries
from softlookup.captures.fields import fault
from softlookup.captures.manifest import build
from softlookup.captures.manifest_reading import read_manifest
from softlookup.tensorfile import DAMAGED, read_tensors, write_tensors
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
LARGEST_MANIFEST = 45_000_000  # characters; twice as many, escaped, still make a header


def read(file: Path) -> "Capture":
    """Return the capture in `file`; its arrays are views of the file.

    Raises
    ------
    FileError
        Where it is damaged, is no capture, or does not hold what its manifest promises.
    """
    try:
        metadata, tensors = read_tensors(file, DTYPES, as_object=entries.unique)
    except OSError as error:
        raise fault(file, f"cannot be read: {error.strerror or error}. Check the path.") from error
    except DAMAGED as error:
        if is_map(file):
            raise fault(
                file, "must be a capture; it is a saved weight map. Open the capture that it was "
                "made of, or take softlookup.WeightMap.open(path, look)."
            ) from error  # fmt: skip
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
