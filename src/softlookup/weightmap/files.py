"""A weight map as a file: ``.safetensors``, read in place, and refused for any other lookup."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.arrays import Array
from softlookup.errors import FileError, OptionError
from softlookup.tensorfile import DAMAGED, read_tensors, write_tensors
from softlookup.tokens import readable
from softlookup.weightmap.answers import Received
from softlookup.weightmap.identity import digest_of, fingerprint

if TYPE_CHECKING:
    from softlookup.weightmap.bands import Bands

ENTRY = "softlookup map"
FORMAT = 1
_DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "F32": np.dtype(np.float32),
        "F64": np.dtype(np.float64),
        "U8": np.dtype(np.uint8),
        "BOOL": np.dtype(np.bool_),
        "I64": np.dtype(np.int64),
    }
)
_POOLS = (["max", "share"], ["max"], ["share"])


def write(bands: "Bands", path: str | os.PathLike[str], known: Received | None) -> None:
    """Write the map, as far as it is built, and what is `known` of what its keys receive."""
    file = Path(path)
    if file.suffix.lower() != ".safetensors":
        raise _fault(
            file, f"must end in .safetensors; it ends in {file.suffix or file.name!r}. Name it so."
        )  # fmt: skip
    now = fingerprint(bands.problem)
    if now != (bands.fingerprint or now):
        raise OptionError(
            "look", "must be as it was when the map was begun; its arrays have changed since, and "
            "the map holds what they were. Build a new one: look.map()."
        )  # fmt: skip
    bands.merge()
    bands.levels.allocate()
    tensors = bands.tensors()
    manifest = {
        "format": FORMAT,
        "fingerprint": now,
        "digest": digest_of(tensors),
        "pools": bands.levels.pools,
        "by": bands.by,
    }
    more: dict[str, Array] = {}
    if known is not None:
        more = _named(known)
        manifest["received"] = {"digest": digest_of(more), "by": known.by}
    write_tensors(file, tensors | more, {ENTRY: json.dumps(manifest)})


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what a file says of itself, and its arrays; writing to them leaves the file alone.

    Raises
    ------
    FileError
        Where it is damaged, or no map.
    """
    file = Path(path)
    if not os.path.exists(file):  # noqa: PTH110 (says no where Path.exists would raise)
        raise _fault(file, "must be a weight map's file; there is none. Check the path.")
    if os.path.isdir(file):  # noqa: PTH112 (as above)
        raise _fault(file, "must be a weight map's file; it is a folder. Name a file in it.")
    try:
        found = read_tensors(file, private=True)
        manifest = json.loads(found.metadata.get(ENTRY, "null"))
        tensors = found.arrays(_DTYPES) if isinstance(manifest, dict) else {}
    except OSError as error:
        raise _fault(
            file, f"cannot be read: {error.strerror or error}. Check the path."
        ) from error  # fmt: skip
    except (*DAMAGED, RecursionError) as error:
        reason = readable(str(error))[:160].rstrip(".")
        raise _fault(
            file, f"must be a whole weight map; {reason}. Build and save it again."
        ) from error  # fmt: skip
    if not isinstance(manifest, dict):
        raise _fault(
            file, f"must be a weight map; its metadata has no entry {ENTRY!r}. WeightMap.save "
            "writes such files."
        )  # fmt: skip
    if manifest.get("format") != FORMAT:
        raise _fault(
            file, f"must have format {FORMAT}; it says "
            f"{readable(str(manifest.get('format'))[:40])!r}. Build and save the map again."
        )  # fmt: skip
    pools = manifest.get("pools")
    if not isinstance(pools, list) or pools not in _POOLS:
        raise _fault(
            file, "must say which pools it holds; it does not. Build and save the map again."
        )  # fmt: skip
    return manifest, tensors


def is_map(metadata: Mapping[str, Any]) -> bool:
    """Return whether a file that says so of itself is a weight map."""
    return ENTRY in metadata


def fill(
    bands: "Bands",
    manifest: Mapping[str, Any],
    tensors: Mapping[str, Array],
    path: str | os.PathLike[str],
) -> None:
    """Take over what stands in a file, if it is the map of this lookup.

    Raises
    ------
    FileError
        Where it is another one's, or lacks something.
    """
    file = Path(path)
    if manifest.get("fingerprint") != bands.identify():
        raise _fault(
            file, "must be the map of this lookup; it is that of another one, or of other options. "
            "Open it with the lookup that it was made of, or build a new one."
        )  # fmt: skip
    _check(file, bands.tensors(), tensors, manifest.get("digest"))
    bands.take(tensors, manifest.get("by"))


def received(
    shape: tuple[int, int],
    manifest: Mapping[str, Any],
    tensors: Mapping[str, Array],
    path: str | os.PathLike[str],
) -> Received | None:
    """Return what a file knows of what the keys of its map receive; None where that is nothing.

    Raises
    ------
    FileError
        Where it lacks something that it should hold.
    """
    told = manifest.get("received")
    if not isinstance(told, dict):
        return None
    (q_len, kv_len), whole = shape, np.int64
    like = Received(
        np.empty(q_len, bool), np.empty(q_len, whole), np.empty(kv_len), np.empty(kv_len, whole), ""
    )
    _check(Path(path), _named(like), tensors, told.get("digest"))
    rows, seen, sums, readers = (tensors[name] for name in _named(like))
    return Received(rows, seen, sums, readers, readable(str(told.get("by"))[:40]))


def _named(known: Received) -> dict[str, Array]:
    """Return its arrays, by the names that they have in a file."""
    arrays = known._asdict()
    del arrays["by"]
    return {f"received.{name}": array for name, array in arrays.items()}


def _check(
    file: Path, wanted: Mapping[str, Array], tensors: Mapping[str, Array], digest: object
) -> None:
    """Refuse a file whose tensors are not like those that are wanted, or not as written."""
    for name, own in wanted.items():
        found = tensors.get(name)
        if found is None or (found.dtype, found.shape) != (own.dtype, own.shape):
            there = "none" if found is None else f"{found.dtype} of {found.shape}"
            raise _fault(
                file, f"must hold {name!r}, {own.dtype} of shape {own.shape}; it holds {there}. "
                "Build and save the map again."
            )  # fmt: skip
    if digest != digest_of({name: tensors[name] for name in wanted}):
        raise _fault(
            file, "must hold the numbers that were written; some have changed since. Build and "
            "save the map again."
        )  # fmt: skip


def _fault(file: Path, message: str) -> FileError:
    return FileError(readable(str(file)), message)
