"""Arrays in files as dask arrays: `.npy`, `.safetensors` and zarr, larger than any memory.

A chunk is read where it is needed, by whoever computes with it: on a cluster every worker must see
the file under the same path. What cannot be read, is not there, or is not as it was when it was
opened, is named: file and chunk.
"""

import io
import mmap
import os
from collections.abc import Sequence
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from softlookup import packages
from softlookup.arrays import BFLOAT16, Array
from softlookup.backends.graphs import FILE
from softlookup.errors import FileError, PackageError, SoftlookupError
from softlookup.tensorfile import read_tensors

LENGTH = 65_536  # of a chunk along the axis last but one: 16 x 4,096
_AT_ONCE, _WASTE = 2**20, 4  # bytes that are read for any few of them, else so many times as many
_OF_ZARR = ("zarr.json", ".zarray", ".zgroup")  # one of which its directories hold
_DTYPES = {
    "F16": np.dtype(np.float16),
    "BF16": BFLOAT16,
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
    "BOOL": np.dtype(np.bool_),
}


def open_array(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    chunks: Any = None,
    sparse: bool = False,
) -> Any:
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
    sparse : bool
        Whether a chunk that a zarr array has no file for holds its fill value, as where zarr leaves
        out those that hold nothing else. By default it is refused when it is read.

    Returns
    -------
    dask.array.Array
        For `softlookup.attend` and `softlookup.Lookup`.

    Raises
    ------
    FileError
        Where it cannot be read; also from a worker, later, where a chunk cannot, or where the file
        has another size or time of change by then: of zarr, the file that describes the array.
    PackageError
        Where dask or, for its arrays, zarr is missing or too old.

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
    stored = Stored(str(Path(path).absolute()), name, sparse)  # a link says what kind of file it is
    try:
        stored = stored._replace(state=stored.state_now())
        whole = stored.opened()
    except SoftlookupError:
        raise
    except Exception as error:
        reason = str(error).rstrip(".")
        raise FileError(str(path), f"must be an array that can be read; {reason}.") from error
    if chunks is None:
        chunks = getattr(whole, "chunks", None) or _default(whole.shape)
    cut = da.core.normalize_chunks(chunks, whole.shape, dtype=whole.dtype)
    runs = (tuple((size, len(list(some))) for size, some in groupby(sizes)) for sizes in cut)
    stored = stored._replace(chunks=tuple(runs))
    held = _Held(stored, whole.shape, whole.dtype)
    name = FILE + base.tokenize(stored)
    return da.from_array(held, chunks=cut, name=name, asarray=False, fancy=False)


