"""Arrays in files as dask arrays: `.npy`, `.safetensors` and zarr, larger than any memory.

A chunk is read where it is needed, by whoever computes with it: on a cluster every worker must see
the file under the same path. What cannot be read is named, file and chunk.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softlookup import packages
from softlookup.arrays import BFLOAT16, Array
from softlookup.errors import FileError, PackageError, SoftlookupError
from softlookup.tensorfile import read_tensors

LENGTH = 65_536  # of a chunk along the axis last but one: 16 x 4,096
_OF_ZARR = ("zarr.json", ".zarray", ".zgroup")  # one of which its directories hold
_DTYPES = {
    "F16": np.dtype(np.float16),
    "BF16": BFLOAT16,
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
    "BOOL": np.dtype(np.bool_),
}


def open_array(path: str | os.PathLike[str], name: str | None = None, *, chunks: Any = None) -> Any:
    """Return an array of a file as a dask array; nothing is read yet.

    Parameters
    ----------
    path : str or path
        A ``.npy`` file, a ``.safetensors`` file, or a zarr array (a directory).
    name : str, optional
        Which tensor of a ``.safetensors`` file, or which array of a zarr group.
    chunks : optional
        As in `dask.array.from_array`. Default: 65,536 along the axis last but one, the last axis
        whole and all others by 1; for zarr, chunks as they are stored.

    Returns
    -------
    dask.array.Array
        For `softlookup.attend` and `softlookup.Lookup`.

    Raises
    ------
    FileError
        Where it cannot be read; also from a worker, later, where a chunk cannot.
    PackageError
        Where dask or, for its arrays, zarr is missing.

    Examples
    --------
    >>> key = open_array("key.npy")  # doctest: +SKIP
    >>> key.shape, key.chunksize  # doctest: +SKIP
    ((8, 1000000, 128), (1, 65536, 128))
    """
    da, base = (
        packages.load(module, "to open an array", 'pip install "softlookup[dask]".')
        for module in ("dask.array", "dask.base")
    )
    stored = Stored(str(Path(path).resolve()), name, ())
    try:
        whole = stored.opened()
    except SoftlookupError:
        raise
    except Exception as error:
        raise FileError(str(path), f"must be an array that can be read; {error}.") from error
    if chunks is None:
        chunks = getattr(whole, "chunks", None) or _default(whole.shape)
    cut = da.core.normalize_chunks(chunks, whole.shape, dtype=whole.dtype)
    held = _Held(stored._replace(chunks=cut), whole.shape, whole.dtype)
    changed = Path(path).stat().st_mtime_ns
    token = base.tokenize(stored, changed, cut)
    name = f"file-{token}"
    return da.from_array(held, chunks=cut, name=name, asarray=False, fancy=False)


class Stored(NamedTuple):
    """Where an array stands: what travels to a worker.

    Attributes
    ----------
    path : str
    name : str or None
        Of a tensor in the file.
    chunks : tuple of tuple of int
        How it is cut.
    """

    path: str
    name: str | None
    chunks: tuple[tuple[int, ...], ...]

    def opened(self) -> Any:
        """Return the array, none of which is read."""
        file = Path(self.path)
        if not file.exists():
            raise FileError(str(file), "must be there; it is not. Check the path.")
        if file.suffix == ".npy":
            if self.name is not None:
                raise FileError(str(file), f"holds one array, not {self.name!r}. Leave name out.")
            return np.load(file, mmap_mode="r", allow_pickle=False)
        if file.suffix == ".safetensors":
            tensors = read_tensors(file, _DTYPES).tensors
            if self.name not in tensors:
                which = "several tensors" if self.name is None else f"no tensor {self.name!r}"
                names = ", ".join(sorted(tensors)[:8])
                raise FileError(str(file), f"holds {which}; it has {names}. Pass name=.")
            return tensors[self.name]
        if not any((file / each).exists() for each in _OF_ZARR):
            raise FileError(
                str(file), "must be a .npy or .safetensors file, or the directory of a zarr array; "
                "it is none of them. Name one."
            )  # fmt: skip
        return _zarr_array(file, self.name)

    def read(self, at: tuple[slice, ...]) -> Array:
        """Return a chunk, in memory.

        Raises
        ------
        FileError
            Where it cannot be read; it names the chunk.
        PackageError
            As `open_array`.
        """
        try:
            return np.array(self.opened()[at])
        except PackageError:
            raise
        except Exception as error:
            which = tuple(
                int(np.searchsorted(np.cumsum(sizes), each.start, side="right"))
                for sizes, each in zip(self.chunks, at, strict=True)
            )
            tensor = "" if self.name is None else f" of {self.name!r}"
            raise FileError(
                self.path,
                f"chunk {which}{tensor} cannot be read: {error}. Write it again.",
            ) from error


class _Held:
    """A stored array under the names that `dask.array.from_array` asks for."""

    def __init__(self, stored: Stored, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self.stored, self.shape, self.dtype = stored, tuple(shape), dtype
        self.ndim = len(self.shape)

    def __getitem__(self, at: Any) -> Array:
        picks = at if isinstance(at, tuple) else (at,)
        picks += (slice(None),) * (self.ndim - len(picks))
        whole = tuple(
            slice(*each.indices(size)) if isinstance(each, slice) else slice(each, each + 1)
            for each, size in zip(picks, self.shape, strict=True)
        )
        some = tuple(slice(None) if isinstance(each, slice) else 0 for each in picks)
        return np.asarray(self.stored.read(whole)[some])


def _default(shape: Sequence[int]) -> tuple[int, ...]:
    if len(shape) < 2:
        return tuple(shape)
    return (*(1 for _ in shape[:-2]), min(shape[-2], LENGTH) or 1, shape[-1])


def _zarr_array(path: Path, name: str | None) -> Any:
    zarr = packages.load("zarr", f"to read {path.name}", "pip install zarr.")
    return zarr.open_array(str(path), mode="r", path=name or "")