class Stored(NamedTuple):
    """Where an array stands: what travels to a worker.

    Attributes
    ----------
    path : str
    name : str or None
        Of a tensor in the file.
    sparse : bool
        Whether zarr may have left out chunks.
    chunks : tuple of tuple of (int, int)
        How it is cut along each axis: a size, and how many of it follow one another. Each task
        that reads holds this, so that it is as short as it can be.
    state : tuple of int
        Size and time of change when it was opened.
    """

    path: str
    name: str | None
    sparse: bool
    chunks: tuple[tuple[tuple[int, int], ...], ...] = ()
    state: tuple[int, int] = (0, 0)

    def opened(self) -> Any:
        """Return the array, none of which is read."""
        file = Path(self.path)
        if file.suffix == ".npy":
            if self.name is not None:
                raise FileError(str(file), f"holds one array, not {self.name!r}. Leave name out.")
            return np.load(file, mmap_mode="r", allow_pickle=False)
        if file.suffix == ".safetensors":
            tensors = read_tensors(file).arrays(_DTYPES)
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

    def state_now(self) -> tuple[int, int]:
        """Return size and time of change of the file; of zarr, of the one that describes it."""
        file = Path(self.path)
        if not file.exists():
            raise FileError(str(file), "must be there; it is not. Check the path.")
        if file.is_dir():
            each = (self._folder() / name for name in _OF_ZARR)
            file = next((one for one in each if one.exists()), file)
        found = file.stat()
        return found.st_size, found.st_mtime_ns

    def read(self, at: tuple[slice, ...]) -> Array:
        """Return a chunk, in memory.

        Raises
        ------
        FileError
            Where it cannot be read, is not there, or has changed; it names the chunk.
        PackageError
            As `open_array`.
        """
        try:
            self._check_state()
            whole = self.opened()
            self._check_there(whole, at)
            found = _copy(self.path, whole, at)
            self._check_state()  # again: it may have been written over meanwhile
        except PackageError:
            raise
        except Exception as error:
            which = tuple(
                _index(runs, each.start) for runs, each in zip(self.chunks, at, strict=True)
            )
            tensor = "" if self.name is None else f" of {self.name!r}"
            unread = f"cannot be read: {error}. Write it again."
            fault = error.message if isinstance(error, FileError) else unread
            raise FileError(self.path, f"chunk {which}{tensor} {fault}") from error
        return found

    def _folder(self) -> Path:
        return Path(self.path) / (self.name or "").strip("/")

    def _check_state(self) -> None:
        if self.state_now() != self.state:
            raise FileError(
                self.path, "must be as it was when it was opened; the file has another size or "
                "time of change. Open it again, or copy it with its time (cp -p)."
            )  # fmt: skip

    def _check_there(self, whole: Any, at: tuple[slice, ...]) -> None:
        """Refuse a chunk that zarr has no file for: it would read the fill value instead."""
        if self.sparse or isinstance(whole, np.ndarray):
            return
        touched = (
            np.unique(np.arange(each.start, each.stop, each.step) // size).tolist()
            for each, size in zip(at, whole.shards or whole.chunks, strict=True)
        )
        for place in product(*touched):
            file = whole.metadata.encode_chunk_key(place)
            if not (self._folder() / file).exists():
                raise FileError(
                    self.path, f"must be there; {file} is not. Write it again, or pass "
                    f"sparse=True, if it was left out since it holds {whole.fill_value} alone."
                )  # fmt: skip


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


def _copy(path: str, whole: Any, at: tuple[slice, ...]) -> Array:
    """Return a part of an array.

    What is mapped is read all the same: a file that is cut off meanwhile, or a disk that fails, is
    an error then. It would end the process where it is looked at in the map.
    """
    part: Array = whole[at]
    if not isinstance(getattr(whole, "base", None), mmap.mmap) or not (part.ndim and part.size):
        return np.array(part)
    begin = np.ndarray(1, np.uint8, whole.base).ctypes.data  # of the map, and where that begins
    skipped = getattr(whole, "offset", 0) // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    with Path(path).open("rb") as stream:
        return _read(stream, part, part.ctypes.data - begin + skipped)


def _read(stream: io.BufferedReader, part: Array, start: int) -> Array:
    """Return what stands in a file from a byte on, under the shape, dtype and strides of a part."""
    ends = [(size - 1) * step for size, step in zip(part.shape, part.strides, strict=True)]
    low, span = sum(end for end in ends if end < 0), sum(map(abs, ends)) + part.itemsize
    if span <= max(_WASTE * part.nbytes, _AT_ONCE):
        room = np.empty(span, np.uint8)
        stream.seek(start + low)
        if stream.readinto(room.data) != span:
            raise EOFError("it ends too soon")
        found = np.ndarray(part.shape, part.dtype, room, -low, part.strides)
        return found if part.flags.forc else np.array(found)
    found, axis = np.empty(part.shape, part.dtype), int(np.argmax(np.abs(ends)))
    half = part.shape[axis] // 2
    for some in (slice(half), slice(half, None)):
        at = (*[slice(None)] * axis, some)
        found[at] = _read(stream, part[at], start + (some.start or 0) * part.strides[axis])
    return found


def _index(runs: Sequence[tuple[int, int]], start: int) -> int:
    """Return which chunk of an axis begins there, or holds what does."""
    sizes = [size for size, count in runs for _ in range(count)]
    return int(np.searchsorted(np.cumsum(sizes), start, side="right"))


def _default(shape: Sequence[int]) -> tuple[int, ...]:
    if len(shape) < 2:
        return tuple(shape)
    return (*(1 for _ in shape[:-2]), min(shape[-2], LENGTH) or 1, shape[-1])


def _zarr_array(path: Path, name: str | None) -> Any:
    zarr = packages.load("zarr", f"to read {path.name}", "pip install zarr.")
    if int(zarr.__version__.partition(".")[0]) < 3:
        raise PackageError(
            "zarr", f"must be 3 or newer; it is {zarr.__version__}. pip install -U zarr."
        )
    found = zarr.open(str(path), mode="r", path=name or "")
    if isinstance(found, zarr.Group):
        names = ", ".join(sorted(found.array_keys())) or "no array"
        raise FileError(str(path), f"holds a group, of {names}. Pass name=, one of them.")
    return found
